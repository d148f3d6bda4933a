# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages that are sent at the robot's rate and differ in stamp and numbers only, as bytes."""
from __future__ import annotations

import struct
from collections.abc import Sequence

from legged_dynamics.middleware.cdr import serialize
from legged_dynamics.middleware.conversions.building import wrench_stamped
from legged_dynamics.middleware.dialect import StandaloneDialect

_NS = 1_000_000_000
_STAMP = struct.Struct('<iI')
_STAMP_AT = 4           # behind the encapsulation header
_WRENCH = struct.Struct('<6d')


class PreparedWrench:
    """
    A geometry_msgs/WrenchStamped of one frame; a call returns its CDR bytes.

    The message ends with its six doubles and begins with its stamp, so that both can be written
    in place: a fifth of the time of building and serialising it.

    Parameters
    ----------
    frame_id : str
        Frame of the wrench.

    """

    def __init__(self, frame_id: str):
        self._bytes = bytearray(serialize(wrench_stamped(StandaloneDialect(), 0, frame_id,
                                                         [0.0] * 6)))
        self._wrench_at = len(self._bytes) - _WRENCH.size

    def __call__(self, ns: int, wrench: Sequence[float]) -> bytes:
        """
        Return the message as bytes.

        Parameters
        ----------
        ns : int [ns]
            Stamp.
        wrench : (6,) sequence [N, N m]
            ``[f; m]``.

        """
        _STAMP.pack_into(self._bytes, _STAMP_AT, *divmod(ns, _NS))
        _WRENCH.pack_into(self._bytes, self._wrench_at, *wrench)
        return bytes(self._bytes)
