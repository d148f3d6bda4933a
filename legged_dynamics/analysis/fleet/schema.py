# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The tables of a fleet's data set: what each column is, in which unit.

The same text makes the files' schema and the document's tables.
"""
from __future__ import annotations

from typing import NamedTuple

XYZ = ('x', 'y', 'z')
WRENCH = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')


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

    @property
    def markdown(self) -> str:
        """Return the columns as a table for a Markdown document."""
        lines = ['| column | type | unit | meaning |', '|---|---|---|---|']
        lines += [f'| `{field.name}` | {field.kind} | {field.unit} | {field.meaning} |'
                  for field in self.fields]
        return '\n'.join(lines) + '\n'


ID = Field('recording', 'string', '', 'Name of the recording: its folder or file, and eight '
           "letters of the path's hash; the same in all tables.")


def _vector(prefix: str, axes: tuple[str, ...], units: str, meaning: str,
            kind: str = 'double') -> tuple[Field, ...]:
    """Return a column a component; units of a wrench's two halves apart by a comma."""
    halves = units.split(',')
    return tuple(Field(f'{prefix}_{axis}' if prefix else axis, kind,
                       halves[-1] if axis.startswith('m') else halves[0],
                       f'{meaning}, {axis}.') for axis in axes)


SUMMARY = TableSchema('summary', 'a recording', (
    ID,
    Field('path', 'string', '', 'Where it is.'),
    Field('model', 'string', '', 'Name of the robot YAML.'),
    Field('start', 'timestamp[us, tz=UTC]', '', "First message, by the recorder's clock."),
    Field('duration', 'double', 's', 'Of what was analysed.'),
    Field('messages', 'int64', '', 'In the bag.'),
    Field('samples', 'int64', '', 'Estimates.'),
    Field('weight', 'double', 'N', 'Of the robot by its URDF and YAML.'),
    Field('joints', 'list<string>', '', 'Joints, in the order of `external_torque`.'),
    Field('estimate', 'string', '', 'What most estimates rest on: fused, base only, torque only.'),
    Field('silent', 'double', '', 'Part of the samples without estimate.'),
    Field('standing', 'double', '', 'Part of the samples in which the robot stands.'),
    Field('gait', 'string', '', 'What it does otherwise; empty when it only stands.'),
    Field('trusted', 'bool', '', 'Whether the result deserves trust.'),
    Field('doubts', 'list<string>', '', 'Why it does not.'),
    Field('notes', 'list<string>', '', 'What was missing, assumed or odd.'),
    Field('residual', 'double', 'N', 'Force at the base that the estimate leaves unexplained, '
          'rms of its length.'),
    Field('residual_share', 'double', '', 'The same as a part of the weight.'),
    *_vector('residual_mean', WRENCH, 'N,N m', 'Mean of the unexplained wrench, base axes and '
             'origin'),
    Field('worst_at', 'double', 's', 'Since the first estimate: the second with the largest '
          'residual.'),
    Field('mass_error', 'double', 'kg', 'How much more the base weighs than the model says, at '
          'the end.'),
    *_vector('gyro_bias', XYZ, 'rad/s', 'Mean of the gyro while the robot stands, IMU axes'),
    Field('gravity_error', 'double', 'm/s²', "Mean length of the accelerometer's vector while "
          'the robot stands, less 9.81.'),
    Field('without_effort', 'int64', '', 'Samples without any joint torque.'),
    Field('without_imu', 'int64', '', 'Samples without IMU reading.'),
    Field('restarts', 'int64', '', 'How often gaps or time set back made the estimator start '
          'anew.'),
    Field('refused', 'int64', '', 'Messages that could not be used.'),
    Field('cpu', 'double', 's', 'What the analysis took of a processor.'),
    Field('written', 'timestamp[us, tz=UTC]', '', 'When this row was.'),
    Field('source_bytes', 'int64', 'B', 'Size of the recording when it was analysed.'),
    Field('source_modified', 'int64', 'ns', 'When it was last changed then, since 1970.'),
    Field('options', 'string', '', 'Digest of the options, robot files and package version.'),
))

FEET = TableSchema('feet', 'a recording and foot', (
    ID,
    Field('foot', 'string', '', 'Link.'),
    Field('duty', 'double', '', 'Part of the samples in which it is down.'),
    Field('load', 'double', 'N', 'Mean vertical force while it is down (on line, world axes).'),
    Field('load_share', 'double', '', 'Its part of the vertical impulse of all feet.'),
    Field('peak', 'double', 'N', 'Largest vertical force.'),
    Field('observable', 'double', '', 'Part of its time on the ground in which its force is '
          'determined by measurements.'),
    Field('steps', 'int64', '', 'Touch-downs.'),
    Field('slip', 'double', 'm', 'How far it slides from touch-down to lift-off, against the '
          'other feet on the ground; mean over its stances. Not known with one foot down; two '
          'share what they slide.'),
    Field('slip_largest', 'double', 'm', 'The farthest of a stance.'),
    Field('agreement', 'double', '%', 'Of contact with the true one; NaN without truth.'),
))

JOINTS = TableSchema('joints', 'a recording and joint', (
    ID,
    Field('joint', 'string', '', 'Name.'),
    Field('effort', 'double', 'N m or N', 'Root mean square of what was measured.'),
    Field('measured', 'double', '', 'Part of the samples with a measured effort.'),
    Field('residual', 'double', 'N m or N', 'Effort that the estimate leaves unexplained, rms.'),
    Field('residual_mean', 'double', 'N m or N', 'Its mean: a zero that is off, or friction.'),
))

INPUTS = TableSchema('inputs', "a recording and topic of the estimator's", (
    ID,
    Field('topic', 'string', '', 'Joint states or IMU.'),
    Field('messages', 'int64', '', 'That could be used.'),
    Field('rate', 'double', 'Hz', 'Messages over time, by their stamps.'),
    Field('received', 'double', 'Hz', "By the recorder's clock."),
    Field('interval', 'double', 'ms', 'Median between stamps (of the first million).'),
    Field('lost', 'double', '', 'Part of the messages that the usual interval promises and that '
          'did not come.'),
    Field('stamp_jitter', 'double', 'ms', 'Standard deviation of the intervals between stamps.'),
    Field('receipt_jitter', 'double', 'ms', 'Of those between receipts.'),
    Field('longest', 'double', 'ms', 'Longest interval between stamps.'),
    Field('gaps', 'int64', '', 'Intervals beyond one and a half medians.'),
    Field('backwards', 'int64', '', 'Stamps not after the one before.'),
))

ERRORS = TableSchema('errors', 'a recording with truth, behaviour and treatment', (
    ID,
    Field('subject', 'string', '', 'standing, a gait, or the sum of all feet.'),
    Field('treatment', 'string', '', 'zero-phase 25 Hz, on line or unfiltered, as in the report '
          'of one bag.'),
    Field('samples', 'int64', '', 'It is the mean of.'),
    Field('total', 'double', 'N', "Root mean square of the force vector's error."),
    Field('vertical', 'double', 'N', 'Of its vertical part.'),
))

FOOT_SERIES = TableSchema('foot_series', 'an estimate and foot', (
    ID,
    Field('stamp_ns', 'int64', 'ns', 'Of the joint state that is described.'),
    Field('time', 'double', 's', 'Since the first estimate.'),
    Field('foot', 'string', '', 'Link.'),
    Field('contact', 'bool', '', 'Whether it is down.'),
    Field('contact_probability', 'float', '', ''),
    Field('observable', 'bool', '', 'Whether measurements determine its force.'),
    *_vector('', WRENCH, 'N,N m', 'As published: foot axes and origin', 'float'),
    *_vector('raw', WRENCH, 'N,N m', 'At full bandwidth: foot axes and origin', 'float'),
    *_vector('world', WRENCH[:3], 'N', 'As published, in world axes', 'float'),
    Field('true_contact', 'bool', '', 'Null without truth.'),
    *_vector('true', WRENCH[:3], 'N', 'True force in world axes; null without truth', 'float'),
))

BASE_SERIES = TableSchema('base_series', 'an estimate', (
    ID,
    Field('stamp_ns', 'int64', 'ns', 'Of the joint state that is described.'),
    Field('time', 'double', 's', 'Since the first estimate.'),
    Field('mode', 'string', '', 'fused, base_only, torque_only or unavailable.'),
    *_vector('center_of_pressure', XYZ, 'm', 'In base axes; NaN without load', 'float'),
    *_vector('residual', WRENCH, 'N,N m', 'Unexplained wrench, base axes and origin', 'float'),
    Field('mass_error', 'float', 'kg', 'How much more the base weighs than the model says.'),
    *_vector('orientation', (*XYZ, 'w'), '', 'Quaternion of the base in the world', 'float'),
    Field('external_torque', 'list<float>', 'N m or N', 'Unexplained effort of each joint; NaN '
          'where none is measured.'),
))

TABLES = (SUMMARY, FEET, JOINTS, INPUTS, ERRORS, FOOT_SERIES, BASE_SERIES)
