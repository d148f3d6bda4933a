# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The report of a bag: a self-contained page and its figures.

Each section is a function of the analysis; `SECTIONS` has them in the order of the page. The
terminal shows the tables of the sections.
"""
from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import BagError
from legged_dynamics.pages.page import Bars, Chart, Line, Table, command_line, shown
from legged_dynamics.pages.robot_picture import FootLoad, force_picture
from legged_dynamics.pages.section import (
    ChartRow,
    Listing,
    Part,
    Report,
    ReportFigure,
    ReportSection,
    titled,
)
from legged_dynamics.pages.style import detail_window
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.recordings.recording import world_force
from legged_dynamics.recordings.report.accuracy import (
    ON_LINE,
    ZERO_PHASE,
    ForceError,
    rms,
    zero_phase,
)
from legged_dynamics.recordings.report.analysis import (
    Analysis,
    compare_sums,
    distrust,
    doubtful,
    doubts,
    foot_sums,
    verdict,
)
from legged_dynamics.recordings.report.figures import Heading, draw_pressure, residual_bands

# -------------------------------------------------------------------------------------------------
# Tables of an analysis, for terminal and page.


def _body(analysis: Analysis) -> Table:
    """Return how the base followed its reference: position and orientation."""
    body = analysis.body
    rows = [] if body is None else [
        (what, f'{rms(values):.2f} {unit}', f'{values.max():.2f} {unit}')
        for what, values, unit in (('position', 1e3 * body.error, 'mm'),
                                   ('orientation', np.degrees(body.angle), 'deg'))]
    return Table('Body, true pose against the one wanted', ['of', 'rms', 'largest'], rows)


def _commanded(analysis: Analysis) -> Table:
    """Return how far each foot's force is from what the controller commanded."""
    series, truth, wanted = analysis.series, analysis.truth, analysis.desired_force
    head, rows = ['foot', 'commanded, rms'], []
    if wanted is not None:
        found = {'estimated': world_force(series, series.foot_to_world, raw=True),
                 **({'true': np.where(truth.valid[:, None, None], truth.force, np.nan)}
                    if truth.known else {})}
        head += [f'{name} less commanded' for name in found]
        for i, foot in enumerate(series.feet):
            command = zero_phase(series.time, wanted[:, i])
            cells = [command, *(zero_phase(series.time, force[:, i]) - command
                                for force in found.values())]
            known = [cell[np.isfinite(cell).all(axis=1)] for cell in cells]
            if all(map(len, known)):
                rows.append([foot, *(f'{rms(np.linalg.norm(cell, axis=1)):.1f} / '
                                     f'{rms(cell[:, 2]):.1f}' for cell in known)])
    return Table('Force commanded and produced, 3-D / vertical, rms, zero-phase 25 Hz [N]',
                 head, rows)


def _errors(title: str, errors: Sequence[ForceError], by: str, across: str,
            counted: bool) -> Table:
    """Return a row an estimate and `by`, two columns of errors for each `across`."""
    rows: list[list[str]] = []
    first = []
    columns = list(dict.fromkeys(getattr(error, across) for error in errors))
    for estimate in dict.fromkeys(error.estimate for error in errors):
        first.append(len(rows))
        own = [error for error in errors if error.estimate == estimate]
        for name in dict.fromkeys(getattr(error, by) for error in own):
            found = {getattr(error, across): error for error in own if getattr(error, by) == name}
            rows.append([f'{estimate}, {name}'])
            if counted:
                rows[-1].append(str(max(error.count for error in found.values())))
            for column in columns:
                error = found.get(column)
                rows[-1] += ['-', '-'] if error is None else [
                    f'{error.total:.1f} / {error.vertical:.1f}',
                    f'{error.total_percent:.2f} / {error.vertical_percent:.2f}']
    head = [f'estimate, {by}', *(['samples'] if counted else [])]
    for column in columns:
        head += [f'{column} [N]', '[% of weight]']
    return Table(title, head, rows, [] if counted else [0], first)


def _contacts(analysis: Analysis) -> Table:
    rows = [(score.foot, f'{score.agreement:.1f}', shown(score.touchdown_delay, '+.0f'),
             shown(score.liftoff_delay, '+.0f'), str(score.changes), str(score.unseen))
            for score in analysis.contacts]
    return Table('Contact against the truth',
                 ('foot', 'agreement [%]', 'touchdown seen late by [ms]',
                  'lift-off seen late by [ms]', 'changes', 'unseen'), rows)


def _inputs(analysis: Analysis) -> Table:
    rows = [(entry.topic, str(entry.count), shown(entry.rate, '.1f'),
             shown(entry.received, '.1f'), shown(entry.interval, '.2f'),
             shown(entry.stamp_jitter, '.3f'), shown(entry.receipt_jitter, '.3f'),
             shown(entry.worst_interval, '.1f'), str(entry.gaps), str(entry.backwards))
            for entry in analysis.inputs]
    return Table('Inputs', ('topic', 'messages', 'rate [Hz]', 'received at [Hz]',
                            'usual interval [ms]', 'jitter of stamps [ms]',
                            'of receipt [ms]', 'longest interval [ms]', 'gaps',
                            'not after the last'), rows)


def _torques(analysis: Analysis) -> Table:
    series = analysis.series
    squares = series.external_torque.values ** 2
    rows = [(joint, *(f'{np.sqrt(np.nanmean(own)):.2f}' if np.isfinite(own).any() else '-'
                      for own in (squares[behaviour.samples, j]
                                  for behaviour in analysis.behaviours)))
            for j, joint in enumerate(series.joints) if np.isfinite(squares[:, j]).any()]
    return Table("What the estimate leaves unexplained of each joint's torque, rms [N m]",
                 ('joint', *(behaviour.name for behaviour in analysis.behaviours)), rows)


def _live(analysis: Analysis) -> Table:
    rows = [(entry.foot, str(entry.published), str(entry.missing), str(entry.compared),
             str(entry.identical), f'{entry.force:.3g}', f'{entry.moment:.3g}',
             shown(entry.last, '.3f'))
            for entry in analysis.live]
    return Table('Live against replay', (
        'foot', 'published live', 'not published', 'compared', 'identical in every bit',
        'largest difference [N]', '[N m]', 'last one after [s]'), rows)


# -------------------------------------------------------------------------------------------------

CHARTS = ('On line: causal low-pass, as published; grey: the truth, where the bag has it. The '
          'strip above shows the whole recording: drag over it to choose what all charts show, '
          'double click for everything. Click on a name to hide it.')
# Strides that charts show first.
STRIDES = 3
EXPLANATION = (
    'Errors are root mean squares over the feet that truly stand, of the force vector and of its '
    'vertical part. "Zero-phase 25 Hz": full-bandwidth estimate and truth, both low-passed by the '
    'same second-order Butterworth, forward and backward. "On line": the causal estimate as '
    'published, against the unfiltered truth, delay included. "Unfiltered": full-bandwidth '
    'estimate against unfiltered truth. "Base only" uses motion and no joint torque, "torque '
    'only" joint torque and no motion of the base\'s mass; both take contact from the main '
    'estimate, so they show what fusing buys.')
LATENCY = 'Latency'


def _filled(table: Table) -> Sequence[Part]:
    return titled(table) if table.rows else ()


def _forces_section(analysis: Analysis) -> ReportSection:
    return ReportSection('Forces', [*_force_charts(analysis), CHARTS,
                                    *_filled(_commanded(analysis))])


def _notes_section(analysis: Analysis) -> ReportSection:
    return ReportSection('What to know', [Listing(analysis.notes or ['Nothing was missing.'])])


def _accuracy_section(analysis: Analysis) -> ReportSection | None:
    found = analysis.accuracy
    errors = [table for table in (
        _errors('Error per stance foot, 3-D / vertical, rms '
                f'(weight {analysis.weight:.0f} N)', found.feet, 'treatment', 'subject', False),
        _errors('Error of the sum over all feet'
                f'{", and of each foot by support" if found.support else ""}, '
                '3-D / vertical, rms',
                [*found.sums, *found.support], 'subject', 'treatment', True)) if table.rows]
    if not errors:
        return None
    parts: list[Part] = [EXPLANATION]
    for table in errors:
        parts += titled(table)
    if np.isfinite(found.center):
        parts.append(f'Centre of pressure: {1e3 * found.center:.1f} mm rms '
                     'from the true one, zero-phase 25 Hz.')
    return ReportSection('Accuracy', parts)


def _body_section(analysis: Analysis) -> ReportSection | None:
    if analysis.body is None:
        return None
    body, rows = analysis.body, []
    for k, (axis, turn) in enumerate(zip('xyz', ('roll', 'pitch', 'yaw'))):
        rows.append(ChartRow([
            Chart(f'{name}, {label}', unit, body.time, [
                Line('wanted', factor * wanted[:, k], -1), Line('true', factor * true[:, k], hue)],
                span, height=190)
            for name, label, unit, factor, wanted, true, hue, span in (
                ('Position', axis, 'mm', 1e3, body.wanted, body.moved, 0, 20.0),
                ('Orientation', turn, 'deg', np.degrees(1.0), body.wanted_turn, body.turned, 1,
                 4.0))], 'body'))
    return ReportSection('Body', [
        *rows,
        'Pose of the base since a controller took it over: wanted, and true. Position in '
        'world axes; roll, pitch and yaw from the axes that the base had at the beginning.',
        *titled(_body(analysis))])


def _contacts_section(analysis: Analysis) -> ReportSection:
    series, truth = analysis.series, analysis.truth
    return ReportSection('Contacts', [
        Bars('Feet on the ground', series.feet, _spans(series.time, series.contact.values),
             _spans(series.time, truth.contact) if truth.known else [], float(series.time[-1]),
             _opening(analysis), 'Coloured: estimated.' + (' Grey: true.' if truth.known else '')),
        *_filled(_contacts(analysis))])


def _spans(time: np.ndarray, contact: np.ndarray) -> list[list[tuple[float, float]]]:
    last = len(time) - 1
    return [[(float(time[first]), float(time[min(after, last)])) for first, after in runs(down)]
            for down in contact.T]


def _pressure_section(analysis: Analysis) -> ReportSection:
    heading, time, window = Heading(analysis), analysis.series.time, _opening(analysis)
    charts = []
    for axis, name in enumerate(('fore-aft', 'sideways, to the left')):
        lines = [Line('estimated', 1e3 * heading.estimated[:, axis], 0)]
        if np.isfinite(heading.true).any():
            lines.insert(0, Line('true', 1e3 * heading.true[:, axis], -1))
        charts.append(Chart(f'Centre of pressure, {name}', 'mm', time, lines, 20.0, height=190,
                            window=window))
    return ReportSection('Centre of pressure', [*charts, ReportFigure(
        'center_of_pressure', partial(draw_pressure, analysis),
        'The centre of pressure on the support polygons (lines), seen from '
        'above in level axes that turn with the base. Coloured: where the feet touch.')])


def _residuals_section(analysis: Analysis) -> ReportSection:
    series, bands = analysis.series, residual_bands(analysis)
    charts = []
    for part, band, unit, name in zip((slice(0, 3), slice(3, 6)), bands, ('N', 'N m'),
                                      ('Force', 'Moment')):
        values = np.linalg.norm(series.base_residual.values[:, part], axis=1)
        known = np.isfinite(band)
        charts.append(Chart(
            f'{name} at the base that no foot explains'
            f'{"; shaded: 95 % of what noise alone gives" if known else ""}', unit, series.time,
            [Line('residual', values, 7)], 0.02 * analysis.weight if unit == 'N' else 1.0,
            height=190, window=_opening(analysis), band=float(band) if known else 0.0))
    values = np.linalg.norm(series.base_residual.values[:, :3], axis=1)
    values = values[np.isfinite(values)]
    inside = (f'{100.0 * np.mean(values <= bands[0]):.0f} % of the samples are within it.'
              if np.isfinite(bands[0]) and len(values) else '')
    return ReportSection('Residuals', [
        'What the estimate leaves unexplained of the force and moment at the base. '
        'Accelerations are differences of noisy velocities, so a perfectly described robot has '
        'residuals too: the shaded band is what the stated noise of the sensors explains. '
        f'{inside} Residuals that stay above '
        'it mean a wrong mass, a wrong sign or zero of a torque, or a '
        'contact that is not at a foot; short peaks are impacts.', *charts,
        *_filled(_torques(analysis))])


def _inputs_section(analysis: Analysis) -> ReportSection:
    replay, topics, table = analysis.replay, analysis.topics, _inputs(analysis)
    charts = []
    for name, times in ((topics.joint_states, replay.joints), (topics.imu, replay.imu)):
        if len(times) > 1:
            stamped, received = times.stamp_ns.values, times.receipt_ns.values
            charts.append(ChartRow([Chart(
                f'{name}: intervals', 'ms', (received[1:] - received[0]) * 1e-9, [
                    Line('received', np.diff(received) * 1e-6, 3),
                    Line('stamped', np.diff(stamped) * 1e-6, 0)], height=190)], name))
    return ReportSection('Inputs', [
        *charts, "Intervals between messages, by their stamps and by the recorder's clock.",
        table])


def _latency_section(analysis: Analysis) -> ReportSection | None:
    if analysis.latency is None:
        return None
    return ReportSection(LATENCY, [
        "From the receipt of a joint state to the receipt of the last foot's wrench, both by the "
        "recorder's clock."
        + (' Below zero: the recorder received the wrench before that joint state.'
           if (analysis.latency < 0.0).any() else '')
        + (' Time was simulated and waited: these are times of the machine, not of the estimator.'
           if _real_time_factor(analysis) < REAL_TIME else ''),
        *titled(Table("Latency of live wrenches, by the recorder's clock [ms]",
                      ('from joint state to wrench', '50 %', '95 %', '99 %', 'largest'), [
                          ('transport and computing', *(f'{value:.2f}' for value in np.percentile(
                              analysis.latency, (50, 95, 99, 100))))]))])


def _live_section(analysis: Analysis) -> ReportSection | None:
    table = _live(analysis)
    if not table.rows:
        return None
    return ReportSection(table.title, [
        'What the estimator published when the bag was recorded, against the replay of the same '
        'inputs, by stamp. The same inputs give the same bits; a difference means that one of the '
        'two missed a joint state or an IMU reading, and it fades as the filters forget.', table])


# In the order of the page; a section that has nothing to show returns None.
Makers = Sequence[Callable[[Analysis], ReportSection | None]]
SECTIONS: Makers = (
    _forces_section, _notes_section, _accuracy_section, _body_section,
    _contacts_section, _pressure_section, _residuals_section, _inputs_section, _latency_section,
    _live_section)


def sections(analysis: Analysis, makers: Makers = SECTIONS) -> list[ReportSection]:
    """Return the sections with content, in page order; nothing is drawn yet."""
    return [section for make in makers if (section := make(analysis)) is not None]


def tables(analysis: Analysis, makers: Makers = SECTIONS) -> list[Table]:
    """Return the sections' tables for a terminal, errors first and latency last."""
    found = sorted(sections(analysis, makers), key=lambda section: section.name == LATENCY)
    return [table for section in found for table in section.tables]


def write_report(analysis: Analysis, folder: Path, warnings: Sequence[str] = (),
                 makers: Makers = SECTIONS) -> Path:
    """
    Write page and figures into a folder.

    Parameters
    ----------
    analysis : Analysis
        What was found.
    folder : Path
        Made where it is not there.
    warnings : sequence of str
        What the page says before all else, in red.
    makers : sequence of callable
        What makes each section of an analysis, or None where it has no content; in page order.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    BagError
        When the folder cannot be written.

    """
    robot, bag = analysis.robot, analysis.bag.resolve()
    sentence, judged = verdict(analysis)
    reasons = doubts(analysis)
    return Report(
        title=f'Ground reactions: {bag.parent.name}/{bag.name}',
        lead=f'{robot.model.name}, {robot.model.total_mass:.2f} kg, '
             f'{robot.model.n_joints} joints, feet {", ".join(analysis.series.feet)}. '
             f'{len(analysis.series.stamp_ns)} estimates over '
             f'{np.ptp(analysis.series.time):.2f} s, '
             f'contacts {_contact_source(analysis)}.',
        sections=sections(analysis, makers), verdict=sentence, judged=judged,
        caution=not compare_sums(foot_sums(analysis), analysis.weight)[1],
        warnings=[*reversed(warnings), *([distrust(reasons)] if reasons else [])],
        cautions=[' '.join(doubtful(analysis))] if doubtful(analysis) else [],
        command=command_line(f'legged-dynamics analyze {analysis.bag}'),
        robot=robot.name, remarks=_pace(analysis), cards=_cards(analysis),
        picture=_picture(analysis),
        viewer=shlex.join(['legged-dynamics', 'view', str(analysis.bag)])).write(folder, BagError)


# Part of real time below which a recording's clock says nothing of latencies.
REAL_TIME = 0.95


def _real_time_factor(analysis: Analysis) -> float:
    """Return how fast time went by the recorder's clock."""
    return float(np.nanmin([1.0, *(entry.received / entry.rate for entry in analysis.inputs)]))


def _pace(analysis: Analysis) -> list[str]:
    factor = _real_time_factor(analysis)
    if factor >= REAL_TIME:
        return []
    return [f'Recorded at {factor:.2f} of real time, as a simulation that waits for its nodes is: '
            "latencies and rates by the recorder's clock are those of this machine, not of the "
            'estimator. Accuracy is not touched.']


def _picture(analysis: Analysis) -> tuple[str, str]:
    """Return the robot and its forces at one moment, and what is seen; nothing without poses."""
    series, robot = analysis.series, analysis.robot
    model = robot.config.apply_to(robot.model)
    at = telling_moment(analysis)
    position = series.position.values[at]
    if not len(series.feet) or len(position) != model.nq or not np.isfinite(position).all():
        return '', ''
    force = world_force(series, series.foot_to_world, raw=True)[at]
    loads = [FootLoad(foot, force[i], series.contact_point.values[at, i],
                      bool(series.contact.values[at, i])) for i, foot in enumerate(series.feet)]
    time = series.time[at]
    text = force_picture(model, robot.config, position, series.base_rotation.values[at], loads,
                         robot.urdf, f'{robot.model.name} at {time:.2f} s')
    return text, (f'The estimate at {time:.2f} s: force of the ground on each foot in contact and '
                  f'the support polygon. Weight {analysis.weight:.0f} N.')


def telling_moment(analysis: Analysis) -> int:
    """Return the sample for the picture, in mid-step of the opening strides."""
    series = analysis.series
    begin, end = _opening(analysis) or (float(series.time[0]), float(series.time[-1]))
    middle = int(np.searchsorted(series.time, 0.5 * (begin + end)).clip(0, len(series.time) - 1))
    same = (series.contact.values == series.contact.values[middle]).all(axis=1)
    near = same & (np.abs(series.time - series.time[middle]) < 1.0)
    first, after = next(run for run in runs(near) if run[0] <= middle < run[1])
    return (first + after - 1) // 2


def _opening(analysis: Analysis) -> tuple[float, float] | None:
    """Return begin and end of three strides in the middle of the longest walk [s]; None: all."""
    series = analysis.series
    time, contact = series.time, series.contact.values
    landings = [time[1:][np.diff(down.astype(int)) > 0] for down in contact.T]
    strides = np.concatenate([np.diff(found) for found in landings] or [np.zeros(0)])
    if len(strides) < STRIDES:
        return None
    length = float(STRIDES * np.median(strides))
    if not 0.0 < length < 0.8 * time[-1]:
        return None
    return detail_window(time, analysis.behaviours, length)


def _force_charts(analysis: Analysis) -> list[Chart]:
    """Return an overview of the vertical forces, and all three components of each foot's force."""
    series, truth = analysis.series, analysis.truth
    turn = Heading(analysis).turn
    window = _opening(analysis)
    force = _along(turn, world_force(series, series.foot_to_world, raw=False))
    true, wanted = (None if values is None else _along(turn, values) for values in (
        truth.force if truth.known else None, analysis.desired_force))
    charts = []
    if window is not None:
        charts.append(Chart('The whole recording: vertical forces', 'N', series.time, [
            Line(foot, force[:, i, 2], i) for i, foot in enumerate(series.feet)],
            0.02 * analysis.weight, height=110, window=window, overview=True))
    for axis, title in ((2, 'Vertical force of each foot'), (0, 'Fore-aft force, forward'),
                        (1, 'Sideways force, to the left')):
        lines = []
        for i, foot in enumerate(series.feet):
            if true is not None:
                lines.append(Line(f'{foot}, true', true[:, i, axis], -1 - i % 2, f'{foot}, true'))
            lines.append(Line(foot, force[:, i, axis], i))
            if wanted is not None:
                lines.append(Line(f'{foot}, wanted', wanted[:, i, axis], i, f'{foot}, wanted',
                                  True))
        charts.append(Chart(title, 'N', series.time, lines, 0.02 * analysis.weight,
                            height=330 if axis == 2 else 210, window=window))
    return charts


def _along(turn: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return world forces, (n, nf, 3), as forward, left and up."""
    level = np.einsum('nij,nfj->nfi', turn, force[..., :2])
    return np.concatenate([level, force[..., 2:]], axis=2)


def _contact_source(analysis: Analysis) -> str:
    plan = analysis.replay.plan
    if plan.true_contact is not None:
        return 'taken from the truth'
    return 'taken from topics of the bag' if plan.given_contact else 'detected'


def _cards(analysis: Analysis) -> list[tuple[str, str]]:
    cards = []
    errors = analysis.accuracy.feet
    for treatment, said in ((ZERO_PHASE, 'low-passed without delay'), (ON_LINE, 'on line')):
        cards += [(f'{error.total_percent:.2g} / {error.vertical_percent:.2g} %',
                   f'force error of a foot, 3-D / vertical, of weight, {error.subject}, {said}')
                  for error in errors
                  if error.estimate == errors[0].estimate and error.treatment == treatment]
    cards += [(f'{entry.rate:.0f} Hz', entry.topic) for entry in analysis.inputs]
    if analysis.body is not None:
        cards.append((f'{1e3 * rms(analysis.body.error):.1f} mm / '
                      f'{np.degrees(rms(analysis.body.angle)):.2f} deg',
                      'of the base from where it was wanted, rms'))
    if analysis.latency is not None and _real_time_factor(analysis) >= REAL_TIME:
        cards.append((f'{np.percentile(analysis.latency, 50):.2f} ms',
                      'median latency, live'))
    if analysis.live:
        same = sum(entry.identical for entry in analysis.live)
        compared = sum(entry.compared for entry in analysis.live)
        cards.append((f'{same} of {compared}', 'live wrenches identical in replay'))
    return cards
