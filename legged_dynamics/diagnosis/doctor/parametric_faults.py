# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Parametric faults: offsets, gains, friction, rotor inertia, masses, tilts, delays.

All of them enter the equations of motion linearly to first order, ``r + J x`` (`linear_model`). A
healthy robot has some of everything: x is normal with a healthy robot's deviations, and a fault is
the hypothesis that some components have a faulty robot's. Hypotheses are compared by their
marginal likelihoods (Kass and Raftery 1995, "Bayes factors"). The noise is what the fit leaves:
its size and its correlation in time (first order) are estimated, samples weighted as Student-t
distributed. What is not torque (feet against each other, gyro, vertical) enters with the
tolerances of `evidence`.
"""
from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.signal import butter

from legged_dynamics.diagnosis.doctor.evidence import Likelihood, block_scores
from legged_dynamics.diagnosis.doctor.hypotheses import DEGREE, Candidate, Corrector, Finding
from legged_dynamics.diagnosis.doctor.linear_model import (
    FRICTION,
    Linearization,
    LinearModel,
    ResidualFilter,
    healthy_covariance,
)
from legged_dynamics.diagnosis.doctor.settings import DEVIATIONS, PARAMETRIC, PRIOR, TOLERANCES
from legged_dynamics.diagnosis.identification.samples import Drive, Signals
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

ALL = 'all joints'
OF_SCALE = ('total_mass', 'effort_scale')   # no motion on the ground tells them apart
YIELDING = ('elasticity', 'play')


class _Noise:
    """Noise of a linear model's residual: weights and correlation, and the normal equations."""

    def __init__(self, linear: LinearModel, prior: np.ndarray):
        free, inverse = linear.free, np.linalg.inv(prior)
        self._linear = linear
        self._weight, self._correlation, s2 = np.ones(len(linear.r)), 0.0, 1.0
        self.count = max(float(free.sum()), 1.0)
        for _ in range(PARAMETRIC.noise_iterations):
            self._fill_normal_equations()
            x = np.linalg.solve(self.A + s2 * (inverse + linear.A_other),
                                self.b + s2 * linear.b_other)
            e = linear.r + linear.J @ x
            squares = np.sum(self._white(e) ** 2, axis=1)
            s2 = max(float(self._weight @ squares) / self.count, linear.least_noise ** 2)
            self._weight = (TOLERANCES.t_degrees + free) / (TOLERANCES.t_degrees + squares / s2)
            lag = float(np.sum(e[1:] * e[:-1])) / max(float(np.sum(e[:-1] ** 2)), 1e-12)
            self._correlation = min(max(lag, 0.0), PARAMETRIC.largest_correlation)
        self._fill_normal_equations()
        self.s2, self._residual = s2, self._spectrum(linear.r + linear.J @ x)

    def _white(self, values: np.ndarray) -> np.ndarray:
        """Return the part of values that does not follow from the sample before."""
        white = values.copy()
        white[1:] -= self._correlation * values[:-1]
        white[0] = 0.0
        return white

    def _spectrum(self, values: np.ndarray) -> np.ndarray:
        return np.fft.rfft(self._white(values) * np.sqrt(self._weight)[:, None],
                           2 * len(values), axis=0)

    def _fill_normal_equations(self) -> None:
        root, linear = np.sqrt(self._weight), self._linear
        J = (self._white(linear.J) * root[:, None, None]).reshape(-1, linear.J.shape[2])
        r = (self._white(linear.r) * root[:, None]).ravel()
        self.A, self.b, self.c = J.T @ J, -(J.T @ r), float(r @ r)

    def dependence(self, change: np.ndarray) -> float:
        """
        Return by how much independent samples overstate a change's evidence (p,), at least 1.

        That is the noise at the change's frequencies, as of strides, or along it, over the mean.
        """
        e, d = self._residual, self._spectrum(self._linear.J @ change)
        noise, size = np.sum(np.abs(e) ** 2, axis=1), np.sum(np.abs(d) ** 2, axis=1)
        along = np.mean(self._linear.free) * np.abs(np.sum(d.conj() * e, axis=1)) ** 2
        return max(1.0, float(len(size) * max(noise @ size, along.sum())
                              / (noise.sum() * size.sum())))

    def marginal(self, prior: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log marginal likelihood under a prior covariance, and the likeliest x."""
        inverse, s2, linear = np.linalg.inv(prior), self.s2, self._linear

        def solve() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            K = self.A / s2 + linear.A_other + inverse
            right = self.b / s2 + linear.b_other
            return K, right, np.linalg.solve(K, right)
        for _ in range(4):      # the noise is what this hypothesis leaves
            _, _, x = solve()
            torque = self.c - 2.0 * self.b @ x + x @ self.A @ x
            s2 = max(float(torque + s2 * x @ inverse @ x) / self.count, linear.least_noise ** 2)
        K, right, x = solve()
        left = self.c / s2 - right @ x
        return (-0.5 * self.count * math.log(s2) - 0.5 * float(left)
                - 0.5 * float(np.linalg.slogdet(K)[1] + np.linalg.slogdet(prior)[1])), x

    def evidence(self, base: np.ndarray, extra: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log-likelihood ratio of more than a prior covariance, and the likeliest x."""
        (nothing, usual), (value, x) = self.marginal(base), self.marginal(base + extra)
        return (value - nothing) / self.dependence(x - usual), x


class ParametricFaults:
    """Compares parametric faults on a recording filtered at the settings' `signal_cutoff`."""

    def __init__(self, signals: Signals, likelihood: Likelihood, model: RobotModel):
        self._signals, self._likelihood, self._model = signals, likelihood, model
        self._corrector = Corrector(model)
        self._short = PRIOR.short_recording if np.ptp(signals.time) < PRIOR.shortest else 0.0
        dt = float(np.median(np.diff(signals.time)))
        cut = min(PARAMETRIC.residual_cutoff, 0.5 * signals.band)
        self._filter = ResidualFilter(butter(2, min(2.0 * cut * dt, 0.9), output='sos'),
                                      max(int(0.25 / cut / dt), 1))

    def compare(self, config: RobotConfig) -> list[Candidate]:
        """Return faults beyond healthy small errors, likeliest first, ranked by torques alone."""
        linear, full = (Linearization(
            self._signals, self._likelihood, self._corrector, config, in_full=in_full
            ).linear_model(self._filter) for in_full in (False, True))
        self._linear, healthy = linear, healthy_covariance(linear.parameters)
        hypotheses = _hypotheses(linear)
        gain = hypotheses.pop(('accelerometer_gain', 'imu'))
        known = healthy + sum(extra for (kind, _), extra in hypotheses.items()
                              if kind not in OF_SCALE)
        noise, noise_in_full = _Noise(linear, known), _Noise(full, known)
        before = self._score(np.zeros(len(healthy)))

        def ranked(x: np.ndarray, allowed: np.ndarray) -> float:
            price = 0.5 * float(x @ np.linalg.solve(allowed, x))
            return self._score(x) - before - price - PRIOR.frequent
        least = ranked(noise.marginal(healthy)[1], healthy)
        found = []
        for (kind, subject), extra in hypotheses.items():
            # Drives that yield must be worth it where the accelerometer's samples lack its mean,
            # too, and what impacts hide of it is no less where all else is quiet.
            told = [noise_in_full.evidence(base, extra) for base in (healthy, healthy + gain)
                    ] if kind in YIELDING else [noise.evidence(healthy, extra)]
            x, evidence = told[0][1], min(told, key=lambda one: one[0])[0]
            evidence -= self._short + DEVIATIONS[kind].odds
            moved = np.flatnonzero(np.diag(extra))
            if kind == 'effort_scale' and np.mean(x[moved]) < PARAMETRIC.gear_readings[0] - 1.0:
                x[moved] = self._likeliest_reading(config) - 1.0
            if evidence < -2.0 * PRIOR.frequent or self._too_small(kind, x[moved]):
                continue
            corrected = self._corrected(config, moved, x)
            # The linear model alone may be far off: what all evidence speaks against is no fault.
            if corrected is None or (rank := ranked(x, healthy + extra)) < least:
                continue
            found.append(Candidate(
                Finding(kind, (subject,), self.text(config, kind, subject, x[moved]), evidence),
                corrected, rank, x[moved], self._drive(moved, x)))
        return sorted(found, key=lambda one: -one.finding.evidence)

    def _likeliest_reading(self, config: RobotConfig) -> float:
        """Return the gain of all efforts by all evidence: so small readings say little of it."""
        return max(PARAMETRIC.gear_readings, key=lambda reading: self._likelihood.evaluate(
            self._corrector.scaled(config, slice(None), 1.0 / reading, 'effort')).score)

    def _too_small(self, kind: str, x: np.ndarray) -> bool:
        """Tell whether a fault is within what is known, or a mass that of another robot."""
        if kind in (*OF_SCALE, 'effort_drift'):     # a gain that is constant does not drift
            scale = abs(_drift(x) if kind == 'effort_drift' else float(np.mean(x)))
            return scale < PARAMETRIC.least_scale_error or (
                kind == 'total_mass' and scale > PARAMETRIC.largest_mass_error)
        return kind == 'armature' and all(
            abs(size) < PARAMETRIC.wrong_armature * stated
            for size, (_, stated) in zip(x, self._linear.typical))

    def _corrected(self, config: RobotConfig, moved: np.ndarray, x: np.ndarray
                   ) -> RobotConfig | None:
        try:
            for i in moved:
                apply = self._linear.parameters[i].apply
                config = apply(config, float(x[i])) if apply else config
        except LeggedDynamicsError:
            return None
        return config

    def _drive(self, moved: np.ndarray, x: np.ndarray) -> Drive | None:
        """Return the drives of a fault: they yield."""
        parts = [partial(drive, float(x[i])) for i in moved
                 if (drive := self._linear.parameters[i].drive)]
        return (lambda s: np.sum([drive(s) for drive in parts], axis=0)) if parts else None

    def _score(self, x: np.ndarray) -> float:
        """Return the log-likelihood of torques in the units of `Likelihood`."""
        linear = self._linear
        if not linear.has_effort:
            return 0.0
        squares = np.sum((linear.r + linear.J @ x)[:, :6 + len(linear.limit)] ** 2, axis=1)
        free = max(float(np.median(linear.free)), 1.0)
        step = self._filter.every * float(np.median(np.diff(self._signals.time)))
        return block_scores(squares / free, step, min(free, 6.0))

    def text(self, config: RobotConfig, kind: str, subject: str, x: np.ndarray) -> str:
        """Return the sentence on a fault of size ``x`` (k,) in a faulty configuration."""
        h, first = self._likelihood.height, float(x[0])
        if kind == FRICTION:
            speed = PARAMETRIC.swing_speed
            dry, viscous = (100.0 * float(np.mean(x[k::2])) for k in range(2))
            who = 'The joints rub' if subject == ALL else f'{subject} rubs'
            text = f'{who} more than the YAML says: dry friction of about {dry:.0f} %'
            if speed * viscous > 0.5:
                text += (f' and viscous friction of about {speed * viscous:.0f} % at '
                         f'{speed:g} rad/s')
            return f'{text} of the effort limit.'
        if kind == 'armature':
            sizes = ', '.join(f'{value * limit:.2g}'
                              for value, (limit, _) in zip(x, self._linear.typical))
            return (f'The rotors are heavier than the YAML says, by {sizes} kg m^2 at the joints '
                    'from the hip on (armature).')
        if kind == 'elasticity':
            return 'Links are behind their motors in proportion to the torque: elastic drives.'
        if kind == 'play':
            return 'Links are behind their motors by the sign of the torque: the drives have play.'
        if kind == 'effort_drift':
            return ('The gain of the efforts drifts, by a factor of '
                    f'{(2.0 + _drift(x)) / (2.0 - _drift(x)):.2g} from first to last.')
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
        if kind in ('effort_delay', 'velocity_delay'):
            what = 'Torques' if kind == 'effort_delay' else 'Velocities'
            return (f'{what} are {1e3 * abs(first):.1f} ms {"older" if first > 0.0 else "newer"} '
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


def _drift(x: np.ndarray) -> float:
    """Return by how much a gain changes from first to last; polynomials come after gains."""
    return float(x[-PARAMETRIC.drift_degree:][::2].sum())       # even degrees end alike


def _hypotheses(linear: LinearModel) -> dict[tuple[str, str], np.ndarray]:
    """Return by kind and subject what a fault adds to the covariance of the parameters."""
    found: dict[tuple[str, str], np.ndarray] = {}
    kinds = np.array([one.kind for one in linear.parameters])
    for i, one in enumerate(linear.parameters):
        faulty = DEVIATIONS[one.kind].faulty if one.kind in DEVIATIONS else None
        if faulty is not None:
            kind = FRICTION if one.kind == 'damping' else one.kind
            subject = one.joint or _SUBJECTS.get(one.kind, 'joint_states')
            extra = found.setdefault((kind, subject), np.zeros((len(kinds), len(kinds))))
            extra[i, i] = faulty ** 2

    def common(kind: str, size: float | None, spread: float) -> np.ndarray:
        which = (kinds == kind).astype(float)
        return size ** 2 * np.outer(which, which) + spread ** 2 * np.diag(which)  # type: ignore[operator]
    if linear.has_effort:
        found[FRICTION, ALL] = (
            common(FRICTION, DEVIATIONS[FRICTION].faulty, PARAMETRIC.friction_spread)
            + common('damping', DEVIATIONS['damping'].faulty, PARAMETRIC.damping_spread))
        found['effort_scale', 'joint_states'] = common(
            'effort_scale_joint', DEVIATIONS['effort_scale'].faulty, 0.0)
        found['effort_drift', 'joint_states'] += found['effort_scale', 'joint_states']
    return found


_SUBJECTS = {'total_mass': 'base', 'center_of_mass': 'base', 'imu_mount': 'imu',
             'clock_offset': 'imu', 'foot_radius': 'feet'}      # others: joint_states
