# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a user can say about inverse dynamics over a recording."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Default low-pass of recorded poses [Hz]: slow human movement is filtered at 6, walking at 10.
CUTOFF = 8.0
DETECTED = 'detected'
# Edges of a sole that is not described [m]: front, back, left, right.
SOLE = (0.13, -0.1, 0.04, -0.04)


@dataclass(frozen=True)
class GaitOptions:
    """
    Options; the defaults find everything in a bag.

    Attributes
    ----------
    urdf : str
        Path of a URDF, or of an OpenSim model (.osim); empty: from the bag.
    robot : str
        Name of a robot that comes with the package, or path of a YAML; empty: recognised by its
        URDF, unless feet are given.
    feet : tuple of str
        Links; empty: those of the robot's YAML.
    sole : tuple of float or None [m]
        Front, back, left and right edge of the feet given, in their frames; None: `SOLE`, or for
        an OpenSim model what its bones and the recording say.
    point_radius : float or None [m]
        The feet given are balls of this radius, and not soles.
    method : str
        One of `methods.METHODS`.
    cutoff : float or None [Hz]
        Low-pass before differentiating; None for none.
    contact : str
        'detected', or path of a CSV file.
    guess : str
        Path of a CSV file with wrenches, for the method that stays near a guess.
    settings : mapping
        Names and values of `gait.settings.SETTINGS`.
    degrees, missing_at_zero : bool
        How a CSV file is read; OpenSim's tables say themselves whether they are in degrees.
    joint_states, imu, odometry : str
        Topics of a bag; empty: found by type and name.
    base : {'', 'odometry', 'imu'}
        What tells the base's motion; empty: odometry where there is one.
    truth : mapping of str to str
        Topic of the true wrench, by foot; beside what the YAML says.
    valid : str
        Bool topic that says when the truth is complete; empty: what the YAML says.
    start, end : float or None [s]
        Range of a bag, from its beginning.
    loads : str
        Path of measured forces: OpenSim's external loads (.xml, .mot, .sto) or a .c3d.
    mass : str
        Total mass of the model [kg], 'plates' for what force plates say, or empty for the URDF's.
    belt_speed : tuple of str
        Speed of a treadmill's belts, as `belt.parse_belts` takes them; 'auto': found by the soles.
    compare : bool
        Whether the other methods are measured against the truth, too.

    """

    urdf: str = ''
    robot: str = ''
    feet: tuple[str, ...] = ()
    sole: tuple[float, float, float, float] | None = None
    point_radius: float | None = None
    method: str = 'travelling'
    cutoff: float | None = CUTOFF
    contact: str = DETECTED
    guess: str = ''
    settings: Mapping[str, Any] = field(default_factory=dict)
    degrees: bool = False
    missing_at_zero: bool = False
    joint_states: str = ''
    imu: str = ''
    odometry: str = ''
    base: str = ''
    truth: Mapping[str, str] = field(default_factory=dict)
    valid: str = ''
    start: float | None = None
    end: float | None = None
    loads: str = ''
    mass: str = ''
    belt_speed: tuple[str, ...] = ('auto',)
    compare: bool = True

    @property
    def contact_file(self) -> Path | None:
        """Path of the contact file, if contact comes from one."""
        return None if self.contact == DETECTED else Path(self.contact)
