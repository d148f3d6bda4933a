# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What `python -m benchmarks digests` computes: the package's ways from sensors to results."""
from __future__ import annotations

import contextlib
import io
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet

from benchmarks.zoo import cache as zoo_cache
from benchmarks.zoo.estimators import outputs_of
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import MissingRobot
from benchmarks.zoo.scoring import score_output
from legged_dynamics import cli
from legged_dynamics.cli.doctor import robot_and_readings
from legged_dynamics.diagnosis.doctor.examination import examine
from legged_dynamics.diagnosis.identification.identify import identify
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.model import RobotConfig
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.report.accuracy import zero_phase
from legged_dynamics.recordings.report.analysis import Analysis, analyse
from legged_dynamics.reproductions.climbing.comparison import MUJOCO, compare
from legged_dynamics.reproductions.planar_biped import RUNS, crouch
from legged_dynamics.resources import robot_files
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import Component, QoSProfile
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.stickybot import StickybotSettings

# -------------------------------------------------------------------------------------------------
# Messages, dataclasses and tables as the arrays that `python -m benchmarks digests` compares.


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in a message or a dataclass, field by field; texts are left out."""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        yield float(value)
    elif isinstance(value, np.ndarray):
        yield from value.astype(float).ravel().tolist() if value.dtype.kind in 'bifu' else ()
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from numbers(value[key])
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name))
    elif not isinstance(value, (str, bytes)) and hasattr(value, '__iter__'):
        for item in value:
            yield from numbers(item)


def rows(values: Any) -> np.ndarray:
    """Return the numbers of messages or dataclasses, a row each; in one row if they differ."""
    found = [list(numbers(value)) for value in values]
    if len({len(row) for row in found}) == 1:
        return np.array(found)
    return np.array([number for row in found for number in row])


def texts(values: Any) -> str:
    """Return sentences as one text."""
    return '\n'.join(map(str, values))


def table(path: Path | list[Path], without: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the columns of Parquet files, one after the other."""
    paths = [path] if isinstance(path, Path) else path
    read = [pyarrow.parquet.ParquetFile(one).read() for one in paths]
    for name in read[0].column_names:
        if name in without:
            continue
        column = [item for one in read for item in one.column(name).to_pylist()]
        first = next((item for item in column if item is not None), 0.0)
        if isinstance(first, (str, list)) or hasattr(first, 'year'):
            yield name, texts(column)
        else:
            yield name, np.array([np.nan if item is None else item for item in column], float)


def messages(path: Path) -> dict[str, np.ndarray]:
    """Return all that a bag's messages say, and when they came, by topic."""
    found: dict[str, list] = {}
    with BagReader(path) as bag:
        for message in bag.messages():
            # Diagnostics tell how long things took.
            if message.topic not in ('/diagnostics', '/robot_description'):
                found.setdefault(message.topic, []).append(
                    [message.receipt_ns, *numbers(bag.decode(message))])
    return {topic: rows(values) for topic, values in found.items()}


# -------------------------------------------------------------------------------------------------


Found = dict[str, Any]

SECONDS = 6.0       # of a recording of the zoo
STEP = 0.002        # s
# Robots of our own first; the last come from example-robot-data, where it is installed.
ZOO: dict[str, dict[str, bool]] = {
    'anymal_class-trot': {}, 'anymal_class-trot/no-effort': {'effort': False},
    'anymal_class-block': {}, 'solo_class-walk-10deg': {}, 'hexapod-tripod': {},
    'hexapod-tripod-soft': {}, 'hexapod-tripod-push': {}, 'biped-steps': {},
    'go2-trot': {}, 'hyq-walk': {}, 'talos-steps': {}}
REACTION = ('wrench', 'raw_wrench', 'contact', 'latest_contact', 'contact_probability',
            'observable', 'net_wrench', 'center_of_pressure', 'base_residual', 'covariance',
            'latest_covariance', 'external_wrench', 'external_deviation', 'external_torque',
            'mass_error', 'base_rotation', 'foot_rotation', 'foot_position', 'contact_point')
TRUTH = ('q', 'v', 'tau', 'gyro', 'accelerometer', 'base_position', 'wrench', 'smooth_force_B')
FLEET = {'first': ('anymal_class', 'stand 1, trot_forward 3', 1),
         'second': ('anymal_class', 'stand 2, trot_in_place 2', 2),
         'third': ('solo_class', 'stand 1, trot_forward 3', 3)}
# Of a data set: where recordings lay, and when and how fast this was.
PASSING = ('recording', 'path', 'cpu', 'written', 'source_bytes', 'source_modified', 'options')


class Skipped(Exception):
    """A case cannot be run here; the message says why."""


# ---- on the bus ----------------------------------------------------------------------------


class Robot:
    """A simulated robot on the in-process bus, and nodes in lock-step with it as in the demo."""

    def __init__(self, name: str, schedule: str, *components: type[Component], seed: int = 0):
        yaml, urdf = robot_files(name)
        self.bus = LoopbackBus()
        common = {**read_parameter_file(yaml), 'robot_description': str(urdf)}
        answers = [f'/{component.default_name}/answer' for component in components]
        step = {'lock_step.answers': answers} if answers else {}
        self.bus.host(SimulatedRobotNode, parameters={
            **common, **step, 'schedule': schedule, 'seed': seed})
        for component in components:
            self.bus.host(component, parameters={**common, 'use_sim_time': True})
        self.taken: list[tuple[str, int, bytes]] = []
        self.kinds: dict[str, str] = {}
        self.ear = self.bus.create_node('recorder')
        for topic, kind in self.bus.topics():
            if not topic.startswith(('/rosout', '/parameter_events')):
                self.kinds[topic] = kind
                latched = topic == '/robot_description'
                self.ear.create_raw_subscription(
                    kind, topic, partial(self._take, topic),
                    QoSProfile(depth=100_000, reliable=latched, latched=latched))

    def _take(self, topic: str, cdr: bytes, now_ns: int) -> None:
        self.taken.append((topic, now_ns, cdr))

    def run(self, seconds: float) -> None:
        """Let time pass, a sample at a time."""
        for _ in range(round(seconds / STEP)):
            self.bus.step(STEP)

    def write(self, path: Path) -> Path:
        """Write what was said into a bag."""
        with BagWriter(path) as bag:
            for topic, kind in self.kinds.items():
                bag.add_topic(topic, kind, latched=topic == '/robot_description')
            for message in self.taken:
                bag.write(*message)
        return path


def analysed(made: Analysis) -> Found:
    """Return what a replay and its comparison with the truth say."""
    found: Found = {}
    for name, series in {'fused': made.series, **made.others}.items():
        found |= {f'replay/{name}/{key}': column.values for key, column in vars(series).items()
                  if hasattr(column, 'values')}
    found |= {f'truth/{key}': value for key, value in vars(made.truth).items() if key != 'notes'}
    found |= {f'accuracy/{key}': rows(getattr(made.accuracy, key))
              for key in ('feet', 'support', 'sums')}
    found |= {f'judged/{key}': rows(getattr(made, key)) for key in ('contacts', 'inputs', 'live')}
    smooth = zero_phase(made.series.time, made.series.raw_wrench.values)
    return found | {'replay/zero phase': smooth, 'accuracy/center': made.accuracy.center,
                    'judged/notes': texts(made.notes)}


# ---- the cases -----------------------------------------------------------------------------


def demo() -> Found:
    """Estimator and robot in lock-step: what sensors said, what was published, its replay."""
    robot = Robot('anymal_class', 'stand 1.5, trot_forward 3, stand 1.5', GroundReactionNode)
    robot.run(SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        bag = robot.write(Path(folder) / 'bag')
        return {**messages(bag), **analysed(analyse(bag))}


def zoo(name: str, measured: Mapping[str, bool]) -> Found:
    """Return a recording, what the estimator makes of it, on line and zero-phase, and scores."""
    try:
        kept = shortened(zoo_cache.recording(name))
    except MissingRobot as error:
        raise Skipped(str(error).split(':')[0]) from None
    found: Found = {f'truth/{key}': getattr(kept, key) for key in TRUTH}
    estimator = GroundReactionEstimator(kept.model, kept.config, {'rate': kept.rate})
    order = [estimator.feet.index(foot) for foot in kept.feet]
    said: dict[str, list] = {key: [] for key in (*REACTION, 'stamps')}
    outputs: dict[str, list] = {'raw': [], 'latest': []}
    for measurement in kept.measurements(**measured):
        reaction = estimator.update(measurement)
        said['stamps'].append((reaction.stamp_ns, reaction.latest_ns, reaction.mode,
                               reaction.faults))
        for key in REACTION:
            said[key].append(np.array(getattr(reaction, key)))
        given = outputs_of(reaction, order) if reaction.mode else {}
        for key, column in outputs.items():
            column.append(given.get(key))
    found |= {f'on line/{key}': np.array(column) for key, column in said.items()}
    time = (kept.stamp_ns - kept.stamp_ns[0]) * 1e-9
    found['zero phase/raw_wrench'] = zero_phase(time, found['on line/raw_wrench'])
    for key, column in outputs.items():
        scores = score_output(kept, key, column).as_dict()
        found[f'scores/{key}'] = [scores[entry] for entry in sorted(scores) if entry != 'output']
    return found


def shortened(whole: Recording) -> Recording:
    """Return the beginning of a recording."""
    count = round(SECONDS * whole.rate)
    return replace(whole, **{field.name: getattr(whole, field.name)[:count]
                             for field in fields(whole)
                             if isinstance(getattr(whole, field.name), np.ndarray)})


def crouches() -> Found:
    """Return the planar biped's crouches on all plants."""
    found: Found = {}
    for run in RUNS:
        trace = crouch(run).trace
        found |= {f'{run.name}/{key}': getattr(trace, key) for key in (
            'time', 'pose', 'twist', 'position', 'torque', 'ground', 'error')}
    return found


def climbs() -> Found:
    """Return StickyBot's climbs by the package's physics and by MuJoCo, on pads and without."""
    settings = StickybotSettings.from_yaml(robot_files('stickybot')[0])
    settings = settings.changed({'adhesion.kind': 'directional'})
    compared = compare(settings, 2.0, plant=MUJOCO)
    found: Found = {'speed': compared.speed}
    for attempt in compared.attempts:
        name = f'{attempt.plant}, {attempt.reduction}{", on pads" if attempt.pads else ""}'
        trace = attempt.trace
        found[f'{name}/error'] = attempt.error
        if trace is not None and attempt.climb is not None:
            found |= {f'{name}/{key}': getattr(trace, key) for key in (
                'time', 'pose', 'velocity', 'foot', 'joint', 'reaction', 'planned', 'normal_load',
                'attached', 'pad_angle')}
            found[f'{name}/energy'] = rows(trace.energy)
            found[f'{name}/events'] = rows(attempt.climb.events)
    return found


def people() -> Found:
    """Return the tables that inverse-dynamics writes of the package's sample."""
    with tempfile.TemporaryDirectory() as folder:
        command('inverse-dynamics', '--sample', '--no-report', '-o', folder)
        found = dict(pandas.read_csv(Path(folder) / 'inverse_dynamics.csv'))
        found['cycles'] = (Path(folder) / 'gait_cycles.csv').read_text(encoding='utf-8')
        return found | messages(Path(folder) / 'inverse_dynamics_bag')


def workspace() -> Found:
    """Return a closed loop: the controller holds the body for a second, then moves it."""
    robot = Robot('anymal_class', 'stand 100', WorkspaceControllerNode)
    wanted = robot.bus.watch('geometry_msgs/msg/PoseStamped',
                             '/workspace_controller/body_reference')
    robot.run(1.0)
    target = wanted[-1]
    say = robot.ear.create_publisher(type(target), '/workspace_controller/body_target',
                                     QoSProfile(depth=10, reliable=True))
    target.pose.position.x += 0.02
    target.pose.position.z -= 0.06
    say.publish(target)
    robot.run(2.0)
    with tempfile.TemporaryDirectory() as folder:
        return messages(robot.write(Path(folder) / 'bag'))


def fleet() -> Found:
    """Return the data set of three recordings."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, (robot, schedule, seed) in FLEET.items():
            simulated = Robot(robot, schedule, seed=seed)
            simulated.run(4.0)
            simulated.write(folder / 'bags' / name)
        command('analyze', str(folder / 'bags'), '--workers', '2', '--reports', '0', '-o',
                str(folder / 'out'))
        found: Found = {}
        for kind in sorted((folder / 'out' / 'data').iterdir()):
            # Names begin with those of the bags: the same order wherever they lie.
            files = sorted(kind.rglob('*.parquet'), key=lambda path: path.name)
            found |= {f'{kind.name}/{name}': values for name, values in table(files, PASSING)}
        return found


@cache
def checkup() -> tuple[Any, Any]:
    """Return robot and sensors of a check-up: it stands, lifts its legs and squats."""
    with tempfile.TemporaryDirectory() as folder:
        robot = Robot('solo_class', 'stand 1.5, lift_legs 8.4, squat 6, stand 1')
        robot.run(16.9)
        return robot_and_readings(Namespace(
            bag=robot.write(Path(folder) / 'bag'), joint_states='', imu='', robot='solo_class',
            urdf='', start=None, end=None))


def doctor() -> Found:
    """Return what is found wrong with a robot whose payload nobody stated and whose feet grew."""
    choice, log = checkup()
    stated = {key: value for key, value in choice.parameters.items()
              if key.startswith(('robot.', 'noise.'))}
    config = RobotConfig.from_parameters({
        **stated, 'robot.payload_mass': 0.4, 'robot.payload_position': [0.05, 0.0, 0.0],
        'robot.foot_radius': 1.5 * stated['robot.foot_radius']})
    found = examine(choice.model, config, log)
    return {'findings': texts(found.findings), 'evidence': rows(found.findings),
            'unchecked': texts(found.unchecked),
            **{f'{when}/{key}': np.array(list(numbers(getattr(weighed, key))))
               for when, weighed in (('before', found.before), ('after', found.after))
               for key in ('squares', 'dimensions', 'residual', 'weight')}}


def identified() -> Found:
    """Return what the check-up says of masses, friction, motors and sensors."""
    choice, log = checkup()
    found = identify(choice.model, choice.config, log, total_mass=choice.model.total_mass)
    return {'x': found.x, 'covariance': found.covariance, 'quantities': rows(found.quantities),
            'names': texts((q.kind, q.name, q.unit, q.identifiable) for q in found.quantities),
            'before': rows([found.before]), 'after': rows([found.after])}


def command(*words: str) -> None:
    """Run a command of the package without a word."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        cli.main(['-q', *words])


CASES: dict[str, Callable[[], Found]] = {
    'demo': demo,
    **{f'zoo/{name}': partial(zoo, name.split('/')[0], measured)
       for name, measured in ZOO.items()},
    'crouch': crouches, 'climb': climbs, 'people': people, 'workspace': workspace,
    'fleet': fleet, 'doctor': doctor, 'identify': identified}
