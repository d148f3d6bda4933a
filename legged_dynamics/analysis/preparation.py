# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What an analysis needs to know of a bag before it goes through it: robot, topics, range."""
from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.options import AnalysisOptions
from legged_dynamics.analysis.recording import first_stamp
from legged_dynamics.analysis.replay import ReplayPlan
from legged_dynamics.analysis.robot import RobotChoice, choose_robot
from legged_dynamics.analysis.topics import TopicChoice, input_topics, output_topics
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.estimation.synchronizer import IMU_TIMEOUT
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.middleware.conversions import stamp_ns
from legged_dynamics.schema import Setting, checked

_TIMING = (Setting('imu_timeout', IMU_TIMEOUT, 's',
                   'How far joint states may run ahead of the IMU.', 1e-3, 1.0),)


@dataclass(frozen=True)
class Preparation:
    """
    What is known of a bag before its replay.

    Attributes
    ----------
    robot : RobotChoice
    plan : ReplayPlan
        Without contact flags that are given.
    given : dict of str to str
        Topics of contact flags that take the place of detection, by foot.
    duration : float [s]
        Of the bag, or of the part that is analysed.

    """

    robot: RobotChoice
    plan: ReplayPlan
    given: dict[str, str]
    duration: float

    @property
    def topics(self) -> TopicChoice:
        """Return which topics are read."""
        return self.plan.topics

    @property
    def feet(self) -> tuple[str, ...]:
        """Links of the feet."""
        return tuple(foot.link for foot in self.robot.config.feet)


def prepare(bag: BagReader, options: AnalysisOptions) -> Preparation:
    """
    Find robot, settings, topics and range of a bag.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    options : AnalysisOptions
        What the user says.

    Raises
    ------
    LeggedDynamicsError
        When the bag has no joint states, or does not fit the robot or the options.

    """
    inputs = input_topics(bag, options.joint_states, options.imu)
    robot = choose_robot(bag, inputs[2], options.robot, options.urdf, options.params_files)
    settings = EstimatorSettings.from_parameters(robot.parameters)
    topics = _all_topics(bag, robot, options, inputs)
    start, stop = _range(bag, options)
    feet = tuple(foot.link for foot in robot.config.feet)
    plan = ReplayPlan(
        robot.model, robot.config, settings, checked(robot.parameters, _TIMING)['imu_timeout'],
        topics, start_ns=start, stop_ns=stop,
        first_stamp_ns=_live_start(bag, topics, settings, start))
    duration = ((bag.end_ns if stop is None else min(stop, bag.end_ns))
                - (start or bag.start_ns)) * 1e-9
    return Preparation(robot, plan, _given_topics(bag, options, feet), duration)


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
