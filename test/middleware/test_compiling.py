# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node that compiles at its first start says how far it is."""
import subprocess
import sys

from legged_dynamics.ros.middleware import lifecycle
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.spatial import kernel_cache as kernel_state

WARM = """
import pathlib, sys, time
for part in ('0.010', '0.0', '60', '0.250'):
    print(part, end=chr(10) * (part != '0.0'), flush=True)     # half a line tells nothing
    for _ in range(30000 * (part != '0.0')):     # so that a fault does not hang the test
        if pathlib.Path(sys.argv[1] + part).exists():
            break
        time.sleep(0.01)
"""


class Cold(Component):
    """Has kernels, and none is compiled."""

    default_name, has_kernels = 'cold', True


class Log:
    """Lets the compiler end once it is heard how far it is."""

    def __init__(self, heard):
        self.lines, self._heard = [], heard

    def info(self, text):
        self.lines.append(text)
        for said, part in (('1 %', '0.010'), ('6 %', '60'), ('25 %', '0.250')):
            if f': {said}' in text:
                (self._heard.parent / (self._heard.name + part)).touch()


def test_progress_is_logged_until_it_is_compiled(tmp_path, monkeypatch):
    popen, log = subprocess.Popen, Log(tmp_path / 'heard')
    monkeypatch.setattr(kernel_state, 'is_warm', lambda name: False)
    monkeypatch.setattr(lifecycle, 'SAYING', 0.0)
    monkeypatch.setattr(subprocess, 'Popen', lambda command, **options: popen(
        [sys.executable, '-c', WARM, str(tmp_path / 'heard')], **options))
    with lifecycle.Compilation(Cold, log) as compilation:
        while not compilation.done:
            assert compilation.state.startswith('compiling, once')
    assert log.lines[0].startswith('compiling') and log.lines[-1] == 'compiled'
    # Of one kernel nobody knows how long the others take.
    assert all('left' not in line for line in log.lines if ': 1 %' in line or ': 6 %' in line)
    assert any('25 %' in line and 's left' in line for line in log.lines)
    assert compilation.state == ''


def test_what_estimates_has_the_nodes_kernels_compiled_by_another_process(monkeypatch):
    asked = []
    monkeypatch.setattr(kernel_state, 'is_warm', lambda name: name == 'warm')
    monkeypatch.setattr(subprocess, 'run', lambda command, **options: asked.append(command))
    lifecycle.compile_first('warm')
    assert not asked
    lifecycle.compile_first('warm', 'cold')
    assert [command[-2:] for command in asked] == [['warm', 'cold']]
