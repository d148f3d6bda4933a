# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Has kernels compiled before they are needed, by a process of its own.

That process can be ended; and a process that has compiled a kernel's parts by themselves may go on
with those, so that its results would not be, to the last bit, those of one that loads the kernel.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from legged_dynamics.middleware.protocol import Component, Logger

SAYING = 10.0       # s between reports of how far it is


def compile_first(*names: str) -> None:
    """
    Have the kernels of nodes on the disk before this process needs them, as the nodes do.

    Commands that estimate call it after they have checked arguments and files. Standard error says
    that it compiles. Where kernels cannot be kept on a disk it does nothing, and a kernel that
    cannot be compiled raises where it is called.

    Parameters
    ----------
    names : str
        Of nodes.

    """
    from legged_dynamics.spatial.kernel_cache import is_warm
    cold = [name for name in names if not is_warm(name)]
    if cold:
        print('Compiling (once; a minute or two)', file=sys.stderr, flush=True)
        subprocess.run([sys.executable, '-m', 'legged_dynamics.cli', 'warm', *cold],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


class Compilation:
    """
    The compilation that a component still needs; a context manager that leaves none behind.

    It runs in a process of its own, so that the node goes on answering requests, and a signal does
    not have to wait until it is over. Where kernels cannot be kept on a disk, the component
    compiles them itself when it is configured.

    Parameters
    ----------
    component_class : type
        Subclass of Component.
    logger : Logger
        Told of the beginning, of how far it is now and then, and of the end.

    Attributes
    ----------
    state : str
        What is going on, or empty.

    """

    def __init__(self, component_class: type[Component], logger: Logger):
        from legged_dynamics.spatial.kernel_cache import is_warm
        self._logger = logger
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b''      # the beginning of a line whose end has not been written yet
        self.state = ''
        name = component_class.default_name
        if component_class.has_kernels and not is_warm(name):
            self.state = 'compiling, once; a minute or two'
            logger.info(self.state)
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'legged_dynamics.cli', 'warm', '--parts', name],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
            assert self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)
            self._begin = self._said = time.monotonic()

    @property
    def done(self) -> bool:
        """Whether there is nothing to compile any more."""
        if self._process is not None and self._process.poll() is not None:
            self._logger.info('compiled' if self._process.returncode == 0 else
                              'compiling ahead failed; compiling while being configured')
            self._close()
            self._process, self.state = None, ''
        elif self._process is not None:
            self._look()
        return self._process is None

    def _look(self) -> None:
        """Say now and then how far it is."""
        assert self._process is not None and self._process.stdout is not None
        *lines, self._unread = (self._unread + (self._process.stdout.read() or b'')).split(b'\n')
        parts = [line for line in lines if re.fullmatch(rb'\d\.\d+', line)]
        now = time.monotonic()
        if not parts or now - self._said < SAYING:
            return
        self._said, part = now, float(parts[-1])
        left = (now - self._begin) * (1.0 / max(part, 1e-3) - 1.0)
        self.state = f'compiling, once: {100.0 * part:.0f} %, about {left:.0f} s left'
        self._logger.info(self.state)

    def _close(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Compilation:
        """Return it, running."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close()
