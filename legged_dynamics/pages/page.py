# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Charts and tables of all reports, as data and as HTML, and the page that they stand on."""
from __future__ import annotations

import base64
import json
import platform
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

ASSETS = Path(__file__).resolve().parent / 'assets'
# Cells of a table with more letters than this are wrapped on a page.
LONG = 40
# Of feet, by their order: a palette for all kinds of colour vision (Okabe and Ito 2008).
FOOT_COLORS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#7A5195',
               '#666666')
# The same hues on a dark page.
DARK_FOOT_COLORS = ('#4DB2FF', '#FF8A3D', '#3DD6A8', '#F0A3CC', '#FFC34D', '#8FD3FF', '#B795D0',
                    '#BBBBBB')
# Of the truth: a foot and the next one, such as the two force plates of a walkway.
TRUTH_COLORS = ('#8c8c8c', '#b9b9b9')
DARK_TRUTH_COLORS = ('#9a9a9a', '#6f6f6f')


def foot_color(index: int) -> str:
    """Return a foot's colour as ``#rrggbb``, by its index in the robot's YAML."""
    return FOOT_COLORS[index % len(FOOT_COLORS)]


# -------------------------------------------------------------------------------------------------
# Interactive charts, drawn in the browser by uPlot (MIT licence, in ``assets/``). Gaps are shown
# as gaps, and long series are thinned so that no peak is lost.


# More points than this are thinned: a screen has some thousand columns.
MOST_POINTS = 8000
# A step longer than this many median steps is a gap.
GAP = 4.5
# Least margin on either side of the dots of a chart with dates [s].
ROOM = 3600.0


@dataclass(frozen=True, eq=False)
class Line:
    """One curve."""

    name: str  # For the legend
    values: np.ndarray  # (n,): naN where there is nothing
    hue: int = 0  # Number of the colour; below zero one of two greys, for the truth: -1, -2
    key: str = ''  # Curves of the same key are hidden together, in all charts; the name when empty
    dash: bool = False  # Whether it is dashed


@dataclass(frozen=True, eq=False)
class Chart:
    """
    Curves over a common time, or another quantity that rises evenly.

    Attributes
    ----------
    title : str
    unit : str
        Label of the vertical axis.
    time : (n,) array [s]
        Since 1970 where `dates` says so.
    lines : sequence of Line
    least : float
        The vertical axis spans at least this much, so that noise about zero stays small.
    digits : int
        Decimals that are shown where one hovers.
    height : int
        Pixels.
    along : str
        Label of the horizontal axis.
    dates : bool
        Whether the time axis shows dates, and curves are dots, one a recording.
    caption : str
        Text below it on a page.
    window : tuple of float, optional [s]
        Begin and end of what is shown first; everything when None.
    overview : bool
        Whether it always shows everything, and marks what the others of its group show: dragging
        over it chooses that.
    band : float
        The vertical axis is shaded from zero to this value; 0: not at all.

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
    caption: str = ''
    window: tuple[float, float] | None = None
    overview: bool = False
    band: float = 0.0

    def html(self, group: str = 'time') -> str:
        """
        Return the chart for a page.

        Parameters
        ----------
        group : str
            Charts of the same group share horizontal axis and cursor.

        Returns
        -------
        str
            HTML; the page needs the scripts of charts at its end.

        """
        time = np.asarray(self.time, float)
        columns = np.array([np.asarray(line.values, float) for line in self.lines])
        if self.dates:      # dots are as far apart as they are, and each of them counts
            time, columns = _with_room(time, columns)
        else:
            time, columns = thinned(*_with_gaps(time, columns))
        data = {
            'title': self.title, 'unit': self.unit, 'group': group, 'least': self.least,
            'digits': self.digits, 'height': self.height, 'along': self.along,
            'dates': self.dates, 'window': self.window, 'overview': self.overview,
            'band': self.band,
            'time': _packed(time - 0.0, '<f8'),
            'series': [{'name': line.name, 'key': line.key or line.name, 'hue': line.hue,
                        'dash': line.dash, 'values': _packed(values, '<f4')}
                       for line, values in zip(self.lines, columns)]}
        return _host(data)


@dataclass(frozen=True, eq=False)
class Bars:
    """Intervals in which a condition held, a row each: such as a foot on the ground."""

    title: str
    rows: Sequence[str]  # Names of the rows, from above
    spans: Sequence[Sequence[tuple[float, float]]]  # [s]: begin and end of each bar, by row
    # [s]: the true intervals, drawn in grey above; empty without truth
    truth: Sequence[Sequence[tuple[float, float]]]
    end: float  # End of the time axis, which begins at zero [s]
    # [s]: begin and end of what is shown first; everything when None
    window: tuple[float, float] | None = None
    caption: str = ''  # Text below it on a page

    def html(self, group: str = 'time') -> str:
        """Return the bars as HTML; charts of a group share horizontal axis and cursor."""
        time = np.linspace(0.0, self.end, 2001)
        bars, true = ([[[round(value, 4) for value in span] for span in row] for row in spans]
                      for spans in (self.spans, self.truth))
        return _host({
            'title': self.title, 'unit': '', 'group': group, 'least': 1.0, 'digits': 0,
            'height': 90 + 30 * len(self.rows), 'along': 'time [s]', 'window': self.window,
            'time': _packed(time, '<f8'), 'series': [], 'rows': list(self.rows), 'bars': bars,
            'true': true})


def _host(data: dict[str, Any]) -> str:
    # Inside <script> a browser heeds '</script' and '<!--' in whatever stands there.
    text = json.dumps(data).replace('<', '\\u003c')
    return (f'<script type="application/json">{text}</script>'
            f'<div class="chart" role="img" aria-label="{escape(data["title"])}"></div>')


def _with_room(time: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and values of dots with room at both ends: a single dot needs an axis, too."""
    if not len(time):
        return time, columns
    room = max(0.03 * (time[-1] - time[0]), ROOM)
    return (np.concatenate([[time[0] - room], time, [time[-1] + room]]),
            np.pad(columns, ((0, 0), (1, 1)), constant_values=np.nan))


def _with_gaps(time: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and values, with NaN between the samples on either side of a gap."""
    steps = np.diff(time)
    if not len(steps):
        return time, columns
    gaps = np.flatnonzero(steps > GAP * np.median(steps)) + 1
    return (np.insert(time, gaps, (time[gaps - 1] + time[gaps]) / 2.0),
            np.insert(columns, gaps, np.nan, axis=1))


def thinned(time: np.ndarray, columns: np.ndarray,
            most: int = MOST_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Return curves (k, n) with fewer points, keeping each interval's extremes."""
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
    # Within a pixel the order hardly matters, but a rise must not look like a fall.
    rising = c[:, :, -1] >= c[:, :, 0]
    pairs = np.stack([np.where(rising, low, high), np.where(rising, high, low)], axis=2)
    return t[:, [0, size // 2]].reshape(-1), pairs.reshape(len(columns), -1)


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode('ascii')


# -------------------------------------------------------------------------------------------------
# Tables of texts, for terminal, page and document.


# A number that rounds to zero has no sign.
NOTHING = re.compile(r'(?<![\w.])[-+\u2212](0(?:\.0+)?)(?![\d.e])')


def unsigned_zero(text: str) -> str:
    """Return a text with unsigned zeros: '0.0 %' for '-0.0 %'."""
    return NOTHING.sub(r'\1', text)


def shown(value: float, form: str) -> str:
    """Return a number as text, '-' for NaN and infinity."""
    return format(value, form) if np.isfinite(value) else '-'


class Link(NamedTuple):
    """A cell of a table that leads to another file, given from the page's folder."""

    text: str
    target: str


def _plain(cell: str | Link) -> str | Link:
    return cell if isinstance(cell, Link) else unsigned_zero(cell)


@dataclass(frozen=True)
class Table:
    """
    Rows of text below a head.

    Attributes
    ----------
    title : str
        What the table is of.
    head : sequence of str
        Texts of the head row.
    rows : sequence of sequence of str or Link
        Texts of the other rows; links on a page only.
    strong, first : sequence of int
        Rows to set off, and rows that begin a group.

    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    strong: Sequence[int] = ()
    first: Sequence[int] = ()

    def __post_init__(self) -> None:
        rows = [tuple(map(_plain, row)) if isinstance(row, tuple) else list(map(_plain, row))
                for row in self.rows]
        object.__setattr__(self, 'rows', rows)

    @property
    def html(self) -> str:
        """Return the table for a page, without its title."""
        cells = ''.join(f'<th scope="col">{escape(cell)}</th>' if cell else '<td></td>'
                        for cell in self.head)
        lines = [f'<tr>{cells}</tr>']
        for index, row in enumerate(self.rows):
            names = ' '.join(name for name, chosen in (('strong', self.strong),
                                                       ('first', self.first)) if index in chosen)
            begin = f'<tr class="{names}">' if names else '<tr>'
            lines.append(f'{begin}{"".join(map(_cell, row))}</tr>')
        return (f'<div class="wide" tabindex="0" role="region" aria-label="{escape(self.title)}">'
                f'<table>{"".join(lines)}</table></div>')

    @property
    def markdown(self) -> str:
        """Return the table for a Markdown document, without its title."""
        lines = [self.head, ['---', *['---:'] * (len(self.head) - 1)], *self.rows]
        return '\n'.join(f'| {" | ".join(line)} |' for line in lines) + '\n'

    @property
    def text(self) -> str:
        """Return the table for a terminal."""
        lines = [self.head, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.head))]
        texts = ['  '.join(cell.ljust(width) if k == 0 else cell.rjust(width)
                           for k, (cell, width) in enumerate(zip(line, widths))).rstrip()
                 for line in lines]
        out = [self.title, texts[0], '-' * max(len(text) for text in texts)]
        for index, text in enumerate(texts[1:]):
            if index and index in self.first:
                out.append('')
            out.append(text)
        return '\n'.join(out)


def command_line(otherwise: str) -> str:
    """Return the running command as typed, or ``otherwise``."""
    words = sys.argv[1:]
    return shlex.join(['legged-dynamics', *words]) if words and Path(
        sys.argv[0]).name.startswith(('legged-dynamics', '__main__')) else otherwise


@cache
def versions() -> str:
    """Return the versions of the package, numpy, scipy, numba and Python."""
    found = []
    for name in ('legged_dynamics', 'numpy', 'scipy', 'numba'):
        with suppress(PackageNotFoundError):
            found.append(f'{name} {version(name)}')
    return ', '.join([*found, f'Python {platform.python_version()}'])


# -------------------------------------------------------------------------------------------------
# The page itself, of parts that are HTML already.


def page_html(title: str, parts: Iterable[str], command: str, robot: str = '') -> str:
    """Return a page; at its foot the command that made it."""
    body = '\n'.join(filter(None, parts))
    charts = 'class="chart"' in body
    made = [command, *([f'robot {robot}'] if robot else []), versions(),
            datetime.now().astimezone().isoformat(' ', 'minutes')]
    scripts = ''.join(f'<script>{(ASSETS / name).read_text(encoding="utf-8")}</script>'
                      for name in ('uPlot.iife.min.js', 'report.js') if charts)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{escape(title)}</title><style>{_styles(charts)}</style></head><body><main>\n'
            f'{body}\n</main><footer>{"<br>".join(escape(line) for line in made)}</footer>'
            f'{scripts}</body></html>\n')


def figure(inside: str, caption: str) -> str:
    """Return what is drawn, with a text below it."""
    below = f'<figcaption>{escape(caption)}</figcaption>' if caption else ''
    return f'<figure>{inside}{below}</figure>'


def key_figures(cards: Iterable[tuple[str, str]]) -> str:
    """Return boxes, each a value and what it is."""
    rows = ''.join(f'<div class="card"><b>{escape(unsigned_zero(value))}</b>'
                   f'<span>{escape(what)}</span></div>' for value, what in cards)
    return f'<div class="cards">{rows}</div>'


def _cell(cell: str | Link) -> str:
    """Return a cell; a long text is wrapped, so that its column stays in sight."""
    if isinstance(cell, Link):
        return f'<td><a href="{escape(quote(cell.target))}">{escape(cell.text)}</a></td>'
    wraps = ' class="text"' if len(cell) > LONG else ''
    return f'<td{wraps}>{escape(cell)}</td>'


def _styles(charts: bool) -> str:
    """Return the style of a page, with or without charts."""
    names = ('uPlot.min.css', 'report.css') if charts else ('report.css',)
    texts = [(ASSETS / name).read_text(encoding='utf-8') for name in names]
    if charts:
        texts += [f':root {{ {_variables(FOOT_COLORS, TRUTH_COLORS)} }}',
                  '@media screen and (prefers-color-scheme: dark) { '
                  f':root {{ {_variables(DARK_FOOT_COLORS, DARK_TRUTH_COLORS)} }} }}']
    return '\n'.join(texts)


def _variables(hues: Sequence[str], greys: Sequence[str]) -> str:
    return ' '.join(f'--{kind}{k}: {color};' for kind, colors in (('hue', hues), ('grey', greys))
                    for k, color in enumerate(colors))
