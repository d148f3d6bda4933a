# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Low-pass of estimated forces: second-order Butterworth, causal, per component in world axes.

Forces are filtered and not their inputs, of which different filters would break the equations of
motion. The delay at low frequency is ``1 / (sqrt(2) pi f_c)``: 3.8 ms at 60 Hz.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    START,
    foot_moment,
)
from legged_dynamics.estimation.filter.memory import FILTER
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, put3

# A filtered force below this, of a foot in the air, is set to zero [N].
NEGLIGIBLE = 1e-30


@part
def _butterworth(cutoff, dt):
    """Return (b0, b1, b2, a1, a2) by the bilinear transform; pass everything near Nyquist."""
    if cutoff <= 0.0 or cutoff * dt > 0.45:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    k = math.tan(math.pi * cutoff * dt)
    norm = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    b0 = k * k * norm
    return b0, 2.0 * b0, b0, 2.0 * (k * k - 1.0) * norm, (1.0 - math.sqrt(2.0) * k + k * k) * norm


@part
def _filtered(delays, at, x, coefficients, ready):
    """Advance one channel (row ``at`` of the delays); start in the steady state of ``x``."""
    b0, b1, b2, a1, a2 = coefficients
    if not ready:
        delays[at, 1] = (b2 - a2) * x
        delays[at, 0] = (b1 - a1) * x + delays[at, 1]
    y = b0 * x + delays[at, 0]
    if math.fabs(y) < NEGLIGIBLE and x == 0.0:      # a decay into subnormal numbers is slow
        delays[at, 0], delays[at, 1] = 0.0, 0.0
        return 0.0
    delays[at, 0] = b1 * x - a1 * y + delays[at, 1]
    delays[at, 1] = b2 * x - a2 * y
    return y


@part
def write_wrenches(feet, states, w, wrenches):
    """Write contact coordinates w (nc,) as wrenches about each foot's origin, base axes."""
    for i in range(feet.index.shape[0]):
        c = feet.index[i, START]
        force = load3(w, c)
        moment = cross(subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)), force)
        moment = add(moment, foot_moment(feet.index, states, i, w))
        put3(wrenches, i, 0, force)
        put3(wrenches, i, 3, moment)


@part
def filter_wrenches(feet, settings, states, R_WB, memory, dt, wrenches):
    """Filter the latest wrenches in world axes; rotate all wrenches to foot axes in place."""
    coefficients = _butterworth(settings.cutoff, dt)
    ready = memory.status[FILTER.ready] > 0.5
    net_force, net_moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    load, center = 0.0, (0.0, 0.0, 0.0)
    normal = (R_WB[6], R_WB[7], R_WB[8])
    for i in range(feet.index.shape[0]):
        R_BF, origin = load9(states[i], FOOT_ROTATION), load3(states[i], FOOT_POSITION)
        for half in range(2):
            at = 3 * half
            world = rotate(R_WB, get3(wrenches.latest, i, at))
            channel = 6 * i + at
            smooth = (_filtered(memory.delays, channel, world[0], coefficients, ready),
                      _filtered(memory.delays, channel + 1, world[1], coefficients, ready),
                      _filtered(memory.delays, channel + 2, world[2], coefficients, ready))
            smooth = rotate_back(R_WB, smooth)
            if half == 0:
                force = smooth
                net_force = add(net_force, smooth)
            else:
                net_moment = add(net_moment, add(smooth, cross(origin, force)))
                pressed = dot(normal, force)
                if pressed > 0.0:
                    # The point where the wrench has no tipping moment, at the contact's height.
                    contact = load3(states[i], CONTACT)
                    arm = subtract(contact, origin)
                    tipping = subtract(smooth, cross(arm, force))
                    point = add_scaled(contact, 1.0 / pressed, cross(normal, tipping))
                    center = add_scaled(center, pressed, point)
                    load += pressed
            put3(wrenches.latest, i, at, rotate_back(R_BF, smooth))
            put3(wrenches.raw, i, at, rotate_back(R_BF, get3(wrenches.raw, i, at)))
    memory.status[FILTER.ready] = 1.0
    store3(wrenches.net, 0, net_force)
    store3(wrenches.net, 3, net_moment)
    if load > settings.unloaded * settings.weight:
        store3(wrenches.center_of_pressure, 0, scale(1.0 / load, center))
    else:
        store3(wrenches.center_of_pressure, 0, (math.nan, math.nan, math.nan))
