# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Findings, and faults that a robot has or has not, each as the configuration that fixes it.

Faults that have a size are in `parametric_faults`.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.diagnosis.doctor.settings import PRIOR, TOLERANCES
from legged_dynamics.diagnosis.identification.problem import roll_pitch_yaw
from legged_dynamics.diagnosis.identification.samples import Drive
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.sensor_correction import SETTINGS, SensorCorrection
from legged_dynamics.parameter_file import rounded
from legged_dynamics.spatial.rotations import rotation_from_rpy, rotation_from_vector

# How the text of a finding begins that names several faults.
APART = 'Cannot tell apart: '


@dataclass(frozen=True)
class Finding:
    """
    A fault that was found.

    Attributes
    ----------
    kind : str
        Kind of fault, such as 'swapped_legs'.
    subject : tuple of str
        Joints, legs or sensors that it is about.
    text : str
        One sentence.
    evidence : float
        Log of how much more likely the fault is than a healthy robot, prior odds included.
    fix : mapping of str to value
        Settings of the robot's YAML that fix it, by dotted name; empty where no YAML can.
    advice : str
        What to do where no YAML fixes it, or in addition to that.
    also : tuple of str
        Other faults that this recording cannot distinguish from it.
    blocks : bool
        Whether nothing else can be judged before it is corrected.
    fixable : bool
        Whether settings of the YAML may be offered for it.

    """

    kind: str
    subject: tuple[str, ...]
    text: str
    evidence: float
    fix: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ''
    also: tuple[str, ...] = ()
    blocks: bool = False
    fixable: bool = True

    @property
    def probability(self) -> float:
        """Probability of the fault, 0 to 1."""
        return 1.0 / (1.0 + math.exp(-min(max(self.evidence, -500.0), 500.0)))

    @property
    def sure(self) -> str:
        """Probability in words: 'certain', or per cent; of all that it names, not of the first."""
        sure = ('certain' if self.evidence > 14.0 else
                f'{100.0 * min(self.probability, 0.9999):.4g} %')
        return f'one of these: {sure}' if self.text.startswith(APART) else sure


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fault and its correction: a configuration, or else drives that are not rigid."""

    finding: Finding
    config: RobotConfig
    rank: float     # log-likelihood that it gains, in the units of `Likelihood`
    size: np.ndarray = field(default_factory=lambda: np.zeros(0))   # (k,): of its components
    drive: Drive | None = None


def changes(before: RobotConfig, after: RobotConfig,
            joint_names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that differ between two configurations, by dotted name."""
    old, new = before.sensors.parameters(), after.sensors.parameters()
    found = {name: value for name, value in new.items() if old.get(name) != value}
    # A setting that goes back to its default must be stated, since the YAML has another value.
    found.update({entry.name: entry.default for entry in SETTINGS
                  if entry.name in old and entry.name not in new})
    if any(len(value) == len(joint_names) and isinstance(value[0], float)
           for value in found.values() if isinstance(value, list) and value) \
            and not before.joints:
        found = {'robot.joints': list(after.sensors.joints or joint_names), **found}
    if after.imu_link != before.imu_link:
        found['robot.imu_link'] = after.imu_link
    if after.payload.mass != before.payload.mass:
        found['robot.payload_mass'] = float(after.payload.mass)
        found['robot.payload_position'] = [float(x) for x in after.payload.com]
    if after.center_of_mass_offset != before.center_of_mass_offset:
        found['robot.center_of_mass_offset'] = [float(x) for x in after.center_of_mass_offset]
    if after.armature != before.armature:
        found['robot.armature'] = [float(x) for x in after.armature]
        if not before.joints:
            found = {'robot.joints': list(joint_names), **found}
    for name in ('effort_age', 'velocity_age'):
        if (age := getattr(after.noise, name)) != getattr(before.noise, name):
            found[f'noise.{name}'] = float(age)
    for foot, other in zip(after.feet, before.feet):
        if foot.radius != other.radius:
            found['robot.foot_radius'] = float(foot.radius)
        if foot.edges != other.edges:
            found['robot.sole'] = list(foot.edges)
    return {name: rounded(value) for name, value in found.items()}


# -------------------------------------------------------------------------------------------------
# Corrected configurations.

SCALES = {'position': ('position_scale', 'position_offset'), 'velocity': ('velocity_scale',),
          'effort': ('effort_scale',)}
LISTS = ('position_scale', 'position_offset', 'velocity_scale', 'effort_scale')


class Corrector:
    """Makes corrected configurations of one robot, for the model as in the URDF."""

    def __init__(self, model: RobotModel):
        self.model, self.names = model, model.joint_names

    def _permuted(self, config: RobotConfig, source: Sequence[int],
                 effort_only: bool = False) -> RobotConfig:
        """Let joint i read what joint ``source[i]`` read before."""
        c, names = config.sensors, self.names
        order = list(source)
        driver, efforts = c.driver_names(names), c.driver_names(names, effort=True)
        if not effort_only:
            driver = tuple(driver[i] for i in order)
        efforts = tuple(efforts[i] for i in order)
        changed = replace(
            c, rename={d: n for d, n in zip(driver, names) if d != n},
            rename_effort={e: n for e, d, n in zip(efforts, driver, names) if e != d})
        for name in LISTS:
            if getattr(c, name) and (name == 'effort_scale' or not effort_only):
                values = c.per_joint(name, names, 0.0 if 'offset' in name else 1.0)
                changed = changed.with_joint(name, names, values[order])
        return replace(config, sensors=changed)

    def scaled(self, config: RobotConfig, joints: Sequence[int] | slice, factor: float,
               *fields: str) -> RobotConfig:
        """Multiply 'position', 'velocity' or 'effort' of some joints by a further factor."""
        c = config.sensors
        for part in fields:
            for name in SCALES[part]:
                values = c.per_joint(name, self.names, 0.0 if 'offset' in name else 1.0)
                values[joints] *= factor
                if values.any():
                    c = c.with_joint(name, self.names, values)
        return replace(config, sensors=_simplest(c))

    def shifted(self, config: RobotConfig, offset: np.ndarray) -> RobotConfig:
        """Add offsets (nj,) [rad] to the joints' positions, on top of the configured ones."""
        c = config.sensors
        values = c.per_joint('position_offset', self.names, 0.0) + offset
        return replace(config, sensors=c.with_joint('position_offset', self.names, values))

    def turned(self, config: RobotConfig, signed: np.ndarray) -> RobotConfig:
        """Map the IMU's vectors by a signed permutation (3, 3), after the configured axes."""
        c = config.sensors
        axes = signed @ replace(c, imu_rpy=(0.0, 0.0, 0.0)).imu_matrix
        where = enumerate(np.abs(axes).argmax(axis=1))
        R = signed @ rotation_from_rpy(np.asarray(c.imu_rpy)) @ signed.T
        return replace(config, sensors=replace(
            c, imu_axes=tuple(('-' if axes[i, k] < 0.0 else '') + 'xyz'[k] for i, k in where),
            imu_rpy=roll_pitch_yaw(R),
            gyro_bias=tuple((signed @ c.gyro_bias).tolist()),
            accelerometer_bias=tuple((signed @ c.accelerometer_bias).tolist())))

    def tilted(self, config: RobotConfig, vector: np.ndarray) -> RobotConfig:
        """Rotate the IMU's vectors by a small rotation vector [rad]."""
        c = config.sensors
        R = rotation_from_vector(np.asarray(vector, float)) @ rotation_from_rpy(
            np.asarray(c.imu_rpy))
        return replace(config, sensors=replace(c, imu_rpy=roll_pitch_yaw(R)))

    def sensors(self, config: RobotConfig, **values: Any) -> RobotConfig:
        """Replace fields of the SensorCorrection."""
        return replace(config, sensors=replace(config.sensors, **values))


def _simplest(c: SensorCorrection) -> SensorCorrection:
    """Return the correction with lists of equal values as one value, or none."""
    for name in LISTS:
        values = getattr(c, name)
        plain = 0.0 if 'offset' in name else 1.0
        if values and len(set(values)) == 1:
            change: dict[str, Any] = {name: () if values[0] == plain else (values[0],)}
            c = replace(c, **change)
    return c


# -------------------------------------------------------------------------------------------------
# Hypotheses.

DEGREE = math.pi / 180.0        # rad
RPM = 2.0 * math.pi / 60.0      # rad/s


class Hypothesis(NamedTuple):
    """A fault that the robot has or has not."""

    kind: str                   # this, subject, text and advice as `Finding` has them
    subject: tuple[str, ...]
    text: str
    config: RobotConfig         # that fixes it
    cost: float = PRIOR.single  # log of the prior odds against it
    advice: str = ''
    # Log of the factor by which the fix makes readings smaller. Smaller readings leave smaller
    # residuals whatever they mean: the density's change of variable, which costs as much in each
    # block of time.
    shrinks: float = 0.0


def legs_of(model: RobotModel, config: RobotConfig) -> list[tuple[str, list[int]]]:
    """Return each foot's link and the model indices of its leg's joints, from the base on."""
    return [(foot.link, [body - 1 for body in model.chain(model.frame(foot.link).body)])
            for foot in config.feet]


def hypotheses(model: RobotModel, config: RobotConfig, *, orientation: bool, imu: bool,
               effort: bool) -> Iterator[Hypothesis]:
    """Yield the faults without a size, for the configuration with corrections so far."""
    corrector = Corrector(model)
    yield from _orders(model, config, corrector, effort)
    yield from _signs(model, config, corrector, effort)
    yield from _units(config, corrector, imu)
    if imu:
        yield from _imu(model, config, corrector, orientation)


def _orders(model: RobotModel, config: RobotConfig, corrector: Corrector,
            effort: bool) -> Iterator[Hypothesis]:
    names, nj = model.joint_names, model.n_joints
    legs = legs_of(model, config)
    seen = {tuple(range(nj))}

    def offer(source: list[int], kind: str, subject: tuple[str, ...], text: str,
              cost: float = PRIOR.single) -> Iterator[Hypothesis]:
        if tuple(source) in seen:
            return
        seen.add(tuple(source))
        yield Hypothesis(kind, subject, text, corrector._permuted(config, source), cost)
        if effort:
            yield Hypothesis('effort_order', subject, f'{text} (the efforts alone)',
                             corrector._permuted(config, source, effort_only=True),
                             cost + PRIOR.variant)

    def moved(pairs: Iterable[tuple[int, int]]) -> list[int]:
        """Return sources in which some joints, the first of each pair, read another's."""
        source = list(range(nj))
        for to, other in pairs:
            source[to] = other
        return source

    same = [leg for leg in legs if len(leg[1]) == len(legs[0][1])]
    count = range(len(same))
    swaps = [p for p in itertools.permutations(count) if len(same) <= 4
             or sum(a != b for a, b in zip(p, count)) == 2]
    for order in sorted(swaps, key=lambda p: sum(a != b for a, b in zip(p, count))):
        feet = [same[i][0] for i in count if order[i] != i]
        two = len(feet) == 2
        yield from offer(
            moved(pair for to, frm in enumerate(order) for pair in zip(same[to][1], same[frm][1])),
            'swapped_legs' if two else 'joint_order', tuple(feet),
            f'Legs {feet[0]} and {feet[1]} are swapped in joint_states.' if two else
            'The legs come in another order: ' + ', '.join(
                f'{same[order[i]][0]} has what belongs to {same[i][0]}' for i in count
                if order[i] != i) + '.', PRIOR.single if two else PRIOR.single + PRIOR.unusual)
    place = {joint: (foot, k) for foot, joints in legs for k, joint in enumerate(joints)}
    # Cables are mistaken within a leg or for the same joint's of another; all share the odds.
    usual = {(a, b): place[a][0] == place[b][0] or place[a][1] == place[b][1]
             for a, b in itertools.combinations(place, 2)}
    share = PRIOR.single + math.log(sum(usual.values()))
    for a, b in usual:
        yield from offer(moved([(a, b), (b, a)]), 'swapped_joints', (names[a], names[b]),
                         f'Joints {names[a]} and {names[b]} are swapped in joint_states.',
                         share if usual[a, b] else share + PRIOR.unusual)
    for i, j in itertools.combinations(range(len(legs[0][1])), 2):
        pairs = ((joints[k], joints[i + j - k]) for _, joints in same for k in (i, j))
        yield from offer(moved(pairs), 'joint_order', names,
                         f'In every leg the readings of joint {i + 1} and {j + 1} are swapped.',
                         PRIOR.single + PRIOR.variant)
    command = list(config.joints or names)
    by_kind = [joints[i] for i in range(max(len(j) for _, j in legs)) for _, joints in legs
               if i < len(joints)]
    orders = {'alphabetical order': sorted(range(nj), key=lambda i: names[i]),
              'the command order of the YAML': [names.index(n) for n in command],
              'the order of the legs by kind of joint': by_kind + [
                  i for i in range(nj) if i not in by_kind],
              'the order of the URDF': list(range(nj))}
    for (true, there), (said, here) in itertools.permutations(orders.items(), 2):
        # Values come in one order under the names of another: there[k] stands at here[k].
        yield from offer(moved(zip(there, here)), 'joint_order', names,
                         f'The values of joint_states come in {true}, its names in {said}.',
                         PRIOR.single + PRIOR.variant)


def _signs(model: RobotModel, config: RobotConfig, corrector: Corrector,
           effort: bool) -> Iterator[Hypothesis]:
    names = model.joint_names
    groups = [((name,), [i]) for i, name in enumerate(names)]
    groups += [((f'leg {foot}',), joints) for foot, joints in legs_of(model, config)]
    groups += [(('all joints',), list(range(len(names))))]
    both = ('position', 'velocity')
    kinds: list[tuple[str, str, tuple[str, ...]]] = [
        ('position_sign' if effort else 'joint_sign', 'position and velocity have the wrong sign',
         both), ('velocity_sign', 'the velocity has the wrong sign', ('velocity',))]
    if effort:
        kinds = [('joint_sign', 'position, velocity and effort have the wrong sign: its axis is '
                  'the other way round', (*both, 'effort')),
                 ('effort_sign', 'the effort has the wrong sign', ('effort',)), *kinds]
    for subject, joints in groups:
        for kind, what, fields in kinds:
            yield Hypothesis(kind, subject, f'{subject[0]}: {what}.',
                             corrector.scaled(config, joints, -1.0, *fields))


def _units(config: RobotConfig, corrector: Corrector, imu: bool) -> Iterator[Hypothesis]:
    both, more = ('position', 'velocity'), PRIOR.single + PRIOR.variant
    for kind, what, unit, fields, cost in (
            ('degrees', 'Positions and velocities come in degrees, not radians', DEGREE, both,
             PRIOR.single),
            ('degrees', 'Positions come in degrees, not radians', DEGREE, both[:1], PRIOR.single),
            ('velocity_degrees', 'Velocities come in degrees, not radians', DEGREE, both[1:],
             PRIOR.single),
            ('velocity_rpm', 'Velocities come in turns a minute, not rad/s', RPM, both[1:], more)):
        yield Hypothesis(kind, ('joint_states',), f'{what}.',
                         corrector.scaled(config, slice(None), unit, *fields), cost,
                         shrinks=-math.log(unit))
    if not imu:
        return
    c = config.sensors
    for kind, factor, text in (
            ('gyro_degrees', DEGREE, 'The gyro reports degrees/s, not rad/s.'),
            ('gyro_sign', -1.0, "The gyro's three axes have the wrong sign."),
            ('accelerometer_sign', -1.0, 'The accelerometer reads gravity downwards: +g belongs '
             'upwards at rest (REP-145).'),
            ('accelerometer_units', GRAVITY, 'The accelerometer reports g, not m/s^2.'),
            ('accelerometer_units', 1e-3, 'The accelerometer reports mm/s^2, not m/s^2.')):
        name = f'{kind.partition("_")[0]}_scale'
        yield Hypothesis(kind, ('imu',), text,
                         corrector.sensors(config, **{name: getattr(c, name) * factor}),
                         shrinks=-math.log(abs(factor)) if name == 'gyro_scale' else 0.0)


def _imu(model: RobotModel, config: RobotConfig, corrector: Corrector,
         orientation: bool) -> Iterator[Hypothesis]:
    upside = {(1, -1, -1), (-1, 1, -1)}
    for order in itertools.permutations(range(3)):
        for sign in itertools.product((1, -1), repeat=3):
            signed = np.zeros((3, 3))
            signed[range(3), order] = sign
            if order == (0, 1, 2) and sign == (1, 1, 1):
                continue
            proper = np.linalg.det(signed) > 0.0
            turned = corrector.turned(config, signed)
            axes = ', '.join(turned.sensors.imu_axes)
            if order == (0, 1, 2) and sign in upside:
                kind, text = 'imu_upside_down', 'The IMU is upside down'
            elif proper:
                kind, text = 'imu_axes', 'The IMU is mounted another way round'
            else:
                kind, text = 'imu_axes', "The IMU's axes are mixed up into a left-handed set"
            yield Hypothesis(kind, ('imu',), f"{text}: the IMU link's x, y, z are its {axes}.",
                             turned, PRIOR.single + (0.0 if proper else PRIOR.unusual))
    here = config.imu_link_in(model)
    mine = model.frame(here).pose
    for link, frame in model.frames.items():
        if frame.body == 0 and link != here and not (
                np.allclose(frame.pose.R, mine.R, atol=1e-3)
                and np.allclose(frame.pose.p, mine.p, atol=5e-3)):
            yield Hypothesis('imu_link', (link,), f'The IMU sits on {link}, not on {here}.',
                             replace(config, imu_link=link), PRIOR.single + PRIOR.variant)
    if orientation:
        other = 'wxyz' if config.sensors.quaternion_order == 'xyzw' else 'xyzw'
        yield Hypothesis('quaternion_order', ('imu',), f'The orientation comes as {other}.',
                         corrector.sensors(config, quaternion_order=other))
        if not config.sensors.ignore_orientation:
            yield Hypothesis('orientation', ('imu',), 'The orientation does not fit gyro and '
                             'accelerometer: it is of another frame, or its filter is off.',
                             corrector.sensors(config, ignore_orientation=True),
                             PRIOR.single + PRIOR.orientation,
                             shrinks=-math.log(TOLERANCES.attitude))  # it may be any
        yield Hypothesis('missing_gravity', ('imu',), 'The accelerometer comes without gravity.',
                         corrector.sensors(config, add_gravity=True), PRIOR.single,
                         'Have the driver publish the raw acceleration (REP-145): what is added '
                         'here is no better than the orientation.')
