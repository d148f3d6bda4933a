# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How heavy the package is: lines, docstrings, tuned numbers, large classes and long functions.

    python -m benchmarks structure [--rooms] [--worst] [--write]

`benchmarks/structure_budget.json` holds the largest size that is accepted of each; `--write` puts
today's there. A test fails where one is exceeded: make room, or raise it there and say why.
"""
from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / 'legged_dynamics'
BUDGET = Path(__file__).with_name('structure_budget.json')
WATCHDOG = 'legged_dynamics.ros.nodes.effort_watchdog'
# What the budget limits, and what each counts.
LIMITED = {
    'lines': 'all lines',
    'code': 'lines without docstrings, comments and blank ones',
    'docstrings': 'lines of docstrings',
    'files': 'files',
    'rooms': 'folders of the package',
    'outweighed': 'functions whose docstring is longer than their body',
    'constants': 'numbers at module level in upper case',
    'in tuples': 'of these, several on one line',
    'crowded': 'classes with more attributes than MAX_ATTRIBUTES',
    'long': 'functions with more lines than MAX_LINES, without docstring',
    'many': 'functions with more arguments than MAX_ARGUMENTS'}
MAX_ATTRIBUTES = 25
MAX_LINES = 80
MAX_ARGUMENTS = 8
_NO_CODE = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
            tokenize.ENCODING, tokenize.COMMENT)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(path: Path) -> str:
    """Return the dotted name of a module, a folder's without `__init__`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def imports_of(tree: ast.Module, modules: dict[str, Path]) -> set[str]:
    """Return the modules of the package that a module imports, at any depth, when it runs."""
    found, waiting = set(), list[ast.AST]([tree])
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == 'TYPE_CHECKING':
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                below = f'{node.module}.{alias.name}'
                found.add(below if below in modules else node.module)
    return found & modules.keys()


def closure(start: str, imports: dict[str, set[str]]) -> set[str]:
    """Return all that a module imports, directly, through others and by its folders."""
    seen, waiting = set(), [start]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        waiting += imports.get(module, ())
        if '.' in module:
            waiting.append(module.rpartition('.')[0])
    return seen


def _docstring_lines(node: ast.AST) -> range:
    body = getattr(node, 'body', None)
    if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
        return range(0)
    text = body[0].value
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return range(0)
    return range(text.lineno, text.end_lineno + 1)


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, (ast.Tuple, ast.List)):
        return bool(node.elts) and all(map(_is_number, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _upper_case(name: ast.AST) -> bool:
    return isinstance(name, ast.Name) and name.id.strip('_').isupper()


def _constants(tree: ast.Module) -> tuple[int, int]:
    """Count numbers at module level, and those in tuples; a call, as range(3), is none."""
    single = several = 0
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        target = node.targets[0]
        if _upper_case(target) and _is_number(node.value):
            single += 1
        elif (isinstance(target, ast.Tuple) and all(map(_upper_case, target.elts))
              and not isinstance(node.value, ast.Call)):
            several += len(target.elts)
    return single + several, several


def measure(text: str) -> tuple[Counter, list[tuple[int, str, str]]]:
    """Return the sizes of a file's text, and what exceeds a limit: how far, of what, which."""
    tree = ast.parse(text)
    found, worst = Counter(files=1, lines=text.count('\n')), []
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        told = _docstring_lines(node)
        docstrings.update(told)
        if isinstance(node, _FUNCTION):
            body = node.end_lineno - node.lineno + 1 - len(told)
            arguments = len(node.args.args) + len(node.args.kwonlyargs)
            found['outweighed'] += len(told) > body
            if body > MAX_LINES:
                worst.append((body, 'long', node.name))
            if arguments > MAX_ARGUMENTS:
                worst.append((arguments, 'many', node.name))
        elif isinstance(node, ast.ClassDef):
            own = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)
                   and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name)
                   and part.value.id == 'self'}
            if len(own) > MAX_ATTRIBUTES:
                worst.append((len(own), 'crowded', node.name))
    found.update(kind for _, kind, _ in worst)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    found['code'], found['docstrings'] = len(code - docstrings), len(docstrings)
    found['constants'], found['in tuples'] = _constants(tree)
    return found, worst


def measure_all() -> tuple[dict[str, Counter], list[tuple[int, str, str]]]:
    """Return the sizes by room ('' for files of no room), and all that exceeds a limit."""
    rooms: dict[str, Counter] = {}
    worst = []
    for path in sorted(PACKAGE.rglob('*.py')):
        parts = path.relative_to(PACKAGE).parts
        found, exceeding = measure(path.read_text())
        rooms.setdefault(parts[0] if len(parts) > 1 else '', Counter()).update(found)
        worst += [(size, kind, f'{"/".join(parts)} {name}') for size, kind, name in exceeding]
    return rooms, sorted(worst, reverse=True)


def totals(rooms: dict[str, Counter]) -> dict[str, int]:
    """Return the sizes that the budget limits, of the whole package."""
    total = sum(rooms.values(), Counter())
    total['rooms'] = len(rooms.keys() - {''})
    return {name: total[name] for name in LIMITED}


def read_budget() -> dict[str, int]:
    """Return the budget: the largest accepted size of each."""
    return json.loads(BUDGET.read_text())['largest']


def main(arguments: list[str] | None = None) -> None:
    """Print sizes beside the budget, or make them the budget."""
    parser = argparse.ArgumentParser(prog='benchmarks structure', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rooms', action='store_true', help='sizes of each room')
    parser.add_argument('--worst', action='store_true', help='what exceeds a limit')
    parser.add_argument('--write', action='store_true', help="make today's sizes the budget")
    chosen = parser.parse_args(arguments)
    rooms, worst = measure_all()
    total, budget = totals(rooms), read_budget()
    for name, size in total.items():
        print(f'{name:12}{size:8,} of {budget[name]:8,}   {LIMITED[name]}')
    if chosen.rooms:
        for room, found in sorted(rooms.items(), key=lambda pair: -pair[1]['code']):
            print(f'{room or "(none)":16}' + ', '.join(
                f'{name} {found[name]:,}' for name in LIMITED if name != 'rooms'))
    if chosen.worst:
        for size, kind, where in worst:
            print(f'{size:5} {kind:8} {where}')
    if chosen.write:
        whole = json.loads(BUDGET.read_text())
        BUDGET.write_text(json.dumps({**whole, 'largest': total}, indent=1) + '\n')


if __name__ == '__main__':
    main()
