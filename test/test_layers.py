# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The folder list is the architecture: imports go down it, never up."""
import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from benchmarks import structure
from legged_dynamics.model.feet import KINDS

PACKAGE = Path(__file__).resolve().parent.parent / 'legged_dynamics'
# From the ground up; a layer may import itself and what stands before it.
LAYERS = ('_moved', 'exceptions', 'parameter_file', 'schema', 'resources',
          'node_registry', 'spatial', 'optimization', 'model', 'dynamics', 'force_map', 'contact',
          'people.gait', 'estimation', 'workspace', 'stickybot', 'safety',
          'diagnosis.identification', 'diagnosis.doctor', 'simulation', 'testing',
          'ros.middleware', 'ros.conversions', 'ros.unitree_low_level', 'recordings',
          'diagnosis.validation', 'pages',
          'force_map.report', 'reproductions', 'diagnosis.report',
          'recordings.report', 'recordings.fleet', 'people.opensim', 'people.trials', 'ros.nodes',
          'view', 'cli', '__main__')
# Rooms of a layer, likewise; what stands in none of them stands above them all.
ROOMS = {'stickybot': ('model', 'simulation', 'allocation', 'control')}
PAGES = {'pages', 'force_map.report', 'diagnosis.report', 'recordings.report', 'recordings.fleet',
         'people.trials', 'cli'}
OUTSIDE = {'rclpy': {'ros.middleware', 'cli'}, 'cyclonedds': {'ros.middleware'},
           'mujoco': {'simulation'}, 'rosbags': {'recordings', 'recordings.report', 'cli'},
           'mcap': {'recordings'}, 'pandas': PAGES, 'matplotlib': PAGES,
           'pyarrow': {'recordings.fleet'}, 'rich': {'cli'}, 'opensim': {'people.trials'},
           'viser': {'view'}, 'trimesh': {'view'}, 'rerun': {'view'}}
# Layers that must not know of each other although one stands before the other.
STRANGERS = {('ros.middleware', other) for other in (
    'force_map', 'contact', 'people.gait', 'estimation', 'workspace', 'stickybot', 'safety',
    'diagnosis.identification', 'diagnosis.doctor', 'simulation')}
# What the effort watchdog must be able to do without: it acts when the rest has failed.
NOT_OF_THE_WATCHDOG = {'force_map', 'contact', 'people', 'estimation', 'workspace', 'stickybot',
                       'diagnosis', 'simulation', 'samples', 'recordings', 'pages', 'view', 'cli'}
KINDS_OF_FEET = {kind.__name__ for kind in KINDS.values()}
ALLOWED_IN_CORE = {'numpy', 'scipy', 'numba', 'transforms3d', 'yaml'}
FILES = sorted(PACKAGE.rglob('*.py'))


def layer_of(path):
    return layer_named('.'.join(path.relative_to(PACKAGE).with_suffix('').parts))


def layer_named(name):
    """Return the layer that a module below the package is in: the longest that it begins with."""
    parts = name.split('.')
    found = ['.'.join(parts[:k]) for k in range(len(parts), 0, -1)]
    return next((layer for layer in found if layer in LAYERS), parts[0])


@cache
def imports_of(path):
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            for alias in node.names:
                below = PACKAGE.parent.joinpath(*node.module.split('.'), alias.name)
                room = below.is_dir() or below.with_suffix('.py').exists()
                found.append(f'{node.module}.{alias.name}' if room else node.module)
        elif (isinstance(node, ast.Call) and ast.unparse(node.func).endswith('import_module')
              and isinstance(node.args[0], ast.Constant)):
            found.append(node.args[0].value)
    return found


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path):
    layer = layer_of(path)
    if path.name == '__init__.py':
        return              # a face only hands names on
    assert layer in LAYERS, f'{layer} has no place in the list of layers'
    for name in imports_of(path):
        root, _, rest = name.partition('.')
        if root == 'legged_dynamics' and rest:
            other = layer_named(rest)
            assert other in LAYERS, f'{name} is in no layer'
            assert LAYERS.index(other) <= LAYERS.index(layer), f'{layer} imports {other}'
            assert (layer, other) not in STRANGERS
        elif root in OUTSIDE:
            assert layer in OUTSIDE[root], f'{layer} imports {root}'


@pytest.mark.parametrize('layer', ROOMS)
def test_rooms_of_a_layer_go_down_too(layer):
    rooms = ROOMS[layer]
    for path in sorted((PACKAGE / layer).rglob('*.py')):
        own = path.relative_to(PACKAGE).parts[1].removesuffix('.py')
        for name in imports_of(path):
            parts = name.split('.')
            if own in rooms and parts[:2] == ['legged_dynamics', layer]:
                other = parts[2] if len(parts) > 2 else ''
                assert other in rooms[:rooms.index(own) + 1], f'{own} imports {name}'


def layers_of(modules):
    return {name.split('.')[1] for name in modules if name.startswith('legged_dynamics.')}


def test_the_watchdog_imports_nothing_that_estimates_or_reports():
    modules = {structure.name_of(path): path for path in FILES}
    imports = {name: structure.imports_of(ast.parse(path.read_text()), modules)
               for name, path in modules.items()}
    below = structure.closure(structure.WATCHDOG, imports)
    assert {'safety', 'ros'} <= layers_of(below)
    assert not layers_of(below) & NOT_OF_THE_WATCHDOG
    done = subprocess.run(
        [sys.executable, '-c', f'import sys, {structure.WATCHDOG}\nprint(*sys.modules)'],
        capture_output=True, text=True, check=True)
    assert structure.WATCHDOG in done.stdout.split()
    assert not layers_of(done.stdout.split()) & NOT_OF_THE_WATCHDOG


def test_no_files_import_each_other_in_a_circle():
    below = {}
    for path in FILES:
        if path.name != '__init__.py':      # a face only hands names on
            name = '.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)
            below[name] = set(imports_of(path))
    left = dict(below)
    while left:
        ground = {name for name, taken in left.items() if not taken & left.keys()}
        assert ground, f'some of these import each other in a circle: {sorted(left)}'
        left = {name: taken for name, taken in left.items() if name not in ground}


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_needs_only_its_few_packages(path):
    layer = layer_of(path)
    if layer not in LAYERS or LAYERS.index(layer) >= LAYERS.index('simulation'):
        return
    for name in imports_of(path):
        root = name.split('.')[0]
        assert (root in sys.stdlib_module_names or root in ALLOWED_IN_CORE
                or root == 'legged_dynamics'), f'{layer} imports {root}'


def questions_of_kind(tree):
    """Return lines that ask which kind a foot is, or how many coordinates but a force's three."""
    found = []
    for node in ast.walk(tree):
        names = set()
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') in ('isinstance', 'type'):
            names = {getattr(part, 'id', getattr(part, 'attr', '')) for argument in node.args[1:]
                     for part in ast.walk(argument)}
        elif isinstance(node, ast.MatchClass):
            names = {getattr(node.cls, 'id', getattr(node.cls, 'attr', ''))}
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(ast.unparse(side).endswith('foot.kind') for side in sides):
                found.append(node.lineno)
            sizes = any(isinstance(side, ast.Subscript) and 'SIZE' in ast.unparse(side.slice)
                        for side in sides)
            if sizes and any(isinstance(side, ast.Constant) and side.value in (4, 5, 6)
                             for side in sides):
                found.append(node.lineno)
        if names & KINDS_OF_FEET:
            found.append(node.lineno)
    return found


def test_nothing_asks_which_kind_a_foot_is():
    asked = {str(path.relative_to(PACKAGE)): lines for path in FILES
             if (lines := questions_of_kind(ast.parse(path.read_text())))}
    assert not asked, f'a property of model.feet.Foot answers for every kind: {asked}'
    for question in ("foot.kind == 'line'", 'isinstance(foot, FlatFoot)',
                     'isinstance(x, (PointFoot, int))', 'feet.index[i, SIZE] == 6',
                     '6 == index[SIZE]',
                     'match foot:\n    case LineFoot(): pass'):
        assert questions_of_kind(ast.parse(question)), question


def sums_of_edges_and_radius(tree):
    """Return lines that turn a foot's corners, or add its radius, on their own."""
    def of_foot(node, *names):
        return (isinstance(node, ast.Attribute) and node.attr in names
                and ast.unparse(node.value).split('[')[0].split('.')[-1] in ('foot', 'feet'))

    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            if any(of_foot(side, 'corners', 'center', 'outline')
                   for side in (node.left, node.right)):
                found.append(node.lineno)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(
                node.op, (ast.Add, ast.Sub)):
            right = node.right if isinstance(node, ast.BinOp) else node.value
            if any(of_foot(part, 'radius') for part in ast.walk(right)):
                found.append(node.lineno)
    return found


def test_where_a_foot_touches_is_said_in_one_place():
    summed = {str(path.relative_to(PACKAGE)): lines for path in FILES
              if (lines := sums_of_edges_and_radius(ast.parse(path.read_text())))}
    assert not summed, f'Foot.touching of model.feet says it for every kind: {summed}'
    for sum_of in ('p + R @ foot.center', 'foot.corners @ R.T', 'p - foot.radius * up',
                   'p -= [0.0, 0.0, foot.radius]', 'R_WF @ dynamics.feet[i].center'):
        assert sums_of_edges_and_radius(ast.parse(sum_of)), sum_of


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_file_says_whose_it_is_and_what_it_is(path):
    text = path.read_text()
    assert text.startswith('# Copyright 2026 legged_dynamics maintainers\n'
                           '# SPDX-License-Identifier: Apache-2.0\n')
    assert ast.get_docstring(ast.parse(text)), 'no docstring'


def test_a_folder_can_be_seen_at_a_glance():
    for folder in {path.parent for path in FILES}:
        files = [path for path in FILES if path.parent == folder]
        assert len(files) <= 20, f'{folder.relative_to(PACKAGE.parent)} has {len(files)} files'
