# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a recording to what is drawn: places, forces and margins against the simulator's truth."""
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from robots import CONFIG
from simulated_bag import walk

from legged_dynamics.model import RobotConfig
from legged_dynamics.model.standing import body_frames, body_poses
from legged_dynamics.recordings.robot import read_model
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion
from legged_dynamics.view.figure import FigureMaker, Forces, Placement, Snapshot, body_looks
from legged_dynamics.view.sources import read_view

STOOD = 1_100_000_000   # ns, of simulated_bag's schedule
SAMPLE_AWAY = 2e-3      # m: odometry may be a sample of 2 ms older, at 1 m/s


@pytest.fixture(scope='module')
def recorded(walking_bag):
    return read_view(walking_bag)


def robot(name='anymal_class'):
    path = CONFIG / 'robots' / f'{name}.urdf'
    return read_model(path)[0], RobotConfig.from_yaml(path.with_suffix('.yaml')), path.read_text()


def test_a_bag_becomes_pictures_at_the_rate_asked_for(recorded, walking_bag):
    _, _, steps = walk()
    span = (steps[-1][0].stamp_ns - steps[0][0].stamp_ns) * 1e-9
    assert len(recorded.snapshots) == pytest.approx(30.0 * span, abs=3)
    assert (np.diff(recorded.time) >= 1.0 / 30.0 - 1e-9).all()
    few = read_view(walking_bag, rate=5.0)
    assert len(few.snapshots) == pytest.approx(5.0 * span, abs=3)


def test_each_picture_shows_where_the_robot_was_and_what_carried_it(recorded):
    _, _, steps = walk()
    truth = {sample.stamp_ns: (sample, true) for sample, true in steps}
    make = FigureMaker(recorded.robot.model, recorded.robot.config)
    weight = make.model.total_mass * 9.81
    supported = 0
    for snapshot in recorded.snapshots[5:]:
        figure, (sample, true) = make(snapshot), truth[snapshot.stamp_ns]
        assert np.allclose(figure.base, true.base_position, atol=SAMPLE_AWAY)
        R, p = body_frames(make.model, sample.position)
        assert np.allclose(figure.body_rotations, figure.rotation @ R)
        assert np.allclose(figure.body_places, p @ figure.rotation.T + figure.base)
        standing = true.feet.contact & figure.forces.contact
        # The floor is at zero; feet sink in by a fraction of a millimetre.
        assert (np.abs(figure.contact_point[standing, 2]) < 2e-3).all()
        if snapshot.stamp_ns - steps[0][0].stamp_ns < STOOD:
            supported += 1
            assert figure.force[:, 2].sum() == pytest.approx(weight, rel=0.05)
            assert 0.1 < figure.support_margin < 0.35
            assert abs(figure.center_of_pressure[2]) < 0.01
            assert len(figure.polygon) == 4
    assert supported > 20


def test_the_feet_place_the_robot_where_nothing_else_does(recorded):
    _, _, steps = walk()
    make = FigureMaker(recorded.robot.model, recorded.robot.config)
    placement, places, truth = Placement(), [], {s.stamp_ns: t for s, t in steps}
    for snapshot in recorded.snapshots:
        figure = make(snapshot)
        seen = (figure.contact_point - figure.base) @ figure.rotation
        places.append(placement.update(snapshot.stamp_ns, figure.rotation, seen,
                                       figure.forces.contact))
    true = np.array([truth[s.stamp_ns].base_position for s in recorded.snapshots])
    far = np.linalg.norm(true[-1, :2] - true[0, :2])
    assert far > 0.2
    error = np.array(places)[-1] - places[0] - (true[-1] - true[0])
    assert np.linalg.norm(error[:2]) < 0.15 * far
    assert abs(error[2]) < 0.02
    # Time that goes back begins anew: over the ground, and at its origin.
    again = placement.update(0, np.eye(3), np.array([[0.3, 0.0, -0.4]]), np.array([True]))
    assert again.tolist() == [0.0, 0.0, 0.4]


def test_bodies_are_drawn_where_the_pose_puts_them():
    model, config, _ = robot()
    make, turn = FigureMaker(model, config), rotation_from_quaternion([0.1, -0.5, 0.7, 0.5])
    q = config.nominal_in(make.model) + 0.1
    base = np.array([3.0, -1.0, 0.6])
    figure = make(Snapshot(0, q, None, turn, base))
    for pose, R, place in zip(body_poses(make.model, q), figure.body_rotations,
                              figure.body_places, strict=True):
        assert np.allclose(turn @ pose.R, R, atol=1e-9)
        assert np.allclose(turn @ pose.p + base, place, atol=1e-9)


def test_looks_have_the_size_and_place_that_the_urdf_says():
    model, config, text = robot()
    base = body_looks(config.apply_to(model), config, text)[0]
    box = next(look for look in base if look.color == (0.72, 0.13, 0.11))
    assert box.mesh.extents == pytest.approx([0.6, 0.24, 0.2])


URDF = """<robot name="r"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
 izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="{mesh}"
 scale="2 2 2"/></geometry></visual></link><link name="f"><inertial><mass value="1"/><inertia
 ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j"
 type="revolute"><parent link="b"/><child link="f"/><origin xyz="0 0.3 -0.4"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
CONFIG_F = {'robot.feet': ['f'], 'robot.foot_radius': 0.02}


def looks_of(mesh, folder):
    model = read_model(URDF.format(mesh=mesh))[0]
    config = RobotConfig.from_parameters(CONFIG_F)
    return body_looks(config.apply_to(model), config, URDF.format(mesh=mesh), folder)


def test_meshes_come_from_below_the_folder_named_and_from_nowhere_else(tmp_path):
    inside, secret = tmp_path / 'robot' / 'meshes', tmp_path / 'secret.stl'
    inside.mkdir(parents=True)
    trimesh.creation.box((0.1, 0.2, 0.3)).export(inside / 'b.stl')
    trimesh.creation.box((9.0, 9.0, 9.0)).export(secret)
    for name in ('package://robot/meshes/b.stl', 'meshes/b.stl', 'file:///x/meshes/b.stl'):
        base, foot = looks_of(name, tmp_path / 'robot')
        assert base[0].mesh.extents == pytest.approx([0.2, 0.4, 0.6]), name
        assert foot[0].mesh.extents == pytest.approx([0.04] * 3, rel=0.05)
    for name in ('../secret.stl', f'file://{secret}', 'package://robot/../secret.stl', ''):
        base, _ = looks_of(name, tmp_path / 'robot')
        bone = base[0].mesh
        assert bone.bounds[0] == pytest.approx([-0.06, -0.06, -0.46], abs=0.06), name
        assert np.abs(bone.bounds).max() < 0.6
    assert np.abs(looks_of('meshes/b.stl', None)[0][0].mesh.bounds).max() < 0.6


def test_a_bone_reaches_from_its_joint_to_the_next():
    bone = looks_of('', None)[0][0].mesh
    end, radius = np.array([0.0, 0.3, -0.4]), 0.06
    along = bone.vertices @ end / 0.5
    assert along.min() == pytest.approx(-radius, abs=1e-3)
    assert along.max() == pytest.approx(0.5 + radius, abs=1e-3)
    across = np.linalg.norm(bone.vertices - np.outer(along, end / 0.5), axis=1)
    assert across.max() == pytest.approx(radius, abs=1e-3)


def test_a_soles_corners_bear_a_biped():
    model, config, _ = robot('biped')
    make = FigureMaker(model, config)
    q = config.nominal_in(make.model)
    R, p = body_frames(make.model, q)
    assert quaternion_from_rotation(R[0])[3] == 1.0
    assert make.size > 0.3
    standing = replace(Forces.none(2), contact=np.ones(2, bool))
    figure = make(Snapshot(0, q, None, np.eye(3), forces=standing))
    width, length = np.ptp(figure.polygon[:, 1]), np.ptp(figure.polygon[:, 0])
    assert width > np.ptp(figure.contact_point[:, 1]) + 0.03     # the soles' own width
    assert length > 0.1
