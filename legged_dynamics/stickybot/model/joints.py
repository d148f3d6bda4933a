# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The climbing robot's joints as hardware has them: by name, zero where the springs are relaxed.

A hip is three joints in series, two that slide along the body's x and y axes and one that turns;
the inner joints follow towards the foot. Each has its passive spring and damper about zero, its
nominal rest, and a motor in parallel. Where the motors deliver

    K (r - r_nominal) + B rdot

the joint behaves as if its spring rested at r, so a robot whose motors deliver nothing hangs on
its springs.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.robot import Limb, Link, StickybotMeasurement, StickybotModel

HIP_JOINTS = ('hip_x', 'hip_y', 'hip')


def _joint_names(limb: Limb) -> list[str]:
    """Return the names of a limb's joints, from the body to the foot."""
    inner = [f'{limb.name}_joint_{k}' for k in range(len(limb.links) - 1, 0, -1)]
    return [f'{limb.name}_{joint}' for joint in HIP_JOINTS] + inner


def _foot_link(limb: Limb) -> str:
    """Return the name of a limb's foot link."""
    return f'{limb.name}_foot'


class LimbJoints:
    """
    Converts joint states to measurements, and rest positions to efforts.

    Default order: limb by limb, from body to foot. `hip` (N, 3), `inner` (ni,): indices in
    `names`; `stiffness`, `damping` (nj, nj): passive.
    """

    def __init__(self, model: StickybotModel, order: Sequence[str] = ()):
        per_limb = [_joint_names(limb) for limb in model.limbs]
        self.names = tuple(order) or tuple(name for names in per_limb for name in names)
        self.feet = tuple(map(_foot_link, model.limbs))
        self.hip = np.array([[self.names.index(name) for name in names[:3]]
                             for names in per_limb])
        self.inner = np.array([self.names.index(name) for names in per_limb
                               for name in reversed(names[3:])], dtype=int)
        n = len(self.names)
        self.stiffness, self.damping = np.zeros((n, n)), np.zeros((n, n))
        for limb, columns in zip(model.limbs, self.hip):
            block = np.ix_(columns, columns)
            self.stiffness[block], self.damping[block] = limb.stiffness, limb.damping
        servos = [link for limb in model.limbs for link in limb.links[1:]]
        self.stiffness[self.inner, self.inner] = [link.stiffness for link in servos]
        self.damping[self.inner, self.inner] = [link.damping for link in servos]
        self._rest, self._bends = model.rest, model.bends
        self._lengths = [[link.length for link in limb.links] for limb in model.limbs]
        self._firsts = model.joint_starts[:-1]
        # Angles of links as `StickybotState.joint` counts them, less the body's: each first link
        # is the hip's angle less what the inner joints turn.
        self._angle_map = np.zeros((model.n_joints, n))
        inner = np.setdiff1d(np.arange(model.n_joints), self._firsts)
        self._angle_map[self._firsts, self.hip[:, 2]] = 1.0
        self._angle_map[inner, self.inner] = 1.0
        self._angles = np.zeros(model.n_joints)
        self._angles[self._firsts], self._angles[inner] = model.rest[:, 2], model.bends
        for first, end in zip(self._firsts, model.joint_starts[1:]):
            self._angle_map[first] -= self._angle_map[first + 1:end].sum(axis=0)
            self._angles[first] -= self._angles[first + 1:end].sum()

    def measurement(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
                    body_angle: float, body_rate: float, effort: np.ndarray | None = None
                    ) -> StickybotMeasurement:
        """Return the measurement of joint states, in the order of `names`."""
        hip, inner = self.hip, self.inner
        motors = (None, None) if effort is None else (effort[hip], effort[inner])
        return StickybotMeasurement(
            stamp_ns, self._rest + position[hip], velocity[hip], body_angle, body_rate,
            self._bends + position[inner], velocity[inner], effort=motors[0],
            joint_effort=motors[1])

    def positions(self, rest: np.ndarray, joint_rest: np.ndarray) -> np.ndarray:
        """Return joint positions (nj,) of hips (body axes) and inner joints, 0 nominally."""
        found = np.zeros(len(self.names))
        found[self.hip], found[self.inner] = rest - self._rest, joint_rest - self._bends
        return found

    def efforts(self, position: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return motor efforts (nj,) that move the springs' rest positions."""
        return self.stiffness @ position + self.damping @ rate

    def link_angles(self, position: np.ndarray, body_angle: float) -> np.ndarray:
        """Return the link angles (nq,) [rad], as in :attr:`StickybotState.joint`."""
        angles = self._angles + self._angle_map @ position
        angles[self._firsts] += body_angle
        return angles

    def link_rates(self, velocity: np.ndarray, body_rate: float) -> np.ndarray:
        """Return the rates of the links' angles (nq,) [rad/s]."""
        rates = self._angle_map @ velocity
        rates[self._firsts] += body_rate
        return rates

    def foot_angles(self, position: np.ndarray, body_angle: float) -> np.ndarray:
        """Return the angles (N,) of the feet's x axes in wall axes [rad]."""
        return self.link_angles(position, body_angle)[self._firsts]

    def foot_positions(self, position: np.ndarray) -> np.ndarray:
        """Return foot positions (N, 2) [m] from the body's CoM, body axes."""
        feet = (self._rest + position[self.hip])[:, :2]
        angles = self.link_angles(position, 0.0)
        for i, lengths in enumerate(self._lengths):
            turned = np.cumsum(angles[self._firsts[i]:self._firsts[i] + len(lengths)])
            feet[i] -= [lengths @ np.cos(turned), lengths @ np.sin(turned)]
        return feet


# -------------------------------------------------------------------------------------------------
# URDF of the climbing robot.
#
# Body axes are the model's: x to the right, y to the head, z off the wall. Each link's frame lies
# at the end towards the hip, its x axis along the link from the foot to the hip; the foot's frame
# lies on the wall, with the axes of the first link. Joints read zero at the nominal rest.


BASE = 'body'
IMU = 'imu_link'


@dataclass(frozen=True)
class DescriptionSettings:
    """Limits of the motors of a 370 g robot, sliding hips and turning joints; what is drawn."""

    slide_effort: float = 20.0      # N
    slide_reach: float = 0.02       # m, each way
    slide_speed: float = 2.0        # m/s
    turn_effort: float = 2.5        # N m
    turn_reach: float = 1.5         # rad, each way
    turn_speed: float = 20.0        # rad/s
    limb_radius: float = 0.005      # m, drawn
    foot_radius: float = 0.01       # m, drawn


DRAWN = DescriptionSettings()


def urdf(model: StickybotModel) -> str:
    """Return the URDF of a robot, without its wall."""
    lines = ['<robot name="stickybot">', *_body(model)]
    for limb in model.limbs:
        lines += _limb(limb, model.body.height)
    return '\n'.join(['<?xml version="1.0"?>', *lines, '</robot>', ''])


def _body(model: StickybotModel) -> Iterable[str]:
    hips = np.abs([limb.hip for limb in model.limbs]).max(axis=0)
    size = f'{2.0 * hips[0]:g} {2.0 * hips[1] + 0.04:g} 0.02'
    # A flat body: its inertia about the wall's normal is the sum of the other two.
    yield f'  <link name="{BASE}">'
    yield _inertial(model.body.mass, 0.0, 0.5 * model.body.inertia, model.body.inertia)
    yield f'    <visual><geometry><box size="{size}"/></geometry></visual>'
    yield '  </link>'
    yield f'  <link name="{IMU}"/>'
    yield (f'  <joint name="imu_joint" type="fixed"><parent link="{BASE}"/>'
           f'<child link="{IMU}"/></joint>')


def _limb(limb: Limb, height: float) -> Iterable[str]:
    names, links = _joint_names(limb), limb.links
    carriers = [f'{limb.name}_slide_x', f'{limb.name}_slide_y']
    chain = [*carriers, *(f'{limb.name}_link_{k}' for k in range(len(links), 0, -1))]
    kinds = [('prismatic', '1 0 0'), ('prismatic', '0 1 0'), ('revolute', '0 0 1')]
    # An inner joint counts the hip's side against the foot's; seen from the hip it turns back.
    kinds += [('revolute', '0 0 -1')] * (len(links) - 1)
    places = [(*limb.hip, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, limb.rest_angle)]
    places += [(-link.length, 0.0, -bend)
               for link, bend in zip(links[:0:-1], reversed(limb.bends))]
    damping = [*np.diag(limb.damping), *(link.damping for link in links[:0:-1])]
    for k, (joint, child, (kind, axis), (x, y, angle)) in enumerate(
            zip(names, chain, kinds, places)):
        turns = kind == 'revolute'
        yield from _link(child, links[len(chain) - 1 - k] if k >= 2 else None)
        yield f'  <joint name="{joint}" type="{kind}">'
        yield f'    <parent link="{chain[k - 1] if k else BASE}"/><child link="{child}"/>'
        yield f'    <origin xyz="{x:.9g} {y:.9g} 0" rpy="0 0 {angle:.9g}"/><axis xyz="{axis}"/>'
        reach, effort, speed = (
            (DRAWN.turn_reach, DRAWN.turn_effort, DRAWN.turn_speed) if turns else
            (DRAWN.slide_reach, DRAWN.slide_effort, DRAWN.slide_speed))
        yield (f'    <limit lower="{-reach:g}" upper="{reach:g}" effort="{effort:g}" '
               f'velocity="{speed:g}"/>')
        yield f'    <dynamics damping="{damping[k]:.9g}"/>'
        yield '  </joint>'
    yield f'  <link name="{_foot_link(limb)}">'
    yield f'    <visual><geometry><sphere radius="{DRAWN.foot_radius:g}"/></geometry></visual>'
    yield '  </link>'
    yield (f'  <joint name="{limb.name}_foot_joint" type="fixed"><parent link="{chain[-1]}"/>'
           f'<child link="{_foot_link(limb)}"/>'
           f'<origin xyz="{-links[0].length:.9g} 0 {-height:.9g}"/></joint>')


def _link(name: str, link: Link | None) -> Iterable[str]:
    if link is None:
        yield f'  <link name="{name}"/>'
        return
    half = link.length / 2.0
    yield f'  <link name="{name}">'
    # A rod has little inertia about its own axis.
    yield _inertial(link.mass, link.center - link.length, 0.01 * link.inertia, link.inertia)
    yield (f'    <visual><origin xyz="{-half:.9g} 0 0" rpy="0 {math.pi / 2:.9g} 0"/><geometry>'
           f'<cylinder radius="{DRAWN.limb_radius:g}" length="{link.length:.9g}"/></geometry>'
           '</visual>')
    yield '  </link>'


def _inertial(mass: float, x: float, roll: float, yaw: float) -> str:
    """Return an inertial tag of a body that is flat or thin; yaw is about the wall's normal."""
    return (f'    <inertial><origin xyz="{x:.9g} 0 0"/><mass value="{mass:.9g}"/>'
            f'<inertia ixx="{roll:.9g}" iyy="{max(yaw - roll, roll):.9g}" izz="{yaw:.9g}" '
            f'ixy="0" ixz="0" iyz="0"/></inertial>')
