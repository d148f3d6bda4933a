# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings on disk, made when they are first asked for."""
from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.zoo.disturbances import simulate_disturbed
from benchmarks.zoo.foreign import Foreign, altered, motion_of
from benchmarks.zoo.foreign_run import simulate_foreign
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import FLOORS, SCENARIOS, DisturbedScenario, Scenario
from benchmarks.zoo.simulate import simulate

ENVIRONMENT = 'LEGGED_DYNAMICS_ZOO'
# What a recording is made of; scoring and reading it are not.
SOURCES = ('body', 'contact_events', 'controller', 'descriptions', 'generated', 'ground', 'plan',
           'robots', 'simulate', 'swing', 'truth')
FOREIGN_SOURCES = ('foreign_plan', 'foreign_robots', 'foreign_run')
SCORED_BY = ('contact_events', 'peers', 'recording', 'scoring')


def folder() -> Path:
    """Return where recordings are kept: LEGGED_DYNAMICS_ZOO, or ~/.cache/legged_dynamics/zoo."""
    return Path(os.environ.get(ENVIRONMENT) or Path.home() / '.cache/legged_dynamics/zoo')


def place(scenario: Scenario, rate: float) -> Path:
    """
    Return a recording's path, under the content of all it is made of.

    Checkouts share the folder, and none reads what another version of the simulator made.
    """
    more = (FOREIGN_SOURCES if isinstance(scenario, Foreign)
            else ('disturbances',) if isinstance(scenario, DisturbedScenario) else ())
    content = _digest((scenario, rate, FLOORS), SOURCES + more)
    return folder() / f'{scenario.name}-{rate:g}Hz-{content}.npz'


def recording(name: str, rate: float = 500.0, anew: bool = False) -> Recording:
    """
    Return a scenario's recording, simulated if it is not in the folder.

    Raises
    ------
    KeyError
        When there is no such scenario.
    MissingRobot
        When its robot's description is not installed.
    SimulationError
        When the robot falls.

    """
    scenario = SCENARIOS[name]
    if isinstance(scenario, Foreign):
        motion = motion_of(scenario)
        return altered(_kept(motion, rate, anew, simulate_foreign), scenario)
    disturbed = isinstance(scenario, DisturbedScenario)
    return _kept(scenario, rate, anew, simulate_disturbed if disturbed else simulate)


def _kept(scenario: Scenario, rate: float, anew: bool, run: Callable) -> Recording:
    path = place(scenario, rate)
    if path.is_file() and not anew:
        made = Recording.load(path)
    else:
        made = run(scenario, rate)
        made.save(path)
    # The age that a shipped YAML states is that of other simulators' torques.
    return replace(made, parameters={
        key: value for key, value in made.parameters.items() if key != 'noise.effort_age'})


def kept_scores(recorded: Path, name: str, measured: Mapping[str, bool],
                make: Callable[[], list[dict]]) -> list[dict]:
    """
    Return a peer's scores from beside its recording, or make and keep them.

    Peers do not change with the estimator: their part of a table need not be computed anew.
    """
    path = recorded.with_suffix(f'.{_digest((name, sorted(measured.items())), SCORED_BY)}.json')
    if path.is_file():
        return json.loads(path.read_text(encoding='utf-8'))
    made = make()
    path.write_text(json.dumps(made), encoding='utf-8')
    return made


def _digest(value: object, sources: tuple[str, ...]) -> str:
    """Return a short hash of a value and of what some of these files do; comments do not count."""
    content = hashlib.sha256(repr(value).encode())
    for source in sources:
        tree = ast.parse((Path(__file__).parent / f'{source}.py').read_text(encoding='utf-8'))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
                    node) is not None:
                del node.body[0]
        content.update(ast.dump(tree).encode())
    return content.hexdigest()[:12]
