# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""BodyState: where the base is and how it moves, with what speaks for and against it."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np


class OdometryFault(IntFlag):
    """What was wrong with the input of a body state."""

    NONE = 0
    TIME_JUMPED_BACK = 1    # everything was forgotten
    GAP = 2                 # all feet got new places
    NO_IMU = 4              # neither gyro nor accelerometer
    NO_ORIENTATION = 8      # tilt from the accelerometer, heading from the gyro and the feet
    NO_STANCE = 16          # no foot stands: gyro and accelerometer alone
    SLIP = 32               # a foot was found far from its place and got a new one


@dataclass(frozen=True, eq=False, slots=True)
class BodyState:
    """
    Pose and twist of the base at one instant. Arrays are read-only.

    World W: z up; its origin on the ground in the middle of the first stance, its heading that
    of the IMU's world (without orientation, that of the base at the start).

    Attributes
    ----------
    stamp_ns : int [ns]
        Of the measurement.
    position : (3,) array [m]
        ``p_WB``.
    rotation : (3, 3) array
        ``R_WB``.
    twist : (6,) array [m/s, rad/s]
        ``[v; w]`` of the base's origin over ground, in base axes.
    contact : (nf,) array of bool
        The feet that were taken to stand.
    foot_position : (nf, 3) array [m]
        Contact points in W: where a standing foot stands, where the legs see another one.
    foot_offset : (nf,) array [m]
        How far the legs see each standing foot from its place: the feet's disagreement.
    position_deviation : float [m]
        One standard deviation of the position against the start; grows with every step.
    steps : int
        How often a foot was given a place after the first stance.
    slips : int
        How often a foot was found far from its place.
    faults : OdometryFault

    """

    stamp_ns: int
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    contact: np.ndarray
    foot_position: np.ndarray
    foot_offset: np.ndarray
    position_deviation: float
    steps: int
    slips: int
    faults: OdometryFault

    @property
    def up(self) -> np.ndarray:
        """Unit vector against gravity in base axes, (3,)."""
        return self.rotation[2]
