# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tables of docs/accuracy.md: robots without joint torque, against their foot sensors.

``python -m benchmarks.motion_only [FOLDER]`` looks for the folders ``icub`` and ``go1`` (URDF,
YAML and bag) in the folder, or in ``robots`` of the one that LEGGED_DYNAMICS_DATA names. The
iCub's sensors are low-passed by the robot itself: estimates go through the same filter before they
are compared; its contact is judged by the height of the soles, from motion capture and encoders.
The Go1's pressure sensors are fit for contact alone. ``--simulated [NAME...]`` prints the table of
runs of `benchmarks.zoo` without torque, with good sensors and with wrong ones. Definitions are
those of the document.
"""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.zoo.cache import recording
from benchmarks.zoo.contact_events import WINDOW, changes, closed, matched
from benchmarks.zoo.estimators import Output, outputs_of
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import MissingRobot
from benchmarks.zoo.scoring import PHASES, score
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.feet import FlatFoot
from legged_dynamics.pages.page import Table
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.subject import GaitOptions
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.ros.conversions import stamp_ns
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
)

ENVIRONMENT = 'LEGGED_DYNAMICS_DATA'
BAGS = {'icub': 'walking', 'go1': 'trot'}
# The filter of the iCub's force sensors [s], and the force of a loaded foot [N].
SENSOR_TIME, LOADED = 0.053, 10.0
# No stated deviation counts as smaller than this: what a force sensor resolves [N].
LEAST = 1.0
# Height of a sole in the air over its lowest height nearby [m, s], and shortest change [s].
RISEN, NEARBY, SHORTEST = 0.004, 1.5, 0.03
# When the iCub walks: what constants were chosen on, and what was looked at last [s].
WALKS = {'first half': (5.2, 7.1), 'second half': (7.1, 9.0), 'whole walk': (5.2, 9.0)}
STANDS = {'standing': (1.0, 4.5)}
# Recordings that stand first are often judged as a whole: off line, that is shown as well [s].
ALL = {'with 5 s of standing': (0.0, 9.0)}
# Pressure of a Go1's foot in contact, and of one that bears load for certain, and when it trots
# [N, s].
PRESSED, BEARS, TROTS = 12.0, 25.0, 5.0
# Speed of a foot that slides against others [m/s], and the time around a change [s].
SLIDES, NEAR = 0.4, 0.01
# Contact is in doubt when its probability is this close to one half.
DOUBT = 0.4


def folder() -> Path:
    """Return where recordings of real robots are looked for."""
    beside = Path(__file__).resolve().parents[2] / 'shared' / 'data'
    return Path(os.environ.get(ENVIRONMENT) or beside) / 'robots'


@dataclass(frozen=True)
class Robot:
    """A recorded robot: its measurements without torque, and what its sensors say."""

    name: str
    model: RobotModel
    config: RobotConfig
    measurements: list[Measurement]
    truth: np.ndarray           # (n, nf) vertical force, or pressure [N]
    base: np.ndarray            # (n, 7) pose of the base by motion capture; empty without
    time: np.ndarray            # (n,) of the measurements [s]

    @classmethod
    def read(cls, place: Path) -> Robot:
        """
        Read a robot's folder.

        Parameters
        ----------
        place : Path
            Folder with URDF, YAML and bag.

        Returns
        -------
        Robot

        """
        name = place.name
        config = RobotConfig.from_yaml(place / f'{name}.yaml')
        model = config.apply_to(RobotModel.from_urdf(place / f'{name}.urdf'))
        topics = ([f'/foot_sensor/{foot.link[:2]}' for foot in config.feet] if name == 'go1'
                  else [f'/ft/{"right" if foot.link[0] == "r" else "left"}'
                        for foot in config.feet])
        read = SampleReader(model, config, '/joint_states', '/imu/data', '')
        stream, measurements = SensorStream(), []
        sensed: dict[str, list[tuple[int, float]]] = {topic: [] for topic in topics}
        base, stamps = [], []
        with BagReader(place / BAGS[name]) as bag:
            for message in bag.messages({'/joint_states', '/imu/data', '/odom', *topics}):
                if message.topic in read.topics:
                    measurements += stream.push(read(message.topic, bag.decode(message)))
                    continue
                found = bag.decode(message)
                stamp = stamp_ns(found.header.stamp)
                if message.topic == '/odom':
                    p, q = found.pose.pose.position, found.pose.pose.orientation
                    base.append([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
                    stamps.append(stamp)
                else:
                    sensed[message.topic].append((stamp, found.wrench.force.z))
        start = measurements[0].stamp_ns
        time = np.array([m.stamp_ns - start for m in measurements]) * 1e-9
        truth = np.column_stack([np.interp(time, *_columns(sensed[t], start)) for t in topics])
        poses = np.array(base)
        if len(poses):
            near = np.abs((np.array(stamps)[:, None] - start) * 1e-9 - time).argmin(axis=0)
            poses = poses[near]
        return cls(name, model, config, measurements, truth, poses, time)

    def soles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which feet stand by the middle of their soles, and by the lowest corner."""
        links = tuple(foot.link for foot in self.config.feet)
        height = np.empty((2, len(self.time), len(links)))
        for k, (m, pose) in enumerate(zip(self.measurements, self.base)):
            R = rotation_from_quaternion(pose[3:])
            poses = frame_poses(self.model, m.position, links)
            for i, foot in enumerate(self.config.feet):
                assert isinstance(foot, FlatFoot)
                corners = np.array([[x, y, 0.0] for x in (foot.front, foot.back)
                                    for y in (foot.left, foot.right)])
                frame = poses[foot.link]
                z = pose[2] + (corners @ frame.R.T + frame.p) @ R[2]
                height[:, k, i] = z.mean(), z.min()
        reach = round(NEARBY / np.median(np.diff(self.time)))
        ground = np.array([np.quantile(height[:, max(k - reach, 0):k + reach], 0.25, axis=1)
                           for k in range(len(self.time))]).swapaxes(0, 1)
        middle, lowest = height - ground < RISEN
        return middle, lowest


def _columns(pairs: list[tuple[int, float]], start: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and values."""
    stamps, values = zip(*pairs)
    return (np.array(stamps) - start) * 1e-9, np.array(values)


@dataclass(frozen=True)
class Estimate:
    """Vertical force, its deviation and contact of each foot, at the times of the measurements."""

    force: np.ndarray
    deviation: np.ndarray
    contact: np.ndarray

    @classmethod
    def on_line(cls, robot: Robot, contact: np.ndarray | None = None) -> Estimate:
        """
        Run the estimator as the node does.

        Parameters
        ----------
        robot : Robot
        contact : (n, nf) bool array, optional
            Contacts that are given, instead of detection.

        Returns
        -------
        Estimate

        """
        rate = round(1.0 / float(np.median(np.diff(robot.time))))
        estimator = GroundReactionEstimator(robot.model, robot.config, {'rate': float(rate)})
        nf = len(estimator.feet)
        rows = np.zeros((len(robot.time), 3, nf))
        for k, measurement in enumerate(robot.measurements):
            r = estimator.update(measurement, None if contact is None else contact[k])
            if r.mode == 0:
                continue
            up, out = r.base_rotation[2], outputs_of(r, list(range(nf)))['latest']
            rows[k] = out.force @ up, np.sqrt(np.einsum('i,fij,j->f', up, out.covariance, up)), (
                out.contact)
            if not rows[:k].any():      # nothing was known before
                rows[:k] = rows[k]
        return cls(rows[:, 0], rows[:, 1], rows[:, 2] > 0.5)

    @classmethod
    def off_line(cls, robot: Robot, place: Path, base: str) -> Estimate:
        """
        Run `legged-dynamics inverse-dynamics` on the recording.

        Parameters
        ----------
        robot : Robot
        place : Path
            Its folder.
        base : str
            Where the motion of the base comes from: `GaitOptions.base`.

        Returns
        -------
        Estimate

        """
        found, _ = analyse_gait(place / BAGS[robot.name], GaitOptions(
            urdf=str(place / f'{robot.name}.urdf'), robot=str(place / f'{robot.name}.yaml'),
            base=base, compare=False))
        r = found.reactions
        time = found.motion.time + (found.start_ns - robot.measurements[0].stamp_ns) * 1e-9
        force, deviation, contact = (
            np.column_stack([np.interp(robot.time, time, values[:, r.feet.index(foot.link)])
                             for foot in robot.config.feet])
            for values in (r.force[..., 2], r.deviation[..., 2], r.contact.astype(float)))
        return cls(force, deviation, contact > 0.5)


def low_passed(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """
    Return values through the first-order filter of the robot's force sensors.

    Parameters
    ----------
    values : (n, nf) array
        At rest at first.
    time : (n,) array [s]
        Of the values.

    Returns
    -------
    (n, nf) array

    """
    out = values.copy()
    share = 1.0 - np.exp(-np.diff(time, prepend=time[0]) / SENSOR_TIME)
    for k in range(1, len(values)):
        out[k] = out[k - 1] + share[k] * (values[k] - out[k - 1])
    return out


def rows_of(robot: Robot, estimates: dict[str, Estimate], stands: np.ndarray,
            touches: np.ndarray, spans: dict[str, tuple[float, float]],
            newtons: bool) -> Iterator[list[str]]:
    """
    Yield the rows of the table.

    Parameters
    ----------
    robot : Robot
    estimates : dict of str to Estimate
        By their names.
    stands : (n, nf) bool array
        Feet that stand.
    touches : (n, nf) bool array
        Feet that touch the ground with a corner: no change of these is made up.
    spans : dict of str to (float, float) [s]
        Parts of the recording, by their names.
    newtons : bool
        Whether the sensors measure force.

    """
    short = max(round(SHORTEST / float(np.median(np.diff(robot.time)))), 1)
    for name, found in estimates.items():
        error = low_passed(found.force, robot.time) - robot.truth
        # The filter takes off errors that change fast: what the bars hold before it.
        before = robot.truth + SENSOR_TIME * np.gradient(robot.truth, robot.time, axis=0)
        fast = (found.force - before) / found.deviation.clip(LEAST)
        # As of errors that last longer than the filter: an upper bound, fast ones are damped.
        deviation = low_passed(found.deviation, robot.time).clip(LEAST)
        for span, (start, stop) in spans.items():
            inside = (robot.time >= start) & (robot.time < stop)
            loaded = (robot.truth > LOADED) & inside[:, None]
            ratio = error[loaded] / deviation[loaded]
            row = [robot.name, name, span]
            row += [f'{_rms(error[loaded]):.1f}', f'{_rms(error[inside].sum(axis=1)):.1f}',
                    f'{_rms(ratio):.2f}', f'{100.0 * np.mean(np.abs(ratio) < 1.96):.0f}',
                    f'{_rms(fast[loaded]):.2f}',
                    f'{100.0 * np.mean(np.abs(fast[loaded]) < 1.96):.0f}'] if (
                newtons) else [''] * 6
            true, unseen, made_up, late = 0, 0, 0, []
            for i in range(stands.shape[1]):
                real, light, mine = (
                    [(float(robot.time[k]), down) for k, down in changes(closed(f[:, i], short))]
                    for f in (stands, touches, found.contact))
                of_span = [event for event in real if start <= event[0] < stop - WINDOW]
                pairs, _ = matched_within(of_span, mine)
                seen = [lag for lag in pairs if lag is not None]
                late += seen
                true, unseen = true + len(of_span), unseen + len(of_span) - len(seen)
                own = [event for event in mine if start <= event[0] < stop - WINDOW]
                free = matched_within(real, own)[1]
                made_up += len(matched_within(light, free)[1])
            agreement = 100.0 * (found.contact == stands)[inside].mean()
            yield [*row, f'{agreement:.1f}', str(true), str(unseen), str(made_up),
                   f'{1e3 * np.median(late):.0f}' if late else '']


def matched_within(events: list, others: list) -> tuple[list[float | None], list]:
    """Return how late each event's counterpart is [s], None without one, and what is left."""
    pairs, free = matched([(1e9 * t, down) for t, down in events],
                          [(1e9 * t, down) for t, down in others])
    return ([None if lag is None else lag * 1e-9 for _, lag in pairs],
            [(t * 1e-9, down) for t, down in free])


def wrong_samples(robot: Robot, found: Estimate) -> list[list[str]]:
    """
    Sort the samples in which contact and a robot's pressure sensors disagree.

    A foot is *at rest* when it moves by less than `SLIDES` against another one that bears load.

    Parameters
    ----------
    robot : Robot
        With pressure sensors.
    found : Estimate

    Returns
    -------
    list of list of str
        Kind, and its share of all samples of feet [%].

    """
    pressed, step = robot.truth > PRESSED, float(np.median(np.diff(robot.time)))
    links = tuple(foot.link for foot in robot.config.feet)
    found_at = [frame_poses(robot.model, m.position, links) for m in robot.measurements]
    place = np.array([[poses[link].p for link in links] for poses in found_at])
    turn = np.array([m.angular_velocity for m in robot.measurements])
    speed = np.gradient(place, robot.time, axis=0) + np.cross(turn[:, None], place)
    apart = np.linalg.norm(speed[:, :, None] - speed[:, None], axis=3)
    apart[np.broadcast_to(~(robot.truth > BEARS)[:, None], apart.shape)] = np.inf
    apart[:, range(len(links)), range(len(links))] = np.inf
    rests = apart.min(axis=2) < SLIDES
    near = np.zeros_like(pressed)
    for i in range(len(links)):
        for k, _ in changes(closed(pressed[:, i], round(SHORTEST / step))):
            near[max(k - round(NEAR / step), 0):k + round(NEAR / step), i] = True
    inside = (robot.time >= TROTS)[:, None]
    wrong = (found.contact != pressed) & inside
    kinds = {'within 10 ms of a change': near,
             'sensor open, foot at rest on the ground': ~near & ~pressed & rests,
             'sensor open, foot moves': ~near & ~pressed & ~rests,
             'sensor closed, foot slides': ~near & pressed & ~rests,
             'sensor closed, foot at rest': ~near & pressed & rests}
    return [[name, f'{100.0 * (wrong & kind).sum() / (inside.sum() * len(links)):.1f}']
            for name, kind in kinds.items()]


# -------------------------------------------------------------------------------------------------
# Simulated robots, torque withheld.

Sensed = Callable[[Recording, Iterator[Measurement]], Iterator[Measurement]]


def _late_imu(kept: Recording, heard: Iterator[Measurement]) -> Iterator[Measurement]:
    """Yield measurements whose IMU is 5 ms late, to the nearest sample."""
    past: list[Measurement] = []
    for m in heard:
        past = [*past, m][-round(0.005 * kept.rate) - 1:]
        yield replace(m, angular_velocity=past[0].angular_velocity,
                      linear_acceleration=past[0].linear_acceleration,
                      orientation=past[0].orientation)


def _offset_joints(kept: Recording, heard: Iterator[Measurement]) -> Iterator[Measurement]:
    """Yield measurements whose encoders are off by one degree, half of them down."""
    off = np.radians(np.where(np.arange(len(kept.joints)) % 2, 1.0, -1.0))
    for m in heard:
        yield replace(m, position=m.position + off)


def _tilted_imu(kept: Recording, heard: Iterator[Measurement]) -> Iterator[Measurement]:
    """Yield measurements of an IMU that is mounted one degree off, nose down."""
    R = rotation_from_vector(np.radians([0.0, 1.0, 0.0]))
    for m in heard:
        assert m.orientation is not None
        yield replace(m, angular_velocity=R.T @ m.angular_velocity,
                      linear_acceleration=R.T @ m.linear_acceleration,
                      orientation=quaternion_from_rotation(
                          rotation_from_quaternion(m.orientation) @ R))


def _good(kept: Recording, heard: Iterator[Measurement]) -> Iterator[Measurement]:
    """Yield measurements as they are."""
    return heard


SENSORS: dict[str, Sensed] = {'good': _good, 'IMU 5 ms late': _late_imu,
                              'joints 1 deg off': _offset_joints, 'IMU 1 deg off': _tilted_imu}
# Runs with good sensors only, and with all.
RUNS = ('talos-stand', 'talos-squat', 'talos-shift', 'talos-push', 'talos-steps-com',
        'romeo-steps', 'bolt-steps', 'g1-steps', 'go2-walk-mass', 'go2-stairs', 'go2-trot-2mps',
        'go2-lifted', 'anymal_b-dropped', 'go2-belly')
ALL_SENSORS = ('talos-steps', 'biped-steps', 'go2-trot', 'hexapod-tripod')


def simulated(names: Sequence[str] = ()) -> Iterator[list[str]]:
    """
    Yield the rows of the table of simulated robots whose torque is withheld.

    Parameters
    ----------
    names : sequence of str
        Scenarios of `benchmarks.zoo`; all of the table if there are none.

    Yields
    ------
    list of str

    """
    for name in names or RUNS + ALL_SENSORS:
        try:
            kept = recording(name)
        except MissingRobot as error:
            print(f'{name}: skipped: {error}', file=sys.stderr)
            continue
        for title, sensors in SENSORS.items():
            if title != 'good' and name not in ALL_SENSORS:
                continue
            doubted: list[float] = []

            def run(kept: Recording, heard: Iterator[Measurement], sensors: Sensed = sensors,
                    doubted: list[float] = doubted) -> Iterator[dict[str, Output]]:
                estimator = GroundReactionEstimator(kept.model, kept.config, {'rate': kept.rate})
                order = [estimator.feet.index(foot) for foot in kept.feet]
                for m in sensors(kept, heard):
                    r = estimator.update(m)
                    doubted.append(float((np.abs(r.contact_probability - 0.5) < DOUBT).mean()))
                    yield {} if r.mode == 0 else outputs_of(r, order)

            found = score(kept, run, effort=False)['latest']
            c = found.contact
            assert c is not None
            flips = c.unseen + c.false
            yield [name, title, f'{found.zero_phase:.1f}', f'{found.on_line:.1f}',
                   f'{found.normalised:.2f}', f'{found.inside:.0f}',
                   *('' if np.isnan(one.inside) else f'{one.inside:.0f}'
                     for one in (found.phases[phase] for phase in PHASES)),
                   f'{c.agreement_on_line:.1f}',
                   '' if np.isnan(flips) else f'{flips:.2f}', f'{100.0 * np.mean(doubted):.1f}']


SIMULATED_HEAD = ['scenario', 'sensors', 'zero phase', 'on line', 'error / deviation',
                  'in 95 % bars', *(f'in bars, {phase}' for phase in PHASES), 'contact',
                  'unseen + false', 'in doubt']


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def measured(place: Path) -> list[list[str]]:
    """
    Return the rows of all robots in a folder.

    Parameters
    ----------
    place : Path
        Folder with a folder for each robot.

    Returns
    -------
    list of list of str

    """
    rows: list[list[str]] = []
    for name in BAGS:
        if not (place / name).is_dir():
            print(f'{name}: skipped, it is not in {place}', file=sys.stderr)
            continue
        robot = Robot.read(place / name)
        if name == 'icub':
            stands, touches = robot.soles()
            estimates = {'on line': Estimate.on_line(robot),
                         # A sole that has risen by its middle still bears load on an edge.
                         'on line, contacts given': Estimate.on_line(robot, touches)}
            rows += rows_of(robot, estimates, stands, touches, STANDS | WALKS, True)
            estimates = {f'off line, base by {base}': Estimate.off_line(robot, place / name, base)
                         for base in ('both', 'imu', 'odometry')}
            rows += rows_of(robot, estimates, stands, touches, WALKS | ALL, True)
        else:
            stands = robot.truth > PRESSED
            found = Estimate.on_line(robot)
            rows += rows_of(robot, {'on line': found}, stands, stands,
                            {'trot': (TROTS, robot.time[-1])}, False)
            print(Table('Wrong samples of contact', ['go1', '% of samples'],
                        wrong_samples(robot, found)).markdown)
    return rows


HEAD = ['robot', 'estimate', 'part', 'N a foot', 'N of both', 'error / deviation', 'in 95 % bars',
        'unfiltered', 'in bars', 'contact', 'changes', 'unseen', 'made up', 'late [ms]']


def main(words: list[str]) -> int:
    """Measure and print; returns the exit code."""
    warnings.simplefilter('ignore')
    if words[:1] == ['--simulated']:
        rows = list(simulated(words[1:]))
        print(Table('Simulated robots without torque', SIMULATED_HEAD, rows).markdown)
        return 0 if rows else 2
    rows = measured(Path(words[0]) if words else folder())
    if rows:
        print(Table('Robots without torque', HEAD, rows).markdown)
    return 0 if rows else 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
