# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot's sensors over time, as a recording of a real one would have them."""
from __future__ import annotations

import numpy as np

from legged_dynamics.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.simulation.hardware import SimulatedHardware

TRANSPORT_NS = 300_000      # from a stamp to its receipt


def record_sensors(robot: SimulatedHardware, seconds: float) -> SensorLog:
    """
    Let a simulated robot move on and return what its sensors said.

    Parameters
    ----------
    robot : SimulatedHardware
        It goes on from where it is.
    seconds : float
        How long.

    """
    samples = []
    for _ in range(round(seconds * 1e9 / robot.period_ns)):
        robot.step()
        samples.append(robot.read())
    stamp = np.array([s.stamp_ns for s in samples])
    q, v, tau, w, a, xyzw = (np.array([getattr(s, name) for s in samples]) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration',
        'orientation'))
    receipt = stamp + TRANSPORT_NS
    return SensorLog(JointLog(stamp, receipt, tuple(robot.plant.joints), q, v, tau),
                     ImuLog(stamp, receipt, w, a, xyzw, robot.plant.imu_link))
