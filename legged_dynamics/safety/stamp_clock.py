# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Age of stamped samples, by the monotonic clock.

At the start the stamps must agree with this machine's clock. From then on the least delay ever
seen between a stamp and its arrival, by the monotonic clock, counts as none, and age is what a
sample has waited beyond that: setting either clock makes nothing old or young. Stamps that jump
are refused; a source that goes on from where it jumped to had its clock set, and is believed
again after a moment.
"""
from __future__ import annotations

TOLERANCE_NS = 20_000_000       # by how much stamps may be in the future, or go back
SETTLING_NS = 50_000_000        # how long a source must continue after its stamps have jumped
DRIFT = 5e-4                    # largest drift of two clocks, s/s: NTP's fastest slew


class StampClock:
    """
    Ages of the samples of one source.

    Attributes
    ----------
    jumps : int
        How often the clock of the source was set.

    """

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
        Return why a stamp is implausible, or an empty string.

        Parameters
        ----------
        now_ns, wall_ns : int [ns]
            Time of arrival, by the monotonic clock and by the one that stamps are of.
        stamp_ns : int [ns]
            Of the sample.

        """
        delay = now_ns - stamp_ns
        if self._offset is None:
            if stamp_ns - wall_ns > TOLERANCE_NS:
                return (f'stamped {_seconds(stamp_ns - wall_ns)} ahead of this '
                        "machine's clock; have both synchronised")
            self._offset = min(now_ns - wall_ns, delay)
            self._newest_ns, self._heard_ns = stamp_ns, now_ns
            return ''
        ahead = self._offset - delay
        if ahead > TOLERANCE_NS or stamp_ns < self._newest_ns - TOLERANCE_NS:
            return self._jumped(now_ns, stamp_ns, delay, ahead > TOLERANCE_NS)
        self._candidate = None
        self._offset += round(DRIFT * max(now_ns - self._heard_ns, 0))
        self._offset = min(self._offset, delay)
        self._newest_ns, self._heard_ns = max(stamp_ns, self._newest_ns), now_ns
        return ''

    def age(self, now_ns: int, stamp_ns: int) -> int:
        """
        Return how long a sample has been available here, beyond the least delay ever seen.

        Parameters
        ----------
        now_ns : int [ns]
            Present time, by the monotonic clock.
        stamp_ns : int [ns]
            Of the sample.

        Returns
        -------
        int [ns]
            Age; zero before the first sample.

        """
        return 0 if self._offset is None else now_ns - stamp_ns - self._offset

    def _jumped(self, now_ns: int, stamp_ns: int, delay: int, ahead: bool) -> str:
        if self._candidate is None or abs(delay - self._candidate[0]) > TOLERANCE_NS:
            self._candidate = delay, now_ns
        elif now_ns - self._candidate[1] >= SETTLING_NS:
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
