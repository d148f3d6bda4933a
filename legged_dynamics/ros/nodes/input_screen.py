# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plausibility of the inputs of a node that commands: what cannot be true is refused."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.estimation.sensor_stream import Sample, Verdict
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import ImuSample, JointSample
from legged_dynamics.ros.nodes.robot_component import SteadyClock
from legged_dynamics.safety import EffortGuard
from legged_dynamics.safety.effort_guard import GuardState
from legged_dynamics.safety.imu_watch import ImuWatch
from legged_dynamics.safety.joint_watch import EffortWatch, disagreement, first_state
from legged_dynamics.safety.sample_age import EffortEcho, StampClock
from legged_dynamics.safety.stance_watch import StanceWatch


class InputScreen:
    """
    Judges joint states and IMU readings, and reports to the guard.

    `stance`: which feet stand by the contact detector, or None.
    """

    def __init__(self, clock: SteadyClock):
        self._steady, self._wall = clock, clock.wall
        self._clock, self._imu_clock = StampClock(), StampClock()
        self._guard: EffortGuard | None = None
        self._names: list[str] = []
        self._disagreement = ''
        self.stance: Sequence[bool] | None = None

    def build(self, model: RobotModel, order: np.ndarray, guard: EffortGuard, imu: str,
              frozen: float, feet: Sequence[str] = (), turn: float = 0.0) -> None:
        """
        Judge the sensors of a robot from now on.

        ``order``: model indices of commanded joints; ``imu``: link of the IMU; ``frozen`` [s]
        and ``turn`` [rad/s] as `safety.frozen` and `safety.stance_turn`.
        """
        self._model, self._order = model, order
        self._imu, self._imu_link, mount = ImuWatch(frozen), imu, model.frame(imu)
        self._imu_moves = mount.body > 0
        self._R_BI = None if self._imu_moves else mount.pose.R      # None: not known yet
        # What legs say of the base says nothing of an IMU that moves against it.
        self._feet = StanceWatch(model, feet, 0.0 if self._imu_moves else turn, self._R_BI)
        self._feet.joints(0, np.zeros(model.nq), [True] * len(feet))    # compiled now
        self._efforts = EffortWatch(model, order)
        self.echo = EffortEcho(model.effort_limits[order])
        self._names, self._guard = [], guard
        self.reset()

    def reset(self) -> None:
        """Drop all that is known of earlier samples."""
        self._clock.reset()
        self._imu_clock.reset()
        self._jumps = self._imu_jumps = 0
        self._clock.jumps = self._imu_clock.jumps = 0
        self.stance = None
        if self._guard is not None:
            self._imu.reset()
            self._feet.reset()
            self._efforts.reset()
            self.echo.reset()

    def commanded(self, effort: np.ndarray) -> None:
        """Store the commanded efforts (command order), to compare measured ones with."""
        self._efforts.commanded(effort)
        self.echo.commanded(self._steady(), effort)

    def age(self, stamp_ns: int) -> int:
        """Return the age of joint states [ns], with what their stamps hide."""
        return self._clock.age(self._steady(), stamp_ns) + self.echo.late_ns

    def check(self, sample: Sample) -> Verdict:
        """Judge a sample and report to the guard; implausible efforts become NaN."""
        if self._guard is None:
            return Verdict()
        if isinstance(sample, JointSample):
            fault = self._joints(sample)
            if not fault:
                if self._imu_moves:
                    poses = frame_poses(self._model, sample.position, (self._imu_link,))
                    self._R_BI = poses[self._imu_link].R
                self._feet.joints(sample.stamp_ns, sample.position, self.stance)
            return Verdict(not fault, fault or self._efforts.check(sample.stamp_ns, sample.effort)
                           or self.echo.note or self._feet.foot_note)
        fault = self._imu_reading(sample) if isinstance(sample, ImuSample) else ''
        return Verdict(not fault, fault)

    def _joints(self, sample: JointSample) -> str:
        """Return why a joint state is not to be used, or an empty string."""
        guard = self._guard
        assert guard is not None
        self._steady.heard(sample.stamp_ns)
        now = self._steady()
        fault = self._clock.check(now, self._wall(), sample.stamp_ns)
        if fault:
            guard.doubt(fault)
            return fault
        if self._clock.jumps != self._jumps:
            self._jumps = self._clock.jumps
            guard.restamp()
        position, velocity = sample.position[self._order], sample.velocity[self._order]
        if guard.state is GuardState.ARMED:
            fault = self._agree(sample.names) or first_state(guard.joints, guard.table, position,
                                                      velocity)
            if fault:
                guard.doubt(fault)
                return fault
        age = self._clock.age(now, sample.stamp_ns)
        if sample.effort is not None:
            self.echo.measured(now - age, sample.effort[self._order])
        return guard.sample(now, sample.stamp_ns, position, velocity, age + self.echo.late_ns)

    def unreadable_joints(self, why: str) -> None:
        """Report a joint state that could not be read to the guard."""
        if self._guard is not None:
            self._guard.doubt(why.removeprefix('joint_states: '))

    def _imu_reading(self, sample: ImuSample) -> str:
        """Return why an IMU reading is not to be used, or an empty string."""
        guard = self._guard
        assert guard is not None
        self._steady.heard(sample.stamp_ns)
        fault = self._imu_clock.check(self._steady(), self._wall(), sample.stamp_ns)
        if fault:
            return fault
        if self._imu_clock.jumps != self._imu_jumps:
            self._imu_jumps = self._imu_clock.jumps
            self._imu.restamp()
        fault = self._imu.check(sample.stamp_ns, sample.angular_velocity,
                                sample.linear_acceleration, sample.orientation)
        if not fault and self._imu.up is not None and self._R_BI is not None:
            guard.tilted(math.acos(max(-1.0, min(1.0, float(self._R_BI[2] @ self._imu.up)))))
        if fault:
            return fault
        self._feet.imu(sample.stamp_ns, sample.angular_velocity, sample.orientation)
        return self._feet.gyro_fault

    def _agree(self, names: Sequence[str]) -> str:
        if list(names) != self._names:
            self._names = list(names)
            self._disagreement = disagreement(self._model, self._names)
        return self._disagreement
