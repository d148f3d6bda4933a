# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Results as gait laboratories publish them: curves over the gait cycle, steps, and symmetry.

Angles, moments, powers and ground forces of each side, per kilogram, and with force plates the
same quantities computed from the measured forces.
"""
from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import OutputError, reraised
from legged_dynamics.pages.page import Table
from legged_dynamics.people.gait.stance_detection import stances
from legged_dynamics.people.trials.analysis import GaitResult

# -------------------------------------------------------------------------------------------------
# Strides of each foot, and curves over them in percent.


PERCENT = np.arange(101.0)
CYCLE = 'gait cycle'
STANCE = 'stance'
_SIDE = (('r', r'(^|_)(r|right)(_|$)'), ('l', r'(^|_)(l|left)(_|$)'))


class Stride(NamedTuple):
    """From one touch-down of a foot to its next one, or to its toe-off."""

    foot: int  # Index of the foot
    start: float  # [s]: touch-down
    off: float  # [s]: toe-off
    end: float  # [s]: next touch-down, or `off` where only the stance is complete


def strides(time: np.ndarray, contact: np.ndarray) -> tuple[list[Stride], str]:
    """Return complete strides, or else stances, and which (`CYCLE` or `STANCE`)."""
    whole, parts, found = [], [], stances(contact)
    half = 0.5 * (time[1] - time[0])
    for stance, after in zip_longest(found, found[1:]):
        if stance.landed and stance.left:
            start, off = time[stance.first] - half, time[stance.last + 1] - half
            parts.append(Stride(stance.foot, start, off, off))
            if after is not None and after.foot == stance.foot:
                whole.append(Stride(stance.foot, start, off, time[after.first] - half))
    return (whole, CYCLE) if whole else (parts, STANCE)


def _over_strides(time: np.ndarray, values: np.ndarray, found: Iterable[Stride]) -> np.ndarray:
    """Return (strides, 101) values over strides, in percent; NaN where one is not known."""
    return np.array([np.interp(start + (end - start) * PERCENT / 100.0, time, values)
                     for _, start, _, end in found]).reshape(-1, len(PERCENT))


def _side_of(name: str) -> str:
    """Return 'r', 'l' or '' by the name of a link or a joint."""
    for side, pattern in _SIDE:
        if re.search(pattern, name, re.IGNORECASE):
            return side
    return ''


def without_side(name: str) -> str:
    """Return a name without its side, such as 'knee_angle' for 'knee_angle_r'."""
    for _, pattern in _SIDE:
        name = re.sub(pattern, lambda found: '_' if found[1] and found[3] else '', name,
                      flags=re.IGNORECASE)
    return name


def _other_side(name: str, names: Iterable[str]) -> str:
    """Return which of the names is the same on the other side; empty when none is."""
    own = _side_of(name)
    return next((other for other in names if own and other != name
                 and _side_of(other) not in ('', own) and without_side(other) == without_side(name)
                 ), '')


# -------------------------------------------------------------------------------------------------

ANGLE = 'angle'
MOMENT = 'moment'
POWER = 'power'
FORCES = ('fore-aft force', 'sideways force', 'vertical force')
# Peaks below this part of the largest of their kind are left out of the table of symmetry.
LEAST_PEAK = 0.1


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over the gait cycle of one foot."""

    quantity: str  # What it is, such as 'moment' or 'vertical force'
    name: str  # Of the joint or the foot
    unit: str  # Of the values
    values: np.ndarray  # (k, 101): one row for each stride
    # (k, 101) or None: the same computed from force plates; NaN where they do not measure
    measured: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        """Mean over the strides, (101,)."""
        return self.values.mean(axis=0)

    @property
    def measured_mean(self) -> np.ndarray | None:
        """Mean over the strides that plates measured, (101,), or None."""
        if self.measured is None or not np.isfinite(self.measured).any():
            return None
        return np.ma.masked_invalid(self.measured).mean(axis=0).filled(np.nan)


@dataclass(frozen=True, eq=False)
class GaitCycles:
    """
    Curves over all strides of a recording.

    Attributes
    ----------
    strides : list of Stride
        All feet's strides.
    phase : {'gait cycle', 'stance'}
        'stance' where no stride is complete.
    curves : list of Curve
        Forces of each foot; angle, moment and power of each joint.

    """

    strides: list[Stride]
    phase: str
    curves: list[Curve]

    def of(self, quantity: str) -> list[Curve]:
        """Return the curves of one quantity, such as 'moment' or 'vertical force'."""
        return [curve for curve in self.curves if curve.quantity == quantity]


def gait_cycles(result: GaitResult) -> GaitCycles:
    """
    Return the curves of a recording over its strides.

    Parameters
    ----------
    result : GaitResult
        The recording, analysed.

    Returns
    -------
    GaitCycles
        Without curves where there are no steps.

    """
    r, motion, model = result.reactions, result.motion, result.model
    found, phase = strides(motion.time, r.contact)
    if not found:
        return GaitCycles([], phase, [])
    by_foot = {i: [stride for stride in found if stride.foot == i] for i in range(len(r.feet))}
    kilograms, curves = model.total_mass, []
    measured = measured_effort(result)

    def add(quantity: str, name: str, unit: str, foot: int, values: np.ndarray,
            plates: np.ndarray | None = None) -> None:
        if by_foot[foot]:
            curves.append(Curve(quantity, name, unit,
                                _over_strides(motion.time, values, by_foot[foot]),
                                None if plates is None else _over_strides(
                                    motion.time, plates, by_foot[foot])))

    axes, truth = _walking_axes(result), None
    turned, plates = r.force @ axes, result.aligned_plates
    if plates is not None and plates.valid.any():
        truth = plates.measured @ axes
    for i, foot in enumerate(r.feet):
        for k, quantity in enumerate(FORCES):
            add(quantity, foot, 'N/kg', i, turned[:, i, k] / kilograms,
                None if truth is None else truth[:, i, k] / kilograms)
    for k, own in _feet_of_joints(result).items():
        joint = model.joints[k]
        slides = joint.kind == 'prismatic'
        scale, unit = (1e3, 'mm') if slides else (np.degrees(1.0), 'deg')
        effort = r.joint_effort[:, k] / kilograms
        by_plates = None if measured is None else measured[:, k] / kilograms
        add(ANGLE, joint.name, unit, own, scale * motion.position[:, k])
        add(MOMENT, joint.name, 'N/kg' if slides else 'N m/kg', own, effort, by_plates)
        add(POWER, joint.name, 'W/kg', own, effort * motion.velocity[:, k],
            None if by_plates is None else by_plates * motion.velocity[:, k])
    return GaitCycles(found, phase, curves)


def _feet_of_joints(result: GaitResult) -> dict[int, int]:
    """Return the foot whose strides count for each joint: of its leg, its side, or the first."""
    model, feet = result.model, result.reactions.feet
    chains = [set(model.chain(model.frame(foot).body)) for foot in feet]
    found = {}
    for k, joint in enumerate(model.joints):
        own = [i for i, chain in enumerate(chains) if k + 1 in chain]
        side = [i for i, foot in enumerate(feet) if _side_of(joint.name)
                and _side_of(foot) == _side_of(joint.name)]
        found[k] = own[0] if len(own) == 1 else side[0] if side else 0
    return found


def measured_effort(result: GaitResult) -> np.ndarray | None:
    """Return joint efforts (n, nv) under the plates' forces, or None without plates."""
    plates = result.aligned_plates
    if plates is None or not plates.valid.any():
        return None
    r = result.reactions
    wrench = plates.wrench_in_feet(r.foot_position, r.foot_rotation)
    known = plates.valid & np.isfinite(wrench).all(axis=(1, 2))
    return np.where(known[:, None], result.dynamics.joint_efforts(np.nan_to_num(wrench)), np.nan)


def _walking_axes(result: GaitResult) -> np.ndarray:
    """Return forward, left and up in the world as columns; x is forward when the base turns."""
    level, up = result.motion.base_rotation[:, :, 0].mean(axis=0) * [1.0, 1.0, 0.0], np.eye(3)[2]
    length = float(np.linalg.norm(level))
    forward = level / length if length > 0.3 else np.eye(3)[0]
    return np.column_stack([forward, np.cross(up, forward), up])


def steps_table(result: GaitResult, cycles: GaitCycles) -> Table:
    """Return mean and deviation of each foot's stride duration, length and speed."""
    r, rows, time = result.reactions, [], result.motion.time
    forward = _walking_axes(result)[:, 0]
    over_ground = result.ground_velocity
    for i, foot in enumerate(r.feet):
        own = [stride for stride in cycles.strides if stride.foot == i]
        if not own:
            continue
        stance = np.array([stride.off - stride.start for stride in own])
        cells = [foot, str(len(own)), _mean(1e3 * stance, 0)]
        if cycles.phase == 'gait cycle':
            length, period = [], np.array([stride.end - stride.start for stride in own])
            shared = []
            for stride in own:
                inside = (time >= stride.start) & (time < stride.end)
                shared.append(100.0 * (r.contact[inside].sum(axis=1) > 1).mean())
                at = [np.array([np.interp(t, time, r.foot_position[:, i, k]) for k in range(3)])
                      for t in (stride.start, stride.end)]
                drift = (np.zeros(3) if over_ground is None
                         else over_ground[inside, i].mean(axis=0) * (stride.end - stride.start))
                length.append(abs(float((at[1] - at[0] - drift) @ forward)))
            cells += [_mean(1e3 * period, 0), _mean(100.0 * stance / period, 1), _mean(shared, 1),
                      _mean(length, 2), _mean(np.array(length) / period, 2)]
        else:
            cells += ['-'] * 5
        rows.append(cells)
    return Table('Strides', ('foot', 'number', 'stance [ms]', 'stride [ms]', 'stance [%]',
                             'several feet [%]', 'stride length [m]', 'speed [m/s]'), rows)


def peaks_table(result: GaitResult, cycles: GaitCycles) -> Table:
    """
    Return extremes of mean forces, moments and powers by side, and their symmetry.

    The index is right minus left over their mean, in percent; in brackets below its 95 %
    error.
    """
    rows, kinds = [], (FORCES[2], FORCES[0], MOMENT, POWER)
    doubt = _symmetry_error(result)
    for kind in kinds:
        curves = {curve.name: curve for curve in cycles.of(kind)}
        scale = max((float(np.abs(curve.mean).max()) for curve in curves.values()), default=0.0)
        for name, curve in curves.items():
            other = curves.get(_other_side(name, curves))
            if _side_of(name) == 'l' and other is not None:
                continue        # in the row of the right one
            for what, pick in (('most', np.max), ('least', np.min)):
                pair = [float(pick(one.mean)) for one in (curve, other) if one is not None]
                if max(map(abs, pair)) < LEAST_PEAK * scale or (
                        kind == FORCES[2] and what == 'least'):
                    continue
                plates = curve.measured_mean
                whole = plates is not None and np.isfinite(plates).mean() > 0.9
                rows.append((
                    f'{kind}, {name.replace("_", " ")}', what, f'{pair[0]:.2f}',
                    f'{pair[1]:.2f}' if len(pair) > 1 else '-', _symmetry(pair, doubt),
                    f'{float(pick(plates[np.isfinite(plates)])):.2f}'
                    if whole and plates is not None else '-', curve.unit))
    return Table(f'Mean over the {cycles.phase}: peaks by side', (
        'what (right side first)', '', 'right', 'left', 'symmetry [%]', 'right, plates', 'unit'),
        rows)


def _symmetry_error(result: GaitResult) -> float:
    """Return the 95 % error of a symmetry index by that of the vertical forces [%]."""
    r = result.reactions
    vertical, deviation = r.force[..., 2][r.contact], r.deviation[..., 2][r.contact]
    mean = float(vertical.mean()) if vertical.size else 0.0
    if mean <= 0.0:
        return np.inf
    # Both sides err, by as much and independently.
    return float(100.0 * 1.96 * np.sqrt(2.0 * np.mean(deviation ** 2)) / mean)


def _symmetry(pair: list[float], error: float) -> str:
    """Return the symmetry index of right and left, in brackets where it is below its error."""
    if len(pair) < 2 or pair[0] * pair[1] <= 0.0:
        return '-'
    index = 100.0 * (pair[0] - pair[1]) / (0.5 * (pair[0] + pair[1]))
    return f'{index:+.0f}' if abs(index) > error else f'({index:+.0f})'


def _mean(values: object, digits: int) -> str:
    array = np.asarray(values, float)
    mean = f'{array.mean():.{digits}f}'
    return mean if len(array) < 2 else f'{mean} ± {array.std(ddof=1):.{digits}f}'


def write_cycles(cycles: GaitCycles, path: Path) -> None:
    """Write the curves as CSV, a row per quantity, name and percent of the cycle."""
    rows = [('quantity', 'name', 'unit', 'percent', 'mean', 'sd', 'strides', 'measured')]
    for curve in cycles.curves:
        unknown = np.full(len(PERCENT), np.nan)
        sd = curve.values.std(axis=0, ddof=1) if len(curve.values) > 1 else unknown
        measured = unknown if curve.measured_mean is None else curve.measured_mean
        for percent, *values in zip(PERCENT, curve.mean, sd, measured):
            mean, spread, plates = (f'{value:.6g}' if np.isfinite(value) else ''
                                    for value in values)
            rows.append((curve.quantity, curve.name, curve.unit, f'{percent:.0f}', mean, spread,
                         str(len(curve.values)), plates))
    with (reraised(OutputError, f'cannot write {path}'),
          path.open('w', newline='', encoding='utf-8') as file):
        csv.writer(file).writerows(rows)
