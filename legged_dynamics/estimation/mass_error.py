# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The error of the base's mass and first moments: a payload, for example.

The base's equations, with the feet's forces as their own joints see them, leave ``B m`` with the
mass parameters ``m = [dm; dm c]``. Recursive least squares with a forgetting time of seconds finds
m; an offset of a torque looks the same, so m counts only where it is larger than offsets could
make it.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.estimation.push import sample_weight
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import add_scaled, dot, load3, store3, subtract
from legged_dynamics.spatial.jit import part

# Forgetting time [s].
MASS_TIME = 5.0
# The model's own mass and first moment count like so many seconds of measuring.
PRIOR_TIME = 0.05
# Shrinkage: an estimate of so many deviations is halved.
DOUBTFUL = 2.0
# Weight of a sample during a push.
PUSHED_SHARE = 0.2
# Time over which the acceleration in B is averaged [s]: noise that is in B and in the right side
# alike would look like a mass.
STEADY_TIME = 0.05
# Share of the weight that the feet must bear for mass to be estimated.
CARRIED = 0.8


@part
def mass_columns(a, columns):
    """Fill the base wrench (6, 4) by errors of mass and first moments; ``a``: base axes."""
    for k in range(3):
        columns[k, 0] = -a[k]
    columns[3, 2], columns[3, 3] = -a[2], a[1]
    columns[4, 1], columns[4, 3] = a[2], -a[0]
    columns[5, 1], columns[5, 2] = -a[1], a[0]


@part
def mean_mass_columns(a, mean_acceleration, columns, dt):
    """Fill `mass_columns` by the mean acceleration up to the last tick; update the mean."""
    mean = load3(mean_acceleration, 0)
    mass_columns(mean, columns)
    store3(mean_acceleration, 0, add_scaled(mean, min(dt / STEADY_TIME, 1.0), subtract(a, mean)))


@part
def feet_carry_weight(feet, up, weight, probability, x):
    """
    Return whether feet that surely stand bear most of the weight.

    Otherwise the robot is held up or in free fall, and its mass cannot be known. ``up`` is
    in base axes.
    """
    total = 0.0
    for i in range(feet.index.shape[0]):
        total += probability[i] * dot(up, load3(x, feet.index[i, START]))
    return total > CARRIED * weight


@part
def update_mass_error(settings, columns, left, slow, pushed, equations, weight, block, error, dt):
    """
    Update the base's mass and first moment errors by recursive least squares.

    ``columns``: of `mean_mass_columns`; ``left`` (6,): base equation residual; ``slow``:
    its slow variance; ``equations`` and ``error`` (4,) [kg, kg m] are written.
    """
    keep = 1.0 - min(dt / MASS_TIME, 1.0)
    g2, arm2 = settings.gravity ** 2, settings.arm * settings.arm
    share = PUSHED_SHARE * dt if pushed else dt
    for e in range(6):
        weight[e] = share * sample_weight(settings, slow[e], e) / (1.0 if e < 3 else arm2)
    for r in range(4):
        for c in range(5):
            total = 0.0
            for e in range(6):
                other = left[e] if c == 4 else columns[e, c]
                total += weight[e] * columns[e, r] * other
            equations[r, c] = keep * equations[r, c] + total
            if c < 4:
                block[r, c] = equations[r, c]
        block[r, r] += PRIOR_TIME * g2 / (1.0 if r == 0 else arm2)
        error[r] = equations[r, 4]
    if not factorize(block, 4):
        return
    solve_factorized(block, 4, error)
    for r in range(4):
        information, variance = 1e-12 * g2, 0.0
        for e in range(6):
            information += columns[e, r] ** 2
            variance += columns[e, r] ** 2 * slow[e]
        t = (error[r] * information / DOUBTFUL) ** 4 / max(variance * variance, 1e-300)
        error[r] *= t / (1.0 + t)
