# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ages of samples: by stamps and the monotonic clock, and what stamps hide, by the echo of efforts.

At the start the stamps must agree with this machine's clock. From then on the least delay ever
seen between a stamp and its arrival, by the monotonic clock, counts as none, and age is what a
sample has waited beyond that: setting either clock makes nothing old or young. Stamps that jump
are refused; a source that goes on from where it jumped to had its clock set, and is believed
again after a moment.

A driver that stamps old readings anew is found neither by stamps nor by positions and velocities,
which are all equally old. Measured efforts are, too: they follow those commanded by the loop's
dead time, at which the two differ least.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class StampSettings:
    """How far stamps may be off."""

    tolerance_ns: int = 20_000_000  # by which they may be in the future, or go back
    settling_ns: int = 50_000_000  # for which a source must continue after its stamps have jumped
    drift: float = 5e-4  # s/s, the largest of two clocks: NTP's fastest slew


STAMPS = StampSettings()


class StampClock:
    """Ages of the samples of one source; `jumps`: how often its clock was set."""

    def __init__(self) -> None:
        self.jumps = 0
        self.reset()

    def reset(self) -> None:
        """Start over: the next stamp is compared with this machine's clock."""
        self._offset: int | None = None
        self._newest_ns = self._heard_ns = 0
        self._candidate: tuple[int, int] | None = None

    def check(self, now_ns: int, wall_ns: int, stamp_ns: int) -> str:
        """
        Return why a stamp is implausible, or ''.

        ``now_ns`` and ``wall_ns``: arrival by the monotonic clock and by that of stamps.
        """
        delay = now_ns - stamp_ns
        if self._offset is None:
            if stamp_ns - wall_ns > STAMPS.tolerance_ns:
                return (f'stamped {_seconds(stamp_ns - wall_ns)} ahead of this '
                        "machine's clock; have both synchronised")
            self._offset = min(now_ns - wall_ns, delay)
            self._newest_ns, self._heard_ns = stamp_ns, now_ns
            return ''
        ahead = self._offset - delay
        if ahead > STAMPS.tolerance_ns or stamp_ns < self._newest_ns - STAMPS.tolerance_ns:
            return self._jumped(now_ns, stamp_ns, delay, ahead > STAMPS.tolerance_ns)
        self._candidate = None
        self._offset += round(STAMPS.drift * max(now_ns - self._heard_ns, 0))
        self._offset = min(self._offset, delay)
        self._newest_ns, self._heard_ns = max(stamp_ns, self._newest_ns), now_ns
        return ''

    def age(self, now_ns: int, stamp_ns: int) -> int:
        """Return how long [ns] a sample has been here, beyond the least delay seen."""
        return 0 if self._offset is None else now_ns - stamp_ns - self._offset

    def _jumped(self, now_ns: int, stamp_ns: int, delay: int, ahead: bool) -> str:
        if self._candidate is None or abs(delay - self._candidate[0]) > STAMPS.tolerance_ns:
            self._candidate = delay, now_ns
        elif now_ns - self._candidate[1] >= STAMPS.settling_ns:
            self._offset, self._candidate = delay, None
            self._newest_ns, self._heard_ns = stamp_ns, now_ns
            self.jumps += 1
            return ''
        assert self._offset is not None
        by = self._offset - delay if ahead else self._newest_ns - stamp_ns
        return (f'stamped {_seconds(by)} '
                + ('in the future: its clock was set, or the stamp is wrong' if ahead else
                   'before the last sample: its clock was set back, or the order is lost'))


def _seconds(ns: int) -> str:
    return f'{ns * 1e-9:.3g} s'


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EchoSettings:
    """Settings of the comparison of measured with commanded efforts over time."""

    look_ns: int = 4_000_000  # between comparisons
    step_ns: int = 2_000_000  # between dead times that are compared
    longest_ns: int = 120_000_000  # of them
    kept: int = 256  # commands that are there at least: at 2 kHz as long
    memory: float = 0.8  # part that a look leaves of the sums of the looks before
    # part of the mean difference below which the least one tells the dead time of motors that
    # follow, and of the measured efforts' squares beyond which it is that of efforts that change
    sure: float = 0.25
    changing: float = 0.05
    # change of the dead time that is a changed loop; less, every gait bears
    least_ns: int = 15_000_000
    # after which nothing is said any more without efforts that tell, as of one that stands
    kept_ns: int = 3_000_000_000


ECHO = EchoSettings()
_LAGS = np.arange(0, ECHO.longest_ns + 1, ECHO.step_ns)


class EffortEcho:
    """
    Follows the dead time from a command to the stamp of its measured effort.

    `late_ns`: by how much it is longer now than the least one seen, which is that of motors and
    bus; `note` says so, or is empty.
    """

    def __init__(self, limits: np.ndarray):
        self._limits = limits
        self.reset()

    def reset(self) -> None:
        """Forget all efforts and the least dead time."""
        # Rows in order of time up to the count; when they are full, the newest half is kept.
        self._times = np.zeros(2 * ECHO.kept, np.int64)
        self._sent = np.zeros((2 * ECHO.kept, len(self._limits)))
        self._sums = np.zeros((3, len(_LAGS)))
        self._count = self._looked_ns = self._told_ns = 0
        self._least_ns, self.late_ns, self.note = ECHO.longest_ns, 0, ''

    def commanded(self, now_ns: int, effort: np.ndarray) -> None:
        """Keep a command (nj,)."""
        if self._count == 2 * ECHO.kept:
            for rows in (self._times, self._sent):
                rows[:ECHO.kept] = rows[ECHO.kept:]
            self._count = ECHO.kept
        self._times[self._count], self._sent[self._count] = now_ns, effort / self._limits
        self._count += 1

    def measured(self, stamp_ns: int, effort: np.ndarray) -> None:
        """Compare measured efforts (nj,), NaN where unknown; times are of one clock."""
        if (not self._count or self._times[0] > stamp_ns - ECHO.longest_ns
                or 0 <= stamp_ns - self._looked_ns < ECHO.look_ns):
            return
        self._looked_ns = stamp_ns
        then = np.searchsorted(self._times[:self._count], stamp_ns - _LAGS, 'right') - 1
        sent, effort = self._sent[then], np.nan_to_num(effort / self._limits)
        self._sums *= ECHO.memory
        self._sums += (sent * sent).sum(axis=1), sent @ effort, 0.0 * _LAGS + effort @ effort
        squares, products, measured = self._sums
        # Up to a factor, for readings that are too small look like older ones while efforts grow.
        apart = measured - products ** 2 / np.maximum(squares, 1e-12)
        least = int(np.argmin(apart))
        late_ns = 0
        if products[least] > 0.0 and max(apart[least] / ECHO.sure,
                                         ECHO.changing * measured[least]) <= apart.mean():
            self._least_ns = min(self._least_ns, int(_LAGS[least]))
            self._told_ns, late_ns = stamp_ns, int(_LAGS[least]) - self._least_ns
        elif stamp_ns - self._told_ns < ECHO.kept_ns:
            return
        self.late_ns = late_ns if late_ns >= ECHO.least_ns else 0
        self.note = (f'joint states are {self.late_ns * 1e-6:.0f} ms older than their stamps: '
                     'efforts come back so much later') if self.late_ns else ''
