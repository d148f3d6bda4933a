# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, a closed terminal and SIGTERM as a request to stop, and to stop at once."""
from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# All by which people and launchers end a process. Only SIGKILL ends a node without its safe end.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Signals nearer to the first one are the same request [s].
SAME = 1.0


@contextmanager
def stopped_by_signals(stop: Callable[[], object]) -> Iterator[None]:
    """
    Call ``stop`` on the first signal that asks to stop, and again on one that comes later.

    A launcher sends SIGINT on top of the terminal's: what comes within a second changes nothing.
    One who asks again after that does not want to wait for a robot that is being brought down.
    After the first, signals stay ignored when the context is left, for the process is ending.
    """
    previous = {number: signal.getsignal(number) for number in STOPPING}
    previous = {number: handler for number, handler in previous.items()
                if not (number == signal.SIGHUP and handler is signal.SIG_IGN)}     # nohup
    stopped: list[float] = []

    def on_signal(number: int, frame: object) -> None:
        now = time.monotonic()
        if not stopped or now - stopped[0] > SAME:
            stopped.append(now)
            stop()

    for number in previous:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in previous.items():
            # A handler of Python's would be taken off at the very end; this one is not.
            signal.signal(number, signal.SIG_IGN if stopped else handler)
