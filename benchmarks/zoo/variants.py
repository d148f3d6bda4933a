# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The same runs with other rates and other sensors, and what the estimator says about them."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from benchmarks.zoo.cache import recording
from benchmarks.zoo.recording import Recording
from legged_dynamics.estimation import Fault, GroundReactionEstimator, Mode

USUAL = 500.0       # Hz
TOLD = 300          # samples that flags are gathered over, warming up left out
NAMES = ('go2-trot', 'talos-steps', 'anymal_class-straight')


@dataclass(frozen=True)
class Variant:
    """
    Other sensors than a run's usual ones.

    Attributes
    ----------
    title : str
    rate : float [Hz]
    measured : dict
        What `Recording.measurements` is asked for.

    """

    title: str
    rate: float = USUAL
    measured: dict[str, bool] = field(default_factory=dict)


VARIANTS = (
    Variant('100 Hz', 100.0), Variant('200 Hz', 200.0), Variant('400 Hz', 400.0),
    Variant('1000 Hz', 1000.0),
    Variant('accelerometer of 150 Hz', measured={'slow_accelerometer': True}),
    Variant('no IMU', measured={'imu': False}))


def varied(names: list[str]) -> Iterator[tuple[Variant, Recording]]:
    """Yield each variant of the runs among `names` that are tried with other sensors."""
    for name in NAMES:
        for variant in VARIANTS if name in names else ():
            yield variant, recording(name, variant.rate)


def flags(made: Recording, variant: Variant) -> str:
    """Return the mode and the faults that the estimator tells of, in words."""
    estimator = GroundReactionEstimator(made.model, made.config, {'rate': made.rate})
    modes, faults = set(), Fault.NONE
    for measurement in islice(made.measurements(**variant.measured), TOLD):
        r = estimator.update(measurement)
        if r.mode is not Mode.UNAVAILABLE:
            modes.add(r.mode.name)
            faults |= r.faults
    return ', '.join([*sorted(modes), *([] if faults is Fault.NONE else [str(faults.name)])])
