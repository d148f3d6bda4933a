# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""LegOdometry: pose and twist of the base from joint states, an IMU and the feet that stand."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import numpy as np

from legged_dynamics.dynamics.jacobians import N_FOOT_STATE, feet_table
from legged_dynamics.dynamics.kinematics import N_BODY_STATE
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import odometry_tick as codes
from legged_dynamics.estimation.attitude import TILT_GAIN
from legged_dynamics.estimation.filter.layout import record
from legged_dynamics.estimation.measurement import Measurement, misfit
from legged_dynamics.estimation.odometry_tick import BASE, PLACE
from legged_dynamics.estimation.settings import check_floating_robot
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_config import RobotConfig, SensorNoise
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import CheckedSettings, setting

# Time after a touch-down from which a foot's place is trusted [s].
SETTLED = 0.02

# -------------------------------------------------------------------------------------------------
# Settings of leg odometry.


@dataclass(frozen=True)
class OdometrySettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    foothold: float = setting(
        'odometry.foothold', 1e-3, 'm', 'How well a standing foot keeps its place, one deviation.',
        1e-5, 0.1)
    creep: float = setting(
        'odometry.creep', 2e-3, 'm/s',
        "Speed of a standing foot beside what the joints' noise explains, one deviation.", 1e-5,
        1.0)
    slip_distance: float = setting(
        'odometry.slip_distance', 0.02, 'm',
        'A standing foot seen further than this from its place has slipped, and gets a new one.',
        1e-3, 1.0)
    settling: float = setting(
        'odometry.settling', 10.0, 's',
        'Time over which places of standing feet that disagree are reconciled.', 0.1, 1e4)
    acceleration_error: float = setting(
        'odometry.acceleration_error', 0.1, 'm/s^2',
        'Error of the accelerometer beside its noise, one deviation: how fast the feet correct '
        'the velocity.', 1e-3, 100.0)
    position_rate: float = setting(
        'odometry.position_rate', 50.0, '1/s', 'How fast the feet correct the position.', 0.1, 1e4)
    heading: str = setting(
        'odometry.heading', 'imu', '',
        'What corrects the heading besides the feet: the orientation of the IMU, or nothing.',
        choices=('imu', 'feet'))
    flat_ground: bool = setting(
        'odometry.flat_ground', False, '',
        'Whether all feet stand at the height of the ground under the first stance.')
    max_gap: float = setting(
        'odometry.max_gap', 0.05, 's',
        'After a longer gap between samples all feet get new places.', 1e-4, 10.0)


SETTINGS = OdometrySettings.table()


# -------------------------------------------------------------------------------------------------
# BodyState: pose and twist of the base, with how certain they are.


class OdometryFault(IntFlag):
    """What was wrong with the input of a body state."""

    NONE = 0
    TIME_JUMPED_BACK = 1    # everything was forgotten
    GAP = 2                 # all feet got new places
    NO_IMU = 4              # neither gyro nor accelerometer
    NO_ORIENTATION = 8      # tilt from the accelerometer, heading from the gyro and the feet
    NO_STANCE = 16          # no foot stands: gyro and accelerometer alone
    SLIP = 32               # a foot was found far from its place and got a new one


@dataclass(frozen=True)
class OdometryNumbers:
    """Tuned numbers of leg odometry that are no setting."""

    held: float = 3e-3              # m, deviation from its place of a foot that holds
    slid: float = 15e-3             # m, of one that slips
    seldom: float = 50.0            # standing feet of which one slips
    # Sensors are never exact, and weights must stay finite.
    least_rate_noise: float = 1e-5  # rad/s, of the gyro
    least_turn_noise: float = 1e-5  # rad, of the orientation
    least_tilt_rate: float = 1.0    # 1/s, at which the orientation corrects the gyro
    least_arm: float = 0.02         # m, of feet from their middle over which they tell a rotation
    sample: float = 0.002           # s for which gains are chosen; others are handled, less well


NUMBERS = OdometryNumbers()


@dataclass(frozen=True, eq=False, slots=True)
class BodyState:
    """
    Pose and twist of the base at one instant. Arrays are read-only.

    World W: z up; its origin on the ground in the middle of the first stance, its heading that
    of the IMU's world (without orientation, that of the base at the start).

    Attributes
    ----------
    stamp_ns : int [ns]
        Of the measurement.
    position : (3,) array [m]
        ``p_WB``.
    rotation : (3, 3) array
        ``R_WB``.
    twist : (6,) array [m/s, rad/s]
        ``[v; w]`` of the base's origin over ground, in base axes.
    contact : (nf,) array of bool
        The feet that were taken to stand.
    foot_position : (nf, 3) array [m]
        Contact points in W: where a standing foot stands, where the legs see another one.
    foot_offset : (nf,) array [m]
        How far the legs see each standing foot from its place: the feet's disagreement.
    position_deviation : float [m]
        One standard deviation of the position against the start; grows with every step.
    steps : int
        How often a foot was given a place after the first stance.
    slips : int
        How often a foot was found far from its place.
    faults : OdometryFault
    velocity_deviation : float [m/s]
        One standard deviation of each component of the velocity.
    tilt_deviation, heading_deviation : float [rad]
        One standard deviation of the rotation about each horizontal axis, and about the vertical
        one: as far as noise and bias of the gyro, noise of the IMU's orientation or accelerometer
        and the drift of the feet explain it.
    rate_deviation : float [rad/s]
        One standard deviation of each component of the angular velocity.

    """

    stamp_ns: int
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    contact: np.ndarray
    foot_position: np.ndarray
    foot_offset: np.ndarray
    position_deviation: float
    steps: int
    slips: int
    faults: OdometryFault
    velocity_deviation: float = 0.0
    tilt_deviation: float = 0.0
    heading_deviation: float = 0.0
    rate_deviation: float = 0.0

    @property
    def slip_probability(self) -> np.ndarray:
        """
        Probability that each standing foot slips, (nf,); zero of other feet.

        By Bayes' rule from its distance from its place, of Rayleigh distributions (`NUMBERS`).
        """
        square = 0.5 * self.foot_offset ** 2
        holds = (NUMBERS.seldom - 1.0) / NUMBERS.held ** 2 * np.exp(-square / NUMBERS.held ** 2)
        slips = 1.0 / NUMBERS.slid ** 2 * np.exp(-square / NUMBERS.slid ** 2)
        return np.where(self.contact, slips / (holds + slips), 0.0)

    @property
    def up(self) -> np.ndarray:
        """Unit vector against gravity in base axes, (3,)."""
        return self.rotation[2]


# -------------------------------------------------------------------------------------------------


class LegOdometry:
    """
    Follows the base over ground by the feet that stand on it.

    Standing feet do not move: point feet roll on their balls without slipping, flat feet neither
    slip nor tilt. Orientation comes from the gyro, corrected by the IMU's orientation (without
    one: tilt by the accelerometer) and by the feet, which hold the heading while two or more
    stand. Position has no other source than the feet, and so drifts with every step: the result
    says how far.

    Parameters
    ----------
    model : RobotModel
        With a floating base and 1-DoF joints.
    config : RobotConfig
        Feet, IMU mount and sensor noise.
    settings : OdometrySettings or mapping, optional
        Checked settings, or dotted names of `estimation.leg_odometry.SETTINGS`.

    Raises
    ------
    ConfigurationError
        When the robot has no feet, a fixed base or spherical joints, or a setting is wrong.
    UnknownNameError
        When a foot, joint or the IMU link is not in the model.

    """

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: OdometrySettings | Mapping[str, Any] | None = None):
        if not isinstance(settings, OdometrySettings):
            settings = OdometrySettings.from_parameters(settings)
        self.settings = settings
        self.model = config.apply_to(model)
        check_floating_robot(self.model, config)
        self.feet = tuple(foot.link for foot in config.feet)
        table, nj, nf = feet_table(self.model, config.feet), self.model.n_joints, len(self.feet)
        rows = self.model.n_bodies + nf + table.size + 8
        self._memory = np.zeros(BASE.width)
        self._places = np.zeros((nf, PLACE.width))
        self._row = np.zeros(2 * nj + 10 + nf)
        self._parts = np.split(self._row, np.cumsum([nj, nj, 3, 3, 4]))
        tree = type(self.model.tree)(*(array.copy() for array in self.model.tree))
        self._parameters = _pack(self.model, config, settings)
        self._noise = config.noise
        self._arguments = (tree, table, self._parameters, self._row, self._memory, self._places,
                           np.zeros((rows, max(nj, N_BODY_STATE, N_FOOT_STATE))))
        self._all = np.ones(nf)
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next measurement starts a new world."""
        self._memory[:] = 0.0
        self._places[:] = 0.0
        self._newest: int | None = None

    def update(self, measurement: Measurement, contact: Sequence[bool] | None = None) -> BodyState:
        """
        Take one measurement in and return the state of the base at its stamp.

        Parameters
        ----------
        measurement : Measurement
            Joints in the model's order; the IMU's reading, if any, in the IMU's axes.
        contact : (nf,) sequence of bool, optional
            Feet that stand; all of them by default.

        Raises
        ------
        MeasurementError
            When a shape does not fit, a joint position or velocity is not finite, or a stamp
            comes twice. The measurement is then not taken, and nothing is lost.

        """
        stamp = measurement.stamp_ns
        self._fill(measurement, contact)
        dt, faults = self._step(stamp)
        memory = self._memory
        memory[BASE.faults] = faults
        if not codes.odometry_tick(*self._arguments, dt):
            raise MeasurementError('expected finite joint positions and velocities, got '
                                   f'{list(self._parts[0])} and {list(self._parts[1])}')
        self._newest = stamp
        out, feet = memory.copy(), self._places.copy()
        standing = self._parts[5] > 0.5
        for array in (out, feet, standing):
            array.setflags(write=False)
        return BodyState(
            stamp, out[BASE.p_WB:BASE.p_WB + 3],
            out[BASE.R_WB:BASE.R_WB + 9].reshape(3, 3), out[BASE.twist:BASE.twist + 6],
            standing, feet[:, PLACE.now:PLACE.now + 3], feet[:, PLACE.offset],
            math.sqrt(out[BASE.drift]), int(out[BASE.steps]), int(out[BASE.slips]),
            OdometryFault(int(out[BASE.faults])), math.sqrt(out[BASE.variance]),
            *self._turn_deviations(out, feet))

    def _turn_deviations(self, memory: np.ndarray, feet: np.ndarray) -> tuple[float, float, float]:
        """
        Return the deviations of tilt and heading [rad] and of angular velocity [rad/s].

        A correction at rate k leaves ``sqrt(k dt / 2)`` of its white noise and ``b / k`` of
        gyro bias b; what only the feet hold turns with the drift of their places.
        """
        noise, faults, p = self._noise, int(memory[BASE.faults]), self._parameters[0]
        count = max(memory[BASE.known], 1.0)
        if not faults & (codes.NO_ORIENTATION | codes.NO_IMU):
            rate, seen = p['tilt_rate'], p['orientation']
        else:
            rate, seen = TILT_GAIN, noise.accelerometer / GRAVITY
        share = min(max(0.5 * rate * NUMBERS.sample, 1.0 / count), 1.0)
        tilt = heading = math.hypot(seen * math.sqrt(share), noise.gyro_bias / rate)
        turning = math.hypot(p['gyro'], noise.gyro_bias)
        if faults & (codes.NO_ORIENTATION | codes.NO_IMU) or not p['heading']:
            where = feet[:, PLACE.now:PLACE.now + 2]
            arm = max(float(np.sqrt(where.var(axis=0).sum())), NUMBERS.least_arm)
            heading = math.hypot(self.settings.foothold, math.sqrt(memory[BASE.drift])) / arm
            if faults & codes.NO_IMU:
                tilt, turning = heading, math.sqrt(memory[BASE.variance]) / arm
        return tilt, heading, turning

    def _step(self, stamp: int) -> tuple[float, int]:
        """Return the time since the last sample [s], and its fault bits."""
        if self._newest is None:
            return 0.0, 0
        step = (stamp - self._newest) * 1e-9
        if step == 0.0:
            raise MeasurementError(f'expected a stamp later than the last one, got {stamp} ns '
                                   'again; the repeated measurement is left out')
        if step < 0.0:
            self.reset()
            return 0.0, int(OdometryFault.TIME_JUMPED_BACK)
        if step > self.settings.max_gap:
            self._places[:, PLACE.age] = 0.0
            self._memory[BASE.twist:BASE.twist + 6] = 0.0
            self._memory[BASE.rate_known] = 0.0
            self._memory[BASE.variance] = 1.0
            return 0.0, int(OdometryFault.GAP)
        return step, 0

    def _fill(self, m: Measurement, contact: Sequence[bool] | None) -> None:
        values = (m.position, m.velocity, m.angular_velocity, m.linear_acceleration,
                  m.orientation, self._all if contact is None else contact)
        try:
            for part, value in zip(self._parts, values):
                if value is None:
                    part[:] = np.nan
                elif len(value) == len(part):
                    part[:] = value
                else:
                    raise ValueError
            if m.position is None or m.velocity is None:
                raise ValueError
        except (TypeError, ValueError):
            raise MeasurementError(misfit(m, contact, self.model.n_joints, len(self.feet))
                                   ) from None


def _pack(model: RobotModel, config: RobotConfig, settings: OdometrySettings) -> np.ndarray:
    """Return noise, settings and the IMU's mount as the kernel's parameters."""
    noise: SensorNoise = config.noise
    mount = model.frame(config.imu_link_in(model))
    velocity = noise.of_joints('velocity', model, config.joints)
    turn = max(noise.orientation, NUMBERS.least_turn_noise)
    return record({
        'gyro': max(noise.gyro, NUMBERS.least_rate_noise), 'orientation': turn,
        'heading': float(settings.heading == 'imu'),
        'tilt_rate': _tilt_rate(noise.gyro, noise.gyro_bias, turn),
        'velocity': float(np.sqrt(np.mean(velocity * velocity))),
        'creep': settings.creep, 'foothold': settings.foothold,
        'slip_distance': settings.slip_distance, 'settling': settings.settling,
        'acceleration': float(np.hypot(noise.accelerometer, settings.acceleration_error)),
        'position_rate': settings.position_rate, 'flat_ground': float(settings.flat_ground),
        'imu_body': mount.body, 'R_BI': mount.pose.R.ravel(), 'p_BI': mount.pose.p})


def _tilt_rate(gyro: float, bias: float, orientation: float) -> float:
    """Return the rate at which orientation corrects the gyro [1/s]."""
    # Where the error b / k by its bias equals the noise r sqrt(k dt / 2) of the orientation; at
    # least the gain of a Kalman filter for white noise alone.
    return max((bias / (orientation * math.sqrt(0.5 * NUMBERS.sample))) ** (2.0 / 3.0),
               gyro / orientation, NUMBERS.least_tilt_rate)
