# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node stickybot_controller: sensors of a climbing robot in, efforts of its hips and grips out."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.middleware.runner import run
from legged_dynamics.model import RobotModel
from legged_dynamics.nodes.controller_node import ControllerNode
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.effort_output import settings_of
from legged_dynamics.nodes.robot_input import Commands
from legged_dynamics.nodes.wall_output import SETTINGS as OUTPUT_SETTINGS
from legged_dynamics.nodes.wall_output import WallOutput
from legged_dynamics.safety import GuardState
from legged_dynamics.schema import Setting
from legged_dynamics.stickybot import FootEventKind, StickybotCommand, StickybotController
from legged_dynamics.stickybot.control.body_angle import BodyAngle
from legged_dynamics.stickybot.model.joints import LimbJoints
from legged_dynamics.stickybot.settings import SETTINGS as STICKYBOT_SETTINGS
from legged_dynamics.stickybot.settings import StickybotSettings

NODE_SETTINGS = (
    Setting('walk', False, '', 'Whether to climb; otherwise the robot hangs on all its feet. It '
            'starts from there, and stops as soon as all feet are on the wall.'),
    *OUTPUT_SETTINGS,
)
# A wall that leans this much otherwise than configured is worth a warning [rad].
LEAN_ERROR = 0.15
# Allowed difference of the URDF's mass from that of the parameters.
MASS_ERROR = 0.01


class StickybotControllerNode(ControllerNode):
    """
    Climbs: a gait on compliant hips, with reaction-force reduction on top.

    The hips' springs are the robot's own; the efforts move their rest positions. Publishes beside
    ``effort_controller/commands`` and, in the order of ``robot.feet``,
    ``adhesion_controller/commands``: ``~/rest``, ``~/<foot>/wrench``, ``~/<foot>/contact``,
    ``~/odom``, ``~/events``, ``~/markers``. A foot that does not hold is planted again, and
    reported. Whenever the guard makes the efforts safe, all feet are told to hold.
    """

    default_name = 'stickybot_controller'
    live = tuple(setting.name for setting in NODE_SETTINGS)
    # The springs carry the robot when the motors deliver nothing; damping from sampled velocities
    # would shake its light limbs instead.
    settings = settings_of(
        {'safety.output': 'zero', 'safety.input_timeout': 0.1, 'safety.hold': 0.1,
         'safety.tilt': 0.0, 'safety.latch': False}, STICKYBOT_SETTINGS, NODE_SETTINGS)

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect, failed=self._failed)

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Make the controller and join the topics; commands wait for activate."""
        values = self.parameters
        settings = StickybotSettings.from_parameters(self.common.values(STICKYBOT_SETTINGS))
        self._climber = settings.model()
        self._wall: WallOutput | None = None        # once the robot is known
        self._limbs = LimbJoints(self._climber)
        control = settings.control()
        self._period = 1.0 / control.rate
        self._controller = StickybotController(self._climber, settings.gait(), control,
                                               settings.pads(), walking=False)
        self._angle = BodyAngle(np.eye(3))
        self._feet = InputMonitor('feet', round(values['input_timeout'] * 1e9))
        self._losses = 0
        self._restart()
        self.open()
        self.listen(self._build, self._take)

    def activate(self) -> None:
        """Start commanding, hanging on all feet."""
        super().activate()
        self._reset()

    def deactivate(self) -> None:
        """Stop commanding; the last efforts are zero, and the last word to the feet is to hold."""
        super().deactivate()
        if self._wall is not None:
            self._wall.hold_on()

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
        if not math.isclose(model.total_mass, mass, rel_tol=MASS_ERROR):
            raise ConfigurationError(f'expected a robot of {mass:.3f} kg by the parameters '
                                     f'stickybot.*, got {model.total_mass:.3f} kg in the URDF')
        self._joints = np.array([model.joint_index(name) for name in limbs.names])
        self._n_joints = model.n_joints
        config.require_fixed_imu(model, 'the climbing controller')
        imu = model.frame(config.imu_link or model.base_link)
        self._angle = BodyAngle(imu.pose.R)
        if self._wall is None:
            self._wall = WallOutput(self.common, self._climber, model.base_link)
        self.common.rehearse(model, self.control)
        self.efforts.build(model, guard)
        self._reset()

    # ---- work ------------------------------------------------------------------------------

    def _take(self, measurement: Measurement) -> Commands | None:
        if not self.efforts.ready():
            return None
        command = None if self.efforts.released else self.control(measurement)
        if self.efforts.send(measurement, command, 'no IMU reading') is not None:
            self._publish(measurement)
        return self.efforts.answer(*(((), ()) if self._wall is None else
                                     (self._limbs.feet, self._wall.grips)))

    def _reset(self) -> None:
        """Start again, hanging on all feet."""
        self._angle.reset()
        self._restart()

    def _restart(self) -> None:
        self._controller.reset()
        self._rest = self._rest_rate = np.zeros(len(self._limbs.names))
        self._effort = np.zeros(len(self._limbs.names))
        self._command: StickybotCommand | None = None
        self._last_ns: int | None = None

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """Return the hips' efforts, or None without an IMU reading."""
        if self._last_ns is not None and measurement.stamp_ns <= self._last_ns:
            self._reset()       # time was set back
        self._last_ns, self._command = measurement.stamp_ns, None
        if not self._angle.update(measurement):
            return None
        joints, limbs = self._joints, self._limbs
        effort = None if measurement.effort is None else measurement.effort[joints]
        if effort is not None and not math.isfinite(effort.sum()):
            effort = None
        self._controller.walking = (self.parameters['walk']
                                    and self.efforts.state is GuardState.ACTIVE)
        command = self._controller.update(limbs.measurement(
            measurement.stamp_ns, measurement.position[joints], measurement.velocity[joints],
            self._angle.angle, self._angle.rate, effort))
        rest = limbs.positions(command.rest, command.joint_rest)
        self._rest_rate = (rest - self._rest) / self._period
        # One effort for the whole period in which the rest position moves on evenly.
        self._effort = limbs.efforts(0.5 * (self._rest + rest), self._rest_rate)
        self._rest, self._command = rest, command
        efforts = np.zeros(self._n_joints)
        efforts[joints] = self._effort
        return efforts

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
        self._wall.publish(measurement.stamp_ns, measurement.position[self._joints], command,
                           (self._rest, self._rest_rate, self._effort))

    def _failed(self) -> None:
        """Have all feet hold while the efforts are safe; the gait then starts again."""
        if self.efforts.state.released:
            if self._wall is not None:
                self._wall.hold_on()
            self._restart()

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        command, found = self._command, super().judge(now)
        if command is None:
            return found
        lean = self._climber.wall.inclination
        found |= {'feet': self._feet.judge(now), 'wall': ('OK', 'ok')}
        if not command.pads_kept:
            found['feet'] = 'WARN', 'the load is more than the pads are known to hold'
        if abs(self._angle.inclination - lean) > LEAN_ERROR:
            found['wall'] = 'WARN', (f'the wall leans by {self._angle.inclination:.2f} rad, not '
                                     f'by {lean:.2f} as stickybot.inclination says')
        return found

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        command, found = self._command, super().details(now)
        if command is None or command.reaction is None or command.velocity is None:
            return found
        names = [name for name, holds in zip(self._climber.limb_names, command.attach) if holds]
        return found | {'feet': {
            'walking': self._controller.walking, 'on the wall': ', '.join(names) or 'none',
            'lost so far': self._losses,
            'largest reaction [N]': float(np.hypot(*command.reaction.T).max()),
            'speed [m/s]': float(command.velocity[1])}}


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(StickybotControllerNode, argv)
