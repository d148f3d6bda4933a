# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What every simulated robot has in common with hardware: sensors out, effort commands in."""
from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.model.robot_config import SensorNoise
from legged_dynamics.simulation.plant import Hardware
from legged_dynamics.simulation.truth import TrueState

# -------------------------------------------------------------------------------------------------
# What a simulated robot's sensors report: what is true, with stated noise and bias.


class NoisySensors:
    """
    Adds noise and bias to exact samples; the same seed gives the same errors.

    Parameters
    ----------
    noise : SensorNoise
        How large.
    n_joints : int
        Number of joints.
    seed : int
        Seed of the random numbers.

    """

    def __init__(self, noise: SensorNoise, n_joints: int, seed: int = 0):
        self._random = np.random.default_rng(seed)
        self._scale = np.concatenate([
            *(_of_joints(noise, quantity, n_joints)
              for quantity in ('position', 'velocity', 'effort')),
            np.repeat([noise.gyro, noise.accelerometer, noise.orientation], 3)])
        self.gyro_bias = noise.gyro_bias * self._random.standard_normal(3)
        self.accelerometer_bias = noise.accelerometer_bias * self._random.standard_normal(3)

    def measure(self, exact: Measurement) -> Measurement:
        """
        Return the sample as the sensors report it.

        Parameters
        ----------
        exact : Measurement
            True values of one sample.

        Returns
        -------
        Measurement
            With noise and bias.

        """
        error = self._scale * self._random.standard_normal(self._scale.size)
        joints = error[:-9].reshape(3, -1)
        return Measurement(
            stamp_ns=exact.stamp_ns,
            position=exact.position + joints[0],
            velocity=exact.velocity + joints[1],
            effort=exact.effort + joints[2],
            angular_velocity=exact.angular_velocity + error[-9:-6] + self.gyro_bias,
            linear_acceleration=(exact.linear_acceleration + error[-6:-3]
                                 + self.accelerometer_bias),
            orientation=_turned(exact.orientation, error[-3:]))


def _of_joints(noise: SensorNoise, quantity: str, n_joints: int) -> np.ndarray:
    """Return the noise of each joint, in command order."""
    each: Sequence[float] = getattr(noise, f'joint_{quantity}')
    return np.array(each) if each else np.full(n_joints, getattr(noise, quantity))


def _turned(quaternion: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the xyzw quaternion turned by a small rotation vector about its own axes [rad]."""
    x, y, z, w = quaternion
    a, b, c = 0.5 * rotation
    turned = np.array([x + w * a + y * c - z * b, y + w * b + z * a - x * c,
                       z + w * c + x * b - y * a, w - x * a - y * b - z * c])
    return turned / np.sqrt(turned @ turned)


# -------------------------------------------------------------------------------------------------


class SimulatedHardware:
    """
    MuJoCo physics behind sensors and effort commands, one sensor period at a time.

    All arrays over joints are in the order of ``plant.joints``, arrays over feet in that of
    ``plant.feet``. Runs with the same arguments and commands are bit-identical. Subclasses say
    what the robot does without commands (:meth:`_advance`, :meth:`_take_over`), and the truth.

    Parameters
    ----------
    plant : Hardware
        The robot.
    model : mujoco.MjModel
        With a joint of each name, motors in the order of ``plant.joints``, and the sensors
        ``gyro``, ``accelerometer`` and ``orientation``.
    noise : bool
        Whether :meth:`read` adds the plant's noise and bias.
    seed : int
        Seed of the noise.
    start_ns : int
        Stamp of the first sample [ns].

    Attributes
    ----------
    plant : Hardware
        The robot.
    period_ns : int
        Time between samples [ns].
    model, data : mujoco.MjModel, mujoco.MjData
        The physics, for viewers and tests.
    command_timeouts : int
        How often effort commands went stale and the robot's own controller took over.
    grips : tuple of str
        Feet that hold on when told to, by :meth:`command_grips`.

    """

    grips: tuple[str, ...] = ()

    def __init__(self, plant: Hardware, model: mujoco.MjModel, *, noise: bool, seed: int,
                 start_ns: int):
        self.plant = plant
        self.model, self.data = model, mujoco.MjData(model)
        self.period_ns = round(1e9 / plant.rate)
        self._substeps = self._whole_substeps()
        joints = np.array([model.joint(name).id for name in plant.joints])
        self._qpos, self._dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._imu = {name: slice(model.sensor(name).adr[0],
                                 model.sensor(name).adr[0] + model.sensor(name).dim[0])
                     for name in ('gyro', 'accelerometer', 'orientation')}
        self._limits = model.actuator_ctrlrange[:, 1]
        self._sensors = NoisySensors(plant.noise, len(plant.joints), seed) if noise else None
        self._start_ns = start_ns
        self._ticks = 0
        self._command: np.ndarray | None = None
        self._command_tick = 0
        self.command_timeouts = 0

    def _whole_substeps(self) -> int:
        period = self.period_ns * 1e-9
        substeps = round(period / self.plant.timestep)
        if substeps < 1 or abs(substeps * self.plant.timestep - period) > 1e-9:
            raise ConfigurationError(
                f'simulation.timestep: expected a whole number of steps in {period:g} s (the '
                f'period of simulation.rate), got {period / self.plant.timestep:g}')
        return substeps

    # ---- what subclasses say ---------------------------------------------------------------

    @property
    def behaviour(self) -> str:
        """What the robot does now when it is not commanded."""
        return 'stand'

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen."""
        return False

    def truth(self) -> TrueState:
        """Return the exact state, motion and ground contact of the present sample."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return a few lines for people."""
        raise NotImplementedError

    def command_grips(self, hold: Sequence[float]) -> None:
        """
        Tell the feet in `grips` to hold on (above 0.5) or to let go.

        Parameters
        ----------
        hold : sequence of float
            Of each foot, whether it grips the wall (above 0.5) or lets go.

        Raises
        ------
        SimulationError
            When the length is wrong or a value is not finite, or the feet do not grip.

        """
        raise SimulationError(f'the feet of {self.plant.name} do not grip')

    def take_notes(self) -> list[str]:
        """Return what happened to the robot since the last call, one line each, for the log."""
        return []

    def _take_over(self) -> None:
        """Begin to move without commands."""

    def _advance(self, period: float) -> None:
        """Move the physics on by one sensor period [s]."""
        raise NotImplementedError

    # ---- time and commands -----------------------------------------------------------------

    @property
    def stamp_ns(self) -> int:
        """Time of the present sample [ns]."""
        return self._start_ns + self._ticks * self.period_ns

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._ticks * self.period_ns * 1e-9

    def delay(self, duration_ns: int) -> None:
        """Let later stamps be later by ``duration_ns`` [ns] in which nothing moved."""
        self._start_ns += duration_ns

    @property
    def commanded(self) -> bool:
        """Whether effort commands drive the motors."""
        return self._command is not None

    @property
    def urdf(self) -> str:
        """Return the robot's URDF, as robot_description carries it."""
        return self.plant.urdf

    def command_effort(self, efforts: Sequence[float] | None) -> None:
        """
        Drive the motors with these efforts from the next step on.

        They replace the robot's own controller and are held until the next command, at most for
        the plant's ``command_timeout``. The motors cut efforts beyond their limits.

        Parameters
        ----------
        efforts : (nj,) sequence of float, or None
            Joint efforts [N m or N]; None hands back to the robot's own controller.

        Raises
        ------
        SimulationError
            When the length is wrong or an effort is not finite; the command is not taken.

        """
        if efforts is None:
            self._release()
            return
        command = np.array(efforts, dtype=float)
        if command.shape != (len(self.plant.joints),):
            raise SimulationError(f'expected {len(self.plant.joints)} efforts (one per joint, in '
                                  f'command order), got shape {command.shape}')
        if not np.isfinite(command).all():
            names = [name for name, effort in zip(self.plant.joints, command)
                     if not np.isfinite(effort)]
            raise SimulationError(f'expected finite efforts, got NaN or infinity for '
                                  f'{", ".join(names)}')
        self._command = command
        self._command_tick = self._ticks

    def _release(self) -> None:
        if self._command is not None:
            self._command = None
            self._take_over()

    def step(self) -> None:
        """
        Advance by one sensor period.

        Raises
        ------
        SimulationError
            When the physics has diverged.

        """
        period = self.period_ns * 1e-9
        age = (self._ticks - self._command_tick) * period
        if self._command is not None and age > self.plant.command_timeout:
            self.command_timeouts += 1
            self._release()
        self._advance(period)
        # Accelerations and contact forces must belong to the state that is read.
        mujoco.mj_forward(self.model, self.data)
        self._ticks += 1
        if not np.isfinite(self.data.qacc).all():
            raise SimulationError(f'the physics diverged at {self.time:.3f} s; use a smaller '
                                  f'simulation.timestep or smaller gains')

    # ---- sensors ---------------------------------------------------------------------------

    def exact(self) -> Measurement:
        """
        Return the present sample without noise, its joints in command order.

        The effort is what the motor delivers, rotor included:
        ``M qdd + armature qdd + damping qd + h = effort + friction + J^T f``.

        Returns
        -------
        Measurement
            True values.

        """
        data, imu = self.data, self._imu
        return Measurement(
            stamp_ns=self.stamp_ns,
            position=data.qpos[self._qpos],
            velocity=data.qvel[self._dofs],
            effort=data.actuator_force.copy(),
            angular_velocity=data.sensordata[imu['gyro']].copy(),
            linear_acceleration=data.sensordata[imu['accelerometer']].copy(),
            orientation=data.sensordata[imu['orientation']][[1, 2, 3, 0]])

    def read(self) -> Measurement:
        """Return what the sensors report, joints in command order; once a step: it draws noise."""
        sample = self.exact()
        return self._sensors.measure(sample) if self._sensors else sample
