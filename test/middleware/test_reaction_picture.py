# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What rviz gets of an estimate: sizes and places against the estimate itself."""
import re

import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, ROBOT, standing_samples

from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.estimation.force_picture import SIGNIFICANT, ForcePicture
from legged_dynamics.model import RobotConfig
from legged_dynamics.recordings.robot import read_model
from legged_dynamics.ros.conversions.markers import reaction_picture
from legged_dynamics.view.figure import FigureMaker, Forces, Snapshot

SCALE = 250.0


def estimated(effort=True):
    model = read_model(ROBOT.with_suffix('.urdf'))[0]
    estimator = GroundReactionEstimator(model, RobotConfig.from_yaml(ROBOT))
    for s in standing_samples()[:60]:
        found = estimator.update(Measurement(
            s.stamp_ns, s.position, s.velocity, s.effort if effort else None, s.angular_velocity,
            s.linear_acceleration, s.orientation))
    return found


@pytest.fixture(scope='module')
def reaction():
    return estimated()


def picture(reaction, **options):
    message = reaction_picture(DIALECT, reaction, 'base', newtons_per_meter=SCALE,
                                       **options)
    return {(marker.ns, marker.id): marker for marker in message.markers}


def array(point):
    return np.array([point.x, point.y, point.z])


def test_a_halo_is_one_standard_deviation_about_the_tip(reaction):
    found = picture(reaction)
    for i, foot in enumerate(FEET):
        halo, arrow = found['deviation', i], found['reaction', i]
        assert array(halo.pose.position) == pytest.approx(array(arrow.points[1]))
        sigma = np.sqrt(np.diagonal(reaction.covariance_of(foot, latest=True))[:3])
        assert array(halo.scale) == pytest.approx(2.0 * sigma / SCALE)


def test_cones_open_along_the_normal_and_turn_red_where_a_force_leaves_them(reaction):
    calm, tight = picture(reaction, friction=0.7), picture(reaction, friction=1e-4)
    for i in range(len(FEET)):
        corners = np.array([array(p) for p in calm['friction_cone', i].points]).reshape(-1, 3, 3)
        tip = reaction.contact_point[i]
        assert corners[:, 0] == pytest.approx(np.tile(tip, (len(corners), 1)))
        edges = corners[:, 1] - tip
        along = edges @ reaction.ground_normal
        across = np.linalg.norm(edges - np.outer(along, reaction.ground_normal), axis=1)
        assert across / along == pytest.approx(np.full(len(edges), 0.7))
        assert calm['friction_cone', i].color != tight['friction_cone', i].color
    assert not any(ns == 'friction_cone' for ns, _ in picture(reaction, friction=0.0))


def test_what_is_not_observable_has_another_color_and_no_halo(reaction):
    firm, guess = picture(reaction), picture(estimated(effort=False))
    delete = firm['external_force', 0].DELETE
    for i in range(len(FEET)):
        assert guess['reaction', i].color != firm['reaction', i].color
        assert guess['deviation', i].action == delete != firm['deviation', i].action


def test_without_a_push_there_is_no_arrow_and_margins_are_said(reaction):
    found = picture(reaction)
    assert found['external_force', 0].action == found['external_force', 0].DELETE
    # The robot stands in the middle of a rectangle that is longer than wide.
    width = np.ptp(reaction.contact_point[:, 1])
    inside = re.search(r'inside of support (\d+) cm', found['margins', 0].text)[1]
    assert int(inside) == pytest.approx(50.0 * width, abs=2.0)
    assert 'friction used' in found['margins', 0].text


SMOOTHED = 1e-3     # the estimator's joint positions are filtered, the browser's are not


def test_rviz_and_browser_draw_the_same(reaction):
    model = read_model(ROBOT.with_suffix('.urdf'))[0]
    sample = standing_samples()[59]
    figure = FigureMaker(model, RobotConfig.from_yaml(ROBOT))(Snapshot(
        sample.stamp_ns, sample.position, sample.effort, reaction.base_rotation, None,
        Forces.of(reaction)))
    markers, drawn = picture(reaction), ForcePicture.of(reaction)
    for i in range(len(FEET)):
        start, end = (array(point) for point in markers['reaction', i].points)
        R_WB = reaction.base_rotation
        assert figure.force[i] == pytest.approx(R_WB @ (end - start) * SCALE,
                                                 abs=SMOOTHED * np.abs(figure.force[i]).max())
        assert figure.contact_point[i] == pytest.approx(R_WB @ start + figure.base,
                                                         abs=SMOOTHED)
    assert figure.support_margin == pytest.approx(drawn.support_margin, abs=SMOOTHED)
    assert figure.friction_used == pytest.approx(drawn.friction_used, abs=SMOOTHED)
    assert figure.push is None and drawn.push is None


def test_an_external_force_is_drawn_when_it_is_significant():
    n, deviation = 4, np.full(3, 5.0)

    def pushed(force):
        return ForcePicture(
            0, FEET, np.eye(3), np.zeros(n, bool), np.ones(n, bool), np.zeros((n, 3)),
            np.zeros((n, 6)), np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)),
            np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros((0, 3)), np.full(3, np.nan),
            np.array(force), deviation, np.zeros(3), 0.6).push
    assert pushed([0.0, 6.0 * SIGNIFICANT, 0.0]).tolist() == [0.0, 6.0 * SIGNIFICANT, 0.0]
    assert pushed([4.0 * SIGNIFICANT] * 3) is None
    assert pushed([np.nan] * 3) is None
