# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whether pads hold what is to come: the next change of feet, and the plain gait as a whole."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from legged_dynamics.stickybot.allocation.force_program import SET, fill_sets
from legged_dynamics.stickybot.control.gait import GaitClock
from legged_dynamics.stickybot.control.load_sharing import (
    REPORT,
    choose_forces,
    make_sharing_memory,
    static_load,
)
from legged_dynamics.stickybot.model.adhesion import PAD, Adhesion, normal_loads
from legged_dynamics.stickybot.model.limb import FORCE
from legged_dynamics.stickybot.model.robot import StickybotModel

# Parts of the next phase at which its load is allocated.
INSTANTS = (0.0, 0.5, 1.0)


def weaker(pad: Adhesion, part: float) -> Adhesion:
    """Return a pad all limits of which are lower by a part."""
    rest = 1.0 - part
    return replace(pad, shear=rest * pad.shear, normal=rest * pad.normal, tack=rest * pad.tack,
                   half_angle=math.atan(rest * math.tan(pad.half_angle)),
                   release_angle=math.atan(rest * math.tan(pad.release_angle)))


class PadForesight:
    """Allocates the load of the next phase of the gait to pads that are weaker than stated."""

    def __init__(self, model: StickybotModel, clock: GaitClock, pads: Sequence[Adhesion],
                 deviation: float):
        self._model, self._clock = model, clock
        self._pads = np.array([weaker(pad, deviation).packed() for pad in pads])
        self._wall = np.array([model.body.height, model.wall.normal])
        n = model.n_limbs
        self._memory = make_sharing_memory(model.machine, model.nz)
        self._sets, self._forces = np.zeros((n, SET.width)), np.zeros((n, FORCE.width))
        self._normals, self._ones = np.zeros(n), np.ones(n)
        self._w = np.zeros(3)

    def holds(self, z: np.ndarray, angles: np.ndarray, time_ns: int, speed: float) -> bool:
        """
        Return whether the pads hold from the next lift-off to the one after it.

        ``z``: coordinates now; ``angles`` (N,) [rad]: of the pads that hold, wall axes;
        ``time_ns``: of the gait; ``speed`` [m/s] of the body along its y axis.
        """
        now = self._clock.at(time_ns)
        lifts = now.until_lift[now.stance]
        wait = float(lifts.min(initial=math.inf))
        if not math.isfinite(wait):
            return True
        then = self._clock.at(time_ns + round(1e9 * wait) + 1)
        if not then.stance.any():
            return True
        lasting = float(then.until_lift[then.stance].min())
        # Feet that swing now and stand then are set where their limbs point.
        fresh = then.stance & ~now.stance
        z, angles = z.copy(), np.where(fresh, z[2] + self._pads[:, PAD.direction], angles)
        self._place(z, then.angle, fresh)
        forward = speed * np.array([-math.sin(z[2]), math.cos(z[2])])
        start = z[:2].copy()
        for part in INSTANTS:
            z[:2] = start + forward * (wait + part * lasting)
            if not self._carried(z, angles, then.stance):
                return False
        return True

    def _place(self, z: np.ndarray, turned: np.ndarray, fresh: np.ndarray) -> None:
        model, at = self._model, 0
        c, s = math.cos(z[2]), math.sin(z[2])
        for i, limb in enumerate(model.limbs):
            angles = z[2] + limb.rest_angle + turned[i] - sum(limb.bends) + np.cumsum(
                [0.0, *limb.bends])
            if fresh[i]:
                x, y = limb.hip
                lengths = [link.length for link in limb.links]
                z[model.foot_columns[i]] = [
                    z[0] + c * x - s * y - np.dot(lengths, np.cos(angles)),
                    z[1] + s * x + c * y - np.dot(lengths, np.sin(angles))]
                z[model.joint_columns[at]] = angles[0]
            at += len(limb.links)

    def _carried(self, z: np.ndarray, angles: np.ndarray, stance: np.ndarray) -> bool:
        machine, memory, still = self._model.machine, self._memory, np.zeros(3)
        static_load(machine, z, still, self._w)
        # The pull off the wall follows from the whole load, however it is shared.
        self._forces[:, FORCE.reaction:FORCE.reaction + 2] = (
            self._w[:2] / stance.sum() * stance[:, None])
        normal_loads(machine, self._wall, stance, z, self._forces, self._normals)
        fill_sets(self._pads, self._normals, angles, self._sets)
        found = choose_forces(machine, memory, z, stance, self._ones, still, self._sets, 1e-6)
        # The program keeps to half-planes; the largest force, which it makes least, to the discs.
        within = np.hypot(*memory.planned.T) <= self._sets[:, SET.radius]
        return bool(found and memory.report[REPORT.kept] and within[stance].all())
