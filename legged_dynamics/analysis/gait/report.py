# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page about inverse dynamics over a recording, with its figures."""
from __future__ import annotations

from pathlib import Path

from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.analysis.gait.tables import errors_table, feet_table, joints_table
from legged_dynamics.analysis.page import Page
from legged_dynamics.analysis.plots.gait import (
    draw_balance,
    draw_foot_forces,
    draw_joint_torques,
    draw_pressure,
)
from legged_dynamics.analysis.plots.style import png
from legged_dynamics.contact.double_support import METHODS
from legged_dynamics.exceptions import OutputError

REPORT = 'report.html'
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
EXPLANATION = (
    'Root mean squares over all samples in which a foot is truly loaded and every contact is '
    'measured; "alone" and "together" by how many feet are. The motion alone leaves open how two '
    'feet share the load: methods differ in what they assume. All of them use the contacts of the '
    'method chosen.')


def write_report(result: GaitResult, folder: Path) -> Path:
    """
    Write page and figures into a folder and return the page's path.

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
    if result.errors:
        chosen = result.errors[result.method]
        page.cards([(f'{chosen.vertical:.1f} N', 'vertical force of a loaded foot, rms error'),
                    (f'{100.0 * chosen.vertical / result.weight:.1f} %', 'of the weight'),
                    (f'{100.0 * chosen.agreement:.1f} %', 'contacts agree')])
    page.heading('What to know')
    page.listing(result.notes or ['Nothing was odd.'])
    tables = [table for table in (errors_table(result), feet_table(result), joints_table(result))
              if table.rows]
    for table in tables:
        page.heading(table.title)
        if table is tables[0] and result.errors:
            page.paragraph(EXPLANATION)
        page.table(table.head, table.rows, table.strong, table.first)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, (heading, draw, caption) in FIGURES.items():
            picture = png(draw(result))
            (folder / f'{name}.png').write_bytes(picture)
            page.heading(heading)
            page.figure(picture, caption)
        path = folder / REPORT
        path.write_text(page.html(f'legged-dynamics inverse-dynamics {result.source}'),
                        encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write the report to {folder}: {error}') from error
    return path
