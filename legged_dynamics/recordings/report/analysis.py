# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a bag to everything a report says: find, replay, align with the truth, measure."""
from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings, Fault, Mode
from legged_dynamics.exceptions import BagError, reraised
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import (
    BodyTracking,
    RecordGatherer,
    Recording,
    Truth,
    WrenchRecord,
    align_truth,
    desired_force,
    track_body,
    world_force,
)
from legged_dynamics.recordings.replay import (
    FROM_BAG,
    AnalysisOptions,
    Replay,
    ReplayPlan,
    prepare,
)
from legged_dynamics.recordings.report.accuracy import (
    CAUTION,
    ON_LINE,
    ZERO_PHASE,
    Accuracy,
    Behaviour,
    ContactScore,
    ForceError,
    SlowSums,
    cautions,
    compare_slow_sums,
    find_behaviours,
    main_name,
    measure_accuracy,
    score_contacts,
    unexplained,
)
from legged_dynamics.recordings.report.enriched import EnrichedBag
from legged_dynamics.recordings.robot import RobotChoice
from legged_dynamics.recordings.series import (
    WRENCH,
    XYZ,
    EstimateSeries,
    ForceSeries,
    InputStatistics,
    InputTimes,
    columns_of,
    input_notes,
    input_statistics,
    recording_doubts,
)
from legged_dynamics.recordings.topics import TopicChoice

if TYPE_CHECKING:
    import pandas


# -------------------------------------------------------------------------------------------------
# Comparison of live wrenches with those of the replay, and their latency.


@dataclass(frozen=True)
class LiveComparison:
    """
    Live against replayed estimates of one foot.

    Attributes
    ----------
    foot : str
    published, missing, compared : int
        Live wrenches in the bag; joint states between the first and the last of them that got
        none; live wrenches with a replayed one of the same stamp.
    identical : int
        Those equal in every bit.
    force, moment : float [N, N m]
        Largest difference of any component.
    last : float [s]
        When the last difference was, from the first live wrench on; NaN without any.

    """

    foot: str
    published: int
    missing: int
    compared: int
    identical: int
    force: float
    moment: float
    last: float


def _compare_live(series: EstimateSeries, live: Mapping[str, WrenchRecord],
                 joints: InputTimes) -> list[LiveComparison]:
    """Compare what was published live with the replay, by stamp, in all bits."""
    found = []
    inputs = np.unique(joints.stamp_ns.values)
    stamps = series.latest_ns.values
    for foot, record in live.items():
        told = record.stamp_ns.values
        replayed = series.wrench.values[:, series.feet.index(foot)]
        _, mine, theirs = np.intersect1d(stamps, told, return_indices=True)
        difference = np.abs(replayed[mine] - record.wrench.values[theirs])
        same = (replayed[mine] == record.wrench.values[theirs]).all(axis=1)
        during = inputs[(inputs >= told.min()) & (inputs <= told.max())]
        found.append(LiveComparison(
            foot, len(record), len(np.setdiff1d(during, told)), len(mine),
            int(same.sum()),
            float(difference[:, :3].max()) if len(mine) else np.nan,
            float(difference[:, 3:].max()) if len(mine) else np.nan,
            float(stamps[mine[~same]].max() - told.min()) * 1e-9
            if not same.all() else np.nan))
    return found


def _measure_latency(joints: InputTimes, live: Mapping[str, WrenchRecord]) -> np.ndarray | None:
    """Return times from a joint state's receipt to that of its last foot's wrench (n,) [ms]."""
    if not live or not len(joints):
        return None
    stamps, first = np.unique(joints.stamp_ns.values, return_index=True)
    described, which = np.unique(np.concatenate([
        record.stamp_ns.values for record in live.values()]), return_inverse=True)
    done = np.zeros(len(described), np.int64)
    np.maximum.at(done, which, np.concatenate([
        record.receipt_ns.values for record in live.values()]))
    _, at, mine = np.intersect1d(stamps, described, return_indices=True)
    return (done[mine] - joints.receipt_ns.values[first[at]]) * 1e-6 if len(mine) else None


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Analysis:
    """
    What was found out about a bag.

    Attributes
    ----------
    bag : Path
    start_ns : int [ns]
        Receipt of its first message.
    duration : float [s]
        Of the bag, or of the part analysed.
    message_count : int
    robot : RobotChoice
    settings : EstimatorSettings
    topics : TopicChoice
    replay : Replay
    truth : Truth
    behaviours : list of Behaviour
    accuracy : Accuracy
    contacts : list of ContactScore
    inputs : list of InputStatistics
    live : list of LiveComparison
    latency : (n,) array or None [ms]
        From the receipt of a joint state to that of its last foot's wrench, live.
    notes : list of str
        Sentences on what was missing, assumed or odd.
    sums : SlowSums
        How far sums over all feet by motion and by torque differ.
    body : BodyTracking or None
        How the base followed a controller's reference.
    desired_force : (n, nf, 3) array or None [N]
        What a controller wanted of the ground, at each estimate; world axes, NaN where unknown.

    """

    bag: Path
    start_ns: int
    duration: float
    message_count: int
    robot: RobotChoice
    settings: EstimatorSettings
    topics: TopicChoice
    replay: Replay
    truth: Truth
    behaviours: list[Behaviour]
    accuracy: Accuracy
    contacts: list[ContactScore]
    inputs: list[InputStatistics]
    live: list[LiveComparison]
    latency: np.ndarray | None
    notes: list[str]
    sums: SlowSums
    body: BodyTracking | None = None
    desired_force: np.ndarray | None = None

    @property
    def series(self) -> EstimateSeries:
        """Return the main estimate."""
        return self.replay.series

    @property
    def others(self) -> Mapping[str, ForceSeries]:
        """Base-only and torque-only estimates."""
        return self.replay.others

    @property
    def weight(self) -> float:
        """Weight of the robot [N]."""
        return self.robot.model.total_mass * GRAVITY

    @property
    def silent(self) -> float:
        """Part of the samples without estimate, after the first."""
        return self.replay.silent / (self.replay.silent + len(self.series.stamp_ns))


def analyse(path: str | Path, options: AnalysisOptions | None = None, *,
            enriched: Path | None = None, progress: Callable[[float], None] | None = None,
            compare: bool = True) -> Analysis:
    """
    Replay a bag through the live estimator and compare it with what the bag knows.

    Parameters
    ----------
    path : str or Path
        Of the bag: a folder or a file.
    options : AnalysisOptions, optional
        Robot, topics and range; what fits the bag by default.
    enriched : Path, optional
        Bag to write, with all messages and the estimates.
    progress : callable, optional
        Gets the part done, from 0 to 1.
    compare : bool
        Whether to compare with estimates by motion alone and by torque alone, and with what a
        live estimator and a controller published.

    Returns
    -------
    Analysis
        What the report says, its figures included.

    Raises
    ------
    LeggedDynamicsError
        When the bag cannot be read, has no joint states, or does not fit the robot.

    """
    options = options or AnalysisOptions()
    with BagReader(path) as bag:
        robot, plan = prepare(bag, options)
        topics = plan.topics
        if not compare:
            plan = replace(plan, others=False, topics=replace(
                plan.topics, live={}, desired={}, reference=''))
        if options.contact == (FROM_BAG,):
            plan = replace(plan, true_contact=_true_contact(bag, plan, robot))
        replay, records = Replay(plan), RecordGatherer(plan.topics)
        with (nullcontext() if enriched is None else EnrichedBag(
                enriched, bag, replay.series.feet, robot.model.base_link,
                options.storage)) as copy:
            replay.run(bag, sink=copy.copy if copy else None,
                       on_estimate=copy.add if copy else None, records=records,
                       progress=progress)
        return _judge(bag, robot, topics, replay, records.recording)


def _true_contact(bag: BagReader, plan: ReplayPlan,
                  robot: RobotChoice) -> Callable[[int], np.ndarray]:
    """Return the true contacts by stamp; a first replay gives the kinematics that they need."""
    if not plan.topics.wrench_truth:
        raise BagError(f'{bag.path} has no true contacts to take: no ground_truth/<foot>/wrench, '
                       'and no topic given with --truth')
    first, records = Replay(replace(plan, others=False)), RecordGatherer(plan.topics)
    first.run(bag, records=records)
    weight = robot.model.total_mass * GRAVITY
    truth = align_truth(first.series, records.recording, weight, robot.contact_force)
    table = dict(zip(first.series.stamp_ns.values.tolist(), truth.contact))
    unknown = np.full(len(first.series.feet), np.nan)
    return lambda stamp_ns: table.get(stamp_ns, unknown)


def _judge(bag: BagReader, robot: RobotChoice, topics: TopicChoice, replay: Replay,
           recording: Recording) -> Analysis:
    series, plan = replay.series, replay.plan
    settings = plan.settings
    end = bag.end_ns if plan.stop_ns is None else min(plan.stop_ns, bag.end_ns)
    if not len(series.stamp_ns):
        reasons = '; '.join(replay.refused) or 'too few samples, or neither efforts nor an IMU'
        raise BagError(f'nothing could be estimated from {bag.path}: {reasons}. Is the YAML this '
                       "robot's? robot.sensors.rename maps a driver's names to the URDF's")
    weight = robot.model.total_mass * GRAVITY
    truth = align_truth(series, recording, weight, robot.contact_force)
    contact = np.where(np.isfinite(truth.force).all(axis=2), truth.contact, series.contact.values)
    behaviours = find_behaviours(series.time, contact,
                                 series.foot_position.values.mean(axis=0)[:, :2])
    accuracy = measure_accuracy(series, replay.others, truth, behaviours, weight)
    inputs = [input_statistics(name, times) for name, times in (
        (topics.joint_states, replay.joints), (topics.imu, replay.imu)) if name]
    notes = input_notes(replay.faults, replay.refused, settings, inputs, replay.findings,
                        replay.off_feet)
    if main_name(series) != 'fused' and settings.fusion == 'fused' and not notes:
        notes.append(f'Most estimates are {main_name(series)}.')
    return Analysis(
        bag.path, bag.start_ns, (end - (plan.start_ns or bag.start_ns)) * 1e-9,
        bag.message_count, robot, settings, topics, replay, truth, behaviours, accuracy,
        score_contacts(series.time, series.feet, series.contact.values, truth.contact,
                       truth.valid) if truth.known else [],
        inputs, _compare_live(series, recording.live, replay.joints),
        _measure_latency(replay.joints, recording.live),
        [*robot.notes, *topics.missing, *truth.notes, *accuracy.notes, *notes],
        compare_slow_sums(series, replay.others, robot.model, robot.config, settings),
        track_body(recording), desired_force(series, recording))


# -------------------------------------------------------------------------------------------------
# Export of all estimates, one row a joint state.


def write_csv(analysis: Analysis, path: Path) -> None:
    """
    Write all estimates; those with 'raw' at full bandwidth.

    Wrenches are the ground's on the robot, in foot axes about the foot's origin [N, N m]; true
    forces, where there are any, are in world axes, as are those with 'world'.
    """
    columns = _columns(analysis)
    form = '%d,%s,' + ','.join(['%.7g'] * (len(columns) - 2)) + '\n'
    with (reraised(BagError, f'cannot write {path}'),
          path.open('w', encoding='utf-8', newline='') as file):
        csv.writer(file, lineterminator='\n').writerow(columns)
        file.writelines(map(form.__mod__, zip(*(
            values.tolist() for values in columns.values()))))


def to_pandas(analysis: Analysis) -> pandas.DataFrame:
    """Return what `write_csv` writes over time [s] (extra `tables`); `attrs`: bag, robot, mass."""
    import pandas

    frame = pandas.DataFrame(_columns(analysis)).set_index('time')
    frame.attrs = {'bag': str(analysis.bag), 'robot': analysis.robot.name,
                   'mass_kg': analysis.robot.model.total_mass}
    return frame


def _columns(analysis: Analysis) -> dict[str, np.ndarray]:
    series, truth, published = analysis.series, analysis.truth, analysis.series.published
    world = world_force(series, series.foot_to_world, raw=False)
    columns = {'stamp_ns': series.stamp_ns.values, 'mode': np.array(
        [Mode(mode).name.lower() for mode in series.mode.values.tolist()], object),
        'time': series.time}
    for i, foot in enumerate(series.feet):
        columns |= {
            f'{foot}_contact': series.contact.values[:, i].astype(float),
            f'{foot}_contact_probability': series.probability.values[:, i],
            f'{foot}_observable': series.observable.values[:, i].astype(float),
            **columns_of(f'{foot}_', published[:, i], WRENCH),
            **columns_of(f'{foot}_raw_', series.raw_wrench.values[:, i], WRENCH),
            **columns_of(f'{foot}_world_', world[:, i], WRENCH[:3])}
        if truth.known:
            columns |= {f'{foot}_true_contact': truth.contact[:, i].astype(float),
                        **columns_of(f'{foot}_true_', truth.force[:, i], WRENCH[:3])}
    return {**columns,
            **columns_of('center_of_pressure_base_', series.center_of_pressure.values, XYZ),
            **columns_of('base_residual_', series.base_residual.values, WRENCH),
            **columns_of('external_torque_', series.external_torque.values, series.joints)}


# -------------------------------------------------------------------------------------------------
# The verdict in a sentence, and reasons not to trust the result.


# Deviations on either side of a 95 % error bar.
BAR = 1.96


@dataclass(frozen=True)
class VerdictSettings:
    """Bounds beyond which a result is not to be trusted."""

    largest_error: float = 15.0    # % of the weight, of a foot in contact
    least_agreement: float = 80.0    # % of the time: of contacts with the truth
    largest_residual: float = 0.1    # of the weight: force left unexplained at the base
    most_silent: float = 0.2    # of the time without estimate
    most_lost: float = 0.1    # of the messages
    least_covered: float = 1.0    # s of joint states


VERDICT = VerdictSettings()


def doubts(analysis: Analysis) -> list[str]:
    """Return the reasons not to trust the result, if any."""
    errors = [error for error in analysis.accuracy.feet if error.treatment == ON_LINE]
    main = [error for error in errors if error.estimate == errors[0].estimate]
    series, found = analysis.series, list[str]()
    if analysis.inputs[0].covered >= VERDICT.least_covered:
        load = world_force(series, series.foot_to_world, raw=True)[..., 2].sum(axis=1)
        found = recording_doubts(
            analysis.robot.model.joints, series.time, series.position.values,
            series.velocity.values, load / analysis.weight)
        if back := analysis.replay.faults[Fault.TIME_JUMPED_BACK]:
            found.append(f'time goes back {back} times: analyse the parts by themselves')
    return found + reasons_for_doubt(
        main, [score.agreement for score in analysis.contacts],
        unexplained(series, analysis.weight), analysis.silent, analysis.inputs)


def reasons_for_doubt(main: Sequence[ForceError], agreements: Sequence[float], residual: float,
                      silent: float, inputs: Sequence[InputStatistics]) -> list[str]:
    """
    Return the reasons not to trust a result, if any.

    ``agreements`` [%]: of contacts with true ones, by foot; ``residual``: from
    :func:`accuracy.unexplained`; ``silent``: fraction of time without estimate.
    """
    found = _lacking(inputs)
    if inputs[0].covered < VERDICT.least_covered:
        return found
    worst = max(main, key=lambda error: error.vertical_percent, default=None)
    if worst is not None and worst.vertical_percent > VERDICT.largest_error:
        found.append(f'the error of a foot in contact is {worst.vertical_percent:.0f} % of the '
                     f'weight ({worst.subject})')
    agree = [value for value in agreements if np.isfinite(value)]
    if agree and np.mean(agree) < VERDICT.least_agreement:
        found.append(f'contacts agree with the truth in only {np.mean(agree):.0f} % of the time')
    if residual > VERDICT.largest_residual:
        found.append(f'{100.0 * residual:.0f} % of the weight remain unexplained at the base '
                     f'(below {CAUTION.slow:g} Hz)'
                     f'{"" if found else ": mass, signs or contacts are wrong"}')
    if silent > VERDICT.most_silent:
        found.append(f'no estimate was possible in {100.0 * silent:.0f} % of the time')
    return found


def _lacking(inputs: Sequence[InputStatistics]) -> list[str]:
    """Return what of a recording's messages is missing, so that forces cannot be judged."""
    first = inputs[0]
    if first.covered < VERDICT.least_covered:
        return [f'{first}: a verdict needs {VERDICT.least_covered:g} s of joint states']
    return [f'{100.0 * entry.lost:.0f} % of the messages on {entry.topic} are missing'
            for entry in inputs if entry.lost > VERDICT.most_lost]


def verdict(analysis: Analysis) -> tuple[str, bool]:
    """
    Return in a sentence what came out.

    Parameters
    ----------
    analysis : Analysis
        What was found.

    Returns
    -------
    str
        The sentence.
    bool
        Whether the bag has a truth to compare with.

    """
    if analysis.inputs[0].covered < VERDICT.least_covered:
        return ('No verdict: these joint states are too few to say anything of forces.',
                analysis.truth.known)
    errors = [error for error in analysis.accuracy.feet if error.treatment == ZERO_PHASE]
    main = [error for error in errors if error.estimate == errors[0].estimate]
    compared, _ = compare_sums(foot_sums(analysis), analysis.weight)
    compared += undetermined(analysis.series)
    if main:
        parts = [f'{error.vertical:.1f} N or {error.vertical_percent:.1f} % of the weight while '
                 f'{error.subject}' for error in main]
        return (f'Error of the vertical force on a foot in contact, against the truth: '
                f'{_joined(parts)} (rms, both low-passed at 25 Hz without delay).'
                f'{compared}', True)
    if not np.isfinite(analysis.series.base_residual.values).any():
        return ("There is nothing to compare with in this bag, and the base's equations are not "
                f'used: only torques tell the forces.{compared}', False)
    rest = 100.0 * unexplained(analysis.series, analysis.weight)
    return ('There is nothing to compare with in this bag. What the estimate leaves unexplained '
            f'at the base, below {CAUTION.slow:g} Hz, is {rest:.1f} % of the weight; that is no '
            f'measure of how feet share the load.{compared}', False)


def undetermined(series: EstimateSeries) -> str:
    """Return after a space how often measurements leave a force open; empty for never."""
    unknown = series.contact.values.astype(bool) & ~series.observable.values.astype(bool)
    count = int(unknown.any(axis=1).sum())
    return (f' In {count} of {len(unknown)} samples the force of a foot in contact is not '
            'determined to half of an even share of the weight, as where a foot lands; its '
            'deviation says so.') if count else ''


# What the estimates of a report are made from.
EXPLAINED = {'fused': "the body's motion and the joint torques together",
             'base only': "the body's motion alone", 'torque only': 'the joint torques alone'}


class FootSum(NamedTuple):
    """The vertical forces of all feet together, in the mean, by one kind of equations."""

    name: str  # Which equations
    mean: float  # [N]
    bar: float  # [N]: half of its 95 % error bar, by the errors that the configuration states


def foot_sums(analysis: Analysis) -> list[FootSum]:
    """Return the mean total vertical foot force by each kind of equations, main first."""
    if _lacking(analysis.inputs):
        return []
    series, noise = analysis.series, analysis.replay.plan.config.noise
    base = BAR * np.hypot(noise.mass, noise.accelerometer_bias / GRAVITY)
    torque = BAR * max(noise.effort_gain, 1e-6)
    share = {'base only': base, 'torque only': torque}
    rotation, stamps = series.foot_to_world, series.stamp_ns.values
    found = []
    estimates = {main_name(series): series,
                 **{name: other.aligned(stamps) for name, other in analysis.others.items()}}
    known = np.ones(len(stamps), bool)
    for estimate in estimates.values():
        known &= estimate.mode.values != Mode.UNAVAILABLE
    for name, estimate in estimates.items() if known.any() and len(estimates) > 1 else ():
        total = world_force(estimate, rotation, raw=True)[known, :, 2].sum(axis=1)
        bar = share.get(name, 1.0 / np.hypot(1.0 / max(base, 1e-6), 1.0 / torque))
        found.append(FootSum(name, float(np.nanmean(total)), float(bar * analysis.weight)))
    return found


def compare_sums(sums: Sequence[FootSum], weight: float) -> tuple[str, bool]:
    """
    Return a sentence on whether equations agree on the total foot force, and if so.

    False where two differ by more than their error bars; an empty sentence without sums.
    """
    if not sums:
        return '', True
    parts = [f'{one.name} ({EXPLAINED[one.name]}) {one.mean:.1f} N ({one.mean - one.bar:.1f} to '
             f'{one.mean + one.bar:.1f})' for one in sums]
    text = f' All feet together carry, in the mean: {_joined(parts)}.'
    apart = [(abs(a.mean - b.mean), a, b) for k, a in enumerate(sums) for b in sums[k + 1:]
             if abs(a.mean - b.mean) > np.hypot(a.bar, b.bar)]
    if not apart:
        return text, True
    off, a, b = max(apart, key=lambda one: one[0])
    return (f'{text} {a.name.capitalize()} and {b.name} differ by {100.0 * off / weight:.1f} % of '
            'the weight, more than their error bars: torques, mass or contacts are wrong; '
            '`legged-dynamics doctor` looks which.'), False


def doubtful(analysis: Analysis) -> list[str]:
    """Return what makes the result doubtful, though not proven wrong, and the next step."""
    if _lacking(analysis.inputs):       # said by `doubts`; nothing speaks against the robot
        return []
    return cautions(unexplained(analysis.series, analysis.weight), analysis.sums,
                    str(analysis.bag), bool(doubts(analysis)))


def distrust(reasons: list[str]) -> str:
    """Return 'Not to be trusted: ...' with the reasons."""
    return f'Not to be trusted: {"; ".join(reasons)}.'


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f'{", ".join(parts[:-1])}, and {parts[-1]}'
