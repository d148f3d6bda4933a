# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Robot, watchdog and controller as processes on a DDS bus, and hands that spoil what they hear.

The simulated robot publishes its sensors on /driver/...; this process relays them, changed or not,
and counts them: a tick is one joint state. It also stands in for the motors' controller: it takes
what is sent to `effort_controller/commands`, and holds the last command for ever.

Time is simulated and in lock-step with these motors: the next sample is made when controller and
watchdog, where their processes live, have answered the last one, so that a busy machine does not
look like a dead process. Where nobody is to answer, a sample takes `PAUSE` of wall time. Rows
about clocks need nodes that do not follow `/clock`: the clocks of their processes are replaced by
ones that advance by a period when the last sample has been answered.

What goes to the motors, the diagnostics, the status messages of guard and watchdog, and the truth
are kept with the tick at which they came.
"""
from __future__ import annotations

import math
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.cyclone import CycloneBus
from legged_dynamics.ros.middleware.discovery import fast_dds_environment
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.nodes import lock_step
from legged_dynamics.ros.nodes.lock_step import Answers

DIALECT = StandaloneDialect()
JOINTS, IMU = 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/Imu'
NUMBERS, STATUS = 'std_msgs/msg/Float64MultiArray', 'diagnostic_msgs/msg/DiagnosticArray'
CONTROLLER, DOG, ROBOT = 'workspace_controller', 'effort_watchdog', 'simulated_robot'
RATE = 500.0            # Hz
COMMANDED = 25          # joint states from one command of a velocity to the next
SPEED = 0.5             # greatest real-time factor
PAUSE, PAUSED = 0.01, 1.0       # s of wall time for a sample: nobody is to answer; while paused
SILENCE, GIVEN_UP = 4.0, 2      # s of wall time, and samples on end, that an answer is waited for
ANSWER = '/fault_bus/answer'
BEHIND = ('-r', 'effort_controller/commands:=effort_watchdog/commands', '-p', f'rate:={RATE}')
SENSORS = ('-p', 'schedule:=stand 100000', '-r', 'joint_states:=driver/joint_states',
           '-r', 'imu/data:=driver/imu', '-p', 'simulation.command_timeout:=10.0', '-p',
           f'simulation.rate:={RATE}')
SIMULATED = {
    ROBOT: (*SENSORS, '-p', f'lock_step.answers:=[{ANSWER}]', '-p', f'lock_step.speed:={SPEED}'),
    DOG: ('-p', 'use_sim_time:=true'),
    CONTROLLER: (*BEHIND, '-p', 'use_sim_time:=true'),
}
MACHINE = {ROBOT: SENSORS, DOG: (), CONTROLLER: BEHIND}
PATIENCE = 300.0        # s of wall time for a process to start, which may have to compile
BEGIN_NS, BOOT_NS = 1_700_000_000 * 10**9, 10**12    # the clocks of processes at the start
# Starts a node; with a file, its process's monotonic and wall clocks are the two numbers in that.
START = """
import mmap, struct, sys, time
path = sys.argv.pop(1)
if path:
    with open(path, 'r+b') as file:
        clocks = mmap.mmap(file.fileno(), 16)
    time.monotonic_ns = lambda: struct.unpack_from('q', clocks, 0)[0]
    time.time_ns = lambda: struct.unpack_from('q', clocks, 8)[0]
from importlib import import_module
sys.exit(import_module('legged_dynamics.ros.nodes.' + sys.argv.pop(1)).main())
"""


class FaultBus:
    """
    The processes and what came of them.

    Parameters
    ----------
    environment : dict of str
        Of a DomainLease, with the middleware.

    Attributes
    ----------
    tick : int
        Joint states since the start.
    velocity : tuple of float or None
        Ahead [m/s] and turning [rad/s], as commanded; None for no commands.
    fastest, tilt : float
        Fastest fall [m/s] and most tilt [deg] since the notes began.
    change_joints, change_imu : callable or None
        Take a message, and return what is passed on instead, or None.
    paused : bool
        Whether time nearly stands still: a sample takes `PAUSED` of wall time.
    late : int
        Ticks by which sensors are held back; `renew` gives them new stamps.
    sent : list of (int, array, str)
        Tick, efforts and sender of what went to the motors.
    states : list of (int, str, str)
        Tick, node and state at each change of a guard's or watchdog's state.
    words : list of (int, str)
        Tick and text of what diagnostics said above OK.

    """

    def __init__(self, environment: dict[str, str]):
        self._folder = tempfile.TemporaryDirectory()
        self._environment = {**os.environ, **environment,
                             **fast_dds_environment(Path(self._folder.name))}
        clocks = Path(self._folder.name) / 'clocks'
        clocks.write_bytes(bytes(16))
        with clocks.open('r+b') as file:
            self._clocks = mmap.mmap(file.fileno(), 16)
        yaml, self._urdf = robot_files('anymal_class')
        self._yaml = yaml
        config = RobotConfig.from_yaml(yaml)
        self.limits = np.array([
            joint.effort for joint in map(
                {joint.name: joint for joint in RobotModel.from_urdf(self._urdf).joints}.get,
                config.joints) if joint is not None])
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.bus = CycloneBus(environment)
        self.node = self.bus.create_node('fault_bus')
        qos = DIALECT.qos
        self._out = {kind: self.node.create_publisher(DIALECT.message(kind), topic,
                                                      qos.reliable(100))
                     for kind, topic in ((JOINTS, '/joint_states'), (IMU, '/imu/data'))}
        for kind, topic in ((JOINTS, '/driver/joint_states'), (IMU, '/driver/imu')):
            self.node.create_raw_subscription(
                kind, topic, lambda cdr, ns, kind=kind: self._relay(kind, cdr), qos.reliable(100))
        self._listen(NUMBERS, '/effort_controller/commands', self._note_command)
        self._listen(STATUS, '/diagnostics', self._note_words)
        self._listen('nav_msgs/msg/Odometry', '/ground_truth/odom', self._note_truth)
        for node in (DOG, CONTROLLER):
            self._listen(STATUS, f'/{node}/safety',
                         lambda message, node=node: self._note_state(node, message))
            self._listen(JOINTS, f'/{node}/answer',
                         lambda message, node=node: self._note_answer(node, message),
                         DIALECT.qos.latched)
        self.target = self._publisher('geometry_msgs/msg/PoseStamped',
                                      '/workspace_controller/body_target')
        self.posture = self._publisher('std_msgs/msg/String', '/workspace_controller/posture')
        self.gait = self._publisher('std_msgs/msg/String', '/workspace_controller/gait')
        self._twist = self._publisher('geometry_msgs/msg/TwistStamped', '/cmd_vel')
        self._joints = list(config.joints)
        self._motors = Answers(self.node.create_publisher(DIALECT.message(JOINTS), ANSWER,
                                                          DIALECT.qos.latched))
        self._watch: dict[str, Any] = {}
        self._arguments, self.rate, self._strangers = SIMULATED, RATE, []
        self._clear()
        self.heal()
        self.forget()

    def _listen(self, kind: str, topic: str, take: Callable[[Any], None],
                qos: Any = None) -> None:
        self.node.create_subscription(DIALECT.message(kind), topic, take,
                                      qos or DIALECT.qos.reliable(1000))

    def stranger(self, kind: str, topic: str) -> Any:
        """Return a publisher that leaves at the end of the row."""
        made = self._publisher(kind, topic)
        self._strangers.append(made)
        return made

    def _clear(self) -> None:
        """Forget what was held and who was waited for."""
        self._held_effort: np.ndarray | None = None
        self._stopped: set[str] = set()
        self._stamp, self._due = 0, False       # of the last sample; whether it waits for answers
        self._since, self._commands = time.monotonic(), 0
        self._passed_on: int | None = None      # stamp of the joint state that was, in this tick
        self._answered: dict[str, int] = {}
        self._with_efforts = self.paused = False
        self.velocity: tuple[float, float] | None = None
        # Who has not answered yet is not waited for.
        self._missed = dict.fromkeys((CONTROLLER, DOG, ROBOT), GIVEN_UP)
        self._missed['motors'] = 0

    def _publisher(self, kind: str, topic: str) -> Any:
        return self.node.create_publisher(DIALECT.message(kind), topic, DIALECT.qos.reliable(10))

    # ---- what goes through, and what is heard -----------------------------------------------

    def _relay(self, kind: str, cdr: bytes) -> None:
        stamp = _stamp_of(cdr)
        if kind == JOINTS:
            self.tick += 1
            self._passed_on = None
            if self.velocity and self.tick % COMMANDED == 0:
                twist = DIALECT.message('geometry_msgs/msg/TwistStamped')()
                twist.twist.linear.x, twist.twist.angular.z = self.velocity
                self._twist.publish(twist)
        change = self.change_joints if kind == JOINTS else self.change_imu
        if change is not None:
            message = change(deserialize(cdr, kind))
            cdr = b'' if message is None else serialize(message, kind)
        queue = self._held[kind]
        queue.append(cdr)
        while len(queue) > self.late:
            out = queue.pop(0)
            if out and self.renew and self.late:
                message = deserialize(out, kind)
                message.header.stamp = convert.time_message(DIALECT, stamp)
                out = serialize(message, kind)
            if out:
                self._out[kind].publish_raw(out)
                if kind == JOINTS:
                    self._passed_on = _stamp_of(out)
        if kind == JOINTS:
            self._stamp, self._due, self._since = stamp, True, time.monotonic()
            self._commands, self._with_efforts, self._missed[ROBOT] = len(self.sent), False, 0

    def _note_answer(self, node: str, message: Any) -> None:
        self._answered[node] = convert.stamp_ns(message.header.stamp)
        self._missed[node] = 0
        if node == CONTROLLER and self._answered[node] == self._passed_on:
            self._with_efforts = len(message.effort) > 0

    def _here(self, node: str) -> bool:
        """Return whether a process runs."""
        process = self.processes.get(node)
        return process is not None and node not in self._stopped and process.poll() is None

    def _awaited(self) -> dict[str, bool]:
        """Return who is to answer the newest sample, and whether that has come."""
        sent, state = len(self.sent) > self._commands, self._watch.get(DOG)
        if self._arguments is MACHINE:
            if not self._due:
                return {ROBOT: False} if self._here(ROBOT) else {}
            both = self._here(CONTROLLER) and self._here(DOG) and state == 'forwarding'
            return {'motors': sent} if both and self._passed_on is not None else {}
        if self._passed_on is None:
            return {}
        found = {node: self._answered.get(node) == self._passed_on
                 for node in (CONTROLLER, DOG) if self._here(node)}
        if self._here(DOG) and (state in ('holding', 'sitting', 'damping')
                                or (self._with_efforts and state == 'forwarding')):
            found['motors'] = sent
        return found

    def _move_on(self) -> None:
        """Have the next sample made when nobody is waited for any more."""
        if not (self._due or self._arguments is MACHINE):
            if self._here(ROBOT) and time.monotonic() - self._since > SILENCE:
                self._since = time.monotonic()      # a sample was lost: it is answered unheard
                self._answer((self._stamp or lock_step.BEGIN_NS) + round(1e9 / RATE))
            return
        if self.paused and time.monotonic() - self._since < PAUSED:
            return
        awaited, waited = self._awaited(), time.monotonic() - self._since
        missing = [who for who, here in awaited.items() if not here
                   and self._missed[who] < GIVEN_UP]
        if waited < (SILENCE if missing else 0.0 if any(awaited.values()) else PAUSE):
            return
        for who, here in awaited.items():
            self._missed[who] = 0 if here else self._missed[who] + 1
        self._due, self._since = False, time.monotonic()
        if self._arguments is MACHINE:
            self._set_time(self._time_ns + round(1e9 / RATE))
            return
        self._answer(self._stamp)

    def _answer(self, stamp: int) -> None:
        effort = self._held_effort
        self._motors(stamp, None if effort is None else (self._joints, effort.tolist()))

    def _set_time(self, ns: int) -> None:
        """Set the time since the start, by the clocks of processes that do not follow /clock."""
        self._time_ns = ns
        struct.pack_into('qq', self._clocks, 0, BOOT_NS + ns, BEGIN_NS + ns + self._ahead_ns)

    def _note_command(self, message: Any) -> None:
        dimensions = message.layout.dim
        self.sent.append((self.tick, np.array(message.data),
                          dimensions[0].label if dimensions else ''))
        self.last = message
        if len(message.data) == len(self.limits):
            self._held_effort = np.array(message.data)

    def _note_words(self, array: Any) -> None:
        self.words += [(self.tick, f'{status.name}: {status.message}') for status in array.status
                       if convert.diagnostic_level(status)]

    def _note_state(self, node: str, array: Any) -> None:
        values = {pair.key: pair.value for pair in array.status[0].values}
        state = values.get('state', '')
        if self._watch.get(node) != state:
            self.states.append((self.tick, node, state))
        self._watch[node] = state
        self.owner = values.get('owner', self.owner)
        self.words += [(self.tick, f'{node}: {values[key]}') for key in ('cause', 'not passed on')
                       if values.get(key)]

    def _note_truth(self, message: Any) -> None:
        z, now = message.pose.pose.position.z, convert.stamp_ns(message.header.stamp) * 1e-9
        if self._height and 0.0 < now - self._height[0] < 0.05:
            self.fastest = max(self.fastest, (self._height[1] - z) / (now - self._height[0]))
        self._height, self.height = (now, z), z
        turn = message.pose.pose.orientation
        up = 1.0 - 2.0 * (turn.x * turn.x + turn.y * turn.y)
        self.tilt = max(self.tilt, math.degrees(math.acos(max(-1.0, min(1.0, up)))))

    # ---- hands -------------------------------------------------------------------------------

    def heal(self) -> None:
        """Relay everything as it comes."""
        self.change_joints = self.change_imu = None     # type: Callable[[Any], Any] | None
        self.late, self.renew = 0, False
        self._held: dict[str, list[bytes]] = {JOINTS: [], IMU: []}
        self.set_clocks(0)

    def forget(self) -> None:
        """Start the notes anew."""
        self.tick = getattr(self, 'tick', 0)
        self.sent: list[tuple[int, np.ndarray, str]] = []
        self.states: list[tuple[int, str, str]] = []
        self.words: list[tuple[int, str]] = []
        self.owner, self.fastest, self.began = getattr(self, 'owner', ''), 0.0, self.tick
        self.tilt = 0.0
        self._height: tuple[float, float] | None = None
        self.height = getattr(self, 'height', math.nan)

    def set_clocks(self, ahead_ns: int) -> None:
        """Set the wall's clock of all processes ahead by so much [ns]."""
        self._ahead_ns = ahead_ns
        self._set_time(getattr(self, '_time_ns', 0))

    def advance(self, seconds: float) -> None:
        """Let the clocks of processes advance."""
        end = self._time_ns + round(1e9 * seconds)
        self.until(lambda: self._time_ns >= end)

    def start(self, node: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a node with ROS arguments beyond those of the mode; return its process."""
        self._watch.pop(node, None)
        self._answered.pop(node, None)
        self._missed[node] = GIVEN_UP
        with (Path(self._folder.name) / f'{node}.log').open('ab') as log:
            self.processes[node] = subprocess.Popen(
                [sys.executable, '-c', START,
                 str(Path(self._folder.name) / 'clocks') if self._arguments is MACHINE else '',
                 node, '--ros-args',
                 '--params-file', str(self._yaml), '-p', f'robot_description:={self._urdf}',
                 *self._arguments[node], *arguments],
                env=self._environment, stdout=log, stderr=log)
        return self.processes[node]

    def send(self, node: str, number: signal.Signals) -> None:
        """Send a signal to a node's process."""
        self.processes[node].send_signal(number)
        if number is signal.SIGSTOP:
            self._stopped.add(node)
        elif number is signal.SIGCONT:
            self._stopped.discard(node)

    def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
        """Let things happen until a condition holds, or time is over; return whether it holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.bus.spin_once(0.005)
            self._move_on()
            if condition():
                return True
        return False

    def ticks(self, count: int, until: Callable[[], object] = lambda: False) -> bool:
        """Let so many joint states pass, or until a condition holds; return whether it does."""
        end = self.tick + count
        self.until(lambda: self.tick >= end or until(), 60.0 * count / self.rate + 2.0)
        return bool(until())

    def stand(self, simulated: bool = True) -> bool:
        """
        Start everything; return whether the robot stands under the controller.

        Nodes take the time from /clock, or from the clocks of their processes.
        """
        self._arguments = SIMULATED if simulated else MACHINE
        self.paused = simulated     # a node that starts must not find that time has run away
        for node in self._arguments:
            self.start(node)
        self.until(lambda: self._answered.keys() >= {CONTROLLER, DOG} or not simulated)
        self.paused = False
        self.until(lambda: self._watch.get(CONTROLLER) == 'active')
        self.ticks(round(1.0 * self.rate))
        return (self._watch.get(CONTROLLER) == 'active'
                and self._watch.get(DOG) == 'forwarding' and self.height > 0.4)

    def state(self, node: str) -> str:
        """Return the last state that a node has told."""
        return str(self._watch.get(node, ''))

    def end(self) -> None:
        """Kill all processes and forget what they said."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()
        self.until(lambda: False, 0.3)
        self._watch.clear()
        for publisher in self._strangers:
            self.node.destroy_publisher(publisher)
        self._strangers = []
        self._clear()
        self.heal()
        self.forget()
        # Answers are latched: the next robot must not find one of a time that is to come.
        self._answer(0)

    def logs(self) -> str:
        """Return the last lines of each process."""
        return '\n'.join(f'{log.stem}: ' + ' | '.join(log.read_text().splitlines()[-4:])
                         for log in sorted(Path(self._folder.name).glob('*.log')))

    def close(self) -> None:
        """End all processes and leave the bus."""
        self.end()
        self.bus.close()
        self._folder.cleanup()

    # ---- judgement ---------------------------------------------------------------------------

    def largest(self, ticks: int) -> float:
        """Return the largest effort of the first ticks since the notes began, in limits."""
        shares = [float(np.max(np.abs(effort) / self.limits)) for tick, effort, _ in self.sent
                  if tick - self.began <= ticks and len(effort) == len(self.limits)]
        return max(shares, default=math.nan)

    def counts(self) -> Counter[str]:
        """Return how many commands each sender has sent to the motors."""
        return Counter(label for _, _, label in self.sent)


def _stamp_of(cdr: bytes) -> int:
    """Return the stamp of a message that begins with a header [ns]."""
    seconds, nanoseconds = struct.unpack_from('<iI', cdr, 4)
    return int(seconds * 10**9 + nanoseconds)
