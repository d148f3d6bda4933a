# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact inverse dynamics: ground reactions from motion alone."""
from legged_dynamics.contact.inverse_dynamics import (
    ContactInverseDynamics,
    ContactSolution,
    Support,
)
from legged_dynamics.contact.over_time import ContactInverseDynamicsOverTime
from legged_dynamics.contact.over_time_limits import ContactLimits
from legged_dynamics.contact.over_time_motion import GeneralizedMotion
from legged_dynamics.contact.over_time_stretch import Stretch
from legged_dynamics.contact.over_time_task import OverTimeSolution
from legged_dynamics.contact.over_time_weights import OverTimeWeights

__all__ = ['ContactInverseDynamics', 'ContactInverseDynamicsOverTime', 'ContactLimits',
           'ContactSolution', 'GeneralizedMotion', 'OverTimeSolution', 'OverTimeWeights',
           'Stretch', 'Support']
