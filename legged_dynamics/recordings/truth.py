# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The true ground reactions at the instants of the estimates, all in world axes.

A true wrench comes either in the axes and about the origin of its foot (frame_id is the foot, as
a simulator or a foot sensor gives it), or in world axes about the world's origin (any other
frame_id, as force plates give it). Estimates turn into world axes with the IMU's orientation.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.recordings.recording import Recording, WrenchRecord
from legged_dynamics.recordings.series import EstimateSeries, ForceSeries

# Share of the weight from which a foot counts as in contact where there is no true contact flag.
CONTACT_SHARE = 0.03
# Truth is interpolated between neighbours no further apart than this many estimates.
MAX_GAP = 2.5
# Flags and wrenches belong together when more than this part of them agrees.
PAIRED = 0.98
# Messages that one of the two topics may lack.
MOST_LOST = 50


@dataclass(frozen=True)
class Truth:
    """
    True ground reactions at each estimate.

    Attributes
    ----------
    force : (n, nf, 3) array [N]
        World axes; NaN where it is not known.
    contact : (n, nf) bool array
        Whether each foot is in contact.
    valid : (n,) bool array
        Where the truth is complete: all contacts measured, all feet known.
    center_of_pressure : (n, 3) array [m]
        From the base's origin, in world axes; NaN without load or where it is not known.
    notes : list of str
        Sentences on how the truth was understood.

    """

    force: np.ndarray
    contact: np.ndarray
    valid: np.ndarray
    center_of_pressure: np.ndarray
    notes: list[str]

    @property
    def known(self) -> bool:
        """Whether there is anything to compare with."""
        return bool(self.valid.any())


def world_force(series: ForceSeries, foot_to_world: np.ndarray, raw: bool,
                at: slice = slice(None)) -> np.ndarray:
    """
    Return estimated forces (n, nf, 3) [N] in world axes; ``raw``: not low-passed.

    ``foot_to_world`` (n, nf, 3, 3): R_WF of the samples ``at``.
    """
    wrench = series.raw_wrench.values if raw else series.published
    return np.einsum('nfij,nfj->nfi', foot_to_world, wrench[at, :, :3])


def align_truth(series: EstimateSeries, recording: Recording, weight: float,
                contact_force: float | None = None) -> Truth:
    """
    Return the truth at each estimate.

    ``contact_force`` [N]: vertical force that counts as contact without true flags, default
    a share of the weight.
    """
    n, feet = len(series.stamp_ns), series.feet
    threshold = CONTACT_SHARE * weight if contact_force is None else contact_force
    force, moment = np.full((n, len(feet), 3), np.nan), np.full((n, len(feet), 3), np.nan)
    contact = np.zeros((n, len(feet)), bool)
    notes: list[str] = []
    unflagged = []
    for i, foot in enumerate(feet):
        record = recording.truth.get(foot)
        if record is None:
            continue
        force[:, i], moment[:, i] = _in_world(series, i, record, recording)
        flags = _flags(recording, foot, record, series.stamp_ns.values)
        if flags is None:
            unflagged.append(foot)
            flags = np.nan_to_num(force[:, i, 2]) > threshold
        contact[:, i] = flags
    if unflagged and len(recording.truth):
        notes.append(f'True contact of {", ".join(unflagged)} is taken from the true vertical '
                     f'force: down above {threshold:.0f} N.')
    missing = [foot for foot in feet if foot not in recording.truth]
    if missing and len(recording.truth):
        notes.append(f'There is no true wrench of {", ".join(missing)}: the sum over all feet '
                     'cannot be compared.')
    valid = np.isfinite(force).all(axis=(1, 2))
    if recording.valid is not None:
        valid &= recording.valid.received_by(series.receipt_ns.values)
        notes.append(f'Compared only where the bag flags its truth as complete: '
                     f'{valid.sum()} of {n} samples.')
    return Truth(force, contact, valid, _center(series, force, moment, contact, weight), notes)


def desired_force(series: EstimateSeries, recording: Recording) -> np.ndarray | None:
    """Return commanded forces (n, nf, 3), world axes, NaN if unknown; None without any."""
    if not any(len(record) for record in recording.desired.values()):
        return None
    force = np.full((len(series.stamp_ns), len(series.feet), 3), np.nan)
    for i, foot in enumerate(series.feet):
        if foot in recording.desired:
            force[:, i], _ = _in_world(series, i, recording.desired[foot], recording)
    return force


def _in_world(series: EstimateSeries, i: int, record: WrenchRecord,
              recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Return force and moment about the base's origin, both in world axes."""
    stamps = series.stamp_ns.values
    wrench = record.at(stamps, round(MAX_GAP * series.period * 1e9) if len(stamps) > 1 else 0)
    if record.frame_id == series.feet[i]:
        R_WF, R_WB = series.foot_to_world[:, i], series.base_rotation.values
        force = np.einsum('nij,nj->ni', R_WF, wrench[:, :3])
        arm = np.einsum('nij,nj->ni', R_WB, series.foot_position.values[:, i])
        return force, np.einsum('nij,nj->ni', R_WF, wrench[:, 3:]) + np.cross(arm, force)
    base = (recording.base.at(stamps) if recording.base is not None
            else np.full((len(stamps), 3), np.nan))
    return wrench[:, :3], wrench[:, 3:] - np.cross(base, wrench[:, :3])


def _flags(recording: Recording, foot: str, record: WrenchRecord,
           stamps: np.ndarray) -> np.ndarray | None:
    """
    Return true contact flags at stamps, or None when flags and wrenches do not pair up.

    A Bool has no stamp. Flags are published with wrenches, so they pair in order; where the
    recorder missed some at the beginning, the shift is taken that agrees with the forces.
    """
    flags = recording.contact.get(foot)
    if flags is None or not len(flags) or not len(record):
        return None
    n, m = len(record), len(flags)
    pushed = np.linalg.norm(record.wrench[:, :3], axis=1) > 0.0
    paired, best = np.zeros(n, bool), PAIRED
    for shift in sorted(range(m - n - MOST_LOST, m - n + MOST_LOST + 1), key=lambda s: abs(s)):
        first, last = max(0, -shift), min(n, m - shift)
        if last - first < 0.9 * n:
            continue
        match = float((pushed[first:last] == flags.values[first + shift:last + shift]).mean())
        if match > best:
            best, paired = match, pushed.copy()
            paired[first:last] = flags.values[first + shift:last + shift]
        if match == 1.0:
            break
    if best == PAIRED:
        return None
    order = np.argsort(record.stamp_ns, kind='stable')
    known = record.stamp_ns[order]
    place = np.searchsorted(known, stamps).clip(0, n - 1)
    exact = known[place] == stamps
    return paired[order[place]] & exact if exact.mean() > 0.9 else None


def _center(series: EstimateSeries, force: np.ndarray, moment: np.ndarray, contact: np.ndarray,
            weight: float) -> np.ndarray:
    """Return where the true forces have no tipping moment, at the height of the feet down."""
    n = len(series.stamp_ns)
    if not n:
        return np.zeros((0, 3))
    points = leveled(series, series.contact_point.values)
    down = contact.sum(axis=1)
    height = np.where(contact, points[:, :, 2], 0.0).sum(axis=1) / np.maximum(down, 1)
    f, m = force.sum(axis=1), moment.sum(axis=1)
    loaded = (down > 0) & (np.nan_to_num(f[:, 2]) > CONTACT_SHARE * weight)
    center = np.full((n, 3), np.nan)
    f, m, z = f[loaded], m[loaded], height[loaded]
    center[loaded] = np.stack([(z * f[:, 0] - m[:, 1]) / f[:, 2],
                               (z * f[:, 1] + m[:, 0]) / f[:, 2], z], axis=1)
    return center


def leveled(series: EstimateSeries, points: np.ndarray) -> np.ndarray:
    """Rotate points from base to world axes, keeping the base's origin [m]."""
    R = series.base_rotation.values
    return (np.einsum('nij,nj->ni', R, points) if points.ndim == 2
            else np.einsum('nij,nfj->nfi', R, points))
