# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The estimation problem: equations of motion without the ground's forces, and feet in contact.

At each instant the unknown ground forces are eliminated from the whitened equations of motion by
an orthogonal projection (variable projection: Golub and Pereyra 1973). The projected equations are
linear in inertias, friction, armature and torque constants, and nearly so in joint offsets and in
the errors of the IMU.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from legged_dynamics.diagnosis.identification.equations import (
    Equations,
    motion_equations,
    regressor,
)
from legged_dynamics.diagnosis.identification.samples import FILTER, Samples, Signals, observe
from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.settings import nominal_position
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.rotations import rotation_from_rpy, rotation_from_vector

# -------------------------------------------------------------------------------------------------
# Log-Cholesky parameters of an inertia: every value is that of some distribution of mass.
#
# The pseudo-inertia ``P = [[S, h], [h^T, m]]`` (second moments of mass S, first h, mass m) of a
# body is positive definite, and only then do masses make it. With ``P_0 = L_0 L_0^T`` of the
# description, L_0 upper triangular, the body has ``P = L_0 U U^T L_0^T`` with (Rucker and Wensing
# 2022)
#
#     U = e^a [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]
#
# so that all ten parameters (a, d1, d2, d3, s12, s23, s13, t1, t2, t3) are zero for the body as
# described, and have no unit: 2a is the log of the factor of the mass, t the shift of the centre
# of mass in radii of gyration.


STEP = 1e-6             # of difference quotients
# A body described flat or as a point is given this part of its size in thickness.
THINNEST = 1e-3
MASS = slice(0, 1)
SHAPE = slice(1, 7)
SHIFT = slice(7, 10)


class LogCholesky:
    """Log-Cholesky parameters of a body's inertia, zero for the body as described."""

    def __init__(self, inertia: Inertia):
        about, c, m = inertia.about_com, inertia.com, inertia.mass
        second = 0.5 * np.trace(about) * np.eye(3) - about
        size, axes = np.linalg.eigh(second)
        least = max(THINNEST * float(size[-1]), 1e-9 * m)
        second = axes @ np.diag(np.maximum(size, least)) @ axes.T
        P = np.zeros((4, 4))
        P[:3, :3] = second + m * np.outer(c, c)
        P[:3, 3] = P[3, :3] = m * c
        P[3, 3] = m
        self._root = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]
        self.radius = np.sqrt(np.maximum(np.diag(second), 0.0) / m)

    def _pseudo_inertia(self, mass_parameters: np.ndarray) -> np.ndarray:
        a, d1, d2, d3, s12, s23, s13, t1, t2, t3 = mass_parameters
        U = np.exp(a) * np.array([[np.exp(d1), s12, s13, t1], [0.0, np.exp(d2), s23, t2],
                                  [0.0, 0.0, np.exp(d3), t3], [0.0, 0.0, 0.0, 1.0]])
        root = self._root @ U
        return root @ root.T

    def parameters(self, mass_parameters: np.ndarray) -> np.ndarray:
        """Return mass, first moment, inertia about the origin (xx, xy, xz, yy, yz, zz)."""
        P = self._pseudo_inertia(mass_parameters)
        about = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        return np.concatenate([[P[3, 3]], P[:3, 3], about[np.triu_indices(3)]])

    def gradient(self, mass_parameters: np.ndarray) -> np.ndarray:
        """Return the derivative (10, 10) of :meth:`parameters`."""
        x = mass_parameters
        return np.stack([(self.parameters(x + e) - self.parameters(x - e)) / (2.0 * STEP)
                         for e in STEP * np.eye(10)], axis=1)

    def inertia(self, mass_parameters: np.ndarray) -> Inertia:
        """Return the inertia in the body's frame."""
        P = self._pseudo_inertia(mass_parameters)
        m, c = P[3, 3], P[:3, 3] / P[3, 3]
        second = P[:3, :3] - m * np.outer(c, c)
        return Inertia(float(m), c, np.trace(second) * np.eye(3) - second)


# -------------------------------------------------------------------------------------------------
# The vector of unknowns.


@dataclass(frozen=True)
class TrustSettings:
    """How far each unknown may be from the description, as one standard deviation."""

    base_mass: float = 0.15    # of the base's mass
    base_center_of_mass: float = 0.05    # heights of the standing robot: the base's centre of mass
    link: float = 0.05    # of each other link's mass; its centre of mass in radii of gyration
    shape: float = 0.15    # of moments of inertia
    effort_scale: float = 0.3    # of the torque constant of each motor
    friction: float = 0.1    # of the effort limit: Coulomb, and viscous at the rated speed
    armature: float = 0.05    # of the leg's own inertia at full stretch
    position_offset: float = 0.05    # rad, of each joint
    imu_mount: float = 0.05    # rad, tilt of the IMU on its link
    accelerometer_bias: float = 0.1    # m/s^2
    gyro_bias: float = 0.02    # rad/s


TRUST = TrustSettings()
PER_JOINT = ('effort_scale', 'coulomb', 'viscous', 'armature', 'position_offset')
PHYSICS = {'coulomb': 'friction', 'viscous': 'damping', 'armature': 'armature'}   # of a Joint
PER_AXIS = ('imu_mount', 'accelerometer_bias', 'gyro_bias')


class Unknowns:
    """
    The vector of a robot's unknowns, zero for the robot as described.

    ``height`` [m]: base above the feet; `parts`: slices of 'inertia' (ten per body) and of
    joint and IMU unknowns; `deviation` (p,): of the prior.
    """

    def __init__(self, model: RobotModel, config: RobotConfig, height: float, trust: TrustSettings,
                 imu: bool):
        self.model, self.config = model, config
        self.bodies = [LogCholesky(model.body_inertia(i)) for i in range(model.n_bodies)]
        nj, start = model.n_joints, 10 * model.n_bodies
        self.parts = {'inertia': slice(0, start)}
        for name in (*PER_JOINT, *(PER_AXIS if imu else ())):
            self.parts[name] = slice(start, start + (nj if name in PER_JOINT else 3))
            start = self.parts[name].stop
        self.size = start
        self.deviation = np.ones(start)
        self._trust(height, trust)

    def _trust(self, height: float, trust: TrustSettings) -> None:
        each = self.deviation[self.parts['inertia']].reshape(-1, 10)
        each[:, MASS], each[:, SHAPE], each[:, SHIFT] = (
            0.5 * trust.link, 0.5 * trust.shape, trust.link)
        each[0, MASS] = 0.5 * trust.base_mass
        each[0, SHIFT] = trust.base_center_of_mass * height / np.maximum(
            self.bodies[0].radius, 1e-3)
        model = self.model
        limit = np.minimum(model.effort_limits, model.total_mass * GRAVITY * height)
        speed = np.array([min(joint.velocity, 10.0) for joint in model.joints])
        set_ = self.deviation
        set_[self.parts['effort_scale']] = trust.effort_scale
        set_[self.parts['coulomb']] = trust.friction * limit
        set_[self.parts['viscous']] = trust.friction * limit / speed
        set_[self.parts['armature']] = trust.armature * model.total_mass * height ** 2
        set_[self.parts['position_offset']] = trust.position_offset
        for name in PER_AXIS:
            if name in self.parts:
                set_[self.parts[name]] = getattr(trust, name)

    def _by_body(self, x: np.ndarray) -> Iterator[tuple[LogCholesky, np.ndarray]]:
        return zip(self.bodies, x[self.parts['inertia']].reshape(-1, 10))

    def inertial(self, x: np.ndarray) -> np.ndarray:
        """Return the inertial parameters (10 nb,), as :meth:`LogCholesky.parameters`."""
        return np.concatenate([body.parameters(part) for body, part in self._by_body(x)])

    def inertial_gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the diagonal blocks (nb, 10, 10) of the derivative of :meth:`inertial`."""
        return np.stack([body.gradient(part) for body, part in self._by_body(x)])

    def of_joints(self, name: str, x: np.ndarray) -> np.ndarray:
        """Return the joints' physics (nj,): 'coulomb', 'viscous' or 'armature'."""
        return [getattr(joint, PHYSICS[name]) for joint in self.model.joints] + x[self.parts[name]]

    def robot(self, x: np.ndarray) -> RobotModel:
        """Return the model with the inertias and joint physics of x."""
        model = self.model.with_body_inertia(
            {i: body.inertia(part) for i, (body, part) in enumerate(self._by_body(x))})
        changed = {column: np.maximum(self.of_joints(name, x), 0.0).tolist()
                   for name, column in PHYSICS.items()}
        return model.with_joint_physics(**{column: dict(zip(model.joint_names, values))
                                           for column, values in changed.items()})

    def configuration(self, x: np.ndarray) -> RobotConfig:
        """Return the configuration with the sensor corrections of x."""
        c, names = self.config.sensors, self.model.joint_names
        scale = c.per_joint('effort_scale', names, 1.0) * np.exp(x[self.parts['effort_scale']])
        offset = c.per_joint('position_offset', names, 0.0) + x[self.parts['position_offset']]
        c = c.with_joint('effort_scale', names, scale).with_joint('position_offset', names, offset)
        if 'imu_mount' in self.parts:
            R = rotation_from_vector(x[self.parts['imu_mount']]) @ rotation_from_rpy(
                np.asarray(c.imu_rpy))
            biases: dict[str, Any] = {
                name: tuple((np.asarray(getattr(c, name)) + x[self.parts[name]]).tolist())
                for name in ('accelerometer_bias', 'gyro_bias')}
            c = replace(c, imu_rpy=roll_pitch_yaw(R), **biases)
        return replace(self.config, sensors=c)


def standing_height(model: RobotModel, config: RobotConfig) -> float:
    """Return the mean height of the base over the feet of the standing robot [m]."""
    poses = frame_poses(model, nominal_position(model, config),
                        tuple(foot.link for foot in config.feet))
    return max(float(np.mean([abs(pose.p[2]) for pose in poses.values()])), 0.05)


def roll_pitch_yaw(R: np.ndarray) -> tuple[float, ...]:
    """Return roll, pitch and yaw of a rotation matrix [rad]."""
    pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
    return (float(np.arctan2(R[2, 1], R[2, 2])) + 0.0, pitch + 0.0,
            float(np.arctan2(R[1, 0], R[0, 0])) + 0.0)


def check_total_mass(mass: float | None, model: RobotModel) -> None:
    """Raise ConfigurationError for an implausible weighed mass [kg]; None is allowed."""
    if mass is not None and not 0.3 * model.total_mass < mass < 3.0 * model.total_mass:
        raise ConfigurationError(
            f'--total-mass: expected about what the URDF says ({model.total_mass:.3g} kg), got '
            f'{mass:g} kg; is it in kilograms, and is the URDF that of the robot?')


# -------------------------------------------------------------------------------------------------
# Residuals and their derivative.


# Time that a tilt of the vertical lasts, until the body comes to rest again [s].
TILTED = 0.5 * FILTER.up_time
STEPS = {'position_offset': 1e-3, 'imu_mount': 1e-3, 'accelerometer_bias': 1e-2, 'gyro_bias': 1e-3}


@dataclass(frozen=True)
class ProblemSettings:
    """Residuals of a well-modelled robot, and errors of its feet in contact."""

    force: float = 0.003    # of the weight: residual of the base's force
    moment: float = 0.003    # of weight times height: of its moment
    effort: float = 0.003    # of weight times height: of the joints' efforts
    contact_share: float = 0.15    # of a foot's share of the weight, below which it swings
    standing: float = 5.0    # of the weight: deviation of the force of a standing foot
    swinging: float = 0.005    # of the weight: of one that swings
    speed: float = 0.005    # heights/s: a foot in contact creeps
    level: float = 0.0025    # heights: ground that is not flat
    stance: float = 0.3    # s, over which both last: samples within tell no more than one
    tilt: float = 0.005    # rad, of the vertical by an accelerometer that motion misleads
    settled: float = 0.09    # s from a step: the filter spreads an impact over this time


PROBLEM = ProblemSettings()


@dataclass(frozen=True, eq=False)
class Linearised:
    """Whitened residuals and their derivative; the rows of one instant together."""

    residual: np.ndarray  # (m,): residuals, in tolerances
    jacobian: np.ndarray  # (m, p): their derivative
    rows: int  # Rows of one instant
    # (n, 6 + nv) [N, N m]: residuals of the equations of motion with the best ground forces
    balance: np.ndarray


class Problem:
    """
    Residuals of a recording as a function of the unknowns.

    ``height`` [m]: base above the feet; `scale` (6 + nv,): tolerance of each equation of
    motion; `known` (nj,): joints whose effort is measured.
    """

    def __init__(self, signals: Signals, unknowns: Unknowns, height: float):
        self.signals, self.unknowns, self.height = signals, unknowns, height
        model, config = unknowns.model, unknowns.config
        self.weight = model.total_mass * GRAVITY
        self._feet = feet_table(model, config.feet)
        W, h = self.weight, height
        self.known = observe(signals, model, config).has_effort
        joint = np.where(self.known, np.hypot(
            PROBLEM.effort * W * h / len(config.feet), config.noise.effort * signals.passed), 1e6)
        self.scale = np.concatenate([[PROBLEM.force * W] * 3, [PROBLEM.moment * W * h] * 3, joint])
        self._least = self.scale.copy()
        self._step = float(np.median(np.diff(signals.time)))
        self._settled = np.ones(len(signals.time), bool)
        # At first, friction is half of the deviation of its prior.
        self.settle(np.zeros(unknowns.size), 0.5 * unknowns.deviation[unknowns.parts['coulomb']])

    def rescale(self, x: np.ndarray) -> None:
        """Set each equation's tolerance from its residuals at x: model errors are in it."""
        left = np.sqrt(np.mean(self(x, jacobian=False).balance ** 2, axis=0))
        self.scale = np.maximum(self._least, left)

    def settle(self, x: np.ndarray, stiction: np.ndarray | None = None) -> None:
        """
        Choose the instants that count, and raise the tolerance of sticking joints.

        Instants around steps are left out, since low-pass and product do not commute there; the
        friction of a joint that hardly moves is anything up to ``stiction``.
        """
        u = self.unknowns
        samples = observe(self.signals, u.model, u.configuration(x))
        if stiction is None:
            stiction = np.maximum(u.of_joints('coulomb', x), 0.0)
        sticks = 1.0 - np.tanh(samples.velocity / FRICTION_SPEED) ** 2
        self._scale = np.tile(self.scale, (len(samples.time), 1))
        self._scale[:, 6:] = np.hypot(self._scale[:, 6:], sticks * stiction)
        eq = self._equations(samples)
        standing = self._forces(eq, eq.unexplained(samples), samples)[2]
        steps = np.flatnonzero((standing[1:] != standing[:-1]).any(axis=1))
        time = samples.time
        self._settled[:] = True
        for k in steps:
            self._settled &= ((time < time[k] - PROBLEM.settled)
                              | (time > time[k + 1] + PROBLEM.settled))

    def __call__(self, x: np.ndarray, jacobian: bool = True) -> Linearised:
        """Linearise the problem at x; without ``jacobian`` the derivative is empty."""
        u = self.unknowns
        model, config = u.model, u.configuration(x)
        samples = observe(self.signals, model, config)
        n, nv = len(samples.time), model.nv
        eq = self._equations(samples)
        Y = regressor(model, samples)
        friction = np.tanh(samples.velocity / FRICTION_SPEED)
        physics = (friction * u.of_joints('coulomb', x)
                   + samples.velocity * u.of_joints('viscous', x)
                   + samples.acceleration * u.of_joints('armature', x))
        given = np.where(self.known, samples.effort, 0.0)
        inertial = u.inertial(x)
        left = Y @ inertial
        left[:, 6:] += physics - given
        forces, project, standing, rest = self._forces(eq, left, samples)
        whiten = self._height_whitening(eq, samples, standing)
        kinematic = self._kinematic(eq, samples, standing, whiten)
        # In units of the identified mass: a lighter robot with weaker motors satisfies the same
        # equations, and would have smaller residuals otherwise.
        masses = 10 * np.arange(model.n_bodies)
        per_mass = self.weight / GRAVITY / inertial[masses].sum()
        dynamic = per_mass * project(left)
        dynamic[~self._settled] = 0.0
        kinematic[~self._settled] = 0.0
        residual = np.hstack([dynamic, kinematic])
        balance = rest[self._settled]
        if not jacobian:
            return Linearised(residual.ravel(), np.zeros((0, 0)), residual.shape[1], balance)
        J = np.zeros((n, residual.shape[1], u.size))
        gradient = u.inertial_gradient(x)
        chained = np.concatenate([Y[:, :, 10 * i:10 * i + 10] @ gradient[i]
                                  for i in range(model.n_bodies)], axis=2)
        J[:, :6 + nv, u.parts['inertia']] = project(chained)
        column = np.zeros((n, 6 + nv, nv))
        for name, values in (('coulomb', friction), ('viscous', samples.velocity),
                             ('armature', samples.acceleration), ('effort_scale', -given)):
            column[:] = 0.0
            column[:, range(6, 6 + nv), range(nv)] = values
            J[:, :6 + nv, u.parts[name]] = project(column)
        for name in filter(u.parts.__contains__, STEPS):
            place, step = u.parts[name], STEPS[name]
            for k in range(place.start, place.stop):
                moved = x.copy()
                moved[k] += step
                other = observe(self.signals, model, u.configuration(moved))
                changed = self._equations(other)
                difference = changed.required - eq.required
                difference += self._other_inertias(x, other, samples, difference)
                difference -= self._contact(changed, forces) - self._contact(eq, forces)
                J[:, :6 + nv, k] = project(difference) / step
                J[:, 6 + nv:, k] = (self._kinematic(changed, other, standing, whiten)
                                    - kinematic) / step
        J[:, :6 + nv] *= per_mass
        for i, at in enumerate(masses):
            share = gradient[i][0] / inertial[masses].sum()
            J[:, :6 + nv, at:at + 10] -= dynamic[..., None] * share
        J[~self._settled] = 0.0
        return Linearised(residual.ravel(), J.reshape(-1, u.size), residual.shape[1], balance)

    # ---- parts -----------------------------------------------------------------------------

    def _equations(self, samples: Samples) -> Equations:
        return motion_equations(self.unknowns.model, self._feet, samples)

    def _other_inertias(self, x: np.ndarray, other: Samples, samples: Samples,
                        difference: np.ndarray) -> np.ndarray:
        """Return the change of inverse dynamics that the described inertias miss."""
        u = self.unknowns
        extra = u.inertial(x) - u.inertial(np.zeros_like(x))
        if not np.any(extra):
            return np.zeros_like(difference)
        return (regressor(u.model, other) - regressor(u.model, samples)) @ extra

    @staticmethod
    def _contact(eq: Equations, forces: np.ndarray) -> np.ndarray:
        """Return the efforts of given ground forces on base and joints, (n, 6 + nv)."""
        return np.hstack([np.einsum('nij,nj->ni', eq.grasp, forces),
                          np.einsum('nji,nj->ni', eq.jacobian, forces)])

    def _forces(self, eq: Equations, left: np.ndarray, samples: Samples) -> tuple:
        """Return ground forces, the projection that eliminates them, stance and residuals."""
        M = eq.of_forces / self._scale[:, :, None]
        nc, nf = M.shape[2], len(self._feet.index)
        y = left / self._scale
        MT = M.transpose(0, 2, 1)
        loose = (PROBLEM.standing * self.weight) ** -2 * np.eye(nc)
        first = np.linalg.solve(MT @ M + loose, MT @ y[..., None])[..., 0]
        normal = np.einsum('nfi,ni->nf', eq.by_foot(first), samples.up)
        standing = normal > PROBLEM.contact_share * self.weight / nf
        may = np.where(np.repeat(standing, nc // nf, axis=1), PROBLEM.standing,
                       PROBLEM.swinging) * self.weight
        prior = np.zeros((len(M), nc, nc))
        prior[:, range(nc), range(nc)] = 1.0 / may
        # The complement of the forces and their prior.
        Q = np.linalg.qr(np.concatenate([M, prior], axis=1), mode='complete')[0]
        N = Q[:, :M.shape[1], nc:].transpose(0, 2, 1)
        N = N / self._scale[:, None]

        def project(values: np.ndarray) -> np.ndarray:
            return N @ values if values.ndim == 3 else (N @ values[..., None])[..., 0]
        forces = np.linalg.solve(MT @ M + prior ** 2, MT @ y[..., None])[..., 0]
        return forces, project, standing, left - self._contact(eq, forces)

    def _lasting(self, time: float) -> float:
        """Return the factor of a tolerance whose error lasts so long [s]."""
        return float(np.sqrt(max(time / self._step, 1.0)))

    def _height_whitening(self, eq: Equations, samples: Samples,
                          standing: np.ndarray) -> np.ndarray:
        """
        Return what makes height differences white, (n, nf, nf): ``C^-1/2`` of their covariance.

        The ground is uneven, and the vertical tilted for as long as its filter takes.
        """
        p = eq.points - np.einsum('nfi,ni->nf', eq.points, samples.up)[..., None] * samples.up[
            :, None]
        w = standing / np.maximum(standing.sum(axis=1, keepdims=True), 1)
        p = np.where(standing[..., None], p - np.einsum('nf,nfi->ni', w, p)[:, None], 0.0)
        uneven = PROBLEM.level * self.height * self._lasting(PROBLEM.stance)
        tilt = PROBLEM.tilt * self._lasting(TILTED)
        values, vectors = np.linalg.eigh(uneven ** 2 * np.eye(standing.shape[1])
                                         + tilt ** 2 * p @ p.transpose(0, 2, 1))
        return (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1)

    def _kinematic(self, eq: Equations, samples: Samples, standing: np.ndarray,
                   whiten: np.ndarray) -> np.ndarray:
        """Return differences in speed and height of feet in contact, (n, 4 nf), in tolerances."""
        speed, height = eq.foot_motion(samples)
        w = standing / np.maximum(standing.sum(axis=1, keepdims=True), 1)
        speed = speed - np.einsum('nf,nfi->ni', w, speed)[:, None]
        height = height - np.einsum('nf,nf->n', w, height)[:, None]
        speed = np.where(standing[..., None], speed, 0.0) / (
            PROBLEM.speed * self.height * self._lasting(PROBLEM.stance))
        height = (whiten @ np.where(standing, height, 0.0)[..., None])[..., 0]
        return np.hstack([speed.reshape(len(w), -1), height])
