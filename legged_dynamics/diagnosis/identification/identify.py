# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Identification of a robot from a recording of its own sensors, without any force sensor.

Nonlinear least squares (scipy) starts from the description; each unknown has a prior whose
deviation says how far the description is trusted. Error bars allow for residuals that are
correlated over time: the recording is cut into blocks, and their scatter takes the place of white
noise (the sandwich estimator of Huber and White). An unknown whose error bar the recording hardly
makes smaller is not identifiable from it, and the motion that would identify it is named.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.optimize import least_squares

from legged_dynamics.diagnosis.identification.problem import (
    PER_AXIS,
    PHYSICS,
    STEP,
    TRUST,
    Problem,
    TrustSettings,
    Unknowns,
    check_total_mass,
    standing_height,
)
from legged_dynamics.diagnosis.identification.samples import SensorLog, Signals, filtered, observe
from legged_dynamics.estimation.settings import check_floating_robot
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.urdf import inertial_element

# -------------------------------------------------------------------------------------------------
# Identified quantities: value, error bar, and whether the recording identifies them.


UNITS = {'mass': 'kg', 'center_of_mass': 'm', 'inertia': 'kg m^2', 'link_mass': 'kg',
         'effort_scale': '1', 'coulomb': 'N m', 'viscous': 'N m s/rad', 'armature': 'kg m^2',
         'position_offset': 'rad', 'imu_mount': 'rad', 'accelerometer_bias': 'm/s^2',
         'gyro_bias': 'rad/s'}
# Motions that identify each kind of quantity.
MOTIONS = {
    'mass': 'weigh the robot (--total-mass), or trust the torques (--trust-effort)',
    'center_of_mass': 'lean the body about x and y while all feet stand; for its height, lean '
                      'further',
    'inertia': 'sway the body quickly: roll, pitch and yaw at 1 Hz or more, or trot',
    'link_mass': 'lift the leg and hold it at several angles; swing it',
    'effort_scale': 'squat and lift each leg; weigh the robot (--total-mass)',
    'coulomb': 'swing the joint slowly to and fro, leg lifted',
    'viscous': 'swing the joint at several speeds up to its limit, leg lifted',
    'armature': 'swing the joint quickly, leg lifted: several Hz',
    'position_offset': 'squat, and lift each leg, on level ground',
    'imu_mount': 'stand level, then lean about x and y',
    'accelerometer_bias': 'stand for 10 s with the body leaned to each side',
    'gyro_bias': 'stand still for 10 s'}


@dataclass(frozen=True)
class Quantity:
    """
    One identified quantity.

    Attributes
    ----------
    kind, name, unit : str
        Such as 'viscous', 'LF_HFE', 'N m s/rad'.
    described, value : float
        In the description, and identified.
    deviation : float
        Error bar: one standard deviation.
    trust : float
        Standard deviation of the prior about the description.
    identifiable : bool
        Whether the recording makes the error bar much smaller than the prior's.

    """

    kind: str
    name: str
    unit: str
    described: float
    value: float
    deviation: float
    trust: float
    identifiable: bool

    @property
    def motion(self) -> str:
        """Motion that would identify it; empty when this one does."""
        return '' if self.identifiable else MOTIONS[self.kind]


def quantities(u: Unknowns, x: np.ndarray, covariance: np.ndarray,
               prior: np.ndarray) -> tuple[Quantity, ...]:
    """Return all identified quantities; (p, p) covariances after and before the recording."""
    names, described = _values(u, np.zeros(u.size))
    value = _values(u, x)[1]
    gradient = np.stack([(_values(u, x + step)[1] - _values(u, x - step)[1]) / (2.0 * STEP)
                         for step in STEP * np.eye(u.size)], axis=1)
    after, before = (np.sqrt(np.maximum(np.einsum('ij,jk,ik->i', gradient, spread, gradient), 0.0))
                     for spread in (covariance, prior))
    return tuple(
        Quantity(kind, name, UNITS[kind], float(old), float(new), float(bar), float(wide),
                 bool(bar < FIT.identifiable * wide))
        for (kind, name), old, new, bar, wide in zip(names, described, value, after, before))


def _values(u: Unknowns, x: np.ndarray) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return kind, name and value of every quantity at unknowns x (p,)."""
    model, c, base = u.model, u.config.sensors, u.model.base_link
    masses, body = u.inertial(x)[::10], u.bodies[0].inertia(x[:10])
    found = [('mass', 'total', masses.sum()), ('mass', base, masses[0])]
    found += [('center_of_mass', f'{base} {axis}', body.com[k]) for k, axis in enumerate('xyz')]
    found += [('inertia', f'{base} {2 * axis}', body.about_com[k, k])
              for k, axis in enumerate('xyz')]
    found += [('link_mass', joint.child, mass) for joint, mass in zip(model.joints, masses[1:])]
    scale = c.per_joint('effort_scale', model.joint_names, 1.0)
    for kind, values in (
            ('effort_scale', scale * np.exp(x[u.parts['effort_scale']])),
            *((kind, u.of_joints(kind, x)) for kind in PHYSICS),
            ('position_offset', c.per_joint('position_offset', model.joint_names, 0.0)
             + x[u.parts['position_offset']])):
        found += [(kind, name, value) for name, value in zip(model.joint_names, values)]
    found += [(kind, axis, value) for kind in PER_AXIS if kind in u.parts
              for axis, value in zip('xyz', x[u.parts[kind]])]
    return [one[:2] for one in found], np.array([one[2] for one in found], float)


# -------------------------------------------------------------------------------------------------
# Least squares.


@dataclass(frozen=True)
class FitSettings:
    """Least squares, and which of its results count."""

    identifiable: float = 0.5    # of the prior's error bar: largest of a quantity that is known
    block: float = 1.5    # s, over which residuals may be correlated
    weighed: float = 0.003    # of the mass: accuracy of a scale
    robust: float = 3.0    # tolerances: a larger residual (an impact) counts linearly
    most: int = 12    # evaluations in a pass, at most
    passes: int = 3    # the later ones with less weight on impacts and sticking joints
    spacing: float = 0.05    # s between the samples


FIT = FitSettings()


@dataclass(frozen=True, eq=False)
class Identification:
    """
    An identified robot.

    Attributes
    ----------
    model : RobotModel
        With identified inertias and joint physics.
    config : RobotConfig
        With identified torque constants, offsets, and the IMU's mount and biases.
    quantities : tuple of Quantity
        Each with its error bar.
    x : (p,) array
        The unknowns.
    covariance : (p, p) array
        Their covariance.
    before, after : Balance
        Residuals of the equations with the description, and with the identified robot.
    absolute : bool
        Whether masses and torques have a scale: by a weighed mass, or trusted torques.

    """

    model: RobotModel
    config: RobotConfig
    quantities: tuple[Quantity, ...]
    x: np.ndarray
    covariance: np.ndarray
    before: Balance
    after: Balance
    absolute: bool


@dataclass(frozen=True)
class Balance:
    """
    Part of the equations of motion that ground forces cannot explain: rms over a recording.

    Attributes
    ----------
    force, moment : float
        Of the base's equations, as parts of the weight, and of weight times height.
    effort : float [N m or N]
        Of the joints' equations.

    """

    force: float
    moment: float
    effort: float


def identify(model: RobotModel, config: RobotConfig, log: SensorLog, *,
             total_mass: float | None = None, trust_effort: bool = False,
             trust: TrustSettings = TRUST) -> Identification:
    """
    Identify a robot.

    Parameters
    ----------
    model : RobotModel
        As the URDF has it.
    config : RobotConfig
        As the YAML has it.
    log : SensorLog
        Recording with standing, squatting, leaning, swinging legs, trotting: the more kinds of
        motion the better.
    total_mass : float, optional [kg]
        Mass of the weighed robot. Torques and masses have one common factor that no motion on
        the ground identifies; a scale does.
    trust_effort : bool
        Whether the efforts are right on average, which gives the same factor.
    trust : TrustSettings
        How far each unknown may be from the description.

    Returns
    -------
    Identification

    Raises
    ------
    ConfigurationError
        When the robot does not fit, or a value is out of range.
    MeasurementError
        When the recording is too short or has no efforts.

    """
    check_total_mass(total_mass, model)
    model = config.apply_to(model)
    check_floating_robot(model, config)
    signals = filtered(log, spacing=FIT.spacing)
    problem = _make_problem(model, config, signals, trust)
    u = problem.unknowns
    if not problem.known.any():
        raise MeasurementError('identification needs joint efforts, and joint_states has none; '
                               'record effort, or motor currents with an effort_scale')
    prior = _prior(u, total_mass, trust_effort)

    before = _balance(problem, np.zeros(u.size))
    z, weight = np.zeros(u.size), np.ones(1)
    for _ in range(FIT.passes):
        reduced = _Reduced(problem, prior, weight)
        z = least_squares(reduced.residual, z, reduced.jacobian, max_nfev=FIT.most, xtol=1e-4,
                          ftol=1e-4, x_scale=1.0).x
        problem.rescale(z * u.deviation)
        problem.settle(z * u.deviation)
        weight = _robust(problem(z * u.deviation, jacobian=False).residual)
    x = z * u.deviation
    covariance = _covariance(problem, x, prior, signals)
    found = quantities(u, x, covariance, np.diag(u.deviation ** 2))
    return Identification(u.robot(x), u.configuration(x), found, x, covariance, before,
                          _balance(problem, x), total_mass is not None or trust_effort)


def _make_problem(model: RobotModel, config: RobotConfig, signals: Signals,
                 trust: TrustSettings = TRUST) -> Problem:
    """Return the estimation problem of a robot and a recording."""
    height = standing_height(model, config)
    return Problem(signals, Unknowns(model, config, height, trust, signals.has_imu), height)


def validate(model: RobotModel, config: RobotConfig, log: SensorLog) -> Balance:
    """Return residuals of a robot's equations on a recording it was not identified from."""
    problem = _make_problem(model, config, filtered(log))
    return _balance(problem, np.zeros(problem.unknowns.size))


def _balance(problem: Problem, x: np.ndarray) -> Balance:
    """Return the residuals of the equations at unknowns (p,)."""
    rest = problem(x, jacobian=False).balance
    known = np.flatnonzero(problem.known) + 6

    def size(columns: Any) -> float:
        return float(np.sqrt(np.mean(np.sum(rest[:, columns] ** 2, axis=1))))
    return Balance(size(slice(0, 3)) / problem.weight,
                   size(slice(3, 6)) / problem.weight / problem.height,
                   float(np.sqrt(np.mean(rest[:, known] ** 2))))


class _Reduced:
    """
    An equivalent problem with one residual more than unknowns.

    With ``H = J^T J = L L^T``, its residuals are ``L^-1 J^T r`` with derivative ``L^T``,
    and the part of r that no step changes. Cost and steps are the same.
    """

    def __init__(self, problem: Problem, prior: Any, weight: np.ndarray):
        self._problem, self._prior, self._weight = problem, prior, weight
        self._z = np.full(problem.unknowns.size, np.nan)

    def residual(self, z: np.ndarray) -> np.ndarray:
        """Return the (p + 1,) residuals at scaled unknowns (p,)."""
        self._at(z)
        return self._r

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return their (p + 1, p) derivative."""
        self._at(z)
        return self._J

    def _at(self, z: np.ndarray) -> None:
        if np.array_equal(z, self._z):
            return
        D = self._problem.unknowns.deviation
        at = self._problem(z * D)
        root = np.sqrt(self._weight)
        r, J = at.residual * root, at.jacobian
        J *= root[:, None] if len(root) > 1 else 1.0
        known, slope = self._prior(z)
        H = D[:, None] * (J.T @ J) * D + slope.T @ slope
        L = np.linalg.cholesky(H)
        inner = np.linalg.solve(L, D * (J.T @ r) + slope.T @ known)
        rest = max(float(r @ r + known @ known - inner @ inner), 0.0)
        self._r = np.append(inner, np.sqrt(rest))
        self._J = np.vstack([L.T, np.zeros(len(z))])
        self._z = z.copy()


def _robust(residual: np.ndarray) -> np.ndarray:
    """Return the weights by which squares beyond `FIT.robust` count linearly."""
    return 1.0 / np.sqrt(1.0 + (residual / FIT.robust) ** 2)


def _prior(u: Unknowns, total_mass: float | None, trust_effort: bool) -> Any:
    """Return residuals and derivative of the prior, as a function of the scaled unknowns z."""
    masses = 10 * np.arange(u.model.n_bodies)
    rows = []
    if trust_effort:        # the mean of the torque constants' logs is zero
        row = np.zeros(u.size)
        row[u.parts['effort_scale']] = u.deviation[u.parts['effort_scale']] / u.model.n_joints
        rows.append(row / FIT.weighed)

    def known(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual = [z, np.array([row @ z for row in rows])]
        jacobian = [np.eye(u.size), np.reshape(rows, (-1, u.size))]
        if total_mass is not None:
            each = u.inertial(z * u.deviation)[masses]
            scale = 1.0 / (FIT.weighed * total_mass)
            row = np.zeros((1, u.size))
            row[0, masses] = 2.0 * each * u.deviation[masses] * scale
            residual.append(np.array([(each.sum() - total_mass) * scale]))
            jacobian.append(row)
        return np.concatenate(residual), np.concatenate(jacobian)
    return known


def _covariance(problem: Problem, x: np.ndarray, prior: Any, signals: Signals) -> np.ndarray:
    """
    Return the covariance of the unknowns, by the jackknife over blocks of time.

    There are fewer blocks than unknowns: correlations are those of the scatter of single rows,
    and no deviation is less than theirs. Of the ground's height, to which offsets are fitted,
    residuals tell too little: its tolerance counts.
    """
    u = problem.unknowns
    at, D = problem(x), u.deviation
    robust = _robust(at.residual)
    J = at.jacobian * D
    WJ = J * robust[:, None]
    known = prior(x / D)[1]
    known = known.T @ known
    information = J.T @ WJ + known
    step = max(float(np.median(np.diff(signals.time))), 1e-6)
    rows = at.rows * max(int(FIT.block / step), 1)
    spread = np.zeros_like(known)
    starts = range(0, len(J), rows)
    for block in (slice(start, start + rows) for start in starts):
        # What the unknowns would change by without the block, of which each leg's lift is one.
        change = np.linalg.solve(information - J[block].T @ WJ[block],
                                 WJ[block].T @ at.residual[block])
        spread += np.outer(change, change) * (1.0 - 1.0 / len(starts))
    bread = np.linalg.inv(information)
    of_heights = np.arange(len(J)) % at.rows >= at.rows - len(u.config.feet)
    J *= np.where(of_heights, np.sqrt(robust), robust * at.residual)[:, None]
    least = bread @ (J.T @ J + known) @ bread
    # Never less than by single rows: a block may by chance leave a quantity as it is.
    lasting = np.diag(spread + bread @ known @ bread) / np.diag(least)
    wider = np.sqrt(np.maximum(lasting, 1.0)) * D
    return wider[:, None] * least * wider


# -------------------------------------------------------------------------------------------------
# Writing the identified inertias.


def with_inertias(urdf: str, described: RobotModel, identified: RobotModel) -> str:
    """
    Return a URDF with identified inertias, otherwise unchanged.

    Each body's inertia is written to its first link; links fixed to it lose theirs, since
    the equations know bodies only.
    """
    root = ElementTree.fromstring(urdf)
    heads = [described.base_link, *(joint.child for joint in described.joints)]
    links = {link.get('name'): link for link in root.findall('link')}
    for body, head in enumerate(heads):
        new = identified.body_inertia(body)
        pose = described.frame(head).pose       # of the link in the body, whose z is the axis
        for name, frame in described.frames.items():
            inertial = links[name].find('inertial') if name in links else None
            if frame.body == body and inertial is not None:
                links[name].remove(inertial)
        links[head].insert(0, inertial_element(new.seen_from(pose.inverse())))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode') + '\n'


# -------------------------------------------------------------------------------------------------
# Which motion identification needs, and what of it a recording lacks.


NEEDS = ('Identification needs 20 s or more of: standing still; lifting each leg and swinging it '
         'slowly and quickly in the air; squatting; leaning the body about x and y; trotting.')


@dataclass(frozen=True)
class NeededMotion:
    """Motion that identification needs."""

    time: float = 15.0    # s in all
    still: float = 0.05    # rad/s, of all joints: a robot at rest
    at_rest: float = 1.0    # s
    turn: float = 0.15    # rad, of each joint
    quick: float = 1.0    # rad/s: a quick joint
    part_quick: float = 0.01    # of the time that a joint is quick
    lean: float = 0.04    # rad


NEEDED = NeededMotion()


def lacking(model: RobotModel, config: RobotConfig, log: SensorLog) -> list[str]:
    """Return phrases for the motions that a recording lacks for identification."""
    model = config.apply_to(model)
    samples = observe(filtered(log), model, config)
    time, v, q = samples.time, samples.velocity, samples.position
    moving = [model.joint_index(name) for name in config.carrying(model)]
    names = [model.joint_names[j] for j in moving]
    found = []
    if np.ptp(time) < NEEDED.time:
        found.append(f'time: it has {np.ptp(time):.0f} s')
    if not samples.has_effort[moving].all():
        found.append('efforts of '
                     f'{int((~samples.has_effort[moving]).sum())} of {len(moving)} joints')
    at_rest = (np.abs(v[:, moving]) < NEEDED.still).all(axis=1).mean() * np.ptp(time)
    if at_rest < NEEDED.at_rest:
        found.append('quiet standing')
    for what, seen, why in (
            ('motion', np.ptp(q[:, moving], axis=0) > NEEDED.turn,
             'swing them with the leg lifted'),
            ('quick motion', (np.abs(v[:, moving]) > NEEDED.quick).mean(axis=0)
             > NEEDED.part_quick, 'without it dry friction, viscous friction and rotor inertia '
             'cannot be told apart')):
        still = [name for name, moves in zip(names, seen) if not moves]
        if still:
            found.append(f'{what} of {len(still)} of {len(names)} joints ({", ".join(still[:4])}'
                         f'{", ..." if len(still) > 4 else ""}): {why}')
    for axis, size in zip(('y', 'x'), np.ptp(samples.up[:, :2], axis=0)):
        if size < NEEDED.lean:
            found.append(f'leaning about {axis}')
    return found
