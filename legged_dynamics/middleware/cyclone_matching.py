# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which subscriptions match the publishers of a process on Cyclone DDS."""
from __future__ import annotations

from typing import Any

from cyclonedds.core import DDSStatus, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter


class Matching:
    """
    How many subscriptions each writer has.

    A component asks for every topic in every tick. While callbacks run, the answer is the one of
    their beginning, and one call finds out whether any has changed since; at other times it is
    asked of Cyclone.
    """

    def __init__(self, participant: DomainParticipant):
        self._changed: Any = WaitSet(participant)
        self._counts: dict[DataWriter, int] = {}
        self._held = False

    def add(self, writer: DataWriter) -> None:
        """Watch a writer."""
        writer.set_status_mask(DDSStatus.PublicationMatched)
        self._changed.attach(writer)
        self._counts[writer] = _matched(writer)

    def remove(self, writer: DataWriter) -> None:
        """Watch it no more."""
        self._changed.detach(writer)
        del self._counts[writer]

    def __enter__(self) -> None:
        if self._counts and self._changed.wait(0):
            self._counts = {writer: _matched(writer) for writer in self._counts}
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False

    def count(self, writer: DataWriter) -> int:
        """Return how many subscriptions a writer has."""
        if not self._held:          # asking takes the change from what `wait` sees: keep it
            self._counts[writer] = _matched(writer)
        return self._counts[writer]


def _matched(writer: DataWriter) -> int:
    # not get_matched_subscriptions: it fails when one joins between its two calls
    return writer.get_publication_matched_status().current_count
