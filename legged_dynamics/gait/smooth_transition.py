# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Double support by a law in time: the smooth transition of Ren, Jones and Howard (2008).

The foot that is about to leave starts from the wrench it bore when the other one landed and gives
it up by a fixed curve over the double support; the other takes the rest. A law for walking on two
feet: where two feet stand and neither came from standing alone, it has nothing to say. Here beside
the travelling reference for comparison; it does not look at the motion while both feet are down.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.gait.stance_detection import runs


def leaving_share(phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return how much of its wrench the leaving foot has kept: fore-aft force, and all the rest.

    Parameters
    ----------
    phase : (n,) array
        Time since the other foot landed over *half* of the double support, 0 to 2.

    """
    k1 = np.exp(4.0 / 9.0)
    k2 = k1 / 2.0 * np.exp(-16.0 / 9.0)
    return k1 * np.exp(-(phase - 2.0 / 3.0) ** 2) - k2 * phase, np.exp(-phase ** 3)


def smooth_transition(contact: np.ndarray, arms: np.ndarray, total: np.ndarray,
                      forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return each foot's wrench where the law applies.

    Parameters
    ----------
    contact : (n, nf) bool array
        Feet on the ground.
    arms : (n, nf, 3) array [m]
        From the origin of the total wrench to each foot's frame, in world axes.
    total : (n, 6) array [N, N m]
        What all feet together bear, in world axes.
    forward : (n, 3) array
        Unit vector, level, in which the walker walks.

    Returns
    -------
    wrench : (n, nf, 6) array [N, N m]
        About the feet's frames, in world axes; zero where the law has nothing to say.
    said : (n,) bool array
        Where it has: one foot stands, or two between two steps.

    """
    n, nf = contact.shape
    wrench, said = np.zeros((n, nf, 6)), np.zeros(n, bool)
    shifted = total[:, None].repeat(nf, axis=1)
    shifted[..., 3:] -= np.cross(arms, total[:, None, :3])
    alone = contact.sum(axis=1) == 1
    wrench[alone] = np.where(contact[alone, :, None], shifted[alone], 0.0)
    said |= alone
    for first, end in runs(contact.sum(axis=1) == 2):
        if first == 0 or end == n or not (alone[first - 1] and alone[end]):
            continue
        leaving = int(np.argmax(contact[first - 1]))
        landing = int(np.argmax(contact[end]))
        pair = contact[first, leaving] and contact[first, landing]
        if leaving == landing or not pair or (contact[first:end] != contact[first]).any():
            continue
        phase = 2.0 * (np.arange(end - first) + 1.0) / (end - first + 1.0)
        fore_aft, rest = leaving_share(phase)
        start, axis = wrench[first - 1, leaving], forward[first:end]
        ahead = axis @ start[:3] if axis.ndim == 1 else np.einsum('ni,i->n', axis, start[:3])
        wrench[first:end, leaving] = rest[:, None] * start
        wrench[first:end, leaving, :3] += ((fore_aft - rest) * ahead)[:, None] * axis
        given = wrench[first:end, leaving]
        between = arms[first:end, leaving] - arms[first:end, landing]
        wrench[first:end, landing] = shifted[first:end, landing] - given
        wrench[first:end, landing, 3:] -= np.cross(between, given[:, :3])
        said[first:end] = True
    return wrench, said
