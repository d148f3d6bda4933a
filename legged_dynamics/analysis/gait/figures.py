# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures of inverse dynamics over a recording: forces, where feet press, joint torques."""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.analysis.plots import style
from legged_dynamics.gait.stance_detection import runs

# Joints drawn at most: those with the largest torques.
MOST_JOINTS = 12
# Soles drawn at most for each foot.
MOST_SOLES = 8


def draw_foot_forces(result: GaitResult) -> Figure:
    """Draw each foot's force in world axes, contact shaded, the truth behind it."""
    r, time, truth = result.reactions, result.motion.time, _truth(result)
    figure = style.new_figure(0.9 + 1.8 * len(r.feet))
    grid = figure.subplots(len(r.feet), 3, sharex=True, sharey='col', squeeze=False,
                           width_ratios=(1, 1, 2))
    for i, foot in enumerate(r.feet):
        for k, axis in enumerate('xyz'):
            axes = grid[i, k]
            for first, end in runs(r.contact[:, i]):
                axes.axvspan(time[first], time[end - 1], color=style.SHADE, zorder=0)
            if truth is not None:
                style.line(axes, time, truth[:, i, k], color=style.TRUTH, linewidth=2.2,
                           label='measured')
            style.line(axes, time, r.force[:, i, k], color=_color(i), label=result.method)
            style.dress(axes, x='time [s]' if i == len(r.feet) - 1 else '',
                        y=f'{foot} [N]' if k == 0 else '',
                        title=f'$f_{axis}$, world axes' if i == 0 else '')
    grid[0, 0].set_xlim(time[0], time[-1])
    figure.legend(*grid[0, 2].get_legend_handles_labels(), loc='outside upper right', ncols=2,
                  frameon=False, fontsize=8.5)
    return figure


def draw_balance(result: GaitResult) -> Figure:
    """Draw the vertical force of all feet, and what no foot explains."""
    r, time, truth = result.reactions, result.motion.time, _truth(result)
    figure = style.new_figure(5.2)
    top, force, moment = figure.subplots(3, 1, sharex=True, height_ratios=(2, 1, 1))
    if truth is not None:
        style.line(top, time, truth[..., 2].sum(axis=1), color=style.TRUTH, linewidth=2.2,
                   label='measured')
    style.line(top, time, r.force[..., 2].sum(axis=1), color='black', label='from the motion')
    top.axhline(result.weight, color='#bb4444', linewidth=0.8, linestyle=':', label='weight')
    style.dress(top, y='all feet $f_z$ [N]')
    style.legend(top, ncols=3)
    for axes, part, unit in ((force, slice(0, 3), 'N'), (moment, slice(3, 6), 'N m')):
        for name, values, color in zip('xyz', r.root_residual[:, part].T, style.FOOT_COLORS):
            style.line(axes, time, values, color=color, label=name)
        style.dress(axes, y=f'unexplained\n[{unit}]')
    for axes in (top, force, moment):
        for first, end in runs(~r.supported):
            axes.axvspan(time[first], time[end - 1], color='#f6dede', zorder=0)
    style.legend(force, ncols=3)
    moment.set_xlabel('time [s]')
    moment.set_xlim(time[0], time[-1])
    return figure


def draw_pressure(result: GaitResult) -> Figure:
    """Draw where each foot presses, seen from above, with soles that stand."""
    r = result.reactions
    figure = style.new_figure(4.6)
    axes = figure.subplots()
    for i, foot in enumerate(result.feet):
        if len(foot.corners) > 1:
            standing = [(first + end) // 2 for first, end in runs(r.contact[:, i])]
            for t in standing[:MOST_SOLES]:
                outline = r.foot_position[t, i] + foot.outline @ r.foot_rotation[t, i].T
                axes.add_patch(Polygon(outline[:, :2], fill=False, edgecolor=_color(i),
                                       linewidth=0.8))
        path = r.center_of_pressure[:, i].copy()
        path[~r.contact[:, i]] = np.nan
        axes.plot(path[:, 0], path[:, 1], color=_color(i), linewidth=1.2, label=r.feet[i])
    axes.set_aspect('equal', adjustable='datalim')
    style.dress(axes, x='x, world [m]', y='y, world [m]')
    style.legend(axes)
    return figure


def draw_joint_torques(result: GaitResult) -> Figure:
    """Draw the torques of the joints that need most."""
    effort, names = result.reactions.joint_effort, result.model.joint_names
    span = np.abs(effort).max(axis=0)
    chosen = sorted(np.argsort(-span, kind='stable')[:MOST_JOINTS].tolist())
    rows = -(-len(chosen) // 3)
    figure = style.new_figure(0.7 + 1.55 * rows)
    grid = figure.subplots(rows, 3, sharex=True, squeeze=False)
    for axes, joint in zip(grid.flat, chosen):
        kind = result.model.joints[joint].kind
        style.line(axes, result.motion.time, effort[:, joint], color='black')
        style.dress(axes, title=f'{names[joint]} [{"N" if kind == "prismatic" else "N m"}]')
    for axes in grid.flat[len(chosen):]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel('time [s]')
    grid[0, 0].set_xlim(result.motion.time[0], result.motion.time[-1])
    return figure


def _truth(result: GaitResult) -> np.ndarray | None:
    if result.plates is None:
        return None
    force = result.plates.world_force(result.reactions.foot_rotation)
    return np.where(result.plates.valid[:, None, None], force, np.nan)


def _color(index: int) -> str:
    return style.FOOT_COLORS[index % len(style.FOOT_COLORS)]
