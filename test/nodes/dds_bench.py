# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes on a DDS domain of their own, and a node that listens."""
import os
import subprocess
import sys
import tempfile
import time

from tolerances import PATIENCE

from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.dialect import StandaloneDialect

DIALECT = StandaloneDialect()
STATUS = 'diagnostic_msgs/msg/DiagnosticArray'


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
        from legged_dynamics.middleware.cyclone import CycloneBus
        self.environ = {**environ, 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        self.robot = robot
        self.bus = CycloneBus(self.environ)
        self.processes, self.logs, self.status = [], [], {}
        self.node = self.bus.create_node('listener')
        self.listen(STATUS, '/diagnostics', self._take_status)

    def listen(self, kind, topic, take, depth=2000):
        """Call back with every message of a topic."""
        self.node.create_subscription(DIALECT.message(kind), topic, take,
                                      DIALECT.qos.reliable(depth))

    def _take_status(self, array):
        for status in array.status:
            self.status[status.name] = (convert.diagnostic_level(status), status.message)

    def start(self, node, *arguments):
        """Start a node's process."""
        self.logs.append(tempfile.TemporaryFile('w+'))      # a pipe that is full would stop it
        process = subprocess.Popen(
            [sys.executable, '-c',
             f'import sys; from legged_dynamics.nodes.{node} import main; sys.exit(main())',
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

    def meet(self, *nodes):
        """
        Wait until nodes send to all who listen by now; return whether they do.

        Who listens is told to each process in the order of beginning: whoever sends to the last
        of us sends to all.
        """
        heard = set()
        self.listen(STATUS, '/diagnostics', lambda array: heard.update(
            status.name.split(': ')[0] for status in array.status))
        return self.until(lambda: heard.issuperset(nodes))

    def ends(self, process):
        """Wait until a process has ended by itself; return its exit code."""
        assert self.until(lambda: process.poll() is not None)
        return process.returncode

    def close(self):
        """End all processes and leave the bus."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for log in self.logs:
            log.seek(0)
            sys.stderr.write(log.read())
            log.close()
        self.bus.close()
