# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes on a DDS domain of their own, and a node that listens."""
import os
import subprocess
import sys
import tempfile
import time

from tolerances import PATIENCE

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.nodes.lock_step import Answers

DIALECT = StandaloneDialect()
STATUS = 'diagnostic_msgs/msg/DiagnosticArray'
BRAKE = '/listener/answer'      # for `lock_step.answers`


class DdsBench:
    """
    Starts nodes with one robot's parameters, and collects what they publish.

    Parameters
    ----------
    environ : dict
        Of a DomainLease.
    robot : Path
        YAML that all nodes get.

    """

    def __init__(self, environ, robot):
        from legged_dynamics.ros.middleware.cyclone import CycloneBus
        self.environ = {**environ, 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        self.robot = robot
        self.bus = CycloneBus(self.environ)
        self.processes, self.logs = [], []
        self.status, self.stamps = {}, {}       # newest of each name
        self.node = self.bus.create_node('listener')
        self.listen(STATUS, '/diagnostics', self._take_status)

    def listen(self, kind, topic, take, depth=2000):
        """Call back with every message of a topic."""
        self.node.create_subscription(DIALECT.message(kind), topic, take,
                                      DIALECT.qos.reliable(depth))

    def _take_status(self, array):
        for status in array.status:
            self.status[status.name] = (convert.diagnostic_level(status), status.message)
            self.stamps[status.name] = convert.stamp_ns(array.header.stamp)

    def start(self, node, *arguments):
        """Start a node's process."""
        self.logs.append(tempfile.TemporaryFile('w+'))      # a pipe that is full would stop it
        process = subprocess.Popen(
            [sys.executable, '-c',
             f'import sys; from legged_dynamics.ros.nodes.{node} import main; sys.exit(main())',
             '--ros-args', '--params-file', str(self.robot), *arguments],
            env={**os.environ, **self.environ}, stderr=self.logs[-1])
        self.processes.append(process)
        return process

    def until(self, condition, seconds=PATIENCE):
        """Spin until something holds; False when it never does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.bus.spin_once(0.05)
            if condition():
                return True
        return False

    def let_time_go_on(self, answers):
        """
        Let simulated time go on that waits for `BRAKE`, when nobody is deaf any more.

        It stands still after its first sample until the answer to that, which is latched, comes
        to the last of our listeners. Who listens is told to a process in the order of beginning:
        by then it sends to all of them.
        """
        heard, kind, latched = [], 'sensor_msgs/msg/JointState', DIALECT.qos.latched
        ears = [self.node.create_raw_subscription(of, topic, lambda cdr, ns: None, 10)
                for of, topic in ((kind, 'joint_states'), ('sensor_msgs/msg/Imu', 'imu/data'))]
        brake = self.node.create_publisher(DIALECT.message(kind), BRAKE, latched)
        ears.append(self.node.create_subscription(DIALECT.message(kind), answers, heard.append,
                                                  latched))
        assert self.until(lambda: heard)
        Answers(brake)(2**31 * 10**9 - 1)
        for ear in ears:
            self.node.destroy_subscription(ear)

    def ends(self, process):
        """Wait until a process has ended by itself; return its exit code."""
        assert self.until(lambda: process.poll() is not None)
        return process.returncode

    def end(self):
        """Kill all processes; what they said is shown where the test fails."""
        for process in self.processes:
            process.kill()
            process.wait()
        for log in self.logs:
            log.seek(0)
            sys.stderr.write(log.read())
            log.close()
        self.processes, self.logs = [], []

    def close(self):
        """End all processes and leave the bus."""
        self.end()
        self.bus.close()
