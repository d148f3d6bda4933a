# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A run with its truth: kept as .npz, read with or without the noise of sensors."""
from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.estimation import Measurement
from legged_dynamics.model import RobotConfig, RobotModel

CUTOFF = 25.0    # Hz, of the zero-phase filter that forces are compared through
FLAG = 1e-3      # of the weight: a foot that bears less has no contact


@dataclass(frozen=True)
class Recording:
    """
    What was true at every sample. World W has z up, B is the base link.

    Attributes
    ----------
    name, robot : str
    rate : float [Hz]
    urdf : str
        What the estimator is given; may be wrong on purpose.
    parameters : dict
        The robot's YAML, dotted.
    joints, feet : tuple of str
        Joints in the order of `RobotModel.joint_names`.
    weight : float
        Of the robot as described, without payload [N].
    scored : (float, float)
        From when to when estimates are scored [s]: while the robot does what it is about.
    stamp_ns : (n,) array of int
    q, v, qdd, tau : (n, nj) array
        `tau` is what the motors deliver.
    gyro, accelerometer, slow_accelerometer : (n, 3) array
        In the IMU's axes; the last with 150 Hz bandwidth.
    imu_rotation : (n, 3, 3) array
        R_WI.
    base_position, base_rotation : (n, 3), (n, 3, 3) array
        p_WB, R_WB.
    base_twist, base_acceleration : (n, 6) array
        [linear; angular] of the base's origin, in B; the acceleration is the world's, gravity not
        included.
    wrench : (n, nf, 6) array
        By the ground on each foot, in W, about the contact point [N, N m].
    contact_point, ground_normal : (n, nf, 3) array
        In W; without contact the bottom of the foot.
    normal_force : (n, nf) array
    foot_position, foot_rotation : (n, nf, 3), (n, nf, 3, 3) array
        Of the feet's link frames, in W.
    external_wrench : (n, 6) array
        Known pushes, in B about B's origin.
    smooth_force_B : (n, nf, 3) array, optional
        Forces of the ground in B through a zero-phase 25 Hz filter at the rate of the physics,
        then sampled: the blow of a landing is shorter than a sample, and forces that are sampled
        first are off by as much as the estimates.

    """

    name: str
    robot: str
    rate: float
    urdf: str
    parameters: dict[str, Any]
    joints: tuple[str, ...]
    feet: tuple[str, ...]
    weight: float
    scored: tuple[float, float]
    stamp_ns: np.ndarray
    q: np.ndarray
    v: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    gyro: np.ndarray
    accelerometer: np.ndarray
    slow_accelerometer: np.ndarray
    imu_rotation: np.ndarray
    base_position: np.ndarray
    base_rotation: np.ndarray
    base_twist: np.ndarray
    base_acceleration: np.ndarray
    wrench: np.ndarray
    contact_point: np.ndarray
    ground_normal: np.ndarray
    normal_force: np.ndarray
    foot_position: np.ndarray
    foot_rotation: np.ndarray
    external_wrench: np.ndarray
    smooth_force_B: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.stamp_ns)

    @property
    def config(self) -> RobotConfig:
        """Return the configuration."""
        return RobotConfig.from_parameters(self.parameters)

    @property
    def model(self) -> RobotModel:
        """Return the model that the estimator is given, without joint physics applied."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return RobotModel.from_urdf(self.urdf)

    @cached_property
    def force_B(self) -> np.ndarray:
        """Return the (n, nf, 3) forces of the ground in base axes [N]."""
        return np.einsum('nji,nfj->nfi', self.base_rotation, self.wrench[:, :, :3])

    @cached_property
    def contact(self) -> np.ndarray:
        """Return the (n, nf) true contact flags."""
        return self.normal_force > FLAG * self.weight

    @property
    def seed(self) -> int:
        """Return the seed of this recording's noise."""
        return zlib.crc32(self.name.encode())

    def save(self, path: str | Path) -> None:
        """Write to an .npz file."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        arrays = {f.name: getattr(self, f.name) for f in fields(self)
                  if isinstance(getattr(self, f.name), np.ndarray)}
        head = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in arrays}
        np.savez_compressed(path, head=np.array(json.dumps(head)), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read from an .npz file."""
        with np.load(path) as stored:
            values: dict[str, Any] = {key: stored[key] for key in stored.files if key != 'head'}
            values.update(json.loads(str(stored['head'])))
        for name in ('joints', 'feet', 'scored'):
            values[name] = tuple(values[name])
        return cls(**values)

    def measurements(self, noise: bool = True, effort: bool = True, imu: bool = True,
                     slow_accelerometer: bool = False, seed: int | None = None
                     ) -> Iterator[Measurement]:
        """
        Yield what the sensors say.

        Parameters
        ----------
        noise : bool
            With the noise of the field: position 3e-4 rad, velocity 0.03 rad/s, torque 1 % of the
            limit white, 2 % gain and 0.3 % of the limit offset a joint, gyro 0.005 and bias 0.003
            rad/s, accelerometer 0.05 and bias 0.05 m/s^2, tilt 0.003 and constant 0.005 rad.
        effort, imu : bool
            Whether there are torques, an IMU.
        slow_accelerometer : bool
            With the accelerometer of 150 Hz bandwidth.
        seed : int, optional
            Of the noise; if not given, one that goes with the recording's name.

        """
        rng = np.random.default_rng(self.seed if seed is None else seed)
        n, nj = self.q.shape
        on = float(noise)
        limit = self.model.effort_limits
        limit = np.where(np.isfinite(limit), limit, np.abs(self.tau).max())

        def white(scale, columns):
            return on * scale * rng.standard_normal((n, columns))
        q = self.q + white(3e-4, nj)
        v = self.v + white(0.03, nj)
        tau = (self.tau * (1.0 + on * 0.02 * rng.standard_normal(nj)) + white(0.01 * limit, nj)
               + on * 0.003 * limit * rng.standard_normal(nj))
        gyro = self.gyro + white(0.005, 3) + on * 0.003 * rng.standard_normal(3)
        accelerometer = (self.slow_accelerometer if slow_accelerometer else self.accelerometer)
        accelerometer = accelerometer + white(0.05, 3) + on * 0.05 * rng.standard_normal(3)
        tilt = white(0.003, 3) + on * 0.005 * rng.standard_normal(3)
        yield from self.samples(q, v, tau if effort else None,
                                (gyro, accelerometer, tilt) if imu else None)

    def samples(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None,
                imu: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> Iterator[Measurement]:
        """Yield what sensors read; the IMU: gyro, accelerometer and the error of its tilt."""
        gyro = accelerometer = xyzw = None
        if imu is not None:
            gyro, accelerometer, tilt = imu
            xyzw = (Rotation.from_rotvec(tilt)
                    * Rotation.from_matrix(self.imu_rotation)).as_quat()
        for k, stamp in enumerate(self.stamp_ns):
            yield Measurement(int(stamp), q[k], v[k], *(
                None if signal is None else signal[k]
                for signal in (tau, gyro, accelerometer, xyzw)))
