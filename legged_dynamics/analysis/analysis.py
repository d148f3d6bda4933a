# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a bag to everything a report says: find, replay, align with the truth, measure."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.accuracy import Accuracy, main_name, measure_accuracy
from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.behaviour import Behaviour, find_behaviours
from legged_dynamics.analysis.body_tracking import BodyTracking, track_body
from legged_dynamics.analysis.contacts import ContactScore, score_contacts
from legged_dynamics.analysis.enriched import EnrichedBag
from legged_dynamics.analysis.inputs import InputStatistics, input_statistics
from legged_dynamics.analysis.live import (
    Latency,
    LiveComparison,
    compare_live,
    measure_latency,
)
from legged_dynamics.analysis.options import FROM_BAG, AnalysisOptions
from legged_dynamics.analysis.recording import Recording, first_stamp, read_recording
from legged_dynamics.analysis.replay import Replay, ReplayPlan
from legged_dynamics.analysis.robot import RobotChoice, choose_robot
from legged_dynamics.analysis.series import EstimateSeries, ForceSeries
from legged_dynamics.analysis.topics import TopicChoice, input_topics, output_topics
from legged_dynamics.analysis.truth import Truth, align_truth, desired_force
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings, Fault
from legged_dynamics.estimation.synchronizer import IMU_TIMEOUT
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.middleware.conversions import stamp_ns
from legged_dynamics.schema import Setting, checked

Progress = Callable[[float], None]
_TIMING = (Setting('imu_timeout', IMU_TIMEOUT, 's',
                   'How far joint states may run ahead of the IMU.', 1e-3, 1.0),)


@dataclass(frozen=True)
class Analysis:
    """
    What was found out about a bag.

    Attributes
    ----------
    bag : Path
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
    latency : Latency or None
    notes : list of str
        Sentences on what was missing, assumed or odd.
    body : BodyTracking or None
        How the base followed a controller's reference.
    desired_force : (n, nf, 3) array or None [N]
        What a controller wanted of the ground, at each estimate; world axes, NaN where unknown.

    """

    bag: Path
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
    latency: Latency | None
    notes: list[str]
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


def analyse(path: str | Path, options: AnalysisOptions | None = None, *,
            enriched: Path | None = None, progress: Progress | None = None) -> Analysis:
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

    Raises
    ------
    LeggedDynamicsError
        When the bag cannot be read, has no joint states, or does not fit the robot.

    """
    options = options or AnalysisOptions()
    with BagReader(path) as bag:
        joints, imu, description = input_topics(bag, options.joint_states, options.imu)
        robot = choose_robot(bag, description, options.robot, options.urdf, options.params_files)
        settings = EstimatorSettings.from_parameters(robot.parameters)
        topics = _all_topics(bag, robot, options, (joints, imu, description))
        start, stop = _range(bag, options)
        feet = tuple(foot.link for foot in robot.config.feet)
        given = _given_topics(bag, options, feet)
        recording = read_recording(bag, topics, given, start, stop)
        plan = ReplayPlan(
            robot.model, robot.config, settings,
            checked(robot.parameters, _TIMING)['imu_timeout'], topics,
            given_contact=recording.given, start_ns=start, stop_ns=stop,
            first_stamp_ns=_live_start(bag, topics, settings, start))
        if options.contact == (FROM_BAG,):
            plan = replace(plan, true_contact=_true_contact(bag, plan, recording, robot))
        replay = Replay(plan)
        if enriched is None:
            replay.run(bag, progress=progress)
        else:
            with EnrichedBag(enriched, bag, feet, robot.model.base_link,
                             options.storage) as copy:
                replay.run(bag, sink=copy.copy, on_estimate=copy.add, progress=progress)
        duration = ((bag.end_ns if stop is None else min(stop, bag.end_ns))
                    - (start or bag.start_ns)) * 1e-9
        return _judge(bag, duration, robot, settings, topics, replay, recording)


def _all_topics(bag: BagReader, robot: RobotChoice, options: AnalysisOptions,
                inputs: tuple[str, str, str]) -> TopicChoice:
    feet = [foot.link for foot in robot.config.feet]
    for foot in options.truth:
        if foot not in feet:
            raise ConfigurationError(f'--truth: expected a foot ({", ".join(feet)}), '
                                     f'got {foot!r}')
    # What the YAML says holds for all bags of a robot, and need not be in each of them.
    truth = {foot: name for foot, name in robot.truth.items() if name in bag.topics}
    valid = options.valid or (robot.valid if robot.valid in bag.topics else '')
    found = output_topics(bag, feet, inputs[0], {**truth, **options.truth}, valid)
    return TopicChoice(*inputs, **found)      # type: ignore[arg-type]


def _range(bag: BagReader, options: AnalysisOptions) -> tuple[int | None, int | None]:
    start, stop = (None if value is None else bag.start_ns + round(value * 1e9)
                   for value in (options.start or None, options.end))
    if start is not None and start > bag.end_ns:
        raise BagError(f'{bag.path} lasts {(bag.end_ns - bag.start_ns) * 1e-9:.2f} s; there is '
                       f'nothing from {options.start:g} s on')
    return start, stop


def _given_topics(bag: BagReader, options: AnalysisOptions,
                  feet: tuple[str, ...]) -> dict[str, str]:
    topics = options.contact_topics
    if topics and len(topics) != len(feet):
        raise ConfigurationError(f'--contact: expected "detected", "bag" or {len(feet)} topics, '
                                 f'one for each of {", ".join(feet)}, got {" ".join(topics)}')
    for name in topics:
        if name not in bag.topics or bag.topics[name].type != 'std_msgs/msg/Bool':
            raise BagError(f'--contact: expected a topic with std_msgs/msg/Bool, got {name}; the '
                           f'bag has: {", ".join(bag.of_type("std_msgs/msg/Bool")) or "none"}')
    return dict(zip(feet, topics))


def _live_start(bag: BagReader, topics: TopicChoice, settings: EstimatorSettings,
                start_ns: int | None) -> int | None:
    """
    Return the stamp of the first joint state that the live estimator had, if that is known.

    Its filters start there, and so must the replay's to give the same bits.
    """
    if not topics.live or start_ns is not None:
        return None
    first = first_stamp(bag, next(iter(topics.live.values())))
    # What is published first is of the newest sample of the first full window.
    stamps: deque[int] = deque(maxlen=max(2 * settings.half_window, 1) + 1)
    for message in bag.messages([topics.joint_states]):
        stamps.append(stamp_ns(bag.decode(message).header.stamp))
        if stamps[-1] == first:
            return stamps[0] if len(stamps) == stamps.maxlen else None
    return None


def _true_contact(bag: BagReader, plan: ReplayPlan, recording: Recording,
                  robot: RobotChoice) -> Callable[[int], np.ndarray]:
    """Return the true contacts by stamp; found by a first, blind pass for the kinematics."""
    blind = Replay(replace(plan, others=False))
    blind.run(bag)
    weight = robot.model.total_mass * GRAVITY
    truth = align_truth(blind.series, recording, weight, robot.contact_force)
    if not recording.truth:
        raise BagError(f'{bag.path} has no true contacts to take: no ground_truth/<foot>/wrench, '
                       'and no topic given with --truth')
    table = dict(zip(blind.series.stamp_ns.values.tolist(), truth.contact))
    unknown = np.full(len(blind.series.feet), np.nan)
    return lambda stamp_ns: table.get(stamp_ns, unknown)


def _judge(bag: BagReader, duration: float, robot: RobotChoice, settings: EstimatorSettings,
           topics: TopicChoice, replay: Replay, recording: Recording) -> Analysis:
    series = replay.series
    if not len(series.stamp_ns):
        reasons = '; '.join(replay.refused) or 'the estimator was given too few samples'
        raise BagError(f'nothing could be estimated from {bag.path}: {reasons}')
    weight = robot.model.total_mass * GRAVITY
    truth = align_truth(series, recording, weight, robot.contact_force)
    contact = np.where(np.isfinite(truth.force).all(axis=2), truth.contact, series.contact.values)
    behaviours = find_behaviours(series.time, contact,
                                 series.foot_position.values.mean(axis=0)[:, :2])
    accuracy = measure_accuracy(series, replay.others, truth, behaviours, weight)
    inputs = [input_statistics(name, times) for name, times in (
        (topics.joint_states, replay.joints), (topics.imu, replay.imu)) if name]
    return Analysis(
        bag.path, duration, bag.message_count, robot, settings, topics, replay, truth, behaviours,
        accuracy, score_contacts(series.time, series.feet, series.contact.values, truth.contact,
                                 truth.valid) if truth.known else [],
        inputs, compare_live(series, recording.live, replay.joints),
        measure_latency(replay.joints, recording.live, 0),
        [*robot.notes, *topics.missing, *truth.notes, *accuracy.notes,
         *_input_notes(replay, settings, inputs)],
        track_body(recording), desired_force(series, recording))


def _input_notes(replay: Replay, settings: EstimatorSettings,
                 inputs: list[InputStatistics]) -> list[str]:
    notes, faults, series = [], replay.faults, replay.series
    if faults[Fault.NO_EFFORT]:
        notes.append(f'No joint torque in {faults[Fault.NO_EFFORT]} samples: forces rest on the '
                     "base's motion alone there, and how the feet share them is only a guess.")
    if faults[Fault.PARTIAL_EFFORT]:
        notes.append(f'Some joints have no torque in {faults[Fault.PARTIAL_EFFORT]} samples.')
    if faults[Fault.NO_IMU] and replay.plan.topics.imu:
        notes.append(f'No IMU reading for {faults[Fault.NO_IMU]} joint states.')
    if faults[Fault.NO_ORIENTATION]:
        notes.append(f'The IMU gives no orientation in {faults[Fault.NO_ORIENTATION]} samples; '
                     'tilt is taken from gyro and accelerometer, and heading is not known.')
    for fault, what in ((Fault.GAP, 'a gap in the joint states'),
                        (Fault.TIME_JUMPED_BACK, 'time set back')):
        if faults[fault]:
            notes.append(f'The estimator started anew {faults[fault]} times after {what}.')
    notes += [f'{count} messages were refused: {why}.' for why, count
              in replay.refused.most_common(5)]
    for entry in inputs:
        # By stamps a simulator may run on time while messages are lost or come slowly.
        usual = 1e3 / entry.interval
        if entry.rate < 0.9 * usual:
            notes.append(f'{entry.topic}: {entry.rate:.0f} messages a second, although most come '
                         f'{entry.interval:.3g} ms after the last ({usual:.0f} Hz): '
                         f'{entry.gaps} gaps.')
    usual = 1e3 / inputs[0].interval
    if np.isfinite(usual) and abs(usual / settings.rate - 1.0) > 0.1:
        notes.append(f'Joint states come every {inputs[0].interval:.3g} ms ({usual:.0f} Hz), but '
                     f'the estimator is set to {settings.rate:.0f} Hz (parameter rate): its noise '
                     'weights are off.')
    if main_name(series) != 'fused' and settings.fusion == 'fused' and not notes:
        notes.append(f'Most estimates are {main_name(series)}.')
    return notes
