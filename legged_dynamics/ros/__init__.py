# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ROS 2: middleware, conversions of messages, nodes, and the messages of Unitree's robots.

Nodes are started by `legged-dynamics run` and the launch files; their parameters and topics are
their interface.
"""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.ros.conversions.reading import JointStateReader, SensorReader
    from legged_dynamics.ros.middleware.loopback import LoopbackBus
    from legged_dynamics.ros.unitree_low_level import LowCmdWriter, LowStateReader, LowStateSample

__all__ = [
    'JointStateReader',
    'LoopbackBus',
    'LowCmdWriter',
    'LowStateReader',
    'LowStateSample',
    'SensorReader',
]
__getattr__, __dir__ = lazy_names(__name__)
