# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Bodies and joints of an .osim file of OpenSim 3 or 4, in OpenSim's own axes (y up).

Every kind of joint is represented as one spatial transform, as OpenSim's CustomJoint has it: three
rotations about axes that turn with the child, one after the other, and three translations along
axes of the parent, each a function of coordinates (Seth and others, Minimal formulation of
joint motion for biomechanisms, Nonlinear Dynamics, 2010).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from legged_dynamics.exceptions import ModelError, reraised
from legged_dynamics.model.parts import Inertia
from legged_dynamics.spatial.frames import Transform

# -------------------------------------------------------------------------------------------------
# OpenSim's functions of coordinates, of which joints are composed.


# Maps values of the coordinates, (n, k), to values of the function, (n,).
Evaluate = Callable[[np.ndarray], np.ndarray]
KINDS = ('Constant', 'LinearFunction', 'SimmSpline', 'NaturalCubicSpline', 'GCVSpline',
         'PolynomialFunction', 'MultiplierFunction')


@dataclass(frozen=True, eq=False)
class OpenSimFunction:
    """A function of k coordinates."""

    evaluate: Evaluate  # Takes (n, k) values of the coordinates, returns (n,)
    # Coefficients of the coordinates, then the constant, where the function is linear
    linear: tuple[float, ...] | None = None


def _linear(*coefficients: float) -> OpenSimFunction:
    """Return a linear function by its coefficients, the constant last; of none, always that."""
    slopes, offset = np.array(coefficients[:-1]), coefficients[-1]

    def evaluate(values: np.ndarray) -> np.ndarray:
        return values[:, :len(slopes)] @ slopes + offset

    return OpenSimFunction(evaluate, tuple(coefficients))


def _read_function(element: Element, where: str) -> OpenSimFunction:
    """Return the function that an element states; ``where`` names it in errors."""
    kind, inner = element.tag, element.find('.//function/*')
    if kind == 'Constant':
        return _linear(_numbers(element, 'value', where, 1)[0])
    if kind == 'LinearFunction':
        return _linear(*_numbers(element, 'coefficients', where, 2))
    if kind == 'MultiplierFunction':
        if inner is None:
            raise ModelError(f'{where}: its MultiplierFunction has no function inside')
        scale, found = _numbers(element, 'scale', where, 1)[0], _read_function(inner, where)
        if found.linear is not None:
            return _linear(*(scale * part for part in found.linear))
        return OpenSimFunction(lambda values: scale * found.evaluate(values))
    if kind == 'PolynomialFunction':
        parts = _numbers(element, 'coefficients', where, 1)
        if len(parts) <= 2:
            return _linear(*((0.0,) if len(parts) == 1 else ()), *parts)
        return OpenSimFunction(lambda values: np.polyval(parts, values[:, 0]))
    if kind in KINDS:
        return _through_points(kind, element, where)
    raise ModelError(f'{where}: expected a function out of {", ".join(KINDS)}, got {kind}')


def _of_inputs(function: OpenSimFunction, count: int, where: str) -> OpenSimFunction:
    """Return a function as one of so many coordinates, with a coefficient for each."""
    if function.linear is None:
        if not count:
            raise ModelError(f'{where}: expected the coordinates that its function depends on, '
                             'got none')
        return function
    *slopes, offset = function.linear
    if len(slopes) > count:
        raise ModelError(f'{where}: expected a function of {count} coordinates, got one with '
                         f'coefficients for {len(slopes)}')
    return _linear(*slopes, *[0.0] * (count - len(slopes)), offset)


def text_of(element: Element, tag: str) -> str:
    """Return the text of a child, without the space around it; empty without the child."""
    return (element.findtext(tag) or '').strip()


def _numbers(element: Element, tag: str, where: str, least: int) -> list[float]:
    """Return the numbers in a child's text."""
    text = text_of(element, tag).split()
    try:
        found = [float(word) for word in text]
    except ValueError as error:
        raise ModelError(f'{where}: expected numbers in <{tag}>, got {" ".join(text)[:60]!r}'
                         ) from error
    if len(found) < least or not np.isfinite(found).all():
        raise ModelError(f'{where}: expected {least} finite numbers or more in <{tag}> of '
                         f'<{element.tag}>, got {len(found)}')
    return found


def _through_points(kind: str, element: Element, where: str) -> OpenSimFunction:
    x, y = (np.array(_numbers(element, tag, where, 2)) for tag in 'xy')
    if len(x) != len(y) or (np.diff(x) <= 0.0).any():
        raise ModelError(f'{where}: expected as many rising x as y in its {kind}, got {len(x)} '
                         f'and {len(y)}')
    if len(x) == 2:
        slope = (y[1] - y[0]) / (x[1] - x[0])
        return _linear(slope, y[0] - slope * x[0])
    from scipy.interpolate import make_interp_spline  # slow to import

    if len(x) == 3:
        spline = make_interp_spline(x, y, 2)
    else:
        # Forsythe's spline, as in SIMM: third derivatives at the ends are those of the cubic
        # through the last four points.
        ends = [[(3, 6.0 * np.polyfit(x[part] - x[part].mean(), y[part], 3)[0])]
                for part in (slice(0, 4), slice(-4, None))]
        spline = make_interp_spline(x, y, 3, bc_type=(ends[0], ends[1]))
    slopes = spline.derivative()

    def evaluate(values: np.ndarray) -> np.ndarray:
        near = np.clip(values[:, 0], x[0], x[-1])
        return spline(near) + slopes(near) * (values[:, 0] - near)     # straight beyond its points

    return OpenSimFunction(evaluate)


# -------------------------------------------------------------------------------------------------

GROUND = 'ground'
# Axes that the coordinates of a joint drive, by its kind: 0 to 2 rotations, 3 to 5 translations.
SIMPLE = {'WeldJoint': (), 'PinJoint': (2,), 'SliderJoint': (3,), 'UniversalJoint': (0, 1),
          'GimbalJoint': (0, 1, 2), 'BallJoint': (0, 1, 2), 'PlanarJoint': (2, 3, 4),
          'FreeJoint': (0, 1, 2, 3, 4, 5)}
TRANSLATIONS = range(3, 6)
LARGEST_FILE = 100_000_000


@dataclass(frozen=True)
class Coordinate:
    """A coordinate: name, default value, range [rad or m], and whether it is locked there."""

    name: str
    default: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    locked: bool = False


@dataclass(frozen=True, eq=False)
class TransformAxis:
    """One of six axes of a joint: coordinates, unit vector, and how far as their function."""

    coordinates: tuple[str, ...]
    axis: np.ndarray
    function: OpenSimFunction


@dataclass(frozen=True, eq=False)
class OpenSimJoint:
    """A joint of OpenSim."""

    name: str
    parent: str  # Name of a body, or 'ground'
    child: str
    in_parent: Transform  # Pose of the joint's frame in the body
    in_child: Transform
    coordinates: tuple[Coordinate, ...]  # That drive the joint
    axes: tuple[TransformAxis, ...]  # Three rotations and three translations


@dataclass(frozen=True, eq=False)
class Coupling:
    """A constraint: one coordinate is a function of others."""

    dependent: str
    independent: tuple[str, ...]
    function: OpenSimFunction


@dataclass(frozen=True, eq=False)
class Document:
    """The bodies, joints and constraints of a file."""

    path: Path  # The file
    name: str  # Name of the model
    bodies: dict[str, Inertia]  # Inertias by name, in OpenSim's axes
    joints: list[OpenSimJoint]
    couplings: list[Coupling]  # Constraints that make one coordinate a function of others
    notes: list[str]  # Constraints that are left out


def read_document(path: str | Path) -> Document:
    """Return bodies, joints and coordinates of an .osim file, or raise ModelError."""
    path = Path(path)
    with reraised(ModelError, f'cannot read {path}'):
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(f'{path}: expected an OpenSim model below 100 MB')
        text = path.read_bytes()
    if b'<!ENTITY' in text:
        raise ModelError(f'{path}: an OpenSim model declares no entities')
    # An encoding that is not known is a LookupError, one of several bytes a ValueError.
    with reraised(ModelError, f'{path}: this is not XML that can be parsed',
                  (ElementTree.ParseError, LookupError, ValueError)):
        root = ElementTree.fromstring(text)
    model = root.find('Model')
    if root.tag != 'OpenSimDocument' or model is None:
        inside = root.tag if root.tag != 'OpenSimDocument' else next(
            (child.tag for child in root), 'nothing')
        raise ModelError(f'{path}: expected an OpenSimDocument with a Model, got {inside}; setup '
                         'files of tools name their model in <model_file>')
    bodies, holders, notes = {}, [], []
    for body in model.findall('./BodySet/objects/Body'):
        name = body.get('name', '')
        holder = body.find('Joint')
        holders += [(joint, name) for joint in ([] if holder is None else holder)]
        if name != GROUND:
            bodies[name] = _inertia(body, f'{path.name}: body {name!r}')
    joints = [_joint(joint, child, path.name) for joint, child in (
        *holders, *((joint, '') for joint in model.findall('./JointSet/objects/*')))]
    couplings = []
    for constraint in model.findall('./ConstraintSet/objects/*'):
        off = (text_of(constraint, 'isDisabled') == 'true'
               or text_of(constraint, 'isEnforced') == 'false')
        if constraint.tag == 'CoordinateCouplerConstraint' and not off:
            couplings.append(_coupling(constraint, path.name))
        elif not off:
            notes.append(f'The constraint {constraint.get("name")!r} ({constraint.tag}) is left '
                         'out: coordinates are taken as the recording has them.')
    if not joints:
        raise ModelError(f'{path}: expected joints in its JointSet, got none')
    return Document(path, model.get('name') or path.stem, bodies, joints, couplings, notes)


def _inertia(body: Element, where: str) -> Inertia:
    mass = _numbers(body, 'mass', where, 1)[0]
    center = np.array(_numbers(body, 'mass_center', where, 3)[:3])
    if body.find('inertia') is not None:
        xx, yy, zz, xy, xz, yz = _numbers(body, 'inertia', where, 6)[:6]
    else:
        xx, yy, zz, xy, xz, yz = (_numbers(body, f'inertia_{part}', where, 1)[0]
                                  for part in ('xx', 'yy', 'zz', 'xy', 'xz', 'yz'))
    return Inertia(mass, center, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _joint(joint: Element, child: str, origin: str) -> OpenSimJoint:
    name, kind = joint.get('name', ''), joint.tag
    where = f'{origin}: joint {name!r}'
    if kind != 'CustomJoint' and kind not in SIMPLE:
        raise ModelError(f'{where}: expected a joint out of CustomJoint, {", ".join(SIMPLE)}, got '
                         f'{kind}; in OpenSim replace it by one of these')
    if text_of(joint, 'reverse') == 'true':
        raise ModelError(f'{where}: its parent and child are reversed (<reverse>); open the model '
                         'in OpenSim 4 and save it again')
    if child:       # OpenSim 3: the joint is an element of the child body
        ends = [(text_of(joint, 'parent_body'),
                 _pose(joint, 'location_in_parent', 'orientation_in_parent', where)),
                (child, _pose(joint, 'location', 'orientation', where))]
    else:
        ends = [_end(joint, role, where) for role in ('parent', 'child')]
    coordinates = tuple(_coordinate(found, where) for found in (
        *joint.findall('./coordinates/Coordinate'),
        *joint.findall('./CoordinateSet/objects/Coordinate')))
    (parent, in_parent), (child, in_child) = ends
    axes = (_custom(joint, where) if kind == 'CustomJoint'
            else _simple(SIMPLE[kind], coordinates, where))
    known = [found.name for found in coordinates]
    for axis in axes:
        for used in axis.coordinates:
            if used not in known:
                raise ModelError(f'{where}: an axis depends on the coordinate {used!r}, which is '
                                 f'none of the joint; it has: {", ".join(known) or "none"}')
    return OpenSimJoint(name, parent, child, in_parent, in_child, coordinates, axes)


def _end(joint: Element, role: str, where: str) -> tuple[str, Transform]:
    """Return the body at one end of a joint of OpenSim 4, and where in it the joint is."""
    socket = text_of(joint, f'socket_{role}_frame')
    if not socket:
        raise ModelError(f'{where}: it has no <socket_{role}_frame>; open the model in OpenSim 4 '
                         'and save it again')
    frames = {frame.get('name', ''): frame for frame
              in joint.findall('./frames/PhysicalOffsetFrame')}
    frame = frames.get(socket.split('/')[-1])
    if frame is None:
        return socket.split('/')[-1], Transform.identity()
    return (text_of(frame, 'socket_parent').split('/')[-1],
            _pose(frame, 'translation', 'orientation', where))


def _pose(element: Element, translation: str, orientation: str, where: str) -> Transform:
    from scipy.spatial.transform import Rotation  # slow to import

    p, angles = (np.zeros(3) if element.find(tag) is None else np.array(
        _numbers(element, tag, where, 3)[:3]) for tag in (translation, orientation))
    return Transform(Rotation.from_euler('XYZ', angles).as_matrix(), p)


def _coordinate(element: Element, where: str) -> Coordinate:
    lower, upper = -np.inf, np.inf
    if element.find('range') is not None:
        lower, upper = _numbers(element, 'range', where, 2)[:2]
    default = (_numbers(element, 'default_value', where, 1)[0]
               if element.find('default_value') is not None else 0.0)
    return Coordinate(element.get('name', ''), default, lower, upper,
                      text_of(element, 'locked') == 'true')


def _simple(places: Sequence[int], coordinates: tuple[Coordinate, ...],
            where: str) -> tuple[TransformAxis, ...]:
    if len(coordinates) != len(places):
        raise ModelError(f'{where}: expected {len(places)} coordinates, got {len(coordinates)}')
    names = dict(zip(places, coordinates))
    return tuple(TransformAxis(
        (names[k].name,) if k in names else (), np.eye(3)[k % 3],
        _linear(1.0, 0.0) if k in names else _linear(0.0)) for k in range(6))


def _custom(joint: Element, where: str) -> tuple[TransformAxis, ...]:
    axes = joint.findall('./SpatialTransform/TransformAxis')
    if len(axes) != 6:
        raise ModelError(f'{where}: expected six axes in its SpatialTransform, got {len(axes)}')
    found = []
    for axis in axes:
        what = f'{where}, {axis.get("name")}'
        vector = np.array(_numbers(axis, 'axis', what, 3)[:3])
        names = tuple(text_of(axis, 'coordinates').split())
        # In files of OpenSim 3 inside <function>, in those of OpenSim 4 by its name or kind.
        stated = next(iter([*axis.iterfind('function/*'), *(
            child for child in axis if child.tag != 'function' and (
                child.tag in KINDS or child.get('name') == 'function'))]), None)
        function = (_read_function(stated, what) if stated is not None
                    else _linear(1.0, 0.0) if names else _linear(0.0))
        function = _of_inputs(function, len(names), what)
        length = np.linalg.norm(vector)
        if length < 1e-9:
            raise ModelError(f'{what}: expected an axis of non-zero length')
        found.append(TransformAxis(names, vector / length, function))
    return tuple(found)


def _coupling(constraint: Element, origin: str) -> Coupling:
    where = f'{origin}: constraint {constraint.get("name")!r}'
    stated = constraint.find('coupled_coordinates_function/*')
    if stated is None:
        raise ModelError(f'{where}: it has no function')
    masters = tuple(text_of(constraint, 'independent_coordinate_names').split())
    return Coupling(text_of(constraint, 'dependent_coordinate_name'), masters,
                    _of_inputs(_read_function(stated, where), len(masters), where))


def rotations(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return rotations about one unit axis (n, 3, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import

    return Rotation.from_rotvec(np.multiply.outer(angle, axis)).as_matrix()


def joint_pose(axes: Sequence[TransformAxis],
               values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """
    Return R (n, 3, 3), p (n, 3) [m] of a joint's child frame in its parent frame.

    ``axes``: three rotations, then three translations; ``values`` (n,) by coordinate.
    """
    n = len(next(iter(values.values()))) if values else 1
    along = [axis.function.evaluate(np.stack([values[name] for name in axis.coordinates], axis=1)
                                    if axis.coordinates else np.zeros((n, 0))) * np.ones(n)
             for axis in axes]
    R = np.broadcast_to(np.eye(3), (n, 3, 3))
    for axis, angle in zip(axes[:3], along[:3]):
        R = R @ rotations(axis.axis, angle)
    p = sum(distance[:, None] * axes[k].axis for k, distance in zip(TRANSLATIONS, along[3:]))
    return R, np.asarray(p)
