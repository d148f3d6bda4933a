# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One HTML page that needs nothing beside itself: the skeleton of all reports.

What matters first: a red banner where data do not deserve trust, the verdict as a sentence, then
contents, charts, tables and figures; at the end how it was made. Light and dark, paper and phone.
"""
from __future__ import annotations

import base64
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from legged_dynamics.analysis.charts import Chart, scripts, styles
from legged_dynamics.analysis.table import unsigned_zero


class Link(NamedTuple):
    """A cell of a table that leads to another file, given from the page's folder."""

    text: str
    target: str


class Page:
    """
    Gathers the parts of a page in order; all text is escaped here.

    Parameters
    ----------
    title, lead : str
        Heading, and the line below it.

    """

    def __init__(self, title: str, lead: str):
        self._title = title
        self._parts = [f'<h1>{escape(title)}</h1>', f'<p class="lead">{escape(lead)}</p>']
        self._said: list[str] = []
        self._top = len(self._parts)
        self._headings: list[str] = []
        self._charts = False

    def heading(self, text: str) -> None:
        """Begin a section, which the contents will name."""
        self._headings.append(text)
        self._parts.append(f'<h2 id="s{len(self._headings)}">{escape(text)}</h2>')

    def verdict(self, text: str, judged: bool = True) -> None:
        """Say in a sentence at the top what came out; judged when there is a truth behind it."""
        kind = 'verdict' if judged else 'verdict open'
        self._said.append(f'<p class="{kind}">{escape(unsigned_zero(text))}</p>')

    def banner(self, text: str) -> None:
        """Warn in red above all else that data do not deserve trust."""
        self._said.insert(0, f'<p class="banner" role="alert">{escape(text)}</p>')

    def chart(self, chart: Chart, caption: str = '', group: str = 'time') -> None:
        """Add a chart to zoom and hover over; those of a group share time axis and cursor."""
        self._charts = True
        below = f'<figcaption>{escape(caption)}</figcaption>' if caption else ''
        self._parts.append(f'<figure>{chart.html(group)}{below}</figure>')

    def row(self, charts: Sequence[Chart], group: str = 'time') -> None:
        """Add charts side by side, or below each other where there is no room."""
        if charts:
            self._charts = True
            cells = ''.join(f'<div>{chart.html(group)}</div>' for chart in charts)
            self._parts.append(f'<figure class="row">{cells}</figure>')

    def paragraph(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f'<p>{escape(text)}</p>')

    def listing(self, items: Iterable[str]) -> None:
        """Add a list."""
        rows = ''.join(f'<li>{escape(item)}</li>' for item in items)
        self._parts.append(f'<ul>{rows}</ul>')

    def cards(self, cards: Iterable[tuple[str, str]]) -> None:
        """Add key figures: each a value and what it is."""
        rows = ''.join(f'<div class="card"><b>{escape(unsigned_zero(value))}</b>'
                       f'<span>{escape(what)}</span></div>' for value, what in cards)
        self._parts.append(f'<div class="cards">{rows}</div>')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str | Link]],
              strong: Iterable[int] = (), first: Iterable[int] = ()) -> None:
        """
        Add a table.

        Parameters
        ----------
        head : sequence of str
            Texts of the head row.
        rows : sequence of sequence of str or Link
            Texts of the other rows.
        strong, first : iterable of int
            Rows to set off, and rows that begin a new group.

        """
        strong, first = set(strong), set(first)
        lines = [f'<tr>{"".join(f"<th>{escape(cell)}</th>" for cell in head)}</tr>']
        for index, row in enumerate(rows):
            names = ' '.join(name for name, chosen in (('strong', strong), ('first', first))
                             if index in chosen)
            cells = ''.join(f'<td>{_cell(cell)}</td>' for cell in row)
            lines.append(f'<tr class="{names}">{cells}</tr>' if names else f'<tr>{cells}</tr>')
        self._parts.append(f'<div class="wide"><table>{"".join(lines)}</table></div>')

    def figure(self, picture: bytes, caption: str, kind: str = 'image/png') -> None:
        """Add a figure, a picture of that MIME type."""
        data = base64.b64encode(picture).decode('ascii')
        self._parts.append(f'<figure><img alt="{escape(caption)}" '
                           f'src="data:{kind};base64,{data}">'
                           f'<figcaption>{escape(caption)}</figcaption></figure>')

    def html(self, command: str, robot: str = '') -> str:
        """
        Return the page.

        Parameters
        ----------
        command : str
            That made it, for its foot.
        robot : str
            File or name of the robot.

        """
        links = ''.join(f'<a href="#s{k}">{escape(text)}</a>'
                        for k, text in enumerate(self._headings, start=1))
        contents = f'<nav aria-label="Contents">{links}</nav>' if len(self._headings) > 2 else ''
        parts = [*self._parts[:self._top], *self._said, contents, *self._parts[self._top:]]
        made = [command, *([f'robot {robot}'] if robot else []), versions(),
                datetime.now().astimezone().isoformat(' ', 'minutes')]
        return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>{escape(self._title)}</title><style>{styles(self._charts)}</style>'
                '</head><body>\n' + '\n'.join(parts)
                + f'\n<footer>{"<br>".join(escape(line) for line in made)}</footer>'
                + (scripts() if self._charts else '') + '</body></html>\n')


def _cell(cell: str | Link) -> str:
    if isinstance(cell, Link):
        return f'<a href="{escape(quote(cell.target))}">{escape(cell.text)}</a>'
    return escape(cell)


def command_line(otherwise: str) -> str:
    """Return the command that is running, or what it would be."""
    words = sys.argv[1:]
    return shlex.join(['legged-dynamics', *words]) if words and Path(
        sys.argv[0]).name.startswith(('legged-dynamics', '__main__')) else otherwise


def versions() -> str:
    """Return which versions made a page."""
    found = []
    for name in ('legged_dynamics', 'numpy', 'scipy', 'numba'):
        with suppress(PackageNotFoundError):
            found.append(f'{name} {version(name)}')
    return ', '.join([*found, f'Python {platform.python_version()}'])
