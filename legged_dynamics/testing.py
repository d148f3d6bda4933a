# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A conformance suite for estimators of ground forces, as scikit-learn has one for its estimators.

An estimator is a function of a trial and its measurements, one by one, that yields one estimate
for each: None while it knows nothing, else an object with the fields of `FootForces`. Measurements
and truth come from simulated runs that the suite makes itself (extra ``sim``)::

    from legged_dynamics.testing import FootForces, check_estimator

    def mine(trial, measurements):
        for measurement in measurements:
            yield FootForces(measurement.stamp_ns, my_forces(trial.model, measurement))

    check_estimator(mine)

`CHECKS` has the single checks, for ``pytest.mark.parametrize``.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.model.standing import body_frames
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import Schedule, SimulatedRobot
from legged_dynamics.spatial.frames import GRAVITY
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion


@dataclass(frozen=True)
class Requirements:
    """
    What `check_estimator` asks for; wide enough for a momentum observer that is made with care.

    Attributes
    ----------
    weight : float
        Error of the mean sum of forces of a robot at rest, of the weight.
    impulse : float
        Error of the impulse of all forces of a trot, of the weight's.
    pull : float
        Mean of what vertical forces are below zero, of the weight; the ground cannot pull.
    air : float
        Mean force of feet in the air, of the weight; nothing bears on them.
    contact : float
        Share of samples and feet whose contact is right.
    coverage : float
        Share of errors of standing feet within two of their deviations; 0.95 were honest and
        Gaussian.
    width : float
        Deviation over error, both root mean square; wide bars that say nothing are not honest.
    symmetry : float
        Of a mean force, from the mirrored one of a mirrored robot, of the weight.
    delay : float
        Age of what an estimate describes [s].
    settling : float
        What is not judged at a run's beginning [s].

    """

    weight: float = 0.02
    impulse: float = 0.02
    pull: float = 0.02
    air: float = 0.05
    contact: float = 0.85
    coverage: float = 0.8
    width: float = 5.0
    symmetry: float = 0.01
    delay: float = 0.05
    settling: float = 0.3


class FootForces(NamedTuple):
    """
    An estimate of the forces of the ground on the feet of a trial, in the order of its feet.

    Attributes
    ----------
    stamp_ns : float
        Time that it describes [ns], that of the newest measurement or earlier.
    force : (nf, 3) array
        On the robot, in the base's axes [N].
    contact : (nf,) array of bool, optional
        Feet on the ground.
    covariance : (nf, 3, 3) array, optional
        Of `force` [N^2].

    """

    stamp_ns: float
    force: np.ndarray
    contact: np.ndarray | None = None
    covariance: np.ndarray | None = None


Estimate = Any      # of the fields of a `FootForces`


@dataclass(frozen=True, eq=False)
class Trial:
    """
    A simulated run: what an estimator may know, and the truth.

    Attributes
    ----------
    model, config, urdf : RobotModel, RobotConfig, str
        The robot; the URDF as XML.
    feet, joints : list of str
        Feet in the order of forces, joints in that of measurements, which is the model's.
    rate, seed : float, int
        Samples a second [1/s]; seed of the sensors' noise.
    measurements : list of Measurement
        With joint torques and an IMU with orientation.
    force : (n, nf, 3) array
        True forces of the ground on the feet, in the base's axes [N].
    contact : (n, nf) array of bool
        True contacts.
    base_twist : (n, 6) array
        True velocity of the base, [linear; angular] in its axes [m/s, rad/s].
    imu_rotation, base_rotation : (n, 3, 3) array
        True R_WI and R_WB.
    weight : float
        Of the robot [N].

    """

    model: RobotModel
    config: RobotConfig
    urdf: str
    feet: list[str]
    joints: list[str]
    rate: float
    seed: int
    measurements: list[Measurement]
    force: np.ndarray
    contact: np.ndarray
    base_twist: np.ndarray
    imu_rotation: np.ndarray
    base_rotation: np.ndarray
    weight: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'weight', GRAVITY * self.model.total_mass)


Estimator = Callable[[Any, Iterator[Measurement]], Iterable[Estimate | None]]


@cache
def make_trial(robot: str = 'anymal_class', schedule: str = 'stand 1, trot_forward 3',
               noise: bool = True, seed: int = 0) -> Trial:
    """
    Return a simulated run; the same arguments give the same run.

    Parameters
    ----------
    robot : str
        Name of a robot that comes with a URDF, or path of its YAML; on points or balls.
    schedule : str
        Behaviours with their seconds, as `simulation.Schedule` reads them.
    noise : bool
        Whether sensors have the noise that the YAML states.
    seed : int
        Of the noise.

    Returns
    -------
    Trial
        With its truth.

    """
    yaml, urdf = robot_files(robot)
    wanted = Schedule.from_text(schedule)
    simulated = SimulatedRobot.from_files(yaml, urdf, schedule=wanted, noise=noise, seed=seed)
    model, config = RobotModel.from_xml(simulated.urdf), RobotConfig.from_yaml(yaml)
    model = config.apply_to(model)
    order = [simulated.plant.joints.index(name) for name in model.joint_names]
    feet = [foot.link for foot in config.feet]
    turned = [simulated.plant.feet.index(foot) for foot in feet]
    places = [model.frame(foot) for foot in feet]
    imu = model.frame(config.imu_link_in(model))[1].R
    measurements, force, contact, twist, base = [], [], [], [], []
    for _ in range(round(wanted.duration * simulated.plant.rate)):
        simulated.step()
        read, true = simulated.read(), simulated.truth()
        assert read.effort is not None
        measurements.append(Measurement(
            read.stamp_ns, read.position[order], read.velocity[order], read.effort[order],
            read.angular_velocity, read.linear_acceleration, read.orientation))
        bodies = body_frames(model, true.position[order])[0]
        force.append([bodies[body] @ pose.R @ wrench[:3] for (body, pose), wrench in zip(
            places, true.feet.wrench[turned])])
        contact.append(true.feet.contact[turned])
        twist.append(true.base_velocity)
        base.append(rotation_from_quaternion(true.base_orientation))
    return Trial(model, config, simulated.urdf, feet, list(model.joint_names),
                 simulated.plant.rate, seed, measurements, np.array(force), np.array(contact),
                 np.array(twist), np.array(base) @ imu, np.array(base))


class _Answers(NamedTuple):
    """What an estimator said of a trial, beside the truth of the instants that it describes."""

    at: np.ndarray              # (m,) samples that are described, after settling
    force: np.ndarray           # (m, nf, 3) [N]
    contact: np.ndarray | None  # (m, nf)
    covariance: np.ndarray | None       # (m, nf, 3, 3) [N^2]

    def world(self, trial: Trial, force: np.ndarray) -> np.ndarray:
        """Return forces (m, nf, 3) in the world."""
        return np.einsum('nij,nfj->nfi', trial.base_rotation[self.at], force)


def _ask(estimator: Estimator, trial: Trial, measurements: Sequence[Measurement] | None = None
         ) -> list[Estimate | None]:
    """Return one estimate a measurement; none is handed out before the last was answered."""
    asked = 0
    found: list[Estimate | None] = []

    def one_by_one() -> Iterator[Measurement]:
        nonlocal asked
        for measurement in measurements or trial.measurements:
            assert len(found) == asked, 'expected an estimate for each measurement, in turn'
            asked += 1
            yield measurement
    for said in estimator(trial, one_by_one()):
        assert len(found) == asked - 1, 'expected one estimate for each measurement'
        found.append(said)
    assert len(found) == asked, 'expected an estimate for each measurement'
    return found


def _answers(estimator: Estimator, trial: Trial, need: Requirements,
             measurements: Sequence[Measurement] | None = None) -> _Answers:
    said = [one for one in _ask(estimator, trial, measurements) if one is not None]
    assert said, 'expected estimates, got none'
    for one in said:
        assert np.shape(one.force) == (len(trial.feet), 3), (
            f'expected forces of shape {(len(trial.feet), 3)}, got {np.shape(one.force)}')
        assert np.isfinite(one.force).all(), 'expected finite forces'
    start = trial.measurements[0].stamp_ns
    time = 1e-9 * (np.array([one.stamp_ns for one in said]) - start)
    at = np.round(time * trial.rate).astype(int)
    kept = [k for k, place in enumerate(at) if place >= need.settling * trial.rate]

    def of(name: str) -> np.ndarray | None:
        values = [getattr(said[k], name) for k in kept]
        return None if any(value is None for value in values) else np.array(values)
    return _Answers(at[kept], np.array([said[k].force for k in kept]), of('contact'),
                   of('covariance'))


# -------------------------------------------------------------------------------------------------
# Physics.


def check_weight_at_rest(estimator: Estimator, need: Requirements) -> None:
    """Check that the forces on a robot that stands sum up to its weight, upwards."""
    trial = make_trial(schedule='stand 1', noise=False)
    found = _answers(estimator, trial, need)
    total = found.world(trial, found.force).sum(axis=1).mean(axis=0) / trial.weight
    off = float(np.linalg.norm(total - [0.0, 0.0, 1.0]))
    assert off < need.weight, (f'at rest, the sum of forces is off by {100 * off:.1f} % of the '
                               'weight')


def check_momentum(estimator: Estimator, need: Requirements) -> None:
    """Check that the forces of a trot have the impulse that the robot's momentum took."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    impulse = found.world(trial, found.force - trial.force[found.at]).sum(axis=1).mean(axis=0)
    off = float(np.linalg.norm(impulse)) / trial.weight
    assert off < need.impulse, (f"a trot: the impulse is off by {100 * off:.1f} % of the weight's")


def check_no_pull(estimator: Estimator, need: Requirements) -> None:
    """Check that the ground does not pull at feet."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    up = found.world(trial, found.force)[..., 2] / trial.weight
    pull = float(np.clip(-up, 0.0, None).mean())
    assert pull < need.pull, f'feet are pulled down by {100 * pull:.1f} % of the weight'


def check_air(estimator: Estimator, need: Requirements) -> None:
    """Check that nothing bears on the feet that a trot has in the air."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    size = np.linalg.norm(found.force[~trial.contact[found.at]], axis=-1).mean() / trial.weight
    assert size < need.air, f'feet in the air have {100 * size:.1f} % of the weight'


def check_contact(estimator: Estimator, need: Requirements) -> None:
    """Check contacts, where the estimator has them, against those of a trot."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    if found.contact is not None:
        right = float((found.contact == trial.contact[found.at]).mean())
        assert right > need.contact, f'contacts are right in {100 * right:.0f} % of a trot'


def check_symmetry(estimator: Estimator, need: Requirements) -> None:
    """Check that a robot and its mirror image, the same robot, get mirrored forces."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    joints, feet = _mirror(trial.model, trial.feet)
    other = _answers(estimator, trial, need, [_mirrored(one, trial, joints)
                                              for one in trial.measurements])
    turned = other.force[:, feet] * [1.0, -1.0, 1.0]
    off = np.abs(turned.mean(axis=0) - found.force.mean(axis=0)).max() / trial.weight
    assert off < need.symmetry, (f'a mirrored trot: mean forces differ by {100 * off:.1f} % of '
                                 'the weight')


def _mirror(model: RobotModel, feet: Sequence[str]) -> tuple[np.ndarray, list[int]]:
    """Return (nj, nj) that takes joints to those of the other side, and each foot's partner."""
    flip = np.array([1.0, -1.0, 1.0])
    rotation, origin = body_frames(model, np.zeros(model.nq))
    axes = rotation[1:, :, 2]
    matrix = np.zeros((model.n_joints, model.n_joints))
    for k, (axis, place) in enumerate(zip(axes, origin[1:])):
        partner = int(np.linalg.norm(origin[1:] - flip * place, axis=1).round(6).argmin()
                      if abs(place[1]) > 1e-6 else k)
        same = [j for j in range(model.n_joints)
                if np.allclose(origin[1 + j], origin[1 + partner], atol=1e-6)
                and abs(axes[j] @ (-flip * axis)) > 0.99]
        matrix[same[0], k] = np.sign(axes[same[0]] @ (-flip * axis))
    places = np.array([rotation[body] @ pose.p + origin[body]
                       for body, pose in map(model.frame, feet)])
    return matrix, [int(np.linalg.norm(places - flip * place, axis=1).argmin())
                    for place in places]


def _mirrored(one: Measurement, trial: Trial, joints: np.ndarray) -> Measurement:
    assert (one.effort is not None and one.angular_velocity is not None
            and one.linear_acceleration is not None and one.orientation is not None)
    flip = np.diag([1.0, -1.0, 1.0])
    imu = trial.base_rotation[0].T @ trial.imu_rotation[0]
    base = flip @ rotation_from_quaternion(one.orientation) @ imu.T @ flip
    return Measurement(
        one.stamp_ns, joints @ one.position, joints @ one.velocity, joints @ one.effort,
        -imu.T @ flip @ imu @ one.angular_velocity,
        imu.T @ flip @ imu @ one.linear_acceleration, quaternion_from_rotation(base @ imu))


# -------------------------------------------------------------------------------------------------
# Honesty, causality, determinism.


def check_error_bars(estimator: Estimator, need: Requirements) -> None:
    """Check that error bars, where the estimator has them, hold and are no wider than needed."""
    trial = make_trial()
    found = _answers(estimator, trial, need)
    if found.covariance is None:
        return
    down = trial.contact[found.at]
    error = (found.force - trial.force[found.at])[down]
    variance = np.diagonal(found.covariance[down], axis1=1, axis2=2)
    assert (variance > 0.0).all(), 'expected variances above 0'
    share = float((error**2 <= 4.0 * variance).mean())
    assert share > need.coverage, (f'{100 * share:.0f} % of errors are within two deviations, '
                                   'where 95 % should be')
    width = float(np.sqrt(variance.mean() / (error**2).mean()))
    assert width < need.width, f'deviations are {width:.1f} times the errors'


def check_causality(estimator: Estimator, need: Requirements) -> None:
    """Check that estimates are of the past and present, and do not know what comes."""
    trial = make_trial()
    half = len(trial.measurements) // 2
    whole = _ask(estimator, trial)
    _assert_same(_ask(estimator, trial, trial.measurements[:half]), whole[:half],
                 'estimates depend on later measurements')
    for said, measurement in zip(whole, trial.measurements):
        if said is not None:
            age = 1e-9 * (measurement.stamp_ns - said.stamp_ns)
            assert 0.0 <= age <= need.delay, (
                f'expected estimates 0 to {need.delay:g} s old, got {age:.4f} s')


def check_determinism(estimator: Estimator, need: Requirements) -> None:
    """Check that the same measurements give the same bits."""
    trial = make_trial()
    _assert_same(_ask(estimator, trial), _ask(estimator, trial), 'two runs differ')


def _assert_same(first: Sequence[Estimate | None], second: Sequence[Estimate | None],
                 otherwise: str) -> None:
    for one, other in zip(first, second, strict=True):
        assert (one is None) == (other is None), otherwise
        if one is not None and other is not None:
            assert one.stamp_ns == other.stamp_ns, otherwise
            assert np.array_equal(one.force, other.force), otherwise


Check = Callable[[Estimator, Requirements], None]
CHECKS: tuple[Check, ...] = (
    check_weight_at_rest, check_momentum, check_no_pull, check_air, check_contact, check_symmetry,
    check_error_bars, check_causality, check_determinism)


def check_estimator(estimator: Estimator, requirements: Requirements | None = None) -> None:
    """
    Check an estimator of ground forces: physics, honesty, causality, determinism.

    Parameters
    ----------
    estimator : callable
        Takes a `Trial` and an iterator of its measurements, and yields an estimate (or None) for
        each before the next is taken.
    requirements : Requirements, optional
        What is asked for.

    Raises
    ------
    AssertionError
        With a line for each check that failed.

    """
    need = requirements or Requirements()
    failed = []
    for check in CHECKS:
        try:
            check(estimator, need)
        except AssertionError as error:
            failed.append(f'{check.__name__}: {error}')
    assert not failed, '\n'.join(failed)
