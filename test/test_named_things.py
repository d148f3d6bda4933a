# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files, modules and classes that comments, docstrings and documents name are there."""
import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'legged_dynamics'
SOURCES = sorted(PACKAGE.rglob('*.py'))
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'QUALITY_DECLARATION.md',
         *sorted((ROOT / 'docs').rglob('*.md'))]
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != '__pycache__'}
CODED = re.compile(r'`([^`\n]+)`')
RULE = '# ' + '-' * 97


@cache
def python_files():
    folders = ('legged_dynamics', 'test', 'benchmarks', 'examples', 'docs', 'launch')
    return {path.relative_to(ROOT).as_posix() for folder in folders
            for path in (ROOT / folder).rglob('*.py')} | {'setup.py'}


@cache
def identifiers():
    """Return every name that code has, `object.attribute`, and each short string's words."""
    found = set()
    for name in python_files() - {Path(__file__).relative_to(ROOT).as_posix()}:
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            found |= {getattr(node, kind) for kind in ('id', 'attr', 'name')
                      if isinstance(getattr(node, kind, None), str)}
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add(f'{node.value.id}.{node.attr}')
            elif isinstance(node, ast.Constant) and '\n' not in str(node.value):
                found |= {str(node.value), *re.findall(r'\w+', str(node.value))}
    return found


def words_of(path):
    """Return the comments and docstrings of a Python file, or the text of a page."""
    text = path.read_text(encoding='utf-8')
    if path.suffix != '.py':
        return text
    found = [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            found.append(ast.get_docstring(node) or '')
    return '\n'.join(found)


def missing_files(text):
    """Return Python files that a text names and that are nowhere, by the end of their path."""
    named = set(re.findall(r'(?<![\w*/.<-])((?:\w+/)*\w+(?:\.launch)?\.py)\b', text))
    return {name for name in named if not Path(name).name.startswith('NAME')
            and not any(f'/{path}'.endswith(f'/{name}') for path in python_files())}


def missing_modules(text):
    """Return dotted names that begin with a folder of the package and lead nowhere."""
    found = set()
    for name in CODED.findall(text):
        parts = re.fullmatch(r'(?:legged_dynamics\.)?((?:\w+\.)+\w+)(?:\(.*\))?', name)
        if not parts or (words := parts[1].split('.'))[0] not in ROOMS or name in identifiers():
            continue        # none of ours, a setting, or an attribute of such an object
        at = PACKAGE
        while words and (at / words[0]).is_dir():
            at = at / words.pop(0)
        if words and (at / f'{words[0]}.py').is_file():
            at = at / f'{words.pop(0)}.py'
        home = at if at.suffix else at / '__init__.py'
        known = set(re.findall(r'\w+', home.read_text()))
        if words and words[0] not in {*known, 'html', 'py'}:
            found.add(name)
    return found


def missing_classes(text):
    """Return names in capitals and small letters, in code quotes, that no code has."""
    named = {word for word in CODED.findall(text) if re.fullmatch(r'_?[A-Z][a-z]+[A-Z]\w+', word)}
    return {word for word in named if word not in identifiers()}


@pytest.mark.parametrize('path', [*SOURCES, *PAGES], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_what_is_named_is_there(path):
    text = words_of(path)
    assert not missing_files(text)
    assert not missing_modules(text)
    assert not missing_classes(text) or path.suffix != '.py'


def test_what_is_not_there_is_found():
    assert missing_files('as `facts.py` has it, beside people/gait/reactions.py') == {'facts.py'}
    assert missing_modules('`model.foot`, `model.feet`, `model.feet.Foot`') == {'model.foot'}
    assert missing_classes('`BodyWalk`, `_BodyWalk`') == {'BodyWalk'}


def test_the_folder_list_names_folders_there_are():
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    listed = text[text.index('legged_dynamics/\n'):text.index('## Decisions')]
    for room, said in re.findall(r'^  (\w+)/ +(.*(?:\n {12,}.*)*)', listed, re.MULTILINE):
        assert room in ROOMS
        for name in re.findall(r'(\w+(?:/|\.py))(?=[,;\s]|$)', said):
            assert (PACKAGE / room / name).exists() or (PACKAGE / name).exists(), f'{room}: {name}'


@pytest.mark.parametrize('path', SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_heading_has_something_below_it(path):
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    headings = [k for k, line in enumerate(lines) if line == RULE]
    for first, second in zip(headings, [*headings[1:], len(lines)]):
        below = lines[first + 1:second]
        assert any(not line.startswith('#') for line in below), below


def test_the_page_of_documents_names_every_command_and_class_that_is_there():
    from legged_dynamics.cli import VERBS

    text = (ROOT / 'docs' / 'documents.md').read_text()
    assert len(re.findall(r'^## ', text, re.MULTILINE)) == 5
    verbs = {verb.name for verb in VERBS}
    assert set(re.findall(r'`legged-dynamics ([\w-]+)', text)) <= verbs
    for name, classes in re.findall(r'`([\w/]+\.py)`: ((?:`\w+`(?:, )?)+)', text):
        code = (PACKAGE / name).read_text()
        assert all(f'class {one}' in code for one in re.findall(r'\w+', classes)), name
    for path in re.findall(r'`((?:test|examples)/[\w/]+\.py)`', text):
        assert (ROOT / path).is_file(), path
    for page in ('README.md', 'docs/index.md'):
        assert 'documents.md' in (ROOT / page).read_text()[:1500], page


def test_no_document_is_a_number():
    for path in [*SOURCES, *PAGES, *sorted((ROOT / 'examples').glob('*.py'))]:
        assert not re.search(r'\bsources? 00\d', path.read_text(), re.IGNORECASE), path
