# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a data set says, by robot: rows of the summaries joined and in the order of time."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.analysis.fleet import outliers, schema
from legged_dynamics.analysis.fleet.data_set import DataSet
from legged_dynamics.analysis.fleet.outliers import Outlier, find_outliers

Row = dict[str, Any]


@dataclass(frozen=True)
class RobotFacts:
    """
    All recordings of one robot.

    Attributes
    ----------
    robot : str
    summary : list of Row
        In the order of time.
    feet, joints, inputs, errors : list of Row
        By recording in the same order.

    """

    robot: str
    summary: list[Row]
    feet: list[Row]
    joints: list[Row]
    inputs: list[Row]
    errors: list[Row]

    @property
    def foot_names(self) -> list[str]:
        """Feet in the order of the robot's YAML."""
        return list(dict.fromkeys(row['foot'] for row in self.feet))

    @property
    def days(self) -> list[str]:
        """Days with recordings, in order."""
        return list(dict.fromkeys(row['day'] for row in self.summary))

    def column(self, name: str) -> np.ndarray:
        """(n,) array of a column of the summary; NaN where it is null."""
        return numbers(self.summary, name)

    def of_foot(self, foot: str, name: str) -> np.ndarray:
        """(n,) array of a foot's column, a value a recording."""
        return self._by_recording([row for row in self.feet if row['foot'] == foot], name)

    def worst_input(self, name: str) -> np.ndarray:
        """(n,) array of the largest value over joint states and IMU, a value a recording."""
        return self._by_recording(self.inputs, name)

    def errors_of(self, treatment: str) -> np.ndarray:
        """(n,) vertical errors of a foot in contact, of the worse behaviour, by weight."""
        found = self._by_recording([row for row in self.errors if row['treatment'] == treatment
                                    and row['subject'] != 'sum of all feet'], 'vertical')
        return found / self.column('weight')

    def _by_recording(self, rows: Sequence[Row], name: str) -> np.ndarray:
        largest: dict[str, float] = {}
        for row, value in zip(rows, numbers(rows, name)):
            known = largest.get(row['recording'], np.nan)
            largest[row['recording']] = float(np.fmax(known, value))
        return np.array([largest.get(row['recording'], np.nan) for row in self.summary])

    def outliers(self) -> list[Outlier]:
        """Return what is unlike the robot's other recordings, or not to be trusted."""
        doubted = [Outlier(row['recording'], f'not to be trusted: {"; ".join(row["doubts"])}', '',
                           '', np.inf) for row in self.summary if not row['trusted']]
        return [*doubted, *sorted(
            [*find_outliers(self.summary, outliers.SUMMARY),
             *find_outliers(self.feet, outliers.FEET, 'foot'),
             *find_outliers(self.joints, outliers.JOINTS, 'joint'),
             *find_outliers(self.inputs, outliers.INPUTS, 'topic')], key=lambda one: -one.far)]


def numbers(rows: Sequence[Row], name: str) -> np.ndarray:
    """Return a column of rows; NaN where it is null."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], float)


def read_facts(data: DataSet) -> list[RobotFacts]:
    """
    Return the facts of each robot of a data set, by name.

    Raises
    ------
    OutputError
        When the data set is damaged.

    """
    columns = [field.name for field in schema.SUMMARY.fields
               if field.name not in ('notes', 'joints')]
    summary = data.read(schema.SUMMARY, [*columns, 'robot', 'day']).sort_by(
        [('start', 'ascending'), ('recording', 'ascending')]).to_pylist()
    place = {row['recording']: k for k, row in enumerate(summary)}
    parts: dict[str, dict[str, list[Row]]] = {}
    for table in (schema.FEET, schema.JOINTS, schema.INPUTS, schema.ERRORS):
        rows = [row for row in data.read(table).to_pylist() if row['recording'] in place]
        for row in sorted(rows, key=lambda row: place[row['recording']]):
            parts.setdefault(row['robot'], {}).setdefault(table.name, []).append(row)
    found = []
    for robot in sorted({row['robot'] for row in summary}):
        of = parts.get(robot, {})
        found.append(RobotFacts(
            robot, [row for row in summary if row['robot'] == robot],
            *(of.get(table.name, []) for table in (schema.FEET, schema.JOINTS, schema.INPUTS,
                                                   schema.ERRORS))))
    return found
