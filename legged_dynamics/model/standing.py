# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses of the links of a standing robot, and the shares of its feet, without compiled kernels."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_quaternion

SMALL_WEIGHT = 1e-7     # changes loads by about its square


def body_poses(model: RobotModel, position: np.ndarray) -> list[Transform]:
    """
    Return the pose of each body in the base, with the base first.

    Parameters
    ----------
    model, position
        As for :func:`body_frames`.

    Raises
    ------
    MeasurementError
        When the positions are not nq numbers.

    """
    R, p = body_frames(model, position)
    return [Transform(*pose) for pose in zip(R, p)]


def body_frames(model: RobotModel, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return rotation (n, 3, 3) and origin (n, 3) [m] of each body in the base, with the base first.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.

    Raises
    ------
    MeasurementError
        When the positions are not nq numbers.

    """
    q = np.asarray(position, float)
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise MeasurementError(f'expected {model.nq} finite joint positions, got {q.tolist()}')
    rotation, origin = np.empty((model.n_bodies, 3, 3)), np.empty((model.n_bodies, 3))
    rotation[0], origin[0] = np.eye(3), 0.0
    rows = zip(model.tree.topology[1:], model.tree.constants[1:])
    for body, (row, constants) in enumerate(rows, start=1):
        parent, kind, start = (int(row[k]) for k in (layout.PARENT, layout.JOINT, layout.Q_START))
        R = constants[layout.R_TREE:layout.R_TREE + 9].reshape(3, 3)
        p = constants[layout.P_TREE:layout.P_TREE + 3]
        if kind == layout.PRISMATIC:
            p = p + R[:, 2] * q[start]
        elif kind == layout.REVOLUTE:
            c, s = np.cos(q[start]), np.sin(q[start])
            R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        else:
            R = R @ rotation_from_quaternion(q[start:start + 4])
        rotation[body] = rotation[parent] @ R
        origin[body] = rotation[parent] @ p + origin[parent]
    return rotation, origin


def link_pose(model: RobotModel, bodies: Sequence[Transform], link: str) -> Transform:
    """
    Return the pose of a link in the base.

    Parameters
    ----------
    model : RobotModel
        The robot.
    bodies : sequence of Transform
        Poses of the bodies, of :func:`body_poses`.
    link : str
        Name of the link.

    Returns
    -------
    Transform

    """
    body, pose = model.frame(link)
    return bodies[body] @ pose


def center_of_mass(model: RobotModel, bodies: Sequence[Transform]) -> np.ndarray:
    """
    Return the robot's centre of mass in the base.

    Parameters
    ----------
    model : RobotModel
        The robot.
    bodies : sequence of Transform
        Poses of the bodies, of :func:`body_poses`.

    Returns
    -------
    (3,) array [m]

    """
    mass = model.tree.constants[:, layout.MASS]
    places = np.array([pose.point(constants[layout.COM:layout.COM + 3])
                       for pose, constants in zip(bodies, model.tree.constants)])
    return mass @ places / mass.sum()


def foot_loads(model: RobotModel, feet: Sequence[Foot], bodies: Sequence[Transform]
               ) -> tuple[np.ndarray, float]:
    """
    Return the part of the weight that each foot carries with the base level.

    The shares are non-negative least squares of the balance of force and moments (Lawson and
    Hanson 1974): no foot pulls. A sole is loaded at its corners, a ball at its lowest point.

    Parameters
    ----------
    model : RobotModel
        The robot.
    feet : sequence of Foot
        All on the ground.
    bodies : sequence of Transform
        Of :func:`body_poses`.

    Returns
    -------
    loads : (nf,) array
        They sum to one where the robot can stand so.
    fall : float [m]
        Distance of the centre of mass from the support polygon; 0: the robot can stand.

    """
    points, owner = [], []
    for i, foot in enumerate(feet):
        pose = link_pose(model, bodies, foot.link)
        points += [pose.point(place)[:2] for place in foot.corners]
        owner += [i] * len(foot.corners)
    com = center_of_mass(model, bodies)[:2]
    A = np.vstack([np.ones(len(points)), (np.array(points) - com).T])
    # Of all solutions of these three rows the shortest, thanks to a small weight on their length.
    length = SMALL_WEIGHT * np.eye(len(points))
    wanted = np.concatenate([[1.0, 0.0, 0.0], np.zeros(len(points))])
    share = nnls(np.vstack([A, length]), wanted)[0]
    loads = np.bincount(owner, share, len(feet))
    return loads, float(np.linalg.norm((A @ share)[1:]) / max(share.sum(), 1e-9))
