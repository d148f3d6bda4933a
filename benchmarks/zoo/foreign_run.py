# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios of `foreign` in MuJoCo."""
from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from benchmarks.zoo.controller import FREQUENCY, Controller, Reference
from benchmarks.zoo.foreign import Foreign
from benchmarks.zoo.foreign_plan import LIFTED, ForeignPlan
from benchmarks.zoo.ground import EDGE, Ground
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import FLOORS
from benchmarks.zoo.simulate import CONTROL, FRICTION, SETTLING, TIME_STEP, _Run
from legged_dynamics.simulation.plant import GROUND, ROBOT, add_floor
from legged_dynamics.simulation.schedule import minimum_jerk
from legged_dynamics.simulation.walking import rotation_vector

TREAD, STEPS = 0.9, 3           # of the height: depth of a stair; how many
ARM_PACE = 2.5                  # rad/s
HAND = 60.0                     # rad/s: how stiff the hand is
RAISED = 0.1                    # m
BELLY = (1.0, 2.5)         # s: sits down, from when to when it rests


def simulate_foreign(scenario: Foreign, rate: float = 500.0) -> Recording:
    """
    Run a scenario; its start and its faults are not in the recording, see `foreign.altered`.

    Raises
    ------
    SimulationError
        When the robot falls.
    MissingRobot
        When its description is not installed.

    """
    return _ForeignRun(scenario, rate).run()


class _ForeignController(Controller):
    """Holds what belongs to no leg, and rests its legs while the robot is in somebody's hands."""

    def __init__(self, *arguments, resting: Callable[[float], bool], arm: float, **more):
        super().__init__(*arguments, **more)
        body = self.body
        self.resting, self.arm, self._time = resting, arm, 0.0
        legs = np.concatenate(body.motors)
        self.free_joints = np.setdiff1d(np.arange(len(body.dofs)), legs)
        self.home = body.q.copy()

    def update(self, time: float, touching: np.ndarray, time_step: float) -> None:
        """Set the drives' targets."""
        self._time = time
        if not self.resting(time):
            super().update(time, touching, time_step)
            return
        body = self.body
        body.read()
        inertia = np.diag(body.M)[body.dofs]
        if self.standing.any():
            self.home = body.q.copy()
        self.position[:], self.velocity[:] = self.home, 0.0
        self.kp_joint[:], self.kd_joint[:] = 900.0 * inertia, 40.0 * inertia
        self.effort = body.bias[body.dofs].copy()
        self.standing[:], self.offset[:] = False, 0.0
        self.lifted[:] = self.target[:] = body.contact_point

    def _joints(self, foot: np.ndarray, force: np.ndarray, load: np.ndarray) -> None:
        super()._joints(foot, force, load)
        held = self.free_joints
        if len(held):
            inertia = np.diag(self.body.M)[self.body.dofs[held]]
            t = max(self._time - 1.0, 0.0)
            self.position[held] = self.home[held] + self.arm * np.sin(ARM_PACE * t)
            self.velocity[held] = self.arm * ARM_PACE * np.cos(ARM_PACE * t) * (t > 0.0)
            self.kp_joint[held] = FREQUENCY ** 2 * inertia
            self.kd_joint[held] = 1.6 * FREQUENCY * inertia


class _ForeignRun(_Run):
    scenario: Foreign

    def _floor(self) -> dict[str, float]:
        s = self.scenario
        return {'foot_friction': s.friction, 'contact_time': s.sink or FLOORS[s.floor]}

    def _scenery(self, spec: mujoco.MjSpec, ground: Callable) -> None:
        s = self.scenario
        if s.tilting:
            plate = spec.worldbody.add_body(name='plate')
            plate.add_joint(name='tilt', type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.3, 1.0, 0.0])
            size = 2.0 * self.height
            plate.add_geom(name='plate', type=mujoco.mjtGeom.mjGEOM_BOX, size=[size, size, 0.05],
                           pos=[0.0, 0.0, -0.05], contype=GROUND, conaffinity=ROBOT)
            plate.mass, plate.explicitinertial = 500.0, True
            plate.inertia = [200.0, 200.0, 200.0]
        else:
            super()._scenery(spec, ground if not s.stairs else self._add_stairs)
        if s.belly:
            spec.body(self.base).add_geom(
                name='belly', type=mujoco.mjtGeom.mjGEOM_BOX, contype=ROBOT, conaffinity=GROUND,
                size=[0.7 * self.height, 0.5 * self.height, 0.05 * self.height], mass=0.0,
                pos=[0.0, 0.0, -0.2 * self.height], friction=[0.8, 0.005, 1e-4])

    def _rises(self, x: float) -> float:
        """Return the height of the stairs at x."""
        begin, tread = self.front + 0.9 * self.height, TREAD * self.height
        return self.scenario.stairs * float(np.clip(np.floor((x - begin) / tread) + 1, 0, STEPS))

    def _add_stairs(self, spec: mujoco.MjSpec) -> None:
        add_floor(spec)
        for k in range(STEPS):
            low = self.front + (0.9 + TREAD * k) * self.height
            top = self.scenario.stairs * (k + 1)
            spec.worldbody.add_geom(
                name=f'stair{k}', type=mujoco.mjtGeom.mjGEOM_BOX, contype=GROUND,
                conaffinity=ROBOT, pos=[low + 5.0, 0.0, top - 0.5], size=[5.0, 5.0, 0.5])

    @property
    def front(self) -> float:
        """Return how far ahead the first foot stands [m]."""
        if not hasattr(self, '_front'):
            model, data = self._build(lambda spec: None)
            data.qpos[model.jnt_qposadr[[model.joint(n).id for n in self.joints]]] = [
                self.zoo.pose[n] for n in self.joints]
            mujoco.mj_forward(model, data)
            self._front = float(data.site_xpos[self._sites(model)][:, 0].max())
        return self._front

    def _clear(self, x: float) -> float:
        """Return the nearest x off the edges of the stairs."""
        begin, tread = self.front + 0.9 * self.height, TREAD * self.height
        for k in range(STEPS):
            low = begin + k * tread
            if abs(x - low) < EDGE:
                return low + (EDGE if x > low else -EDGE)
        return x

    def _control(self) -> None:
        s = self.scenario
        super()._control()
        if s.stairs:
            self.ground = Ground(self.ground.R, lambda x, y: self._rises(x), self._clear)
        body, h = self.body, self.com_height
        if s.pattern:
            velocity = (s.speed * h, s.sideways * h, s.turning)
            self.plan = ForeignPlan(body.contact_point[:, :2].copy(), s.pattern,
                                    s.seconds + SETTLING, velocity, h, self.gravity,
                                    CONTROL * TIME_STEP, s.period * np.sqrt(h / 9.81), s.calm)
            self.rise = self.plan.heights(self.ground.height_of, 0.25)
        self.controller = _ForeignController(
            body, self.plan, self._reference, self.ground, self.gravity, lift=s.lift * h,
            landing=s.landing, friction=FRICTION, sole=self.sole, resting=self._resting,
            arm=s.arm)
        self.start_position = self.data.xpos[body.base].copy()
        self.touched = False
        if s.hand == 'drop':
            self.data.qpos[body.free_qpos + 2] += RAISED
            mujoco.mj_forward(self.model, self.data)

    def _held(self, time: float) -> float:
        """Return by how much the hand has raised the robot [m], -1 without a hand."""
        s, t = self.scenario, time - SETTLING
        if s.hand == 'drop':
            return RAISED if t < 1.0 else -1.0
        if s.hand == 'lift' and 1.5 < t < 6.0:
            up, _, _ = minimum_jerk(np.clip((t - 1.5) / 1.0, 0.0, 1.0), 1.0)
            down, _, _ = minimum_jerk(np.clip((t - 5.0) / 1.0, 0.0, 1.0), 1.0)
            return RAISED * (up - down)
        return -1.0

    def _resting(self, time: float) -> bool:
        s, t = self.scenario, time - SETTLING
        if s.hand == 'drop':
            if t > 1.0 and self.data.ncon:
                self.touched = True
            return not self.touched
        if s.hand == 'lift':
            return 1.7 < t < 5.9
        return s.belly and t > BELLY[1]

    def _reference(self, time: float) -> Reference:
        found = super()._reference(time)
        plan, s = self.plan, self.scenario
        if isinstance(plan, ForeignPlan):
            k = plan.index(time)
            found.position[2] += plan.height[k]
            found.velocity[2] += plan.height_rate[k]
            found.acceleration[2] += plan.height_acceleration[k]
            c, sn = np.cos(plan.yaw[k]), np.sin(plan.yaw[k])
            turned = np.array([[c, -sn, 0.0], [sn, c, 0.0], [0.0, 0.0, 1.0]]) @ found.R
            return Reference(found.position, found.velocity, found.acceleration, turned)
        if s.belly:
            t = time - SETTLING
            down, rate, curve = minimum_jerk(float(np.clip((t - BELLY[0]) / 1.5, 0, 1)), 1.5)
            found.position[2] -= 0.75 * self.com_height * down
            found.velocity[2] -= 0.75 * self.com_height * rate
            found.acceleration[2] -= 0.75 * self.com_height * curve
        return found

    def _push(self, time: float) -> None:
        super()._push(time)
        data, s, t = self.data, self.scenario, time - SETTLING
        if s.tilting:
            goal = np.deg2rad(s.tilting) * np.sin(1.6 * max(t - 1.0, 0.0))
            dof = self.model.joint('tilt').dofadr[0]
            angle = data.qpos[self.model.joint('tilt').qposadr[0]]
            data.qfrc_applied[dof] = 200.0 * (900.0 * (goal - angle) - 60.0 * data.qvel[dof])
        if s.hand:
            self._hold(self._held(time))

    def _hold(self, raised: float) -> None:
        """Pull the base to where the hand is."""
        data, body = self.data, self.body
        data.xfrc_applied[body.base] = 0.0
        if raised < 0.0:
            return
        mass, w = body.mass, HAND / 4.0
        goal = self.start_position + np.array([0.0, 0.0, raised])
        velocity = data.qvel[body.free:body.free + 3]
        R = data.xmat[body.base].reshape(3, 3)
        force = mass * (w * w * (goal - data.xpos[body.base]) - 2.0 * w * velocity)
        share = min(raised / 0.02, 1.0)
        force[2] += share * mass * 9.81
        turn = body.inertia @ (w * w * rotation_vector(R.T @ self.start_R)
                               - 2.0 * w * data.qvel[body.free + 3:body.free + 6])
        force, moment = share * force, share * (R @ turn)
        arm = data.xpos[body.base] - data.xipos[body.base]
        data.xfrc_applied[body.base] = [*force, *(np.cross(arm, force) + moment)]
        self.external[:] = *force, *moment

    def _row(self, time: float, step: int) -> tuple:
        if self.scenario.belly:
            self.external = self._on_belly()
        return super()._row(time, step)

    def _on_belly(self) -> np.ndarray:
        model, data, total, local = self.model, self.data, np.zeros(6), np.zeros(6)
        belly = model.geom('belly').id
        for k in range(data.ncon):
            contact = data.contact[k]
            if belly in contact.geom:
                mujoco.mj_contactForce(model, data, k, local)
                sign = 1.0 if contact.geom[1] == belly else -1.0
                force = sign * (local[:3] @ contact.frame.reshape(3, 3))
                total[:3] += force
                total[3:] += np.cross(contact.pos - data.xpos[self.body.base], force)
        return total

    def _scored(self) -> tuple[float, float]:
        begin, end = super()._scored()
        return (0.1, end) if self.scenario.hand == 'drop' else (begin, end)

    def _check(self, time: float) -> None:
        if not (self.scenario.belly or self.scenario.hand):
            super()._check(time)

    def _check_steps(self, made: Recording) -> None:
        s = self.scenario
        planned = not (s.belly or s.hand or s.pattern in LIFTED)
        if planned and s.lift > 0.05 and s.friction > 0.5:      # others scuff, slide and are held
            super()._check_steps(made)
