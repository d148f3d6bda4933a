# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walkers whose true ground reactions are known: a heavy body on weightless legs.

The body is a point-like mass that keeps its height and does not turn, so the ground's forces meet
in it, and its path follows from where the feet press. Feet roll from heel to toe. The path solves
the difference equation of central differences, so differentiating it makes no error.
"""
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_banded

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.model import FlatFoot, PointFoot, RobotModel
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics

MASS, HEIGHT, GRAVITY, DT = 60.0, 0.9, 9.81, 0.01
FRONT, BACK, SIDE = 0.13, -0.10, 0.04
AXES = {'x': '1 0 0', 'y': '0 1 0', 'z': '0 0 1', 'pitch': '0 1 0'}


def description(count, mass=MASS, center=0.0):
    """
    Return the URDF of a body whose legs slide in three directions and pitch their feet.

    `center` is how far its mass is in front of where it ought to be [m].
    """
    def inertial(kg, moment, x=0.0):
        return (f'<inertial><origin xyz="{x} 0 0"/><mass value="{kg}"/><inertia ixx="{moment}" '
                f'iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial>')
    links = [f'<link name="body">{inertial(mass, 1e-3 * mass, center)}</link>']
    joints = []
    for i in range(count):
        parent = 'body'
        for axis, direction in AXES.items():
            child = f'foot{i}' if axis == 'pitch' else f'foot{i}_{axis}'
            kind = 'revolute' if axis == 'pitch' else 'prismatic'
            links.append(f'<link name="{child}">{inertial(1e-9, 1e-12)}</link>')
            joints.append(f'<joint name="leg{i}_{axis}" type="{kind}"><parent link="{parent}"/>'
                          f'<child link="{child}"/><axis xyz="{direction}"/>'
                          '<limit lower="-9" upper="9" effort="9999" velocity="99"/></joint>')
            parent = child
    return f'<robot name="walker">{"".join(links + joints)}</robot>'


@dataclass
class Walk:
    """A motion with its truth."""

    model: RobotModel
    feet: tuple
    time: np.ndarray
    position: np.ndarray        # (n, nq)
    base: np.ndarray            # (n, 3)
    contact: np.ndarray         # (n, nf)
    force: np.ndarray           # (n, nf, 3) in world axes
    pressure: np.ndarray        # (n, nf, 2) in the world

    def motion(self, base=None, yaw=0.0, shift=(0.0, 0.0, 0.0)):
        """Return the recording, seen from a world that is turned and shifted."""
        c, s = np.cos(yaw), np.sin(yaw)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        xyzw = np.tile([0.0, 0.0, np.sin(yaw / 2.0), np.cos(yaw / 2.0)], (len(self.time), 1))
        p = (self.base if base is None else base) @ turn.T + shift
        return RecordedMotion.from_poses(self.model, self.time, p, xyzw, self.position)


def smooth(x):
    """Return 0 to 1 with no slope at the ends."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


def body_path(pressure):
    """Return where a body must be for the ground to press there, (n, 2)."""
    n, k = len(pressure), HEIGHT / GRAVITY / DT ** 2
    band = np.zeros((3, n))
    band[0, 2:] = band[2, :-2] = -k
    band[1, 1:-1] = 1.0 + 2.0 * k
    band[1, 0] = band[1, -1] = 1.0
    return solve_banded((1, 1), band, pressure)


def walk(places, intervals, length, flat=True, mass=MASS, rolls=True):
    """
    Return a walk.

    Parameters
    ----------
    places : list a foot of (x, y) of its soles
    intervals : list a foot of (landing, leaving) [s], beyond the ends where it stands there
    length : float [s]
    rolls : bool; a robot that walks flat-footed does not, and loads a foot as soon as it lands
    """
    count = len(places)
    time = np.arange(round(length / DT) + 1) * DT
    n = len(time)
    contact = np.zeros((n, count), bool)
    weight = np.zeros((n, count))
    origin, pitch = np.zeros((n, count, 3)), np.zeros((n, count))
    pressure = np.zeros((n, count, 2))
    for i in range(count):
        for (x, y), (start, end) in zip(places[i], intervals[i]):
            on = (time >= start) & (time <= end)
            phase = (time[on] - start) / (end - start)
            contact[on, i] = True
            # A foot takes load within a tenth of its stance.
            early, late = (0.2, 0.2) if rolls else (0.1, 0.2)
            weight[on, i] = smooth(phase / early) * smooth((1.0 - phase) / late) + 1e-6
            along = BACK + (FRONT - BACK) * phase if flat and rolls else np.zeros(on.sum())
            angle = np.where(phase < 0.15, -0.35 * (1.0 - phase / 0.15),
                             np.where(phase > 0.7, 0.9 * ((phase - 0.7) / 0.3), 0.0)) * (
                                 flat and rolls)
            pivot = np.where(angle < 0.0, BACK, FRONT)
            pitch[on, i] = angle
            origin[on, i] = np.column_stack([x + pivot * (1.0 - np.cos(angle)), np.full(
                on.sum(), y), pivot * np.sin(angle)])
            pressure[on, i] = np.column_stack([x + along, np.full(on.sum(), y)])
        swing(time, contact[:, i], origin[:, i], pitch[:, i])
    share = weight / weight.sum(axis=1, keepdims=True)
    total = np.einsum('nf,nfi->ni', share, pressure)
    center = body_path(total)
    aim = np.dstack([center[:, None] - pressure, np.full((n, count), HEIGHT)]) / HEIGHT
    body = np.column_stack([center, np.full(n, HEIGHT)])
    position = np.dstack([origin - body[:, None], pitch]).reshape(n, -1)
    feet = tuple(FlatFoot(f'foot{i}', FRONT, BACK, SIDE, -SIDE) if flat else PointFoot(f'foot{i}')
                 for i in range(count))
    return Walk(RobotModel.from_urdf(description(count, mass)), feet, time, position, body,
                contact, mass * GRAVITY * share[..., None] * aim, pressure)


def swing(time, contact, origin, pitch):
    """Fill in how a foot gets from one stance to the next."""
    edges = np.flatnonzero(np.diff(contact.astype(int)))
    starts, ends = edges[~contact[edges + 1]], edges[contact[edges + 1]] + 1
    for first in starts:
        later = ends[ends > first]
        last = later[0] if len(later) else len(time)
        part = slice(first + 1, last)
        phase = (time[part] - time[first]) / (time[min(last, len(time) - 1)] - time[first])
        target = origin[last] if last < len(time) else origin[first] + [0.8, 0.0, 0.0]
        angle = pitch[last] if last < len(time) else -0.35 * bool(pitch.any())
        origin[part] = origin[first] + smooth(phase)[:, None] * (target - origin[first])
        origin[part, 2] += 0.1 * np.sin(np.pi * phase) ** 2
        pitch[part] = pitch[first] + smooth(phase) * (angle - pitch[first])
    for last in ends:
        if not contact[:last].any():
            # The recording begins in the middle of a swing.
            phase = 0.5 + 0.5 * time[:last] / max(time[last], DT)
            origin[:last] = origin[last] - np.outer(1.0 - smooth(phase), [0.8, 0.0, 0.0])
            origin[:last, 2] += 0.1 * np.sin(np.pi * phase) ** 2
            pitch[:last] = pitch[last]


def two_footed_walk(**more):
    """Return some steps of two feet, each stance 0.7 s, together for 0.15 s."""
    step, stance, stride = 0.55, 0.70, 0.7
    places = [[], []]
    intervals = [[], []]
    for k in range(6):
        places[k % 2].append((stride * k, 0.09 if k % 2 == 0 else -0.09))
        intervals[k % 2].append((step * k - 0.35, step * k - 0.35 + stance))
    return walk(places, intervals, 2.6, **more)


def standing(count=2, seconds=6.0, apart=0.3, share=None):
    """
    Return feet that all stay where they are while the load sways from one to another.

    Or has the share (n, count) that is given.
    """
    time = np.arange(round(seconds / DT) + 1) * DT
    angle = 2.0 * np.pi * np.arange(count) / count
    places = 0.5 * apart * np.column_stack([np.sin(angle), np.cos(angle)])
    if share is None:
        share = 1.0 / count + 0.1 * np.sin(2.0 * np.pi * 0.3 * time)[:, None] * np.cos(angle)
    middle = [(FRONT + BACK) / 2.0, 0.0]
    pressure = np.broadcast_to(places + middle, (len(time), count, 2))
    center = body_path(np.einsum('nf,nfi->ni', share, pressure))
    body = np.column_stack([center, np.full(len(time), HEIGHT)])
    soles = np.column_stack([places, np.zeros(count)])
    position = np.dstack([soles - body[:, None], np.zeros((len(time), count))])
    aim = np.dstack([center[:, None] - pressure, np.full(share.shape, HEIGHT)]) / HEIGHT
    feet = tuple(FlatFoot(f'foot{i}', FRONT, BACK, SIDE, -SIDE) for i in range(count))
    return Walk(RobotModel.from_urdf(description(count)), feet, time,
                position.reshape(len(time), -1), body, np.ones(share.shape, bool),
                MASS * GRAVITY * share[..., None] * aim, pressure)


def hopper(gain=1.0, period=0.7, duty=0.6, seconds=4.2):
    """Return the dynamics of hops, its contacts and true load, its acceleration seen too large."""
    walker = standing(seconds=seconds)
    n = len(walker.time)
    phase = (np.arange(n) * DT / period) % 1.0
    on = phase < duty
    load = np.where(on, np.pi / (2.0 * duty) * np.sin(np.pi * phase / duty), 0.0)
    dynamics = GaitInverseDynamics.of(walker.model, walker.feet, walker.motion())
    wrench = dynamics.wrench.copy()
    force = np.column_stack([np.zeros((n, 2)), MASS * GRAVITY * (1.0 + gain * (load - 1.0))])
    wrench[:, :3] = force
    wrench[:, 3:] = np.cross(dynamics.center_of_mass, force)
    return replace(dynamics, wrench=wrench), np.tile(on[:, None], (1, 2)), MASS * GRAVITY * load
