# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What every node of a robot is made with: clock, settings, topics, diagnostics, an orderly stop.

Sensors are not part of it (`nodes.robot_input`), nor is anything that estimates: the watchdog,
which must live when all else fails, is a RobotComponent too.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.model.robot_config import SETTINGS as ROBOT_SETTINGS
from legged_dynamics.ros.middleware.parameters import declare_settings, follow_settings
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.nodes.description import SETTINGS as DESCRIPTION_SETTINGS
from legged_dynamics.ros.nodes.diagnostics import DiagnosticsPublisher, Endpoints
from legged_dynamics.schema import Setting

# Parameters of a node that has to know the robot.
ROBOT = (*DESCRIPTION_SETTINGS, *ROBOT_SETTINGS)
# Topic of the efforts for the motors.
COMMANDS = 'effort_controller/commands'

# -------------------------------------------------------------------------------------------------
# Monotonic time, for ages and time-outs.


@dataclass(frozen=True)
class SimulatedTimeSettings:
    """How simulated time may come, and when it counts as over."""

    # ns by which a sample may be ahead of /clock, beyond the sample before it
    overtaking_ns: int = 20_000_000
    # for which samples may go on without /clock; stamps further off are of another clock
    longest_lag_ns: int = 500_000_000
    standstill: float = 5.0  # s for which time that has ended stands still, ...
    # ... seen at so many calls: one after a long pause of this process proves nothing
    calls: int = 50


SIMULATED_TIME = SimulatedTimeSettings()


class SteadyClock:
    """A node's monotonic time, or simulated time, which continues after a reset."""

    def __init__(self, node: Any):
        self._node = node
        self._simulated = bool(node.get_parameter('use_sim_time').value)
        # Newest reading of the source, and by how much it was set back, all in all
        self._latest = self._lost = 0
        self._clock_time = 0    # newest of the node's clock
        # Of the newest sample, while /clock is behind it, and by how much another clock is ahead
        self._sample_time = self._foreign_lead = 0

    def __call__(self) -> int:
        """Return the time [ns]."""
        raw = self._source()()
        if raw < self._latest:
            self._lost += self._latest - raw
        self._latest = raw
        return raw + self._lost

    def heard(self, stamp_ns: int) -> None:
        """Advance simulated time to a sample's stamp; one of another clock advances it alike."""
        if not self._simulated:
            return
        here = self.wall()
        ahead = stamp_ns - here
        if self._clock_time and abs(ahead - self._foreign_lead) > SIMULATED_TIME.overtaking_ns:
            self._foreign_lead = ahead if abs(ahead) > SIMULATED_TIME.longest_lag_ns else 0
        ahead -= self._foreign_lead
        if not self._clock_time or 0 < ahead <= SIMULATED_TIME.overtaking_ns:
            self._sample_time = here + max(ahead, 0)

    def wall(self) -> int:
        """Return the time [ns] that stamps refer to, which may be set back."""
        raw = self._node.now_ns()
        if raw < self._clock_time:         # simulated time begins anew
            self._sample_time = 0
        self._clock_time = raw
        ahead = self._sample_time - raw
        return self._sample_time if not raw or 0 < ahead <= SIMULATED_TIME.longest_lag_ns else raw

    def _source(self) -> Callable[[], int]:
        if self._simulated:
            return self.wall
        # Backends without rclpy have a clock of their own.
        return getattr(self._node.get_clock(), 'steady_ns', time.monotonic_ns)


# -------------------------------------------------------------------------------------------------
# How long a node may take to bring its robot down before it stops.


# Longest time over which a controller brings its robot down [ns].
LONGEST_SHUTDOWN_NS = 20_000_000_000
STOPPING = 'the node is being stopped'


class Shutdown:
    """
    Monitors the time that a node takes to bring its robot down.

    ``longest_ns``: from when it is late; ``wall`` [s]: a clock that never stops.
    """

    def __init__(self, now: Callable[[], int], longest_ns: int,
                 wall: Callable[[], float] = time.monotonic):
        self._now, self.longest_ns, self._wall = now, longest_ns, wall
        self.reset()

    def reset(self) -> None:
        """Forget that the node was to be stopped."""
        self.begun = False
        self._begun_ns = self._seen_ns = -1
        self._wall_of_change, self._calls_since = 0.0, 0

    def begin(self) -> bool:
        """Begin the shutdown; return whether this is the first call."""
        first = not self.begun
        if first:
            self.begun, self._begun_ns = True, self._now()
        return first

    def late(self) -> bool:
        """Return whether more than `longest_ns` have passed."""
        return self._now() - self._begun_ns > self.longest_ns

    def clock_stopped(self) -> bool:
        """Return whether the node's time stands still, for long and at many calls."""
        now, wall = self._now(), self._wall()
        if now != self._seen_ns:
            self._seen_ns, self._wall_of_change, self._calls_since = now, wall, 0
        self._calls_since += 1
        return (self._calls_since > SIMULATED_TIME.calls
                and wall - self._wall_of_change > SIMULATED_TIME.standstill)


# -------------------------------------------------------------------------------------------------
# Sensor readings of a robot that stands still: kernels are compiled with them.


# At 500 Hz, and more samples than any estimate is delayed by, so that there is one.
def _standing_still(model: RobotModel, config: RobotConfig, samples: int = 6,
                    period_ns: int = 2_000_000) -> Iterator[Measurement]:
    """Return what a robot's sensors read in its nominal pose, on level ground, without torque."""
    position = config.nominal_in(model)
    still = np.zeros(len(position))
    for k in range(samples):
        yield Measurement(k * period_ns, position, still, still, np.zeros(3),
                          np.array([0.0, 0.0, GRAVITY]),
                          np.array([0.0, 0.0, 0.0, 1.0]) if k else None)


# -------------------------------------------------------------------------------------------------


class RobotComponent:
    """
    The common part of nodes: a node makes one in its constructor and calls it from its own steps.

    Nothing is to be overridden. QoS of what goes through `endpoints` can be changed by parameters
    `qos_overrides.<topic>...`, as on any ROS 2 node.

    Parameters
    ----------
    component : Component
        The node.
    settings : iterable of Setting
        Its parameters; declared at once.
    accept : callable, optional
        Takes all values as they would be after a change, and refuses them by a ConfigurationError.
    steady : bool
        Whether `now` is monotonic, for nodes that act on ages; else it is the node's clock.

    Attributes
    ----------
    node, dialect
        The component's.
    parameters : dict
        Values by dotted name, kept up to date at run time.
    endpoints : Endpoints
        Opens publishers, subscriptions and timers; closed by :meth:`close`.
    now : callable
        Returns the time of ages and diagnostics [ns].
    config : RobotConfig
        Configuration of the parameters at :meth:`configure`, where they have `ROBOT`.

    Raises
    ------
    ConfigurationError
        When a parameter has a wrong type or is out of range.

    """

    config: RobotConfig

    def __init__(self, component: Component, settings: Iterable[Setting],
                 accept: Callable[[dict[str, Any]], object] | None = None, *,
                 steady: bool = False):
        self.component, table, node = component, tuple(settings), component.node
        self.node, self.dialect = node, component.dialect
        self.now: Callable[[], int] = SteadyClock(node) if steady else node.now_ns
        self.parameters = declare_settings(node, table)
        self._knows_robot = {setting.name for setting in ROBOT} <= set(self.parameters)
        self._accept = accept
        follow_settings(node, table, self.parameters, self._check, component.fixed)
        self.endpoints = Endpoints(component)

    def _check(self, values: dict[str, Any]) -> RobotConfig | None:
        config = None
        if self._knows_robot:
            config = RobotConfig.from_parameters({
                setting.name: values[setting.name] for setting in ROBOT_SETTINGS})
        if self._accept is not None:
            self._accept(values)
        return config

    def values(self, table: Iterable[Setting]) -> dict[str, Any]:
        """Return the present values of settings by dotted name."""
        return {setting.name: self.parameters[setting.name] for setting in table}

    def configure(self) -> None:
        """Read the parameters, and publish the node's diagnostics from now on."""
        self.close()        # endpoints that a failed attempt has left open
        config = self._check(self.parameters)
        if config is not None:
            self.config = config
        DiagnosticsPublisher(self.component, self.endpoints, self.now)

    def warm_up(self, model: RobotModel, work: Callable[[Measurement], object]) -> None:
        """Compile kernels by running ``work`` on measurements of a standing robot."""
        for measurement in _standing_still(model, self.config):
            work(measurement)

    def others_at_motors(self) -> list[str]:
        """Return who publishes efforts to the motors beside this node."""
        return [one.who for one in self.node.publications(COMMANDS)]

    def close(self) -> None:
        """Leave all topics."""
        self.endpoints.close()
