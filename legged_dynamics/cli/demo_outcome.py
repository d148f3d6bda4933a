# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What became of a demo: whether the robot fell, whether the machine kept up, and its bits."""
from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import SimulationError

ENDED = 'real-time factor'
FELL = 3                # exit code
KEPT_UP = 0.95          # of the speed asked for
_STATEMENT = re.compile(r'robot (upright|fallen at (?P<fell>[\d.]+) s); .*real-time factor '
                        r'(?P<factor>[\d.]+); (?P<late>\d+) of (?P<ticks>\d+) deadlines missed, '
                        r'worst lateness (?P<worst>[\d.]+) ms')


@dataclass(frozen=True)
class Outcome:
    """
    What the simulator says at its end.

    Attributes
    ----------
    fell : float or None
        When the robot fell [s].
    factor : float
        Simulated over real time.
    late, samples : int
        Samples that came more than a period after their time on the wall, of all.
    worst : float
        Greatest lateness [ms].

    """

    fell: float | None
    factor: float
    late: int
    samples: int
    worst: float

    @classmethod
    def from_log(cls, lines: Sequence[str]) -> Outcome:
        """
        Read the simulator's last words.

        Raises
        ------
        SimulationError
            When it has not said any.

        """
        found = next(filter(None, map(_STATEMENT.search, reversed(lines))), None)
        if found is None:
            raise SimulationError('the simulator ended without saying how it went; it said: '
                                  f'{" | ".join(lines[-3:]) or "nothing"}')
        fell = found['fell']
        return cls(None if fell is None else float(fell), float(found['factor']),
                   int(found['late']), int(found['ticks']), float(found['worst']))

    @property
    def exit_code(self) -> int:
        """0, or `FELL`."""
        return 0 if self.fell is None else FELL

    def warnings(self, speed: float = 1.0) -> list[str]:
        """Return the sentences that a report must begin with, for a greatest speed asked for."""
        found = []
        if self.fell is not None:
            found.append(f'The robot fell at {self.fell:.2f} s: what follows is not of a robot '
                         'that stands or walks.')
        if speed and self.factor < KEPT_UP * speed:
            found.append(
                f'The machine fell behind: it ran at {self.factor:.2f} of real time, and '
                f'{self.late} of {self.samples} samples came late, by {self.worst:.0f} ms at '
                'worst. Time was simulated and waited, so accuracy is not touched; latencies and '
                "rates by the recorder's clock are this machine's.")
        return found


def digest_of(bag: Path) -> str:
    """Return a digest of the bits of sensors, truth and estimated wrenches in a bag, in order."""
    from legged_dynamics.analysis.bags import BagReader
    parts: dict[str, Any] = {}
    with BagReader(bag) as reader:
        topics = [name for name in reader.topics
                  if name in ('/joint_states', '/imu/data') or name.startswith('/ground_truth/')
                  or name.endswith('/wrench')]
        for message in reader.messages(topics):
            parts.setdefault(message.topic, hashlib.sha256()).update(message.cdr)
    whole = hashlib.sha256()
    for name in sorted(parts):
        whole.update(name.encode() + parts[name].digest())
    return whole.hexdigest()[:16]
