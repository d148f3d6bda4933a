# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A copy of a bag with the estimates in it, for rviz and other tools."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.bag_writer import BagWriter
from legged_dynamics.analysis.bags import BagMessage, BagReader
from legged_dynamics.analysis.topics import BOOL, JOINT_STATE, WRENCH
from legged_dynamics.estimation import GroundReaction
from legged_dynamics.exceptions import BagError
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.dialect import StandaloneDialect

PREFIX = '/replay'
MARKER_PERIOD_NS = 33_333_333


class EnrichedBag:
    """
    Writes all messages of a bag, and beside them what was estimated from them.

    Estimates are on ``/replay/<foot>/wrench``, ``/replay/<foot>/contact``, ``/replay/net_wrench``,
    ``/replay/center_of_pressure``, ``/replay/external_torque`` and, 30 times a second,
    ``/replay/markers``; contacts come when they change and with each marker. Each estimate lies at
    the receipt of the message that completed it.

    Parameters
    ----------
    path : Path
        Bag to make.
    bag : BagReader
        Bag to copy.
    feet : sequence of str
    base : str
        Link that the net wrench, the centre of pressure and the markers are given in.
    storage : {'mcap', 'sqlite3'}

    """

    def __init__(self, path: Path, bag: BagReader, feet: Sequence[str], base: str,
                 storage: str = 'mcap'):
        self._writer = BagWriter(path, storage)
        self._dialect = StandaloneDialect()
        self._base = base
        self._next_marker_ns = 0
        self._contact = np.zeros(len(feet), bool)
        self._copied: set[str] = set()
        for topic in bag.topics.values():
            # An enriched bag may be enriched again; a type without definition could not be read.
            if topic.name.startswith(f'{PREFIX}/'):
                continue
            with suppress(BagError):
                self._writer.add_topic(topic.name, topic.type, latched=topic.latched,
                                       definition=topic.definition, type_hash=topic.type_hash)
                self._copied.add(topic.name)
        self._wrenches = [f'{PREFIX}/{foot}/wrench' for foot in feet]
        self._contacts = [f'{PREFIX}/{foot}/contact' for foot in feet]
        for kind, names in ((WRENCH, [*self._wrenches, f'{PREFIX}/net_wrench']),
                            (BOOL, self._contacts),
                            ('geometry_msgs/msg/PointStamped', [f'{PREFIX}/center_of_pressure']),
                            (JOINT_STATE, [f'{PREFIX}/external_torque']),
                            ('visualization_msgs/msg/MarkerArray', [f'{PREFIX}/markers'])):
            for name in names:
                self._writer.add_topic(name, kind)

    def __enter__(self) -> EnrichedBag:
        """Return the bag, which is open already."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Finish the bag."""
        self._writer.close()

    def copy(self, message: BagMessage) -> None:
        """Copy a message, byte for byte."""
        if message.topic in self._copied:
            self._writer.write(message.topic, message.receipt_ns, message.cdr)

    def add(self, reaction: GroundReaction, receipt_ns: int) -> None:
        """Write an estimate."""
        dialect, ns, write = self._dialect, reaction.latest_ns, self._writer.write_message
        wrench, contact = reaction.wrench, reaction.latest_contact
        marked = not self._next_marker_ns - 2_000_000_000 < ns < self._next_marker_ns
        for i, foot in enumerate(reaction.feet):
            write(self._wrenches[i], receipt_ns,
                  convert.wrench_stamped(dialect, ns, foot, wrench[i]))
            if marked or contact[i] != self._contact[i]:
                write(self._contacts[i], receipt_ns, convert.boolean(dialect, contact[i]))
        self._contact = contact
        write(f'{PREFIX}/net_wrench', receipt_ns,
              convert.wrench_stamped(dialect, ns, self._base, reaction.net_wrench))
        center, torque = reaction.center_of_pressure, reaction.external_torque
        if np.isfinite(center).all():
            write(f'{PREFIX}/center_of_pressure', receipt_ns,
                  convert.point_stamped(dialect, ns, self._base, center))
        known = np.isfinite(torque)
        if known.any():
            names = [name for name, there in zip(reaction.joints, known) if there]
            write(f'{PREFIX}/external_torque', receipt_ns,
                  convert.joint_state(dialect, ns, names, effort=torque[known]))
        if marked:
            self._next_marker_ns = ns + MARKER_PERIOD_NS
            write(f'{PREFIX}/markers', receipt_ns,
                  convert.reaction_picture(dialect, reaction, self._base, text=True))
