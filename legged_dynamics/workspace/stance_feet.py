# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StanceFeet: arrays and memory of workspace control for one set of feet in contact."""
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from legged_dynamics.dynamics.jacobians import PLANE, SOLE, START, WRENCH, foot_moment
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import as_python
from legged_dynamics.spatial.packed import pack
from legged_dynamics.workspace.control_tick import StanceMemory
from legged_dynamics.workspace.force_division import division_program, foot_cone
from legged_dynamics.workspace.ground import GroundReading
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.stance_arrays import GROUP, articulated_scratch, stance_arrays

# Missing newtons at the base that count as much as one missing newton metre [1/m]: a body that is
# pushed away should stay upright.
UPRIGHT = 10.0
# Largest normal force of a foot without a limit, in weights of the robot.
MOST = 100.0


class StanceFeet:
    """
    Arrays of the stages for a robot on some of its feet.

    Parameters
    ----------
    model : RobotModel
    feet : sequence of Foot
        All feet.
    contact : (nf,) sequence of bool
        Which of them stand.
    settings : WorkspaceSettings

    Attributes
    ----------
    enough : bool
        Whether these feet can hold the base: one that carries any wrench, as a sole does, or two
        of any kind. Without, nothing else is there.
    members : (k,) int array
        Place of each foot in contact among all feet.
    place : dict of int to (int, int)
        Of each foot in contact among these, and of its first contact coordinate.
    arrays : StanceArrays
    scratch : Scratch
        For the recursion with a big base.
    program : DivisionProgram
    memory : StanceMemory
    packed : tuple of packs
        Of arrays, memory and program.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], contact: Sequence[bool],
                 settings: WorkspaceSettings):
        self.members = np.flatnonzero(contact)
        standing = [feet[i] for i in self.members]
        self.enough = len(standing) > 1 or any(len(foot.rows) == WRENCH for foot in standing)
        if not self.enough:
            return
        self.arrays = stance_arrays(model, standing)
        self.scratch = articulated_scratch(self.arrays)
        table, nv = self.arrays.feet, model.nv
        self.place = {foot: (i, int(start)) for i, (foot, start) in enumerate(
            zip(self.members.tolist(), table.index[:, START]))}
        self._seen = self._version = -1
        self._asked = False
        self._minimum = settings.minimum_load * model.total_mass * GRAVITY
        self._unlimited, self._most = MOST * model.total_mass * GRAVITY, None
        self.program = division_program(
            standing, table.size, nv, settings.friction, self._minimum,
            self.arrays.ground, UPRIGHT, self._unlimited)
        # Rows of a cone are affine in friction.
        one, two = (np.zeros_like(self.program.cones[:, :, 1:]) for _ in range(2))
        for i, foot in enumerate(standing):
            for rows, friction in ((one[i], 1.0), (two[i], 2.0)):
                A, _ = foot_cone(foot, friction, self._minimum, settings.sole_margin,
                                 self._unlimited)
                rows[:len(A)] = A
        self._cones = 2.0 * one - two, two - one
        # The last two rows of a foot's cone are its least and its largest normal force.
        self._loads = [int(cone[:, 0].sum()) - 2 for cone in self.program.cones]
        weights = table.rows.scales(1.0, settings.moment_arm ** -2)
        group = [next(g for g, row in enumerate(self.arrays.groups)
                      if start in row[GROUP.members:GROUP.members + row[GROUP.n_rows]])
                 for start in table.index[:, START]]
        limits = model.effort_limits
        limits = np.where(np.isfinite(limits), limits, 0.0) * settings.effort_fraction
        self.memory = StanceMemory(
            self.members, np.array(group), limits, weights, np.zeros(table.size),
            np.zeros((len(standing), 4)), np.zeros(6), np.zeros(6), np.zeros(6 + nv),
            np.zeros(6 * len(standing)))
        self.packed = pack(self.arrays), pack(self.memory), pack(self.program)

    def stand_on(self, ground: GroundReading) -> None:
        """
        Update the normals and friction of the ground under these feet.

        Parameters
        ----------
        ground : GroundReading
            Of all feet.

        """
        if self._seen != ground.seen:
            self._seen = ground.seen
            self.arrays.ground[:] = ground.axes[self.members]
            self.arrays.touch[:] = ground.touch[self.members]
        if self._version == ground.version:
            return
        self._version = ground.version
        level, slope = self._cones
        self.program.cones[:, :, 1:] = level + ground.friction[self.members, None, None] * slope

    def bear(self, most: np.ndarray | None) -> None:
        """
        Limit the normal forces of these feet.

        Parameters
        ----------
        most : (nf,) array [N], optional
            Largest normal force of all feet of the robot; none by default.

        """
        if most is None and self._most is None:
            return
        self._most, bounds = most, self.program.bounds
        limits = itertools.repeat(self._unlimited) if most is None else most[self.members].tolist()
        for i, (limit, row) in enumerate(zip(limits, self._loads)):
            bounds[i, row] = min(self._minimum, 0.5 * min(limit, self._unlimited))
            bounds[i, row + 1] = -min(limit, self._unlimited)

    # ---- forces on single feet, in world axes ----------------------------------------------

    def ask(self, sought: Mapping[int, np.ndarray], R_WB: np.ndarray) -> None:
        """
        Set the forces that the division is to seek.

        Parameters
        ----------
        sought : mapping of int to (3,) array [N]
            Forces in world axes by the foot's number; the other feet are free.
        R_WB : (3, 3) array
            Orientation of the base.

        """
        if not sought and not self._asked:
            return
        self._asked = bool(sought)
        self.memory.asked[:, 0] = 0.0
        for foot, force in sought.items():
            row = self.memory.asked[self.place[foot][0]]
            row[0], row[1:] = 1.0, force @ R_WB

    def forces(self, R_WB: np.ndarray) -> dict[int, np.ndarray]:
        """
        Return the force that the last division gives each foot in contact.

        Parameters
        ----------
        R_WB : (3, 3) array
            Orientation of the base.

        Returns
        -------
        dict of int to (3,) array [N]
            In world axes, by the foot's number.

        """
        return {foot: self.force(R_WB, foot) for foot in self.place}

    def force(self, R_WB: np.ndarray, foot: int) -> np.ndarray:
        """
        Return the force that the last division gives one foot in contact.

        Parameters
        ----------
        R_WB : (3, 3) array
            Orientation of the base.
        foot : int
            Number of the foot.

        Returns
        -------
        (3,) array [N]
            In world axes.

        """
        start = self.place[foot][1]
        return R_WB @ self.memory.shares[start:start + 3]

    def rotation(self, foot: int) -> np.ndarray:
        """
        Return the orientation ``R_BF`` of a foot, the identity for a foot not in contact.

        Parameters
        ----------
        foot : int
            Number of the foot.

        Returns
        -------
        (3, 3) array

        """
        if foot not in self.place:
            return np.eye(3)
        return self.arrays.states[self.place[foot][0], :9].reshape(3, 3)

    def why_not(self, foot: int, force: np.ndarray, R_WB: np.ndarray) -> str:
        """
        Return why a foot in contact cannot have a requested force.

        The foot's own limits are checked first; without a violation the other feet are the reason.

        Parameters
        ----------
        foot : int
            Number of the foot.
        force : (3,) array [N]
            Requested force, in world axes.
        R_WB : (3, 3) array
            Orientation of the base.

        Returns
        -------
        str
            Reason for people.

        """
        i, start = self.place[foot]
        R_BC = R_WB.T @ self.arrays.ground[i].reshape(3, 3)
        if self.arrays.feet.index[i, PLANE]:
            R_BC = self.arrays.states[i, :9].reshape(3, 3)
        in_base = force @ R_WB
        local, cone = in_base @ R_BC, self.program.cones[i]
        rows = cone[(cone[:, 0] != 0.0) & (np.abs(cone[:, 4:]).max(axis=1) == 0.0), 1:4]
        if local[2] < self._minimum:
            return f'a normal force below {self._minimum:.0f} N'
        if (rows[:-2] @ local < -1e-9 * np.linalg.norm(force)).any():
            return 'outside the friction cone'
        own = self.arrays.jacobian[start:start + 3]
        free = self.arrays.M[6:] @ self.memory.acceleration + self.arrays.h[6:]
        effort = free - in_base @ own
        if ((np.abs(effort) > self.memory.limits) & (np.abs(own).max(axis=0) > 0.0)
            & (self.memory.limits > 0.0)).any():
            return 'beyond the effort limits'
        return 'the other feet cannot balance it'

    def margins(self, R_WB: np.ndarray, friction: np.ndarray) -> dict[str, float]:
        """
        Return the margins ``friction`` and ``sole`` of `WorkspaceController.margins`.

        Parameters
        ----------
        R_WB : (3, 3) array
            Orientation of the base.
        friction : (nf,) array
            Coefficient of friction of all feet.

        Returns
        -------
        dict of str to float

        """
        found: dict[str, float] = {}
        for i, (foot, force) in enumerate(self.forces(R_WB).items()):
            R_BF, axes = self.arrays.states[i, :9].reshape(3, 3), self.arrays.ground[i]
            axes = R_WB @ R_BF if self.arrays.feet.index[i, PLANE] else axes.reshape(3, 3)
            x, y, z = force @ axes
            if z <= 0.0:
                continue
            free = 1.0 - float(np.hypot(x, y) / (friction[foot] * z))
            found['friction'] = min(free, found.get('friction', 1.0))
            mx, my, _ = as_python(foot_moment)(
                self.arrays.feet.index, self.arrays.states, i, self.memory.shares) @ R_BF
            front, back, left, right = self.arrays.feet.geometry[i, SOLE:SOLE + 4]
            for width, off in ((front - back, my / z), (left - right, mx / z)):
                if width > 0.0:
                    edge = float(0.5 * width - abs(off))
                    found['sole'] = min(edge, found.get('sole', np.inf))
        return found
