# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated walking robot: MuJoCo physics and a controller that stands in for its own."""
from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from legged_dynamics.simulation.exercises import ExerciseController
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import Plant
from legged_dynamics.simulation.quadruped_controller import JointTargets
from legged_dynamics.simulation.schedule import DEMO_SCHEDULE, STANDING, Schedule
from legged_dynamics.simulation.standing_controller import StandingController
from legged_dynamics.simulation.truth import ContactTruth, TrueState, dry_friction
from legged_dynamics.simulation.world import build_world


class SimulatedRobot(SimulatedHardware):
    """
    A robot on flat ground that follows a schedule until its motors are commanded.

    Parameters
    ----------
    plant : Plant
        The robot.
    schedule : Schedule, optional
        What it does on its own; a robot on flat feet stands, whatever it says.
    noise, seed, start_ns
        Of :class:`~legged_dynamics.simulation.hardware.SimulatedHardware`.

    Attributes
    ----------
    schedule : Schedule
        What it does on its own.

    """

    plant: Plant

    def __init__(self, plant: Plant, *, schedule: Schedule | None = None, noise: bool = True,
                 seed: int = 0, start_ns: int = 0):
        model = build_world(
            plant.urdf, base_link=plant.base_link, imu_link=plant.imu_link, joints=plant.joints,
            feet=plant.feet, armature=plant.armature, damping=plant.joint_damping,
            friction=plant.joint_friction, timestep=plant.timestep,
            foot_friction=plant.floor_friction, contact_time=plant.contact_time,
            restitution=plant.restitution)
        super().__init__(plant, model, noise=noise, seed=seed, start_ns=start_ns)
        self.schedule = STANDING if plant.flat_feet else schedule or DEMO_SCHEDULE
        self._base = model.body(plant.base_link).id
        free = model.body_jntadr[self._base]
        self._free_qpos = model.jnt_qposadr[free] + np.arange(7)
        self._free_dofs = model.jnt_dofadr[free] + np.arange(6)
        self._stand_up()
        self._controller = self._own_controller()
        self._contacts = ContactTruth(self.model, plant.feet)
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

    def _own_controller(self) -> ExerciseController | StandingController:
        plant = self.plant
        if plant.flat_feet:
            return StandingController(self.model, self.data, joints=plant.joints,
                                      feet=plant.feet, base=plant.base_link, settings=plant.gait)
        return ExerciseController(
            self.model, self.data, feet=plant.feet, base=plant.base_link,
            foot_radius=plant.foot_radius, settings=plant.gait, friction=plant.floor_friction)

    def _stand_up(self) -> None:
        """Put the robot above the ground in its standing pose, with its soles level."""
        data, plant = self.data, self.plant
        data.qpos[self._qpos] = plant.nominal_position
        mujoco.mj_forward(self.model, data)
        if plant.flat_feet:
            level = np.empty(4)
            mujoco.mju_mat2Quat(level, data.site(plant.feet[0]).xmat)
            mujoco.mju_negQuat(data.qpos[self._free_qpos[3]:][:4], level)
            mujoco.mj_forward(self.model, data)
        lowest = min(data.site(foot).xpos[2] for foot in plant.feet)
        data.qpos[self._free_qpos[2]] += plant.foot_radius + plant.drop_height - lowest
        mujoco.mj_forward(self.model, data)

    @property
    def behaviour(self) -> str:
        """Name of the behaviour that the schedule asks for now."""
        return self.schedule.at(self.time)

    @property
    def fallen(self) -> bool:
        """Whether the base lies on the ground or is tilted by more than 60 degrees."""
        upright = self.data.xmat[self._base][8]
        low = self.data.xpos[self._base][2] < 0.4 * self._controller.height
        return bool(upright < 0.5 or low)

    def _take_over(self) -> None:
        self._controller.reset()

    def _advance(self, period: float) -> None:
        if self._command is None:
            self._targets = self._controller.update(period, self.behaviour)
        for substep in range(self._substeps):
            self._apply(self._targets, substep * self.plant.timestep)
            mujoco.mj_step(self.model, self.data)

    def _apply(self, targets: JointTargets, elapsed: float) -> None:
        if self._command is not None:
            self.data.ctrl[:] = self._command
        else:
            self.data.ctrl[:] = targets.torque(self.data.qpos[self._qpos],
                                               self.data.qvel[self._dofs], elapsed)

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
