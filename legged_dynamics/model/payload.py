# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot whose base carries something, or has its mass elsewhere than the URDF says."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

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
