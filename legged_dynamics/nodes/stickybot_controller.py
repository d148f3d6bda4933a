# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node stickybot_controller: a climbing robot hears its sensors and moves its hips and grips."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.middleware.runner import run
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.effort_controller import EffortController
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


class StickybotControllerNode(EffortController):
    """
    Climbs: a gait on compliant hips, with reaction-force reduction on top.

    The hips' springs are the robot's own; the efforts move their rest positions. Publishes beside
    ``effort_controller/commands`` and, in the order of ``robot.feet``,
    ``adhesion_controller/commands``: ``~/rest``, ``~/<foot>/wrench``, ``~/<foot>/contact``,
    ``~/odom``, ``~/events``, ``~/markers``. A foot that does not hold is planted again, and
    reported. Whenever the guard makes the efforts safe, all feet are told to hold.
    """

    default_name = 'stickybot_controller'
    settings = (*STICKYBOT_SETTINGS, *NODE_SETTINGS)
    live = tuple(setting.name for setting in NODE_SETTINGS)
    # The springs carry the robot when the motors deliver nothing; damping from sampled velocities
    # would shake its light limbs instead.
    defaults = {'safety.output': 'zero', 'safety.input_timeout': 0.1, 'safety.hold': 0.1,
                'safety.tilt': 0.0, 'safety.latch': False}

    # ---- building --------------------------------------------------------------------------

    def open(self) -> None:
        """Make the controller, and have it compiled before the first joint state comes."""
        values = self.parameters
        settings = StickybotSettings.from_parameters(
            {setting.name: values[setting.name] for setting in STICKYBOT_SETTINGS})
        self._climber, self._output_made = settings.model(), False
        self._limbs = LimbJoints(self._climber)
        control = settings.control()
        self._period = 1.0 / control.rate
        self._controller = StickybotController(self._climber, settings.gait(), control,
                                               settings.pads(), walking=False)
        self._angle = BodyAngle(np.eye(3))
        self._feet = InputMonitor('feet', round(values['input_timeout'] * 1e9))
        self._losses = 0
        self._compile()
        self._restart()

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """
        Check that the robot is the one of the parameters.

        Parameters
        ----------
        model : RobotModel
            Of the URDF.
        config : RobotConfig
            Names of joints and feet.

        Raises
        ------
        ConfigurationError
            When joints, feet or mass are others.

        """
        limbs, mass = self._limbs, self._climber.mass
        joints = set(config.joints or model.joint_names)
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
        if not self._output_made:
            self._output_made = True
            self._wall = WallOutput(self, self.endpoints, self.parameters, self._climber,
                                    model.base_link)

    def _compile(self) -> None:
        """Have every kernel compiled that a tick needs."""
        n = len(self._limbs.names)
        still, level = np.zeros(n), np.array([0.0, 0.0, 0.0, 1.0])
        for stamp, orientation in enumerate((None, level, level)):
            self._angle.update(Measurement(stamp, still, still, still, np.zeros(3),
                                           np.array([0.0, 9.81, 0.0]), orientation))
            self._controller.update(self._limbs.measurement(stamp, still, still, 0.0, 0.0, still))

    # ---- work ------------------------------------------------------------------------------

    def reset(self) -> None:
        """Start anew, hanging on all feet."""
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
            self.reset()        # time was set back
        self._last_ns, self._command = measurement.stamp_ns, None
        if not self._angle.update(measurement):
            return None
        joints, limbs = self._joints, self._limbs
        effort = None if measurement.effort is None else measurement.effort[joints]
        if effort is not None and not math.isfinite(effort.sum()):
            effort = None
        self._controller.walking = (self.parameters['walk']
                                    and self.guard_state is GuardState.ACTIVE)
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

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish grips, rest positions, reactions and events."""
        command = self._command
        if command is None or self.guard_state.released:
            self.failed()
            return
        now = self._now()
        self._feet.saw(now)
        for event in command.events:
            if event.kind is FootEventKind.LOST:
                self._losses += 1
                self._feet.refused(now, f'{event.limb} {event.kind.value}; it is planted again')
                self.node.get_logger().warning(str(event))
        self._wall.publish(measurement.stamp_ns, measurement.position[self._joints], command,
                           (self._rest, self._rest_rate, self._effort))

    def grips(self) -> tuple[Sequence[str], Sequence[float]]:
        """Return the feet, and whether each holds on (1) or not (0)."""
        return (self._limbs.feet, self._wall.grips) if self._output_made else ((), ())

    def failed(self) -> None:
        """Have all feet hold while the efforts are safe; the gait then begins anew."""
        if self.guard_state.released:
            self._wall.hold_on()
            self._restart()

    def deactivate(self) -> None:
        """Stop commanding; the last efforts are zero, and the last word to the feet is to hold."""
        super().deactivate()
        if self._output_made:
            self._wall.hold_on()

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return the state of feet and wall."""
        command = self._command
        if command is None:
            return {}
        lean = self._climber.wall.inclination
        found = {'feet': self._feet.judge(now), 'wall': ('OK', 'ok')}
        if not command.pads_kept:
            found['feet'] = 'WARN', 'the load is more than the pads are known to hold'
        if abs(self._angle.inclination - lean) > LEAN_ERROR:
            found['wall'] = 'WARN', (f'the wall leans by {self._angle.inclination:.2f} rad, not '
                                     f'by {lean:.2f} as stickybot.inclination says')
        return found

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return feet, forces and speed."""
        command = self._command
        if command is None or command.reaction is None or command.velocity is None:
            return {}
        names = [name for name, holds in zip(self._climber.limb_names, command.attach) if holds]
        return {'feet': {
            'walking': self._controller.walking, 'on the wall': ', '.join(names) or 'none',
            'lost so far': self._losses,
            'largest reaction [N]': float(np.hypot(*command.reaction.T).max()),
            'speed [m/s]': float(command.velocity[1])}}


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(StickybotControllerNode, argv)
