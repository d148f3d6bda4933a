# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario in MuJoCo and records all that is true of it."""
from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from scipy.signal import butter, filtfilt, lfilter

from benchmarks.zoo.body import Body
from benchmarks.zoo.contact_events import BOUNCE, closed
from benchmarks.zoo.controller import Controller, Reference
from benchmarks.zoo.descriptions import rotation_of_rpy, scaled
from benchmarks.zoo.ground import ground_of
from benchmarks.zoo.plan import Plan
from benchmarks.zoo.recording import CUTOFF, Recording
from benchmarks.zoo.robots import by_joint, nominal, robot
from benchmarks.zoo.scenarios import FLOORS, Scenario
from benchmarks.zoo.truth import ground_forces, ground_wrenches
from legged_dynamics.exceptions import SimulationError
from legged_dynamics.model import FlatFoot
from legged_dynamics.simulation.plant import build_world
from legged_dynamics.simulation.schedule import minimum_jerk
from legged_dynamics.simulation.truth import ContactTruth
from legged_dynamics.simulation.walking import rotation_matrix, rotation_vector

TIME_STEP = 2.5e-4       # s, physics
CONTROL = 8              # physics steps a control period
FRICTION = 0.8
BANDWIDTH = 150.0        # Hz, of the second accelerometer
SETTLING = 0.5           # s, before the recording starts
PUSH = 0.6               # s


def simulate(scenario: Scenario, rate: float = 500.0) -> Recording:
    """
    Run a scenario.

    Parameters
    ----------
    scenario : Scenario
    rate : float
        Samples a second: 100, 200, 400, 500 or 1000.

    Raises
    ------
    SimulationError
        When the robot falls, or the rate does not divide the physics' 4000 Hz.
    MissingRobot
        When the robot's description is not installed.

    """
    return _Run(scenario, rate).run()


class _Run:
    def __init__(self, scenario: Scenario, rate: float):
        self.scenario, self.rate = scenario, rate
        self.every = round(1.0 / (rate * TIME_STEP))
        if abs(self.every * TIME_STEP * rate - 1.0) > 1e-9:
            raise SimulationError(f'expected a rate that divides {1 / TIME_STEP:g} Hz, got {rate}')
        self.height = 0.0
        self.zoo = zoo = robot(scenario.robot)
        self.config, self.estimator_model = zoo.config, zoo.model
        self.joints = self.estimator_model.joint_names
        self.feet = tuple(foot.link for foot in self.config.feet)
        foot = self.config.feet[0]
        self.flat = isinstance(foot, FlatFoot)
        self.radius = 0.0 if self.flat else foot.radius
        self.sole = [foot.front, foot.back, foot.left, foot.right] if self.flat else None
        self.base = self.config.base_link or self.estimator_model.base_link
        self.gravity = np.array([0.0, 0.0, -9.81])
        first = self._build(lambda spec: None)
        self._pose(first[0], first[1], np.zeros((len(self.feet), 3)))
        places = first[1].site_xpos[self._sites(first[0])].copy()
        height = float(first[1].subtree_com[first[0].body(self.base).id][2])
        self.height = height
        self.ground, scenery = ground_of(scenario, places[0], height)
        self.model, self.data = self._build(lambda spec: self._scenery(spec, scenery))
        self.gravity = self.ground.R.T @ [0.0, 0.0, -9.81]
        self.model.opt.gravity[:] = self.gravity
        lifts = np.array([[0.0, 0.0, self.ground.height_of(*place[:2])] for place in places])
        self._pose(self.model, self.data, lifts)
        self.body = Body(self.model, self.data, self.feet, self.base, 6 if self.flat else 3,
                         self.radius)
        self._control()

    # ---- building --------------------------------------------------------------------------

    def _build(self, scenery: Callable) -> tuple[mujoco.MjModel, mujoco.MjData]:
        physics = {key: np.array([by_joint(self.zoo, getattr(self.config, name))[joint]
                                  for joint in self.joints])
                   for key, name in (('armature', 'armature'), ('damping', 'joint_damping'),
                                     ('friction', 'joint_friction'))}
        model = build_world(
            self.zoo.urdf, base_link=self.base, imu_link=self.config.imu_link, joints=self.joints,
            feet=self.feet, timestep=TIME_STEP, scenery=scenery, **self._floor(), **physics)
        return model, mujoco.MjData(model)

    def _floor(self) -> dict[str, float]:
        """Return what feet and ground are like to each other."""
        return {'foot_friction': FRICTION, 'contact_time': FLOORS[self.scenario.floor]}

    def _scenery(self, spec: mujoco.MjSpec, ground: Callable) -> None:
        ground(spec)
        if self.scenario.payload:
            mass = self.scenario.payload * self.estimator_model.total_mass
            load = spec.body(self.base).add_body(name='payload',
                                                 pos=[0.1 * self.height, 0.0, 0.3 * self.height])
            load.mass, load.inertia = mass, 3 * [mass * (0.1 * self.height) ** 2]
            load.explicitinertial = True

    def _sites(self, model: mujoco.MjModel) -> np.ndarray:
        return np.array([model.site(foot).id for foot in self.feet])

    def _pose(self, model: mujoco.MjModel, data: mujoco.MjData, lifts: np.ndarray) -> None:
        """Stand with the feet on the ground at their nominal places, by Newton's method."""
        joints = [model.joint(name).id for name in self.joints]
        qpos = model.jnt_qposadr[joints]
        data.qpos[qpos] = nominal(self.zoo, self.joints)
        mujoco.mj_forward(model, data)
        free = model.jnt_qposadr[model.body_jntadr[model.body(self.base).id]]
        foot = data.site_xpos[self._sites(model)]
        data.qpos[free + 2] += self.radius - foot[:, 2].min()
        mujoco.mj_forward(model, data)
        body = Body(model, data, self.feet, self.base, 6 if self.flat else 3, self.radius)
        wanted = body.contact_point.copy()
        wanted[:, 2] = lifts[:, 2]
        data.qpos[free + 2] -= self.scenario.crouch * body.com[2]
        # On a slope the body begins uphill of its feet, where it can stand.
        data.qpos[free:free + 2] += body.com[2] * self.gravity[:2] / self.gravity[2]
        for _ in range(60):
            mujoco.mj_forward(model, data)
            body.read()
            for i, motors in enumerate(body.motors):
                miss = np.zeros(body.rows)
                miss[:3] = wanted[i] - body.contact_point[i]
                if self.flat:
                    R = body.foot_R[i]
                    miss[3:] = 0.5 * sum(np.cross(R[:, k], np.eye(3)[k]) for k in range(3))
                data.qpos[qpos[motors]] += np.clip(
                    body.joint_motion(i, miss, np.zeros(6)), -0.2, 0.2)
        mujoco.mj_forward(model, data)

    # ---- control ---------------------------------------------------------------------------

    def _control(self) -> None:
        s, body, plan_step = self.scenario, self.body, CONTROL * TIME_STEP
        self.com_height = float(body.com[2] - np.mean(body.contact_point[:, 2]))
        self.plan = Plan(body.contact_point[:, :2].copy(), s.motion, s.seconds + SETTLING,
                         s.speed * self.com_height, self.com_height, self.gravity, plan_step,
                         s.period * np.sqrt(self.com_height / 9.81), s.calm)
        self.rise = self.plan.heights(self.ground.height_of, 0.25)
        self.start_com, self.start_R = body.com.copy(), body.R.copy()
        level = self.ground.R.T if s.level else np.eye(3)
        self.R_goal = level @ rotation_of_rpy(np.deg2rad([*s.tilt, 0.0]))
        self.turn = rotation_vector(self.R_goal)
        self.controller = Controller(
            body, self.plan, self._reference, self.ground, self.gravity,
            lift=s.lift * self.com_height, landing=s.landing, friction=FRICTION, sole=self.sole)

    def _reference(self, time: float) -> Reference:
        s, plan = self.scenario, self.plan
        k = plan.index(time)
        blend, rate, curve = minimum_jerk(min(time / s.calm, 1.0), s.calm)
        centre = np.array([*plan.centre[k], self.com_height + self.rise[k]])
        velocity = np.array([*plan.rate[k], 0.0])
        acceleration = np.array([*plan.acceleration[k], 0.0])
        start = self.start_com - centre
        position = centre + (1.0 - blend) * start
        t = max(time - s.calm, 0.0)
        if s.motion in ('squat', 'shift'):
            height, w = self.com_height, 2.0 * np.pi * np.array([0.35, 0.5, 0.6])
            size = np.array([0.0, 0.0, 0.1]) if s.motion == 'squat' else \
                np.array([0.04, 0.08, 0.02])
            if self.flat:
                size = size * [0.6, 0.5, 0.5]
            ramp = min(t / 1.0, 1.0)
            position = position + ramp * height * size * np.sin(w * t)
            velocity = velocity + ramp * height * size * w * np.cos(w * t)
            acceleration = acceleration - ramp * height * size * w * w * np.sin(w * t)
        return Reference(position, velocity - rate * start, acceleration - curve * start,
                         rotation_matrix(blend * self.turn))

    # ---- running ---------------------------------------------------------------------------

    def run(self) -> Recording:
        model, data, s = self.model, self.data, self.scenario
        contacts = ContactTruth(model, self.feet)
        steps = round((s.seconds + SETTLING) / TIME_STEP)
        first = round(SETTLING / TIME_STEP)
        accelerometer = np.empty((steps, 3))
        pressed = np.empty((steps, len(self.feet), 3))
        bodies = {int(model.site_bodyid[site]): i for i, site in enumerate(self.body.sites)}
        acc = model.sensor('accelerometer').adr[0]
        touching = np.ones(len(self.feet), dtype=bool)
        rows: list[tuple] = []
        for step in range(steps):
            time = step * TIME_STEP
            self._push(time)
            if step % CONTROL == 0:
                mujoco.mj_forward(model, data)
                touching = contacts.read(data).contact
                self.controller.update(time, touching, CONTROL * TIME_STEP)
            data.ctrl[:] = self.controller.torque(
                data.qpos[self.body.qpos], data.qvel[self.body.dofs],
                step % CONTROL * TIME_STEP)
            if step >= first and (step - first) % self.every == 0:
                mujoco.mj_forward(model, data)
                rows.append(self._row(time - SETTLING, step))
            mujoco.mj_step(model, data)
            accelerometer[step] = data.sensordata[acc:acc + 3]
            R = data.xmat[self.body.base].reshape(3, 3)
            pressed[step] = ground_forces(model, data, bodies) @ R
            if step % 400 == 0:
                self._check(time)
        slow = lfilter(*butter(2, BANDWIDTH, fs=1.0 / TIME_STEP), accelerometer - accelerometer[0],
                       axis=0) + accelerometer[0]
        smooth = filtfilt(*butter(2, CUTOFF, fs=1.0 / TIME_STEP), pressed, axis=0)
        made = self._recording(rows, slow, smooth)
        self._check_steps(made)
        return made

    def _check_steps(self, made: Recording) -> None:
        """Every foot must have landed as often as planned: a robot that drags its feet is out."""
        for i, stances in enumerate(self.plan.stances):
            down = closed(made.contact[:, i], max(round(BOUNCE * self.rate), 1))
            landings = int((down[1:] & ~down[:-1]).sum())
            planned = len(stances) - 1
            if not planned - 1 <= landings <= 1.5 * planned + 1:
                raise SimulationError(f'{self.scenario.name}: {self.feet[i]} landed {landings} '
                                      f'times, {planned} were planned')

    def _scored(self) -> tuple[float, float]:
        s = self.scenario
        begin = max(s.calm - SETTLING, 0.1)
        return begin, s.seconds - (s.calm if s.stepping else 0.0)

    def _check(self, time: float) -> None:
        R = self.data.xmat[self.body.base].reshape(3, 3)
        height = self.data.subtree_com[self.body.base][2]
        if not np.isfinite(height) or height < 0.5 * self.com_height or R[2, 2] < 0.7:
            raise SimulationError(f'{self.scenario.name}: the robot fell at {time:.2f} s')

    def _push(self, time: float) -> None:
        s, data = self.scenario, self.data
        self.external = np.zeros(6)
        if not s.push:
            return
        t = time - SETTLING - self.scenario.calm
        number, inside = int(t // 2.0), t % 2.0
        if t < 0.0 or number > 2 or inside > PUSH:
            data.xfrc_applied[self.body.base] = 0.0
            return
        size = s.push * self.estimator_model.total_mass * 9.81 * min(
            inside / 0.05, 1.0, (PUSH - inside) / 0.05)
        direction = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [-0.6, -0.8, 0.0]])[number]
        force = size * direction
        arm = data.xpos[self.body.base] - data.xipos[self.body.base]
        data.xfrc_applied[self.body.base] = [*force, *np.cross(arm, force)]
        self.external[:3] = force

    def _row(self, time: float, step: int) -> tuple:
        """Return the truth now, in a world whose z is up."""
        model, data, G = self.model, self.data, self.ground.R
        R = G @ data.xmat[self.body.base].reshape(3, 3)
        twist = data.qvel[self.body.free:self.body.free + 6]
        rate = data.qacc[self.body.free:self.body.free + 6]
        wrench, point, normal, load = ground_wrenches(model, data, self.body.sites, self.radius)
        sensor = data.sensordata
        gyro, acc, quat = (model.sensor(name).adr[0] for name in
                           ('gyro', 'accelerometer', 'orientation'))
        imu = np.empty(9)
        mujoco.mju_quat2Mat(imu, sensor[quat:quat + 4])
        ext = np.concatenate([R.T @ G @ self.external[:3], R.T @ G @ self.external[3:]])
        return (time, step, data.qpos[self.body.qpos].copy(), data.qvel[self.body.dofs].copy(),
                data.qacc[self.body.dofs].copy(), data.actuator_force.copy(),
                sensor[gyro:gyro + 3].copy(), sensor[acc:acc + 3].copy(), G @ imu.reshape(3, 3),
                G @ data.qpos[self.body.free_qpos:self.body.free_qpos + 3], R,
                np.concatenate([R.T @ G @ twist[:3], twist[3:]]),
                np.concatenate([R.T @ G @ rate[:3], rate[3:]]),
                (wrench.reshape(-1, 2, 3) @ G.T).reshape(-1, 6), point @ G.T, normal @ G.T, load,
                data.site_xpos[self.body.sites] @ G.T,
                np.einsum('ij,fjk->fik', G, data.site_xmat[self.body.sites].reshape(-1, 3, 3)),
                ext)

    def _recording(self, rows: list[tuple], slow: np.ndarray, smooth: np.ndarray) -> Recording:
        (time, step, q, v, a, tau, gyro, acc, imu, base_p, base_R, twist, acceleration, wrench,
         point, normal, load, foot_p, foot_R, external) = (np.array(x) for x in zip(*rows))
        urdf = self.zoo.urdf
        if self.scenario.mass_error:
            urdf = scaled(urdf, 1.0 + self.scenario.mass_error)
        return Recording(
            name=self.scenario.name, robot=self.scenario.robot, rate=self.rate, urdf=urdf,
            parameters=self.zoo.parameters, joints=self.joints, feet=self.feet,
            scored=self._scored(), weight=self.estimator_model.total_mass * 9.81,
            stamp_ns=np.round(time * 1e9).astype(np.int64), q=q, v=v, qdd=a, tau=tau, gyro=gyro,
            accelerometer=acc, slow_accelerometer=slow[step], imu_rotation=imu,
            base_position=base_p, base_rotation=base_R, base_twist=twist,
            base_acceleration=acceleration, wrench=wrench, contact_point=point,
            ground_normal=normal, normal_force=load, foot_position=foot_p, foot_rotation=foot_R,
            external_wrench=external, smooth_force_B=smooth[step])
