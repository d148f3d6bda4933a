# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The report of a climb: film, forces, phases, energy, modes, and the two questions.

Climbs with and without reduction of the reaction forces are compared, on pads and on feet without
limits. The questions are those of `reports/climbing/comparison.py`.
"""
from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.reports.climbing.comparison import (
    MUJOCO,
    OWN,
    Answers,
    Attempt,
    Comparison,
    NamedMode,
    Sharing,
    Strength,
    answer_questions,
    modes_at_rest,
    residuals_of,
)
from legged_dynamics.reports.climbing.plots import (
    draw_climb_energy,
    draw_climb_forces,
    draw_climb_phase,
    draw_modes,
    draw_sharing,
    draw_strength,
)
from legged_dynamics.reports.page import Table, shown
from legged_dynamics.reports.section import (
    Cards,
    Listing,
    Part,
    Report,
    ReportFigure,
    ReportSection,
)
from legged_dynamics.stickybot import Allocation, AllocationStatus, StickybotModel

# -------------------------------------------------------------------------------------------------
# Tables of the comparison.


MOST_MODES = 14


def climb_table(comparison: Comparison) -> Table:
    """
    Return one row a climb: speed, forces, energy.

    Parameters
    ----------
    comparison : Comparison
        The climbs.

    Returns
    -------
    Table
        Speed, forces and energy.

    """
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
    if attempt.fell:
        return [f'falls at {attempt.first_failure:.2f} s', *['-'] * 7, str(done.failures)]
    against = '-'
    if plain is not None and plain is not attempt and plain.climb is not None and not plain.fell:
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


def strength_table(answers: Answers) -> Table:
    """
    Return the answers to question (b): accelerations that limits on the forces allow.

    Parameters
    ----------
    answers : Answers
        To the questions about forces.

    Returns
    -------
    Table
        A row a limit.

    """
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
    """
    Write page and figures into a folder; return the page's path and its tables.

    Parameters
    ----------
    comparison : Comparison
        The climbs.
    folder : Path
        Made if need be.
    film : Path, optional
        GIF of the shown climb.
    command : str
        What made it, for the footer.

    Raises
    ------
    OutputError
        When the folder cannot be written.

    """
    first: list[Part] = [Cards(_cards(comparison))]
    if film is not None:
        first.append(ReportFigure('', film.read_bytes, _film_caption(comparison), 'image/gif'))
    sections = [
        ReportSection('', first),
        ReportSection('With and without reduction', [
            CLIMBS, climb_table(comparison), Listing(_notes(comparison)),
            ReportFigure('forces', partial(draw_climb_forces, comparison), FORCES)]),
        ReportSection('Phases', [
            ReportFigure('phases', partial(draw_climb_phase, comparison), PHASES)]),
        ReportSection('Energy and momentum', [
            _balance_table(comparison),
            ReportFigure('energy', partial(draw_climb_energy, comparison), ENERGY)])]
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
            ReportFigure('modes', partial(draw_modes, model, modes), MODES)]),
        ReportSection('How the load can be shared', [
            QUESTION_A.format(gap=gap), _sharing_table(answers), Listing(_remains(answers)),
            ReportFigure('sharing', partial(draw_sharing, model, answers),
                         'Forces of the wall on feet that are set wrongly, robot at rest.')]),
        ReportSection('What the feet allow', [
            QUESTION_B, strength_table(answers), Listing(_limits(answers)),
            ReportFigure('strength', partial(draw_strength, answers),
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
                   'peak |F| at '
                   f'{100.0 * (full.climb.speed / plain.climb.speed - 1.0):+.1f} % speed')]
    other = next((attempt.climb for attempt in comparison.attempts
                  if attempt.plant == MUJOCO and attempt.reduction == 'off'), None)
    if plain and plain.climb and other:
        cards.append((f'{100.0 * (other.speed / plain.climb.speed - 1.0):+.2f} %',
                      'speed by MuJoCo against own, plain'))
    return cards


def _verdict(comparison: Comparison) -> str:
    """Return in a sentence what the reduction buys, and who falls."""
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
    falls = [f'{attempt.name} falls after {attempt.first_failure:.1f} s'
             for attempt in comparison.attempts
             if attempt.pads is not None and attempt.climb is not None and attempt.fell]
    holds = [attempt.name for attempt in comparison.attempts
             if attempt.pads is not None and attempt.climb is not None and not attempt.fell]
    if falls or holds:
        parts.append('on its pads ' + ', and '.join(
            falls + ([f'{" and ".join(holds)} holds'] if holds else [])))
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


def _limits(answers: Answers) -> list[str]:
    notes = []
    for row in answers.strength:
        proof = next((found.certificate for found in row.along.values()
                      if found.status is AllocationStatus.INFEASIBLE and found.certificate), None)
        if proof is not None:
            notes.append(f'{row.name} does not hold the robot at rest: {proof.message}')
    last, speed = answers.strength[-1].name, answers.speed
    if speed.status is AllocationStatus.OPTIMAL:
        notes.append(f'Steady speed up the wall with {last} a foot: '
                     + ('not limited by the forces, for limbs that mirror each other carry each '
                        "other's centripetal force through the body." if speed.value >= 99.0 else
                        f"at most {speed.value:.1f} m/s by the limbs' centripetal forces."))
    return notes
