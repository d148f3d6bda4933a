# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StandingFeet: what workspace control keeps for one set of standing feet."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.feet import FlatFoot, Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.workspace.big_base import articulated_scratch
from legged_dynamics.workspace.cone_program import cone_program
from legged_dynamics.workspace.control_tick import StanceRoom
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.stance_arrays import MEMBERS, N_ROWS, stance_arrays


class StandingFeet:
    """
    Arrays of the stages for a robot on some of its feet.

    Parameters
    ----------
    model : RobotModel
    feet : sequence of PointFoot or FlatFoot
        All feet.
    contact : (nf,) sequence of bool
        Which of them stand.
    settings : WorkspaceSettings

    Attributes
    ----------
    enough : bool
        Whether these feet can hold the base: one flat foot, or two of any kind. Without, nothing
        else is there.
    members : (k,) int array
        Place of each standing foot among all feet.
    arrays : StanceArrays
    scratch : Scratch
        For the recursion with a big base.
    program : ConeProgram
    room : StanceRoom

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], contact: Sequence[bool],
                 settings: WorkspaceSettings):
        self.members = np.flatnonzero(contact)
        standing = [feet[i] for i in self.members]
        self.enough = len(standing) > 1 or any(isinstance(foot, FlatFoot) for foot in standing)
        if not self.enough:
            return
        self.arrays = stance_arrays(model, standing)
        self.scratch = articulated_scratch(self.arrays)
        table, nv = self.arrays.feet, model.nv
        self.program = cone_program(
            standing, table.size, nv, settings['division.friction'],
            settings['division.minimum_load'] * model.total_mass * GRAVITY)
        weights = np.ones(table.size)
        for start, size in table.index[:, [START, SIZE]]:
            weights[start + 3:start + size] = settings['division.moment_arm'] ** -2
        group = [next(g for g, row in enumerate(self.arrays.groups)
                      if start in row[MEMBERS:MEMBERS + row[N_ROWS]])
                 for start in table.index[:, START]]
        limits = model.effort_limits
        limits = np.where(np.isfinite(limits), limits, 0.0) * settings['limits.effort_fraction']
        self.room = StanceRoom(
            self.members, np.array(group), limits, weights, np.zeros(table.size),
            np.zeros(6 + nv), np.zeros(6 * len(standing)))
