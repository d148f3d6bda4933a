# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A table of texts, the same on the terminal, on a page and in a document."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
