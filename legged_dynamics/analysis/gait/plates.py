# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What force plates or a simulator say of each foot, at the instants of a motion."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.recording import FlagRecord, WrenchRecord
from legged_dynamics.analysis.topics import BOOL, WRENCH
from legged_dynamics.analysis.truth import MAX_GAP
from legged_dynamics.exceptions import BagError

# A flag has no stamp: it holds for samples whose stamp is this much before its receipt, too [ns].
SLACK_NS = 1_000_000


@dataclass(frozen=True, eq=False)
class Plates:
    """
    True forces on the feet.

    Attributes
    ----------
    force : (n, nf, 3) array [N]
        On the robot; in world axes, or in the foot's where `in_foot` says so; NaN if not known.
    in_foot : (nf,) bool array
    valid : (n,) bool array
        Where all contacts are measured.
    moment : (n, nf, 3) array or None [N m]
        About the world's origin in world axes, or about the foot's in its own where `in_foot`
        says so; None when it is not known.

    """

    force: np.ndarray
    in_foot: np.ndarray
    valid: np.ndarray
    moment: np.ndarray | None = None

    def world_force(self, foot_rotation: np.ndarray) -> np.ndarray:
        """Return (n, nf, 3) forces in world axes [N], given the feet's (n, nf, 3, 3) R_WF."""
        turned = np.einsum('nfij,nfj->nfi', foot_rotation, self.force)
        return np.where(self.in_foot[None, :, None], turned, self.force)

    def wrench_in_feet(self, foot_position: np.ndarray,
                       foot_rotation: np.ndarray) -> np.ndarray | None:
        """
        Return (n, nf, 6) wrenches in the feet's axes about their frames [N, N m], or None.

        Parameters
        ----------
        foot_position, foot_rotation : (n, nf, 3), (n, nf, 3, 3) array [m]
            p_WF and R_WF.

        """
        if self.moment is None:
            return None
        about_foot = self.moment - np.cross(foot_position, self.force)
        f, m = (np.where(self.in_foot[None, :, None], values,
                         np.einsum('nfji,nfj->nfi', foot_rotation, turned))
                for values, turned in ((self.force, self.force), (self.moment, about_foot)))
        return np.concatenate([f, m], axis=-1)


def read_plates(bag: BagReader, topics: Mapping[str, str], feet: tuple[str, ...], valid: str,
                stamps: np.ndarray) -> Plates | None:
    """
    Return the truth in a bag, or None when it has none.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    topics : mapping of str to str
        Topic with the true wrench, by foot.
    feet : tuple of str
        In the order of the results.
    valid : str
        Topic with the flag that says when the truth is complete; empty when it always is.
    stamps : (n,) int array [ns]
        When.

    Raises
    ------
    BagError
        When a topic does not exist or has another type.

    """
    if not topics:
        return None
    for name, kind in (*((name, WRENCH) for name in topics.values()), *([(valid, BOOL)] * bool(
            valid))):
        if name not in bag.topics or bag.topics[name].type != kind:
            raise BagError(f'expected a topic {name} with {kind}; topics of that type are: '
                           f'{", ".join(bag.of_type(kind)) or "(none)"}')
    records = {foot: WrenchRecord() for foot in feet if foot in topics}
    flags = FlagRecord()
    for message in bag.messages({*topics.values(), valid} - {''}):
        decoded = bag.decode(message)
        if message.topic == valid:
            flags.append(decoded, message.receipt_ns)
        for foot, record in records.items():
            if topics[foot] == message.topic:
                record.append(decoded, message.receipt_ns)
    step = int(np.median(np.diff(stamps)))
    wrench = np.full((len(stamps), len(feet), 6), np.nan)
    in_foot = np.zeros(len(feet), bool)
    for i, foot in enumerate(feet):
        if foot in records:
            wrench[:, i] = records[foot].at(stamps, round(MAX_GAP * step))
            in_foot[i] = records[foot].frame_id == foot
    complete = np.isfinite(wrench).all(axis=(1, 2))
    if valid:
        complete &= flags.received_by(stamps + SLACK_NS)
    return Plates(wrench[..., :3], in_foot, complete, wrench[..., 3:])
