# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated walking robot: MuJoCo physics and a controller that stands in for its own."""
from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import Plant, build_world
from legged_dynamics.simulation.schedule import (
    BEHAVIOURS,
    DEMO_SCHEDULE,
    STANDING,
    Schedule,
    TrotClock,
)
from legged_dynamics.simulation.truth import ContactTruth, TrueState, dry_friction
from legged_dynamics.simulation.walking import JointTargets, QuadrupedController

# -------------------------------------------------------------------------------------------------
# What a quadruped does to be checked: it squats and leans, and lifts one leg after the other.


@dataclass(frozen=True)
class ExerciseSettings:
    """Motions of a check-up; chosen by hand for quadrupeds of the zoo."""

    squat_depth: float = 0.22   # of the height
    squat_period: float = 2.0   # s
    lean: tuple[float, float, float] = (0.07, 0.06, 0.08)       # rad, about x, y and z
    # s: they never come together, so the axes are told apart.
    lean_periods: tuple[float, float, float] = (1.5, 1.9, 2.3)
    blend_time: float = 0.4     # s in which an exercise begins
    # Of one leg's lift: the body leans over the other feet, the foot is unloaded, swings, and is
    # loaded again while the body comes back.
    shift_time: float = 0.7     # s
    unload_time: float = 0.3    # s
    swing_time: float = 0.8     # s
    load_time: float = 0.3      # s
    shift: float = 0.8          # of the way from the middle of all feet to that of the others
    falling_speed: float = 0.5  # m/s from which a base that comes down has fallen, not sat down
    moment_arm: float = 0.1     # m at which a moment on a sole counts as much as its force

    @property
    def lift_time(self) -> float:
        """Duration of one leg's lift [s]."""
        return self.shift_time + self.unload_time + self.swing_time + self.load_time


EXERCISE = ExerciseSettings()


class _LiftClock:
    """Loads of feet lifted one after the other, with the interface of `TrotClock`."""

    stepping = False
    stance_time, swing_time = EXERCISE.lift_time, EXERCISE.swing_time

    def __init__(self, count: int):
        self._count, self._time = count, 0.0
        self._update()

    def advance(self, time_step: float, stepping: bool) -> None:
        """Move on [s]."""
        self._time += time_step
        self._update()

    @property
    def resting(self) -> bool:
        """Whether all feet stand."""
        return bool(self.stance.all())

    def _update(self) -> None:
        self.lifted = int(self._time / EXERCISE.lift_time) % self._count
        phase = self._time % EXERCISE.lift_time
        self.stance, self.load = np.ones(self._count, bool), np.ones(self._count)
        self.swing = np.zeros(self._count)
        air = phase - EXERCISE.shift_time - EXERCISE.unload_time
        ramp = min(max(-air / EXERCISE.unload_time,
                       (air - EXERCISE.swing_time) / EXERCISE.load_time, 0.0), 1.0)
        self.load[self.lifted] = ramp * ramp * (3.0 - 2.0 * ramp)
        if 0.0 <= air < EXERCISE.swing_time:
            self.stance[self.lifted] = False
            self.swing[self.lifted] = air / EXERCISE.swing_time


class _ExerciseController(QuadrupedController):
    """A quadruped's own controller that can also squat and lift its legs."""

    clock: TrotClock | _LiftClock        # type: ignore[assignment]

    def reset(self) -> None:
        """Start over from where the robot is."""
        super().reset()
        self._trot = self.clock
        self._exercise, self._since = '', 0.0
        self._standing_height = self.height

    def update(self, time_step: float, behaviour: str) -> JointTargets:
        """Return the drives' targets for the next ``time_step`` [s]."""
        wanted = BEHAVIOURS[behaviour].exercise
        if wanted != self._exercise and self.clock.stance.all() and not self.clock.stepping:
            self._exercise, self._since = wanted, 0.0
            self.clock = _LiftClock(len(self._nominal)) if wanted == 'lift' else self._trot
        self._since += time_step
        return super().update(time_step, behaviour)

    def _move_reference(self, speed: float, time_step: float) -> None:
        super()._move_reference(speed, time_step)
        blend = min(time_step / EXERCISE.blend_time, 1.0)
        wanted, tilt = self._standing_height, np.zeros(3)
        if self._exercise == 'squat':
            wave = 0.5 - 0.5 * math.cos(2.0 * math.pi * self._since / EXERCISE.squat_period)
            wanted *= 1.0 - EXERCISE.squat_depth * wave
            tilt = np.array([a * math.sin(2.0 * math.pi * self._since / T)
                             for a, T in zip(EXERCISE.lean, EXERCISE.lean_periods)])
            # The base class eases the reference towards level and full height; this is quicker.
            self._tilt += 4.0 * blend * (tilt - self._tilt)
            self._position[2] += 4.0 * blend * (wanted - self._position[2])
        if isinstance(self.clock, _LiftClock):
            middle = self._anchor.mean(axis=0)
            away = EXERCISE.shift * (middle - self._anchor[self.clock.lifted]) / (
                len(self._anchor) - 1)
            there = middle + away - self._R_yaw @ self._hip.mean(axis=0)
            back = (EXERCISE.shift_time + EXERCISE.unload_time + EXERCISE.swing_time
                    + EXERCISE.load_time / 2.0)
            if self._since % EXERCISE.lift_time > back:
                return
            self._position[:2] += 2.0 * blend * (there - self._position)[:2]

    def _foothold(self, foot: np.intp, speed: np.ndarray) -> np.ndarray:
        if not isinstance(self.clock, _LiftClock):
            return super()._foothold(foot, speed)
        foothold = self._lift_off[foot].copy()
        foothold[2] = self._anchor[foot, 2]
        return foothold


# -------------------------------------------------------------------------------------------------
# The stand-in for the own controller of a robot on flat feet: it holds its joints, and stands.


class _StandingController:
    """
    Holds the initial joint positions by joint PD and the torque of standing.

    Gains of a loaded leg: ankles stiffer than weight times height keep it up. `height` [m].
    """

    def __init__(self, robot: SimulatedRobot):
        self._model, self._data, self._settings = robot.model, robot.data, robot.plant.gait
        self._free, self._dofs, self._qpos = robot._free_dofs, robot._dofs, robot._qpos
        self._sites = [robot.model.site(foot).id for foot in robot.plant.feet]
        self.height = robot.data.xpos[robot.base][2] - min(robot.data.site_xpos[self._sites, 2])
        self.reset()

    def reset(self) -> None:
        """Hold the joints where they are now."""
        n = len(self._dofs)
        self._targets = JointTargets(
            position=self._data.qpos[self._qpos], velocity=np.zeros(n), effort=self._standing(),
            stiffness=np.full(n, self._settings.stance_stiffness),
            damping=np.full(n, self._settings.stance_damping))

    def update(self, time_step: float, behaviour: str) -> JointTargets:
        """Return the drives' targets: whatever the behaviour, it stands."""
        return self._targets

    def _standing(self) -> np.ndarray:
        """Return the torques of standing, with the least forces and moments on the soles."""
        model, data = self._model, self._data
        J = np.zeros((len(self._sites), 2, 3, model.nv))
        for jacobian, site in zip(J, self._sites):
            mujoco.mj_jacSite(model, data, jacobian[0], jacobian[1], site)
        J[:, 1] /= EXERCISE.moment_arm
        J = J.reshape(-1, model.nv)
        n = len(J)
        wrenches = GroundForceProblem.prior(np.zeros(n), np.ones(n)).with_rows(
            J[:, self._free].T, data.qfrc_bias[self._free]).solve().mean
        return data.qfrc_bias[self._dofs] - wrenches @ J[:, self._dofs]


# -------------------------------------------------------------------------------------------------


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
    _dropped = False

    def __init__(self, plant: Plant, *, schedule: Schedule | None = None, noise: bool = True,
                 seed: int = 0, start_ns: int = 0):
        model = build_world(
            plant.physics or plant.urdf, base_link=plant.base_link,
            imu_link=plant.imu_link, joints=plant.joints, feet=plant.feet,
            armature=plant.armature, damping=plant.joint_damping,
            friction=plant.joint_friction, timestep=plant.timestep,
            foot_friction=plant.floor_friction, contact_time=plant.contact_time,
            restitution=plant.restitution)
        super().__init__(plant, model, noise=noise, seed=seed, start_ns=start_ns)
        self.schedule = STANDING if plant.flat_feet else schedule or DEMO_SCHEDULE
        self.base = model.body(plant.base_link).id
        free = model.body_jntadr[self.base]
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
        """
        Build from a robot's YAML and the URDF beside it (or another).

        Parameters
        ----------
        config : str | Path
            Robot YAML file.
        urdf : str | Path, optional
            URDF file.
        schedule : Schedule, optional
            Behaviours over time; the default of the robot when None.
        noise : bool, optional
            Whether sensors have noise.
        seed : int, optional
            Seed of the noise.
        start_ns : int, optional
            Time stamp of the first sample [ns].

        Returns
        -------
        SimulatedRobot
            Standing on the ground.

        """
        return cls(Plant.from_files(config, urdf), schedule=schedule, noise=noise, seed=seed,
                   start_ns=start_ns)

    def _own_controller(self) -> _ExerciseController | _StandingController:
        plant = self.plant
        if plant.flat_feet:
            return _StandingController(self)
        return _ExerciseController(
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
        """
        Whether the base is tilted by more than 60 degrees, or came down faster than one sits down.

        A robot that has sat down lies on the ground as well, and has not fallen.
        """
        return bool(self.data.xmat[self.base][8] < 0.5 or (self._low and self._dropped))

    @property
    def _low(self) -> bool:
        return bool(self.data.xpos[self.base][2] < 0.4 * self._controller.height)

    def _take_over(self) -> None:
        self._controller.reset()

    def _push(self) -> None:
        """Push the base while it is time."""
        plant = self.plant
        if not plant.push_time:
            return
        begun = plant.push_time <= self.time < plant.push_time + plant.push_duration
        weight = GRAVITY * self.model.body_subtreemass[self.base]
        self.data.xfrc_applied[self.base, :3] = weight * begun * np.array(plant.push_force)

    def _advance(self, period: float) -> None:
        self._push()
        if self._command is None:
            self._targets = self._controller.update(period, self.behaviour)
        for substep in range(self._substeps):
            self._apply(self._targets, substep * self.plant.timestep)
            mujoco.mj_step(self.model, self.data)
        speed = self.data.qvel[self._free_dofs[2]]
        self._dropped = self._low and (self._dropped or bool(speed < -EXERCISE.falling_speed))

    def _apply(self, targets: JointTargets, elapsed: float) -> None:
        if self._command is not None:
            self.data.ctrl[:] = self._command
        else:
            self.data.ctrl[:] = targets.torque(self.data.qpos[self._qpos],
                                               self.data.qvel[self._dofs], elapsed)

    def truth(self) -> TrueState:
        """
        Return the exact state, motion and ground contact of the same instant.

        Returns
        -------
        TrueState
            Of the present sample.

        """
        data = self.data
        R_WB = data.xmat[self.base].reshape(3, 3)
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
        """
        Return a few lines for people: masses, motors, rates, schedule.

        Returns
        -------
        str
            Three lines.

        """
        plant = self.plant
        mass = float(self.model.body_subtreemass[self.base])
        noise = 'with sensor noise' if self._sensors else 'noise-free sensors'
        return (f'{plant.name}: {mass:.2f} kg, '
                f'{len(plant.joints)} motors up to {self._limits.max():g} N m, '
                f'{len(plant.feet)} feet\n'
                f'{plant.rate:g} Hz, physics at {1.0 / plant.timestep:g} Hz, {noise}\n'
                f'schedule: {self.schedule} s')
