# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures of the report of a bag, by the names of their files: `FIGURES`."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import chi2

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.pages import style
from legged_dynamics.pages.palette import foot_color
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.recordings.recording import leveled, world_force
from legged_dynamics.recordings.report.accuracy import Behaviour
from legged_dynamics.recordings.report.analysis import Analysis
from legged_dynamics.spatial.convex_hull import convex_hull

DETAIL = 2.0        # s


def draw_forces(analysis: Analysis) -> Figure:
    """Draw each foot's vertical force over the whole bag, and their sum."""
    series, truth = analysis.series, analysis.truth
    time, feet = series.time, series.feet
    force = world_force(series, series.foot_to_world, raw=False)
    figure = style.new_figure(1.0 + 1.55 * (len(feet) + 1))
    all_axes = figure.subplots(len(feet) + 1, 1, sharex=True)
    for i, (foot, axes) in enumerate(zip(feet, all_axes)):
        style.shade_behaviours(axes, time, analysis.behaviours, names=i == 0)
        if truth.known:
            style.line(axes, time, truth.force[:, i, 2], color=style.TRUTH, linewidth=2.0,
                       label='truth')
        style.line(axes, time, force[:, i, 2], color=foot_color(i), label='on-line estimate')
        _draw_desired(axes, analysis, time, i, 2)
        style.dress(axes, y=f'{foot}\n$f_z$ [N]')
    total = all_axes[-1]
    style.shade_behaviours(total, time, analysis.behaviours)
    if truth.known:
        style.line(total, time, truth.force[:, :, 2].sum(axis=1), color=style.TRUTH,
                   linewidth=2.0)
    style.line(total, time, force[:, :, 2].sum(axis=1), color='black', linewidth=0.8)
    total.axhline(analysis.weight, color='#bb4444', linewidth=0.8, linestyle=':')
    total.text(time[-1], analysis.weight, ' weight', color='#bb4444', fontsize=8.5, va='center')
    style.dress(total, x='time [s]', y='all feet\n$f_z$ [N]')
    total.set_xlim(time[0], time[-1])
    style.legend_outside(figure, all_axes[0], 3)
    return figure


def _draw_desired(axes: Axes, analysis: Analysis, time: np.ndarray, foot: int, axis: int,
                  shown: np.ndarray | slice = slice(None)) -> None:
    if analysis.desired_force is not None:
        style.line(axes, time, analysis.desired_force[shown, foot, axis], color='black',
                   linewidth=0.9, linestyle=(0, (4, 3)), label='wanted by the controller')


def _draw_force_details(analysis: Analysis) -> Figure:
    """Draw all three components of each foot's force in a short window."""
    series, truth = analysis.series, analysis.truth
    begin, end = style.detail_window(series.time, analysis.behaviours, DETAIL)
    shown = (series.time >= begin) & (series.time <= end)
    time, rotation = series.time[shown], series.foot_to_world
    on_line = world_force(series, rotation, raw=False)[shown]
    raw = world_force(series, rotation, raw=True)[shown]
    figure = style.new_figure(0.9 + 1.7 * len(series.feet))
    grid = figure.subplots(len(series.feet), 3, sharex=True, sharey='col', squeeze=False)
    for i, foot in enumerate(series.feet):
        for k, axis in enumerate('xyz'):
            axes = grid[i, k]
            style.line(axes, time, raw[:, i, k], color=foot_color(i), alpha=0.35, linewidth=0.7,
                       label='at full bandwidth')
            if truth.known:
                style.line(axes, time, truth.force[shown, i, k], color=style.TRUTH,
                           linewidth=2.0, zorder=1.5, label='truth')
            style.line(axes, time, on_line[:, i, k], color=foot_color(i), label='on-line estimate')
            _draw_desired(axes, analysis, time, i, k, shown)
            style.dress(axes, x='time [s]' if i == len(series.feet) - 1 else '',
                        y=f'{foot}\n[N]' if k == 0 else '',
                        title=f'$f_{axis}$, world axes' if i == 0 else '')
    grid[0, 2].set_xlim(begin, end)
    # The axes are scaled to the forces, not to the peaks of impacts.
    for k in range(3):
        both = np.concatenate([on_line[:, :, k], truth.force[shown, :, k]])
        low, high = np.nanpercentile(both, (0.5, 99.5))
        margin = 0.15 * (high - low) + 1.0
        grid[0, k].set_ylim(low - margin, high + margin)
    style.legend_outside(figure, grid[0, 2], 4)
    return figure


# -------------------------------------------------------------------------------------------------
# Reference and true pose of the base under control.


def _draw_body(analysis: Analysis) -> Figure | None:
    """Draw position and rotation of the base since the controller took over."""
    body = analysis.body
    if body is None:
        return None
    figure = style.new_figure(6.0)
    grid = figure.subplots(3, 2, sharex=True)
    for column, (unit, factor, span, wanted, true, names) in enumerate((
            ('mm', 1e3, 20.0, body.wanted, body.moved, 'xyz'),
            ('deg', np.degrees(1.0), 4.0, body.wanted_turn, body.turned,
             ('roll', 'pitch', 'yaw')))):
        for k, name in enumerate(names):
            axes = grid[k, column]
            style.line(axes, body.time, factor * wanted[:, k], color=style.TRUTH, linewidth=2.4,
                       label='wanted')
            style.line(axes, body.time, factor * true[:, k], color=foot_color(column),
                       label='true')
            style.dress(axes, x='time under control [s]' if k == 2 else '', y=f'{name} [{unit}]',
                        title=('position', 'orientation')[column] if k == 0 else '')
            low, high = axes.get_ylim()     # a body that hardly moves looks like one
            missing = max(span - (high - low), 0.0)
            axes.set_ylim(low - 0.5 * missing, high + 0.5 * missing)
    grid[0, 0].set_xlim(body.time[0], body.time[-1])
    for axes in grid[0]:
        style.legend(axes)
    return figure


# -------------------------------------------------------------------------------------------------
# True and estimated contacts over the whole bag and in a short window.


CONTACTS_DETAIL = 3.0        # s


def _draw_contacts(analysis: Analysis) -> Figure:
    """Draw when which foot was on the ground: over the whole bag, and for a few steps."""
    time, feet = analysis.series.time, analysis.series.feet
    figure = style.new_figure(1.2 + 0.8 * len(feet))
    whole, part = figure.subplots(2, 1)
    style.shade_behaviours(whole, time, analysis.behaviours, names=True)
    window = style.detail_window(time, analysis.behaviours, CONTACTS_DETAIL)
    for axes, limits in ((whole, (time[0], time[-1])), (part, window)):
        shown = (time >= limits[0]) & (time <= limits[1])
        _bars(axes, analysis, shown)
        axes.set_xlim(*limits)
        axes.set_yticks(range(len(feet)), feet)
        axes.set_ylim(len(feet) - 0.5, -0.5)
        axes.grid(False, axis='y')
    whole.set_xlabel('')
    style.legend_outside(figure, whole, 2)
    return figure


def _bars(axes: Axes, analysis: Analysis, shown: np.ndarray) -> None:
    series, truth = analysis.series, analysis.truth
    time = series.time[shown]
    style.dress(axes, x='time [s]')
    for i in range(len(series.feet)):
        color = foot_color(i)
        if truth.known:
            axes.broken_barh(stretches(time, truth.contact[shown, i]), (i - 0.36, 0.34),
                             color=style.TRUTH, label='true' if i == 0 else None)
            place = (i + 0.02, 0.34)
        else:
            place = (i - 0.3, 0.6)
        axes.broken_barh(stretches(time, series.contact.values[shown, i]), place, color=color,
                         label='estimated' if i == 0 else None)


def stretches(time: np.ndarray, down: np.ndarray) -> list[tuple[float, float]]:
    """Return begin and length [s] of each interval in which a condition held."""
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)] - time[a])) for a, b in runs(down)]


# -------------------------------------------------------------------------------------------------
# Centre of pressure on the support polygon, from above.


POLYGONS = 60       # drawn of each behaviour
POINTS = 3000


def _draw_pressure(analysis: Analysis) -> Figure:
    """Draw the centre of pressure from above for each behaviour."""
    figure = style.new_figure(4.2)
    turned = Heading(analysis)
    maps = figure.subplots(1, len(analysis.behaviours), squeeze=False)[0]
    for axes, behaviour in zip(maps, analysis.behaviours):
        _from_above(axes, analysis, behaviour, turned)
    style.legend_outside(figure, maps[0], 2, markerscale=2.0)
    return figure


class Heading:
    """
    Points (n, ..., 2) from the base origin in level axes that turn with its heading.

    `turn` (n, 2, 2): rows forward and left, world axes; `corners`: points that feet stand
    on.
    """

    def __init__(self, analysis: Analysis):
        series = analysis.series
        forward = series.base_rotation.values[:, :2, 0]
        forward = forward / np.linalg.norm(forward, axis=1, keepdims=True)
        self.turn = np.stack([forward, np.stack([-forward[:, 1], forward[:, 0]], axis=1)], axis=1)
        self.estimated = self._to(leveled(series, series.center_of_pressure.values))
        self.true = self._to(analysis.truth.center_of_pressure)
        self.contact = self._to(leveled(series, series.contact_point.values))
        self.corners = self._corners(analysis)

    def _to(self, points: np.ndarray) -> np.ndarray:
        return np.einsum('nij,n...j->n...i', self.turn, points[..., :2])

    def _corners(self, analysis: Analysis) -> list[np.ndarray]:
        """Return for each foot the points it stands on, (n, k, 2)."""
        series, corners = analysis.series, []
        for i, foot in enumerate(analysis.robot.config.feet):
            if len(foot.corners) > 1:
                in_base = (series.foot_position.values[:, i, None]
                           + np.einsum('nij,kj->nki', series.foot_rotation.values[:, i],
                                       foot.corners))
                corners.append(self._to(leveled(series, in_base)))
            else:
                corners.append(self.contact[:, i, None])
        return corners


def _from_above(axes: Axes, analysis: Analysis, behaviour: Behaviour, turned: Heading) -> None:
    samples = np.flatnonzero(behaviour.samples)
    contact = (analysis.truth.contact if analysis.truth.known
               else analysis.series.contact.values)
    chosen = samples[::-(-len(samples) // POLYGONS)]
    for sample in chosen:
        standing = [corners[sample] for corners, down in zip(turned.corners, contact[sample])
                    if down]
        if not standing:
            continue
        points = np.concatenate(standing)
        hull = convex_hull(points)
        if len(hull) >= 3 and sample == chosen[len(chosen) // 2]:
            axes.fill(-hull[:, 1], hull[:, 0], facecolor='#4477aa', edgecolor='none', alpha=0.12)
        closed = np.vstack([hull, hull[:1]])
        axes.plot(-closed[:, 1], closed[:, 0], color='#4477aa', linewidth=0.6, alpha=0.2)
    few = samples[::-(-len(samples) // POINTS)]
    for i, foot in enumerate(analysis.series.feet):
        down = few[contact[few, i]]
        place = turned.contact[down, i]
        axes.scatter(-place[:, 1], place[:, 0], s=3, alpha=0.25, linewidths=0,
                     color=foot_color(i))
        if len(down):
            side = -1 if np.median(place[:, 1]) > 0.0 else 1
            axes.annotate(foot, (-np.median(place[:, 1]), np.median(place[:, 0])), fontsize=8,
                          color='#555555', ha='left' if side > 0 else 'right', va='center',
                          xytext=(6 * side, 0), textcoords='offset points')
    if np.isfinite(turned.true[few]).any():
        axes.scatter(-turned.true[few, 1], turned.true[few, 0], s=10, color=style.TRUTH,
                     linewidths=0, alpha=0.5, label='true centre of pressure')
    axes.scatter(-turned.estimated[few, 1], turned.estimated[few, 0], s=3, color='black',
                 linewidths=0, alpha=0.6, label='estimated centre of pressure')
    style.dress(axes, x='right of the base [m]', y='forward of the base [m]',
                title=behaviour.name)
    axes.set_aspect('equal')
    axes.margins(x=0.35)


# -------------------------------------------------------------------------------------------------
# Residuals of each joint's torque.


def _draw_residuals(analysis: Analysis) -> Figure | None:
    """Draw the residual of each joint's torque as a bar."""
    series = analysis.series
    torque = series.external_torque.values
    known = np.isfinite(torque).any(axis=0)
    if not known.any():
        return None
    figure = style.new_figure(2.8)
    axes = figure.subplots()
    width = 0.8 / max(len(analysis.behaviours), 1)
    names = [name for name, there in zip(series.joints, known) if there]
    for index, behaviour in enumerate(analysis.behaviours):
        values = torque[behaviour.samples][:, known]
        values = values[np.isfinite(values).all(axis=1)]
        if len(values):
            shift = (index - (len(analysis.behaviours) - 1) / 2) * width
            axes.bar(np.arange(len(names)) + shift, np.sqrt((values ** 2).mean(axis=0)),
                     width, color=('#44546a', '#d9915a')[index % 2], label=behaviour.name)
    style.dress(axes, y='joint torque, rms [N m]')
    axes.set_xticks(range(len(names)), names, rotation=45, ha='right')
    axes.grid(False, axis='x')
    style.legend(axes, ncols=len(analysis.behaviours), loc='lower right',
                 bbox_to_anchor=(1.0, 1.0))      # above the bars
    return figure


# -------------------------------------------------------------------------------------------------
# Regularity of the inputs, and latency of live wrenches.


def _draw_inputs(analysis: Analysis) -> Figure:
    """Draw the intervals between messages over time, by stamp and receipt, and as a histogram."""
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


def _draw_latency(analysis: Analysis) -> Figure | None:
    """Draw how long live wrenches took, as a histogram."""
    values = analysis.latency
    if values is None:
        return None
    figure = style.new_figure(2.8)
    axes = figure.subplots()
    p50, p99 = np.percentile(values, (50, 99))
    top = max(float(np.percentile(values, 99.7)) * 1.1, 1e-3)
    low = min(float(values.min()), 0.0)
    axes.hist(values.clip(low, top), np.linspace(low, top, 80), color='#44546a')
    for value, name in ((p50, '50 %'), (p99, '99 %')):
        axes.axvline(value, color='#bb4444', linewidth=1.0)
        axes.text(value, 0.97, f' {name}: {value:.2f} ms', color='#bb4444', fontsize=8.5,
                  transform=axes.get_xaxis_transform(), va='top',
                  bbox={'facecolor': 'white', 'edgecolor': 'none', 'alpha': 0.8, 'pad': 1.0})
    style.dress(axes, x='latency [ms]', y='wrenches', title='transport and computing')
    return figure


# -------------------------------------------------------------------------------------------------
# How large the residual at the base may be by the stated noise of the sensors alone.
#
# Accelerations are differences of noisy velocities, so white noise of standard deviation sigma
# gives sqrt(2) sigma / dt, and what it does at the base is a column of the mass matrix M
# (Featherstone 2008, section 6.2). With the accelerometer at p, whose reading is moved to the base
# by the gyro's slope, and the model's error of mass,
#
#     C = 2 / dt^2 (sum over joints of sigma_j^2 M_j M_j^T + sigma_g^2 G G^T)
#         + sigma_a^2 M_v M_v^T,    G = M_w + M_v x p  (row by row),
#
# and the length of an error with this covariance stays below the 95 % quantile of a scaled
# chi-square with the same mean and variance (Welch 1938). Contacts, impacts and a wrong model are
# not in it: what lies above the band is theirs.


# Poses that the band is a mean of.
POSES = 50
QUANTILE = 0.95


def residual_bands(analysis: Analysis) -> tuple[float, float]:
    """Return the 95 % noise bounds of base force [N] and moment [N m]; NaN if unknown."""
    config, series = analysis.robot.config, analysis.series
    model, noise = config.apply_to(analysis.robot.model), config.noise
    positions = series.position.values
    positions = positions[np.isfinite(positions).all(axis=1)]
    if (not model.floating or not np.isfinite(series.period) or not len(positions)
            or positions.shape[1] != model.nq):
        return np.nan, np.nan
    velocity = noise.of_joints('velocity', model, config.joints)
    mass = CompositeBody(model)
    imu = model.frame(config.imu_link or model.base_link)
    place = imu.pose.p if imu.body == 0 else np.zeros(3)
    rate = np.sqrt(2.0) / series.period
    covariance = np.zeros((6, 6))
    chosen = positions[::max(len(positions) // POSES, 1)]
    for position in chosen:
        M = mass.mass_matrix(position)[:6]
        errors = np.hstack([
            noise.accelerometer * M[:, :3], rate * velocity * M[:, 6:],
            rate * noise.gyro * (M[:, 3:6] + np.cross(M[:, :3], place))])
        covariance += errors @ errors.T / len(chosen)
    covariance[:3, :3] += np.eye(3) / 3.0 * (noise.mass * model.total_mass * GRAVITY) ** 2
    return _quantile(covariance[:3, :3]), _quantile(covariance[3:, 3:])


def _quantile(covariance: np.ndarray) -> float:
    """Return what the length of a Gaussian vector stays below in 95 % of the cases."""
    trace, squares = np.trace(covariance), np.sum(covariance ** 2)
    if trace <= 0.0:
        return 0.0
    freedom = trace ** 2 / squares
    return float(np.sqrt(chi2.ppf(QUANTILE, freedom) * trace / freedom))


# -------------------------------------------------------------------------------------------------

# By the name of its file; a figure that has nothing to show is None.
FIGURES: dict[str, Callable[[Analysis], Figure | None]] = {
    'forces': draw_forces, 'force_details': _draw_force_details, 'body': _draw_body,
    'contacts': _draw_contacts, 'center_of_pressure': _draw_pressure,
    'residuals': _draw_residuals, 'inputs': _draw_inputs, 'latency': _draw_latency}
