# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Runs the live estimator over a bag: the same conversions, pairing and estimator as the node.

The main estimate is bit for bit the one that a node with these settings would have published. In
addition, estimates from the base's motion alone and from joint torque alone are made of the same
samples, with the contacts of the main estimate.
"""
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from legged_dynamics.estimation import (
    ActuatorFinding,
    EstimatorSettings,
    Fault,
    GroundReaction,
    Measurement,
    Mode,
)
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.measurement import IMU_TIMEOUT, JointSample
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.exceptions import BagError, ConfigurationError, MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.recordings.bags import BagMessage, BagReader, receipts
from legged_dynamics.recordings.file_formats import check_range
from legged_dynamics.recordings.recording import FlagRecord, RecordGatherer, read_records
from legged_dynamics.recordings.robot import ESTIMATOR, RobotChoice, choose_robot
from legged_dynamics.recordings.series import EstimateSeries, ForceSeries, InputTimes
from legged_dynamics.recordings.topics import TopicChoice, input_topics, output_topics
from legged_dynamics.ros.conversions import stamp_ns
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.ros.middleware.lifecycle import compile_first
from legged_dynamics.schema import Setting, checked

OTHERS = {'base only': 'base_only', 'torque only': 'torque_only'}
# Receipts kept of joint states that wait or came to nothing.
_RECEIPTS_KEPT = 10_000
# The first live wrench is received this long after its joint state, at most [ns].
LIVE_DELAY_NS = 5_000_000_000


@dataclass(frozen=True)
class ReplayPlan:
    """
    Robot, settings, topics and range of a replay.

    Attributes
    ----------
    model, config, settings : RobotModel, RobotConfig, EstimatorSettings
        As URDF and YAML have them.
    imu_timeout : float [s]
        How long joint states wait for their IMU reading.
    topics : TopicChoice
        Topics of the bag.
    given_contact : dict of str to FlagRecord
        Contact flags by foot, instead of detection; empty to detect.
    true_contact : callable or None
        Returns the flags (nf,) at a stamp [ns], instead of detection.
    others : bool
        Whether base-only and torque-only estimates are made in addition to the fused one.
    start_ns, stop_ns : int or None
        Range of receipts [ns].
    first_stamp_ns : int or None
        Joint states before this stamp are left out, because the live estimator did not have them.

    """

    model: RobotModel
    config: RobotConfig
    settings: EstimatorSettings
    imu_timeout: float
    topics: TopicChoice
    given_contact: Mapping[str, FlagRecord] = field(default_factory=dict)
    true_contact: Callable[[int], np.ndarray] | None = None
    others: bool = True
    start_ns: int | None = None
    stop_ns: int | None = None
    first_stamp_ns: int | None = None


class Replay:
    """
    One pass of the estimator over a bag.

    Parameters
    ----------
    plan : ReplayPlan
        Robot, settings, topics and range.

    Attributes
    ----------
    series : EstimateSeries
        The main estimate.
    others : dict of str to ForceSeries
        Base-only and torque-only estimates; they begin and end some samples later and earlier.
    newest : JointSample or None
        The last joint state that could be read.
    joints, imu : InputTimes
        When the inputs were stamped and received.
    refused : Counter
        Reasons why messages were not used, and how often.
    faults : Counter
        Faults that the estimator found in its input, and how often.
    off_feet : dict of str to list of float
        Forces on links other than feet while they touched the ground [N], by link.
    silent : int
        Samples after the first estimate that there is none of.

    """

    def __init__(self, plan: ReplayPlan):
        self.plan = plan
        self._estimator = GroundReactionEstimator(plan.model, plan.config, plan.settings)
        self._stream = SensorStream(plan.imu_timeout, first_stamp_ns=plan.first_stamp_ns)
        self._read = SampleReader(plan.model, plan.config, plan.topics.joint_states,
                                  plan.topics.imu, plan.topics.foot_switches)
        feet = self._estimator.feet
        self.series = EstimateSeries(feet, plan.model.joint_names)
        self.newest: JointSample | None = None
        self.joints, self.imu = InputTimes(), InputTimes()
        self.refused = self._stream.refused
        self.faults: Counter[Fault] = Counter()
        self.off_feet: dict[str, list[float]] = {}
        self.silent = 0
        self.others: dict[str, ForceSeries] = {}
        self._siblings: dict[str, GroundReactionEstimator] = {}
        if plan.others and plan.settings.fusion == 'fused':
            for name, fusion in OTHERS.items():
                self.others[name] = ForceSeries(len(feet))
                self._siblings[name] = GroundReactionEstimator(
                    plan.model, plan.config, replace(plan.settings, fusion=fusion))
        self._receipts: dict[int, int] = {}
        self._pending: deque[Measurement] = deque()

    @property
    def findings(self) -> tuple[ActuatorFinding, ...]:
        """What the actuators are found to be that the configuration states otherwise."""
        return self._estimator.actuator_findings

    def run(self, bag: BagReader, *, sink: Callable[[BagMessage], None] | None = None,
            on_estimate: Callable[[GroundReaction, int], None] | None = None,
            records: RecordGatherer | None = None,
            progress: Callable[[float], None] | None = None) -> None:
        """
        Go through the bag once.

        Parameters
        ----------
        bag : BagReader
            An open bag.
        sink : callable, optional
            Gets every message of the bag, before what is estimated from it.
        on_estimate : callable, optional
            Gets each available estimate and the receipt that completed it [ns].
        records : RecordGatherer, optional
            Gets the messages of its topics, so that one pass is enough.
        progress : callable, optional
            Gets the part done, from 0 to 1, now and then.

        Raises
        ------
        BagError
            When the bag is damaged.

        """
        compile_first(ESTIMATOR)
        plan, inputs = self.plan, self._read.topics
        first = bag.start_ns if plan.start_ns is None else plan.start_ns
        span = max((bag.end_ns if plan.stop_ns is None else plan.stop_ns) - first, 1)
        recorded = records.topics if records is not None else frozenset()
        wanted = None if sink else inputs | recorded
        for count, message in enumerate(bag.messages(wanted, plan.start_ns, plan.stop_ns)):
            if progress is not None and count % 1000 == 0:
                progress((message.receipt_ns - first) / span)
            if sink is not None:
                sink(message)
            if message.topic in inputs:
                for measurement in self._take(bag, message):
                    self._estimate(measurement, message.receipt_ns, on_estimate)
            elif records is not None and message.topic in recorded:
                records.take(message.topic, bag.decode(message), message.receipt_ns)
        if progress is not None:
            progress(1.0)

    def _take(self, bag: BagReader, message: BagMessage) -> list[Measurement]:
        """Return the measurements that an input message completes."""
        topic, receipt_ns = message.topic, message.receipt_ns
        try:
            sample = self._read(topic, bag.decode(message))
        except MeasurementError as error:
            self._stream.refuse(str(error))
            return []
        if topic == self.plan.topics.imu:
            self.imu.note(sample.stamp_ns, receipt_ns)
        elif isinstance(sample, JointSample):
            self.newest = sample
            self.joints.note(sample.stamp_ns, receipt_ns)
            if self._stream.uses(sample):
                if len(self._receipts) > _RECEIPTS_KEPT:
                    self._receipts.clear()
                self._receipts[sample.stamp_ns] = receipt_ns
        return self._stream.push(sample)

    def _estimate(self, measurement: Measurement, receipt_ns: int,
                  on_estimate: Callable[[GroundReaction, int], None] | None) -> None:
        contact = self._contact(measurement.stamp_ns)
        try:
            reaction = self._estimator.update(measurement, contact)
        except MeasurementError as error:
            self._stream.refuse(str(error))
            return
        faults = reaction.faults
        if faults:
            self.faults.update(fault for fault in Fault if faults & fault)
        for touching in reaction.contacts_off_feet:
            self.off_feet.setdefault(touching.link, []).append(
                float(np.linalg.norm(touching.force)))
        self._pending.append(measurement)
        while self._pending and self._pending[0].stamp_ns != reaction.stamp_ns:
            self._receipts.pop(self._pending.popleft().stamp_ns, None)
        if reaction.mode == Mode.UNAVAILABLE:
            self.silent += len(self.series.stamp_ns) > 0
            return
        self.series.append_received(
            reaction, self._receipts.get(reaction.stamp_ns, receipt_ns), self._pending[0])
        for name, sibling in self._siblings.items():
            # One sample later: contact is known only with the main estimate.
            other = sibling.update(self._pending[0], reaction.contact)
            if other.mode != Mode.UNAVAILABLE:
                self.others[name].append(other)
        if on_estimate is not None:
            on_estimate(reaction, receipt_ns)

    def _contact(self, stamp_ns: int) -> np.ndarray | None:
        plan = self.plan
        if plan.true_contact is not None:
            return plan.true_contact(stamp_ns)
        if plan.given_contact:
            receipt = np.array([self._receipts.get(stamp_ns, 0)])
            return np.array([plan.given_contact[foot].received_by(receipt)[0]
                             for foot in self.series.feet])
        return None


# -------------------------------------------------------------------------------------------------
# Options of an analysis.


DETECTED = 'detected'
FROM_BAG = 'bag'


@dataclass(frozen=True)
class AnalysisOptions:
    """
    Options of an analysis; by default, everything is found in the bag.

    Attributes
    ----------
    robot : str
        Name of a robot that comes with the package, or path of a YAML; empty: recognised.
    urdf : str
        Path; empty: from the bag.
    params_files : tuple of Path
        Parameter files of the live estimator, in addition to the robot's.
    contact : tuple of str
        ``('detected',)``; ``('bag',)`` for the true contacts; or Bool topics, one a foot in the
        order of the robot's feet.
    truth : dict of str to str
        Topic of the true wrench, by foot; in addition to those in the YAML.
    valid : str
        Bool topic that says when the truth is complete; empty: the one in the YAML.
    joint_states, imu : str
        Topics; empty: found by type and name.
    start, end : float or None [s]
        Range of the bag, from its beginning.
    report, enriched, csv : bool
        Which files are written.
    storage : str
        Storage of the enriched bag: mcap or sqlite3.

    """

    robot: str = ''
    urdf: str = ''
    params_files: tuple[Path, ...] = ()
    contact: tuple[str, ...] = (DETECTED,)
    truth: Mapping[str, str] = field(default_factory=dict)
    valid: str = ''
    joint_states: str = ''
    imu: str = ''
    start: float | None = None
    end: float | None = None
    report: bool = True
    enriched: bool = True
    csv: bool = True
    storage: str = 'mcap'

    def __post_init__(self) -> None:
        check_range(self.start, self.end)


# -------------------------------------------------------------------------------------------------
# Preparation of a replay: robot, settings, topics and range of a bag.


_TIMING = (Setting('imu_timeout', IMU_TIMEOUT, 's',
                   'How far joint states may run ahead of the IMU.', 1e-3, 1.0),)


def prepare(bag: BagReader, options: AnalysisOptions) -> tuple[RobotChoice, ReplayPlan]:
    """Return the robot of a bag, and the plan of its replay."""
    inputs = input_topics(bag, options.joint_states, options.imu)
    robot = choose_robot(bag, inputs[2], options.robot, options.urdf, options.params_files)
    settings = EstimatorSettings.from_parameters(robot.parameters)
    topics = _all_topics(bag, robot, options, inputs)
    start, stop = receipts(bag, options.start or None, options.end)
    if start is not None and start > bag.end_ns:
        raise BagError(f'{bag.path} lasts {(bag.end_ns - bag.start_ns) * 1e-9:.2f} s; there is '
                       f'nothing from {options.start:g} s on')
    given = _given_topics(bag, options, tuple(foot.link for foot in robot.config.feet))
    return robot, ReplayPlan(
        robot.model, robot.config, settings, checked(robot.parameters, _TIMING)['imu_timeout'],
        topics, read_records(bag, TopicChoice('', contact_truth=given), start, stop).contact,
        start_ns=start, stop_ns=stop, first_stamp_ns=_live_start(bag, topics, settings, start))


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


def _given_topics(bag: BagReader, options: AnalysisOptions,
                  feet: tuple[str, ...]) -> dict[str, str]:
    topics = () if options.contact in ((DETECTED,), (FROM_BAG,)) else options.contact
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
    """Return the stamp of the live estimator's first joint state: a replay starts there, too."""
    if not topics.live or start_ns is not None:
        return None
    live = next(bag.messages([next(iter(topics.live.values()))]))
    first = stamp_ns(bag.decode(live).header.stamp)
    # What is published first is of the newest sample of the first full window.
    window = max(2 * settings.half_window, 1) + 1
    before = LIVE_DELAY_NS + round(2e9 * window / settings.rate)
    stamps: deque[int] = deque(maxlen=window)
    for message in bag.messages([topics.joint_states],
                                max(live.receipt_ns - before, bag.start_ns),
                                live.receipt_ns + LIVE_DELAY_NS):
        stamps.append(stamp_ns(bag.decode(message).header.stamp))
        if stamps[-1] == first:
            return stamps[0] if len(stamps) == window else None
    return None
