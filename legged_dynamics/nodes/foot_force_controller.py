# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node foot_force_controller: stands, and gives each foot the force asked for."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY, UP
from legged_dynamics.estimation.body_state import BodyState, OdometryFault
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.noise import nominal_position
from legged_dynamics.estimation.odometry_settings import SETTINGS as ODOMETRY_SETTINGS
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.force_map.standing_command import SETTINGS as STANDING_SETTINGS
from legged_dynamics.force_map.standing_command import AskedForce, StandingCommand
from legged_dynamics.force_map.standing_control import StandingForceController
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.runner import run
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.nodes.diagnostics import FAULT_MEMORY_NS
from legged_dynamics.nodes.effort_controller import EffortController
from legged_dynamics.nodes.force_map_output import SETTINGS as MAP_SETTINGS
from legged_dynamics.nodes.force_map_output import ForceMapOutput
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import skew

NODE_SETTINGS = (
    Setting('desired_timeout', 0.5, 's', 'Age at which a desired wrench is no longer obeyed.',
            0.01, 1e6),
    Setting('world_frame', 'world', '', 'Name of the frame whose z is up, for desired wrenches.'),
    Setting('sensor_patience', 0.5, 's', 'How long the body is held without the IMU before the '
            'robot is let go limp.', 0.0, 10.0),
    *MAP_SETTINGS, *STANDING_SETTINGS, *ODOMETRY_SETTINGS,
)
_WRENCH = 'geometry_msgs/msg/WrenchStamped'


class FootForceController(EffortController):
    """
    Holds the body where it was at activation, and gives feet the forces asked for.

    Takes ``~/<foot>/desired_wrench``, the force of the ground on the robot in the axes of its
    frame: the foot's link, the base or the world's. A force that friction, effort limits or
    balance do not allow is replaced by the nearest one that they do, and the diagnostics say so.
    Publishes, while somebody listens, ``~/<foot>/commanded_wrench``, the force map and its
    markers.
    """

    default_name = 'foot_force_controller'
    settings = NODE_SETTINGS
    live = ('map.', 'markers.', 'desired_timeout', 'world_frame')
    # A body that stands is slow, and limp it falls: 50 ms old is good enough. Joint states that
    # have waited for the IMU in vain must be young enough, too.
    defaults = {'imu_timeout': 0.03, 'safety.input_timeout': 0.045}

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """Make odometry, controller and map, and join the topics of the feet."""
        values, feet = self.parameters, tuple(foot.link for foot in config.feet)
        if self.guard is None:
            self._feet = feet
        elif feet != self._feet:
            raise LeggedDynamicsError('a new robot_description has other feet; restart the node')
        fraction = values['safety.effort_fraction']
        controller = StandingForceController(
            model, config.feet, {setting.name: values[setting.name]
                                 for setting in STANDING_SETTINGS}, fraction * model.effort_limits)
        odometry = LegOdometry(model, config, {setting.name: values[setting.name]
                                               for setting in ODOMETRY_SETTINGS})
        if self.guard is None:
            qos = self.dialect.qos
            self._given = [self.endpoints.publisher(_WRENCH, f'~/{foot}/commanded_wrench',
                                                    qos.reliable(500)) for foot in feet]
            for i, foot in enumerate(feet):
                self.endpoints.subscription(_WRENCH, f'~/{foot}/desired_wrench',
                                            partial(self._on_desired, i), qos.reliable(10))
            self._map = ForceMapOutput(self)
        self._map.build(model, config.feet, controller)
        self._model, self._controller, self._odometry = model, controller, odometry
        self._compile(nominal_position(model, config))

    def _compile(self, position: np.ndarray) -> None:
        """Compile all kernels now, and not while a robot waits for its first command."""
        still = np.zeros(self._model.n_joints)
        self.reset()
        self.control(Measurement(0, position, still, None, np.zeros(3), GRAVITY * UP))
        self._map.compute(position, still, np.eye(3), np.zeros(3))

    def reset(self) -> None:
        """Hold the pose of the next measurement, and forget all desired forces."""
        self._controller.reset()
        self._odometry.reset()
        self._desired: dict[int, tuple[int, AskedForce]] = {}
        self._refused: tuple[int, str] = (-FAULT_MEMORY_NS, '')
        self._command: StandingCommand | None = None
        self._body: BodyState | None = None
        self._blind_ns: int | None = None

    def _on_desired(self, foot: int, message: Any) -> None:
        now, name, frame = self._now(), self._feet[foot], message.header.frame_id
        axes = {name: 'foot', self._model.base_link: 'base',
                self.parameters['world_frame']: 'world'}
        _, wrench = convert.read_wrench(message)
        if frame not in axes:
            self._refused = now, (f'{name}: expected a desired wrench in one of the frames '
                                  f'{", ".join(axes)}; got {frame!r}')
        elif not np.isfinite(wrench[:3]).all():
            self._refused = now, f'{name}: the desired force is not finite: {wrench[:3].tolist()}'
        elif self.input.listening:
            self._desired[foot] = now, AskedForce(wrench[:3], axes[frame])

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """Return the efforts that hold the body and give the feet their forces."""
        if self.guard_state.released and not self._let_go():
            self._controller.reset()        # who has sagged is held where it is
        body = self._odometry.update(measurement)
        if body.faults & OdometryFault.TIME_JUMPED_BACK:
            self.reset()
        self._body = body
        if self._blind(body):
            self._command = None
            return None
        timeout, now = round(self.parameters['desired_timeout'] * 1e9), self._now()
        self._desired = {foot: (since, asked) for foot, (since, asked) in self._desired.items()
                         if now - since <= timeout}
        self._command = self._controller.update(
            measurement.stamp_ns, measurement.position, measurement.velocity, body.position,
            body.rotation, body.twist, {foot: asked
                                        for foot, (_, asked) in self._desired.items()})
        return self._command.effort

    def _blind(self, body: BodyState) -> bool:
        """Whether the legs alone have had to tell the body's pose for too long."""
        if not body.faults & OdometryFault.NO_IMU:
            self._blind_ns = None
            return False
        self._blind_ns = body.stamp_ns if self._blind_ns is None else self._blind_ns
        return (body.stamp_ns - self._blind_ns) * 1e-9 > self.parameters['sensor_patience']

    def _let_go(self) -> bool:
        return self._command is not None and bool(self._command.fault)

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish the forces given, and the map."""
        command, body = self._command, self._body
        if command is None or body is None:
            return
        terms, R_WB = command.terms, body.rotation
        for i, foot in enumerate(self._feet):
            if self._given[i].get_subscription_count():
                to_foot = terms.foot_rotations[i].T
                force = to_foot @ (R_WB.T @ command.force[i])
                arm = to_foot @ (terms.contact_points[i] - terms.foot_positions[i])
                self._given[i].publish(convert.wrench_stamped(
                    self.dialect, measurement.stamp_ns, foot,
                    np.concatenate([force, skew(arm) @ force])))
        self._map.publish(measurement, effort, command, body)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return what became of the forces asked for."""
        if not self.input.listening or self.guard is None or self._body is None:
            return {}
        return {'forces': self._judge_forces(now)}

    def _judge_forces(self, now: int) -> tuple[str, str]:
        command, body = self._command, self._body
        assert body is not None
        if command is None:
            return 'ERROR', 'no IMU reading for too long: let go'
        if command.fault:
            return 'ERROR', command.fault
        since, why = self._refused
        problems = [why] if now - since < FAULT_MEMORY_NS else []
        if body.faults & OdometryFault.NO_IMU:
            problems.append('no IMU reading: the body is held by the legs alone')
        problems += [f'{self._feet[foot]}: {_newtons(command.asked[foot])} asked, '
                     f'{_newtons(command.force[foot])} given: {why}'
                     for foot, why in command.clipped.items()]
        if not command.balanced:
            problems.append('no forces within friction and effort limits hold the body')
        if problems:
            return 'WARN', '; '.join(problems)
        given = ', '.join(self._feet[foot] for foot in sorted(command.asked))
        return 'OK', f'as asked: {given}' if given else 'holds the body'

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return where the body is, and how well forces can be asked for."""
        if self.guard is None or self._command is None:
            return {}
        command = self._command
        values: dict[str, Any] = {'body off its place [m]': command.offset,
                                  'body turned [rad]': command.tilt}
        return {'forces': values | self._map.details()}


def _newtons(force: np.ndarray) -> str:
    return f'({", ".join(str(round(value)) for value in force.tolist())}) N'


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(FootForceController, argv)
