# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node's log for the backends without rclpy, in the form of rclpy's console output."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from legged_dynamics.middleware.arguments import LOG_LEVELS


class LogRecord(NamedTuple):
    """One line of a log."""

    level: str
    node: str
    message: str


def print_record(record: LogRecord) -> None:
    """Print a log line to stderr as a ROS 2 node does."""
    print(f'[{record.level.upper()}] [{time.time():.9f}] [{record.node}]: {record.message}',
          file=sys.stderr, flush=True)


class NodeLogger:
    """
    Logger spelled as rclpy's.

    Parameters
    ----------
    name : str
        Node the lines are from.
    level : str
        Least severe level that is kept.
    sink : callable
        Takes each LogRecord.

    """

    def __init__(self, name: str, level: str = 'info',
                 sink: Callable[[LogRecord], None] = print_record):
        self._name = name
        self._threshold = LOG_LEVELS.index(level)
        self._sink = sink
        self._last: dict[tuple, float] = {}

    def debug(self, message: str, *, throttle_duration_sec: float = 0.0) -> bool:
        """Log for developers; returns whether it was logged."""
        return self._log('debug', message, throttle_duration_sec)

    def info(self, message: str, *, throttle_duration_sec: float = 0.0) -> bool:
        """Log what a user may want to know."""
        return self._log('info', message, throttle_duration_sec)

    def warning(self, message: str, *, throttle_duration_sec: float = 0.0) -> bool:
        """Log what should not be, but can be lived with."""
        return self._log('warn', message, throttle_duration_sec)

    def error(self, message: str, *, throttle_duration_sec: float = 0.0) -> bool:
        """Log what stops something from working."""
        return self._log('error', message, throttle_duration_sec)

    def _log(self, level: str, message: str, throttle: float) -> bool:
        if LOG_LEVELS.index(level) < self._threshold:
            return False
        if throttle:
            caller = sys._getframe(2)  # throttled per place in the code, as rclpy does
            place, now = (caller.f_code, caller.f_lineno), time.monotonic()
            if now - self._last.get(place, -throttle) < throttle:
                return False
            self._last[place] = now
        self._sink(LogRecord(level, self._name, message))
        return True
