# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for a quadruped's own controller: stands and trots by joint PD and feedforward."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.simulation.balance import ForceSharing
from legged_dynamics.simulation.gait import TrotClock, swing_position
from legged_dynamics.simulation.leg_kinematics import (
    LegKinematics,
    rotation_about_z,
    rotation_matrix,
    rotation_vector,
)
from legged_dynamics.simulation.plant import TrotSettings
from legged_dynamics.simulation.schedule import BEHAVIOURS

SPEED_RATE = 0.35   # m/s^2, how fast the commanded speed may change
LEASH = 0.1         # of the base's height, how far the reference may run ahead of the robot
DECIDED = 0.6       # of the swing, when the foothold is fixed
PRESS = 0.004       # of the base's height, how far below the ground a landing foot aims
RAIBERT = 0.5       # of the pendulum's capture step, for the error of the base's velocity
MAX_STEP = 0.3      # rad, largest joint error that the PD is given


@dataclass(frozen=True)
class JointTargets:
    """
    What the drives track until the next control period.

    Attributes
    ----------
    position, velocity, effort : (nj,) array
        Targets and feedforward, in the order of the model's motors [rad, rad/s, N m].
    stiffness, damping : (nj,) array
        PD gains [N m/rad, N m s/rad].

    """

    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray

    def torque(self, position: np.ndarray, velocity: np.ndarray, elapsed: float) -> np.ndarray:
        """Return the drives' torque [N m] at joint angles and rates, ``elapsed`` [s] later."""
        ahead = self.position + elapsed * self.velocity
        return (self.effort + self.stiffness * (ahead - position)
                + self.damping * (self.velocity - velocity))


class QuadrupedController:
    """
    Tracks a level base over a trot, from the true state of base and joints.

    Stance legs share the force and moment that the base needs and hold their feet by a soft joint
    PD; swinging legs follow a path to a Raibert foothold by a stiff one. Joint targets come from
    the feet's by one resolved-rate step.

    Parameters
    ----------
    model : mujoco.MjModel
        Model whose motors are the legs' joints.
    data : mujoco.MjData
        State at the standing pose, after mj_forward; read again at every update.
    feet : sequence of str
        Sites at the feet's centres.
    base : str
        Link with the free joint.
    foot_radius : float
        Height of a resting foot's centre above the ground [m].
    settings : TrotSettings
        Timing, step and gains.
    friction : float
        Friction coefficient of the feet.

    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, feet: Sequence[str],
                 base: str, foot_radius: float, settings: TrotSettings, friction: float):
        self._settings = settings
        self._ground = foot_radius
        self._legs = LegKinematics(model, data, feet, base)
        self._nominal = self._legs.foot_position - self._legs.base_position
        self.height = foot_radius - self._nominal[:, 2].min()
        # Footholds lie around the centre of mass, not around the base's origin.
        self._hip = self._nominal.copy()
        self._hip[:, :2] += (self._legs.centre_of_mass - self._legs.base_position)[:2]
        self._time_unit = np.sqrt(self.height / GRAVITY)
        self._sharing = ForceSharing(self._legs.mass, self._legs.base_inertia, self._time_unit,
                                     0.7 * friction)
        self.reset()

    def reset(self) -> None:
        """Start over from where the robot is: hold the feet there, then level the base gently."""
        legs = self._legs
        legs.read(np.zeros(len(self._nominal), dtype=bool))
        diagonal = self._nominal[:, 0] * self._nominal[:, 1] > 0.0
        self.clock = TrotClock(diagonal, self._settings.period, self._settings.duty)
        self._speed = 0.0
        self._R_yaw = rotation_about_z(np.arctan2(legs.R_WB[1, 0], legs.R_WB[0, 0]))
        self._tilt = rotation_vector(self._R_yaw.T @ legs.R_WB)
        self._position = legs.base_position.copy()
        self._anchor = legs.foot_position.copy()
        self._anchor[:, 2] = self._ground
        self._lift_off = legs.foot_position.copy()

    def update(self, time_step: float, behaviour: str) -> JointTargets:
        """Return the drives' targets for the next ``time_step`` [s]."""
        wanted = BEHAVIOURS[behaviour]
        before = self.clock.stance
        # Legs go on stepping until the robot has slowed down.
        self.clock.advance(time_step, wanted.stepping or abs(self._speed) > 0.01)
        self._legs.read(~self.clock.stance)
        self._mark_transitions(before)
        self._move_reference(wanted.speed * self._settings.speed, time_step)
        R_ref = self._R_yaw @ rotation_matrix(self._tilt)
        velocity = self._speed * self._R_yaw[:, 0]
        force = self._sharing.solve(self._legs, self._position, velocity, R_ref, self.clock.load)
        target, velocity, acceleration = self._foot_targets(R_ref, velocity)
        return self._joint_targets(target, velocity, acceleration, force)

    def _mark_transitions(self, before: np.ndarray) -> None:
        now, foot = self.clock.stance, self._legs.foot_position
        if (now == before).all():
            return
        landed, lifted = now & ~before, before & ~now
        self._anchor[landed] = foot[landed]
        self._anchor[landed, 2] = self._ground
        self._lift_off[lifted] = foot[lifted]

    def _move_reference(self, speed: float, time_step: float) -> None:
        """Let the base's reference travel, rise to its height and become level."""
        goal = speed if self.clock.stepping else 0.0
        change = SPEED_RATE * time_step
        self._speed += min(max(goal - self._speed, -change), change)
        decay = time_step / (2.0 * self._time_unit)
        self._tilt *= 1.0 - decay
        self._position[2] += decay * (self.height - self._position[2])
        self._position += time_step * self._speed * self._R_yaw[:, 0]
        if not self.clock.stepping:
            centre = self._anchor.mean(axis=0) - self._R_yaw @ self._nominal.mean(axis=0)
            self._position[:2] += decay * (centre - self._position)[:2]
        lead = (self._position - self._legs.base_position)[:2]
        distance = np.sqrt(lead @ lead)
        leash = LEASH * self.height
        if distance > leash:
            self._position[:2] -= (1.0 - leash / distance) * lead

    def _foot_targets(self, R_ref: np.ndarray,
                      speed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the feet should be and how they should move, world axes."""
        legs, clock = self._legs, self.clock
        # The target of a loaded foot, which is fixed, is to move the base to its reference. A foot
        # that carries little yet, or no more, is just kept on the ground.
        R = legs.R_WB @ R_ref.T
        share = clock.load[:, None]
        moving = legs.base_position + (self._anchor - self._position) @ R.T
        resting = self._anchor - [0.0, 0.0, PRESS * self.height]
        target = resting + share * (moving - resting)
        velocity = share * (legs.base_velocity - R @ speed)
        acceleration = np.zeros_like(target)
        for foot in np.flatnonzero(~clock.stance):
            # A foothold that still moved would spoil the soft touch-down.
            if clock.swing[foot] < DECIDED:
                self._anchor[foot] = self._foothold(foot, speed)
            target[foot], velocity[foot], acceleration[foot] = swing_position(
                self._lift_off[foot], self._anchor[foot], self._settings.step_height,
                clock.swing[foot], clock.swing_time)
        return target, velocity, acceleration

    def _foothold(self, foot: np.intp, speed: np.ndarray) -> np.ndarray:
        """Return where a swinging foot should land: below its hip in the middle of its stance."""
        legs, clock = self._legs, self.clock
        remaining = (1.0 - clock.swing[foot]) * clock.swing_time
        foothold = (legs.base_position + self._R_yaw @ self._hip[foot]
                    + remaining * legs.base_velocity + 0.5 * clock.stance_time * speed
                    + RAIBERT * self._time_unit * (legs.base_velocity - speed))
        foothold[2] = self._ground - PRESS * self.height
        return foothold

    def _joint_targets(self, target: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
                       force: np.ndarray) -> JointTargets:
        legs, settings = self._legs, self._settings
        step, rate, inertial = legs.resolve(target - legs.foot_position, velocity, acceleration)
        load = legs.per_motor(self.clock.load)
        return JointTargets(
            position=legs.position + np.minimum(np.maximum(step, -MAX_STEP), MAX_STEP),
            velocity=rate,
            effort=legs.bias - legs.torque_of(force) + inertial,
            stiffness=settings.stiffness + load * (settings.stance_stiffness - settings.stiffness),
            damping=settings.damping + load * (settings.stance_damping - settings.damping))
