# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What identification recovers of planted errors, and what that does to the ground reactions.

Run with ``python -m benchmarks.identify_table``.
"""
from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

from benchmarks.doctor_table import available, plant_of
from benchmarks.planted_faults import record_sensors
from legged_dynamics.diagnosis.identification.identify import identify
from legged_dynamics.diagnosis.identification.samples import SensorLog
from legged_dynamics.estimation import GroundReactionEstimator, Measurement, Mode
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.simulation import Schedule, SimulatedRobot

LEARN = 'stand 2, lift_legs 8.4, squat 8, trot_in_place 5, stand 1'
HELD_OUT = 'stand 1, trot_forward 5, stand 1'
MASS, SHIFT, TORQUE, FRICTION, OFFSET = 1.08, 0.02, 1.2, 0.05, np.pi / 180.0
ENOUGH = 0.15


def simulated(name: str):
    """Return plant and configuration of a robot whose joints rub with 5 % of their limits."""
    plant, parameters = plant_of(name)
    limits = RobotModel.from_urdf(plant.urdf)
    rub = [FRICTION * float(limits.joints[limits.joint_index(j)].effort) for j in plant.joints]
    plant = replace(plant, joint_friction=np.array(rub))
    config = RobotConfig.from_parameters({key: value for key, value in parameters.items()
                                          if key.startswith(('robot.', 'noise.'))})
    return plant, config, np.array(rub)


def driver(log: SensorLog, scale: np.ndarray, offset: np.ndarray) -> SensorLog:
    """Return what a driver with wrong torque constants and encoder zeros makes of a log."""
    j = log.joints
    return SensorLog(replace(j, position=j.position + offset, effort=j.effort * scale), log.imu)


def force_error(model: RobotModel, config: RobotConfig, log: SensorLog,
                truth: np.ndarray) -> float:
    """Return the root mean square error of the feet's forces [N], by the estimator."""
    estimator = GroundReactionEstimator(model, config, {'rate': 500.0})
    c, names, errors = config.sensors, model.joint_names, []
    order = [log.joints.names.index(name) for name in names]
    scale, offset = c.per_joint('effort_scale', names, 1.0), c.per_joint(
        'position_offset', names, 0.0)
    gyro, acceleration = c.imu(log.imu.gyro, log.imu.acceleration)
    where = {int(stamp): k for k, stamp in enumerate(log.joints.stamp_ns)}
    for k, stamp in enumerate(log.joints.stamp_ns.tolist()):
        reaction = estimator.update(Measurement(
            stamp, log.joints.position[k, order] + offset, log.joints.velocity[k, order],
            log.joints.effort[k, order] * scale, gyro[k], acceleration[k], log.imu.orientation[k]))
        if reaction.mode != Mode.UNAVAILABLE:
            # in foot axes, as the truth is
            errors.append(reaction.raw_wrench[:, :3] - truth[where[reaction.stamp_ns], :, :3])
    return float(np.sqrt(np.mean(np.sum(np.square(errors), axis=2))))


def recording(plant, schedule: str, seed: int) -> tuple[SensorLog, np.ndarray]:
    """Return the log and the true wrenches (n, nf, 6) in foot axes of a motion."""
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot(plant, schedule=plan, seed=seed, start_ns=10 ** 18)
    wrenches = []
    step = robot.step

    def noted() -> None:
        step()
        wrenches.append(robot.truth().feet.wrench)
    robot.step = noted      # type: ignore[method-assign]
    log = record_sensors(robot, plan.duration)
    if robot.fallen:
        raise RuntimeError(f'{plant.name} fell')
    return log, np.array(wrenches)


def study(name: str) -> tuple[list[tuple[str, float, float, float, bool]], list[float], object]:
    """Return of each error what was planted and identified, bar, identifiable; force errors."""
    plant, config, rub = simulated(name)
    true = RobotModel.from_urdf(plant.urdf)
    base = true.body_inertia(0)
    wrong = true.with_body_inertia({0: replace(
        base, mass=base.mass * MASS, com=base.com + SHIFT * np.eye(3)[0],
        about_com=base.about_com * MASS)})
    names = plant.joints
    scale = np.where([i % 3 == 2 for i in range(len(names))], TORQUE, 1.0)     # the knees
    offset = np.array([OFFSET * (1.0 if i % 4 == 1 else 0.0) for i in range(len(names))])
    log, _ = recording(plant, LEARN, 0)
    held, truth = recording(plant, HELD_OUT, 7)
    log, held = driver(log, scale, offset), driver(held, scale, offset)
    found = identify(wrong, config, log, total_mass=true.total_mass)
    known = {(q.kind, q.name): q for q in found.quantities}
    rows = []

    def row(label: str, kind: str, quantity: str, planted: float, there: float) -> None:
        """Planted error, what of it was identified."""
        q = known[kind, quantity]
        rows.append((label, planted, q.value - there, q.deviation, q.identifiable))
    root = true.base_link
    row('base mass', 'mass', root, base.mass * (MASS - 1.0), base.mass)
    row('centre of mass', 'center_of_mass', f'{root} x', SHIFT, float(base.com[0]))
    for i, joint in enumerate(names):
        if scale[i] != 1.0:
            row(f'torque {joint}', 'effort_scale', joint, 1.0 - 1.0 / TORQUE, 1.0 / TORQUE)
        row(f'friction {joint}', 'coulomb', joint, rub[i] - 1e-12, rub[i])
        if offset[i]:
            row(f'offset {joint}', 'position_offset', joint, OFFSET, -OFFSET)
    exact = replace(config, joint_friction=tuple(rub.tolist()), sensors=config.sensors.with_joint(
        'effort_scale', names, 1.0 / scale).with_joint('position_offset', names, -offset))
    # The identified model has its friction; the configuration must not put the old one back.
    physics = {j.name: j for j in found.model.joints}
    order = plant.joints
    settled = replace(found.config, joints=order,
                      armature=tuple(physics[j].armature for j in order),
                      joint_damping=tuple(physics[j].damping for j in order),
                      joint_friction=tuple(physics[j].friction for j in order))
    errors = [force_error(wrong, config, held, truth),
              force_error(found.model, settled, held, truth),
              force_error(true, exact, held, truth)]
    return rows, errors, found


def main(names: list[str]) -> int:
    """Print the table; return the exit code."""
    warnings.simplefilter('ignore')
    print(f'Learnt from "{LEARN}" [s], ground reactions on "{HELD_OUT}".\n\n'
          '| robot | errors planted | left by 15 % at most | not, and said so | not, unsaid '
          '| worst | force error as described, N | identified | true model |\n'
          '|---|---|---|---|---|---|---|---|---|')
    for name in names or available():
        rows, errors, found = study(name)
        share = [(abs(left) / abs(planted), label, known) for label, planted, left, _, known in
                 rows]
        good = sum(s <= ENOUGH for s, _, _ in share)
        said = sum(s > ENOUGH and not known for s, _, known in share)
        bad = [f'{label} {100 * s:.0f} %' for s, label, known in share if s > ENOUGH and known]
        worst = max((s, label) for s, label, known in share if known)
        print(f'| {name} | {len(rows)} | {good} | {said} | {len(bad)} | {worst[1]} '
              f'{100 * worst[0]:.0f} % | {errors[0]:.2f} | {errors[1]:.2f} | '
              f'{errors[2]:.2f} |', flush=True)
        print('  missed:', bad, 'said unidentifiable:',
              [label for s, label, known in share if s > ENOUGH and not known], found.before,
              found.after, file=sys.stderr, flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
