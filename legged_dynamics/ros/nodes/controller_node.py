# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ControllerNode: the common part of nodes that command motors, and their way to the motors.

In `EffortOutput` every effort passes the `EffortGuard`; silence of the joint states is watched by
a timer; and a node that stops first brings its robot down as `safety.stop` says.
"""
from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros.middleware.protocol import Component, Diagnosed
from legged_dynamics.ros.nodes.diagnostics import InputMonitor
from legged_dynamics.ros.nodes.input_screen import InputScreen
from legged_dynamics.ros.nodes.robot_component import (
    LONGEST_SHUTDOWN_NS,
    ROBOT,
    STOPPING,
    RobotComponent,
    Shutdown,
)
from legged_dynamics.ros.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.ros.nodes.robot_input import Commands, RobotInput
from legged_dynamics.ros.nodes.safety_report import EffortPublisher, SafetyReport, WatchdogMonitor
from legged_dynamics.safety import EffortGuard, GuardedEffort, GuardState
from legged_dynamics.safety.joint_watch import check_controllers
from legged_dynamics.safety.settings import SETTINGS as SAFETY_SETTINGS
from legged_dynamics.schema import Setting

# How often it is checked whether joint states still arrive [s].
WATCH_PERIOD = 0.005
# A posture that is held and a robot that is let down need feedback, also from joint states that
# make no measurement: so often at least [ns].
FEEDBACK_NS = 4_000_000


class EffortOutput(Diagnosed):
    """
    Passes efforts through an EffortGuard, and nothing else, to ``effort_controller/commands``.

    Efforts are in the order of ``robot.joints``. When joint states stop or are implausible, a
    callback fails or the controller has no usable command, the posture is held for
    ``safety.hold``, then the safe output goes out, and then nothing until the node is activated
    again. The last message, which hardware holds, is zero or, by ``safety.output``, kept. While
    the node is active, its robot_description is not replaced.

    A node that commands makes one in addition to its RobotComponent, calls :meth:`configure`,
    :meth:`listen`, :meth:`build`, :meth:`start`, :meth:`leave`, :meth:`stop`, :meth:`close` and
    :meth:`fault` from its own steps, and answers each measurement::

        if not efforts.ready():
            return None
        command = None if efforts.released else ...
        effort = efforts.send(measurement, command, why_there_is_none)
        ...
        return efforts.answer()

    Parameters
    ----------
    common : RobotComponent
        The node's, with parameters of :func:`settings_of` and a steady clock.
    failed : callable, optional
        Called after a fault that the guard has bridged or answered with the safe output.
    settled : callable, optional
        Called again and again while the node leaves and ``safety.stop`` is 'sit': brings the robot
        to where motors can be switched off, and returns whether it is there, or cannot be.

    Attributes
    ----------
    guard : EffortGuard or None
        Set once the robot is known.
    screen : InputScreen
        Checks the readings of the node's inputs.
    input : RobotInput
        Description and sensors, from :meth:`listen` on.
    released : bool
        Whether the robot is down, so that its controller is no longer called.

    """

    input: RobotInput
    # Returns efforts (model order) while joint states are silent, or None.
    foreseen: Callable[[], np.ndarray | None] = staticmethod(lambda: None)

    def __init__(self, common: RobotComponent, failed: Callable[[], None] = lambda: None,
                 settled: Callable[[], bool] = lambda: True):
        self._common, self._failed, self._settled = common, failed, settled
        self.guard: EffortGuard | None = None
        self.released = self._has_spoken = False
        self._shutdown = Shutdown(common.now, LONGEST_SHUTDOWN_NS)

    @property
    def state(self) -> GuardState:
        """Whether commands are obeyed."""
        return GuardState.LIMP if self.guard is None else self.guard.state

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Join the topics; before the node listens to its robot."""
        common = self._common
        self._monitor = InputMonitor('control', round(common.parameters['input_timeout'] * 1e9))
        self._limited: tuple[str, ...] = ()
        self._applied_ns = self._count = 0
        self._sending, self._callback_fault, self._told_fault = False, '', ''
        self.guard, self.screen = None, InputScreen(common.now)     # type: ignore[arg-type]
        self.commands = EffortPublisher(common)
        self._report, self._watchdog = SafetyReport(common, 'guard'), WatchdogMonitor(common)
        self.owner = ''
        common.endpoints.timer(WATCH_PERIOD, self._watch)

    def listen(self, described: Callable[[RobotModel], None],
               measured: Callable[[Measurement], Commands | None],
               answered: Callable[[Measurement], object] = lambda measurement: None) -> None:
        """
        Subscribe to description and sensors; measure while `input` is started.

        ``described`` may raise LeggedDynamicsError; ``measured`` returns commands, or None;
        ``answered`` is called behind it, for what no simulator should wait for.
        """
        self.input = RobotInput(self._common, described, measured, self.screen, answered,
                                self.commanded_joints)
        self.input.join()

    def commanded_joints(self, model: RobotModel) -> tuple[str, ...]:
        """Return the joints that get efforts, in command order (default: the model's)."""
        return tuple(self._common.config.joints or model.joint_names)

    def guard_of(self, model: RobotModel) -> EffortGuard:
        """
        Return a guard for a robot, with the parameters ``safety.*``.

        Raises LeggedDynamicsError if the robot cannot be guarded or ``safety.controllers_file``
        has other joints.
        """
        values, joints = self._common.parameters, self.commanded_joints(model)
        if values['safety.controllers_file']:
            check_controllers(values['safety.controllers_file'], joints)
        config = self._common.config
        return EffortGuard(config.apply_to(model), joints, self._common.values(SAFETY_SETTINGS),
                           [foot.link for foot in config.feet])

    def build(self, model: RobotModel, guard: EffortGuard) -> None:
        """Command a robot from now on, once its controller is built."""
        common = self._common
        model = common.config.apply_to(model)
        self._names = self.commanded_joints(model)
        self._order = np.array([model.joint_index(name) for name in self._names])
        self._effort = np.zeros(model.n_joints)
        self.screen.build(
            model, self._order, guard, common.config.imu_link_in(model),
            common.parameters['safety.frozen'], [foot.link for foot in common.config.feet],
            common.parameters['safety.stance_turn'])
        self.guard = guard
        if self.input.listening:
            self._arm()
        common.node.get_logger().info(
            f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints; commands '
            f'{len(self._names)} of them')

    def start(self) -> None:
        """Start the inputs; efforts are sent from the first usable command on."""
        self._count = 0
        # Random: in containers every first process has the same number, and no other process may
        # pretend to be this one.
        self.owner = f'{self._common.node.get_name()}@{secrets.token_hex(8)}'
        self.input.start()
        self._arm()

    def leave(self) -> bool:
        """Bring the robot down as ``safety.stop`` says; return whether that has ended."""
        guard, way = self.guard, self._common.parameters['safety.stop']
        if guard is None or not self._sending or way == 'zero':
            return True
        if self._shutdown.begin():
            self._common.node.get_logger().info(f'stopping: {way}')
        if self._shutdown.late() or self._shutdown.clock_stopped():
            return True
        self.released = self.released or way == 'damping' or self._settled()
        return self.released and guard.state.released and not guard.settings.latch

    def stop(self) -> None:
        """Stop the inputs and commanding; the last message, after any other, is the guard's."""
        if hasattr(self, 'input'):
            self.input.stop()
        if self.guard is not None:
            if self._sending:
                self._publish(self.guard.last())
            self._sending = False
            self.guard.deactivate()
            self._tell(self._common.now(), '')

    def close(self) -> None:
        """Forget the robot, safely."""
        self.stop()
        self.guard = None

    def fault(self, error: Exception) -> None:
        """Report a failed callback in the diagnostics, and let the guard bridge it."""
        self._callback_fault = f'{type(error).__name__}: {error}'
        self._monitor.refused(self._common.now(), self._callback_fault)
        self._answer_without_measurement()

    def _arm(self) -> None:
        """Wait for the first usable command."""
        self._sending, self._callback_fault = False, ''
        self._shutdown.reset()
        self.released = False
        self.screen.reset()
        if self.guard is not None:
            self.guard.activate()

    # ---- work ------------------------------------------------------------------------------

    def ready(self) -> bool:
        """Return whether to answer a measurement; False while disarmed by the description."""
        self._callback_fault, self._has_spoken = '', False
        fault = self.input.description.fault
        if self.state is GuardState.ARMED and fault:
            self._monitor.refused(self._common.now(), fault)
            return False
        return True

    def send(self, measurement: Measurement, command: np.ndarray | None,
             why: str) -> np.ndarray | None:
        """
        Send efforts (model order) through the guard; return those sent, None if silent.

        Before the first command, None leaves the motors to the node that has them.
        """
        assert self.guard is not None
        measured = None if measurement.effort is None else measurement.effort[self._order]
        now = self._common.now()
        guarded = self.guard.apply(
            now, None if command is None else command[self._order],
            self.screen.age(measurement.stamp_ns), measured,
            STOPPING if self.released else why if command is None else '')
        self._has_spoken = self._let_out(now, guarded)
        if guarded.state.silent:
            return None
        self._effort[self._order] = guarded.effort
        return self._effort

    def answer(self, feet: Sequence[str] = (), grips: Sequence[float] = ()) -> Commands | None:
        """Return the last command as names and values, joints then feet, or None."""
        return ((*self._names, *feet), [*self._sent, *grips]) if self._has_spoken else None

    def _watch(self) -> None:
        """Act when no joint states arrive, and say what is done."""
        now = self._common.now()
        self._tell(now)
        longest = (self._common.parameters['safety.input_timeout'] * 1e9
                    if self.state.obeying else FEEDBACK_NS)
        # Of joint states that come and are not believed nothing is foreseen.
        silent = self._sending and self.guard and not (self.guard.suspect or self.state.released)
        command = self.foreseen() if silent else None
        if command is not None or now - self._applied_ns > longest:
            self._answer_without_measurement(command)

    def _answer_without_measurement(self, command: np.ndarray | None = None) -> None:
        if self.guard is None or not self.input.listening or not self._sending:
            return
        now = self._common.now()
        effort = None if command is None else command[self._order]
        self._let_out(now, self.guard.apply(now, effort, why=self._callback_fault, foreseen=True))
        self._failed()

    def _let_out(self, now: int, guarded: GuardedEffort) -> bool:
        """Send the guard's output; when it falls silent, the last message is zero."""
        self._applied_ns, self._limited = now, guarded.limited
        self._sent = guarded.effort
        spoke = self._sending or not guarded.state.silent
        if spoke:
            self.screen.commanded(guarded.effort)
            self._publish(guarded.effort)
        self._sending = not guarded.state.silent
        if guarded.fault:
            self._monitor.refused(now, guarded.fault)
        else:
            self._monitor.saw(now)
        self._tell(now, guarded.fault)
        return spoke

    def _tell(self, now: int, fault: str | None = None) -> None:
        """Publish the guard's status when it has changed, or is due."""
        guard = self.guard
        self._told_fault = self._told_fault if fault is None else fault
        if guard is None or not self._report.due(now, guard.state.name, self._told_fault):
            return
        why = self._told_fault or guard.cause
        level = ('OK' if not why else 'ERROR' if guard.state.released else 'WARN')
        self._report.publish(level, f'{guard.state.value}: {why}' if why else guard.state.value, {
            'state': guard.state.name.lower(), 'fault': self._told_fault, 'cause': guard.cause,
            'joint_states': guard.suspect, 'at a limit': ', '.join(self._limited),
            'identity': self.owner, 'sent': self._count,
            'largest effort': self._share(guard)})

    def _share(self, guard: EffortGuard) -> float:
        """Return the largest effort that goes out, as a part of its limit."""
        return float(np.max(np.abs(self._sent) / guard.limits)) if self._sending else 0.0

    def _publish(self, effort: np.ndarray) -> None:
        assert self.guard is not None
        self._count = (self._count + 1) % 2**32
        self.commands(effort, self.owner + self.guard.identity_suffix, self._count)

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge inputs, control and the receiver of the efforts."""
        inputs = self.input
        return (inputs.judge(now) | {'control': inputs.state() or self._judge_control(now)}
                | self._watchdog.judge(now))

    def _judge_control(self, now: int) -> tuple[str, str]:
        guard = self.guard
        if self._shutdown.begun:
            return 'WARN', STOPPING
        if guard is not None and guard.state.released and guard.settings.latch:
            return 'ERROR', f'{guard.cause}: let go; activate the node again'
        if guard is not None and guard.state is GuardState.ARMED:
            if guard.suspect:
                return 'WARN', f'not armed: joint_states: {guard.suspect}'
            if self._monitor.recent(now):
                return 'WARN', f'not armed: {self._monitor.fault}'
        return self._monitor.judge(now)

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return key figures of inputs and control."""
        values = self._monitor.values(now) | {'guard': self.state.name.lower(),
                                              'at a limit': ', '.join(self._limited) or 'none'}
        return self.input.details(now) | {'control': values}


# Queue of inputs: a controller that has fallen behind answers the newest joint states.
DEPTH = 5


def settings_of(defaults: Mapping[str, Any], *tables: Sequence[Setting]) -> tuple[Setting, ...]:
    """Return the parameters of a node that commands motors: robot, inputs, safety, own."""
    own = {'input_depth': DEPTH, **defaults}
    return tuple(replace(setting, default=own.get(setting.name, setting.default))
                 for table in (ROBOT, INPUT_SETTINGS, SAFETY_SETTINGS, *tables)
                 for setting in table)


class ControllerNode(Component):
    """
    A RobotComponent and an EffortOutput, whose lifecycle is the node's.

    A subclass sets `default_name` and `settings`, and calls :meth:`open` and `listen` when it is
    configured, the latter with what builds the controller and what answers a measurement.

    Parameters
    ----------
    node : StandaloneNode, or an rclpy node
        Handle to the bus, as `Component` takes it.
    dialect : Dialect
        Messages and QoS of the backend, as `Component` takes it.
    accept : callable, optional
        Takes all parameters as they would be after a change, and refuses them by a
        ConfigurationError.
    failed, settled : callable
        As `EffortOutput` takes them.

    Attributes
    ----------
    settings : tuple of Setting
        All parameters of the node: :func:`settings_of`.
    common : RobotComponent
    efforts : EffortOutput
    listen : callable
        Subscribes to description and sensors: `EffortOutput.listen`.
    parameters : dict
        Values by dotted name.

    """

    has_kernels = True
    settings: ClassVar[tuple[Setting, ...]] = settings_of({})

    def __init__(self, node: Any, dialect: Any,
                 accept: Callable[[dict[str, Any]], object] | None = None,
                 failed: Callable[[], None] = lambda: None,
                 settled: Callable[[], bool] = lambda: True):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, self.settings, accept, steady=True)
        self.parameters = self.common.parameters
        self.efforts = EffortOutput(self.common, failed, settled)
        self.listen = self.efforts.listen

    def open(self) -> None:
        """Read the parameters and join the topics of diagnostics and efforts."""
        self.common.configure()
        self.efforts.configure()

    def activate(self) -> None:
        """Start commanding, blended in from what the motors deliver."""
        self.efforts.start()

    def leave(self) -> bool:
        """Bring the robot down as `safety.stop` says; return whether that is done."""
        return self.efforts.leave()

    def deactivate(self) -> None:
        """Stop commanding; the last message is zero."""
        self.efforts.stop()

    def cleanup(self) -> None:
        """Leave all topics."""
        self.efforts.close()
        self.common.close()

    def on_fault(self, error: Exception) -> None:
        """Report a failed callback in the diagnostics, and let the guard bridge it."""
        self.efforts.fault(error)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge inputs, control and the receiver of the efforts."""
        return self.efforts.judge(now)

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return key figures of inputs and control."""
        return self.efforts.details(now)
