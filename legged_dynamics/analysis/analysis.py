# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a bag to everything a report says: find, replay, align with the truth, measure."""
from __future__ import annotations

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
from legged_dynamics.analysis.input_notes import input_notes
from legged_dynamics.analysis.inputs import InputStatistics, input_statistics
from legged_dynamics.analysis.live import (
    Latency,
    LiveComparison,
    compare_live,
    measure_latency,
)
from legged_dynamics.analysis.options import FROM_BAG, AnalysisOptions
from legged_dynamics.analysis.preparation import Preparation, prepare
from legged_dynamics.analysis.recording import Recording, read_recording
from legged_dynamics.analysis.replay import Replay, ReplayPlan
from legged_dynamics.analysis.robot import RobotChoice
from legged_dynamics.analysis.series import EstimateSeries, ForceSeries
from legged_dynamics.analysis.topics import TopicChoice
from legged_dynamics.analysis.truth import Truth, align_truth, desired_force
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import BagError

Progress = Callable[[float], None]


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
        ready = prepare(bag, options)
        plan, robot = ready.plan, ready.robot
        recording = read_recording(bag, plan.topics, ready.given, plan.start_ns, plan.stop_ns)
        plan = replace(plan, given_contact=recording.given)
        if options.contact == (FROM_BAG,):
            plan = replace(plan, true_contact=_true_contact(bag, plan, recording, robot))
        replay = Replay(plan)
        if enriched is None:
            replay.run(bag, progress=progress)
        else:
            with EnrichedBag(enriched, bag, ready.feet, robot.model.base_link,
                             options.storage) as copy:
                replay.run(bag, sink=copy.copy, on_estimate=copy.add, progress=progress)
        return _judge(bag, ready, replay, recording)


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


def _judge(bag: BagReader, ready: Preparation, replay: Replay, recording: Recording) -> Analysis:
    series, robot, topics = replay.series, ready.robot, ready.topics
    settings = ready.plan.settings
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
    notes = input_notes(replay.faults, replay.refused, settings, inputs)
    if main_name(series) != 'fused' and settings.fusion == 'fused' and not notes:
        notes.append(f'Most estimates are {main_name(series)}.')
    return Analysis(
        bag.path, ready.duration, bag.message_count, robot, settings, topics, replay, truth,
        behaviours, accuracy,
        score_contacts(series.time, series.feet, series.contact.values, truth.contact,
                       truth.valid) if truth.known else [],
        inputs, compare_live(series, recording.live, replay.joints),
        measure_latency(replay.joints, recording.live, 0),
        [*robot.notes, *topics.missing, *truth.notes, *accuracy.notes, *notes],
        track_body(recording), desired_force(series, recording))
