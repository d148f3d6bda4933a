# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regularity of the inputs, and latency of what was published live."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.plots import style


def draw_inputs(analysis: Analysis) -> Figure:
    """Draw intervals between messages over time, by stamp and by receipt, and their spread."""
    replay, topics = analysis.replay, analysis.topics
    inputs = [(name, times) for name, times in ((topics.joint_states, replay.joints),
                                                (topics.imu, replay.imu)) if len(times) > 1]
    figure = style.new_figure(0.4 + 1.9 * len(inputs))
    grid = figure.subplots(len(inputs), 2, squeeze=False, width_ratios=(2.2, 1.0), sharex='col')
    for (name, times), (course, spread) in zip(inputs, grid):
        stamps, receipts = np.diff(times.stamp_ns) * 1e-6, np.diff(times.receipt_ns) * 1e-6
        clock = (times.receipt_ns[1:] - times.receipt_ns[0]) * 1e-9
        style.line(course, clock, receipts, color='#d9915a', linewidth=0.5, label='received')
        style.line(course, clock, stamps, color='#44546a', linewidth=0.8, label='stamped')
        style.dress(course, y=f'{name}\ninterval [ms]')
        course.set_ylim(min(0.0, float(stamps.min())), 1.1 * float(max(stamps.max(),
                                                                       receipts.max())))
        longest = float(np.percentile(np.concatenate([stamps, receipts]), 99.9))
        shortest = min(0.0, float(stamps.min()))
        bins = np.linspace(shortest, max(1.3 * longest, 1e-3), 80)
        for values, color in ((receipts, '#d9915a'), (stamps, '#44546a')):
            spread.hist(values.clip(bins[0], bins[-1]), bins, color=color, alpha=0.75)
        spread.set_yscale('log')
        spread.set_ylim(bottom=0.7)
        style.dress(spread, y='messages')
    grid[-1, 0].set_xlabel('time [s]')
    grid[-1, 1].set_xlabel('interval [ms]')
    style.legend(grid[0, 0], ncols=2)
    return figure


def draw_latency(analysis: Analysis) -> Figure | None:
    """Draw how long live wrenches took; None when there are none in the bag."""
    latency = analysis.latency
    if latency is None:
        return None
    figure = style.new_figure(2.8)
    axes = figure.subplots(1, 2 if latency.delay else 1, squeeze=False)[0]
    _histogram(axes[0], latency.completing, 'transport and computing')
    if latency.delay:       # without one the two are the same
        _histogram(axes[1], latency.total, f'with the delay of {latency.delay} '
                   f'sample{"s" if latency.delay != 1 else ""}')
    return figure


def _histogram(axes: Axes, values: np.ndarray, title: str) -> None:
    p50, p99 = np.percentile(values, (50, 99))
    top = max(float(np.percentile(values, 99.7)) * 1.1, 1e-3)
    low = min(float(values.min()), 0.0)
    axes.hist(values.clip(low, top), np.linspace(low, top, 80), color='#44546a')
    for value, name in ((p50, '50 %'), (p99, '99 %')):
        axes.axvline(value, color='#bb4444', linewidth=1.0)
        axes.text(value, 0.97, f' {name}: {value:.2f} ms', color='#bb4444', fontsize=8.5,
                  transform=axes.get_xaxis_transform(), va='top')
    style.dress(axes, x='latency [ms]', y='wrenches', title=title)
