# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ForceMapOutput: the map from joint torques to foot forces, as messages."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.force_map.constrained import ConstrainedForceMap
from legged_dynamics.force_map.contact_force_map import ContactForceMap
from legged_dynamics.force_map.foot_reach import foot_reach, leg_columns
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.model import RobotModel
from legged_dynamics.model.foot import Foot
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.workspace.command import WorkspaceCommand
from legged_dynamics.workspace.controller import WorkspaceController

SETTINGS = (
    Setting('map.rate', 10.0, 'Hz', 'Rate of the force map and of its markers; 0 switches them '
            'off.', 0.0, 1000.0),
    Setting('markers.newtons_per_meter', 1000.0, 'N/m', 'Force drawn as an arrow of 1 m.',
            1e-3, 1e6),
)
# The cone is drawn to the height of this much of the weight.
DRAWN_LOAD = 0.5


class ForceMapOutput:
    """
    Publishes D, k_0, condition and producible sets at a rate of its own.

    ``~/force_map/matrix`` and ``~/force_map/offset`` are in base axes, their dimensions labelled
    with the names of their rows and columns. The markers of one foot at a time follow each other,
    so that no sample has to wait for all of them.

    Parameters
    ----------
    common : RobotComponent
        Of the node; with the parameters `SETTINGS`.

    """

    def __init__(self, common: RobotComponent):
        self._common = common
        qos, open_publisher = common.dialect.qos, common.endpoints.publisher
        array = 'std_msgs/msg/Float64MultiArray'
        self._matrix = open_publisher(array, '~/force_map/matrix', qos.reliable(10))
        self._offset = open_publisher(array, '~/force_map/offset', qos.reliable(10))
        self._condition = open_publisher('std_msgs/msg/Float64', '~/force_map/condition',
                                         qos.reliable(10))
        self._markers = open_publisher('visualization_msgs/msg/MarkerArray', '~/markers',
                                       qos.reliable(10))

    def build(self, model: RobotModel, feet: Sequence[Foot],
              controller: WorkspaceController) -> None:
        """Make the map of a robot whose feet all stand."""
        self._model, self._controller = model, controller
        self._limits = controller.settings['limits.effort_fraction'] * model.effort_limits
        self._map = ConstrainedForceMap(model, feet)
        self._names = tuple(foot.link for foot in feet)
        self._cone = FrictionCone(controller.settings['division.friction'], facets=16)
        self._cone_edges = self._cone.edges() * (DRAWN_LOAD * model.total_mass * GRAVITY)
        self._rows = [f'{foot}.{axis}' for foot in self._names for axis in 'xyz']
        self._next_ns, self._drawing = 0, len(self._names)
        self._found: ContactForceMap | None = None

    def compute(self, position: np.ndarray, velocity: np.ndarray, R_WB: np.ndarray,
                angular_velocity: np.ndarray) -> ContactForceMap:
        """Return the map at one state."""
        return self._map.compute(position, velocity, R_WB=R_WB,
                                 angular_velocity=angular_velocity)

    def publish(self, measurement: Measurement, effort: np.ndarray, command: WorkspaceCommand,
                body: BodyState) -> None:
        """
        Publish what is due.

        Parameters
        ----------
        measurement : Measurement
            The sample that was answered.
        effort : (nj,) array [N m]
            What went out, in the model's joint order.
        command : WorkspaceCommand
            With the forces asked for and given.
        body : BodyState
            Orientation and twist of the base.

        """
        rate, ns = self._common.parameters['map.rate'], measurement.stamp_ns
        if not rate:
            return
        if not self._next_ns - 2_000_000_000 < ns < self._next_ns:
            self._next_ns = ns + round(1e9 / rate)
            self._found = self.compute(measurement.position, measurement.velocity,
                                       body.rotation, body.twist[3:])
            self._publish_numbers(self._found)
            self._drawing = 0 if self._markers.get_subscription_count() else len(self._names)
        elif self._drawing < len(self._names) and self._found is not None:
            self._draw(self._drawing, ns, self._found, effort, command, body.rotation, 5.0 / rate)
            self._drawing += 1

    def _publish_numbers(self, found: ContactForceMap) -> None:
        dialect = self._common.dialect
        if self._matrix.get_subscription_count():
            self._matrix.publish(convert.labelled_array(dialect, found.matrix,
                                                        (self._rows, found.columns)))
        if self._offset.get_subscription_count():
            self._offset.publish(convert.labelled_array(dialect, found.offset, (self._rows,)))
        if self._condition.get_subscription_count() and np.isfinite(found.condition):
            self._condition.publish(convert.float64(dialect, found.condition))

    def _draw(self, i: int, ns: int, found: ContactForceMap, effort: np.ndarray,
              command: WorkspaceCommand, R_WB: np.ndarray, lifetime: float) -> None:
        reach = foot_reach(self._model, found, self._names[i], effort, self._limits)
        asked, given = command.asked.get(i), self._controller.forces().get(i, np.zeros(3))
        message = self._common.dialect.message('visualization_msgs/msg/MarkerArray')
        self._markers.publish(message(
            markers=convert.force_markers(
                self._common.dialect, ns, self._model.base_link, i, found.contact_points[i],
                reach.polytope.vertices[reach.polytope.triangles], self._cone_edges @ R_WB,
                given @ R_WB, None if asked is None else asked @ R_WB,
                newtons_per_meter=self._common.parameters['markers.newtons_per_meter'],
                lifetime_s=lifetime)))

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
