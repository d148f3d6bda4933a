# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What workspace control publishes in addition to efforts: pose, reference, forces on feet."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import GroundReaction, Mode
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import RobotConfig
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import MarkerMaker, odometry_numbers, state_markers
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.nodes.body.targets import BodyTargets
from legged_dynamics.ros.nodes.diagnostics import Pace, publish_if_heard
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import quaternion_from_rotation
from legged_dynamics.workspace.command import BodyTarget, WorkspaceCommand
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.posture import Ease, Phase, Posture

# Settings of the published state.
SETTINGS = (
    Setting('state.rate', 20.0, 'Hz', 'Rate of the state; 0 switches it off.', 0.0, 1000.0),
)
# Names of a pose's numbers in the state.
POSE = ('x [m]', 'y [m]', 'z [m]', 'qx', 'qy', 'qz', 'qw')


class StateOutput:
    """Publishes ``~/state`` (a status) and ``~/state_markers`` (for rviz) on demand."""

    def __init__(self, common: RobotComponent, controller: WorkspaceController):
        self._dialect, self._parameters = common.dialect, common.parameters
        self.controller, self._pace = controller, Pace()
        self._name = common.node.get_name()
        publisher, qos = common.endpoints.publisher, common.dialect.qos.reliable(10)
        self._state = publisher('diagnostic_msgs/msg/DiagnosticStatus', '~/state', qos)
        self._markers = publisher('visualization_msgs/msg/MarkerArray', '~/state_markers', qos)

    def margins(self, command: WorkspaceCommand, state: BodyState,
                position: np.ndarray) -> dict[str, float]:
        """Return the margins of a command for that state, by display name."""
        return {f'margin: {name}': value for name, value in self.controller.margins(
            command, state, position).items()}

    def publish(self, state: BodyState, command: WorkspaceCommand, position: np.ndarray,
                mode: str) -> None:
        """Publish mode, pose, stance and margins when due."""
        rate = self._parameters['state.rate']
        if not self._pace.due(state.stamp_ns, rate):
            return
        if self._markers.get_subscription_count():
            self._draw(state, command, position, mode, 2.0 / rate)
        publish_if_heard(self._state, self._said, state, command, position, mode)

    def _said(self, state: BodyState, command: WorkspaceCommand, position: np.ndarray,
              mode: str) -> Any:
        pose = (*state.position.tolist(), *quaternion_from_rotation(state.rotation).tolist())
        values: dict[str, Any] = dict(zip(POSE, pose))
        values['stance'] = ', '.join(
            foot for foot, down in zip(self.controller.feet, state.contact) if down)
        values |= self.margins(command, state, position)
        return convert.diagnostic_status(self._dialect, 'WARN' if command.faults else 'OK',
                                         self._name, mode, values)

    def _draw(self, state: BodyState, command: WorkspaceCommand, position: np.ndarray, mode: str,
              lifetime: float) -> None:
        model, down = self.controller.model, state.contact
        points, forces = np.zeros((2, len(down), 3))
        points[down] = (state.foot_position[down] - state.position) @ state.rotation
        for foot, force in self.controller.forces().items():
            forces[foot] = force @ state.rotation
        make = MarkerMaker(self._dialect, state.stamp_ns, model.base_link,
                           model.total_mass * GRAVITY, lifetime)
        self._markers.publish(state_markers(make, points, forces, down, mode,
                                            self.controller.margins(command, state, position)))


class BodyOutput:
    """Publishers of a body under control, each active only while subscribed."""

    def __init__(self, common: RobotComponent, feet: Sequence[str], base: str):
        self._dialect, endpoints = common.dialect, common.endpoints
        self._base, self._frame = base, common.parameters['odom_frame']
        qos = common.dialect.qos.reliable(100)
        self._desired, self._estimated = ([endpoints.prepared(
            f'~/{foot}/{name}_wrench', convert.wrench_stamped(StandaloneDialect(), 0, foot, (
                0.0,) * 6), qos) for foot in feet] for name in ('desired', 'estimated'))
        self._odometry = endpoints.prepared('~/odom', convert.odometry(
            StandaloneDialect(), 0, self._frame, base), qos)
        self._reference = endpoints.prepared('~/body_reference', convert.pose_stamped(
            StandaloneDialect(), 0, self._frame), qos)
        self._tf = (endpoints.publisher('tf2_msgs/msg/TFMessage', 'tf', qos)
                    if common.parameters['publish_tf'] else None)

    def publish(self, state: BodyState, command: WorkspaceCommand, reaction: GroundReaction,
                target: BodyTarget) -> None:
        """Publish state, command, reaction (older by `delay` samples) and target."""
        dialect, ns = self._dialect, command.stamp_ns
        for publisher, wrench in zip(self._desired, command.foot_wrench):
            publisher.send(ns, wrench.tolist)
        if reaction.mode != Mode.UNAVAILABLE:
            for publisher, wrench in zip(self._estimated, reaction.wrench):
                publisher.send(reaction.latest_ns, wrench.tolist)
        self._reference.send(ns, lambda: [
            *target.position.tolist(), *quaternion_from_rotation(target.rotation).tolist()])
        self._odometry.send(state.stamp_ns, odometry_numbers, state)
        if self._tf is not None:
            self._tf.publish(convert.transforms(
                dialect, ns, self._frame, self._base, state.position,
                quaternion_from_rotation(state.rotation)))


# -------------------------------------------------------------------------------------------------
# BodyPostures: standing up, sitting down and letting go, by topic or service.


WORDS = ('stand', 'sit', 'damping', 'zero')
SERVICES = {'stand_up': 'stand', 'sit_down': 'sit'}


class BodyPostures:
    """
    Stands up, sits down and lets go on ``~/posture``, ``~/stand_up`` and ``~/sit_down``.

    The first is a std_msgs/String of `WORDS`; the others are services of std_srvs/Trigger.

    Parameters
    ----------
    common : RobotComponent
        Common part of the node.
    targets : BodyTargets
        Moves the body.
    why_not : callable
        Returns why no posture can be taken now, or ''.
    holding : callable
        Returns whether the body is held now.
    restart : callable
        Starts the body's state again from where the robot is.

    """

    posture: Posture  # Set once the robot is known

    def __init__(self, common: RobotComponent, targets: BodyTargets,
                 why_not: Callable[[], str], holding: Callable[[], bool],
                 restart: Callable[[], None]):
        self._targets, self._why_not = targets, why_not
        self._holding, self._restart = holding, restart
        common.endpoints.subscription('std_msgs/msg/String', '~/posture',
                                      lambda message: self.request(message.data),
                                      common.dialect.qos.reliable(10))
        for name, word in SERVICES.items():
            common.endpoints.service('std_srvs/srv/Trigger', f'~/{name}',
                                     partial(self._serve, word))

    def build(self, controller: WorkspaceController, config: RobotConfig) -> None:
        """Use a robot from now on."""
        self._controller, self.posture = controller, Posture(controller.model, config)

    def request(self, word: str) -> tuple[bool, str]:
        """Start a posture, one of `WORDS`; return whether, and what is done or why not."""
        try:
            if word not in WORDS:
                raise ConfigurationError(
                    f'expected a posture among {", ".join(WORDS)}, got {word!r}')
            if why := self._why_not():
                raise ConfigurationError(why)
            return True, self._begin(word)
        except LeggedDynamicsError as error:
            self._targets.refuse(error)
            return False, str(error)

    def step(self, stamp: int, error: np.ndarray) -> None:
        """Go to the next phase when due; ``error``: of the body's pose [m, rad]."""
        posture, targets = self.posture, self._targets
        if not posture.active:
            return
        before = posture.phase
        phase = posture.step(stamp, error, targets.state.rotation, targets.arrived(stamp))
        if before is not phase is Phase.FADE:
            targets.stay(stamp)
        elif before is not phase is Phase.RISE:
            self._rise()

    def shape(self, state: BodyState, effort: np.ndarray, position: np.ndarray,
              velocity: np.ndarray) -> np.ndarray:
        """Return the efforts (nj,) to send, as the present posture changes them."""
        return self.posture.shape(state.stamp_ns, effort, self._controller.unloaded(), position,
                                  velocity)

    @property
    def mode(self) -> str:
        """What the body does, in a word or two."""
        return self.posture.phase.value if self.posture.active else self._targets.mode

    def _serve(self, word: str, request: Any, response: Any) -> Any:
        response.success, response.message = self.request(word)
        return response

    def _begin(self, word: str) -> str:
        posture, targets, stamp = self.posture, self._targets, self._targets.state.stamp_ns
        if word == 'stand':
            posture.standing(targets.state)
            if self._holding() and not posture.loose:
                posture.begin(Phase.RISE, stamp)
                self._rise()
            else:
                self._restart()
                posture.load(stamp)
            return 'standing up'
        if word != 'sit' or posture.loose:
            posture.let_go(stamp, Ease(word))
            targets.stay(stamp)
            return 'letting go'
        if posture.phase is Phase.CROUCH:
            return 'crouches already'
        posture.begin(Phase.SINK, stamp)
        targets.move(posture.below(targets.state), 'sitting down')
        return 'sitting down'

    def _rise(self) -> None:
        self._targets.move(self.posture.standing(self._targets.state), 'standing up', home=True)
