# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Identified quantities as people ask for them: value, error bar, and whether the motion tells."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.identification.unknowns import PER_AXIS, Unknowns

# A quantity counts as told when the recording makes its error bar at least that much smaller.
TOLD = 0.5
UNITS = {'effort_scale': '1', 'coulomb': 'N m', 'viscous': 'N m s/rad', 'armature': 'kg m^2',
         'position_offset': 'rad', 'imu_mount': 'rad', 'accelerometer_bias': 'm/s^2',
         'gyro_bias': 'rad/s'}
# Which motion would tell what this one does not.
MOTIONS = {
    'mass': 'weigh the robot (--total-mass), or trust the torques (--trust-effort)',
    'center_of_mass': 'lean the body about x and y while all feet stand; for its height, lean '
                      'further',
    'inertia': 'sway the body quickly: roll, pitch and yaw at 1 Hz or more, or trot',
    'link_mass': 'lift the leg and hold it at several angles; swing it',
    'effort_scale': 'squat and lift each leg; weigh the robot (--total-mass)',
    'coulomb': 'swing the joint slowly to and fro, leg lifted',
    'viscous': 'swing the joint at several speeds up to its limit, leg lifted',
    'armature': 'swing the joint quickly, leg lifted: several Hz',
    'position_offset': 'squat, and lift each leg, on level ground',
    'imu_mount': 'stand level, then lean about x and y',
    'accelerometer_bias': 'stand for 10 s with the body leaned to each side',
    'gyro_bias': 'stand still for 10 s'}


@dataclass(frozen=True)
class Quantity:
    """
    One identified quantity.

    Attributes
    ----------
    kind, name, unit : str
        Such as 'viscous', 'LF_HFE', 'N m s/rad'.
    described, value : float
        In the description, and identified.
    deviation : float
        Error bar: one standard deviation.
    trust : float
        How far it could be from the description before the recording: one standard deviation.
    told : bool
        Whether the recording tells it.

    """

    kind: str
    name: str
    unit: str
    described: float
    value: float
    deviation: float
    trust: float
    told: bool

    @property
    def motion(self) -> str:
        """Which motion would tell it; empty when this one does."""
        return '' if self.told else MOTIONS[self.kind]


def quantities(u: Unknowns, x: np.ndarray, covariance: np.ndarray,
               prior: np.ndarray) -> tuple[Quantity, ...]:
    """
    Return everything that was identified.

    Parameters
    ----------
    u : Unknowns
        What is identified.
    x : (p,) array
        Identified values.
    covariance, prior : (p, p) array
        After and before the recording.

    """
    found = []

    def add(kind: str, name: str, unit: str, described: float, value: float,
            gradient: np.ndarray) -> None:
        after = float(np.sqrt(max(gradient @ covariance @ gradient, 0.0)))
        before = float(np.sqrt(max(gradient @ prior @ gradient, 0.0)))
        found.append(Quantity(kind, name, unit, described, value, after, before,
                              after < TOLD * before))
    zero = np.zeros(u.size)
    p0, p1, dp = u.inertial(zero), u.inertial(x), u.inertial_gradient(x)
    masses, base = 10 * np.arange(u.model.n_bodies), p1[0]
    total = np.zeros(u.size)
    for i, at in enumerate(masses):
        total[at:at + 10] = dp[i][0]
    add('mass', 'total', 'kg', float(p0[masses].sum()), float(p1[masses].sum()), total)
    row = np.zeros(u.size)
    row[:10] = dp[0][0]
    add('mass', u.model.base_link, 'kg', float(p0[0]), float(base), row)
    for k, axis in enumerate('xyz'):
        row = np.zeros(u.size)
        row[:10] = (dp[0][1 + k] - p1[1 + k] / base * dp[0][0]) / base
        add('center_of_mass', f'{u.model.base_link} {axis}', 'm', p0[1 + k] / p0[0],
            p1[1 + k] / base, row)
    first, last = u.bodies[0].inertia(zero[:10]), u.bodies[0].inertia(x[:10])
    for k, axes in enumerate(('xx', 'yy', 'zz')):
        row = np.zeros(u.size)
        for j in range(10):
            step = 1e-5 * np.eye(10)[j]
            row[j] = (u.bodies[0].inertia(x[:10] + step).about_com[k, k]
                      - u.bodies[0].inertia(x[:10] - step).about_com[k, k]) / 2e-5
        add('inertia', f'{u.model.base_link} {axes}', 'kg m^2', first.about_com[k, k],
            last.about_com[k, k], row)
    for i, joint in enumerate(u.model.joints, start=1):
        row = np.zeros(u.size)
        row[10 * i:10 * i + 10] = dp[i][0]
        add('link_mass', joint.child, 'kg', p0[10 * i], p1[10 * i], row)
    c = u.config.sensors
    now = {'effort_scale': c.per_joint('effort_scale', u.model.joint_names, 1.0),
           'coulomb': [j.friction for j in u.model.joints],
           'viscous': [j.damping for j in u.model.joints],
           'armature': [j.armature for j in u.model.joints],
           'position_offset': c.per_joint('position_offset', u.model.joint_names, 0.0)}
    for kind, described in now.items():
        for i, joint in enumerate(u.model.joints):
            at = u.parts[kind].start + i
            row = np.eye(u.size)[at]
            if kind == 'effort_scale':
                value = described[i] * np.exp(x[at])
                add(kind, joint.name, '1', float(described[i]), float(value), value * row)
            else:
                add(kind, joint.name, UNITS[kind], float(described[i]),
                    float(described[i] + x[at]), row)
    for kind in PER_AXIS:
        if kind in u.parts:
            for i, axis in enumerate('xyz'):
                at = u.parts[kind].start + i
                add(kind, axis, UNITS[kind], 0.0, float(x[at]), np.eye(u.size)[at])
    return tuple(found)
