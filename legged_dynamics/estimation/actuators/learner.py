# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ActuatorLearner: measurements in, actuator parameters and how well they are known out."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.estimation.actuators.equations import HELD, N_LOCAL, Learning
from legged_dynamics.estimation.actuators.findings import (
    ActuatorFinding,
    Findings,
    Record,
    common_finding,
)
from legged_dynamics.estimation.actuators.hypotheses import Estimate, Hypotheses
from legged_dynamics.estimation.actuators.parameters import Parameters, Prior
from legged_dynamics.estimation.actuators.regression import (
    Regression,
    Rows,
    VelocityDelay,
    factorized,
    solved,
    variances,
)
from legged_dynamics.estimation.actuators.settings import LEARNER, LearnerSettings
from legged_dynamics.estimation.ground_reaction import Fault
from legged_dynamics.model.actuators import DAMPING, DELAY, FRICTION, GAIN, OFFSET
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# What the steps of an estimate end with.
DONE = object()


class ActuatorLearner:
    """
    Learns actuator parameters from measurements, and says how well they are known.

    Parameters
    ----------
    model : RobotModel
        With the configuration applied.
    config : RobotConfig
        Feet, noise and what it states of the actuators.
    rate : float
        Of the measurements [Hz].
    starts : sequence of int
        Where position, velocity, effort, gyro and accelerometer begin in a row of measurements.
    row_size : int
        Length of a row.
    file : str
        Where to keep what was learned from start to start; empty: nowhere.
    settings : LearnerSettings
        Tuned numbers.

    Attributes
    ----------
    stated : ActuatorModel
        What the configuration says.
    value : (7, nj) array
        Present estimate, rows as `model.actuators.PARAMETERS`.
    covariance : (nj, 7, 7) array
        Of each joint's parameters.
    doubt : (nj, 7, 7) array
        The same for the tick: without what the configuration's noise has already, with what no
        parameter explains.
    free_friction : (2, nj) array
        Dry friction and its variance, stated only by a wide prior [N m, (N m)^2], or N.
    torque_variance : (nj,) array
        Of each joint's torque in typical motion, by its actuator [(N m)^2].
    findings : tuple of ActuatorFinding
        What the configuration states otherwise.
    faults : int
        Their bits of `ground_reaction.Fault`.
    seconds : float
        Time that was learned from.
    velocity : VelocityDelay
        How `late` velocities are, to be corrected before they come here [s], and their deviation
        from the slopes of positions then, `noise`.
    hypotheses : Hypotheses
        What is rejected, and `scale_doubt`: what all forces may be wrong by alike, one deviation,
        as a share, of an error that all gains or all masses have.

    """

    def __init__(self, model: RobotModel, config: RobotConfig, rate: float,
                 starts: Sequence[int], row_size: int, file: str = '',
                 settings: LearnerSettings | None = None):
        self._settings = settings = settings or LEARNER
        table = feet_table(model, config.feet)
        feet = [pose.p for pose in frame_poses(
            model, config.nominal_in(model), tuple(foot.link for foot in config.feet)).values()]
        leg_length = max(float(np.median([np.linalg.norm(p) for p in feet])), 0.02)
        height = -min(float(p[2]) for p in feet)        # of the base, level
        self.parameters = parameters = Parameters(model, table)
        self.prior = Prior(model, config, parameters, leg_length, settings)
        self.stated = self.prior.stated
        self.regression = Regression(
            model, config, Rows(rate, starts, row_size), parameters, self.prior,
            settings.lying_height * height, settings)
        self.hypotheses = Hypotheses(parameters, self.prior, model.total_mass, settings)
        self.velocity = VelocityDelay(config.noise.velocity_age, rate, settings)
        self._torque_doubt = TorqueDoubt(
            parameters, config.noise.of_joints('effort', model, config.joints),
            self.stated.limit, settings)
        self._findings = Findings(model, config, table, self.stated, parameters.in_legs,
                                  leg_length, settings)
        self._period, self._imu_delay = 1.0 / rate, config.sensors.imu_delay
        self._record = Record(file)
        if self._record.exists:
            self._recall(self._record.read(self.names))
        self._working = False
        self._work: Iterator[None] = iter(())
        for _ in self._solve():
            pass

    @property
    def names(self) -> list[str]:
        """Names of theta's elements."""
        return self.parameters.names

    @property
    def seconds(self) -> float:
        """Time that was learned from."""
        return self.regression.seconds

    def take(self, row: np.ndarray, stamp_ns: int) -> bool:
        """
        Take a row of measurements in.

        Parameters
        ----------
        row : (row_size,) array
            As the estimator's kernel has it, as measured.
        stamp_ns : int [ns]
            When.

        Returns
        -------
        bool
            Whether a block is complete, for :meth:`learn`.

        """
        return self.regression.take(row, stamp_ns) or self._working

    def learn(self, up: Sequence[float] | np.ndarray) -> bool:
        """
        Learn from a block of measurements, or go on with what follows from the last one.

        A new estimate is made in steps, one in each call: no call is long.

        Parameters
        ----------
        up : (3,) sequence of float
            Unit normal of the ground, base axes.

        Returns
        -------
        bool
            Whether there is a new estimate.

        """
        regression = self.regression
        if not regression.complete:
            if next(self._work, DONE) is DONE:
                self._working = False
                return True
        elif regression.add_block(up) and not self._working and regression.is_due():
            self._work, self._working = self._renew(), True
            next(self._work)
        return False

    def restart(self) -> None:
        """Start a new block: the next row does not follow the last one."""
        self.regression.restart()

    def keep(self) -> None:
        """Write what was learned, with deviations and date; OutputError where it cannot."""
        if self.regression.x.counts.any():
            self._record.write(self.names, self._estimate.theta, self._deviation, self.seconds)

    def _recall(self, kept: np.ndarray) -> None:
        """Begin with what an earlier run has learned of this robot's actuators."""
        x, prior = self.regression.x, self.prior
        # Friction changes with temperature: it is known half as well as it was.
        weight = 0.25 * kept[:, 1] ** -2.0
        x.information[...] += np.diag(weight)
        x.right[...] += weight * kept[:, 0]
        self.hypotheses.reject(np.abs(kept[:, 0] - prior.mean) > self._settings.rejection
                               * np.hypot(2.0 * kept[:, 1], prior.tight))

    # ---- an estimate -----------------------------------------------------------------------

    def _renew(self) -> Iterator[None]:
        """Let old blocks count less, and make a new estimate."""
        regression = self.regression
        keep, new = regression.forget()
        self.velocity.count(keep, new * len(self.stated.limit))
        if (regression.swung > 0.0 and regression.block >= 3
                and self.velocity.update(regression.x.lag)):
            regression.clear()          # what is learned begins anew, by rows corrected alike
            regression.restart()
            self.hypotheses.rejected[:] = False
        yield
        yield from self._solve()

    def _solve(self) -> Iterator[None]:
        """Make a new estimate; yields where the rest may wait for the next sample."""
        x, hypotheses = self.regression.x, self.hypotheses
        information, right = x.information.copy(), x.right.copy()   # blocks come in meanwhile
        found = yield from hypotheses.estimate(information, right, float(x.noisy[0]))
        yield
        yield from self._fit_freely(found, information, right)
        yield
        yield from hypotheses.test(found, information, self.regression.swung > 0.0, self.walks)
        yield from self._use(found)
        for _ in self.parameters.legs[::2]:
            yield       # here the estimator finds what follows from doubt, for two legs each
        yield from self._find()
        yield       # and here it takes all over

    def _fit_freely(self, found: Estimate, information: np.ndarray, right: np.ndarray
                    ) -> Iterator[None]:
        """Estimate with all parameters free: residuals are of what none explains."""
        x, prior, parameters = self.regression.x, self.prior, self.parameters
        free = np.maximum(prior.wide, prior.tight) ** -2.0
        factor = factorized(information, free)
        x.theta[:] = solved(factor, right + free * prior.mean)
        yield
        frictions, kind = parameters.friction_of_kinds
        spread = variances(factor, frictions)
        x.dry[:] = (x.theta[frictions] ** 2 + spread)[kind]
        self.free_friction = np.array([x.theta[frictions], spread])[:, kind]
        self.hypotheses.find_alone(found, information, right, free)

    def _use(self, found: Estimate) -> Iterator[None]:
        """Put an estimate to use: values, covariances, doubt."""
        x, parameters, drift = self.regression.x, self.parameters, self.regression.drift
        self._estimate, self._deviation = found, np.sqrt(found.variance)
        rejected = self.hypotheses.rejected
        # A stated value stays in use until it is rejected, without a doubt: impacts and wrong
        # masses move estimates as far. Friction is no one number: what is learned of it is used.
        # So are offsets, but for what those of one kind share: wrong masses of links do the same.
        learned = rejected | self.prior.free | parameters.offsets | parameters.frictions
        x.used[:] = np.where(learned, found.theta, self.prior.mean)
        # By what torques bend the drives between motors and links [rad/(N m)].
        self.compliance = max(float(x.used[parameters.compliance]), 0.0)
        yield
        for offsets in parameters.offsets_of_kinds:
            x.used[offsets] -= x.used[offsets].mean()
        yield
        local = x.used[parameters.place].T.copy()
        local[GAIN] = (1.0 + drift.change) / (1.0 - np.clip(local[GAIN], -0.5, 0.5))
        self.value = local
        yield
        own = found.factor[parameters.place]    # of each joint's parameters
        self.covariance = np.einsum('jkn,jln->jkl', own, own)
        yield
        doubt = self._torque_doubt
        gain = None if rejected[parameters.gains].any() else self.hypotheses.gain_doubt
        found_doubt = doubt.covariance(self.covariance, learned[parameters.place], gain)
        yield
        doubt.add_unexplained(found_doubt, x)
        yield
        if self.seconds > 0.0:
            doubt.follow_motion(x)
        self.torque_variance = doubt.torque_variance(found_doubt, self.value[FRICTION])
        # Links on springs follow their motors, and torques, by a time of the springs' own; where
        # these are only suspected, poses are off by what torques may bend them by.
        self.yielding = soft = max(self.compliance, self.hypotheses.suspected)
        found_doubt[:, DELAY, DELAY] += soft * self.prior.inertia
        found_doubt[:, GAIN, GAIN] += ((soft - self.compliance) * doubt.typical[:, GAIN]) ** 2
        self.doubt = found_doubt

    # ---- what follows from it --------------------------------------------------------------

    @property
    def walks(self) -> bool:
        """Whether a leg has swung, or an earlier run is remembered."""
        return self.regression.swung > 0.0 or self._record.exists

    @property
    def effort_age(self) -> float:
        """How old efforts are taken to be [s]: as stated until data say otherwise."""
        stated = float(self.stated.value[DELAY, 0])
        if not self.hypotheses.rejected[self.parameters.effort_delay]:
            return stated
        unread = self._settings.read_delay
        late = max(float(self._estimate.theta[self.parameters.effort_delay]) + unread, 0.0)
        if -unread < late - stated < self._settings.effort_delay_effect:
            return stated
        return max(late - HELD * self._period, 0.0)     # of what moves the joints

    @property
    def imu_late(self) -> float:
        """How late the IMU's readings are found to be [s]."""
        return float(self._estimate.theta[-1]) + self._settings.read_delay

    def _find(self) -> Iterator[None]:
        """Compare what was learned with what is stated."""
        found: list[ActuatorFinding] = []
        for one in self._findings.of_parameters(self.value, self.covariance,
                                                self._torque_doubt.typical):
            found.append(one)
            yield       # a line of YAML takes its time
        yield
        found += self._delays()
        self.findings: tuple[ActuatorFinding, ...] = tuple(found)
        self.faults = sum(one.fault for one in found)

    def _delays(self) -> Iterator[ActuatorFinding]:
        """Yield the delays that are stated otherwise."""
        settings, parameters = self._settings, self.parameters
        stated = float(self.stated.value[DELAY, 0])
        # A torque is held for a sample: what moves a joint is older by half of it, and that half
        # is in the delay that is found, but not in the age that is stated.
        held = stated + HELD * self._period if stated > 0.0 else 0.0
        effort = self._estimate.theta[parameters.effort_delay] + settings.read_delay
        for fault, at, value, was, key, written, least in (
                (Fault.EFFORT_LATE, parameters.effort_delay, effort, held, 'noise.effort_age',
                 self.effort_age, settings.effort_delay_effect),
                (Fault.IMU_LATE, parameters.imu_delay, self.imu_late, 0.0,
                 'robot.sensors.imu_delay', self._imu_delay + self.imu_late,
                 settings.imu_delay_effect)):
            sigma = self._deviation[at]
            if self.hypotheses.rejected[at] and value - was > max(
                    least, settings.imu_delay_rejection * sigma):
                yield common_finding(fault, 'delay', key, (value, sigma), written)
        soft, sigma = self.compliance, self._deviation[parameters.compliance]
        if self.hypotheses.rejected[parameters.compliance] and soft > 0.0:
            yield common_finding(Fault.DRIVES_ELASTIC, 'stiffness', 'robot.joint_stiffness',
                                 (1.0 / soft, sigma / soft ** 2), 1.0 / soft, 'N m/rad')
        velocity = self.velocity
        if velocity.late > velocity.least:
            yield common_finding(Fault.VELOCITY_LATE, 'velocity delay', 'noise.velocity_age',
                                (velocity.late, velocity.deviation), velocity.late)


class TorqueDoubt:
    """
    Variances of torques by parameters that were learned, and by what no parameter explains.

    `typical` (nj, 7): sizes of each parameter's regressor in the motion so far.
    """

    def __init__(self, parameters: Parameters, effort_noise: np.ndarray, limit: np.ndarray,
                 settings: LearnerSettings):
        nj = len(limit)
        self._parameters, self._settings = parameters, settings
        self._usual = effort_noise ** 2 + (settings.first_residual * limit) ** 2
        self.typical = np.tile([settings.typical_slip, settings.typical_speed, 0.0,
                                settings.typical_acceleration, 0.0, 1.0, 0.0], (nj, 1))
        self.typical[:, GAIN] = settings.typical_torque * limit

    def covariance(self, covariance: np.ndarray, learned: np.ndarray, gain: float | None
                   ) -> np.ndarray:
        """
        Return the covariance of parameters for the tick, (nj, 7, 7), with `add_unexplained`.

        ``learned`` (nj, 7): which are in use as learned; ``gain``: variance of gains, None where
        they are among these.
        """
        # Gains and offsets are among the noise that the configuration states.
        doubted = learned.astype(float)
        doubted[:, [GAIN, OFFSET]] = 0.0
        doubt = covariance * doubted[:, :, None] * doubted[:, None]
        if gain is not None:
            doubt[:, GAIN, GAIN] = gain
        return doubt

    def add_unexplained(self, doubt: np.ndarray, x: Learning) -> None:
        """Add what no parameter explains of torques to their offsets' variances."""
        # Beside noise and what no parameter explains: that is in the residuals of a healthy robot.
        # Of so few blocks their mean square varies by its own size.
        noise = 2.0 * np.maximum(self._usual, x.spread[6:])
        left = np.where(x.heard > 0.0, np.maximum(x.misfit - noise, 0.0), np.nan)
        for kind in self._parameters.kinds:     # what shows in one leg is likely so in its like
            known = left[kind][np.isfinite(left[kind])]
            doubt[kind, OFFSET, OFFSET] += known.mean() if len(known) else 0.0

    def torque_variance(self, doubt: np.ndarray, friction: np.ndarray) -> np.ndarray:
        """Return the variance of each joint's torque in typical motion, (nj,) [(N m)^2]."""
        return np.einsum('jk,jkk->j', self.typical ** 2, doubt) + friction ** 2

    def follow_motion(self, x: Learning) -> None:
        """Take the motion of the last block into what is typical."""
        size, settings = self.typical, self._settings
        now = np.abs(x.joint[:, :N_LOCAL])
        moves = np.isfinite(now).all(axis=1) & (np.abs(now[:, DAMPING]) > settings.moving_speed)
        size[moves] += settings.typical_rate * (now[moves] - size[moves])
