# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Everything that is known of one recording once it has been analysed."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.gait.accuracy import FootErrors
from legged_dynamics.analysis.gait.alignment import Alignment
from legged_dynamics.analysis.gait.plates import Plates
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.gait.reactions import GaitReactions
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class GaitResult:
    """
    A recording, what was computed from it, and what is known beside it.

    Attributes
    ----------
    source : Path
        Bag or CSV file.
    model : RobotModel
    feet : tuple of Foot
    start_ns : int
        Stamp at which the motion's time is zero.
    motion : RecordedMotion
    reactions : GaitReactions
    method : str
        Which one shared the load.
    contact_source : str
        Where contact comes from, for people to read.
    plates : Plates or None
        The truth, where the recording has it.
    errors : dict of str to FootErrors
        Against the truth, by method.
    notes : list of str
        What is odd or was assumed.
    alignment : Alignment or None
        How plates and motion fit together.
    together : FootErrors or None
        Errors of the method with the clocks of plates and motion put together, where they are not.
    ground_velocity : (n, nf, 3) array or None [m/s]
        Of what is under each foot, in world axes; None for the floor.
    bodies : dict of str to str
        Body that carries a foot, by the foot, where other tools name bodies.
    model_file : str
        That the model was read from; empty when the recording had it.

    """

    source: Path
    model: RobotModel
    feet: tuple[Foot, ...]
    start_ns: int
    motion: RecordedMotion
    reactions: GaitReactions
    method: str
    contact_source: str
    plates: Plates | None
    errors: dict[str, FootErrors]
    notes: list[str]
    alignment: Alignment | None = None
    together: FootErrors | None = None
    ground_velocity: np.ndarray | None = None
    bodies: dict[str, str] = field(default_factory=dict)
    model_file: str = ''

    @property
    def stamps(self) -> np.ndarray:
        """(n,) stamps [ns]."""
        return self.start_ns + np.round(self.motion.time * 1e9).astype(np.int64)

    @property
    def weight(self) -> float:
        """Weight of the model [N]."""
        return self.model.total_mass * GRAVITY
