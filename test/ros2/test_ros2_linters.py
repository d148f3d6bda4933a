# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2's own linters, where they are installed; ruff stands in for them elsewhere."""
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent.parent
FOLDERS = [str(HERE / name) for name in ('legged_dynamics', 'launch', 'examples', 'benchmarks',
                                         'test', 'setup.py') if (HERE / name).exists()]
# Properties are described, not commanded; and a summary may follow a blank line.
NOT_ASKED = ('D401', 'D403', 'D213')


def test_ament_flake8_finds_nothing():
    linter = pytest.importorskip('ament_flake8.main', reason='ament_flake8 is not installed')
    wrong, errors = linter.main_with_errors(
        argv=['--config', str(HERE / 'test' / 'ament_flake8.ini'), *FOLDERS])
    assert wrong == 0, '\n'.join(errors)


def test_ament_pep257_finds_nothing():
    linter = pytest.importorskip('ament_pep257.main', reason='ament_pep257 is not installed')
    assert linter.main(argv=['--add-ignore', *NOT_ASKED, '--', *FOLDERS[:3]]) == 0


def test_every_source_file_says_whose_it_is_and_under_which_licence():
    files = [file for folder in FOLDERS for file in
             ([Path(folder)] if folder.endswith('.py') else sorted(Path(folder).rglob('*.py')))]
    assert len(files) > 300
    bare = [str(file) for file in files if file.stat().st_size and file.name != 'setup.py'
            and 'SPDX-License-Identifier: Apache-2.0' not in file.read_text()[:200]]
    assert bare == []
