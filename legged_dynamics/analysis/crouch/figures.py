# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The paper's figures 4 to 7, and what it could not show: the errors, and the ground."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.crouch.closed_loop import Trace
from legged_dynamics.analysis.crouch.runs import PAPER, Crouch
from legged_dynamics.analysis.plots import style

COORDINATES = ('x [cm]', 'z [cm]', 'angle [deg]')
UNITS = np.array([100.0, 100.0, 180.0 / np.pi])     # cm and degrees, as the paper has them
JOINTS = ('hip', 'knee', 'ankle')
LEGS = (('left', '-'), ('right', '--'))


def draw_pose(done: Sequence[Crouch]) -> Figure:
    """Draw pose over time, figure 4, one panel a coordinate."""
    figure = style.new_figure(5.6)
    panels = figure.subplots(3, 1, sharex=True)
    target = done[0].trace.target.pose
    for k, (axes, name) in enumerate(zip(panels, COORDINATES)):
        axes.axhline(UNITS[k] * target[k], color=style.TRUTH, linewidth=0.8, linestyle=':',
                     label='wanted')
        for index, result in enumerate(done):
            style.line(axes, result.trace.time, UNITS[k] * result.trace.pose[:, k],
                       color=style.FOOT_COLORS[index], linestyle='-' if index == 0 else '--',
                       linewidth=2.0 if index == 0 else 1.2, label=result.run.name)
        style.dress(axes, y=name)
    style.legend(panels[0], loc='lower right')
    _time_axis(panels[-1], done[0].trace)
    return figure


def draw_joints(done: Sequence[Crouch]) -> Figure:
    """Draw joint angles over time, figure 5; the paper's right leg drifts."""
    trace = done[-1].trace
    return _draw_joints(trace, np.degrees(trace.position), 'joint angle [deg]')


def draw_torques(done: Sequence[Crouch]) -> Figure:
    """Draw joint torques over time, figure 6."""
    trace = done[-1].trace
    return _draw_joints(trace, trace.torque, 'joint torque [N m]')


def draw_path(done: Sequence[Crouch]) -> Figure:
    """Draw the body's path in the x-z plane, figure 7, and its curl at the end."""
    figure = style.new_figure(4.4)
    path, curl = figure.subplots(1, 2, width_ratios=(1.4, 1.0))
    for axes in (path, curl):
        for index, result in enumerate(done):
            axes.plot(*(100.0 * result.trace.pose[:, :2].T), color=style.FOOT_COLORS[index],
                      linestyle='-' if index == 0 else '--',
                      linewidth=2.0 if index == 0 else 1.2, label=result.run.name)
        axes.plot(*(100.0 * done[0].trace.target.pose[:2]), '+', color=style.TEXT, markersize=10,
                  label='wanted')
    halves = 2.0 * done[0].trace.time
    marks = np.abs(halves - np.round(halves)) < 1e-6
    path.plot(*(100.0 * done[0].trace.pose[marks, :2].T), 'o', color=style.FOOT_COLORS[0],
              markersize=3.5, label='every 0.5 s')
    style.dress(path, 'x [cm], to the back', 'z [cm]')
    style.dress(curl, 'x [cm]', 'z [cm]', title='the end')
    curl.set_xlim(9.75, 10.5)
    curl.set_ylim(94.5, 95.25)
    style.legend(path, loc='upper right')
    return figure


def draw_errors(done: Sequence[Crouch]) -> Figure:
    """Draw the size of the errors over time on a logarithmic scale, with the paper's last ones."""
    figure = style.new_figure(4.4)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    target = done[0].trace.target.pose
    last = UNITS * np.abs(PAPER - target)
    for k, (axes, name) in enumerate(zip(panels, COORDINATES)):
        for index, result in enumerate(done):
            size = UNITS[k] * np.abs(result.trace.pose[:, k] - target[k])
            axes.semilogy(result.trace.time, np.maximum(size, 1e-9),
                          color=style.FOOT_COLORS[index], linewidth=1.0, label=result.run.name)
        axes.plot(done[0].trace.time[-1], last[k], 'o', color=style.TEXT, markersize=5,
                  label='the paper')
        style.dress(axes, 'time [s]', 'size of the error' if k == 0 else '', title=name)
    panels[0].set_ylim(1e-6, 30.0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc='outside lower center', ncols=3,
                  frameon=False, fontsize=8.5)
    return figure


def draw_ground(done: Sequence[Crouch]) -> Figure:
    """Draw what the ground does: normal forces, centre of pressure in the sole, friction used."""
    trace = next(result.trace for result in done if result.trace.ground_known)
    figure = style.new_figure(5.6)
    load, center, friction = figure.subplots(3, 1, sharex=True)
    for foot, (name, dashes) in enumerate(LEGS):
        color = style.FOOT_COLORS[foot]
        along, normal, ahead = trace.ground[:, foot, 2:].T
        style.line(load, trace.time, normal, color=color, linestyle=dashes, label=name)
        style.line(center, trace.time, 100.0 * ahead, color=color, linestyle=dashes)
        style.line(friction, trace.time, along / normal, color=color, linestyle=dashes)
    center.axhspan(-6.0, 19.9, color=style.SHADE, zorder=0)
    style.dress(load, y='normal force [N]')
    style.dress(center, y='centre of pressure\nahead of the ankle [cm]')
    style.dress(friction, y='friction used')
    friction.set_ylim(bottom=0.0)
    style.legend(load, loc='lower right')
    _time_axis(friction, trace)
    return figure


def _draw_joints(trace: Trace, values: np.ndarray, label: str) -> Figure:
    figure = style.new_figure(4.0)
    axes = figure.subplots()
    for leg, (side, dashes) in enumerate(LEGS):
        for k, joint in enumerate(JOINTS):
            style.line(axes, trace.time, values[:, 3 * leg + k], color=style.FOOT_COLORS[k],
                       linestyle=dashes, linewidth=2.4 if leg == 0 else 1.0,
                       alpha=0.55 if leg == 0 else 1.0, label=f'{side} {joint}')
    style.dress(axes, y=label)
    style.legend(axes, ncols=2, loc='center right')
    _time_axis(axes, trace)
    return figure


def _time_axis(axes: Axes, trace: Trace) -> None:
    axes.set_xlabel('time [s]')
    axes.set_xlim(0.0, trace.time[-1])
