# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The sums of the recursive least squares, and the blocks of measurements they are made of."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_FOOT_STATE, FeetTable
from legged_dynamics.dynamics.kinematics import body_workspace
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.actuators.equations import (
    CONSTANT,
    LAG,
    N_LOCAL,
    Learning,
    regress_block,
)
from legged_dynamics.estimation.actuators.parameters import Parameters, Prior
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.estimation.settings import EstimatorSettings
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.actuators import ARMATURE
from legged_dynamics.model.parts import Tree
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.factorizations import (
    factorize_upper,
    invert_upper,
    solve_upper,
)
from legged_dynamics.spatial.packed import pack


class Rows(NamedTuple):
    """Rows of measurements that a regression is given."""

    rate: float                 # Hz
    columns: Sequence[int]      # where position, velocity, effort, gyro and accelerometer begin
    size: int


class Regression:
    """Blocks of measurements in, sums of a recursive least squares out (`x`)."""

    def __init__(self, model: RobotModel, config: RobotConfig, rows: Rows, parameters: Parameters,
                 prior: Prior, lowest: float, settings: LearnerSettings):
        self._settings, rate, self.drift = settings, rows.rate, GainDrift(settings)
        self.block = max(round(settings.block_time * rate), 2)     # samples
        self.x = self._arrays(model, config, rows, parameters, prior)
        self._packed, self.rows, self._size = pack(self.x), self.x.rows, len(self.x.rows)
        self._period, self._first, self._first_ns, self._last_ns = 1.0 / rate, 0, 0, 0
        self._filled = self._skip = 0
        self._blocks, self._span, self._swung = 0, 0.0, 0.0     # since the last estimate
        self.seconds = 0.0          # that was learned from
        self._up = np.array([0.0, 0.0, 1.0])
        regress_block(self._packed, self._up)       # compiled now, not when the robot walks
        invert_upper(factorized(np.eye(1), np.ones(1)))
        solved(np.eye(1), np.ones(1))
        self.x.lag[:] = 0.0
        self.x.constants[CONSTANT.lowest] = lowest      # m, of the base over the feet

    def _arrays(self, model: RobotModel, config: RobotConfig, rows: Rows, parameters: Parameters,
                prior: Prior) -> Learning:
        settings, stated, block = self._settings, prior.stated, self.block
        leg_length = prior.leg_length
        rate, table = rows.rate, parameters.table
        nj, nf, n = model.n_joints, len(config.feet), len(parameters.names)
        weight = model.total_mass * GRAVITY
        joints = np.zeros((nf, nj + 1), np.int64)
        for i, own in enumerate(parameters.legs):
            joints[i, 0], joints[i, 1:1 + len(own)] = len(own), own
        mount = model.frame(config.imu_link_in(model))
        constants = np.zeros(CONSTANT.size)
        for name, at in CONSTANT._asdict().items():
            if hasattr(settings, name):
                constants[at] = getattr(settings, name)
        constants[[CONSTANT.weight, CONSTANT.leg_length, CONSTANT.mass, CONSTANT.period,
                   CONSTANT.has_imu, CONSTANT.lowest, CONSTANT.corrected]] = (
            weight, leg_length, model.total_mass, 1.0 / rate, float(mount.body == 0), np.inf, 1.0)
        constants[[CONSTANT.force_prior, CONSTANT.moment_arm]] = (
            EstimatorSettings.prior_force, EstimatorSettings.prior_length)
        bare = model.tree.constants.copy()
        bare[:, [layout.ARMATURE, layout.DAMPING, layout.FRICTION]] = 0.0
        effort = config.noise.of_joints('effort', model, config.joints)
        velocity = config.noise.of_joints('velocity', model, config.joints)
        span = block / rate
        noise = (effort ** 2 / block + 2.0 * (velocity / span * stated.unknown[ARMATURE]) ** 2
                 + (settings.torque_model_error * stated.limit) ** 2)
        base = settings.first_base_residual * weight
        spread = np.concatenate([[base ** 2] * 3, [(base * leg_length) ** 2] * 3,
                                 (settings.first_residual * stated.limit) ** 2])
        return Learning(
            # Writable like those of the tick: its parts are then compiled for both at once.
            tree=Tree(model.tree.topology.copy(), bare),
            feet=FeetTable(table.index.copy(), table.geometry.copy()), joints=joints,
            place=parameters.place, at=np.array(rows.columns, np.int64), constants=constants,
            mount=np.concatenate([mount.pose.R.ravel(), mount.pose.p]), noise=noise,
            uncertain=noise.copy(), slip_noise=(velocity / FRICTION_SPEED) ** 2 / block,
            dry=np.zeros(nj), rows=np.zeros((3 * block + 1, rows.size)),
            bodies=body_workspace(model), states=np.zeros((nf, N_FOOT_STATE)),
            jacobian=np.zeros((table.size, nj)), grasp=np.zeros((6, table.size)),
            joint=np.zeros((nj, N_LOCAL + 1)), motion=np.zeros((5, nj)), base=np.zeros(9),
            force=np.zeros(6), swings=np.zeros(nf), block=np.zeros((6, 6)),
            variance=np.zeros((6, 6)), regressors=np.zeros((6, n + 2)), spread=spread,
            information=np.zeros((n, n)), right=np.zeros(n), lag=np.zeros(LAG.size),
            noisy=np.zeros(1), theta=prior.mean.copy(), used=prior.mean.copy(),
            misfit=np.zeros(nj), counts=np.zeros(4), heard=np.zeros(nj))

    @property
    def complete(self) -> bool:
        """Whether a block is complete."""
        return self._filled == self._size

    @property
    def swung(self) -> float:
        """Blocks with swinging legs so far."""
        return float(self.x.counts[1])

    def take(self, row: np.ndarray, stamp_ns: int) -> bool:
        """Take a row of measurements in; return whether a block is complete."""
        if self._skip > 0:
            self._skip -= 1
            return False
        filled = self._filled
        if filled == self._size:    # the last block was not learned from
            filled = 0
        self.rows[filled] = row
        if not filled:
            self._first, self._first_ns = 0, stamp_ns
        self._last_ns = stamp_ns
        self._filled = filled + 1
        return filled + 1 == self._size

    def restart(self) -> None:
        """Start a new block: the next row does not follow the last one."""
        self._filled = self._skip = 0

    def add_block(self, up: Sequence[float] | np.ndarray) -> bool:
        """Learn from the block that is complete; return False if samples were lost within."""
        x = self.x
        period = (self._last_ns - self._first_ns) * 1e-9 / (self._filled - 1 - self._first)
        self._filled = 0
        if not 0.5 < period / self._period < 2.0:
            return False
        x.constants[CONSTANT.period] = period
        self._up[:] = up
        regress_block(self._packed, self._up)
        self._filled = 2 * self.block + 1
        self._first, self._first_ns = self._filled - 1, self._last_ns
        self._blocks += 1
        span = self.block * period
        self.seconds += span * (1.0 + float(x.constants[CONSTANT.skipped]))
        if self.seconds > self._settings.settling_time:     # neighbours say nearly the same
            x.constants[CONSTANT.skipped] = skipped = self._settings.skipped_blocks
            self._filled, self._skip = 0, (skipped - 2) * self.block - 1
        self._span = span * (1.0 + x.constants[CONSTANT.skipped])
        return True

    def is_due(self) -> bool:
        """Return whether there are enough new blocks for an estimate."""
        settings, since = self._settings, self._blocks * self._span
        interval = settings.interval * (1.0 + self.x.constants[CONSTANT.skipped])
        before, self._swung = self._swung, self.swung
        return before < self._swung < settings.first_blocks or since >= interval

    def forget(self) -> tuple[float, int]:
        """Let old blocks count less; return the share that stays, and how many blocks are new."""
        x, new = self.x, self._blocks
        keep = math.exp(-new * self._span / self._settings.memory_time)
        for sums in (x.information, x.right, x.noisy, x.lag):
            sums *= keep
        self._blocks = 0
        self.drift.update(x.counts[2:])
        x.constants[CONSTANT.corrected] = 1.0 / (1.0 + self.drift.change)
        return keep, new

    def clear(self) -> None:
        """Forget all blocks."""
        for sums in (self.x.information, self.x.right, self.x.noisy, self.x.lag):
            sums[...] = 0.0


def factorized(information: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a matrix given by its upper triangle, with more diagonal."""
    largest = float(np.abs(information).max())
    # Rounding may take the least of it away; joints that never moved leave none at all.
    for share in (0.0, 1e-6, 1e-4, 1e-2, 1.0):
        factor = information.copy()
        factor.flat[::len(factor) + 1] += more + share * (largest or 1.0)
        if factorize_upper(factor):
            return factor
    raise MeasurementError('expected finite sums of what is learned of actuators, got '
                           f'{np.count_nonzero(~np.isfinite(information))} that are not')


def solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve by a factor, in place."""
    solve_upper(factor, right)
    return right


def variances(factor: np.ndarray, which: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return elements of the diagonal of the inverse of a factorized matrix."""
    units = np.zeros((len(which), len(factor)))
    units[np.arange(len(which)), which] = 1.0
    return np.array([solved(factor, unit)[i] for i, unit in zip(which, units)])


class VelocityDelay:
    """Delay [s] that velocities are to be corrected by, and their noise once they are late."""

    def __init__(self, stated: float, rate: float, settings: LearnerSettings):
        self.late = self._stated = stated
        self.least = settings.velocity_delay / rate
        self.deviation = self.noise = self._count = 0.0
        self._settings, self._period, self._most = settings, 1.0 / rate, math.inf

    def count(self, keep: float, new: int) -> None:
        """Count what the sums rest on: the share of the old that stays, and what is new."""
        self._count = keep * (self._count + new)

    def update(self, sums: np.ndarray) -> bool:
        """Find the delay by the sums of `equations.LAG`; return whether its correction changes."""
        settings = self._settings
        error, motion, noise = sums[[LAG.error, LAG.motion, LAG.noise]]
        if not motion > 0.0:
            return False
        late = float(error / motion)
        if self.late or late > self.least:
            self.noise = settings.velocity_noise_factor * math.sqrt(noise / self._count)
        # Four blocks count as one.
        self.deviation = math.sqrt(4.0 * noise / (self._count * motion))
        # Of slow motion the ratio is of small numbers: it counts once known to half a sample.
        # Noise that a correction amplifies passes for a delay: the next is half of it at most.
        if not max(self.least, settings.rejection * self.deviation) <= abs(late) <= self._most or (
                self.deviation > 0.5 * self._period):
            return False
        self._most = 0.5 * abs(late)
        self.late = max(self.late + late, 0.0)
        if self.late < self.least and not self._stated:
            self.late, self.noise, self._most = 0.0, 0.0, math.inf
        self._count = 0.0
        return True


class GainDrift:
    """
    What all gains have changed by alike since a robot walks, as a share, and one deviation.

    Of what lasts (a load, gains that were off before) with a walk, by its odds to that alone.
    """

    def __init__(self, settings: LearnerSettings):
        self.change = self.doubt = 0.0
        self._settings, self._odds = settings, -settings.stated_odds
        # What lasts, what has walked, and their variances a, b (of both) and c.
        self._filters = [[0.0, 0.0, settings.load_mass ** 2, 0.0, 0.0] for _ in range(2)]

    def update(self, sums: np.ndarray) -> None:
        """Take the last sums of `Learning.counts` in once they are of enough blocks."""
        settings, (lacks, bears), worse = self._settings, sums.tolist(), 0.0
        time, most = bears * settings.block_time, settings.load_rejection ** 2
        if time < 0.5 * settings.interval:
            return
        sums[:] = 0.0
        # Of torques as read, for they were corrected by the change so far.
        read, noise = (1.0 - lacks / bears) * (1.0 + self.change) - 1.0, settings.scale_noise ** 2
        for walk, state in zip((0.0, settings.gain_walk), self._filters):
            lasts, walked, a, b, c = state
            c += walk * walk * time
            off, variance = read - lasts - walked, a + 2.0 * b + c + noise / time
            worse = 0.5 * (min(off * off / variance, most) + math.log(variance)) - worse
            if off * off > most * variance:     # what jumps is a load
                a, variance = a + settings.load_mass ** 2, variance + settings.load_mass ** 2
            u, v = (a + b) / variance, (b + c) / variance
            state[:] = (lasts + u * off, walked + v * off, a - u * u * variance,
                        b - u * v * variance, c - v * v * variance)
        if self._odds < settings.gain_odds:     # what is believed once is followed from then on
            self._odds = min(max(self._odds - worse, -settings.stated_odds), settings.gain_odds)
        likely = 1.0 / (1.0 + math.exp(-self._odds))
        self.change = likely * min(max(state[1], -0.5), 0.5)
        self.doubt = math.sqrt(likely * state[4] + (1.0 / likely - 1.0) * self.change ** 2)
