# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Mutated files of every kind that is read: only our own errors, none slow, none large.

``python -m benchmarks.fuzz_files [--count N] [--seed S] [--kind KIND ...]``. Texts get the changes
that people, tools and malice make; binary files get flipped, cut, doubled and overwritten bytes.
Every case runs in this process and is judged by the processor's time, that of its child processes
included, and by how far the largest of them has grown. The last line is the verdict.
"""
from __future__ import annotations

import argparse
import random
import re
import resource
import string
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import share_directory
from legged_dynamics.ros.middleware.arguments import RosArguments
from legged_dynamics.ros.middleware.loopback import LoopbackBus

LIMIT_SECONDS, LIMIT_BYTES = 2.0, 200_000_000
NASTY = ['', ' ', '\0', '\ufeff', '\U0001f916', 'é', '<', '>', '&', '&amp;', '&lt', '"', "'", '--',
         '<!--', '-->', '<![CDATA[', ']]>', '<?xml?>', '<!DOCTYPE a [<!ENTITY b "c">]>', '${pi}',
         '<xacro:if/>', 'nan', 'inf', '-inf', '1e999', '-0', '1e-320', '1e300', '9' * 400, '0x10',
         '1_000', '1,5', '1 2', '1 2 3 4', 'true', 'None', '[', ']', '{', '}', '[[', '&a [*a]',
         '*a', '&a', '!!python/object:os.system', '2020-01-01', ':', ': ', '- ', '\t', '\n', '#',
         '~', '|', '? ', '%', '@', 'yes', '0o17', '.inf', '.nan', '\\', '../..', '/dev/zero',
         'a' * 5000]
PLAUSIBLE = ['0', '-1', '1', '2', '1e-9', '1e9', '0 0 0', '1 0 0', '0.5']
_LEAF = re.compile(r'<(\w+)[^<>]*>([^<>]*)</\1>')


def mutate(rng: random.Random, text: str, others: list[str]) -> str:
    """Return a text with a few of the changes that people, tools and malice make."""
    gentle = rng.random() < 0.5     # what still parses goes deeper
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        kind = rng.choice((7, 7, 8, 10, 11, 11)) if gentle else rng.randrange(12)
        i = rng.randrange(len(text) + 1)
        j = min(len(text), i + rng.choice((1, 2, 5, 20, 200, 2000)))
        if kind == 0:
            text = text[:i] + text[j:]
        elif kind == 1:
            text = text[:i] + rng.choice(NASTY) + text[i:]
        elif kind == 2:
            text = text[:i] + rng.choice(NASTY) + text[j:]
        elif kind == 3:
            text = text[:i] + text[i:j] * rng.choice((2, 3, 50)) + text[j:]
        elif kind == 4:
            k = rng.randrange(len(text) + 1)
            text = text[:i] + text[k:k + j - i] + text[j:]
        elif kind == 5:
            text = text[:i]
        elif kind == 6:
            noise = ''.join(rng.choices(string.printable, k=rng.randrange(20)))
            text = text[:i] + noise + text[j:]
        elif kind == 7:         # a number, where there is one
            numbers = _numbers(text)
            if numbers:
                a, b = rng.choice(numbers)
                text = text[:a] + rng.choice(NASTY if rng.random() < 0.5 else PLAUSIBLE) + text[b:]
        elif kind == 8:         # a line twice, or gone, or from somewhere else
            lines = text.split('\n')
            k = rng.randrange(len(lines))
            lines[k:k + 1] = rng.choice(([], [lines[k]] * 2, [rng.choice(lines)]))
            text = '\n'.join(lines)
        elif kind == 10:        # one word for another
            words = [match.span() for match in re.finditer(r'[\w./-]+', text)]
            if words:
                (a, b), (c, d) = rng.choice(words), rng.choice(words)
                text = text[:a] + text[c:d] + text[b:]
        elif kind == 11:        # an XML element gone, twice, empty, or with another's content
            leaves = [match.span(2) for match in _LEAF.finditer(text)]
            if leaves:
                (a, b), (c, d) = rng.choice(leaves), rng.choice(leaves)
                inner = rng.choice(('', text[c:d], f'{text[a:b]} {text[a:b]}'))
                text = text[:a] + inner + text[b:]
        else:
            other = rng.choice(others)
            k = rng.randrange(len(other) + 1)
            text = text[:i] + other[k:k + rng.randrange(500)] + text[j:]
    return text


def _numbers(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r'-?\d+\.?\d*(e-?\d+)?', text)][:5000]


def damage(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """Return a binary file with a few of the changes that disks, transfers and malice make."""
    data = bytearray(content)
    # headers and lengths are where a reader goes astray; in long files chance seldom meets them
    reach = rng.choice((64, 600, len(data), len(data)))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        kind, i = rng.randrange(8), rng.randrange(max(1, min(reach, len(data))))
        j = min(len(data), i + rng.choice((1, 2, 4, 8, 100, 2000)))
        if kind in (0, 1):      # bits
            for k in range(i, min(j, i + 4)):
                data[k] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[i:j]
        elif kind == 3:
            data[i:i] = data[i:j] * rng.choice((1, 3, 50))
        elif kind == 4:
            del data[i:]
        elif kind == 5:         # a number of some width, at its extremes
            form = rng.choice('bBhHiIqQfd')
            size = struct.calcsize(form)
            data[i:i + size] = rng.choice((bytes(size), b'\xff' * size,
                                           b'\xff' * (size - 1) + b'\x7f', b'\x01' * size))
        elif kind == 6:
            data[i:j] = rng.randbytes(j - i)
        else:
            other = rng.choice(others)
            k = rng.randrange(len(other) + 1)
            data[i:j] = other[k:k + rng.randrange(500)]
    return bytes(data)


class Judge:
    """Runs cases and counts how they end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}     # [s]
        self.largest: dict[str, int] = {}       # [bytes]
        self.failures: list[str] = []

    def __call__(self, name: str, case: Callable[[], object]) -> None:
        before, start = _largest(), _processor_time()
        try:
            case()
            self.counts[f'{name}: taken'] += 1
        except LeggedDynamicsError as error:
            self.counts[f'{name}: {type(error).__name__}'] += 1
        except BaseException:
            self.counts[f'{name}: FOREIGN ERROR'] += 1
            self.failures.append(traceback.format_exc(limit=-4))
        took, grown = _processor_time() - start, _largest() - before
        self.slowest[name] = max(self.slowest.get(name, 0.0), took)
        self.largest[name] = max(self.largest.get(name, 0), grown)
        if took > LIMIT_SECONDS or grown > LIMIT_BYTES:
            self.counts[f'{name}: TOO SLOW OR LARGE'] += 1

    def table(self) -> str:
        """Return a line for each kind of file."""
        kinds = list(self.slowest)
        lines = [f'{"file":12}{"mutants":>9}{"read":>7}{"refused":>9}{"other errors":>14}'
                 f'{"slowest [s]":>13}{"growth [MB]":>13}']
        for kind in kinds:
            mine = {outcome.removeprefix(f'{kind}: '): count
                    for outcome, count in self.counts.items() if outcome.startswith(f'{kind}: ')}
            excess, taken = mine.pop('TOO SLOW OR LARGE', 0), mine.get('taken', 0)
            foreign, total = mine.get('FOREIGN ERROR', 0), sum(mine.values())
            lines.append(f'{kind:12}{total:9}{taken:7}{total - taken - foreign:9}{foreign:14}'
                         f'{self.slowest[kind]:13.2f}{self.largest[kind] / 1e6:13.0f}'
                         + (f'  {excess} beyond a limit' if excess else ''))
        return '\n'.join(lines)


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _largest() -> int:
    """Return the largest resident memory so far, of this process and of any child [bytes]."""
    return 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                   + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def urdf_case(text: str, path: Path) -> Callable[[], object]:
    """Return what reads a URDF from a file, and then the XML as a topic carries it."""
    def case() -> None:
        from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
        from legged_dynamics.model.shapes import read_looks
        model = RobotModel.from_urdf(path)
        RobotModel.from_xml(text)
        robot_yaml(model, guess_robot(model, read_looks(text)), path.name)
    return case


def robot_case(path: Path, model: RobotModel) -> Callable[[], object]:
    """Return what reads a robot's YAML and applies it."""
    def case() -> None:
        config = RobotConfig.from_yaml(path)
        config.nominal_in(config.apply_to(model))
        config.noise.of_joints('effort', model, config.joints)
    return case


def node_case(path: Path) -> Callable[[], object]:
    """Return what makes a node with a mutated parameter file."""
    from legged_dynamics.ros.middleware.parameters import StandaloneDialect
    from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode

    def case() -> None:
        arguments = ['--ros-args', '--params-file', str(path)]
        RosArguments.parse(arguments)
        bus = LoopbackBus()
        node = bus.create_node('ground_reaction_estimator', arguments)
        GroundReactionNode(node, StandaloneDialect())
        node.warn_of_undeclared_parameters()
    return case


def csv_case(path: Path, model: RobotModel) -> Callable[[], object]:
    """Return what reads a motion from a CSV file."""
    from legged_dynamics.people.trials.csv_motion import read_motion
    return lambda: read_motion(path.with_suffix('.csv'), model, missing_at_zero=True)


def bag_case(path: Path, suffix: str, out: Path) -> Callable[[], object]:
    """Return what reads every message of a bag, and then saves what is whole in it."""
    from shutil import rmtree

    from legged_dynamics.exceptions import BagError
    from legged_dynamics.recordings.bag_repair import repair
    from legged_dynamics.recordings.bags import BagReader

    def case() -> None:
        refused = None
        try:
            with BagReader(path.with_suffix(suffix)) as bag:
                for message in bag.messages():
                    try:
                        bag.decode(message)
                    except BagError as error:
                        refused = error
        except BagError as error:
            refused = error
        rmtree(out, ignore_errors=True)
        repair(path.with_suffix(suffix), out)
        if refused is not None:
            raise refused
    return case


def table_case(path: Path) -> Callable[[], object]:
    """Return what reads a table of OpenSim, as coordinates and as loads."""
    from legged_dynamics.people.trials.coordinates import read_coordinates
    from legged_dynamics.people.trials.loads import read_loads

    def case() -> None:
        try:
            read_loads(path.with_suffix('.mot'))
        except LeggedDynamicsError:
            read_coordinates(path.with_suffix('.mot'))
    return case


def osim_case(path: Path) -> Callable[[], object]:
    """Return what reads a model of OpenSim and makes a robot of it."""
    from legged_dynamics.people.opensim.reader import read_osim
    return lambda: read_osim(path.with_suffix('.osim')).robot()


def c3d_case(path: Path) -> Callable[[], object]:
    """Return what reads markers and plates."""
    from legged_dynamics.people.trials.c3d import read_c3d
    return lambda: read_c3d(path.with_suffix('.c3d'))


def trc_case(path: Path) -> Callable[[], object]:
    """Return what reads markers."""
    from legged_dynamics.people.trials.c3d import read_trc
    return lambda: read_trc(path.with_suffix('.trc'))


# -------------------------------------------------------------------------------------------------
# Files to begin with.


def _csv_text(model: RobotModel) -> str:
    from legged_dynamics.people.trials.csv_motion import BASE_POSITION, BASE_QUATERNION, TIME
    rows = [','.join((TIME, *BASE_POSITION, *BASE_QUATERNION, *model.joint_names))]
    rows += [','.join(f'{value:.6g}' for value in (
        0.01 * k, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, *np.full(model.nq, 0.1 * np.sin(0.1 * k))))
        for k in range(30)]
    return '\n'.join(rows) + '\n'


def _bag_bytes(folder: Path, storage: str, model: RobotModel) -> bytes:
    from legged_dynamics.recordings.bag_writer import BagWriter
    from legged_dynamics.ros import conversions as convert
    from legged_dynamics.ros.middleware.parameters import StandaloneDialect
    dialect, out = StandaloneDialect(), folder / storage
    with BagWriter(out, storage) as writer:
        writer.add_topic('/joint_states', 'sensor_msgs/msg/JointState')
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
        for k in range(40):
            ns, q = 10**9 + 2_000_000 * k, np.full(model.nq, 0.01 * k)
            writer.write_message('/joint_states', ns, convert.joint_state(
                dialect, ns, model.joint_names, q, q, q))
            writer.write_message('/imu/data', ns, convert.imu(
                dialect, ns, 'imu', np.zeros(3), np.array([0.0, 0.0, 9.81]),
                np.array([0.0, 0.0, 0.0, 1.0]), (1e-6, 1e-6, 1e-6)))
    return next(path for path in out.iterdir() if path.suffix != '.yaml').read_bytes()


def _c3d_bytes(folder: Path) -> bytes:
    import ezc3d
    file, frames = ezc3d.c3d(), 20
    points = np.ones((4, 3, frames))
    points[:3] = np.random.default_rng(0).normal(0.0, 500.0, (3, 3, frames))
    parameters = file['parameters']
    parameters['POINT']['RATE']['value'] = [100.0]
    parameters['POINT']['LABELS']['value'] = ['A', 'B', 'C']
    parameters['POINT']['UNITS']['value'] = ['mm']
    file['data']['points'] = points
    parameters['ANALOG']['RATE']['value'] = [100.0]
    parameters['ANALOG']['LABELS']['value'] = ['Fx', 'Fy', 'Fz', 'Mx', 'My', 'Mz']
    parameters['ANALOG']['UNITS']['value'] = ['N', 'N', 'N', 'Nmm', 'Nmm', 'Nmm']
    parameters['ANALOG']['SCALE']['value'] = [1.0] * 6
    parameters['ANALOG']['OFFSET']['value'] = [0] * 6
    file['data']['analogs'] = np.ones((1, 6, frames))
    corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) * 300.0
    for name, value in (('USED', [1]), ('TYPE', [2]), ('ZERO', [0, 0]),
                        ('CHANNEL', np.arange(1, 7)[:, None]), ('CORNERS', corners.T[..., None]),
                        ('ORIGIN', np.zeros((3, 1)))):
        parameters['FORCE_PLATFORM'][name]['value'] = np.asarray(value)
    path = folder / 'made.c3d'
    file.write(str(path))
    return path.read_bytes()


def _trc_text(folder: Path) -> str:
    from legged_dynamics.people.trials.c3d import write_trc
    write_trc(folder / 'made.trc', 0.01 * np.arange(20), ('A', 'B'), np.ones((20, 2, 3)))
    return (folder / 'made.trc').read_text()


class Kind(NamedTuple):
    """A kind of file: texts or bytes to begin with, and what reads a mutant."""

    seeds: Callable[[], list[str] | list[bytes]]
    suffix: str
    case: Callable[[str], Callable[[], object]]


def kinds(folder: Path) -> dict[str, Kind]:
    """Return every kind by its name; mutants are written to ``case`` and a suffix in a folder."""
    config = share_directory() / 'config'
    path = folder / 'case'
    model = RobotModel.from_urdf(config / 'robots' / 'anymal_class.urdf')

    def texts(pattern: str) -> list[str]:
        return [found.read_text() for found in sorted(config.glob(pattern))]
    return {
        'URDF': Kind(lambda: texts('robots/*.urdf'), '.urdf',
                     lambda text: urdf_case(text, path.with_suffix('.urdf'))),
        'robot YAML': Kind(lambda: texts('robots/*.yaml'), '.yaml',
                           lambda text: robot_case(path.with_suffix('.yaml'), model)),
        'node YAML': Kind(lambda: texts('nodes/*.yaml'), '.yaml',
                          lambda text: node_case(path.with_suffix('.yaml'))),
        'CSV': Kind(lambda: [_csv_text(model)], '.csv', lambda text: csv_case(path, model)),
        '.mot': Kind(lambda: texts('sample/*.mot'), '.mot', lambda text: table_case(path)),
        '.osim': Kind(lambda: texts('sample/*.osim'), '.osim', lambda text: osim_case(path)),
        '.trc': Kind(lambda: [_trc_text(folder)], '.trc', lambda text: trc_case(path)),
        'mcap': Kind(lambda: [_bag_bytes(folder, 'mcap', model)], '.mcap',
                     lambda text: bag_case(path, '.mcap', folder / 'saved')),
        'db3': Kind(lambda: [_bag_bytes(folder, 'sqlite3', model)], '.db3',
                    lambda text: bag_case(path, '.db3', folder / 'saved')),
        'C3D': Kind(lambda: [_c3d_bytes(folder)], '.c3d', lambda text: c3d_case(path)),
    }


ENCODINGS = ('utf-8', 'utf-8', 'utf-8', 'utf-16', 'latin-1', 'utf-8-sig')


def run(count: int, seed: int, wanted: list[str] | None = None) -> Judge:
    """Return the judge of that many mutants of each kind, or of the kinds wanted."""
    judge = Judge()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        folder = Path(name)
        every = kinds(folder)
        for kind in wanted or every:
            # each kind alone gives the same mutants as all together
            rng, entry = random.Random(f'{seed} {kind}'), every[kind]
            seeds = entry.seeds()
            path = (folder / 'case').with_suffix(entry.suffix)
            for sample in seeds:        # what is loaded at first use is not the mutants' cost
                path.write_bytes(sample if isinstance(sample, bytes) else sample.encode())
                # a YAML of a robot of another description is refused, too
                with suppress(LeggedDynamicsError):
                    entry.case('' if isinstance(sample, bytes) else sample)()
            for _ in range(count):
                content, text = rng.choice(seeds), ''
                if isinstance(content, bytes):
                    path.write_bytes(damage(rng, content, seeds))
                else:
                    text = mutate(rng, content, seeds)
                    path.write_bytes(text.encode(rng.choice(ENCODINGS), 'replace'))
                judge(kind, entry.case(text))
    return judge


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=2000, help='mutants of each kind')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--kind', action='append', help='only these kinds')
    args = parser.parse_args(arguments)
    judge = run(args.count, args.seed, args.kind)
    print(judge.table())
    for failure in list(dict.fromkeys(judge.failures))[:10]:
        print(failure)
    beyond = sum(count for outcome, count in judge.counts.items() if 'TOO' in outcome)
    print(f'fuzz_files: {len(judge.failures)} other errors, {beyond} beyond {LIMIT_SECONDS:g} s '
          f'or {LIMIT_BYTES / 1e6:g} MB')
    return 1 if judge.failures or beyond else 0 if judge.counts else 2


if __name__ == '__main__':
    sys.exit(main())
