# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Residual of the equations of motion, linear in small errors of a robot's description and sensors.

The contact forces are eliminated: of a foot in the air they are zero, of one on the ground
unknown; so are an end stop's torque and dry friction of a joint that hardly turns. Then all goes
through one low-pass, so that impacts and filters do not look like delays.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Legendre
from scipy.signal import sosfiltfilt

from legged_dynamics.diagnosis.doctor.evidence import Likelihood, wrench_tolerance
from legged_dynamics.diagnosis.doctor.hypotheses import Corrector, legs_of
from legged_dynamics.diagnosis.doctor.settings import DEVIATIONS, PARAMETRIC, TOLERANCES
from legged_dynamics.diagnosis.identification.equations import Equations, motion_equations
from legged_dynamics.diagnosis.identification.samples import Drive, Samples, Signals, observe
from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.model.actuators import ActuatorModel
from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_config import RobotConfig

FRICTION = 'friction'
Apply = Callable[[RobotConfig, float], RobotConfig]


@dataclass(frozen=True)
class Parameter:
    """A small error of a robot: kind, joint, a healthy robot's deviation, and its correction."""

    kind: str
    joint: str
    healthy: float
    apply: Apply | None = None
    step: float = 0.0       # of the difference quotient, where its effect is found by one
    common: float = 0.0     # deviation that a healthy robot has in all parameters of the kind
    drive: Callable[[float, Samples], np.ndarray] | None = None     # for drives that yield


def healthy_covariance(parameters: Sequence[Parameter]) -> np.ndarray:
    """Return the covariance of a healthy robot's parameters, (p, p)."""
    kinds = np.array([one.kind for one in parameters])
    shared = np.array([one.common for one in parameters])
    return (np.diag([one.healthy ** 2 for one in parameters])
            + (kinds[:, None] == kinds) * np.outer(shared, shared))


class ResidualFilter(NamedTuple):
    """Low-pass of residuals, forwards and back; `every` so many samples one result is kept."""

    sos: np.ndarray
    every: int

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return the filtered values (n, ...), thinned out."""
        return sosfiltfilt(self.sos, values, axis=0)[::self.every]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Residual ``r + J x`` of n samples for p parameters, in tolerances."""

    parameters: list[Parameter]
    typical: list[tuple[float, float]]  # effort limit, and armature as a part of it, hip to foot
    limit: np.ndarray       # (nj,) [N m]: effort limits
    has_effort: bool        # whether any torque is known
    least_noise: float
    free: np.ndarray        # (n,): residuals that the forces leave free
    r: np.ndarray           # (n, k)
    J: np.ndarray           # (n, k, p)
    # Normal equations of the evidence that is not torque, (p, p) and (p,).
    A_other: np.ndarray
    b_other: np.ndarray


class Linearization:
    """
    A configuration's equations, elimination of forces, columns, and the other evidence.

    ``in_full``: what impacts hide of the acceleration is no less where all else is quiet.
    """

    def __init__(self, signals: Signals, likelihood: Likelihood, corrector: Corrector,
                 config: RobotConfig, in_full: bool = False):
        self.signals, self.likelihood, self.corrector = signals, likelihood, corrector
        self.config, self.model = config, corrector.model
        self.limit = ActuatorModel.of(self.model, config).limit
        self.samples, self.equations = self._observe(config)
        self.known = self.samples.has_effort
        self.rate = np.gradient(self.samples.effort, self.samples.time, axis=0)
        # Friction is known to a part of what is stated; a little is unknown on every robot.
        self.now = config.apply_to(self.model)
        self.feet = feet_table(self.now, config.feet)
        self.friction = np.array([joint.friction for joint in self.now.joints])
        self.unsure = np.maximum(PARAMETRIC.stated_friction * self.friction / self.limit
                                 - DEVIATIONS[FRICTION].healthy, 0.0)
        # On soles, moments leave the pitch of the body to the base's equations alone, and what
        # its acceleration is off by passes for rotors.
        self.soles = any(foot.moments for foot in config.feet)
        self.quietest = PARAMETRIC.least_noise_soles if self.soles else PARAMETRIC.least_noise
        self.scale = self._tolerances(1.0 / self.quietest if in_full else 1.0)
        self.legs = legs_of(self.model, config)

    def linear_model(self, low_pass: ResidualFilter) -> LinearModel:
        """Return the linear model."""
        y, M = self._parts(self.samples, self.equations)
        lasting = low_pass.every * float(np.median(np.diff(self.samples.time)))
        project, force, free = self._eliminate(y, M, math.sqrt(lasting / PARAMETRIC.resting))
        needed = np.where(np.isfinite(self.scale), self.scale, 0.0) * (
            y - (M @ force[..., None])[..., 0])
        needed = needed[:, 6:] + np.where(self.known, self.samples.effort, 0.0)
        # Drives yield to the torque that is needed, as slow as residuals are: the measured one's
        # noise would explain itself by feet's places; what is faster, accelerations' errors.
        self.loaded = replace(self.samples, effort=sosfiltfilt(low_pass.sos, needed, axis=0))
        evidence = self.likelihood.evaluate(self.config)
        typical = self._typical()
        parameters, columns, others = zip(*(
            (one, low_pass.apply((project @ column[..., None])[..., 0]),
             np.zeros_like(evidence.residual) if residual is None else
             (residual - evidence.residual) / one.step)
            for one, column, residual in self._columns(y, M, force, needed, typical,
                                                       evidence.load)))
        other = np.stack(others, axis=1)
        weighted = evidence.weight[:, None] * other
        return LinearModel(
            list(parameters), typical, self.limit, bool(self.known.any()), self.quietest,
            np.maximum(low_pass.apply(free[:, None])[:, 0], 0.0),
            low_pass.apply((project @ y[..., None])[..., 0]), np.stack(columns, axis=2),
            other.T @ weighted, -(weighted.T @ evidence.residual))

    # ---- equations -------------------------------------------------------------------------

    def _observe(self, config: RobotConfig, drive: Drive | None = None
                 ) -> tuple[Samples, Equations]:
        model = config.apply_to(self.model)
        s = observe(self.signals, model, config, drive)
        return s, motion_equations(model, feet_table(model, config.feet), s)

    def _tolerances(self, hidden: float) -> np.ndarray:
        """Return the tolerances of wrench and efforts, (n, 6 + nj), infinite where unknown."""
        W, h = self.likelihood.weight, self.likelihood.height
        noise = self.config.noise.effort * self.signals.passed
        effort = np.where(self.known, np.hypot(
            TOLERANCES.effort * W * h / len(self.config.feet), noise), np.inf)
        return np.hstack([wrench_tolerance(self.samples, W, h, hidden),
                          np.tile(effort, (len(self.samples.time), 1))])

    def _parts(self, s: Samples, eq: Equations) -> tuple[np.ndarray, np.ndarray]:
        """Return what forces must explain (n, 6 + nj) and how they enter, in tolerances."""
        return eq.unexplained(s) / self.scale, eq.of_forces / self.scale[..., None]

    # ---- elimination of what is unknown ----------------------------------------------------

    def _held(self) -> np.ndarray:
        """Return how end stops and friction of joints that hardly turn enter, (n, 6 + nj, nj)."""
        s = self.samples
        n, nj = s.position.shape
        sticks = self.friction * (1.0 - np.tanh(s.velocity / FRICTION_SPEED) ** 2)
        low, high = self.model.position_limits.T
        stopped = (low < high) & (
            np.minimum(s.position - low, high - s.position) < PARAMETRIC.stop)
        held = np.zeros((n, 6 + nj, nj))
        held[:, range(6, 6 + nj), range(nj)] = np.where(
            stopped, self.limit, sticks) / self.scale[:, 6:]
        return held

    def _eliminate(self, y: np.ndarray, M: np.ndarray, rest: float
                   ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Find ground forces by least squares, next to none of feet in the air.

        Returns the map of residuals to what forces and dry friction at rest leave of them, contact
        coordinates (n, c) [N, N m], and how many residuals stay free (n,). A sample's share of
        friction that a joint has for as long as it rests is ``rest``.
        """
        W = self.likelihood.weight
        up = np.einsum('nfi,ni->nf', self.equations.points, self.samples.up)
        n, nj, feet = len(y), len(self.limit), up.shape[1]
        unknown = np.concatenate([M, self._held()], axis=2)
        back, size = unknown.transpose(0, 2, 1), M.shape[2] // feet

        def solution(air: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return what gives the unknowns, and one over what they may be."""
            tight = np.where(air, 1.0 / (PARAMETRIC.swing_force * W),
                             1.0 / (PARAMETRIC.stance_force * W))
            tight = np.hstack([np.repeat(tight, size, axis=1),
                               np.full((n, nj), PARAMETRIC.least_noise)])
            return np.linalg.solve(back @ unknown + tight[:, None] ** 2 * np.eye(tight.shape[1]),
                                   back), tight
        solve, _ = solution(np.zeros(up.shape, bool))
        each = self.equations.by_foot((solve @ y[..., None])[:, :M.shape[2], 0])
        air = self._in_air(up, np.einsum('nfi,ni->nf', each, self.samples.up))
        solve, tight = solution(air)
        counts = np.hstack([np.repeat(air, size, axis=1), np.full((n, nj), rest)])
        left = np.eye(6 + nj) - unknown @ solve
        project = np.concatenate([left, (tight * counts)[..., None] * solve], axis=1)
        force = (solve[:, :M.shape[2]] @ y[..., None])[..., 0]
        # What is left of white residuals; friction at rest takes from them, too.
        seen = np.concatenate([np.ones(6, bool), self.known])
        return project, force, np.sum(project[:, :, seen] ** 2, axis=(1, 2))

    def _in_air(self, up: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Return which feet are in the air, (n, nf), from heights [m] and normal forces [N]."""
        feet = up.shape[1]
        lowest = np.sort(up, axis=1)[:, min(1, feet - 1) if feet > 3 else 0]
        # A tilted IMU lifts feet: one that is pressed to the ground is not in the air.
        return ((up > lowest[:, None] + PARAMETRIC.clearance * self.likelihood.height)
                & (load < PARAMETRIC.ground_load * self.likelihood.weight / feet))

    # ---- columns ---------------------------------------------------------------------------

    def _columns(self, y: np.ndarray, M: np.ndarray, force: np.ndarray, needed: np.ndarray,
                 typical: list[tuple[float, float]], load: np.ndarray | None
                 ) -> Iterator[tuple[Parameter, np.ndarray, np.ndarray | None]]:
        """Yield parameters, columns (n, 6 + nj), other evidence's residual after a step."""
        for parameter, values in self._torques(needed, typical):
            column = np.zeros(y.shape)
            for j, value in values.items():
                column[:, 6 + j] = value / self.scale[:, 6 + j]
            yield parameter, column, None
        if self.known.any():
            yield (Parameter('total_mass', '', DEVIATIONS['total_mass'].healthy, self._heavier),
                   np.pad(-(M[:, 6:] @ force[..., None])[..., 0], ((0, 0), (6, 0))), None)
        # Read at instants of a control period, an accelerometer says more or less than the mean.
        base = self.samples.base + np.repeat((0.0, 1.0), (6, 3)) * (
            self.samples.base - self.samples.base.mean(axis=0))
        eq = motion_equations(self.now, self.feet, replace(self.samples, base=base))
        yield (Parameter('accelerometer_gain', 'imu', DEVIATIONS['accelerometer_gain'].healthy),
               (eq.required - self.equations.required) / self.scale, None)
        for one in self._geometry():
            moved = one.apply(self.config, one.step) if one.apply else self.config
            drive = partial(one.drive, one.step) if one.drive else None
            y_moved, M_moved = self._parts(*self._observe(
                moved, drive and (lambda _, drive=drive: drive(self.loaded))))
            column = y_moved - y - ((M_moved - M) @ force[..., None])[..., 0]
            yield one, column / one.step, self.likelihood.evaluate(moved, drive, load).residual

    def _typical(self) -> list[tuple[float, float]]:
        """Return effort limits, and stated armature as a part of them, from the hip on."""
        if self.soles:
            return []
        return [(float(np.median(self.limit[alike])),
                 float(np.median([self.now.joints[j].armature / self.limit[j] for j in alike])))
                for alike in self._alike()]

    def _alike(self) -> list[list[int]]:
        """Return the joints with known efforts by their place in the leg, from the hip on."""
        legs = [[j for j in joints if self.known[j]] for _, joints in self.legs]
        return [[joints[k] for joints in legs if k < len(joints)]
                for k in range(max(map(len, legs), default=0))]

    def _torques(self, needed: np.ndarray, typical: list[tuple[float, float]]
                 ) -> Iterator[tuple[Parameter, dict[int, np.ndarray]]]:
        """Yield parameters that change torques alone, and how."""
        names, limit, s = self.model.joint_names, self.limit, self.samples
        for j in dict.fromkeys(j for _, joints in self.legs for j in joints if self.known[j]):
            unsure = self.unsure[j]     # which passes for a gain, too, of torques as small
            for kind, apply, value, common in (
                    ('effort_scale_joint', lambda c, x, j=j: self.corrector.scaled(
                        c, [j], 1.0 / max(1.0 + x, 0.02), 'effort'), needed[:, j],
                     unsure * limit[j] / max(float(np.sqrt(np.mean(needed[:, j] ** 2))), 1e-9)),
                    (FRICTION, self._joint_list('joint_friction', 'friction', [j]),
                     limit[j] * _dry_friction(s.position[:, j]), unsure),
                    ('damping', self._joint_list('joint_damping', 'damping', [j]),
                     limit[j] * s.velocity[:, j], unsure / PARAMETRIC.swing_speed),
                    ('effort_offset', None, np.full(len(needed), limit[j]), 0.0)):
                yield Parameter(kind, names[j], math.hypot(DEVIATIONS[kind].healthy, common),
                                apply, common=common), {j: value}
        for alike, (_, stated) in zip(self._alike(), typical):
            yield Parameter('armature', '', math.hypot(
                DEVIATIONS['armature'].healthy, PARAMETRIC.stated_armature * stated),
                self._joint_list('armature', 'armature', alike)), {
                    j: limit[j] * s.acceleration[:, j] for j in alike}
        if self.known.any():
            known = [j for alike in self._alike() for j in alike]
            yield Parameter('effort_delay', '', self._delay('effort_delay'), lambda c, x: replace(
                c, noise=replace(c.noise, effort_age=c.noise.effort_age + x))), {
                    j: -self.rate[:, j] for j in known}
            # Stated friction comes with the speed's sign; how far joints turn before is not known.
            for j in known if self.friction.any() else ():
                yield Parameter('presliding', names[j], 1.0), {
                    j: self.friction[j] * (_dry_friction(s.position[:, j])
                                           - np.tanh(s.velocity[:, j] / FRICTION_SPEED))}
            # A gain may drift at once or all the time: Legendre polynomials, from first to last.
            ramp = 2.0 * (s.time - s.time[0]) / np.ptp(s.time) - 1.0
            for degree in range(1, PARAMETRIC.drift_degree + 1):
                shape = 0.5 * Legendre.basis(degree)(ramp)
                yield Parameter('effort_drift', '', DEVIATIONS['effort_drift'].healthy), {
                    j: shape * needed[:, j] for j in known}

    def _geometry(self) -> Iterator[Parameter]:
        """Yield parameters whose effect is found by differences."""
        m, h = self.corrector, self.likelihood.height

        def one(kind: str, apply: Apply, step: float = 0.01, joint: str = '') -> Parameter:
            return Parameter(kind, joint, DEVIATIONS[kind].healthy, apply, step)

        def along(apply: Callable, e: np.ndarray) -> Apply:
            return lambda c, x: apply(c, x * e)

        def xyz(kind: str, apply: Callable, healthy: Any, step: float = 0.01) -> list[Parameter]:
            return [Parameter(kind, '', size, along(apply, e), step)
                    for e, size in zip(np.eye(3), np.broadcast_to(healthy, 3))]

        if not self.soles:
            yield from self._drives()
        yield one('velocity_delay', lambda c, x: replace(c, noise=replace(
            c.noise, velocity_age=c.noise.velocity_age + x)), math.copysign(
                2e-3, 0.01 - self.config.noise.velocity_age))
        for j in [j for _, joints in self.legs for j in joints]:
            yield one('position_offset', along(m.shifted, np.eye(len(self.limit))[j]),
                      joint=self.model.joint_names[j])
        if self.known.any():
            yield from xyz('center_of_mass', lambda c, x: replace(c, center_of_mass_offset=tuple(
                (c.center_of_mass_offset + h * x).tolist())), [
                    *2 * [DEVIATIONS['center_of_mass'].healthy], PARAMETRIC.com_height])
        if not self.soles:
            yield one('foot_radius', lambda c, x: replace(
                c, feet=tuple(foot.rolled(h * x) for foot in c.feet)))
        if self.signals.has_imu:
            yield from xyz('imu_mount', m.tilted, DEVIATIONS['imu_mount'].healthy)
            yield from xyz('accelerometer_bias', lambda c, x: m.sensors(
                c, accelerometer_bias=tuple((c.sensors.accelerometer_bias + x).tolist())),
                max(self.config.noise.accelerometer_bias, 1e-3), 0.05)
            yield replace(one('clock_offset', lambda c, x: m.sensors(
                c, imu_delay=c.sensors.imu_delay + x), 2e-3), healthy=self._delay('clock_offset'))

    def _drives(self) -> Iterator[Parameter]:
        """Yield springs between motors and links, and play, which turns with the torque."""
        def parameter(kind: str, joints: list[int], shape: Callable, seen: bool = True
                      ) -> Parameter:
            rigid = np.setdiff1d(range(len(self.limit)), joints)

            def drive(x: float, s: Samples) -> np.ndarray:
                turned = x * shape(np.where(s.has_effort, s.effort, 0.0) / self.limit)
                turned[:, rigid] = 0.0
                return np.stack([turned, seen * np.gradient(turned, s.time, axis=0)])
            return Parameter(kind, '', DEVIATIONS[kind].healthy, step=1e-3, drive=drive)
        for alike in self._alike():
            yield parameter('elasticity', alike, lambda load: load)
        for seen in (True, False) if self.known.any() else ():  # by velocities, or too short
            yield parameter('play', [j for alike in self._alike() for j in alike],
                            lambda load: 0.5 * np.tanh(load / PARAMETRIC.firm), seen)

    def _delay(self, kind: str) -> float:
        """Return a healthy robot's deviation of a delay [s]: wrong friction looks like one."""
        rate = np.sqrt(np.mean(self.rate[:, self.known] ** 2)) if self.known.any() else np.inf
        unsure = np.sqrt(np.mean(np.square(self.unsure * self.limit)))
        return math.hypot(DEVIATIONS[kind].healthy, float(unsure / max(rate, 1e-9)),
                          PARAMETRIC.jitter * self.signals.jitter)

    def _heavier(self, config: RobotConfig, x: float) -> RobotConfig:
        mass = config.payload.mass + config.apply_to(self.model).total_mass * x
        return replace(config, payload=Inertia(mass, self.model.body_inertia(0).com))

    def _joint_list(self, setting: str, field: str, joints: list[int]) -> Apply:
        """Return the correction that adds parts of the effort limit to a list of the YAML."""
        def apply(c: RobotConfig, x: float) -> RobotConfig:
            names = self.model.joint_names
            values = [getattr(joint, field) for joint in c.apply_to(self.model).joints]
            for j in joints:
                values[j] = max(values[j] + x * float(self.limit[j]), 0.0)
            order = [names.index(name) for name in c.joints or names]
            return replace(c, **{setting: tuple(float(values[i]) for i in order)})  # type: ignore[arg-type]
        return apply


def _dry_friction(position: np.ndarray) -> np.ndarray:
    """Return dry friction, -1 to 1, that keeps its value at rest (P. R. Dahl 1968)."""
    force, found = 0.0, np.zeros(len(position))
    for k, step in enumerate(np.diff(position) / PARAMETRIC.presliding, start=1):
        force = min(max(force + step, -1.0), 1.0)
        found[k] = force
    return found
