# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the ground reaction estimator."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    N_FOOT_STATE,
    FeetTable,
    contact_jacobians,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    body_workspace,
    forward_kinematics,
    frame_poses,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation.filter.equation_errors import SLOW_TIME
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.parts import JOINT, SPHERICAL
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import CheckedSettings, setting
from legged_dynamics.spatial.jit import as_python


@dataclass(frozen=True)
class EstimatorSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    rate: float = setting('rate', 500.0, 'Hz', 'Nominal rate of the joint states.', 1.0, 10000.0)
    max_gap: float = setting(
        'max_gap', 0.05, 's', 'A longer gap between samples restarts the estimator.', 1e-4, 10.0)
    fusion: str = setting(
        'fusion', 'fused', '', 'Equations used.', choices=('fused', 'base_only', 'torque_only'))
    half_window: int = setting(
        'derivative.half_window', 0, 'samples',
        'Samples on either side of the one whose acceleration is taken; it is the delay. 0: the '
        'last two samples, and no delay.', 0, 50)
    force_cutoff: float = setting(
        'force_filter.cutoff', 0.0, 'Hz', 'Low-pass of the published forces; 0 switches it off.',
        0.0, 5000.0)
    contact_force_threshold: float = setting(
        'contact.force_threshold', 0.0, '',
        'Normal force, as a fraction of the weight, at which contact is as likely as not; 0: '
        'from the noise of the torques and the number of feet.', 0.0, 1.0)
    contact_force_noise: float = setting(
        'contact.force_noise', 0.0, '',
        "Slow error of a swing foot's normal force, as a fraction of the weight; 0: from the "
        'noise of the torques.', 0.0, 1.0)
    contact_force_evidence: float = setting(
        'contact.force_evidence', 12.0, '',
        'Largest log-likelihood ratio a sample may add by the load that the motion leaves a '
        'foot, while no torque is measured.', 0.0, 50.0)
    contact_motion_evidence: float = setting(
        'contact.motion_evidence', 12.0, '',
        'Largest log-likelihood ratio a sample may add while torques are measured, because a '
        'foot has not risen from where it stood; 0: force alone judges.', 0.0, 50.0)
    contact_slip_speed: float = setting(
        'contact.slip_speed', 0.0, 'm/s',
        'Speed of a standing foot, one deviation; 0: from leg length and noise.', 0.0, 10.0)
    contact_swing_speed: float = setting(
        'contact.swing_speed', 0.0, 'm/s',
        'Speed of a swinging foot, one deviation; 0: from the leg length.', 0.0, 50.0)
    contact_clearance: float = setting(
        'contact.clearance', 0.0, 'm',
        'Height of a standing foot over where it last stood, one deviation; 0: from the leg '
        'length.', 0.0, 1.0)
    contact_swing_clearance: float = setting(
        'contact.swing_clearance', 0.0, 'm',
        'Height of a swinging foot over where it last stood, one deviation; 0: from the leg '
        'length.', 0.0, 2.0)
    contact_switching_rate: float = setting(
        'contact.switching_rate', 5.0, '1/s',
        'How often a foot is expected to make or break contact.', 1e-3, 1000.0)
    contact_switch_missed: float = setting(
        'contact.switch_missed', 0.05, '',
        'Probability that the contact switch of a foot in contact reads open.', 1e-6, 0.5)
    contact_switch_false: float = setting(
        'contact.switch_false', 0.05, '',
        'Probability that the contact switch of a foot in the air reads closed.', 1e-6, 0.5)
    contact_on: float = setting(
        'contact.probability_on', 0.5, '', 'Probability above which a foot counts as down.', 0.5,
        1.0)
    contact_off: float = setting(
        'contact.probability_off', 0.1, '', 'Probability below which a foot counts as up.', 0.0,
        0.5)
    prior_force: float = setting(
        'prior.force', 3.0, '',
        'Force a foot may carry when nothing is measured, as a multiple of the weight.', 0.01,
        1000.0)
    prior_length: float = setting(
        'prior.length', 0.1, 'm', 'Moment over force that a flat foot may carry.', 1e-3, 10.0)
    ground_limits: str = setting(
        'ground.limits', 'cone', '',
        'What the newest forces are kept within while torque is measured; unilateral: no foot '
        'pulls, soles press inside their edges; cone: nor does one slide.',
        choices=('none', 'unilateral', 'cone'))
    ground_friction: float = setting(
        'ground.friction', 1.0, '',
        'Friction coefficient of ground.limits cone; more than there is costs little.', 0.01,
        10.0)
    ground_normal: Sequence[float] = setting(
        'ground.normal', [], '1',
        'Normal of the ground under all feet: x, y, z in world axes, z up, heading of the IMU; '
        'empty: found from where feet have stood.')
    ground_normals: Sequence[float] = setting(
        'ground.normals', [], '1',
        'The same, three per foot in a row; zeros for a foot whose normal is to be found.')
    actuators_learn: bool = setting(
        'actuators.learn', True, '',
        'Whether friction, armature, gain and delay of the actuators are learned on the way.')
    actuators_file: str = setting(
        'actuators.file', '', '',
        'File that keeps what was learned of the actuators from start to start; empty: none.')
    external_link: str = setting('external.link', '', '', 'Link that is pushed; empty: the base.')
    external_point: Sequence[float] = setting(
        'external.point', [0.0, 0.0, 0.0], 'm', 'Where on it, in its axes.', -10.0, 10.0)
    external_force: float = setting(
        'external.force', 0.0, 'N',
        'Force that is expected there before measuring, one standard deviation; 0: 0.11 % of the '
        'weight. More while the base is seen to be pushed.', 0.0, 1e5)
    external_moment: float = setting(
        'external.moment', 0.0, 'N m',
        'Moment about that point, likewise; 0: that force at prior.length.', 0.0, 1e5)


SETTINGS = EstimatorSettings.table()


# -------------------------------------------------------------------------------------------------
# Errors of the equations that do not depend on the pose; for sensor noise see
# `filter.equation_errors` and `filter.noise`.


# Without an IMU the base's motion is guessed to be rest: standard deviations of that guess.
UNKNOWN_ACCELERATION = 1.0          # m/s^2
UNKNOWN_ANGULAR_ACCELERATION = 5.0  # rad/s^2
# Time after which an error of the model counts as a new one, without torque [s].
MODEL_LASTS = 0.048


def nominal_position(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """Return the standing pose (nq,) in the model's joint order."""
    return config.nominal_in(model)


def base_model_error(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """
    Return the base equations' variances (6,) by the stated mass and centre errors.

    Of one equation per `SLOW_TIME`: a longer-lasting error is counted again in each, so its
    variance is larger instead.
    """
    noise, bodies, tau = config.noise, body_workspace(model), np.zeros(model.nv)
    at_rest = np.array([0, 0, 0, 0, 0, 0, 0, 0, GRAVITY], float)
    as_python(newton_euler)(model.tree, nominal_position(model, config), np.zeros(model.nv),
                            np.zeros(model.nv), at_rest, bodies, tau)
    weight = model.total_mass * GRAVITY
    error = (noise.mass * bodies[0, FORCE:FORCE + 6]) ** 2
    error[3:] += (weight * noise.center_of_mass) ** 2
    # Exact sensors still meet a finite precision.
    return MODEL_LASTS / SLOW_TIME * error + (1e-6 * weight) ** 2


# -------------------------------------------------------------------------------------------------
# Robots that can be estimated: with feet and 1-DoF joints.


def check_robot(model: RobotModel, config: RobotConfig) -> None:
    """Raise ConfigurationError without feet, 1-DoF joints or the stated kind of base."""
    if not config.feet:
        raise ConfigurationError('robot.feet: expected at least one foot link, got none. The '
                                 f'links are: {", ".join(model.frames)}')
    if not model.floating and config.base == 'floating':
        raise ConfigurationError('expected a model with a floating base, got a fixed one; read '
                                 "the URDF with base='floating', or state robot.base: fixed")
    if (model.tree.topology[1:, JOINT] == SPHERICAL).any():
        raise ConfigurationError('expected joints of one degree of freedom: joint_states carries '
                                 'one position a joint, and the model has a spherical one')


def check_floating_robot(model: RobotModel, config: RobotConfig) -> None:
    """Raise ConfigurationError without feet, a floating base or 1-DoF joints."""
    check_robot(model, config)
    if not model.floating:
        raise ConfigurationError('expected a robot with a floating base, got robot.base: fixed')


# -------------------------------------------------------------------------------------------------
# Size of the robot: lengths and times that thresholds are in terms of.


# A foot has risen when it did so by more than so many deviations of kinematics plus so much of the
# leg's length, by which ground and rubber give way.
RISEN = 1.5
GIVING_WAY = 0.001


def standing_jacobian(model: RobotModel, config: RobotConfig, table: FeetTable) -> np.ndarray:
    """Return the contact coordinates' Jacobian by joint (nc, nv) in the standing pose, level."""
    bodies, states = body_workspace(model), np.zeros((len(config.feet), N_FOOT_STATE))
    jacobian, still = np.zeros((table.size, model.nv)), np.zeros(model.nv)
    as_python(forward_kinematics)(model.tree, nominal_position(model, config), still, still,
                                  np.zeros(9), bodies)
    as_python(contact_points)(table, bodies, (0.0, 0.0, 1.0), states)
    as_python(contact_jacobians)(model.tree, table, bodies, states, jacobian)
    return jacobian


class RobotSize(NamedTuple):
    """Of a robot in its standing pose."""

    reach: float  # [m]: how far the feet are from the base on the ground
    natural_frequency: float  # [1/s]: angular frequency of a pendulum as long as the legs
    risen: float  # [m]: height that a foot must rise by to be seen to have risen


def robot_size(model: RobotModel, config: RobotConfig) -> RobotSize:
    """Return the robot's lengths and times to which thresholds are scaled."""
    feet = frame_poses(model, nominal_position(model, config),
                       tuple(foot.link for foot in config.feet))
    places = np.array([pose.p for pose in feet.values()])
    reach = float(np.sqrt(np.mean(places[:, 0] ** 2 + places[:, 1] ** 2) + 1e-6))
    leg = max(float(np.abs(places[:, 2]).max()), 0.1 * reach)
    position = config.noise.of_joints('position', model, config.joints).max(initial=0.0)
    risen = RISEN * np.hypot(position * leg, config.noise.orientation * reach) + GIVING_WAY * leg
    return RobotSize(reach, float(np.sqrt(GRAVITY / leg)), float(risen))
