# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The reproduced crouch on several plants: final values against the paper's, and figures."""
from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.estimation.leg_odometry import BodyState, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.pages import style
from legged_dynamics.pages.page import Table, foot_color
from legged_dynamics.pages.section import Cards, Report, ReportFigure, ReportSection
from legged_dynamics.reproductions.planar import (
    BIG_BASE,
    CROUCH,
    Biped,
    PinnedRobot,
    PlanarController,
    PlanarGains,
    PlanarState,
    PlanarTarget,
    biped_urdf,
    start_state,
)
from legged_dynamics.reproductions.planar.biped import HEEL, TRUNK
from legged_dynamics.reproductions.planar_biped_plant import PlanarBiped
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import WorkspaceController

# -------------------------------------------------------------------------------------------------
# Controller and plant in closed loop, with sampling, zero-order hold, delay and pushes.


DURATION = 9.99     # s, when the paper reads the final values
RATE = 100.0        # Hz, the paper's controller


@dataclass(frozen=True)
class Loop:
    """
    How controller and plant are joined.

    Attributes
    ----------
    rate : float
        Of the controller [Hz].
    duration : float
        [s].
    delay : float
        From the sampling of the state to the torque [s].
    push : (3,) tuple of float
        Force and moment on the body, inertial axes [N, N m].
    push_start, push_length : float
        When and how long [s].

    """

    rate: float = RATE
    duration: float = DURATION
    delay: float = 0.0
    push: tuple[float, float, float] = (0.0, 0.0, 0.0)
    push_start: float = 2.0
    push_length: float = 0.2

    def __post_init__(self) -> None:
        if not (self.rate > 0.0 and self.duration > 0.0 and self.delay >= 0.0):
            raise ConfigurationError(f'expected a rate and a duration above zero and a delay of '
                                     f'at least zero, got {self}')


@dataclass(frozen=True, eq=False)
class Trace:
    """
    Course of a run: one row a tick of the controller, and one for the end.

    Attributes
    ----------
    time : (n,) array [s]
    pose, twist : (n, 3) array
        True pose of the body [m, rad], and its velocity in its axes [m/s, rad/s].
    position : (n, 6) array
        True joint angles [rad].
    torque : (n, 6) array
        As commanded [N m].
    ground : (n, nf, 5) array
        Each sole's place forward and to the left [m], the ground's force along and normal [N],
        centre of pressure ahead of the ankle [m]; NaN on a plant without ground.
    target : PlanarTarget
    error : (3,) array
        True pose less target at the end, along the inertial axes [m, rad].
    fallen : bool

    """

    time: np.ndarray
    pose: np.ndarray
    twist: np.ndarray
    position: np.ndarray
    torque: np.ndarray
    ground: np.ndarray
    target: PlanarTarget
    fallen: bool
    error: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'error', self.pose[-1] - self.target.pose)

    def slip(self, start: float = 0.0) -> float:
        """Return how far a sole moved at most from its place at ``start`` [s], in m."""
        places = self.ground[self.time >= start - 1e-9, :, :2]
        return float(np.linalg.norm(places - places[0], axis=2).max())

    @property
    def ground_known(self) -> bool:
        """Whether the plant has a ground to stand on."""
        return not bool(np.isnan(self.ground[:, :, 3]).any())


def close_loop(plant: PinnedRobot | PlanarBiped,
               controller: PlanarController | _SpatialController, loop: Loop | None = None,
               target: PlanarTarget = CROUCH) -> Trace:
    """Run the controller, which is reset first, on the plant from its start."""
    loop = Loop() if loop is None else loop
    period, rows = 1.0 / loop.rate, []
    late, rest = divmod(round(loop.delay * 1e9), round(period * 1e9))
    controller.reset()
    # Torques from the one that acts to the newest, which acts after the delay.
    queue: deque[np.ndarray] = deque(maxlen=late + 2)
    tick, time = 0, 0.0
    while True:
        command = controller.update(plant.state, target, period)
        # Before the first command arrives, its torque holds the robot as well.
        while len(queue) <= late:
            queue.append(command.torque)
        queue.append(command.torque)
        true = plant.true_state
        rows.append((time, true.pose, true.twist, true.position, command.torque, plant.ground))
        if time >= loop.duration - 1e-9 or plant.fallen:
            break
        tick += 1
        end = min(tick * period, loop.duration)
        change = min(time + rest * 1e-9, end)
        for torque, begin, stop in ((queue[0], time, change), (queue[1], change, end)):
            _advance(plant, torque, begin, stop, loop)
        time = end
    times, poses, twists, positions, torques, ground = (np.array(c) for c in zip(*rows))
    return Trace(times, poses, twists, positions, torques, ground, target, plant.fallen)


def _advance(plant: PinnedRobot | PlanarBiped, torque: np.ndarray, begin: float, end: float,
             loop: Loop) -> None:
    """Advance from begin to end, with the push for the part of it that is pushed."""
    first, last = loop.push_start, loop.push_start + loop.push_length
    cuts = [begin, *(t for t in (first, last) if begin + 1e-9 < t < end - 1e-9), end]
    for start, stop in pairwise(cuts):
        if stop - start > 1e-9:
            pushed = any(loop.push) and first - 1e-9 <= start and stop <= last + 1e-9
            plant.advance(torque, stop - start, np.array(loop.push) if pushed else None)


# -------------------------------------------------------------------------------------------------
# The controller in SE(3), given the crouch's planar state, for comparison with the planar one.


FEET = 2


@dataclass(frozen=True)
class _SpatialCommand:
    """What the loop needs of a tick: joint torques, (6,) [N m]."""

    torque: np.ndarray


class _SpatialController:
    """`WorkspaceController` behind the planar controller's interface, without integral."""

    def __init__(self, gains: PlanarGains):
        settings: dict[str, Any] = {
            f'gains.{kind}.{name}': [float(values[axis])] * 3
            for kind, axis in (('linear', 0), ('angular', 2))
            for name, values in (('stiffness', gains.position), ('damping', gains.velocity),
                                 ('integral', np.zeros(3)))}
        # Without limits, as the planar controller.
        settings.update({'limits.error.linear': 10.0, 'limits.error.angular': 3.0,
                         'limits.acceleration.linear': 100.0,
                         'limits.acceleration.angular': 1000.0})
        yaml, _ = robot_files('biped')
        self._controller = WorkspaceController(
            RobotModel.from_urdf(biped_urdf(Biped())), RobotConfig.from_yaml(yaml), settings)
        self._time = 0.0

    def reset(self) -> None:
        """Forget what was before."""
        self._controller.reset()
        self._time = 0.0

    def update(self, state: PlanarState, target: PlanarTarget, period: float) -> _SpatialCommand:
        """Return the torques until the next tick."""
        stamp = round(1e9 * self._time)
        self._time += period
        position, rotation = _pose(state.pose)
        x, z, w = state.twist
        body = BodyState(
            stamp, position, rotation, np.array([-x, 0.0, z, 0.0, -w, 0.0]),
            np.ones(FEET, dtype=bool), np.zeros((FEET, 3)), np.zeros(FEET), 0.0, 0, 0,
            OdometryFault.NONE)
        command = self._controller.update(
            body, Measurement(stamp, state.position, state.velocity),
            BodyTarget.of(*_pose(target.pose)))
        return _SpatialCommand(command.effort)


def _pose(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation in REP-103 axes of a pose in the paper's."""
    return (np.array([-pose[0], 0.0, pose[1]]),
            rotation_from_rpy(np.array([0.0, -pose[2], 0.0])))


# -------------------------------------------------------------------------------------------------


# The paper's values at 9.99 s: x, z [m], angle [rad].
PAPER = np.array([0.0999935, 0.95016, np.radians(0.00169)])
LANDING = 0.05          # s from 1 cm above the ground until both soles are loaded
LANDED = 1.0            # s after which a dropped robot has come to rest on its soles


@dataclass(frozen=True)
class Run:
    """One way to crouch."""

    name: str
    # Whether the feet are fixed to the ground, or stand on it by MuJoCo's contact
    pinned: bool = False
    # Size of the feet in the controller's dynamics; None for exact dynamics
    big_base: float | None = None
    spatial: bool = False  # Whether the controller is the one in SE(3), and not the planar one
    # What stands there; the controller always has the biped as modelled
    biped: Biped = field(default_factory=Biped)
    plant: Mapping[str, Any] = field(default_factory=dict)  # Options of :class:`PlanarBiped`
    loop: Loop = field(default_factory=Loop)
    integral: float = 0.0  # Integral gain on all three coordinates [1/s^3]

    def make_plant(self) -> PinnedRobot | PlanarBiped:
        """Return the plant at the start of the crouch."""
        if self.pinned:
            return PinnedRobot(self.biped.planar(), start_state())
        return PlanarBiped(self.biped, **self.plant)

    def make_controller(self) -> PlanarController | _SpatialController:
        """Return the controller, planar or in SE(3), for the biped as modelled."""
        gains = PlanarGains(integral=np.full(3, self.integral))
        if self.spatial:
            return _SpatialController(gains)
        return PlanarController(Biped().planar(), gains, big_base=self.big_base)

    @property
    def slip_start(self) -> float:
        """Time from which a sole that moves is said to slip [s]."""
        return LANDED if self.plant.get('drop_height') else 0.0


# The figures are drawn of the first two.
RUNS = (
    Run('exact dynamics, feet pinned', pinned=True),
    Run('exact dynamics, MuJoCo, friction 0.5'),
    Run('big base 1e6, feet pinned', pinned=True, big_base=BIG_BASE),
    Run('big base 1e6, MuJoCo, friction 0.5', big_base=BIG_BASE),
    Run('the controller in SE(3), MuJoCo, friction 0.5', spatial=True),
    Run("exact dynamics, MuJoCo, the paper's friction 3", plant={'floor_friction': 3.0}),
    Run('dropped from 1 cm, controlled in the air', plant={'drop_height': 0.01, 'standing': 0.0}),
    Run('dropped from 1 cm, controlled from the landing on',
        plant={'drop_height': 0.01, 'standing': LANDING}),
)


@dataclass(frozen=True)
class Crouch:
    """A run and what came of it."""

    run: Run
    trace: Trace
    computing: float  # Time that controller and plant took [s]

    @property
    def error(self) -> np.ndarray:
        """Return the final error: x, z [m], angle [rad]."""
        return self.trace.error

    @property
    def slip(self) -> float:
        """Return how far a sole moved at most [m]; NaN where there is no ground."""
        return self.trace.slip(self.run.slip_start) if self.trace.ground_known else float('nan')


def crouch(run: Run) -> Crouch:
    """Run the controller on the plant once; computing time excludes compilation."""
    plant, controller = run.make_plant(), run.make_controller()
    controller.update(plant.state, CROUCH, 1.0)     # compiles, and is forgotten
    if run.pinned:
        PinnedRobot(run.biped.planar(), start_state()).advance(np.zeros(6), 1e-3)
    begin = time.perf_counter()
    trace = close_loop(plant, controller, run.loop, CROUCH)
    return Crouch(run, trace, time.perf_counter() - begin)


# -------------------------------------------------------------------------------------------------
# The paper's figures 1 to 7, and two that it does not have: the errors, and the ground forces.


COORDINATES = ('x [cm]', 'z [cm]', 'angle [deg]')
UNITS = np.array([100.0, 100.0, 180.0 / np.pi])     # cm and degrees, as the paper has them
JOINTS = ('hip', 'knee', 'ankle')
LEGS = (('left', '-'), ('right', '--'))


def _outline(pose: np.ndarray, joints: np.ndarray) -> dict[str, np.ndarray]:
    """Return head, hip, knee, ankle and the corners of the sole, (x, z) [m], of one leg."""
    biped, angle = Biped(), pose[2] + np.concatenate([[0.0], np.cumsum(joints)])
    turn = [np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in angle]
    hip = pose[:2] - turn[0] @ [0.0, biped.hip_to_center]
    head = hip + turn[0] @ [0.0, TRUNK * biped.height]
    knee = hip - turn[1] @ [0.0, biped.thigh]
    ankle = knee - turn[2] @ [0.0, biped.shank]
    corners = np.array([[0.0, 0.0], [HEEL, -biped.ankle], [HEEL - biped.foot, -biped.ankle]])
    return {'head': head, 'hip': hip, 'knee': knee, 'ankle': ankle,
            'sole': ankle + corners @ turn[3].T}


def _draw_biped(axes: Axes, pose: np.ndarray, joints: np.ndarray, shift: float, width: float,
                color: str) -> dict[str, np.ndarray]:
    offset = np.array([shift, 0.0])
    parts = {name: places + offset for name, places in _outline(pose, joints).items()}
    bones = np.array([parts[name] for name in ('head', 'hip', 'knee', 'ankle')])
    axes.plot(*bones.T, color=color, linewidth=width, solid_capstyle='round', alpha=0.55)
    axes.plot(*bones[1:].T, 'o', color=color, markersize=4)
    axes.fill(*parts['sole'].T, color=color, alpha=0.55)
    return parts


def _draw_model(done: Sequence[Crouch]) -> Figure:
    """Draw the biped as it crouches, figure 1, and its links in the zero configuration, 2."""
    figure = style.new_figure(4.6)
    standing, model = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    trace = done[-1].trace
    for k, instant in enumerate((0.0, 0.5, 1.0, trace.time[-1])):
        row = int(np.abs(trace.time - instant).argmin())
        _draw_biped(standing, trace.pose[row], trace.position[row, :3], 0.75 * k, 9.0,
                    foot_color(0))
        standing.plot(trace.pose[row, 0] + 0.75 * k, trace.pose[row, 1], 'x', color=style.TEXT)
        standing.text(0.75 * k, -0.12, f'{trace.time[row]:g} s', ha='center', fontsize=9)
    standing.axhline(0.0, color='#999999', linewidth=0.8)
    style.dress(standing, 'one beside the other; x to the back', 'z [m]',
                'Figure 1: the biped, as simulated')
    standing.set_xticks([])
    biped = Biped()
    height = biped.ankle + biped.shank + biped.thigh + biped.hip_to_center
    parts = _draw_biped(model, np.array([0.0, height, 0.0]), np.zeros(3), 0.0, 12.0,
                        foot_color(2))
    middles = {'body': np.array([0.0, height]), 'thigh': 0.5 * (parts['hip'] + parts['knee']),
               'shank': 0.5 * (parts['knee'] + parts['ankle']), 'foot': parts['ankle'] - [0, 0.03]}
    for (kind, middle), numbers in zip(middles.items(), ('1', '2, 5', '3, 6', '4, 7')):
        model.text(0.14, middle[1], f'{numbers}: {kind}\n{biped.masses[kind]:.2f} kg, '
                   f'{biped.inertias[kind]:.3f} kg m$^2$', fontsize=8.5, va='center')
    for name in ('hip', 'knee', 'ankle'):
        model.text(-0.08, parts[name][1], name, fontsize=8.5, ha='right', va='center')
    for tip, text in (((0.25, 0.0), 'x'), ((0.0, 0.25), 'z')):
        end = (-0.55 + tip[0], 1.2 + tip[1])
        model.annotate('', end, (-0.55, 1.2), arrowprops={'arrowstyle': '-|>',
                                                         'color': style.TEXT})
        model.text(end[0] + 0.03, end[1], text, fontsize=9)
    model.set_xlim(-0.75, 0.85)
    style.dress(model, 'x [m]', 'z [m]', 'Figure 2: links in the zero configuration')
    for axes in (standing, model):
        axes.set_aspect('equal')
        axes.set_ylim(-0.2, 1.6)
        axes.grid(False)
    return figure


FILM_RATE = 20.0        # pictures a second
FILM_END = 4.0          # s of the crouch; what follows is standing still
ARROW = 1.0e-3          # m of an arrow per N


def film_pictures(trace: Trace, progress: Callable[[float], None] | None = None
                  ) -> Iterator[np.ndarray]:
    """
    Yield pictures (height, width, 3) uint8 of a crouch from the side, and its pose beside it.

    An arrow is the ground's normal force on a sole, at its centre of pressure.
    """
    figure, wanted, last = style.new_figure(3.2), trace.target.pose, min(FILM_END, trace.time[-1])
    side, *panels = figure.subplot_mosaic('sx;sz;sa', width_ratios=(1.0, 1.3)).values()
    side.plot(*wanted[:2], '+', color=style.TRUTH, markersize=12)
    side.axhline(0.0, color='#999999', linewidth=0.8)
    side.set_aspect('equal')
    side.set_xlim(-0.6, 0.6)
    side.set_ylim(-0.1, 1.6)
    style.dress(side, 'x [m], to the back', 'z [m]')
    for k, axes in enumerate(panels):
        axes.axhline(UNITS[k] * wanted[k], color=style.TRUTH, linewidth=0.8, linestyle=':')
        axes.plot(trace.time, UNITS[k] * trace.pose[:, k], color=foot_color(0), linewidth=1.2)
        axes.set_xlim(0.0, last)
        style.dress(axes, 'time [s]' if k == 2 else '', COORDINATES[k])
    figure.canvas.draw()
    figure.set_layout_engine('none')        # the places of the axes stay
    for instant in np.arange(0.0, last + 0.5 / FILM_RATE, 1.0 / FILM_RATE):
        if progress is not None:
            progress(float(instant / last))
        row = int(np.abs(trace.time - instant).argmin())
        before = {axes: set(axes.get_children()) for axes in (side, *panels)}
        for leg in (1, 0):
            parts = _draw_biped(side, trace.pose[row], trace.position[row, 3 * leg:3 * leg + 3],
                                0.0, 9.0, foot_color(leg))
            normal, ahead = trace.ground[row, leg, 3:]
            if normal > 0.0:
                x, z = parts['ankle'] - [ahead, Biped().ankle]
                side.annotate('', (x, z + ARROW * normal), (x, z), arrowprops={
                    'arrowstyle': '-|>', 'color': style.TEXT, 'linewidth': 1.5})
        side.plot(*trace.pose[row, :2], 'x', color=style.TEXT)
        side.text(-0.55, 1.48, f'{trace.time[row]:.2f} s')
        for k, axes in enumerate(panels):
            axes.plot(trace.time[row], UNITS[k] * trace.pose[row, k], 'o', color=style.TEXT)
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()
        for axes, kept in before.items():
            for artist in set(axes.get_children()) - kept:
                artist.remove()


def _draw_controller(done: Sequence[Crouch]) -> Figure:
    """Draw the block diagram of the controller, figure 3."""
    figure = style.new_figure(2.6)
    axes = figure.subplots()
    axes.axis('off')
    axes.set_title('Figure 3: the controller at each tick', loc='left', fontsize=10,
                   color=style.TEXT)
    blocks = {'robot': (0.0, 0.0, 'biped\n(MuJoCo, or\npinned feet)'),
              'velocity': (1.2, 0.0, 'velocity\npropagation\n(3.1)-(3.11)'),
              'dynamics': (2.4, 0.0, 'workspace\ndynamics\n(3.12)-(3.20)'),
              'force': (3.6, 0.0, 'workspace\nforce\n(3.21)-(3.23)'),
              'joints': (4.8, 0.0, 'force\npropagation\n(3.24)-(3.27)'),
              'wanted': (3.6, 1.0, 'pose, twist and acceleration\nwanted; gains')}
    for x, y, text in blocks.values():
        axes.text(x, y, text, ha='center', va='center', fontsize=9, color=style.TEXT, bbox={
            'boxstyle': 'round,pad=0.45', 'facecolor': '#eef2f6', 'edgecolor': foot_color(0)})
    arrows = (((0.36, 0.0), (0.84, 0.0), 'joint states,\npose, twist'),
              ((1.56, 0.0), (2.04, 0.0), '$V$, $a$, $b$'),
              ((2.76, 0.0), (3.24, 0.0), '$P_1$, $z_1$'),
              ((3.96, 0.0), (4.44, 0.0), '$F_1$'), ((3.6, 0.75), (3.6, 0.4), ''))
    for start, tip, text in arrows:
        axes.annotate('', tip, start, arrowprops={'arrowstyle': '-|>', 'color': '#777777'})
        axes.text(0.5 * (start[0] + tip[0]), 0.12, text, ha='center', fontsize=8)
    axes.plot([4.8, 4.8, 0.0, 0.0], [-0.4, -0.85, -0.85, -0.6], color='#777777', linewidth=1.2)
    axes.annotate('', (0.0, -0.3), (0.0, -0.7), arrowprops={
        'arrowstyle': '-|>', 'color': '#777777', 'shrinkA': 0})
    axes.text(2.4, -0.78, 'joint torques', ha='center', fontsize=8)
    axes.set_xlim(-0.5, 5.3)
    axes.set_ylim(-1.0, 1.35)
    return figure


def _draw_pose(done: Sequence[Crouch]) -> Figure:
    """Draw pose over time, figure 4, one panel a coordinate."""
    figure = style.new_figure(5.6)
    panels = figure.subplots(3, 1, sharex=True)
    target = done[0].trace.target.pose
    for k, (axes, name) in enumerate(zip(panels, COORDINATES)):
        axes.axhline(UNITS[k] * target[k], color=style.TRUTH, linewidth=0.8, linestyle=':',
                     label='wanted')
        for index, result in enumerate(done):
            style.line(axes, result.trace.time, UNITS[k] * result.trace.pose[:, k],
                       color=foot_color(index), linestyle='-' if index == 0 else '--',
                       linewidth=2.0 if index == 0 else 1.2, label=result.run.name)
        style.dress(axes, y=name)
    style.legend(panels[0], loc='lower right')
    _time_axis(panels[-1], done[0].trace)
    return figure


def _draw_joint_angles(done: Sequence[Crouch]) -> Figure:
    """Draw joint angles over time, figure 5; the paper's right leg drifts."""
    trace = done[-1].trace
    return _draw_joints(trace, np.degrees(trace.position), 'joint angle [deg]')


def _draw_torques(done: Sequence[Crouch]) -> Figure:
    """Draw joint torques over time, figure 6."""
    trace = done[-1].trace
    return _draw_joints(trace, trace.torque, 'joint torque [N m]')


def _draw_path(done: Sequence[Crouch]) -> Figure:
    """Draw the body's path in the x-z plane, figure 7, and its curl at the end."""
    figure = style.new_figure(4.4)
    path, curl = figure.subplots(1, 2, width_ratios=(1.4, 1.0))
    for axes in (path, curl):
        for index, result in enumerate(done):
            axes.plot(*(100.0 * result.trace.pose[:, :2].T), color=foot_color(index),
                      linestyle='-' if index == 0 else '--',
                      linewidth=2.0 if index == 0 else 1.2, label=result.run.name)
        axes.plot(*(100.0 * done[0].trace.target.pose[:2]), '+', color=style.TEXT, markersize=10,
                  label='wanted')
    halves = 2.0 * done[0].trace.time
    marks = np.abs(halves - np.round(halves)) < 1e-6
    path.plot(*(100.0 * done[0].trace.pose[marks, :2].T), 'o', color=foot_color(0),
              markersize=3.5, label='every 0.5 s')
    style.dress(path, 'x [cm], to the back', 'z [cm]')
    style.dress(curl, 'x [cm]', 'z [cm]', title='the end')
    curl.set_xlim(9.75, 10.5)
    curl.set_ylim(94.5, 95.25)
    style.legend(path, loc='upper right')
    return figure


def _draw_errors(done: Sequence[Crouch]) -> Figure:
    """Draw the size of the errors over time on a logarithmic scale, with the paper's last ones."""
    figure = style.new_figure(4.4)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    target = done[0].trace.target.pose
    last = UNITS * np.abs(PAPER - target)
    for k, (axes, name) in enumerate(zip(panels, COORDINATES)):
        for index, result in enumerate(done):
            size = UNITS[k] * np.abs(result.trace.pose[:, k] - target[k])
            axes.semilogy(result.trace.time, np.maximum(size, 1e-9),
                          color=foot_color(index), linewidth=1.0, label=result.run.name)
        axes.plot(done[0].trace.time[-1], last[k], 'o', color=style.TEXT, markersize=5,
                  label='the paper')
        style.dress(axes, 'time [s]', 'size of the error' if k == 0 else '', title=name)
    panels[0].set_ylim(1e-6, 30.0)
    style.legend_outside(figure, panels[0], 3, loc='outside lower center')
    return figure


def _draw_ground(done: Sequence[Crouch]) -> Figure:
    """Draw what the ground does: normal forces, centre of pressure in the sole, friction used."""
    trace = next(result.trace for result in done if result.trace.ground_known)
    figure = style.new_figure(5.6)
    load, center, friction = figure.subplots(3, 1, sharex=True)
    for foot, (name, dashes) in enumerate(LEGS):
        color = foot_color(foot)
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
            style.line(axes, trace.time, values[:, 3 * leg + k], color=foot_color(k),
                       linestyle=dashes, linewidth=2.4 if leg == 0 else 1.0,
                       alpha=0.55 if leg == 0 else 1.0, label=f'{side} {joint}')
    style.dress(axes, y=label)
    style.legend(axes, ncols=2, loc='center right')
    _time_axis(axes, trace)
    return figure


def _time_axis(axes: Axes, trace: Trace) -> None:
    axes.set_xlabel('time [s]')
    axes.set_xlim(0.0, trace.time[-1])


# -------------------------------------------------------------------------------------------------

LEAD = ('Wendlandt and Sastry, "Recursive Workspace Control of Multibody Systems: A Planar Biped '
        'Example": 72.5 kg on two legs go from 105 cm down to 95 cm and 10 cm back, controlled at '
        '100 Hz with K_p = 3 and K_v = 2.46.')
EXPLANATION = (
    'An ideal loop leaves these errors at 9.99 s: the poles decay by 1.23 a second, so 1 cm at '
    'the start is 5e-6 cm at the end. What the paper has beyond that comes from its simulator, '
    'whose feet slip. "Exact dynamics" are those with the feet held; "big base" are the paper\'s, '
    'with feet of a million body masses. "Pinned" feet cannot move; on MuJoCo, soles lie on the '
    'ground, with restitution 0.1.')
FIGURES: dict[str, tuple[str, Callable[[Sequence[Crouch]], Figure], str]] = {
    'figures_1_2_model': ('Figures 1 and 2: the biped', _draw_model,
                          'On MuJoCo, from the side; it faces left. The cross is the centre of '
                          'mass of the body. Of a leg, mass and inertia are of one link.'),
    'figure_3_controller': ('Figure 3: the controller', _draw_controller,
                            'In brackets: the equations of the paper.'),
    'figure_4_pose': ('Figure 4: pose of the body', _draw_pose,
                      'The curves of both plants coincide.'),
    'figure_5_joints': ('Figure 5: joint angles', _draw_joint_angles,
                        "On MuJoCo; the right leg's lines are thin and dashed. In the paper they "
                        'drift apart, here they do not.'),
    'figure_6_torques': ('Figure 6: joint torques', _draw_torques,
                         'On MuJoCo. The knee works harder the more it is bent.'),
    'figure_7_path': ('Figure 7: path of the body', _draw_path,
                      'Both overshoot by about 4 per cent, which is the curl at the end.'),
    'errors': ('Errors', _draw_errors,
               'In cm and degrees; the dot is what the paper has at 9.99 s.'),
    'ground': ('On the ground', _draw_ground,
               'On MuJoCo. Shaded: the sole, from heel to toe. The controller does not know the '
               'sole; the feet are long enough to keep the centre of pressure inside.'),
}


def final_values(done: Sequence[Crouch]) -> Table:
    """Return the table of final values, the paper's in the first row."""
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
    """Write page and figures into a folder; return the page's path."""
    final = final_values(done)
    pinned, ground = done[0], done[1]
    cards = Cards([
        *((f'{scale * ground.error[k]:+.3f} {unit}', f'error of {name}, MuJoCo')
          for k, (name, unit, scale) in enumerate((
              ('x', 'mm', 1e3), ('z', 'mm', 1e3), ('angle', 'deg', np.degrees(1.0))))),
        (f'{1e3 * ground.slip:.3f} mm', 'slip of a foot, MuJoCo'),
        (f'{pinned.trace.time[-1] / pinned.computing:.0f} x', 'real time, feet pinned')])
    sections = [ReportSection('', [cards]), ReportSection(final.title, [final, EXPLANATION])]
    for name, (heading, draw, caption) in FIGURES.items():
        shown = done[:2] if name != 'errors' else [*done[:2], *done[-2:]]
        sections.append(ReportSection(heading, [ReportFigure(name, partial(draw, shown),
                                                             caption)]))
    sections += [ReportSection(more.title, [more]) for more in tables]
    return Report(
        'Recursive workspace control of the planar biped', LEAD, sections,
        verdict=f'On MuJoCo contact the body ends {1e3 * np.hypot(*ground.error[:2]):.2f} mm and '
                f'{np.degrees(abs(ground.error[2])):.2f} deg from where it was wanted, and its '
                f'soles slip by {1e3 * ground.slip:.2f} mm at most.',
        command='legged-dynamics reproduce biped').write(folder, ConfigurationError)


# -------------------------------------------------------------------------------------------------
# Robustness: the robot differs from the model of the controller, on MuJoCo contact.


INTEGRAL = 1.0          # 1/s^3
LONG = 20.0             # s, for the integral term to do its work
PUSH = 50.0             # N
LOST = 0.05             # m that a sole may slip: beyond, it is not where the controller assumes

CASES = (
    Run('as modelled'),
    *(Run(f'body {100 * abs(scale - 1):.0f} % {"heavier" if scale > 1 else "lighter"}',
          biped=Biped(body_scale=scale)) for scale in (0.95, 0.98, 1.02, 1.05)),
    *(Run(f'legs {100 * abs(scale - 1):.0f} % {"heavier" if scale > 1 else "lighter"}',
          biped=Biped(leg_scale=scale)) for scale in (0.9, 1.1)),
    *(Run(f'friction {friction:g}', plant={'floor_friction': friction})
      for friction in (0.3, 1.0, 3.0)),
    *(Run(f'controller at {rate:g} Hz', loop=Loop(rate=rate))
      for rate in (20.0, 50.0, 200.0, 500.0, 1000.0)),
    *(Run(f'pushed {way} by {PUSH:g} N for 0.2 s', loop=Loop(push=push)) for way, push in (
        ('forward', (-PUSH, 0.0, 0.0)), ('backward', (PUSH, 0.0, 0.0)),
        ('down', (0.0, -PUSH, 0.0)))),
    *(Run(f'{1e3 * delay:g} ms of delay', loop=Loop(delay=delay))
      for delay in (0.01, 0.02, 0.03, 0.05)),
    Run('noisy sensors, leg odometry', plant={'noisy': True}),
    Run('dropped from 1 cm, controlled in the air', plant={'drop_height': 0.01, 'standing': 0.0}),
    Run('dropped from 1 cm, controlled from the landing on',
        plant={'drop_height': 0.01, 'standing': LANDING}),
    Run('dropped from 1 cm, restitution 0.5',
        plant={'drop_height': 0.01, 'standing': 0.0, 'restitution': 0.5}),
)
# Cases that begin a group in the table, by the beginning of their names.
FIRST = ('body', 'friction', 'controller', 'pushed', '10 ms', 'noisy', 'dropped')


def _with_integral(run: Run) -> Run:
    """Return the same run with the integral term and the time that it needs."""
    return replace(run, integral=INTEGRAL, loop=replace(run.loop, duration=LONG))


def measure(cases: Sequence[Run] = CASES, workers: int | None = None,
            progress: Callable[[float], None] | None = None) -> list[tuple[Crouch, Crouch]]:
    """Run every case with the paper's gains and with the integral term, in parallel."""
    runs = [run for case in cases for run in (case, _with_integral(case))]
    done = []
    for finished in _each(runs, (os.cpu_count() or 1) if workers is None else workers):
        done.append(finished)
        if progress is not None:
            progress(len(done) / len(runs))
    return list(zip(done[::2], done[1::2]))


def _each(runs: Sequence[Run], workers: int) -> Iterator[Crouch]:
    if workers == 1:
        yield from map(crouch, runs)
        return
    # A fresh interpreter per worker: a forked one would share the parent's threads and locks.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context('spawn')) as pool:
        yield from pool.map(crouch, runs)


def table(pairs: Sequence[tuple[Crouch, Crouch]]) -> Table:
    """Return the table of robustness: errors, slip and least foot load, a row per case."""
    rows = [(plain.run.name, *_robustness_cells(plain), _least_load(plain),
             *_robustness_cells(integral))
            for plain, integral in pairs]
    first = [next(i for i, row in enumerate(rows) if row[0].startswith(name)) for name in FIRST
             if any(row[0].startswith(name) for row in rows)]
    return Table('Robustness', (
        'case', 'x [cm]', 'z [cm]', 'angle [deg]', 'slip [mm]', 'least load of a foot [N]',
        'with integral: x [cm]', 'z [cm]', 'angle [deg]', 'slip [mm]'), rows, [0], first)


def _robustness_cells(crouch: Crouch) -> list[str]:
    if crouch.trace.fallen:
        return [f'falls at {crouch.trace.time[-1]:.1f} s', *['-'] * 3]
    if crouch.slip > LOST:
        return ['loses its footing', *['-'] * 3]
    return [*(_short(value) for value in UNITS * crouch.error), f'{1e3 * crouch.slip:.2f}']


def _short(value: float) -> str:
    return f'{value:+.2f}' if abs(value) >= 0.1 else f'{value:+.1e}'


def _least_load(crouch: Crouch) -> str:
    trace = crouch.trace
    settled = trace.ground[trace.time >= crouch.run.slip_start, :, 3]
    return f'{settled.min():.0f}' if settled.size else '-'
