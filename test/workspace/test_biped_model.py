# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The biped's figures: those of the recorded model, of its URDF and of its YAML are the same."""
import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from bipeds import BIPED, LINKS, ROBOT, coordinates, moving_state, twin
from robots import CONFIG, golden
from tolerances import ALGEBRA

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.exceptions import ModelError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.reproductions.planar import (
    JOINTS,
    Biped,
    PinnedRobot,
    biped_urdf,
    start_state,
)
from legged_dynamics.reproductions.planar.biped import sole

RECORDED = golden('002_workspace_dynamics.json')


def test_figures_are_the_recorded_ones():
    np.testing.assert_allclose(BIPED.height, RECORDED['params']['H'], rtol=1e-12)
    np.testing.assert_allclose(ROBOT.mass, RECORDED['link_mass'], rtol=1e-12)
    np.testing.assert_allclose(ROBOT.inertia, RECORDED['link_inertia'], rtol=1e-12)
    for number, place in RECORDED['joint_in_inboard_com_frame'].items():
        np.testing.assert_allclose(ROBOT.constants[int(number) - 1, 2:4], place, atol=1e-12)
    for number, place in RECORDED['joint_in_outboard_com_frame'].items():
        np.testing.assert_allclose(ROBOT.constants[int(number) - 1, 4:6], place, atol=1e-12)
    assert ROBOT.mass.sum() == pytest.approx(72.5, rel=1e-12)


def test_shipped_urdf_is_made_of_the_model():
    assert (CONFIG / 'robots' / 'biped.urdf').read_text() == biped_urdf(Biped())


def test_urdf_has_the_planar_models_links():
    model = RobotModel.from_urdf(biped_urdf(BIPED))
    assert not model.warnings
    assert model.joint_names == JOINTS
    for link, mass, inertia in zip(LINKS, ROBOT.mass, ROBOT.inertia):
        part = model.links[link]
        assert part.mass == pytest.approx(mass, rel=1e-11)
        assert part.about_com[1, 1] == pytest.approx(inertia, rel=1e-11)
    assert model.total_mass == pytest.approx(72.5, rel=1e-11)


@pytest.mark.parametrize('seed', range(4))
def test_urdf_moves_with_the_planar_models_energy(seed):
    state = moving_state(seed, standing=False)
    q, v = coordinates(state)
    data = twin().createData()
    plant = PinnedRobot(ROBOT, state)
    # The pinned plant takes its rates from the body's: so must the twin.
    v[6:] = plant.state.velocity
    wanted = (pin.computeKineticEnergy(twin(), data, q, v)
              + pin.computePotentialEnergy(twin(), data, q))
    assert plant.energy == pytest.approx(wanted, rel=1e-11)
    M = mass_matrix(RobotModel.from_urdf(biped_urdf(BIPED)), state.position)
    assert v @ M @ v / 2.0 == pytest.approx(data.kinetic_energy, rel=ALGEBRA)


def test_yaml_stands_as_the_paper_does_on_the_models_soles():
    config = RobotConfig.from_yaml(CONFIG / 'robots' / 'biped.yaml')
    config.apply_to(RobotModel.from_urdf(CONFIG / 'robots' / 'biped.urdf'))
    assert config.joints == JOINTS
    np.testing.assert_allclose(config.nominal_position, start_state().position, atol=1e-12)
    for foot in config.feet:
        np.testing.assert_allclose([foot.front, foot.back, foot.left, foot.right], sole(BIPED),
                                   atol=1e-12)


def test_scales_change_masses_and_nothing_else():
    heavy = Biped(body_scale=1.05, leg_scale=0.9)
    scale = np.array([1.05, *[0.9] * 6])
    np.testing.assert_allclose(heavy.planar().mass, scale * ROBOT.mass, rtol=1e-12)
    np.testing.assert_allclose(heavy.planar().inertia, scale * ROBOT.inertia, rtol=1e-12)
    np.testing.assert_array_equal(heavy.planar().constants[:, 2:], ROBOT.constants[:, 2:])
    with pytest.raises(ModelError, match='a height and scales above zero'):
        dataclasses.replace(heavy, leg_scale=0.0)
