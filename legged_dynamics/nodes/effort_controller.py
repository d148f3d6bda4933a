# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What all nodes that command motors share: robot in, guarded efforts out, a safe end."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.settings import declare_settings, follow_settings
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.robot_config import SETTINGS as ROBOT_SETTINGS
from legged_dynamics.nodes.controller_hooks import ControllerHooks
from legged_dynamics.nodes.description import SETTINGS as DESCRIPTION_SETTINGS
from legged_dynamics.nodes.diagnostics import DiagnosticsPublisher, InputMonitor
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.nodes.input_screen import InputScreen
from legged_dynamics.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.nodes.robot_input import RobotInput
from legged_dynamics.nodes.steady import SteadyClock
from legged_dynamics.safety import EffortGuard, GuardedEffort, GuardState
from legged_dynamics.safety.agreement import check_controllers
from legged_dynamics.safety.effort_watchdog import GOODBYE
from legged_dynamics.safety.settings import SETTINGS as SAFETY_SETTINGS
from legged_dynamics.schema import Setting

COMMANDS = 'effort_controller/commands'
# How often it is looked whether joint states still arrive [s].
WATCH_PERIOD = 0.005
# Longest time over which a robot is brought down before its node stops [ns].
LONGEST_FAREWELL_NS = 20_000_000_000
STOPPING = 'the node is being stopped'
# A controller that has fallen behind is to answer the newest joint states, not the queue.
DEPTH = 5
SHARED_SETTINGS = (*(replace(setting, default=DEPTH) if setting.name == 'input_depth' else setting
                     for setting in INPUT_SETTINGS), *SAFETY_SETTINGS)


class EffortController(ControllerHooks):
    """
    Commands efforts for every measurement, through an EffortGuard and nothing else.

    Publishes ``effort_controller/commands`` in the order of ``robot.joints``. When joint states
    stop or cannot be true, a callback fails or the controller has nothing good to say, the posture
    is held for ``safety.hold``, then the safe output goes out, and then nothing until the node is
    activated anew. The last message on the way out is zero: hardware holds it for ever. While the
    node is active the robot_description in force stays in force.

    Subclasses set `default_name` and `settings`, and override :meth:`build`, :meth:`control` and
    where they like the other hooks.

    Attributes
    ----------
    settings : tuple of Setting
        Parameters of the subclass; their values are in `parameters`, kept up to date at run time.
    defaults : mapping
        Defaults of the shared settings that are others in the subclass.
    parameters : dict
        Values by dotted name.
    endpoints : Endpoints
        For publishers, subscriptions and timers of the subclass; closed on cleanup.
    guard : EffortGuard or None
        Once the robot is known.
    now : callable
        Returns monotonic time [ns]: what ages and diagnostics are counted in.
    input : RobotInput

    """

    has_kernels = True
    settings: ClassVar[tuple[Setting, ...]] = ()
    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        table = (*DESCRIPTION_SETTINGS, *ROBOT_SETTINGS, *self.shared_settings(), *self.settings)
        self.parameters = declare_settings(node, dialect, table)
        follow_settings(node, dialect, table, self.parameters, self._changing, self.fixed)
        self.endpoints = Endpoints(self)
        self.guard: EffortGuard | None = None
        self.now = self._now = SteadyClock(node)
        self._activations = 0
        self._leaving_ns: int | None = None
        self._released = False

    @classmethod
    def shared_settings(cls) -> tuple[Setting, ...]:
        """Return `SHARED_SETTINGS` with the subclass's own defaults."""
        return tuple(replace(setting, default=cls.defaults.get(setting.name, setting.default))
                     for setting in SHARED_SETTINGS)

    @property
    def guard_state(self) -> GuardState:
        """Whether commands are obeyed."""
        return GuardState.LIMP if self.guard is None else self.guard.state

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Read parameters and join the topics; commands wait for activate."""
        values = self.parameters
        self._config = self._read_robot(values)
        self._output = InputMonitor('control', round(values['input_timeout'] * 1e9))
        self._limited: tuple[str, ...] = ()
        self._applied_ns = self._count = 0
        self._sending, self._why = False, ''
        self.guard = None
        self._screen = InputScreen(self.now)
        self._commands = self.endpoints.publisher(
            'std_msgs/msg/Float64MultiArray', COMMANDS, self.dialect.qos.reliable(1))
        DiagnosticsPublisher(self, self.endpoints, self._judge, self._details, self.now)
        self.open()
        self.input = RobotInput(self, self.endpoints, values, self._build, self._take,
                                self._screen, self.now, spare=self._spare_joints,
                                stated=self._config.absent)
        self.endpoints.timer(WATCH_PERIOD, self._watch)

    @staticmethod
    def _read_robot(values: dict[str, Any]) -> RobotConfig:
        return RobotConfig.from_parameters({name: value for name, value in values.items()
                                            if name.startswith(('robot.', 'noise.'))})

    def _changing(self, values: dict[str, Any]) -> None:
        self._read_robot(values)
        self.changing(values)

    def activate(self) -> None:
        """Start commanding, blended in from what the motors deliver."""
        self._activations += 1
        self._count = 0
        self._owner = f'{self.node.get_name()}@{os.getpid()}.{self._activations}'
        self.input.start()
        self._arm()

    def leave(self) -> bool:
        """Bring the robot down as `safety.stop` says; return whether that is done."""
        guard, way = self.guard, self.parameters['safety.stop']
        if guard is None or not self._sending or way == 'zero':
            return True
        now = self.now()
        if self._leaving_ns is None:
            self._leaving_ns = now
            self.node.get_logger().info(f'stopping: {way}')
        if now - self._leaving_ns > LONGEST_FAREWELL_NS:
            return True
        self._released = self._released or way == 'damping' or self.settled()
        return self._released and guard.state.released and not guard.latches

    def deactivate(self) -> None:
        """Stop commanding; the last message is zero."""
        self.input.stop()
        self._send_last()

    def cleanup(self) -> None:
        """Leave all topics."""
        self._send_last()
        self.endpoints.close()
        self.guard = None

    def on_fault(self, error: Exception) -> None:
        """Show a failure of a callback, and do not go on from it."""
        self._why = f'{type(error).__name__}: {error}'
        self._output.refused(self.now(), self._why)
        self._answer_without_command()

    # ---- work ------------------------------------------------------------------------------

    def _build(self, model: RobotModel) -> None:
        model = self._config.apply_to(model)
        joints = self._config.joints or model.joint_names
        values = self.parameters
        if values['safety.controllers_file']:
            check_controllers(values['safety.controllers_file'], joints)
        guard = EffortGuard(model, joints, {
            setting.name: values[setting.name] for setting in SAFETY_SETTINGS})
        self.build(model, self._config)
        self._command_names = tuple(joints)
        self._order = np.array([model.joint_index(name) for name in joints])
        self._sent = np.zeros(model.n_joints)
        imu = model.frame(self._config.imu_link or model.base_link)
        self._screen.build(model, self._order, guard, imu.pose.R, values['safety.frozen'])
        self.guard = guard
        # A description by parameter is read before there is an input.
        if hasattr(self, 'input') and self.input.listening:
            self._arm()
        self.node.get_logger().info(
            f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints; commands '
            f'{len(joints)} of them')

    def _spare_joints(self, model: RobotModel) -> dict[str, float]:
        """Return the joints that may be guessed: never one that is commanded."""
        commanded = self._config.joints or model.joint_names
        spare = self._config.spare(self._config.apply_to(model))
        return {name: where for name, where in spare.items() if name not in commanded}

    def _arm(self) -> None:
        """Wait for the first good command of a robot that is known."""
        self._sending, self._why = False, ''
        self._leaving_ns, self._released = None, False
        self._screen.reset()
        if self.guard is not None:
            self.guard.activate()
            self.reset()

    def _take(self, measurement: Measurement) -> tuple[Sequence[str], Sequence[float]] | None:
        assert self.guard is not None
        self._why = ''
        if self.guard.state is GuardState.ARMED and self.input.description_fault:
            self._output.refused(self.now(), self.input.description_fault)
            return None
        command = None if self._released else self.control(measurement)
        measured = None if measurement.effort is None else measurement.effort[self._order]
        now = self.now()
        guarded = self.guard.apply(
            now, None if command is None else command[self._order],
            self._screen.age(measurement.stamp_ns), measured,
            STOPPING if self._released else self.reason() if command is None else '')
        spoke = self._publish(now, guarded)
        if not guarded.state.silent:
            self._sent[self._order] = guarded.effort
            self.commanded(measurement, self._sent)
        if not spoke:
            return None
        feet, grips = self.grips()
        return (*self._command_names, *feet), [*guarded.effort, *grips]

    def _watch(self) -> None:
        """Answer the silence of the joint states."""
        if self.now() - self._applied_ns > self.parameters['safety.input_timeout'] * 1e9:
            self._answer_without_command()

    def _answer_without_command(self) -> None:
        if self.guard is None or not self.input.listening or not self._sending:
            return
        now = self.now()
        self._publish(now, self.guard.apply(now, None, why=self._why))
        self.failed()

    def _publish(self, now: int, guarded: GuardedEffort) -> bool:
        """Send what the guard lets out; the last of it, when it falls silent, is zero."""
        self._applied_ns, self._limited = now, guarded.limited
        spoke = self._sending or not guarded.state.silent
        if spoke:
            self._send(guarded.effort, self._owner + GOODBYE * guarded.state.silent)
        self._sending = not guarded.state.silent
        if guarded.fault:
            self._output.refused(now, guarded.fault)
        else:
            self._output.saw(now)
        return spoke

    def _send(self, effort: np.ndarray, owner: str) -> None:
        self._count = (self._count + 1) % 2**32
        self._commands.publish(convert.command(self.dialect, effort, owner, self._count))

    def _send_last(self) -> None:
        """Zero, if there was ever anything else."""
        if self.guard is not None:
            if self._sending:
                self._send(self.guard.last(), self._owner + GOODBYE)
            self._sending = False
            self.guard.deactivate()

    def _judge(self, now: int) -> dict[str, tuple[str, str]]:
        return self.input.judge(now) | {
            'control': self.input.state() or self._judge_control(now)} | self.judge(now)

    def _judge_control(self, now: int) -> tuple[str, str]:
        guard = self.guard
        if self._leaving_ns is not None:
            return 'WARN', STOPPING
        if guard is not None and guard.state.released and guard.latches:
            return 'ERROR', f'{guard.cause}: let go; activate the node anew'
        if guard is not None and guard.state is GuardState.ARMED:
            if guard.suspect:
                return 'WARN', f'not armed: joint_states: {guard.suspect}'
            if self._output.recent(now):
                return 'WARN', f'not armed: {self._output.fault}'
        return self._output.judge(now)

    def _details(self, now: int) -> dict[str, dict[str, Any]]:
        values = self._output.values(now) | {'guard': self.guard_state.name.lower(),
                                             'at a limit': ', '.join(self._limited) or 'none'}
        return self.input.details(now) | {'control': values} | self.details(now)
