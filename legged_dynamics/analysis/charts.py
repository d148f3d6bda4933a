# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Charts to zoom and to hover over, as text of a page that needs no network.

Drawn in the browser by uPlot (MIT licence, beside this file in ``assets/``). Gaps are shown as
gaps, and long series are thinned so that no peak is lost.
"""
from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

ASSETS = Path(__file__).resolve().parent / 'assets'
# More points than this are thinned: a screen has no more than some thousand columns.
MOST_POINTS = 8000
# A step longer than this many medians is a gap.
GAP = 4.5
# On either side of the dots of a chart with dates, at least [s].
ROOM = 3600.0


@dataclass(frozen=True, eq=False)
class Line:
    """
    One curve.

    Attributes
    ----------
    name : str
    values : (n,) array
        NaN where there is nothing.
    hue : int
        Which colour; below zero grey, for the truth.
    key : str
        Curves of the same key are hidden together, in all charts; the name when empty.
    dash : bool

    """

    name: str
    values: np.ndarray
    hue: int = 0
    key: str = ''
    dash: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """
    Curves over a common time, or whatever else goes on evenly.

    Attributes
    ----------
    title : str
    unit : str
        Label of the upright axis.
    time : (n,) array [s]
        Since 1970 where `dates` says so.
    lines : sequence of Line
    least : float
        The upright axis spans at least this much, so that nothing does not fill it.
    digits : int
        Behind the point, when one hovers.
    height : int
        Pixels.
    along : str
        Label of the level axis.
    dates : bool
        Whether the time axis shows dates, and curves are dots, one a recording.

    """

    title: str
    unit: str
    time: np.ndarray
    lines: Sequence[Line]
    least: float = 1.0
    digits: int = 1
    height: int = 260
    along: str = 'time [s]'
    dates: bool = False

    def html(self, group: str = 'time') -> str:
        """Return the chart, linked with others of its group."""
        time = np.asarray(self.time, float)
        columns = np.array([np.asarray(line.values, float) for line in self.lines])
        if self.dates:      # dots are as far apart as they are, and each of them counts
            time, columns = with_room(time, columns)
        else:
            time, columns = thinned(*with_gaps(time, columns))
        data = {
            'title': self.title, 'unit': self.unit, 'group': group, 'least': self.least,
            'digits': self.digits, 'height': self.height, 'along': self.along,
            'dates': self.dates,
            'time': _packed(time - 0.0, '<f8'),
            'series': [{'name': line.name, 'key': line.key or line.name, 'hue': line.hue,
                        'dash': line.dash, 'values': _packed(values, '<f4')}
                       for line, values in zip(self.lines, columns)]}
        text = json.dumps(data).replace('</', '<\\/')
        return (f'<script type="application/json">{text}</script>'
                f'<div class="chart" role="img" aria-label="{escape(self.title)}"></div>')


def with_room(time: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dots with an empty place before and behind them: a lone one has an axis, too."""
    if not len(time):
        return time, columns
    room = max(0.03 * (time[-1] - time[0]), ROOM)
    return (np.concatenate([[time[0] - room], time, [time[-1] + room]]),
            np.pad(columns, ((0, 0), (1, 1)), constant_values=np.nan))


def with_gaps(time: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the curves with NaN where time has gaps."""
    steps = np.diff(time)
    if not len(steps):
        return time, columns
    gaps = np.flatnonzero(steps > GAP * np.median(steps)) + 1
    return (np.insert(time, gaps, (time[gaps - 1] + time[gaps]) / 2.0),
            np.insert(columns, gaps, np.nan, axis=1))


def thinned(time: np.ndarray, columns: np.ndarray,
            most: int = MOST_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Return no more than so many points: least and largest of each stretch; gaps stay."""
    if len(time) <= most:
        return time, columns
    size = int(np.ceil(2.0 * len(time) / most))
    count = -(-len(time) // size)
    short = count * size - len(time)
    t = np.pad(time, (0, short), mode='edge').reshape(count, size)
    c = np.pad(columns, ((0, 0), (0, short)), mode='edge').reshape(len(columns), count, size)
    empty = np.isnan(c).any(axis=2)
    low = np.where(empty, np.nan, np.min(c, axis=2))
    high = np.where(empty, np.nan, np.max(c, axis=2))
    # Which comes first matters little within a pixel, but a rise must not look like a fall.
    rising = c[:, :, -1] >= c[:, :, 0]
    pairs = np.stack([np.where(rising, low, high), np.where(rising, high, low)], axis=2)
    return t[:, [0, size // 2]].reshape(-1), pairs.reshape(len(columns), -1)


def scripts() -> str:
    """Return what a page with charts needs at its end."""
    library = (ASSETS / 'uPlot.iife.min.js').read_text(encoding='utf-8')
    ours = (ASSETS / 'report.js').read_text(encoding='utf-8')
    return f'<script>{library}</script><script>{ours}</script>'


def styles(charts: bool) -> str:
    """Return the style of a page, with or without charts."""
    names = ('uPlot.min.css', 'report.css') if charts else ('report.css',)
    return '\n'.join((ASSETS / name).read_text(encoding='utf-8') for name in names)


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode('ascii')
