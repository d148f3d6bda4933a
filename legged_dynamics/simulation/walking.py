# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for a quadruped's own controller: stands and trots by joint PD and feedforward."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import SimulationError
from legged_dynamics.simulation.plant import TrotSettings
from legged_dynamics.simulation.schedule import BEHAVIOURS, TrotClock, swing_position
from legged_dynamics.spatial.rotations import rotation_about_z

# -------------------------------------------------------------------------------------------------
# Positions, Jacobians and torques of the legs, for the simulated robot's own controller.


@dataclass(frozen=True)
class TrackingSettings:
    """The stand-in controller beside its parameters; chosen by hand on robots of the zoo."""

    damping: float = 1e-5       # m^2, keeps a resolved-rate step finite at a straight knee
    # Natural frequencies times sqrt(height / g): the same for robots of any size.
    tilt_frequency: float = 3.0
    height_frequency: float = 3.0
    plane_frequency: float = 1.0
    damping_ratio: float = 0.8
    miss: float = 1e-3          # how readily the demanded wrench is missed for small forces
    friction_part: float = 0.7  # of the ground's friction that forces use
    acceleration: float = 0.35  # m/s^2 of the commanded speed
    least_speed: float = 0.01   # m/s below which legs stop stepping
    leash: float = 0.1          # of the height: lead of the reference over the robot
    fixed_foothold: float = 0.6     # of the swing, from when the foothold is fixed
    press: float = 0.004        # of the height: aim of a landing foot below the ground
    capture: float = 0.5        # of the pendulum's capture step, for the error of the velocity
    largest_error: float = 0.3  # rad, joint error that the PD is given


TRACKING = TrackingSettings()


class _LegIndex(NamedTuple):
    """Places of base, motors and feet in MuJoCo's arrays."""

    body: int
    free_qpos: int
    free_dofs: int
    qpos: np.ndarray        # (nj,)
    dofs: np.ndarray        # (nj,)
    sites: np.ndarray       # (nf,)
    foot_bodies: np.ndarray     # (nf,)
    motors: np.ndarray      # (nf, 3): motors of each foot's leg

    @classmethod
    def of(cls, model: mujoco.MjModel, feet: Sequence[str], base: str) -> _LegIndex:
        """Find base, motors and feet; each foot has three motors."""
        body = model.body(base).id
        free, joints = model.body_jntadr[body], model.actuator_trnid[:, 0]
        sites = np.array([model.site(foot).id for foot in feet])
        return cls(body, model.jnt_qposadr[free], model.jnt_dofadr[free],
                   model.jnt_qposadr[joints], model.jnt_dofadr[joints], sites,
                   model.site_bodyid[sites],
                   np.array([cls._motors_of(model, site, joints) for site in sites]))

    @staticmethod
    def _motors_of(model: mujoco.MjModel, site: int, joints: np.ndarray) -> np.ndarray:
        chain, body = [], model.site_bodyid[site]
        while body != 0:
            chain.append(body)
            body = model.body_parentid[body]
        motors = np.flatnonzero(np.isin(model.jnt_bodyid[joints], chain))
        if len(motors) != 3:
            raise SimulationError(f'expected three motors between the base and '
                                  f'{model.site(site).name}, got {len(motors)}')
        return motors


class _LegKinematics:
    """
    Reads a quadruped's legs, of three motors each, from MuJoCo's state.

    Made at the standing pose; each `read` needs mj_forward before. World axes, motor order;
    `jacobian` (nf, 3, 3): by the foot's own motors; `bias` (nj,): gravity, motion and
    viscous friction; `base_inertia` (3, 3): whole standing robot, base axes.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, feet: Sequence[str],
                 base: str):
        self._model, self._data = model, data
        self._at = _LegIndex.of(model, feet, base)
        legs = self._at.dofs[self._at.motors]
        self._leg_rows, self._leg_columns = legs[:, :, None], legs[:, None, :]
        self._jacobians = np.zeros((len(feet), 3, model.nv))
        self._jacobian_rate = np.zeros((3, model.nv))
        self._mass_matrix = np.zeros((model.nv, model.nv))
        self._drift = np.zeros((len(feet), 3))
        self.mass = float(model.body_subtreemass[self._at.body])
        self.read(np.zeros(len(feet), dtype=bool))
        turning = slice(self._at.free_dofs + 3, self._at.free_dofs + 6)
        self.base_inertia = self._mass_matrix[turning, turning].copy()

    def read(self, swinging: np.ndarray) -> None:
        """Take over the state, which must have been through mj_forward."""
        model, data, at = self._model, self._data, self._at
        qpos, qvel = data.qpos, data.qvel
        twist = qvel[at.free_dofs:at.free_dofs + 6]
        self.R_WB = data.xmat[at.body].reshape(3, 3).copy()
        self.base_position = qpos[at.free_qpos:at.free_qpos + 3].copy()
        self.base_velocity = twist[:3].copy()
        self.angular_velocity = self.R_WB @ twist[3:]
        self.centre_of_mass = data.subtree_com[at.body].copy()
        self.foot_position = data.site_xpos[at.sites]
        self.position = qpos[at.qpos]
        self.bias = (data.qfrc_bias - data.qfrc_passive)[at.dofs]
        mujoco.mj_fullM(model, data, self._mass_matrix)
        self._leg_inertia = self._mass_matrix[self._leg_rows, self._leg_columns]
        for foot in range(len(at.sites)):
            mujoco.mj_jacSite(model, data, self._jacobians[foot], None, at.sites[foot])
        self.jacobian = self._jacobians[np.arange(len(at.sites))[:, None, None],
                                        np.arange(3)[:, None], self._leg_columns]
        self._carried = self._jacobians[:, :, at.free_dofs:at.free_dofs + 6] @ twist
        self._drift[:] = 0.0
        for foot in np.flatnonzero(swinging):
            mujoco.mj_jacDot(model, data, self._jacobian_rate, None, self.foot_position[foot],
                             at.foot_bodies[foot])
            self._drift[foot] = self._jacobian_rate @ qvel

    def resolve(self, displacement: np.ndarray, velocity: np.ndarray,
                acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return displacements, rates and inertial torques of the joints that move the feet so.

        Feet: (nf, 3) arrays, world axes [m, m/s, m/s^2]; joints: (nj,), motor order. The present
        motion of the base is taken into account, its acceleration is not.
        """
        J, J_T = self.jacobian, self.jacobian.transpose(0, 2, 1)
        wanted = np.empty_like(J)
        wanted[:, :, 0] = displacement
        wanted[:, :, 1] = velocity - self._carried
        wanted[:, :, 2] = acceleration - self._drift
        solved = J_T @ np.linalg.solve(J @ J_T + TRACKING.damping * np.eye(3), wanted)
        solved[:, :, 2:] = self._leg_inertia @ solved[:, :, 2:]
        joints = np.zeros((3, len(self._at.dofs)))
        joints[:, self._at.motors] = solved.transpose(2, 0, 1)
        return joints[0], joints[1], joints[2]

    def _torque_of(self, force: np.ndarray) -> np.ndarray:
        """Return ``J^T f`` of forces (nf, 3) on the feet, world axes, in motor order [N m]."""
        torque = np.zeros(len(self._at.dofs))
        torque[self._at.motors] = (force[:, None, :] @ self.jacobian)[:, 0]
        return torque

    def _per_motor(self, per_foot: np.ndarray) -> np.ndarray:
        """Return values (nf,) of the feet as values (nj,) of the motors that carry them."""
        values = np.zeros(len(self._at.dofs))
        values[self._at.motors] = per_foot[:, None]
        return values


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a rotation vector [rad]."""
    quaternion, matrix = np.empty(4), np.empty(9)
    angle = float(np.sqrt(vector @ vector))
    axis = vector / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(quaternion, axis, angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a rotation matrix."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(matrix).reshape(9))
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


# -------------------------------------------------------------------------------------------------
# Shares the force and moment that keep a base on its reference among the feet on the ground.


class _ForceSharing:
    """
    Weighted least squares for foot forces, in closed form.

    ``f = W A^T (A W A^T + miss S)^-1 F`` minimises
    ``|A f - F|^2_(S^-1) + miss |f|^2_(W^-1)``, A: map to force and moment about the CoM, W:
    loads. Finite for two feet, which miss the moment about their line.
    """

    def __init__(self, mass: float, inertia: np.ndarray, time_unit: float, friction: float):
        self._mass = mass
        self._inertia = inertia
        self._friction = friction
        linear = np.array([TRACKING.plane_frequency, TRACKING.plane_frequency,
                           TRACKING.height_frequency]) / time_unit
        self._stiffness = linear ** 2
        self._damping = 2.0 * TRACKING.damping_ratio * linear
        tilt = TRACKING.tilt_frequency / time_unit
        self._tilt_stiffness, self._tilt_damping = tilt ** 2, 2.0 * TRACKING.damping_ratio * tilt
        length = GRAVITY * time_unit ** 2
        self._miss = np.diag(TRACKING.miss * np.array([1.0, 1.0, 1.0, *[length ** 2] * 3]))

    def solve(self, legs: _LegKinematics, position: np.ndarray, velocity: np.ndarray,
              R_ref: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Return the forces the feet should get from the ground, (nf, 3) array, world axes [N]."""
        demand, R = np.empty(6), legs.R_WB
        demand[:3] = self._mass * (self._stiffness * (position - legs.base_position)
                                   + self._damping * (velocity - legs.base_velocity))
        demand[2] += self._mass * GRAVITY
        angular = self._tilt_stiffness * rotation_vector(R.T @ R_ref)
        angular -= self._tilt_damping * (legs.angular_velocity @ R)
        demand[3:] = R @ (self._inertia @ angular)
        A = self._map(legs.foot_position - legs.centre_of_mass)
        WA_T = np.repeat(load, 3)[:, None] * A.T
        force = (WA_T @ np.linalg.solve(A @ WA_T + self._miss, demand)).reshape(-1, 3)
        return self._within_friction(force)

    @staticmethod
    def _map(arm: np.ndarray) -> np.ndarray:
        """Return the (6, 3 nf) map from forces at arms (nf, 3) to force and moment."""
        A = np.zeros((2, 3, len(arm), 3))
        for axis, (after, last) in enumerate(((1, 2), (2, 0), (0, 1))):
            A[0, axis, :, axis] = 1.0
            A[1, axis, :, last] = arm[:, after]
            A[1, axis, :, after] = -arm[:, last]
        return A.reshape(6, -1)

    def _within_friction(self, force: np.ndarray) -> np.ndarray:
        """Cut pulling normal forces to zero and tangential ones to the friction cone."""
        for foot, (x, y, z) in enumerate(force.tolist()):
            most, tangential = self._friction * max(z, 0.0), math.hypot(x, y)
            if z < 0.0:
                force[foot, 2] = 0.0
            if tangential > most:
                force[foot, :2] *= most / tangential
        return force


# -------------------------------------------------------------------------------------------------


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
        """Return the drives' torque (nj,) [N m] before limits, ``elapsed`` [s] later."""
        ahead = self.position + elapsed * self.velocity
        return (self.effort + self.stiffness * (ahead - position)
                + self.damping * (self.velocity - velocity))


class QuadrupedController:
    """
    Tracks a level base over a trot, from the true state of base and joints.

    Stance legs share the base's wrench and hold their feet by a soft joint PD; swing legs
    follow a path to a Raibert foothold by a stiff one. ``data``: state at the standing
    pose.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, feet: Sequence[str],
                 base: str, foot_radius: float, settings: TrotSettings, friction: float):
        self._settings = settings
        self._ground = foot_radius
        self._legs = _LegKinematics(model, data, feet, base)
        self._nominal = self._legs.foot_position - self._legs.base_position
        self.height = foot_radius - self._nominal[:, 2].min()
        # Footholds lie around the centre of mass, not around the base's origin.
        self._hip = self._nominal.copy()
        self._hip[:, :2] += (self._legs.centre_of_mass - self._legs.base_position)[:2]
        self._time_unit = np.sqrt(self.height / GRAVITY)
        self._sharing = _ForceSharing(self._legs.mass, self._legs.base_inertia, self._time_unit,
                                     TRACKING.friction_part * friction)
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
        self.clock.advance(time_step, wanted.stepping or abs(self._speed) > TRACKING.least_speed)
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
        change = TRACKING.acceleration * time_step
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
        leash = TRACKING.leash * self.height
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
        resting = self._anchor - [0.0, 0.0, TRACKING.press * self.height]
        target = resting + share * (moving - resting)
        velocity = share * (legs.base_velocity - R @ speed)
        acceleration = np.zeros_like(target)
        for foot in np.flatnonzero(~clock.stance):
            # A foothold that still moved would spoil the soft touch-down.
            if clock.swing[foot] < TRACKING.fixed_foothold:
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
                    + TRACKING.capture * self._time_unit * (legs.base_velocity - speed))
        foothold[2] = self._ground - TRACKING.press * self.height
        return foothold

    def _joint_targets(self, target: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
                       force: np.ndarray) -> JointTargets:
        legs, settings = self._legs, self._settings
        step, rate, inertial = legs.resolve(target - legs.foot_position, velocity, acceleration)
        load = legs._per_motor(self.clock.load)
        return JointTargets(
            position=legs.position + np.minimum(np.maximum(step, -TRACKING.largest_error),
                                                TRACKING.largest_error),
            velocity=rate,
            effort=legs.bias - legs._torque_of(force) + inertial,
            stiffness=settings.stiffness + load * (settings.stance_stiffness - settings.stiffness),
            damping=settings.damping + load * (settings.stance_damping - settings.damping))
