# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Node unitree: a Unitree robot's LowState in, ground reactions out, and efforts to LowCmd if asked.

It is the ground reaction estimator with another input: joint states and IMU reading come from one
message and have one stamp, the robot's tick. What it publishes is what that node publishes;
joint states, IMU and description are published too while somebody listens, for the
recorder, the viewer and other nodes. Nothing is sent to a motor unless ``unitree.command`` is
true. Then efforts on ``effort_controller/commands`` go to ``lowcmd`` through an EffortWatchdog.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.estimation import GroundReaction, Mode
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import forces_in_base
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.description import urdf_text
from legged_dynamics.ros.nodes.ground_reaction_estimator import NODE_SETTINGS as ESTIMATOR_NODE
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.ros.nodes.robot_component import (
    COMMANDS,
    LONGEST_SHUTDOWN_NS,
    Shutdown,
    SteadyClock,
)
from legged_dynamics.ros.nodes.robot_input import IMU, JOINTS, RobotInput
from legged_dynamics.ros.unitree_low_level import (
    LowCmdWriter,
    LowStateReader,
    robot_named,
    write_foot_forces,
)
from legged_dynamics.safety.effort_watchdog import EffortWatchdog
from legged_dynamics.safety.settings import SHARED, WATCHDOG_SETTINGS
from legged_dynamics.schema import Setting

LOW_STATE = 'lowstate'
LOW_CMD = 'lowcmd'
# How often it is checked whether commands still come [s].
WATCH_PERIOD = 0.005
# Damping messages sent when commanding ends, so that one that is lost does not matter.
LAST_MESSAGES = 5


# Which robot, and what is sent to it.
UNITREE_SETTINGS = (
    Setting('unitree.robot', 'go2', '', 'Robot of the table in ros/unitree_low_level.py.'),
    Setting(
        'unitree.foot_force', 'off', '',
        'LowState with our forces on ~/lowstate: in foot_force_est, or in foot_force too.',
        choices=('off', 'estimate', 'both')),
    Setting(
        'unitree.print_period', 0.0, 's', 'How often forces are printed; 0: never.', 0.0, 60.0),
    Setting('unitree.command', False, '', 'Whether efforts are sent to the motors.'),
    Setting(
        'unitree.kd', 0.0, 'N m s/rad',
        'Damping that motors add to commanded efforts.', 0.0, 20.0),
    Setting(
        'unitree.resting_kd', 2.0, 'N m s/rad',
        'Damping of the motors when commanding ends, and of those that are not commanded.',
        0.0, 20.0),
)
NODE_SETTINGS = (*ESTIMATOR_NODE, *WATCHDOG_SETTINGS, *SHARED, *UNITREE_SETTINGS)


class _LowStateInput(RobotInput):
    """RobotInput whose joint states and IMU readings come from LowState."""

    def __init__(self, node: UnitreeNode, described: Callable[[RobotModel], None],
                 measured: Callable[[Measurement], None], arrived: Callable[[Any, Any], None]):
        common = node.common
        super().__init__(common, described, measured)
        self._arrived = arrived
        self._robot = robot_named(common.parameters['unitree.robot'])
        self._low_states = LowStateReader(self._robot)
        self._imu_frame = common.config.imu_link or common.config.base_link

    def _subscribe(self, qos: Any) -> list[tuple[Any, Any]]:
        kind = f'{self._robot.family}/msg/LowState'
        source = self._endpoints.subscription(kind, LOW_STATE, self._low_state, qos)
        self._silence.expect(self.joints, LOW_STATE, kind, source)
        dialect = self._component.dialect
        self._joint_states = self._endpoints.publisher(
            'sensor_msgs/msg/JointState', JOINTS, dialect.qos.reliable(100))
        self._imu_data = self._endpoints.publisher('sensor_msgs/msg/Imu', IMU,
                                                   dialect.qos.reliable(100))
        return [(self.joints, source), (self.imu, source)]

    def _low_state(self, message: Any) -> None:
        dialect = self._component.dialect
        try:
            sample = self._low_states(message, self._now())
        except MeasurementError as error:
            for monitor in (self.joints, self.imu):
                monitor.saw(self._now())
                monitor.refused(self._now(), str(error))
            return
        if sample is None:
            return
        self._arrived(message, sample)
        imu = convert.imu(dialect, sample.stamp_ns, self._imu_frame, sample.gyro,
                          sample.accelerometer, sample.orientation)
        joints = convert.joint_state(dialect, sample.stamp_ns, self._low_states.joints,
                                     sample.position, sample.velocity, sample.effort)
        # The IMU first: the joint state then need not wait for it.
        for topic, publisher, one in ((IMU, self._imu_data, imu),
                                      (JOINTS, self._joint_states, joints)):
            if publisher.get_subscription_count():
                publisher.publish(one)
            self._take(topic, one)


class UnitreeNode(GroundReactionNode):
    """
    Estimates ground reactions from ``lowstate``, and sends efforts to ``lowcmd`` if asked.

    Publishes what GroundReactionNode does, ``joint_states``, ``imu/data`` and
    ``robot_description``; ``~/lowstate`` with forces in it where ``unitree.foot_force`` says so.
    """

    default_name = 'unitree'
    own_settings = NODE_SETTINGS

    def configure(self) -> None:
        """Read parameters, join the topics, and build the estimator once the URDF is known."""
        self._robot = robot_named(self.parameters['unitree.robot'])
        self._watchdog: EffortWatchdog | None = None
        self._writer: LowCmdWriter | None = None
        self._message: Any = None
        self._printed_ns, self._order = 0, np.zeros(0, int)
        self._steady = SteadyClock(self.node)
        self._shutdown = Shutdown(self._steady, LONGEST_SHUTDOWN_NS)
        if self.parameters['unitree.foot_force'] != 'off' and not self._robot.feet:
            raise ConfigurationError(f'unitree.foot_force: LowState of {self._robot.name} has no '
                                     'foot_force; expected off')
        super().configure()

    def activate(self) -> None:
        """Start estimating; efforts are obeyed from the first one on."""
        super().activate()
        self._shutdown.reset()
        if self._watchdog is not None:
            self._watchdog.reset()

    def leave(self) -> bool:
        """Let the robot down, where it was commanded; return whether that is done."""
        watchdog = self._watchdog
        if watchdog is None or watchdog.at_rest:
            return True
        if self._shutdown.begin():
            self.node.get_logger().info('stopping: the robot is let down')
            watchdog.release(self._steady(), 'the node is being stopped')
        return self._shutdown.late()

    def deactivate(self) -> None:
        """Stop estimating; the last messages to motors that were commanded are damping."""
        super().deactivate()
        if self._watchdog is not None:
            self._watchdog.reset()
        self._send_damping()

    def cleanup(self) -> None:
        """Leave all topics."""
        self._send_damping()
        self._writer = self._watchdog = None
        super().cleanup()

    def on_fault(self, error: Exception) -> None:
        """Show an unexpected failure of a callback in the diagnostics, and let the robot down."""
        super().on_fault(error)
        if self._watchdog is not None:
            self._watchdog.release(self._steady(), f'{type(error).__name__}: {error}')

    # ---- building --------------------------------------------------------------------------

    def _listen(self) -> RobotInput:
        return _LowStateInput(self, self._build, self._take, self._arrived)

    def _build(self, model: RobotModel) -> None:
        values = self.parameters
        first = self.estimator is None
        if values['unitree.command'] and first:
            self._prepare_commands(model)
        super()._build(model)
        if not first:
            return
        endpoints, qos = self.common.endpoints, self.dialect.qos
        self._with_forces = None if values['unitree.foot_force'] == 'off' else endpoints.publisher(
            f'{self._robot.family}/msg/LowState', f'~/{LOW_STATE}', qos.reliable(100))
        if values['robot_description']:
            self._description = endpoints.publisher('std_msgs/msg/String', 'robot_description',
                                                    qos.latched)
            self._description.publish(convert.string(self.dialect,
                                                     urdf_text(values['robot_description'])))

    def _prepare_commands(self, model: RobotModel) -> None:
        values, config, endpoints = self.parameters, self.common.config, self.common.endpoints
        applied = config.apply_to(model)
        joints = tuple(config.joints or applied.joint_names)
        kind = f'{self._robot.family}/msg/LowCmd'
        writer = LowCmdWriter(self._robot, joints, self.dialect.message(kind),
                              values['unitree.kd'], values['unitree.resting_kd'])
        self._watchdog = EffortWatchdog(applied, joints,
                                        self.common.values((*WATCHDOG_SETTINGS, *SHARED)),
                                        [foot.link for foot in config.feet])
        names = [name for name in self._robot.joints if name]
        self._order = np.array([names.index(name) for name in joints])
        self._motors = endpoints.publisher(kind, LOW_CMD, self.dialect.qos.reliable(1))
        self._writer, self._commanded, self._damped = writer, False, True
        endpoints.subscription('std_msgs/msg/Float64MultiArray', COMMANDS, self._command,
                               self.dialect.qos.reliable(1))
        endpoints.timer(WATCH_PERIOD, self._watch)

    # ---- work ------------------------------------------------------------------------------

    def _arrived(self, message: Any, sample: Any) -> None:
        self._message = message
        if self._watchdog is None:
            return
        assert self._writer is not None
        self._writer.mode_machine = getattr(message, 'mode_machine', 0)
        self._watchdog.joints(self._steady(), sample.stamp_ns, sample.position[self._order],
                              sample.velocity[self._order])

    def _take(self, measurement: Measurement) -> None:
        super()._take(measurement)
        reaction = self._reaction
        if reaction is None:
            return
        if reaction.mode != Mode.UNAVAILABLE:
            self._publish_low_state(reaction)
            self._print(reaction)

    def _normal_forces(self, reaction: GroundReaction) -> dict[str, float]:
        normal = np.einsum('fi,fi->f', forces_in_base(reaction), reaction.foot_normal)
        return {foot: float(value) if np.isfinite(value) else 0.0
                for foot, value in zip(reaction.feet, normal)}

    def _publish_low_state(self, reaction: GroundReaction) -> None:
        publisher = self._with_forces
        if publisher is not None and publisher.get_subscription_count():
            write_foot_forces(self._message, self._robot, self._normal_forces(reaction),
                              self.parameters['unitree.foot_force'] == 'both')
            publisher.publish(self._message)

    def _print(self, reaction: GroundReaction) -> None:
        period = self.parameters['unitree.print_period'] * 1e9
        if period and not 0 <= reaction.latest_ns - self._printed_ns < period:
            self._printed_ns = reaction.latest_ns
            print('   '.join(
                f'{foot} {force:6.1f} N {"contact" if down else "air    "}'
                for (foot, force), down in zip(self._normal_forces(reaction).items(),
                                               reaction.latest_contact)), flush=True)

    # ---- commands --------------------------------------------------------------------------

    def _command(self, message: Any) -> None:
        watchdog = self._watchdog
        if watchdog is None or not self.input.listening:
            return
        now, dimensions = self._steady(), message.layout.dim
        owner, count = (dimensions[0].label, dimensions[0].stride) if dimensions else ('', 0)
        if watchdog.command(now, message.data, owner, count):
            self._pass_on(now)

    def _watch(self) -> None:
        watchdog, now = self._watchdog, self._steady()
        if watchdog is None:
            return
        if watchdog.overdue(now):
            self._pass_on(now)
        elif watchdog.at_rest:
            self._send_damping()

    def _pass_on(self, now: int) -> None:
        assert self._watchdog is not None and self._writer is not None
        effort = self._watchdog.output(now)
        if effort is None or self._watchdog.at_rest:
            self._send_damping()
            return
        self._commanded, self._damped = True, False
        self._motors.publish(self._writer.torque(effort))

    def _send_damping(self) -> None:
        """Brake all motors, if they were commanded and are not braked already."""
        if self._writer is None or self._damped:
            return
        for _ in range(LAST_MESSAGES):
            self._motors.publish(self._writer.damping())
        self._damped = True

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge inputs, estimate and, where efforts are sent, commands."""
        found = super().judge(now)
        watchdog = self._watchdog
        if watchdog is not None:
            found['commands'] = (('ERROR', f'{watchdog.cause}: {watchdog.state.value}')
                                 if watchdog.cause else
                                 ('WARN', f'not passed on: {watchdog.fault}') if watchdog.fault
                                 else ('OK', watchdog.state.value))
        return found


main = partial(run, UnitreeNode)   # the executable; returns its exit code
