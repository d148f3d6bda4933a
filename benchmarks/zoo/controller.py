# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walks any of the zoo's robots: shared forces, inverse dynamics of the legs, joint PD."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.zoo.body import Body
from benchmarks.zoo.ground import Ground
from benchmarks.zoo.plan import Plan
from benchmarks.zoo.swing import swing_path
from legged_dynamics.simulation.walking import rotation_vector

MISS = 1e-3          # how readily the demanded wrench is missed to keep forces small
FREQUENCY = 40.0     # rad/s: joint PD of a swinging leg, with the leg's own inertia
REST = 0.03          # share of its load that keeps a foot on the ground
LEASH = 0.6          # s: how fast the plan follows where the robot has been pushed


@dataclass(frozen=True)
class Reference:
    """Where the centre of mass and the base's axes should be, in the ground's axes."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    R: np.ndarray


class Controller:
    """
    Turns a plan into torques.

    Parameters
    ----------
    body : Body
    plan : Plan
    reference : callable
        Of time [s]: the Reference.
    ground : Ground
        Its heights, and where feet keep off.
    gravity : (3,) array
        In the axes of the ground.
    lift, landing : float
        Height of the feet's apex above the higher of lift-off and touch-down [m]; landing
        speed [m/s].
    friction : float
    sole : (4,) sequence of float or None
        Front, back, left and right edge of the soles [m].

    """

    def __init__(self, body: Body, plan: Plan, reference: Callable[[float], Reference],
                 ground: Ground, gravity: np.ndarray, *, lift: float, landing: float,
                 friction: float, sole: list[float] | None):
        self.body, self.plan, self.reference, self.ground = body, plan, reference, ground
        self.gravity, self.lift, self.landing, self.friction = gravity, lift, landing, friction
        self.sole = sole
        height = body.com[2] - body.contact_point[:, 2].min()
        self.omega = np.sqrt(-gravity[2] / height)
        w = self.omega
        plane = (2.0 * w * w, 3.0 * w) if sole else (1.3 * w * w, 1.9 * w)
        self.kp = np.array([plane[0], plane[0], 9.0 * w * w])
        self.kd = np.array([plane[1], plane[1], 4.8 * w])
        self.k_tilt, self.d_tilt = 16.0 * w * w, 6.4 * w
        self.offset = np.zeros(2)
        self.anchor = body.contact_point.copy()
        self.lifted = body.contact_point.copy()
        self.target = body.contact_point.copy()
        self.standing = np.ones(len(self.anchor), dtype=bool)
        n = len(body.dofs)
        self.position, self.velocity, self.effort = body.q.copy(), np.zeros(n), np.zeros(n)
        self.kp_joint, self.kd_joint = np.zeros(n), np.zeros(n)

    def torque(self, q: np.ndarray, dq: np.ndarray, elapsed: float) -> np.ndarray:
        """Return the drives' torque, `elapsed` s after the last update."""
        return (self.effort + self.kp_joint * (self.position + elapsed * self.velocity - q)
                + self.kd_joint * (self.velocity - dq))

    def update(self, time: float, touching: np.ndarray, time_step: float) -> None:
        """Set the drives' targets from the state in `body`; `touching` (nf,) are feet down."""
        body, plan = self.body, self.plan
        body.read()
        wanted = self.reference(time)
        error = body.com - wanted.position
        error[:2] -= self.offset
        rate = body.com_velocity - wanted.velocity
        if plan.swing_time and not self.sole:
            self.offset += time_step / LEASH * error[:2]
        load = plan.load[plan.index(time)].copy()
        shift = self.offset + error[:2] + rate[:2] / self.omega
        foot = np.zeros((3, len(load), body.rows))      # target, velocity, acceleration
        for i in range(len(load)):
            foot[:, i] = self._foot(i, time, bool(touching[i]), shift, load)
        self._reflect(foot[2])
        force = self._share(self._demand(wanted, error, rate), load)
        self._joints(foot, force, load)

    def _foot(self, i: int, time: float, touching: bool, shift: np.ndarray,
              load: np.ndarray) -> np.ndarray:
        """Return displacement, velocity and acceleration wanted of a foot; may change its load."""
        body, plan = self.body, self.plan
        stands, stance, progress = plan.phase(i, time)
        point = body.contact_point[i]
        motion = np.zeros((3, body.rows))
        if body.rows == 6:
            motion[0, 3:] = -rotation_vector(body.foot_R[i])
        if stands or (progress > 0.6 and touching):
            if not self.standing[i]:
                if not touching and time - stance.start < 0.3:    # later than planned: go on down
                    load[i] = 0.0
                    motion[0, :3] = [0.0, 0.0, -self.landing * 0.01]
                    motion[1, 2] = -self.landing
                    return motion
                self.standing[i] = True
                self.anchor[i] = point
            motion[0, :3] = self.anchor[i] - point
            if touching:
                load[i] = max(load[i], REST)
            else:
                motion[0, 2] -= 0.002
            return motion
        load[i] = 0.0
        if self.standing[i]:
            self.standing[i] = False
            self.lifted[i] = point
        if progress < 0.7:
            x, y = stance.place + (shift if not self.sole else 0.0)
            x = self.ground.clear(x)
            self.target[i] = x, y, self.ground.height_of(x, y)
        top = max(self.lifted[i, 2], self.target[i, 2]) + self.lift
        position, motion[1, :3], motion[2, :3] = swing_path(
            self.lifted[i], self.target[i], top, self.landing, progress, plan.swing_time)
        motion[0, :3] = position - point
        return motion

    def _reflect(self, acceleration: np.ndarray) -> None:
        """Express the legs' motion by the base's: joint accelerations and the base's equations."""
        body = self.body
        free = slice(body.free, body.free + 6)
        self._base_inertia, self._base_bias = body.M[free, free].copy(), body.bias[free].copy()
        for i, motors in enumerate(body.motors):
            dofs = body.dofs[motors]
            across = body.M[free, dofs] @ body.inverse[i]
            self._base_inertia -= across @ body.J[i][:, free]
            self._base_bias += across @ (acceleration[i] - body.drift[i])

    def _demand(self, wanted: Reference, error: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return the force and moment about the centre of mass that the ground should give."""
        body = self.body
        demand = np.empty(6)
        demand[:3] = body.mass * (wanted.acceleration - self.kp * error - self.kd * rate
                                  - self.gravity)
        turning = (self.k_tilt * rotation_vector(body.R.T @ wanted.R)
                   - self.d_tilt * (body.R.T @ body.omega))
        # The base accelerates so that, with what the legs do, the whole feels this force.
        M, h = self._base_inertia, self._base_bias
        linear = np.linalg.solve(M[:3, :3], demand[:3] - h[:3] - M[:3, 3:] @ turning)
        moment = M[3:, :3] @ linear + M[3:, 3:] @ turning + h[3:]
        demand[3:] = body.R @ moment - np.cross(body.com - body.position, demand[:3])
        return demand

    def _share(self, demand: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Return the wrenches the feet should get, (nf, rows)."""
        body = self.body
        A = np.zeros((6, len(load), body.rows))
        arm = body.contact_point - body.com
        for axis, (after, last) in enumerate(((1, 2), (2, 0), (0, 1))):
            A[axis, :, axis] = 1.0
            A[3 + axis, :, last] = arm[:, after]
            A[3 + axis, :, after] = -arm[:, last]
            if body.rows == 6:
                A[3 + axis, :, 3 + axis] = 1.0
        weight = np.ones(body.rows)
        weight[3:] = 0.03 ** 2 if self.sole else 1.0
        length = 1.0 / self.omega ** 2 * 9.81
        A = A.reshape(6, -1)
        WA_T = (load[:, None] * weight).reshape(-1, 1) * A.T
        miss = MISS * np.array([1.0, 1.0, 1.0, *[length ** 2] * 3])
        force = (WA_T @ np.linalg.solve(A @ WA_T + np.diag(miss), demand)).reshape(len(load), -1)
        for f in force:
            f[2] = max(f[2], 0.0)
            most, along = 0.8 * self.friction * f[2], np.hypot(f[0], f[1])
            if along > most:
                f[:2] *= most / along
            if self.sole:
                front, back, left, right = (0.85 * edge for edge in self.sole)
                f[3] = min(max(f[3], right * f[2]), left * f[2])
                f[4] = min(max(f[4], -front * f[2]), -back * f[2])
                f[5] = min(max(f[5], -0.03 * f[2]), 0.03 * f[2])
        free = slice(body.free, body.free + 6)
        given = sum(f @ J[:, free] for f, J in zip(force, body.J))
        self._acceleration = np.linalg.solve(self._base_inertia, given - self._base_bias)
        return force

    def _joints(self, foot: np.ndarray, force: np.ndarray, load: np.ndarray) -> None:
        """Set joint targets, gains and feedforward."""
        body = self.body
        base_velocity = body.data.qvel[body.free:body.free + 6]
        acceleration = np.zeros(body.model.nv)
        acceleration[body.free:body.free + 6] = self._acceleration
        total = np.zeros(body.model.nv)
        for i, motors in enumerate(body.motors):
            dofs = body.dofs[motors]
            limit = 0.3
            step = np.clip(body.joint_motion(i, foot[0, i], np.zeros(6)), -limit, limit)
            self.position[motors] = body.q[motors] + step
            self.velocity[motors] = body.joint_motion(i, foot[1, i], base_velocity)
            acceleration[dofs] = body.joint_motion(i, foot[2, i] - body.drift[i],
                                                   self._acceleration)
            total += force[i] @ body.J[i]
            inertia = np.diag(body.M)[dofs]
            soft = 1.0 - 0.7 * load[i]
            self.kp_joint[motors] = soft * FREQUENCY ** 2 * inertia
            self.kd_joint[motors] = soft * 1.6 * FREQUENCY * inertia
        effort = body.M @ acceleration + body.bias - total
        self.effort = effort[body.dofs]
