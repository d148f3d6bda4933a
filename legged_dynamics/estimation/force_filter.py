# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Low-pass of estimated forces: second-order Butterworth, causal, per component in world axes.

Forces are filtered and not their inputs: filtering inputs differently breaks the balance that the
estimate rests on. The delay at low frequency is ``1 / (sqrt(2) pi f_c)``: 3.8 ms at 60 Hz.
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import kernel


@kernel
def butterworth(cutoff, dt):
    """Return (b0, b1, b2, a1, a2) by the bilinear transform; pass everything near Nyquist."""
    if cutoff <= 0.0 or cutoff * dt > 0.45:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    k = math.tan(math.pi * cutoff * dt)
    norm = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    b0 = k * k * norm
    return b0, 2.0 * b0, b0, 2.0 * (k * k - 1.0) * norm, (1.0 - math.sqrt(2.0) * k + k * k) * norm


@kernel
def filtered(memory, at, x, coefficients, ready):
    """Advance one channel (two memories from ``at``); start in the steady state of ``x``."""
    b0, b1, b2, a1, a2 = coefficients
    if not ready:
        memory[at + 1] = (b2 - a2) * x
        memory[at] = (b1 - a1) * x + memory[at + 1]
    y = b0 * x + memory[at]
    memory[at] = b1 * x - a1 * y + memory[at + 1]
    memory[at + 1] = b2 * x - a2 * y
    return y
