# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The doctor's table: every planted fault on every robot, and healthy recordings without number.

Run with ``python -m benchmarks.doctor_table``; writes docs/doctor_table.md. Other robots than our
own come from example-robot-data (PyPI), by LEGGED_ROBOT_DATA or where pip has put them.
"""
from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.doctor_robots import CHECKUP, available, healthy
from benchmarks.planted_faults import Patient, planted_faults, small_defects, with_gains
from legged_dynamics.doctor.examination import examine
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.identification.samples import SensorLog

REPORT = Path(__file__).resolve().parent.parent / 'docs' / 'doctor_table.md'
# What healthy robots do; the noise is drawn anew five times for each.
MOTIONS = (CHECKUP, 'stand 1, lift_legs 8.4, squat 4', 'stand 2, squat 8, lift_legs 8.4',
           'stand 2, trot_in_place 5, squat 3', 'stand 1, trot_forward 4, squat 4')
DRAWS = 5


def noisy(patient: Patient, seed: int) -> Patient:
    """Return a patient with noise and biases of its YAML once more on top of its own."""
    rng, noise = np.random.default_rng(seed), patient.config.noise
    joints, imu = patient.log.joints, patient.log.imu

    def shaken(values: np.ndarray, deviation: float, bias: float = 0.0) -> np.ndarray:
        return (values + deviation * rng.standard_normal(values.shape)
                + bias * rng.standard_normal(values.shape[1]))
    return replace(patient, log=SensorLog(
        replace(joints, position=shaken(joints.position, noise.position),
                velocity=shaken(joints.velocity, noise.velocity),
                effort=shaken(joints.effort, noise.effort)),
        replace(imu, gyro=shaken(imu.gyro, noise.gyro, noise.gyro_bias),
                acceleration=shaken(imu.acceleration, noise.accelerometer,
                                    noise.accelerometer_bias))))


def verdict(fault, patient: Patient) -> str:
    """Return 'found', or what was said instead."""
    sick = fault.plant(patient)
    try:
        return fault.named_by(examine(sick.model, sick.config, sick.log).findings,
                              patient) or 'found'
    except LeggedDynamicsError as error:
        return f'refused: {error}'


def defects(robots: list[str], seeds: int) -> int:
    """Print what the doctor makes of small defects, torque gains off throughout."""
    rows: dict[str, list[str]] = {}
    false, told = [], 0
    for robot in robots:
        patient = healthy(robot)
        for seed in range(seeds):
            drawn = with_gains(noisy(patient, seed) if seed else patient, seed)
            said = examine(drawn.model, drawn.config, drawn.log).findings
            told += 1
            false += [f'{robot}, seed {seed}: {one.kind} {one.subject[0]}, evidence '
                      f'{one.evidence:.1f}' for one in said]
            print(robot, seed, 'healthy:', [one.kind for one in said], flush=True)
            for defect in small_defects(drawn):
                sick = defect.plant(drawn)
                verdict = defect.verdict(examine(sick.model, sick.config, sick.log).findings)
                rows.setdefault(defect.name, []).append(verdict)
                print(robot, seed, f'{defect.name}: {verdict}', flush=True)
    print('\n| defect | found | cannot tell | else |\n|---|---|---|---|')
    for name, verdicts in rows.items():
        rest = [one for one in verdicts if one not in ('found', 'cannot tell')]
        print(f'| {name} | {verdicts.count("found")} of {len(verdicts)} | '
              f'{verdicts.count("cannot tell")} | {"; ".join(dict.fromkeys(rest))} |')
    print(f'\nHealthy: {told}, false findings: {len(false)} {false}')
    return 0


def main(names: list[str]) -> int:
    """Fill the table; return the exit code."""
    warnings.simplefilter('ignore')
    robots = names or available()
    columns, rows = {}, {}
    for robot in robots:
        patient = healthy(robot)
        for fault in planted_faults(patient):
            rows.setdefault((fault.name, fault.kind), {})[robot] = verdict(fault, patient)
        columns[robot] = sum(row[robot] == 'found' for row in rows.values())
        print(robot, columns[robot], 'of', len(rows), flush=True)
    alarms, told = {}, 0
    for robot in robots:
        said = []
        for motion in MOTIONS:
            patient = healthy(robot, motion)
            for draw in range(DRAWS):
                shaken = noisy(patient, draw) if draw else patient
                said += [f'{finding.kind} ({motion}, draw {draw}, evidence '
                         f'{finding.evidence:.1f})' for finding in examine(
                             shaken.model, shaken.config, shaken.log).findings]
                told += 1
        alarms[robot] = said
        print(robot, 'false alarms:', said, flush=True)
    text = ['---', 'hide-toc: true', '---', '# What the doctor finds', '',
            'Planted faults on simulated robots, 16.9 s of standing, lifting each leg and '
            'squatting, with the sensor noise of their YAML; by `python -m '
            'benchmarks.doctor_table`. A fault counts as found when it is the only finding, of '
            'the right kind, and its fix has the right value.', '',
            f'| planted | finding | {" | ".join(robots)} |', f'|---|---|{"---|" * len(robots)}']
    text += [f'| {name} | `{kind}` | {" | ".join(row[r] for r in robots)} |'
             for (name, kind), row in rows.items()]
    text += ['| **found** | | ' + ' | '.join(
        f'**{columns[r]} of {len(rows)}**' for r in robots) + ' |', '',
        f'Healthy recordings, {len(MOTIONS)} motions (with trotting) and {DRAWS} draws of noise '
        f'a robot: {told}, false alarms: {sum(map(len, alarms.values()))}.', '']
    text += [f'- {robot}: {alarm}' for robot, said in alarms.items() for alarm in said]
    if not names:
        REPORT.write_text('\n'.join(text).rstrip() + '\n', encoding='utf-8')
    print('\n'.join(text))
    return 0


if __name__ == '__main__':
    parser = argparse.ArgumentParser(prog='python -m benchmarks.doctor_table',
                                     description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', metavar='ROBOT', help='robots of the table, which is '
                        'then only printed; default: all that are installed')
    parser.add_argument('--defects', type=int, metavar='SEEDS', help='print the table of small '
                        'defects instead, with so many draws of noise and gains a robot')
    options = parser.parse_args()
    sys.exit(defects(options.robots or available(), options.defects) if options.defects
             else main(options.robots))
