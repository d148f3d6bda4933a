# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings that are said once: each name reaches its own field, whatever order they stand in."""
import pkgutil
import random
from dataclasses import fields, make_dataclass, replace
from importlib import import_module

import pytest

import legged_dynamics
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.parameter_file import parse_value
from legged_dynamics.ros.middleware.arguments import Override
from legged_dynamics.ros.middleware.parameters import (
    ParameterStore,
    declare_settings,
)
from legged_dynamics.schema import CheckedSettings, Setting, setting


def below(kind):
    return {one for child in kind.__subclasses__() for one in (child, *below(child))}


def kinds():
    for module in pkgutil.walk_packages(legged_dynamics.__path__, 'legged_dynamics.'):
        if not module.name.endswith('__main__') and '.middleware.ros2' not in module.name:
            import_module(module.name)      # the modules left out run something, or need rclpy
    return sorted(below(CheckedSettings), key=lambda kind: kind.__qualname__)


KINDS = kinds()


def another(one):
    """Return a value that the setting takes and that is not its default."""
    if isinstance(one.default, list):
        return [another(replace(one, default=item)) for item in one.default] or [
            1.0 if one.unit else one.choices[0] if one.choices else 'a']
    if one.choices:
        return next(choice for choice in one.choices if choice != one.default)
    if isinstance(one.default, bool):
        return not one.default
    if isinstance(one.default, int):
        return one.default + 1 if one.upper is None or one.default < one.upper else one.default - 1
    if isinstance(one.default, float):
        low = one.default - 1.0 if one.lower is None else one.lower
        return (one.default + low) / 2.0 if low < one.default else low + 1e-3
    return one.default * 2 or 'something'


def test_there_are_such_settings():
    assert KINDS


@pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.__qualname__)
def test_a_name_reaches_its_own_field_and_no_other(kind):
    rest = kind.from_parameters()
    for field in fields(kind):
        one = field.metadata['setting']
        assert getattr(rest, field.name) == one.default
        given = {one.name: another(one)}
        changed = kind.from_parameters(given)
        differing = {other.metadata['setting'].name for other in fields(kind)
                     if getattr(changed, other.name) != getattr(rest, other.name)}
        assert differing == set(given), one.name


@pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.__qualname__)
def test_the_order_of_the_fields_does_not_matter(kind):
    given = {one.name: another(one) for one in kind.table()}
    shuffled = list(fields(kind))
    random.Random(0).shuffle(shuffled)
    other = make_dataclass('Shuffled', [
        (field.name, field.type, setting(**vars(field.metadata['setting'])))
        for field in shuffled], bases=(CheckedSettings,))
    names = list(given)
    random.Random(1).shuffle(names)
    assert (vars(other.from_parameters({name: given[name] for name in names}))
            == vars(kind.from_parameters(given)))
    assert {one.name for one in other.table()} == {one.name for one in kind.table()}


@pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.__qualname__)
def test_the_values_are_those_that_were_given(kind):
    given = {one.name: another(one) for one in kind.table()}
    assert kind.from_parameters(given).values == given


@pytest.mark.parametrize('one', [one for kind in KINDS for one in kind.table() if one.choices],
                         ids=lambda one: one.name)
def test_every_choice_is_taken_as_yaml_reads_it(one):
    """YAML and ROS 2 read off, on, yes and no as booleans where they are not quoted."""
    for choice in one.choices:
        read = parse_value(choice, 'test')
        found = one.check([read] if isinstance(one.default, list) else read)
        assert found == ([choice] if isinstance(one.default, list) else choice)
    with pytest.raises(ConfigurationError):
        one.check(True)


def test_a_node_takes_off_for_a_word():
    one = Setting('control.reduction', 'full', '', 'How.', choices=('off', 'full'))
    store = ParameterStore({one.name: Override('', one.name, parse_value('off', 'test'), '-p')})
    assert declare_settings(store, [one]) == {one.name: 'off'}
