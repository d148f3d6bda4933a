# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far computed ground reactions are from measured ones, foot by foot."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.analysis.gait.plates import Plates
from legged_dynamics.gait.reactions import GaitReactions

# A foot counts as loaded from this true vertical force on [N].
LOADED = 20.0


@dataclass(frozen=True)
class FootErrors:
    """
    Root mean squares over the samples in which a foot is truly loaded, all feet together [N].

    Attributes
    ----------
    vertical : float
        Of the vertical force.
    single, double : float
        The same while one foot alone is loaded, and while several are; NaN where that never is.
    fore_aft, sideways : float
        Of the horizontal force along the world's x and y.
    total : float
        Of the vertical force of all feet together: what the motion itself gets wrong.
    pull : float
        Smallest computed vertical force of any foot at any time; below zero it pulls.
    agreement : float
        Part of the samples, foot by foot, in which contact agrees with the truth.
    count : int
        Samples, foot by foot.

    """

    vertical: float
    single: float
    double: float
    fore_aft: float
    sideways: float
    total: float
    pull: float
    agreement: float
    count: int


def foot_errors(reactions: GaitReactions, plates: Plates, loaded: float = LOADED) -> FootErrors:
    """
    Compare ground reactions with the truth.

    Parameters
    ----------
    reactions : GaitReactions
        What was computed.
    plates : Plates
        The truth at the same instants.
    loaded : float [N]
        True vertical force from which a foot counts as loaded.

    """
    truth = plates.world_force(reactions.foot_rotation)
    on = (np.nan_to_num(truth[..., 2]) > loaded) & plates.valid[:, None]
    error = reactions.force - truth
    several = on & (on.sum(axis=1) > 1)[:, None]
    valid = plates.valid
    agree = (on == reactions.contact)[valid]
    return FootErrors(
        _rms(error[on][:, 2]), _rms(error[on & ~several][:, 2]), _rms(error[several][:, 2]),
        _rms(error[on][:, 0]), _rms(error[on][:, 1]), _rms(error[valid].sum(axis=1)[:, 2]),
        float(reactions.force[..., 2].min()), float(agree.mean()) if agree.size else np.nan,
        int(on.sum()))


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values ** 2))) if len(values) else np.nan
