# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Mutated URDFs, robot YAMLs and node YAMLs: only our own errors, none slow, none large.

``python -m benchmarks.fuzz_descriptions [--urdfs N] [--robots N] [--nodes N] [--seed S]``. Every
case runs in this process under a limit of memory, and is timed by the processor's clock.
"""
from __future__ import annotations

import argparse
import random
import re
import resource
import string
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.middleware.arguments import RosArguments
from legged_dynamics.middleware.loopback import LoopbackBus
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import share_directory

LIMIT_SECONDS, LIMIT_BYTES = 2.0, 200_000_000
NASTY = ['', ' ', '\0', '\ufeff', '\U0001f916', 'é', '<', '>', '&', '&amp;', '&lt', '"', "'", '--',
         '<!--', '-->', '<![CDATA[', ']]>', '<?xml?>', '<!DOCTYPE a [<!ENTITY b "c">]>', '${pi}',
         '<xacro:if/>', 'nan', 'inf', '-inf', '1e999', '-0', '1e-320', '1e300', '9' * 400, '0x10',
         '1_000', '1,5', '1 2', '1 2 3 4', 'true', 'None', '[', ']', '{', '}', '[[', '&a [*a]',
         '*a', '&a', '!!python/object:os.system', '2020-01-01', ':', ': ', '- ', '\t', '\n', '#',
         '~', '|', '? ', '%', '@', 'yes', '0o17', '.inf', '.nan', '\\', '../..', '/dev/zero',
         'a' * 5000]


def mutate(rng: random.Random, text: str, others: list[str]) -> str:
    """Return a text with a few of the changes that people, tools and malice make."""
    gentle = rng.random() < 0.5     # what still parses goes deeper
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        kind = rng.choice((7, 7, 8, 10, 10)) if gentle else rng.randrange(11)
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
                text = text[:a] + rng.choice(NASTY) + text[b:]
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
        else:
            other = rng.choice(others)
            k = rng.randrange(len(other) + 1)
            text = text[:i] + other[k:k + rng.randrange(500)] + text[j:]
    return text


def _numbers(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r'-?\d+\.?\d*(e-?\d+)?', text)][:5000]


class Judge:
    """Runs cases and counts how they end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.slowest, self.largest = 0.0, 0
        self.failures: list[str] = []

    def __call__(self, name: str, case: Callable[[], object]) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        try:
            case()
            self.counts[f'{name}: taken'] += 1
        except LeggedDynamicsError as error:
            self.counts[f'{name}: {type(error).__name__}'] += 1
        except BaseException:
            self.counts[f'{name}: FOREIGN ERROR'] += 1
            self.failures.append(traceback.format_exc(limit=-4))
        took = time.process_time() - start
        grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        self.slowest, self.largest = max(self.slowest, took), max(self.largest, grown)
        if took > LIMIT_SECONDS or grown > LIMIT_BYTES:
            self.counts[f'{name}: TOO SLOW OR LARGE'] += 1


def urdf_case(text: str, path: Path, encoding: str) -> Callable[[], object]:
    """Return what reads a URDF from a file, and then the XML as a topic carries it."""
    def case() -> None:
        from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
        from legged_dynamics.model.shapes import read_looks
        path.write_bytes(text.encode(encoding, 'replace'))
        model = RobotModel.from_urdf(path)
        RobotModel.from_xml(text)
        robot_yaml(model, guess_robot(model, read_looks(text)), path.name)
    return case


def robot_case(text: str, path: Path, model: RobotModel) -> Callable[[], object]:
    """Return what reads a robot's YAML and applies it."""
    def case() -> None:
        path.write_text(text, encoding='utf-8', errors='replace')
        config = RobotConfig.from_yaml(path)
        config.nominal_in(config.apply_to(model))
        config.noise.of_joints('effort', model, config.joints)
    return case


def node_case(text: str, path: Path) -> Callable[[], object]:
    """Return what makes a node with a mutated parameter file."""
    from legged_dynamics.middleware.parameters import StandaloneDialect
    from legged_dynamics.nodes.ground_reaction_estimator import GroundReactionNode

    def case() -> None:
        path.write_text(text, encoding='utf-8', errors='replace')
        arguments = ['--ros-args', '--params-file', str(path)]
        RosArguments.parse(arguments)
        bus = LoopbackBus()
        node = bus.create_node('ground_reaction_estimator', arguments)
        GroundReactionNode(node, StandaloneDialect())
        node.warn_of_undeclared_parameters()
    return case


def run(urdfs: int, robots: int, nodes: int, seed: int) -> Judge:
    """Return the judge of that many cases of each kind."""
    rng, judge = random.Random(seed), Judge()
    config = share_directory() / 'config'
    descriptions = [path.read_text() for path in sorted(config.glob('robots/*.urdf'))]
    robot_texts = [path.read_text() for path in sorted(config.glob('robots/*.yaml'))]
    node_texts = [path.read_text() for path in sorted(config.glob('nodes/*.yaml'))]
    model = RobotModel.from_urdf(config / 'robots' / 'anymal_class.urdf')
    encodings = ('utf-8', 'utf-8', 'utf-16', 'latin-1', 'utf-8-sig')
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        path = Path(folder) / 'case'
        for _ in range(urdfs):
            text = mutate(rng, rng.choice(descriptions), node_texts + descriptions)
            judge('URDF', urdf_case(text, path, rng.choice(encodings)))
        for _ in range(robots):
            text = mutate(rng, rng.choice(robot_texts), node_texts + robot_texts)
            judge('robot YAML', robot_case(text, path, model))
        for _ in range(nodes):
            text = mutate(rng, rng.choice(node_texts), node_texts + robot_texts)
            judge('node YAML', node_case(text, path))
    return judge


def main() -> int:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (('urdfs', 10_000), ('robots', 10_000), ('nodes', 5_000), ('seed', 0)):
        parser.add_argument(f'--{name}', type=int, default=default)
    args = parser.parse_args()
    judge = run(args.urdfs, args.robots, args.nodes, args.seed)
    for outcome, count in sorted(judge.counts.items()):
        print(f'{count:7d}  {outcome}')
    print(f'slowest {judge.slowest:.2f} s, largest growth {judge.largest / 1e6:.0f} MB')
    for failure in list(dict.fromkeys(judge.failures))[:10]:
        print(failure)
    return 1 if judge.failures or any('TOO' in outcome for outcome in judge.counts) else 0


if __name__ == '__main__':
    sys.exit(main())
