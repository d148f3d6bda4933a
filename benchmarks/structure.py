# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How easy the package is to carry: sizes of files and folders, importers, documented parameters.

    python -m benchmarks structure
"""
from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / 'legged_dynamics'
WATCHDOG = 'legged_dynamics.nodes.effort_watchdog'


def name_of(path: Path) -> str:
    """Return the dotted name of a module, a folder's without `__init__`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def kinds_of_lines(text: str) -> Counter:
    """Count lines of code, of docstrings and comments, and blank ones."""
    lines = text.splitlines()
    kind = ['blank' if not line.strip() else 'code' for line in lines]
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, 'body', None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(
                body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            for k in range(body[0].lineno - 1, body[0].end_lineno):
                kind[k] = 'docstring'
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith('#'):
            kind[token.start[0] - 1] = 'comment'
    return Counter(kind)


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


def public_functions(tree: ast.Module) -> list[tuple[str, ast.FunctionDef]]:
    """Return functions and methods that a user may call, which take more than self, by class."""
    found = []

    def look(body: list[ast.stmt], private: bool, owner: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                look(node.body, private or node.name.startswith('_'), node.name)
            elif isinstance(node, ast.FunctionDef) and not private and not node.name.startswith(
                    '_'):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                if [a for a in arguments if a.arg not in ('self', 'cls')]:
                    found.append((owner, node))
    look(tree.body, False, '')
    return found


def undocumented(trees: dict[str, ast.Module]) -> list[tuple[str, ast.FunctionDef]]:
    """Return public functions whose parameters stand neither there nor in a base class."""
    classes: dict[str, list[ast.ClassDef]] = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, []).append(node)

    def has(node: ast.FunctionDef) -> bool:
        return 'Parameters\n' in (ast.get_docstring(node) or '')

    def inherited(owner: str, name: str) -> bool:
        bases = {ast.unparse(base).partition('[')[0].rpartition('.')[2]
                 for node in classes.get(owner, ()) for base in node.bases} - {owner}
        return any(inherited(base, name) or any(
            isinstance(node, ast.FunctionDef) and node.name == name and has(node)
            for one in classes.get(base, ()) for node in one.body) for base in bases)
    return [(name, node) for name, tree in trees.items() for owner, node in public_functions(tree)
            if not has(node) and not inherited(owner, node.name)]


def main() -> None:
    """Print the table."""
    modules = {name_of(path): path for path in sorted(PACKAGE.rglob('*.py'))}
    texts = {name: path.read_text() for name, path in modules.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    imports = {name: imports_of(tree, modules) - {name} for name, tree in trees.items()}
    lines = {name: len(text.splitlines()) for name, text in texts.items()}
    kinds = sum((kinds_of_lines(text) for text in texts.values()), Counter())
    importers = Counter(other for name, others in imports.items()
                        if modules[name].name != '__init__.py' for other in others)
    leaves = [name for name in modules if modules[name].name != '__init__.py']
    single = [name for name in leaves if importers[name] == 1]
    same = [name for name in single if any(
        name in imports[other] and other.rpartition('.')[0] == name.rpartition('.')[0]
        for other in leaves)]
    folders = Counter(path.parent for path in modules.values())
    functions = sum(len(public_functions(tree)) for tree in trees.values())
    missing = undocumented(trees)
    below = closure(WATCHDOG, imports)
    sizes = [lines[name] for name in leaves]
    longest = max(lines, key=lambda name: lines[name])
    for label, value in (
            ('files', len(modules)), ('lines', sum(lines.values())),
            *(('  ' + kind, kinds[kind]) for kind in ('code', 'docstring', 'comment', 'blank')),
            ('median file', f'{statistics.median(sizes):g} lines'),
            ('largest file', f'{lines[longest]} lines ({longest})'),
            ('largest folder', f'{max(folders.values())} files '
             f'({max(folders, key=lambda f: folders[f]).relative_to(PACKAGE.parent)})'),
            ('files with one importer', f'{len(single)}, {len(same)} of them in the same folder'),
            ('public functions with a parameter section',
             f'{functions - len(missing)} of {functions} ({1 - len(missing) / functions:.0%})'),
            ('imports of the effort watchdog',
             f'{len(below)} files, {sum(lines[name] for name in below)} lines'
             if WATCHDOG in modules else '-')):
        print(f'{label:44}{value}')
    if '--missing' in sys.argv:
        for name, node in missing:
            print(f'{modules[name].relative_to(PACKAGE.parent)}:{node.lineno} {node.name}')


if __name__ == '__main__':
    main()
