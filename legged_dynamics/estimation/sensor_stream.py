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
    """
    What a screen says of a sample.

    Attributes
    ----------
    usable : bool
        Whether the sample is used.
    fault : str
        What is wrong with it, or was before the screen mended it; empty when nothing is.

    """

    usable: bool = True
    fault: str = ''


class SampleScreen(Protocol):
    """Decides which samples are plausible enough to be used."""

    def check(self, sample: Sample) -> Verdict:
        """
        Judge a sample; implausible values in it may be replaced by NaN.

        Parameters
        ----------
        sample : JointSample, ImuSample or SwitchSample
            The newest one.

        Returns
        -------
        Verdict

        """

    def unreadable_joints(self, why: str) -> None:
        """
        Note a joint state that could not be read.

        Parameters
        ----------
        why : str
            The reason.

        """


class SensorStream:
    """
    Makes measurements out of samples.

    Parameters
    ----------
    imu_timeout : float, optional [s]
        How long joint states wait for an IMU reading of their time.
    screen : SampleScreen, optional
        Judges every sample first; without one, all samples are used.
    first_stamp_ns : int, optional [ns]
        Joint states before this stamp are left out.

    Attributes
    ----------
    verdict : Verdict
        On the newest sample.
    refused : Counter
        Reasons why samples or messages were not used, and how often.

    Raises
    ------
    ConfigurationError
        When the time-out is not positive.

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
        """
        Tell whether a joint state is late enough to be used.

        Parameters
        ----------
        sample : JointSample
            Any one.

        Returns
        -------
        bool
            False for a stamp before the first that counts.

        """
        return self._first is None or sample.stamp_ns >= self._first

    def push(self, sample: Sample) -> list[Measurement]:
        """
        Add a sample.

        Parameters
        ----------
        sample : JointSample, ImuSample or SwitchSample
            The newest one.

        Returns
        -------
        list of Measurement
            Those that are complete now, oldest first.

        """
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
        """
        Count a sample that is not used, or a message that could not be read.

        Parameters
        ----------
        why : str
            The reason.
        joints : bool
            Whether it was a joint state that could not be read; the screen is told.

        """
        if joints and self._screen is not None:
            self._screen.unreadable_joints(why)
        if why in self.refused or len(self.refused) < REASONS_KEPT:
            self.refused[why] += 1
        else:
            self.refused['other faults'] += 1
