# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The two questions about forces as pictures: how the load can be shared, and what it allows."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.plots.climber import Climber, Look, reach_of, round_force
from legged_dynamics.analysis.climbing.questions import MISPLACED, Answers, Sharing, is_disc
from legged_dynamics.analysis.plots import style
from legged_dynamics.stickybot import StickybotModel

MOST_LABELS = 6         # feet whose forces are written beside them
COLORS = ('#56B4E9', '#0072B2', '#009E73', '#E69F00', '#D55E00', '#CC79A7')


def draw_sharing(model: StickybotModel, answers: Answers) -> Figure:
    """Draw the forces of misplaced feet: as they are, by turning hips, by moving them."""
    case = answers.sharing[1]
    pictures = [('as the feet are set', case.reaction)]
    if case.turned is not None:
        pictures.append(('rest angles moved', case.turned.reactions))
    pictures.append(('rest positions moved, too', case.even.forces))
    figure = style.new_figure(3.8)
    _, scale = round_force(model, 0.7 * case.peak)
    for axes, (title, forces) in zip(figure.subplots(1, len(pictures), sharey=True), pictures):
        _draw_robot(axes, model, case, forces, scale)
        peak = float(np.hypot(*forces.T).max())
        axes.set_title(f'{title}\nlargest {peak:.2f} N', loc='left', fontsize=10,
                       color=style.TEXT)
    figure.supxlabel(f'feet set {1e3 * MISPLACED:g} mm outwards and inwards in turn; '
                     f'least possible: {case.even.value:.3f} N', fontsize=9.5, color=style.TEXT)
    return figure


def _draw_robot(axes: Axes, model: StickybotModel, case: Sharing, forces: np.ndarray,
                scale: float) -> None:
    state, reach = case.state, reach_of(model)
    on = np.ones(model.n_limbs, bool) if state.attached is None else state.attached
    force = np.zeros((model.n_limbs, 2))
    force[on] = forces
    Climber(axes, model, scale).show(Look(state.pose, state.foot, state.joint, force, on,
                                          np.zeros((0, 2)), ()))
    labelled = zip(state.foot[on], forces) if model.n_limbs <= MOST_LABELS else ()
    for foot, (fx, fy) in labelled:
        up = 1.0 if fy >= 0.0 else -1.0
        axes.annotate(f'{np.hypot(fx, fy):.2f} N', foot, (0, -14 * up),
                      textcoords='offset points', ha='center', va='center', fontsize=8.5,
                      color=style.TEXT)
    arrows = scale * float(np.abs(case.reaction).max())
    axes.set(xlim=(-reach[0] - arrows - 0.01, reach[0] + arrows + 0.01),
             ylim=(-1.25 * reach[1], 1.35 * reach[1]), aspect='equal', xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color('#dddddd')


def draw_strength(answers: Answers) -> Figure:
    """Draw which accelerations of the body the feet allow, one line a limit."""
    figure = style.new_figure(4.8)
    axes = figure.subplots()
    corners = []
    for row, color in zip(answers.strength, COLORS):
        disc = is_disc(row.sets)
        if disc:
            corners.append(row.boundary)
        axes.plot(*row.boundary.T, color=color, linewidth=1.6, linestyle='-' if disc else '--',
                  label=row.name)
    axes.plot(0.0, 0.0, marker='+', markersize=13, markeredgewidth=1.8, color=style.TEXT,
              linestyle='none', label='at rest, or at an even speed')
    ends = np.vstack(corners)
    low, high = np.nanmin(ends, axis=0), np.nanmax(ends, axis=0)
    margin = 0.08 * float((high - low).max())
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin),
             aspect='equal')
    style.dress(axes, x='acceleration to the right [m/s²]', y='up the slope [m/s²]')
    figure.legend(*axes.get_legend_handles_labels(), loc='outside right center', frameon=False,
                  fontsize=8.5, title='each foot holds at most', title_fontsize=8.5)
    return figure
