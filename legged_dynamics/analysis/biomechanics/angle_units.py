# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether a table's angles are degrees, and what coordinates that follow others may say.

OpenSim's header states the unit (``inDegrees``). Tables of SIMM and of the format's version 0 have
no such line, and are in degrees; tables that other programs write without it may be in either.
"""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from legged_dynamics.model.opensim import OpenSimModel
from legged_dynamics.model.opensim.document import Coordinate

# No joint of a body turns further, so beyond it an angle is not in radians.
TURN = 2.0 * np.pi
# A root may turn round with the whole body, a few times.
TURNS = 4.0 * TURN
# How far beyond a joint's range recordings go [rad]; a pair of arms goes further now and then,
# several joints do not.
BEYOND, SEVERAL = 0.5, 3
# What follows another coordinate is within this of what the model couples it to [rad or m].
COUPLED = 0.2


def angle_unit(found: Mapping[str, np.ndarray], stated: bool | None,
               osim: OpenSimModel) -> tuple[bool, list[str]]:
    """
    Return whether angles are in degrees, and what to know of it.

    Parameters
    ----------
    found : mapping of str to (n,) array
        Coordinates as they stand in the table.
    stated : bool or None
        What the header says; None when it says nothing.
    osim : OpenSimModel
        Whose coordinates they are.

    """
    if stated is not None:
        return stated, []
    angles = {name: values[np.isfinite(values)] for name, values in found.items()
              if osim.rotational(name) and name not in _followed(osim)}
    angles = {name: values for name, values in angles.items() if len(values)}
    degrees = any(np.abs(values).max() > (TURNS if name in osim.root_coordinates else TURN)
                  for name, values in angles.items()) or sum(
        _fits_as_degrees(values, osim.coordinates[name]) for name, values in angles.items()
        if name not in osim.root_coordinates) >= SEVERAL
    unit, why = ('degrees', 'are too large for') if degrees else ('radians', 'may be')
    return degrees, [f'The header does not say the unit of angles (inDegrees); values {why} '
                     f'radians, so they are taken for {unit}.']


def _fits_as_degrees(values: np.ndarray, said: Coordinate) -> bool:
    """Return whether a joint's angles are in its range as degrees, and not as radians."""
    low, high = said.lower - BEYOND, said.upper + BEYOND
    inside = [low <= unit * values.min() and unit * values.max() <= high
              for unit in (1.0, np.pi / 180.0)]
    return inside[1] and not inside[0]


def without_contradictions(found: Mapping[str, np.ndarray], in_degrees: bool,
                           osim: OpenSimModel) -> tuple[dict[str, np.ndarray], list[str]]:
    """
    Return coordinates without those that contradict what the model couples them to.

    A kneecap's angle follows the knee's, and programs write it in another unit, or as zero. The
    model says what it is.

    Parameters
    ----------
    found : mapping of str to (n,) array
        Coordinates as they stand in the table.
    in_degrees : bool
        Whether angles are in degrees.
    osim : OpenSimModel
        Whose coordinates they are.

    """
    def radians(name: str) -> np.ndarray:
        values = np.asarray(found[name])
        return np.radians(values) if in_degrees and osim.rotational(name) else values

    kept, notes = dict(found), []
    for coupling in osim.couplings:
        name, masters = coupling.dependent, coupling.independent
        if name not in found or name not in _followed(osim) or any(
                master not in found for master in masters):
            continue
        wanted = coupling.function.evaluate(np.stack([radians(m) for m in masters], axis=1))
        off = np.abs(radians(name) - wanted)
        if not off.max() <= COUPLED:
            del kept[name]
            notes.append(f'{name} is off by up to {np.nanmax(off):.3g} (rad or m) from what the '
                         f'model couples to {", ".join(masters)}: the model is followed.')
    return kept, notes


def _followed(osim: OpenSimModel) -> set[str]:
    """Return the coordinates whose joints follow others in the model."""
    return {joint.name for joint in osim.joints if joint.mimic is not None}
