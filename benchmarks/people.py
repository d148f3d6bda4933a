# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground reactions of people from motion alone against force plates: the tables of docs/people.md.

``python -m benchmarks.people NAME=FOLDER [NAME=FOLDER ...]`` takes groups of trials. A trial is
``X_ik.mot`` with ``X_grf.mot``, ``X_grf.xml`` and one ``.osim`` beside it, or a folder with a bag
(``bag/metadata.yaml``) that has true forces. Nothing but the comparison sees the plates.
Definitions are those of the document.

``--noise MM`` before the groups adds white noise of that many millimetres, and three tenths of a
degree for each of them, to all coordinates of the .mot files, four times drawn. ``--mass`` prints
what a wrong mass of the models costs. ``--humanoid FOLDER`` is the table of a robot's walks: each
is a TAG.csv as `legged-dynamics inverse-dynamics` reads it, with TAG_feet.csv (time, left_fz,
right_fz) and one URDF for all beside it.
"""
from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import low_pass
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.robot_model import ModelWarning
from legged_dynamics.pages.page import Table
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.people.trials.accuracy import LOADED
from legged_dynamics.people.trials.analysis import GaitResult, analyse_gait
from legged_dynamics.people.trials.cycles import measured_effort
from legged_dynamics.people.trials.report import COVERED
from legged_dynamics.people.trials.subject import GaitOptions

# Centres of pressure count from this part of the weight on.
PRESSED = 0.3
# Degrees of noise that go with a millimetre, and how often noise is drawn.
DEGREES, DRAWN = 0.3, 4
# Masses of the models, as multiples, and of the humanoid whose sensors carry 762 N [kg].
FACTORS, HUMANOID_MASS = (0.9, 0.95, 1.0, 1.05, 1.1), '77.8'
# Ends of the recordings that count for no error [s].
ENDS = 0.3
# Furthest that a detected change may be from a measured one [s].
REACH = 0.12
# A foot has just landed for so long [s].
LANDING = 0.1


@dataclass
class Trial:
    """What was measured of one trial."""

    mass: float
    error: np.ndarray               # (k, 3) of loaded feet [N]
    double: np.ndarray              # (m,) vertical, both feet loaded [N]
    total: np.ndarray               # (n,) of all feet, vertical [N]
    recorded: float                 # rms of the vertical force as recorded [N]
    clock: float                    # what the clock of the plates alone costs of it [N]
    filtered: np.ndarray            # (n,) what the low-pass of the poses costs the sum [N]
    spread: np.ndarray              # (3,) range of the measured force [N]
    covered: np.ndarray             # (3,) part of the samples within the 95 % bars
    landed: np.ndarray              # (l,) whether the vertical one is, of feet just landed
    step: np.ndarray                # (k,) of a smoothstep with the timing of the plates [N]
    pressure: np.ndarray            # (p, 2) error of the centre of pressure [m]
    moment: float                   # rms error of the joint moments of the legs [N m]
    left_out: float                 # part of the samples in which not all contacts are measured
    landings: list[float] = field(default_factory=list)     # [s]
    leavings: list[float] = field(default_factory=list)     # [s]


def measure(result: GaitResult) -> Trial:
    """
    Return the errors of one trial, with the clocks of plates and motion aligned.

    Parameters
    ----------
    result : GaitResult
        A trial with force plates, analysed.

    Returns
    -------
    Trial

    """
    plates, r = result.aligned_plates, result.reactions
    assert plates is not None
    truth = plates.measured
    known = np.isfinite(truth).all(axis=(1, 2))
    on = (np.nan_to_num(truth[..., 2]) > LOADED) & known[:, None]
    several = on & (on.sum(axis=1) > 1)[:, None]
    error = r.force - truth
    held = np.abs(error) < COVERED * r.deviation
    bars, just = held[on], on & _just_landed(on, known, result.motion.step)
    step = _smoothstep(result.dynamics.wrench[:, 2], on) - truth[..., 2]
    trial = Trial(
        result.model.total_mass, error[on], error[several][:, 2], error[known].sum(axis=1)[:, 2],
        (result.as_recorded or result.errors[result.method]).vertical, _clock_error(result, truth),
        _filter_error(truth, result.motion.step), np.ptp(truth[on], axis=0), bars.mean(axis=0),
        held[..., 2][just],
        step[on & np.isfinite(step)], _pressure_error(result), _moment_error(result),
        1.0 - known.mean())
    half = 0.5 * result.motion.step
    for i in range(on.shape[1]):
        for landing, kept in ((True, trial.landings), (False, trial.leavings)):
            mine, true = (_changes(flags[:, i], result.motion.time, landing) - half
                          for flags in (r.contact, on))
            inner = (true > result.motion.time[0] + 0.02) & (true < result.motion.time[-1] - 0.02)
            for t in true[inner]:
                if len(mine) and np.abs(mine - t).min() < REACH:
                    kept.append(float(mine[np.abs(mine - t).argmin()] - t))
    return trial


def _just_landed(on: np.ndarray, known: np.ndarray, step: float) -> np.ndarray:
    """Return feet (n, nf) that a plate began to feel less than `LANDING` ago."""
    just = np.zeros(on.shape, bool)
    for i in range(on.shape[1]):
        for k in np.flatnonzero(on[1:, i] & ~on[:-1, i] & known[:-1]) + 1:
            just[k:k + round(LANDING / step), i] = True
    return just


def _clock_error(result: GaitResult, truth: np.ndarray) -> float:
    """Return the rms of the plates by their own clock against themselves in that of the motion."""
    assert result.plates is not None
    own = result.plates.measured
    error = (own - truth)[..., 2][np.nan_to_num(own[..., 2]) > LOADED]
    return float(np.sqrt(np.nanmean(error ** 2)))


def _filter_error(truth: np.ndarray, step: float) -> np.ndarray:
    """Return what low-passing as the poses are takes from the sum of the vertical forces, (n,)."""
    total = truth[..., 2].sum(axis=1)
    total = total[np.isfinite(total)]
    return low_pass(total, step, GaitOptions().cutoff) - total


def _changes(flags: np.ndarray, time: np.ndarray, landing: bool) -> np.ndarray:
    change = np.diff(flags.astype(int))
    return time[1:][change > 0 if landing else change < 0]


def _smoothstep(total: np.ndarray, on: np.ndarray) -> np.ndarray:
    """
    Share a total force by a cubic over each measured step, and evenly between planted feet.

    NaN where the recording cuts a step off, so that its duration is not known.
    """
    share = np.where(on, 1.0, 0.0) / np.maximum(on.sum(axis=1, keepdims=True), 1)
    for first, end in runs(on.sum(axis=1) > 1):
        before = int(on[first - 1].sum()) if first else 0
        after = int(on[end].sum()) if end < len(on) else 0
        if before == after == 1 and (on[first - 1] != on[end]).any():
            phase = (np.arange(end - first) + 0.5) / (end - first)
            landed = ~on[first - 1] & on[first]
            passed = (phase ** 2 * (3.0 - 2.0 * phase))[:, None]
            share[first:end] = np.where(landed, passed, 1.0 - passed)
        elif before + after == 1:
            share[first:end] = np.nan
    return share * total[:, None]


def _pressure_error(result: GaitResult) -> np.ndarray:
    plates, r = result.aligned_plates, result.reactions
    assert plates is not None
    wrench = plates.wrench_in_feet(r.foot_position, r.foot_rotation)
    mine, true = (np.stack([-w[..., 4], w[..., 3]], axis=-1) / np.where(
        w[..., 2:3] > PRESSED * result.weight, w[..., 2:3], np.nan) for w in (r.wrench, wrench))
    found = (mine - true).reshape(-1, 2)
    return found[np.isfinite(found).all(axis=1)]


def _moment_error(result: GaitResult) -> float:
    from legged_dynamics.people.trials.report import moment_error

    found = None if measured_effort(result) is None else moment_error(result)
    return np.nan if found is None else found[1]


def trials_of(folder: Path) -> list[tuple[Path, GaitOptions]]:
    """
    Return the trials in a folder and below it.

    Parameters
    ----------
    folder : Path
        Where to look.

    Returns
    -------
    list of (Path, GaitOptions)
        Sources and options for `analyse_gait`.

    """
    found = [(path.parent, GaitOptions(compare=False, mass='model'))
             for path in sorted(folder.rglob('bag/metadata.yaml'))]
    for path in sorted(folder.rglob('*_ik.mot')):
        loads = path.with_name(path.name.replace('_ik.mot', '_grf.xml'))
        models = sorted(path.parent.glob('*.osim'))
        if loads.exists() and models:
            found.append((path, GaitOptions(compare=False, mass='model', urdf=str(models[0]),
                                            loads=str(loads))))
    return found


def with_noise(source: Path, noise: float) -> Iterator[Path]:
    """Yield the source, or copies of its table with noise [mm] on all coordinates."""
    if not noise or source.suffix != '.mot':
        yield source
        return
    lines = source.read_text(encoding='utf-8').splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith('endheader')) + 2
    names = lines[head - 1].split()
    values = np.array([line.split() for line in lines[head:] if line.strip()], float)
    # A coupled coordinate follows from another one.
    size = np.array([0.0 if name == 'time' or name.endswith('_beta') else 1e-3 * noise
                     if name.endswith(('_tx', '_ty', '_tz')) else DEGREES * noise
                     for name in names])
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(DRAWN):
            rng = np.random.default_rng([seed, *source.as_posix().encode()])
            rows = values + size * rng.normal(size=values.shape)
            copy = Path(folder) / source.name
            copy.write_text('\n'.join([*lines[:head], *(
                '\t'.join(f'{x:.8f}' for x in row) for row in rows)]) + '\n', encoding='utf-8')
            yield copy


def _rms(values: list[np.ndarray]) -> float:
    """Return the root of the mean over trials of their mean squares."""
    squares = [np.mean(np.square(v)) for v in values if np.size(v)]
    return float(np.sqrt(np.mean(squares))) if squares else np.nan


def tables(groups: dict[str, list[Trial]]) -> list[Table]:
    """
    Return the tables of forces, of comparable measures, and of events and error bars.

    Parameters
    ----------
    groups : dict of str to list of Trial
        Trials by the name of their group.

    Returns
    -------
    list of Table

    """
    force, relative, events = [], [], []
    for name, found in groups.items():
        axes = [_rms([t.error[:, k] for t in found]) for k in range(3)]
        mass = float(np.mean([t.mass for t in found]))
        force.append([name, str(len(found)),
                      _cell(100.0 * float(np.mean([t.left_out for t in found]))),
                      _cell(_rms([np.array(t.recorded) for t in found])),
                      _cell(_rms([np.array(t.clock) for t in found])),
                      _cell(axes[2]), _cell(_rms([t.double for t in found])),
                      _cell(_rms([t.step for t in found])), _cell(_rms([t.total for t in found])),
                      _cell(_rms([t.filtered for t in found])), _cell(axes[0]), _cell(axes[1])])
        parts = [100.0 * _rms([t.error[:, k] / t.spread[k] for t in found]) for k in (2, 0, 1)]
        pressure = [1e3 * _rms([t.pressure[:, k] for t in found]) for k in range(2)]
        relative.append([name, f'{axes[2] / mass:.2f}', f'{100.0 * axes[2] / mass / 9.81:.1f}',
                         *map(_cell, parts), *map(_cell, pressure),
                         _cell(_rms([np.array(t.moment) for t in found
                                     if np.isfinite(t.moment)]))])
        down, up = (np.concatenate([getattr(t, which) for t in found] or [[]])
                    for which in ('landings', 'leavings'))
        covered = 100.0 * np.mean([t.covered for t in found], axis=0)
        events.append([name, *(text for times in (down, up) for text in (
            (str(len(times)), f'{1e3 * np.median(times):+.0f}',
             f'{1e3 * np.subtract(*np.percentile(times, [75, 25])):.0f}')
            if len(times) else ('0', '-', '-'))), *(_cell(covered[k]) for k in (2, 0, 1)),
                       _cell(100.0 * float(np.mean(np.concatenate([t.landed for t in found]))))
                       if any(len(t.landed) for t in found) else '-'])
    return [
        Table('Rms error of a loaded foot [N]', (
            'group', 'trials', 'left out [%]', 'as recorded', 'by the clock alone', 'vertical',
            'double support', "cubic, plates' timing", 'sum of the feet', 'by the low-pass alone',
            'fore-aft', 'sideways'), force),
        Table('The same in other measures', (
            'group', 'N/kg', '% weight', 'rRMSE vertical [%]', 'fore-aft [%]', 'sideways [%]',
            'pressure x [mm]', 'pressure y [mm]', 'leg moments [N m]'), relative),
        Table('Times of contact, and what 95 % error bars hold', (
            'group', 'touch-downs', 'median [ms]', 'IQR [ms]', 'toe-offs', 'median [ms]',
            'IQR [ms]', 'vertical [%]', 'fore-aft [%]', 'sideways [%]',
            'vertical, after landing [%]'), events)]


def mass_row(name: str, trials: list[tuple[Path, GaitOptions]]) -> list[str]:
    """Return vertical errors and what bars hold, with masses of the models that are wrong."""
    row = [name]
    for factor in FACTORS:
        found = []
        for source, options in trials:
            model = analyse_gait(source, options)[0].mass
            assert model is not None
            doubt = {'error.scale': GaitSettings().mass_error}
            wrong = replace(options, mass=f'{factor * model.model}', settings=doubt)
            found.append(measure(analyse_gait(source, wrong)[0]))
        row.append(f'{_rms([t.error[:, 2] for t in found]):.0f}, '
                   f'{100.0 * np.mean([t.covered[2] for t in found]):.1f}')
    return row


def humanoid_rows(folder: Path) -> Iterator[list[str]]:
    """Yield the rows of a humanoid's walks: of each, and of all together."""
    every: list[list[np.ndarray]] = []
    for motion in sorted(folder.glob('*.csv')):
        feet = motion.with_name(f'{motion.stem}_feet.csv')
        if not feet.exists():
            continue
        r = analyse_gait(motion, GaitOptions(
            urdf=str(next(iter(folder.glob('*.urdf')))), feet=('left_sole', 'right_sole'),
            sole=(0.12, -0.09, 0.07, -0.07), mass=HUMANOID_MASS, compare=False))[0].reactions
        table = np.genfromtxt(feet, delimiter=',', names=True)
        time = r.time - r.time[0]
        truth = np.column_stack([np.interp(time, table['time'], table[f'{side}_fz'])
                                 for side in ('left', 'right')])
        inner = (time > ENDS) & (time < time[-1] - ENDS)
        on, error = (truth > LOADED) & inner[:, None], r.force[..., 2] - truth
        both = on.all(axis=1)
        every.append([error[on], error[both], error[inner].sum(axis=1), np.mean(
            np.abs(error[on]) < COVERED * r.deviation[..., 2][on].clip(1.0)),
            np.mean(((truth > LOADED) == r.contact)[inner])])
        yield [motion.stem, *_humanoid_cells(every[-1:])]
    if every:
        yield ['all', *_humanoid_cells(every)]


def _humanoid_cells(found: list[list[np.ndarray]]) -> list[str]:
    return [_cell(value) for value in (*(_rms([one[k] for one in found]) for k in range(3)), *(
        100.0 * float(np.mean([one[k] for one in found])) for k in (3, 4)))]


def _cell(value: float) -> str:
    return f'{value:.1f}' if np.isfinite(value) else '-'


def main(words: list[str]) -> int:
    """Measure and print; return the exit code."""
    warnings.simplefilter('ignore', ModelWarning)
    if words[:1] == ['--humanoid']:
        print(Table('Walks of a humanoid', (
            'walk', 'foot', 'double support', 'sum of the feet', 'bars [%]', 'contact [%]'),
            list(humanoid_rows(Path(words[1])))).markdown.rstrip())
        return 0
    if words[:1] == ['--mass']:
        named = (word.partition('=') for word in words[1:])
        rows = [mass_row(name, trials_of(Path(folder))) for name, _, folder in named]
        print(Table('Wrong masses', ('group', *(f'x {factor:g}' for factor in FACTORS)),
                    rows).markdown.rstrip())
        return 0
    groups: dict[str, list[Trial]] = {}
    noise = float(words[1]) if words[:1] == ['--noise'] else 0.0
    for word in words[2:] if noise else words:
        name, _, folder = word.partition('=')
        for source, options in ((copy, options) for trial, options in trials_of(Path(folder))
                                for copy in with_noise(trial, noise)):
            try:
                result, _ = analyse_gait(source, options)
            except LeggedDynamicsError as error:
                print(f'left out: {source}: {error}', file=sys.stderr)
                continue
            if result.errors:
                groups.setdefault(name, []).append(measure(result))
    if not groups:
        print('expected NAME=FOLDER with trials in it, found none', file=sys.stderr)
        return 2
    print(f'Poses low-passed at {GaitOptions().cutoff:g} Hz.')
    for table in tables(groups):
        print(f'\n{table.title}:\n\n{table.markdown.rstrip()}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
