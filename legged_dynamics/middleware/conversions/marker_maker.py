# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""MarkerMaker: single visualization_msgs/Marker messages that share header and lifetime."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from legged_dynamics.middleware.conversions.building import point, quaternion, vector3
from legged_dynamics.middleware.protocol import Dialect

WHITE, LINE_WIDTH = (1.0, 1.0, 1.0), 0.008


class MarkerMaker:
    """
    Makes the markers of one message.

    A marker is known by its namespace and number; the same pair again replaces it.

    Parameters
    ----------
    dialect : Dialect
        Whose messages to make.
    stamped : std_msgs/Header
        Stamp and frame of all markers.
    lifetime : builtin_interfaces/Duration
        After this, rviz lets a marker vanish by itself.

    """

    def __init__(self, dialect: Dialect, stamped: Any, lifetime: Any):
        self._dialect, self._header, self._lifetime = dialect, stamped, lifetime
        self._marker = dialect.message('visualization_msgs/msg/Marker')
        self._color = dialect.message('std_msgs/msg/ColorRGBA')

    def arrow(self, ns: str, number: int, start: Any, end: Any, color: tuple) -> Any:
        """Return an arrow from one point to another [m]."""
        marker = self._new(ns, number, self._marker.ARROW, (0.015, 0.03, 0.04), color)
        marker.points = [point(self._dialect, start), point(self._dialect, end)]
        return marker

    def label(self, ns: str, number: int, place: Any, text: str) -> Any:
        """Return a text that faces the viewer."""
        marker = self._new(ns, number, self._marker.TEXT_VIEW_FACING, (0.0, 0.0, 0.04), WHITE)
        marker.pose.position = point(self._dialect, place)
        marker.text = text
        return marker

    def line(self, ns: str, number: int, places: Iterable[Any], color: tuple) -> Any:
        """Return a line through points [m]."""
        marker = self._new(ns, number, self._marker.LINE_STRIP, (LINE_WIDTH, 0.0, 0.0), color)
        marker.points = [point(self._dialect, place) for place in places]
        return marker

    def triangles(self, ns: str, number: int, corners: Iterable[Any], color: tuple,
                  opacity: float) -> Any:
        """Return triangles, three corners [m] after three."""
        marker = self._new(ns, number, self._marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), color,
                           opacity)
        marker.points = [point(self._dialect, place) for place in corners]
        return marker

    def sphere(self, ns: str, number: int, place: Any, color: tuple) -> Any:
        """Return a ball of 3 cm at a point [m]."""
        marker = self._new(ns, number, self._marker.SPHERE, (0.03, 0.03, 0.03), color)
        marker.pose.position = point(self._dialect, place)
        return marker

    def ellipsoid(self, ns: str, number: int, place: Any, xyzw: Any, diameters: Any,
                  color: tuple, opacity: float) -> Any:
        """Return an ellipsoid with its axes turned by a quaternion; diameters in [m]."""
        marker = self._new(ns, number, self._marker.SPHERE, tuple(diameters), color, opacity)
        marker.pose.position = point(self._dialect, place)
        marker.pose.orientation = quaternion(self._dialect, xyzw)
        return marker

    def deletion(self, ns: str, number: int) -> Any:
        """Return what removes a marker."""
        return self._marker(header=self._header, ns=ns, id=number, action=self._marker.DELETE)

    def _new(self, ns: str, number: int, kind: int, scale: tuple, color: tuple,
             opacity: float = 0.9) -> Any:
        red, green, blue = color
        return self._marker(header=self._header, ns=ns, id=number, type=kind,
                            action=self._marker.ADD, scale=vector3(self._dialect, scale),
                            color=self._color(r=red, g=green, b=blue, a=opacity),
                            lifetime=self._lifetime)
