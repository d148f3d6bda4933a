# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics over time: cost against the number of frames and SciPy's sparse LU.

Ours goes from joint positions, velocities and accelerations to wrenches and efforts. The peer is
given the assembled frames (contact points, demand, weights), and has to put them into one sparse
KKT system and solve it; its answer is checked to agree.
"""
from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from benchmarks.timing import microseconds
from legged_dynamics.analysis.plots.style import FOOT_COLORS, dress, legend, new_figure
from legged_dynamics.contact import (
    ContactInverseDynamicsOverTime,
    ContactLimits,
    GeneralizedMotion,
    OverTimeWeights,
    Stretch,
)
from legged_dynamics.contact.over_time_problem import Problem
from legged_dynamics.force_map import FrictionCone
from legged_dynamics.model import FlatFoot, PointFoot, RobotModel
from legged_dynamics.resources import robot_files

title = 'Contact inverse dynamics over time, quadruped of 18 DoF, four feet'
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
FRAMES = (1_000, 10_000, 100_000)
PICTURE = Path(__file__).resolve().parent.parent / 'docs' / 'images' / 'over_time.png'
KINDS = {'6-D contacts': [FlatFoot(foot, 0.05, -0.05, 0.03, -0.03) for foot in FEET],
         '3-D contacts': [PointFoot(foot, 0.03) for foot in FEET]}


def sway(model: RobotModel, frames: int, step: float = 0.01) -> GeneralizedMotion:
    """Return a motion of a standing quadruped."""
    rng = np.random.default_rng(0)
    t = step * np.arange(frames + 2)[:, None]
    joints = np.tile([0.0, 0.7, -1.2], 4) + 0.05 * np.sin(
        2.0 * np.pi * rng.uniform(0.5, 2.0, 12) * t + rng.uniform(0.0, 6.0, 12))
    turn = Rotation.from_rotvec(0.05 * np.sin(6.0 * t + [0.0, 2.0, 4.0])).as_quat()
    rows = np.hstack([0.02 * np.sin(7.0 * t + [0.0, 1.0, 2.0]), turn, joints])
    return GeneralizedMotion.from_positions(model, rows, step)


def sparse_solution(problem: Problem, size: int) -> np.ndarray:
    """Return the contact coordinates (T, nc) by one sparse LU of the whole KKT system."""
    T, nf = problem.standing.shape
    nc = nf * size
    change = np.tile(problem.smoothing[[0, 0, 0, 1, 1, 1][:size]], nf)
    own = np.repeat(problem.cost, 3, axis=2)[:, :, :size].reshape(T, nc)
    links = np.zeros(T)
    links[1:] += 1.0
    links[:-1] += 1.0
    off = sp.diags(np.tile(-change, T - 1), nc, shape=(T * nc, T * nc))
    H = sp.diags((own + links[:, None] * change).ravel()) + off + off.T
    grasp = np.zeros((T, 6, nf, 6))
    x, y, z = np.moveaxis(problem.points, 2, 0)
    for k in range(6):
        grasp[:, k, :, k] = 1.0
    grasp[:, 3, :, 1], grasp[:, 3, :, 2], grasp[:, 4, :, 0] = -z, y, z
    grasp[:, 4, :, 2], grasp[:, 5, :, 0], grasp[:, 5, :, 1] = -x, -y, x
    blocks = grasp[..., :size].reshape(T, 6, nc)
    row = np.broadcast_to(np.arange(6 * T).reshape(T, 6, 1), blocks.shape)
    column = np.broadcast_to(np.arange(T * nc).reshape(T, 1, nc), blocks.shape)
    A = sp.csc_matrix((blocks.ravel(), (row.ravel(), column.ravel())), shape=(6 * T, T * nc))
    A.eliminate_zeros()
    K = sp.bmat([[H, A.T], [A, None]], format='csc')
    right = np.concatenate([np.zeros(T * nc), problem.demand.ravel()])
    return spsolve(K, right)[:T * nc].reshape(T, nc)


def check(solver: ContactInverseDynamicsOverTime, motion: GeneralizedMotion, size: int) -> Problem:
    """Return the assembled frames, with which both methods must agree."""
    task = solver.task(OverTimeWeights())
    frames = task.frames(Stretch(motion))
    ours = task.solve(frames, task.first(frames, None)).wrench
    theirs, _, _ = frames.express(sparse_solution(frames.problem, size))
    assert np.abs(ours - theirs).max() < 1e-9 * np.abs(ours).max()
    return frames.problem


def rows() -> list[dict]:
    """Return rows for each kind of contact, and draw the picture."""
    _, urdf = robot_files('anymal_class')
    model = RobotModel.from_urdf(str(urdf))
    found, curves = [], {}
    for kind, feet in KINDS.items():
        size = 6 if isinstance(feet[0], FlatFoot) else 3
        solver = ContactInverseDynamicsOverTime(model, feet)
        ours, theirs = curves.setdefault(kind, []), curves.setdefault(f'{kind}, scipy sparse', [])
        for T in (100, 300, *FRAMES):
            motion = sway(model, T)
            calls = [partial(solver.solve, motion)]
            if T <= FRAMES[0]:
                calls.append(partial(sparse_solution, check(solver, motion, size), size))
            times = microseconds(*calls, batches=9 if T < FRAMES[-1] else 3)
            ours.append((T, times[0]))
            if len(times) > 1:
                theirs.append((T, times[1]))
            if T == FRAMES[0]:
                found.append({'name': f'{kind}, T = {T}', 'ours_us': times[0],
                              'peer': 'scipy `spsolve`', 'peer_us': times[1],
                              'note': 'ours from the motion; the peer is given the frames'})
            if T >= FRAMES[0]:
                found.append({'name': f'{kind}, T = {T}, a frame', 'ours_us': times[0] / T,
                              'note': f'{times[0] / 1e3:.1f} ms in all'})
    solver = ContactInverseDynamicsOverTime(model, KINDS['3-D contacts'])
    motion = sway(model, FRAMES[0])
    for shape in ('pyramid', 'round'):
        call = partial(solver.solve, motion, limits=ContactLimits(FrictionCone(0.2), shape))
        found.append({'name': f'3-D contacts in cones ({shape}), T = {FRAMES[0]}',
                      'ours_us': microseconds(call, batches=3)[0],
                      'note': f'interior point, {call().iterations} iterations'})
    draw(curves)
    return found


def draw(curves: dict[str, list[tuple[int, float]]]) -> None:
    """Draw time against the number of frames."""
    figure = new_figure(3.2)
    figure.set_size_inches(6.0, 3.2)
    axes = figure.add_subplot()
    for color, (name, points) in zip(FOOT_COLORS, curves.items()):
        T, time = np.array(points).T
        axes.loglog(T, time / 1e3, '--o' if 'scipy' in name else '-o', color=color, label=name,
                    markersize=3.5)
    dress(axes, 'frames', 'time [ms]')
    legend(axes, loc='upper left')
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=90)
