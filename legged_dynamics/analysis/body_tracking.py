# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How well the true base followed the pose that a controller wanted."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.analysis.recording import Recording

# The controller's frame is laid on the true world over the first seconds of this length.
ALIGNMENT = 0.2
# A true pose further than this from a reference in time does not belong to it [ns].
NEAR = 2_500_000


@dataclass(frozen=True)
class BodyTracking:
    """
    True and wanted motion of the base since the controller took over.

    Attributes
    ----------
    time : (n,) array [s]
        Since the first reference.
    wanted, moved : (n, 3) array [m]
        Positions since the beginning, world axes.
    wanted_turn, turned : (n, 3) array [rad]
        Rotation vectors since the beginning, in the base axes it had then.
    error : (n,) array [m]
        Distance between the two.
    angle : (n,) array [rad]
        Angle between the two.

    """

    time: np.ndarray
    wanted: np.ndarray
    moved: np.ndarray
    wanted_turn: np.ndarray
    turned: np.ndarray
    error: np.ndarray
    angle: np.ndarray


def track_body(recording: Recording) -> BodyTracking | None:
    """
    Compare reference and truth; None when the bag has not both.

    The two frames differ by a constant pose, which is taken from the beginning: the controller
    does not know where it is in the world, only how it moves.
    """
    base, reference = recording.base, recording.reference
    if base is None or reference is None or not len(base) or not len(reference):
        return None
    stamps = reference.stamp_ns
    order = np.argsort(base.stamp_ns, kind='stable')
    known = base.stamp_ns[order]
    place = np.searchsorted(known, stamps - NEAR).clip(0, len(known) - 1)
    better = (place + 1).clip(max=len(known) - 1)
    place = np.where(np.abs(known[better] - stamps) < np.abs(known[place] - stamps), better, place)
    both = np.abs(known[place] - stamps) <= NEAR
    if not both.any():
        return None
    time = (stamps[both] - stamps[both][0]) * 1e-9
    begin = time <= ALIGNMENT
    p, R = (record.position[rows] for record, rows in ((base, order[place[both]]),
                                                       (reference, both))), [
        Rotation.from_quat(record.orientation[rows])
        for record, rows in ((base, order[place[both]]), (reference, both))]
    true, wanted = p
    heading = (R[0][begin] * R[1][begin].inv()).mean()
    home, R_home = wanted[0], heading * R[1][0]
    target = heading * R[1]
    moved = true - (true[begin] - heading.apply(wanted[begin] - home)).mean(axis=0)
    wished = heading.apply(wanted - home)
    return BodyTracking(
        time, wished, moved, (R_home.inv() * target).as_rotvec(),
        (R_home.inv() * R[0]).as_rotvec(), np.linalg.norm(moved - wished, axis=1),
        (target.inv() * R[0]).magnitude())
