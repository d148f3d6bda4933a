# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whether data contradict what is stated: which parameters are rejected."""
from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.actuators.parameters import Parameters, Prior
from legged_dynamics.estimation.actuators.regression import factorized, solved, variances
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.model.actuators import DELAY, STATED_DELAY
from legged_dynamics.optimization.factorizations import factorize_upper, invert_upper

# A Gaussian prior of zero mean: its precision, and the logarithm of that one's determinant.
Gaussian = tuple[np.ndarray, float]


@dataclass
class Estimate:
    """An estimate of theta in the making; (n,) arrays."""

    deviation: np.ndarray       # of the prior in use
    weight: np.ndarray          # its precision
    factor: np.ndarray          # (n, n): Cholesky's, later its inverse V; covariance V V^T
    noise: float                # information on the IMU's delay that is noise of its regressor
    joint: np.ndarray           # maximum a posteriori of all at once
    theta: np.ndarray           # the same without what all gains share
    variance: np.ndarray
    alone: np.ndarray           # log-odds by data alone: delay of torques, compliance


class Hypotheses:
    """
    Parameters whose stated value data have `rejected`, and odds of what torques may be.

    What takes long yields, so that its steps can be spread over samples.
    """

    def __init__(self, parameters: Parameters, prior: Prior, mass: float,
                 settings: LearnerSettings):
        self._parameters, self._prior, self._settings = parameters, prior, settings
        self.rejected = np.zeros(len(parameters.names), bool)
        self._force_error, self._mass = TUNED.base_force * mass * GRAVITY, mass
        self._of_torques = self._priors_of_torques()
        self._alone = [parameters.effort_delay, parameters.compliance]
        self._wrong_gain = (settings.gain_factor * np.median(prior.tight[parameters.gains])) ** 2
        self.gain_doubt = 0.0       # variance of gains that may be wrong
        self.suspected = 0.0        # compliance that data show, but not surely [rad/(N m)]
        self.elastic = 0.0          # probability that drives yield otherwise than stated
        # Compliance by data alone, and its deviation [rad/(N m)].
        self.soft: tuple[float, float] = (0.0, 0.0)
        self.scale_doubt = 0.0      # deviation of all forces alike, as a share

    def reject(self, which: np.ndarray) -> None:
        """Reject some parameters, by their places, and with them those of their groups."""
        group = self._parameters.group
        self.rejected |= np.isin(group, group[which])

    def estimate(self, information: np.ndarray, right: np.ndarray, noisy: float
                 ) -> Generator[None, None, Estimate]:
        """Return the estimate of theta by the sums of the regression, still without variances."""
        prior, gains = self._prior, self._parameters.gains
        deviation = np.where(self.rejected, prior.wide, prior.tight)
        weight = deviation ** -2.0
        factor = factorized(information, weight)
        yield
        # What is known of the IMU's delay given all else; with little data the noise's part of it
        # is not known well enough to be taken off whole.
        known = 1.0 / variances(factor, [len(weight) - 1])[0] - weight[-1]
        noise = min(noisy, self._settings.noise_limit * known)
        corrected = weight.copy()
        corrected[-1] -= noise
        factor = factorized(information, corrected)
        yield
        joint = solved(factor, right + weight * prior.mean)
        # All gains alike, or all masses: the equations cannot tell, only how far each may be off.
        theta = joint.copy()
        own = np.mean(deviation[gains] ** 2) / len(gains)
        theta[gains] -= (theta - prior.mean)[gains].mean() * prior.mass_variance / (
            prior.mass_variance + own)
        return Estimate(deviation, weight, factor, noise, joint, theta, np.zeros(0), np.zeros(2))

    def find_alone(self, found: Estimate, information: np.ndarray, right: np.ndarray,
                   free: np.ndarray) -> None:
        """Find odds of an unknown delay of torques, and of compliance, by data alone."""
        # With all else free, for friction that is stated wrong would pass for it; but the IMU,
        # which torques are late against, with its prior.
        free[-1] = found.weight[-1]
        factor = factorized(information, free)
        theta = solved(factor, right + free * self._prior.mean)
        prior, at, spread = self._prior, self._alone, variances(factor, self._alone)
        left = np.maximum(1.0 - spread * free[at], 1e-9)    # of the prior's weight: what data say
        small, unknown = (each[at] ** 2 + spread / left for each in (prior.tight, prior.wide))
        off = (theta - prior.mean)[at] / left
        found.alone = 0.5 * (off ** 2 * (1.0 / small - 1.0 / unknown) - np.log(unknown / small))
        soft, most = theta[at[1]], np.inf if self.rejected[at[1]] else prior.wide[at[1]]
        self.suspected = soft * (0.0 < soft < most and found.alone[1] > self._settings.stated_odds)
        self.soft = max(float(soft), 0.0), math.sqrt(float(spread[1]))
        # None is negative: of its prior half is left, and that share of the evidence.
        odds = math.exp(min(found.alone[1] - self._settings.stated_odds, 99.0)) * math.erfc(
            -soft / (math.sqrt(2.0) * self.soft[1]))
        self.elastic = odds / (1.0 + odds) * float(self._prior.wide[at[1]] > 0.0)

    def test(self, found: Estimate, information: np.ndarray, swung: bool, walks: bool
             ) -> Iterator[None]:
        """Reject the group that data contradict most, if they do; complete the estimate."""
        parameters, settings = self._parameters, self._settings
        invert_upper(found.factor)
        V = found.factor = np.triu(found.factor)
        yield
        at = parameters.of_torques
        odds = yield from self.odds_of_gains(V[at], found.joint[at], found.deviation[at], walks)
        yield
        variance = found.variance = np.maximum(np.einsum('ij,ij->i', V, V),
                                               1e-6 * self._prior.tight ** 2)
        # A stated value is believed until the data pull it away; parameters of one kind are
        # rejected together, and first those that are pulled most.
        z = np.abs(found.theta - self._prior.mean) / np.sqrt(
            np.maximum(found.deviation ** 2 - variance, 0.1 * found.deviation ** 2))
        yield
        yield from self._test_kinds(z, found, swung)
        z[parameters.gains] = settings.rejection / settings.gain_odds * (
            odds[1] - max(odds[0], odds[2], odds[3]))
        yield
        self._test_delays(z, found, information)
        yield
        if self.rejected[parameters.gains].any():   # loads are then pulled by what gains leave
            z[parameters.of_torques] *= settings.secondary_weight
        delays = [parameters.effort_delay, parameters.imu_delay]
        early = (found.theta - self._prior.mean)[delays] < 0.0  # of one that is stated to be late
        z[delays] *= ~early | [self._prior.stated.value[DELAY, 0] > 0.0, False]
        # What gains, a load or masses explain as well is no compliance; nor what data do not show.
        soft = parameters.compliance
        self.rejected[soft] &= self.suspected > 0.0
        z[soft] *= swung and found.theta[soft] > 0.0 and found.alone[1] > max(odds) - odds[0]
        if self.rejected[soft] or self._prior.mean[soft] > 0.0:
            # A leg on springs looks like any of these, and like a load.
            z[parameters.place] = z[parameters.base] = 0.0
            self.rejected[parameters.place] = self.rejected[parameters.base] = False
        z[self.rejected | self._prior.free] = 0.0
        worst = int(np.argmax(z))
        if z[worst] > settings.rejection:
            self.reject(np.array([worst]))

    def _test_kinds(self, z: np.ndarray, found: Estimate, swung: bool) -> Iterator[None]:
        """Judge frictions, and armatures, together: many are off, and none by many deviations."""
        prior, settings = self._prior, self._settings
        for kind, least, error in (
                (self._parameters.leg_frictions, settings.rejection, 0.0),
                (self._parameters.leg_armatures, settings.stated_odds,
                 settings.usual_difference)):
            known = np.maximum(found.deviation[kind], error * np.abs(prior.mean[kind]))
            stated, unknown = yield from evidence(
                found.factor[kind], (found.joint - prior.mean)[kind], found.deviation[kind],
                [_independent(each) for each in (known, prior.wide[kind])])
            # A robot that stands may be pushed.
            z[kind] = settings.rejection / least * (unknown - stated) * swung

    def _test_delays(self, z: np.ndarray, found: Estimate, information: np.ndarray) -> None:
        """Judge delays by data alone: they are the same for all joints, and seen well."""
        prior, settings, variance = self._prior, self._settings, found.variance
        sensed = max(1.0 / variance[-1] - found.weight[-1], 1e-9 * found.weight[-1])
        late = np.abs(found.theta - prior.mean)[-1] / (variance[-1] * sensed)
        # Where the base hardly jerks, a small error of its force passes for a late IMU: at most
        # as far as it would, were it proportional to the jerk (Cauchy and Schwarz).
        errors = self._force_error * np.sqrt(
            np.diag(information)[self._parameters.base_force].sum() / sensed)
        # Noise taken off the information I is in the estimate still: its variance is I/(I - N)^2.
        z[-1] = (settings.rejection / settings.imu_delay_rejection
                 * max(late - max(STATED_DELAY, errors), 0.0)
                 * sensed / math.sqrt(sensed + found.noise))
        variance[-1] *= 1.0 + found.noise * variance[-1]
        # Of torques by the odds of an unknown delay against a small one; of compliance likewise.
        z[self._alone] = settings.rejection * found.alone / [settings.effort_delay_odds,
                                                             settings.elastic_odds]

    def _priors_of_torques(self) -> list[Gaussian]:
        """Return what may be wrong: nothing, gains, a load, all gains alike (or all masses)."""
        at, settings = self._parameters.of_torques, self._settings
        tight, wide = self._prior.tight[at], self._prior.wide[at]
        gains = np.arange(len(tight)) < len(self._parameters.gains)
        found = [_independent(deviation) for deviation in (
            tight, np.where(gains, settings.gain_factor * tight, tight),
            np.where(gains, tight, wide))]
        # Of t^2 1 + c^2 u u^T with u of gains alone, by Sherman and Morrison.
        u, shared = np.where(gains, tight ** -2.0, 0.0), settings.mass_deviation ** 2
        grown = 1.0 + shared * float(u.sum())
        found.append((found[0][0] - shared / grown * np.outer(u, u),
                      found[0][1] - math.log(grown)))
        return found

    def odds_of_gains(self, V: np.ndarray, theta: np.ndarray, deviation: np.ndarray,
                      walks: bool) -> Generator[None, None, list[float]]:
        """Return the logarithm of the evidence for each of `_priors_of_torques`."""
        settings = self._settings
        odds = yield from evidence(V, theta, deviation, self._of_torques)
        yield
        likely = [math.exp(each - max(odds) - (settings.stated_odds if k else 0.0))
                  for k, each in enumerate(odds)]
        if not walks:           # a robot that stands says the same again and again
            likely = [1.0, 0.0, 0.0, 0.0]
        # Wrong gains are doubted torques; of what all of them share, masses may be wrong as well.
        self.gain_doubt = likely[1] / sum(likely) * self._wrong_gain
        # Nobody takes off a load that was never stated: then gains fall, by a wide prior.
        k = len(self._parameters.gains) + 3
        looser = self._prior.wide[self._parameters.of_torques[k]] ** -2.0 - deviation[k] ** -2.0
        lack = max(-theta[k] / (1.0 + looser * float(V[k] @ V[k])), 0.0) / self._mass
        self.scale_doubt = math.sqrt((likely[3] * settings.mass_deviation ** 2
                                      + likely[2] * lack ** 2) / sum(likely))
        return odds


def evidence(V: np.ndarray, theta: np.ndarray, deviation: np.ndarray,
             priors: Sequence[Gaussian]) -> Generator[None, None, list[float]]:
    """
    Return the log-evidence of zero-mean Gaussian priors of some parameters.

    For linear equations, other parameters integrated out: MacKay, "Bayesian interpolation"
    (1992). ``V V^T``: covariance of the estimate theta with the prior deviations.
    """
    factor = np.einsum('ik,jk->ij', V, V)
    yield
    factorize_upper(factor)
    invert_upper(factor)
    inverse = np.triu(factor)
    information = np.einsum('ik,jk->ij', inverse, inverse)
    right = np.einsum('ij,j->i', information, theta)
    information -= np.diag(deviation ** -2.0)       # of the data alone
    odds = []
    for k, (precision, log_determinant) in enumerate(priors):
        if k % 2 == 0:
            yield
        factor = information + precision
        factorize_upper(factor)
        odds.append(float(0.5 * (np.sum(right * solved(factor, right.copy())) + log_determinant)
                          + np.log(np.diag(factor)).sum()))
    return odds


def _independent(deviation: np.ndarray) -> Gaussian:
    """Return the prior of independent parameters."""
    return np.diag(deviation ** -2.0), -2.0 * float(np.log(deviation).sum())
