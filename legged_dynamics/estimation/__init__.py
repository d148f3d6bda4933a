# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""On-line estimation of ground reactions from joint states and an IMU."""
from legged_dynamics.estimation.body_state import BodyState, OdometryFault
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground_reaction import Fault, GroundReaction, Mode
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.settings import EstimatorSettings

__all__ = ['BodyState', 'EstimatorSettings', 'Fault', 'GroundReaction',
           'GroundReactionEstimator', 'LegOdometry', 'Measurement', 'Mode', 'OdometryFault']
