# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The wanted elements of an XML text, with their lines, and nothing else.

Everything outside the wanted paths is passed over: comments, namespaces, meshes and other
programs' tags can then not be wrong. Names keep their prefix as written, as ROS's C++ parser has
it, so an undeclared prefix does no harm either.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from legged_dynamics.exceptions import ModelError

# Tags wanted: by name, what is wanted below them.
Wanted = Mapping[str, 'Wanted']


@dataclass
class Element:
    """
    A start tag with the wanted elements inside it.

    Attributes
    ----------
    tag : str
    attributes : dict of str to str
    line : int
        In the text, from 1.
    children : list of Element
    skipped : set of str
        Names of tags inside it that were not wanted.

    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of that name inside this one."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """Return the first element of that name inside this one, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def number(self, name: str, default: float | None, where: str) -> float:
        """
        Return an attribute as a finite number.

        Parameters
        ----------
        name : str
            Of the attribute.
        default : float or None
            When there is no such attribute; None: it must be there.
        where : str
            Whose number it is, for the error's text.

        Raises
        ------
        ModelError
            When it is missing, or not one finite number.

        """
        text = self.attributes.get(name)
        if text is None:
            if default is None:
                raise ModelError(f'{where}: <{self.tag}> (line {self.line}) has no {name!r}; '
                                 'expected a number')
            return default
        return _number(text, f'{where}: {name} of <{self.tag}> (line {self.line})')

    def vector(self, name: str, default: tuple[float, ...], where: str) -> tuple[float, ...]:
        """
        Return an attribute as three finite numbers.

        Raises
        ------
        ModelError
            When it is something else.

        """
        text = self.attributes.get(name)
        if text is None:
            return default
        what = f'{where}: {name} of <{self.tag}> (line {self.line})'
        words = text.split()
        if len(words) != 3:
            raise ModelError(f'{what}: expected three numbers, got {_short(text)}')
        return tuple(_number(word, what) for word in words)


def _number(text: str, what: str) -> float:
    try:
        value = math.nan if '_' in text else float(text)
        if math.isfinite(value):
            return value
    except ValueError:
        pass
    raise ModelError(f'{what}: expected a finite number, got {_short(text)}')


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f'{text[:57]}...')


def read_elements(text: str, wanted: Wanted, origin: str) -> Element:
    """
    Return the root element of an XML text, with what is wanted inside it.

    Parameters
    ----------
    text : str
        XML, decoded.
    wanted : mapping
        Tags wanted inside the root, and inside those, and so on.
    origin : str
        Where the text is from, for the error's text.

    Raises
    ------
    ModelError
        When the text is not well-formed XML, or declares entities.

    """
    reader = _Reader(wanted, origin)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = reader.refuse_entity
    reader.parser = parser
    try:
        parser.Parse(_plain(text), True)
    except expat.ExpatError as error:
        raise ModelError(f'{origin}: this is not a URDF that can be parsed: '
                         f'{expat.errors.messages[error.code]} in line {error.lineno}, column '
                         f'{error.offset + 1}') from error
    except ValueError as error:             # half of a character that takes two
        raise ModelError(f'{origin}: this is not a URDF that can be parsed: {error}') from error
    assert reader.root is not None          # else the parser has said 'no element found'
    return reader.root


class _Reader:
    """Keeps what is wanted while the parser walks through the text."""

    def __init__(self, wanted: Wanted, origin: str):
        self._wanted: list[Wanted] = [wanted]
        self._open: list[Element] = []
        self._skipping = 0
        self._origin = origin
        self.root: Element | None = None
        self.parser: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipping:
            self._skipping += 1
            return
        if self.root is not None:
            if tag not in self._wanted[-1]:
                self._open[-1].skipped.add(tag)
                self._skipping = 1
                return
            self._wanted.append(self._wanted[-1][tag])
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.root is None:
            self.root = element
        else:
            self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        self._open.pop()
        if len(self._wanted) > 1:
            self._wanted.pop()

    def refuse_entity(self, name: str, *_rest: Any) -> None:
        # A few lines of entities can stand for gigabytes of text.
        raise ModelError(f'{self._origin}: this is not a URDF that can be parsed: it declares the '
                         f'entity {name!r} (line {self.parser.CurrentLineNumber}); write it out')


def _plain(text: str) -> str:
    """Return the text without declaration and comments, every line where it was."""
    # What stands before `<?xml`, its encoding (the text is decoded by now), and `--` inside a
    # comment are against XML's letter, and in wide use.
    start = len(text) - len(text.lstrip('\ufeff \t\r\n'))
    pieces = ['\n' * text.count('\n', 0, start)]
    if text.startswith('<?xml', start):
        end = text.find('?>', start)
        if end > 0:
            pieces.append('\n' * text.count('\n', start, end))
            start = end + 2
    while (begin := text.find('<!--', start)) >= 0:
        quoted = text.find('<![CDATA[', start, begin)
        if quoted >= 0:
            end = text.find(']]>', quoted)
            if end < 0:
                break
            pieces.append(text[start:end + 3])
            start = end + 3
            continue
        end = text.find('-->', begin + 4)
        if end < 0:
            break
        pieces += text[start:begin], '\n' * text.count('\n', begin, end)
        start = end + 3
    pieces.append(text[start:])
    return ''.join(pieces)
