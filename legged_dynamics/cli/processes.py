# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A few child processes that come up in order, are watched, and stop in the opposite order."""
from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from legged_dynamics.exceptions import MiddlewareError

STOPPING = 15.0         # s for a process to end after SIGINT
SHOWN = 5               # lines of a log in an error


class ProcessGroup:
    """
    Child processes with a log file each; a context manager that leaves none behind.

    Parameters
    ----------
    folder : Path
        Where the logs go, as <name>.log.
    environment : mapping
        Environment of the processes.

    """

    def __init__(self, folder: Path, environment: Mapping[str, str]):
        self._folder = folder
        self._environment = {**environment, 'PYTHONUNBUFFERED': '1'}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> ProcessGroup:
        """Return the group, still without processes."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End what still runs."""
        self._end()

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a process."""
        with self._path(name).open('wb') as log:
            # A session of its own: Ctrl-C reaches us alone, and we stop them in order.
            self._processes[name] = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=self._environment, start_new_session=True)

    def check(self) -> None:
        """Raise MiddlewareError when a process has ended by itself."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise MiddlewareError(
                    f'the {name} ended by itself with code {process.returncode}. It said: '
                    f'{" | ".join(self.log(name)[-SHOWN:]) or "nothing"}. See {self._path(name)}')

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> None:
        """
        Wait for a condition while all processes run.

        Raises
        ------
        MiddlewareError
            When a process ends, or the time [s] is over.

        """
        end = time.monotonic() + timeout
        while not condition():
            self.check()
            if time.monotonic() > end:
                raise MiddlewareError(f'{", ".join(self._processes)} did not come up within '
                                      f'{timeout:.0f} s; see the logs in {self._folder}')
            time.sleep(0.05)

    def said(self, name: str, text: str) -> bool:
        """Tell whether a process has written a text."""
        return any(text in line for line in self.log(name))

    def log(self, name: str) -> list[str]:
        """Return the lines a process has written."""
        text = self._path(name).read_text(encoding='utf-8', errors='replace')
        return [line for line in text.splitlines() if line.strip()]

    def stop(self) -> None:
        """
        Stop all processes politely, the last one started first.

        Raises
        ------
        MiddlewareError
            When one does not end, or ends with an error.

        """
        self.check()
        failed = self._end()
        if failed:
            raise MiddlewareError(f'{"; ".join(failed)}; see the logs in {self._folder}')

    def _end(self) -> list[str]:
        failed = []
        for name, process in reversed(self._processes.items()):
            if process.poll() is not None:
                continue
            process.send_signal(signal.SIGINT)
            try:
                code = process.wait(STOPPING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                failed.append(f'the {name} did not stop within {STOPPING:.0f} s')
            else:
                if code:
                    failed.append(f'the {name} ended with code {code}')
        self._processes.clear()
        return failed

    def _path(self, name: str) -> Path:
        return self._folder / f'{name}.log'
