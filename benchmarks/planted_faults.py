# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Recordings of simulated robots, faults planted in them, and the finding that a doctor must make.

For the tables of doctor and identification, and for their tests.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from legged_dynamics.diagnosis.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.spatial.frames import GRAVITY

DEGREE = math.pi / 180.0
TRANSPORT_NS = 300_000      # from a stamp to its receipt


def record_sensors(robot: SimulatedHardware, seconds: float) -> SensorLog:
    """Let a simulated robot move on and return what its sensors said."""
    samples = []
    for _ in range(round(seconds * 1e9 / robot.period_ns)):
        robot.step()
        samples.append(robot.read())
    stamp = np.array([s.stamp_ns for s in samples])
    q, v, tau, w, a, xyzw = (np.array([getattr(s, name) for s in samples]) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration',
        'orientation'))
    receipt = stamp + TRANSPORT_NS
    return SensorLog(JointLog(stamp, receipt, tuple(robot.plant.joints), q, v, tau),
                     ImuLog(stamp, receipt, w, a, xyzw, robot.plant.imu_link))


@dataclass(frozen=True, eq=False)
class RecordedRobot:
    """A robot as its owner describes it, and a recording of its sensors."""

    model: RobotModel
    config: RobotConfig
    log: SensorLog

    def leg(self, foot: int) -> list[int]:
        """Return the joints of a foot's leg, as places in the recording."""
        link = self.config.feet[foot].link
        names = [self.model.joint_names[body - 1]
                 for body in self.model.chain(self.model.frame(link).body)]
        return [self.log.joints.names.index(name) for name in names]

    def joints(self, **fields: Any) -> RecordedRobot:
        """Return it with other fields of the joint log."""
        return replace(self, log=SensorLog(replace(self.log.joints, **fields), self.log.imu))

    def imu(self, **fields: Any) -> RecordedRobot:
        """Return it with other fields of the IMU log."""
        return replace(self, log=SensorLog(self.log.joints, replace(self._imu, **fields)))

    @property
    def _imu(self) -> ImuLog:
        assert self.log.imu is not None
        return self.log.imu


@dataclass(frozen=True)
class PlantedFault:
    """
    A fault.

    Attributes
    ----------
    name : str
    kind : str
        Of the finding that names it.
    plant : callable
        Returns the faulty recording for a healthy one.
    value : callable, optional
        Returns from a finding's fix the number that matters.
    expected : callable, optional
        Returns that number for the healthy recording.
    tolerance : float
        How near it must be.

    """

    name: str
    kind: str
    plant: Callable[[RecordedRobot], RecordedRobot]
    value: Callable[[dict[str, Any], RecordedRobot], float] | None = None
    expected: Callable[[RecordedRobot], float] | None = None
    tolerance: float = 0.15

    def named_by(self, findings: Any, healthy: RecordedRobot) -> str:
        """Return what is wrong with what a doctor said of it; '' when it is right."""
        kinds = [finding.kind for finding in findings]
        if kinds != [self.kind]:
            return f'said {", ".join(kinds) or "healthy"}'
        if findings[0].text.startswith('Cannot tell apart'):
            return 'cannot tell'
        if self.value is not None and self.expected is not None:
            got, wanted = self.value(dict(findings[0].fix), healthy), self.expected(healthy)
            if not abs(got - wanted) <= self.tolerance * abs(wanted) + 1e-9:
                return f'corrected by {got:.4g} instead of {wanted:.4g}'
        return ''


def _exchanged(p: RecordedRobot, source: list[int], *fields: str) -> RecordedRobot:
    log = p.log.joints
    return p.joints(**{name: getattr(log, name)[:, source]
                       for name in fields or ('position', 'velocity', 'effort')})


def _swap(p: RecordedRobot, a: list[int], b: list[int], *fields: str) -> RecordedRobot:
    source = list(range(len(p.log.joints.names)))
    for i, j in zip(a, b):
        source[i], source[j] = j, i
    return _exchanged(p, source, *fields)


def _scaled(p: RecordedRobot, joints: Any, factor: float, *fields: str) -> RecordedRobot:
    changed = {}
    for name in fields:
        values = getattr(p.log.joints, name).copy()
        values[:, joints] *= factor
        changed[name] = values
    return p.joints(**changed)


def _shifted(p: RecordedRobot, joint: int, offset: float) -> RecordedRobot:
    values = p.log.joints.position.copy()
    values[:, joint] += offset
    return p.joints(position=values)


def _turned(p: RecordedRobot, R: np.ndarray) -> RecordedRobot:
    return p.imu(gyro=p._imu.gyro @ R.T, acceleration=p._imu.acceleration @ R.T,
                 orientation=np.full_like(p._imu.orientation, np.nan))


def _by_kind(p: RecordedRobot) -> RecordedRobot:
    legs = [p.leg(i) for i in range(len(p.config.feet))]
    grouped = [leg[k] for k in range(len(legs[0])) for leg in legs]
    urdf = [p.log.joints.names.index(name) for name in p.model.joint_names]
    source = list(range(len(urdf)))
    for there, value in zip(urdf, grouped):
        source[there] = value
    return _exchanged(p, source)


def _without_gravity(p: RecordedRobot) -> RecordedRobot:
    x, y, z, w = p._imu.orientation.T
    up = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], 1)
    return p.imu(acceleration=p._imu.acceleration - GRAVITY * up)


def _frozen(p: RecordedRobot, field: str, column: int,
            value: float | None = None) -> RecordedRobot:
    values = getattr(p.log.joints, field).copy()
    values[:, column] = values[0, column] if value is None else value
    return p.joints(**{field: values})


def _jittered(p: RecordedRobot) -> RecordedRobot:
    log = p.log.joints
    period = float(np.median(np.diff(log.stamp_ns)))
    shake = np.random.default_rng(1).uniform(0.0, 0.8 * period, len(log.stamp_ns))
    return p.joints(stamp_ns=log.stamp_ns + shake.astype(np.int64))


def _thinned(p: RecordedRobot) -> RecordedRobot:
    log = p.log.joints
    period = float(np.median(np.diff(log.stamp_ns))) * 1e-9
    step = max(round(1.0 / 40.0 / period), 1)
    return replace(p, log=SensorLog(JointLog(**{
        name: value[::step] if isinstance(value, np.ndarray) else value
        for name, value in vars(log).items()}), p.log.imu))


def _heavier(p: RecordedRobot, factor: float) -> RecordedRobot:
    base = p.model.body_inertia(0)
    mass = base.mass + (1.0 / factor - 1.0) * p.model.total_mass
    share = mass / base.mass
    return replace(p, model=p.model.with_body_inertia(
        {0: replace(base, mass=mass, about_com=share * base.about_com)}))


def _unbalanced(p: RecordedRobot, share: float) -> RecordedRobot:
    base = p.model.body_inertia(0)
    return replace(p, model=p.model.with_body_inertia(
        {0: replace(base, com=base.com - [share * _height(p), 0.0, 0.0])}))


def _height(p: RecordedRobot) -> float:
    from legged_dynamics.dynamics.kinematics import frame_poses
    from legged_dynamics.estimation.settings import nominal_position
    q = nominal_position(p.model, p.config)
    feet = tuple(foot.link for foot in p.config.feet)
    return float(np.mean([abs(pose.p[2]) for pose in frame_poses(p.model, q, feet).values()]))


def _radius(p: RecordedRobot, share: float) -> RecordedRobot:
    return replace(p, config=replace(p.config, feet=tuple(
        foot.rolled(share * _height(p)) for foot in p.config.feet)))


def _late_imu(p: RecordedRobot, seconds: float) -> RecordedRobot:
    return p.imu(stamp_ns=p._imu.stamp_ns + round(seconds * 1e9))


def _at(key: str, joint: int) -> Callable[[dict[str, Any], RecordedRobot], float]:
    """Return the reader of a list's value for a joint of the recording."""
    def read(fix: dict[str, Any], p: RecordedRobot) -> float:
        values = fix.get(f'robot.sensors.{key}', [math.nan])
        order = fix.get('robot.joints') or p.config.joints or p.model.joint_names
        return float(values[0] if len(values) == 1
                     else values[list(order).index(p.log.joints.names[joint])])
    return read


def _of(key: str, place: int | None = None) -> Callable[[dict[str, Any], RecordedRobot], float]:
    def read(fix: dict[str, Any], p: RecordedRobot) -> float:
        value = fix.get(key, math.nan)
        return float(value if place is None else value[place])
    return read


def _tilt(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def planted_faults(healthy: RecordedRobot) -> list[PlantedFault]:
    """Return the faults, for a robot of at least two legs with at least three joints each."""
    p = healthy
    legs = [p.leg(i) for i in range(len(p.config.feet))]
    hip, thigh, knee = legs[0][0], legs[1][1], legs[2 % len(legs)][2]
    other = legs[-1][2]
    every = slice(None)
    height = _height(p)
    F = PlantedFault
    both = ('position', 'velocity', 'effort')
    upside = np.diag([1.0, -1.0, -1.0])
    rolled = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    sitting = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return [
        F('left and right leg swapped', 'swapped_legs', lambda x: _swap(x, legs[0], legs[1])),
        F('front and hind leg swapped', 'swapped_legs', lambda x: _swap(x, legs[1], legs[-1])),
        F('two joints of a leg swapped', 'swapped_joints',
          lambda x: _swap(x, legs[0][1:2], legs[0][2:3])),
        F('hip and thigh swapped', 'swapped_joints',
          lambda x: _swap(x, legs[-1][0:1], legs[-1][1:2])),
        F('values in the order of the legs by kind', 'joint_order', _by_kind),
        F('efforts of two legs swapped', 'effort_order',
          lambda x: _swap(x, legs[0], legs[1], 'effort')),
        F('a joint flipped', 'joint_sign', lambda x: _scaled(x, knee, -1.0, *both),
          _at('position_scale', knee), lambda _: -1.0, 0.0),
        F('a hip flipped', 'joint_sign', lambda x: _scaled(x, hip, -1.0, *both),
          _at('effort_scale', hip), lambda _: -1.0, 0.0),
        F('velocity sign of a joint', 'velocity_sign',
          lambda x: _scaled(x, thigh, -1.0, 'velocity'), _at('velocity_scale', thigh),
          lambda _: -1.0, 0.0),
        F('effort sign of a joint', 'effort_sign', lambda x: _scaled(x, other, -1.0, 'effort'),
          _at('effort_scale', other), lambda _: -1.0, 0.0),
        F('effort sign of all joints', 'effort_sign',
          lambda x: _scaled(x, every, -1.0, 'effort'), _at('effort_scale', 0), lambda _: -1.0,
          0.0),
        F('knee offset 5 degrees', 'position_offset', lambda x: _shifted(x, knee, 5.0 * DEGREE),
          _at('position_offset', knee), lambda _: -5.0 * DEGREE),
        F('hip offset 4 degrees', 'position_offset', lambda x: _shifted(x, hip, 4.0 * DEGREE),
          _at('position_offset', hip), lambda _: -4.0 * DEGREE),
        F('degrees for radians', 'degrees',
          lambda x: _scaled(x, every, 1.0 / DEGREE, 'position', 'velocity'),
          _at('position_scale', 0), lambda _: DEGREE, 1e-3),
        F('velocities in degrees', 'velocity_degrees',
          lambda x: _scaled(x, every, 1.0 / DEGREE, 'velocity'), _at('velocity_scale', 0),
          lambda _: DEGREE, 1e-3),
        F('IMU upside down', 'imu_upside_down', lambda x: _turned(x, upside)),
        F('IMU turned by 90 degrees', 'imu_axes', lambda x: _turned(x, rolled)),
        F('axis order wrong', 'imu_axes', lambda x: _turned(x, sitting)),
        F('IMU tilted by 10 degrees', 'imu_mount', lambda x: _turned(x, _tilt(10.0 * DEGREE)),
          _of('robot.sensors.imu_rpy', 1), lambda _: -10.0 * DEGREE),
        F('accelerometer of the other sign', 'accelerometer_sign',
          lambda x: x.imu(acceleration=-x._imu.acceleration)),
        F('accelerometer in g', 'accelerometer_units',
          lambda x: x.imu(acceleration=x._imu.acceleration / 9.80665)),
        F('gravity missing', 'missing_gravity', _without_gravity),
        F('gyro in degrees', 'gyro_degrees', lambda x: x.imu(gyro=x._imu.gyro / DEGREE),
          _of('robot.sensors.gyro_scale'), lambda _: DEGREE, 1e-3),
        F('gyro of the other sign', 'gyro_sign', lambda x: x.imu(gyro=-x._imu.gyro)),
        F('quaternion as w x y z', 'quaternion_order',
          lambda x: x.imu(orientation=np.roll(x._imu.orientation, 1, axis=1))),
        F('current for torque', 'effort_scale',
          lambda x: _scaled(x, every, 1.0 / 2.7, 'effort'), _at('effort_scale', 0),
          lambda _: 2.7, 0.05),
        F('gear ratio forgotten', 'effort_scale', lambda x: _scaled(x, every, 1.0 / 9.0, 'effort'),
          _at('effort_scale', 0), lambda _: 9.0, 0.05),
        F('torque of one joint scaled', 'effort_scale_joint',
          lambda x: _scaled(x, knee, 1.6, 'effort'), _at('effort_scale', knee),
          lambda _: 1.0 / 1.6, 0.1),
        F('total mass 15 % wrong', 'total_mass', lambda x: _heavier(x, 1.15),
          _of('robot.payload_mass'), lambda x: x.model.total_mass * (1.0 - 1.0 / 1.15), 0.15),
        F('centre of mass off', 'center_of_mass', lambda x: _unbalanced(x, 0.08),
          _of('robot.center_of_mass_offset', 0),
          lambda x: 0.08 * height, 0.2),
        F('foot radius wrong', 'foot_radius', lambda x: _radius(x, 0.06),
          _of('robot.foot_radius'),
          lambda x: x.config.feet[0].radius, 0.25),
        F('IMU 20 ms late', 'clock_offset', lambda x: _late_imu(x, 0.020),
          _of('robot.sensors.imu_delay'), lambda _: 0.020, 0.15),
        F('encoder dead', 'frozen_encoder', lambda x: _frozen(x, 'position', thigh)),
        F('torque sensor dead', 'dead_effort', lambda x: _frozen(x, 'effort', thigh, 0.0)),
        F('IMU frozen', 'frozen_imu', lambda x: x.imu(
            gyro=np.tile(x._imu.gyro[:1], (len(x._imu.gyro), 1)),
            acceleration=np.tile(x._imu.acceleration[:1], (len(x._imu.gyro), 1)))),
        F('stamps of receipt', 'stamp_jitter', _jittered),
        F('stamps all zero', 'time_base',
          lambda x: x.joints(stamp_ns=np.zeros_like(x.log.joints.stamp_ns))),
        F('IMU on another clock', 'time_base', lambda x: x.imu(
            stamp_ns=x._imu.stamp_ns - x._imu.stamp_ns[0])),
        F('rate too low', 'low_rate', _thinned),
    ]


# -------------------------------------------------------------------------------------------------
# Small defects of actuators and sensors, on robots whose torques have errors of gain anyway.


GAIN = 0.02             # deviation of each joint's gain of torque, healthy ones included
LIGHT = 25.0            # kg: robots below have softer springs
BRISTLE = 0.002         # rad: a joint moves so far before dry friction is full
# Words of a finding that names the kind, where it cannot tell two kinds apart.
WORDS = {'friction': 'rub', 'armature': 'rotors', 'effort_delay': 'than the positions',
         'clock_offset': 'stamps of the IMU', 'effort_scale_joint': 'the effort reads',
         'effort_scale': 'All efforts', 'effort_sign': 'sign',
         'position_offset': 'position is off', 'imu_mount': 'IMU is mounted',
         'center_of_mass': 'centre of mass'}


@dataclass(frozen=True)
class Defect:
    """
    A small defect.

    Attributes
    ----------
    name : str
    kind : str
        Of the finding that names it.
    plant : callable
        Returns the recording with the defect for a healthy one.
    joint : str
        The joint that has it; empty for all or none.

    """

    name: str
    kind: str
    plant: Callable[[RecordedRobot], RecordedRobot]
    joint: str = ''

    def verdict(self, findings: Any) -> str:
        """
        Return what a doctor made of it.

        'found'; 'cannot tell' where it is one of two that are named; 'missed'; else what was said
        instead, with 'harm' where a healthy joint's torque would be scaled.
        """
        torques = self.kind.startswith('effort_s')
        for finding in findings:
            joints = finding.subject if torques and self.joint else ()
            if 'robot.sensors.effort_scale' in finding.fix and (
                    not torques or (joints and self.joint not in joints)):
                return f'harm: {finding.kind} {finding.subject[0]}'
        if not findings:
            return 'missed'
        named = [finding for finding in findings if WORDS[self.kind] in ' '.join(
            (finding.text, *finding.also)) and self.joint in finding.text]
        if not named or len(findings) > 1:
            return 'said ' + ', '.join(f'{one.kind} {one.subject[0]}' for one in findings)
        return 'cannot tell' if named[0].text.startswith('Cannot tell') else 'found'


def with_gains(p: RecordedRobot, seed: int) -> RecordedRobot:
    """Return a recording whose joints have their own gain of torque."""
    rng = np.random.default_rng(seed)
    return _scaled(p, slice(None), 1.0 + GAIN * rng.standard_normal(len(p.log.joints.names)),
                   'effort')


def with_friction(p: RecordedRobot, part: float, joint: int | None = None) -> RecordedRobot:
    """
    Return a recording with dry friction of a part of the effort limit in all joints or in one.

    The motor makes up for it, so the same motion takes other torques (Dahl's model).
    """
    log, names = p.log.joints, p.model.joint_names
    limit = part * p.model.effort_limits[[names.index(name) for name in log.names]]
    if joint is not None:
        limit = limit * (np.arange(len(limit)) == joint)
    return p.joints(effort=log.effort + dry_friction(log.position, limit))


def dry_friction(position: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return dry friction by Dahl's model, (n, nj), of joints that move (n, nj) [rad]."""
    force, found = np.zeros(len(limit)), np.empty_like(position)
    for k, step in enumerate(np.diff(position, axis=0, prepend=position[:1])):
        force = np.clip(force + limit / BRISTLE * step, -limit, limit)
        found[k] = force
    return found


def _late(p: RecordedRobot, values: np.ndarray, seconds: float) -> np.ndarray:
    t = 1e-9 * (p.log.joints.stamp_ns - p.log.joints.stamp_ns[0])
    return np.stack([np.interp(t - seconds, t, column) for column in values.T], axis=1)


def _late_effort(p: RecordedRobot, seconds: float) -> RecordedRobot:
    return p.joints(effort=_late(p, p.log.joints.effort, seconds))


def _without_armature(p: RecordedRobot, joints: list[int]) -> RecordedRobot:
    """Return a recording whose YAML leaves out the armature of some joints."""
    stated = {joint.name: joint.armature for joint in p.config.apply_to(p.model).joints}
    stated.update((p.log.joints.names[joint], 0.0) for joint in joints)
    return replace(p, config=replace(p.config, armature=tuple(
        stated[name] for name in p.config.joints or p.model.joint_names)))


def small_defects(p: RecordedRobot) -> list[Defect]:
    """Return the defects, for a robot of at least two legs with at least three joints each."""
    legs = [p.leg(i) for i in range(len(p.config.feet))]
    names = p.log.joints.names
    thigh, knee = legs[1][1], legs[2 % len(legs)][2]

    def of_one(name: str, kind: str, joint: int,
               plant: Callable[[RecordedRobot], RecordedRobot]) -> Defect:
        return Defect(name, kind, plant, names[joint])
    return [
        Defect('friction 5 %', 'friction', lambda x: with_friction(x, 0.05)),
        Defect('friction 2 %', 'friction', lambda x: with_friction(x, 0.02)),
        of_one('friction 5 % of one joint', 'friction', thigh,
               lambda x: with_friction(x, 0.05, thigh)),
        Defect('torques 3 ms late', 'effort_delay', lambda x: _late_effort(x, 0.003)),
        Defect('torques 10 ms late', 'effort_delay', lambda x: _late_effort(x, 0.010)),
        Defect('IMU 4 ms late', 'clock_offset', lambda x: _late_imu(x, 0.004)),
        Defect('no armature in the YAML', 'armature',
               lambda x: replace(x, config=replace(x.config, armature=()))),
        of_one('gain -10 % of one joint', 'effort_scale_joint', knee,
               lambda x: _scaled(x, knee, 0.9, 'effort')),
        of_one('gain +10 % of one joint', 'effort_scale_joint', thigh,
               lambda x: _scaled(x, thigh, 1.1, 'effort')),
        Defect('gain -10 % of all', 'effort_scale', lambda x: _scaled(
            x, slice(None), 0.9, 'effort')),
        of_one('wrong sign', 'effort_sign', knee, lambda x: _scaled(x, knee, -1.0, 'effort')),
        of_one('offset of 3 degrees', 'position_offset', knee,
               lambda x: _shifted(x, knee, 3.0 * DEGREE)),
        Defect('IMU tilted by 2 degrees', 'imu_mount', lambda x: _turned(x, _tilt(2.0 * DEGREE))),
        Defect('centre of mass off', 'center_of_mass', lambda x: _unbalanced(x, 0.06)),
    ]


# -------------------------------------------------------------------------------------------------
# Faults that no rule of the doctor was made for: what is said of them, and whether it harms.


@dataclass(frozen=True)
class Unforeseen:
    """
    A fault, or two, on a robot whose torques have errors of gain anyway.

    Attributes
    ----------
    name : str
    kinds : tuple of str
        Of findings that name it; empty where the doctor has no such kind, and nothing should be
        said of it.
    plant : callable
        Returns the recording with the fault for a healthy one.
    joints : tuple of str
        Joints that have it; empty: all, or none.

    """

    name: str
    kinds: tuple[str, ...]
    plant: Callable[[RecordedRobot], RecordedRobot]
    joints: tuple[str, ...] = ()

    def verdict(self, findings: Any) -> str:
        """
        Return what a doctor made of it.

        Returns
        -------
        str
            'named'; 'cannot tell'; 'nothing said'; 'in part' where one of two is named; 'harm'
            where a mend is offered for what is healthy; else what was said without a mend.

        """
        def about(finding: Any) -> bool:
            return finding.kind in self.kinds and (
                not self.joints or any(joint in self.joints for joint in finding.subject))
        wrong = [one for one in findings if not about(one)]
        for finding in wrong:
            if finding.fix:
                return f'harm: {finding.kind} {finding.subject[0]}'
        if not findings:
            return 'nothing said'
        if any(one.text.startswith('Cannot tell') for one in findings):
            return 'cannot tell'
        if wrong:
            return 'said ' + ', '.join(one.kind for one in wrong)
        found = {one.kind for one in findings}, {one.subject for one in findings}
        complete = found[0] == set(self.kinds) or len(self.kinds) == 1
        return 'named' if complete and (
            len(self.joints) < 2 or set(self.joints) <= {
                joint for subject in found[1] for joint in subject}) else 'in part'


def _clipped(p: RecordedRobot, share: float) -> RecordedRobot:
    effort = p.log.joints.effort
    most = share * np.abs(effort).max(axis=0)
    return p.joints(effort=np.clip(effort, -most, most))


def _held_for(p: RecordedRobot, joints: list[int], first: float, last: float) -> RecordedRobot:
    effort, stamp = p.log.joints.effort.copy(), p.log.joints.stamp_ns
    rows = np.flatnonzero(np.abs(1e-9 * (stamp - stamp[0]) - 0.5 * (first + last))
                          < 0.5 * (last - first))
    effort[np.ix_(rows, joints)] = effort[rows[0], joints]
    return p.joints(effort=effort)


def with_play(p: RecordedRobot, play: float) -> RecordedRobot:
    """Return a recording whose motors, with their encoders, lead the links by half the play."""
    log = p.log.joints
    firm = 0.02 * np.abs(log.effort).max(axis=0)
    return p.joints(position=log.position + 0.5 * play * np.clip(log.effort / firm, -1.0, 1.0))


def elastic(p: RecordedRobot, stiffness: float) -> RecordedRobot:
    """
    Return a recording of motors that move the same links through springs [N m/rad].

    The spring carries what the link needs, and each motor its rotor in addition.
    """
    from scipy.signal import butter, sosfiltfilt
    log, names = p.log.joints, p.model.joint_names
    period = 1e-9 * float(np.median(np.diff(log.stamp_ns)))
    joints = p.config.apply_to(p.model).joints
    rotor = np.array([joints[names.index(name)].armature for name in log.names])
    low_pass = butter(2, 2.0 * 60.0 * period, output='sos')
    effort, velocity = (sosfiltfilt(low_pass, x, axis=0) for x in (log.effort, log.velocity))
    lead = (effort - rotor * np.gradient(velocity, period, axis=0)) / stiffness
    rate = np.gradient(lead, period, axis=0)
    return p.joints(position=log.position + lead, velocity=log.velocity + rate,
                    effort=log.effort + rotor * np.gradient(rate, period, axis=0))


def drifting(p: RecordedRobot, last: float, seconds: float) -> RecordedRobot:
    """Return a recording whose torques' gain goes from 1 to another within a time."""
    stamp = p.log.joints.stamp_ns
    part = np.clip(1e-9 * (stamp - stamp[0]) / seconds, 0.0, 1.0)[:, None]
    return p.joints(effort=p.log.joints.effort * (1.0 + (last - 1.0) * part))


def _shaken(p: RecordedRobot, deviation: float) -> RecordedRobot:
    stamp = p.log.joints.stamp_ns
    shake = np.random.default_rng(1).normal(0.0, 1e9 * deviation, len(stamp))
    return p.joints(stamp_ns=np.sort(stamp + shake.astype(np.int64)))


def _late_stamps(p: RecordedRobot) -> RecordedRobot:
    """Return a recording of joint states whose stamps are 0 to 4 ms late, each by its own."""
    stamp = p.log.joints.stamp_ns
    late = np.random.default_rng(1).uniform(0.0, 4e6, len(stamp)).astype(np.int64)
    return p.joints(stamp_ns=stamp + late)


def _imu_turned(p: RecordedRobot, R: np.ndarray) -> RecordedRobot:
    """Return a recording whose IMU, its orientation included, is mounted turned."""
    from scipy.spatial.transform import Rotation
    turned = _turned(p, R)
    orientation = Rotation.from_quat(p._imu.orientation) * Rotation.from_matrix(R).inv()
    return turned.imu(orientation=orientation.as_quat())


def unforeseen(p: RecordedRobot) -> list[Unforeseen]:
    """Return faults that nobody built for, of a robot of four legs with three joints."""
    legs = [p.leg(i) for i in range(len(p.config.feet))]
    names = p.log.joints.names
    thigh, knee, other = legs[1][1], legs[2][2], legs[0][2]
    every, degree = slice(None), DEGREE
    U = Unforeseen

    def gain(x: RecordedRobot, joint: Any, factor: float) -> RecordedRobot:
        return _scaled(x, joint, factor, 'effort')

    def of(*joints: int) -> tuple[str, ...]:
        return tuple(names[joint] for joint in joints)
    geared = np.full(len(names), 1.0 / 6.33)
    geared[[leg[2] for leg in legs]] = 1.0 / 9.5
    return [
        U('gain +15 % of a thigh, -15 % of a knee', ('effort_scale_joint',),
          lambda x: gain(gain(x, thigh, 1.15), knee, 0.85), of(thigh, knee)),
        U('gain +15 % of a thigh, offset 3 degrees of a knee',
          ('effort_scale_joint', 'position_offset'),
          lambda x: _shifted(gain(x, thigh, 1.15), knee, 3.0 * degree), of(thigh, knee)),
        U('offsets of 3 degrees of two knees', ('position_offset',),
          lambda x: _shifted(_shifted(x, knee, 3.0 * degree), other, -3.0 * degree),
          of(knee, other)),
        U('friction 5 % of a thigh, wrong sign of a knee', ('friction', 'effort_sign'),
          lambda x: gain(with_friction(x, 0.05, thigh), knee, -1.0), of(thigh, knee)),
        U('play of 0.5 degrees in all joints', ('play',), lambda x: with_play(x, 0.5 * degree)),
        U('play of 1 degree in all joints', ('play',), lambda x: with_play(x, degree)),
        U('springs of 1000 N m/rad in all joints, 300 on a light robot', ('elasticity',),
          lambda x: elastic(x, 1000.0 if p.model.total_mass > LIGHT else 300.0)),
        U('gain drifting to 0.85 in 6 s', ('effort_drift',), lambda x: drifting(x, 0.85, 6.0)),
        U('gain drifting to 1.15 in 6 s', ('effort_drift',), lambda x: drifting(x, 1.15, 6.0)),
        U('no armature of the hips in the YAML', ('armature',), lambda x: _without_armature(
            x, [leg[0] for leg in legs])),
        U('velocities late by 6 ms', ('velocity_delay',), lambda x: x.joints(
            velocity=_late(x, x.log.joints.velocity, 0.006))),
        U('offset of 2 degrees of a knee', ('position_offset',),
          lambda x: _shifted(x, knee, 2.0 * degree), of(knee)),
        U('knees of two legs swapped', ('swapped_joints',),
          lambda x: _swap(x, [legs[0][2]], [legs[1][2]]), of(legs[0][2], legs[1][2])),
        U('a hip and a thigh of two legs swapped', ('swapped_joints',),
          lambda x: _swap(x, [legs[0][0]], [legs[3][1]]), of(legs[0][0], legs[3][1])),
        U('efforts of two thighs swapped', ('effort_order',),
          lambda x: _swap(x, [legs[0][1]], [legs[1][1]], 'effort'), of(legs[0][1], legs[1][1])),
        U('IMU turned by 90 degrees, with its orientation', ('imu_axes',),
          lambda x: _imu_turned(x, np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0],
                                             [0.0, 0.0, 1.0]]))),
        U('gravity of the other sign', ('accelerometer_sign',),
          lambda x: x.imu(acceleration=-x._imu.acceleration)),
        U('payload of 8 % on the trunk', ('total_mass', 'effort_scale'),
          lambda x: _heavier(x, 1.0 / 1.08)),
        U('payload of 8 %, off the centre', ('total_mass', 'effort_scale', 'center_of_mass'),
          lambda x: _unbalanced(_heavier(x, 1.0 / 1.08), -0.05)),
        U('foot radius off by 5 mm', ('foot_radius',), lambda x: replace(x, config=replace(
            x.config, feet=tuple(foot.rolled(0.005) for foot in x.config.feet)))),
        U('torques before the gear', ('effort_scale',), lambda x: gain(x, every, 1.0 / 6.33)),
        U('torques before gears of two ratios', ('effort_scale', 'effort_scale_joint'),
          lambda x: x.joints(effort=x.log.joints.effort * geared)),
        U('torques cut off at 80 %', ('clipped_effort',), lambda x: _clipped(x, 0.8)),
        U('torques cut off at 60 %', ('clipped_effort',), lambda x: _clipped(x, 0.6)),
        U('stamps late by 0 to 4 ms', ('stamps_back', 'stamp_jitter'), _late_stamps),
        U('torques of a knee cut off at 80 %', ('clipped_effort',), lambda x: x.joints(
            effort=np.where(np.arange(len(names)) == knee, _clipped(x, 0.8).log.joints.effort,
                            x.log.joints.effort)), of(knee)),
        U('stamps that jitter by 2 ms', ('stamp_jitter',), lambda x: _shaken(x, 0.002)),
        U('torques of a leg the same for 1 s', ('held_effort',),
          lambda x: _held_for(x, legs[0], 4.0, 5.0), of(*legs[0])),
        U('velocities in degrees', ('velocity_degrees',),
          lambda x: _scaled(x, every, 1.0 / DEGREE, 'velocity')),
    ]
