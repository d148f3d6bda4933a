# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Robot, body controller and watchdog as processes on DDS, for long: memory, falls, floods, kills.

    python -m benchmarks.soak --minutes 60 --rate 500 [--lock-step] [--middleware rclpy]

Prints how memory, open files and threads of each process go, the longest pause between two
commands with and without somebody who floods the bus, beside that of a bare loop of the same
period on the same machine, and how long after SIGKILL and SIGSTOP of the controller the watchdog's
own first command comes.

With --lock-step time is simulated and waits for controller and watchdog, as fast as they answer or
at most at --speed: the controller then stays active on a machine however busy, and nothing but the
first is measured. Minutes are then of simulated time, and the robot walks, halts, sits down and
stands up again by `SCRIPT`; how often it fell is counted.
"""
from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults import SOFT, UPRIGHT
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cyclone import CycloneBus
from legged_dynamics.ros.middleware.discovery import DomainLease, fast_dds_environment
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT = StandaloneDialect()
COMMANDS = 'effort_controller/commands:=effort_watchdog/commands'
WARM_UP = 20.0          # s
FLOODED = 10.0          # s
TOLD = 300.0            # s of simulated time between two lines on how it goes
SILENT = 2400           # spins of 0.05 s without a command before the soak gives up
# What is asked of the robot, and for how long [s]: topic and word, or velocities of cmd_vel.
SCRIPT: tuple[tuple[tuple[str, str] | tuple[float, float], float], ...] = (
    (('gait', 'trot'), 0.1), ((0.4, 0.0), 10.0), ((0.2, 0.4), 10.0), ((-0.2, 0.0), 5.0),
    (('gait', 'stand'), 5.0), (('posture', 'sit'), 8.0), (('posture', 'stand'), 8.0))
COMMANDED = 0.05        # s between velocities


def memory(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGESIZE') / 1e6


def holdings(pid: int) -> tuple[int, int]:
    """Return how many open files and threads a process has."""
    return len(os.listdir(f'/proc/{pid}/fd')), len(os.listdir(f'/proc/{pid}/task'))


class BareLoop(threading.Thread):
    """What the machine does to a loop that does nothing: in a process of its own."""

    def __init__(self, period: float):
        super().__init__(daemon=True)
        code = (f'import time\nbefore = time.monotonic()\nwhile True:\n    time.sleep({period})\n'
                '    now = time.monotonic()\n    print(now - before, flush=True)\n'
                '    before = now\n')
        self.process = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE,
                                        text=True)
        self.worst = 0.0

    def run(self) -> None:
        """Keep the longest pause."""
        for line in self.process.stdout or ():
            self.worst = max(self.worst, float(line))


class Exercise:
    """
    Has the robot walk, sit and stand by `SCRIPT`, and sees whether it falls.

    `now`, `walked`: simulated time since it was `active`, and of velocities [s]; `path` [m].
    """

    def __init__(self, node: Any):
        self._words = {name: node.create_publisher(
            DIALECT.message('std_msgs/msg/String'), f'/workspace_controller/{name}',
            DIALECT.qos.reliable(10)) for name in ('gait', 'posture')}
        self._velocity = node.create_publisher(
            DIALECT.message('geometry_msgs/msg/TwistStamped'), '/cmd_vel',
            DIALECT.qos.reliable(10))
        node.create_subscription(DIALECT.message('nav_msgs/msg/Odometry'), '/ground_truth/odom',
                                 self._see, DIALECT.qos.reliable(1000))
        self._before = self.now = self.walked = self.path = 0.0
        self._step, self._until, self._sent = -1, 0.0, 0.0
        self._place, self._down = (0.0, 0.0, 0.0), False
        self.active, self.falls, self.heights = False, 0, dict[str, list[float]]()

    def _see(self, message: Any) -> None:
        time, at = convert.stamp_ns(message.header.stamp) * 1e-9, message.pose.pose
        passed, self._before = time - self._before, time
        place, before = (at.position.x, at.position.y, at.position.z), self._place
        self._place = place
        if not self.active or not 0.0 < passed < 0.05:
            return
        self.now += passed
        self.path += math.dist(place[:2], before[:2])
        up = 1.0 - 2.0 * (at.orientation.x ** 2 + at.orientation.y ** 2)
        down = (before[2] - place[2] > SOFT * passed
                or math.degrees(math.acos(max(-1.0, min(1.0, up)))) > UPRIGHT)
        self.falls += down and not self._down
        self._down = down
        self._ask(passed)

    def _ask(self, passed: float) -> None:
        wanted = SCRIPT[self._step][0]
        if self.now >= self._until:
            self.heights.setdefault(' '.join(map(str, wanted)), []).append(self._place[2])
            self._step = (self._step + 1) % len(SCRIPT)
            wanted, lasting = SCRIPT[self._step]
            self._until = self.now + lasting
            if isinstance(wanted[0], str):
                self._words[wanted[0]].publish(convert.string(DIALECT, wanted[1]))
        if isinstance(wanted[0], float):
            self.walked += passed
            if self.now - self._sent >= COMMANDED:
                self._sent = self.now
                twist = DIALECT.message('geometry_msgs/msg/TwistStamped')()
                twist.twist.linear.x, twist.twist.angular.z = wanted
                self._velocity.publish(twist)

    def __str__(self) -> str:
        """Say what was done, and where the trunk was when each part of the script ended."""
        heights = '; '.join(f'{name} {min(z):.2f} to {max(z):.2f} m'
                            for name, z in self.heights.items())
        return (f'{self.now:.0f} s of simulated time, {self.walked:.0f} s and {self.path:.0f} m '
                f'walking; falls: {self.falls}; height of the trunk at the end of: {heights}')


class Soak:
    """The processes, and a listener on the motors' topic."""

    def __init__(self, environment: dict[str, str], rate: float, folder: Path,
                 more: tuple[str, ...] = ()):
        self._more = more
        self._environment, self._folder = {**os.environ, **environment}, folder
        self.yaml, self.urdf = robot_files('anymal_class')
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.bus = CycloneBus(environment)
        self.node = self.bus.create_node('soak')
        self.times: list[float] = []
        self.from_controller = 0.0
        kind = DIALECT.message('std_msgs/msg/Float64MultiArray')
        self.node.create_subscription(kind, '/effort_controller/commands', self._sent,
                                      DIALECT.qos.reliable(10))
        if more:
            # Lock-step begins when each sensor has as many listeners as nodes answer, and the
            # watchdog does not listen to the IMU.
            self.node.create_subscription(DIALECT.message('sensor_msgs/msg/Imu'), '/imu/data',
                                          lambda message: None, DIALECT.qos.best_effort(1))
        self.rate, self.revived = rate, 0
        self.exercise = Exercise(self.node) if more else None

    def elapsed(self) -> float:
        """Return the time [s] since the start: simulated in lock-step."""
        return self.exercise.now if self.exercise else time.monotonic()

    def _sent(self, message: Any) -> None:
        self.times.append(time.monotonic())

    def start(self, node: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a node."""
        with (self._folder / f'{node}.log').open('wb') as log:
            self.processes[node] = subprocess.Popen(
                [sys.executable, '-m', 'legged_dynamics', 'run', node, '--ros-args',
                 '--params-file', str(self.yaml), '-p', f'robot_description:={self.urdf}',
                 *self._more, *arguments], env=self._environment, stdout=log, stderr=log)
        return self.processes[node]

    def control(self) -> subprocess.Popen[bytes]:
        """Start the controller, and wait until it commands."""
        made = self.start('workspace_controller', '-r', COMMANDS)
        self.times.clear()
        heard = silent = 0
        while len(self.times) < 50:
            self.bus.spin_once(0.05)
            silent = 0 if len(self.times) > heard else silent + 1
            heard = len(self.times)
            ended = [name for name, process in self.processes.items()
                     if process.poll() is not None]
            if ended or silent > SILENT:
                why = f'{", ".join(ended)} ended' if ended else f'{silent} spins were silent'
                raise RuntimeError(f'expected 50 commands of the controller, heard {heard}: {why}')
        return made

    def spin(self, seconds: float) -> None:
        """Let time pass; keep only what is needed of it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.bus.spin_once(0.05)

    def revive(self) -> None:
        """Start the controller anew where a busy machine had the robot let go."""
        if self.exercise:       # in lock-step all wait for all, however long
            return
        self.times.clear()
        self.spin(1.0)
        if not self.times:
            self.revived += 1
            print('let go by the guard or the watchdog; the controller is started anew')
            self.processes['workspace_controller'].kill()
            self.processes['workspace_controller'].wait()
            self.spin(6.0)
            self.control()

    def worst_pause(self, seconds: float) -> tuple[float, float]:
        """Return the longest pause between commands, and of a bare loop [s]."""
        self.times.clear()
        loop = BareLoop(1.0 / self.rate)
        loop.start()
        self.spin(seconds)
        loop.process.kill()
        pauses = (b - a for a, b in zip(self.times, self.times[1:]))
        return max(pauses, default=seconds), loop.worst

    def close(self) -> None:
        """End all."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.bus.close()


def watch_memory(soak: Soak, minutes: float) -> int:
    """Print how memory goes; return how many commands were heard."""
    soak.spin(WARM_UP)
    first = {name: memory(process.pid) for name, process in soak.processes.items()}
    held = {name: [holdings(process.pid)] for name, process in soak.processes.items()}
    if soak.exercise:
        soak.exercise.active = True
    began, sent = time.monotonic(), 0
    most = dict(first)
    end = soak.elapsed() + 60.0 * minutes
    while soak.elapsed() < end:
        before, heard = soak.elapsed(), time.monotonic()
        soak.spin(10.0 if soak.exercise else min(10.0, max(end - soak.elapsed(), 0.1)))
        while soak.exercise and not soak.times:
            soak.spin(1.0)
            if time.monotonic() - heard > 0.05 * SILENT:
                raise RuntimeError(f'expected commands, heard none for {0.05 * SILENT:.0f} s')
        soak.revive()
        if soak.exercise and soak.elapsed() // TOLD > before // TOLD:
            print(soak.exercise, flush=True)
        sent += len(soak.times)
        soak.times.clear()
        for name, process in soak.processes.items():
            most[name] = max(most[name], memory(process.pid))
            held[name].append(holdings(process.pid))
    print(f'{time.monotonic() - began:.0f} s; the motors heard at least {sent} commands; the '
          f'controller was started anew {soak.revived} times')
    if soak.exercise:
        print(soak.exercise)
    for name, process in soak.processes.items():
        print(f'{name:24s} {first[name]:7.2f} MB after {WARM_UP:.0f} s, '
              f'{memory(process.pid) - first[name]:+.2f} MB after {minutes:g} min, at most '
              f'{most[name] - first[name]:+.2f} MB; open files '
              f'{" to ".join(map(str, sorted({n for n, _ in held[name]})))}, threads '
              f'{" to ".join(map(str, sorted({n for _, n in held[name]})))}')
    return sent


def flood(soak: Soak, kind: str, topic: str, size: int, rate: float) -> None:
    """Print the longest pause while a stranger sends messages of a size."""
    soak.revive()
    publisher = soak.node.create_publisher(DIALECT.message(kind), topic, DIALECT.qos.reliable(1))
    message = DIALECT.message(kind)()
    if kind.endswith('JointState'):
        message.name = [f'joint_{k}' for k in range(size // 20)]
    else:
        message.header.frame_id = 'x' * size
    soak.node.create_timer(1.0 / rate, lambda: publisher.publish(message))
    pause, bare = soak.worst_pause(FLOODED)
    for timer in list(soak.node.timers):
        soak.node.destroy_timer(timer)
    soak.node.destroy_publisher(publisher)
    print(f'{topic} of {size / 1e6:g} MB at {rate:g} Hz: longest pause {1e3 * pause:.0f} ms, bare '
          f'loop {1e3 * bare:.0f} ms')
    soak.spin(1.0)


def kill(soak: Soak, number: signal.Signals, deadline: float) -> None:
    """Print when the watchdog's own command came after a signal to the controller."""
    controller = soak.control()
    soak.spin(2.0)
    soak.times.clear()
    began = time.monotonic()
    controller.send_signal(number)
    soak.spin(0.5)
    # What was on its way still comes; the first after a pause of the deadline is the watchdog's.
    own = next((b for a, b in zip(soak.times, soak.times[1:]) if b - a > 0.8 * deadline), None)
    print(f'{number.name}: ' + (
        'no pause was seen' if own is None else
        f'first command of the watchdog {1e3 * (own - began):.0f} ms after it'))
    controller.kill()
    controller.wait()
    soak.spin(6.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it all; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--minutes', type=float, default=3.0)
    parser.add_argument('--rate', type=float, default=500.0)
    parser.add_argument('--lock-step', action='store_true')
    parser.add_argument('--middleware', default='cyclonedds', choices=('cyclonedds', 'rclpy'))
    parser.add_argument('--speed', type=float, default=0.0,
                        help='greatest real-time factor in lock-step; 0: none')
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, DomainLease() as lease:
        environment = {**lease.environment(), **fast_dds_environment(Path(folder)),
                       'LEGGED_DYNAMICS_MIDDLEWARE': args.middleware}
        soak = Soak(environment, args.rate, Path(folder),
                    ('-p', 'use_sim_time:=true') if args.lock_step else ())
        answers = (
            '-p', 'lock_step.answers:=[/workspace_controller/answer, /effort_watchdog/answer]',
            '-p', f'lock_step.speed:={args.speed}', '-p', 'use_sim_time:=false'
        ) if args.lock_step else ()
        try:
            soak.start('simulated_robot', '-p', 'schedule:=stand 100000', '-p',
                       f'simulation.rate:={args.rate}', '-p', 'simulation.command_timeout:=10.0',
                       *answers)
            soak.start('effort_watchdog')
            soak.control()
            if not watch_memory(soak, args.minutes):
                return 2
            if soak.exercise:
                return min(soak.exercise.falls, 1)
            pause, bare = soak.worst_pause(FLOODED)
            print(f'undisturbed: longest pause between commands {1e3 * pause:.0f} ms, bare loop '
                  f'{1e3 * bare:.0f} ms')
            flood(soak, 'sensor_msgs/msg/JointState', '/joint_states', 800_000, 5.0)
            flood(soak, 'sensor_msgs/msg/Imu', '/imu/data', 16_000_000, 1.0)
            soak.processes['workspace_controller'].kill()
            soak.processes['workspace_controller'].wait()
            soak.spin(6.0)
            for number in (signal.SIGKILL, signal.SIGSTOP):
                kill(soak, number, 0.05)
        finally:
            soak.close()
            for log in sorted(Path(folder).glob('*.log')):
                print(f'{log.stem}: {" | ".join(log.read_text().splitlines()[-2:])[-300:]}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
