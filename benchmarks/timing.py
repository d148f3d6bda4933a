# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How calls are timed: batches of many, interleaved between rivals, the median of the batches.

Beside it what several benchmarks share: the quadruped without joint physics, and a picture.
"""
from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from legged_dynamics.model import RobotModel
from legged_dynamics.pages.page import FOOT_COLORS
from legged_dynamics.pages.style import dress, legend, new_figure
from legged_dynamics.resources import robot_files

IMAGES = Path(__file__).resolve().parent.parent / 'docs' / 'images'


def picture_path(name: str) -> Path:
    """Return where a picture goes: into the documents when all benchmarks run, else aside."""
    if not sys.argv[1:]:
        return IMAGES / name
    path = Path(tempfile.gettempdir()) / name
    print(f'Picture: {path}')
    return path


def bare_quadruped() -> tuple[RobotModel, str]:
    """Return the quadruped without friction and rotors, as Pinocchio has it, and its URDF."""
    urdf = str(robot_files('anymal_class')[1])
    model = RobotModel.from_urdf(urdf)
    none = dict.fromkeys(model.joint_names, 0.0)
    return model.with_joint_physics(damping=none, friction=none, armature=none), urdf


def draw_times(curves: Mapping[str, Sequence[tuple[int, float]]], ours: Callable[[str], bool],
               across: str, up: str, name: str) -> None:
    """Draw times against a number on logarithmic axes, peers dashed, and keep the picture."""
    figure = new_figure(3.2)
    figure.set_size_inches(6.0, 3.2)
    axes = figure.add_subplot()
    for color, (label, points) in zip(FOOT_COLORS, curves.items()):
        n, time_taken = np.array(points).T
        axes.loglog(n, time_taken, '-o' if ours(label) else '--o', color=color, label=label,
                    markersize=3.5)
    dress(axes, across, up)
    axes.yaxis.set_major_formatter(StrMethodFormatter('{x:g}'))
    axes.set_xticks([n for n, _ in next(iter(curves.values()))][::2])
    axes.xaxis.set_major_formatter(StrMethodFormatter('{x:g}'))
    axes.xaxis.set_minor_formatter(NullFormatter())
    legend(axes, loc='lower center', bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.savefig(picture_path(name), dpi=90)


def undisturbed(call: Callable[[], object], measure: Callable[[], object], batches: int = 2000,
                count: int = 20) -> tuple[float, float]:
    """
    Return the time of a call beside that of another [us], on a machine that does other things.

    Short batches take turns. Of those in which the other call took hardly longer than it can the
    lower quartiles count.
    """
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(count):
            call()
        between = time.perf_counter()
        for _ in range(count):
            measure()
        times.append((between - start, time.perf_counter() - between))
    least = statistics.quantiles([other for _, other in times], n=10)[0]
    calm = [pair for pair in times if pair[1] < 1.15 * least]
    ours, other = (statistics.quantiles(taken, n=4)[0] * 1e6 / count for taken in zip(*calm))
    return ours, other


def microseconds(*calls: Callable[[], object], batches: int = 15,
                 batch_seconds: float = 0.02) -> list[float]:
    """Return the median time of each call [us]; rivals take turns, so that drift hits all."""
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        count = 0
        while time.perf_counter() - start < batch_seconds:
            call()
            count += 1
        counts.append(max(count, 1))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(batches):
        for call, count, found in zip(calls, counts, times):
            start = time.perf_counter()
            for _ in range(count):
                call()
            found.append((time.perf_counter() - start) / count * 1e6)
    return [statistics.median(found) for found in times]
