# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The regressor against Newton-Euler and Pinocchio's own."""
from types import SimpleNamespace

import numpy as np
import pytest
from robots import random_robot

from legged_dynamics.diagnosis.identification.equations import N_INERTIAL, regressor
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics

ROUND_OFF = 1e-9


def inertial_parameters(model):
    """Return what the regressor multiplies, in the bodies' frames."""
    found = np.empty((model.n_bodies, N_INERTIAL))
    for body in range(model.n_bodies):
        inertia = model.body_inertia(body)
        c = inertia.com
        about_origin = inertia.about_com + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        found[body] = [inertia.mass, *(inertia.mass * c), *about_origin[np.triu_indices(3)]]
    return found.ravel()


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_regressor_times_parameters_is_inverse_dynamics(seed):
    model = random_robot(seed, 7)
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, 5, model.nv))
    base = rng.normal(size=(5, 9))
    samples = SimpleNamespace(time=np.arange(5), position=q, velocity=v, acceleration=a, base=base)
    told = regressor(model, samples) @ inertial_parameters(model)
    for n in range(5):
        known = inverse_dynamics(model, Motion(q[n], v[n], a[n], BaseMotion(
            base[n, :3], base[n, 3:6], base[n, 6:])))
        np.testing.assert_allclose(told[n], [*known.base_wrench, *known.joint_effort],
                                   atol=ROUND_OFF * np.abs(told[n]).max())
