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


@part
def mass_columns(a, columns):
    """Fill the base wrench (6, 4) by errors of mass and first moments; ``a``: base axes."""
    for k in range(3):
        columns[k, 0] = -a[k]
    columns[3, 2], columns[3, 3] = -a[2], a[1]
    columns[4, 1], columns[4, 3] = a[2], -a[0]
    columns[5, 1], columns[5, 2] = -a[1], a[0]


@part
def mean_mass_columns(settings, a, mean_acceleration, columns, dt):
    """Fill `mass_columns` by the mean acceleration up to the last tick; update the mean."""
    mean = load3(mean_acceleration, 0)
    mass_columns(mean, columns)
    share = min(dt / settings.steady_time, 1.0)
    store3(mean_acceleration, 0, add_scaled(mean, share, subtract(a, mean)))


@part
def feet_carry_weight(feet, settings, up, probability, x):
    """Return whether feet that surely stand bear most of the weight; ``up``: base axes."""
    # Otherwise the robot is held up or in free fall, and its mass cannot be known.
    total = 0.0
    for i in range(feet.index.shape[0]):
        total += probability[i] * dot(up, load3(x, feet.index[i, START]))
    return total > settings.carried * settings.weight


@part
def update_mass_error(settings, tracking, mass, pushed, dt):
    """
    Update the base's mass and first moment errors by recursive least squares.

    By ``tracking.mass_columns`` of `mean_mass_columns`, and what is ``unexplained`` with its
    slow variance.
    """
    columns, left, slow = tracking.mass_columns, tracking.unexplained, tracking.push_variance
    equations, error, weight, block = mass.equations, mass.error, tracking.vector, tracking.block
    keep = 1.0 - min(dt / settings.mass_time, 1.0)
    g2, arm2 = settings.gravity ** 2, settings.arm * settings.arm
    share = settings.pushed_share * dt if pushed else dt
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
        block[r, r] += settings.prior_time * g2 / (1.0 if r == 0 else arm2)
        error[r] = equations[r, 4]
    if not factorize(block, 4):
        return
    solve_factorized(block, 4, error)
    for r in range(4):
        information, variance = 1e-12 * g2, 0.0
        for e in range(6):
            information += columns[e, r] ** 2
            variance += columns[e, r] ** 2 * slow[e]
        t = (error[r] * information / settings.doubtful) ** 4 / max(variance * variance, 1e-300)
        error[r] *= t / (1.0 + t)
