# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether `validate` says the truth of its own accuracy: simulated robots with planted errors.

Each case is a quadruped that stands, lifts its feet, squats and trots, with gains, offsets,
friction, delay and mass that its URDF and YAML do not say. `validate` sees the readings alone; the
simulator knows the error of each standing foot's force. Prints a table; run with
``python -m benchmarks.validation``. Other robots than our own come from example-robot-data (PyPI),
by LEGGED_ROBOT_DATA or where pip has put them.
"""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, filtfilt

from benchmarks.doctor_table import OTHERS, available, plant_of
from legged_dynamics.diagnosis.validation.validation import (
    FORCE_BAND,
    JUDGING,
    Validation,
    phases_of,
    run_estimator,
    validate,
)
from legged_dynamics.estimation import EstimatorSettings, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.joint_order import JointOrder
from legged_dynamics.simulation import Schedule, SimulatedRobot

MOTION = 'stand 4, lift_legs 8.4, squat 6, trot_in_place 5, stand 2'
WITHIN = 1.5        # factor between stated and true accuracy that counts as right
CASES, NEEDED = 20, 18


@dataclass(frozen=True)
class Planted:
    """
    What is wrong with a robot and not said.

    Attributes
    ----------
    gain, offset, friction : (nj,) array
        Of measured torques: part, [N m]; dry friction beyond the stated one [N m].
    delay : float [s]
        By which torques are old.
    mass : float
        True mass of the base less the stated one, as a part of the robot's.

    """

    gain: np.ndarray
    offset: np.ndarray
    friction: np.ndarray
    delay: float
    mass: float


@dataclass(frozen=True, eq=False)
class Case:
    """A robot as its owner knows it, a recording, and the true forces."""

    name: str
    model: RobotModel
    config: RobotConfig
    measurements: list[Measurement]
    force: np.ndarray       # (n, nf, 3) true, base axes [N]
    contact: np.ndarray     # (n, nf) true


def planted(rng: np.random.Generator, limits: np.ndarray, size: float) -> Planted:
    """Return errors as they occur on robots, times a size."""
    n = len(limits)
    common = 0.03 * size * rng.normal()
    return Planted(common + 0.04 * size * rng.normal(size=n),
                   0.012 * size * limits * rng.normal(size=n),
                   np.full(n, 0.015 * size * rng.random()) * limits,
                   0.003 * size * rng.random(), 0.03 * size * rng.normal())


def make_case(name: str, seed: int, size: float, motion: str = MOTION) -> Case:
    """Simulate a robot with planted errors."""
    rng = np.random.default_rng(seed)
    plant, parameters = plant_of(name)
    truth = RobotModel.from_urdf(plant.urdf)
    order = JointOrder(plant.joints, truth.joint_names)
    limits = np.array([truth.joints[truth.joint_index(one)].effort for one in plant.joints])
    wrong = planted(rng, limits, size)
    rubbing = np.broadcast_to(plant.joint_friction, limits.shape) + wrong.friction
    plan = Schedule.from_text(motion)
    robot = SimulatedRobot(replace(plant, joint_friction=rubbing), schedule=plan, seed=seed,
                           start_ns=10 ** 18)
    readings, forces, contacts = [], [], []
    for _ in range(round(plan.duration * 1e9 / robot.period_ns)):
        robot.step()
        readings.append(robot.read())
        state = robot.truth()
        forces.append(state.feet.wrench[:, :3])
        contacts.append(state.feet.contact)
    if robot.fallen:
        raise RuntimeError(f'{name} fell')
    config = RobotConfig.from_parameters({key: value for key, value in parameters.items()
                                          if key.startswith(('robot.', 'noise.'))})
    tau = np.array([one.effort for one in readings])
    late = wrong.delay / (robot.period_ns * 1e-9)
    at = np.arange(len(tau))
    tau = np.stack([np.interp(at - late, at, column) for column in tau.T], axis=1)
    tau = tau * (1.0 + wrong.gain) + wrong.offset
    measurements = [replace(one, effort=row).ordered(order) for one, row in zip(readings, tau)]
    base = truth.body_inertia(0)
    stated = truth.with_body_inertia({0: replace(
        base, mass=base.mass - wrong.mass * truth.total_mass)})
    return Case(name, stated, config, measurements, _in_base(truth, config, measurements, forces),
                np.array(contacts))


def _in_base(model: RobotModel, config: RobotConfig, measurements: Sequence[Measurement],
             forces: Sequence[np.ndarray]) -> np.ndarray:
    """Return forces of foot axes in base axes."""
    from legged_dynamics.model.standing import body_frames
    frames = [model.frame(foot.link) for foot in config.feet]
    out = np.zeros((len(forces), len(frames), 3))
    for k, (measurement, force) in enumerate(zip(measurements, forces)):
        rotations, _ = body_frames(model, measurement.position)
        for i, frame in enumerate(frames):
            out[k, i] = rotations[frame.body] @ frame.pose.R @ force[i]
    return out


def true_accuracy(case: Case) -> dict[str, float]:
    """Return the rms error of a standing foot's force below 25 Hz [% of the weight], by phase."""
    stamps = np.array([one.stamp_ns for one in case.measurements])
    period = float(np.median(np.diff(stamps))) * 1e-9
    record = run_estimator(case.model, case.config, EstimatorSettings(rate=1.0 / period),
                           case.measurements)
    b, a = butter(2, FORCE_BAND * 2.0 * period)
    error = filtfilt(b, a, np.nan_to_num(record.force) - case.force, axis=0)
    squares = (error ** 2).sum(axis=2)
    q, v = (np.array([getattr(one, name) for one in case.measurements])
            for name in ('position', 'velocity'))
    time = (stamps - stamps[0]) * 1e-9
    standing = phases_of(time, q, v, record.contact,
                         [foot.link for foot in case.config.feet]).standing
    known = case.contact & (time > JUDGING.settling)[:, None]
    weight = case.model.total_mass * 9.81
    return {part: 100.0 * float(np.sqrt(squares[known & where[:, None]].mean())) / weight
            for part, where in (('standing', standing), ('stepping', ~standing))}


def row_of(case: Case, found: Validation, true: dict[str, float]) -> tuple[str, bool]:
    """Return a row of the table, and whether every part is within the factor."""
    ratios = [found.accuracy[part] / true[part] for part in true]
    right = all(1.0 / WITHIN <= ratio <= WITHIN for ratio in ratios)
    cells = [f'{found.accuracy[part]:.1f} | {true[part]:.1f}' for part in true]
    return f'| {case.name} | {" | ".join(cells)} | {"yes" if right else "no"} |', right


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 0 when enough cases are right, 2 without any, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--cases', type=int, default=CASES)
    parser.add_argument('--first', type=int, default=0, metavar='SEED')
    args = parser.parse_args(argv)
    names = available(tuple(OTHERS))
    print(f'Robots: {", ".join(names)}; motion: {MOTION}\n')
    print('| robot | standing, stated | true | stepping, stated | true | within 1.5 |')
    print('|---|---:|---:|---:|---:|---|', flush=True)
    right = 0
    for k in range(args.first, args.first + args.cases):
        case = make_case(names[k % len(names)], 100 + k, (0.3, 0.7, 1.0, 1.5)[k % 4])
        row, good = row_of(case, validate(case.model, case.config, case.measurements),
                           true_accuracy(case))
        right += good
        print(row, flush=True)
    print(f'\n{right} of {args.cases} within a factor of {WITHIN}.')
    return 2 if args.cases < 1 else 0 if right >= NEEDED / CASES * args.cases else 1


if __name__ == '__main__':
    raise SystemExit(main())
