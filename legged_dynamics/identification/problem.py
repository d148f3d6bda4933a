# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The estimation problem: equations of motion without the ground's forces, and feet in contact.

At each instant the unknown forces of the ground are taken out of the whitened equations by an
orthogonal projection, so that nothing need be known of them (variable projection: Golub and
Pereyra 1973). What is left is linear in inertias, friction, armature and torque constants, and
nearly so in offsets and the IMU's errors.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.identification.equations import Equations, motion_equations, regressor
from legged_dynamics.identification.samples import Samples, Signals, observe
from legged_dynamics.identification.unknowns import Unknowns

# What equations of a well-modelled robot leave, at least: of the weight, of weight times height.
FORCE, MOMENT, EFFORT = 0.003, 0.003, 0.003
STANDS = 0.15           # of a foot's share of the weight, below which it swings
FREE, HELD = 5.0, 0.005     # of the weight: forces that a standing, a swinging foot may have
SPEED, LEVEL = 0.004, 0.004   # heights/s and heights: how feet in contact differ on level ground
SETTLED = 0.09          # s from a foot's step: the filter spreads an impact about so far
STEPS = {'position_offset': 1e-3, 'imu_mount': 1e-3, 'accelerometer_bias': 1e-2,
         'gyro_bias': 1e-3}


@dataclass(frozen=True, eq=False)
class Linearised:
    """
    Whitened residuals and their derivative, (m,) and (m, p); rows of one instant together.

    Attributes
    ----------
    residual, jacobian
    rows : int
        Rows of one instant.
    balance : (n, 6 + nv) array
        What the equations leave after the forces that explain most, in N and N m.

    """

    residual: np.ndarray
    jacobian: np.ndarray
    rows: int
    balance: np.ndarray


class Problem:
    """
    Residuals of a recording.

    Parameters
    ----------
    signals : Signals
        Of the recording.
    unknowns : Unknowns
    height : float [m]
        Of the base over the feet.

    """

    def __init__(self, signals: Signals, unknowns: Unknowns, height: float):
        self.signals, self.unknowns, self.height = signals, unknowns, height
        model, config = unknowns.model, unknowns.config
        self.weight = model.total_mass * GRAVITY
        self._feet = feet_table(model, config.feet)
        W, h = self.weight, height
        noise = config.noise.effort * np.sqrt(min(2.0 * signals.band / signals.sample_rate, 1.0))
        known = observe(signals, model, config).has_effort
        joint = np.where(known, np.hypot(EFFORT * W * h / len(config.feet), noise), 1e6)
        self._known = known
        self.scale = np.concatenate([[FORCE * W] * 3, [MOMENT * W * h] * 3, joint])
        self._least = self.scale.copy()
        self._settled = np.ones(len(signals.time), bool)
        # Before anything is known of it, friction may be half of what it is trusted to be.
        self.settle(np.zeros(unknowns.size), 0.5 * unknowns.deviation[unknowns.parts['coulomb']])

    @property
    def known(self) -> np.ndarray:
        """(nj,) flags: joints whose effort is measured."""
        return self._known

    def rescale(self, x: np.ndarray) -> None:
        """
        Let each equation count by what the robot with unknowns (p,) leaves of it, from now on.

        Friction that is no sum of Coulomb's and viscous, say, must not outweigh feet in contact.
        """
        left = np.sqrt(np.mean(self(x, jacobian=False).balance ** 2, axis=0))
        self.scale = np.maximum(self._least, left)

    def settle(self, x: np.ndarray, stiction: np.ndarray | None = None) -> None:
        """
        Decide by unknowns (p,) what is left out, from now on, and how much each equation counts.

        Instants about steps are left out: a filtered product is no product of filtered factors. A
        joint that hardly turns sticks: its friction is anything up to the Coulomb friction.
        """
        u = self.unknowns
        samples = observe(self.signals, u.model, u.configuration(x))
        if stiction is None:
            stiction = np.maximum([j.friction for j in u.model.joints]
                                  + x[u.parts['coulomb']], 0.0)
        sticks = 1.0 - np.tanh(samples.velocity / FRICTION_SPEED) ** 2
        self._scale = np.tile(self.scale, (len(samples.time), 1))
        self._scale[:, 6:] = np.hypot(self._scale[:, 6:], sticks * stiction)
        eq = self._equations(samples)
        left = self._needs(eq)
        left[:, 6:] -= np.where(self._known, samples.effort, 0.0)
        standing = self._forces(eq, left, samples)[2]
        steps = np.flatnonzero((standing[1:] != standing[:-1]).any(axis=1))
        time = samples.time
        self._settled[:] = True
        for k in steps:
            self._settled &= (time < time[k] - SETTLED) | (time > time[k + 1] + SETTLED)

    def __call__(self, x: np.ndarray, jacobian: bool = True) -> Linearised:
        """Return the problem about unknowns (p,)."""
        u = self.unknowns
        model, config = u.model, u.configuration(x)
        samples = observe(self.signals, model, config)
        n, nv = len(samples.time), model.nv
        eq = self._equations(samples)
        Y = regressor(model, samples.position, samples.velocity, samples.acceleration,
                      samples.base)
        friction = np.tanh(samples.velocity / FRICTION_SPEED)
        physics = (friction * ([j.friction for j in model.joints] + x[u.parts['coulomb']])
                   + samples.velocity * ([j.damping for j in model.joints]
                                         + x[u.parts['viscous']])
                   + samples.acceleration * ([j.armature for j in model.joints]
                                             + x[u.parts['armature']]))
        given = np.where(self._known, samples.effort, 0.0)
        inertial = u.inertial(x)
        left = Y @ inertial
        left[:, 6:] += physics - given
        forces, project, standing, rest = self._forces(eq, left, samples)
        kinematic = self._kinematic(eq, samples, standing)
        # In units of the robot's own mass: else a lighter robot with weaker motors, which the
        # equations cannot tell from it, would have smaller residuals.
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
        for name, step in STEPS.items():
            if name not in u.parts:
                continue
            place = u.parts[name]
            for k in range(place.start, place.stop):
                moved = x.copy()
                moved[k] += step
                other = observe(self.signals, model, u.configuration(moved))
                changed = self._equations(other)
                told = self._needs(changed) - self._needs(eq)
                told += self._other_inertias(x, other, samples, told)
                told -= self._contact(changed, forces) - self._contact(eq, forces)
                J[:, :6 + nv, k] = project(told) / step
                J[:, 6 + nv:, k] = (self._kinematic(changed, other, standing) - kinematic) / step
        J[:, :6 + nv] *= per_mass
        for i, at in enumerate(masses):
            share = gradient[i][0] / inertial[masses].sum()
            J[:, :6 + nv, at:at + 10] -= dynamic[..., None] * share
        J[~self._settled] = 0.0
        return Linearised(residual.ravel(), J.reshape(-1, u.size), residual.shape[1], balance)

    # ---- parts -----------------------------------------------------------------------------

    def _equations(self, samples: Samples) -> Equations:
        return motion_equations(self.unknowns.model, self._feet, samples.position,
                                samples.velocity, samples.acceleration, samples.base, samples.up)

    @staticmethod
    def _needs(eq: Equations) -> np.ndarray:
        return np.hstack([eq.wrench, eq.effort])

    def _other_inertias(self, x: np.ndarray, other: Samples, samples: Samples,
                        told: np.ndarray) -> np.ndarray:
        """Return what the described inertias miss of a change: zero where x is."""
        u = self.unknowns
        extra = u.inertial(x) - u.inertial(np.zeros_like(x))
        if not np.any(extra):
            return np.zeros_like(told)
        Y = [regressor(u.model, s.position, s.velocity, s.acceleration, s.base)
             for s in (other, samples)]
        return (Y[0] - Y[1]) @ extra

    @staticmethod
    def _contact(eq: Equations, forces: np.ndarray) -> np.ndarray:
        """Return what given forces of the ground do to base and joints, (n, 6 + nv)."""
        return np.hstack([np.einsum('nij,nj->ni', eq.grasp, forces),
                          np.einsum('nji,nj->ni', eq.jacobian, forces)])

    def _forces(self, eq: Equations, left: np.ndarray, samples: Samples) -> tuple:
        """Return forces, the projection that takes them out, who stands, and what is left."""
        M = np.concatenate([eq.grasp, eq.jacobian.transpose(0, 2, 1)], axis=1)
        M = M / self._scale[:, :, None]
        nc, nf = M.shape[2], len(self._feet.index)
        y = left / self._scale
        MT = M.transpose(0, 2, 1)
        loose = (FREE * self.weight) ** -2 * np.eye(nc)
        first = np.linalg.solve(MT @ M + loose, MT @ y[..., None])[..., 0]
        size = nc // nf
        normal = np.einsum('nfi,ni->nf', first.reshape(-1, nf, size)[..., :3], samples.up)
        standing = normal > STANDS * self.weight / nf
        may = np.where(np.repeat(standing, size, axis=1), FREE, HELD) * self.weight
        prior = np.zeros((len(M), nc, nc))
        prior[:, range(nc), range(nc)] = 1.0 / may
        # The complement of forces and of what is known of them.
        Q = np.linalg.qr(np.concatenate([M, prior], axis=1), mode='complete')[0]
        N = Q[:, :M.shape[1], nc:].transpose(0, 2, 1)
        N = N / self._scale[:, None]

        def project(values: np.ndarray) -> np.ndarray:
            return N @ values if values.ndim == 3 else (N @ values[..., None])[..., 0]
        forces = np.linalg.solve(MT @ M + prior ** 2, MT @ y[..., None])[..., 0]
        rest = left - self._contact(eq, forces)
        return forces, project, standing, rest

    def _kinematic(self, eq: Equations, samples: Samples, standing: np.ndarray) -> np.ndarray:
        """Return how feet in contact differ in speed and height, (n, 4 nf), in tolerances."""
        size = eq.jacobian.shape[1] // standing.shape[1]
        J = np.stack([eq.jacobian[:, size * i:size * i + 3]
                      for i in range(standing.shape[1])], axis=1)
        speed = np.einsum('nfij,nj->nfi', J, samples.velocity) + np.cross(
            samples.base[:, None, :3], eq.points)
        height = np.einsum('nfi,ni->nf', eq.points, samples.up)
        w = standing / np.maximum(standing.sum(axis=1, keepdims=True), 1)
        speed = speed - np.einsum('nf,nfi->ni', w, speed)[:, None]
        height = height - np.einsum('nf,nf->n', w, height)[:, None]
        speed = np.where(standing[..., None], speed, 0.0) / (SPEED * self.height)
        height = np.where(standing, height, 0.0) / (LEVEL * self.height)
        return np.hstack([speed.reshape(len(w), -1), height])
