# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The doctor's table: every planted fault on every robot, and healthy recordings without number.

Run with ``python -m benchmarks.doctor_table``. Other robots than our own come from
example-robot-data (PyPI), by LEGGED_ROBOT_DATA or where pip has put them.
"""
from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmarks.actuators import add_unitree, healthy_motions
from benchmarks.actuators import healthy as healthy_scenario
from benchmarks.planted_faults import (
    TRANSPORT_NS,
    RecordedRobot,
    dry_friction,
    planted_faults,
    record_sensors,
    small_defects,
    unforeseen,
    with_gains,
)
from benchmarks.zoo.cache import recording
from benchmarks.zoo.foreign import FOREIGN
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import MissingRobot
from benchmarks.zoo.scenarios import SCENARIOS, DisturbedScenario
from legged_dynamics.diagnosis.doctor.examination import examine
from legged_dynamics.diagnosis.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.exceptions import LeggedDynamicsError, SimulationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Plant, Schedule, SimulatedRobot

# -------------------------------------------------------------------------------------------------
# Quadrupeds for doctor and identification: two of the package, others of example-robot-data.


OURS = ('anymal_class', 'solo_class')
CHECKUP = 'stand 1.5, lift_legs 8.4, squat 6, stand 1'
# Of example-robot-data (PyPI): URDF, feet, joints of a leg by its prefix, standing pose, radius.
_UNITREE = (('FL', 'FR', 'RL', 'RR'), '{}_foot', ('{}_hip_joint', '{}_thigh_joint',
                                                  '{}_calf_joint'))
_HYQ = (('lf', 'rf', 'lh', 'rh'), '{}_foot', ('{}_haa_joint', '{}_hfe_joint', '{}_kfe_joint'))
_ANYMAL = (('LF', 'RF', 'LH', 'RH'), '{}_FOOT', ('{}_HAA', '{}_HFE', '{}_KFE'))
_SAME = ((0.0, 0.8, -1.6),) * 4
_X = ((0.0, 0.75, -1.5),) * 2 + ((0.0, -0.75, 1.5),) * 2
OTHERS = {
    'a1': ('a1_description/urdf/a1.urdf', _UNITREE, _SAME, 0.02),
    'b2': ('b2_description/urdf/b2_description.urdf', _UNITREE, _SAME, 0.032),
    'go2': ('go2_description/urdf/go2.urdf', _UNITREE, _SAME, 0.022),
    'hyq': ('hyq_description/robots/hyq_no_sensors.urdf', _HYQ, _X, 0.021),
    'b1': ('b1_description/urdf/b1.urdf', _UNITREE, _SAME, 0.03),
    'go1': ('go1_description/urdf/go1.urdf', _UNITREE, _SAME, 0.02),
    'anymal_b': ('anymal_b_simple_description/robots/anymal.urdf', _ANYMAL, _X, 0.03),
}


# Of other descriptions.
FOLDERS: list[Path] = []


def data_folders() -> list[Path]:
    """Return the robots of example-robot-data, LEGGED_ROBOT_DATA or where pip put them, others."""
    import site
    places = [os.environ.get('LEGGED_ROBOT_DATA', '')]
    places += [f'{folder}/cmeel.prefix/share/example-robot-data/robots'
               for folder in (*site.getsitepackages(), *sys.path)]
    return [*(Path(place) for place in places if place and Path(place).is_dir()), *FOLDERS]


def _file(name: str) -> Path | None:
    return next((folder / OTHERS[name][0] for folder in data_folders()
                 if (folder / OTHERS[name][0]).is_file()), None)


def available(names: tuple[str, ...] = ('go2', 'hyq')) -> list[str]:
    """Return our robots, and those of the others that are installed."""
    return [*OURS, *(name for name in names if _file(name))]


def plant_of(name: str) -> tuple[Plant, dict]:
    """Return a robot for the simulator, and its parameters as a YAML would have them."""
    if name in OURS:
        yaml, urdf = robot_files(name)
        parameters = read_parameter_file(yaml)
        return Plant.from_parameters(parameters, urdf.read_text()), parameters
    _, (legs, foot, joints), pose, radius = OTHERS[name]
    feet = [foot.format(leg) for leg in legs]
    text = _bare(_file(name).read_text(), feet, radius)
    model = RobotModel.from_urdf(text)
    names = [joint.format(leg) for leg in legs for joint in joints]
    q = np.zeros(model.nq)
    for joint, angle in zip(names, np.ravel(pose)):
        q[model.joint_index(joint)] = angle
    height = float(np.mean([abs(p.p[2]) for p in frame_poses(model, q, tuple(feet)).values()]))
    work = model.total_mass * 9.81 * height
    parameters = {
        'robot.base_link': model.base_link, 'robot.imu_link': model.base_link,
        'robot.feet': feet, 'robot.foot_radius': radius, 'robot.joints': names,
        'robot.nominal_position': [float(x) for x in np.ravel(pose)],
        'robot.armature': [0.004 * model.total_mass * height ** 2],
        'robot.joint_damping': [0.002 * work], 'robot.joint_friction': [0.0015 * work],
        'noise.effort': 0.002 * work, 'noise.velocity': 0.02,
        'simulation.gait.stiffness': 1.3 * work, 'simulation.gait.damping': 0.035 * work,
        'simulation.gait.stance_stiffness': 0.25 * work,
        'simulation.gait.stance_damping': 0.015 * work,
        'simulation.gait.step_height': 0.12 * height,
        'simulation.gait.period': 2.8 * math.sqrt(height / 9.81)}
    return Plant.from_parameters(parameters, text), parameters


def _bare(text: str, feet: list[str], radius: float) -> str:
    """Return a URDF without meshes, whose feet are balls and whose joints have limits."""
    root = ElementTree.fromstring(text)
    for link in root.findall('link'):
        for part in ('visual', 'collision'):
            for element in link.findall(part):
                link.remove(element)
        inertial = link.find('inertial')
        if inertial is not None and float(inertial.find('mass').get('value')) < 1e-2:
            link.remove(inertial)       # a placeholder that no distribution of mass has
        if link.get('name') in feet:
            link.append(ElementTree.fromstring(
                f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'))
    for tag in ('transmission', 'gazebo', 'material', 'mujoco'):
        for element in root.findall(tag):
            root.remove(element)
    return ElementTree.tostring(root, encoding='unicode')


def healthy(name: str, schedule: str = CHECKUP, seed: int = 0) -> RecordedRobot:
    """Return a robot and a recording of it in which nothing is wrong."""
    plant, parameters = plant_of(name)
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot(plant, schedule=plan, seed=seed, start_ns=10 ** 18)
    log = record_sensors(robot, plan.duration)
    if robot.fallen:
        raise RuntimeError(f'{name} fell')
    config = RobotConfig.from_parameters({key: value for key, value in parameters.items()
                                          if key.startswith(('robot.', 'noise.'))})
    return RecordedRobot(RobotModel.from_urdf(plant.urdf), config, log)


# -------------------------------------------------------------------------------------------------


# What healthy robots do; the noise is drawn anew five times for each.
MOTIONS = (CHECKUP, 'stand 1, lift_legs 8.4, squat 4', 'stand 2, squat 8, lift_legs 8.4',
           'stand 2, trot_in_place 5, squat 3', 'stand 1, trot_forward 4, squat 4')
DRAWS = 5
# For small defects: torques that are late and rotors show where legs move fast.
WITH_TROT = 'stand 1.5, lift_legs 8.4, squat 6, trot_in_place 4, stand 1'


def noisy(recorded: RecordedRobot, seed: int) -> RecordedRobot:
    """Return a recording with noise and biases of its YAML once more on top of its own."""
    rng, noise = np.random.default_rng(seed), recorded.config.noise
    joints, imu = recorded.log.joints, recorded.log.imu

    def shaken(values: np.ndarray, deviation: float, bias: float = 0.0) -> np.ndarray:
        return (values + deviation * rng.standard_normal(values.shape)
                + bias * rng.standard_normal(values.shape[1]))
    return replace(recorded, log=SensorLog(
        replace(joints, position=shaken(joints.position, noise.position),
                velocity=shaken(joints.velocity, noise.velocity),
                effort=shaken(joints.effort, noise.effort)),
        replace(imu, gyro=shaken(imu.gyro, noise.gyro, noise.gyro_bias),
                acceleration=shaken(imu.acceleration, noise.accelerometer,
                                    noise.accelerometer_bias))))


def verdict(fault, recorded: RecordedRobot) -> str:
    """Return 'found', or what was said instead."""
    faulty = fault.plant(recorded)
    try:
        return fault.named_by(examine(faulty.model, faulty.config, faulty.log).findings,
                              recorded) or 'found'
    except LeggedDynamicsError as error:
        return f'refused: {error}'


def defects(robots: list[str], seeds: int, words: list[str]) -> int:
    """Print what the doctor makes of small defects with a word, torque gains off throughout."""
    rows: dict[str, list[str]] = {}
    false, told = [], 0
    for robot in robots:
        recorded = healthy(robot, WITH_TROT)
        for seed in range(seeds):
            drawn = with_gains(noisy(recorded, seed) if seed else recorded, seed)
            said = examine(drawn.model, drawn.config, drawn.log).findings
            told += 1
            false += [f'{robot}, seed {seed}: {one.kind} {one.subject[0]}, evidence '
                      f'{one.evidence:.1f}' for one in said]
            print(robot, seed, 'healthy:', [one.kind for one in said], file=sys.stderr,
                  flush=True)
            for defect in (one for one in small_defects(drawn) if not words or any(
                    word in one.name for word in words)):
                faulty = defect.plant(drawn)
                said = examine(faulty.model, faulty.config, faulty.log).findings
                verdict = defect.verdict(said)
                rows.setdefault(defect.name, []).append(verdict)
                print(robot, seed, f'{defect.name}: {verdict}', *(
                    f'{one.sure}: {one.text}' for one in said), sep='; ', file=sys.stderr,
                    flush=True)
    print('\n| defect | found | cannot tell | else |\n|---|---|---|---|')
    for name, verdicts in rows.items():
        rest = [one for one in verdicts if one not in ('found', 'cannot tell')]
        print(f'| {name} | {verdicts.count("found")} of {len(verdicts)} | '
              f'{verdicts.count("cannot tell")} | {"; ".join(dict.fromkeys(rest))} |')
    print(f'\nHealthy: {told}, false findings: {len(false)} {false}')
    return 0


def not_built_for(robots: list[str], seeds: int, words: list[str]) -> int:
    """Print what the doctor makes of faults that it has no rule for, of those with a word."""
    rows: dict[str, list[str]] = {}
    for robot in robots:
        recorded = healthy(robot, WITH_TROT)
        for seed in range(seeds):
            drawn = with_gains(noisy(recorded, seed) if seed else recorded, seed)
            for fault in (one for one in unforeseen(drawn) if not words or any(
                    word in one.name for word in words)):
                faulty = fault.plant(drawn)
                said = fault.verdict(examine(faulty.model, faulty.config, faulty.log).findings)
                rows.setdefault(fault.name, []).append(said)
                print(robot, seed, f'{fault.name}: {said}', file=sys.stderr, flush=True)
    columns = ('named', 'in part', 'cannot tell', 'nothing said')
    print(f'\n| not built for | {" | ".join(columns)} | else |\n|---|{"---|" * 5}')
    for name, verdicts in rows.items():
        rest = [one for one in verdicts if one not in columns]
        print(f'| {name} | {" | ".join(str(verdicts.count(c) or "") for c in columns)} | '
              f'{"; ".join(dict.fromkeys(rest))} |')
    every = [one for verdicts in rows.values() for one in verdicts]
    print(f'\n{len(every)} examinations: '
          + ', '.join(f'{every.count(column)} {column}' for column in columns)
          + f', {sum(one.startswith("harm") for one in every)} with a mend that harms.')
    return 0


# Scenarios of the zoo that a healthy walk on level, even, firm ground has none of.
ODD = ('slope', 'across', 'payload', 'mass_error', 'push', 'stair', 'stairs', 'tilting', 'hand',
       'belly', 'fault', 'sink', 'arm')


def healthy_walks(words: list[str], drawn: int, first: int
                  ) -> Iterator[tuple[str, str, Recording]]:
    """
    Yield names, gaits and recordings of healthy walks on level ground; falls are left out.

    Those of the zoo with a word in their name, all where there is none; then ``drawn`` ones from
    the number ``first`` on.
    """
    for name, scenario in {**SCENARIOS, **FOREIGN}.items():
        if (isinstance(scenario, DisturbedScenario) or getattr(scenario, 'friction', 0.8) < 0.8
                or any(getattr(scenario, key, 0) for key in ODD)
                or (words and not any(word in name for word in words))):
            continue
        try:
            yield name, getattr(scenario, 'pattern', '') or scenario.motion, recording(name)
        except (MissingRobot, SimulationError) as error:
            print(f'{name}: left out: {error}', file=sys.stderr, flush=True)
    for number, made in healthy_motions(drawn, 500.0, first, level=True):
        yield made.name, healthy_scenario(number).motion, made


def walking_robots(words: list[str], seeds: int, drawn: int, first: int) -> int:
    """
    Print what the doctor finds in healthy walks, and in the last line how many were told so.

    Each is told twice, by as many draws of noise: as it is, and with dry friction of 5 % of the
    effort limits that the YAML states. None stands, lifts its legs and squats as a check-up asks.
    """
    told, robots, false, certain = 0, set(), 0, 0
    print('| run | robot | gait | stated friction | draw | findings |\n|---|---|---|---|---|---|')
    for name, gait, made in healthy_walks(words, drawn, first):
        for seed, part in itertools.product(range(seeds), (0.0, 0.05)):
            run = with_stated_friction(made, part, made.seed + seed)
            try:
                said = examine(run.model, run.config, run.log).findings
            except LeggedDynamicsError as error:
                print(f'{name}, {part:g}: refused: {error}', file=sys.stderr, flush=True)
                continue
            told, false = told + 1, false + bool(said)
            certain += any(one.sure == 'certain' for one in said)
            robots.add(made.robot)
            print(f'| {name} | {made.robot} | {gait} | {100.0 * part:g} % | {seed} | ' + (
                '; '.join(f'{one.kind} of {one.subject[0]}, {one.sure} ({one.evidence:.1f}): '
                          f'{one.text}' for one in said) or 'none') + ' |', flush=True)
    print(f'\n{told} healthy recordings of {len(robots)} robots: {false} with a finding, '
          f'{certain} of them certain.')
    return 0


def with_stated_friction(made: Any, part: float, seed: int | None = None) -> RecordedRobot:
    """Return what sensors say of a run whose joints rub by a stated part of the effort limits."""
    limit = made.model.effort_limits
    limit = np.where(np.isfinite(limit) & (limit > 0.0), limit, np.abs(made.tau).max())
    has = np.array([joint.friction for joint in made.config.apply_to(made.model).joints])
    stated = dict(zip(made.model.joint_names, (has + part * limit).tolist()))
    order = made.parameters.get('robot.joints') or made.model.joint_names
    config = RobotConfig.from_parameters({
        **made.parameters, 'robot.joint_friction': [stated[name] for name in order]})
    said = list(made.measurements(seed=seed))
    stamp = np.array([m.stamp_ns for m in said])
    q, v, tau, w, a, xyzw = (np.array([getattr(m, name) for m in said]) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration',
        'orientation'))
    return RecordedRobot(made.model, config, SensorLog(
        JointLog(stamp, stamp + TRANSPORT_NS, tuple(made.joints), q, v,
                 tau + dry_friction(made.q, part * limit)),
        ImuLog(stamp, stamp + TRANSPORT_NS, w, a, xyzw)))


def main(names: list[str]) -> int:
    """Fill the table; return the exit code."""
    warnings.simplefilter('ignore')
    robots = names or available()
    columns, rows = {}, {}
    for robot in robots:
        recorded = healthy(robot)
        for fault in planted_faults(recorded):
            rows.setdefault((fault.name, fault.kind), {})[robot] = verdict(fault, recorded)
        columns[robot] = sum(row[robot] == 'found' for row in rows.values())
        print(robot, columns[robot], 'of', len(rows), file=sys.stderr, flush=True)
    alarms, told = {}, 0
    for robot in robots:
        said = []
        for motion in MOTIONS:
            recorded = healthy(robot, motion)
            for draw in range(DRAWS):
                shaken = noisy(recorded, draw) if draw else recorded
                said += [f'{finding.kind} ({motion}, draw {draw}, evidence '
                         f'{finding.evidence:.1f})' for finding in examine(
                             shaken.model, shaken.config, shaken.log).findings]
                told += 1
        alarms[robot] = said
        print(robot, 'false alarms:', said, file=sys.stderr, flush=True)
    text = [f'| planted | finding | {" | ".join(robots)} |', f'|---|---|{"---|" * len(robots)}']
    text += [f'| {name} | `{kind}` | {" | ".join(row[r] for r in robots)} |'
             for (name, kind), row in rows.items()]
    text += ['| **found** | | ' + ' | '.join(
        f'**{columns[r]} of {len(rows)}**' for r in robots) + ' |', '',
        f'Healthy recordings, {len(MOTIONS)} motions (with trotting) and {DRAWS} draws of noise '
        f'a robot: {told}, false alarms: {sum(map(len, alarms.values()))}.', '']
    text += [f'- {robot}: {alarm}' for robot, said in alarms.items() for alarm in said]
    print('\n'.join(text))
    return 0


if __name__ == '__main__':
    parser = argparse.ArgumentParser(prog='python -m benchmarks.doctor_table',
                                     description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', metavar='ROBOT', help='robots of the table, which is '
                        'then only printed; default: all that are installed')
    parser.add_argument('--defects', type=int, metavar='SEEDS', help='print the table of small '
                        'defects instead, with so many draws of noise and gains a robot')
    parser.add_argument('--walks', nargs='*', metavar='WORD', help='print what is found in '
                        'healthy walks instead, of those with a word in their name')
    parser.add_argument('--seeds', type=int, default=1, metavar='N', help='draws of noise of '
                        'each walk')
    parser.add_argument('--drawn', type=int, default=0, metavar='N', help='with --walks, as many '
                        'robots, gaits, speeds and grounds drawn at random besides')
    parser.add_argument('--first', type=int, default=0, metavar='N', help='number of the first '
                        'that is drawn')
    parser.add_argument('--unitree', metavar='FOLDER', help="unitree_ros/robots: makers' URDFs")
    parser.add_argument('--only', nargs='+', default=[], metavar='WORD', help='of small defects '
                        'and faults without a rule those with such a word')
    parser.add_argument('--not-built-for', type=int, metavar='SEEDS', help='print the table of '
                        'faults without a rule instead, with so many draws a robot')
    options = parser.parse_args()
    add_unitree(options.unitree)
    FOLDERS.append(Path(options.unitree or '.'))
    robots = options.robots or available()
    if options.walks is not None:
        sys.exit(walking_robots(options.walks, options.seeds, options.drawn, options.first))
    if options.not_built_for:
        sys.exit(not_built_for(robots, options.not_built_for, options.only))
    sys.exit(defects(robots, options.defects, options.only) if options.defects
             else main(options.robots))
