# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures of a climbing robot: the robot itself, its forces, energy, modes and phases."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from legged_dynamics.gait.stance_detection import runs
from legged_dynamics.reports import style
from legged_dynamics.reports.climbing.comparison import (
    MISPLACED,
    Answers,
    Attempt,
    Comparison,
    NamedMode,
    Sharing,
    is_disc,
    nominal_poles,
)
from legged_dynamics.reports.palette import foot_color
from legged_dynamics.stickybot import (
    Adhesion,
    ClimbTrace,
    ForceSets,
    StickybotModel,
    balance,
    unloaded_state,
)
from legged_dynamics.stickybot.allocation.force_program import SET

BODY_FILL, BODY_EDGE, LIMB, PAD = '#d9dee6', '#5b6675', '#5b6675', '#56B4E9'
ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)   # N
ARC = np.linspace(0.0, 2.0 * np.pi, 73)


def limb_length(model: StickybotModel) -> float:
    """
    Return the length of the longest limb.

    Parameters
    ----------
    model : StickybotModel
        The robot.

    Returns
    -------
    float
        Length of its links together [m].

    """
    return max(sum(link.length for link in limb.links) for limb in model.limbs)


def reach_of(model: StickybotModel) -> np.ndarray:
    """
    Return how far a robot at rest reaches from its centre.

    Parameters
    ----------
    model : StickybotModel
        The robot.

    Returns
    -------
    (2,) array [m]
        Sideways and along the body.

    """
    calm = unloaded_state(model)
    outline = np.vstack([calm.foot, body_outline(model, calm.pose)])
    return np.abs(outline).max(axis=0)


def round_force(model: StickybotModel, typical: float) -> tuple[float, float]:
    """
    Return a round force for a key [N] and the length of 1 N in a picture [m/N].

    Parameters
    ----------
    model : StickybotModel
        The robot that is drawn.
    typical : float [N]
        A force that should be drawn at a readable size.

    Returns
    -------
    float
        The force of the key [N].
    float
        Length of 1 N in the picture [m/N].

    """
    unit = min(ROUND, key=lambda size: abs(np.log(size / max(typical, 1e-9))))
    return unit, 0.45 * limb_length(model) / max(typical, 1e-9)


def body_outline(model: StickybotModel, pose: np.ndarray) -> np.ndarray:
    """
    Return the corners of a body with a pointed head, as large as its hips require.

    Parameters
    ----------
    model : StickybotModel
        The robot.
    pose : (3,) array [m, rad]
        Place and angle of the body in wall axes.

    Returns
    -------
    (5, 2) array [m]
        Corners in wall axes.

    """
    hips = np.array([limb.hip for limb in model.limbs])
    x, top, bottom = np.abs(hips[:, 0]).max(), hips[:, 1].max(), hips[:, 1].min()
    margin = 0.125 * max(top - bottom, x)
    corners = np.array([[-x, bottom - margin], [x, bottom - margin], [x, top + margin],
                        [0.0, top + 2.2 * margin], [-x, top + margin]])
    return np.asarray(pose[:2]) + corners @ _turn(pose[2]).T


def limb_lines(model: StickybotModel, foot: np.ndarray, joint: np.ndarray) -> list[np.ndarray]:
    """
    Return each limb as a line from foot to hip.

    Parameters
    ----------
    model : StickybotModel
        The robot.
    foot : (n, 2) array [m]
        Feet in wall axes.
    joint : (nj,) array [rad]
        Joint angles, limb after limb from the foot on.

    Returns
    -------
    list of (links + 1, 2) array [m]
        Ends of the links in wall axes.

    """
    lines, at = [], 0
    for start, limb in zip(foot, model.limbs):
        angles = np.cumsum(joint[at:at + len(limb.links)])
        lengths = np.array([link.length for link in limb.links])
        steps = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        lines.append(np.vstack([start, start + np.cumsum(steps, axis=0)]))
        at += len(limb.links)
    return lines


def pad_outline(pad: Adhesion, normal: float, angle: float, farthest: float = math.inf
                ) -> np.ndarray:
    """
    Return the outline of the forces that a pad holds, (m, 2) [N]; empty where it holds none.

    Parameters
    ----------
    pad : Adhesion
        Of finite shear.
    normal : float [N]
        The wall's push on it.
    angle : float [rad]
        Its direction in wall axes; NaN for one that holds every way.
    farthest : float [N]
        Larger forces are left out.

    """
    sets = ForceSets.of_pads([pad], [normal], [0.0 if math.isnan(angle) else angle])
    normals, bounds = sets.planes(0)
    radius = min(float(sets.table[0, SET.radius]), farthest)
    outline = radius * np.column_stack([np.cos(ARC), np.sin(ARC)])
    for side, bound in zip(normals, bounds):
        outline = _clipped(outline, side, bound)
    return outline


def _clipped(outline: np.ndarray, normal: np.ndarray, bound: float) -> np.ndarray:
    """Return the part of a convex outline on the inner side of a line."""
    over = outline @ normal - bound
    kept = []
    for k in range(len(outline)):
        p, q, a, b = outline[k - 1], outline[k], over[k - 1], over[k]
        if (a > 0.0) != (b > 0.0):
            kept.append(p + a / (a - b) * (q - p))
        if b <= 0.0:
            kept.append(q)
    return np.array(kept).reshape(-1, 2)


def _turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def arrow_outlines(start: np.ndarray, vector: np.ndarray, width: float) -> np.ndarray:
    """
    Return arrows as closed outlines, (k, 7, 2), in the units of `start`.

    Parameters
    ----------
    start, vector : (k, 2) array
        Foot of each arrow, and the way to its tip.
    width : float
        Of the shaft; the head is three times as wide, and shrinks with a short arrow.

    """
    length = np.hypot(*vector.T)[:, None]
    along = vector / np.maximum(length, 1e-12)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    head = np.minimum(4.0 * width, 0.6 * length)
    neck = start + vector - head * along
    half = 0.5 * np.minimum(width, 0.25 * length)
    barb = np.minimum(1.6 * width, 0.4 * length)
    return np.stack([start + half * across, neck + half * across, neck + barb * across,
                     start + vector, neck - barb * across, neck - half * across,
                     start - half * across], axis=1)


@dataclass(frozen=True, eq=False)
class Look:
    """
    What of a robot is seen at one instant.

    Attributes
    ----------
    pose : (3,) array [m, m, rad]
    foot : (N, 2) array [m]
    joint : (nq,) array [rad]
    force : (N, 2) array [N]
        The wall's on each foot.
    attached : (N,) array of bool
    pad_foot : (k, 2) array [m]
        Where pads are.
    pads : sequence of k (m, 2) arrays [N]
        Outlines of what they hold.

    """

    pose: np.ndarray
    foot: np.ndarray
    joint: np.ndarray
    force: np.ndarray
    attached: np.ndarray
    pad_foot: np.ndarray
    pads: Sequence[np.ndarray]


class Climber:
    """
    A robot on axes; moved by :meth:`show`, and drawn in the order of `artists`.

    Parameters
    ----------
    axes : Axes
        In metres, of equal aspect.
    model : StickybotModel
        The robot.
    scale : float [m/N]
        Length of a force of 1 N.
    animated : bool
        Whether the artists are left out when the figure is drawn.

    Attributes
    ----------
    artists : tuple of Artist
    arrow_width : float [m]

    """

    def __init__(self, axes: Axes, model: StickybotModel, scale: float, animated: bool = False):
        self._model, self._scale = model, scale
        self.arrow_width = 0.05 * limb_length(model)
        colors = [foot_color(i) for i in range(model.n_limbs)]
        self._pads = PolyCollection([], facecolors=PAD, edgecolors=PAD, alpha=0.22, zorder=2)
        self._limbs = LineCollection([], colors=LIMB, linewidths=4.5, capstyle='round', zorder=3)
        self._body = Polygon(np.zeros((5, 2)), facecolor=BODY_FILL, edgecolor=BODY_EDGE,
                             linewidth=1.4, joinstyle='round', zorder=4)
        self._feet = axes.scatter(*np.zeros((2, model.n_limbs)), s=62, zorder=5, linewidths=1.8)
        self._arrows = PolyCollection([], facecolors=colors, edgecolors='white', linewidths=0.6,
                                      zorder=6)
        self._colors = np.array(colors)
        for artist in (self._pads, self._limbs, self._arrows):
            axes.add_collection(artist, autolim=False)
        axes.add_patch(self._body)
        self.artists = (self._pads, self._limbs, self._body, self._feet, self._arrows)
        for artist in self.artists:
            artist.set_animated(animated)

    def show(self, look: Look) -> None:
        """
        Move the robot.

        Parameters
        ----------
        look : Look
            Pose, feet, joints and forces of one time.

        """
        self._limbs.set_segments(limb_lines(self._model, look.foot, look.joint))
        self._body.set_xy(body_outline(self._model, look.pose))
        self._feet.set_offsets(look.foot)
        self._feet.set_facecolors(list(np.where(look.attached, self._colors, 'white')))
        self._feet.set_edgecolors(self._colors)
        self._arrows.set_verts(arrow_outlines(look.foot, self._scale * look.force
                                              * look.attached[:, None], self.arrow_width))
        self._pads.set_verts([foot + self._scale * outline
                              for foot, outline in zip(look.pad_foot, look.pads) if len(outline)])


# -------------------------------------------------------------------------------------------------
# Energy of a climb over time, and the residual of its balance.


PARTS = (('lifted weight', '#0072B2'), ('springs and motion', '#56B4E9'),
         ('lost in dampers', '#E69F00'), ('lost at touchdown', '#D55E00'))
LIMIT = 1e-4        # J


def draw_climb_energy(comparison: Comparison) -> Figure | None:
    """
    Draw the energy of plain and reduced climb over time, and the residual of both.

    Parameters
    ----------
    comparison : Comparison
        The climbs.

    Returns
    -------
    Figure or None
        None when no climb was possible.

    """
    found = [attempt for attempt in map(comparison.attempt, ('off', 'full'))
             if attempt is not None and attempt.trace is not None]
    if not found:
        return None
    figure = style.new_figure(5.4)
    grid = figure.add_gridspec(2, len(found), height_ratios=(2.2, 1.0))
    first = below = None
    for column, attempt in enumerate(found):
        trace = attempt.trace
        assert trace is not None
        parts = _parts(comparison.model, trace)
        first = axes = figure.add_subplot(grid[0, column], sharey=first)
        axes.stackplot(trace.time, *parts, labels=[name for name, _ in PARTS],
                       colors=[color for _, color in PARTS], linewidth=0.0)
        axes.plot(trace.time, [energy.work for energy in trace.energy], color=style.TEXT,
                  linewidth=1.6, label='work of the actuators')
        style.dress(axes, y='energy [J]' if not column else '', title=attempt.name)
        axes.set_xlim(trace.time[0], trace.time[-1])
        axes.tick_params(labelbottom=False)
        below = axes = figure.add_subplot(grid[1, column], sharey=below)
        residual = np.array([energy.energy_residual for energy in trace.energy])
        axes.semilogy(trace.time, np.maximum(np.abs(residual), 1e-12), color=style.TEXT,
                      linewidth=0.9)
        axes.axhline(LIMIT, color='#D55E00', linewidth=1.0, linestyle='--')
        style.dress(axes, x='time [s]', y='|residual| [J]' if not column else '')
        axes.set(xlim=(trace.time[0], trace.time[-1]), ylim=(1e-10, 1e-3))
    style.legend_outside(figure, first, 5, loc='outside upper center')
    return figure


def _parts(model: StickybotModel, trace: ClimbTrace) -> list[np.ndarray]:
    height = np.array([balance(model, state, rest).center_of_mass[1]
                       for state, rest in zip(trace.states, trace.rests)])
    lifted = -model.mass * float(model.wall.in_plane[1]) * (height - height[0])
    stored = np.array([energy.stored for energy in trace.energy])
    return [lifted, stored - lifted, np.array([energy.damped for energy in trace.energy]),
            np.array([energy.struck for energy in trace.energy])]


# -------------------------------------------------------------------------------------------------
# The two questions about forces: load sharing, and accelerations that the limits allow.


MOST_LABELS = 6         # robots with more feet get no numbers at the arrows
ANSWER_COLORS = ('#56B4E9', '#0072B2', '#009E73', '#E69F00', '#D55E00', '#CC79A7')


def draw_sharing(model: StickybotModel, answers: Answers) -> Figure:
    """
    Draw the forces of misplaced feet: as they are, by turning hips, by moving them.

    Parameters
    ----------
    model : StickybotModel
        The robot.
    answers : Answers
        To the questions about forces.

    Returns
    -------
    Figure
        The robot with its forces, once for each way.

    """
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
    """
    Draw which accelerations of the body the feet allow, one line a limit.

    Parameters
    ----------
    answers : Answers
        To the questions about forces.

    Returns
    -------
    Figure
        Accelerations right and up the slope [m/s²].

    """
    figure = style.new_figure(4.8)
    axes = figure.subplots()
    corners = []
    for row, color in zip(answers.strength, ANSWER_COLORS):
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
    style.legend_outside(figure, axes, loc='outside right center',
                         title='each foot holds at most', title_fontsize=8.5)
    return figure


# -------------------------------------------------------------------------------------------------
# Forces of the wall on each foot, with and without their reduction.


MOST_FEET = 8
PERIODS = 2
FORCE_COLORS = {'off': '#D55E00', 'turning': '#E69F00', 'full': '#0072B2'}


def draw_climb_forces(comparison: Comparison) -> Figure | None:
    """
    Draw the force of each foot over the last two periods of the gait, on feet without limits.

    Parameters
    ----------
    comparison : Comparison
        The climbs.

    Returns
    -------
    Figure or None
        None when no climb was possible.

    """
    found = [attempt for attempt in map(comparison.attempt, FORCE_COLORS) if attempt is not None]
    traces = [(attempt, attempt.trace) for attempt in found if attempt.trace is not None]
    if not traces:
        return None
    names = comparison.model.limb_names[:MOST_FEET]
    gait = comparison.settings.gait()
    figure = style.new_figure(0.9 + 1.35 * len(names))
    all_axes = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    top = 0.0
    for attempt, trace in traces:
        last = trace.time >= trace.time[-1] - PERIODS * gait.period
        size = np.hypot(trace.reaction[last, :, 0], trace.reaction[last, :, 1])
        top = max(top, float(np.quantile(size, 0.998)))
        for i, axes in enumerate(all_axes):
            style.line(axes, trace.time[last], np.where(trace.attached[last, i], size[:, i],
                                                        np.nan),
                       color=FORCE_COLORS[attempt.reduction], label=attempt.name, linewidth=1.3)
    share = abs(comparison.model.mass * float(comparison.model.wall.in_plane[1]))
    on = traces[0][1].attached
    fewest = max(int(on[len(on) // 2:].sum(axis=1).min()), 1)
    for i, axes in enumerate(all_axes):
        axes.axhline(share / fewest, color=style.TEXT, linewidth=0.9, linestyle=':')
        style.dress(axes, y='|F| [N]', title=names[i].replace('_', ' '),
                    x='time [s]' if i == len(names) - 1 else '')
    all_axes[0].text(1.0, share / fewest, f' weight / {fewest}', fontsize=8.5, va='center',
                     color=style.TEXT, transform=all_axes[0].get_yaxis_transform())
    end = max(trace.time[-1] for _, trace in traces)
    all_axes[0].set(xlim=(end - PERIODS * gait.period, end), ylim=(0.0, max(1.08 * top, 1e-3)))
    style.legend_outside(figure, all_axes[0], 3)
    return figure


# -------------------------------------------------------------------------------------------------
# Modes of a climbing robot in the complex plane, and the nominal poles of the design rule.


RATIOS = (0.3, 0.5, 0.7, 0.9)
SWINGING = 0.95     # damping ratio below which a mode is named in the figure
LINEAR = 50.0       # 1/s up to which the axes are even; beyond, logarithmic


def draw_modes(model: StickybotModel, modes: list[NamedMode]) -> Figure:
    """
    Draw eigenvalues in the complex plane, with lines of equal damping.

    Axes are linear up to 50 1/s and logarithmic beyond.

    Parameters
    ----------
    model : StickybotModel
        The robot.
    modes : list of NamedMode
        Of the robot at rest.

    Returns
    -------
    Figure
        With the nominal poles of each hip axis.

    """
    figure = style.new_figure(3.9)
    axes = figure.subplots()
    nominal = nominal_poles(model)
    values = np.array([mode.eigenvalue for mode in modes])
    fast = 2.0 * float(np.abs(values).max(initial=LINEAR))
    high = 2.2 * float(max(values.imag.max(initial=0.0),
                           max((pole.imag for _, pole in nominal), default=0.0), LINEAR))
    radius = np.geomspace(1e-2, fast, 400)
    for ratio in RATIOS:
        across = math.sqrt(1.0 - ratio * ratio)
        axes.plot(-ratio * radius, across * radius, color='#bbbbbb', linewidth=0.8, zorder=1)
        at = min(0.9 * high / across, 0.5 * fast / ratio)
        axes.annotate(rf'$\zeta$ = {ratio:g}', (-ratio * at, across * at), fontsize=8,
                      color='#777777', ha='center', va='center',
                      bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.6})
    axes.plot([pole.real for _, pole in nominal], [pole.imag for _, pole in nominal],
              linestyle='none', marker='s', markersize=9, markerfacecolor='none',
              markeredgewidth=1.4, color='#D55E00', label='nominal, each hip by itself')
    for k, (pole, names) in enumerate(_grouped(nominal).items()):
        axes.annotate('hip ' + ', '.join(names), (pole.real, pole.imag), (0, -18 - 12 * (k % 2)),
                      textcoords='offset points', ha='center', fontsize=8.5, color='#D55E00')
    for mode in modes:
        if mode.damping_ratio < SWINGING:
            axes.annotate(rf'{mode.name}, $\zeta$ = {mode.damping_ratio:.2f}',
                          (mode.eigenvalue.real, mode.eigenvalue.imag), (9, 2),
                          textcoords='offset points', fontsize=8.5, color='#0072B2', va='bottom',
                          bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.4})
    axes.plot(values.real, values.imag, linestyle='none', marker='o', markersize=6,
              color='#0072B2', alpha=0.75, markeredgecolor='white', label='the coupled robot')
    axes.set_xscale('symlog', linthresh=LINEAR, linscale=0.7)
    axes.set(xlim=(-fast, 0.0 if (values.real <= 0.0).all() else fast), ylim=(-0.28 * high, high))
    axes.axhline(0.0, color='#999999', linewidth=0.8)
    style.dress(axes, x='real part [1/s]: decay', y='imaginary part [rad/s]')
    style.legend(axes, loc='upper left')
    return figure


def _grouped(poles: list[tuple[str, complex]]) -> dict[complex, list[str]]:
    """Return the names that share a pole, to a thousandth of it."""
    found: dict[complex, list[str]] = {}
    for name, pole in poles:
        same = next((known for known in found if abs(known - pole) < 1e-3 * abs(pole)), pole)
        found.setdefault(same, []).append(name)
    return found


# -------------------------------------------------------------------------------------------------
# Phases of the gait: which feet are attached when, and the body's orbit in its phase planes.


# Phase planes: column of the pose, label, unit and factor.
PLANES = ((0, 'x about its mean', 'mm', 1e3), (1, 'y ahead of an even climb', 'mm', 1e3),
          (2, 'angle', 'mrad', 1e3))


def draw_climb_phase(comparison: Comparison) -> Figure | None:
    """
    Draw when feet hold in the climb that is shown, and the body's last period in its phase planes.

    Parameters
    ----------
    comparison : Comparison
        The climbs.

    Returns
    -------
    Figure or None
        None when the climb that is shown was not possible.

    """
    shown = comparison.shown
    if shown.trace is None:
        return None
    model = comparison.model
    figure = style.new_figure(3.9 + 0.27 * model.n_limbs)
    rows = figure.subfigures(2, 1, height_ratios=(0.9 + 0.27 * model.n_limbs, 3.0))
    _draw_contacts(rows[0].subplots(), comparison, shown.trace)
    axes = rows[1].subplots(1, len(PLANES))
    for way in ('off', 'full'):
        attempt = comparison.attempt(way)
        if attempt is not None and attempt.trace is not None:
            _draw_orbits(axes, comparison, attempt, attempt.trace)
    for plane, (_, name, unit, _) in zip(axes, PLANES):
        style.dress(plane, x=f'{name} [{unit}]', y=f'rate [{unit}/s]')
        plane.margins(0.08)
    style.legend_outside(rows[1], axes[0], 3)
    return figure


def _draw_contacts(axes: Axes, comparison: Comparison, trace: ClimbTrace) -> None:
    """Draw bars where a foot holds, and the gait's own phases as a line over each."""
    step = float(trace.time[1] - trace.time[0])
    for i in range(comparison.model.n_limbs):
        bars = [(trace.time[begin] - step, (end - begin) * step)
                for begin, end in runs(trace.attached[:, i])]
        axes.broken_barh(bars, (i - 0.36, 0.72), facecolors=foot_color(i))
    for k in np.arange(0.0, trace.time[-1], comparison.settings.gait().period):
        axes.axvline(k, color='#888888', linewidth=0.7, linestyle=':')
    style.dress(axes, x='time [s]', title=f'Feet on the wall, {comparison.shown.name}; dotted: '
                                          'periods of the gait')
    names = [name.replace('_', ' ') for name in comparison.model.limb_names]
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0.0, trace.time[-1]), ylim=(len(names) - 0.4, -0.6))


def _draw_orbits(all_axes: np.ndarray, comparison: Comparison, attempt: Attempt,
                 trace: ClimbTrace) -> None:
    speed = attempt.climb.speed if attempt.climb is not None else 0.0
    last = trace.time >= trace.time[-1] - comparison.settings.gait().period
    time = trace.time[last]
    for axes, (column, _, _, factor) in zip(all_axes, PLANES):
        place, rate = trace.pose[last, column], trace.velocity[last, column]
        if column == 1:
            place, rate = place - speed * time, rate - speed
        if column < 2:
            place = place - place.mean()
        axes.plot(factor * place, factor * rate, color=FORCE_COLORS[attempt.reduction],
                  linewidth=1.1, label=attempt.name)
