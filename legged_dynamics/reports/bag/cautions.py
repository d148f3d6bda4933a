# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What makes a result doubtful although nothing proves it wrong: the amber part of the verdict.

Force at the base that no foot and no joint explains; and sums over all feet that differ between
the estimates by motion alone and by torque alone, beyond what the stated noise allows. Without a
truth these are the only signs of wrong masses, signs, friction or torques.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.contact import ContactLevels
from legged_dynamics.estimation.settings import EstimatorSettings
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.recordings.series import EstimateSeries, ForceSeries
from legged_dynamics.recordings.truth import world_force
from legged_dynamics.reports.bag.accuracy import rms, zero_phase

# Slow part of the force left unexplained at the base, beyond which a result is doubtful [of the
# weight].
UNEXPLAINED = 0.02
# The same of the difference between sums by motion and by torque, in deviations of what is
# stated, with a share of the weight for what that does not cover.
DEVIATIONS, MARGIN = 2.0, 0.01
# Only what is slower than this counts: neither noise nor impacts [Hz].
SLOW = 3.0
BASE_ONLY, TORQUE_ONLY = 'base only', 'torque only'


@dataclass(frozen=True)
class SlowSums:
    """
    How far the vertical sums over all feet by motion and by torque differ.

    Attributes
    ----------
    apart : float
        Root mean square of the slow difference between motion alone and torque alone, as a part
        of the weight; NaN where one is missing.
    allowed : float
        Largest one that the stated noise explains, as a part of the weight.

    """

    apart: float
    allowed: float

    @property
    def disagree(self) -> bool:
        """Whether the difference is beyond the error bars."""
        return bool(self.apart > self.allowed)

    @property
    def text(self) -> str:
        """The comparison in a sentence; empty where there is nothing to compare."""
        if not np.isfinite(self.apart):
            return ''
        return ('The sums of all feet by motion and by torque differ by '
                f'{100.0 * self.apart:.1f} % of the weight, rms, where the stated noise allows '
                f'{100.0 * self.allowed:.1f} %.')


def compare_slow_sums(series: EstimateSeries, others: Mapping[str, ForceSeries],
                      model: RobotModel, config: RobotConfig,
                      settings: EstimatorSettings) -> SlowSums:
    """
    Compare the sums over all feet by the base's equations and by torque.

    Parameters
    ----------
    series : EstimateSeries
        The main estimate.
    others : mapping of str to ForceSeries
        The estimates by motion alone and by torque alone, where they were made.
    model : RobotModel
        The robot of the URDF.
    config : RobotConfig
        Its YAML, which states the noise.
    settings : EstimatorSettings
        Settings of the estimator.

    Returns
    -------
    SlowSums

    """
    weight, rotation = model.total_mass * GRAVITY, series.foot_to_world
    stamps = series.stamp_ns.values
    vertical = {}
    for name, other in others.items():
        if len(other.stamp_ns):
            vertical[name] = world_force(other.aligned(stamps), rotation,
                                         raw=True)[:, :, 2].sum(axis=1)
    apart = np.nan
    if BASE_ONLY in vertical and TORQUE_ONLY in vertical:
        slow = zero_phase(series.time, vertical[TORQUE_ONLY] - vertical[BASE_ONLY], SLOW)
        slow = slow[np.isfinite(slow)]
        apart = rms(slow) / weight if len(slow) else np.nan
    return SlowSums(float(apart), _allowed(model, config, settings))


def _allowed(model: RobotModel, config: RobotConfig, settings: EstimatorSettings) -> float:
    """Return how far sums may differ by what the YAML states, as a part of the weight."""
    noise = config.noise
    white = np.sqrt(2.0 * SLOW / settings.rate)     # what the low-pass leaves of white noise
    slow = replace(noise, effort=white * noise.effort, effort_percent=white * noise.effort_percent,
                   joint_effort=tuple(white * value for value in noise.joint_effort))
    quiet = replace(config, noise=slow)
    levels = ContactLevels(quiet.apply_to(model), quiet, settings).of()[:, 2]
    gain = noise.effort_gain / np.sqrt(max(len(config.feet), 1))
    deviation = np.sqrt(np.sum(levels ** 2) + gain ** 2 + noise.mass ** 2
                        + (noise.accelerometer_bias / GRAVITY) ** 2)
    return float(DEVIATIONS * deviation + MARGIN)


def unexplained(series: EstimateSeries, weight: float) -> float:
    """
    Return the slow part of the force at the base that nothing explains.

    Parameters
    ----------
    series : EstimateSeries
        The main estimate.
    weight : float [N]
        Of the robot.

    Returns
    -------
    float
        Root mean square of a second, as a part of the weight; the upper quartile of all seconds,
        so that neither a short push nor a long stand decides. 0 where the base's equations are
        not used.

    """
    force = zero_phase(series.time, series.base_residual.values[:, :3], SLOW)
    known = np.isfinite(force).all(axis=1)
    if not known.any():
        return 0.0
    squares, second = (force[known] ** 2).sum(axis=1), np.floor(series.time[known]).astype(int)
    each = np.unique(second, return_inverse=True)[1]
    means = np.bincount(each, squares) / np.bincount(each)
    return float(np.quantile(np.sqrt(means), 0.75)) / weight


def cautions(residual: float, sums: SlowSums, bag: str) -> list[str]:
    """
    Return why a result is doubtful, and the command that finds the cause.

    Parameters
    ----------
    residual : float
        Slow part of the force at the base left unexplained, of :func:`unexplained`.
    sums : SlowSums
        Of all feet.
    bag : str
        Path of the recording, for the command.

    Returns
    -------
    list of str
        Sentences, the command last; empty where nothing is doubtful.

    """
    found = []
    if residual > UNEXPLAINED:
        found.append(f'{100.0 * residual:.1f} % of the weight remain unexplained at the base '
                     f'(below {SLOW:g} Hz); {100.0 * UNEXPLAINED:.0f} % is the most that a right '
                     'model leaves.')
    if sums.disagree:
        found.append(sums.text)
    if found:
        found.append('Friction, gains or delay of the torques, masses or the IMU may be wrong. '
                     f'Next: legged-dynamics doctor {bag}, with the same --robot and --urdf')
    return found
