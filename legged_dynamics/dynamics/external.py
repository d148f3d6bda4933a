# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""External forces: wrenches that the world exerts on links, gravity and ground contact apart."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from legged_dynamics.dynamics.kinematics import FORCE, MOMENT, ROTATION
from legged_dynamics.dynamics.motion import state_vector
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import rotate, subtract
from legged_dynamics.spatial.frames import wrench_in_frame
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.table import get3, get9, put3


def body_wrenches(model: RobotModel, external: Mapping[str, np.ndarray] | None,
                  out: np.ndarray | None = None) -> np.ndarray:
    """
    Gather wrenches on links into one per body.

    Parameters
    ----------
    model : RobotModel
        The robot whose links they act on.
    external : mapping of link name to (6,) array [N, N m], optional
        ``[f; m]`` exerted on the robot, in the link's axes about the link's origin.
    out : (n_bodies, 6) array, optional
        Where to write.

    Returns
    -------
    (n_bodies, 6) array [N, N m]
        In each body's axes about its origin.

    Raises
    ------
    UnknownNameError
        When a link is not in the model.
    MeasurementError
        When a wrench is not six finite numbers.

    """
    wrenches = np.zeros((model.n_bodies, 6)) if out is None else out
    wrenches[:] = 0.0
    for link, wrench in (external or {}).items():
        body, pose = model.frame(link)
        values = state_vector(wrench, 6, f'components [f; m] of the wrench on link {link!r}')
        wrenches[body] += wrench_in_frame(values, pose)
    return wrenches


@lean_kernel
def relieve_bodies(external, bodies):
    """Subtract external wrenches (nb, 6) from what each body needs to move as it does."""
    for i in range(external.shape[0]):
        R = get9(bodies, i, ROTATION)
        put3(bodies, i, FORCE,
             subtract(get3(bodies, i, FORCE), rotate(R, get3(external, i, 0))))
        put3(bodies, i, MOMENT,
             subtract(get3(bodies, i, MOMENT), rotate(R, get3(external, i, 3))))
