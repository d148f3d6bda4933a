# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""On-line estimation of ground reactions from joint states and an IMU."""
# Arguments that the kernels share:
#
#   layout, settings      records of filter.layout.LAYOUT and of settings, by name
#   robot, feet, tree     a filter.layout.Robot, its FeetTable and Tree
#   scratch, tracking     filter.layout.Scratch and filter.layout.Tracking
#   window, row, middle   measurements: (samples, input_size), the newest, the one estimated
#   memory                filter.memory.Memory or a group of it, kept from tick to tick
#   results, found        filter.layout.Results or a group of it
#   bodies, states        body table, and the feet's frames and contact points, base axes
#   x, P                  (nx,), (nx, nx): tracked state and its covariance [N, N m]
#   up, normal            against gravity, and the ground's; unit tuples, base axes
#   R_WB                  orientation of the base, 9 floats by rows
#   imu                   whether this sample has an IMU reading
#   probability           (nf,): of contact of each foot
#   i, dt                 number of a foot; time since the last sample [s]
from legged_dynamics.estimation.actuators import ActuatorFinding, ActuatorLearner
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground_reaction import Fault, GroundReaction, Mode
from legged_dynamics.estimation.leg_odometry import BodyState, LegOdometry, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.settings import EstimatorSettings

__all__ = ['GroundReactionEstimator', 'Measurement', 'GroundReaction', 'Mode', 'Fault',
           'EstimatorSettings', 'LegOdometry', 'BodyState', 'OdometryFault', 'ActuatorLearner',
           'ActuatorFinding']
