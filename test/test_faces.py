# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The face: public names of the package and its rooms, whole in docstrings and API pages."""
import ast
import inspect
import re
from pathlib import Path

import pytest

import legged_dynamics

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'legged_dynamics'
ROOMS = sorted(path.parent.name for path in PACKAGE.glob('*/__init__.py'))
# Used by commands alone; a user's way into it is `legged-dynamics VERB`.
NO_FACE = {'cli'}


def faces():
    """Return the public objects of all rooms with the room of each."""
    found = {}
    for room in ROOMS:
        if room not in NO_FACE:
            module = getattr(legged_dynamics, room)
            found.update({f'{room}.{name}': getattr(module, name) for name in module.__all__})
    return found


def told(thing):
    """Return the docstring of a class or function, a method's own or inherited one."""
    return inspect.getdoc(thing) or ''


def parameters(function):
    """Return the names of parameters that a caller gives."""
    return [name for name in inspect.signature(function).parameters
            if name not in ('self', 'cls')]


def lacking(name, thing):
    """Return what the docstring of a public object does not say."""
    if inspect.isfunction(thing) or inspect.ismethod(thing):
        text = told(thing)
        names = parameters(thing)
        missing = [one for one in names if not re.search(rf'\b{one}\b', text)]
        return ([f'{name}: parameters {missing}'] if missing else []) + (
            [f'{name}: no section of parameters'] if names and 'Parameters\n' not in text
            else [])
    if not inspect.isclass(thing):
        return []
    found = [] if told(thing) else [f'{name}: nothing']
    for word, member in vars(thing).items():
        if word.startswith('_'):
            continue
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isfunction(function) and not told(getattr(thing, word)):
            found.append(f'{name}.{word}: nothing')
    return found


def test_each_room_but_the_commands_has_a_face():
    assert {room for room in ROOMS
            if not getattr(getattr(legged_dynamics, room), '__all__', [])} <= NO_FACE


@pytest.mark.parametrize('room', [room for room in ROOMS if room not in NO_FACE])
def test_public_docstrings_are_whole(room):
    module = getattr(legged_dynamics, room)
    found = [gap for name in module.__all__
             for gap in lacking(f'{room}.{name}', getattr(module, name))]
    assert not found


def test_the_api_pages_show_the_rooms():
    pages = {path.stem: path.read_text() for path in (ROOT / 'docs' / 'api').glob('*.md')}
    assert pages.keys() == set(ROOMS) - NO_FACE | {'exceptions', 'testing'}
    for name, text in pages.items():
        shown = re.findall(r'automodule:: legged_dynamics\.(\S+)', text)
        assert shown == [name]


def test_inside_docstrings_are_short():
    """Functions that no `__init__` exports have no numpydoc sections: a line or three."""
    public = {word for path in (*PACKAGE.rglob('__init__.py'), PACKAGE / 'testing.py')
              for word in re.findall(r'\w+', path.read_text())}
    long = []
    for path in sorted(PACKAGE.rglob('*.py')):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name not in public:
                text = ast.get_docstring(node) or ''
                if re.search(r'^(Parameters|Returns)\n-', text, re.MULTILINE):
                    long.append(f'{path.relative_to(ROOT)}:{node.lineno} {node.name}')
    assert not long
