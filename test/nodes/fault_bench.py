# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot under its body controller on the in-process bus, and hands that spoil what it hears."""
import math
from itertools import pairwise

import numpy as np
from loopback_robot import DIALECT, ROBOT, URDF
from scipy.spatial.transform import Rotation

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.effort_watchdog import EffortWatchdogNode
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file

# Motors that hold the last command for longer than any test, as ros2_controllers lets them.
HOLDS_FOR_EVER = {'simulation.command_timeout': 10.0}
TWIST = 'geometry_msgs/msg/TwistStamped'
REMAP = ('--ros-args', '-r', 'effort_controller/commands:=effort_watchdog/commands')


class Nothing:
    """A publisher of a process that is no more."""

    def __call__(self, *message):
        pass


def make_watchdog(bus, **changes):
    """Put the robot's watchdog on a bus."""
    values = {key: value for key, value in read_parameter_file(ROBOT).items()
              if not key.startswith(('simulation', 'noise'))}
    return bus.host(EffortWatchdogNode, parameters=values | changes)


class Spoiler:
    """Between the simulator's publisher and the bus: changes, holds back or drops messages."""

    def __init__(self, bus, prepared):
        publisher = prepared._publisher
        self._bus, self._send, self._type = bus, publisher.publish_raw, publisher.type
        self.change = self.true = lambda message: message
        self.late, self.renew, self._waiting = 0, False, []
        self.last = None
        publisher.publish_raw = lambda cdr: self.publish(deserialize(cdr, self._type))

    def _publish(self, message):
        self._send(serialize(message, self._type))

    def publish(self, message):
        self.last = message = self.true(message)    # unspoilt as long as nothing changes it
        message = self.change(message)
        if message is not None:
            self._waiting.append((self._bus.now_ns + self.late, message))
        while self._waiting and self._waiting[0][0] <= self._bus.now_ns:
            message = self._waiting.pop(0)[1]
            if self.renew:
                message.header.stamp = convert.time_message(DIALECT, self._bus.now_ns)
            self._publish(message)


class FaultBench:
    """
    Stands on efforts alone; notes the truth beside everything that was commanded.

    Parameters
    ----------
    component : Component
        Controller.
    arguments : sequence of str
        Of its command line.
    watchdog : callable, optional
        Puts a watchdog on the bus.

    """

    def __init__(self, component=WorkspaceControllerNode, arguments=(), watchdog=None,
                 **parameters):
        self.bus = LoopbackBus()
        values = {**read_parameter_file(ROBOT), 'robot_description': str(URDF)}
        self.robot_host = self.bus.host(SimulatedRobotNode, parameters={
            **values, 'schedule': 'stand 1000', 'publish_truth': False, **HOLDS_FOR_EVER})
        self.joints = Spoiler(self.bus, self.robot_host.component.joint_states)
        self.imu = Spoiler(self.bus, self.robot_host.component.imu)
        self.diagnostics = self.bus.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
        self.stranger, self.strangers = self.bus.create_node('stranger'), []
        values = {name: value for name, value in values.items()
                  if not name.startswith('simulation') and name != 'robot_description'}
        self.watchdog = watchdog(self.bus) if watchdog else None
        self.host = self.bus.host(component, arguments, parameters={
            **values, 'safety.ramp': 0.2, **parameters})
        self.node, self.name = self.host.component, component.default_name
        self.wall_ns = self.host.node.get_clock().wall_ns
        self.commands = []
        watcher = self.bus.create_node('watcher')
        watcher.create_subscription(DIALECT.message('std_msgs/msg/Float64MultiArray'),
                                    '/effort_controller/commands', self._note,
                                    QoSProfile(depth=100))
        self.stand(1.2)     # the noise of the sensors is learnt

    @property
    def robot(self):
        return self.robot_host.component.robot

    def stand(self, seconds=0.45):
        """Have the robot stand under control, whatever has become of it."""
        self.heal()
        if self.node.efforts.state.name != 'ACTIVE' or not self.stands():
            self.node.deactivate()
            self.bus.spin()     # the last command is for the robot that was
            self.robot_host.component.deactivate()
            self.robot_host.component.activate()
            self.tilt_ground()
            self.bus.step(0.15)
            self.node.activate()
            self.bus.step(seconds)
        assert self.node.efforts.state.name == 'ACTIVE', self.node.judge(self.bus.now_ns)
        assert self.stands()
        self.commands.clear()
        self.diagnostics.clear()

    def tilt_ground(self):
        """Have the floor slope, where it does."""

    def kill(self):
        """End the controller, as far as the watchdog can see."""
        self.node.efforts.commands = Nothing()

    def heal(self):
        """End whatever is spoilt."""
        for spoiler in (self.joints, self.imu):
            spoiler.change, spoiler.late, spoiler.renew = (lambda message: message), 0, False
        self.host.node.get_clock().wall_ns = self.wall_ns
        for publisher in self.strangers:
            self.stranger.destroy_publisher(publisher)
        self.strangers = []

    def set_clock(self, ahead_ns):
        """Set the clock of the controller's machine."""
        self.host.node.get_clock().wall_ns = lambda: self.wall_ns() + ahead_ns

    def _note(self, message):
        velocity = self.robot.data.qvel[self.robot._dofs].copy()
        self.commands.append((self.bus.now_ns, np.array(message.data), velocity,
                              self.node.efforts.state.name))

    def run(self, seconds, until=lambda: False):
        """Let time pass; return how long it took until something held, or None."""
        for k in range(round(seconds / 0.002)):
            if until():
                return k * 0.002
            self.bus.step(0.002)
        return None

    def stands(self):
        truth = self.robot.truth()
        tilt = abs(truth.base_orientation[:2]).max()
        return not self.robot.fallen and truth.base_position[2] > 0.35 and tilt < 0.1

    def state(self):
        return self.node.efforts.state.name

    def texts(self):
        """Return all that diagnostics have said above OK since it stood, and would say now."""
        now = [f'{part}: {text}' for part, (level, text) in
               self.node.judge(self.bus.now_ns).items() if level != 'OK']
        return ' | '.join(now + [
            f'{status.name.partition(": ")[2]}: {status.message}' for array in self.diagnostics
            for status in array.status
            if status.name.startswith(self.name) and convert.diagnostic_level(status)])

    def largest_share_of_limits(self):
        """Return the largest effort since it stood, in effort limits."""
        limits = self.node.efforts.guard.limits
        return max((np.abs(effort) / limits).max() for _, effort, _, _ in self.commands)

    def largest_share_of_slew(self):
        """Return the largest change of an effort since it stood, in what its time allows."""
        limits, shares = self.node.efforts.guard.limits, [0.0]
        for before, after in pairwise(self.commands):
            allowed = limits * min((after[0] - before[0]) * 1e-9, 0.02) / 0.01
            goodbye = after[3] in ('LATCHED', 'LIMP')
            if not goodbye and after[0] > before[0]:
                shares.append((np.abs(after[1] - before[1]) / allowed).max())
        return max(shares)

    def power_put_in(self):
        """Return the most that the safe output gave one joint, once efforts had come down [W]."""
        safe = [entry for entry in self.commands if entry[3] == 'DAMPING']
        return max((float((effort * velocity).max()) for ns, effort, velocity, _ in safe
                    if ns - safe[0][0] > 12_000_000), default=0.0)


class WalkingBench(FaultBench):
    """
    The same robot at a trot, with the watchdog before its motors; notes how it falls.

    ``velocity``: ahead [m/s] and turning [rad/s]; ``slope`` [rad]: upwards ahead, where it starts.
    """

    def __init__(self, velocity=(0.4, 0.0), slope=0.0):
        self.velocity, self.fastest, self.tilt = None, 0.0, 0.0
        self._slope = Rotation.from_rotvec([0.0, -slope, 0.0])
        super().__init__(arguments=REMAP, watchdog=make_watchdog, gait='trot')
        self.velocity, self._publisher = velocity, self.node.efforts.commands
        self._velocity = self.stranger.create_publisher(DIALECT.message(TWIST), '/cmd_vel',
                                                        DIALECT.qos.reliable(10))

    def tilt_ground(self):
        """Have the floor slope: gravity is another one in its axes."""
        self.robot.model.opt.gravity[:] = self._slope.inv().apply([0.0, 0.0, -9.81])
        self.imu.true = self._as_on_the_slope

    def _as_on_the_slope(self, message):
        turn = message.orientation
        turn.x, turn.y, turn.z, turn.w = (
            self._slope * Rotation.from_quat([turn.x, turn.y, turn.z, turn.w])).as_quat().tolist()
        return message

    def walk(self, seconds=2.0):
        """Have the robot walk, whatever has become of it."""
        for _ in range(2):      # what the last fault has left behind may throw it once
            self.walk_on()
            if (self.node.lost or self.state() != 'ACTIVE' or not self.stands()
                    or self.node.efforts.screen.echo.late_ns):     # as it happened to stop
                self.watchdog.component.deactivate()
                self.watchdog.component.activate()
                self.stand()
            self.run(seconds)
            if self.walks():
                break
        assert self.walks(), self.texts()
        self.commands.clear()
        self.diagnostics.clear()
        self.fastest, self.tilt = 0.0, 0.0

    def walk_on(self):
        """End the fault."""
        self.node.efforts.commands = self._publisher
        self.heal()

    def said(self):
        """Return all that diagnostics say, those of the watchdog too."""
        dog = self.watchdog.component
        return self.texts() + ''.join(
            f' | {text}' for level, text in dog.judge(dog.common.now()).values() if level != 'OK')

    def run(self, seconds, until=lambda: False):
        """Let time pass under a command; note the fastest fall [m/s] and the most tilt [deg]."""
        for k in range(round(seconds / 0.002)):
            if until():
                return k * 0.002
            if self.velocity and k % 50 == 0:
                message = DIALECT.message(TWIST)()
                message.twist.linear.x, message.twist.angular.z = self.velocity
                self._velocity.publish(message)
            before = self.robot.data.qpos[2]
            self.bus.step(0.002)
            self.fastest = max(self.fastest, (before - self.robot.data.qpos[2]) / 0.002)
            x, y = self.robot.truth().base_orientation[:2]
            self.tilt = max(self.tilt, math.degrees(math.acos(1.0 - 2.0 * (x * x + y * y))))
        return None

    def walks(self):
        return self.stands() and self.state() == 'ACTIVE' and self.node.mode() == 'walks'
