# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Actuator parameters learned while the robot moves, without contact, forces or the base's velocity.

With ``r`` the bare inverse dynamics of a joint less its measured torque and ``Phi theta`` what its
actuator adds (friction, damping, load friction, armature, gain, offset, delay), the equations of a
leg give the force of its foot whether it is down or not, ``w = J^-T (r + Phi theta)``. In the
equations of the base, contact then drops out::

    F - sum_i A_i J_i^-T r_i = sum_i A_i J_i^-T Phi_i theta_i + e

with e by errors of the base: a force that stays, mass and first moment of a load. The joints of a
leg that swings, which heights and speeds of the feet alone decide, give ``r + Phi theta = 0``
besides. Both are linear in theta. Means over blocks of some 10 ms are regressed recursively:
information matrix and right side, residual variances learned, outliers (impacts, pushes) with less
weight. The inverse of a leg's Jacobian is that of least squares with a broad prior of the force,
so that a straight knee, or a leg with fewer joints than its foot has force coordinates, makes an
equation uncertain and not wrong.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import yaml

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.jacobians import (
    N_FOOT_STATE,
    START,
    FeetTable,
    contact_jacobians,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import body_workspace, forward_kinematics, frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.actuator_equations import (
    ARM,
    HAS_IMU,
    HELD,
    LAG_ERROR,
    LAG_MOTION,
    LAG_NOISE,
    LENGTH,
    LOWEST,
    MASS,
    N_BASE,
    N_CONSTANTS,
    N_LOCAL,
    PERIOD,
    SKIPPED,
    WEIGHT,
    Learning,
    regress_block,
)
from legged_dynamics.estimation.filter.equation_errors import BASE_FORCE
from legged_dynamics.estimation.ground_reaction import Fault
from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.actuators import (
    ARMATURE,
    DAMPING,
    DELAY,
    FRICTION,
    GAIN,
    KEYS,
    LOAD_FRICTION,
    OFFSET,
    PARAMETERS,
    UNITS,
    UNKNOWN,
    ActuatorModel,
)
from legged_dynamics.model.parts import Tree
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.factorizations import (
    factorize_upper,
    invert_upper,
    solve_upper,
)
from legged_dynamics.parameter_file import rounded, written_line
from legged_dynamics.spatial.packed import pack

# Length of a block [s].
BLOCK = 0.01
# Time from one estimate to the next [s], in the first so many blocks with swinging legs, and else.
SOLVE, SOLVE_OFTEN = (0.05, 0.5), 100.0
# Time after which three of four blocks are left out, [s]; from one estimate to the next then [s].
SETTLED, N_SKIPPED, SOLVE_SETTLED = 10.0, 3, 2.0
# Time after which what was learned is forgotten [s].
MEMORY = 60.0
# Deviations by which data must pull a stated value until it is let go of.
LET_GO = 5.0
# Largest part of the information on the IMU's delay that is noise of its regressor.
LARGEST_NOISE_SHARE = 0.6
# Deviations from nothing of a value that is offered, those beyond which a stated value is wrong,
# and how much it must change the force of a foot
# in usual motion [weights]; delays [s], which are wrong where data let go of them.
TOLD, CERTAIN, MATTERS = 2.0, 5.0, {FRICTION: 0.005, ARMATURE: 0.01, GAIN: 0.005}
LEAST_DELAY, LEAST_IMU_DELAY = 1e-3, 1.5e-3
# Parts of a stated friction and armature, and of a gain, that motors of one kind differ by.
DIFFERS = {FRICTION: 0.3, ARMATURE: 0.6, GAIN: 0.05}
# Part of a leg's length that a joint's torque presses a foot with at least.
LEAST_ARM = 0.15
# Delays that a healthy robot reads [s].
ZERO_DELAY, ZERO_IMU = 2e-4, 2e-4
# How far from that healthy robots are, of the IMU [s].
IMU_DOUBT = 3e-4
# Residual of a swinging joint that noise and small errors of the model make, over its limit.
USUAL = 0.008
# Deviation of each parameter that was let go of, as a multiple of that of an unknown one.
LOOSER = (1.5, 1.5, 1.5, 1.5, 2.0, 2.0, 1.5)
# Error of a leg's inertia about a joint, one deviation, as a share.
LINK_INERTIA = 0.02
# Lateness of the IMU, one deviation, and that of one which was let go of [s].
IMU_DELAY = (3e-4, 3e-3)
# Parameters that are often wrong are let go of before those that could explain the same.
SUSPICION = {'friction': 1.4, 'damping': 1.4, 'load_friction': 0.25, 'gain': 0.25, 'offset': 0.2,
             'armature': 0.5, 'base': 0.3, 'mass': 0.3, 'moment': 0.3}
# Height of the base over the lowest foot, as a part of that in the nominal posture, below which
# the robot may lie on its belly or knees: what bears it there would be taken for wrong torques.
LYING = 0.45
# A load that nobody told of: its mass, one deviation, in masses of the robot, and its first moment
# in masses times leg lengths; tilt of the IMU that was let go of [rad].
LOAD, TILT = (0.1, 0.05), 0.05
# Least error of the base's centre of mass [m], and of its mass and the accelerometer, which are
# never exact, as a share of the mass and of gravity.
LEAST_CENTER, LEAST_SHARE = 0.01, 5e-4
# Velocities are late from this on [s], and corrected again where that is off by so much of it, for
# what a correction leaves is in proportion; and from this on [samples]: a difference of positions
# is half a sample late, and continued along its slope has 1.8 times the noise.
LEAST_VELOCITY_DELAY, VELOCITY_CORRECTION, LEAST_VELOCITY_SAMPLES = 1e-3, 0.3, 0.75
# What a low-pass takes from a velocity beside being late, over what the slopes of positions show.
LOW_PASSED = 2.5
BESIDE = 0.5    # part of a pull that counts once friction, or of loads once gains, were let go of
# Gains that are wrong, in deviations of stated ones; an error of all masses alike. Logarithms of
# the odds by which data must prefer the first to all else until gains are let go of, of the odds
# that they are right, before there are data, and by which data must prefer unknown friction and
# armature to stated ones; error of an armature, as a share of it, that wrong masses make.
WRONG_GAINS, WRONG_MASSES = 2.5, 0.04
LET_GO_GAINS, RIGHT_GAINS = 4.0, 3.0
LET_GO_FRICTION, LET_GO_ARMATURE, ARMATURE_ERROR = 5.0, 3.0, 0.3
LET_GO_DELAY = 4.0      # as LET_GO, of the IMU's delay; deviations of the faults of both
DELAY_ODDS = 1.0        # logarithm of the odds by which a delay of torques is let go of
LAG_BLOCKS = 10     # with swinging legs, from which on that is judged
DONE = object()        # what the steps of an estimate end with


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
    torque_variance : (nj,) array
        Of each joint's torque in typical motion, by its actuator [(N m)^2].
    findings : tuple of ActuatorFinding
        What the configuration states otherwise.
    faults : int
        Their bits of `ground_reaction.Fault`.
    seconds : float
        Time that was learned from.
    velocity_late : float
        How late velocities are, to be corrected before they come here [s].
    scale_doubt : float
        What all forces may be wrong by alike, one deviation, as a share: of an error that all
        gains or all masses have.
    velocity_noise : float
        Deviation of velocities from the slopes of positions where they are late, else 0.

    """

    def __init__(self, model: RobotModel, config: RobotConfig, rate: float,
                 starts: Sequence[int], row_size: int, file: str = ''):
        nj, nf = model.n_joints, len(config.feet)
        self.stated = ActuatorModel.of(model, config)
        table = feet_table(model, config.feet)
        weight = model.total_mass * GRAVITY
        block = max(round(BLOCK * rate), 2)
        self._place, self.names = _places(model, config, table)
        n_theta = len(self.names)
        legs = _leg_joints(model, table)
        joints = np.zeros((nf, nj + 1), np.int64)
        for i, own in enumerate(legs):
            joints[i, 0], joints[i, 1:1 + len(own)] = len(own), own
        mount = model.frame(config.imu_link or config.base_link or model.base_link)
        size = _leg_length(model, config)
        constants = np.zeros(N_CONSTANTS)
        constants[[WEIGHT, ARM, LENGTH, MASS, PERIOD, HAS_IMU, LOWEST]] = (
            weight, 0.1, size, model.total_mass, 1.0 / rate, float(mount.body == 0), np.inf)
        bare = model.tree.constants.copy()
        bare[:, [layout.ARMATURE, layout.DAMPING, layout.FRICTION]] = 0.0
        effort = config.noise.of_joints('effort', model, config.joints)
        velocity = config.noise.of_joints('velocity', model, config.joints)
        span = block / rate
        noise = (effort ** 2 / block + 2.0 * (velocity / span * self.stated.unknown[ARMATURE]) ** 2
                 + (1e-3 * self.stated.limit) ** 2)
        spread = np.concatenate([
            [(0.02 * weight) ** 2] * 3, [(0.02 * weight * size) ** 2] * 3,
            (0.01 * self.stated.limit) ** 2])
        # Friction and damping explain each other: they are let go of together.
        groups = [one.split()[0].replace('damping', 'friction') for one in self.names]
        self._group = np.array([sorted(set(groups)).index(group) for group in groups])
        # A force that stays, of the accelerometer; mass and first moment of a load.
        errors, mass = config.noise, model.total_mass
        share = max(errors.mass, LEAST_SHARE)
        bias = max(errors.accelerometer_bias, LEAST_SHARE * GRAVITY)
        self._mass_variance = share ** 2
        self._base_errors = mass * np.array(
            [2.0 * np.hypot(share * GRAVITY, bias)] * 2 + [2.0 * bias, 2.0 * share]
            + [max(3.0 * errors.center_of_mass, LEAST_CENTER)] * 3)
        self._loads = mass * np.array([TILT * GRAVITY] * 2 + [0.0, LOAD[0]] + [LOAD[1] * size] * 3)
        self._gains = np.array([n for n, one in enumerate(self.names)
                                if one.startswith('gain') and one != 'gain others'])
        self._inertia = np.diag(mass_matrix(model, config.nominal_in(model)))[-nj:]
        self._prior, self._tight, self._wide = self._priors()
        self._of_torques = np.concatenate([self._gains, n_theta - 1 - N_BASE + np.arange(N_BASE)])
        self._explanations = self._priors_of_torques()
        # Nothing is stated of these: there is no value to stay with. Of gains it is one, unless
        # they are said to be worse than usual.
        self._free = self._wide <= 1.5 * self._tight
        self._free[self._gains] = self._tight[self._gains] > 1.5 * UNKNOWN[GAIN]
        self._frictions = np.isin(np.arange(len(self.names)),
                                  self._place[:, [FRICTION, DAMPING, LOAD_FRICTION]])
        self._offsets = np.array([one.startswith('offset') for one in self.names])
        self._x = Learning(
            tree=Tree(model.tree.topology, bare), feet=table, joints=joints, place=self._place,
            at=np.array(starts, np.int64), constants=constants,
            mount=np.concatenate([mount.pose.R.ravel(), mount.pose.p]), noise=noise,
            uncertain=noise.copy(),
            slip_noise=(velocity / FRICTION_SPEED) ** 2 / block,
            dry=np.zeros(nj),
            rows=np.zeros((3 * block + 1, row_size)), bodies=body_workspace(model),
            states=np.zeros((nf, N_FOOT_STATE)), jacobian=np.zeros((table.size, nj)),
            grasp=np.zeros((6, table.size)), joint=np.zeros((nj, N_LOCAL + 1)),
            motion=np.zeros((4, nj)), base=np.zeros(9), force=np.zeros(6),
            swings=np.zeros(nf),
            block=np.zeros((6, 6)), variance=np.zeros((6, 6)),
            regressors=np.zeros((6, n_theta + 2)), spread=spread,
            information=np.zeros((n_theta, n_theta)), right=np.zeros(n_theta),
            lag=np.zeros(3), noisy=np.zeros(1), theta=self._prior.copy(), used=self._prior.copy(),
            misfit=np.zeros(nj), counts=np.zeros(2), heard=np.zeros(nj))
        self._packed = pack(self._x)
        self._loose, self._rows = np.zeros(n_theta, bool), self._x.rows
        self._period, self._first, self._first_ns, self._last_ns = 1.0 / rate, 0, 0, 0
        self._suspicion = np.array([SUSPICION.get(one.split()[0], 1.0) for one in self.names])
        self._delays = [self._place[0, DELAY], n_theta - 1]
        self._others = self._group != self._group[self._place[0, FRICTION]]
        self._others[self._delays[0]] = False
        self._joints, self._config = model.joint_names, config
        self._in_legs = np.isin(np.arange(nj), [j for own in legs for j in own])
        in_legs = self._place[self._in_legs]
        self._rubbing = np.unique(in_legs[:, [FRICTION, DAMPING]])
        self._inert = np.unique(in_legs[:, ARMATURE])
        self._kinds = [np.flatnonzero(self._place[:, 0] == at)
                       for at in np.unique(self._place[:, 0])]
        self._usual = effort ** 2 + (USUAL * self.stated.limit) ** 2
        limit = self.stated.limit
        self._typical = np.stack([np.full(nj, 0.7), np.full(nj, 3.0), 0.2 * limit,
                                  np.full(nj, 50.0), 0.3 * limit, np.ones(nj), 5.0 * limit], 1)
        self._block, self._filled, self._blocks = block, 0, 0
        self._working, self._skip = False, 0
        self.velocity_late = self._stated_lag = config.noise.velocity_age
        self._least_lag = max(LEAST_VELOCITY_DELAY, LEAST_VELOCITY_SAMPLES / rate)
        self._lag_count = self._lag_deviation = self.velocity_noise = 0.0
        self._bears = weight * _arms(model, config, table, LEAST_ARM * size)
        self._force_error = BASE_FORCE * weight
        self._base_force = [self.names.index(f'base {axis}') for axis in 'xyz']
        self.seconds = self._swung = self._gain_doubt = self.scale_doubt = 0.0
        self._up = np.array([0.0, 0.0, 1.0])
        regress_block(self._packed, self._up)    # compiled now, not when the robot walks
        invert_upper(_factorized(np.eye(1), np.ones(1)))
        _solved(np.eye(1), np.ones(1))
        self._x.lag[:] = 0.0
        constants[LOWEST] = LYING * _nominal_height(model, config)
        self._work: Iterator[None] = iter(())
        self._file, self._recalled = file, bool(file) and Path(file).is_file()
        self._recall()
        for _ in self._solve():
            pass

    def _priors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, deviation and deviation of what is not known, of all of theta."""
        n = len(self.names)
        mean, tight, wide = np.zeros(n), np.full(n, np.inf), np.zeros(n)
        value = self.stated.value.copy()
        value[GAIN] = 0.0           # theta has what is missing of it
        for (j, k), at in np.ndenumerate(self._place):
            mean[at] = value[k, j]
            tight[at] = min(tight[at], self.stated.deviation[k, j])
            # Of gains that are stated to be bad no worse ones are asked for.
            unknown = self.stated.unknown[k, j] if k != GAIN else UNKNOWN[GAIN]
            wide[at] = max(wide[at], unknown * LOOSER[k])
        # An inertia of links that is wrong reads as an armature.
        at = self._place[:, ARMATURE]
        np.maximum.at(tight, at, np.minimum(LINK_INERTIA * self._inertia, wide[at]))
        mean[self._place[0, DELAY]] -= ZERO_DELAY
        mean[-1], tight[-1], wide[-1] = -ZERO_IMU, IMU_DELAY[0], IMU_DELAY[1]
        of_base = slice(n - 1 - N_BASE, n - 1)
        mean[of_base], tight[of_base] = 0.0, self._base_errors
        wide[of_base] = self._loads
        tight = np.where(np.isfinite(tight), tight, 1.0)    # where no joint has it
        return mean, tight, np.maximum(wide, tight)

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
        if self._skip > 0:
            self._skip -= 1
            return self._working
        if self._filled == len(self._rows):     # the last block was not learned from
            self._filled = 0
        self._rows[self._filled] = row
        if not self._filled:
            self._first, self._first_ns = 0, stamp_ns
        self._last_ns = stamp_ns
        self._filled += 1
        return self._working or self._filled == len(self._rows)

    def learn(self, up: Sequence[float] | np.ndarray) -> bool:
        """
        Learn from a block of measurements, or go on with what follows from the last one.

        A new estimate is made in steps, of which each call does one: no call is long.

        Parameters
        ----------
        up : (3,) sequence of float
            Unit normal of the ground, base axes.

        Returns
        -------
        bool
            Whether there is a new estimate.

        """
        if self._filled < len(self._rows) or self._skip > 0:
            self._working = next(self._work, DONE) is not DONE
            return not self._working
        x = self._x
        new = self._filled - 1 - self._first
        period = (self._last_ns - self._first_ns) * 1e-9 / new
        self._filled = 0
        if not 0.5 < period / self._period < 2.0:       # samples were lost within the block
            return False
        x.constants[PERIOD] = period
        self._up[:] = up
        regress_block(self._packed, self._up)
        self._filled = 2 * self._block + 1
        self._first, self._first_ns = self._filled - 1, self._last_ns
        self._blocks += 1
        span = self._block * period
        self.seconds += span * (1.0 + float(x.constants[SKIPPED]))
        settled = self.seconds > SETTLED
        if settled:     # neighbours say nearly the same: what counts as one is one
            x.constants[SKIPPED] = N_SKIPPED
            self._filled, self._skip = 0, (N_SKIPPED - 2) * self._block - 1
        span *= 1.0 + x.constants[SKIPPED]
        if self._working or self._blocks * span < SOLVE[0]:
            return False
        swung = float(x.counts[1])
        if not self._swung < swung < SOLVE_OFTEN and self._blocks * span < (
                SOLVE_SETTLED if settled else SOLVE[1]):
            return False
        self._swung = swung
        keep = math.exp(-self._blocks * span / MEMORY)
        self._lag_count = keep * (self._lag_count + self._blocks * len(self._joints))
        for sums in (x.information, x.right, x.noisy, x.lag):
            sums *= keep
        self._blocks = 0
        self._follow_lag()
        self._work, self._working = self._solve(), True
        return False

    def keep(self) -> None:
        """
        Write what was learned to the file, with deviations, date and the time it rests on.

        Raises
        ------
        OutputError
            When the file cannot be written.

        """
        if not self._file or not self._x.counts.any():
            return
        known = {'written': datetime.now(timezone.utc).isoformat(timespec='seconds'),
                 'seconds': round(self.seconds, 1), 'parameters': dict(zip(self.names, (
                     [float(value), float(sigma)]
                     for value, sigma in zip(self._theta, self._deviation))))}
        try:
            Path(self._file).write_text(yaml.safe_dump(known, sort_keys=False), encoding='utf-8')
        except OSError as error:
            raise OutputError(f'actuators.file: {self._file} cannot be written: {error}') from None

    def _recall(self) -> None:
        """Begin with what an earlier run has learned of this robot's actuators."""
        if not self._file or not Path(self._file).is_file():
            return
        try:
            kept = yaml.safe_load(Path(self._file).read_text(encoding='utf-8'))['parameters']
            values = np.array([kept[name] for name in self.names], float).reshape(-1, 2)
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
            raise ConfigurationError(
                f'actuators.file: {self._file} does not hold what was learned of this robot; '
                'delete it, or name another file') from None
        # Friction changes with temperature: it is known half as well as it was.
        weight = 0.25 * values[:, 1] ** -2.0
        self._x.information[...] += np.diag(weight)
        self._x.right[...] += weight * values[:, 0]
        off = np.abs(values[:, 0] - self._prior) > LET_GO * np.hypot(2.0 * values[:, 1],
                                                                      self._tight)
        self._loose |= np.isin(self._group, self._group[off])

    def restart(self) -> None:
        """Start a new block: the next row does not follow the last one."""
        self._filled = self._skip = 0

    def _solve(self) -> Iterator[None]:
        """Make a new estimate; yields where the rest may wait for the next sample."""
        x = self._x
        deviation = np.where(self._loose, self._wide, self._tight)
        weight = deviation ** -2.0
        delays = self._delays
        factor = _factorized(x.information, weight)
        # What is known of the IMU's delay given all else; with little data the noise's part of it
        # is not known well enough to be taken off whole.
        known = 1.0 / _variances(factor, [len(weight) - 1])[0] - weight[-1]
        noise = min(float(x.noisy[0]), LARGEST_NOISE_SHARE * known)
        corrected = weight.copy()
        corrected[-1] -= noise
        factor = _factorized(x.information, corrected)
        theta = _solved(factor, x.right + weight * self._prior)
        at_once = theta.copy()
        # All gains alike, or all masses: the equations cannot tell, only how far each may be off.
        own = np.mean(deviation[self._gains] ** 2) / len(self._gains)
        theta[self._gains] -= (theta - self._prior)[self._gains].mean() * self._mass_variance / (
            self._mass_variance + own)
        yield
        # Residuals are of what no parameter explains, not of what is stated wrong.
        free = np.maximum(self._wide, self._tight) ** -2.0
        any_value = _factorized(x.information, free)
        x.theta[:] = _solved(any_value, x.right + free * self._prior)
        frictions, kind = np.unique(self._place[:, FRICTION], return_inverse=True)
        x.dry[:] = (x.theta[frictions] ** 2 + _variances(any_value, frictions))[kind]
        late, sensed_late = self._sensed_delay(any_value, free, weight[-1] - free[-1])
        yield
        invert_upper(factor)
        V = np.triu(factor)                 # the covariance is V V^T
        odds = self._odds_of_gains(V[self._of_torques], at_once[self._of_torques],
                                   deviation[self._of_torques])
        variance = np.maximum(np.einsum('ij,ij->i', V, V), 1e-6 * self._tight ** 2)
        # A stated value is believed until the data pull it away; parameters of one kind are let
        # go of together, and first those that are pulled most.
        pulled = np.abs(theta - self._prior)
        z = pulled / np.sqrt(np.maximum(deviation ** 2 - variance, 0.1 * deviation ** 2))
        # Parameters of a kind are judged together: many are off, and none by many deviations.
        for kind, least, error in ((self._rubbing, LET_GO_FRICTION, 0.0),
                                  (self._inert, LET_GO_ARMATURE, ARMATURE_ERROR)):
            known = np.maximum(deviation[kind], error * np.abs(self._prior[kind]))
            stated, unknown = self._evidence(
                V[kind], (at_once - self._prior)[kind], deviation[kind],
                [_independent(each) for each in (known, self._wide[kind])])
            # A robot that stands may be pushed.
            z[kind] = LET_GO / least * (unknown - stated) * (x.counts[1] > 0.0)
        z[self._gains] = LET_GO / LET_GO_GAINS * (odds[1] - max(odds[0], odds[2], odds[3]))
        # Of delays the data alone decide: they are the same for all joints, and seen well.
        sensed = max(1.0 / variance[-1] - weight[-1], 1e-9 * weight[-1])
        found = pulled[-1] / (variance[-1] * sensed)
        # Where the base hardly jerks, a small error of its force passes for a late IMU: at most
        # as far as it would, were it proportional to the jerk (Cauchy and Schwarz).
        errors = self._force_error * np.sqrt(
            np.diag(x.information)[self._base_force].sum() / sensed)
        # Noise taken off the information I is in the estimate still: its variance is I/(I - N)^2.
        z[-1] = (LET_GO / LET_GO_DELAY * max(found - max(IMU_DOUBT, errors), 0.0)
                 * sensed / math.sqrt(sensed + noise))
        variance[-1] *= 1.0 + noise * variance[-1]
        # Of torques by the odds of an unknown delay against a small one.
        small, any_delay = (each[delays[0]] ** 2 + 1.0 / sensed_late
                            for each in (self._tight, np.maximum(self._wide, self._tight)))
        z[delays[0]] = LET_GO / DELAY_ODDS * 0.5 * (
            late ** 2 * (1.0 / small - 1.0 / any_delay) - math.log(any_delay / small))
        # What much dry friction does at rest nothing explains: others are then pulled by it.
        if self._loose[self._place[:, FRICTION]].any():
            z[self._others] *= BESIDE
        if self._loose[self._gains].any():
            z[self._of_torques] *= BESIDE
        early = (theta - self._prior)[delays] < 0.0     # of one that is stated to be late
        z[delays] *= ~early | [self.stated.value[DELAY, 0] > 0.0, False]
        z[self._loose | self._free] = 0.0
        worst = int(np.argmax(z * self._suspicion))
        if z[worst] > LET_GO:
            self._loose |= self._group == self._group[worst]
        yield
        self._theta, self._deviation = theta, np.sqrt(variance)
        # A stated value stays in use until it is let go of, without a doubt: impacts and wrong
        # masses move estimates as far. Friction is no one number: what is learned of it is used.
        # So are offsets, but for what those of one kind share: wrong masses of links do the same.
        learned = self._loose | self._free | self._offsets | self._frictions
        x.used[:] = np.where(learned, theta, self._prior)
        for kind in self._kinds:
            offsets = self._place[kind, OFFSET]
            x.used[offsets] -= x.used[offsets].mean()
        local = x.used[self._place].T.copy()
        local[GAIN] = 1.0 / (1.0 - np.clip(local[GAIN], -0.5, 0.5))
        self.value = local
        own = V[self._place]    # of each joint's parameters
        self.covariance = np.einsum('jkn,jln->jkl', own, own)
        self._fill_doubt(learned[self._place])
        yield
        yield       # here the estimator finds what follows from doubt
        self._find()

    def _sensed_delay(self, factor: np.ndarray, free: np.ndarray, of_imu: float
                      ) -> tuple[float, float]:
        """
        Return a delay of torques beyond the stated one by data alone, and its information.

        With all else free, for friction that is stated wrong would pass for it; but the IMU, which
        torques are late against, with that much more precision (Sherman and Morrison).
        """
        at = self._delays[0]
        unit = np.zeros((2, len(free)))
        unit[0, at] = unit[1, -1] = 1.0
        both, imu = (_solved(factor, one) for one in unit)
        pull = of_imu * imu[at] / (1.0 + of_imu * imu[-1])
        off = self._x.theta - self._prior
        variance = both[at] - pull * imu[at]
        sensed = max(1.0 / variance - free[at], 1e-9 * free[at])
        return float(off[at] - pull * off[-1]) / (variance * sensed), sensed

    def _priors_of_torques(self) -> list[tuple[np.ndarray, float]]:
        """
        Return what torques and the base may be wrong by: precisions, logarithms of determinants.

        Gains and the base's errors as stated; wrong gains; a load on the base; gains that all are
        wrong alike, which is the same as masses that are.
        """
        tight, wide = self._tight[self._of_torques], self._wide[self._of_torques]
        gains = np.arange(len(tight)) < len(self._gains)
        found = [_independent(deviation) for deviation in (
            tight, np.where(gains, WRONG_GAINS * tight, tight), np.where(gains, tight, wide))]
        # Of t^2 1 + c^2 u u^T with u of gains alone, by Sherman and Morrison.
        u = np.where(gains, tight ** -2.0, 0.0)
        grown = 1.0 + WRONG_MASSES ** 2 * float(u.sum())
        found.append((found[0][0] - WRONG_MASSES ** 2 / grown * np.outer(u, u),
                      found[0][1] - math.log(grown)))
        return found

    def _evidence(self, V: np.ndarray, theta: np.ndarray, deviation: np.ndarray,
                  priors: Sequence[tuple[np.ndarray, float]]) -> list[float]:
        """
        Return the log-evidence of zero-mean Gaussian priors of some parameters.

        For linear equations, other parameters integrated out: MacKay, "Bayesian interpolation"
        (1992). ``V V^T``: covariance of the estimate theta with the prior deviations.
        """
        factor = np.einsum('ik,jk->ij', V, V)
        factorize_upper(factor)
        invert_upper(factor)
        inverse = np.triu(factor)
        information = np.einsum('ik,jk->ij', inverse, inverse)
        right = np.einsum('ij,j->i', information, theta)
        information -= np.diag(deviation ** -2.0)      # of the data alone
        odds = []
        for precision, log_determinant in priors:
            factor = information + precision
            factorize_upper(factor)
            odds.append(float(0.5 * (np.sum(right * _solved(factor, right.copy()))
                                     + log_determinant) + np.log(np.diag(factor)).sum()))
        return odds

    def _odds_of_gains(self, V: np.ndarray, theta: np.ndarray, deviation: np.ndarray
                       ) -> list[float]:
        """Return the logarithm of the evidence for each of `_priors_of_torques`."""
        odds = self._evidence(V, theta, deviation, self._explanations)
        likely = [math.exp(each - max(odds) - (RIGHT_GAINS if k else 0.0))
                  for k, each in enumerate(odds)]
        if not self.walks:      # a robot that stands says the same again and again
            likely = [1.0, 0.0, 0.0, 0.0]
        # Wrong gains are doubted torques; of what all of them share, masses may be wrong as well.
        self._gain_doubt = likely[1] / sum(likely) * (
            WRONG_GAINS * float(np.median(self._tight[self._gains]))) ** 2
        self.scale_doubt = WRONG_MASSES * math.sqrt(likely[3] / sum(likely))
        return odds

    def _fill_doubt(self, learned: np.ndarray) -> None:
        """Say how far torques may be off: by parameters, and by what no parameter explains."""
        x = self._x
        # Gains and offsets are among the noise that the configuration states.
        doubted = learned.astype(float)
        doubted[:, [GAIN, OFFSET]] = 0.0
        doubt = self.covariance * doubted[:, :, None] * doubted[:, None]
        if not self._loose[self._gains].any():
            doubt[:, GAIN, GAIN] = self._gain_doubt
        # Beside noise and what no parameter explains: that is in the residuals of a healthy robot.
        # Of so few blocks their mean square varies by its own size.
        noise = 2.0 * np.maximum(self._usual, x.spread[6:])
        left = np.where(x.heard > 0.0, np.maximum(x.misfit - noise, 0.0), np.nan)
        for kind in self._kinds:        # what shows in one leg is likely so in its like
            known = left[kind][np.isfinite(left[kind])]
            doubt[kind, OFFSET, OFFSET] += known.mean() if len(known) else 0.0
        self.doubt = doubt
        size = self._typical
        if self.seconds > 0.0:
            now = np.abs(x.joint[:, :N_LOCAL])
            moves = np.isfinite(now).all(axis=1) & (np.abs(now[:, 1]) > 0.3)
            size[moves] += 0.1 * (now[moves] - size[moves])
        self.torque_variance = (np.einsum('jk,jkk->j', size ** 2, doubt)
                                + self.value[FRICTION] ** 2)

    @property
    def walks(self) -> bool:
        """Whether a leg has swung, or an earlier run is remembered."""
        return bool(self._x.counts[1] > 0.0) or self._recalled

    @property
    def effort_age(self) -> float:
        """How old efforts are taken to be [s]: as stated until data say otherwise."""
        stated = float(self.stated.value[DELAY, 0])
        if not self._loose[self._place[0, DELAY]]:
            return stated
        late = max(float(self._theta[self._place[0, DELAY]]) + ZERO_DELAY, 0.0)
        if -ZERO_DELAY < late - stated < LEAST_DELAY:
            return stated
        return max(late - HELD * self._period, 0.0)     # of what moves the joints

    def _follow_lag(self) -> None:
        """Say how late velocities are still found to be; what is learned then begins anew."""
        x = self._x
        error, motion, noise = x.lag[[LAG_ERROR, LAG_MOTION, LAG_NOISE]]
        # In a block of two samples the accelerations of its halves are too different for it.
        if not motion > 0.0 or x.counts[1] < LAG_BLOCKS or self._block < 3:
            return
        late = float(error / motion)
        if self.velocity_late or late > self._least_lag:
            self.velocity_noise = LOW_PASSED * math.sqrt(noise / self._lag_count)
        # Four blocks count as one.
        self._lag_deviation = math.sqrt(4.0 * noise / (self._lag_count * motion))
        least = VELOCITY_CORRECTION * self.velocity_late or self._least_lag
        # Of slow motion the ratio is of small numbers: it counts once known to half a sample.
        if abs(late) < max(least, CERTAIN * self._lag_deviation) or (
                self._lag_deviation > 0.5 * self._period):
            return
        self.velocity_late = max(self.velocity_late + late, 0.0)
        if self.velocity_late < self._least_lag and not self._stated_lag:
            self.velocity_late = self.velocity_noise = 0.0
        for sums in (x.information, x.right, x.noisy, x.lag):
            sums[...] = 0.0
        self._loose[:], self._lag_count = False, 0.0

    @property
    def imu_late(self) -> float:
        """How late the IMU's readings are found to be [s]."""
        return float(self._theta[-1]) + ZERO_IMU

    def _find(self) -> None:
        """Compare what was learned with what is stated."""
        found: list[ActuatorFinding] = []
        stated, names, typical, S = self.stated, self._joints, self._typical, self.covariance
        for row, code in ((FRICTION, Fault.FRICTION_MISSTATED),
                          (ARMATURE, Fault.ARMATURE_MISSTATED), (GAIN, Fault.GAIN_MISSTATED)):
            value, was, factor = self.value[row], stated.value[row], typical[:, row]
            variance = S[:, row, row]
            rest = 0.0
            if row == FRICTION:     # it and damping trade places: their sum at usual speed
                factor, speed = 1.0, typical[:, DAMPING]
                rest = speed * stated.value[DAMPING]
                value = value + speed * self.value[DAMPING]
                was = was + rest
                variance = variance + 2.0 * speed * S[:, 0, 1] + speed ** 2 * S[:, 1, 1]
            # None is negative: as far as the estimate is, the model does not explain this robot.
            sigma = np.sqrt(np.maximum(variance, 0.0) + np.minimum(value, 0.0) ** 2)
            off = np.abs(np.maximum(value, 0.0) - was)
            torque = off * factor
            bad = (self._in_legs & (torque > MATTERS[row] * self._bears)
                   & (off > DIFFERS[row] * was) & (off > CERTAIN * sigma))
            if bad.any():
                worst = int(np.argmax(np.where(bad, off / sigma, 0.0)))
                value = value - rest        # with the damping that stays stated
                found.append(ActuatorFinding(
                    code, tuple(names[j] for j in np.flatnonzero(bad)), PARAMETERS[row],
                    float(value[worst]), float(sigma[worst]), UNITS[row],
                    self._line(row, value, value > TOLD * sigma)))
        stated_age = float(stated.value[DELAY, 0])
        # A torque is held for a sample: what moves a joint is older by half of it, and that half
        # is in the delay that is found, but not in the age that is stated.
        held = HELD * self._period
        for code, at, value, was, name, age, least in (
                (Fault.EFFORT_LATE, self._delays[0],
                 self._theta[self._delays[0]] + ZERO_DELAY,
                 stated_age + held if stated_age > 0.0 else 0.0,
                 'noise.effort_age', self.effort_age, LEAST_DELAY),
                (Fault.IMU_LATE, self._delays[1], self.imu_late, 0.0, 'robot.sensors.imu_delay',
                 self._config.sensors.imu_delay + self.imu_late, LEAST_IMU_DELAY)):
            sigma = self._deviation[at]
            if self._loose[at] and value - was > max(least, LET_GO_DELAY * sigma):
                found.append(ActuatorFinding(code, (), 'delay', float(value), float(sigma), 's',
                                             _line(name, age) if age != 0.0 else ''))
        if self.velocity_late > self._least_lag:
            found.append(ActuatorFinding(
                Fault.VELOCITY_LATE, (), 'velocity delay', self.velocity_late,
                self._lag_deviation, 's', _line('noise.velocity_age', self.velocity_late)))
        self.findings = tuple(found)
        self.faults = sum(one.fault for one in found)

    def _line(self, row: int, values: np.ndarray, told: np.ndarray) -> str:
        """
        Return values of joints as a line of YAML, in command order.

        What is not told from nothing stays as stated; with nothing stated there is no line.
        """
        values = np.where(told, values, self.stated.value[row])
        if row == GAIN:     # of readings that the stated scale has corrected
            values = self._config.sensors.per_joint('effort_scale', self._joints, 1.0) / values
        order = [self._joints.index(name) for name in self._config.joints or self._joints]
        return '' if (values[order] == 0.0).any() else _line(KEYS[row], values[order].tolist())


@dataclass(frozen=True)
class ActuatorFinding:
    """
    A configured parameter of the actuators that the measurements contradict.

    Attributes
    ----------
    fault : int
        The flag of `ground_reaction.Fault` that reports it.
    joints : tuple of str
        Joints concerned; empty for all of them.
    parameter : str
        One of `model.actuators.PARAMETERS`.
    amount, deviation : float
        Its measured value, of the joint that shows it most, and one standard deviation.
    unit : str
    line : str
        What to write into the robot's YAML; empty where not all that it needs is known.

    """

    fault: int
    joints: tuple[str, ...]
    parameter: str
    amount: float
    deviation: float
    unit: str
    line: str

    def __str__(self) -> str:
        """Return it in a sentence."""
        where = f' of {", ".join(self.joints)}' if self.joints else ''
        scale, unit = (1e3, 'ms') if self.unit == 's' else (1.0, self.unit)
        size = f'{scale * self.amount:.3g} +- {scale * self.deviation:.2g} {unit}'.strip()
        write = f'; write {self.line}' if self.line else ''
        return f'{self.parameter.replace("_", " ")}{where}: {size}{write}'


def _line(name: str, value: float | list[float]) -> str:
    return written_line(name, rounded(value, 3))


def _independent(deviation: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a prior's precision by deviations, and the logarithm of its determinant."""
    return np.diag(deviation ** -2.0), -2.0 * float(np.log(deviation).sum())


def _factorized(information: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a matrix given by its upper triangle, with more diagonal."""
    factor = information + np.diag(more)
    if not factorize_upper(factor):     # cannot be, but for rounding
        return _factorized(information, more + 1e-6 * np.abs(information).max())
    return factor


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    solve_upper(factor, right)
    return right


def _variances(factor: np.ndarray, which: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return elements of the diagonal of the inverse of a factorized matrix."""
    return np.array([_solved(factor, one)[i]
                     for i, one in zip(which, np.eye(len(factor))[which])])


def _leg_joints(model: RobotModel, table: FeetTable) -> list[list[int]]:
    """Return the joints that move each foot and no other, and are no masters of others."""
    chains = [[b - 1 for b in model.chain(int(body))] for body in table.index[:, 0]]
    shared = {j for j in range(model.n_joints) if sum(j in chain for chain in chains) > 1}
    shared |= set(model.mimics.follower_v) | set(model.mimics.master_v)
    return [[j for j in chain if j not in shared] for chain in chains]


def _leg_length(model: RobotModel, config: RobotConfig) -> float:
    feet = frame_poses(model, config.nominal_in(model), tuple(f.link for f in config.feet))
    return max(float(np.median([np.linalg.norm(pose.p) for pose in feet.values()])), 0.02)


def _arms(model: RobotModel, config: RobotConfig, table: FeetTable, least: float) -> np.ndarray:
    """Return how far each joint moves a foot in the nominal posture [m/rad or 1], at least."""
    nj, nf = model.n_joints, len(config.feet)
    bodies, states = body_workspace(model), np.zeros((nf, N_FOOT_STATE))
    jacobian = np.zeros((table.size, nj))
    forward_kinematics(model.tree, config.nominal_in(model), np.zeros(nj), np.zeros(nj),
                       np.zeros(9), bodies)
    contact_points(table, bodies, (0.0, 0.0, 1.0), states)
    contact_jacobians(model.tree, table, bodies, states, jacobian)
    moved = [np.linalg.norm(jacobian[start:start + 3], axis=0) for start in table.index[:, START]]
    return np.maximum(np.max(moved, axis=0), least)


def _nominal_height(model: RobotModel, config: RobotConfig) -> float:
    """Return how high the base is over its lowest foot in the nominal posture, level [m]."""
    feet = frame_poses(model, config.nominal_in(model), tuple(f.link for f in config.feet))
    return -min(float(pose.p[2]) for pose in feet.values())


def _places(model: RobotModel, config: RobotConfig, table: FeetTable
            ) -> tuple[np.ndarray, list[str]]:
    """Return where each joint's parameters are in theta, and names of theta's elements."""
    nj = model.n_joints
    limits = model.effort_limits
    kind: list[tuple] = [('none',)] * nj        # of joints that move no foot
    gain_of = np.zeros(nj, np.int64)
    for own in _leg_joints(model, table):
        for n, j in enumerate(own):
            kind[j] = (n, len(own), float(limits[j]), model.joints[j].kind)
    moving = [j for j in range(nj) if kind[j] != ('none',)]
    gain_of[moving] = 1 + np.arange(len(moving))
    kinds = list(dict.fromkeys(kind))
    place = np.zeros((nj, N_LOCAL), np.int64)
    names: list[str] = []
    for k, name in enumerate(PARAMETERS):
        if name == 'delay':
            place[:, k] = len(names)
            names.append(name)
        elif name in ('gain', 'offset'):
            place[:, k] = len(names) + gain_of
            names += [f'{name} others', *(f'{name} {model.joint_names[j]}' for j in moving)]
        else:
            place[:, k] = [len(names) + kinds.index(one) for one in kind]
            names += [f'{name} {one}' for one in kinds]
    names += [f'base {axis}' for axis in 'xyz']
    names += ['mass', *(f'moment {axis}' for axis in 'xyz')]
    names.append('imu_delay')
    return place, names
