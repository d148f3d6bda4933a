# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Faults of the streams themselves: clocks, rates, names, and sensors that do not change.

A working sensor repeats its last reading now and then, due to its resolution; how often, the other
sensors show. A sensor that repeats all its readings is working with that probability to the power
of their number.
"""
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from legged_dynamics.diagnosis.doctor.hypotheses import Finding, changes
from legged_dynamics.diagnosis.doctor.settings import PRIOR, STREAMS, TOLERANCES
from legged_dynamics.diagnosis.identification.samples import JointLog, SensorLog
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.gait.stance_detection import runs


def check_streams(model: RobotModel, config: RobotConfig,
           log: SensorLog) -> tuple[list[Finding], RobotConfig, list[str]]:
    """Check names, clocks and dead sensors; return (findings, fixed config, unchecked)."""
    findings = _names(model, config, log.joints)
    if findings:
        return findings, config, []
    dead, config = _dead_joints(model, config, log)
    clipped, config = _clipped_efforts(model, config, log.joints)
    findings = [*_clocks(log), *dead, *clipped]
    for field in ('velocity', 'effort'):
        findings += _held(log.joints, field, {name for one in (*dead, *clipped)
                                              for name in one.subject})
    findings += _dead_imu(log)
    unchecked = [f'Smaller faults of torques: the efforts of {len(one.subject)} joints are '
                 'clipped and left out.' for one in clipped]
    if not np.isfinite(log.joints.velocity).any():
        unchecked.append('Velocities: joint_states has none; they are taken from positions.')
    return findings, config, unchecked


def _names(model: RobotModel, config: RobotConfig, joints: JointLog) -> list[Finding]:
    wanted = config.sensors.driver_names(model.joint_names)
    missing = [name for name in wanted if name not in joints.names]
    if not missing:
        return []
    spare = [name for name in joints.names if name not in wanted]

    def plain(name: str) -> str:
        return ''.join(c for c in name.lower() if c.isalnum()).replace('joint', '')

    match = {plain(name): name for name in spare}
    fix = {'robot.sensors.rename': [f'{match[plain(name)]}={name}' for name in missing]} if all(
        plain(name) in match for name in missing) else {}
    return [Finding('joint_names', tuple(missing), f'joint_states has no {", ".join(missing)}; it '
                    f'has {", ".join(joints.names)}.', 100.0, fix,
                    'Let the driver use the names of the URDF.', blocks=True)]


# ---- clocks --------------------------------------------------------------------------------


def _clocks(log: SensorLog) -> list[Finding]:
    findings = []
    for name, stream in (('joint_states', log.joints), ('imu', log.imu)):
        if stream is not None:
            findings += _clock(name, stream.stamp_ns, stream.receipt_ns, log.simulated)
    if log.imu is not None and not log.simulated and not any(
            f.kind == 'time_base' for f in findings):
        apart = float(log.imu.stamp_ns[0] - log.joints.stamp_ns[0]) * 1e-9
        received = float(log.imu.receipt_ns[0] - log.joints.receipt_ns[0]) * 1e-9
        if abs(apart - received) > 1.0:
            findings.append(Finding(
                'time_base', ('imu', 'joint_states'), 'The stamps of IMU and joints are of '
                f'different clocks: {apart - received:.3g} s apart at one receipt.',
                _gauss(abs(apart - received), 0.05), advice='Stamp both with one clock, or with '
                'the time of receipt.'))
    return findings


def _clock(name: str, stamp: np.ndarray, receipt: np.ndarray, simulated: bool) -> list[Finding]:
    step = np.diff(stamp) * 1e-9
    if not len(step):
        return []
    found: list[Finding] = []
    forward = step[step > 0.0]
    if len(forward) < 0.5 * len(step):
        return [Finding('time_base', (name,), f'The stamps of {name} stand still: '
                        f'{len(step) - len(forward)} of {len(step)} are no later than the one '
                        'before.', PRIOR.single + len(step) - len(forward),
                        advice='Let the driver stamp each message when the sensor was read.')]
    ratio = float(stamp[-1] - stamp[0]) / max(float(receipt[-1] - receipt[0]), 1.0)
    drift = abs(math.log(max(ratio, 1e-9)))
    # A simulator's time goes as fast as it can.
    if drift > 0.02 and not simulated:
        found.append(Finding('time_base', (name,), f'The clock of {name} runs {ratio:.4g} times '
                             "as fast as the recorder's: stamps in another unit, or a bag played "
                             'at another rate.', _gauss(drift, 2e-3),
                             advice='Stamp in seconds and nanoseconds of one clock.'))
    back = int((step <= 0.0).sum())
    if back:
        found.append(Finding('stamps_back', (name,), f'{back} stamps of {name} are not later than '
                             'the one before.', PRIOR.single + back,
                             advice='Publish in order, once.'))
    period = float(np.median(forward))
    # Stamps that jitter leave gaps, but no more time than the samples take.
    apart = min(20, len(stamp) - 1)
    usual = float(np.median(stamp[apart:] - stamp[:-apart])) * 1e-9 / apart
    missing = float(stamp[-1] - stamp[0]) * 1e-9 / max(usual, 1e-9) - len(step)
    lost = min(int((forward > 1.8 * period).sum()), round(missing))
    jitter = float(np.std(forward[forward < 1.8 * period]) / period)    # gaps count apart
    found.append(Finding('stamp_jitter', (name,), f'The stamps of {name} jitter by '
                         f'{1e3 * jitter * period:.2g} ms ({100.0 * jitter:.0f} % of the '
                         'period): they are times of receipt, not of measurement.',
                         _gauss(jitter, 2.0 * STREAMS.jitter),
                         advice='Stamp when the sensor is read. Derivatives and the pairing '
                         'with the IMU suffer from it.'))
    if lost > 0.002 * len(step) + 2.0:
        found.append(Finding('lost_samples', (name,), f'{lost} gaps in {name}: samples lost.',
                             PRIOR.single * math.log(lost / (0.002 * len(step) + 2.0)) + 1.0,
                             advice='Look at queue depths and at the load of the computer.'))
    rate = len(forward) / (float(stamp[-1] - stamp[0]) * 1e-9)
    if rate < STREAMS.least_rate:
        found.append(Finding('low_rate', (name,), f'{name} comes at {rate:.3g} Hz; impacts and '
                             f'swinging legs need {STREAMS.least_rate:g} Hz or more.',
                             _gauss(math.log(STREAMS.least_rate / rate), 0.02),
                             {'rate': round(rate, 3)} if name == 'joint_states' else {},
                             'Raise the rate of the driver (controller_manager has 100 Hz by '
                             'default: update_rate, state_publish_rate).'))
    return [finding for finding in found if finding.evidence > 0.0]


def _gauss(size: float, healthy: float) -> float:
    """Return the log-odds of a size that a healthy stream has with that deviation about zero."""
    return 0.5 * (size / healthy) ** 2 - PRIOR.single


# ---- dead sensors --------------------------------------------------------------------------


def _frozen_from(column: np.ndarray) -> int:
    """Return the first sample from which on a column does not change."""
    changed = np.flatnonzero(column[1:] != column[:-1])
    return int(changed[-1]) + 1 if len(changed) else 0


def _dead_joints(model: RobotModel, config: RobotConfig,
                 log: SensorLog) -> tuple[list[Finding], RobotConfig]:
    findings, joints = [], log.joints
    driver = config.sensors.driver_names(model.joint_names)
    order = [joints.names.index(name) for name in driver]
    n = len(joints.stamp_ns)
    fed = {bodies for foot in config.feet for bodies in model.chain(model.frame(foot.link).body)}
    for field in ('position', 'effort'):
        values = getattr(joints, field)[:, order]
        alive = max(float(np.median(np.mean(values[1:] == values[:-1], axis=0))), 0.01)
        start = [_frozen_from(column) for column in values.T]
        # With a coarse encoder, a robot at rest repeats itself; but not one joint alone.
        frozen = [i for i in range(len(order)) if n - start[i] > max(0.2 * n, 50)
                  and (start[i] == 0 or np.median(start) > 0.5 * (n + start[i]))]
        if not frozen:
            continue
        if len(frozen) == len(order):
            alive = STREAMS.repetition
        evidence = min(n - start[i] for i in frozen) * -math.log(
            min(alive, STREAMS.repetition)) - PRIOR.single
        names = tuple(driver[i] for i in frozen)
        zero = all(values[-1, i] == 0.0 for i in frozen)
        if field == 'position':
            walking = [i for i in frozen if i + 1 in fed]
            kind = 'frozen_encoder' if walking else 'filled_joints'
            when = '' if all(start[i] == 0 for i in frozen) else (
                f' from {log.time_of(joints)[start[frozen[0]]]:.1f} s on')
            findings.append(Finding(
                kind, names, f'{", ".join(names)}: the position says {"0" if zero else "the same"}'
                f'{when} to the last bit: ' + ('the encoder is dead.' if walking else
                                               'filled in, not measured.'), evidence,
                advice=('Look at encoder and driver.' if walking else 'Their links count as if '
                        'they hung still; make the joints fixed in the URDF if they are.'),
                blocks=bool(walking)))
        elif len(frozen) < len(order) or zero:
            c = config.sensors
            corrected = replace(config, sensors=replace(
                c, ignore_effort=(*c.ignore_effort, *(model.joint_names[i] for i in frozen))))
            findings.append(Finding(
                'dead_effort', names, f'{", ".join(names)}: the effort says '
                f'{"0" if zero else "the same"} to the last bit.', evidence,
                changes(config, corrected, model.joint_names),
                'Look at current sensor and driver; until then the estimate goes on without.'))
            config = corrected
    return findings, config


def _clipped_efforts(model: RobotModel, config: RobotConfig,
                     joints: JointLog) -> tuple[list[Finding], RobotConfig]:
    """Find efforts that stop at a largest value, and leave these joints out of the examination."""
    c, found = config.sensors, {}
    for name, reader in zip(model.joint_names, c.driver_names(model.joint_names, effort=True)):
        values = joints.effort[:, joints.names.index(reader)]
        if name in c.ignore_effort or not np.isfinite(values).all():
            continue
        for side in (values, -values):
            top = float(side.max())
            near = side[side > STREAMS.clipped_range * top]
            at = side == top
            if (top > 0.0 and at.sum() > max(STREAMS.clipped, STREAMS.clipped_part * len(near))
                    and np.count_nonzero(np.diff(at.astype(int)) > 0) >= STREAMS.clipped_times
                    and np.diff(np.unique(near)).min(initial=top)
                    < STREAMS.clipped_resolution * top):
                found[name] = int(at.sum()), top
    if not found:
        return [], config
    count = min(number for number, _ in found.values())
    tops = ', '.join(f'{name} {top:.3g} N m' for name, (_, top) in found.items())
    finding = Finding(
        'clipped_effort', tuple(found), f'Efforts stop at a largest value: {tops}. Either the '
        'motors are at their limits, or what is beyond is cut off in the record.',
        count * -math.log(STREAMS.repetition) - PRIOR.single,
        advice='Look at the limits of driver and message; forces are too small while more than '
        'that is needed.')
    return [finding], replace(config, sensors=replace(c, ignore_effort=(*c.ignore_effort, *found)))


def _held(joints: JointLog, field: str, dead: set[str]) -> list[Finding]:
    """Find readings that stayed the same for a while as those of other joints changed."""
    values = getattr(joints, field)
    same = values[1:] == values[:-1]
    period = float(np.median(np.diff(joints.receipt_ns))) * 1e-9
    held: dict[tuple[int, int], list[str]] = {}
    for i, name in enumerate(joints.names):
        if name in dead or not same[:, i].any() or same[:, i].all():
            continue
        stretches = np.array([*runs(same[:, i])])
        length = np.diff(stretches, axis=1)[:, 0]
        usual = np.percentile(np.append(length + 1, np.ones(len(same) - length.sum())), 99)
        least = max(STREAMS.held / period, STREAMS.held_ratio * usual)
        for start, end in stretches[length > least].tolist():
            others = np.delete(same[start:end], i, axis=1)
            time = period * np.arange(end - start)
            # What a velocity says is not held where the positions say so, too: an encoder at rest.
            if others.size and others.mean() < STREAMS.repetition and not (
                    field == 'velocity' and np.ptp(joints.position[start:end, i] - values[
                        start, i] * time) < TOLERANCES.rate * time[-1]):
                held.setdefault((start, end), []).append(name)
    return [Finding(f'held_{field}', tuple(names), f'{", ".join(names)}: the {field} stays the '
                    f'same to the last bit for {(end - start) * period:.1f} s, from '
                    f'{start * period:.1f} s on: no new readings came.',
                    (end - start) * -math.log(STREAMS.repetition) - PRIOR.single,
                    advice='Look at bus and driver; meanwhile forces are wrong.')
            for (start, end), names in held.items()]


def _dead_imu(log: SensorLog) -> list[Finding]:
    if log.imu is None:
        return []
    n, dead = len(log.imu.stamp_ns), []
    for field, what in (('gyro', 'gyro'), ('acceleration', 'accelerometer')):
        start = [_frozen_from(column) for column in getattr(log.imu, field).T]
        axes = ['xyz'[i] for i in range(3) if n - start[i] > max(0.2 * n, 50)]
        if axes:
            dead.append(f'{what} {", ".join(axes)}')
    return [Finding('frozen_imu', tuple(dead), f'The IMU says the same to the last bit: '
                    f'{"; ".join(dead)}.', 0.2 * n * -math.log(STREAMS.repetition) - PRIOR.single,
                    advice='Look at the IMU and its driver.', blocks=True)] if dead else []
