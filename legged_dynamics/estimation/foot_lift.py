# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether a foot is still where it stood: a help where its force is too small to tell.

A sole is unloaded slowly before it lifts, and for tens of milliseconds its force is below what
torques can tell from nothing. But a foot that has not risen from the place where it bore weight
has not lifted. Heights are along the ground's normal, of each foot over its own place, carried
along by the feet that bear weight; no height is compared with another foot's. What has risen says
nothing: the foot may stand on ground that gives way, and force alone decides. A ball lets go at
once, and is not asked.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import CONTACT
from legged_dynamics.spatial.algebra import dot, load3
from legged_dynamics.spatial.jit import part

# Memory of a foot: height of the contact point over the base, that of its place, whether it has
# one (2: it bears weight), and since when [s].
N_HEIGHT = 4
# By how many thresholds of force a foot may be lighter and still stand, because it has not risen;
# and for how long, of a pendulum's time of the leg's length, it is more after landing: after the
# blow it may bear nothing for a while, and what has just landed does not leave.
UNMOVED, LANDED, SETTLING = 0.75, 2.0, 0.3
# A sole that has just landed rocks: by this its rise counts.
ROCKS = 0.5


@part
def follow_heights(feet, layout, states, normal, memory):
    """Carry each foot's place along with the feet that bear weight."""
    step, total = 0.0, 0.0
    for i in range(feet.index.shape[0]):
        at = layout.heights + N_HEIGHT * i
        height = dot(normal, load3(states[i], CONTACT))
        if memory[at + 2] > 1.5:
            step += height - memory[at]
            total += 1.0
        memory[at] = height
    for i in range(feet.index.shape[0]):
        at = layout.heights + N_HEIGHT * i
        if total > 0.0:
            memory[at + 1] += step / total
        else:
            memory[at + 2] = 0.0        # nobody bears weight: places are lost


@part
def still_there(layout, settings, memory, i):
    """Return by how many thresholds a foot may be lighter, because it has not risen."""
    at = layout.heights + N_HEIGHT * i
    if memory[at + 2] < 0.5:
        return 0.0
    rise = max(memory[at] - memory[at + 1], 0.0) / settings.risen
    if memory[at + 3] * settings.pace < SETTLING:
        rise *= ROCKS
        return LANDED * max(1.0 - rise * rise, 0.0)
    return UNMOVED * max(1.0 - rise * rise, 0.0)


@part
def note_place(layout, memory, i, down, bears, dt):
    """Remember where a foot that bears weight stands; forget the place of one that has left."""
    at = layout.heights + N_HEIGHT * i
    if bears and down > 0.5:
        memory[at + 1], memory[at + 2] = memory[at], 2.0
    elif down > 0.5:
        memory[at + 2] = min(memory[at + 2], 1.0)
    else:
        memory[at + 2] = 0.0
    memory[at + 3] = memory[at + 3] + dt if down > 0.5 else 0.0
