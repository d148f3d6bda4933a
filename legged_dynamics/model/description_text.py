# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The text of a robot description: read from a file of sane size, in the encoding it declares."""
from __future__ import annotations

import codecs
import re
import stat
from pathlib import Path

from legged_dynamics.exceptions import ModelError

# A humanoid with hands is 0.2 MB; what is larger than this holds meshes, or is no description.
MAX_SIZE = 16_000_000

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, 'utf-8'), (codecs.BOM_UTF32_LE, 'utf-32-le'),
                     (codecs.BOM_UTF32_BE, 'utf-32-be'), (codecs.BOM_UTF16_LE, 'utf-16-le'),
                     (codecs.BOM_UTF16_BE, 'utf-16-be'))
_WITHOUT_MARK = ((b'<\0?\0', 'utf-16-le'), (b'\0<\0?', 'utf-16-be'))
_DECLARED = re.compile(rb'\s*<\?xml[^>]*?encoding\s*=\s*["\']([A-Za-z0-9._-]+)["\']')


def read_description_file(path: str | Path) -> str:
    """
    Return the text of a description file.

    Only a regular file is opened: a named pipe would make the reader wait for ever, and a device
    has no end.

    Raises
    ------
    ModelError
        When there is no such file, it is no regular file or larger than `MAX_SIZE`, or its bytes
        are no text in the encoding that the XML declares.

    """
    path = Path(path)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            kind = 'a folder' if stat.S_ISDIR(state.st_mode) else 'a pipe or a device'
            raise ModelError(f'cannot read the URDF {path}: expected a file, got {kind}')
        if state.st_size > MAX_SIZE:
            raise ModelError(f'cannot read the URDF {path}: expected at most '
                             f'{MAX_SIZE / 1e6:.0f} MB, got {state.st_size / 1e6:.0f} MB')
        with path.open('rb') as file:
            content = file.read(MAX_SIZE + 1)
    except (OSError, ValueError) as error:      # ValueError: a zero byte in the name
        raise ModelError(f'cannot read the URDF {path}: {error}') from error
    return checked_text(decode(content, str(path)), str(path))


def checked_text(text: str, origin: str) -> str:
    """
    Return a description's text, known to be small enough and to begin like XML.

    Raises
    ------
    ModelError
        When it is empty, too large, or not XML.

    """
    if len(text) > MAX_SIZE:
        raise ModelError(f'{origin}: expected at most {MAX_SIZE / 1e6:.0f} million characters, '
                         f'got {len(text) / 1e6:.1f} million')
    start = text[:1000].lstrip('\ufeff \t\r\n') or text.lstrip('\ufeff \t\r\n')[:1000]
    if not start:
        raise ModelError(f'{origin}: expected the XML of a URDF, got nothing')
    if not start.startswith('<'):
        binary = any(ord(character) < 32 and character not in '\t\r\n\f'
                     for character in start)
        got = 'binary data' if binary else f'text that begins with {start[:30]!r}'
        raise ModelError(f'{origin}: expected the XML of a URDF, got {got}')
    return text


def decode(content: bytes, origin: str) -> str:
    """
    Return XML's bytes as text: by byte order mark, by declaration, or else UTF-8.

    What declares UTF-8 or nothing and is not, is read as Latin-1: it is a letter in a comment or
    an author's name.

    Raises
    ------
    ModelError
        When the declared encoding is unknown, or the bytes do not fit it.

    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decoded(content[len(mark):], encoding, origin)
    for beginning, encoding in _WITHOUT_MARK:
        if content.startswith(beginning):
            return _decoded(content, encoding, origin)
    declared = _DECLARED.match(content)
    encoding = declared[1].decode('ascii').lower() if declared else 'utf-8'
    # Readable as ASCII up to here, so it can't be what it says.
    if encoding.startswith(('utf-16', 'utf16', 'utf-32', 'utf32', 'utf-8', 'utf8')):
        try:
            return content.decode('utf-8')
        except UnicodeDecodeError:
            return content.decode('latin-1')
    return _decoded(content, encoding, origin)


def _decoded(content: bytes, encoding: str, origin: str) -> str:
    try:
        return str(content, encoding)
    except (LookupError, ValueError) as error:      # ValueError: UnicodeDecodeError, and codecs'
        raise ModelError(f'{origin}: expected text in the encoding {encoding!r}, which it '
                         f'declares: {error}') from error
