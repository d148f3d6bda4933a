# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the base carries that the model does not know: an error of mass and of first moment.

The base's equations, with the feet's forces as their own joints see them, leave ``B theta``,
theta = [dm; dm c]. Least squares with a memory of seconds finds theta; a lasting error of torque
looks the same, so theta counts only as far as it is larger than that could make it.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.estimation.external_push import trust
from legged_dynamics.optimization.cholesky import factorize, solve_factorized
from legged_dynamics.spatial.algebra import add_scaled, dot, load3, store3, subtract
from legged_dynamics.spatial.jit import part

# Memory [s].
MASS_TIME = 5.0
# The model's own mass and first moment count like so many seconds of measuring.
KNOWN_TIME = 0.05
# An error of so many deviations counts half.
DOUBTFUL = 2.0
# What a sample counts while a push is let in: it may as well be that.
PUSHED_SHARE = 0.2
# Over how long the acceleration is averaged that an error of mass is sought along [s]: noise that
# is in the equations and in what they are compared with would look like a mass.
STEADY_TIME = 0.05
# Share of the weight that feet must bear where mass is learned.
CARRIED = 0.8


@part
def mass_columns(a, columns):
    """Fill B, (6, 4), from the proper acceleration of the base."""
    for k in range(3):
        columns[k, 0] = -a[k]
    columns[3, 2], columns[3, 3] = -a[2], a[1]
    columns[4, 1], columns[4, 3] = a[2], -a[0]
    columns[5, 1], columns[5, 2] = -a[1], a[0]


@part
def steady_columns(a, memory, at, columns, dt):
    """Fill B from the acceleration's mean up to the last tick, and take in ``a``."""
    mean = load3(memory, at)
    mass_columns(mean, columns)
    store3(memory, at, add_scaled(mean, min(dt / STEADY_TIME, 1.0), subtract(a, mean)))


@part
def feet_carry(feet, up, weight, x):
    """
    Return whether the feet bear most of the weight.

    A robot that somebody holds up is not lighter, and in free fall nobody knows.
    """
    total = 0.0
    for i in range(feet.index.shape[0]):
        total += dot(up, load3(x, feet.index[i, START]))
    return total > CARRIED * weight


@part
def learn_mass(settings, columns, left, doubt, pushed, memory, at, weight, block, theta, dt):
    """
    Take in what the base's equations leave, (6,), and fill theta, (4,).

    ``columns`` are of a steady acceleration, ``doubt``, (6,), is the variance of what lasts of
    ``left`` for other reasons, ``pushed`` whether a push is let in.

    ``memory`` holds the normal equations, 4 x 5 numbers from ``at``; ``weight``, (6,), is filled.
    """
    keep = 1.0 - min(dt / MASS_TIME, 1.0)
    g2, arm2 = settings.gravity ** 2, settings.arm * settings.arm
    share = PUSHED_SHARE * dt if pushed else dt
    for e in range(6):
        weight[e] = share * trust(settings, doubt[e], e) / (1.0 if e < 3 else arm2)
    for r in range(4):
        for c in range(5):
            total = 0.0
            for e in range(6):
                other = left[e] if c == 4 else columns[e, c]
                total += weight[e] * columns[e, r] * other
            memory[at + 5 * r + c] = keep * memory[at + 5 * r + c] + total
            if c < 4:
                block[r, c] = memory[at + 5 * r + c]
        block[r, r] += KNOWN_TIME * g2 / (1.0 if r == 0 else arm2)
        theta[r] = memory[at + 5 * r + 4]
    if not factorize(block, 4):
        return
    solve_factorized(block, 4, theta)
    for r in range(4):
        sight, error = 1e-12 * g2, 0.0
        for e in range(6):
            sight += columns[e, r] ** 2
            error += columns[e, r] ** 2 * doubt[e]
        t = (theta[r] * sight / DOUBTFUL) ** 4 / max(error * error, 1e-300)
        theta[r] *= t / (1.0 + t)
