# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate, jitter and gaps of the estimator's inputs, by their stamps and by the recorder's clock."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from legged_dynamics.estimation import ActuatorFinding, EstimatorSettings, Fault
from legged_dynamics.recordings.series import Column

# A gap is an interval longer than this many medians.
GAP = 1.5


class InputTimes:
    """When the messages of one topic were stamped and received."""

    def __init__(self) -> None:
        self._stamp, self._receipt = Column(dtype=np.int64), Column(dtype=np.int64)

    def note(self, stamp_ns: int, receipt_ns: int) -> None:
        """
        Add the times of a message.

        Parameters
        ----------
        stamp_ns, receipt_ns : int [ns]
            Stamp in the message's header, and when the recorder received it.

        """
        self._stamp.append(stamp_ns)
        self._receipt.append(receipt_ns)

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self._stamp)

    def forget(self, before_ns: int) -> None:
        """
        Drop the messages received before an instant; they must be in the order of receipt.

        Parameters
        ----------
        before_ns : int [ns]
            The instant, by the recorder's clock.

        """
        self.drop(int(np.searchsorted(self.receipt_ns, before_ns)))

    def drop(self, count: int) -> None:
        """
        Drop the first messages.

        Parameters
        ----------
        count : int
            How many.

        """
        for column in vars(self).values():
            if isinstance(column, Column):
                column.drop(count)

    @property
    def stamp_ns(self) -> np.ndarray:
        """(n,) array of the stamps [ns]."""
        return self._stamp.values

    @property
    def receipt_ns(self) -> np.ndarray:
        """(n,) array of the times of receipt [ns]."""
        return self._receipt.values


@dataclass(frozen=True)
class InputStatistics:
    """
    Regularity of one input.

    Attributes
    ----------
    topic : str
        Name of the topic.
    count : int
        Number of messages.
    rate, received : float [Hz]
        Messages a second, by their stamps and by the recorder's clock.
    interval : float [ms]
        Median of the intervals between stamps.
    stamp_jitter, receipt_jitter : float [ms]
        Standard deviation of the intervals between stamps and between receipts.
    worst_interval : float [ms]
        Longest interval between stamps.
    gaps : int
        Intervals between stamps of more than one and a half medians: samples were lost there.
    backwards : int
        Stamps that are not later than the one before.

    """

    topic: str
    count: int
    rate: float
    received: float
    interval: float
    stamp_jitter: float
    receipt_jitter: float
    worst_interval: float
    gaps: int
    backwards: int


def input_statistics(topic: str, times: InputTimes) -> InputStatistics:
    """
    Return the regularity of one input.

    Parameters
    ----------
    topic : str
        Name of the topic.
    times : InputTimes
        When its messages were stamped and received.

    Returns
    -------
    InputStatistics

    """
    steps = np.diff(times.stamp_ns) * 1e-9
    forward = steps[steps > 0.0]
    if not len(forward):
        return InputStatistics(topic, len(times), np.nan, np.nan, np.nan, np.nan, np.nan, np.nan,
                               0, len(steps))
    median = float(np.median(forward))
    receipts = np.diff(times.receipt_ns) * 1e-9
    return InputStatistics(
        topic, len(times), _per_second(times.stamp_ns), _per_second(times.receipt_ns),
        1e3 * median, 1e3 * float(forward.std()), 1e3 * float(receipts.std()),
        1e3 * float(forward.max()), int((forward > GAP * median).sum()),
        len(steps) - len(forward))


def _per_second(when_ns: np.ndarray) -> float:
    """Return the mean rate of events [Hz]."""
    span = float(np.ptp(when_ns)) * 1e-9
    return (len(when_ns) - 1) / span if span > 0.0 else np.nan


# -------------------------------------------------------------------------------------------------
# Sentences for reports.


def input_notes(faults: Counter[Fault], refused: Counter[str], settings: EstimatorSettings,
                inputs: Sequence[InputStatistics],
                findings: Sequence[ActuatorFinding] = (),
                off_feet: Mapping[str, Sequence[float]] = MappingProxyType({})) -> list[str]:
    """
    Return sentences on what was missing, odd or refused.

    Parameters
    ----------
    faults : Counter of Fault
        Faults that the estimator found in its input, and how often.
    refused : Counter of str
        Reasons why messages were not used, and how often.
    settings : EstimatorSettings
        Settings of the estimator.
    inputs : sequence of InputStatistics
        Regularity of the joint states first, then of the IMU where there is one.
    findings : sequence of ActuatorFinding
        What the estimator learned of the actuators that the configuration states otherwise.
    off_feet : mapping of str to sequence of float
        Forces [N] on links other than feet, of each sample with such a contact, by link.

    Returns
    -------
    list of str
        One sentence each.

    """
    notes = []
    if faults[Fault.NO_EFFORT]:
        notes.append(f'No joint torque in {faults[Fault.NO_EFFORT]} samples: forces rest on the '
                     "base's motion alone there, and how the feet share them is only a guess.")
    if faults[Fault.PARTIAL_EFFORT]:
        notes.append(f'Some joints have no torque in {faults[Fault.PARTIAL_EFFORT]} samples.')
    if faults[Fault.NO_IMU] and len(inputs) > 1:
        notes.append(f'No IMU reading for {faults[Fault.NO_IMU]} joint states.')
    if faults[Fault.NO_ORIENTATION]:
        notes.append(f'The IMU gives no orientation in {faults[Fault.NO_ORIENTATION]} samples; '
                     'tilt is taken from gyro and accelerometer, and heading is not known.')
    for fault, what in ((Fault.GAP, 'a gap in the joint states'),
                        (Fault.TIME_JUMPED_BACK, 'time set back')):
        if faults[fault]:
            notes.append(f'The estimator started anew {faults[fault]} times after {what}.')
    notes += [f'{Fault(one.fault).name}: {one}.' for one in findings]
    if off_feet:
        notes.append('Contacts off the feet: ' + '; '.join(
            f'{link}, {np.median(forces):.0f} N for {len(forces) / settings.rate:.1f} s'
            for link, forces in sorted(off_feet.items(), key=lambda one: -len(one[1]))) + '.')
    notes += [f'{count} messages were refused: {why}.' for why, count in refused.most_common(5)]
    for entry in inputs:
        # By stamps a simulator may run on time while messages are lost or come slowly.
        usual = 1e3 / entry.interval
        if entry.rate < 0.9 * usual:
            notes.append(f'{entry.topic}: {entry.rate:.0f} messages a second, although most come '
                         f'{entry.interval:.3g} ms after the last ({usual:.0f} Hz): '
                         f'{entry.gaps} gaps.')
    usual = 1e3 / inputs[0].interval
    if np.isfinite(usual) and abs(usual / settings.rate - 1.0) > 0.1:
        notes.append(f'Joint states come every {inputs[0].interval:.3g} ms ({usual:.0f} Hz), but '
                     f'the estimator is set to {settings.rate:.0f} Hz (parameter rate): its noise '
                     'weights are off.')
    return notes
