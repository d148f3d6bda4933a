# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every verb and every node takes a robot's YAML with its feet stated in any form."""
import warnings
from dataclasses import replace

import pytest
import stated_robots as stated
from stated_robots import FILES, FORMS

from legged_dynamics import cli
from legged_dynamics.diagnosis.doctor.checkup import Checkup
from legged_dynamics.node_registry import NODES
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.unitree_low_level import ROBOTS as UNITREE
from legged_dynamics.workspace.walking import make_walker

ROBOTS = sorted(set(FILES) - {'human', 'stickybot'})    # which neither walk nor stand
VERBS = ('info', 'force-map', 'doctor', 'identify', 'validate', 'analyze')
TAKING = {name: entry for name, entry in NODES.items()
          if name not in ('stickybot_controller', 'reaction_relay', 'simulated_robot')}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('robot', sorted(set(FILES) - {'human'}))
def test_a_model_that_has_it_all_is_returned_as_it_is(robot, form):
    model, config = stated.applied(robot, form)
    once = config.apply_to(model)
    assert config.apply_to(once) is once
    other = stated.applied(robot, FORMS[-1])[1]     # takes the place of frames of the same names
    assert all(foot.link in other.apply_to(once).frames for foot in other.feet)


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('robot', ROBOTS)
def test_walker_and_checkup_take_the_model_of_the_urdf(robot, form):
    model, config = stated.applied(robot, form)
    assert make_walker(model, config).model.frames
    assert config.feet[0].link in ' '.join(Checkup(model, config).moved | dict.fromkeys(
        foot.link for foot in config.feet))


@pytest.fixture(scope='module')
def bags(tmp_path_factory):
    """Return a function that returns the bag of a robot, written once."""
    made = {}

    def bag(robot):
        if robot not in made:
            made[robot] = stated.write_bag(tmp_path_factory.mktemp(robot) / 'bag', robot)
        return made[robot]
    return bag


def command_of(verb, yaml, bag, folder):
    urdf = str(yaml.with_suffix('.urdf'))
    return {
        'info': ['info', urdf, '--robot', str(yaml), '--picture', str(folder / 'a.svg')],
        'force-map': ['force-map', urdf, '--robot', str(yaml), '-o', str(folder / 'a.svg')],
        'doctor': ['doctor', str(bag), '--robot', str(yaml), '-o', str(folder / 'a.html')],
        'identify': ['identify', str(bag), '--robot', str(yaml), '--trust-effort'],
        'validate': ['validate', str(bag), '--robot', str(yaml), '-o', str(folder / 'a.html')],
        'analyze': ['analyze', str(bag), '--robot', str(yaml), '-o', str(folder / 'out')],
    }[verb]


@pytest.mark.slow
@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('robot', ROBOTS)
def test_every_verb_takes_it(robot, form, bags, tmp_path, capsys, monkeypatch):
    from legged_dynamics.diagnosis.identification import identify
    # How well is tested elsewhere.
    monkeypatch.setattr(identify, 'FIT', replace(identify.FIT, passes=1, most=2))
    yaml, bag, refused = stated.write_yaml(tmp_path, robot, form), bags(robot), {}
    for verb in VERBS:
        if cli.main(command_of(verb, yaml, bag, tmp_path)) == cli.WRONG:
            refused[verb] = capsys.readouterr().err
    assert not refused


@pytest.mark.slow
@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('robot', ROBOTS)
def test_every_node_takes_it(robot, form):
    values = stated.stated(robot, form)
    values = {name: value for name, value in values.items() if not name.startswith('simulation')}
    for name, entry in TAKING.items():
        if name == 'unitree' and robot not in UNITREE:
            continue    # reads the motors of those robots alone
        bus = LoopbackBus(stated.START_NS - 10 ** 9)
        more = {'unitree.robot': robot} if name == 'unitree' else {}
        bus.host(entry.component(), parameters={
            **values, **more, 'robot_description': stated.described(robot)})
        bus.spin()
        assert [log.message for log in bus.logs if log.level in ('error', 'fatal')] == [], name
