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
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from html import escape
from itertools import count
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from legged_dynamics.exceptions import LeggedDynamicsError, OutputError, reraised
from legged_dynamics.pages.page import (
    Bars,
    Chart,
    Table,
    figure,
    key_figures,
    page_html,
    unsigned_zero,
)
from legged_dynamics.pages.style import png

REPORT = 'report.html'


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
        with reraised(refusal, f'cannot write the report to {folder}'):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / REPORT
            path.write_text(self.html(folder), encoding='utf-8')
        return path

    def write_page(self, path: Path) -> None:
        """Write the page alone; OutputError when it cannot be written."""
        with reraised(OutputError, f'cannot write {path}'):
            path.write_text(self.html(), encoding='utf-8')

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
        said = [*(('banner', text, ' role="alert"') for text in self.warnings),
                *(('caution', text, ' role="status"') for text in self.cautions)]
        if self.verdict:
            said.append(('verdict amber' if self.caution else
                         'verdict' if self.judged else 'verdict open', self.verdict, ''))
        said += [('remark', text, '') for text in self.remarks]
        parts = [f'<h1>{escape(self.title)}</h1>', f'<p class="lead">{escape(self.lead)}</p>',
                 *(f'<p class="{kind}"{role}>{escape(unsigned_zero(text))}</p>'
                   for kind, text, role in said)]
        if self.picture[0] or self.cards:
            picture, caption = self.picture
            picture = picture.replace(' xmlns="http://www.w3.org/2000/svg"', '')  # HTML knows it
            drawn = figure(picture, caption) if picture else ''
            parts.append(f'<div class="opening">{drawn}{key_figures(self.cards)}</div>')
        headings = [section.name for section in self.sections if section.name]
        if len(headings) > 2:
            links = ''.join(f'<a href="#s{k}">{escape(text)}</a>'
                            for k, text in enumerate(headings, start=1))
            parts.append(f'<nav aria-label="Contents">{links}</nav>')
        number = count(1)
        for section in self.sections:
            if section.name:
                parts.append(f'<h2 id="s{next(number)}">{escape(section.name)}</h2>')
            parts += [_html(part, folder) for part in section.parts]
            if self.viewer and section.charts and section is self.sections[0]:
                parts.append(
                    f'<p class="viewer" data-command="{escape(self.viewer)}" hidden>Click in a '
                    'chart for the command that shows the robot at that moment: <code></code> '
                    '<button type="button">Copy</button></p>')
        return page_html(self.title, parts, self.command, self.robot)


def titled(table: Table) -> tuple[str, Table]:
    """Return a table's title and the table, as two parts of a section."""
    return f'{table.title}:', table


def _html(part: Part, folder: Path | None) -> str:
    """Return a part as HTML; all text is escaped."""
    if isinstance(part, str):
        return f'<p>{escape(part)}</p>'
    if isinstance(part, Listing):
        return f'<ul>{"".join(f"<li>{escape(item)}</li>" for item in part.items)}</ul>'
    if isinstance(part, Cards):
        return key_figures(part.cards)
    if isinstance(part, Table):
        return part.html
    if isinstance(part, Chart | Bars):
        return figure(part.html(), part.caption)
    if isinstance(part, ChartRow):
        cells = ''.join(f'<div>{chart.html(part.group)}</div>' for chart in part.charts)
        return f'<figure class="row">{cells}</figure>' if cells else ''
    drawn = part.draw()
    if drawn is None:
        return ''
    picture = drawn if isinstance(drawn, bytes) else png(drawn)
    if part.name and folder is not None:
        (folder / f'{part.name}.png').write_bytes(picture)
    data = base64.b64encode(picture).decode('ascii')
    return '' if not part.caption else figure(
        f'<img alt="{escape(part.caption)}" src="data:{part.kind};base64,{data}">', part.caption)
