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
# Schema of the tables: meaning and unit of each column. The same text makes the schema of the
# files and the tables of docs/fleet_tables.md.


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
    """
    Return a table whose text has a line a column: name, kind, unit and meaning, apart by bars.

    An indented line goes on with the meaning of the one above. A name that ends with braces stands
    for a column a component; the units of a wrench's two halves are apart by a comma.
    """
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


SUMMARY = _table('summary', 'a recording', """
path | string | | Where it is.
model | string | | Name of the robot YAML.
start | timestamp[us, tz=UTC] | | First message, by the recorder's clock.
duration | double | s | Of what was analysed.
messages | int64 | | In the bag.
samples | int64 | | Estimates.
weight | double | N | Of the robot by its URDF and YAML.
joints | list<string> | | Joints, in the order of `external_torque`.
estimate | string | | What most estimates rest on: fused, base only, torque only.
silent | double | | Part of the samples without estimate.
standing | double | | Part of the samples in which the robot stands.
gait | string | | What it does otherwise; empty when it only stands.
trusted | bool | | Whether the result deserves trust.
doubts | list<string> | | Why it does not.
notes | list<string> | | What was missing, assumed or odd.
residual | double | N | Force at the base that the estimate leaves unexplained, rms of its length.
residual_share | double | | The same as a part of the weight.
residual_mean_{wrench} | double | N,N m | Mean of the unexplained wrench, base axes and origin.
worst_at | double | s | Since the first estimate: the second with the largest residual.
mass_error | double | kg | How much more the base weighs than the model says, at the end.
gyro_bias_{xyz} | double | rad/s | Mean of the gyro while the robot stands, IMU axes.
gravity_error | double | m/s² | Mean length of the accelerometer's vector while the robot stands,
    less 9.81.
without_effort | int64 | | Samples without any joint torque.
without_imu | int64 | | Samples without IMU reading.
restarts | int64 | | How often gaps or time set back made the estimator start anew.
refused | int64 | | Messages that could not be used.
cpu | double | s | What the analysis took of a processor.
written | timestamp[us, tz=UTC] | | When this row was.
source_bytes | int64 | B | Size of the recording when it was analysed.
source_modified | int64 | ns | When it was last changed then, since 1970.
options | string | | Digest of the options, robot files and package version.
""")

FEET = _table('feet', 'a recording and foot', """
foot | string | | Link.
duty | double | | Part of the samples in which it is down.
load | double | N | Mean vertical force while it is down (on line, world axes).
load_share | double | | Its part of the vertical impulse of all feet.
peak | double | N | Largest vertical force.
observable | double | | Part of its time on the ground in which its force is determined by
    measurements.
steps | int64 | | Touch-downs.
slip | double | m | How far it slides from touch-down to lift-off, against the other feet on the
    ground; mean over its stances. Not known with one foot down; two share what they slide.
slip_largest | double | m | The farthest of a stance.
agreement | double | % | Of contact with the true one; NaN without truth.
""")

JOINTS = _table('joints', 'a recording and joint', """
joint | string | | Name.
effort | double | N m or N | Root mean square of what was measured.
measured | double | | Part of the samples with a measured effort.
residual | double | N m or N | Effort that the estimate leaves unexplained, rms.
residual_mean | double | N m or N | Its mean: a zero that is off, or friction.
""")

INPUTS = _table('inputs', "a recording and topic of the estimator's", """
topic | string | | Joint states or IMU.
messages | int64 | | Messages that could be used.
rate | double | Hz | Messages over time, by their stamps.
received | double | Hz | By the recorder's clock.
interval | double | ms | Median between stamps.
lost | double | | Part of the messages expected by the usual interval that did not arrive.
stamp_jitter | double | ms | Standard deviation of the intervals between stamps.
receipt_jitter | double | ms | Of those between receipts.
longest | double | ms | Longest interval between stamps.
gaps | int64 | | Intervals beyond one and a half medians.
backwards | int64 | | Stamps not after the one before.
""")

ERRORS = _table('errors', 'a recording with truth, behaviour and treatment', """
subject | string | | standing, a gait, or the sum of all feet.
treatment | string | | zero-phase 25 Hz, on line or unfiltered, as in the report of one bag.
samples | int64 | | Samples that were compared.
total | double | N | Root mean square of the force vector's error.
vertical | double | N | Of its vertical part.
""")

FOOT_SERIES = _table('foot_series', 'an estimate and foot', """
stamp_ns | int64 | ns | Of the joint state that is described.
time | double | s | Since the first estimate.
foot | string | | Link.
contact | bool | | Whether it is down.
contact_probability | float | |
observable | bool | | Whether measurements determine its force.
{wrench} | float | N,N m | As published: foot axes and origin.
raw_{wrench} | float | N,N m | At full bandwidth: foot axes and origin.
world_{force} | float | N | As published, in world axes.
true_contact | bool | | Null without truth.
true_{force} | float | N | True force in world axes; null without truth.
""")

BASE_SERIES = _table('base_series', 'an estimate', """
stamp_ns | int64 | ns | Of the joint state that is described.
time | double | s | Since the first estimate.
mode | string | | fused, base_only, torque_only or unavailable.
center_of_pressure_{xyz} | float | m | In base axes; NaN without load.
residual_{wrench} | float | N,N m | Unexplained wrench, base axes and origin.
mass_error | float | kg | How much more the base weighs than the model says.
orientation_{quaternion} | float | | Quaternion of the base in the world.
external_torque | list<float> | N m or N | Unexplained effort of each joint; NaN where none is
    measured.
""")

TABLES = (SUMMARY, FEET, JOINTS, INPUTS, ERRORS, FOOT_SERIES, BASE_SERIES)


# Trials of people and robots by inverse dynamics (`trials.batch`): another data set of the same
# kind, partitioned by person.


TRIALS = _table('trials', 'a trial', """
trial | string | | Its name: that of the motion, without ending.
path | string | | The motion.
model | string | | File of the model.
loads | string | | File of the measured forces; empty without any.
duration | double | s | Of the motion.
samples | int64 | | Instants.
mass | double | kg | Of the model.
weight | double | N | Of the model.
method | string | | Which shares the load between feet.
trusted | bool | | Whether the result deserves trust.
doubts | list<string> | | Why it does not.
notes | list<string> | | What was missing, assumed or odd.
unsupported | double | | Part of the samples in which something else than the feet must bear load.
lag | double | s | How much later than the motion the clock of the plates is; NaN where it cannot
    be determined.
cpu | double | s | What the analysis took of a processor.
written | timestamp[us, tz=UTC] | | When this row was.
source_bytes | int64 | B | Size of its files when they were analysed.
source_modified | int64 | ns | When they were last changed then, since 1970.
options | string | | Digest of the options and the version of the package.
""")

TRIAL_FEET = _table('trial_feet', 'a trial and foot', """
foot | string | | Link.
duty | double | | Part of the samples in which it is on the ground.
load | double | N | Mean vertical force while it is on the ground.
peak | double | N | Largest vertical force.
stances | int64 | | Touch-downs seen.
""")

TRIAL_ERRORS = _table('trial_errors', 'a trial with plates, and treatment of the clocks', """
clocks | string | | as recorded, or together: plates shifted to the motion.
samples | int64 | | Instants of all feet that are truly loaded.
vertical | double | N | Root mean square error of the vertical force on a loaded foot.
single | double | N | Root mean square error of the same while one foot is loaded.
double | double | N | Root mean square error of the same while several are.
fore_aft | double | N | Root mean square error of the force along x.
sideways | double | N | Root mean square error of the force along y.
total | double | N | Root mean square error of the sum of all vertical forces.
agreement | double | | Part of the samples in which contact agrees.
""")

TRIAL_FOOT_SERIES = _table('trial_foot_series', 'an instant and foot', """
time | double | s | As in the motion.
foot | string | | Link.
contact | bool | | Whether it is on the ground.
{wrench} | float | N,N m | Foot's axes and origin.
world_{force} | float | N | World axes.
center_of_pressure_{xyz} | float | m | World axes; NaN without load.
""")

TRIAL_JOINT_SERIES = _table('trial_joint_series', 'an instant and joint', """
time | double | s | As in the motion.
joint | string | | Name.
position | float | rad or m |
velocity | float | rad/s or m/s |
effort | float | N m or N | Of muscles or motors.
""")

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
