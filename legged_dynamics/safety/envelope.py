# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Kernels of guard and watchdog: the envelope of efforts, and the efforts of posture and brake.

Nothing here allocates. ``state`` is (2, nj): positions and velocities as measured, NaN where they
are not known; the checks that need them are then left out. Each kernel works in command order.
"""
from __future__ import annotations

import math

from legged_dynamics.safety.joint_watch import (
    BRAKE,
    BRAKE_EFFORT,
    DAMPING,
    EFFORT,
    LOWER,
    MARGIN,
    POWER,
    SLEW,
    STIFFNESS,
    UPPER,
    VELOCITY,
)
from legged_dynamics.spatial.jit import lean_kernel, part

# Bits of the limits that clipped an effort.
BY_EFFORT, BY_SLEW, BY_POSITION, BY_VELOCITY, BY_POWER = (1 << k for k in range(5))
# From this part of the velocity limit on, efforts that accelerate on fade.
SOFT = 0.9
# Slower joints are not braked [rad/s or m/s]: the sign of noise is no direction.
STILL = 0.05


@part
def _clip(value, bound):
    return min(max(value, -bound), bound)


@part
def _fade(value, outward, share):
    """Return a value, scaled by a share where it points in the outward direction (+1 or -1)."""
    if value * outward > 0.0:
        return value * min(max(share, 0.0), 1.0)
    return value


@lean_kernel
def bound(limits, state, last, dt, effort, cut):
    """
    Clip ``effort`` to the envelope in place; fill ``cut`` with the bits of the limits.

    ``limits``: columns of `joint_watch`; ``state`` (2, nj): position and velocity, NaN if
    unknown.
    """
    for j in range(len(effort)):
        wanted = effort[j]
        value = _clip(wanted, limits[j, EFFORT])
        cut[j] = BY_EFFORT if value != wanted else 0
        q, v = state[0, j], state[1, j]
        before = value
        if math.isfinite(q) and limits[j, MARGIN] > 0.0:
            value = _fade(value, 1.0, (limits[j, UPPER] - q) / limits[j, MARGIN])
            value = _fade(value, -1.0, (q - limits[j, LOWER]) / limits[j, MARGIN])
            # The end of the range is damped: a joint that runs into it is braked.
            if (v > STILL and q > limits[j, UPPER] - limits[j, MARGIN]) or (
                    v < -STILL and q < limits[j, LOWER] + limits[j, MARGIN]):
                value -= _clip(limits[j, DAMPING] * v, limits[j, EFFORT])
            if value != before:
                cut[j] |= BY_POSITION
        before = value
        if math.isfinite(v):
            top = limits[j, VELOCITY]
            share = (top - abs(v)) / ((1.0 - SOFT) * top)
            value = _fade(value, 1.0 if v > 0.0 else -1.0, share)
            if value != before:
                cut[j] |= BY_VELOCITY
            before = value
            if value * v > limits[j, POWER]:
                value = limits[j, POWER] / v
                cut[j] |= BY_POWER
        before = value
        step = limits[j, SLEW] * dt
        value = min(max(value, last[j] - step), last[j] + step)
        if value != before:
            cut[j] |= BY_SLEW
        effort[j] = _clip(value, limits[j, EFFORT])


@lean_kernel
def brake(limits, velocity, seen, effort):
    """
    Fill efforts that brake joints, dissipating energy only.

    Proportional to the smaller of velocity and position change where their signs agree,
    else zero, so that a wrong velocity cannot drive a joint.
    """
    for j in range(len(effort)):
        v, w = velocity[j], seen[j]
        effort[j] = 0.0
        if v * w > 0.0:
            speed = min(abs(v), abs(w)) - STILL
            if speed > 0.0:
                size = min(limits[j, BRAKE] * speed, limits[j, BRAKE_EFFORT])
                effort[j] = -size if v > 0.0 else size


@lean_kernel
def posture(limits, state, place, feed, share, effort):
    """
    Fill efforts that hold joints: those that held them (``feed``) plus PD, scaled.

    ``share``, 0 to 1, does not reduce damping; a joint of unknown state (NaN) gets its
    share of ``feed`` alone.
    """
    for j in range(len(effort)):
        if not (math.isfinite(state[0, j]) and math.isfinite(state[1, j])):
            effort[j] = share * feed[j]
            continue
        spring = feed[j] + limits[j, STIFFNESS] * (place[j] - state[0, j])
        effort[j] = share * spring - limits[j, DAMPING] * state[1, j]
