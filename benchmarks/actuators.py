# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Robots with real actuators, one defect at a time, of which the YAML says nothing.

`python -m benchmarks.actuators --help`. Friction is simulated; all else is planted in the sensors
or left out of the YAML. Figures are those of `benchmarks.zoo`: the errors of a standing foot's
force in % of the weight, zero phase and on line, error over sigma, contact right in %; of the
first second of walking and from the third on.
"""
from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import butter, lfilter
from scipy.spatial.transform import Rotation

from benchmarks.planted_faults import (
    LIGHT,
    RecordedRobot,
    drifting,
    elastic,
    with_play,
)
from benchmarks.walking_robots import described
from benchmarks.zoo.cache import _kept
from benchmarks.zoo.estimators import Output, outputs_of
from benchmarks.zoo.foreign import Foreign
from benchmarks.zoo.foreign_run import simulate_foreign
from benchmarks.zoo.peers import observer
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import ROBOTS, MissingRobot, ZooRobot, _robot, robot
from benchmarks.zoo.scenarios import SCENARIOS, Scenario
from benchmarks.zoo.scoring import Score, score, score_output
from benchmarks.zoo.simulate import simulate
from legged_dynamics.diagnosis.identification.samples import JointLog, SensorLog
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.estimation.ground_reaction import Fault
from legged_dynamics.exceptions import SimulationError

# -------------------------------------------------------------------------------------------------
# Runs of robots whose actuators are as their YAML says, apart from the field's noise.
#
# Robots, gaits, speeds, grounds and noise are drawn from the number of the run. Torque gains
# differ by 2 % (one deviation) and offsets by 0.3 % of the limit, as in all runs of the zoo. Of
# these runs no fault of an actuator should be said. Each motion is heard with the noise of two
# seeds. Motions of an even number chose the thresholds of the faults, those of an odd one did not.


GAITS = {'hexapod': ('tripod', 'wave'), 'biped': ('step',), 'talos': ('step',), 'g1': ('step',),
         'romeo': ('step',)}
FOUR_LEGGED = ('trot', 'trot', 'walk')
FLOORS = ('soft', 'normal', 'normal', 'stiff')
# Robots that walk in these runs.
NAMES = ('go2', 'hyq', 'b1', 'hexapod', 'quadruped', 'biped', 'anymal_class', 'solo_class',
         'talos', 'g1', 'a1', 'laikago', 'anymal_b', 'anymal_c', 'romeo', 'go1', 'aliengo', 'b2',
         'a2')
# Unitree's quadrupeds in unitree_ros: thigh, calf [rad], torque noise [N m], armature [kg m^2],
# damping [N m s/rad], friction [N m], radius of a foot [m].
UNITREE = {'go1': (0.75, -1.5, 0.3, 0.008, 0.1, 0.1, 0.02),
           'aliengo': (0.75, -1.5, 0.5, 0.015, 0.1, 0.2, 0.0265),
           'b2': (0.75, -1.5, 2.5, 0.08, 0.5, 0.5, 0.032),
           'a2': (0.75, -1.5, 1.5, 0.05, 0.3, 0.3, 0.032)}
# Robots whose legs are shorter than 0.3 m: their feet come down slower.
SMALL = ('quadruped', 'solo_class')


def unitree(name: str, urdf: str) -> ZooRobot:
    """
    Return a quadruped of Unitree's.

    Parameters
    ----------
    name : str
        One of `UNITREE`.
    urdf : str
        Text of its maker's URDF.

    """
    thigh, calf, effort, armature, damping, friction, radius = UNITREE[name]
    legs = {leg: {f'{leg}_hip_joint': 0.0, f'{leg}_thigh_joint': thigh,
                  f'{leg}_calf_joint': calf} for leg in ('FR', 'FL', 'RR', 'RL')}
    base = next(one for one in ('base', 'base_link', 'trunk') if f'name="{one}"' in urdf)
    imu = next((one for one in ('imu_link', 'imu_in_torso', 'imu') if f'name="{one}"' in urdf),
               base)
    return _robot(name, urdf, legs, [f'{i}_foot' for i in legs], imu=imu, base=base,
                  effort=effort, armature=armature, damping=damping, friction=friction,
                  radius=radius)


def add_unitree(folder: str | None) -> None:
    """
    Add the robots of unitree_ros to the zoo.

    Parameters
    ----------
    folder : str, optional
        ``unitree_ros/robots``; what is not in it is not added.

    """
    for name in UNITREE:
        for file in Path(folder or '.').glob(f'{name}_description/urdf/{name}*.urdf'):
            text = file.read_text(encoding='utf-8')
            ROBOTS[name] = lambda name=name, text=text: unitree(    # type: ignore[misc]
                name, text)


def add_described(path: Path) -> str:
    """Add the robot that `new-robot` describes from a URDF to the zoo; return its run's name."""
    zoo = described(path)
    # Recordings are kept under the scenario, which has to tell robots of one name apart.
    content = hashlib.sha256((zoo.urdf + repr(zoo.parameters)).encode()).hexdigest()[:8]
    key, feet = f'{zoo.name}~{content}', zoo.config.feet
    gait = {2: 'step', 6: 'tripod'}.get(len(feet), 'trot')
    how: dict[str, float] = ({'speed': 0.08, 'landing': 0.3, 'lift': 0.05} if gait == 'step'
                             else {'speed': 1.0, 'landing': 1.0})
    ROBOTS[key] = lambda: zoo       # type: ignore[misc]
    SCENARIOS[zoo.name] = Foreign(f'{zoo.name}-{gait}', key, gait, **how)
    return zoo.name


def healthy(number: int) -> Scenario:
    """Return what the robot of a number does, on what ground."""
    rng = np.random.default_rng(number)
    robot = NAMES[number % len(NAMES)]
    gaits = GAITS.get(robot, FOUR_LEGGED)
    motion = str(rng.choice(gaits))
    draw = rng.uniform
    two = motion == 'step'
    slow = motion in ('walk', 'wave')
    slope, across = draw(-8.0, 10.0), draw(-6.0, 6.0)
    flat = two or rng.random() < 0.5
    return Scenario(
        f'healthy-{number}-{robot}', robot, motion, seconds=5.5,
        speed=round(draw(0.03, 0.12) if two else draw(0.1, 0.5 if slow else 1.0), 2),
        landing=round(draw(0.2, 0.4) if two else draw(0.3, 0.7) if robot in SMALL
                      else draw(0.4, 1.5), 2),
        lift=round(draw(0.035, 0.08) if two else draw(0.15, 0.3), 3),
        floor=str(rng.choice(FLOORS)), slope=0.0 if flat else round(slope, 1),
        across=0.0 if flat else round(across, 1))


def healthy_motions(count: int, rate: float, first: int = 0, level: bool = False
                    ) -> Iterator[tuple[int, Recording]]:
    """
    Yield numbers and recordings of healthy robots that move.

    Parameters
    ----------
    count : int
        How many; a robot that is not installed, falls or drags its feet does not count.
    rate : float
        Of the recordings [Hz].
    first : int
        Number to begin with.
    level : bool
        Whether the ground has no slope.

    """
    number, found = first, 0
    while found < count and number < first + 4 * count:
        scenario = healthy(number)
        if level:
            scenario = replace(scenario, slope=0.0, across=0.0)
        number += 1
        if scenario.robot not in ROBOTS:
            continue
        try:
            made = _kept(scenario, rate, False, simulate)
        except (MissingRobot, SimulationError, ValueError) as error:
            print(f'{scenario.name}: left out: {error}', file=sys.stderr, flush=True)
            continue
        found += 1
        yield number - 1, made


# -------------------------------------------------------------------------------------------------


DEGREE = np.pi / 180.0


@dataclass(frozen=True)
class Defect:
    """
    What is wrong and not in the YAML.

    Attributes
    ----------
    name : str
    friction : float
        Coulomb friction of all joints, as a share of their torque limit; 0: as the YAML has it.
    stated : bool
        Whether the YAML states that friction.
    armature : float
        Share of the true armature that the YAML states.
    effort_late, imu_late : float [s]
    effort_noise : float
        Factor of the white noise of torque.
    gain : float
        Torque gains differ by half of this to this, either way.
    encoder : int
        Bits of the encoder that velocity is differentiated from, through 50 Hz; 0: as usual.
    tilt : float [rad]
        Of the IMU.
    com : float [m]
        Error of the model's centre of mass of the base.
    hips : float
        Share of the true armature that the YAML states for the first joint of each leg.
    drift : float
        Torques' gain at 6 s, from 1 at the start.
    spring : float [N m/rad]
        Stiffness between motors and links of a heavy robot, 0.3 of it on a light one; 0: stiff.
    play : float [rad]
    clip : float
        Share of each joint's largest torque at which torques are cut off; 0: none are.
    jitter : float [s]
        Stamps of joint states are of their receipt, late by up to this; the IMU's are right.
    fault : str
        Name of the fault that should be raised; empty: none.

    """

    name: str
    friction: float = 0.0
    stated: bool = False
    armature: float = 1.0
    effort_late: float = 0.0
    imu_late: float = 0.0
    effort_noise: float = 1.0
    gain: float = 0.0
    encoder: int = 0
    tilt: float = 0.0
    com: float = 0.0
    hips: float = 1.0
    drift: float = 1.0
    spring: float = 0.0
    play: float = 0.0
    clip: float = 0.0
    jitter: float = 0.0
    fault: str = ''


DEFECTS = (
    Defect('none'),
    Defect('friction 5 % of the limit', friction=0.05, fault='FRICTION_MISSTATED'),
    Defect('the same, in the YAML', friction=0.05, stated=True),
    Defect('friction 2 % of the limit', friction=0.02, fault='FRICTION_MISSTATED'),
    Defect('armature 0', armature=0.0, fault='ARMATURE_MISSTATED'),
    Defect('torque 3 ms late', effort_late=0.003, fault='EFFORT_LATE'),
    Defect('torque 5 ms late', effort_late=0.005, fault='EFFORT_LATE'),
    Defect('torque noise x5', effort_noise=5.0),
    Defect('velocity from 14 bits, 50 Hz', encoder=14),
    Defect('gains 5 to 10 %', gain=0.1, fault='GAIN_MISSTATED'),
    Defect('IMU 2 ms late', imu_late=0.002, fault='IMU_LATE'),
    Defect('small ones together', friction=0.006, gain=0.05, effort_late=0.002, tilt=DEGREE,
           imu_late=0.001, com=0.01, armature=0.5),
    Defect("hips' armature 0", hips=0.0, fault='ARMATURE_MISSTATED'),
    Defect('gain drifting to 0.85 in 6 s', drift=0.85, fault='GAIN_MISSTATED'),
    Defect('gain rising to 1.15 in 6 s', drift=1.15, fault='GAIN_MISSTATED'),
    Defect('springs of 1000 N m/rad, 300 on a light robot', spring=1000.0,
           fault='DRIVES_ELASTIC'),
    Defect('play of 1 degree', play=DEGREE),
    Defect('torques cut off at 60 %', clip=0.6),
    Defect('stamps late by 0 to 4 ms', jitter=0.004, fault='STAMPS_UNEVEN'),
)
QUICK = ('none', 'friction 5 % of the limit', 'armature 0', 'torque 3 ms late',
         'small ones together')


@dataclass(frozen=True)
class Defective(Recording):
    """A run as sensors with a defect hear it."""

    defect: Defect = field(default_factory=lambda: Defect('none'))

    def measurements(self, noise: bool = True, effort: bool = True, imu: bool = True,
                     slow_accelerometer: bool = False, seed: int | None = None
                     ) -> Iterator[Measurement]:
        """Yield what the sensors say, drawn as `Recording.measurements` draws."""
        d, rng = self.defect, np.random.default_rng(self.seed if seed is None else seed)
        n, nj = self.q.shape
        limit = self.model.effort_limits
        limit = np.where(np.isfinite(limit), limit, np.abs(self.tau).max())
        white = rng.standard_normal
        q = self.q + 3e-4 * white((n, nj))
        v = self.v + 0.03 * white((n, nj))
        gain = 1.0 + 0.02 * white(nj)
        if d.gain:
            way = np.where(np.arange(nj) % 2, 1.0, -1.0)
            gain = gain + way * d.gain * np.linspace(0.5, 1.0, nj)
        truth = self._driven()
        q, v = q + (truth.position - self.q), v + (truth.velocity - self.v)
        tau = _late(truth.effort, d.effort_late * self.rate) * gain
        tau = tau + d.effort_noise * 0.01 * limit * white((n, nj)) + 0.003 * limit * white(nj)
        if d.clip:
            most = d.clip * np.abs(tau).max(axis=0)
            tau = np.clip(tau, -most, most)
        if d.encoder:
            step = 2.0 * np.pi / 2 ** d.encoder
            rough = step * np.round(self.q / step)
            slope = np.diff(rough, axis=0, prepend=rough[:1]) * self.rate
            v = lfilter(*butter(2, 50.0, fs=self.rate), slope, axis=0)
        gyro = self.gyro + 0.005 * white((n, 3)) + 0.003 * white(3)
        accelerometer = self.accelerometer + 0.05 * white((n, 3)) + 0.05 * white(3)
        tilt = 0.003 * white((n, 3)) + 0.005 * white(3)
        turn = Rotation.from_euler('y', d.tilt).as_matrix()
        gyro, accelerometer, tilt = (
            _late(x, d.imu_late * self.rate) for x in (gyro @ turn, accelerometer @ turn, tilt))
        late = round(d.imu_late * self.rate)
        made = self if not late else replace(self, imu_rotation=np.concatenate(
            [np.repeat(self.imu_rotation[:1], late, 0), self.imu_rotation[:-late]]))
        if d.tilt:
            made = replace(made, imu_rotation=made.imu_rotation @ turn)
        if d.jitter:
            made, gyro, accelerometer = made._stamped_late(gyro, accelerometer)
        yield from Recording.samples(made, q, v, tau if effort else None,
                                     (gyro, accelerometer, tilt) if imu else None)


    def _driven(self) -> JointLog:
        """Return what perfect sensors on the motors read: drives yield, gains drift, and so on."""
        d = self.defect
        log = JointLog(self.stamp_ns, self.stamp_ns, self.joints, self.q, self.v, self.tau)
        made = RecordedRobot(self.model, self.config, SensorLog(log))
        if d.spring:
            made = elastic(made, d.spring * (1.0 if self.model.total_mass > LIGHT else 0.3))
        if d.play:
            made = with_play(made, d.play)
        if d.drift != 1.0:
            made = drifting(made, d.drift, 6.0)
        return made.log.joints

    def _stamped_late(self, gyro: np.ndarray, accelerometer: np.ndarray
                      ) -> tuple[Defective, np.ndarray, np.ndarray]:
        """Return it with stamps late by chance, and the IMU's readings that go with these."""
        late = np.random.default_rng(1).uniform(0.0, self.defect.jitter, len(self.stamp_ns))
        stamp = np.sort(self.stamp_ns + np.rint(1e9 * late).astype(np.int64))   # of receipt

        def at(values: np.ndarray) -> np.ndarray:
            return np.stack([np.interp(stamp, self.stamp_ns, one) for one in values.T], axis=1)
        nearest = np.clip(np.rint((stamp - stamp[0]) * 1e-9 * self.rate).astype(int),
                          0, len(stamp) - 1)
        return replace(self, stamp_ns=stamp, imu_rotation=self.imu_rotation[nearest]), at(
            gyro), at(accelerometer)


def _late(x: np.ndarray, samples: float) -> np.ndarray:
    """Return a signal later by a number of samples, between them by straight lines."""
    if samples == 0.0:
        return x
    t = np.arange(len(x), dtype=float)
    return np.stack([np.interp(t - samples, t, column) for column in x.T], axis=1)


def scenario_of(name: str) -> Scenario:
    """Return the run of a robot: a scenario of the zoo, or a robot's first gait."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    gait = GAITS.get(name, FOUR_LEGGED)[0]
    if gait == 'step':
        return Scenario(f'{name}-step', name, gait, speed=0.08, landing=0.3, lift=0.05)
    return Scenario(f'{name}-{gait}', name, gait, speed=1.0, landing=1.0)


def made_run(name: str, defect: Defect, rate: float) -> Defective:
    """Simulate a run, or take it from where recordings are kept, and plant a defect."""
    scenario = scenario_of(name)
    plain = robot(scenario.robot)
    yaml = dict(plain.parameters)
    if defect.friction:
        limits = plain.model.effort_limits
        index = plain.model.joint_index
        rubbing = [float(defect.friction * limits[index(j)]) for j in plain.config.joints]
        parameters = {**plain.parameters, 'robot.joint_friction': rubbing}
        key = f'{scenario.robot}~f{defect.friction:g}'
        ROBOTS[key] = lambda: replace(plain, parameters=parameters)
        scenario = replace(scenario, name=f'{scenario.name}~f{defect.friction:g}', robot=key)
        if defect.stated:
            yaml = parameters
    made = _kept(scenario, rate, False,
                 simulate_foreign if isinstance(scenario, Foreign) else simulate)
    armature = [defect.armature * value for value in plain.parameters['robot.armature']]
    if defect.hips != 1.0:
        names = plain.config.joints or plain.model.joint_names
        model = plain.model
        hips = {model.joint_names[model.chain(model.frame(foot.link).body)[0] - 1]
                for foot in plain.config.feet}
        armature = [value * (defect.hips if name in hips else 1.0) for name, value in zip(
            names, armature * (len(names) if len(armature) == 1 else 1))]
    yaml = {**yaml, 'robot.armature': armature}
    if defect.com:
        yaml['robot.center_of_mass_offset'] = [defect.com, 0.0, 0.0]
    values = {f.name: getattr(made, f.name) for f in fields(Recording)}
    return Defective(**values | {'parameters': yaml, 'name': scenario_of(name).name},
                     defect=defect)


@dataclass
class Heard:
    """What our estimator said in a run: outputs, and when each fault was first raised."""

    outputs: dict[str, list[Output | None]]
    faults: dict[str, float]
    estimator: GroundReactionEstimator


def ours(run: Recording, settings: Mapping[str, Any] | None = None, **measured: Any) -> Heard:
    """Run our estimator over a recording."""
    estimator = GroundReactionEstimator(run.model, run.config,
                                        {'rate': run.rate, **(settings or {})})
    order = [estimator.feet.index(foot) for foot in run.feet]
    outputs: dict[str, list[Output | None]] = {'raw': [], 'latest': []}
    faults: dict[str, float] = {}
    for k, measurement in enumerate(run.measurements(**measured)):
        r = estimator.update(measurement)
        found = outputs_of(r, order) if r.mode != 0 else {}
        for name, rows in outputs.items():
            rows.append(found.get(name))
        for fault in Fault:
            if r.faults & fault:
                faults.setdefault(str(fault.name), k / run.rate - run.scored[0])
    return Heard(outputs, faults, estimator)


def windows(run: Recording) -> dict[str, tuple[float, float]]:
    """Return the first second of walking, and from the third on."""
    begin, end = run.scored
    return {'first': (begin, begin + 1.0), 'late': (min(begin + 3.0, end - 1.0), end)}


def scored(run: Recording, heard: Heard) -> dict[str, dict[str, Score]]:
    """Return the scores of each window and output."""
    return {when: {name: score_output(replace(run, scored=span), name, rows)
                   for name, rows in heard.outputs.items()}
            for when, span in windows(run).items()}


def healthy_table(count: int, rate: float) -> str:
    """Return a table of the faults that are said of runs without a defect."""
    runs: list[tuple[int, str, list[str]]] = []
    for number, made in healthy_motions((count + 1) // 2, rate):
        for seed in (2 * number, 2 * number + 1):
            heard = ours(made, seed=seed)
            said = [f'{name} {t:.1f}' for name, t in heard.faults.items() if name != 'WARMING_UP']
            runs.append((number, made.robot, said))
            print(f'{made.name}, seed {seed}: {", ".join(said) or "no fault"}', file=sys.stderr,
                  flush=True)
    rows = ['| motions | runs | robots | runs with a fault | which (s) |',
            '|---|---:|---:|---:|---|']
    for odd, title in enumerate(('even: thresholds were chosen on them', 'odd: looked at last')):
        half = [run for run in runs[:count] if run[0] % 2 == odd]
        bad = [f'{robot}: {", ".join(said)}' for _, robot, said in half if said]
        rows.append(f'| {title} | {len(half)} | {len({run[1] for run in half})} | {len(bad)} | '
                    f'{"; ".join(bad) or "-"} |')
    return '\n'.join(rows)


HEADER = ('| defect, not in the YAML | first second: zero phase / on line | e/sigma | contact | '
          'from 3 s: zero phase / on line | e/sigma | contact | observer, contact | faults (s) |\n'
          '|---|---:|---:|---:|---:|---:|---:|---:|---|')


def row(defect: Defect, found: dict[str, dict[str, Score]], peer: Score | None,
        faults: dict[str, float]) -> str:
    """Return a row of the table."""
    cells = [defect.name]
    for when in ('first', 'late'):
        raw, latest = found[when]['raw'], found[when]['latest']
        contact = raw.contact.agreement if raw.contact else np.nan
        cells += [f'{raw.zero_phase:.2f} / {latest.on_line:.2f}', f'{raw.normalised:.2f}',
                  f'{contact:.1f}']
    right = peer.contact.agreement if peer is not None and peer.contact else np.nan
    cells.append('' if peer is None else f'{peer.zero_phase:.2f} / {peer.on_line:.2f}, '
                                         f'{right:.1f}')
    known = {name: t for name, t in faults.items() if name != 'WARMING_UP'}
    cells.append(', '.join(f'{name} {t:.1f}' for name, t in known.items()) or '-')
    return f'| {" | ".join(cells)} |'


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.actuators', description=__doc__)
    parser.add_argument('robots', nargs='*', default=[], metavar='RUN',
                        help="scenarios of the zoo that walk, robots (b1, b2), or makers' URDFs "
                        'as new-robot describes them; '
                        'if none is given go1 where its URDF is at hand, anymal_class-trot, '
                        'hexapod-tripod, and hyq-trot and talos-steps where example-robot-data is')
    parser.add_argument('--unitree', metavar='FOLDER', help="unitree_ros/robots, makers' URDFs")
    parser.add_argument('--healthy', type=int, metavar='N', help='instead N runs of robots that '
                        'are as stated, and the faults that are said of them')
    parser.add_argument('--quick', action='store_true', help='fewer defects and one robot')
    parser.add_argument('--defects', nargs='+', metavar='WORD', help='beginnings of their names')
    parser.add_argument('--no-observer', action='store_true')
    parser.add_argument('--no-learning', action='store_true', help='actuators.learn: false')
    parser.add_argument('--rate', type=float, default=500.0)
    options = parser.parse_args(arguments)
    add_unitree(options.unitree)
    if options.healthy:
        print(healthy_table(options.healthy, options.rate))
        return 0
    names = options.robots or [
        name for name in ('go1', 'anymal_class-trot', 'hexapod-tripod', 'hyq-trot', 'talos-steps')
        if name != 'go1' or 'go1' in ROBOTS]
    if options.quick:
        names = names[:1]
    chosen = [d for d in DEFECTS if (not options.quick or d.name in QUICK) and (
        not options.defects or d.name.startswith(tuple(options.defects)))]
    settings = {'actuators.learn': False} if options.no_learning else {}
    rows = 0
    names = [add_described(Path(name)) if name.endswith('.urdf') else name for name in names]
    for name in names:
        print(f'\n### {name}\n\n{HEADER}', flush=True)
        for defect in chosen:
            try:
                run = made_run(name, defect, options.rate)
            except MissingRobot as error:
                print(f'{name}: skipped: {error}', file=sys.stderr)
                break
            heard = ours(run, settings)
            peer = None
            if not options.no_observer:
                late = replace(run, scored=windows(run)['late'])
                peer = score(late, observer(250.0))['raw']
            print(row(defect, scored(run, heard), peer, heard.faults), flush=True)
            rows += 1
    return 0 if rows else 2


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    sys.exit(main())
