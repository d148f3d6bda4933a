# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Takes undecoded messages from the bus into a bag, whatever the middleware is."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from legged_dynamics.analysis.bag_writer import BagWriter
from legged_dynamics.exceptions import BagError, ConfigurationError


class Recorder:
    """
    Decides which topics to record, and writes what arrives on them.

    Parameters
    ----------
    writer : BagWriter
    topics : iterable of str
        Topics wanted, each '/name' or '/name:package/msg/Type'. With its type, a topic can be
        subscribed to before anybody publishes, and nothing is missed.
    everything : bool
        Whether all other topics are wanted, too.

    Attributes
    ----------
    counts : Counter
        Messages by topic.
    skipped : dict of str to str
        Topics that cannot be recorded, and why.

    """

    def __init__(self, writer: BagWriter, topics: Iterable[str] = (), everything: bool = True):
        self._writer = writer
        self._everything = everything
        self._wanted: dict[str, str] = {}
        for entry in topics:
            name, _, kind = entry.partition(':')
            if not name.strip('/'):
                raise ConfigurationError(f'expected a topic such as /joint_states, got {entry!r}')
            self._wanted[name if name.startswith('/') else f'/{name}'] = kind
        self._taken: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.skipped: dict[str, str] = {}

    @property
    def typed(self) -> list[tuple[str, str]]:
        """Wanted topics whose type is known beforehand."""
        return [(name, kind) for name, kind in self._wanted.items() if kind]

    @property
    def silent(self) -> list[str]:
        """Wanted topics that nothing has come on."""
        return [name for name in self._wanted if not self.counts[name]]

    def accept(self, topic: str, kind: str, latched: bool = False) -> bool:
        """Tell whether a topic is to be subscribed to now; True once for each."""
        if topic in self._taken or topic in self.skipped:
            return False
        if not self._everything and topic not in self._wanted:
            return False
        try:
            self._writer.add_topic(topic, kind, latched=latched)
        except BagError as error:
            self.skipped[topic] = str(error)
            return False
        self._taken.add(topic)
        return True

    def flush(self) -> None:
        """Have everything on the disk, also when nothing more comes."""
        self._writer.flush()

    def take(self, topic: str, cdr: bytes, receipt_ns: int) -> None:
        """Write a message."""
        self._writer.write(topic, receipt_ns, cdr)
        self.counts[topic] += 1
