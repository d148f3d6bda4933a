# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Message classes made from the table of definitions: plain dataclasses, field for field as ROS.

They need no ROS and no DDS. Numeric sequences and arrays default to ``array.array`` (as rclpy's
sequences are) and may be assigned any list, tuple or numpy array; it is converted when published.
"""
from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from difflib import get_close_matches
from functools import cache, partial
from typing import Any

from legged_dynamics.exceptions import MiddlewareError

# -------------------------------------------------------------------------------------------------
# The one table of ROS 2 message definitions that the package uses, as in Jazzy's .msg files.


DEFINITIONS = {
    'builtin_interfaces/msg/Time': """
        int32 sec
        uint32 nanosec""",
    'builtin_interfaces/msg/Duration': """
        int32 sec
        uint32 nanosec""",
    'std_msgs/msg/Header': """
        builtin_interfaces/Time stamp
        string frame_id""",
    'std_msgs/msg/String': """
        string data""",
    'std_msgs/msg/Bool': """
        bool data""",
    'std_msgs/msg/Float64': """
        float64 data""",
    'std_msgs/msg/MultiArrayDimension': """
        string label
        uint32 size
        uint32 stride""",
    'std_msgs/msg/MultiArrayLayout': """
        MultiArrayDimension[] dim
        uint32 data_offset""",
    'std_msgs/msg/Float64MultiArray': """
        MultiArrayLayout layout
        float64[] data""",
    'std_msgs/msg/ColorRGBA': """
        float32 r
        float32 g
        float32 b
        float32 a""",
    'geometry_msgs/msg/Vector3': """
        float64 x
        float64 y
        float64 z""",
    'geometry_msgs/msg/Point': """
        float64 x
        float64 y
        float64 z""",
    'geometry_msgs/msg/Quaternion': """
        float64 x 0
        float64 y 0
        float64 z 0
        float64 w 1""",
    'geometry_msgs/msg/Wrench': """
        Vector3 force
        Vector3 torque""",
    'geometry_msgs/msg/WrenchStamped': """
        std_msgs/Header header
        Wrench wrench""",
    'geometry_msgs/msg/PointStamped': """
        std_msgs/Header header
        Point point""",
    'geometry_msgs/msg/Pose': """
        Point position
        Quaternion orientation""",
    'geometry_msgs/msg/PoseStamped': """
        std_msgs/Header header
        Pose pose""",
    'geometry_msgs/msg/PoseWithCovariance': """
        Pose pose
        float64[36] covariance""",
    'geometry_msgs/msg/Twist': """
        Vector3 linear
        Vector3 angular""",
    'geometry_msgs/msg/TwistStamped': """
        std_msgs/Header header
        Twist twist""",
    'geometry_msgs/msg/TwistWithCovariance': """
        Twist twist
        float64[36] covariance""",
    'geometry_msgs/msg/TwistWithCovarianceStamped': """
        std_msgs/Header header
        TwistWithCovariance twist""",
    'geometry_msgs/msg/Transform': """
        Vector3 translation
        Quaternion rotation""",
    'geometry_msgs/msg/TransformStamped': """
        std_msgs/Header header
        string child_frame_id
        Transform transform""",
    'sensor_msgs/msg/JointState': """
        std_msgs/Header header
        string[] name
        float64[] position
        float64[] velocity
        float64[] effort""",
    'sensor_msgs/msg/Imu': """
        std_msgs/Header header
        geometry_msgs/Quaternion orientation
        float64[9] orientation_covariance
        geometry_msgs/Vector3 angular_velocity
        float64[9] angular_velocity_covariance
        geometry_msgs/Vector3 linear_acceleration
        float64[9] linear_acceleration_covariance""",
    'sensor_msgs/msg/CompressedImage': """
        std_msgs/Header header
        string format
        uint8[] data""",
    'nav_msgs/msg/Odometry': """
        std_msgs/Header header
        string child_frame_id
        geometry_msgs/PoseWithCovariance pose
        geometry_msgs/TwistWithCovariance twist""",
    'visualization_msgs/msg/UVCoordinate': """
        float32 u
        float32 v""",
    'visualization_msgs/msg/MeshFile': """
        string filename
        uint8[] data""",
    'visualization_msgs/msg/Marker': """
        int32 ARROW=0
        int32 CUBE=1
        int32 SPHERE=2
        int32 CYLINDER=3
        int32 LINE_STRIP=4
        int32 LINE_LIST=5
        int32 CUBE_LIST=6
        int32 SPHERE_LIST=7
        int32 POINTS=8
        int32 TEXT_VIEW_FACING=9
        int32 MESH_RESOURCE=10
        int32 TRIANGLE_LIST=11
        int32 ARROW_STRIP=12
        int32 ADD=0
        int32 MODIFY=0
        int32 DELETE=2
        int32 DELETEALL=3
        std_msgs/Header header
        string ns
        int32 id
        int32 type
        int32 action
        geometry_msgs/Pose pose
        geometry_msgs/Vector3 scale
        std_msgs/ColorRGBA color
        builtin_interfaces/Duration lifetime
        bool frame_locked
        geometry_msgs/Point[] points
        std_msgs/ColorRGBA[] colors
        string texture_resource
        sensor_msgs/CompressedImage texture
        UVCoordinate[] uv_coordinates
        string text
        string mesh_resource
        MeshFile mesh_file
        bool mesh_use_embedded_materials""",
    'visualization_msgs/msg/MarkerArray': """
        Marker[] markers""",
    'diagnostic_msgs/msg/KeyValue': """
        string key
        string value""",
    'diagnostic_msgs/msg/DiagnosticStatus': """
        byte OK=0
        byte WARN=1
        byte ERROR=2
        byte STALE=3
        byte level
        string name
        string message
        string hardware_id
        KeyValue[] values""",
    'diagnostic_msgs/msg/DiagnosticArray': """
        std_msgs/Header header
        DiagnosticStatus[] status""",
    'rosgraph_msgs/msg/Clock': """
        builtin_interfaces/Time clock""",
    'tf2_msgs/msg/TFMessage': """
        geometry_msgs/TransformStamped[] transforms""",
    'trajectory_msgs/msg/JointTrajectoryPoint': """
        float64[] positions
        float64[] velocities
        float64[] accelerations
        float64[] effort
        builtin_interfaces/Duration time_from_start""",
    'trajectory_msgs/msg/JointTrajectory': """
        std_msgs/Header header
        string[] joint_names
        JointTrajectoryPoint[] points""",
    'trajectory_msgs/msg/MultiDOFJointTrajectoryPoint': """
        geometry_msgs/Transform[] transforms
        geometry_msgs/Twist[] velocities
        geometry_msgs/Twist[] accelerations
        builtin_interfaces/Duration time_from_start""",
    'trajectory_msgs/msg/MultiDOFJointTrajectory': """
        std_msgs/Header header
        string[] joint_names
        MultiDOFJointTrajectoryPoint[] points""",
}


# -------------------------------------------------------------------------------------------------


# ROS primitive -> (struct code, default); the numeric codes are also those of array.array.
PRIMITIVES: dict[str, tuple[str, Any]] = {
    'bool': ('?', False), 'byte': ('c', b'\x00'),
    'int8': ('b', 0), 'uint8': ('B', 0), 'int16': ('h', 0), 'uint16': ('H', 0),
    'int32': ('i', 0), 'uint32': ('I', 0), 'int64': ('q', 0), 'uint64': ('Q', 0),
    'float32': ('f', 0.0), 'float64': ('d', 0.0),
}
NUMERIC = frozenset(PRIMITIVES) - {'bool', 'byte'}
_FIELD = re.compile(r'(?P<type>[\w/]+)(?P<array>\[(?P<size>\d*)\])?\s+(?P<name>\w+)'
                    r'(?:\s*=\s*(?P<constant>\S+)|\s+(?P<default>\S+))?$')


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str  # Name as in the .msg file
    type: str  # A primitive, 'string', or a full name such as 'std_msgs/msg/Header'
    size: int | None  # None for a single value, 0 for a sequence, n for an array of n
    default: str | None = None  # Default value's text

    @property
    def is_message(self) -> bool:
        """Whether the field (or its elements) is a message itself."""
        return '/' in self.type


@dataclass(frozen=True)
class Definition:
    """A parsed message definition: its full name, its fields in order, its constants."""

    name: str
    fields: tuple[Field, ...]
    constants: dict[str, Any]


@cache
def definition(name: str) -> Definition:
    """Return a message's parsed definition; raise MiddlewareError if it is unknown."""
    name = full_name(name)
    if name not in DEFINITIONS:
        close = get_close_matches(name, DEFINITIONS, n=1)
        hint = f' Did you mean {close[0]}?' if close else ''
        raise MiddlewareError(f'{name!r} is not in the table of messages.{hint} The messages are: '
                              f'{", ".join(sorted(DEFINITIONS))}.')
    package = name.split('/', 1)[0]
    fields, constants = [], {}
    for line in DEFINITIONS[name].strip().splitlines():
        part = _FIELD.match(line.strip())
        assert part is not None, line
        kind = part['type']
        if part['constant'] is not None:
            constants[part['name']] = _value(kind, part['constant'])
            continue
        if kind not in PRIMITIVES and kind != 'string':
            kind = _full_type(kind, package)
        size = None if part['array'] is None else int(part['size'] or 0)
        fields.append(Field(part['name'], kind, size, part['default']))
    return Definition(name, tuple(fields), constants)


def full_name(name: str) -> str:
    """Return the three-part message name, 'package/msg/Type'."""
    parts = name.split('/')
    return f'{parts[0]}/msg/{parts[1]}' if len(parts) == 2 else name


def _is_field(line: str, package: str) -> bool:
    part = _FIELD.match(line)
    return part is not None and (part['type'] in PRIMITIVES or part['type'] == 'string'
                                 or _full_type(part['type'], package) in DEFINITIONS)


def _full_type(kind: str, package: str) -> str:
    return full_name(kind if '/' in kind else f'{package}/{kind}')


def define(name: str, text: str) -> None:
    """
    Add a message to the table, for the backends without ROS.

    ``text``: a .msg file without comments; lines may be separated by ';'. Raises
    MiddlewareError if unreadable, or if another message has that name.
    """
    name = full_name(name)
    lines = [line.strip() for line in re.split(r'[;\n]', text) if line.strip()]
    wrong = next((line for line in lines if not _is_field(line, name.split('/')[0])), '')
    if wrong or not lines or not re.fullmatch(r'\w+/msg/\w+', name):
        raise MiddlewareError(f'cannot read the definition of {name!r}: expected a name such as '
                              f'my_msgs/msg/Stance and fields such as "bool left_foot", got '
                              f'{wrong or text!r}')
    text = '\n'.join(lines)
    if DEFINITIONS.setdefault(name, text) != text:
        raise MiddlewareError(f'{name} is defined already, and otherwise')


@cache
def message_class(name: str) -> type:
    """Return a message's dataclass, with ``ros_type``, its full name; made on first use."""
    if full_name(name) != name:
        return message_class(full_name(name))
    message = definition(name)
    members = [(entry.name, Any, _initial(entry)) for entry in message.fields]
    made = make_dataclass(name.rsplit('/', 1)[1], members, slots=True,
                          namespace={**message.constants, 'ros_type': name})
    made.__module__ = __name__
    made.__doc__ = f'{name}: {", ".join(entry.name for entry in message.fields)}.'
    return made


def type_name(message_type: type) -> str:
    """Return the ROS name of a class made by :func:`message_class`."""
    name = getattr(message_type, 'ros_type', None)
    if name is None:
        raise MiddlewareError(f'expected a message class such as '
                              f'message_class("std_msgs/msg/Bool"), got {message_type!r}')
    return name


def _value(kind: str, text: str) -> Any:
    if kind == 'byte':
        return bytes([int(text)])
    return float(text) if kind.startswith('float') else int(text)


def _initial(entry: Field) -> Any:
    if entry.size is None:
        if entry.is_message:
            return field(default_factory=message_class(entry.type))
        if entry.default is not None:
            return field(default=_value(entry.type, entry.default))
        return field(default='' if entry.type == 'string' else PRIMITIVES[entry.type][1])
    if entry.type in NUMERIC:
        code = PRIMITIVES[entry.type][0]
        blank = bytes(array(code).itemsize * entry.size)
        return field(default_factory=partial(array, code, blank))
    if entry.size == 0:
        return field(default_factory=list)
    assert entry.is_message or entry.type == 'bool', f'{entry.name}: {entry.type}[n] is not known'
    make = message_class(entry.type) if entry.is_message else bool
    return field(default_factory=partial(_repeated, make, entry.size))


def _repeated(make: Callable[[], Any], size: int) -> list[Any]:
    return [make() for _ in range(size)]
