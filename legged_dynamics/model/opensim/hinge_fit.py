# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The hinge or slider that comes nearest to a joint whose one coordinate moves several axes.

OpenSim's knees turn about one axis and meanwhile shift and turn a little about the others, all
functions of the flexion angle. Over the range of that angle the pose of the child is a curve in
SE(3); the nearest curve of a hinge,

.. math:: X(q) \approx \mathrm{Trans}(c)\,\mathrm{Rot}(n, s q)\,E,

is found by least squares over points of the child, and what is left is said.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.model.opensim.document import rotations
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector

# Less turning than this over the whole range, and the joint is a slider [rad].
LEAST_TURN = 0.05
SAMPLES = 31
# The child's attitude counts as points this far from its centre of mass do [m].
ARM = 0.1


@dataclass(frozen=True, eq=False)
class OneAxis:
    """
    A joint of one axis instead of several coupled ones.

    Attributes
    ----------
    kind : {'revolute', 'prismatic'}
    start : Transform
        Of the axis in the joint's parent frame.
    axis : (3,) array
        Unit vector there.
    scale : float
        How far the joint moves for one unit of the coordinate.
    end : Transform
        Of the joint's child frame behind the axis.
    millimetres, degrees : (float, float)
        Root mean square and largest error of where points of the child are, and of its attitude.

    """

    kind: str
    start: Transform
    axis: np.ndarray
    scale: float
    end: Transform
    millimetres: tuple[float, float]
    degrees: tuple[float, float]


def nearest_axis(q: np.ndarray, R: np.ndarray, p: np.ndarray, points: np.ndarray,
                 center: np.ndarray) -> OneAxis:
    """
    Return the joint of one axis that comes nearest.

    Parameters
    ----------
    q : (n,) array [rad or m]
        Values of the coordinate, evenly over its range.
    R, p : (n, 3, 3), (n, 3) array [m]
        Of the child frame in the parent frame at these values.
    points : (k, 3) array [m]
        Of the child frame that must be where they are: the next joints, the centre of mass.
    center : (3,) array [m]
        About which its attitude counts.

    """
    middle = len(q) // 2
    turn = np.array([rotation_vector(part @ R[middle].T) for part in R])
    if np.linalg.norm(turn, axis=1).max() < LEAST_TURN:
        return _slider(q, R, p, points)
    moved = q - q[middle]
    rate = (turn * moved[:, None]).sum(axis=0) / (moved ** 2).sum()
    scale = float(np.linalg.norm(rate))
    n = rate / scale
    scale = 1.0 if abs(scale - 1.0) < 0.05 else scale   # the coordinate is the angle itself
    every = np.vstack([points, center, *(center + ARM * axis for axis in np.eye(3))])
    truth = np.einsum('nij,kj->nki', R, every) + p[:, None]
    turned = rotations(n, scale * q)
    E = _mean_rotation(np.einsum('nji,njk->nik', turned, R))
    behind = np.einsum('nij,kj->nki', turned @ E, every)
    c, e = _pivot(turned, truth - behind)

    from scipy.optimize import least_squares  # slow to import

    basis = np.linalg.svd(n[None])[2][1:]

    def model(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, Transform, np.ndarray]:
        axis = n + x[0] * basis[0] + x[1] * basis[1]
        axis = axis / np.linalg.norm(axis)
        end = Transform(E @ rotation_from_vector(x[2:5]), e + x[5:8])
        where = rotations(axis, scale * q)
        at = (c + x[8:11] + np.einsum('nij,kj->nki', where, every @ end.R.T + end.p))
        return axis, c + x[8:11], end, at

    def misfit(x: np.ndarray) -> np.ndarray:
        # A pivot may slide along its axis; keep it where it is.
        return np.append((model(x)[3] - truth).ravel(), 1e-3 * x)

    best = least_squares(misfit, np.zeros(11)).x
    axis, c, end, at = model(best)
    # The point of the axis that is nearest to the child's frame.
    slide = axis * float(axis @ end.p)
    start, end = Transform(np.eye(3), c + slide), Transform(end.R, end.p - slide)
    error = np.linalg.norm(at - truth, axis=2)[:, :len(points)]
    angle = [np.linalg.norm(rotation_vector(a @ b.T))
             for a, b in zip(rotations(axis, scale * q) @ end.R, R)]
    return OneAxis('revolute', start, axis, scale, end, _spread(1e3 * error),
                   _spread(np.degrees(angle)))


def _slider(q: np.ndarray, R: np.ndarray, p: np.ndarray, points: np.ndarray) -> OneAxis:
    moved = q - q.mean()
    rate = (p * moved[:, None]).sum(axis=0) / max((moved ** 2).sum(), 1e-30)
    scale = float(np.linalg.norm(rate))
    axis = rate / scale if scale > 0.0 else np.array([1.0, 0.0, 0.0])
    E, start = _mean_rotation(R), p.mean(axis=0) - scale * axis * q.mean()
    at = start + scale * q[:, None] * axis
    truth = np.einsum('nij,kj->nki', R, points) + p[:, None]
    error = np.linalg.norm(at[:, None] + points @ E.T - truth, axis=2)
    angle = [np.linalg.norm(rotation_vector(E @ part.T)) for part in R]
    return OneAxis('prismatic', Transform(np.eye(3), start), axis, scale,
                   Transform(E, np.zeros(3)), _spread(1e3 * error), _spread(np.degrees(angle)))


def _pivot(turned: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve ``offset = c + R e`` for all instants and points."""
    n, k = offset.shape[:2]
    A = np.concatenate([np.broadcast_to(np.eye(3), (n, 3, 3)), turned], axis=2)
    A = np.repeat(A, k, axis=0).reshape(-1, 6)
    found = np.linalg.lstsq(A, offset.reshape(-1), rcond=None)[0]
    return found[:3], found[3:]


def _mean_rotation(R: np.ndarray) -> np.ndarray:
    u, _, vt = np.linalg.svd(R.sum(axis=0))
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def _spread(values: object) -> tuple[float, float]:
    array = np.asarray(values, float)
    return float(np.sqrt(np.mean(array ** 2))), float(array.max())
