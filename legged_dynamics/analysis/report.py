# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writes what an analysis found: a self-contained page, its figures, all estimates as CSV."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.accuracy import ON_LINE, ZERO_PHASE, rms
from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.charts import Chart, Line
from legged_dynamics.analysis.figures.body import draw_body
from legged_dynamics.analysis.figures.contacts import draw_contacts
from legged_dynamics.analysis.figures.forces import draw_force_details, draw_forces
from legged_dynamics.analysis.figures.pressure import draw_pressure
from legged_dynamics.analysis.figures.residuals import draw_residuals
from legged_dynamics.analysis.figures.timing import draw_inputs, draw_latency
from legged_dynamics.analysis.page import Page, command_line
from legged_dynamics.analysis.report_folder import report_folder
from legged_dynamics.analysis.tables import Table, tables
from legged_dynamics.analysis.truth import world_force
from legged_dynamics.analysis.verdict import distrust, doubts, verdict
from legged_dynamics.exceptions import BagError

LIVE = 'Live against replay'
FIGURES: dict[str, tuple[str, Callable[[Analysis], Figure | None], str]] = {
    'body': ('Body', draw_body,
             'Pose of the base since a controller took it over: wanted, and true. Position in '
             'world axes; rotation as rotation vector in the axes that the base had at the '
             'beginning.'),
    'forces': ('Forces', draw_forces, ''),
    'force_details': ('Forces in detail', draw_force_details,
                      'All three components in a short window; the peaks of impacts may go beyond '
                      'the axes.'),
    'contacts': ('Contacts', draw_contacts,
                 'Feet on the ground, over the whole bag and in a short window.'),
    'center_of_pressure': (
        'Centre of pressure', draw_pressure,
        'Above: the centre of pressure on the support polygons (lines; one of them filled), seen '
        'from above in level axes that turn with the base. Coloured: where the feet touch. '
        'Over time: in a short window, with the truth in grey.'),
    'residuals': ('Residuals', draw_residuals,
                  "What the estimate leaves unexplained of the base's wrench, and of each joint's "
                  "torque. Residuals well above the sensors' noise mean a wrong mass, a wrong "
                  'sign or zero of a torque, or a contact that is not at a foot.'),
    'inputs': ('Inputs', draw_inputs,
               "Intervals between messages, by their stamps and by the recorder's clock."),
    'latency': ('Latency', draw_latency,
                "From the receipt of a joint state to the receipt of the last foot's wrench, both "
                "by the recorder's clock. Left: from the joint state that completed the "
                "derivative filter's window. Right: from the joint state that the wrench "
                'describes.')}
CHARTS = ('On line: causal low-pass, as published; grey: the truth, where the bag has it. Drag to '
          'zoom, double click to see all, click on a name to hide it.')
EXPLANATION = (
    'Errors are root mean squares over the feet that truly stand, of the force vector and of its '
    'vertical part. "Zero-phase 25 Hz": full-bandwidth estimate and truth, both low-passed by the '
    'same second-order Butterworth, forward and backward. "On line": the causal estimate as '
    'published, against the unfiltered truth, delay included. "Unfiltered": full-bandwidth '
    'estimate against unfiltered truth. "Base only" uses motion and no joint torque, "torque '
    'only" joint torque and no motion of the base\'s mass; both take contact from the main '
    'estimate, so they show what fusing buys.')


def write_report(analysis: Analysis, folder: Path, warnings: Sequence[str] = ()) -> Path:
    """
    Write page and figures into a folder and return the page's path.

    Parameters
    ----------
    analysis : Analysis
        What was found.
    folder : Path
        Made where it is not there.
    warnings : sequence of str
        What the page says before all else, in red.

    Raises
    ------
    BagError
        When the folder cannot be written.

    """
    robot = analysis.robot
    bag = analysis.bag.resolve()
    page = Page(f'Ground reactions: {bag.parent.name}/{bag.name}',
                f'{robot.model.name}, {robot.model.total_mass:.2f} kg, '
                f'{robot.model.n_joints} joints, feet {", ".join(analysis.series.feet)}. '
                f'{len(analysis.series.stamp_ns)} estimates over '
                f'{np.ptp(analysis.series.time):.2f} s, '
                f'contacts {_contact_source(analysis)}.')
    sentence, judged = verdict(analysis)
    page.verdict(sentence, judged)
    reasons = doubts(analysis)
    if reasons:
        page.banner(distrust(reasons))
    for warning in warnings:
        page.banner(warning)
    page.heading('Forces')
    for chart in force_charts(analysis):
        page.chart(chart)
    page.paragraph(CHARTS)
    page.cards(_cards(analysis))
    notes = analysis.notes or ['Nothing was missing.']
    page.heading('What to know')
    page.listing(notes)
    found = tables(analysis)
    errors = [table for table in found if table.title.startswith('Error')]
    if errors:
        page.heading('Accuracy')
        page.paragraph(EXPLANATION)
        for table in errors:
            _add_table(page, table)
        if np.isfinite(analysis.accuracy.center):
            page.paragraph(f'Centre of pressure: {1e3 * analysis.accuracy.center:.1f} mm rms '
                           'from the true one, zero-phase 25 Hz.')
    rest = {key: [table for table in found if table.title.startswith(key)]
            for key in ('Body', 'Contact', 'Inputs', 'Latency', 'Live')}
    with report_folder(folder, page, BagError) as written:
        for name, (heading, draw, caption) in FIGURES.items():
            picture = written.save(name, draw(analysis))
            if picture is None or not caption:      # without a caption the page has a chart
                continue
            if heading:
                page.heading(heading)
            page.figure(picture, caption)
            for key, remaining in rest.items():
                if heading.startswith(key):
                    for table in remaining:
                        _add_table(page, table)
        if rest['Live']:
            page.heading(LIVE)
            page.paragraph('What the estimator published when the bag was recorded, against the '
                           'replay of the same inputs, by stamp. The same inputs give the same '
                           'bits; a difference means that one of the two missed a joint state '
                           'or an IMU reading, and it fades as the filters forget.')
            for table in rest['Live']:
                _add_table(page, table)
        written.close(command_line(f'legged-dynamics analyze {analysis.bag}'), robot.name)
    return written.path


def force_charts(analysis: Analysis) -> list[Chart]:
    """Return the charts of the feet's forces and of what remains unexplained."""
    series, truth = analysis.series, analysis.truth
    force = world_force(series, series.foot_to_world, raw=False)
    charts = []
    for axis, title in ((2, 'Vertical force of each foot'), (0, 'Force along x, forward'),
                        (1, 'Force along y, to the left')):
        lines = []
        for i, foot in enumerate(series.feet):
            if truth.known:
                lines.append(Line(f'{foot}, true', truth.force[:, i, axis], -1,
                                  f'{foot}, true'))
            lines.append(Line(foot, force[:, i, axis], i))
            if analysis.desired_force is not None:
                lines.append(Line(f'{foot}, wanted', analysis.desired_force[:, i, axis], i,
                                  f'{foot}, wanted', True))
        charts.append(Chart(title, 'N', series.time, lines, 0.02 * analysis.weight,
                            height=330 if axis == 2 else 210))
    rest = np.linalg.norm(series.base_residual.values[:, :3], axis=1)
    charts.append(Chart('Force at the base that the estimate leaves unexplained', 'N', series.time,
                        [Line('residual', rest, 7)], 0.02 * analysis.weight, height=170))
    return charts


def _add_table(page: Page, table: Table) -> None:
    if table.title not in (LIVE, *(heading for heading, _, _ in FIGURES.values())):
        page.paragraph(f'{table.title}:')
    page.table(table.head, table.rows, table.strong, table.first)


def _contact_source(analysis: Analysis) -> str:
    plan = analysis.replay.plan
    if plan.true_contact is not None:
        return 'taken from the truth'
    return 'taken from topics of the bag' if plan.given_contact else 'detected'


def _cards(analysis: Analysis) -> list[tuple[str, str]]:
    cards = []
    errors = analysis.accuracy.feet
    for error in errors:
        if error.estimate == errors[0].estimate and error.treatment == ZERO_PHASE:
            cards.append((f'{error.total_percent:.2f} / {error.vertical_percent:.2f} %',
                          f'of weight, {error.subject}, 3-D / vertical'))
    for error in errors:
        if error.estimate == errors[0].estimate and error.treatment == ON_LINE:
            cards.append((f'{error.total_percent:.1f} / {error.vertical_percent:.1f} %',
                          f'the same on line, {error.subject}'))
    cards += [(f'{entry.rate:.0f} Hz', entry.topic) for entry in analysis.inputs]
    if analysis.body is not None:
        cards.append((f'{1e3 * rms(analysis.body.error):.1f} mm / '
                      f'{np.degrees(rms(analysis.body.angle)):.2f} deg',
                      'of the base from where it was wanted, rms'))
    if analysis.latency is not None:
        cards.append((f'{np.percentile(analysis.latency.completing, 50):.2f} ms',
                      'median latency, live'))
    if analysis.live:
        same = sum(entry.identical for entry in analysis.live)
        compared = sum(entry.compared for entry in analysis.live)
        cards.append((f'{same} of {compared}', 'live wrenches identical in replay'))
    return cards
