# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Errors of torques and masses that explain where the equations of motion contradict each other.

With the forces ``w`` of the feet in contact unknown, base and joints of a sample are
``y = G w - Phi theta + noise``: ``y`` is the wrench that the motion requires, and the required
less the measured torques; ``G`` stacks grasp matrix and transposed contact Jacobian. Rows that no
force can explain (the left null space of the whitened ``G``) are linear in ``theta`` alone: gain,
offset, dry and viscous friction of each joint, a gain and a delay that all torques share, mass and
centre of mass of the base. With normal priors that is ridge regression. Residuals are not white:
dry friction holds its value while a joint rests. In each eigendirection of the normal equations,
the information is therefore divided by the variance that the scores of whole seconds have beyond
that of white residuals (a cluster-robust covariance; Liang and Zeger, 1986).
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.diagnosis.identification.equations import Equations, motion_equations
from legged_dynamics.diagnosis.identification.samples import Samples
from legged_dynamics.dynamics.jacobians import START, feet_table
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Parameters of each joint, then those of the whole robot.
OF_JOINT = ('offset', 'gain', 'dry friction', 'viscous friction')
OF_ROBOT = ('common gain', 'delay', 'mass', 'centre x', 'centre y', 'centre z')
FIXED = 1e6             # information on what stands still, in deviations of its prior


@dataclass(frozen=True)
class PriorSettings:
    """What torques and masses are off by on robots, one deviation each."""

    gain: float = 0.05    # of one joint
    common_gain: float = 0.05    # that all joints share
    offset: float = 0.02    # of the joint's effort limit
    friction: float = 0.02    # of the limit: dry beyond the stated, and viscous at 5 rad/s
    delay: float = 0.0015    # s, of torques
    mass: float = 0.04    # of the mass
    center: float = 0.01    # m, of the base's centre of mass


PRIOR = PriorSettings()


@dataclass(frozen=True)
class RegressionSettings:
    """Regression of torque errors."""

    # s: samples so near to a change of contact are left out, as far as enough remain: the filter
    # mixes both sides, and feet that land shake the legs
    near_change: tuple[float, ...] = (0.12, 0.05)
    enough: int = 150    # samples: with fewer, those nearer to changes count, too
    creep: float = 0.05    # rad/s, at which dry friction has most of its size
    block: float = 3.0    # s, over which residuals may be correlated
    passes: int = 4    # of weights and fit
    fewest: int = 30    # samples, below which nothing can be said


REGRESSION = RegressionSettings()


@dataclass(frozen=True, eq=False)
class TorqueErrors:
    """Errors of torques and masses, with their covariance."""

    joints: tuple[str, ...]  # Joints with measured torque, in the model's order
    # (p,): `OF_JOINT` of the first joint, of the second, ..., then `OF_ROBOT`: measured less true
    # torque [N m, 1, N m, N m s/rad], delay [s]; true less stated mass [kg] and centre [m]
    value: np.ndarray
    covariance: np.ndarray  # (p, p): of `value`
    prior: np.ndarray  # (p,): one deviation before the recording
    misfit: float  # rms of the whitened residual left, 1 where the stated noise explains it
    samples: int  # Number of samples used

    @property
    def deviation(self) -> np.ndarray:
        """One deviation of each value."""
        return np.sqrt(np.diagonal(self.covariance).clip(0.0))

    def of_joint(self, name: str, what: str) -> tuple[float, float]:
        """Return value and deviation of a joint's parameter; gains include the common one."""
        pick = np.zeros(len(self.value))
        pick[self.joints.index(name) * len(OF_JOINT) + OF_JOINT.index(what)] = 1.0
        if what == 'gain':
            pick[len(self.joints) * len(OF_JOINT) + OF_ROBOT.index('common gain')] = 1.0
        return float(pick @ self.value), float(np.sqrt(pick @ self.covariance @ pick))

    def of_robot(self, what: str) -> tuple[float, float]:
        """Return value and deviation of a parameter of the whole robot."""
        i = len(self.joints) * len(OF_JOINT) + OF_ROBOT.index(what)
        return float(self.value[i]), float(self.deviation[i])

    def draws(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return random parameters (count, p) from N(`value`, `covariance`)."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(values.clip(0.0))
        return self.value + rng.normal(size=(count, len(self.value))) @ root.T


class TorqueErrorProblem:
    """
    The regression of torque errors on one recording.

    `joints` have measured torque; ``samples`` are filtered, base axes; ``contact`` (n, nf).
    """

    def __init__(self, model: RobotModel, config: RobotConfig, samples: Samples,
                 contact: np.ndarray):
        self._model, self._samples, self._contact = model, samples, contact
        self._measured = np.flatnonzero(samples.has_effort)
        if not len(self._measured):
            raise MeasurementError('expected joint efforts, got none: without torque there is '
                                   'nothing to compare the base with')
        self.joints = tuple(model.joint_names[i] for i in self._measured)
        self.weight = model.total_mass * GRAVITY
        table = feet_table(model, config.feet)
        self.equations: Equations = motion_equations(model, table, samples)
        noise = config.noise
        effort = noise.of_joints('effort', model, config.joints)[self._measured]
        force = np.hypot(max(noise.mass, 0.005) * self.weight,
                         noise.accelerometer_bias * model.total_mass)
        moment = self.weight * max(noise.center_of_mass, 0.002)
        self._sigma = np.concatenate([[force] * 3, [moment] * 3, np.maximum(effort, 1e-3)])
        self._gain = noise.effort_gain
        self._foot_of, self._first = table.rows.foot, table.index[:, START]   # of columns
        self._phi = self._regressors()
        limit = model.effort_limits[self._measured]
        largest = np.abs(samples.effort[:, self._measured]).max(axis=0)
        self._limit = np.where(np.isfinite(limit) & (limit > 0.0), limit, np.maximum(largest, 1.0))

    @property
    def prior(self) -> np.ndarray:
        """(p,) deviations before the recording, in the order of `TorqueErrors.value`."""
        p = PRIOR
        joints = np.stack([p.offset * self._limit, np.full(len(self._limit), p.gain),
                           p.friction * self._limit, p.friction * self._limit / 5.0], axis=1)
        return np.concatenate([joints.ravel(), [
            p.common_gain, p.delay, p.mass * self._model.total_mass, *[p.center] * 3]])

    def _regressors(self) -> np.ndarray:
        """Return Phi (n, 6 + nj, p): errors of torques, and less those of the base's wrench."""
        s, index = self._samples, self._measured
        n, nj = len(s.time), len(index)
        tau, v = s.effort[:, index], s.velocity[:, index]
        rate = np.gradient(tau, s.time, axis=0)
        phi = np.zeros((n, 6 + nj, nj * len(OF_JOINT) + len(OF_ROBOT)))
        for j in range(nj):
            at = j * len(OF_JOINT)
            phi[:, 6 + j, at:at + 4] = np.stack(
                [np.ones(n), tau[:, j], np.tanh(v[:, j] / REGRESSION.creep), v[:, j]], axis=1)
        at = nj * len(OF_JOINT)
        phi[:, 6:, at] = tau
        phi[:, 6:, at + 1] = -rate
        w, alpha, a = s.base[:, :3], s.base[:, 3:6], s.base[:, 6:]
        body = self._model.body_inertia(0)
        mass, center = float(body.mass), np.asarray(body.com, float)
        proper = a + np.cross(alpha, center) + np.cross(w, np.cross(w, center))
        phi[:, :3, at + 2], phi[:, 3:6, at + 2] = proper, np.cross(center, proper)
        for k, shift in enumerate(np.eye(3)):
            moved = np.cross(alpha, shift) + np.cross(w, np.cross(w, shift))
            phi[:, :3, at + 3 + k] = mass * moved
            phi[:, 3:6, at + 3 + k] = mass * (np.cross(shift, proper) + np.cross(center, moved))
        return phi

    def usable(self) -> np.ndarray:
        """Return which samples are far from changes of contact, (n,) bool."""
        for near in REGRESSION.near_change:
            far = self._far(self._contact, near)
            if far.sum() >= REGRESSION.enough:
                return far
        return np.ones(len(far), bool)

    def in_the_air(self, foot: int, near: float) -> np.ndarray:
        """Return when a foot is lifted, so far from its own changes [s], (n,) bool."""
        own = self._contact[:, [foot]]
        return ~own[:, 0] & self._far(own, near)

    def _far(self, contact: np.ndarray, near: float) -> np.ndarray:
        time, far = self._samples.time, np.ones(len(contact), bool)
        for change in time[np.flatnonzero(np.diff(contact, axis=0).any(axis=1))]:
            far &= np.abs(time - change) > near
        return far

    def stacked(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """
        Return y, G, phi and sigma of sample k: ``y = G w - phi theta``.

        ``y`` (6 + nj,): required wrench, and required less measured torque; ``sigma``:
        deviations.
        """
        eq, s, index = self.equations, self._samples, self._measured
        columns = self._contact[k][self._foot_of]
        y = np.concatenate([eq.wrench[k], eq.effort[k, index] - s.effort[k, index]])
        G = np.vstack([eq.grasp[k][:, columns], eq.jacobian[k][columns][:, index].T])
        sigma = self._sigma.copy()
        sigma[6:] = np.hypot(sigma[6:], self._gain * np.abs(s.effort[k, index]))
        return y, G, self._phi[k], sigma

    def solve(self, known: Sequence[tuple[np.ndarray, float, float]] = ()) -> TorqueErrors:
        """Return the errors that explain the recording best, with covariance."""
        used = np.flatnonzero(self.usable())
        if len(used) < REGRESSION.fewest:
            raise MeasurementError(f'expected at least {REGRESSION.fewest} samples, got '
                                   f'{len(used)}; record longer')
        prior = self.prior
        rows, block = [], np.floor(self._samples.time[used] / REGRESSION.block).astype(int)
        for k in used:
            y, G, phi, sigma = self.stacked(int(k))
            y, G, phi = y / sigma, G / sigma[:, None], phi / sigma[:, None]
            q = np.linalg.qr(G)[0]
            # in deviations of the priors
            rows.append((y - q @ (q.T @ y), -(phi - q @ (q.T @ phi)) * prior, len(y) - G.shape[1]))
        gathered = sum(seen.T @ left for left, seen, _ in rows)
        # Less mass and less torque would shrink all residuals: the mass stands still here.
        common, mass = (len(self.joints) * len(OF_JOINT) + OF_ROBOT.index(name)
                        for name in ('common gain', 'mass'))
        extra = np.eye(len(prior))
        extra[mass, mass] = FIXED
        values, vectors = np.linalg.eigh(sum(seen.T @ seen for _, seen, _ in rows))
        dispersion, theta, misfit = np.ones(len(prior)), np.zeros(len(prior)), 1.0
        for _ in range(REGRESSION.passes):
            weighted = vectors * dispersion ** -1.0
            covariance = np.linalg.inv(extra + (weighted * values) @ vectors.T)
            theta = covariance @ (weighted @ (vectors.T @ gathered))
            residual = [left - seen @ theta for left, seen, _ in rows]
            misfit = float(np.sqrt(sum((r ** 2).sum() for r in residual)
                                   / max(sum(count for *_, count in rows) - len(prior), 1)))
            scores: dict[int, np.ndarray] = {}
            for number, (_, seen, _), r in zip(block, rows, residual):
                scores[number] = scores.get(number, 0.0) + seen.T @ r
            spread = sum((vectors.T @ score) ** 2 for score in scores.values())
            each = spread / np.maximum(values, 1e-9 * values[-1])
            dispersion = np.maximum(each, max(float(np.median(each)), 1.0))
        theta, covariance = theta * prior, covariance * np.outer(prior, prior)
        # What the ratio of torques and mass leaves open is shared by their priors.
        line = np.zeros(len(prior))
        line[common], line[mass] = 1.0, self._model.total_mass
        part, whole = PRIOR.mass ** 2, PRIOR.common_gain ** 2
        theta = theta - line * theta[common] * part / (part + whole)
        covariance = covariance + np.outer(line, line) * part * whole / (part + whole)
        for row, value, deviation in known:
            gain = covariance @ row / (row @ covariance @ row + deviation ** 2)
            theta = theta + gain * (value - row @ theta)
            covariance = covariance - np.outer(gain, covariance @ row)
        return TorqueErrors(self.joints, theta, covariance, prior, misfit, len(used))

    def corrected(self, theta: np.ndarray, effort: np.ndarray, velocity: np.ndarray,
                  period: float, stiction: np.ndarray) -> np.ndarray:
        """
        Return torques (n, nv) less the errors.

        ``period`` [s]; ``stiction`` (nj,): each resting joint within its dry friction, -1 to 1.
        """
        nj, index = len(self.joints), self._measured
        offset, gain, dry, viscous = theta[:nj * len(OF_JOINT)].reshape(nj, len(OF_JOINT)).T
        tau, v = effort[:, index], velocity[:, index]
        sign = np.tanh(v / REGRESSION.creep)
        error = (offset + (gain + theta[nj * len(OF_JOINT)]) * tau + viscous * v
                 + dry * (sign + (1.0 - np.abs(sign)) * stiction)
                 - theta[nj * len(OF_JOINT) + 1] * _smooth_rate(tau, period))
        out = effort.copy()
        out[:, index] = tau - error
        return out

    def effect_on_foot(self, foot: int, where: np.ndarray) -> tuple[float, np.ndarray]:
        """
        Return a foot's mean vertical force by torques alone, and its error's row (p,).

        Over the samples ``where``; that force less the true one is ``row @ theta``.
        """
        inverse = self._inverse(where)[:, self._first[foot]:self._first[foot] + 3]
        lift = np.einsum('ki,kij->kj', self._samples.up[where], inverse)
        # left = J^T w - phi theta
        rows = -np.einsum('kj,kjp->kp', lift, self._phi[where, 6:])
        return float(np.sum(lift * self._left()[where], axis=1).mean()), rows.mean(axis=0)

    def forces_by_torque(self) -> np.ndarray:
        """Return the force that torques alone give each foot, in the air too, (n, nf, 3) [N]."""
        left = self._left()
        forces = np.einsum('kij,kj->ki', self._inverse(np.arange(len(left))), left)
        return np.stack([forces[:, at:at + 3] for at in self._first], axis=1)

    def _left(self) -> np.ndarray:
        """Return the torques that forces must explain, (n, nj) [N m]."""
        return self.equations.effort[:, self._measured] - self._samples.effort[:, self._measured]

    def _inverse(self, where: np.ndarray) -> np.ndarray:
        """Return what gives the forces of all feet by torques, (k, nc, nj)."""
        jacobian = self.equations.jacobian[where][:, :, self._measured]
        return np.linalg.pinv(jacobian.transpose(0, 2, 1), rcond=1e-3)

    def noise_in_forces(self, misfit: float, k: int) -> np.ndarray:
        """
        Return the forces' random error (nf,) [N] in sample k, NaN in the air.

        ``misfit``: random errors in units of the stated ones; length of the error, one
        deviation.
        """
        _, G, _, sigma = self.stacked(k)
        scaled = G / sigma[:, None]
        variance = np.diag(np.linalg.pinv(scaled.T @ scaled))
        out = np.full(len(self._first), np.nan)
        for i in np.flatnonzero(self._contact[k]):
            at = np.flatnonzero(self._foot_of[self._contact[k][self._foot_of]] == i)[:3]
            out[i] = misfit * np.sqrt(max(variance[at].sum(), 0.0))
        return out


def _smooth_rate(tau: np.ndarray, period: float) -> np.ndarray:
    """Return the rate of torques over some samples: noise must not be multiplied."""
    width = max(int(0.01 / period), 1)
    rate = np.zeros_like(tau)
    if len(tau) > 2 * width:
        rate[width:-width] = (tau[2 * width:] - tau[:-2 * width]) / (2 * width * period)
    return rate
