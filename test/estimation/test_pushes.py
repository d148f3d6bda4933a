# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is not a foot: small pushes, their end, end stops, and how sure the wrench is."""
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from motions import Scene, quadruped
from robots import CONFIG

from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.model import RobotModel

STOPPED, LEAN = 'LF_KFE', 25.0      # a knee, and what its stop bears [N m]


def pushed(scene, estimator, first, last, size):
    """Push the base to the left between two samples; yield results, torques are as without."""
    mount = scene.model.frame(scene.config.imu_link).pose
    push = np.array([0.0, size * scene.model.total_mass * 9.81, 0.0])
    for k in range(first + 450):
        m = scene.measurement(k)
        if first <= k < last:
            m = replace(m, linear_acceleration=m.linear_acceleration
                        + mount.R.T @ push / scene.model.total_mass)
        yield k, estimator.update(m, [1] * 4)


def test_a_push_of_a_twentieth_is_none_of_the_feet_s_and_ends():
    """It lies within what a single sample may be off by; a tenth of a second tells."""
    # Friction that is not known might hold the push at the joints.
    scene = Scene(*quadruped(**{'robot.joint_friction_deviation': [0.01]}), motion=0.0)
    weight, truth = scene.model.total_mass * 9.81, scene.truth(0.0)[2].wrench[:, :3]
    estimator = GroundReactionEstimator(scene.model, scene.config)
    off, found = {}, {}
    for k, r in pushed(scene, estimator, 150, 350, 0.05):
        off[k] = (r.raw_wrench[:, :3] - truth).sum(axis=0)[1] / weight if k > 5 else 0.0
        found[k] = r.external_wrench[1] / weight
    assert abs(off[349]) < 0.025 and found[349] == pytest.approx(0.05, abs=0.012)
    # As before the push, a quarter of a second after its end.
    assert abs(off[475] - off[149]) < 0.01 and abs(found[475] - found[149]) < 0.012


class LeaningScene(Scene):
    """A knee leans on its end stop: the motor gives less by what the stop bears."""

    def measurement(self, k):
        m = super().measurement(k)
        effort = m.effort.copy()
        effort[self.model.joint_names.index(STOPPED)] -= LEAN
        return replace(m, effort=effort)


def test_a_joint_at_its_end_stop_has_no_known_torque():
    """Beyond its URDF's limit the joint's torque is not the motor's alone."""
    model, config = quadruped()
    scene = LeaningScene(model, config, motion=0.0)
    weight, truth = scene.model.total_mass * 9.81, scene.truth(0.0)[2].wrench[:, :3]
    tree = ElementTree.parse(CONFIG / 'robots' / 'anymal_class.urdf')
    angle = scene.q0[scene.model.joint_names.index(STOPPED)]
    limit = tree.find(f"joint[@name='{STOPPED}']/limit")
    wrong = {}
    for name, lower in (('free', angle - 0.1), ('stopped', angle + 0.01)):
        limit.set('lower', repr(float(lower)))
        limit.set('upper', repr(float(angle + 1.0)))
        text = ElementTree.tostring(tree.getroot(), encoding='unicode')
        estimator = GroundReactionEstimator(RobotModel.from_urdf(text), config)
        for k in range(400):
            r = estimator.update(scene.measurement(k), [1] * 4)
        wrong[name] = np.abs(r.raw_wrench[:, :3] - truth).max() / weight
        deviation = np.sqrt(np.diag(r.covariance)).reshape(4, 3).max() / weight
    assert wrong['stopped'] < 0.4 * wrong['free'] and wrong['free'] > 0.03
    assert wrong['stopped'] < 3.0 * deviation


@pytest.mark.parametrize('rate', [200.0, 1000.0])
def test_noise_of_velocities_is_no_doubt_about_a_push(rate):
    """Differences of velocities are undone in the next one: a mean over ticks keeps its ends."""
    deviation = {}
    for noise in (0.005, 0.05):
        model, config = quadruped(**{'noise.velocity': noise})
        scene = Scene(model, config, motion=0.0)
        estimator = GroundReactionEstimator(model, config, {'rate': rate})
        for k in range(120):
            m = replace(scene.measurement(0), stamp_ns=round(k * 1e9 / rate))
            r = estimator.update(m, [1] * 4)
        deviation[noise] = r.external_deviation[:3] / (scene.model.total_mass * 9.81)
    assert (deviation[0.05] < 1.5 * deviation[0.005]).all()
