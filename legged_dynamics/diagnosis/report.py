# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings as one page, each with a chart of the readings that show it."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from legged_dynamics.diagnosis.doctor.examination import Examination
from legged_dynamics.diagnosis.doctor.hypotheses import Finding
from legged_dynamics.diagnosis.identification.samples import SensorLog
from legged_dynamics.diagnosis.validation.torque_errors import OF_ROBOT
from legged_dynamics.diagnosis.validation.validation import JUDGING, Validation
from legged_dynamics.pages.page import Chart, Line, Table, command_line
from legged_dynamics.pages.section import Cards, Listing, Report, ReportSection, titled
from legged_dynamics.parameter_file import written_line

KINDS = {'balance': 'forces and torques against the equations of motion',
         'cone': 'feet that pull or slip', 'velocity': 'velocities against positions',
         'limits': 'positions against the limits of the URDF',
         'stance': 'feet in contact against each other and the gyro',
         'ground': 'feet in contact against level ground', 'below': 'feet below the body',
         'gravity': 'length of gravity', 'attitude': 'orientation against accelerometer',
         'turning': 'orientation against gyro'}


def write_report(path: Path, examined: Examination, name: str, log: SensorLog) -> None:
    """Write the page."""
    found = examined.findings
    sections = [ReportSection(f'{i}. {finding.kind}: {finding.sure}', [
        finding.text,
        Listing([*(f'or: {other}' for other in finding.also),
                 *([finding.advice] if finding.advice else []),
                 *(written_line(key, value) for key, value in finding.fix.items())]),
        _readings(finding, log)])
        for i, finding in enumerate(found, start=1)]
    if examined.before is not None and examined.after is not None:
        states = {'as described': examined.before, 'corrected': examined.after}
        if examined.before is examined.after:       # nothing to correct
            del states['corrected']
        sections.append(ReportSection('Evidence', [*titled(Table(
            'Residuals, rms, in tolerances of a healthy robot', ('', *states),
            [(KINDS.get(kind, kind), *(_rms(state.squares.get(kind)) for state in states.values()))
             for kind in examined.before.squares]))]))
    sections.append(ReportSection('Not judged', [
        Listing(examined.unchecked or ['Everything could be judged.'])]))
    Report(
        f'Doctor: {name}', f'Joint states of {log.extent}; ' + (
            f'{len(found)} finding{"s" if len(found) != 1 else ""}.' if found
            else 'nothing wrong was found.'), sections,
        command_line(f'legged-dynamics doctor {name}'),
        verdict='' if found else ('Nothing wrong was found: no fault explains this recording '
                                  'better than a healthy robot does.'),
        warnings=[f'{len(found)} thing{"s are" if len(found) > 1 else " is"} wrong. '
                  f'First ({found[0].sure}): {found[0].text} {found[0].advice}'.rstrip()]
        if found else (), robot=name).write_page(path)


def _rms(squares: np.ndarray | None) -> str:
    return '-' if squares is None else f'{np.sqrt(squares.mean()):.2f}'


def _readings(finding: Finding, log: SensorLog) -> Chart:
    """Return the readings that a finding is about."""
    joints, imu = log.joints, log.imu
    time = log.time_of(joints)
    if finding.kind in ('stamp_jitter', 'time_base', 'low_rate', 'lost_samples', 'stamps_back'):
        steps = np.diff(joints.stamp_ns) * 1e-6
        return Chart('Steps of the stamps', 'ms', time[1:], [Line('step', steps)])
    if 'imu' in finding.subject and imu is not None:
        name, unit, values = (('Gyro', 'rad/s', imu.gyro) if 'gyro' in finding.kind else
                              ('Accelerometer', 'm/s²', imu.acceleration))
        return Chart(name, unit, log.time_of(imu), [
            Line(axis, column, hue) for hue, (axis, column) in enumerate(zip('xyz', values.T))])
    kinds = {'velocity': ('velocity', 'rad/s'), 'effort': ('effort', 'N m'),
             'friction': ('effort', 'N m')}
    field, unit = next((kinds[kind] for kind in kinds if kind in finding.kind),
                       ('position', 'rad'))
    named = [i for i, name in enumerate(joints.names) if name in finding.subject][:4]
    return Chart(field.capitalize(), unit, time, [
        Line(joints.names[i], getattr(joints, field)[:, i], hue)
        for hue, i in enumerate(named or range(min(3, len(joints.names))))])


# -------------------------------------------------------------------------------------------------
# A validation as one page: verdict, comparisons, and what torques must be off by.


UNITS = {'common gain': ('%', 100.0), 'delay': ('ms', 1000.0), 'mass': ('kg', 1.0),
         'centre x': ('mm', 1000.0), 'centre y': ('mm', 1000.0), 'centre z': ('mm', 1000.0)}
MOST_POINTS = 4000      # of a curve


def validation_tables(found: Validation) -> list[Table]:
    """Return the tables of a validation: feet, sums, bands, swing, joints, robot, scales."""
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
              ('foot', 'force'), [(foot, f'{value:.1f}' if np.isfinite(value) else
                                  f'never lifted for {2.0 * JUDGING.near_own_change:g} s')
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
    """Write the page."""
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
    Report(
        f'Validation: {name}', f'{found.phases.seconds["standing"]:.0f} s of standing, '
        f'{found.phases.seconds["stepping"]:.0f} s of stepping.', sections,
        command_line(f'legged-dynamics validate {name}'),
        verdict=f'{found.verdict}.' if found.trusted else '', judged=False,
        warnings=() if found.trusted else (f'{found.verdict}.',), robot=name).write_page(path)
