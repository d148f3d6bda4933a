# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""On-line estimation of ground reactions from joint states and an IMU."""
# The kernels share their arguments:
#
#   layout, settings      records of layout.LAYOUT and layout.SETTINGS
#   robot, feet, tree     a layout.Robot, its FeetTable and Tree
#   scratch, tracking     layout.Scratch and layout.Tracking
#   window, row, middle   measurements: (samples, input_size), the newest, the one estimated
#   memory, out           (memory_size,) kept from tick to tick; (output_size,) results
#   bodies, states        body table and feet's frames and contact points, base axes
#   x, P                  (nx,), (nx, nx): tracked state and its covariance [N, N m]
#   up, normal            against gravity, and the ground's; unit tuples, base axes
#   R_WB                  orientation of the base, 9 floats by rows
#   imu                   whether this sample has an IMU reading
#   probability, contact  (nf,): of each foot that it is in contact; flags
#   i, dt                 number of a foot; time since the last sample [s]
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground_reaction import Fault, GroundReaction, Mode
from legged_dynamics.estimation.leg_odometry import BodyState, LegOdometry, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.settings import EstimatorSettings

__all__ = ['BodyState', 'EstimatorSettings', 'Fault', 'GroundReaction',
           'GroundReactionEstimator', 'LegOdometry', 'Measurement', 'Mode', 'OdometryFault']
