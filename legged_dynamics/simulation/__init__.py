# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo robots that stand in for hardware."""
from legged_dynamics.simulation.pacing import Pacer
from legged_dynamics.simulation.plant import Plant
from legged_dynamics.simulation.robot import SimulatedRobot
from legged_dynamics.simulation.schedule import DEMO_SCHEDULE, Schedule
from legged_dynamics.simulation.sensors import NoisySensors, SensorSample
from legged_dynamics.simulation.truth import ContactTruth, FootContacts, TrueState

__all__ = ['DEMO_SCHEDULE', 'ContactTruth', 'FootContacts', 'NoisySensors', 'Pacer', 'Plant',
           'Schedule', 'SensorSample', 'SimulatedRobot', 'TrueState']
