# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A validation as one page: verdict, comparisons, and what torques must be off by."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import OutputError
from legged_dynamics.reports.page import Chart, Line, Table, command_line
from legged_dynamics.reports.section import Cards, Listing, Report, ReportSection
from legged_dynamics.validation.torque_errors import OF_ROBOT
from legged_dynamics.validation.validation import Validation

UNITS = {'common gain': ('%', 100.0), 'delay': ('ms', 1000.0), 'mass': ('kg', 1.0),
         'centre x': ('mm', 1000.0), 'centre y': ('mm', 1000.0), 'centre z': ('mm', 1000.0)}
MOST_POINTS = 4000      # of a curve


def validation_tables(found: Validation) -> list[Table]:
    """
    Return the comparisons of a validation.

    Parameters
    ----------
    found : Validation
        What was found.

    Returns
    -------
    list of Table
        Accuracy per foot, sums, bands, swinging feet, joints, the robot as a whole, scales.

    """
    tables = [
        Table("Accuracy of a standing foot's force, rms, % of the weight",
              ('foot', *found.of_feet),
              [(foot, *(f'{values[i]:.1f}' for values in found.of_feet.values()))
               for i, foot in enumerate(found.feet)]),
        Table('Mean vertical sum over whole gait cycles, % of the weight',
              ('estimate', 'sum'), [(name, f'{value:.1f}')
                                    for name, value in found.mean_total.items()]),
        Table('Differences of the sums, rms, % of the weight',
              ('band', 'fused - base only', 'torque only - base only', 'fused - torque only'),
              [(name, *(f'{value:.2f}' for value in values)) for name, *values in found.bands]),
        Table('Force of feet in the air by torque alone, rms, % of the weight (0 in truth)',
              ('foot', 'force'), [(foot, f'{value:.1f}' if np.isfinite(value) else 'never lifted')
                                  for foot, value in found.swing.items()]),
        Table("What each joint's torque must be off by, with one deviation",
              ('joint', 'gain, %', 'offset, N m', 'dry friction beyond the YAML, N m'),
              [(one.joint, _pair(one.gain, 100.0), _pair(one.offset), _pair(one.friction))
               for one in found.joints]),
        Table('Of the whole robot', ('', 'value', 'deviation', 'unit'),
              [(name, *(f'{UNITS[name][1] * value:.2f}' for value in found.errors.of_robot(name)),
                UNITS[name][0]) for name in OF_ROBOT])]
    if found.scales:
        tables.append(Table(
            'Scales under feet, N',
            ('foot', 'scale', 'fused', 'by torque', 'by torque without the errors'),
            [(foot, *(f'{value:.1f}' for value in values))
             for foot, values in found.scales.items()]))
    return tables


def _pair(value: tuple[float, float], scale: float = 1.0) -> str:
    return f'{scale * value[0]:+.2f} \N{PLUS-MINUS SIGN} {scale * value[1]:.2f}'


def write_validation(path: Path, found: Validation, name: str) -> None:
    """
    Write the page.

    Parameters
    ----------
    path : Path
        File to write.
    found : Validation
        What was found.
    name : str
        Of the robot or recording.

    Raises
    ------
    OutputError
        When it cannot be written.

    """
    tables = validation_tables(found)
    ahead, left = found.horizontal
    step = max(len(found.sums['time']) // MOST_POINTS, 1)
    sections = [
        ReportSection('Accuracy', [
            Cards([(f'{value:.1f} %', part) for part, value in found.accuracy.items()]),
            'rms length of the force error of a foot that stands, below 25 Hz, in per cent of the '
            'weight. It is what errors of torques and masses, as far as this recording tells '
            'them, do to the estimate.', tables[0]]),
        ReportSection('Sums', [
            Chart('Vertical sum of all feet', 'N', found.sums['time'][::step],
                  [Line(kind, found.sums[kind][::step])
                   for kind in ('fused', 'base only', 'torque only')]),
            tables[1], f'Mean horizontal sum: {ahead:+.1f} % forward, {left:+.1f} % left '
            '(0 in truth, on level ground and a straight path).', tables[2]]),
        ReportSection('Feet in the air', [tables[3]]),
        ReportSection('Torques and masses', tables[4:]),
        ReportSection('Missing in this recording', [
            Listing(found.phases.missing or ['Nothing: it has all that is needed.'])])]
    report = Report(
        f'Validation: {name}', f'{found.phases.seconds["standing"]:.0f} s of standing, '
        f'{found.phases.seconds["stepping"]:.0f} s of stepping.', sections,
        command_line(f'legged-dynamics validate {name}'),
        verdict=f'{found.verdict}.' if found.trusted else '', judged=False,
        warnings=() if found.trusted else (f'{found.verdict}.',), robot=name)
    try:
        path.write_text(report.html(), encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {path}: {error}') from error
