# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A table of texts, the same on the terminal, on a page and in a document."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A number that rounds to zero has no sign.
NOTHING = re.compile(r'(?<![\w.])[-+\u2212](0(?:\.0+)?)(?![\d.e])')


def unsigned_zero(text: str) -> str:
    """Return a text whose zeros have no sign: '0.0 %' for '-0.0 %'."""
    return NOTHING.sub(r'\1', text)


@dataclass(frozen=True)
class Table:
    """
    Rows of text below a head.

    Attributes
    ----------
    title : str
    head : sequence of str
    rows : sequence of sequence of str
    strong, first : sequence of int
        Rows to set off, and rows that begin a group.

    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    strong: Sequence[int] = ()
    first: Sequence[int] = ()

    def __post_init__(self) -> None:
        rows = [tuple(map(unsigned_zero, row)) if isinstance(row, tuple) else
                list(map(unsigned_zero, row)) for row in self.rows]
        object.__setattr__(self, 'rows', rows)

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
        rule = '-' * max(len(text) for text in texts)
        out = [self.title, texts[0], rule]
        for index, text in enumerate(texts[1:]):
            if index and index in self.first:
                out.append('')
            out.append(text)
        return '\n'.join(out)
