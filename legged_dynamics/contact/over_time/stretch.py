# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a caller gives for a solution over time: some frames of a recording, and their checks."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.over_time.frames import Walk
from legged_dynamics.contact.over_time.motion import GeneralizedMotion
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion, even_step
from legged_dynamics.dynamics.external import body_wrenches
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class Stretch:
    """
    Some frames of a recording.

    Attributes
    ----------
    motion : RecordedMotion
        Evenly spaced; the last frame of one stretch is followed by the first of the next.
    in_contact : (nf,) or (T, nf) array of bool, optional
        Feet on the ground; all by default.
    external : mapping of link name to (6,) or (T, 6) array, optional [N, N m]
        Wrenches ``[f; m]`` on the robot apart from gravity and ground, in the link's axes about
        its origin.

    """

    motion: RecordedMotion
    in_contact: np.ndarray | Sequence[bool] | None = None
    external: Mapping[str, np.ndarray] | None = None


def walk_of(model: RobotModel, motion: RecordedMotion, with_speed: bool) -> Walk:
    """
    Return a motion as kernels take it, with the base's velocity if contact speeds are asked for.

    Raises
    ------
    MeasurementError
        When a shape does not fit the model, a value is not finite, or time is uneven.

    """
    rows = {'joint positions': (motion.position, model.nq),
            'joint velocities': (motion.velocity, model.nv),
            'joint accelerations': (motion.acceleration, model.nv),
            'base motion': (motion.base_motion, 9),
            'base rotation': (np.reshape(motion.base_rotation, (-1, 9)), 9)}
    T = len(motion.position)
    if not T:
        raise MeasurementError('expected a motion of at least one frame, got none')
    if np.shape(motion.time) != (T,):
        raise MeasurementError(f'time: expected shape ({T},), got {np.shape(motion.time)}')
    if T > 2:
        even_step(np.asarray(motion.time, float))
    found = []
    for what, (values, size) in rows.items():
        array = np.ascontiguousarray(values, dtype=float)
        if array.shape != (T, size):
            raise MeasurementError(f'{what}: expected shape ({T}, {size}), got {array.shape}')
        if not np.isfinite(array).all():
            where = int(np.argmin(np.isfinite(array).all(axis=1)))
            raise MeasurementError(f'{what}: expected finite values, got NaN or infinity in frame '
                                   f'{where}')
        found.append(array)
    return Walk._make([*found, _base_velocity(motion) if with_speed else np.zeros((0, 3))])


def _base_velocity(motion: RecordedMotion) -> np.ndarray:
    if isinstance(motion, GeneralizedMotion):
        return np.ascontiguousarray(motion.base_velocity, dtype=float)
    return np.gradient(np.asarray(motion.base_position, float), motion.step, axis=0)


def standing_of(in_contact: object, T: int, nf: int) -> np.ndarray:
    """
    Return contact flags as a (T, nf) array of 0 and 1.

    Raises
    ------
    MeasurementError
        When they do not fit.

    """
    if in_contact is None:
        return np.ones((T, nf), np.int64)
    flags = np.asarray(in_contact, dtype=bool)
    if flags.shape not in ((nf,), (T, nf)):
        raise MeasurementError(f'expected contact flags of shape ({nf},) or ({T}, {nf}), got '
                               f'{flags.shape}')
    return np.ascontiguousarray(np.broadcast_to(flags, (T, nf)), dtype=np.int64)


def external_of(model: RobotModel, external: Mapping[str, np.ndarray] | None, T: int
                ) -> np.ndarray:
    """
    Return external wrenches by body, (T, nb, 6), or (0, nb, 6) if there are none.

    Raises
    ------
    MeasurementError
        When one does not fit or is not finite.
    UnknownNameError
        When a link is not in the model.

    """
    if not external:
        return np.zeros((0, model.n_bodies, 6))
    wrenches = np.zeros((T, model.n_bodies, 6))
    for link, values in external.items():
        rows = np.asarray(values, dtype=float)
        if rows.shape == (6,):
            wrenches += body_wrenches(model, {link: rows})
            continue
        if rows.shape != (T, 6) or not np.isfinite(rows).all():
            raise MeasurementError(f'expected finite wrenches on link {link!r} of shape (6,) or '
                                   f'({T}, 6), got {rows.shape}')
        body, pose = model.frame(link)
        wrenches[:, body] += rows @ pose.wrench_matrix.T
    return wrenches


def unit_normal(normal: Sequence[float]) -> tuple[float, float, float]:
    """
    Return a normal for kernels.

    Raises
    ------
    MeasurementError
        When it is not a unit vector.

    """
    n = np.asarray(normal, dtype=float)
    if n.shape != (3,) or not abs(np.linalg.norm(n) - 1.0) < 1e-6:
        raise MeasurementError(f'expected a unit ground normal in world axes, got {normal}')
    return float(n[0]), float(n[1]), float(n[2])
