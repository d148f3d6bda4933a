# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the sensors said over time, as it came: before any name, unit or axis is believed."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class JointLog:
    """
    Joint states as the driver sent them.

    Attributes
    ----------
    stamp_ns, receipt_ns : (n,) int array
        The driver's stamps and the recorder's clock.
    names : tuple of str
        As in the messages.
    position, velocity, effort : (n, nj) array
        NaN where a message has none.

    """

    stamp_ns: np.ndarray
    receipt_ns: np.ndarray
    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


@dataclass(frozen=True, eq=False)
class ImuLog:
    """
    IMU readings as the driver sent them.

    Attributes
    ----------
    stamp_ns, receipt_ns : (n,) int array
    gyro, acceleration : (n, 3) array
    orientation : (n, 4) array
        NaN where there is none.
    frame_id : str

    """

    stamp_ns: np.ndarray
    receipt_ns: np.ndarray
    gyro: np.ndarray
    acceleration: np.ndarray
    orientation: np.ndarray
    frame_id: str = ''


@dataclass(frozen=True, eq=False)
class SensorLog:
    """
    A recording of a robot's sensors.

    Attributes
    ----------
    joints : JointLog
    imu : ImuLog or None
    simulated : bool
        Whether stamps are of a simulator's time, which goes as fast as it can.

    """

    joints: JointLog
    imu: ImuLog | None = None
    simulated: bool = False

    @property
    def duration(self) -> float:
        """Time from the first joint state to the last [s], by the recorder's clock."""
        receipt = self.joints.receipt_ns
        return float(receipt[-1] - receipt[0]) * 1e-9 if len(receipt) else 0.0

    def part(self, start: float, stop: float) -> SensorLog:
        """Return what was received from `start` to `stop` [s] after the first joint state."""
        first = int(self.joints.receipt_ns[0])

        def cut(log: JointLog | ImuLog) -> dict[str, object]:
            age = (log.receipt_ns - first) * 1e-9
            inside = (age >= start) & (age < stop)
            return {name: value[inside] if isinstance(value, np.ndarray) else value
                    for name, value in vars(log).items()}
        return SensorLog(JointLog(**cut(self.joints)),          # type: ignore[arg-type]
                         None if self.imu is None else ImuLog(
                             **cut(self.imu)),                  # type: ignore[arg-type]
                         self.simulated)
