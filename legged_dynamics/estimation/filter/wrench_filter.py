# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Low-pass of estimated forces: second-order Butterworth, causal, per component in world axes.

Forces are filtered and not their inputs: filtering inputs differently breaks the balance that the
estimate rests on. The delay at low frequency is ``1 / (sqrt(2) pi f_c)``: 3.8 ms at 60 Hz.

Arguments of the kernels: see ``estimation/__init__.py``.
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

# Below this fraction of the weight there is no centre of pressure to speak of.
UNLOADED = 0.02
# A filtered force this small [N] after the foot has left the ground is none.
NEGLIGIBLE = 1e-30


@part
def butterworth(cutoff, dt):
    """Return (b0, b1, b2, a1, a2) by the bilinear transform; pass everything near Nyquist."""
    if cutoff <= 0.0 or cutoff * dt > 0.45:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    k = math.tan(math.pi * cutoff * dt)
    norm = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    b0 = k * k * norm
    return b0, 2.0 * b0, b0, 2.0 * (k * k - 1.0) * norm, (1.0 - math.sqrt(2.0) * k + k * k) * norm


@part
def filtered(memory, at, x, coefficients, ready):
    """Advance one channel (two memories from ``at``); start in the steady state of ``x``."""
    b0, b1, b2, a1, a2 = coefficients
    if not ready:
        memory[at + 1] = (b2 - a2) * x
        memory[at] = (b1 - a1) * x + memory[at + 1]
    y = b0 * x + memory[at]
    if math.fabs(y) < NEGLIGIBLE and x == 0.0:      # a decay into subnormal numbers is slow
        memory[at], memory[at + 1] = 0.0, 0.0
        return 0.0
    memory[at] = b1 * x - a1 * y + memory[at + 1]
    memory[at + 1] = b2 * x - a2 * y
    return y


@part
def write_wrenches(feet, states, w, out, start):
    """Move contact coordinates to wrenches in base axes about each foot's origin."""
    for i in range(feet.index.shape[0]):
        c = feet.index[i, START]
        force = load3(w, c)
        moment = cross(subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)), force)
        moment = add(moment, foot_moment(feet.index, states, i, w))
        store3(out, start + 6 * i, force)
        store3(out, start + 6 * i + 3, moment)


@part
def filter_wrenches(feet, layout, settings, states, R_WB, memory, dt, out):
    """Filter the latest wrenches in world axes; turn both kinds into the feet's axes."""
    coefficients = butterworth(settings.cutoff, dt)
    ready = memory[layout.filter_ready] > 0.5
    net_force, net_moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    load, center = 0.0, (0.0, 0.0, 0.0)
    normal = (R_WB[6], R_WB[7], R_WB[8])
    for i in range(feet.index.shape[0]):
        R_BF, origin = load9(states[i], FOOT_ROTATION), load3(states[i], FOOT_POSITION)
        for half in range(2):
            at, raw_at = layout.wrench + 6 * i + 3 * half, layout.raw_wrench + 6 * i + 3 * half
            world = rotate(R_WB, load3(out, at))
            channel = layout.filter + 12 * i + 6 * half
            smooth = (filtered(memory, channel, world[0], coefficients, ready),
                      filtered(memory, channel + 2, world[1], coefficients, ready),
                      filtered(memory, channel + 4, world[2], coefficients, ready))
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
            store3(out, at, rotate_back(R_BF, smooth))
            store3(out, raw_at, rotate_back(R_BF, load3(out, raw_at)))
    memory[layout.filter_ready] = 1.0
    store3(out, layout.net_wrench, net_force)
    store3(out, layout.net_wrench + 3, net_moment)
    if load > UNLOADED * settings.weight:
        store3(out, layout.center_of_pressure, scale(1.0 / load, center))
    else:
        store3(out, layout.center_of_pressure, (math.nan, math.nan, math.nan))
