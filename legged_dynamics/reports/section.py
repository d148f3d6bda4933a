# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a report consists of: a title, a verdict and sections, and how they become files.

A section holds its texts, tables, charts and figures in the order of the page. Each kind of report
(bag, gait, climb, crouch, fleet, doctor) is a function that returns a `Report`; its sections are
functions of what was found. `Report.write` makes the page and a picture file of each figure.

On the page come first a red banner where data do not deserve trust, the verdict as a sentence and
remarks in grey, then contents, charts, tables and figures; at the end how it was made. It works in
light and dark mode, on paper and on a phone, and loads nothing.
"""
from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from matplotlib.figure import Figure

from legged_dynamics.exceptions import LeggedDynamicsError, OutputError
from legged_dynamics.reports.page import Bars, Chart, Link, Table, unsigned_zero, versions
from legged_dynamics.reports.palette import (
    DARK_FOOT_COLORS,
    DARK_TRUTH_COLORS,
    FOOT_COLORS,
    TRUTH_COLORS,
)
from legged_dynamics.reports.style import png

REPORT = 'report.html'
ASSETS = Path(__file__).resolve().parent / 'assets'


class Listing(NamedTuple):
    """Items with a bullet each."""

    items: Sequence[str]


class Cards(NamedTuple):
    """Key figures in boxes, each a value and what it is."""

    cards: Sequence[tuple[str, str]]


class ChartRow(NamedTuple):
    """Charts side by side; those of a group share their horizontal axis and cursor."""

    charts: Sequence[Chart]
    group: str = 'time'


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """
    A picture of a report.

    Attributes
    ----------
    name : str
        Name of its file beside the page, without ending; empty when it is on the page only.
    draw : callable
        Returns the figure, its bytes as a file of that kind, or None where there is nothing to
        draw. It is called when the report is written.
    caption : str
        Text below it; without one it becomes a file and is not on the page.
    kind : str
        MIME type of the bytes.

    """

    name: str
    draw: Callable[[], Figure | bytes | None]
    caption: str = ''
    kind: str = 'image/png'


# A text is a paragraph.
Part = str | Listing | Cards | Table | Chart | Bars | ChartRow | ReportFigure


@dataclass(frozen=True, eq=False)
class ReportSection:
    """
    A part of a report below a heading.

    Attributes
    ----------
    name : str
        Heading, which the contents name; a section without one goes on with the one before.
    parts : sequence of Part
        Texts, tables, charts and figures, in the order of the page.

    """

    name: str
    parts: Sequence[Part] = ()

    @property
    def tables(self) -> list[Table]:
        """Tables, for a terminal as well."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def figures(self) -> list[ReportFigure]:
        """Figures, those that are files only included."""
        return [part for part in self.parts if isinstance(part, ReportFigure)]

    @property
    def charts(self) -> list[Chart]:
        """Charts, those in rows included."""
        found: list[Chart] = []
        for part in self.parts:
            found += [part] if isinstance(part, Chart) else (
                part.charts if isinstance(part, ChartRow) else ())
        return found


@dataclass(frozen=True, eq=False)
class Report:
    """
    A report: what it says first, and its sections.

    Attributes
    ----------
    title, lead : str
        Heading, and the line below it: what was examined.
    sections : sequence of ReportSection
        In the order of the page.
    command : str
        The command that made it, for its foot.
    verdict : str
        A sentence on what came out; empty when warnings say it.
    judged : bool
        Whether there is a truth behind the verdict.
    warnings : sequence of str
        In red above all else: why the data do not deserve trust.
    cautions : sequence of str
        In amber below the warnings: what is doubtful, and what to do next.
    robot : str
        File or name of the robot, for its foot.
    remarks : sequence of str
        In grey below the verdict: how the data came about.
    picture : tuple of str
        Text of an SVG for the first screen, and its caption; empty for none.
    cards : sequence of tuple of str
        Key figures of the first screen, each a value and what it is.
    viewer : str
        Command that shows the recording in three dimensions; empty for none.
    caution : bool
        Whether the verdict names something that does not agree: in amber.

    """

    title: str
    lead: str
    sections: Sequence[ReportSection]
    command: str
    verdict: str = ''
    judged: bool = True
    _: KW_ONLY
    warnings: Sequence[str] = field(default=())
    cautions: Sequence[str] = field(default=())
    robot: str = ''
    remarks: Sequence[str] = ()
    picture: tuple[str, str] = ('', '')
    cards: Sequence[tuple[str, str]] = ()
    viewer: str = ''
    caution: bool = False

    @property
    def tables(self) -> list[Table]:
        """Tables of all sections."""
        return [table for section in self.sections for table in section.tables]

    def write(self, folder: Path, refusal: type[LeggedDynamicsError] = OutputError) -> Path:
        """
        Write page and figures into a folder.

        Parameters
        ----------
        folder : Path
            Made where it is not there.
        refusal : type
            Class of the error raised when the folder cannot be written.

        Returns
        -------
        Path
            Of the page.

        Raises
        ------
        LeggedDynamicsError
            Of the type given, when the folder cannot be written.

        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / REPORT
            path.write_text(self.html(folder), encoding='utf-8')
        except OSError as error:
            raise refusal(f'cannot write the report to {folder}: {error}') from error
        return path

    def write_page(self, path: Path) -> None:
        """
        Write the page alone.

        Parameters
        ----------
        path : Path
            File to write.

        Raises
        ------
        OutputError
            When it cannot be written.

        """
        try:
            path.write_text(self.html(), encoding='utf-8')
        except OSError as error:
            raise OutputError(f'cannot write {path}: {error}') from error

    def html(self, folder: Path | None = None) -> str:
        """
        Return the page.

        Parameters
        ----------
        folder : Path, optional
            Where figures that have a name become files as well; no files without it.

        Returns
        -------
        str
            The page, which needs no other file.

        Raises
        ------
        OSError
            When a figure cannot be written.

        """
        page = _Page(self.title, self.lead)
        if self.verdict:
            page.verdict(self.verdict, self.judged, self.caution)
        for caution in reversed(self.cautions):
            page.caution(caution)
        for warning in reversed(self.warnings):
            page.banner(warning)
        for remark in self.remarks:
            page.remark(remark)
        if self.picture[0] or self.cards:
            page.opening(*self.picture, self.cards)
        for section in self.sections:
            if section.name:
                page.heading(section.name)
            for part in section.parts:
                _add(page, part, folder)
            if self.viewer and section.charts and section is self.sections[0]:
                page.viewer(self.viewer)
        return page.html(self.command, self.robot)


def titled(table: Table) -> tuple[str, Table]:
    """
    Return a table with its title as the paragraph before it.

    Parameters
    ----------
    table : Table
        The table of a section that shows several things.

    Returns
    -------
    tuple of str and Table
        Two parts of a section.

    """
    return f'{table.title}:', table


def _add(page: _Page, part: Part, folder: Path | None) -> None:
    if isinstance(part, str):
        page.paragraph(part)
    elif isinstance(part, Listing):
        page.listing(part.items)
    elif isinstance(part, Cards):
        page.cards(part.cards)
    elif isinstance(part, Table):
        page.table(part.head, part.rows, part.strong, part.first)
    elif isinstance(part, Chart | Bars):
        page.chart(part, part.caption)
    elif isinstance(part, ChartRow):
        page.row(part.charts, part.group)
    else:
        _add_figure(page, part, folder)


def _add_figure(page: _Page, part: ReportFigure, folder: Path | None) -> None:
    drawn = part.draw()
    if drawn is None:
        return
    picture = drawn if isinstance(drawn, bytes) else png(drawn)
    if part.name and folder is not None:
        (folder / f'{part.name}.png').write_bytes(picture)
    if part.caption:
        page.figure(picture, part.caption, part.kind)


# -------------------------------------------------------------------------------------------------
# The page itself: all text is escaped here.


class _Page:
    """Gathers the parts of a page in order; all text is escaped here."""

    def __init__(self, title: str, lead: str):
        self._title = title
        self._parts = [f'<h1>{escape(title)}</h1>', f'<p class="lead">{escape(lead)}</p>']
        self._said: list[str] = []
        self._top = len(self._parts)
        self._headings: list[str] = []
        self._charts, self._tables = False, 0

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._headings.append(text)
        self._parts.append(f'<h2 id="s{len(self._headings)}">{escape(text)}</h2>')

    def verdict(self, text: str, judged: bool = True, caution: bool = False) -> None:
        """Say in a sentence at the top what came out."""
        kind = 'verdict amber' if caution else 'verdict' if judged else 'verdict open'
        self._said.append(f'<p class="{kind}">{escape(unsigned_zero(text))}</p>')

    def banner(self, text: str) -> None:
        """Warn in red above all else, and above earlier warnings, that data are not trusted."""
        self._said.insert(0, f'<p class="banner" role="alert">{escape(text)}</p>')

    def caution(self, text: str) -> None:
        """Warn in amber above all else that a result is doubtful."""
        self._said.insert(0, f'<p class="caution" role="status">{escape(text)}</p>')

    def remark(self, text: str) -> None:
        """Say in grey below the verdict what to know of how the data came about."""
        self._said.append(f'<p class="remark">{escape(text)}</p>')

    def opening(self, picture: str, caption: str, cards: Iterable[tuple[str, str]]) -> None:
        """Put a vector picture and key figures on the first screen, below what is said."""
        picture = picture.replace(' xmlns="http://www.w3.org/2000/svg"', '')   # HTML knows it
        figure = _figure(picture, caption) if picture else ''
        self._said.append(f'<div class="opening">{figure}{_cards(cards)}</div>')

    def viewer(self, command: str) -> None:
        """Offer the command that shows the moment under the cursor of the charts."""
        self._parts.append(
            f'<p class="viewer" data-command="{escape(command)}" hidden>Click in a chart for the '
            'command that shows the robot at that moment: <code></code> '
            '<button type="button">Copy</button></p>')

    def chart(self, chart: Chart | Bars, caption: str = '') -> None:
        """Add a chart to zoom and hover over."""
        self._charts = True
        self._parts.append(_figure(chart.html(), caption))

    def row(self, charts: Sequence[Chart], group: str = 'time') -> None:
        """Add charts side by side, or below each other on a narrow screen."""
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
        """Add key figures in boxes."""
        self._parts.append(_cards(cards))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str | Link]],
              strong: Iterable[int] = (), first: Iterable[int] = ()) -> None:
        """Add a table."""
        strong, first = set(strong), set(first)
        cells = ''.join(f'<th scope="col">{escape(cell)}</th>' if cell else '<td></td>'
                        for cell in head)
        lines = [f'<tr>{cells}</tr>']
        for index, row in enumerate(rows):
            names = ' '.join(name for name, chosen in (('strong', strong), ('first', first))
                             if index in chosen)
            cells = ''.join(f'<td>{_cell(cell)}</td>' for cell in row)
            lines.append(f'<tr class="{names}">{cells}</tr>' if names else f'<tr>{cells}</tr>')
        self._tables += 1
        self._parts.append('<div class="wide" tabindex="0" role="region" '
                           f'aria-label="Table {self._tables}">'
                           f'<table>{"".join(lines)}</table></div>')

    def figure(self, picture: bytes, caption: str, kind: str = 'image/png') -> None:
        """Add a picture."""
        data = base64.b64encode(picture).decode('ascii')
        self._parts.append(_figure(
            f'<img alt="{escape(caption)}" src="data:{kind};base64,{data}">', caption))

    def html(self, command: str, robot: str = '') -> str:
        """Return the page."""
        links = ''.join(f'<a href="#s{k}">{escape(text)}</a>'
                        for k, text in enumerate(self._headings, start=1))
        contents = f'<nav aria-label="Contents">{links}</nav>' if len(self._headings) > 2 else ''
        parts = [*self._parts[:self._top], *self._said, contents, *self._parts[self._top:]]
        made = [command, *([f'robot {robot}'] if robot else []), versions(),
                datetime.now().astimezone().isoformat(' ', 'minutes')]
        return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>{escape(self._title)}</title><style>{_styles(self._charts)}</style>'
                '</head><body><main>\n' + '\n'.join(parts)
                + f'\n</main><footer>{"<br>".join(escape(line) for line in made)}</footer>'
                + (_scripts() if self._charts else '') + '</body></html>\n')


def _figure(inside: str, caption: str) -> str:
    below = f'<figcaption>{escape(caption)}</figcaption>' if caption else ''
    return f'<figure>{inside}{below}</figure>'


def _cards(cards: Iterable[tuple[str, str]]) -> str:
    rows = ''.join(f'<div class="card"><b>{escape(unsigned_zero(value))}</b>'
                   f'<span>{escape(what)}</span></div>' for value, what in cards)
    return f'<div class="cards">{rows}</div>'


def _cell(cell: str | Link) -> str:
    if isinstance(cell, Link):
        return f'<a href="{escape(quote(cell.target))}">{escape(cell.text)}</a>'
    return escape(cell)


def _scripts() -> str:
    """Return what a page with charts needs at its end."""
    library = (ASSETS / 'uPlot.iife.min.js').read_text(encoding='utf-8')
    ours = (ASSETS / 'report.js').read_text(encoding='utf-8')
    return f'<script>{library}</script><script>{ours}</script>'


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
