# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Validation: how far a robot's forces can be trusted, from a recording without force sensors.

The estimator runs over the recording as it is. `TorqueErrorProblem` tells which errors of torques
and masses explain what contradicts the equations of motion. Then the estimator runs again over
readings from which draws of these errors have been removed: the rms difference is what the errors
do to the forces, through the estimator itself. What remains unexplained adds the error that it
makes in a least-squares force. The stated accuracy is the root of the sum of both squares: the rms
length of a standing foot's force error, in per cent of the weight.

What a recording holds decides what it tells: standing tells the sum of all errors, a lifted foot
the offset and friction of its own leg, a squat the gains (loads change while friction's sign
does), steps what fast motion adds.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, sosfiltfilt

from legged_dynamics.diagnosis.identification.samples import (
    FILTER,
    ImuLog,
    JointLog,
    Samples,
    SensorLog,
    filtered,
    observe,
)
from legged_dynamics.diagnosis.validation.torque_errors import (
    OF_JOINT,
    OF_ROBOT,
    TorqueErrorProblem,
    TorqueErrors,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings, Measurement, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.recordings.series import InputTimes, input_statistics

# What record --validation asks for: name, what to do, and for how long [s].
STEPS_OF_A_RECORDING = (
    ('stand', 'Let the robot stand still.', 10.0),
    ('lift', 'Lift each foot off the ground by hand or by command, one after the other, two '
     'seconds each.', 30.0),
    ('squat', 'Squat slowly up and down, five times, and lean forward, back, left and right.',
     40.0),
    ('trot', 'Walk or trot on flat ground, forward and back.', 30.0),
    ('stand again', 'Let the robot stand still.', 10.0),
)


@dataclass(frozen=True)
class PhaseSettings:
    """Motions of a recording for validation."""

    still: float = 0.15    # rad/s: rms speed of the joints of a robot that stands still
    settled: float = 0.25    # s before and after which no foot may lift
    stand: float = 3.0    # s of standing still
    lift: float = 0.4    # s of each foot in the air
    squat: float = 0.15    # rad: range of a leg's joints while all feet stand
    steps: int = 4    # touch-downs of each foot


PHASES = PhaseSettings()


@dataclass(frozen=True, eq=False)
class Phases:
    """What a robot does at each sample."""

    standing: np.ndarray  # (n,): all feet stand, and have for a while
    still: np.ndarray  # (n,): standing without moving joints
    missing: tuple[str, ...]  # What the recording lacks, one sentence each
    seconds: dict[str, float]  # Time of standing still, standing and stepping [s]


def phases_of(time: np.ndarray, position: np.ndarray, velocity: np.ndarray, contact: np.ndarray,
              feet: Sequence[str]) -> Phases:
    """Return the robot's phases in a recording, and what a validation lacks."""
    period = float(np.median(np.diff(time)))
    width = max(round(PHASES.settled / period), 1)
    kernel = np.ones(2 * width + 1)
    standing = np.convolve(~contact.all(axis=1), kernel, 'same') < 0.5
    speed = np.convolve((velocity ** 2).mean(axis=1), kernel / len(kernel), 'same')
    still = standing & (np.sqrt(speed) < PHASES.still)
    missing = []
    seconds = {'still': float(still.sum() * period), 'standing': float(standing.sum() * period),
               'stepping': float((~standing).sum() * period)}
    if seconds['still'] < PHASES.stand:
        missing.append(f'stand: {seconds["still"]:.1f} s of standing still; needed: '
                       f'{PHASES.stand:g} s')
    short = [foot for foot, down in zip(feet, contact.T) if (~down).sum() * period < PHASES.lift]
    if short:
        missing.append(f'lift: {", ".join(short)} {"is" if len(short) == 1 else "are"} never off '
                       f'the ground for {PHASES.lift:g} s')
    moved = position[standing]
    if len(moved) == 0 or np.median(np.ptp(moved, axis=0)) < PHASES.squat:
        missing.append('squat: joints hardly move while all feet stand, so gains and friction '
                       'cannot be told apart')
    downs = (np.diff(contact.astype(int), axis=0) > 0).sum(axis=0)
    if downs.min() < PHASES.steps:
        missing.append(f'trot: fewer than {PHASES.steps} steps of '
                       f'{", ".join(foot for foot, n in zip(feet, downs) if n < PHASES.steps)}')
    return Phases(standing, still, tuple(missing), seconds)


def whole_cycles(contact: np.ndarray) -> np.ndarray:
    """Return which samples are in whole gait cycles; all where nothing steps."""
    downs = [np.flatnonzero(np.diff(column.astype(int)) > 0) for column in contact.T]
    most = max(downs, key=len)
    if len(most) < 2:
        return np.ones(len(contact), bool)
    place = np.arange(len(contact))
    return (place >= most[0]) & (place < most[-1])


BANDS = ((0.0, 1.0), (1.0, 5.0), (5.0, 15.0), (15.0, 25.0))     # Hz
FORCE_BAND = 25.0           # Hz: forces are judged below it
FUSIONS = {'fused': 'fused', 'base only': 'base_only', 'torque only': 'torque_only'}


@dataclass(frozen=True)
class JudgingSettings:
    """How forces are judged, and when not."""

    draws: int = 8    # of the errors of torques
    scale_deviation: float = 0.005    # of the reading of a scale under a foot
    settling: float = 0.5    # s of estimates at the beginning that are not judged
    limit: float = 10.0    # % of the weight: larger errors are not to be trusted
    least_whole: float = 1.0    # s of readings with torque and IMU
    least_left: float = 0.9    # of all readings that were to come: those with torque and IMU
    near_own_change: float = 0.03    # s from a change of a foot: the filter mixes both sides


JUDGING = JudgingSettings()


@dataclass(frozen=True, eq=False)
class ForceRecord:
    """Estimates of one run."""

    force: np.ndarray  # (n, nf, 3) [N]: in base axes, at each measurement; NaN where not known
    contact: np.ndarray  # (n, nf): feet in contact


@dataclass(frozen=True)
class JointVerdict:
    """
    What a joint's torque must be off by.

    Attributes
    ----------
    joint : str
        Name.
    gain, offset, friction : (value, deviation)
        Measured less true: as a part, [N m], and dry friction beyond the stated one [N m].

    """

    joint: str
    gain: tuple[float, float]
    offset: tuple[float, float]
    friction: tuple[float, float]

    @property
    def text(self) -> str:
        """What is certain of it in words; empty where nothing is."""
        said = []
        gain, spread = self.gain
        if abs(gain) > max(2.0 * spread, 0.02):
            said.append(f'reads {abs(gain):.0%} {"high" if gain > 0.0 else "low"}')
        offset, spread = self.offset
        if abs(offset) > 2.0 * spread:
            said.append(f'has an offset of {offset:+.2g} N m')
        friction, spread = self.friction
        if friction > 2.0 * spread:
            said.append(f'has {friction:.2g} N m more dry friction than stated')
        return f'{self.joint} {" and ".join(said)}' if said else ''


@dataclass(frozen=True, eq=False)
class Validation:
    """
    What a recording says of a robot's forces. Forces in per cent of the weight.

    Attributes
    ----------
    feet : tuple of str
        Names.
    weight : float [N]
        Of the model.
    accuracy : dict of str to float
        Stated rms error of a standing foot's force: 'standing' and 'stepping', where there is such
        a part.
    of_feet : dict of str to tuple of float
        The same per foot.
    mean_total : dict of str to float
        Mean vertical sum of all feet over whole gait cycles, by kind of estimate.
    bands : list of (str, float, float, float)
        Of each band: name, and rms difference of the sums fused - base, torque - base, and fused -
        torque.
    swing : dict of str to float
        rms of the torque-only force of each foot while it is in the air; NaN where it never is.
    horizontal : tuple of float
        Mean horizontal sum forward and left, of the fused estimate, over whole cycles.
    errors : TorqueErrors
        What torques and masses must be off by.
    joints : tuple of JointVerdict
        The same in words.
    scales : dict of str to tuple of float
        Of a foot with a scale under it: force of the scale, of the fused estimate, by torque
        alone, and by torque without the errors [N].
    phases : Phases
        What the recording has, and what it lacks.
    limit : float
        Accuracy beyond which forces are not to be trusted, % of the weight.
    sums : dict of str to array
        Vertical sums by kind of estimate, and 'time', for figures.
    received : str
        Count, span and loss of the joint states, and how many were left out.

    """

    feet: tuple[str, ...]
    weight: float
    accuracy: Mapping[str, float]
    of_feet: Mapping[str, tuple[float, ...]]
    mean_total: Mapping[str, float]
    bands: Sequence[tuple[str, float, float, float]]
    swing: Mapping[str, float]
    horizontal: tuple[float, float]
    errors: TorqueErrors
    joints: tuple[JointVerdict, ...]
    scales: Mapping[str, tuple[float, float, float, float]]
    phases: Phases
    limit: float
    sums: Mapping[str, np.ndarray]
    received: str = ''

    @property
    def trusted(self) -> bool:
        """Whether forces are right within the limit."""
        return bool(self.accuracy) and max(self.accuracy.values()) <= self.limit

    @property
    def verdict(self) -> str:
        """One line: how right forces are, and what reads wrong."""
        how = ', '.join(f'{value:.1f} % {part}' for part, value in self.accuracy.items())
        said = [one.text for one in self.joints if one.text]
        mass, spread = self.errors.of_robot('mass')
        if abs(mass) > 2.0 * spread:
            said.append(f'the robot is {abs(mass):.2g} kg {"heavier" if mass > 0 else "lighter"} '
                        'than its URDF')
        begin = (f'forces on this robot are right to {how} of the weight' if self.trusted else
                 f'forces on this robot are not to be trusted: off by {how} of the weight')
        lacking = ', '.join(one.partition(':')[0] for one in self.phases.missing)
        limits = [f'as far as a recording without {lacking} tells'] if lacking else []
        return '; '.join([begin, *said[:4], *limits])


def validate(model: RobotModel, config: RobotConfig, measurements: Sequence[Measurement],
             scales: Mapping[str, float] | None = None, *, limit: float = JUDGING.limit
             ) -> Validation:
    """
    Judge the forces of a robot by a recording without force sensors.

    Parameters
    ----------
    model : RobotModel
        As its URDF has it.
    config : RobotConfig
        The robot's YAML.
    measurements : sequence of Measurement
        Readings in the model's order, corrected as the YAML says; evenly spaced.
    scales : mapping of str to float, optional [kg]
        Reading of a scale under a foot while the robot stands still, by foot.
    limit : float
        Accuracy beyond which forces are not to be trusted [% of the weight].

    Returns
    -------
    Validation
        Accuracy, comparisons and verdict.

    Raises
    ------
    MeasurementError
        When the recording is too short, or lacks too many joint states, torques or IMU readings.
    ConfigurationError
        When a scale is under what is no foot.

    """
    applied = config.apply_to(model)
    measurements, received = _whole(measurements)
    stamps = np.array([m.stamp_ns for m in measurements])
    feet = tuple(foot.link for foot in config.feet)
    unknown = sorted(set(scales or {}) - set(feet))
    if unknown:
        raise ConfigurationError(f'--scale: expected feet among {", ".join(feet)}, got '
                                 f'{", ".join(unknown)}')
    period = float(np.median(np.diff(stamps))) * 1e-9
    settings = EstimatorSettings(rate=1.0 / period)
    time = (stamps - stamps[0]) * 1e-9
    records = {'fused': run_estimator(model, config, settings, measurements)}
    contact = records['fused'].contact
    # Before the first estimate, feet are where it finds them.
    first = int(np.argmax(np.isfinite(records['fused'].force).all(axis=(1, 2))))
    contact[:first] = contact[first]
    for name in ('base only', 'torque only'):
        records[name] = run_estimator(model, config, replace(settings, fusion=FUSIONS[name]),
                                      measurements, contact)
    problem, samples, at = _problem(applied, config, measurements, contact)
    quick = _problem(applied, config, measurements, contact, FORCE_BAND)[0]
    q, v = (np.array([getattr(m, name) for m in measurements])
            for name in ('position', 'velocity'))
    phases = phases_of(time, q, v, contact, feet)
    errors, weighed = _with_scales(problem, at, records['fused'].force, samples.up,
                                   phases, feet, scales or {})
    squares = _changes_by_errors(model, config, settings, measurements, records['fused'], problem,
                                 errors)
    squares[~contact | ~np.isfinite(squares) | (time < JUDGING.settling)[:, None]] = np.nan
    accuracy, of_feet = _accuracy(squares, _random_errors(quick, errors), problem.weight, phases,
                                  period)
    up = np.array([np.interp(time, samples.time, column) for column in samples.up.T]).T
    sums = {name: np.einsum('nfi,ni->n', np.nan_to_num(record.force), up)
            for name, record in records.items()}
    weight = applied.total_mass * GRAVITY
    cycles = whole_cycles(contact) & (time > JUDGING.settling)
    return Validation(
        feet, weight, accuracy, of_feet,
        {name: 100.0 * float(total[cycles].mean()) / weight for name, total in sums.items()},
        _bands(sums, period, time, weight), _swing(quick, feet),
        _horizontal(records['fused'].force, up, cycles, weight), errors,
        tuple(JointVerdict(name, *(errors.of_joint(name, what) for what in (
            'gain', 'offset', 'dry friction'))) for name in errors.joints),
        weighed, phases, limit, {'time': time, **sums}, received)


def _whole(measurements: Sequence[Measurement]) -> tuple[list[Measurement], str]:
    """Return the readings with torque and IMU, and what the recording has; refuse too few."""
    lacking = {'efforts': sum(m.effort is None for m in measurements),
               'IMU': sum(m.angular_velocity is None or m.linear_acceleration is None
                          for m in measurements)}
    whole = [m for m in measurements if m.effort is not None and m.angular_velocity is not None
             and m.linear_acceleration is not None]
    times = InputTimes()
    for m in measurements:
        times.note(m.stamp_ns, m.stamp_ns)
    had = input_statistics('joint states', times)
    without = ' and '.join(f'{count} without {what}' for what, count in lacking.items() if count)
    received = f'{had}{f", {without} left out" if without else ""}'
    left = len(whole) / max(len(measurements), 1) * (1.0 - had.lost)
    if had.covered * len(whole) / max(len(measurements), 1) < JUDGING.least_whole or (
            left < JUDGING.least_left):
        raise MeasurementError(
            f'{received}; expected at least {JUDGING.least_whole:g} s of joint states with '
            f'efforts and IMU readings, and {100.0 * JUDGING.least_left:.0f} % of them, got '
            f'{100.0 * left:.0f} %: what is missing would be read as errors of torques and '
            'masses. Look at recorder and network, or choose a part with --start and --end')
    return whole, received


def run_estimator(model: RobotModel, config: RobotConfig, settings: EstimatorSettings,
                  measurements: Sequence[Measurement],
                  contact: np.ndarray | None = None) -> ForceRecord:
    """Return an estimator's forces over a recording; contacts are detected if None."""
    estimator = GroundReactionEstimator(model, config, settings)
    n, nf = len(measurements), len(estimator.feet)
    force, found = np.full((n, nf, 3), np.nan), np.zeros((n, nf), bool)
    place = {m.stamp_ns: k for k, m in enumerate(measurements)}
    for k, measurement in enumerate(measurements):
        reaction = estimator.update(measurement, None if contact is None else contact[k])
        if reaction.mode == Mode.UNAVAILABLE or reaction.stamp_ns not in place:
            continue
        at = place[reaction.stamp_ns]
        force[at] = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.raw_wrench[:, :3])
        found[at] = reaction.contact
    return ForceRecord(force, found if contact is None else np.asarray(contact, bool))


def _problem(applied: RobotModel, config: RobotConfig, measurements: Sequence[Measurement],
             contact: np.ndarray, band: float = FILTER.band
             ) -> tuple[TorqueErrorProblem, Samples, np.ndarray]:
    """Return the regression on filtered readings, these, and where they lie in the recording."""
    stamps = np.array([m.stamp_ns for m in measurements])
    q, v, tau, w, a = (np.array([getattr(m, name) for m in measurements], float) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration'))
    log = SensorLog(JointLog(stamps, stamps, applied.joint_names, q, v, tau),
                    ImuLog(stamps, stamps, w, a, np.full((len(stamps), 4), np.nan)))
    signals = filtered(log, band)
    samples = observe(signals, applied, replace(config, sensors=SensorCorrection.none()))
    at = np.searchsorted((stamps - stamps[0]) * 1e-9, samples.time).clip(0, len(stamps) - 1)
    return TorqueErrorProblem(applied, config, samples, contact[at]), samples, at


def _with_scales(problem: TorqueErrorProblem, at: np.ndarray, force: np.ndarray, up: np.ndarray,
                 phases: Phases, feet: Sequence[str], scales: Mapping[str, float]
                 ) -> tuple[TorqueErrors, dict[str, tuple[float, float, float, float]]]:
    where = np.flatnonzero(phases.still[at])
    if scales and not len(where):
        raise MeasurementError('--scale: the robot never stands still in this recording, so that '
                               'no force can be compared with the scale')
    known, seen = [], {}
    for foot, mass in scales.items():
        i, true = feet.index(foot), mass * GRAVITY
        by_torque, row = problem.effect_on_foot(i, where)
        fused = float(np.nanmean(np.einsum('ni,ni->n', force[at][where][:, i], up[where])))
        known.append((row, by_torque - true, JUDGING.scale_deviation * true))
        seen[foot] = (true, fused, by_torque, row)
    errors = problem.solve(known)
    return errors, {foot: (true, fused, by_torque, by_torque - float(row @ errors.value))
                    for foot, (true, fused, by_torque, row) in seen.items()}


def _changes_by_errors(model: RobotModel, config: RobotConfig, settings: EstimatorSettings,
                       measurements: Sequence[Measurement], fused: ForceRecord,
                       problem: TorqueErrorProblem, errors: TorqueErrors) -> np.ndarray:
    """Return the mean square change of each foot's force without draws of the errors, (n, nf)."""
    effort, velocity = (np.array([getattr(m, name) for m in measurements])
                        for name in ('effort', 'velocity'))
    rng, nj = np.random.default_rng(0), len(errors.joints)
    squares = np.zeros(fused.contact.shape)
    base, robot = model.body_inertia(0), nj * len(OF_JOINT)
    for theta in errors.draws(JUDGING.draws, rng):
        corrected = problem.corrected(theta, effort, velocity, 1.0 / settings.rate,
                                      rng.uniform(-1.0, 1.0, nj))
        mass = max(base.mass + theta[robot + OF_ROBOT.index('mass')], 0.2 * base.mass)
        shifted = Inertia(mass, base.com + theta[robot + OF_ROBOT.index('centre x'):][:3],
                          base.about_com * (mass / base.mass))
        other = run_estimator(
            model.with_body_inertia({0: shifted}), config, settings,
            [replace(m, effort=row) for m, row in zip(measurements, corrected)], fused.contact)
        squares += ((other.force - fused.force) ** 2).sum(axis=2) / JUDGING.draws
    return squares


def _accuracy(squares: np.ndarray, noise: np.ndarray, weight: float, phases: Phases,
              period: float) -> tuple[dict[str, float], dict[str, tuple[float, ...]]]:
    """Return the stated accuracy of each part of the recording, and per foot [% of weight]."""
    accuracy, of_feet = {}, {}
    for part, where in (('standing', phases.standing), ('stepping', ~phases.standing)):
        inside = squares[where]
        known = np.isfinite(inside)
        if known.any(axis=1).sum() * period < 1.0:
            continue
        total = np.nansum(inside, axis=0)
        each = np.sqrt(total / np.maximum(known.sum(axis=0), 1) + noise ** 2)
        accuracy[part] = 100.0 * float(np.sqrt(total.sum() / known.sum()
                                               + (noise ** 2).mean())) / weight
        of_feet[part] = tuple((100.0 * each / weight).tolist())
    return accuracy, of_feet


def _random_errors(problem: TorqueErrorProblem, errors: TorqueErrors) -> np.ndarray:
    """Return what unexplained residuals make of each foot's force, (nf,) [N]."""
    used = np.flatnonzero(problem.usable())
    used = used[::max(len(used) // 600, 1)]
    squares, freedom = 0.0, 0
    for k in used:
        y, G, phi, sigma = problem.stacked(int(k))
        y, G = (y + phi @ errors.value) / sigma, G / sigma[:, None]
        q = np.linalg.qr(G)[0]
        left = y - q @ (q.T @ y)
        squares, freedom = squares + float(left @ left), freedom + len(y) - G.shape[1]
    misfit = np.sqrt(squares / max(freedom, 1))
    each = np.array([problem.noise_in_forces(misfit, int(k)) for k in used])
    with np.errstate(invalid='ignore'):
        mean = np.nanmean(each ** 2, axis=0)
    return np.sqrt(np.nan_to_num(mean))


def _bands(sums: Mapping[str, np.ndarray], period: float, time: np.ndarray, weight: float
           ) -> list[tuple[str, float, float, float]]:
    inside = time > JUDGING.settling
    found = []
    for low, high in BANDS:
        if high * period >= 0.45:
            continue
        sections = (butter(2, high, fs=1.0 / period, output='sos') if low == 0.0 else
                    butter(2, (low, high), 'bandpass', fs=1.0 / period, output='sos'))
        passed = {name: sosfiltfilt(sections, total) for name, total in sums.items()}
        fused, torque, both = (
            100.0 * float(np.sqrt(np.mean((passed[a] - passed[b])[inside] ** 2))) / weight
            for a, b in (('fused', 'base only'), ('torque only', 'base only'),
                         ('fused', 'torque only')))
        found.append((f'{low:g} to {high:g} Hz', fused, torque, both))
    return found


def _swing(problem: TorqueErrorProblem, feet: Sequence[str]) -> dict[str, float]:
    """Return the rms force that torques alone give feet in the air, which is zero in truth."""
    force, found = problem.forces_by_torque(), {}
    for i, foot in enumerate(feet):
        lifted = force[problem.in_the_air(i, JUDGING.near_own_change), i]
        found[foot] = (100.0 * float(np.sqrt((lifted ** 2).sum(axis=1).mean())) / problem.weight
                       if len(lifted) else float('nan'))
    return found


def _horizontal(force: np.ndarray, up: np.ndarray, cycles: np.ndarray,
                weight: float) -> tuple[float, float]:
    """Return the mean horizontal sum forward and left."""
    total = np.nan_to_num(force).sum(axis=1)
    ahead = np.cross(np.array([0.0, 1.0, 0.0]), up)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    return tuple(100.0 * float(np.einsum('ni,ni->n', total, axis)[cycles].mean()) / weight
                 for axis in (ahead, np.cross(up, ahead)))      # type: ignore[return-value]
