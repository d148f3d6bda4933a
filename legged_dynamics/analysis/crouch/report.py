# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The reproduction as one page: final values beside the paper's, and its figures."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.crouch import figures
from legged_dynamics.analysis.crouch.figures import UNITS
from legged_dynamics.analysis.crouch.runs import PAPER, Crouch
from legged_dynamics.analysis.page import Page
from legged_dynamics.analysis.report_folder import report_folder
from legged_dynamics.analysis.table import Table
from legged_dynamics.exceptions import ConfigurationError

LEAD = ('Wendlandt and Sastry, "Recursive Workspace Control of Multibody Systems: A Planar Biped '
        'Example": 72.5 kg on two legs go from 105 cm down to 95 cm and 10 cm back, controlled at '
        '100 Hz with K_p = 3 and K_v = 2.46.')
EXPLANATION = (
    'An ideal loop has these errors left at 9.99 s: the poles decay by 1.23 a second, so 1 cm at '
    'the start is 5e-6 cm at the end. What the paper has more than that is its simulator: feet '
    'that slip. "Exact dynamics" are those with the feet held; "big base" are the paper\'s, with '
    'feet of a million body masses. "Pinned" feet cannot move; on MuJoCo, soles lie on the '
    'ground, with restitution 0.1.')
FIGURES: dict[str, tuple[str, Callable[[Sequence[Crouch]], Figure], str]] = {
    'figure_4_pose': ('Figure 4: pose of the body', figures.draw_pose,
                      'Both plants lie upon each other.'),
    'figure_5_joints': ('Figure 5: joint angles', figures.draw_joints,
                        "On MuJoCo; the right leg's lines are thin and dashed. In the paper they "
                        'drift apart, here they do not.'),
    'figure_6_torques': ('Figure 6: joint torques', figures.draw_torques,
                         'On MuJoCo. The knee works harder the more it is bent.'),
    'figure_7_path': ('Figure 7: path of the body', figures.draw_path,
                      'Both overshoot by about 4 per cent, which is the curl at the end.'),
    'errors': ('Errors', figures.draw_errors,
               'In cm and degrees; the dot is what the paper has at 9.99 s.'),
    'ground': ('On the ground', figures.draw_ground,
               'On MuJoCo. Shaded: the sole, from heel to toe. The controller knows nothing of '
               'this; it is the feet being wide enough that makes it true.'),
}


def final_values(done: Sequence[Crouch]) -> Table:
    """Return the table of final values, the paper's first."""
    target = done[0].trace.target.pose
    rows: list[Sequence[str]] = [("the paper's simulator", *_cells(PAPER, target), 'not said',
                                  '1000 to 2000')]
    for result in done:
        pose = result.trace.pose[-1]
        slip = f'{1e3 * result.slip:.3f}' if np.isfinite(result.slip) else '-'
        rows.append((result.run.name, *_cells(pose, target), slip, f'{result.computing:.2f}'))
    return Table(f'Final values at {done[0].trace.time[-1]:g} s, and what they miss', (
        'plant', 'x [cm]', 'z [cm]', 'angle [deg]', 'error of x [cm]', 'of z [cm]',
        'of the angle [deg]', 'slip [mm]', 'computing [s]'), rows, [0], [1])


def _cells(pose: np.ndarray, target: np.ndarray) -> list[str]:
    values, errors = UNITS * pose, UNITS * (pose - target)
    return [f'{values[0]:.6f}', f'{values[1]:.6f}', f'{values[2]:.6f}',
            *(f'{error:+.1e}' for error in errors)]


def write_report(done: Sequence[Crouch], folder: Path, tables: Sequence[Table] = ()) -> Path:
    """
    Write page and figures into a folder and return the page's path.

    Parameters
    ----------
    done : sequence of Crouch
        The first is on pinned feet, the second on MuJoCo.
    folder : Path
        Made when it is not there.
    tables : sequence of Table
        Further tables, each with its title as heading.

    Raises
    ------
    ConfigurationError
        When the folder cannot be written.

    """
    page = Page('Recursive workspace control of the planar biped', LEAD)
    table = final_values(done)
    pinned, ground = done[0], done[1]
    page.verdict(f'On MuJoCo contact the body ends {1e3 * np.hypot(*ground.error[:2]):.2f} mm and '
                 f'{np.degrees(abs(ground.error[2])):.2f} deg from where it was wanted, and its '
                 f'soles slip by {1e3 * ground.slip:.2f} mm at most.')
    page.cards([
        *((f'{scale * ground.error[k]:+.3f} {unit}', f'error of {name}, MuJoCo')
          for k, (name, unit, scale) in enumerate((
              ('x', 'mm', 1e3), ('z', 'mm', 1e3), ('angle', 'deg', np.degrees(1.0))))),
        (f'{1e3 * ground.slip:.3f} mm', 'slip of a foot, MuJoCo'),
        (f'{pinned.trace.time[-1] / pinned.computing:.0f} x', 'real time, feet pinned')])
    page.heading(table.title)
    page.table(table.head, table.rows, table.strong, table.first)
    page.paragraph(EXPLANATION)
    with report_folder(folder, page, ConfigurationError) as written:
        for name, (heading, draw, caption) in FIGURES.items():
            page.heading(heading)
            written.add(name, draw(done[:2] if name != 'errors' else [*done[:2], *done[-2:]]),
                        caption)
        for more in tables:
            page.heading(more.title)
            page.table(more.head, more.rows, more.strong, more.first)
        written.close('legged-dynamics reproduce biped')
    return written.path
