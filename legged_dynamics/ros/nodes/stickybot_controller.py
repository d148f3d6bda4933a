# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node stickybot_controller: sensors of a climbing robot in, efforts of its hips and grips out."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import MarkerMaker, reaction_markers
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.controller_node import ControllerNode, settings_of
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, Pace, publish_if_heard
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.ros.nodes.robot_input import Commands
from legged_dynamics.safety import GuardState
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_rpy
from legged_dynamics.stickybot import (
    Adhesion,
    ControlSettings,
    FootEventKind,
    ForceSets,
    Gait,
    StickybotCommand,
    StickybotController,
    StickybotModel,
)
from legged_dynamics.stickybot.control.controller import gait_on_pads
from legged_dynamics.stickybot.control.odometry import BodyAngle
from legged_dynamics.stickybot.model.joints import LimbJoints
from legged_dynamics.stickybot.settings import SETTINGS as STICKYBOT_SETTINGS
from legged_dynamics.stickybot.settings import StickybotSettings

# -------------------------------------------------------------------------------------------------
# WallOutput: what the climbing controller publishes in addition to efforts.


GRIPS = 'adhesion_controller/commands'


# Settings of the published markers.
OUTPUT_SETTINGS = (
    Setting('markers.rate', 30.0, 'Hz', 'Rate of the markers; 0 switches them off.', 0.0, 1000.0),
    Setting(
        'markers.newtons_per_meter', 20.0, 'N/m', 'Force drawn as an arrow of 1 m.', 1e-3, 1e6),
    Setting(
        'publish_tf', True, '', 'Whether to publish the transforms from world to wall and body.'),
)


class _WallOutput:
    """Turns the controller's commands into messages."""

    def __init__(self, common: RobotComponent, climber: StickybotModel, limbs: LimbJoints,
                 base_link: str, pads: Sequence[Adhesion] | None):
        self._dialect, self._parameters = common.dialect, common.parameters
        self.limbs, self._base_link = limbs, base_link
        self._R_WA = rotation_from_rpy(np.array([climber.wall.inclination, 0.0, 0.0]))
        self._height = climber.body.height
        self._pads, self._angles = pads, np.zeros(len(limbs.feet))
        self._pace = Pace()
        wrench, flag = 'geometry_msgs/msg/WrenchStamped', 'std_msgs/msg/Bool'

        def publisher(kind: str, topic: str, depth: int = 500) -> Any:
            return common.endpoints.publisher(kind, topic, self._dialect.qos.reliable(depth))
        feet = limbs.feet
        self.grips = [1.0] * len(feet)
        self._grips = publisher('std_msgs/msg/Float64MultiArray', GRIPS, 1)
        self._rest = publisher('sensor_msgs/msg/JointState', '~/rest')
        self._wrenches = [publisher(wrench, f'~/{foot}/wrench') for foot in feet]
        self._contacts = [publisher(flag, f'~/{foot}/contact') for foot in feet]
        self._margins = [publisher('std_msgs/msg/Float64', f'~/{foot}/margin') for foot in feet]
        self._tf = (publisher('tf2_msgs/msg/TFMessage', 'tf')
                    if common.parameters['publish_tf'] else None)
        self._pose = publisher('nav_msgs/msg/Odometry', '~/odom')
        self._events = publisher('std_msgs/msg/String', '~/events')
        self._markers = publisher('visualization_msgs/msg/MarkerArray', '~/markers')

    def hold_on(self) -> None:
        """Command every foot to hold."""
        self._send_grips(np.ones(len(self.limbs.feet)))

    def _send_grips(self, grips: np.ndarray) -> None:
        self.grips = grips.tolist()
        self._grips.publish(convert.command(self._dialect, grips))

    def publish(self, ns: int, position: np.ndarray, command: StickybotCommand,
                rest: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Publish what belongs to one command."""
        dialect, limbs = self._dialect, self.limbs
        assert command.reaction is not None and command.pose is not None
        assert command.velocity is not None and command.normal is not None
        self._send_grips(command.attach.astype(float))
        self._rest.publish(convert.joint_state(dialect, ns, limbs.names, *rest))
        turned = _turned(command.reaction, limbs.foot_angles(position, float(command.pose[2])))
        for i, foot in enumerate(limbs.feet):
            self._wrenches[i].publish(convert.wrench_stamped(
                dialect, ns, foot, np.array([*turned[i], command.normal[i], 0.0, 0.0, 0.0])))
            self._contacts[i].publish(convert.boolean(dialect, command.attach[i]))
        if command.pad_use is not None:
            for publisher, used in zip(self._margins, command.pad_use):
                publish_if_heard(publisher, convert.float64, dialect, 1.0 - used)
        for event in command.events:
            self.say(str(event))
        self._publish_pose(ns, command.pose, command.velocity)
        rate = self._parameters['markers.rate']
        if self._pace.due(ns, rate):
            self._publish_markers(ns, position, command, 5.0 / rate)

    def say(self, text: str) -> None:
        """Publish an event."""
        self._events.publish(convert.string(self._dialect, text))

    def _publish_pose(self, ns: int, pose: np.ndarray, velocity: np.ndarray) -> None:
        x, y, angle = pose.tolist()
        along = _turned(velocity[None, :2], np.array([angle]))[0]
        place = np.array([x, y, self._height])
        turn = rotation_from_rpy(np.array([0.0, 0.0, angle]))
        self._pose.publish(convert.odometry(
            self._dialect, ns, 'world', self._base_link, self._R_WA @ place,
            quaternion_from_rotation(self._R_WA @ turn), [*along, 0.0], [0.0, 0.0, velocity[2]]))
        if self._tf is not None and self._tf.get_subscription_count():
            made, body = (convert.transforms(self._dialect, ns, parent, child, at,
                                             quaternion_from_rotation(R))
                          for parent, child, at, R in (
                              ('world', 'wall', np.zeros(3), self._R_WA),
                              ('wall', self._base_link, place, turn)))
            made.transforms += body.transforms
            self._tf.publish(made)

    def _publish_markers(self, ns: int, position: np.ndarray, command: StickybotCommand,
                         lifetime: float) -> None:
        n = len(self.limbs.feet)
        point, force = np.full((n, 3), -self._height), np.zeros((n, 3))
        point[:, :2] = self.limbs.foot_positions(position)
        angles = np.full(n, command.pose[2])                    # type: ignore[index]
        force[:, :2] = _turned(command.reaction, angles)        # type: ignore[arg-type]
        force[:, 2] = command.normal
        make = MarkerMaker(self._dialect, ns, self._base_link,
                           self._parameters['markers.newtons_per_meter'], lifetime)
        self._markers.publish(make.array(reaction_markers(
            make, point, force, command.attach, observable=np.full(n, command.pads_kept),
            limits=self._limits(command))))

    def _limits(self, command: StickybotCommand) -> list[np.ndarray] | None:
        """Return what each pad holds in the wall's plane now, as outlines [N] in body axes."""
        if self._pads is None or command.pad_angle is None:
            return None
        sets = ForceSets.of_pads(self._pads, command.normal,    # type: ignore[arg-type]
                                 command.pad_angle - command.pose[2])   # type: ignore[index]
        return [np.pad(sets.outline(i, points=36), ((0, 0), (0, 1))) if on else np.zeros((0, 3))
                for i, on in enumerate(command.attach)]


def _turned(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return (n, 2) vectors in axes that are turned by (n,) angles [rad]."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([c * vectors[:, 0] + s * vectors[:, 1],
                     c * vectors[:, 1] - s * vectors[:, 0]], axis=1)


# -------------------------------------------------------------------------------------------------


NODE_SETTINGS = (
    *OUTPUT_SETTINGS,
    Setting(
        'walk', False, '',
        'Whether to climb; otherwise the robot hangs on all its feet. It starts from there, and '
        'stops as soon as all feet are on the wall.'),
)


@dataclass(frozen=True)
class ClimbChecks:
    """What is compared before and while the robot climbs; chosen by hand."""

    lean_error: float = 0.15        # rad that the wall may lean otherwise than stated
    mass_error: float = 0.01        # part by which the URDF's mass may differ from the parameters'
    # A body that falls freely feels nothing: m/s^2, and s for which it must be so.
    fall_acceleration: float = 2.0
    fall_time: float = 0.03
    late_age: float = 0.1           # s; joint states that are older give no new command


CHECKS = ClimbChecks()


class StickybotControllerNode(ControllerNode):
    """
    Climbs: a gait on compliant hips, with reaction-force reduction on top.

    Efforts move the rest positions of the hips' own springs. A foot that does not hold is
    planted again and reported; when the guard makes the efforts safe, all feet are
    commanded to hold.
    """

    default_name = 'stickybot_controller'
    live = tuple(setting.name for setting in NODE_SETTINGS)
    # Springs carry the robot on the last efforts, feet that are apart as in a stride; without
    # efforts they squeeze until pads let go. Damping by sampled velocities would make its light
    # limbs oscillate.
    settings = settings_of(
        {'safety.output': 'keep', 'safety.input_timeout': 1.0, 'safety.hold': 0.1,
         'safety.tilt': 0.0, 'safety.latch': False}, STICKYBOT_SETTINGS, NODE_SETTINGS)

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect, failed=self._failed)

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Make the controller and join the topics; commands wait for activate."""
        settings = StickybotSettings.from_parameters(self.common.values(STICKYBOT_SETTINGS))
        self._climber = settings.model()
        self._wall: _WallOutput | None = None        # once the robot is known
        self._limbs = LimbJoints(self._climber)
        control, gait = settings.control(), settings.gait()
        self._period, self._pads = 1.0 / control.rate, settings.pads()
        self._refusal = ''
        if self._pads is not None and control.reduction == 'off':
            gait = self._gait_on_pads(gait, control)
        self._controller = StickybotController(self._climber, gait, control, self._pads,
                                               walking=False)
        self._angle = BodyAngle(np.eye(3))
        self._feet = InputMonitor('feet', round(self.parameters['input_timeout'] * 1e9))
        self._losses = 0
        self._reset()
        self.open()
        self.listen(self._build, self._take)

    def activate(self) -> None:
        """Start commanding, hanging on all feet."""
        super().activate()
        self._reset()

    def deactivate(self) -> None:
        """Stop commanding; the last efforts are kept, and feet are last commanded to hold."""
        super().deactivate()
        if self._wall is not None:
            self._wall.hold_on()

    def _gait_on_pads(self, gait: Gait, control: ControlSettings) -> Gait:
        """Return the plain gait as the pads can hold it; refuse to walk where there is none."""
        assert self._pads is not None
        found, used = gait_on_pads(self._climber, gait, self._pads, control)
        if found is None:
            self._refusal = (f'the plain gait would load the pads by {100 * used:.0f} % of their '
                             'limits, and with smaller steps, too: hanging still; give '
                             'control.reduction full or turning')
            return gait
        if found != gait:
            self.node.get_logger().warning(
                f'the plain gait as stated would load the pads by {100 * used:.0f} % of their '
                f'limits: its amplitude is reduced from {gait.amplitude:.3g} to '
                f'{found.amplitude:.3g} rad')
        return found

    # ---- building --------------------------------------------------------------------------

    def _build(self, model: RobotModel) -> None:
        """Check that the robot is the one of the parameters, and take it."""
        limbs, mass, config = self._limbs, self._climber.mass, self.common.config
        guard = self.efforts.guard_of(model)
        model = config.apply_to(model)
        joints = set(self.efforts.commanded_joints(model))
        feet = tuple(foot.link for foot in config.feet) or limbs.feet
        if joints != set(limbs.names) or feet != limbs.feet:
            raise ConfigurationError(
                f'expected the joints and feet of the parameters stickybot.*, '
                f'{list(limbs.names)} and {list(limbs.feet)}, got {sorted(joints)} and '
                f'{list(feet)}')
        if not math.isclose(model.total_mass, mass, rel_tol=CHECKS.mass_error):
            raise ConfigurationError(f'expected a robot of {mass:.3f} kg by the parameters '
                                     f'stickybot.*, got {model.total_mass:.3f} kg in the URDF')
        self._limbs = limbs = LimbJoints(self._climber, model.joint_names)
        config.require_fixed_imu(model, 'the climbing controller')
        self._angle = BodyAngle(model.frame(config.imu_link_in(model)).pose.R)
        if self._wall is None:
            self._wall = _WallOutput(self.common, self._climber, limbs, model.base_link,
                                     self._pads)
        self._wall.limbs = limbs
        self.common.warm_up(model, self.control)
        self.efforts.build(model, guard)
        self._reset()

    # ---- work ------------------------------------------------------------------------------

    def _take(self, measurement: Measurement) -> Commands | None:
        if not self.efforts.ready():
            return None
        late = self.efforts.screen.age(measurement.stamp_ns) > CHECKS.late_age * 1e9
        command = (None if self.efforts.released else
                   self._effort if late else self.control(measurement))
        if self.efforts.send(measurement, command, 'no IMU reading') is not None and not late:
            self._publish(measurement)
        elif late and self._wall is not None:
            self._wall.hold_on()
        return self.efforts.answer(*(((), ()) if self._wall is None else
                                     (self._limbs.feet, self._wall.grips)))

    def _reset(self) -> None:
        """Start again, hanging on all feet."""
        self._angle.reset()
        self._left = False
        self._controller.reset()
        self._rest = self._rest_rate = self._effort = np.zeros(len(self._limbs.names))
        self._command: StickybotCommand | None = None
        self._last_ns: int | None = None
        self._falling = 0.0

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """Return the hips' efforts (nj,) [N m], model order; None without an IMU reading."""
        if self._last_ns is not None and measurement.stamp_ns <= self._last_ns:
            self._reset()       # time was set back
        self._last_ns, self._command = measurement.stamp_ns, None
        if not self._angle.update(measurement):
            return None
        self._watch_fall(measurement)
        limbs, effort = self._limbs, measurement.effort
        if effort is not None and not math.isfinite(effort.sum()):
            effort = None
        self._controller.walking = (self.parameters['walk'] and not self._refusal
                                    and not self._left
                                    and self.efforts.state is GuardState.ACTIVE)
        command = self._controller.update(limbs.measurement(
            measurement.stamp_ns, measurement.position, measurement.velocity, self._angle.angle,
            self._angle.rate, effort))
        rest = limbs.positions(command.rest, command.joint_rest)
        self._rest_rate = (rest - self._rest) / self._period
        # One effort for the whole period in which the rest position moves on evenly.
        self._effort = limbs.efforts(0.5 * (self._rest + rest), self._rest_rate)
        self._rest, self._command = rest, command
        return self._effort

    def _watch_fall(self, measurement: Measurement) -> None:
        """Say once that the robot has left the wall: it feels no weight."""
        assert measurement.linear_acceleration is not None
        felt = float(np.linalg.norm(measurement.linear_acceleration))
        weightless = felt < min(CHECKS.fall_acceleration, 0.3 * self._climber.wall.gravity)
        self._falling = self._falling + self._period if weightless else 0.0
        if self._falling > CHECKS.fall_time and not self._left:
            self._left = True
            self.node.get_logger().error('it has left the wall')
            if self._wall is not None:
                self._wall.say(f'{measurement.stamp_ns * 1e-9:.4f} s: it has left the wall')

    def _publish(self, measurement: Measurement) -> None:
        """Publish grips, rest positions, reactions and events that belong to a command."""
        command = self._command
        if command is None or self._wall is None or self.efforts.state.released:
            self._failed()
            return
        now = self.common.now()
        self._feet.saw(now)
        for event in command.events:
            if event.kind is FootEventKind.LOST:
                self._losses += 1
                self._feet.refused(now, f'{event.limb} {event.kind.value}; it is planted again')
                self.node.get_logger().warning(str(event))
        self._wall.publish(measurement.stamp_ns, measurement.position, command,
                           (self._rest, self._rest_rate, self._effort))

    def _failed(self) -> None:
        """Have all feet hold while nothing is obeyed; the gait then goes on from there."""
        if self.efforts.state.released and self._wall is not None:
            self._wall.hold_on()

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return how inputs, control, feet and wall do."""
        command, found = self._command, super().judge(now)
        if self._left:
            return found | {'wall': ('ERROR', 'it has left the wall; all feet hold, and it climbs '
                                              'again after the node has been activated anew')}
        if command is None:
            return found
        lean = self._climber.wall.inclination
        found |= {'feet': self._feet.judge(now), 'wall': ('OK', 'ok')}
        if not command.pads_kept:
            self._feet.refused(now, 'a pad is about to let go: its load, now or in the next phase '
                                    'of the gait, is more than it is known to hold')
            found['feet'] = self._feet.judge(now)
        elif self._refusal and self.parameters['walk']:
            found['feet'] = 'ERROR', self._refusal
        if abs(self._angle.inclination - lean) > CHECKS.lean_error:
            found['wall'] = 'WARN', (f'the wall leans by {self._angle.inclination:.2f} rad, not '
                                     f'by {lean:.2f} as stickybot.inclination says')
        return found

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return key figures of inputs, control and gait."""
        command, found = self._command, super().details(now)
        if command is None or command.reaction is None or command.velocity is None:
            return found
        names = [name for name, holds in zip(self._climber.limb_names, command.attach) if holds]
        return found | {'feet': {
            'walking': self._controller.walking, 'on the wall': ', '.join(names) or 'none',
            'lost so far': self._losses,
            'largest reaction [N]': float(np.hypot(*command.reaction.T).max()),
            **({} if command.pad_use is None else {
                'least margin of a pad [%]': 100.0 * (1.0 - float(command.pad_use.max()))}),
            'speed [m/s]': float(command.velocity[1])}}


main = partial(run, StickybotControllerNode)   # the executable; returns its exit code
