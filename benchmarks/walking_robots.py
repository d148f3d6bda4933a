# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A robot in MuJoCo under the package's own estimator, odometry and controller, in one process.

What a node would do at every sample is done here without a bus: sensors with the errors of the
field, efforts that reach the motors some milliseconds later, joint friction that the
configuration does not know.
"""
from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np

from benchmarks.zoo.descriptions import prepared
from benchmarks.zoo.robots import ZooRobot, by_joint, robot
from benchmarks.zoo.sensors import FIELD
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import GroundReactionEstimator, LegOdometry, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
from legged_dynamics.model.shapes import read_looks
from legged_dynamics.model.urdf import read_description_file
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation.plant import GROUND, ROBOT, Plant, add_floor, build_world
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_vector,
    rotation_vector,
)
from legged_dynamics.workspace import WorkspaceController
from legged_dynamics.workspace.prediction import StatePredictor
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.walking import make_walker

RATE, STEP = 500.0, 1e-3
TAKEN = 0.3     # s, when the controller takes over from stiff joints


def described(path: Path) -> ZooRobot:
    """
    Return a robot as `legged-dynamics new-robot` describes it, with nothing changed by hand.

    Parameters
    ----------
    path : Path
        The URDF.

    Returns
    -------
    ZooRobot

    """
    text = read_description_file(path)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        model = RobotModel.from_xml(text)
        guess = guess_robot(model, read_looks(text))
        with TemporaryDirectory() as folder:
            yaml = Path(folder) / 'robot.yaml'
            yaml.write_text(robot_yaml(model, guess, path.name), encoding='utf-8')
            parameters = {name: value for name, value in read_parameter_file(yaml).items()
                          if name.startswith(('robot.', 'noise.'))}
        # As the simulator reads it: feet where the YAML says, inertias that bodies can have.
        urdf = Plant.from_parameters(parameters, text).physics
    for name in ('robot.foot_parents', 'robot.foot_frames') if urdf else ():
        parameters.pop(name, None)
    parameters.setdefault('robot.imu_link', model.base_link)
    config = RobotConfig.from_parameters(parameters)
    return ZooRobot(path.stem, urdf or prepared(text, config.feet), parameters,
                    dict(zip(config.joints, config.nominal_position)))


class Laboratory:
    """
    A robot that stands on its ground, and what its sensors say.

    Parameters
    ----------
    zoo : ZooRobot or str
        The robot, or its name in the zoo.
    seed : int
        Of the sensors' errors.
    friction : float
        Dry friction of joints beside the configured one, as a part of the effort limit.
    delay : float [s]
        From a sample to the efforts that answer it.
    floor_friction, contact_time : float
        Friction coefficient; time constant of the contacts [s].
    payload : tuple
        Mass in masses of the robot, and where it is in base axes [m].
    lighter : float
        By which part the controller's model is lighter than the robot.
    scenery : callable
        Adds the ground.
    slope : tuple of float [rad]
        Tilt of the whole floor about its x and y.
    options : callable, optional
        Changes the physics' options.

    """

    def __init__(self, zoo: ZooRobot | str, seed: int = 0, friction: float = 0.03,
                 delay: float = 0.005, floor_friction: float = 0.8, contact_time: float = 0.01,
                 payload: tuple[float, Any] | None = None, lighter: float = 0.0,
                 scenery: Callable = add_floor, slope: tuple[float, float] = (0.0, 0.0),
                 options: Callable | None = None):
        zoo = robot(zoo) if isinstance(zoo, str) else zoo
        self.zoo, self.config = zoo, zoo.config
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            self.known = zoo.model
        self.joints = self.known.joint_names
        config = self.config
        # Joints that follow others are in no list of the YAML, and are held where they start.
        self._following = [name not in config.joints for name in self.joints]
        physics = {key: np.array([by_joint(zoo, getattr(config, name))[joint]
                                  for joint in self.joints])
                   for key, name in (('armature', 'armature'), ('damping', 'joint_damping'),
                                     ('friction', 'joint_friction'))}
        limits = np.where(np.isfinite(self.known.effort_limits), self.known.effort_limits, 0.0)
        physics['friction'] = physics['friction'] + friction * limits
        self.limits = limits
        self.base = config.base_link or self.known.base_link
        self.feet = tuple(foot.link for foot in config.feet)
        self.radius = getattr(config.feet[0], 'radius', 0.0)

        def world(spec: mujoco.MjSpec) -> None:
            scenery(spec)
            if payload:
                load = spec.body(self.base).add_body(name='payload', pos=list(payload[1]))
                load.mass = payload[0] * self.known.total_mass
                load.inertia, load.explicitinertial = 3 * [1e-4 * load.mass], True

        self.model = build_world(
            zoo.urdf, base_link=self.base, imu_link=config.imu_link or self.base,
            joints=self.joints, feet=self.feet, timestep=STEP, foot_friction=floor_friction,
            contact_time=contact_time, scenery=world, **physics)
        if lighter:
            self.model.body_mass[:] /= 1.0 - lighter
            self.model.body_inertia[:] /= 1.0 - lighter
        if options:
            options(self.model)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        tilt = rotation_from_vector(np.array([*slope, 0.0]))
        self.model.opt.gravity[:] = tilt.T @ [0.0, 0.0, -GRAVITY]
        self.tilt = tilt        # from the floor's axes to those of the world
        self._tilted = quaternion_from_rotation(tilt)[[3, 0, 1, 2]]
        ids = [self.model.joint(name).id for name in self.joints]
        self._qpos, self._dofs = self.model.jnt_qposadr[ids], self.model.jnt_dofadr[ids]
        self._body = self.model.body(self.base).id
        free = self.model.body_jntadr[self._body]
        self._free = int(self.model.jnt_qposadr[free])
        self._free_dof = int(self.model.jnt_dofadr[free])
        data = self.data
        data.qpos[self._qpos] = config.nominal_in(self.known)
        mujoco.mj_forward(self.model, data)
        if config.feet[0].moments:
            level = np.empty(4)
            mujoco.mju_mat2Quat(level, data.site(self.feet[0]).xmat)
            mujoco.mju_negQuat(data.qpos[self._free + 3:self._free + 7], level)
            mujoco.mj_forward(self.model, data)
        low = min(data.site(foot).xpos[2] for foot in self.feet)
        data.qpos[self._free + 2] += self.radius - low
        mujoco.mj_forward(self.model, data)
        self.height = float(data.xpos[self._body][2])
        rng = self._rng = np.random.default_rng(seed)
        n = len(self.joints)
        self._gain = 1.0 + FIELD['effort_gain'] * rng.standard_normal(n)
        self._offset = FIELD['effort_offset'] * limits * rng.standard_normal(n)
        self._bias = {name: FIELD[name + '_bias'] * rng.standard_normal(3)
                      for name in ('gyro', 'accelerometer', 'orientation')}
        self._queue: deque = deque()
        self.delay, self._late = delay, round(delay / STEP)
        self.time, self._steps = 0.0, 0
        self.fallen = False
        self.effort = np.zeros(n)
        # Until the first command the joints are held by a stiff drive.
        self._start = data.qpos[self._qpos].copy()
        self._held = self._start
        self.estimator = GroundReactionEstimator(self.known, config)
        self.odometry = LegOdometry(self.known, config)
        self.commanded = False

    def sense(self) -> Measurement:
        """Return what the sensors say now."""
        rng, data = self._rng, self.data
        n = len(self.joints)
        white = rng.standard_normal(3 * n + 9)
        q = data.qpos[self._qpos] + FIELD['position'] * white[:n]
        v = data.qvel[self._dofs] + FIELD['velocity'] * white[n:2 * n]
        tau = (data.actuator_force * self._gain + self._offset
               + FIELD['effort'] * self.limits * white[2 * n:3 * n])
        noise = white[3 * n:].reshape(3, 3)
        sensor = data.sensordata
        gyro = sensor[:3] + self._bias['gyro'] + FIELD['gyro'] * noise[0]
        accelerometer = (sensor[3:6] + self._bias['accelerometer']
                         + FIELD['accelerometer'] * noise[1])
        off, turn, whole = (self._bias['orientation'] + FIELD['orientation'] * noise[2],
                            np.array([1.0, 0.0, 0.0, 0.0]), np.empty(4))
        mujoco.mju_quatIntegrate(turn, off, 1.0)
        mujoco.mju_mulQuat(whole, turn, self._tilted)
        mujoco.mju_mulQuat(whole, whole.copy(), sensor[6:10])
        xyzw = whole[[1, 2, 3, 0]]
        return Measurement(round(self.time * 1e9) + 1_000_000_000, q, v, tau, gyro, accelerometer,
                           xyzw)

    def push(self, force: np.ndarray) -> None:
        """Push the base with a force in axes of the floor [N]."""
        self.data.xfrc_applied[self._body, :3] = force

    def step(self, effort: np.ndarray | None) -> None:
        """Go on by one sample; efforts reach the motors after the delay."""
        if effort is not None:
            self._queue.append((self._steps + self._late, effort.copy()))
            self.commanded = True
        for _ in range(round(1.0 / (RATE * STEP))):
            self._advance(self._efforts())
            self._steps += 1
        self.time = self._steps * STEP
        up = (self.tilt @ self.data.xmat[self._body].reshape(3, 3))[2, 2]
        self.fallen = self.fallen or bool(
            up < 0.5 or self.data.xpos[self._body][2] < 0.4 * self.height)

    def _efforts(self) -> np.ndarray:
        """Return the efforts that have reached the motors."""
        while self._queue and self._queue[0][0] <= self._steps:
            self.effort, self._held = self._queue.popleft()[1], None
        held = (12.0 * self.limits * (self._start - self.data.qpos[self._qpos])
                - 0.3 * self.limits * self.data.qvel[self._dofs])
        return held if self._held is not None else np.where(self._following, held, self.effort)

    def _advance(self, effort: np.ndarray) -> None:
        """Move the physics on by a step with efforts of the motors, which cut them."""
        self.data.ctrl[:] = effort
        mujoco.mj_step(self.model, self.data)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the true position and orientation of the base in axes of the floor."""
        return (self.data.xpos[self._body].copy(),
                self.data.xmat[self._body].reshape(3, 3).copy())

    def velocity(self) -> np.ndarray:
        """Return the true twist of the base, in axes of the floor and of the base, (6,)."""
        return self.data.qvel[self._free_dof:self._free_dof + 6].copy()

    def forces(self) -> np.ndarray:
        """Return the true normal force on each foot [N]."""
        found, part = np.zeros(len(self.feet)), np.zeros(6)
        bodies = [self.model.body(foot).id for foot in self.feet]
        for k in range(self.data.ncon):
            contact = self.data.contact[k]
            for geom in (contact.geom1, contact.geom2):
                body = self.model.geom_bodyid[geom]
                if body in bodies:
                    mujoco.mj_contactForce(self.model, self.data, k, part)
                    found[bodies.index(body)] += part[0]
        return found


# -------------------------------------------------------------------------------------------------


def bumps(size: float, reach: float = 8.0, seed: int = 3) -> Callable:
    """
    Return scenery of low boxes on a floor: steps up and down that nobody has announced.

    Parameters
    ----------
    size : float [m]
        Height of the boxes.
    reach : float [m]
        How far they lie around the start.
    seed : int
        Of their places.

    """
    def scenery(spec: mujoco.MjSpec) -> None:
        add_floor(spec)
        rng = np.random.default_rng(seed)
        for x in np.arange(0.9, reach, 0.9):
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.2, 2.0, 0.5 * size],
                pos=[x + rng.uniform(-0.1, 0.1), 0.0, 0.5 * size], contype=GROUND,
                conaffinity=ROBOT)
    return scenery


@dataclass(frozen=True)
class Push:
    """
    A push on the base.

    Attributes
    ----------
    start, duration : float [s]
    force : (3,) sequence
        In weights of the robot, axes of the floor.

    """

    start: float
    duration: float
    force: Sequence[float]


@dataclass(frozen=True, eq=False)
class Run:
    """
    What a robot did.

    Attributes
    ----------
    fallen : bool
        Whether it fell, or its controller gave up.
    cause : str
        Why, or ''.
    time : (n,) array [s]
    position, rpy : (n, 3) array [m, rad]
        True pose of the base, axes of the floor.
    velocity : (n, 3) array [m/s, m/s, rad/s]
        True velocity ahead and to the left, and turning rate.
    wanted : (n, 3) array
        The same as commanded.
    estimated : (n, 3) array [m]
        Position by the odometry, axes of the floor.
    effort : (n,) array
        Largest effort of a joint, as a part of its limit.
    force_error : (n, nf) array
        Error of the estimated size of each foot's force, in weights.
    bearing : (n, nf) array of bool
    tick : float [s]
        Mean time of walker and controller.
    height : float [m]
        Of the base at the start.
    missed : (n, 2) array [m, rad]
        How far the base is from its target: how far it has not gone as the target has since the
        start, and the angle between them.

    """

    fallen: bool
    cause: str
    time: np.ndarray
    position: np.ndarray
    rpy: np.ndarray
    velocity: np.ndarray
    wanted: np.ndarray
    estimated: np.ndarray
    effort: np.ndarray
    force_error: np.ndarray
    bearing: np.ndarray
    tick: float
    height: float
    missed: np.ndarray

    def between(self, first: float, last: float) -> np.ndarray:
        """Return which samples lie between two times [s]."""
        return (self.time >= first) & (self.time < last)


def walk(lab: Laboratory, gait: str, command: Callable[[float], Sequence[float]], seconds: float,
         pushes: Sequence[Push] = (), settings: Mapping[str, Any] | None = None,
         start: float = 1.0, stop: float = 1.5,
         moves: Sequence[tuple[float, Sequence[float], Sequence[float]]] = (),
         age: float | None = None) -> Run:
    """
    Let a robot walk; while it stands its base keeps its pose.

    Parameters
    ----------
    lab : Laboratory
        The robot, as it stands.
    gait : str
        Name of the gait; 'stand' for standing.
    command : callable
        Returns the velocity ahead, to the left and turning at a time [s].
    seconds : float [s]
        How long.
    pushes : sequence of Push
        Pushes on the base.
    settings : mapping, optional
        Settings of walking and of workspace control by their dotted names.
    start, stop : float [s]
        Standing at the start, and the time at the end in which the robot comes to a stand.
    moves : sequence of tuple
        Times [s], and displacements [m] and rotation vectors [rad] from the first pose to which
        the base of a standing robot goes then.
    age : float, optional [s]
        From a sample to its efforts at the motors, as the walker knows it; the robot's delay
        unless given.

    Returns
    -------
    Run

    """
    given = dict(settings or {})
    walking = {name: value for name, value in given.items() if name.startswith('walking.')}
    controller = WorkspaceController(lab.known, lab.config, {
        name: value for name, value in given.items() if name not in walking})
    walker = make_walker(lab.known, lab.config, {**walking, 'gait': gait})
    walker.walk = False
    weight, rows, spent, cause = lab.known.total_mass * GRAVITY, [], 0.0, ''
    force_error, bearing, wanted, missed = [], [], np.zeros(3), []
    reference, coming = ReferenceGenerator(controller.settings), list(moves)
    first = target = None
    predictor, age = StatePredictor(), lab.delay if age is None else age
    while lab.time < seconds and not lab.fallen:
        measurement = lab.sense()
        reaction = lab.estimator.update(measurement)
        if lab.time < TAKEN:
            lab.odometry.update(measurement)
            lab.step(None)
            continue
        state = lab.odometry.update(measurement, walker.trusted)
        size = np.sqrt(np.einsum('fi,fi->f', reaction.wrench[:, :3], reaction.wrench[:, :3]))
        stamp = measurement.stamp_ns
        if first is None:
            first = BodyPose(state.position.copy(), state.rotation.copy())
            reference.rest(stamp, first)
            true_first = lab.pose()[0]
        if coming and lab.time >= coming[0][0]:
            _, step, turn = coming.pop(0)
            reference.move_to(stamp, BodyPose(
                first.position + step, rotation_from_vector(np.array(turn)) @ first.rotation))
        walker.led, walked = reference.at(stamp), walker.walking
        began = time.perf_counter()
        believed, (state, measurement) = state, predictor.predict(state, measurement, age)
        walker.walk = gait != 'stand' and start <= lab.time < seconds - stop
        wanted = np.array(command(lab.time) if walker.walk else (0.0, 0.0, 0.0), float)
        wanted *= walker.command(*wanted)
        plan = walker.update(state, measurement, reaction.latest_contact, reaction.wrench[:, :3])
        if target and walked and not walker.walking:
            reference.rest(stamp, BodyPose(target.position, target.rotation))
        target = plan.target if walker.walking else reference.at(stamp)
        answer = controller.update(state, measurement, target, legs=plan.legs)
        predictor.note(stamp + round(1e9 * age), controller.expected(answer))
        spent += time.perf_counter() - began
        force = np.zeros(3)
        for push in pushes:
            if push.start <= lab.time < push.start + push.duration:
                force += weight * np.asarray(push.force)
        lab.push(force)
        true = lab.forces()
        lab.step(answer.effort)
        (x, y, z), R = lab.pose()
        twist = lab.velocity()
        yaw = math.atan2(R[1, 0], R[0, 0])
        c, s = math.cos(yaw), math.sin(yaw)
        rows.append((lab.time, x, y, z, math.atan2(R[2, 1], R[2, 2]),
                     -math.asin(min(max(R[2, 0], -1.0), 1.0)), yaw,
                     c * twist[0] + s * twist[1], -s * twist[0] + c * twist[1],
                     float(R[2] @ twist[3:]), *wanted, *(believed.position @ lab.tilt),
                     float(np.abs(answer.effort / np.maximum(lab.limits, 1e-9)).max())))
        force_error.append((size - true) / weight)
        bearing.append(plan.legs.bearing)
        gone = (np.array([x, y, z]) - true_first) @ lab.tilt.T - target.position + first.position
        missed.append((np.linalg.norm(gone), np.linalg.norm(rotation_vector(
            R.T @ lab.tilt.T @ target.rotation))))
        if not answer.usable:
            # A bar would begin a new column of a table.
            names = str(answer.faults.name).replace('|', ' and ')
            cause = f'lost at {lab.time:.1f} s by {names}'
            break
    if lab.fallen:
        cause = f'fell at {lab.time:.1f} s'
    table = np.array(rows)
    return Run(bool(cause), cause, table[:, 0], table[:, 1:4], table[:, 4:7], table[:, 7:10],
               table[:, 10:13], table[:, 13:16], table[:, 16], np.array(force_error),
               np.array(bearing), spent / len(rows), lab.height,
               np.array(missed))
