# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground reactions as markers for rviz and as messages of legged_dynamics_msgs.

Markers show forces on the feet, support polygon, centre of pressure, cones and margins, in one
frame, usually the robot's base; a foot in the air has its arrow deleted. The messages' package is
optional: where there is no ROS 2 they come from `middleware/definitions.msg`; on ROS 2 they are
there when the package is built.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    START,
    frame_jacobian,
    moment_axis,
    unit,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.force_picture import ForcePicture
from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros.conversions.building import (
    duration_message,
    header,
    point,
    quaternion,
    vector3,
)
from legged_dynamics.ros.middleware.protocol import Dialect
from legged_dynamics.spatial.algebra import cross, load3
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_to_z

# -------------------------------------------------------------------------------------------------
# Marker makers: single markers that share header and lifetime.


WHITE = (1.0, 1.0, 1.0)
LINE_WIDTH = 0.008
_SEEN = 0.25                # opacity of surfaces and ellipsoids


class MarkerMaker:
    """
    Makes the markers of one message: points in metres in one frame, forces to one scale [N/m].

    A marker is identified by namespace, which rviz shows or hides as a whole, and number.
    Colours are RGB from 0 to 1; rviz removes a marker after its lifetime [s].
    """

    def __init__(self, dialect: Dialect, ns: int, frame_id: str,
                 newtons_per_meter: float = 500.0, lifetime_s: float = 0.2):
        self._dialect, self.newtons_per_meter = dialect, newtons_per_meter
        self._header = header(dialect, ns, frame_id)
        self._lifetime = duration_message(dialect, lifetime_s)
        self._marker = dialect.message('visualization_msgs/msg/Marker')
        self._color = dialect.message('std_msgs/msg/ColorRGBA')

    def arrow(self, ns: str, number: int, start: Any, end: Any, color: tuple,
              shown: bool = True) -> Any:
        """Return an arrow from one point to another; what removes it where it is not shown."""
        return self._made('ARROW', ns, number, shown, (0.015, 0.03, 0.04), color,
                          points=(start, end))

    def label(self, ns: str, number: int, place: Any, text: str, shown: bool = True) -> Any:
        """Return a text, lines 4 cm high, that faces the viewer."""
        return self._made('TEXT_VIEW_FACING', ns, number, shown, (0.0, 0.0, 0.04), WHITE,
                          place=place, text=text)

    def outline(self, ns: str, number: int, corners: np.ndarray, color: tuple,
                shown: bool = True) -> Any:
        """Return a closed line through points; one alone is not shown."""
        return self._made('LINE_STRIP', ns, number, shown and len(corners) > 1,
                          (LINE_WIDTH, 0.0, 0.0), color, points=(*corners, *corners[:1]))

    def triangles(self, ns: str, number: int, corners: Iterable[Any], color: tuple,
                  shown: bool = True) -> Any:
        """Return translucent triangles: three corners of each after each other."""
        return self._made('TRIANGLE_LIST', ns, number, shown, (1.0, 1.0, 1.0), color,
                          points=corners, opacity=_SEEN)

    def sphere(self, ns: str, number: int, place: Any, color: tuple, shown: bool = True,
               diameters: Any = (0.03, 0.03, 0.03), **look: Any) -> Any:
        """Return a ball, or an ellipsoid along axes that a quaternion ``xyzw`` turns."""
        return self._made('SPHERE', ns, number, shown, tuple(diameters), color, place=place,
                          **look)

    def array(self, markers: list[Any]) -> Any:
        """Return a visualization_msgs/MarkerArray."""
        return self._dialect.message('visualization_msgs/msg/MarkerArray')(markers=markers)

    def _made(self, kind: str, ns: str, number: int, shown: bool, scale: tuple,
              color: tuple, **look: Any) -> Any:
        if not shown:
            return self._marker(header=self._header, ns=ns, id=number, action=self._marker.DELETE)
        red, green, blue = color
        made = self._marker(
            header=self._header, ns=ns, id=number, type=getattr(self._marker, kind),
            action=self._marker.ADD, scale=vector3(self._dialect, scale),
            color=self._color(r=red, g=green, b=blue, a=look.get('opacity', 0.9)),
            points=[point(self._dialect, one) for one in look.get('points', ())],
            text=look.get('text', ''), lifetime=self._lifetime)
        if 'place' in look:
            made.pose.position = point(self._dialect, look['place'])
            made.pose.orientation = quaternion(self._dialect, look.get('xyzw', (0, 0, 0, 1)))
        return made


# -------------------------------------------------------------------------------------------------

FIRM = (0.1, 0.8, 0.2)
UNSURE = (1.0, 0.6, 0.0)
_POLYGON = (0.3, 0.5, 1.0)
_PRESSURE = (1.0, 0.1, 0.1)


def reaction_markers(make: MarkerMaker, contact_point: np.ndarray, force: np.ndarray,
                     contact: Sequence[bool], *, observable: Sequence[bool] | None = None,
                     center_of_pressure: np.ndarray | None = None,
                     standing: np.ndarray | None = None, names: Sequence[str] = (),
                     limits: Sequence[np.ndarray] | None = None) -> list[Any]:
    """
    Return the markers of one ground reaction; with ``names`` of the feet as text, too.

    Points and forces (n, 3) [m, N] are in the markers' frame; forces not observable are orange;
    ``standing`` (k, 3) are corners of the support polygon, contact points by default;
    ``limits`` (m, 3) [N] outline what each foot can hold.
    """
    sure = [True] * len(force) if observable is None else observable
    markers = []
    for index, start in enumerate(contact_point):
        end, color = start + force[index] / make.newtons_per_meter, FIRM if sure[index] else UNSURE
        shown = bool(contact[index]) and bool(np.isfinite(end).all())
        markers.append(make.arrow('reaction', index, start, end, color, shown))
        if limits is not None:
            markers.append(make.outline(
                'limits', index, start + limits[index] / make.newtons_per_meter, color, shown))
        if names:
            markers.append(make.label('reaction_text', index, end, f'{names[index]} '
                                      f'{np.linalg.norm(force[index]):.0f} N', shown))
    if standing is None:
        standing = np.asarray(contact_point, float)[np.asarray(contact, bool)]
    markers.append(make.outline('support_polygon', 0, convex_hull(standing), _POLYGON))
    markers.append(make.sphere(
        'center_of_pressure', 0, center_of_pressure, _PRESSURE,
        center_of_pressure is not None and bool(np.isfinite(center_of_pressure).all())))
    return markers


# -------------------------------------------------------------------------------------------------
# Markers of a foot's force map: producible forces, friction cone, commanded force.


GIVEN = (0.1, 0.8, 0.2)
ASKED = (1.0, 0.6, 0.0)
PRODUCIBLE = (0.3, 0.5, 1.0)
CONE = (0.9, 0.9, 0.2)


def force_markers(make: MarkerMaker, number: int, place: np.ndarray, triangles: np.ndarray,
                  edges: np.ndarray, given: np.ndarray,
                  asked: np.ndarray | None = None) -> list[Any]:
    """
    Return the markers of one foot: producible forces, friction cone and force arrows.

    Drawn at ``place`` [m]: ``triangles`` (n, 3, 3) [N], surface of the producible set;
    ``edges`` (k, 3) [N] of the cone.
    """
    def at(forces: np.ndarray) -> np.ndarray:
        return place + np.asarray(forces, float) / make.newtons_per_meter
    return [
        make.triangles('producible', number, at(triangles.reshape(-1, 3)), PRODUCIBLE),
        make.triangles('friction_cone', number, at(_fan(edges)), CONE),
        make.arrow('given', number, place, at(given), GIVEN),
        make.arrow('asked', number, place, at(given if asked is None else asked), ASKED,
                   asked is not None)]


def _fan(edges: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the sides of a cone as triangles."""
    rim = np.asarray(edges, float)
    return np.stack([np.zeros_like(rim), rim, np.roll(rim, -1, axis=0)], axis=1).reshape(-1, 3)


# -------------------------------------------------------------------------------------------------
# Markers of an estimate, from its ForcePicture.
#
# Namespaces, to be switched one by one: reaction, deviation (an ellipsoid about an arrow's tip,
# one standard deviation), friction_cone (red where the force leaves it), support_polygon,
# center_of_pressure, external_force, margins.


_SLIPPING = (0.9, 0.1, 0.1)
_PUSH = (0.63, 0.24, 0.78)
# Height of a friction cone [m], and its sides.
_CONE_HEIGHT = 0.12
_SIDES = 12

_ANGLES = 2.0 * np.pi * np.arange(_SIDES) / _SIDES


def reaction_picture(dialect: Dialect, reaction: GroundReaction, base: str, *,
                     newtons_per_meter: float = 500.0, friction: float = 0.6,
                     lifetime_s: float = 0.2, text: bool = False) -> Any:
    """Return a visualization_msgs/MarkerArray of an estimate; ``friction`` 0: no cones."""
    picture = ForcePicture.of(reaction, friction)
    contact, points, force = picture.contact, picture.point, picture.force
    make = MarkerMaker(dialect, picture.stamp_ns, base, newtons_per_meter, lifetime_s)
    markers = reaction_markers(
        make, points, force, contact, observable=picture.observable,
        center_of_pressure=picture.center_of_pressure, standing=picture.standing,
        names=picture.feet if text else ())
    rim = np.column_stack([friction * np.cos(_ANGLES), friction * np.sin(_ANGLES),
                           np.ones(_SIDES)])
    for i in range(len(picture.feet)):
        markers.append(make.sphere(
            'deviation', i, points[i] + force[i] / newtons_per_meter, FIRM,
            bool(contact[i] and picture.observable[i]),
            2.0 * picture.deviation[i] / newtons_per_meter, opacity=_SEEN,
            xyzw=quaternion_from_rotation(picture.R_BF[i])))
        if friction:
            markers.append(make.triangles(
                'friction_cone', i,
                points[i] + _CONE_HEIGHT * _fan(rim @ rotation_to_z(picture.normal[i]).T),
                CONE if picture.friction_used[i] < 1.0 else _SLIPPING, bool(contact[i])))
    at, push = picture.push_point, np.zeros(3) if picture.push is None else picture.push
    markers.append(make.arrow('external_force', 0, at - push / newtons_per_meter, at, _PUSH,
                              picture.push is not None))
    used = picture.friction_used[contact].max(initial=0.0)
    markers.append(make.label(
        'margins', 0, 0.3 * picture.R_WB[2],
        f'{_text("inside of support", 100.0 * picture.support_margin, "cm")}, '
        f'{_text("friction used", 100.0 * used, "%")}', bool(friction and contact.any())))
    return make.array(markers)


def _text(what: str, value: float, unit: str) -> str:
    return f'{what} {value:.0f} {unit}' if np.isfinite(value) else f'{what} -'


# -------------------------------------------------------------------------------------------------
# Markers of a body under control: forces given, support, and margins.


# Margins from these on are green; below they turn to red: parts, and metres or radians.
AMPLE = {'friction': 0.3, 'effort': 0.3, 'sole': 0.02, 'support': 0.05, 'joint': 0.1}
TEXT_HEIGHT = 0.3       # above the base [m]


def state_markers(make: MarkerMaker, points: np.ndarray, forces: np.ndarray,
                  standing: Sequence[bool], mode: str, margins: Mapping[str, float]) -> Any:
    """
    Return a visualization_msgs/MarkerArray of a body under control.

    ``points``, ``forces`` (n, 3) are in the base frame; ``margins`` as of
    WorkspaceController.margins, the worst one gives the colour of a sphere.
    """
    free = {name: min(max(margins[name] / ample, 0.0), 1.0)
            for name, ample in AMPLE.items() if name in margins}
    worst = min(free, key=lambda name: free[name], default='')
    color = _color(free.get(worst, 1.0))
    markers = [make.arrow('given', i, point, point + force / make.newtons_per_meter,
                          _color(free.get('friction', 1.0)), bool(down))
               for i, (point, force, down) in enumerate(zip(points, forces, standing))]
    markers.append(make.outline(
        'support', 0, convex_hull(np.asarray(points)[np.asarray(standing, bool)]),
        _color(free.get('support', 1.0))))
    lines = [mode, *(f'{name} {margins[name]:.3g}' for name in free)]
    markers.append(make.label('margins', 0, (0.0, 0.0, TEXT_HEIGHT), '\n'.join(lines)))
    markers.append(make.sphere('worst_margin', 0, (0.0, 0.0, TEXT_HEIGHT - 0.06), color))
    return make.array(markers)


def _color(free: float) -> tuple[float, float, float]:
    """Return red for nothing left, green for plenty."""
    return (1.0 - 0.9 * free, 0.1 + 0.7 * free, 0.1)


PACKAGE = 'legged_dynamics_msgs'
CONTACTS = f'{PACKAGE}/msg/FootContacts'
REACTION = f'{PACKAGE}/msg/FootReaction'
REACTIONS = f'{PACKAGE}/msg/FootReactions'


def installed(dialect: Dialect) -> bool:
    """Return whether legged_dynamics_msgs can be published; False on ROS 2 without it."""
    try:
        dialect.message(REACTIONS)
    except MiddlewareError:
        return False
    return True


def foot_contacts(dialect: Dialect, feet: Sequence[str], base: str) -> Any:
    """Return a legged_dynamics_msgs/FootContacts of feet, to be filled with `contact_numbers`."""
    return dialect.message(CONTACTS)(header=header(dialect, 0, base), feet=list(feet),
                                     contact=[False] * len(feet), probability=[0.0] * len(feet))


def contact_numbers(reaction: GroundReaction, _: object) -> list[float]:
    """Return the numbers of a FootContacts behind its header."""
    return [*reaction.latest_contact.tolist(), *reaction.contact_probability.tolist()]


def foot_reactions(dialect: Dialect, feet: Sequence[str], base: str) -> Any:
    """Return a legged_dynamics_msgs/FootReactions of feet, to be filled, `reaction_numbers`."""
    made = dialect.message(REACTION)
    return dialect.message(REACTIONS)(header=header(dialect, 0, base),
                                      feet=[made(foot=foot) for foot in feet])


def reaction_numbers(reaction: GroundReaction, rows: Callable[[], np.ndarray]) -> list[float]:
    """Return the numbers of a FootReactions behind its header; ``rows()``: its `foot_rows`."""
    net = reaction.net_wrench
    return [*rows().ravel().tolist(),
            *(net if math.isfinite(net.sum()) else np.nan_to_num(net)).tolist()]


def forces_in_base(reaction: GroundReaction) -> np.ndarray:
    """Return the forces (nf, 3) [N] in the axes of the base."""
    return foot_rows(reaction)[:, 12:15]


def foot_rows(reaction: GroundReaction) -> np.ndarray:
    """Return a row (18,) a foot: wrench, deviations, force in base axes, and three of contact."""
    rows = np.zeros((len(reaction.feet), 18))
    place, shape = reaction.layout.places['feet.states']
    _fill_rows(reaction.layout.table.index, reaction.data[place].reshape(shape),
               reaction.latest_covariance, reaction.wrench, np.zeros((6, 6)), rows)
    rows[:, 15], rows[:, 16] = reaction.latest_contact, reaction.observable
    rows[:, 17] = reaction.contact_probability
    return rows


@lean_kernel
def _fill_rows(index, states, covariance, wrench, to_foot, rows):
    """Fill each foot's wrench, its deviations, both in foot axes, and its force in base axes."""
    for i in range(index.shape[0]):
        start, size = index[i, START], index[i, SIZE]
        x, y, z = load3(states[i], CONTACT)
        px, py, pz = load3(states[i], FOOT_POSITION)
        for k in range(size):
            axis = unit(k) if k < 3 else moment_axis(index, states, i, k - 3)
            moment = cross((x - px, y - py, z - pz), axis) if k < 3 else axis
            for r in range(3):
                force, turn = 0.0, 0.0
                for j in range(3):
                    cosine = states[i, FOOT_ROTATION + 3 * j + r]
                    force += cosine * axis[j]
                    turn += cosine * moment[j]
                to_foot[r, k] = force if k < 3 else 0.0
                to_foot[3 + r, k] = turn
        for r in range(6):
            variance = 0.0
            for j in range(size):
                for k in range(size):
                    variance += to_foot[r, j] * covariance[start + j, start + k] * to_foot[r, k]
            rows[i, r], rows[i, 6 + r] = wrench[i, r], math.sqrt(max(variance, 0.0))
        for j in range(3):
            for r in range(3):
                rows[i, 12 + j] += states[i, FOOT_ROTATION + 3 * j + r] * wrench[i, r]


def odometry_numbers(state: BodyState) -> list[float]:
    """Return the numbers of an Odometry behind its header: pose, twist, and their covariances."""
    numbers = np.zeros(85)
    numbers[:3], numbers[3:7] = state.position, quaternion_from_rotation(state.rotation)
    pose, numbers[43:49], twist = numbers[7:43:7], state.twist, numbers[49::7]
    pose[:3], pose[3:5] = state.position_deviation ** 2, state.tilt_deviation ** 2
    pose[5] = state.heading_deviation ** 2
    twist[:3], twist[3:] = state.velocity_deviation ** 2, state.rate_deviation ** 2
    return numbers.tolist()


# -------------------------------------------------------------------------------------------------
# whole_body_state_msgs/WholeBodyState, in world axes but for the base's angular velocity, which
# its readers take in the base's.


WHOLE_BODY = 'whole_body_state_msgs/msg/WholeBodyState'


class WholeBodyNumbers:
    """Numbers of a robot's WholeBodyState: centroidal state, joints, contacts of the feet."""

    _inertia: CompositeBody

    def __init__(self, model: RobotModel, feet: Sequence[str], friction: float):
        self.model, self._feet, self._friction = model, tuple(feet), friction

    def use(self, model: RobotModel) -> None:
        """Use a robot from now on; its kernels are compiled."""
        self.model, self._inertia, still = model, CompositeBody(model), np.zeros(model.nq)
        self._inertia.mass_matrix(still)
        frame_jacobian(model, still, self._feet[0])

    def message(self, dialect: Dialect, frame: str) -> Any:
        """Return the message, to be filled with the numbers behind its header."""
        joint, contact = (dialect.message(f'whole_body_state_msgs/msg/{name}')
                          for name in ('JointState', 'ContactState'))
        return dialect.message(WHOLE_BODY)(
            header=header(dialect, 0, frame),
            joints=[joint(name=name) for name in self.model.joint_names],
            contacts=[contact(name=foot) for foot in self._feet])

    def __call__(self, measurement: Measurement, state: BodyState,
                 reaction: GroundReaction) -> list[float]:
        """Return the numbers behind the header, of one instant."""
        R, q, v = state.rotation, measurement.position, measurement.velocity
        rates, M = np.concatenate([state.twist, v]), self._inertia.mass_matrix(q)
        mass, (linear, angular) = M[0, 0], (M[:6] @ rates).reshape(2, 3)
        com = np.array([M[5, 1], M[3, 2], M[4, 0]]) / mass
        force, moment = (reaction.net_wrench + reaction.external_wrench).reshape(2, 3)
        rows = [state.position + R @ com, R @ linear / mass, quaternion_from_rotation(R),
                state.twist[3:], R @ linear, R @ (angular - np.cross(com, linear)),
                R @ force - (0.0, 0.0, mass * GRAVITY), R @ (moment - np.cross(com, force))]
        effort = np.zeros(len(v)) if measurement.effort is None else measurement.effort
        joints = np.column_stack([q, v, reaction.joint_acceleration, np.nan_to_num(effort)])
        found = [state.stamp_ns * 1e-9, *np.concatenate(rows).tolist(), *joints.ravel().tolist()]
        for i, foot in enumerate(self._feet):
            R_WF = R @ reaction.foot_rotation[i]
            turned = np.concatenate([(frame_jacobian(self.model, q, foot) @ rates).reshape(2, 3)
                                     @ R.T, reaction.wrench[i].reshape(2, 3) @ R_WF.T])
            # 1 inactive, 2 active, 3 slipping
            status = (1 if not reaction.latest_contact[i] else
                      3 if state.slip_probability[i] >= 0.5 else 2)
            found += [0, status,
                      *(state.position + R @ reaction.foot_position[i]).tolist(),
                      *quaternion_from_rotation(R_WF).tolist(), *turned.ravel().tolist(),
                      *(R @ reaction.foot_normal[i]).tolist(), self._friction]
        return found
