# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The report of a climb: film, forces, phases, energy, modes, and the two questions.

Climbs with and without reduction of the reaction forces are compared, on pads and on feet without
limits. The questions are those of `comparison.py` beside this file.
"""
from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.pages import style
from legged_dynamics.pages.page import Table, foot_color, shown
from legged_dynamics.pages.section import (
    Cards,
    Listing,
    Part,
    Report,
    ReportFigure,
    ReportSection,
)
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.reproductions.climbing.comparison import (
    MISPLACED,
    MUJOCO,
    OWN,
    Answers,
    Attempt,
    Comparison,
    NamedMode,
    Sharing,
    Strength,
    answer_questions,
    is_disc,
    modes_at_rest,
    nominal_poles,
    residuals_of,
)
from legged_dynamics.reproductions.climbing.mechanics import balance
from legged_dynamics.reproductions.climbing.plots import (
    FORCE_COLORS,
    Climber,
    Look,
    reach_of,
    round_force,
)
from legged_dynamics.stickybot import Allocation, AllocationStatus, ClimbTrace, StickybotModel

# -------------------------------------------------------------------------------------------------
# Tables of the comparison.


MOST_MODES = 14


def _climb_table(comparison: Comparison) -> Table:
    """Return one row a climb: speed, forces, energy."""
    rows: list[tuple[str, ...]] = []
    first = []
    groups: dict[tuple[str, bool], list[Attempt]] = {}
    for attempt in comparison.attempts:
        groups.setdefault((attempt.plant, attempt.pads is not None), []).append(attempt)
    for (plant, limited), group in groups.items():
        first.append(len(rows))
        plain = next((attempt for attempt in group if attempt.reduction == 'off'), None)
        where = f'{"MuJoCo, " if plant == MUJOCO else ""}' \
                f'{"on pads" if limited else "feet unlimited"}'
        rows += [(f'{attempt.name}, {where}', *_climb_cells(comparison, attempt, plain))
                 for attempt in group]
    return Table('Climbs', ('climb', 'speed [cm/s]', 'peak |F| [N]', 'vs plain [%]',
                            'mean |F| [N]', 'work [J]', 'dampers [J]', 'touchdown [mJ]',
                            'cost of transport', 'let go'), rows, (), first)


def _climb_cells(comparison: Comparison, attempt: Attempt, plain: Attempt | None) -> list[str]:
    done = attempt.climb
    if done is None:
        return ['not possible', *['-'] * 8]
    if attempt.failing:
        return [attempt.failing, *['-'] * 7, str(done.failures)]
    against = '-'
    if (plain is not None and plain is not attempt and plain.climb is not None
            and not plain.failing):
        against = f'{100.0 * (done.peak / plain.climb.peak - 1.0):+.1f}'
    weight, energy = comparison.model.mass * comparison.model.wall.gravity, done.energy
    cost = energy.work / (weight * abs(done.rise)) if weight * done.rise else math.nan
    return [f'{100.0 * done.speed:.3f}', f'{done.peak:.3f}', against, f'{done.mean:.3f}',
            shown(energy.work, '.4f'), shown(energy.damped, '.4f'),
            shown(1e3 * energy.struck, '.3f'),
            shown(cost, '.2f'), str(done.failures)]


def _balance_table(comparison: Comparison) -> Table:
    """Return how far energy, momentum and angular momentum are off."""
    found = [attempt for attempt in map(comparison.attempt, ('off', 'full'))
             if attempt is not None]
    columns = []
    for attempt in found:
        assert attempt.climb is not None
        assert attempt.climb.trace is not None
        now, energy = residuals_of(comparison.model, attempt.climb.trace), attempt.climb.energy
        columns.append((energy.energy_residual, now.power, now.force, now.moment,
                        max(map(abs, energy.momentum_residual)),
                        abs(energy.angular_momentum_residual)))
    seconds = f'over {comparison.seconds:g} s'
    names = (f'energy, {seconds} [J]', 'power, largest of all samples [W]',
             'Newton: momentum, largest of all samples [N]',
             'angular momentum, largest of all samples [N m]', f'momentum, {seconds} [N s]',
             f'angular momentum, {seconds} [N m s]')
    return Table('Residuals of the balances', ('balance', *(attempt.name for attempt in found)),
                 [(name, *(f'{column[k]:.1e}' for column in columns))
                  for k, name in enumerate(names)])


def _mode_table(modes: list[NamedMode], nominal: float) -> Table:
    """Return the true modes and the nominal damping ratio, the least damped first."""
    rows: list[tuple[str, ...]] = []
    for mode in sorted(modes, key=lambda mode: (mode.damping_ratio, abs(mode.eigenvalue))):
        swing = f' ± {mode.eigenvalue.imag:.1f} i' if mode.eigenvalue.imag else ''
        row = (mode.name, f'{mode.eigenvalue.real:.1f}{swing}', f'{abs(mode.eigenvalue):.1f}',
               f'{mode.damping_ratio:.3f}', f'{nominal:.3f}')
        if row not in rows:
            rows.append(row)
    left = len(rows) - MOST_MODES
    rows = rows[:MOST_MODES]
    if left > 0:
        rows.append((f'... and {left} more, all better damped', '', '', '', ''))
    return Table('Modes at rest on all feet', (
        'what moves', 'eigenvalue [1/s]', 'frequency [rad/s]', 'damping ratio', 'nominal'), rows)


def _sharing_table(answers: Answers) -> Table:
    """Return the answers to question (a)."""
    return Table('Largest force |F| of any foot [N]', (
        'state', 'as it is', 'least squares', 'least maximum',
        'hips move by', 'rest angles alone, settled', 'rest angles alone, this instant',
        'all equal, this instant'), [_sharing_row(case) for case in answers.sharing])


def _sharing_row(case: Sharing) -> tuple[str, ...]:
    move = '-'
    if case.rest_change is not None:
        move = (f'{1e3 * np.abs(case.rest_change[:, :2]).max():.2f} mm, '
                f'{1e3 * np.abs(case.rest_change[:, 2]).max():.2f} mrad')
    squares = float(np.hypot(*case.squares.forces.T).max())
    return (case.name, f'{case.peak:.3f}', shown(squares, '.3f'),
            shown(case.even.value, '.3f'), move,
            '-' if case.turned is None else f'{case.turned.peak:.3f}',
            shown(case.frozen_peak, '.3f'),
            f'{case.frozen_equal[0]:.3f}' if case.frozen_equal else 'none')


def _strength_table(answers: Answers) -> Table:
    """Return the answers to question (b): accelerations that limits on the forces allow."""
    return Table('Largest acceleration of the body for a limit on |F|', (
        'each foot holds', 'up [m/s²]', 'down [m/s²]', 'aside [m/s²]', 'turning [rad/s²]',
        'up, on the feet of a stride [m/s²]', 'turning by rest angles, this instant [rad/s²]'),
        [_strength_row(row) for row in answers.strength])


def _strength_row(row: Strength) -> tuple[str, ...]:
    low, high = row.turning_range
    return (row.name, *(_reached(found) for found in row.along.values()),
            f'{low:.0f} to {high:.0f}' if math.isfinite(low) else '-')


def _reached(found: Allocation) -> str:
    if found.status is not AllocationStatus.OPTIMAL:
        return 'does not hold'
    return f'{found.value:.2f}' if found.value >= 0.0 else f'sinks at {-found.value:.2f}'


# -------------------------------------------------------------------------------------------------
# Energy of a climb over time, and the residual of its balance.


PARTS = (('lifted weight', '#0072B2'), ('springs and motion', '#56B4E9'),
         ('lost in dampers', '#E69F00'), ('lost at touchdown', '#D55E00'))
LIMIT = 1e-4        # J


def _draw_climb_energy(comparison: Comparison) -> Figure | None:
    """Draw the energy of plain and reduced climb over time, and the residual of both."""
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


def _draw_sharing(model: StickybotModel, answers: Answers) -> Figure:
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


def _draw_strength(answers: Answers) -> Figure:
    """Draw which accelerations of the body the feet allow, one line a limit."""
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


def _draw_climb_forces(comparison: Comparison) -> Figure | None:
    """Draw each foot's force over the last two periods of the gait, on feet without limits."""
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


def _draw_modes(model: StickybotModel, modes: list[NamedMode]) -> Figure:
    """Draw eigenvalues in the complex plane, with lines of equal damping."""
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


def _draw_climb_phase(comparison: Comparison) -> Figure | None:
    """Draw when feet hold, and the body's last period in its phase planes, of the climb shown."""
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


# -------------------------------------------------------------------------------------------------

CLIMBS = (
    'Speed and mean are those of the second half. "Reduced by turning" moves the rest angles of '
    'the hips alone. Feet "unlimited" hold whatever they are asked to, so that the peaks can be '
    'compared. Cost of transport: work of the actuators over weight times distance.')
FORCES = (
    "Size of the wall's force on each foot over the last two periods, on unlimited feet. "
    'Dotted: the weight over the fewest feet that carry it, below which no force '
    'allocation can bring the peak.')
PHASES = (
    'Above: which feet are on the wall. Below: the body over the last period in its phase planes; '
    'an even climb is a point.')
ENERGY = (
    'Above: what the actuators put in, and where it is. Below: the residual of the balance '
    '(dashed: 0.1 mJ).')
MODES = (
    'Poles of the robot that hangs on all feet, and those by which the dampers are designed, each '
    'hip axis by itself. Grey: lines of equal damping.')
DESIGN = (
    'The design rule gives every axis of every hip its own damper, with its part of the body on '
    'it. The hips couple through body and limbs, and the true modes are damped otherwise.')
QUESTION_A = (
    "(a) How even, and how small, can the forces be while the body's acceleration is kept? "
    '"Least maximum" holds the accelerations of body and limbs; it is a cone program, solved to a '
    'duality gap of {gap:.0e}, and the rest positions that make it real follow from the springs. '
    '"This instant" takes the question literally: rest angles alone, the state frozen. It tells '
    'what happens before the limbs have moved, and is not a law of load sharing.')
QUESTION_B = (
    '(b) What acceleration does a limit on the forces allow? From rest on all feet, and on those '
    'that carry in the middle of a stride; "sinks" is the least acceleration down the slope that '
    'the feet must give way to.')


def write_climb_report(comparison: Comparison, folder: Path, film: Path | None = None,
                       command: str = 'legged-dynamics stickybot') -> tuple[Path, list[Table]]:
    """Write page and figures into a folder; return the page's path and its tables."""
    first: list[Part] = [Cards(_cards(comparison))]
    if film is not None:
        first.append(ReportFigure('', film.read_bytes, _film_caption(comparison), 'image/gif'))
    sections = [
        ReportSection('', first),
        ReportSection('With and without reduction', [
            CLIMBS, _climb_table(comparison), Listing(_notes(comparison)),
            ReportFigure('forces', partial(_draw_climb_forces, comparison), FORCES)]),
        ReportSection('Phases', [
            ReportFigure('phases', partial(_draw_climb_phase, comparison), PHASES)]),
        ReportSection('Energy and momentum', [
            _balance_table(comparison),
            ReportFigure('energy', partial(_draw_climb_energy, comparison), ENERGY)])]
    try:
        sections += _statics(comparison)
    except LeggedDynamicsError as error:
        sections.append(ReportSection('Modes and forces at rest', [
            f'The robot cannot hang still on its wall: {error}']))
    report = Report(f'Climbing robot: {_gait(comparison)}', _lead(comparison), sections, command,
                    _verdict(comparison), judged=False)
    return report.write(folder), report.tables


def _statics(comparison: Comparison) -> list[ReportSection]:
    """Return the sections about the robot at rest: modes, and the two questions about forces."""
    model = comparison.model
    everything, modes = modes_at_rest(model)
    answers = answer_questions(comparison)
    gap = max(case.even.gap for case in answers.sharing)
    return [
        ReportSection('Modes and damping', [
            DESIGN, _mode_table(modes, everything.nominal),
            ReportFigure('modes', partial(_draw_modes, model, modes), MODES)]),
        ReportSection('How the load can be shared', [
            QUESTION_A.format(gap=gap), _sharing_table(answers), Listing(_remains(answers)),
            ReportFigure('sharing', partial(_draw_sharing, model, answers),
                         'Forces of the wall on feet that are set wrongly, robot at rest.')]),
        ReportSection('What the feet allow', [
            QUESTION_B, _strength_table(answers), Listing(_limits(answers, model.limb_names)),
            ReportFigure('strength', partial(_draw_strength, answers),
                         'Accelerations of the body, without turning, that feet of that strength '
                         'allow from rest: all inside the line.')])]


def _gait(comparison: Comparison) -> str:
    gait = comparison.settings.gait()
    return f'{gait.pattern} gait, {comparison.model.n_limbs} limbs'


def _limbs(model: StickybotModel) -> str:
    """Say how many limbs there are, of how many links each."""
    counts = sorted({len(limb.links) for limb in model.limbs})
    links = ' or '.join(str(count) for count in counts)
    return f'{model.n_limbs} limbs of {links} link{"" if counts == [1] else "s"} each'


def _lead(comparison: Comparison) -> str:
    model, gait = comparison.model, comparison.settings.gait()
    pads = comparison.settings.values['adhesion.kind']
    return (f'{1e3 * model.mass:.0f} g, wall at {math.degrees(model.wall.inclination):.0f}° '
            f'(0° a floor, 90° upright, 180° a ceiling), {_limbs(model)}. '
            f'Period {gait.period:g} s, duty {gait.duty:g}, amplitude {gait.amplitude:g} rad. '
            f'{comparison.seconds:g} s by '
            + ("the package's own integrator" if comparison.shown.plant == OWN else
               "the package's own integrator, and by MuJoCo") + '. '
            + ('Feet hold anything.' if pads == 'none' else f'Pads: {pads}.'))


def _film_caption(comparison: Comparison) -> str:
    pads = '' if comparison.shown.pads is None else \
        ' Light blue: the forces that each pad holds at this instant, in which its arrow must end.'
    return (f'The climb "{comparison.shown.name}". Arrows: forces of the wall on the feet.{pads}')


def _cards(comparison: Comparison) -> list[tuple[str, str]]:
    shown, plain, full = comparison.shown, comparison.attempt('off'), comparison.attempt('full')
    cards = []
    if shown.climb is not None:
        cards.append(('falls' if shown.fell else f'{100.0 * shown.climb.speed:.2f} cm/s',
                      f'speed, {shown.name}'))
    if plain and full and plain.climb and full.climb:
        cards += [(f'{plain.climb.peak:.2f} → {full.climb.peak:.2f} N',
                   'peak |F|, plain → reduced'),
                  (f'{100.0 * (full.climb.peak / plain.climb.peak - 1.0):+.0f} %',
                   f'peak |F|, {_compared(full.climb.speed / plain.climb.speed)}')]
    other = next((attempt.climb for attempt in comparison.attempts
                  if attempt.plant == MUJOCO and attempt.reduction == 'off'), None)
    if plain and plain.climb and other:
        cards.append((f'{100.0 * (other.speed / plain.climb.speed - 1.0):+.2f} %',
                      'speed by MuJoCo against own, plain'))
    return cards


def _compared(ratio: float) -> str:
    """Say how much of another speed a speed is."""
    percent = round(100.0 * (ratio - 1.0), 1)
    return f'at {percent:+.1f} % speed' if percent else 'at the same speed'


def _verdict(comparison: Comparison) -> str:
    """Return in a sentence what the reduction buys, and who falls or loses feet."""
    plain, full, parts = comparison.attempt('off'), comparison.attempt('full'), []
    if plain and full and plain.climb and full.climb:
        less = 100.0 * (1.0 - full.climb.peak / plain.climb.peak)
        faster = 100.0 * (full.climb.speed / plain.climb.speed - 1.0)
        parts.append(
            f'On feet that hold anything, the largest force of the wall on a foot is '
            f'{full.climb.peak:.2f} N with the reduction and {plain.climb.peak:.2f} N without, '
            f'{abs(less):.0f} % {"less" if less >= 0.0 else "more"}, '
            + (f'at the same speed of {100.0 * full.climb.speed:.1f} cm/s' if abs(faster) < 1.0
               else f'{abs(faster):.0f} % {"faster" if faster > 0.0 else "slower"}'))
    fails = [f'{attempt.name} {attempt.failing}' for attempt in comparison.attempts
             if attempt.pads is not None and attempt.failing]
    holds = [attempt.name for attempt in comparison.attempts
             if attempt.pads is not None and attempt.climb is not None and not attempt.failing]
    if fails or holds:
        parts.append('on its pads ' + ', and '.join(
            fails + ([f'{" and ".join(holds)} holds'] if holds else [])))
    text = '; '.join(parts) or 'No climb came about'
    return f'{text[0].upper()}{text[1:]}.'


def _notes(comparison: Comparison) -> list[str]:
    notes = [] if comparison.asked else [
        f'The reduction is asked for {100.0 * comparison.speed:.2f} cm/s, what the plain gait '
        'reaches.']
    for attempt in comparison.attempts:
        where = 'on pads' if attempt.pads is not None else 'on unlimited feet'
        where += ', by MuJoCo' if attempt.plant == MUJOCO else ''
        if attempt.error:
            notes.append(f'{attempt.name.capitalize()} {where} is not possible: {attempt.error}')
        elif attempt.climb is not None and attempt.climb.failures:
            first = next(event for event in attempt.climb.events
                         if event.stamp_ns * 1e-9 == attempt.first_failure)
            notes.append(f'{attempt.name.capitalize()} {where}: feet let go '
                         f'{attempt.climb.failures} times. First: {first}.')
    return notes


def _remains(answers: Answers) -> list[str]:
    return [f'{case.name.capitalize()}: {case.turned.message}.' for case in answers.sharing
            if case.turned is not None]


def _with_names(proof: str, names: Sequence[str]) -> str:
    """Return a proof with the names of feet in place of their numbers."""
    return re.sub(r'(?<=limits of feet )[\d, ]+', lambda found: ', '.join(
        names[int(number)].replace('_', ' ') for number in found[0].split(',')), proof)


def _limits(answers: Answers, names: Sequence[str]) -> list[str]:
    notes = []
    for row in answers.strength:
        proof = next((found.certificate for found in row.along.values()
                      if found.status is AllocationStatus.INFEASIBLE and found.certificate), None)
        if proof is not None:
            notes.append(f'{row.name} does not hold the robot at rest: '
                         f'{_with_names(proof.message, names)}')
    fastest = answers.fastest
    notes.append(
        f'Not faster with reduced forces than at the speed asked: {fastest.limit}.'
        if math.isnan(fastest.speed) else
        f'Fastest climb with reduced forces, its steps in proportion: '
        f'{100.0 * fastest.speed:.1f} cm/s. '
        + (f'Beyond that ends {fastest.limit}.' if fastest.limit else 'No faster one was tried.'))
    return notes
