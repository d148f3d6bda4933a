# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What all nodes that command motors share: robot in, guarded efforts out, a safe end."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.settings import declare_settings, follow_settings
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.robot_config import SETTINGS as ROBOT_SETTINGS
from legged_dynamics.nodes.description import SETTINGS as DESCRIPTION_SETTINGS
from legged_dynamics.nodes.diagnostics import DiagnosticsPublisher, InputMonitor
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.nodes.robot_input import RobotInput
from legged_dynamics.safety import EffortGuard, GuardState
from legged_dynamics.safety.effort_guard import SETTINGS as SAFETY_SETTINGS
from legged_dynamics.schema import Setting

COMMANDS = 'effort_controller/commands'
# How often the watchdog looks whether joint states still arrive [s].
WATCH_PERIOD = 0.01
# A controller that has fallen behind is to answer the newest joint states, not the queue.
DEPTH = 5
SHARED_SETTINGS = (*(replace(setting, default=DEPTH) if setting.name == 'input_depth' else setting
                     for setting in INPUT_SETTINGS), *SAFETY_SETTINGS)


class EffortController(Component):
    """
    Commands efforts for every measurement, through an EffortGuard and nothing else.

    Publishes ``effort_controller/commands`` in the order of ``robot.joints``. When joint states
    stop, a callback fails or the controller has nothing good to say, the last command is held for
    ``safety.hold`` and then the safe output goes out. The last message on the way out is zero:
    hardware holds it for ever.

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

    @classmethod
    def shared_settings(cls) -> tuple[Setting, ...]:
        """Return `SHARED_SETTINGS` with the subclass's own defaults."""
        return tuple(replace(setting, default=cls.defaults.get(setting.name, setting.default))
                     for setting in SHARED_SETTINGS)

    @property
    def guard_state(self) -> GuardState:
        """Whether the last command was obeyed."""
        return self._guarded_state

    # ---- hooks -----------------------------------------------------------------------------

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """
        Make the numerics, and publishers that need the robot's names.

        Parameters
        ----------
        model : RobotModel
            With the configured joint physics.
        config : RobotConfig
            Feet, IMU mount, command order.

        Raises
        ------
        LeggedDynamicsError
            When the robot does not fit; the node then waits for another description.

        """

    def changing(self, values: dict[str, Any]) -> None:
        """
        Take other parameters at run time; `parameters` still has those before.

        Parameters
        ----------
        values : dict
            All parameters as they are to be, each within its range.

        Raises
        ------
        ConfigurationError
            When they do not go together; nothing is changed then.

        """

    def open(self) -> None:
        """Open topics that do not depend on the robot; called on configure."""

    def reset(self) -> None:
        """Forget the past; called on activate and when the robot is known."""

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """
        Return (nj,) efforts in the model's joint order [N m or N], or None when there are none.

        As long as nothing was commanded, None leaves the motors to whoever has them.

        Raises
        ------
        LeggedDynamicsError
            When the measurement cannot be used; shown in the diagnostics.

        """
        raise NotImplementedError

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """
        Publish what belongs to the command that has just gone out.

        Parameters
        ----------
        measurement : Measurement
            What it answers.
        effort : (nj,) array [N m or N]
            In the model's joint order, after the guard.

        """

    def grips(self) -> tuple[Sequence[str], Sequence[float]]:
        """Return feet that were told to hold on or to let go, beside the efforts, and how."""
        return (), ()

    def failed(self) -> None:
        """Answer a fault beside the efforts, which the guard has held or made safe."""

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return further diagnostics, level and message by name, at a time [ns]."""
        return {}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return further values by name of diagnostic, at a time [ns]."""
        return {}

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Read parameters and join the topics; commands wait for activate."""
        values = self.parameters
        self._config = self._read_robot(values)
        self._output = InputMonitor('control', round(values['input_timeout'] * 1e9))
        self._guarded_state = GuardState.SAFE
        self._limited: tuple[str, ...] = ()
        self._commanded_ns: int | None = None
        self.guard = None
        self._commands = self.endpoints.publisher(
            'std_msgs/msg/Float64MultiArray', COMMANDS, self.dialect.qos.reliable(1))
        DiagnosticsPublisher(self, self.endpoints, self._judge, self._details)
        self.open()
        self.input = RobotInput(self, self.endpoints, values, self._build, self._take)
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
        if self.guard is not None:
            self.guard.reset()
            self.reset()
        self._commanded_ns = None
        self.input.start()

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
        self._fault(f'{type(error).__name__}: {error}')

    # ---- work ------------------------------------------------------------------------------

    def _build(self, model: RobotModel) -> None:
        model = self._config.apply_to(model)
        joints = self._config.joints or model.joint_names
        guard = EffortGuard(model, joints, {
            setting.name: self.parameters[setting.name] for setting in SAFETY_SETTINGS})
        self.build(model, self._config)
        self._command_names = tuple(joints)
        self._order = np.array([model.joint_index(name) for name in joints])
        self._sent = np.zeros(model.n_joints)
        self.guard = guard
        self.reset()
        self.node.get_logger().info(
            f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints; commands '
            f'{len(joints)} of them')

    def _take(self, measurement: Measurement) -> tuple[Sequence[str], Sequence[float]] | None:
        assert self.guard is not None
        now = self.input.now(measurement.stamp_ns)
        # Set before the work: what fails below is answered with a command of its own.
        self._velocity = measurement.velocity[self._order]
        command = self.control(measurement)
        if command is None and self._commanded_ns is None:
            self._output.refused(now, 'not ready to command')
            return None
        measured = None if measurement.effort is None else measurement.effort[self._order]
        guarded = self.guard.apply(
            now, None if command is None else command[self._order], self._velocity,
            measurement.stamp_ns, measured)
        if guarded.fault and self._commanded_ns is None:
            # Who has not taken over yet does not make a robot limp: what queued up while the
            # node was being built is too old.
            self._output.refused(now, guarded.fault)
            return None
        self._send(now, guarded.effort)
        self._guarded_state, self._limited = guarded.state, guarded.limited
        if guarded.fault:
            self._output.refused(now, guarded.fault)
        else:
            self._output.saw(now)
        self._sent[self._order] = guarded.effort
        self.commanded(measurement, self._sent)
        feet, grips = self.grips()
        return (*self._command_names, *feet), [*guarded.effort, *grips]

    def _watch(self) -> None:
        """Answer the silence of the joint states."""
        if self.guard is None or not self.input.listening or self._commanded_ns is None:
            return
        age = self._now() - self._commanded_ns
        if age > self.parameters['safety.input_timeout'] * 1e9:
            self._fault(f'no joint states for {age * 1e-6:.0f} ms', stale=True)

    def _fault(self, why: str, stale: bool = False) -> None:
        now = self._now()
        self._output.refused(now, why)
        if self.guard is None or not self.input.listening or self._commanded_ns is None:
            return
        # Damping by a velocity of long ago would be a constant torque: not known is zero.
        velocity = [math.nan] * len(self._order) if stale else self._velocity
        guarded = self.guard.apply(now, None, velocity, now)
        self._guarded_state = guarded.state
        self._commands.publish(convert.command(self.dialect, guarded.effort))
        self.failed()

    def _send(self, now: int, effort: np.ndarray) -> None:
        self._commands.publish(convert.command(self.dialect, effort))
        self._commanded_ns = now

    def _send_last(self) -> None:
        """Zero, if there was ever anything else."""
        if self.guard is not None and self._commanded_ns is not None:
            self._commands.publish(convert.command(self.dialect, self.guard.last()))
            self._commanded_ns = None

    def _judge(self, now: int) -> dict[str, tuple[str, str]]:
        return self.input.judge(now) | {
            'control': self.input.state() or self._output.judge(now)} | self.judge(now)

    def _details(self, now: int) -> dict[str, dict[str, Any]]:
        values = self._output.values(now) | {
            'guard': self._guarded_state.name.lower(),
            'at the effort limit': ', '.join(self._limited) or 'none'}
        return self.input.details(now) | {'control': values} | self.details(now)

    def _now(self) -> int:
        return self.node.get_clock().now().nanoseconds
