# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From sensor samples to measurements: the one way for node, replay and trials alike.

Samples of joints, IMU and contact switches go in as they come, in any interleaving. A screen may
refuse a sample that is not plausible; the rest is paired by stamp
(:class:`~legged_dynamics.estimation.measurement.MeasurementSynchronizer`), and complete
measurements come out.
"""
from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from legged_dynamics.estimation.measurement import (
    IMU_TIMEOUT,
    ImuSample,
    JointSample,
    Measurement,
    MeasurementSynchronizer,
    SwitchSample,
)

Sample = JointSample | ImuSample | SwitchSample
# Different reasons that are counted apart; a message may carry numbers that differ each time.
REASONS_KEPT = 50


class Verdict(NamedTuple):
    """What a screen says of a sample."""

    usable: bool = True  # Whether the sample is used
    # What is wrong with it, or was before the screen mended it; empty when nothing is
    fault: str = ''


class SampleScreen(Protocol):
    """Decides which samples are plausible enough to be used."""

    def check(self, sample: Sample) -> Verdict:
        """Return the verdict on a sample, in which implausible values may be set to NaN."""

    def unreadable_joints(self, why: str) -> None:
        """Record a joint state that could not be read."""


class SensorStream:
    """
    Makes measurements from samples.

    ``screen``, if any, judges every sample first; joint states before ``first_stamp_ns``
    are left out. `refused` counts the reasons why samples or messages were not used.
    """

    def __init__(self, imu_timeout: float = IMU_TIMEOUT, screen: SampleScreen | None = None,
                 first_stamp_ns: int | None = None):
        self._synchronizer = MeasurementSynchronizer(imu_timeout)
        self._screen, self._first = screen, first_stamp_ns
        self.verdict = Verdict()
        self.refused: Counter[str] = Counter()

    def reset(self) -> None:
        """Drop all samples that wait for others."""
        self._synchronizer.reset()

    def uses(self, sample: JointSample) -> bool:
        """Return whether a joint state is not before the first stamp that counts."""
        return self._first is None or sample.stamp_ns >= self._first

    def push(self, sample: Sample) -> list[Measurement]:
        """Add a sample; return the measurements now complete, oldest first."""
        if self._screen is not None:
            self.verdict = verdict = self._screen.check(sample)
            if not verdict.usable:
                self.refuse(verdict.fault)
                return []
        if isinstance(sample, JointSample):
            return self._synchronizer.push_joints(sample) if self.uses(sample) else []
        if isinstance(sample, ImuSample):
            return self._synchronizer.push_imu(sample)
        self._synchronizer.push_switches(sample)
        return []

    def refuse(self, why: str, joints: bool = False) -> None:
        """Count an unused sample or unreadable message; ``joints``: tell the screen."""
        if joints and self._screen is not None:
            self._screen.unreadable_joints(why)
        if why in self.refused or len(self.refused) < REASONS_KEPT:
            self.refused[why] += 1
        else:
            self.refused['other faults'] += 1
