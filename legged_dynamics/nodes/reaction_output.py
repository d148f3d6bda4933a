# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A tick of the estimator in one message, with one subscription."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from legged_dynamics.estimation import GroundReaction
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.protocol import Dialect

_WRENCH = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


def all_of(dialect: Dialect, reaction: GroundReaction) -> Any:
    """
    Return everything an estimate says as a sensor_msgs/JointState of named values.

    Parameters
    ----------
    dialect : Dialect
        Whose message to make.
    reaction : GroundReaction
        The estimate.

    Returns
    -------
    JointState
        ``effort`` [N, N m, 1, m] of ``<foot>/force.x ... torque.z`` (in and about the foot's
        link), ``<foot>/contact`` and ``<foot>/observable`` (0 or 1),
        ``<foot>/contact_probability``, ``<foot>/force.x.stddev ...``, ``<foot>/base_force.x ...``
        (the force in the base link's axes), and in the base link ``net/force.x ...``,
        ``center_of_pressure.x ...``, ``external/force.x ...``, ``external/force.x.stddev ...``,
        ``ground_normal.x ...``; ``<joint>/external_torque``. What is not known is not there:
        nothing is NaN.

    """
    deviation = np.sqrt([np.diagonal(reaction.covariance_of(foot, latest=True)).clip(0.0)
                         for foot in reaction.feet])
    in_base = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.wrench[:, :3])
    values = np.concatenate([
        np.hstack([reaction.wrench, np.asarray(reaction.latest_contact, float)[:, None],
                   np.asarray(reaction.observable, float)[:, None],
                   reaction.contact_probability[:, None], deviation, in_base]).ravel(),
        reaction.net_wrench, reaction.center_of_pressure, reaction.external_wrench,
        reaction.external_deviation, reaction.ground_normal, reaction.external_torque])
    known = np.isfinite(values)
    names = _names(reaction.feet, reaction.joints, deviation.shape[1])
    if not known.all():
        names = [name for name, there in zip(names, known.tolist()) if there]
    return convert.joint_state(dialect, reaction.latest_ns, names, effort=values[known])


@lru_cache(maxsize=4)
def _names(feet: tuple[str, ...], joints: tuple[str, ...], deviations: int) -> list[str]:
    of_foot = (*_WRENCH, 'contact', 'observable', 'contact_probability',
               *(f'{name}.stddev' for name in _WRENCH[:deviations]),
               *(f'base_{name}' for name in _WRENCH[:3]))
    return [*(f'{foot}/{name}' for foot in feet for name in of_foot),
            *(f'net/{name}' for name in _WRENCH),
            *(f'center_of_pressure.{axis}' for axis in 'xyz'),
            *(f'external/{name}' for name in _WRENCH),
            *(f'external/{name}.stddev' for name in _WRENCH),
            *(f'ground_normal.{axis}' for axis in 'xyz'),
            *(f'{joint}/external_torque' for joint in joints)]
