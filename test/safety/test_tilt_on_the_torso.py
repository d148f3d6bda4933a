# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tilt of the base by an IMU on the torso, behind a waist that turns."""
import numpy as np
import pytest
from robots import TWO_LEGS

from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import ImuSample, JointSample
from legged_dynamics.ros.nodes.input_screen import InputScreen
from legged_dynamics.safety import EffortGuard, GuardState
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_rpy

LIMIT = '<limit lower="-2" upper="2" effort="20" velocity="9"/>'
HUMANOID = TWO_LEGS.replace('continuous">', f'revolute">{LIMIT}').replace(
    '<link name="imu"/>', f"""<link name="imu"/>
  <link name="torso"><inertial><origin xyz="0 0 0.3"/><mass value="9"/>
    <inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="waist" type="revolute"><parent link="base"/><child link="torso"/>{LIMIT}
    <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/></joint>""").replace(
    '<joint name="imu_mount" type="fixed"><parent link="base"/>',
    '<joint name="imu_mount" type="fixed"><parent link="torso"/>')
MOUNT = rotation_from_rpy([0.1, -0.2, 0.3])     # of TWO_LEGS


class Clock:
    """Time that is set by hand, in place of the node's."""

    def __init__(self):
        self.ns = 0

    def __call__(self):
        return self.ns

    def wall(self):
        return self.ns

    def heard(self, stamp_ns):
        """Real time does not follow stamps."""


def last_effort(waist, base, orientation):
    """Return what the guard sends after half a second at these pitches of waist and base."""
    model, clock = RobotModel.from_urdf(HUMANOID), Clock()
    names, screen = model.joint_names, InputScreen(clock)
    guard = EffortGuard(model, names, {'safety.tilt': 1.0})
    screen.build(model, np.arange(model.n_joints), guard, 'imu', 0.0, ['l_foot', 'r_foot'])
    guard.activate()
    still, q = np.zeros(len(names)), np.where([name.endswith('knee') for name in names], -0.5, 0.0)
    q[names.index('waist')] = waist
    R_WI = rotation_from_rpy([0.0, base + waist, 0.0]) @ MOUNT
    xyzw = quaternion_from_rotation(R_WI) if orientation else None
    for _ in range(400):
        clock.ns += 2_000_000
        for sample in (JointSample(clock.ns, q, still),
                       ImuSample(clock.ns, np.zeros(3), R_WI.T @ [0.0, 0.0, 9.81], xyzw)):
            assert screen.check(sample).usable
        out = guard.apply(clock.ns, still)
    return out


@pytest.mark.parametrize('orientation', [True, False])
def test_a_robot_that_bows_has_not_fallen(orientation):
    out = last_effort(1.2, 0.0, orientation)
    assert (out.state, out.fault) == (GuardState.ACTIVE, '')


@pytest.mark.parametrize('orientation', [True, False])
def test_one_whose_torso_is_upright_while_its_base_lies_has(orientation):
    out = last_effort(-1.2, 1.2, orientation)
    assert out.state is GuardState.ARMED and 'tilted by 69 deg' in out.fault
