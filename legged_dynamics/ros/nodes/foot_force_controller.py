# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node foot_force_controller: stands, and gives each foot its desired force."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import GroundReaction
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.force_map.affine import ContactForceMap
from legged_dynamics.force_map.constrained import ConstrainedForceMap
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.force_map.producible import foot_reach, leg_columns
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.feet import MOMENT, Foot
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import MarkerMaker, force_markers
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.body.controller import BLIND, DEFAULTS, SETTINGS, BodyController
from legged_dynamics.ros.nodes.controller_node import settings_of
from legged_dynamics.ros.nodes.diagnostics import DIAGNOSTICS, Pace, publish_if_heard
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.workspace import AskedForce, WorkspaceFault
from legged_dynamics.workspace.command import WorkspaceCommand
from legged_dynamics.workspace.controller import WorkspaceController

# -------------------------------------------------------------------------------------------------
# ForceMapOutput: the map from joint torques to foot forces, as messages.


# Settings of the published force map.
MAP_SETTINGS = (
    Setting(
        'map.rate', 10.0, 'Hz',
        'Rate of the force map and of its markers; 0 switches them off.', 0.0, 1000.0),
    Setting(
        'markers.newtons_per_meter', 1000.0, 'N/m', 'Force drawn as an arrow of 1 m.', 1e-3, 1e6),
)
# Height of the drawn friction cone, as a part of the weight.
DRAWN_LOAD = 0.5


class ForceMapTopics:
    """Publishes D, k_0 and condition on ``~/force_map``, base axes, with labelled dimensions."""

    def __init__(self, common: RobotComponent):
        self._dialect, qos = common.dialect, common.dialect.qos.reliable(10)
        self._matrix, self._offset = (
            common.endpoints.publisher('std_msgs/msg/Float64MultiArray', f'~/force_map/{name}',
                                       qos) for name in ('matrix', 'offset'))
        self._condition = common.endpoints.publisher('std_msgs/msg/Float64',
                                                     '~/force_map/condition', qos)

    def publish(self, found: ContactForceMap, feet: Sequence[Foot]) -> None:
        """Publish the map of those feet that are in contact."""
        rows = [f'{foot.link}.{"moment." if row.kind == MOMENT else ""}{"xyz"[row.axis]}'
                for foot in feet if foot.link in found.feet for row in foot.rows]
        publish_if_heard(self._matrix, convert.labelled_array, self._dialect, found.matrix,
                         (rows, found.columns))
        publish_if_heard(self._offset, convert.labelled_array, self._dialect, found.offset,
                         (rows,))
        if np.isfinite(found.condition):
            publish_if_heard(self._condition, convert.float64, self._dialect, found.condition)


class EstimatedForceMap:
    """The map of the feet that an estimate has in contact, at a rate [Hz], for its node."""

    def __init__(self, common: RobotComponent, rate: float):
        self._topics, self._config = ForceMapTopics(common), common.config
        self._feet = common.config.feet
        self._pace, self._rate = Pace(), rate

    def build(self, model: RobotModel) -> None:
        """Use a robot from now on."""
        self._map = ConstrainedForceMap(model, self._feet)
        self._mount = model.frame(self._config.imu_link_in(model))
        self._map.compute(self._config.nominal_in(model), np.zeros(model.nv))       # compiles

    def take(self, measurement: Measurement, reaction: GroundReaction) -> None:
        """Publish the map when it is due; nothing in the air, or without joint velocities."""
        on = reaction.latest_contact
        if (not on.any() or not np.isfinite(measurement.velocity).all()
                or not self._pace.due(measurement.stamp_ns, self._rate)):
            return
        turning = measurement.angular_velocity if self._mount.body == 0 else None
        self._topics.publish(self._map.compute(
            measurement.position, measurement.velocity, R_WB=reaction.base_rotation,
            angular_velocity=None if turning is None else self._mount.pose.R @ turning,
            in_contact=on.tolist()), self._feet)


class _ForceMapOutput:
    """
    Publishes the map and producible sets at a rate of its own.

    Markers are sent one foot at a time, to spread the load over samples.
    """

    def __init__(self, common: RobotComponent):
        self._common, self._topics = common, ForceMapTopics(common)
        self._markers = common.endpoints.publisher('visualization_msgs/msg/MarkerArray',
                                                   '~/markers', common.dialect.qos.reliable(10))

    def build(self, model: RobotModel, feet: Sequence[Foot],
              controller: WorkspaceController) -> None:
        """Build the force map of a robot whose feet all stand."""
        self._model, self._controller = model, controller
        self._limits = controller.settings['limits.effort_fraction'] * model.effort_limits
        self._map, self._feet = ConstrainedForceMap(model, feet), feet
        self._names = tuple(foot.link for foot in feet)
        self._cone = FrictionCone(controller.settings['division.friction'], facets=16)
        self._cone_edges = self._cone.edges() * (DRAWN_LOAD * model.total_mass * GRAVITY)
        self._pace, self._drawing = Pace(), len(self._names)
        self._found: ContactForceMap | None = None

    def compute(self, position: np.ndarray, velocity: np.ndarray, R_WB: np.ndarray,
                angular_velocity: np.ndarray) -> ContactForceMap:
        """Return the map at one state."""
        return self._map.compute(position, velocity, R_WB=R_WB, angular_velocity=angular_velocity)

    def publish(self, measurement: Measurement, effort: np.ndarray, command: WorkspaceCommand,
                body: BodyState) -> None:
        """Publish what is due."""
        rate, ns = self._common.parameters['map.rate'], measurement.stamp_ns
        if not rate:
            return
        if self._pace.due(ns, rate):
            self._found = self.compute(measurement.position, measurement.velocity,
                                       body.rotation, body.twist[3:])
            self._topics.publish(self._found, self._feet)
            self._drawing = 0 if self._markers.get_subscription_count() else len(self._names)
        elif self._drawing < len(self._names) and self._found is not None:
            self._draw(self._drawing, ns, self._found, effort, command, body.rotation, 5.0 / rate)
            self._drawing += 1

    def _draw(self, i: int, ns: int, found: ContactForceMap, effort: np.ndarray,
              command: WorkspaceCommand, R_WB: np.ndarray, lifetime: float) -> None:
        reach = foot_reach(self._model, found, self._names[i], effort, self._limits)
        asked, given = command.asked.get(i), self._controller.forces().get(i, np.zeros(3))
        make = MarkerMaker(self._common.dialect, ns, self._model.base_link,
                           self._common.parameters['markers.newtons_per_meter'], lifetime)
        self._markers.publish(make.array(force_markers(
            make, i, found.contact_points[i], reach.polytope.vertices[reach.polytope.triangles],
            self._cone_edges @ R_WB, given @ R_WB, None if asked is None else asked @ R_WB)))

    def details(self) -> dict[str, Any]:
        """Return how well forces can be asked for: for the diagnostics."""
        found = self._found
        if found is None:
            return {}
        values: dict[str, Any] = {'condition of the map': float(found.condition)}
        for foot in self._names:
            own = found.of_foot(foot).by(leg_columns(self._model, found, foot),
                                         np.zeros(len(found.columns)))
            x, y, z = own.weakest_direction
            values[f'{foot}: condition'] = float(own.condition)
            values[f'{foot}: least producible direction, base axes'] = f'{x:.2f} {y:.2f} {z:.2f}'
        return values


# -------------------------------------------------------------------------------------------------


NODE_SETTINGS = (
    *MAP_SETTINGS,
    Setting(
        'desired_timeout', 0.5, 's',
        'Age at which a desired wrench is no longer obeyed.', 0.01, 1e6),
    Setting('world_frame', 'world', '', 'Name of the frame whose z is up, for desired wrenches.'),
)
_WRENCH = 'geometry_msgs/msg/WrenchStamped'


class FootForceController(BodyController):
    """
    Holds the body, and gives feet their desired forces.

    Takes ``~/<foot>/desired_wrench``, ground on robot, in axes of its frame: foot link,
    base or world. Replaced by the nearest one within friction, effort limits and balance.
    Publishes ``~/<foot>/commanded_wrench``, force map and markers.
    """

    default_name = 'foot_force_controller'
    live = (*BodyController.live, 'map.', 'markers.', 'desired_timeout', 'world_frame')
    # A foot whose desired force is almost zero is in contact all the same.
    settings = settings_of({**DEFAULTS, 'stance': 'all'}, SETTINGS, NODE_SETTINGS)

    def join(self, model: RobotModel, config: RobotConfig) -> None:
        """Open the topics of the feet."""
        self._feet, qos = tuple(foot.link for foot in config.feet), self.dialect.qos
        self._given = [self.common.endpoints.publisher(_WRENCH, f'~/{foot}/commanded_wrench',
                                                       qos.reliable(500)) for foot in self._feet]
        for i, foot in enumerate(self._feet):
            self.common.endpoints.subscription(_WRENCH, f'~/{foot}/desired_wrench',
                                               partial(self._on_desired, i), qos.reliable(10))
        self._map = _ForceMapOutput(self.common)

    def rebuild(self, model: RobotModel, config: RobotConfig) -> None:
        """Build the force map."""
        self._model = self.controller.model
        self._map.build(self._model, config.feet, self.controller)

    def warm(self, measurement: Measurement) -> None:
        """Run all code once, the force map included."""
        super().warm(measurement)
        self._map.compute(measurement.position, measurement.velocity, np.eye(3), np.zeros(3))

    def reset(self) -> None:
        """Hold the pose of the next measurement, and forget all desired forces."""
        super().reset()
        self._desired: dict[int, tuple[int, AskedForce]] = {}
        self._refused: tuple[int, str] = (-DIAGNOSTICS.fault_memory_ns, '')

    def _on_desired(self, foot: int, message: Any) -> None:
        now, name, frame = self.common.now(), self._feet[foot], message.header.frame_id
        axes = {name: 'foot', self._model.base_link: 'base',
                self.parameters['world_frame']: 'world'}
        _, wrench = convert.read_wrench(message)
        if frame not in axes:
            self._refused = now, (f'{name}: expected a desired wrench in one of the frames '
                                  f'{", ".join(axes)}; got {frame!r}')
        elif not np.isfinite(wrench[:3]).all():
            self._refused = now, f'{name}: the desired force is not finite: {wrench[:3].tolist()}'
        elif self.efforts.input.listening:
            self._desired[foot] = now, AskedForce(wrench[:3], axes[frame])

    def asked(self) -> dict[int, AskedForce]:
        """Return the forces that are still to be obeyed."""
        if self._desired:
            timeout, now = round(self.parameters['desired_timeout'] * 1e9), self.common.now()
            self._desired = {foot: (since, asked) for foot, (since, asked)
                             in self._desired.items() if now - since <= timeout}
        return {foot: asked for foot, (_, asked) in self._desired.items()}

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish the forces given, and the force map."""
        super().commanded(measurement, effort)
        if self.command is None or self.state is None:
            return
        for publisher, foot, wrench in zip(self._given, self._feet, self.command.foot_wrench):
            publish_if_heard(publisher, convert.wrench_stamped, self.dialect,
                             measurement.stamp_ns, foot, wrench)
        self._map.publish(measurement, effort, self.command, self.state)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return how the body does, and which desired forces are not given."""
        found = super().judge(now)
        if self.efforts.input.listening and self.command is not None:
            found['forces'] = self._judge_forces(now)
        return found

    def _judge_forces(self, now: int) -> tuple[str, str]:
        command = self.command
        assert command is not None
        if self.lost:
            return 'ERROR', f'let go: {self.lost}; activate the node again'
        since, why = self._refused
        problems = [why] if now - since < DIAGNOSTICS.fault_memory_ns else []
        if self._blind_ns is not None:
            problems.append(BLIND)
        given = self.controller.forces()
        for foot, why in command.clipped.items():
            problems.append(f'{self._feet[foot]}: {_newtons(command.asked[foot])} asked, '
                            f'{_newtons(given[foot])} given: {why}')
        if command.faults & WorkspaceFault.UNBALANCED:
            problems.append('no forces within friction and effort limits hold the body')
        if problems:
            return 'WARN', '; '.join(problems)
        got = ', '.join(self._feet[foot] for foot in sorted(command.asked))
        return 'OK', f'as asked: {got}' if got else 'holds the body'

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return where the body is, and how well conditioned the force map is."""
        found = super().details(now)
        return found | {'forces': self._map.details()} if 'body' in found else found


def _newtons(force: np.ndarray) -> str:
    return f'({", ".join(str(round(value)) for value in force.tolist())}) N'


main = partial(run, FootForceController)   # the executable; returns its exit code
