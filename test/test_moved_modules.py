# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Old module paths work for one version, and say where the module is now."""
import re
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

import legged_dynamics as ld
from legged_dynamics import _moved

ROOT = Path(__file__).resolve().parents[1]
HEADER, *LISTED = (ROOT / 'test/public_modules.txt').read_text().splitlines()
LISTED = [line for line in LISTED if not line.startswith('#')]


def is_module(name):
    # What reproduces papers lies with the examples (legged_dynamics/reproductions.py).
    name = name.replace('legged_dynamics.reproductions.', 'examples.reproductions.')
    path = ROOT.joinpath(*name.split('.'))
    return path.with_suffix('.py').is_file() or (path / '__init__.py').is_file()


def is_package(name):
    return ROOT.joinpath(*name.split('.'), '__init__.py').is_file()


@pytest.fixture
def moved():
    """Return a function that states moves and forgets all that was imported by old paths."""
    stated = dict(_moved.MOVED)

    def state(**table):
        _moved.MOVED.clear()
        _moved.MOVED.update({old.replace('__', '.'): new for old, new in table.items()})
        for old in table:
            vars(ld).pop(old, None)
    yield state
    for name in [name for name in sys.modules if _moved.new_path(name)]:
        del sys.modules[name]
        vars(ld).pop(name.split('.')[1], None)
    _moved.MOVED.clear()
    _moved.MOVED.update(stated)


def warned(code):
    """Run code as a user's file would, and return its names and the warnings, with their file."""
    names = {'__name__': 'user'}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        exec(compile(code, 'user.py', 'exec'), names)
    assert {w.category for w in caught} <= {DeprecationWarning}
    return names, [(w.filename, w.lineno, str(w.message)) for w in caught]


def test_a_package_that_has_moved_brings_its_modules_along(moved):
    moved(old_room='spatial')
    from legged_dynamics.spatial import rotations
    names, told = warned('\nimport legged_dynamics.old_room.rotations as found')
    assert told == [
        ('user.py', 2, 'legged_dynamics.old_room has moved: import legged_dynamics.spatial'),
        ('user.py', 2, 'legged_dynamics.old_room.rotations has moved: '
                       'import legged_dynamics.spatial.rotations')]
    assert names['found'].rotation_from_vector is rotations.rotation_from_vector
    assert names['found'].__doc__ == rotations.__doc__
    assert 'rotation_from_vector' in dir(names['found'])
    assert warned('import legged_dynamics.old_room.rotations')[1] == []         # once


@pytest.mark.parametrize('code', [
    'from legged_dynamics.old_room.rotations import rotation_from_vector as found',
    'from legged_dynamics.old_room import rotations\nfound = rotations.rotation_from_vector',
    'from legged_dynamics import old_room\nimport legged_dynamics.old_room.rotations\n'
    'found = old_room.rotations.rotation_from_vector',
    'import legged_dynamics as ld\nimport legged_dynamics.old_room.rotations\n'
    'found = ld.old_room.rotations.rotation_from_vector',
    'from legged_dynamics.old_room.rotations import *\nfound = rotation_from_vector',
    'import importlib\n'
    'found = importlib.import_module("legged_dynamics.old_room.rotations").rotation_from_vector'])
def test_every_way_to_import_works_and_warns_in_the_user_s_line(moved, code):
    moved(old_room='spatial')
    from legged_dynamics.spatial import rotations
    names, told = warned(code)
    assert names['found'] is rotations.rotation_from_vector
    assert told and {file for file, _, _ in told} == {'user.py'}


def test_a_line_of_its_own_goes_before_that_of_its_package(moved):
    moved(old_room='dynamics', old_room__rotations='spatial.rotations',
          spatial__turns='spatial.rotations')
    from legged_dynamics import dynamics
    from legged_dynamics.spatial import rotations
    names, _ = warned('from legged_dynamics.old_room.rotations import rotation_from_vector as a\n'
                      'from legged_dynamics.spatial.turns import rotation_from_vector as b\n'
                      'from legged_dynamics.old_room import Motion as c')
    assert names['a'] is names['b'] is rotations.rotation_from_vector
    assert names['c'] is dynamics.Motion
    assert not hasattr(dynamics, 'rotations')       # nothing is put into the new package


def test_what_is_at_neither_path_is_an_ordinary_import_error(moved):
    moved(old_room='spatial')
    for code, wrong in (('import legged_dynamics.old_room.nowhere', 'old_room.nowhere'),
                        ('import legged_dynamics.never', 'legged_dynamics.never'),
                        ('from legged_dynamics.old_room.rotations import nothing', 'nothing')):
        with pytest.raises(ImportError, match=wrong):
            warned(code)


# -------------------------------------------------------------------------------------------------
# The table and the list.


@pytest.mark.parametrize(('old', 'new'), _moved.MOVED.items())
def test_every_line_leads_from_where_nothing_is_to_where_a_module_is(old, new):
    assert is_module(f'legged_dynamics.{new}')
    assert not is_module(f'legged_dynamics.{old}')
    above = f'legged_dynamics.{old}'.rpartition('.')[0]
    assert is_package(above) or _moved.new_path(above)      # below a module nothing is looked for


def test_every_module_of_the_version_before_can_be_imported():
    lost = [name for name in LISTED if not is_module(_moved.new_path(name) or name)]
    assert not lost, f'state in legged_dynamics/_moved.py where these are now: {lost}'
    assert len(LISTED) > 300


def test_the_list_is_of_the_version_before():
    now = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version')
    major, minor, _ = map(int, now.split('.'))
    assert HEADER.startswith(f'# Version {major}.{minor - 1}.')


def test_nobody_here_uses_an_old_path():
    old = '|'.join(sorted(map(re.escape, _moved.MOVED), key=len, reverse=True))
    pattern = re.compile(rf'\blegged_dynamics\.({old})\b')
    folders = ('legged_dynamics', 'test', 'docs', 'examples', 'benchmarks')
    files = [path for folder in folders for path in ROOT.joinpath(folder).rglob('*')
             if path.suffix in {'.py', '.md', '.ipynb'}]
    found = [f'{path}: {match[0]}' for path in [*files, ROOT / 'README.md']
             for match in pattern.finditer(path.read_text(encoding='utf-8'))]
    assert not found
