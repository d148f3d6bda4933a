# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node workspace_controller: moves the body of a standing robot to where it is wanted."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from legged_dynamics.estimation import EstimatorSettings, Mode
from legged_dynamics.estimation.body_state import BodyState, OdometryFault
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.odometry_settings import SETTINGS as ODOMETRY_SETTINGS
from legged_dynamics.estimation.settings import SETTINGS as ESTIMATOR_SETTINGS
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.middleware.runner import run
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.nodes.body_output import BodyOutput
from legged_dynamics.nodes.body_targets import SETTINGS as TARGET_SETTINGS
from legged_dynamics.nodes.body_targets import BodyTargets
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.effort_controller import EffortController
from legged_dynamics.schema import Setting
from legged_dynamics.workspace.command import WorkspaceCommand, WorkspaceFault
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.reach import ReachLimiter
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.settings import SETTINGS as WORKSPACE_SETTINGS
from legged_dynamics.workspace.settings import WorkspaceSettings

NODE_SETTINGS = (
    *TARGET_SETTINGS,
    Setting('stance', 'detected', '', 'Which feet count as standing: those detected, or all.',
            choices=('detected', 'all')),
    Setting('sensor_patience', 0.5, 's', 'How long the body is held without the IMU before the '
            'robot is let go limp.', 0.0, 10.0),
    Setting('publish_tf', False, '', 'Whether to publish the transform from odom_frame to the '
            'base on /tf.'),
)
FAULT_TEXTS = {
    WorkspaceFault.FOOT_LOST: 'a foot does not stand; the others carry the body',
    WorkspaceFault.NO_STANCE: 'too few feet stand to hold the body',
    WorkspaceFault.UNBALANCED: 'the ground cannot give what the motion takes, within friction, '
                               'soles and efforts',
    WorkspaceFault.EFFORT_LIMIT: 'an effort was cut to its limit',
    WorkspaceFault.ACCELERATION_LIMIT: 'the errors ask for more acceleration than is allowed',
    WorkspaceFault.SINGULAR: 'a leg is stretched; it is damped',
}


class WorkspaceControllerNode(EffortController):
    """
    Holds the body where it was on activation, and moves it to targets and along trajectories.

    Hears ``~/body_target`` (PoseStamped) and ``~/body_trajectory`` (MultiDOFJointTrajectory of
    one body), in ``odom_frame``: on the ground amid the first stance. Publishes beside
    ``effort_controller/commands``, while somebody listens: ``~/<foot>/desired_wrench``,
    ``~/<foot>/estimated_wrench``, ``~/odom``, ``~/body_reference``, and /tf on request.

    A body that is lost (too far off, unbalanced for too long, without IMU for too long) is held
    and then let go limp, until the node is activated anew.
    """

    default_name = 'workspace_controller'
    live = tuple(setting.name for setting in WORKSPACE_SETTINGS)
    settings = (*WORKSPACE_SETTINGS, *ODOMETRY_SETTINGS, *ESTIMATOR_SETTINGS, *NODE_SETTINGS)
    # Without the IMU, joint states must go on being answered before the guard lets go.
    defaults = {'imu_timeout': 0.03, 'safety.input_timeout': 0.045}

    # ---- building --------------------------------------------------------------------------

    def open(self) -> None:
        """Join the topics of targets."""
        self._controller: WorkspaceController | None = None
        self._body = InputMonitor('body', round(self.parameters['input_timeout'] * 1e9))
        self._targets = BodyTargets(self, self.endpoints, self.parameters, self._present,
                                    self._furthest)
        self._started = False
        self._state: BodyState | None = None
        self._command: WorkspaceCommand | None = None
        self._lost = ''

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """
        Make odometry, contact detection and control for a robot.

        Parameters
        ----------
        model : RobotModel
            Of the robot.
        config : RobotConfig
            Its feet.

        Raises
        ------
        LeggedDynamicsError
            When the robot cannot be controlled so, or has other feet than the one before.

        """
        controller = WorkspaceController(model, config, self._of(WORKSPACE_SETTINGS))
        estimator = GroundReactionEstimator(
            model, config, EstimatorSettings.from_parameters(self._of(ESTIMATOR_SETTINGS)))
        odometry = LegOdometry(model, config, self._of(ODOMETRY_SETTINGS))
        self._limiter = ReachLimiter(model, config, self.parameters['reference.stretch'])
        compile_control(controller, estimator, odometry, self._limiter)
        if self._controller is None:
            self._topics = BodyOutput(self, self.endpoints, controller.feet, model.base_link,
                                      self.parameters)
        elif controller.feet != self._controller.feet:
            raise LeggedDynamicsError('a new robot_description has other feet; restart the node')
        self._controller, self._estimator, self._odometry = controller, estimator, odometry

    def reset(self) -> None:
        """Start from the stance that the robot has."""
        if self._controller is None:
            return
        self._controller.reset()
        self._estimator.reset()
        self._odometry.reset()
        self._started = False
        self._targets.reference.settings = self._controller.settings
        self._state = self._command = None
        self._lost = ''
        self._blind_ns: int | None = None

    def changing(self, values: dict[str, Any]) -> None:
        """
        Take other gains, weights and limits.

        Parameters
        ----------
        values : dict
            All parameters.

        Raises
        ------
        ConfigurationError
            When they do not go together.

        """
        settings = WorkspaceSettings.from_parameters(
            {setting.name: values[setting.name] for setting in WORKSPACE_SETTINGS})
        if getattr(self, '_controller', None) is not None:
            self._controller.configure(settings)    # type: ignore[union-attr]
            self._targets.reference.settings = settings

    def _of(self, table: tuple[Setting, ...]) -> dict[str, Any]:
        return {setting.name: self.parameters[setting.name] for setting in table}

    # ---- work ------------------------------------------------------------------------------

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """
        Return the efforts that take the body towards its reference.

        Parameters
        ----------
        measurement : Measurement
            Of joints and IMU.

        Raises
        ------
        MeasurementError
            When the measurement cannot be used.

        """
        assert self._controller is not None
        reaction = self._estimator.update(measurement)
        contact = None
        if reaction.mode != Mode.UNAVAILABLE and self.parameters['stance'] == 'detected':
            contact = reaction.contact
        state = self._odometry.update(measurement, contact)
        self._reaction, self._state, self._position = reaction, state, measurement.position
        if self._lost:
            return None
        if state.faults & (OdometryFault.GAP | OdometryFault.TIME_JUMPED_BACK):
            self._started = False       # the old places mean nothing any more
        if not self._started:
            warming_up = contact is None and self.parameters['stance'] == 'detected'
            if warming_up or measurement.angular_velocity is None:
                self._odometry.reset()  # a world that begins without the IMU is a tilted one
                return None
            self._started = True
            self._targets.start(measurement.stamp_ns, state.position, state.rotation)
        self._target = self._targets.reference.at(measurement.stamp_ns)
        command = self._controller.update(state, measurement, self._target)
        self._command = command
        self._judge_command(measurement, command)
        return command.effort if command.usable and not self._lost else None

    def reason(self) -> str:
        """Return why there is no command."""
        return self._lost or ('the command is not usable' if self._started else
                              'the controller starts from the stance that it finds')

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish state, reference and forces that belong to the command."""
        if self._state is not None and self._command is not None:
            self._topics.publish(self._state, self._command, self._reaction, self._target)

    def _judge_command(self, measurement: Measurement, command: WorkspaceCommand) -> None:
        now, stamp = self._now(), measurement.stamp_ns
        faults = [text for fault, text in FAULT_TEXTS.items() if command.faults & fault]
        if measurement.angular_velocity is None:
            self._blind_ns = stamp if self._blind_ns is None else self._blind_ns
            faults.append('no IMU reading: the body is held by the legs alone')
            if (stamp - self._blind_ns) * 1e-9 > self.parameters['sensor_patience']:
                self._lost = 'no IMU reading for too long'
        else:
            self._blind_ns = None
        if command.faults & WorkspaceFault.LOST:
            error = command.error
            self._lost = (f'the body is lost: {1e3 * math.hypot(*error[:3]):.0f} mm and '
                          f'{math.degrees(math.hypot(*error[3:])):.1f} deg off its target'
                          + (', ' + '; '.join(faults) if faults else ''))
        if faults:
            self._body.refused(now, '; '.join(faults))
        else:
            self._body.saw(now)

    def _present(self) -> int | None:
        if self._lost or self._state is None or not self._started or not self.input.listening:
            return None
        return self._state.stamp_ns

    def _furthest(self, pose: BodyPose) -> tuple[BodyPose, float]:
        assert self._state is not None
        return self._limiter.furthest(self._state, self._position, pose)

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return how body and targets do, at a time [ns]."""
        body = self._body.judge(now)
        if self._lost:
            body = 'ERROR', f'{self._lost}; activate the node anew'
        elif self.input.state() is not None or not self._body.received:
            body = 'OK', 'not under control'
        return {'body': body, 'targets': self._targets.judge(now)}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return errors, drift and margins."""
        state, command = self._state, self._command
        if state is None or command is None:
            return {}
        return {'body': {
            'position error [mm]': 1e3 * float(np.linalg.norm(command.error[:3])),
            'orientation error [deg]': math.degrees(float(np.linalg.norm(command.error[3:]))),
            'feet down': ', '.join(foot for foot, down in zip(self._odometry.feet, state.contact)
                                   if down) or 'none',
            'least stretch of a leg': float(np.nanmin(np.append(command.stretch, 1e9))),
            'drift of the position [mm]': 1e3 * state.position_deviation,
            'slips': state.slips}}


def compile_control(controller: WorkspaceController, estimator: GroundReactionEstimator,
                    odometry: LegOdometry, limiter: ReachLimiter) -> None:
    """Have everything compiled now, and not when the robot waits for its first command."""
    model = controller.model
    for k in range(estimator.delay + 3):
        nothing = Measurement(k * 2_000_000, np.zeros(model.nq), np.zeros(model.nv),
                              np.zeros(model.nv), np.zeros(3), np.array([0.0, 0.0, 9.81]),
                              np.array([0.0, 0.0, 0.0, 1.0]))
        estimator.update(nothing)
        state = odometry.update(nothing)
        controller.update(state, nothing, ReferenceGenerator().at(nothing.stamp_ns))
    here, reference = BodyPose(state.position, state.rotation), ReferenceGenerator()
    limiter.furthest(state, nothing.position, here)
    reference.move_to(0, here)
    reference.follow(0, [1.0, 2.0], [here, here])


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(WorkspaceControllerNode, argv)
