# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Has a component's kernels compiled before it is configured, by a process that can be ended."""
from __future__ import annotations

import subprocess
import sys

from legged_dynamics.middleware.protocol import Component, Logger


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
        Told of the beginning and the end.

    Attributes
    ----------
    state : str
        What is going on, or empty.

    """

    def __init__(self, component_class: type[Component], logger: Logger):
        from legged_dynamics.spatial.kernel_state import is_warm
        self._logger = logger
        self._process: subprocess.Popen[bytes] | None = None
        self.state = ''
        name = component_class.default_name
        if component_class.has_kernels and not is_warm(name):
            self.state = 'compiling, once; a minute or two'
            logger.info(self.state)
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'legged_dynamics.cli', 'warm', name],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)

    @property
    def done(self) -> bool:
        """Whether there is nothing to compile any more."""
        if self._process is not None and self._process.poll() is not None:
            self._logger.info('compiled' if self._process.returncode == 0 else
                              'compiling ahead failed; compiling while being configured')
            self._process, self.state = None, ''
        return self._process is None

    def __enter__(self) -> Compilation:
        """Return it, running."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
