# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``record``: topics from the bus into a bag, on ROS 2 or on Cyclone DDS."""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Literal

from legged_dynamics.cli.arguments import keep_to_this_machine
from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.recordings.bag_repair import repair
from legged_dynamics.recordings.bag_writer import FLUSH_PERIOD, BagWriter, Recorder
from legged_dynamics.ros.middleware.lifecycle import stopped_by_signals
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.middleware.runner import choose_backend
from legged_dynamics.ros.nodes.lock_step import Answers

NODE_NAME = 'legged_dynamics_recorder'
DISCOVERY_PERIOD = 0.1      # s between looks for new topics
DEPTH = 2000                # messages: what may queue while the disk is slow


def run(args: argparse.Namespace) -> int:
    """Record until told to stop."""
    keep_to_this_machine(args.network)
    if args.validation:
        from legged_dynamics.diagnosis.validation.validation import STEPS_OF_A_RECORDING
        args.duration = sum(seconds for *_, seconds in STEPS_OF_A_RECORDING)
    record = _record_on_ros2 if choose_backend() == 'rclpy' else _record_on_cyclone
    out = args.out or Path(time.strftime('bag_%Y%m%d_%H%M%S'))
    with BagWriter(out, args.storage) as writer:
        recorder = Recorder(writer, args.topics, args.all or not args.topics)
        recorder.skipped.update({f'/{name.lstrip("/")}': '' for name in args.exclude})
        begin = time.monotonic()

        def ready() -> None:
            print(f'Recording into {out}; Ctrl-C stops', flush=True)
            if args.validation:
                Thread(target=_announce_steps, daemon=True).start()

        record(recorder, args.duration, args.answer, ready)
        length = time.monotonic() - begin
    print(f'{sum(recorder.counts.values())} messages on {len(recorder.counts)} topics in '
          f'{length:.1f} s: {out}')
    for topic, why in recorder.skipped.items():
        if why:
            print(f'- left out {topic}: {why}')
    for topic in recorder.silent:
        print(f'- nothing came on {topic}')
    return 0


def _announce_steps(wait: Callable[[float], object] = time.sleep) -> None:
    """Print what the robot is to do for a validation, each step when it is due."""
    from legged_dynamics.diagnosis.validation.validation import STEPS_OF_A_RECORDING

    count = len(STEPS_OF_A_RECORDING)
    for i, (_, what, seconds) in enumerate(STEPS_OF_A_RECORDING, start=1):
        print(f'Step {i} of {count}, {seconds:g} s: {what}', flush=True)
        wait(seconds)


def _announce(topic: str, kind: str) -> None:
    print(f'Subscribed to {topic} [{kind}]', flush=True)


class Recorded:
    """
    Publishes on ``~/answer`` the stamp up to which all given topics are recorded.

    Message order is kept only within a topic, and one may lag for seconds; a simulator that waits
    for the slowest bounds this drift in a bag. Messages must begin with a header; without topics
    nothing is published.
    """

    def __init__(self, topics: Sequence[str], publisher: Callable[..., Any], dialect: Any):
        self._newest, self._said = dict.fromkeys(topics, 0), 0
        self._answer = Answers(publisher(
            dialect.message('sensor_msgs/msg/JointState'), '~/answer', dialect.qos.latched)
            if topics else None)

    def taker(self, recorder: Recorder, topic: str) -> Callable[[bytes, int], None]:
        """Return the callback for a topic's message bytes and receipt time [ns]."""
        def take(cdr: bytes, receipt_ns: int) -> None:
            recorder.take(topic, cdr, receipt_ns)
            self._took(topic, cdr)
        return take if topic in self._newest else partial(recorder.take, topic)

    def _took(self, topic: str, cdr: bytes) -> None:
        order: Literal['little', 'big'] = 'little' if cdr[1] else 'big'
        sec, nanosec = (int.from_bytes(cdr[k:k + 4], order) for k in (4, 8))
        self._newest[topic] = max(self._newest[topic], sec * 10**9 + nanosec)
        everywhere = min(self._newest.values())
        if everywhere > self._said:
            self._said = everywhere
            self._answer(everywhere)


def _record_on_cyclone(recorder: Recorder, duration: float | None, answered: Sequence[str],
                       ready: Callable[[], None]) -> None:
    """Record from Cyclone DDS until a signal or the end of the time."""
    from legged_dynamics.ros.middleware.cyclone import CycloneBus
    bus = CycloneBus()
    node = bus.create_node(NODE_NAME)
    answers = Recorded(answered, node.create_publisher, StandaloneDialect())

    def subscribe(topic: str, kind: str, qos: QoSProfile) -> None:
        if recorder.accept(topic, kind, qos.latched):
            _announce(topic, kind)
            node.create_raw_subscription(
                kind, topic, answers.taker(recorder, topic),
                QoSProfile(depth=DEPTH, reliable=qos.reliable, latched=qos.latched))

    def look() -> None:
        for found in bus.topics():
            subscribe(found.topic, found.type, found.qos)

    with stopped_by_signals(bus.stop):
        try:
            for topic, kind in recorder.typed:
                subscribe(topic, kind, QoSProfile())
            node.create_timer(DISCOVERY_PERIOD, look)
            node.create_timer(FLUSH_PERIOD, recorder.flush)
            ready()
            bus.spin(float('inf') if duration is None else duration)
            while bus.spin_once():      # what had arrived before the signal belongs to the bag
                pass
        finally:
            bus.close()


def _record_on_ros2(recorder: Recorder, duration: float | None, answered: Sequence[str],
                    ready: Callable[[], None]) -> None:
    """Record from ROS 2 until a signal or the end of the time."""
    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.signals import SignalHandlerOptions

    from legged_dynamics.ros.middleware.ros2_node import (
        QUIET,
        RclpyDialect,
        RclpyPublisher,
        Spinner,
        rclpy_class,
    )

    stopping: list[bool] = []
    with stopped_by_signals(lambda: stopping.append(True)):
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node(NODE_NAME)
        answers = Recorded(answered, partial(RclpyPublisher, node.create_publisher),
                          RclpyDialect())

        def subscribe(topic: str, kind: str, offered: list[Any]) -> None:
            latched = bool(offered) and all(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
                                            for qos in offered)
            reliable = all(qos.reliability == ReliabilityPolicy.RELIABLE for qos in offered)
            try:
                message = rclpy_class(kind)
            except MiddlewareError as error:
                recorder.skipped[topic] = str(error)
                return
            if not recorder.accept(topic, kind, latched):
                return
            _announce(topic, kind)
            profile = QoSProfile(
                depth=DEPTH,
                reliability=(ReliabilityPolicy.RELIABLE if reliable
                             else ReliabilityPolicy.BEST_EFFORT),
                durability=(DurabilityPolicy.TRANSIENT_LOCAL if latched
                            else DurabilityPolicy.VOLATILE))
            take = answers.taker(recorder, topic)
            node.create_subscription(
                message, topic, lambda cdr: take(bytes(cdr), time.time_ns()), profile, raw=True,
                event_callbacks=QUIET)

        def look() -> None:
            for topic, kinds in node.get_topic_names_and_types():
                publishers = node.get_publishers_info_by_topic(topic)
                if publishers:
                    subscribe(topic, kinds[0], [entry.qos_profile for entry in publishers])

        spinner = Spinner()
        spinner.executor.add_node(node)
        try:
            for topic, kind in recorder.typed:
                subscribe(topic, kind, [])
            node.create_timer(DISCOVERY_PERIOD, look)
            node.create_timer(FLUSH_PERIOD, recorder.flush)
            ready()
            end = float('inf') if duration is None else time.monotonic() + duration
            while not stopping and rclpy.ok() and (left := end - time.monotonic()) > 0.0:
                spinner.spin(min(left, 0.1))
            spinner.spin(0.2)       # what had arrived before the signal belongs to the bag
        finally:
            node.destroy_node()
            rclpy.try_shutdown()


# -------------------------------------------------------------------------------------------------
# Verb ``repair``: what is whole in a recording that was cut off, as a new bag.


def run_repair(args: argparse.Namespace) -> int:
    """Repair and return the exit code."""
    out = args.out or args.bag.with_name(f'{args.bag.stem}_repaired')
    count = repair(args.bag, out)
    print(f'{count} messages saved: {out}')
    return 0
