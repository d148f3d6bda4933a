# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Messages to arrays and back: stamps in integer ns, wrenches [f; m], quaternions xyzw.

What rviz draws of an estimate is in `legged_dynamics.ros.conversions.markers`, which is not
imported here: a node that only reads and sends messages needs no estimator.
"""
from legged_dynamics.ros.conversions.building import *  # noqa: F403
from legged_dynamics.ros.conversions.reading import *  # noqa: F403
