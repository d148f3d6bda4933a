# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page about inverse dynamics over a recording, with its figures."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.charts import Chart, Line
from legged_dynamics.analysis.gait.cycles import (
    ANGLE,
    FORCES,
    MOMENT,
    POWER,
    GaitCycles,
    gait_cycles,
    peaks_table,
    steps_table,
)
from legged_dynamics.analysis.gait.figures import (
    draw_balance,
    draw_foot_forces,
    draw_joint_torques,
    draw_pressure,
)
from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.analysis.gait.strides import CYCLE, PERCENT, without_side
from legged_dynamics.analysis.gait.tables import errors_table, feet_table, joints_table
from legged_dynamics.analysis.gait.verdict import doubts, verdict
from legged_dynamics.analysis.page import Page, command_line
from legged_dynamics.analysis.report_folder import report_folder
from legged_dynamics.analysis.table import Table
from legged_dynamics.analysis.verdict import distrust
from legged_dynamics.gait.double_support import METHODS

FIGURES = {
    'forces': ('Forces on the feet', draw_foot_forces,
               'Force of the ground on each foot, world axes. Shaded: contact. Grey: measured, '
               'where all contacts are.'),
    'balance': ('Balance', draw_balance,
                'Above: vertical force of all feet. Below: force and moment at the base that no '
                'foot can give without pulling, slipping or pressing beside its sole; world axes, '
                'about its origin. Shaded red: something else than the feet must bear load.'),
    'pressure': ('Centres of pressure', draw_pressure,
                 'Where each foot presses, seen from above, on outlines of its sole in the middle '
                 'of stance. x forward.'),
    'torques': ('Joint torques', draw_joint_torques,
                'What muscles or motors deliver, of the joints that need most.')}
CHARTS = ('Force of the ground on each foot, world axes; grey: measured, where all contacts are. '
          'Drag to zoom, double click to see all, click on a name to hide it.')
MOST_JOINTS, MOST_CYCLES = 8, 5
CYCLES = ('From one landing of a foot to its next one. Means of all whole strides, per kilogram '
          'of body mass; forces along the mean heading; moments and powers are those of muscles, '
          'in the direction in which the angle grows. Grey: what follows from the forces of the '
          'plates. gait_cycles.csv holds every curve with its deviation.')
STANCES = ('No stride is whole in this recording, so these are over the stance of each foot, from '
           'landing to leaving; per kilogram of body mass. Grey: what follows from the forces of '
           'the plates.')
EXPLANATION = (
    'Root mean squares over all samples in which a foot is truly loaded and every contact is '
    'measured; "alone" and "together" by how many feet are. The motion alone leaves open how two '
    'feet share the load: methods differ in what they assume. All of them use the contacts of the '
    'method chosen.')


def write_report(result: GaitResult, folder: Path, cycles: GaitCycles | None = None) -> Path:
    """
    Write page and figures into a folder and return the page's path.

    Parameters
    ----------
    result : GaitResult
        What to show.
    folder : Path
        Made where it is not there.
    cycles : GaitCycles, optional
        Of the result, where they are known already.

    Raises
    ------
    OutputError
        When the folder cannot be written.

    """
    source = result.source.resolve()
    page = Page(f'Inverse dynamics: {source.parent.name}/{source.name}',
                f'{result.model.name}, {result.model.total_mass:.2f} kg, '
                f'{result.model.n_joints} joints. {result.motion.time[-1]:.2f} s, '
                f'{len(result.motion)} samples. Method {result.method}: '
                f'{METHODS[result.method]}.')
    sentence, judged = verdict(result)
    page.verdict(sentence, judged)
    reasons = doubts(result)
    if reasons:
        page.banner(distrust(reasons))
    page.heading('Forces on the feet')
    for chart in force_charts(result):
        page.chart(chart)
    page.paragraph(CHARTS)
    if result.errors:
        chosen = result.errors[result.method]
        page.cards([(f'{chosen.vertical:.1f} N', 'vertical force of a loaded foot, rms error'),
                    (f'{100.0 * chosen.vertical / result.weight:.1f} %', 'of the weight'),
                    (f'{100.0 * chosen.agreement:.1f} %', 'contacts agree')])
    _add_cycles(page, result, cycles or gait_cycles(result))
    page.heading('What to know')
    page.listing(result.notes or ['Nothing was odd.'])
    for heading, table in (('Error', errors_table(result)), ('Feet', feet_table(result)),
                           ('Joints', joints_table(result))):
        if not table.rows:
            continue
        page.heading(heading)
        page.paragraph(f'{table.title}.')
        if heading == 'Error':
            page.paragraph(EXPLANATION)
        page.table(table.head, table.rows, table.strong, table.first)
    with report_folder(folder, page) as written:
        for name, (heading, draw, caption) in FIGURES.items():
            if name in ('forces', 'torques'):       # the page has charts of them
                written.save(name, draw(result))
                continue
            page.heading(heading)
            written.add(name, draw(result), caption)
        page.heading('Joint torques over time')
        page.chart(torque_chart(result), FIGURES['torques'][2])
        written.close(command_line(f'legged-dynamics inverse-dynamics {result.source}'),
                      f'{result.model.name} {result.model_file}'.rstrip())
    return written.path


def _add_cycles(page: Page, result: GaitResult, cycles: GaitCycles) -> None:
    """Add the curves over the gait cycle, where there are steps."""
    if not cycles.curves:
        return
    page.heading(f'Over the {cycles.phase}')
    page.paragraph(CYCLES if cycles.phase == CYCLE else STANCES)
    page.table(*_parts(steps_table(result, cycles)))
    forces = [chart for chart in (cycle_chart(cycles, kind, list(result.reactions.feet), kind)
                                  for kind in reversed(FORCES)) if chart is not None]
    page.row(forces, 'percent')
    for name, joints in _busiest(cycles).items():
        page.row([chart for kind in (ANGLE, MOMENT, POWER) if (
            chart := cycle_chart(cycles, kind, joints, f'{name.replace("_", " ")}: {kind}'))],
            'percent')
    table = peaks_table(result, cycles)
    page.paragraph(f'{table.title}. The symmetry index is the difference of right and left over '
                   'their mean.')
    page.table(*_parts(table))


def _parts(table: Table) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    return table.head, table.rows


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


def cycle_chart(cycles: GaitCycles, kind: str, names: list[str], title: str) -> Chart | None:
    """Return the means of a quantity over the gait cycle, one curve a side; None without any."""
    curves = [curve for curve in cycles.of(kind) if curve.name in names]
    if not curves:
        return None
    lines, scale = [], 0.0
    for k, curve in enumerate(curves):
        measured = curve.measured_mean
        if measured is not None:
            lines.append(Line(f'{curve.name}, by plates', measured, -1))
        lines.append(Line(curve.name, curve.mean, k))
        scale = max(scale, float(np.abs(curve.mean).max()))
    return Chart(f'{title} [{curves[0].unit}]', '', PERCENT, lines, max(0.05 * scale, 0.02), 2,
                 200, f'% of {cycles.phase}')


def force_charts(result: GaitResult) -> list[Chart]:
    """Return the charts of the feet's forces and of what no foot explains."""
    r, charts, measured = result.reactions, [], None
    if result.plates is not None and result.plates.valid.any():
        measured = np.where(result.plates.valid[:, None, None],
                            result.plates.world_force(r.foot_rotation), np.nan)
    for axis, title in ((2, 'Vertical force'), (0, 'Force along x'), (1, 'Force along y')):
        lines = []
        for i, foot in enumerate(r.feet):
            if measured is not None:
                lines.append(Line(f'{foot}, measured', measured[:, i, axis], -1))
            lines.append(Line(foot, r.force[:, i, axis], i))
        charts.append(Chart(title, 'N', result.motion.time, lines, 0.02 * result.weight,
                            height=330 if axis == 2 else 210))
    rest = np.linalg.norm(r.root_residual[:, :3], axis=1)
    charts.append(Chart('Force that no foot explains', 'N', result.motion.time,
                        [Line('residual', rest, 7)], 0.02 * result.weight, height=170))
    return charts


def torque_chart(result: GaitResult) -> Chart:
    """Return the torques of the joints that need most."""
    effort = result.reactions.joint_effort
    most = np.argsort(-np.abs(effort).max(axis=0), kind='stable')[:MOST_JOINTS]
    return Chart('Joint torques', 'N m', result.motion.time,
                 [Line(result.model.joint_names[k], effort[:, k], n) for n, k in enumerate(most)])
