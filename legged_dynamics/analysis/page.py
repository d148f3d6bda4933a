# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One HTML page that needs nothing beside itself: text, tables, and figures as embedded PNG."""
from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #222;
       max-width: 1060px; margin: 2.5rem auto; padding: 0 1.2rem; background: #fff; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-bottom: .25rem;
     border-bottom: 1px solid #ddd; }
p, li { max-width: 78ch; }
.banner { background: #b3261e; color: #fff; padding: .7rem 1rem; border-radius: 8px;
          font-weight: 600; max-width: none; }
.lead { color: #555; margin-top: 0; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.4rem 0; }
.card { border: 1px solid #dde3ea; border-radius: 8px; padding: .7rem 1rem; min-width: 9.5rem;
        background: #f7f9fb; }
.card b { display: block; font-size: 1.35rem; font-weight: 600; white-space: nowrap; }
.card span { color: #555; font-size: .85rem; }
table { border-collapse: collapse; margin: .6rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid #e6e6e6; }
td { white-space: nowrap; }
.wide { overflow-x: auto; }
th { font-weight: 600; border-bottom: 2px solid #bbb; vertical-align: bottom; }
th:first-child, td:first-child, .text { text-align: left; }
tr.strong td { background: #eef4fb; font-weight: 600; }
tr.first td { border-top: 2px solid #ccc; }
img { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
figcaption { color: #555; font-size: .88rem; max-width: 90ch; }
figure { margin: .6rem 0 1.6rem; }
footer { color: #777; font-size: .85rem; margin-top: 3rem; border-top: 1px solid #ddd;
         padding-top: .6rem; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; }
               figure, table { break-inside: avoid; } }
"""


class Page:
    """
    Gathers the parts of a page in order; all text is escaped here.

    Parameters
    ----------
    title, lead : str
        Heading, and the line below it.

    """

    def __init__(self, title: str, lead: str):
        self._title, self._banners = title, 0
        self._parts = [f'<h1>{escape(title)}</h1>', f'<p class="lead">{escape(lead)}</p>']

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f'<h2>{escape(text)}</h2>')

    def banner(self, text: str) -> None:
        """Say before all else what must not be overlooked, in red."""
        self._parts.insert(self._banners, f'<p class="banner">{escape(text)}</p>')
        self._banners += 1

    def paragraph(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f'<p>{escape(text)}</p>')

    def listing(self, items: Iterable[str]) -> None:
        """Add a list."""
        rows = ''.join(f'<li>{escape(item)}</li>' for item in items)
        self._parts.append(f'<ul>{rows}</ul>')

    def cards(self, cards: Iterable[tuple[str, str]]) -> None:
        """Add key figures: each a value and what it is."""
        rows = ''.join(f'<div class="card"><b>{escape(value)}</b><span>{escape(what)}</span></div>'
                       for value, what in cards)
        self._parts.append(f'<div class="cards">{rows}</div>')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]],
              strong: Iterable[int] = (), first: Iterable[int] = ()) -> None:
        """
        Add a table.

        Parameters
        ----------
        head : sequence of str
            Texts of the head row.
        rows : sequence of sequence of str
            Texts of the other rows.
        strong, first : iterable of int
            Rows to set off, and rows that begin a new group.

        """
        strong, first = set(strong), set(first)
        lines = [f'<tr>{"".join(f"<th>{escape(cell)}</th>" for cell in head)}</tr>']
        for index, row in enumerate(rows):
            names = ' '.join(name for name, chosen in (('strong', strong), ('first', first))
                             if index in chosen)
            cells = ''.join(f'<td>{escape(cell)}</td>' for cell in row)
            lines.append(f'<tr class="{names}">{cells}</tr>' if names else f'<tr>{cells}</tr>')
        self._parts.append(f'<div class="wide"><table>{"".join(lines)}</table></div>')

    def figure(self, picture: bytes, caption: str, kind: str = 'image/png') -> None:
        """Add a figure, a picture of that MIME type."""
        data = base64.b64encode(picture).decode('ascii')
        self._parts.append(f'<figure><img alt="{escape(caption)}" '
                           f'src="data:{kind};base64,{data}">'
                           f'<figcaption>{escape(caption)}</figcaption></figure>')

    def html(self, footer: str) -> str:
        """Return the page."""
        return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>{escape(self._title)}</title><style>{STYLE}</style></head><body>\n'
                + '\n'.join(self._parts)
                + f'\n<footer>{escape(footer)}</footer></body></html>\n')
