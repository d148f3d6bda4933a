# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages, dataclasses and tables as the arrays that `python -m benchmarks digests` compares."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from legged_dynamics.recordings.bags import BagReader


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in a message or a dataclass, field by field; texts are left out."""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        yield float(value)
    elif isinstance(value, np.ndarray):
        yield from value.astype(float).ravel().tolist() if value.dtype.kind in 'bifu' else ()
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from numbers(value[key])
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name))
    elif not isinstance(value, (str, bytes)) and hasattr(value, '__iter__'):
        for item in value:
            yield from numbers(item)


def rows(values: Any) -> np.ndarray:
    """Return the numbers of messages or dataclasses, a row each; in one row if they differ."""
    found = [list(numbers(value)) for value in values]
    if len({len(row) for row in found}) == 1:
        return np.array(found)
    return np.array([number for row in found for number in row])


def texts(values: Any) -> str:
    """Return sentences as one text."""
    return '\n'.join(map(str, values))


def table(path: Path | list[Path], without: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the columns of Parquet files, one after the other."""
    paths = [path] if isinstance(path, Path) else path
    read = [pyarrow.parquet.ParquetFile(one).read() for one in paths]
    for name in read[0].column_names:
        if name in without:
            continue
        column = [item for one in read for item in one.column(name).to_pylist()]
        first = next((item for item in column if item is not None), 0.0)
        if isinstance(first, (str, list)) or hasattr(first, 'year'):
            yield name, texts(column)
        else:
            yield name, np.array([np.nan if item is None else item for item in column], float)


def messages(path: Path) -> dict[str, np.ndarray]:
    """Return all that a bag's messages say, and when they came, by topic."""
    found: dict[str, list] = {}
    with BagReader(path) as bag:
        for message in bag.messages():
            # Diagnostics tell how long things took.
            if message.topic not in ('/diagnostics', '/robot_description'):
                found.setdefault(message.topic, []).append(
                    [message.receipt_ns, *numbers(bag.decode(message))])
    return {topic: rows(values) for topic, values in found.items()}
