# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Faults that have a size: offsets, gains, friction, rotor inertia, masses, tilts, delays.

All of them enter the equations of motion linearly to first order, ``r + J x``. The contact forces
are eliminated: of a foot in the air they are zero, of one on the ground unknown; so is the dry
friction of a joint that hardly turns. Residual and columns go through one low-pass after the
elimination, so that impacts and filters do not look like delays. A healthy robot has some of
everything: x is normal with a healthy robot's deviations, and a fault is the hypothesis that some
components have a faulty robot's. Hypotheses are compared by their marginal likelihoods (Kass and
Raftery 1995, "Bayes factors"). The noise is what the fit leaves: its size and its correlation in
time (first order) are estimated, samples weighted as Student-t distributed. What is not torque
(feet against each other, gyro, vertical) enters with the tolerances of `evidence`.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, sosfiltfilt

from legged_dynamics.diagnosis.doctor.evidence import (
    DEGREES,
    EFFORT,
    FORCE,
    MOMENT,
    Likelihood,
    block_scores,
)
from legged_dynamics.diagnosis.doctor.hypotheses import DEGREE, RARE, Corrector, legs_of
from legged_dynamics.diagnosis.identification.equations import Equations, motion_equations
from legged_dynamics.diagnosis.identification.samples import Samples, Signals, observe
from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.actuators import ActuatorModel
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Log of the prior odds against a fault of a kind that many robots have, and against one torque
# constant that is wrong: there are many of them.
OFTEN, OFTENER = 5.0, 4.0
# Added to these for recordings of a few steps: what the model leaves is the same in each step.
SHORT, DOUBT = 10.0, 8.0        # s, nats
BEFORE, AFTER = 40.0, 8.0       # Hz: low-passes of the signals and of the residuals
AIR = 0.06                      # of the height: a foot so far above the others is in the air
PRESSED = 0.5                   # of a foot's share of the weight: a foot so loaded is not
NOTHING, ANYTHING = 0.003, 5.0  # of the weight: force on a foot in the air, on the ground
QUIETEST, ON_SOLES = 0.04, 0.12 # tolerances: least noise; 0.1 % of the weight, on soles 0.3 %
LONGEST = 0.98                  # correlation of noise from sample to sample
ROUNDS = 6                      # of weights and correlation
PRESLIDING = 0.003              # rad: a joint turns so far before dry friction is full
FAST = 2.0                      # rad/s: a leg that swings
FRICTION, ALL = 'friction', 'all joints'
# Deviations of a healthy and of a faulty robot. Friction, damping, offsets of effort and rotor
# inertia: parts of the effort limit; lengths: of the height; mass: of itself; else SI units.
HEALTHY = {'effort_scale_joint': 0.02, FRICTION: 0.004, 'damping': 0.001, 'effort_offset': 0.002,
           'armature': 4e-5, 'effort_delay': 5e-4, 'position_offset': 0.006, 'imu_mount': 0.004,
           'center_of_mass': 0.006, 'total_mass': 0.002, 'clock_offset': 5e-4,
           'foot_radius': 0.01}
FAULTY = {'effort_scale_joint': 0.15, FRICTION: 0.05, 'damping': 0.005, 'armature': 8e-4,
          'effort_delay': 5e-3, 'position_offset': 0.1, 'imu_mount': 0.1, 'center_of_mass': 0.1,
          'total_mass': 0.2, 'clock_offset': 0.02, 'foot_radius': 0.05}
# A stated rotor inertia is known to the first part of itself, and faulty from the second on; the
# height of the centre of mass is known worse, as sampled accelerometers miss landings.
ROTOR, WRONG_ROTOR, COM_HEIGHT = 0.1, 0.6, 0.02
# Friction of all joints differs by so much from joint to joint; the gain of all.
FRICTION_SPREAD, DAMPING_SPREAD, ALL_GAINS = 0.015, 0.003, 0.3


# What torques read of what they are where a gear ratio is forgotten.
SMALL = (0.2, 0.14, 0.1, 0.07, 0.05, 0.03)
OF_SCALE = ('total_mass', 'effort_scale')   # no motion on the ground tells them apart
# A mass that is off by more is another robot's; masses and torques are known to so much.
MASS_LIMIT, LEAST_SCALE = 0.3, 0.04


@dataclass(frozen=True, eq=False)
class Sized:
    """
    A fault that has a size, as fitted to a recording.

    Attributes
    ----------
    kind, subject, text
        As `finding.Finding` has them.
    evidence : float
        Log of how much more likely it is than a healthy robot, prior odds included.
    rank : float
        Of it and a healthy robot's small errors, in the units of `Likelihood`, by torques alone.
    config : RobotConfig
        With its correction.
    size : (k,) array
        Of its components, for :meth:`SizedFaults.text`.

    """

    kind: str
    subject: tuple[str, ...]
    text: str
    evidence: float
    rank: float
    config: RobotConfig
    size: np.ndarray


@dataclass(frozen=True)
class _Parameter:
    kind: str
    joint: str
    healthy: float
    apply: Callable[[RobotConfig, float], RobotConfig] | None = None
    step: float = 0.0


class SizedFaults:
    """Compares faults that have a size, on a recording filtered at `BEFORE`."""

    def __init__(self, signals: Signals, likelihood: Likelihood, model: RobotModel):
        self._signals, self._likelihood, self._model = signals, likelihood, model
        self._corrector, self._height = Corrector(model), likelihood.height
        self._doubt = DOUBT if np.ptp(signals.time) < SHORT else 0.0
        dt = float(np.median(np.diff(signals.time)))
        cut = min(AFTER, 0.5 * signals.band)
        self._filter = butter(2, min(2.0 * cut * dt, 0.9), output='sos')
        self._every = max(int(0.25 / cut / dt), 1)

    def compare(self, config: RobotConfig) -> list[Sized]:
        """Return the faults beyond a healthy robot's small errors, most likely first."""
        self._linearize(config)
        healthy = np.diag([one.healthy ** 2 for one in self._parameters])
        hypotheses = self._hypotheses()
        self._estimate_noise(healthy + sum(extra for (kind, _), extra in hypotheses.items()
                                           if kind not in OF_SCALE))
        nothing, usual = self._marginal(healthy)
        before = self._scored(np.zeros(len(healthy)))

        def ranked(x: np.ndarray, allowed: np.ndarray) -> float:
            price = 0.5 * float(x @ np.linalg.solve(allowed, x))
            return self._scored(x) - before - price - OFTEN
        least = ranked(usual, healthy)
        found = []
        for (kind, subject), extra in hypotheses.items():
            evidence, x = self._marginal(healthy + extra)
            moved = np.flatnonzero(np.diag(extra))
            # Drivers filter torques: that they are newer than positions is rare.
            newer = kind == 'effort_delay' and x[moved[0]] < 0.0
            evidence -= nothing + self._doubt + (
                RARE if newer else OFTENER if kind == 'effort_scale_joint' else OFTEN)
            if kind == 'effort_scale' and np.mean(x[moved]) < SMALL[0] - 1.0:
                # So small readings say little of their size: what all evidence says counts.
                x[moved] = max(SMALL, key=lambda reading: self._likelihood.evaluate(
                    self._corrector.scaled(config, slice(None), 1.0 / reading, 'effort')
                    ).score) - 1.0
            if kind in OF_SCALE:
                scale = abs(float(np.mean(x[moved])))
                if scale < LEAST_SCALE or (kind == 'total_mass' and scale > MASS_LIMIT):
                    continue
            if evidence < -2.0 * OFTEN or (kind == 'armature' and all(
                    abs(size) < WRONG_ROTOR * stated
                    for size, (_, stated) in zip(x[moved], self._typical))):
                continue
            corrected = config
            try:
                for i in moved:
                    apply = self._parameters[i].apply
                    corrected = apply(corrected, float(x[i])) if apply else corrected
            except LeggedDynamicsError:
                continue
            # The linear model alone may be far off: what all evidence speaks against is no fault.
            rank = ranked(x, healthy + extra)
            if rank < least:
                continue
            found.append(Sized(kind, (subject,), self.text(config, kind, subject, x[moved]),
                               evidence, rank, corrected, x[moved]))
        return sorted(found, key=lambda one: -one.evidence)

    # ---- the linear model --------------------------------------------------------------------

    def _equations(self, config: RobotConfig) -> tuple[Samples, Equations]:
        model = config.apply_to(self._model)
        s = observe(self._signals, model, config)
        return s, motion_equations(model, feet_table(model, config.feet), s.position, s.velocity,
                                   s.acceleration, s.base, s.up)

    def _parts(self, s: Samples, eq: Equations) -> tuple[np.ndarray, np.ndarray]:
        """Return what forces must explain (n, 6 + nj) and how they enter, in tolerances."""
        given = np.where(s.has_effort, s.effort, 0.0)
        M = np.concatenate([eq.grasp, eq.jacobian.transpose(0, 2, 1)], axis=1)
        return np.hstack([eq.wrench, eq.effort - given]) / self._scale, M / self._scale[:, None]

    def _smoothed(self, values: np.ndarray) -> np.ndarray:
        return sosfiltfilt(self._filter, values, axis=0)[::self._every]

    def _linearize(self, config: RobotConfig) -> None:
        likelihood, W, h = self._likelihood, self._likelihood.weight, self._height
        self._limit = ActuatorModel.of(self._model, config).limit
        s, eq = self._equations(config)
        n, nj = s.position.shape
        noise = config.noise.effort * math.sqrt(min(
            2.0 * self._signals.band / self._signals.sample_rate, 1.0))
        self._known = s.has_effort
        effort = np.where(self._known, np.hypot(EFFORT * W * h / len(config.feet), noise), np.inf)
        self._scale = np.concatenate([[FORCE * W] * 3, [MOMENT * W * h] * 3, effort])
        y, M = self._parts(s, eq)
        # A joint that hardly turns sticks: its friction is anything up to the Coulomb friction.
        sticks = 1.0 - np.tanh(s.velocity / FRICTION_SPEED) ** 2
        coulomb = [joint.friction for joint in config.apply_to(self._model).joints]
        stuck = np.zeros((n, 6 + nj, nj))
        stuck[:, range(6, 6 + nj), range(nj)] = sticks * coulomb / effort
        # Forces of the ground: by least squares, of a foot in the air next to none.
        up = np.einsum('nfi,ni->nf', eq.points, s.up)
        lowest = np.sort(up, axis=1)[:, min(1, up.shape[1] - 1) if up.shape[1] > 3 else 0]
        unknown = np.concatenate([M, stuck], axis=2)
        back, size = unknown.transpose(0, 2, 1), M.shape[2] // up.shape[1]

        def solution(air: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return what gives the unknowns, and one over what they may be."""
            tight = np.where(air, 1.0 / (NOTHING * W), 1.0 / (ANYTHING * W))
            tight = np.hstack([np.repeat(tight, size, axis=1), np.full((n, nj), QUIETEST)])
            return np.linalg.solve(back @ unknown + tight[:, None] ** 2 * np.eye(tight.shape[1]),
                                   back), tight
        # A tilted IMU lifts feet: one that is pressed to the ground is not in the air.
        solve, _ = solution(np.zeros(up.shape, bool))
        each = (solve @ y[..., None])[:, :M.shape[2], 0].reshape(n, -1, size)[..., :3]
        load = np.einsum('nfi,ni->nf', each, s.up)
        air = (up > lowest[:, None] + AIR * h) & (load < PRESSED * W / up.shape[1])
        solve, tight = solution(air)
        counts = np.hstack([np.repeat(air, size, axis=1), np.ones((n, nj), bool)])
        left = np.eye(6 + nj) - unknown @ solve
        project = np.concatenate([left, (tight * counts)[..., None] * solve], axis=1)
        to_force = solve[:, :M.shape[2]]
        force = (to_force @ y[..., None])[..., 0]
        needed = np.where(np.isfinite(self._scale), self._scale, 0.0) * (
            y - (M @ force[..., None])[..., 0])
        needed = needed[:, 6:] + np.where(self._known, s.effort, 0.0)
        free = 6 + int(self._known.sum()) - M.shape[2] + size * air.sum(axis=1)
        self._free = np.maximum(self._smoothed(free.astype(float)[:, None])[:, 0], 0.0)

        evidence = likelihood.evaluate(config)
        self._other_weight = evidence.weight
        columns: list[np.ndarray] = []
        others: list[np.ndarray] = []
        self._parameters: list[_Parameter] = []

        def add(parameter: _Parameter, column: np.ndarray, other: np.ndarray | None = None
                ) -> None:
            self._parameters.append(parameter)
            columns.append(self._smoothed((project @ column[..., None])[..., 0]))
            others.append(np.zeros_like(evidence.residual) if other is None else other)

        def of_joints(values: dict[int, np.ndarray]) -> np.ndarray:
            column = np.zeros((n, 6 + nj))
            for j, value in values.items():
                column[:, 6 + j] = value / self._scale[6 + j]
            return column

        for parameter, values in self._torques(config, s, needed):
            add(parameter, of_joints(values))
        if self._known.any():
            add(_Parameter('total_mass', '', HEALTHY['total_mass'], self._heavier),
                np.hstack([np.zeros((n, 6)), -(M[:, 6:] @ force[..., None])[..., 0]]))
        for one in self._geometry(config):
            moved = one.apply(config, one.step)     # type: ignore[misc]
            y_moved, M_moved = self._parts(*self._equations(moved))
            column = y_moved - y - ((M_moved - M) @ force[..., None])[..., 0]
            add(one, column / one.step,
                (likelihood.evaluate(moved).residual - evidence.residual) / one.step)
        self._r = self._smoothed((project @ y[..., None])[..., 0])
        self._J, other = np.stack(columns, axis=2), np.stack(others, axis=1)
        weighted = self._other_weight[:, None] * other
        self._A_other, self._b_other = other.T @ weighted, -(weighted.T @ evidence.residual)

    def _torques(self, config: RobotConfig, s: Samples, needed: np.ndarray
                 ) -> Iterator[tuple[_Parameter, dict[int, np.ndarray]]]:
        """Yield parameters that change torques alone, and how."""
        names, limit = self._model.joint_names, self._limit
        legs = [[j for j in joints if self._known[j]]
                for _, joints in legs_of(self._model, config)]
        for j in dict.fromkeys(j for joints in legs for j in joints):
            for kind, apply, value in (
                    ('effort_scale_joint', self._scaled(j), needed[:, j]),
                    (FRICTION, self._joint_list('joint_friction', 'friction', [j]),
                     limit[j] * _dry_friction(s.position[:, j])),
                    ('damping', self._joint_list('joint_damping', 'damping', [j]),
                     limit[j] * s.velocity[:, j]),
                    ('effort_offset', None, np.full(len(needed), limit[j]))):
                yield _Parameter(kind, names[j], HEALTHY[kind], apply), {j: value}
        # Effort limits, and stated armature as a part of them, from the hip on.
        self._typical: list[tuple[float, float]] = []
        # On soles, moments leave the pitch of the body to the base's equations alone, and what
        # its acceleration is off by passes for rotors.
        soles = any(foot.moments for foot in config.feet)
        self._quietest = ON_SOLES if soles else QUIETEST
        physical = config.apply_to(self._model).joints
        for k in range(max(map(len, legs), default=0)):
            alike = [joints[k] for joints in legs if k < len(joints)]
            if soles:
                continue
            stated = float(np.median([physical[j].armature / limit[j] for j in alike]))
            self._typical.append((float(np.median(limit[alike])), stated))
            yield _Parameter('armature', str(k), math.hypot(
                HEALTHY['armature'], ROTOR * stated), self._joint_list(
                'armature', 'armature', alike)), {j: limit[j] * s.acceleration[:, j]
                                                  for j in alike}
        if self._known.any():
            rate = np.gradient(s.effort, s.time, axis=0)
            yield _Parameter('effort_delay', '', HEALTHY['effort_delay'], _older), {
                j: -rate[:, j] for joints in legs for j in joints}

    def _geometry(self, config: RobotConfig) -> Iterator[_Parameter]:
        """Yield parameters whose effect is found by differences."""
        m, h = self._corrector, self._height
        Apply = Callable[[RobotConfig, float], RobotConfig]

        def one(kind: str, apply: Apply, step: float = 0.01, joint: str = '') -> _Parameter:
            return _Parameter(kind, joint, HEALTHY[kind], apply, step)

        def shifted(j: int) -> Apply:
            return lambda c, x: m.shifted(c, j, x)

        def center(e: np.ndarray) -> Apply:
            return lambda c, x: m.with_center_of_mass(c, h * x * e)

        def tilted(e: np.ndarray) -> Apply:
            return lambda c, x: m.tilted(c, x * e)

        def biased(e: np.ndarray) -> Apply:
            return lambda c, x: m.sensors(c, accelerometer_bias=tuple(
                (np.asarray(c.sensors.accelerometer_bias) + x * e).tolist()))

        for j in [j for _, joints in legs_of(self._model, config) for j in joints]:
            yield one('position_offset', shifted(j), joint=self._model.joint_names[j])
        if self._known.any():
            yield from (replace(one('center_of_mass', center(e)), healthy=known) for e, known in
                        zip(np.eye(3), (*2 * [HEALTHY['center_of_mass']], COM_HEIGHT)))
        if not any(foot.moments for foot in config.feet):
            yield one('foot_radius', lambda c, x: m.with_foot_radius(c, h * x))
        if self._signals.has_imu:
            yield from (one('imu_mount', tilted(e)) for e in np.eye(3))
            bias = max(config.noise.accelerometer_bias, 1e-3)
            yield from (_Parameter('accelerometer_bias', '', bias, biased(e), 0.05)
                        for e in np.eye(3))
            yield one('clock_offset', lambda c, x: m.sensors(
                c, imu_delay=c.sensors.imu_delay + x), 2e-3)

    def _hypotheses(self) -> dict[tuple[str, str], np.ndarray]:
        """Return by kind and subject what a fault adds to the covariance of the parameters."""
        found: dict[tuple[str, str], np.ndarray] = {}
        count = len(self._parameters)
        kinds = np.array([one.kind for one in self._parameters])
        for i, one in enumerate(self._parameters):
            kind, subject = (FRICTION if one.kind == 'damping' else one.kind), _SUBJECTS.get(
                one.kind, one.joint)
            if one.kind in FAULTY:
                extra = found.setdefault((kind, subject), np.zeros((count, count)))
                extra[i, i] = FAULTY[one.kind] ** 2

        def common(kind: str, size: float, spread: float) -> np.ndarray:
            which = (kinds == kind).astype(float)
            return size ** 2 * np.outer(which, which) + spread ** 2 * np.diag(which)
        if self._known.any():
            found[FRICTION, ALL] = (common(FRICTION, FAULTY[FRICTION], FRICTION_SPREAD)
                                    + common('damping', FAULTY['damping'], DAMPING_SPREAD))
            found['effort_scale', 'joint_states'] = common('effort_scale_joint', ALL_GAINS, 0.0)
        return found

    # ---- likelihood --------------------------------------------------------------------------

    def _estimate_noise(self, prior: np.ndarray) -> None:
        """Find weights, correlation in time and size of what no fault explains."""
        free, inverse = self._free, np.linalg.inv(prior)
        self._weight, self._correlation, s2 = np.ones(len(self._r)), 0.0, 1.0
        self._count = max(float(free.sum()), 1.0)
        for _ in range(ROUNDS):
            self._normal()
            x = np.linalg.solve(self._A + s2 * (inverse + self._A_other),
                                self._b + s2 * self._b_other)
            e = self._r + self._J @ x
            squares = np.sum(self._white(e) ** 2, axis=1)
            s2 = max(float(self._weight @ squares) / self._count, self._quietest ** 2)
            self._weight = (DEGREES + free) / (DEGREES + squares / s2)
            lag = float(np.sum(e[1:] * e[:-1])) / max(float(np.sum(e[:-1] ** 2)), 1e-12)
            self._correlation = min(max(lag, 0.0), LONGEST)
        self._normal()
        self._s2 = s2

    def _white(self, values: np.ndarray) -> np.ndarray:
        """Return the part of values that does not follow from the sample before."""
        white = values.copy()
        white[1:] -= self._correlation * values[:-1]
        white[0] = 0.0
        return white

    def _normal(self) -> None:
        root = np.sqrt(self._weight)
        J = (self._white(self._J) * root[:, None, None]).reshape(-1, self._J.shape[2])
        r = (self._white(self._r) * root[:, None]).ravel()
        self._A, self._b, self._c = J.T @ J, -(J.T @ r), float(r @ r)

    def _marginal(self, prior: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log marginal likelihood under a prior covariance, and the likeliest x."""
        inverse, s2 = np.linalg.inv(prior), self._s2
        for _ in range(4):      # the noise is what this hypothesis leaves
            K = self._A / s2 + self._A_other + inverse
            right = self._b / s2 + self._b_other
            x = np.linalg.solve(K, right)
            left = self._c / s2 - right @ x
            torque = self._c - 2.0 * self._b @ x + x @ self._A @ x
            s2 = max(float(torque + s2 * x @ inverse @ x) / self._count, self._quietest ** 2)
        K = self._A / s2 + self._A_other + inverse
        right = self._b / s2 + self._b_other
        x = np.linalg.solve(K, right)
        left = self._c / s2 - right @ x
        return (-0.5 * self._count * math.log(s2) - 0.5 * float(left)
                - 0.5 * float(np.linalg.slogdet(K)[1] + np.linalg.slogdet(prior)[1])), x

    def _scored(self, x: np.ndarray) -> float:
        """Return the log-likelihood of torques in the units of `Likelihood`."""
        if not self._known.any():
            return 0.0
        squares = np.sum((self._r + self._J @ x)[:, :6 + len(self._limit)] ** 2, axis=1)
        free = max(float(np.median(self._free)), 1.0)
        step = self._every * float(np.median(np.diff(self._signals.time)))
        return block_scores(squares / free, step, min(free, 6.0))

    # ---- corrections and sentences -----------------------------------------------------------

    def _heavier(self, config: RobotConfig, x: float) -> RobotConfig:
        mass = config.apply_to(self._model).total_mass
        return self._corrector.with_payload(config, mass * x)

    def _scaled(self, joint: int) -> Callable[[RobotConfig, float], RobotConfig]:
        return lambda c, x: self._corrector.scaled(c, [joint], 1.0 / max(1.0 + x, 0.02), 'effort')

    def _joint_list(self, setting: str, field: str, joints: list[int]
                    ) -> Callable[[RobotConfig, float], RobotConfig]:
        """Return the correction that adds parts of the effort limit to a list of the YAML."""
        def apply(c: RobotConfig, x: float) -> RobotConfig:
            names = self._model.joint_names
            values = [getattr(joint, field) for joint in c.apply_to(self._model).joints]
            for j in joints:
                values[j] = max(values[j] + x * float(self._limit[j]), 0.0)
            order = [names.index(name) for name in c.joints or names]
            return replace(c, **{setting: tuple(float(values[i]) for i in order)})  # type: ignore[arg-type]
        return apply

    def text(self, config: RobotConfig, kind: str, subject: str, x: np.ndarray) -> str:
        """Return the sentence on a fault of size ``x`` (k,) in a faulty configuration."""
        h, first = self._height, float(x[0])
        if kind == FRICTION:
            dry, viscous = (100.0 * float(np.mean(x[k::2])) for k in range(2))
            who = 'The joints rub' if subject == ALL else f'{subject} rubs'
            text = f'{who} more than the YAML says: dry friction of about {dry:.0f} %'
            if FAST * viscous > 0.5:
                text += f' and viscous friction of about {FAST * viscous:.0f} % at {FAST:g} rad/s'
            return f'{text} of the effort limit.'
        if kind == 'armature':
            sizes = ', '.join(f'{value * limit:.2g}'
                              for value, (limit, _) in zip(x, self._typical))
            return (f'The rotors are heavier than the YAML says, by {sizes} kg m^2 at the joints '
                    'from the hip on (armature).')
        if kind == 'total_mass':
            mass = config.apply_to(self._model).total_mass
            return f'The robot weighs {mass * (1.0 + first):.3g} kg, not {mass:.3g} kg.'
        if kind == 'foot_radius':
            radius = config.feet[0].radius
            return (f"The feet's radius is {1e3 * max(radius + h * first, 0.0):.0f} mm, not "
                    f'{1e3 * radius:.0f} mm.')
        if kind == 'clock_offset':
            return (f'The stamps of the IMU are {1e3 * abs(first):.1f} ms '
                    f'{"later" if first > 0.0 else "earlier"} than those of the joints at one '
                    'instant.')
        if kind == 'effort_delay':
            return (f'Torques are {1e3 * abs(first):.1f} ms {"older" if first > 0.0 else "newer"} '
                    'than the positions that they come with.')
        if kind == 'effort_scale':
            return (f'All efforts read {1.0 + float(np.mean(x)):.3g} times what they are: motor '
                    'currents, or efforts before the gear?')
        if kind == 'effort_scale_joint':
            return f'{subject}: the effort reads {1.0 + first:.3g} times what it is.'
        if kind == 'position_offset':
            return f'{subject}: the position is off by {-first / DEGREE:.2f} degrees.'
        if kind == 'imu_mount':
            return ('The IMU is mounted turned by '
                    f'{", ".join(f"{value / DEGREE:.1f}" for value in x)} degrees about x, y, z.')
        return ("The base's centre of mass is off by "
                f'{", ".join(f"{1e3 * h * value:.0f}" for value in x)} mm (x, y, z).')


_SUBJECTS = {'armature': 'joint_states', 'effort_delay': 'joint_states', 'total_mass': 'base',
             'center_of_mass': 'base', 'imu_mount': 'imu', 'clock_offset': 'imu',
             'foot_radius': 'feet'}


def _older(config: RobotConfig, x: float) -> RobotConfig:
    """Return the configuration with older torques."""
    return replace(config, noise=replace(config.noise, effort_age=config.noise.effort_age + x))


def _dry_friction(position: np.ndarray) -> np.ndarray:
    """Return dry friction, -1 to 1, that keeps its value at rest (P. R. Dahl 1968)."""
    force, found = 0.0, np.zeros(len(position))
    for k, step in enumerate(np.diff(position) / PRESLIDING, start=1):
        force = min(max(force + step, -1.0), 1.0)
        found[k] = force
    return found
