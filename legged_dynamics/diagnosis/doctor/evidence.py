# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How well a configuration explains a recording: a log-likelihood of several kinds of evidence.

Each kind is a residual that is zero on a perfect robot, measured in tolerances: what noise and
honest modelling errors of a healthy robot may leave. The scale of a healthy robot's errors is not
known, only its order of magnitude, so blocks of time are taken as multivariate Student-t
distributed about zero with the tolerance as scale (Lange, Little and Taylor 1989): a block with
mean squared residual r^2 in d dimensions counts ``-(d + 4) / 2 log(1 + d r^2 / 4)``. What a
healthy robot leaves costs next to nothing, and no single impact decides.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter1d

from legged_dynamics.diagnosis.doctor.settings import DEVIATIONS, TOLERANCES
from legged_dynamics.diagnosis.identification.equations import Equations, motion_equations
from legged_dynamics.diagnosis.identification.problem import standing_height
from legged_dynamics.diagnosis.identification.samples import Drive, Samples, Signals, observe
from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.model.actuators import FRICTION, LOAD_FRICTION, ActuatorModel
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence of each kind on a configuration."""

    time: np.ndarray  # (nb,) [s]: times of the blocks
    squares: dict[str, np.ndarray]  # (nb,): mean squared residual of each kind, in tolerances
    dimensions: dict[str, float]  # Number of independent residuals of each kind in a block
    # (m,): residuals other than those of torques, in tolerances, scaled so that each block counts
    # by its dimensions
    residual: np.ndarray
    # (m,): weight of each residual in a least-squares step towards the largest likelihood
    weight: np.ndarray
    load: np.ndarray | None     # (n, nf): certainty of contact, where torques tell it
    values: dict[str, np.ndarray]   # (n, k): residuals of each kind, scaled likewise

    @property
    def score(self) -> float:
        """Log-likelihood; zero is perfect."""
        return sum(_score(self.squares[kind], d) for kind, d in self.dimensions.items())

    def repeated(self, other: Evidence) -> float:
        """
        Return what of the log-likelihood beyond another's only repeats itself, as strides do.

        What a kind gains is divided by the noise left at this change's frequencies, over the mean.
        """
        total = 0.0
        for kind in self.squares.keys() & other.squares.keys():
            d, squares, left = self.dimensions[kind], self.squares[kind], self.values[kind]
            noise, size = (np.sum(np.abs(np.fft.rfft(one, 2 * len(one), axis=0)) ** 2, axis=1)
                           for one in (left, left - other.values[kind]))
            over = noise @ size / max(d * len(left) * size.sum(), 1e-30)
            gained = _score(squares, d) - _score(other.squares[kind], d)
            total += max(gained, 0.0) * (1.0 - 1.0 / max(over * _weight(squares.mean(), d), 1.0))
        return float(total)


class Likelihood:
    """Likelihood of configurations of one robot on one recording; `height` [m]."""

    def __init__(self, signals: Signals, model: RobotModel, config: RobotConfig):
        self.signals, self.model = signals, model
        length = max(int(TOLERANCES.block / max(np.median(np.diff(signals.time)), 1e-6)), 1)
        self._length = min(length, len(signals.time))
        self._start = length * np.arange(max(len(signals.time) // length, 1))
        self.height = standing_height(model, config)
        self.weight = model.total_mass * GRAVITY
        samples = observe(signals, model, config)
        self._usual_effort = np.sqrt(np.mean(np.where(samples.has_effort, samples.effort, 0.0)
                                             ** 2, axis=0))

    def evaluate(self, config: RobotConfig, drive: Drive | None = None,
                 load: np.ndarray | None = None) -> Evidence:
        """Return the evidence for a configuration, drives that are not rigid, feet's loads."""
        model = config.apply_to(self.model)
        samples = observe(self.signals, model, config, drive)
        feet = feet_table(model, config.feet)
        eq = motion_equations(model, feet, samples)
        parts: dict[str, tuple[np.ndarray, float]] = {}
        if samples.has_effort.any():
            friction = self._friction(model, config)
            force = self._dynamics(samples, eq, friction, self._effort_tolerance(friction, config),
                                   parts)
            # With fewer equations than unknown forces, how feet move tells which of them stand.
            if load is None and 6 + samples.has_effort.sum() >= eq.grasp.shape[2]:
                share = TOLERANCES.standing_load * self.weight / len(feet.index)
                # The low-pass mixes what a foot does before and after it lands.
                step = float(np.median(np.diff(samples.time)))
                load = minimum_filter1d(np.clip(force / share - 0.5, 0.0, 1.0),
                                        2 * round(TOLERANCES.landing / step) + 1, axis=0)
        self._joints(model, config, samples, parts)
        self._feet(config, samples, eq, load, parts)
        self._imu(samples, parts)
        return self._gather(parts, load)

    def _friction(self, model: RobotModel, config: RobotConfig) -> np.ndarray:
        """Return the dry friction that a joint may have, (nj,) [N m or N]."""
        friction = np.array([joint.friction for joint in model.joints])
        stated = ActuatorModel.of(self.model, config)
        if config.actuators.joint_friction_deviation:
            friction = np.hypot(friction, stated.deviation[FRICTION])
        # What a transmission loses of its load has the sign of the motion, which may be at rest.
        return friction + stated.value[LOAD_FRICTION] * self._usual_effort

    def _effort_tolerance(self, friction: np.ndarray, config: RobotConfig) -> np.ndarray:
        """Return what errors, friction, noise leave of healthy efforts, (nj,) [N m or N]."""
        offset = DEVIATIONS['effort_offset'].healthy * ActuatorModel.of(self.model, config).limit
        share = TOLERANCES.effort * self.weight * self.height / len(config.feet)
        noise = math.hypot(share, config.noise.effort * self.signals.passed)
        return np.sqrt(noise ** 2 + friction ** 2 + offset ** 2)

    # ---- kinds of evidence -----------------------------------------------------------------

    def _dynamics(self, samples: Samples, eq: Equations, friction: np.ndarray,
                  tolerance: np.ndarray, parts: dict[str, tuple[np.ndarray, float]]) -> np.ndarray:
        """Add the residual of the equations of motion; return normal forces (n, nf)."""
        W, h = self.weight, self.height
        known = samples.has_effort
        joint = np.where(known, tolerance, np.inf)
        scale = np.hstack([wrench_tolerance(samples, W, h, 1.0),
                           np.tile(joint, (len(samples.up), 1))])
        y = eq.unexplained(samples) / scale
        M = eq.of_forces / scale[..., None]
        MT = M.transpose(0, 2, 1)
        ridge = (5.0 * W) ** -2 * np.eye(M.shape[2])
        force = np.linalg.solve(MT @ M + ridge, MT @ y[..., None])[..., 0]
        left = y - (M @ force[..., None])[..., 0]
        # Friction of a joint at rest is anything up to its size, the same for as long as it rests.
        rests = friction * (1.0 - np.tanh(samples.velocity / FRICTION_SPEED) ** 2) / joint
        left[:, 6:] = np.sign(left[:, 6:]) * np.maximum(np.abs(left[:, 6:]) - rests, 0.0)
        free = max(6 + int(known.sum()) - M.shape[2], 0)
        if free:
            parts['balance'] = left * np.sqrt(left.shape[1] / free), float(min(free, 6))
        each = eq.by_foot(force)
        normal = np.einsum('nfi,ni->nf', each, samples.up)
        across = np.linalg.norm(each - normal[..., None] * samples.up[:, None], axis=2)
        unsure = np.sqrt(np.mean(friction ** 2)) / h    # of a foot's force, by friction at rest
        pull = np.minimum(normal, 0.0) / np.hypot(TOLERANCES.pull * W, unsure)
        slip = np.maximum(across - TOLERANCES.friction * np.maximum(normal, 0.0), 0.0) / np.hypot(
            TOLERANCES.slip * W, unsure)
        if known.all():
            parts['cone'] = np.hstack([pull, slip]), 2.0
        return normal

    def _joints(self, model: RobotModel, config: RobotConfig, samples: Samples,
                parts: dict[str, tuple[np.ndarray, float]]) -> None:
        """Add velocity against position, and positions outside of their limits."""
        size = np.sqrt(np.mean(samples.rate ** 2, axis=0))
        tolerance = np.hypot(TOLERANCES.rate + 0.3 * config.noise.velocity,
                             TOLERANCES.relative_rate * size)
        parts['velocity'] = ((samples.velocity - samples.rate) / tolerance,
                             0.5 * samples.rate.shape[1])
        low, high = model.position_limits.T
        beyond = np.maximum(low - samples.position, 0.0) + np.maximum(samples.position - high, 0.0)
        parts['limits'] = beyond / TOLERANCES.joint_limit, 2.0

    def _feet(self, config: RobotConfig, samples: Samples, eq: Equations,
              load: np.ndarray | None, parts: dict[str, tuple[np.ndarray, float]]) -> None:
        """Add the motion of loaded feet, and whether the ground is even and below."""
        speed, height = eq.foot_motion(samples)
        size = np.linalg.norm(samples.velocity, axis=1)[:, None] * self.height / 3.0
        if load is None:
            load, spread = self._still(speed, size, height)
        else:
            total = np.maximum(load.sum(axis=1), 1e-6)
            mean = np.einsum('nf,nfi->ni', load, speed) / total[:, None]
            noise = self.signals.passed * math.hypot(config.noise.velocity, config.noise.gyro)
            spread = load[..., None] * (speed - mean[:, None]) / np.hypot(
                math.hypot(TOLERANCES.speed, noise) * self.height,
                TOLERANCES.joint_speed * size)[..., None]
            # The mean is over loaded feet: to call one unloaded explains nothing.
            spread *= np.sqrt(load.shape[1] / np.maximum(
                (load ** 2).sum(axis=1), 1.0))[:, None, None]
        if load.shape[1] > 1:
            parts['stance'] = spread.reshape(len(speed), -1), 6.0
            total = np.maximum(load.sum(axis=1), 1e-6)
            middle = np.einsum('nf,nf->n', load, height) / total
            uneven = load * (height - middle[:, None]) / (TOLERANCES.level * self.height)
            parts['ground'] = uneven, 0.5
        below = (height.mean(axis=1) + self.height) / (TOLERANCES.below * self.height)
        parts['below'] = (np.sign(below) * np.maximum(np.abs(below) - 1.0, 0.0))[:, None], 1.0

    def _still(self, speed: np.ndarray, size: np.ndarray,
               height: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return certainty of contact (n, nf) and residual speed (n, nf, 3) of feet without efforts.

        The ground's speed is that of most feet, two at least; a swing costs the same at any speed.
        """
        scale = TOLERANCES.widening * np.hypot(
            TOLERANCES.speed * self.height, TOLERANCES.joint_speed * size)[..., None]
        apart = np.sum(((speed[:, :, None] - speed[:, None]) / scale[:, None]) ** 2, axis=3)
        agree = np.sum(1.0 / (1.0 + apart), axis=2)
        ground = np.take_along_axis(speed, agree.argmax(axis=1)[:, None, None], axis=1)
        off = (speed - ground) / scale
        square = np.sum(off ** 2, axis=2, keepdims=True)
        off *= np.sqrt(np.minimum(square, TOLERANCES.swing_square) / np.maximum(square, 1e-12))
        lift = height - height.min(axis=1, keepdims=True)
        return (square[..., 0] < 4.0) * np.clip(2.0 - lift / (0.1 * self.height), 0.0, 1.0), off

    def _imu(self, samples: Samples, parts: dict[str, tuple[np.ndarray, float]]) -> None:
        """Add gravity's length, and the orientation against accelerometer and gyro."""
        if not self.signals.has_imu:
            return
        # A robot that stays about where it is accelerates nowhere on the whole.
        mean = np.mean(np.einsum('ni,ni->n', samples.base[:, 6:], samples.up))
        parts['gravity'] = (np.full((len(samples.time), 1), (mean - GRAVITY) / (
            TOLERANCES.gravity * GRAVITY)), 0.5)
        if np.isfinite(samples.up_by_orientation).all(axis=1).mean() < 0.9:
            return
        up = samples.up_by_orientation
        parts['attitude'] = (up - samples.up) / TOLERANCES.attitude, 1.0
        # d(up)/dt in base axes is up x w.
        rate = np.gradient(up, samples.time, axis=0)
        tolerance = np.hypot(
            TOLERANCES.turning, TOLERANCES.relative_rate * np.sqrt(np.mean(rate ** 2)))
        parts['turning'] = (rate - np.cross(up, samples.base[:, :3])) / tolerance, 2.0

    # ---- blocks ----------------------------------------------------------------------------

    def _gather(self, parts: dict[str, tuple[np.ndarray, float]],
                load: np.ndarray | None) -> Evidence:
        squares, scaled, stacked, weights = {}, {}, [], []
        last = len(self._start) * self._length
        for kind, (values, d) in parts.items():
            values = np.nan_to_num(values, nan=1e3, posinf=1e3, neginf=-1e3)
            each = np.mean(values ** 2, axis=1)
            squares[kind] = np.add.reduceat(each[:last], self._start) / self._length
            # One block counts d times, whatever the number of its samples and columns.
            scaled[kind] = values[:last] * np.sqrt(d / values.shape[1] / self._length)
            if kind not in ('balance', 'cone'):     # of torques
                stacked.append(scaled[kind].ravel())
                weights.append(np.repeat(_weight(squares[kind], d),
                                         self._length * values.shape[1]))
        return Evidence(self.signals.time[self._start], squares,
                        {kind: d for kind, (_, d) in parts.items()},
                        np.concatenate(stacked), np.concatenate(weights), load, scaled)


def wrench_tolerance(samples: Samples, weight: float, height: float, hidden: float) -> np.ndarray:
    """Return tolerances (n, 6) [N, N m] of the base's equations, ``hidden`` of what is missed."""
    force = np.hypot(TOLERANCES.force * weight, weight / GRAVITY * hidden * samples.missed)
    moment = np.full(len(force), TOLERANCES.moment * weight * height)
    return np.stack(3 * [force] + 3 * [moment], axis=1)


def block_scores(squares: np.ndarray, period: float, dimensions: float) -> float:
    """Return the log-likelihood of squared residuals (n,) [tolerances], ``period`` [s] apart."""
    length = max(int(TOLERANCES.block / period), 1)
    return _score(squares[:len(squares) // length * length].reshape(-1, length).mean(axis=1),
                  dimensions)


def _score(squares: np.ndarray, dimensions: float) -> float:
    return -0.5 * (TOLERANCES.t_degrees + dimensions) * float(
        np.log1p(dimensions * squares / TOLERANCES.t_degrees).sum())


def _weight(squares: np.ndarray, dimensions: float) -> np.ndarray:
    return (TOLERANCES.t_degrees + dimensions) / (TOLERANCES.t_degrees + dimensions * squares)
