# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The Parquet data set on disk: a folder a table, in it one a robot and day, a file a recording.

A recording counts as complete when its summary exists: that file is renamed into place last.
"""
from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from legged_dynamics.exceptions import OutputError, reraised
from legged_dynamics.recordings.series import WRENCH, XYZ

if TYPE_CHECKING:
    import pyarrow as pa


# -------------------------------------------------------------------------------------------------
# Schema of the tables, by `tables.txt`: meaning and unit of each column. The same text makes the
# schema of the files and the tables of docs/fleet_tables.md.


class Field(NamedTuple):
    """A column: its name, its kind as pyarrow spells it, its unit, and what it is."""

    name: str
    kind: str
    unit: str
    meaning: str


class TableSchema(NamedTuple):
    """A table: its name, what a row is, and its columns."""

    name: str
    row: str
    fields: tuple[Field, ...]


ID = Field('recording', 'string', '', 'Name of the recording: its folder or file, and eight '
           "letters of the path's hash; the same in all tables.")
# What stands for several columns in a name: one for each component.
_AXES = {'wrench': WRENCH, 'force': WRENCH[:3], 'xyz': XYZ, 'quaternion': (*XYZ, 'w')}


def _table(name: str, row: str, text: str) -> TableSchema:
    """Return a table by its lines in `tables.txt`, which says how they are read."""
    fields = [ID]
    for line in re.sub(r'\n +', ' ', text.strip()).splitlines():
        column, kind, unit, meaning = (part.strip() for part in line.split('|'))
        prefix, _, axes = column.partition('{')
        if not axes:
            fields.append(Field(column, kind, unit, meaning))
        for axis in _AXES[axes[:-1]] if axes else ():
            halves = unit.split(',')
            fields.append(Field(prefix + axis, kind, halves[-1 if axis.startswith('m') else 0],
                                f'{meaning.removesuffix(".")}, {axis}.'))
    return TableSchema(name, row, tuple(fields))


_READ = {found[1]: _table(*found.groups()) for found in re.finditer(
    r'^== (\w+): (.*)\n((?:[^=\n].*\n)+)',
    Path(__file__).with_name('tables.txt').read_text(encoding='utf-8'), re.M)}
SUMMARY = _READ['summary']
FEET = _READ['feet']
JOINTS = _READ['joints']
INPUTS = _READ['inputs']
ERRORS = _READ['errors']
FOOT_SERIES = _READ['foot_series']
BASE_SERIES = _READ['base_series']
TABLES = (SUMMARY, FEET, JOINTS, INPUTS, ERRORS, FOOT_SERIES, BASE_SERIES)
# Trials of people and robots by inverse dynamics (`trials.batch`): another data set of the same
# kind, partitioned by person.
TRIALS = _READ['trials']
TRIAL_FEET = _READ['trial_feet']
TRIAL_ERRORS = _READ['trial_errors']
TRIAL_FOOT_SERIES = _READ['trial_foot_series']
TRIAL_JOINT_SERIES = _READ['trial_joint_series']
TRIAL_TABLES = (TRIALS, TRIAL_FEET, TRIAL_ERRORS, TRIAL_FOOT_SERIES, TRIAL_JOINT_SERIES)


# -------------------------------------------------------------------------------------------------

# Rows of a table: one by one, or as columns.
Rows = list[dict[str, Any]] | dict[str, Any]
FOLDER = 'data'
_PART = '.part'     # ending of a file that is being written; a leading dot hides it from readers


def arrow_schema(table: TableSchema) -> pa.Schema:
    """Return a table's pyarrow.Schema, with units and meanings in the field metadata."""
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
    The data set ``data/`` below a batch's result folder.

    ``tables``: the first has a row per recording, written last to mark it complete;
    ``keys``: what the tables are partitioned by.
    """

    def __init__(self, out: Path, tables: Sequence[TableSchema] = TABLES,
                 keys: Sequence[str] = ('robot', 'day')):
        self.folder = out / FOLDER
        self.tables, self.keys = tuple(tables), tuple(keys)

    def path(self, table: TableSchema, partition: Sequence[str], recording: str) -> Path:
        """Return the file of a recording's rows; ``partition``: value of each key."""
        return self.folder.joinpath(table.name, *(
            f'{key}={quote(value, safe="")}' for key, value in zip(self.keys, partition)),
            f'{recording}.parquet')

    def clean(self) -> None:
        """Remove incomplete files of a run that was killed."""
        for path in self.folder.rglob(f'.*{_PART}'):
            with suppress(OSError):
                path.unlink()

    def forget(self, recording: str) -> None:
        """Remove a recording, its summary first, so that it never appears complete."""
        for table in self.tables:
            for path in (self.folder / table.name).glob(f'{"*/" * len(self.keys)}'
                                                        f'{recording}.parquet'):
                path.unlink()

    def read(self, table: TableSchema, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table of all recordings, with the keys as its last columns."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        schema = arrow_schema(table)
        for name in self.keys:
            schema = schema.append(pa.field(name, pa.string()))
        where = self.folder / table.name
        wanted = list(columns) if columns else schema.names
        if not where.is_dir():
            return schema.empty_table().select(wanted)
        with reraised(OutputError, f'the data set in {where} cannot be read; remove the file that '
                      'is named, and what is missing is made again', (OSError, pa.ArrowException)):
            return ds.dataset(where, schema=schema, format='parquet', partitioning=ds.partitioning(
                pa.schema([(key, pa.string()) for key in self.keys]),
                flavor='hive')).to_table(columns=wanted)

    def write(self, partition: Sequence[str], recording: str,
              tables: Mapping[TableSchema, Rows]) -> None:
        """Put a recording's rows into place, without its name, those of the first table last."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        paths = {table: self.path(table, partition, recording)
                 for table, rows in tables.items() if rows}
        try:
            for table, path in paths.items():
                schema, rows = arrow_schema(table), tables[table]
                make = pa.Table.from_pylist if isinstance(rows, list) else pa.table
                content = make(rows, schema=schema.remove(0))
                content = content.add_column(0, schema.field(0), [
                    pa.repeat(recording, len(content))])
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(content, _part(path), compression='zstd')
            for table in sorted(paths, key=self.tables.index, reverse=True):
                os.replace(_part(paths[table]), paths[table])
        except OSError as error:
            raise OutputError(f'cannot write to the data set: {error}') from error
        finally:
            for path in paths.values():
                with suppress(OSError):
                    _part(path).unlink(missing_ok=True)

    def there(self) -> dict[str, tuple[Any, ...]]:
        """Return size, date and options of each recording, by name (`batch.Source`)."""
        columns = ('recording', 'source_bytes', 'source_modified', 'options')
        return {name: tuple(rest) for name, *rest in zip(
            *self.read(self.tables[0], columns).to_pydict().values())}


def _part(path: Path) -> Path:
    return path.with_name(f'.{path.name}{_PART}')
