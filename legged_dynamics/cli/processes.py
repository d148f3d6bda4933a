# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A few child processes that come up in order, are watched, and stop in the opposite order."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import MiddlewareError

STOPPING = 60.0         # s for a process to end after SIGINT
SHOWN = 5               # lines of a log in an error
# Environment variable with the process that a process is not to outlive.
PARENT = 'LEGGED_DYNAMICS_PARENT'
_LOOKING = 0.5          # s between looks for the parent


def end_with_parent() -> None:
    """
    End this process by SIGTERM as soon as its parent has ended, even by SIGKILL.

    Only in a child of a :class:`ProcessGroup`; a thread watches the parent.
    """
    parent = os.environ.pop(PARENT, '')
    if not parent.isdecimal():
        return
    if os.getppid() != int(parent):
        sys.exit(128 + signal.SIGTERM)      # it has gone before we were up

    def look() -> None:
        while os.getppid() == int(parent):
            time.sleep(_LOOKING)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(STOPPING)
        os._exit(128 + signal.SIGKILL)
    threading.Thread(target=look, name='parent', daemon=True).start()


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process on the spot: compilers catch and lose KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class ProcessGroup:
    """
    Context manager of child processes, each with a log file; all end with this process.

    SIGTERM and SIGHUP leave the context as Ctrl-C does; children that run `end_with_parent`
    (the command line does) notice its death. Logs are ``folder``/<name>.log.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]):
        self._folder = folder
        self._environment = {**environment, 'PYTHONUNBUFFERED': '1', PARENT: str(os.getpid())}
        self._before: dict[int, Any] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> ProcessGroup:
        """Return the group, still without processes."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                self._before[number] = signal.signal(
                    number, lambda signum, frame: sys.exit(128 + signum))
        return self

    def __exit__(self, *exception: object) -> None:
        """End the processes that still run."""
        try:
            self._end()
        finally:
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a process; its name is used for the log file and in messages."""
        with self._path(name).open('wb') as log:
            # A session of its own: Ctrl-C reaches us alone, and we stop them in order.
            self._processes[name] = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=self._environment, start_new_session=True)

    def check(self) -> None:
        """Raise MiddlewareError, quoting the log's end, if a process ended by itself."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise MiddlewareError(
                    f'the {name} ended by itself with code {process.returncode}. It said: '
                    f'{" | ".join(self.log(name)[-SHOWN:]) or "nothing"}. See {self._path(name)}')

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> None:
        """Wait up to ``timeout`` [s] for a condition; raise MiddlewareError if it fails."""
        end = time.monotonic() + timeout
        while not condition():
            self.check()
            if time.monotonic() > end:
                raise MiddlewareError(f'{", ".join(self._processes)} did not come up within '
                                      f'{timeout:.0f} s; see the logs in {self._folder}')
            time.sleep(0.05)

    def said(self, name: str, text: str) -> bool:
        """Return whether a line of the process's log contains a text."""
        return any(text in line for line in self.log(name))

    def log(self, name: str) -> list[str]:
        """Return the lines that a process has written so far."""
        text = self._path(name).read_text(encoding='utf-8', errors='replace')
        return [line for line in text.splitlines() if line.strip()]

    def stop(self) -> None:
        """Stop all processes, the last started first; raise MiddlewareError on failure."""
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
