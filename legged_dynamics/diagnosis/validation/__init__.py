# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How far forces can be trusted on a robot, from a recording without force sensors.

Where feet stand, the equations of motion are more than the forces are: what they contradict each
other in tells the errors of torques and masses (`torque_errors`), and the estimate made again with
these errors removed tells what they do to forces (`validation`).
"""
