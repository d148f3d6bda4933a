# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim's joints as chains of joints with one degree of freedom, named as their coordinates."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.opensim.document import (
    TRANSLATIONS,
    Coordinate,
    OpenSimJoint,
    TransformAxis,
    joint_pose,
    rotations,
)
from legged_dynamics.model.opensim.hinge_fit import SAMPLES, nearest_axis
from legged_dynamics.model.parts import Joint, Mimic
from legged_dynamics.spatial.frames import Transform

# OpenSim's ground and bodies: x forward, y up, z right; ours: x forward, y left, z up.
TO_OURS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
# Order in which axes move the child: translations in the parent, then rotations.
ORDER = (*TRANSLATIONS, 0, 1, 2)
# What a coordinate without a range, or with one that says nothing, may do [rad or m].
WIDE, ASSUMED = 7.0, (-1.5, 1.5)


def ours(pose: Transform) -> Transform:
    """Return a pose of OpenSim's in our axes, for both frames."""
    return Transform(TO_OURS @ pose.R @ TO_OURS.T, TO_OURS @ pose.p)


@dataclass
class Chain:
    """
    What one joint of OpenSim becomes.

    Attributes
    ----------
    joints : list of Joint
        The first hangs on the parent body; the last carries the child body.
    links : list of str
        Links without mass in between.
    scale : dict of str to float
        Position of a joint for one unit of its coordinate, where that is not 1.
    notes : list of str
        What was approximated, and how well.

    """

    joints: list[Joint] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    scale: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Step:
    """One moving axis in the joint's frames, in OpenSim's axes."""

    name: str
    kind: str
    before: Transform
    axis: np.ndarray
    mimic: Mimic | None = None


def chain_of(joint: OpenSimJoint, points: np.ndarray, center: np.ndarray,
             spans: Mapping[str, tuple[float, float]] | None) -> Chain:
    """
    Return the joints of one degree of freedom that a joint of OpenSim's becomes.

    Parameters
    ----------
    joint : OpenSimJoint
        The joint.
    points : (k, 3) array [m]
        Of the child body that an approximation must keep where they are.
    center : (3,) array [m]
        The child's centre of mass.
    spans : mapping of str to (float, float), optional
        Least and largest value of coordinates in a recording [rad or m]: approximations are
        fitted over these, and locked coordinates that move there do move.

    Raises
    ------
    ModelError
        When an axis is a function of several coordinates.

    """
    spans = spans or {}
    coordinates = {found.name: found for found in joint.coordinates}
    chain, still = Chain(), {}
    for name, found in coordinates.items():
        low, high = spans.get(name, (0.0, 0.0))
        if found.locked and high - low < 1e-6:
            still[name] = low if name in spans else found.default
    moving = [_driven(joint, axis, still) for axis in joint.axes]
    used = [name for name in moving if name]
    coupled = len(set(used)) < len(used) or any(
        name and axis.function.linear is None for name, axis in zip(moving, joint.axes))
    if coupled and len(set(used)) == 1:
        steps, end = _one_axis(joint, coordinates[used[0]], still, points, center, spans, chain)
    else:
        steps, end = _axis_by_axis(joint, coordinates, moving, still, spans, chain)
    _assemble(joint, coordinates, steps, end, chain)
    return chain


def _driven(joint: OpenSimJoint, axis: TransformAxis, still: Mapping[str, float]) -> str:
    """Return the one coordinate that moves an axis; empty when none does."""
    names = [name for k, name in enumerate(axis.coordinates) if name not in still
             and (axis.function.linear is None or axis.function.linear[k] != 0.0)]
    if len(names) > 1:
        raise ModelError(f'joint {joint.name!r}: expected axes that are functions of one '
                         f'coordinate, got one of {", ".join(names)}')
    return names[0] if names else ''


def _value(axis: TransformAxis, values: Mapping[str, float], name: str = '',
           at: float | np.ndarray = 0.0) -> np.ndarray:
    """Return how far an axis is moved while one coordinate has the values given."""
    at = np.atleast_1d(np.asarray(at, float))
    table = np.array([at if other == name else np.full(len(at), values.get(other, 0.0))
                      for other in axis.coordinates]).reshape(len(axis.coordinates), len(at)).T
    return axis.function.evaluate(table) * np.ones(len(at))


def _moved(axis: np.ndarray, translation: bool, by: float) -> Transform:
    if translation:
        return Transform(np.eye(3), by * axis)
    return Transform(rotations(axis, np.array([by]))[0], np.zeros(3))


def _axis_by_axis(joint: OpenSimJoint, coordinates: Mapping[str, Coordinate], moving: list[str],
                  still: Mapping[str, float], spans: Mapping[str, tuple[float, float]],
                  chain: Chain) -> tuple[list[_Step], Transform]:
    """Return a step an axis; one that is no straight line of its coordinate becomes one."""
    pending, steps = Transform.identity(), []
    # The axis that moves most is the coordinate's own; the others follow it.
    lines = {k: _line(joint.axes[k], moving[k], coordinates, still, spans)
             for k in ORDER if moving[k]}
    own: dict[str, int] = {}
    for k in sorted(lines, key=lambda k: (k in TRANSLATIONS, -abs(lines[k][0]))):
        own.setdefault(moving[k], k)
    for k in ORDER:
        axis, name = joint.axes[k], moving[k]
        if not name:
            pending = pending @ _moved(axis.axis, k in TRANSLATIONS, float(_value(axis, still)[0]))
            continue
        slope, offset, error = lines[k]
        pending = pending @ _moved(axis.axis, k in TRANSLATIONS, offset)
        kind = 'prismatic' if k in TRANSLATIONS else 'revolute'
        if own[name] == k:
            if abs(abs(slope) - 1.0) > 1e-9:
                chain.scale[name] = abs(slope)
            steps.append(_Step(name, kind, pending, np.sign(slope) * axis.axis))
        else:
            label = f'{name}_{"translation" if k in TRANSLATIONS else "rotation"}{k % 3 + 1}'
            steps.append(_Step(label, kind, pending, axis.axis,
                               Mimic(name, slope / abs(lines[own[name]][0]))))
        if error > 1e-9:
            unit, factor = ('mm', 1e3) if k in TRANSLATIONS else ('deg', np.degrees(1.0))
            chain.notes.append(f'{name}: an axis of {joint.name!r} that follows it along a curve '
                               f'follows it along a straight line here, off by up to '
                               f'{factor * error:.2g} {unit}.')
        pending = Transform.identity()
    return steps, pending


def _line(axis: TransformAxis, name: str, coordinates: Mapping[str, Coordinate],
          still: Mapping[str, float], spans: Mapping[str, tuple[float, float]]
          ) -> tuple[float, float, float]:
    """Return slope and offset of the line nearest to an axis' function, and its largest error."""
    q = np.linspace(*_span(coordinates[name], spans), SAMPLES)
    values = _value(axis, still, name, q)
    if axis.function.linear is not None:
        slope = axis.function.linear[axis.coordinates.index(name)]
        return slope, float(values[0] - slope * q[0]), 0.0
    slope, offset = np.polyfit(q, values, 1)
    return float(slope), float(offset), float(np.abs(slope * q + offset - values).max())


def _span(coordinate: Coordinate,
          spans: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return over which range an approximation is fitted."""
    low, high = max(coordinate.lower, -WIDE), min(coordinate.upper, WIDE)
    if high - low > 2.0 * np.pi or high - low < 1e-3:
        low, high = ASSUMED
    if coordinate.name in spans:
        least, most = spans[coordinate.name]
        if most - least > 0.05:
            # A little beyond what the recording has, so that one more step is no surprise.
            margin = 0.1 * (most - least)
            return least - margin, most + margin
    return low, high


def _one_axis(joint: OpenSimJoint, coordinate: Coordinate, still: Mapping[str, float],
              points: np.ndarray, center: np.ndarray,
              spans: Mapping[str, tuple[float, float]],
              chain: Chain) -> tuple[list[_Step], Transform]:
    """Return the one step that comes nearest to a joint whose coordinate moves several axes."""
    q = np.linspace(*_span(coordinate, spans), SAMPLES)
    values = {name: np.full(len(q), value) for name, value in still.items()}
    R, p = joint_pose(joint.axes, {**values, coordinate.name: q})
    into = joint.in_child.inverse()
    found = nearest_axis(q, R, p, points @ into.R.T + into.p, into.point(center))
    if abs(found.scale - 1.0) > 1e-9:
        chain.scale[coordinate.name] = found.scale
    turning = found.kind == 'revolute'
    low, high = np.degrees(q[[0, -1]]) if turning else q[[0, -1]]
    chain.notes.append(
        f'{coordinate.name}: {joint.name!r} also moves along other axes, as functions of it. '
        f'Taken as one {"hinge" if turning else "slider"}, fitted from {low:.3g} to {high:.3g} '
        f'{"deg" if turning else "m"}: off by {found.millimetres[0]:.1f} mm rms, '
        f'{found.millimetres[1]:.1f} mm at most, and {found.degrees[0]:.1f} deg rms, '
        f'{found.degrees[1]:.1f} deg at most.')
    return [_Step(coordinate.name, found.kind, found.start, found.axis)], found.end


def _assemble(joint: OpenSimJoint, coordinates: Mapping[str, Coordinate], steps: list[_Step],
              end: Transform, chain: Chain) -> None:
    """Turn steps into joints in our axes, the last one carrying the child body."""
    tail = ours(end @ joint.in_child.inverse())
    parent, lead = joint.parent, ours(joint.in_parent)
    if not steps:
        chain.joints.append(Joint(joint.name, 'fixed', parent, joint.child, lead @ tail))
        return
    for step in steps:
        last = step is steps[-1]
        # A frame on the axis; the child body's own, when that is on it.
        direct = last and float(np.abs(tail.p).max()) < 1e-12
        link = joint.child if direct else f'{step.name}_link'
        placement, axis = lead @ ours(step.before), TO_OURS @ step.axis
        if direct:
            placement, axis = placement @ tail, tail.R.T @ axis
        elif link not in chain.links:
            chain.links.append(link)
        known = coordinates.get(step.name)
        factor = chain.scale.get(step.name, 1.0)
        limits = {} if known is None or known.upper <= known.lower else {
            'lower': factor * known.lower, 'upper': factor * known.upper}
        chain.joints.append(Joint(step.name, step.kind, parent, link, placement, axis,
                                  mimic=step.mimic, **limits))
        parent, lead = link, Transform.identity()
        if last and not direct:
            chain.joints.append(Joint(f'{joint.name}_fixed', 'fixed', link, joint.child, tail))
