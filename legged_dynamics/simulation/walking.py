# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for a quadruped's own controller: stands and trots by joint PD and feedforward."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import SimulationError
from legged_dynamics.simulation.gait import TrotClock, swing_position
from legged_dynamics.simulation.plant import TrotSettings
from legged_dynamics.simulation.schedule import BEHAVIOURS

# -------------------------------------------------------------------------------------------------
# Positions, Jacobians and torques of the legs, for the simulated robot's own controller.


DAMPING = 1e-5  # m^2, keeps a resolved-rate step finite at a straight knee


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
        self._body = model.body(base).id
        free, joints = model.body_jntadr[self._body], model.actuator_trnid[:, 0]
        self._free_qpos, self._free_dofs = model.jnt_qposadr[free], model.jnt_dofadr[free]
        self._qpos, self._dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._sites = np.array([model.site(foot).id for foot in feet])
        self._foot_bodies = model.site_bodyid[self._sites]
        self._motors = np.array([self._motors_of(site, joints) for site in self._sites])
        legs = self._dofs[self._motors]
        self._leg_rows, self._leg_columns = legs[:, :, None], legs[:, None, :]
        self._feet = np.arange(len(feet))
        self._each_foot, self._each_axis = self._feet[:, None, None], np.arange(3)[:, None]
        self._damping = DAMPING * np.eye(3)
        self._jacobians = np.zeros((len(feet), 3, model.nv))
        self._jacobian_rate = np.zeros((3, model.nv))
        self._mass_matrix = np.zeros((model.nv, model.nv))
        self._drift = np.zeros((len(feet), 3))
        self.mass = float(model.body_subtreemass[self._body])
        self.read(np.zeros(len(feet), dtype=bool))
        turning = slice(self._free_dofs + 3, self._free_dofs + 6)
        self.base_inertia = self._mass_matrix[turning, turning].copy()

    def _motors_of(self, site: int, joints: np.ndarray) -> np.ndarray:
        chain, body = [], self._model.site_bodyid[site]
        while body != 0:
            chain.append(body)
            body = self._model.body_parentid[body]
        motors = np.flatnonzero(np.isin(self._model.jnt_bodyid[joints], chain))
        if len(motors) != 3:
            raise SimulationError(f'expected three motors between the base and '
                                  f'{self._model.site(site).name}, got {len(motors)}')
        return motors

    def read(self, swinging: np.ndarray) -> None:
        """Take over the state, which must have been through mj_forward."""
        model, data = self._model, self._data
        qpos, qvel = data.qpos, data.qvel
        twist = qvel[self._free_dofs:self._free_dofs + 6]
        self.R_WB = data.xmat[self._body].reshape(3, 3).copy()
        self.base_position = qpos[self._free_qpos:self._free_qpos + 3].copy()
        self.base_velocity = twist[:3].copy()
        self.angular_velocity = self.R_WB @ twist[3:]
        self.centre_of_mass = data.subtree_com[self._body].copy()
        self.foot_position = data.site_xpos[self._sites]
        self.position = qpos[self._qpos]
        self.bias = (data.qfrc_bias - data.qfrc_passive)[self._dofs]
        mujoco.mj_fullM(model, data, self._mass_matrix)
        self._leg_inertia = self._mass_matrix[self._leg_rows, self._leg_columns]
        for foot in self._feet:
            mujoco.mj_jacSite(model, data, self._jacobians[foot], None, self._sites[foot])
        self.jacobian = self._jacobians[self._each_foot, self._each_axis, self._leg_columns]
        self._carried = self._jacobians[:, :, self._free_dofs:self._free_dofs + 6] @ twist
        self._drift[:] = 0.0
        for foot in self._feet[swinging]:
            mujoco.mj_jacDot(model, data, self._jacobian_rate, None, self.foot_position[foot],
                             self._foot_bodies[foot])
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
        solved = J_T @ np.linalg.solve(J @ J_T + self._damping, wanted)
        solved[:, :, 2:] = self._leg_inertia @ solved[:, :, 2:]
        joints = np.zeros((3, len(self._dofs)))
        joints[:, self._motors] = solved.transpose(2, 0, 1)
        return joints[0], joints[1], joints[2]

    def _torque_of(self, force: np.ndarray) -> np.ndarray:
        """Return ``J^T f`` of forces (nf, 3) on the feet, world axes, in motor order [N m]."""
        torque = np.zeros(len(self._dofs))
        torque[self._motors] = (force[:, None, :] @ self.jacobian)[:, 0]
        return torque

    def _per_motor(self, per_foot: np.ndarray) -> np.ndarray:
        """Return values (nf,) of the feet as values (nj,) of the motors that carry them."""
        values = np.zeros(len(self._dofs))
        values[self._motors] = per_foot[:, None]
        return values


def _rotation_about_z(angle: float) -> np.ndarray:
    """Return the rotation matrix about the vertical [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


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


# Natural frequencies times sqrt(height / g), which makes them the same for robots of any size.
TILT_FREQUENCY, HEIGHT_FREQUENCY, PLANE_FREQUENCY = 3.0, 3.0, 1.0
DAMPING_RATIO = 0.8
MISS = 1e-3  # how readily the demanded wrench is missed to keep forces small


class _ForceSharing:
    """
    Weighted least squares for foot forces, in closed form.

    ``f = W A^T (A W A^T + MISS S)^-1 F`` minimises
    ``|A f - F|^2_(S^-1) + MISS |f|^2_(W^-1)``, A: map to force and moment about the CoM, W:
    loads. Finite for two feet, which miss the moment about their line.
    """

    def __init__(self, mass: float, inertia: np.ndarray, time_unit: float, friction: float):
        self._mass = mass
        self._inertia = inertia
        self._friction = friction
        linear = np.array([PLANE_FREQUENCY, PLANE_FREQUENCY, HEIGHT_FREQUENCY]) / time_unit
        self._stiffness = linear ** 2
        self._damping = 2.0 * DAMPING_RATIO * linear
        tilt = TILT_FREQUENCY / time_unit
        self._tilt_stiffness, self._tilt_damping = tilt ** 2, 2.0 * DAMPING_RATIO * tilt
        length = GRAVITY * time_unit ** 2
        self._miss = np.diag(MISS * np.array([1.0, 1.0, 1.0, *[length ** 2] * 3]))

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
                                     0.7 * friction)
        self.reset()

    def reset(self) -> None:
        """Start over from where the robot is: hold the feet there, then level the base gently."""
        legs = self._legs
        legs.read(np.zeros(len(self._nominal), dtype=bool))
        diagonal = self._nominal[:, 0] * self._nominal[:, 1] > 0.0
        self.clock = TrotClock(diagonal, self._settings.period, self._settings.duty)
        self._speed = 0.0
        self._R_yaw = _rotation_about_z(np.arctan2(legs.R_WB[1, 0], legs.R_WB[0, 0]))
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
        load = legs._per_motor(self.clock.load)
        return JointTargets(
            position=legs.position + np.minimum(np.maximum(step, -MAX_STEP), MAX_STEP),
            velocity=rate,
            effort=legs.bias - legs._torque_of(force) + inertial,
            stiffness=settings.stiffness + load * (settings.stance_stiffness - settings.stiffness),
            damping=settings.damping + load * (settings.stance_damping - settings.damping))
