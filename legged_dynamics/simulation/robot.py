# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: MuJoCo physics that stands in for hardware, one sensor period at a time."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.simulation.plant import Plant
from legged_dynamics.simulation.quadruped_controller import JointTargets, QuadrupedController
from legged_dynamics.simulation.schedule import DEMO_SCHEDULE, Schedule
from legged_dynamics.simulation.sensors import NoisySensors, SensorSample
from legged_dynamics.simulation.truth import ContactTruth, TrueState, dry_friction
from legged_dynamics.simulation.world import build_world


class SimulatedRobot:
    """
    A robot on flat ground that follows a schedule until somebody commands its motors.

    All arrays over joints are in the order of ``plant.joints``, arrays over feet in that of
    ``plant.feet``. Runs with the same arguments and commands are bit-identical.

    Parameters
    ----------
    plant : Plant
        The robot.
    schedule : Schedule, optional
        What it does on its own.
    noise : bool
        Whether :meth:`read` adds the plant's noise and bias.
    seed : int
        Seed of the noise.
    start_ns : int
        Stamp of the first sample [ns].

    Attributes
    ----------
    plant : Plant
        The robot.
    schedule : Schedule
        What it does on its own.
    period_ns : int
        Time between samples [ns].
    model, data : mujoco.MjModel, mujoco.MjData
        The physics, for viewers and tests.
    command_timeouts : int
        How often effort commands went stale and the robot's own controller took over.

    """

    def __init__(self, plant: Plant, *, schedule: Schedule | None = None, noise: bool = True,
                 seed: int = 0, start_ns: int = 0):
        self.plant = plant
        self.schedule = schedule or DEMO_SCHEDULE
        self.model = build_world(
            plant.urdf, base_link=plant.base_link, imu_link=plant.imu_link, joints=plant.joints,
            feet=plant.feet, armature=plant.armature, damping=plant.joint_damping,
            friction=plant.joint_friction, timestep=plant.timestep,
            foot_friction=plant.floor_friction, contact_time=plant.contact_time)
        self.data = mujoco.MjData(self.model)
        self.period_ns = round(1e9 / plant.rate)
        self._substeps = self._whole_substeps()
        self._joint_index()
        self._stand_up()
        self._controller = QuadrupedController(
            self.model, self.data, feet=plant.feet, base=plant.base_link,
            foot_radius=plant.foot_radius, settings=plant.gait, friction=plant.floor_friction)
        self._contacts = ContactTruth(self.model, plant.feet)
        self._sensors = NoisySensors(plant.noise, len(plant.joints), seed) if noise else None
        self._start_ns = start_ns
        self._ticks = 0
        self._command: np.ndarray | None = None
        self._command_tick = 0
        self.command_timeouts = 0
        self._targets = self._controller.update(0.0, self.behaviour)
        self._apply(self._targets, 0.0)
        mujoco.mj_forward(self.model, self.data)

    @classmethod
    def from_files(cls, config: str | Path, urdf: str | Path | None = None,
                   *, schedule: Schedule | None = None, noise: bool = True, seed: int = 0,
                   start_ns: int = 0) -> SimulatedRobot:
        """Build from a robot's YAML and the URDF beside it (or another)."""
        return cls(Plant.from_files(config, urdf), schedule=schedule, noise=noise, seed=seed,
                   start_ns=start_ns)

    def _whole_substeps(self) -> int:
        period = self.period_ns * 1e-9
        substeps = round(period / self.plant.timestep)
        if substeps < 1 or abs(substeps * self.plant.timestep - period) > 1e-9:
            raise ConfigurationError(
                f'simulation.timestep: expected a whole number of steps in {period:g} s (the '
                f'period of simulation.rate), got {period / self.plant.timestep:g}')
        return substeps

    def _joint_index(self) -> None:
        model = self.model
        joints = np.array([model.joint(name).id for name in self.plant.joints])
        self._qpos, self._dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._base = model.body(self.plant.base_link).id
        free = model.body_jntadr[self._base]
        self._free_qpos = model.jnt_qposadr[free] + np.arange(7)
        self._free_dofs = model.jnt_dofadr[free] + np.arange(6)
        self._imu = {name: slice(model.sensor(name).adr[0],
                                 model.sensor(name).adr[0] + model.sensor(name).dim[0])
                     for name in ('gyro', 'accelerometer', 'orientation')}
        self._limits = model.actuator_ctrlrange[:, 1]

    def _stand_up(self) -> None:
        """Put the robot on the ground in its standing pose."""
        data = self.data
        data.qpos[self._qpos] = self.plant.nominal_position
        mujoco.mj_forward(self.model, data)
        lowest = min(data.site(foot).xpos[2] for foot in self.plant.feet)
        data.qpos[self._free_qpos[2]] += self.plant.foot_radius - lowest
        mujoco.mj_forward(self.model, data)

    @property
    def stamp_ns(self) -> int:
        """Time of the present sample [ns]."""
        return self._start_ns + self._ticks * self.period_ns

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._ticks * self.period_ns * 1e-9

    @property
    def behaviour(self) -> str:
        """Name of the behaviour that the schedule asks for now."""
        return self.schedule.at(self.time)

    @property
    def commanded(self) -> bool:
        """Whether effort commands drive the motors."""
        return self._command is not None

    @property
    def urdf(self) -> str:
        """Return the robot's URDF, as robot_description carries it."""
        return self.plant.urdf

    @property
    def fallen(self) -> bool:
        """Whether the base lies on the ground or is tilted by more than 60 degrees."""
        upright = self.data.xmat[self._base][8]
        low = self.data.xpos[self._base][2] < 0.4 * self._controller.height
        return bool(upright < 0.5 or low)

    def command_effort(self, efforts: Sequence[float] | None) -> None:
        """
        Drive the motors with these torques from the next step on.

        They replace the robot's own controller and are held until the next command, at most for
        the plant's ``command_timeout``. The motors cut torques beyond their limits.

        Parameters
        ----------
        efforts : (nj,) sequence of float, or None
            Joint torques [N m]; None hands back to the robot's own controller.

        Raises
        ------
        SimulationError
            When the length is wrong or a torque is not finite; the command is not taken.

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
            self._controller.reset()

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
        if self._command is None:
            self._targets = self._controller.update(period, self.behaviour)
        for substep in range(self._substeps):
            self._apply(self._targets, substep * self.plant.timestep)
            mujoco.mj_step(self.model, self.data)
        # Accelerations and contact forces must belong to the state that is read.
        mujoco.mj_forward(self.model, self.data)
        self._ticks += 1
        if not np.isfinite(self.data.qacc).all():
            raise SimulationError(f'the physics diverged at {self.time:.3f} s; use a smaller '
                                  f'simulation.timestep or smaller gains')

    def _apply(self, targets: JointTargets, elapsed: float) -> None:
        if self._command is not None:
            self.data.ctrl[:] = self._command
        else:
            self.data.ctrl[:] = targets.torque(self.data.qpos[self._qpos],
                                               self.data.qvel[self._dofs], elapsed)

    def exact(self) -> SensorSample:
        """Return the present sample without noise."""
        data, imu = self.data, self._imu
        return SensorSample(
            stamp_ns=self.stamp_ns,
            position=data.qpos[self._qpos],
            velocity=data.qvel[self._dofs],
            effort=data.actuator_force.copy(),
            angular_velocity=data.sensordata[imu['gyro']].copy(),
            linear_acceleration=data.sensordata[imu['accelerometer']].copy(),
            orientation=data.sensordata[imu['orientation']][[1, 2, 3, 0]])

    def read(self) -> SensorSample:
        """Return what the sensors report now; draws new noise, so read once per step."""
        sample = self.exact()
        return self._sensors.measure(sample) if self._sensors else sample

    def truth(self) -> TrueState:
        """Return the exact state, motion and ground contact of the same instant."""
        data = self.data
        R_WB = data.xmat[self._base].reshape(3, 3)
        twist, rate = data.qvel[self._free_dofs], data.qacc[self._free_dofs]
        return TrueState(
            stamp_ns=self.stamp_ns,
            position=data.qpos[self._qpos],
            velocity=data.qvel[self._dofs],
            acceleration=data.qacc[self._dofs],
            effort=data.actuator_force.copy(),
            friction=dry_friction(self.model, data)[self._dofs],
            base_position=data.qpos[self._free_qpos[:3]],
            base_orientation=data.qpos[self._free_qpos[3:]][[1, 2, 3, 0]],
            base_velocity=np.concatenate([twist[:3] @ R_WB, twist[3:]]),
            base_acceleration=np.concatenate([rate[:3] @ R_WB, rate[3:]]),
            feet=self._contacts.read(data))

    def describe(self) -> str:
        """Return a few lines for people: masses, motors, rates, schedule."""
        plant = self.plant
        mass = float(self.model.body_subtreemass[self._base])
        noise = 'with sensor noise' if self._sensors else 'noise-free sensors'
        return (f'{plant.name}: {mass:.2f} kg, '
                f'{len(plant.joints)} motors up to {self._limits.max():g} N m, '
                f'{len(plant.feet)} feet\n'
                f'{plant.rate:g} Hz, physics at {1.0 / plant.timestep:g} Hz, {noise}\n'
                f'schedule: {self.schedule} s')
