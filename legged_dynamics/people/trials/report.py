# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report of inverse dynamics over a recording: figures, tables, verdict and page."""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from legged_dynamics.model.standing import UP
from legged_dynamics.pages import style
from legged_dynamics.pages.page import Chart, Line, Table, command_line, foot_color
from legged_dynamics.pages.section import ChartRow, Listing, Report, ReportFigure, ReportSection
from legged_dynamics.people.gait.double_support import METHODS
from legged_dynamics.people.gait.flat_feet import fallen
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.people.trials.accuracy import FootErrors
from legged_dynamics.people.trials.analysis import MODEL, ROBOT, SCALE, GaitResult
from legged_dynamics.people.trials.cycles import (
    ANGLE,
    FORCES,
    MOMENT,
    PERCENT,
    POWER,
    GaitCycles,
    gait_cycles,
    measured_effort,
    peaks_table,
    steps_table,
    without_side,
)
from legged_dynamics.recordings.report.analysis import distrust
from legged_dynamics.recordings.series import recording_doubts

# -------------------------------------------------------------------------------------------------
# The figure of the centres of pressure.


# Standard deviations on either side that hold 95 % of normal errors.
COVERED = 1.96
# Soles drawn at most for each foot.
MOST_SOLES = 8


def _draw_pressure(result: GaitResult) -> Figure:
    """Draw where each foot presses, seen from above, with soles that stand."""
    r = result.reactions
    figure = style.new_figure(4.6)
    axes = figure.subplots()
    for i, foot in enumerate(result.feet):
        if len(foot.corners) > 1:
            standing = [(first + end) // 2 for first, end in runs(r.contact[:, i])]
            for t in standing[:MOST_SOLES]:
                outline = r.foot_position[t, i] + foot.touching(r.foot_rotation[t, i], UP,
                                                                foot.outline)
                axes.add_patch(Polygon(outline[:, :2], fill=False, edgecolor=foot_color(i),
                                       linewidth=0.8))
        path = r.center_of_pressure[:, i].copy()
        path[~r.contact[:, i]] = np.nan
        axes.plot(path[:, 0], path[:, 1], color=foot_color(i), linewidth=1.2, label=r.feet[i])
    axes.set_aspect('equal', adjustable='datalim')
    style.dress(axes, x='x, world [m]', y='y, world [m]')
    style.legend(axes)
    return figure


# -------------------------------------------------------------------------------------------------
# Tables, for terminal and page.


def feet_table(result: GaitResult) -> Table:
    """Return a table of each foot's contact times and loads."""
    r, rows = result.reactions, []
    for i, foot in enumerate(r.feet):
        on = r.contact[:, i]
        force = r.force[on, i]
        steps = int((np.diff(on.astype(int)) > 0).sum())
        rows.append((foot, f'{100.0 * on.mean():.0f}', str(steps),
                     *(('-',) * 3 if not on.any() else (
                         f'{force[:, 2].mean():.0f}', f'{force[:, 2].max():.0f}',
                         f'{np.linalg.norm(force[:, :2], axis=1).max():.0f}'))))
    return Table(f'Feet (weight {result.weight:.0f} N), contacts {result.contact_source}',
                 ('foot', 'on the ground [%]', 'landings', 'mean load [N]', 'peak load [N]',
                  'peak horizontal [N]'), rows)


def joints_table(result: GaitResult, most: int = 12) -> Table:
    """Return a table of the joints with the largest torques, at most ``most``."""
    rows = []
    for k in _most_loaded(result, most):
        effort = result.reactions.joint_effort[:, k]
        rows.append((result.model.joint_names[k], f'{effort.min():.1f}', f'{effort.max():.1f}',
                     f'{np.sqrt((effort ** 2).mean()):.1f}',
                     'N' if result.model.joints[k].kind == 'prismatic' else 'N m'))
    return Table('Joint torques, the largest',
                 ('joint', 'minimum', 'maximum', 'rms', 'unit'), rows)


def _most_loaded(result: GaitResult, most: int) -> list[int]:
    """Return the joints with the largest torques, that first."""
    largest = np.abs(result.reactions.joint_effort).max(axis=0)
    return list(np.argsort(-largest, kind='stable')[:most].tolist())


def errors_table(result: GaitResult) -> Table:
    """Return a table of errors against force plates, a row per method."""
    rows = []
    for method, e in result.errors.items():
        rows.append((method, *_newtons(e), METHODS[method]))
        if method == result.method and result.as_recorded is not None:
            rows.append((f'{method}, as recorded', *_newtons(result.as_recorded),
                         'the same, with the clock of the plates as it was'))
    first = next(iter(result.errors.values()), None)
    title = '' if first is None else (
        f'Error of each foot while truly loaded, rms [N], {first.count} samples (contact agrees '
        f'in {100.0 * first.agreement:.1f} %; the vertical force of all feet together errs by '
        f'{first.total:.1f} N)')
    return Table(title, ('method', 'vertical', 'alone', 'together', 'along x', 'along y',
                         'minimum vertical force', 'assumption'), rows, [0] if rows else [])


def _newtons(e: FootErrors) -> list[str]:
    return [f'{value:.1f}' if np.isfinite(value) else '-' for value in (
        e.vertical, e.single, e.double, e.fore_aft, e.sideways, e.pull)]


# -------------------------------------------------------------------------------------------------
# The verdict in a sentence, and reasons not to trust the result.


@dataclass(frozen=True)
class DoubtSettings:
    """Beyond which a result is not to be trusted."""

    largest_error: float = 0.15  # [weight]: of a loaded foot
    largest_residual: float = 0.10  # [weight]
    unsupported_part: float = 0.5  # Of the samples


DOUBT = DoubtSettings()


def doubts(result: GaitResult) -> list[str]:
    """Return the reasons not to trust the result, if any."""
    r, q = result.reactions, result.motion.position     # velocities are differences of them
    found = recording_doubts(result.model.joints, r.time, q, np.zeros_like(q))
    error = result.errors.get(result.method)
    if error is not None and error.vertical > DOUBT.largest_error * result.weight:
        found.append(f'the error of a loaded foot is {error.vertical:.0f} N, '
                     f'{100.0 * error.vertical / result.weight:.0f} % of the weight')
    if not r.contact.any():
        found.append('no foot is ever on the ground: is the floor level, are the feet those of '
                     'the model?')
    fell = np.flatnonzero(fallen(result.dynamics, r.contact, r.flat))
    if len(fell):
        found.append('it falls, tips over the edge of a sole, or lies, from '
                     f'{r.time[fell[0]]:.1f} s on: the error bars do not hold there')
    unexplained = r.root_residual - result.dynamics.noise
    rest = float(np.sqrt(np.mean(unexplained[:, :3] ** 2) * 3.0)) / result.weight
    if rest > DOUBT.largest_residual:
        found.append(f'{100.0 * rest:.0f} % of the weight remain that no foot explains: mass, '
                     'contacts or friction are wrong, or something else pushes')
    for where, said in (
            (~r.supported, 'something else than the feet bears load'),
            (r.supported & ~r.inside_soles, 'the centre of pressure leaves the stated soles: '
             'soles, pose of the base or masses are other than stated')):
        if where.mean() > DOUBT.unsupported_part:
            found.append(f'in {100.0 * where.mean():.0f} % of the samples {said}')
    return found


def moment_error(result: GaitResult) -> tuple[str, float, float] | None:
    """Return the joint with the largest moment error, and RMS errors [N m] of all and it."""
    measured = measured_effort(result)
    if measured is None:
        return None
    model = result.model
    legs = sorted({body - 1 for foot in result.reactions.feet
                   for body in model.chain(model.frame(foot).body) if body > 0})
    hinges = [k for k in legs if model.joints[k].kind != 'prismatic']
    known = np.isfinite(measured).all(axis=1)
    if not hinges or not known.any():
        return None
    square = np.mean((result.reactions.joint_effort - measured)[known][:, hinges] ** 2, axis=0)
    worst = int(np.argmax(square))
    return (model.joint_names[hinges[worst]], float(np.sqrt(square.mean())),
            float(np.sqrt(square[worst])))


def verdict(result: GaitResult) -> tuple[str, bool]:
    """Return the outcome in a sentence, and whether there were force plates."""
    about = _mass_text(result)
    error = result.errors.get(result.method)
    if error is not None:
        late = result.alignment if result.as_recorded is not None else None
        text = 'Error against the plates' if late is None else (
            f'With the clocks put together (the plates are {1e3 * abs(late.lag):.0f} ± '
            f'{1e3 * COVERED * late.lag_deviation:.0f} ms (95 %) '
            f'{"behind" if late.lag > 0.0 else "ahead of"} the motion), error against the plates')
        text += (f': {error.vertical:.0f} N '
                'rms of the vertical force on a '
                f'loaded foot, {100.0 * error.vertical / result.weight:.1f} % of the weight')
        if np.isfinite(error.double) and np.isfinite(error.single):
            text += f' ({error.single:.0f} N alone, {error.double:.0f} N with several feet down)'
        moment = moment_error(result)
        if moment is not None:
            text += (f', and {moment[1]:.1f} N m rms of the joint moments of the legs, most at '
                     f'{moment[0]} ({moment[2]:.1f} N m)')
        return f'{text}. {about}'.rstrip(), True
    r = result.reactions
    loads = ', '.join(f'{foot} {r.force[r.contact[:, i], i, 2].mean():.0f} N'
                      for i, foot in enumerate(r.feet) if r.contact[:, i].any())
    shown = 'one humanoid on sensors of its feet' if r.flat else 'people on force plates'
    if result.mass is not None and result.mass.source == ROBOT:
        shown += " and by the noise in the robot's YAML"
    return (f'Mean load while on the ground: {loads or "none"}; weight {result.weight:.0f} N. '
            'There are no force plates to compare with; the standard deviations of the forces, '
            f'{np.sqrt(np.mean(r.deviation[r.contact][:, 2] ** 2)):.0f} N rms vertically, are by '
            f'{shown}. {about}'.rstrip(), False)


def _mass_text(result: GaitResult) -> str:
    """Return how well the mass is known, which all forces are in proportion to."""
    mass = result.mass
    if mass is None or mass.source == ROBOT:
        return ''
    size = f'{mass.value:.1f} ± {COVERED * mass.deviation:.1f} kg (95 %)'
    if mass.source == MODEL:
        return (f'Is the mass {mass.value:.1f} kg? All forces are in proportion to it, and the '
                f'model alone states it; {size} is in the error bars (--mass KG, from a scale).')
    if mass.source == SCALE:
        return f'Mass: {size}, as given.'
    return f'Mass: {size}, by plates and model (the model alone: {mass.model:.1f} kg).'


# -------------------------------------------------------------------------------------------------

PRESSURE = ('Where each foot presses, seen from above, on outlines of its sole in the middle of '
            'stance. x forward.')
TORQUES = 'What muscles or motors deliver, of the joints that need most.'
UNEXPLAINED = ('What no foot can give without pulling, slipping or pressing beside its sole, '
               "about the base's origin.")
CHARTS = ('Force of the ground on each foot, world axes; dashed: the range that should hold 95 % '
          'of measurements; grey: measured, where all contacts are. '
          'Drag to zoom, double click to see all, click on a name to hide it.')
MOST_JOINTS = 8
MOST_CYCLES = 5
CYCLES = ('Means over all, per kilogram of body mass: from one landing of a foot to its next one, '
          'or to its leaving where no stride is whole. Forces are along the mean heading; moments '
          'and powers are those of muscles, in the direction in which the angle grows. Grey: what '
          'follows from the forces of the plates. gait_cycles.csv holds every curve with its '
          'deviation.')
EXPLANATION = (
    'Root mean squares over all samples in which a foot is truly loaded and every contact is '
    'measured; "alone" and "together" by how many feet are. The motion alone leaves open how two '
    'feet share the load: methods differ in what they assume. All of them use the contacts of the '
    'method chosen.')


def write_report(result: GaitResult, folder: Path, cycles: GaitCycles | None = None) -> Path:
    """Write page and figures into a folder; return the page's path."""
    source = result.source.resolve()
    sentence, judged = verdict(result)
    reasons = doubts(result)
    sections = [
        ReportSection('Forces on the feet', [*_force_charts(result), CHARTS]),
        *_cycles_sections(result, cycles or gait_cycles(result)),
        ReportSection('What to know', [Listing(result.notes or ['Nothing was odd.'])]),
        *_table_sections(result),
        ReportSection('Centres of pressure', [
            ReportFigure('pressure', partial(_draw_pressure, result), PRESSURE)]),
        ReportSection('Joint torques over time', [Chart(
            'Joint torques', 'N m', result.motion.time,
            [Line(result.model.joint_names[k], result.reactions.joint_effort[:, k], n)
             for n, k in enumerate(_most_loaded(result, MOST_JOINTS))], caption=TORQUES)])]
    return Report(
        f'Inverse dynamics: {source.parent.name}/{source.name}',
        f'{result.model.name}, {result.model.total_mass:.2f} kg, '
        f'{result.model.n_joints} joints. {result.motion.time[-1]:.2f} s, '
        f'{len(result.motion)} samples. Method {result.method}: '
        f'{METHODS[result.method]}.', sections,
        command_line(f'legged-dynamics inverse-dynamics {result.source}'), sentence, judged,
        warnings=[distrust(reasons)] if reasons else (),
        robot=f'{result.model.name} {result.model_file}'.rstrip()).write(folder)


def _table_sections(result: GaitResult) -> list[ReportSection]:
    return [ReportSection(name, [f'{table.title}.', *more, table]) for name, table, more in (
        ('Error', errors_table(result), [EXPLANATION]),
        ('Feet', feet_table(result), []), ('Joints', joints_table(result), [])) if table.rows]


def _cycles_sections(result: GaitResult, cycles: GaitCycles) -> list[ReportSection]:
    """Return the section with the curves over the gait cycle, where there are steps."""
    if not cycles.curves:
        return []
    forces = [chart for chart in (_cycle_chart(cycles, kind, list(result.reactions.feet), kind)
                                  for kind in reversed(FORCES)) if chart is not None]
    joints = [[chart for kind in (ANGLE, MOMENT, POWER) if (
        chart := _cycle_chart(cycles, kind, joints, f'{name.replace("_", " ")}: {kind}'))]
        for name, joints in _busiest(cycles).items()]
    peaks = peaks_table(result, cycles)
    return [ReportSection(f'Over the {cycles.phase}', [
        CYCLES, steps_table(result, cycles),
        *(ChartRow(charts, 'percent') for charts in (forces, *joints)),
        f'{peaks.title}. The symmetry index is the difference of right and left over their mean; '
        'in brackets where the error of the forces may be all of it.',
        peaks])]


def _busiest(cycles: GaitCycles) -> dict[str, list[str]]:
    """Return the joints with the largest moments, both sides together, by their name."""
    peaks: dict[str, float] = {}
    joints: dict[str, list[str]] = {}
    for curve in cycles.of(MOMENT):
        name = without_side(curve.name).strip('_')
        peaks[name] = max(peaks.get(name, 0.0), float(np.abs(curve.mean).max()))
        joints.setdefault(name, []).append(curve.name)
    most = sorted(peaks, key=lambda name: -peaks[name])[:MOST_CYCLES]
    return {name: joints[name] for name in joints if name in most}


def _cycle_chart(cycles: GaitCycles, kind: str, names: list[str], title: str) -> Chart | None:
    """Return the means of a quantity over the gait cycle, one curve a side; None without any."""
    curves = [curve for curve in cycles.of(kind) if curve.name in names]
    if not curves:
        return None
    lines, scale = [], 0.0
    for k, curve in enumerate(curves):
        measured = curve.measured_mean
        if measured is not None:
            lines.append(Line(f'{curve.name}, by plates', measured, -1 - k % 2))
        lines.append(Line(curve.name, curve.mean, k))
        scale = max(scale, float(np.abs(curve.mean).max()))
    return Chart(f'{title} [{curves[0].unit}]', '', PERCENT, lines, max(0.05 * scale, 0.02), 2,
                 200, f'% of {cycles.phase}')


def _force_charts(result: GaitResult) -> list[Chart]:
    """Return the charts of the feet's forces and of what no foot explains."""
    r, charts, plates = result.reactions, [], result.aligned_plates
    measured = plates.measured if plates is not None and plates.valid.any() else None
    for axis, title in ((2, 'Vertical force'), (0, 'Force along x'), (1, 'Force along y')):
        lines = []
        for i, foot in enumerate(r.feet):
            if measured is not None:
                lines.append(Line(f'{foot}, measured', measured[:, i, axis], -1 - i % 2))
            lines.append(Line(foot, r.force[:, i, axis], i))
            bar = COVERED * r.deviation[:, i, axis]
            lines += [Line(f'{foot}, 95 % {end}', r.force[:, i, axis] + sign * bar, i, foot, True)
                      for end, sign in (('low', -1.0), ('high', 1.0))]
        charts.append(Chart(title, 'N', result.motion.time, lines, 0.02 * result.weight,
                            height=330 if axis == 2 else 210))
    sums = [Line('from the motion', r.force[..., 2].sum(axis=1), 0)]
    if measured is not None:
        sums.insert(0, Line('measured', measured[..., 2].sum(axis=1), -1))
    charts.append(Chart('Vertical force of all feet', 'N', result.motion.time, sums,
                        0.02 * result.weight, height=170))
    for what, unit, part in (('Force', 'N', slice(0, 3)), ('Moment', 'N m', slice(3, 6))):
        rest = np.linalg.norm(r.root_residual[:, part], axis=1)
        charts.append(Chart(f'{what} that no foot explains', unit, result.motion.time, [
            Line('residual', rest, 7)], 0.02 * result.weight, height=170, caption=UNEXPLAINED))
    return charts
