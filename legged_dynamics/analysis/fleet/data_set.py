# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One Parquet data set on disk: a folder a table, in it one a robot and day, a file a recording.

A recording is there when its summary is: that is put into place last, and each file at once.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from legged_dynamics.analysis.fleet.schema import SUMMARY, TABLES, TableSchema
from legged_dynamics.exceptions import OutputError

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = 'data'
_PART = '.part'     # ending of a file that is being written; a leading dot hides it from readers


def arrow_schema(table: TableSchema) -> pa.Schema:
    """Return a table's schema, with units and meanings in the fields' metadata."""
    import pyarrow as pa

    kinds: dict[str, Any] = {
        'string': pa.string(), 'bool': pa.bool_(), 'int64': pa.int64(), 'double': pa.float64(),
        'float': pa.float32(), 'list<string>': pa.list_(pa.string()),
        'list<float>': pa.list_(pa.float32()),
        'timestamp[us, tz=UTC]': pa.timestamp('us', tz='UTC')}
    return pa.schema([pa.field(field.name, kinds[field.kind], metadata={
        'unit': field.unit, 'description': field.meaning}) for field in table.fields])


class DataSet:
    """
    The data set below a folder.

    Parameters
    ----------
    out : Path
        Folder of the batch's results; the data set is ``data/`` in it.

    """

    def __init__(self, out: Path):
        self.folder = out / FOLDER

    def path(self, table: TableSchema, robot: str, day: str, recording: str) -> Path:
        """Return where a recording's rows of a table are."""
        return (self.folder / table.name / f'robot={quote(robot, safe="")}' / f'day={day}'
                / f'{recording}.parquet')

    def clean(self) -> None:
        """Remove what a run that was killed left half written."""
        for path in self.folder.rglob(f'.*{_PART}'):
            with suppress(OSError):
                path.unlink()

    def forget(self, recording: str) -> None:
        """Remove a recording: its summary first, so that it is never there in part."""
        for table in TABLES:
            for path in (self.folder / table.name).glob(f'*/*/{recording}.parquet'):
                path.unlink()

    def read(self, table: TableSchema, columns: Sequence[str] | None = None) -> pa.Table:
        """
        Return a table of all recordings, with its columns robot and day.

        Raises
        ------
        OutputError
            When the data set is damaged.

        """
        import pyarrow as pa
        import pyarrow.dataset as ds

        schema = arrow_schema(table)
        for name in ('robot', 'day'):
            schema = schema.append(pa.field(name, pa.string()))
        where = self.folder / table.name
        wanted = list(columns) if columns else schema.names
        if not where.is_dir():
            return schema.empty_table().select(wanted)
        try:
            return ds.dataset(where, schema=schema, format='parquet', partitioning=ds.partitioning(
                pa.schema([('robot', pa.string()), ('day', pa.string())]),
                flavor='hive')).to_table(columns=wanted)
        except (OSError, pa.ArrowException) as error:
            raise OutputError(f'the data set in {where} cannot be read: {error}; remove the file '
                              'that it names, and what is missing is made again') from error

    def there(self) -> dict[str, dict[str, Any]]:
        """Return what is known of each recording that is there, by its name."""
        columns = ('recording', 'path', 'source_bytes', 'source_modified', 'options')
        return {row['recording']: row for row in self.read(SUMMARY, columns).to_pylist()}


class RecordingWriter:
    """
    Writes one recording; a context manager. What is there already is replaced at the end.

    Parameters
    ----------
    data : DataSet
    robot, day, recording : str

    Raises
    ------
    OutputError
        When the disk refuses.

    """

    def __init__(self, data: DataSet, robot: str, day: str, recording: str):
        self._paths = {table.name: data.path(table, robot, day, recording) for table in TABLES}
        self._recording = recording
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> RecordingWriter:
        """Return the writer."""
        return self

    def add(self, table: TableSchema, columns: Mapping[str, Any]) -> None:
        """Add rows, as columns; the recording's name is filled in."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = arrow_schema(table)
        count = len(next(iter(columns.values())))
        try:
            batch = pa.table({
                'recording': pa.array([self._recording] * count, pa.string()), **columns},
                schema=schema)
            if table.name not in self._writers:
                path = _part(self._paths[table.name])
                path.parent.mkdir(parents=True, exist_ok=True)
                self._writers[table.name] = pq.ParquetWriter(path, schema, compression='zstd')
            self._writers[table.name].write_table(batch)
        except OSError as error:
            raise OutputError(f'cannot write to {self._paths[table.name]}: {error}') from error

    def add_rows(self, table: TableSchema, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows, each a mapping without the recording's name; none are well, too."""
        rows = list(rows)
        names = [field.name for field in table.fields[1:]]
        if rows:
            self.add(table, {name: [row[name] for row in rows] for name in names})

    def __exit__(self, kind: object, *exception: object) -> None:
        """Put all files into place, the summary last; or remove them after an exception."""
        try:
            for writer in self._writers.values():
                writer.close()
            if kind is None:
                for name in sorted(self._writers, key=lambda name: name == SUMMARY.name):
                    os.replace(_part(self._paths[name]), self._paths[name])
        except OSError as error:
            raise OutputError(f'cannot write to the data set: {error}') from error
        finally:
            for name in self._writers:
                with suppress(OSError):
                    _part(self._paths[name]).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f'.{path.name}{_PART}')
