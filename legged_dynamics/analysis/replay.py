# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Runs the live estimator over a bag: the same conversions, pairing and estimator as the node.

Beside the main estimate, which is bit for bit what a node with these settings would have
published, estimates from the base's motion alone and from joint torque alone are made of the same
samples, with the contacts that the main estimate found.
"""
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from legged_dynamics.analysis.bags import BagMessage, BagReader
from legged_dynamics.analysis.inputs import InputTimes
from legged_dynamics.analysis.recording import FlagRecord, RecordGatherer
from legged_dynamics.analysis.series import EstimateSeries, ForceSeries
from legged_dynamics.analysis.topics import TopicChoice
from legged_dynamics.estimation import EstimatorSettings, Fault, GroundReaction, Measurement, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.synchronizer import MeasurementSynchronizer
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.middleware.compiling import compile_first
from legged_dynamics.middleware.conversions import SensorReader, read_switches
from legged_dynamics.model import RobotConfig, RobotModel

# The node that estimates live.
ESTIMATOR = 'ground_reaction_estimator'
OTHERS = {'base only': 'base_only', 'torque only': 'torque_only'}
# Different faults that are told apart; a message may carry numbers that differ each time.
_FAULTS_KEPT = 50
# Receipts kept of joint states that wait or came to nothing.
_RECEIPTS_KEPT = 10_000


@dataclass(frozen=True)
class ReplayPlan:
    """
    What is to be replayed, and how.

    Attributes
    ----------
    model, config, settings : RobotModel, RobotConfig, EstimatorSettings
    imu_timeout : float [s]
        How long joint states wait for their IMU reading.
    topics : TopicChoice
    given_contact : dict of str to FlagRecord
        Contact flags by foot that take the place of detection; none to detect.
    true_contact : callable or None
        Returns the flags (nf,) at a stamp [ns]; takes the place of detection, too.
    others : bool
        Whether base-only and torque-only estimates are made beside the fused one.
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

    Attributes
    ----------
    series : EstimateSeries
        The main estimate.
    others : dict of str to ForceSeries
        Base-only and torque-only estimates; they begin and end some samples later and earlier.
    joints, imu : InputTimes
        When the inputs were stamped and received.
    refused : Counter
        What was wrong with messages that could not be used, and how often.
    faults : Counter
        What the estimator said of its input, and how often.

    """

    def __init__(self, plan: ReplayPlan):
        self.plan = plan
        self._estimator = GroundReactionEstimator(plan.model, plan.config, plan.settings)
        self._synchronizer = MeasurementSynchronizer(plan.imu_timeout)
        model = plan.config.apply_to(plan.model)
        self._read = SensorReader(model.joint_names, plan.config.sensors,
                                  plan.config.spare(model), model.mimics)
        feet = self._estimator.feet
        self.series = EstimateSeries(feet, plan.model.joint_names)
        self.joints, self.imu = InputTimes(), InputTimes()
        self.refused: Counter[str] = Counter()
        self.faults: Counter[Fault] = Counter()
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
    def delay(self) -> int:
        """Return by how many samples estimates lag behind the measurements they need."""
        return self._estimator.delay

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
        plan, topics = self.plan, self.plan.topics
        first = bag.start_ns if plan.start_ns is None else plan.start_ns
        span = max((bag.end_ns if plan.stop_ns is None else plan.stop_ns) - first, 1)
        beside = records.topics if records is not None else frozenset()
        wanted = None if sink else (
            {topics.joint_states, topics.imu, topics.foot_switches} | beside) - {''}
        for count, message in enumerate(bag.messages(wanted, plan.start_ns, plan.stop_ns)):
            if progress is not None and count % 1000 == 0:
                progress((message.receipt_ns - first) / span)
            if sink is not None:
                sink(message)
            if message.topic == topics.joint_states:
                ready = self._take_joints(bag.decode(message), message.receipt_ns)
            elif message.topic == topics.imu:
                ready = self._take_imu(bag.decode(message), message.receipt_ns)
            elif message.topic == topics.foot_switches:
                self._take_switches(bag.decode(message))
                continue
            else:
                if records is not None and message.topic in beside:
                    records.take(message.topic, bag.decode(message), message.receipt_ns)
                continue
            for measurement in ready:
                self._estimate(measurement, message.receipt_ns, on_estimate)
        if progress is not None:
            progress(1.0)

    def _take_joints(self, message: Any, receipt_ns: int) -> list[Measurement]:
        try:
            sample = self._read.joints(message)
        except MeasurementError as error:
            self._refuse(str(error))
            return []
        self.joints.note(sample.stamp_ns, receipt_ns)
        first = self.plan.first_stamp_ns
        if first is not None and sample.stamp_ns < first:
            return []
        if len(self._receipts) > _RECEIPTS_KEPT:
            self._receipts.clear()
        self._receipts[sample.stamp_ns] = receipt_ns
        return self._synchronizer.push_joints(sample)

    def _take_imu(self, message: Any, receipt_ns: int) -> list[Measurement]:
        try:
            sample = self._read.imu(message)
        except MeasurementError as error:
            self._refuse(str(error))
            return []
        self.imu.note(sample.stamp_ns, receipt_ns)
        return self._synchronizer.push_imu(sample)

    def _take_switches(self, message: Any) -> None:
        try:
            self._synchronizer.push_switches(read_switches(message, self._estimator.feet))
        except MeasurementError as error:
            self._refuse(str(error))

    def _estimate(self, measurement: Measurement, receipt_ns: int,
                  on_estimate: Callable[[GroundReaction, int], None] | None) -> None:
        contact = self._contact(measurement.stamp_ns)
        try:
            reaction = self._estimator.update(measurement, contact)
        except MeasurementError as error:
            self._refuse(str(error))
            return
        faults = reaction.faults
        if faults:
            self.faults.update(fault for fault in Fault if faults & fault)
        self._pending.append(measurement)
        while self._pending and self._pending[0].stamp_ns != reaction.stamp_ns:
            self._receipts.pop(self._pending.popleft().stamp_ns, None)
        if reaction.mode == Mode.UNAVAILABLE:
            return
        self.series.append_received(
            reaction, self._receipts.get(reaction.stamp_ns, receipt_ns), self._pending[0])
        for name, sibling in self._siblings.items():
            # They follow behind, for contact is known only once the main estimate is.
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

    def _refuse(self, why: str) -> None:
        if why in self.refused or len(self.refused) < _FAULTS_KEPT:
            self.refused[why] += 1
        else:
            self.refused['other faults'] += 1
