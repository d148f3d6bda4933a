# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The same runs with other noise of the sensors, as stated in the configuration or not."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from scipy.signal import lfilter

from benchmarks.zoo.recording import Recording
from legged_dynamics.estimation import Measurement

# One deviation of each error in the field, of torques in shares: of the limit, of the torque.
FIELD = {'position': 3e-4, 'velocity': 0.03, 'effort': 0.01, 'effort_gain': 0.02,
         'effort_offset': 0.003, 'gyro': 0.005, 'gyro_bias': 0.003, 'accelerometer': 0.05,
         'accelerometer_bias': 0.05, 'orientation': 0.003, 'orientation_bias': 0.005}
LASTING = ('effort_gain', 'effort_offset', 'gyro_bias', 'accelerometer_bias', 'orientation_bias')
GAIN = 'noise.effort_gain'      # of the configuration; its default is the field's


@dataclass(frozen=True)
class Sensors:
    """
    What sensors do, and what the configuration states of them.

    Attributes
    ----------
    title : str
    scale : float
        Of all errors in `FIELD`.
    of : dict
        Further factors of some.
    stated : float or None
        Factor of all noise that the configuration states; None: it states none.
    states : dict
        Other values of the configuration, dotted.
    encoder : float
        Step of the encoders [rad]; positions then have no other noise.
    differences : bool
        Velocities are differences of positions.
    effort_time : float
        Time constant of a first-order low-pass of torques [s].
    effort_delay : int
        Samples that torques are late.
    bias_time : float
        Over how long the accelerometer's bias changes [s]; zero: it lasts.

    """

    title: str
    scale: float = 1.0
    of: Mapping[str, float] = field(default_factory=dict)
    stated: float | None = 1.0
    states: Mapping[str, float] = field(default_factory=dict)
    encoder: float = 0.0
    differences: bool = False
    effort_time: float = 0.0
    effort_delay: int = 0
    bias_time: float = 0.0


@dataclass(frozen=True)
class HeardRecording(Recording):
    """A run as other sensors hear it; what is true stays."""

    sensors: Sensors = field(default_factory=lambda: Sensors('usual'))

    def measurements(self, noise: bool = True, effort: bool = True, imu: bool = True,
                     slow_accelerometer: bool = False, seed: int | None = None
                     ) -> Iterator[Measurement]:
        """Yield what the sensors say; without ``noise`` delays and steps are left."""
        s, rng = self.sensors, np.random.default_rng(self.seed if seed is None else seed)
        n, nj = self.q.shape
        size = {name: noise * value * s.scale * s.of.get(name, 1.0)
                for name, value in FIELD.items()}
        limit = self.model.effort_limits
        limit = np.where(np.isfinite(limit), limit, np.abs(self.tau).max())

        def white(name: str, columns: int) -> np.ndarray:
            return size[name] * rng.standard_normal((n, columns))

        # In the order of Recording.measurements: the usual sensors draw the same.
        jitter = white('position', nj)
        q = s.encoder * np.round(self.q / s.encoder) if s.encoder else self.q + jitter
        v = self.v + white('velocity', nj)
        if s.differences:
            v = np.diff(q, axis=0, prepend=q[:1]) * self.rate
        gain = 1.0 + size['effort_gain'] * rng.standard_normal(nj)
        tau = self.tau * gain + limit * white('effort', nj) + (
            size['effort_offset'] * limit * rng.standard_normal(nj))
        if s.effort_time:
            keep = np.exp(-1.0 / (s.effort_time * self.rate))
            tau = lfilter([1.0 - keep], [1.0, -keep], tau - tau[0], axis=0) + tau[0]
        if s.effort_delay:
            tau = np.concatenate([np.repeat(tau[:1], s.effort_delay, axis=0),
                                  tau[:-s.effort_delay]])
        gyro = self.gyro + white('gyro', 3) + size['gyro_bias'] * rng.standard_normal(3)
        accelerometer = self.slow_accelerometer if slow_accelerometer else self.accelerometer
        accelerometer = accelerometer + white('accelerometer', 3)
        bias = size['accelerometer_bias'] * rng.standard_normal(3)
        accelerometer = accelerometer + (_wandering(bias, rng, n, s.bias_time * self.rate,
                                                    size['accelerometer_bias'])
                                         if s.bias_time else bias)
        tilt = white('orientation', 3) + size['orientation_bias'] * rng.standard_normal(3)
        yield from self.samples(q, v, tau if effort else None,
                                (gyro, accelerometer, tilt) if imu else None)


def _wandering(start: np.ndarray, rng: np.random.Generator, n: int, samples: float,
               size: float) -> np.ndarray:
    """Return a first-order Gauss-Markov process of stationary deviation `size`, (n, 3)."""
    keep = np.exp(-1.0 / samples)
    steps = size * np.sqrt(1.0 - keep ** 2) * rng.standard_normal((n, 3))
    steps[0] = start
    return lfilter([1.0], [1.0, -keep], steps, axis=0)


def heard(recording: Recording, sensors: Sensors) -> HeardRecording:
    """Return a run as other sensors hear it, with what the configuration states of them."""
    parameters = {key: value for key, value in recording.parameters.items()
                  if sensors.stated is not None or not key.startswith('noise.')}
    if sensors.stated is not None and sensors.stated != 1.0:
        parameters |= {key: sensors.stated * value for key, value in parameters.items()
                       if key.startswith('noise.')}
        parameters[GAIN] = sensors.stated * FIELD['effort_gain']
    parameters |= sensors.states
    values = {f.name: getattr(recording, f.name) for f in fields(Recording)}
    return HeardRecording(**values | {'parameters': parameters}, sensors=sensors)


STEP_12, STEP_14, STEP_16 = (2.0 * np.pi / 2 ** bits for bits in (12, 14, 16))
# What the page shows, on these runs: standing and walking on points, a biped, a heavy robot.
NAMES = ('go2-stand', 'hexapod-stand', 'go2-trot', 'hyq-walk', 'talos-steps')
OTHERS = (
    Sensors('the usual'),
    Sensors('all x 0.3, stated', scale=0.3, stated=0.3),
    Sensors('all x 3, stated', scale=3.0, stated=3.0),
    Sensors('all x 2, stated as usual', scale=2.0),
    Sensors('all x 0.5, stated as usual', scale=0.5),
    Sensors('none stated: the defaults', stated=None),
    Sensors('torque 3 %, stated 1 %', of={'effort': 3.0}),
    Sensors('torque gain 6 %, stated 2 %', of={'effort_gain': 3.0}),
    Sensors('encoders of 12 bits, velocity measured', encoder=STEP_12),
    Sensors('velocity from encoders of 16 bits', encoder=STEP_16, differences=True),
    Sensors('velocity from encoders of 14 bits', encoder=STEP_14, differences=True),
    Sensors('the same, stated 0.08 rad/s', encoder=STEP_14, differences=True,
            states={'noise.velocity': 0.08}),
    Sensors('torque through a low-pass of 5 ms', effort_time=0.005),
    Sensors('torque a sample late', effort_delay=1),
    Sensors('bias of the accelerometer wanders in 0.5 s', bias_time=0.5))
