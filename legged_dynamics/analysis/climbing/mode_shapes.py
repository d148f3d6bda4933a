# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The modes of a climbing robot at rest, named by what moves in them."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot import (
    Modes,
    RestPosition,
    StickybotModel,
    find_equilibrium,
    modes,
    unloaded_state,
)

SHOWN = 0.12        # part of a mode's motion that a name needs


@dataclass(frozen=True)
class NamedMode:
    """
    One mode.

    Attributes
    ----------
    name : str
        What moves, by its part of the kinetic energy.
    eigenvalue : complex [1/s]
    damping_ratio : float
        1 where it does not oscillate.

    """

    name: str
    eigenvalue: complex
    damping_ratio: float


def modes_at_rest(model: StickybotModel) -> tuple[Modes, list[NamedMode]]:
    """
    Return the modes of the robot hanging on all feet, slowest decay first.

    Raises
    ------
    SimulationError
        When the robot cannot hang there.

    """
    rest = RestPosition.nominal(model)
    found = modes(model, find_equilibrium(model, unloaded_state(model), rest), rest)
    # Kinetic energy of each coordinate alone: what it weighs in a mode.
    weight = np.zeros(model.nz)
    weight[:3] = model.body.mass, model.body.mass, model.body.inertia
    at = 0
    for limb in model.limbs:
        for link in limb.links:
            weight[model.joint_columns[at]] = link.inertia + link.mass * link.center ** 2
            at += 1
    named = []
    for value, ratio, shape in zip(found.eigenvalues, found.damping_ratio, found.shape):
        energy = weight * np.abs(shape) ** 2
        parts = {'body x': energy[0], 'body y': energy[1], 'body angle': energy[2],
                 'limbs': energy[model.joint_columns].sum()}
        total = sum(parts.values())
        names = [f'{name} {100.0 * part / total:.0f} %' for name, part in
                 sorted(parts.items(), key=lambda item: -item[1]) if part > SHOWN * total]
        named.append(NamedMode(', '.join(names), complex(value), float(ratio)))
    return found, named


def nominal_poles(model: StickybotModel) -> list[tuple[str, complex]]:
    """
    Return the poles by which the hips' damping is designed, each axis of a hip by itself.

    ``m/N`` (or I/N) on one spring and damper of the first limb's hip; (36), (37) make both roots
    equal when the nominal damping ratio is 1.
    """
    limb, found = model.limbs[0], []
    for j, name in enumerate(('x', 'y', 'angle')):
        mass = (model.body.inertia if j == 2 else model.body.mass) / model.n_limbs
        half, stiffness = limb.damping[j, j] / (2.0 * mass), limb.stiffness[j, j] / mass
        under = half * half - stiffness
        root = math.sqrt(abs(under))
        values = [complex(-half, root)] if under < -1e-9 * stiffness else \
            sorted({complex(-half - root, 0.0), complex(-half + root, 0.0)}, key=abs) \
            if under > 1e-9 * stiffness else [complex(-half, 0.0)]
        found += [(name, value) for value in values]
    return found
