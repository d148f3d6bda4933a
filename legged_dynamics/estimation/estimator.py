# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""GroundReactionEstimator: joint states and IMU in, ground reactions out."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np

from legged_dynamics.dynamics.composite_body import branch_ends, branches_of
from legged_dynamics.dynamics.jacobians import SIZE, FeetTable, feet_table
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.actuators import ActuatorFinding, ActuatorLearner
from legged_dynamics.estimation.actuators.equations import regress_block
from legged_dynamics.estimation.attitude import acceleration_noise, effort_place
from legged_dynamics.estimation.contact import ContactLevels, motion_levels
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.estimation.filter.equation_errors import (
    end_stops,
    jump_share,
    slow_samples,
)
from legged_dynamics.estimation.filter.layout import Robot, allocate, make_layout
from legged_dynamics.estimation.filter.memory import TILT
from legged_dynamics.estimation.filter.noise import momentum_time
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.estimation.filter.tick import tick, tick_by_motion
from legged_dynamics.estimation.ground import given_normals, limits_of
from legged_dynamics.estimation.ground_reaction import (
    OFF_FEET,
    Fault,
    GroundReaction,
    Mode,
    ResultLayout,
    places_of_results,
)
from legged_dynamics.estimation.link_contacts import FoundContacts, LinkContacts
from legged_dynamics.estimation.measurement import InputRow, LateSignal, Measurement, SampleClock
from legged_dynamics.estimation.push import add_external_columns, external_settings
from legged_dynamics.estimation.rails import Rails
from legged_dynamics.estimation.settings import (
    UNKNOWN_ACCELERATION,
    UNKNOWN_ANGULAR_ACCELERATION,
    EstimatorSettings,
    base_model_error,
    check_robot,
    robot_size,
)
from legged_dynamics.estimation.transmission import Transmission
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import actuators, parts
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import compile_ahead
from legged_dynamics.spatial.kernel_cache import in_background, is_kept
from legged_dynamics.spatial.packed import pack

# A foot's force is known once its deviation is below this fraction of an even share of the weight.
OBSERVABLE = 0.5
# Friction by load below this share of the torque is taken as none.
LEAST_LOAD_FRICTION = 0.01
# Levels of contact follow variances of torques that have changed by this share.
SAME_LEVELS = 0.1


class GroundReactionEstimator:
    """
    Fuses motion and joint torque into the ground reaction of each foot.

    Live node, bag replay and simulation test call the same :meth:`update`; the same measurements
    in the same order give the same bits.

    Parameters
    ----------
    model : RobotModel
        With 1-DoF joints; the config says whether its base floats.
    config : RobotConfig
        Feet, IMU mount, joint physics and the noise that weighs the equations.
    settings : EstimatorSettings or mapping, optional
        Checked settings, or dotted parameter names of `estimation.settings.SETTINGS`.
    wait : bool
        Whether to wait until all is compiled. Else learning of the actuators joins once it is, in
        seconds of the first run on a machine: `compiling` says so, and only a replay that joins
        at the same sample has the same bits.

    Raises
    ------
    ConfigurationError
        When the robot has no feet or spherical joints, its base is not the one that is stated,
        or a setting is wrong.
    UnknownNameError
        When a foot, joint or the IMU link is not in the model.

    Examples
    --------
    >>> estimator = GroundReactionEstimator(model, config)              # doctest: +SKIP
    >>> reaction = estimator.update(Measurement(ns, q, v, tau, gyro, acceleration, xyzw))
    ...                                                                 # doctest: +SKIP
    >>> reaction.wrench[0, 2], reaction.contact                         # doctest: +SKIP

    """

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: EstimatorSettings | Mapping[str, Any] | None = None, *,
                 wait: bool = True):
        if not isinstance(settings, EstimatorSettings):
            settings = EstimatorSettings.from_parameters(settings)
        self.settings = settings
        self.config = config
        self.model = config.apply_to(model)
        check_robot(self.model, config)
        nj, nf = self.model.n_joints, len(config.feet)
        passive = [self.model.joint_index(name) for name in config.passive_joints]
        table = feet_table(self.model, config.feet)
        limits = limits_of(config.feet, settings.ground_limits, settings.ground_friction)
        given = given_normals(settings.ground_normal, settings.ground_normals, nf)
        self._layouts = make_layout(nj, nf, table.size, max(2 * settings.half_window + 1, 2),
                                    len(self.model.mimics.joints), len(limits))
        self._link_contacts = self._contacts_off_feet()
        links = self._link_contacts.points.links if self._link_contacts else ()
        self._results = ResultLayout(
            tuple(foot.link for foot in config.feet), self.model.joint_names, table,
            places_of_results(self._layouts, len(links)), links)
        self._jump_share = jump_share(settings.rate, any(foot.moments for foot in config.feet))
        self._settings = self._packed_settings()
        arrays, self._kept, self._out = allocate(self._layouts, self._settings, len(links))
        self._arrays, self._packed = arrays, pack(arrays)
        self._levels = LearnedLevels(ContactLevels(self.model, config, settings), nj)
        self._fill(arrays.robot, table)
        arrays.robot.passive[passive] = 1.0
        arrays.ground.limits[:], arrays.ground.given[:] = limits, given
        self._input = InputRow(arrays.row, self._layouts[0], self.model.joint_names, nf, passive,
                               (settings.contact_switch_missed, settings.contact_switch_false))
        self._rails = None if self.model.floating else Rails(self.model, config)
        self._transmission = None if config.transmission_cutoff <= 0.0 else Transmission(
            self.model, config.transmission_cutoff,
            np.setdiff1d(np.arange(nj), passive).tolist(), config.nominal_in(self.model))
        self._velocity = LateSignal()
        self._velocity.late = config.noise.velocity_age
        self._compliance = 1.0 / (config.actuators.joint_stiffness or np.inf)
        self._learner: ActuatorLearner | None = None
        self._is_to_join = False
        self._joining: Future[ActuatorLearner] | None = None
        # A file of what was learned is read, and refused, at once.
        self._wait = wait or bool(settings.actuators_file) or (
            is_kept(regress_block) and is_kept(tick_by_motion))
        arrays.robot.effort_map[:, 0] = 1.0
        self._velocity_noise = arrays.robot.stated_noise[:nj].copy()
        self._place(config.noise.effort_age)
        if not self.model.floating:     # nothing is learned there: what is stated counts
            stated = actuators.ActuatorModel.of(self.model, config)
            stated.deviation[[actuators.GAIN, actuators.OFFSET, actuators.DELAY]] = 0.0
            stated.deviation[stated.value == 0.0] = 0.0
            arrays.robot.effort_map[:, 2] = stated.value[actuators.LOAD_FRICTION]
            arrays.robot.doubt[:] = np.einsum('ij,ik->jik', stated.deviation ** 2, np.eye(
                len(stated.deviation))).reshape(nj, -1)
        self.reset()

    @property
    def feet(self) -> tuple[str, ...]:
        """Foot links, in the order of all per-foot results."""
        return self._results.feet

    @property
    def delay(self) -> int:
        """Return how many samples an estimate lies behind the newest measurement."""
        return max(self.settings.half_window, 1)

    @property
    def actuators(self) -> ActuatorLearner | None:
        """What was learned of the actuators, and how well; None where nothing is learned."""
        return self._learner

    @property
    def compiling(self) -> bool:
        """Whether learning of the actuators still waits for its kernels."""
        return self._is_to_join or self._joining is not None

    @property
    def actuator_findings(self) -> tuple[ActuatorFinding, ...]:
        """Configured actuator parameters that the measurements contradict, with their values."""
        return () if self._learner is None else self._learner.findings

    def reset(self) -> None:
        """Forget all measurements and what they taught; the next estimates warm up again."""
        s = self.settings
        # It learns from the base's equations, which a fixed base has not.
        if s.actuators_learn and s.fusion != 'base_only' and self.model.floating:
            if self._wait:
                self._learner = self._new_learner()
                self._use(self._learner)
            self._is_to_join = self._learner is None and self._joining is None
        self._restart()

    def _new_learner(self) -> ActuatorLearner:
        places = [int(self._layouts[0][name]) for name in _LEARNED_FROM]
        return ActuatorLearner(self.model, self.config, self.settings.rate, places,
                               len(self._arrays.row), self.settings.actuators_file)

    def _compile_rest(self) -> ActuatorLearner:
        """Return a learner, and compile what a robot without torques needs."""
        learner = self._new_learner()
        compile_ahead(tick_by_motion, self._packed)
        return learner

    def _join(self, joining: Future[ActuatorLearner]) -> None:
        """Let the learner learn from now on, where it is ready."""
        if joining.done():
            self._joining, self._wait = None, True
            self._learner = joining.result()
            self._use(self._learner)

    def _restart(self) -> None:
        """Forget all measurements, but not what they taught of the actuators."""
        self._kept[:] = self._out[:] = 0.0
        memory = self._arrays.memory
        memory.contact.probability[:] = 0.5
        memory.tilt[TILT.up:TILT.up + 3] = memory.ground.normal[:] = 0.0, 0.0, 1.0
        self._arrays.window[:] = np.nan
        self._stamps: deque[int] = deque(maxlen=self.delay + 1)
        self._clock = SampleClock(self.settings.rate)
        for part in (self._rails, self._transmission, self._velocity, self._link_contacts):
            if part is not None:
                part.reset()
        if self._learner is not None:
            self._learner.restart()

    def update(self, measurement: Measurement,
               contact: Sequence[bool] | None = None) -> GroundReaction:
        """
        Take one measurement in and return the estimate that has become ready.

        Parameters
        ----------
        measurement : Measurement
            Joints in the model's order; the IMU's reading, if any, in the IMU's axes.
        contact : (nf,) sequence of bool, optional
            Feet that are down at this instant, when something better than detection knows.

        Returns
        -------
        GroundReaction
            Of this sample and of the one `delay` before; mode UNAVAILABLE at first.

        Raises
        ------
        MeasurementError
            When a shape does not fit, a joint position or velocity is not finite, or a stamp
            comes twice. The measurement is then not taken, and nothing else is lost.

        """
        stamp, faults = measurement.stamp_ns, 0
        if self._joining is not None:
            self._join(self._joining)
        if self._clock.stamp is not None:
            faults = self._check_time(stamp - self._clock.stamp)
        clock = self._clock     # after a gap another one
        if clock.uneven:
            faults |= Fault.STAMPS_UNEVEN
        time = clock.time_of(stamp)
        dt = 0.0 if clock.stamp is None else (time - clock.time) * 1e-9
        arrays, places = self._arrays, self._results.places
        self._input.fill(measurement, contact)
        learner = self._learner
        if learner is not None:
            self._velocity.late = learner.velocity.late
        if self._velocity.late > 0.0:
            self._velocity.correct(self._input.views.velocity, dt)
        if self._transmission is not None:
            self._transmission.advance(self._input.views.velocity, self._input.views.effort, dt)
            if learner is None:
                arrays.robot.doubt[self._transmission.joints, _OFFSET_VARIANCE] = (
                    self._transmission.variance)
        if self._rails is not None:
            self._fill_base(self._rails, dt)
        busy = learner is not None and learner.take(arrays.row, time)
        if self._compliance > 0.0:
            position = self._input.views.position       # of motors, from here on of links
            position -= self._compliance * np.nan_to_num(self._input.views.effort)
        arrays.stamps[-1] = time
        arrays.results.faults[0] = faults if learner is None else faults | learner.faults
        mode = tick(self._packed)
        if mode == codes.BY_MOTION:
            mode = tick_by_motion(self._packed)
        out = self._out.copy()
        if mode == codes.NOT_FINITE:
            if learner is not None:
                learner.restart()
            raise MeasurementError(self._input.not_finite(measurement))
        if self._rails is not None:     # the stand bears what the feet do not
            out[places['base_residual'][0]] = np.nan
        clock.take(stamp, time)
        self._stamps.append(stamp)
        if clock.uneven:        # late by so many samples, rms, as steps change in the mean
            before, now = (out[places[f'forces.{name}'][0]] for name in ('coordinates', 'latest'))
            change = clock.scatter / clock.period / self.delay * (now - before)
            for name in ('covariance', 'latest_covariance'):
                out[places[f'forces.{name}'][0]] += np.outer(change, change).ravel()
        if self._link_contacts is not None:
            self._link_contacts.take(arrays.row, out)
            if self._link_contacts.found.any:
                self._write_link_contacts(self._link_contacts.found, out)
        out.setflags(False)     # by keyword it takes as long as the copy
        if busy and learner is not None:
            self._levels.follow(learner.torque_variance)    # of a step before: no update is long
            if learner.learn(out[places['feet.ground_normal'][0]]):
                self._use(learner)
        if self._is_to_join:        # from now on, for what was just compiled is needed first
            self._is_to_join, self._joining = False, in_background(self._compile_rest)
        return GroundReaction(self._stamps[0], stamp, _MODES[mode], self._results, out)

    # ---- actuators -------------------------------------------------------------------------

    def _contacts_off_feet(self) -> LinkContacts | None:
        """Return what finds contacts off the feet; None where it lacks the base or torques."""
        if not self.model.floating or self.settings.fusion != 'fused':
            return None
        sizes = dict.fromkeys(('gyro', 'acceleration'), 3)
        index, places = self._layouts[0], places_of_results(self._layouts)
        return LinkContacts(self.model, self.config, self.settings.rate, {
            name: slice(int(index[name]), int(index[name]) + sizes.get(name, self.model.n_joints))
            for name in _LEARNED_FROM}, places['feet.ground_normal'][0],
            places['contact.latest'][0])

    def _write_link_contacts(self, found: FoundContacts, out: np.ndarray) -> None:
        """Put contacts off the feet into the results, in place of a push."""
        places = self._results.places
        for name in OFF_FEET:
            out[places[f'off_feet.{name}'][0]] = getattr(found, name).ravel()
        for name in ('wrench', 'link_wrench'):
            out[places[f'external.{name}'][0]] = 0.0
        for name in ('deviation', 'link_deviation'):
            place = places[f'external.{name}'][0]
            out[place] = np.hypot(out[place], found.wrench_deviation)

    def _place(self, age: float) -> None:
        """Take efforts of an age [s] together with the samples that they belong to."""
        self._settings['effort_at'] = effort_place(age, self.settings.rate,
                                                   self.settings.half_window)
        self._settings['effort_age'] = age

    def _use(self, learner: ActuatorLearner) -> None:
        """Give the tick what is known of the actuators now."""
        # On its feet alone a robot cannot tell its torques' errors from a push: it has to walk.
        robot, value = self._arrays.robot, (learner if learner.walks else learner.stated).value
        constants = robot.tree.constants[1:]
        constants[:, parts.ARMATURE] = np.maximum(value[actuators.ARMATURE], 0.0)
        constants[:, parts.DAMPING] = value[actuators.DAMPING]
        constants[:, parts.FRICTION] = np.maximum(value[actuators.FRICTION], 0.0)
        robot.effort_map[:, 0] = 1.0 / value[actuators.GAIN]
        robot.effort_map[:, 1] = -value[actuators.OFFSET] / value[actuators.GAIN]
        load = value[actuators.LOAD_FRICTION]
        robot.effort_map[:, 2] = np.where(load > LEAST_LOAD_FRICTION, load, 0.0)
        robot.doubt[:] = learner.doubt.reshape(len(robot.doubt), -1)
        # Soles are loaded long before a leg swings and shows whether friction is as stated.
        free, spread = learner.free_friction
        for own, size in zip(learner.parameters.legs, robot.feet.index[:, SIZE]):
            if size > 3:
                robot.friction_doubt[own] = (
                    (free - value[actuators.FRICTION])[own] ** 2 + spread[own])
        while self._levels.follow(learner.torque_variance):
            pass
        robot.contact_levels[:] = self._levels.value
        self._place(learner.effort_age if learner.walks else self.config.noise.effort_age)
        # Readings of a late IMU are as uncertain as their last change: continued along their slope
        # they would be worse at every impact.
        late = (learner.imu_late if learner.faults & Fault.IMU_LATE else 0.0) * self.settings.rate
        self._settings['imu_late'] = late
        self._settings['jump_share'] = np.hypot(self._jump_share, late)
        self._settings['scale_doubt'] = np.hypot(learner.hypotheses.scale_doubt,
                                                 learner.regression.drift.doubt)
        self._compliance = learner.compliance
        soft, deviation = learner.hypotheses.soft
        self._settings['elastic'] = learner.hypotheses.elastic
        self._settings['compliance_error'] = np.hypot(soft - learner.compliance, deviation)
        # A foot on springs is loaded and unloaded while its motors' torques hardly change.
        self._settings['air_force'] = TUNED.largest_noise if learner.yielding else TUNED.air_force
        # What is behind a low-pass is noisier than its differences say.
        noise = self._velocity_noise
        robot.stated_noise[:len(noise)] = np.maximum(noise, learner.velocity.noise)

    # ---- input -----------------------------------------------------------------------------

    def _check_time(self, step: int) -> int:
        """Return the fault bits of a step in time [ns], and start anew where it is too much."""
        if step == 0:
            raise MeasurementError(f'expected a stamp later than the last one, {self._clock.stamp}'
                                   ' ns, got it again; the repeated measurement is left out')
        if 0 < step <= self.settings.max_gap * 1e9:
            return 0
        self._restart()
        return codes.TIME_JUMPED_BACK if step < 0 else codes.GAP

    def _fill_base(self, rails: Rails, dt: float) -> None:
        """Fill in the motion of a base that is fixed, and of its rails."""
        position, velocity, _, gyro, acceleration, orientation = self._input.views[:6]
        first, arrays = int(self._layouts[0]['velocity']), self._arrays
        rails.advance(position, velocity, arrays.window[:, first:first + len(velocity)],
                      arrays.memory.contact.probability, dt)
        # Without the base's equations only torques tell how fast forces change. Those of a light
        # leg are too uncertain: forces would be taken for those of a robot at rest, and stay so.
        arrays.memory.forces.rate[0] = TUNED.fastest_rate
        gyro[...] = 0.0
        acceleration[...] = 0.0, 0.0, GRAVITY
        orientation[...] = 0.0, 0.0, 0.0, 1.0

    # ---- constants -------------------------------------------------------------------------

    def _packed_settings(self) -> np.ndarray:
        s, noise = self.settings, self.config.noise
        floating = self.model.floating
        mount = self.model.frame(self.config.imu_link_in(self.model) if floating
                                 else self.model.base_link)
        weight = self.model.total_mass * GRAVITY
        size = robot_size(self.model, self.config)
        linear = noise.accelerometer / np.sqrt(2.0 if s.half_window == 0 else 1.0)
        momentum = momentum_time(s.rate, s.half_window)
        # A deviation is one standard deviation.
        return codes.record({
            **asdict(TUNED), **motion_levels(self.model, self.config, s),
            'cutoff': s.force_cutoff,                       # Hz, of the low-pass of the forces
            # Largest log-likelihood ratios: by the load, without torque; because a foot has not
            # risen, with torque.
            'force_evidence': s.contact_force_evidence,
            'motion_evidence': s.contact_motion_evidence,
            'switching_rate': s.contact_switching_rate,     # 1/s
            'on': s.contact_on, 'off': s.contact_off,
            'weight': weight,                               # N
            'arm': s.prior_length,                          # m, moment over force of a flat foot
            'observable_variance': (OBSERVABLE * weight / len(self.feet)) ** 2,     # N^2
            # s, deviation of an error of momentum over that of its derivative; its share that
            # stays in a sample
            'momentum_time': momentum, 'momentum_keep': 1.0 - 0.5 / (momentum * s.rate) ** 2,
            # rad/s^2 and m/s^2, white noise of the base's acceleration; the variance of the
            # accelerometer's bias over that of its noise; the same without an IMU
            'angular_noise': floating * acceleration_noise(noise.gyro, s.rate, s.half_window),
            'linear_noise': floating * linear,
            'linear_slow': (noise.accelerometer_bias / linear) ** 2 if linear > 0.0 else 1.0,
            'angular_unknown': UNKNOWN_ANGULAR_ACCELERATION,
            'linear_unknown': UNKNOWN_ACCELERATION,
            # m/s^2, of noise and bias together
            'accelerometer_noise': np.hypot(noise.accelerometer, noise.accelerometer_bias),
            'slow_samples': slow_samples(s.rate),       # after which an error varies slowly
            # Error of the accelerometer's mean over its jump; samples that the IMU is late.
            'jump_share': self._jump_share, 'imu_late': 0.0,
            'gravity': GRAVITY, 'reach': size.reach, 'risen': size.risen,
            'natural_frequency': size.natural_frequency,
            'two_samples': s.half_window == 0,   # 1: a tick lies between two samples
            'effort_gain': noise.effort_gain,           # deviation of the gain of torque sensors
            # Probability that drives yield otherwise than is used; rad/(N m), by how much (root of
            # its mean square)
            'elastic': 0.0, 'compliance_error': 0.0,
            'scale_doubt': 0.0,     # deviation of what all forces are wrong by alike, as a share
            # Place in the window, or after it, of the efforts that belong; s, how old they are.
            'effort_at': 0.0, 'effort_age': 0.0,
            'use_base': floating and s.fusion != 'torque_only',
            'use_torque': s.fusion != 'base_only',
            'imu_body': mount.body, 'R_BI': mount.pose.R.ravel(), 'p_BI': mount.pose.p,
            **external_settings(self.model, self.feet, s.external_link, s.external_point,
                                s.external_force, s.external_moment, s.prior_length)})

    def _fill(self, robot: Robot, table: FeetTable) -> None:
        """Copy the robot's constants into the arrays that the kernel sees."""
        robot.tree.topology[:] = self.model.tree.topology
        robot.tree.constants[:] = self.model.tree.constants
        robot.feet.index[:] = table.index
        robot.feet.geometry[:] = table.geometry
        robot.model_error[:] = base_model_error(self.model, self.config)
        force = self.settings.prior_force * self.model.total_mass * GRAVITY
        robot.prior[:] = table.rows.scales(force ** -2, (force * self.settings.prior_length) ** -2)
        for body, start, size in table.index[:, :3]:
            for b in self.model.chain(int(body)):
                _add_columns(robot.columns[b - 1], np.arange(start, start + size))
        mimics = self.model.mimics
        robot.mimics[:, 0], robot.mimics[:, 1] = mimics.follower_v, mimics.master_v
        robot.ratio[:] = mimics.multiplier
        for follower, master in robot.mimics:       # the master moves what its followers move
            moved = robot.columns[follower]
            _add_columns(robot.columns[master], moved[1:1 + moved[0]])
            moved[0] = 0
        for name in self.config.unknown_efforts:
            robot.columns[self.model.joint_index(name)] = 0     # its equation does not hold
        add_external_columns(self.model, int(self._settings['external_body'][0]), robot.columns,
                             robot.mimics)
        free = self.model.with_base('floating')     # tables have rows of the base in any case
        robot.branches[:] = branches_of(free)
        robot.ends[:] = branch_ends(free)
        velocity, effort = (self.config.noise.of_joints(name, self.model, self.config.joints)
                            for name in ('velocity', 'effort'))
        robot.stated_noise[:] = np.concatenate([velocity, np.hypot(effort, 1e-6 * force)])
        robot.slope_noise[0] = acceleration_noise(1.0, self.settings.rate,
                                                  self.settings.half_window)
        robot.contact_levels[:] = self._levels.value
        robot.stops[:] = end_stops(self.model)


class LearnedLevels:
    """Levels of contact (`value`) by what is known of torques: at first, by what is stated."""

    def __init__(self, levels: ContactLevels, n_joints: int):
        self._levels, self._new = levels, list(levels.of())
        self.value = np.array(self._new)
        self._variance = np.full(n_joints, -1.0)    # that they belong to
        self._seen: np.ndarray | None = None
        self._work: Iterator[tuple[float, ...]] = iter(())

    def follow(self, variance: np.ndarray) -> bool:
        """
        Find the levels anew, foot by foot, where a variance of torques, (nj,), has changed enough.

        Each call does two feet; return whether it had to.
        """
        if variance is not self._seen:
            self._seen = variance
            if not (np.abs(variance - self._variance) <= SAME_LEVELS * self._variance).all():
                self._variance, self._work, self._new = variance, self._levels.of(variance), []
        new = list(islice(self._work, 2))
        self._new += new
        if new and len(self._new) == len(self.value):
            self.value = np.array(self._new)
        return bool(new)


def _add_columns(joint: np.ndarray, coordinates: np.ndarray) -> None:
    """Add contact coordinates to those that a joint moves."""
    new = np.setdiff1d(coordinates, joint[1:1 + joint[0]])
    joint[1 + joint[0]:1 + joint[0] + len(new)] = new
    joint[0] += len(new)


# Inputs that actuators are learned from.
_LEARNED_FROM = ('position', 'velocity', 'effort', 'gyro', 'acceleration')
_MODES = {mode.value: mode for mode in Mode}
_OFFSET_VARIANCE = actuators.OFFSET * (len(actuators.PARAMETERS) + 1)   # place in `Robot.doubt`
