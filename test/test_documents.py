# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measured tables of the documents say when, of which version and by what they were made."""
import re
import shlex
import subprocess
from importlib.util import find_spec

import pytest

from benchmarks import tables

ROOT = tables.ROOT
DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.rglob('*.md'))
NUMBER = re.compile(r'\*{0,2}[+-]?\d')
# Tables with numbers that nobody has measured here, by their page and the beginning of their head.
STATED = {('actuators.md', '| what |'), ('actuators.md', '| fault | beyond'),
          ('people.md', '| who |'), ('walking.md', '| `gait` |')}


def measured_tables(page):
    """Yield (head, whether the line about its version is there) of measured tables."""
    text = page.read_text(encoding='utf-8')
    for found in re.finditer(r'^\|.*\n\|[ :|-]+\|\n((?:\|.*\n?)+)', text, re.MULTILINE):
        head, before = found[0].partition('\n')[0], text[:found.start()]
        cells = [cell.strip() for row in found[1].splitlines()
                 for cell in row.strip('|').split('|')[1:] if cell.strip()]
        if sum(bool(NUMBER.match(cell)) for cell in cells) <= 0.2 * len(cells) or any(
                page.name == name and head.startswith(start) for name, start in STATED):
            continue
        inside = before.rfind(tables.BEGIN) > before.rfind(tables.END)
        last = before.rstrip().rpartition('\n')[2]
        yield head, inside or bool(tables.MEASURED.fullmatch(last))


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_a_measured_table_says_when_and_at_which_commit(page):
    assert [head for head, said in measured_tables(page) if not said] == []


def test_measured_tables_are_not_among_the_steps():
    index = (DOCS / 'index.md').read_text(encoding='utf-8')
    names = re.search(r':caption: How to\n(?::.*\n)*((?:\w+\n)+)', index)[1].split()
    assert len(names) > 10
    assert [name for name in names
            if list(measured_tables(DOCS / f'{name}.md'))] == []


def test_most_pages_with_figures_are_found():
    assert sum(len(list(measured_tables(page))) for page in PAGES) > 12


def test_what_a_document_says_made_its_table_is_there():
    made = list(tables.blocks())
    assert len(made) > 8
    for block in made:
        words = [word for word in shlex.split(block.command) if '=' not in word]
        if words[0] == 'python':
            there = find_spec(words[2]) if words[1] == '-m' else (ROOT / words[1]).is_file()
            assert there, block.command
        else:
            assert words[0] == 'legged-dynamics', block.command


def test_commits_that_tables_name_are_there():
    if not (ROOT / '.git').exists() or subprocess.run(
            ['git', 'rev-parse', '--is-shallow-repository'], cwd=ROOT, text=True, check=True,
            capture_output=True).stdout.strip() == 'true':
        pytest.skip('there is no history here')
    named = {found['commit'] for page in PAGES
             for found in tables.MEASURED.finditer(page.read_text())}
    known = subprocess.run(['git', 'cat-file', '--batch-check'], cwd=ROOT, text=True, check=True,
                           input='\n'.join(sorted(named)), capture_output=True).stdout
    assert [line for line in known.splitlines() if ' commit ' not in line] == []


PAGE = ('# Page\n\n<!-- measured -->\nMeasured on 2020-01-01 at 01234567 by `{}`.\n\nold\n\n'
        '<!-- end of measured -->\n\nrest\n')
ROWS = r"printf '| a | b |\n|---|---:|\n| c | 1 |\n\n1 row\n'"


@pytest.fixture
def document(tmp_path):
    (tmp_path / 'docs').mkdir()
    for words in (('init', '-q'), ('config', 'user.name', 'me'), ('config', 'user.email', 'm@e')):
        subprocess.run(['git', *words], cwd=tmp_path, check=True)
    (tmp_path / 'code').write_text('1')
    subprocess.run(['git', 'add', 'code'], cwd=tmp_path, check=True)
    subprocess.run(['git', 'commit', '-qm', 'code'], cwd=tmp_path, check=True)
    return tmp_path / 'docs' / 'page.md'


def test_a_table_is_made_anew_between_its_marks_and_says_so(document):
    document.write_text(PAGE.format(ROWS))
    assert tables.main([], document.parents[1]) == 0
    text = document.read_text()
    said = tables.MEASURED.search(text)
    assert said['commit'] == tables.version(document.parents[1]) != '01234567'
    assert said['date'] > '2020-01-01'
    assert said['command'] == ROWS and 'old' not in text
    assert '| c | 1 |\n\n1 row\n\n<!-- end of measured -->\n\nrest\n' in text


@pytest.mark.parametrize('command', [f'{ROWS}; exit 2', 'echo no table', 'no-such-command'])
def test_a_table_that_cannot_be_made_keeps_its_old_line(document, command, capsys):
    document.write_text(PAGE.format(command))
    assert tables.main([], document.parents[1]) == 1
    assert document.read_text() == PAGE.format(command)
    assert 'not made, still of 01234567: page.md' in capsys.readouterr().out


def test_nothing_is_measured_at_a_commit_that_files_differ_from(document):
    document.write_text(PAGE.format(ROWS))
    (document.parents[1] / 'code').write_text('2')
    with pytest.raises(SystemExit, match='commit first'):
        tables.main([], document.parents[1])
    assert document.read_text() == PAGE.format(ROWS)


def test_tables_that_are_not_there_are_no_success(document):
    document.write_text(PAGE.format(ROWS))
    assert tables.main(['--only', 'nothing of the kind'], document.parents[1]) == 2


def test_a_mark_without_its_line_is_an_error(document):
    document.write_text(PAGE.format(ROWS).replace('Measured', 'Made'))
    with pytest.raises(ValueError, match='expected after'):
        tables.main(['--list'], document.parents[1])
