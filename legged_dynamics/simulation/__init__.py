# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo robots that stand in for hardware."""
from legged_dynamics.simulation.choice import make_plant, make_robot
from legged_dynamics.simulation.climbing_plant import ClimbingPlant
from legged_dynamics.simulation.climbing_robot import ClimbingRobot
from legged_dynamics.simulation.hardware import NoisySensors, SimulatedHardware
from legged_dynamics.simulation.plant import Hardware, Plant
from legged_dynamics.simulation.robot import SimulatedRobot
from legged_dynamics.simulation.schedule import DEMO_SCHEDULE, Schedule
from legged_dynamics.simulation.truth import ContactTruth, FootContacts, TrueState

__all__ = ['make_plant', 'make_robot', 'Plant', 'SimulatedRobot', 'Schedule', 'DEMO_SCHEDULE',
           'ClimbingPlant', 'ClimbingRobot', 'ContactTruth', 'FootContacts', 'Hardware',
           'NoisySensors', 'SimulatedHardware', 'TrueState']
