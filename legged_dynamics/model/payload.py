# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot whose base carries something, or that weighs other than its URDF says."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_model import RobotModel

# Where a loaded model keeps the inertia of its base without load.
_BARE = '_bare_base'


def loaded(model: RobotModel, payload: Inertia, shift: np.ndarray) -> RobotModel:
    """
    Return the model with a payload on its base, and the base's own mass shifted.

    Both take the place of any there were before, so that it may be done again.

    Parameters
    ----------
    model : RobotModel
        Bare or loaded.
    payload : Inertia
        In the root link's frame.
    shift : (3,) array [m]
        Of the base's own centre of mass, in the root link's axes.

    Raises
    ------
    ModelError
        When no mass is left.

    """
    bare = model.__dict__.get(_BARE) or model.body_inertia(0)
    copy = model.with_body_inertia({0: replace(bare, com=bare.com + shift) + payload})
    copy.__dict__[_BARE] = bare
    return copy


def scaled_to(model: RobotModel, mass: float) -> RobotModel:
    """
    Return the model with another total mass, spread as before [kg].

    Raises
    ------
    ConfigurationError
        When the mass is not above zero and finite.

    """
    if not 0.0 < mass < np.inf:
        raise ConfigurationError(f'expected a mass above 0 kg, got {mass:g}')
    factor = mass / model.total_mass
    bodies = {body: model.body_inertia(body) for body in range(model.n_bodies)}
    copy = model.with_body_inertia({body: _scaled(part, factor) for body, part in bodies.items()
                                    if part.mass > 0.0})
    copy.links = {name: _scaled(part, factor) for name, part in model.links.items()}
    return copy


def _scaled(part: Inertia, factor: float) -> Inertia:
    return Inertia(factor * part.mass, part.com, factor * part.about_com)
