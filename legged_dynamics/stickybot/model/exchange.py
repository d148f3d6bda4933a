# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What passes between a climbing robot and its controller: measurements, commands, events."""
from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class StickybotMeasurement:
    """
    Joint states of hips and limbs, and the body's attitude, at one instant.

    Attributes
    ----------
    stamp_ns : int [ns]
    hip : (N, 3) array [m, m, rad]
        Joint positions of the hips: where each limb ends, in body axes from the body's centre of
        mass, and the last link's angle against the body.
    hip_rate : (N, 3) array [m/s, m/s, rad/s]
    body_angle : float [rad]
        From the direction of gravity in the plane of the wall: 0 with the head up the slope. On a
        floor, where gravity has no such direction, from integrated rates.
    body_rate : float [rad/s]
        Gyro, about the wall's normal.
    joint, joint_rate : (nq - N,) array [rad, rad/s]
        Inner joints of limbs with several links, limb after limb.
    attached : (N,) array of bool or None
        Feet that hold on the wall, when something measures it.
    effort : (N, 3) array or None [N, N, N m]
        What motors at the hips deliver beside springs about their nominal rest positions, limb
        against body, when it is measured; otherwise the last command counts as fulfilled.
    joint_effort : (nq - N,) array or None [N m]
        The same of the inner joints.

    """

    stamp_ns: int
    hip: np.ndarray
    hip_rate: np.ndarray
    body_angle: float
    body_rate: float
    joint: np.ndarray = field(default_factory=lambda: np.zeros(0))
    joint_rate: np.ndarray = field(default_factory=lambda: np.zeros(0))
    attached: np.ndarray | None = None
    effort: np.ndarray | None = None
    joint_effort: np.ndarray | None = None


class FootEventKind(Enum):
    """What happened to a foot."""

    TOUCHED_DOWN = 'was planted on the wall'
    LIFTED_OFF = 'was taken off the wall'
    SLIPPED = 'let go: its shear force left what the pad holds'
    PEELED = 'let go: it was pulled off the wall harder than the pad holds'
    LOST = 'no longer holds, by what the hips and the body show'


@dataclass(frozen=True)
class FootEvent:
    """
    One event of one foot.

    Attributes
    ----------
    stamp_ns : int [ns]
    limb : str
    kind : FootEventKind

    """

    stamp_ns: int
    limb: str
    kind: FootEventKind

    def __str__(self) -> str:
        return f'{self.stamp_ns * 1e-9:.4f} s: foot {self.limb} {self.kind.value}'


@dataclass(frozen=True, eq=False, slots=True)
class StickybotCommand:
    """
    What the actuators are to do until the next command.

    Attributes
    ----------
    stamp_ns : int [ns]
        Of the measurement that it answers.
    rest : (N, 3) array [m, m, rad]
        Rest positions of the hips, to be reached one control period later; in between they move
        evenly.
    attach : (N,) array of bool
        Feet that are to hold on the wall.
    joint_rest : (nq - N,) array [rad]
        Rest angles of the inner joints, likewise.
    effort : (N, 3) array [N, N, N m] or None
        Efforts of the hip joints now, limb against body, for a robot whose hips are driven by
        efforts and not by springs.
    reaction : (N, 2) array [N] or None
        Force of the wall on each foot now, wall axes, as estimated from the springs.
    planned : (N, 2) array [N] or None
        What the reduction makes of it.
    pose, velocity : (3,) array or None
        Of the body on the wall, by the feet's odometry.
    pads_kept : bool
        False when the load is more than the pads are known to hold.
    events : tuple of FootEvent
        What happened to feet at this instant.

    """

    stamp_ns: int
    rest: np.ndarray
    attach: np.ndarray
    joint_rest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    effort: np.ndarray | None = None
    reaction: np.ndarray | None = None
    planned: np.ndarray | None = None
    pose: np.ndarray | None = None
    velocity: np.ndarray | None = None
    pads_kept: bool = True
    events: tuple[FootEvent, ...] = ()
