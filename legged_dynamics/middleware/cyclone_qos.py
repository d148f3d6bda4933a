# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service between ROS 2's profiles and Cyclone DDS's policies."""
from __future__ import annotations

from cyclonedds.qos import Policy, Qos
from cyclonedds.util import duration

from legged_dynamics.middleware.definitions import DEFINITIONS
from legged_dynamics.middleware.qos import QoSProfile
from legged_dynamics.middleware.type_hash import type_hash

# ROS 2 blocks for ever on a reader that hangs; a robot's node rather loses a message
_LONGEST_WRITE_MS = 20


def policies(qos: QoSProfile, name: str) -> Qos:
    """Return a profile as rmw_cyclonedds spells it in DDS policies."""
    found = [
        Policy.WriterDataLifecycle(autodispose=False),
        Policy.History.KeepLast(qos.depth),
        Policy.Reliability.Reliable(duration(milliseconds=_LONGEST_WRITE_MS)) if qos.reliable
        else Policy.Reliability.BestEffort,
        Policy.Durability.Volatile,
    ]
    if qos.latched:
        found[-1] = Policy.Durability.TransientLocal
        found.append(Policy.DurabilityService(0, Policy.History.KeepLast(qos.depth), -1, -1, -1))
    if name in DEFINITIONS:
        found.append(Policy.Userdata(f'typehash={type_hash(name)};'.encode()))
    return Qos(*found)


def profile_of(offered: Qos) -> QoSProfile:
    """Return what a discovered publisher offers; its depth is not announced unless it latches."""
    reliability, durability = offered[Policy.Reliability], offered[Policy.Durability]
    service = offered[Policy.DurabilityService]
    latched = durability is not None and durability != Policy.Durability.Volatile
    depth = 1
    if latched and service is not None:
        depth = max(1, getattr(service.history, 'depth', 1))
    return QoSProfile(depth, isinstance(reliability, Policy.Reliability.Reliable), latched)
