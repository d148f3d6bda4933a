# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
LowState to joint states and IMU readings with one stamp, and efforts to LowCmd.

LowState has no stamp but a ``tick`` that counts milliseconds on the robot. `TickClock` turns it
into time on this machine: the smallest difference between arrival and tick that was seen lately is
the offset, as in NTP's minimum filter, so that jitter of the network does not become jitter of
stamps. A tick that goes back is a restart of the robot.

A motor of these robots gives ``tau + kp (q - q_measured) + kd (dq - dq_measured)``. Efforts go out
as ``tau`` with ``kp = 0`` and the stated ``kd`` at ``dq = 0``; damping is ``kd`` alone. The robot
goes on obeying the last message, so the last one that is sent must be damping.
"""
from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.ros.middleware.messages import PRIMITIVES, definition, message_class

# -------------------------------------------------------------------------------------------------
# Unitree's robots as their low-level interface has them: messages, motors, modes and feet.
#
# Joint names are those of the URDFs in Unitree's ``unitree_ros``; a motor turns the way its joint
# does, so there are no signs. The IMU's quaternion is w, x, y, z in all of them.


_QUADRUPED = tuple(f'{leg}_{joint}_joint' for leg in ('FR', 'FL', 'RR', 'RL')
                   for joint in ('hip', 'thigh', 'calf'))
_QUADRUPED_FEET = ('FR_foot', 'FL_foot', 'RR_foot', 'RL_foot')


@dataclass(frozen=True)
class UnitreeRobot:
    """One robot's place in LowState and LowCmd."""

    name: str  # Name as in ``--robot``; the robot's YAML has the same name
    family: str  # Package of its messages
    # URDF joint of motor 0, 1, ...; an empty name where a place has no motor
    joints: tuple[str, ...]
    # URDF links in the order of ``foot_force``; empty where LowState has no such field
    feet: tuple[str, ...]
    modes: tuple[int, ...]  # What ``mode`` of each place must be for its motor to obey
    description: str  # Its package in ``robot_descriptions`` (PyPI), or empty
    urdf: str  # Where its URDF is in ``unitree_ros``

    @property
    def motors(self) -> tuple[int, ...]:
        """Places of the motors in LowState and LowCmd."""
        return tuple(place for place, name in enumerate(self.joints) if name)


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f'{side}_{name}_joint' for side in ('left', 'right') for name in names)


_H1 = ('right_hip_roll_joint', 'right_hip_pitch_joint', 'right_knee_joint',
       'left_hip_roll_joint', 'left_hip_pitch_joint', 'left_knee_joint', 'torso_joint',
       'left_hip_yaw_joint', 'right_hip_yaw_joint', '', 'left_ankle_joint', 'right_ankle_joint',
       'right_shoulder_pitch_joint', 'right_shoulder_roll_joint', 'right_shoulder_yaw_joint',
       'right_elbow_joint', 'left_shoulder_pitch_joint', 'left_shoulder_roll_joint',
       'left_shoulder_yaw_joint', 'left_elbow_joint')
_ARMS = _both('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow', 'wrist_roll',
              'wrist_pitch', 'wrist_yaw')
_G1 = (*_both('hip_pitch', 'hip_roll', 'hip_yaw', 'knee', 'ankle_pitch', 'ankle_roll'),
       'waist_yaw_joint', 'waist_roll_joint', 'waist_pitch_joint', *_ARMS)
_H1_2 = (*_both('hip_yaw', 'hip_pitch', 'hip_roll', 'knee', 'ankle_pitch', 'ankle_roll'),
         'torso_joint', *_ARMS)

# Order and modes are those of unitree_sdk2_python, example/<name>/low_level: the constants and the
# stand example of go2 and b2, the low-level example of the others.
ROBOTS: dict[str, UnitreeRobot] = {robot.name: robot for robot in (
    UnitreeRobot('go2', 'unitree_go', _QUADRUPED, _QUADRUPED_FEET, (1,) * 12,
                 'go2_description', 'robots/go2_description/urdf/go2_description.urdf'),
    UnitreeRobot('b2', 'unitree_go', _QUADRUPED, _QUADRUPED_FEET, (1,) * 12,
                 'b2_description', 'robots/b2_description/urdf/b2_description.urdf'),
    UnitreeRobot('h1', 'unitree_go', _H1, (), (*(10,) * 10, 1, 1, *(1,) * 8),
                 'h1_description', 'robots/h1_description/urdf/h1.urdf'),
    UnitreeRobot('h1_2', 'unitree_hg', _H1_2, (), (1,) * 27, '',
                 'robots/h1_2_description/h1_2.urdf'),
    UnitreeRobot('g1', 'unitree_hg', _G1, (), (1,) * 29, 'g1_description',
                 'robots/g1_description/g1_29dof_rev_1_0.urdf'),
)}


def robot_named(name: str) -> UnitreeRobot:
    """Return a robot by name, such as 'go2'; case and ``-`` for ``_`` do not matter."""
    found = ROBOTS.get(name.lower().replace('-', '_'))
    if found is None:
        raise ConfigurationError(f'--robot: expected one of {", ".join(ROBOTS)}, got {name!r}; '
                                 'other robots are estimated from joint_states and imu/data '
                                 '(legged-dynamics run ground_reaction_estimator)')
    return found


# -------------------------------------------------------------------------------------------------
# LowState and LowCmd of Unitree's robots, and the checksum in their last field.
#
# The robots speak Cyclone DDS with the type names that ROS 2 gives to ``unitree_go/msg/LowState``
# and its like, so the messages are entries of the package's table of messages: dataclasses whose
# bytes are those of the robot (plain CDR, little endian). Fields and order are those of Unitree's
# IDL files (unitree_sdk2 and unitree_ros2, ``unitree_go`` for Go2, B2 and H1, ``unitree_hg`` for
# G1 and H1-2); BSD-3-Clause, Unitree Robotics.
#
# The checksum is computed over the C structure in the robot's memory and not over the CDR bytes:
# there, a nested structure begins at a multiple of its largest number. It is the CRC-32 with the
# polynomial 0x04C11DB7, first value 0xFFFFFFFF, most significant bit first and no final inversion
# (CRC-32/MPEG-2), over 32-bit words without the last one, which holds it.


# What a byte is when its bits are read backwards: zlib's CRC-32 takes the least significant first.
_BACKWARDS = bytes(int(f'{byte:08b}'[::-1], 2) for byte in range(256))


def low_state(family: str) -> Any:
    """Return an empty LowState of 'unitree_go' or 'unitree_hg'."""
    return message_class(f'{family}/msg/LowState')()


def checksum(message: Any, family: str) -> int:
    """Return the checksum of a LowState or LowCmd, whatever its field ``crc`` holds."""
    kind = 'LowState' if hasattr(message, 'motor_state') else 'LowCmd'
    packed = _layout(f'{family}/msg/{kind}').pack(*_numbers(f'{family}/msg/{kind}')(message))[:-4]
    # words are read from their most significant byte
    swapped = struct.pack(f'>{len(packed) // 4}I', *struct.unpack(f'={len(packed) // 4}I', packed))
    reflected = zlib.crc32(swapped.translate(_BACKWARDS)) ^ 0xFFFFFFFF
    return int(f'{reflected:032b}'[::-1], 2)


@cache
def _layout(name: str) -> struct.Struct:
    """Return the C structure of a message, aligned as the compiler does."""
    text, largest = _members(name)
    return struct.Struct(f'{text}0{largest}')


def _members(name: str) -> tuple[str, str]:
    """Return the format of a structure's members, and the code of the largest number in it."""
    text, codes = '', ['b']
    for entry in definition(name).fields:
        if entry.is_message:        # begins and ends at a multiple of its largest number
            inner, code = _members(entry.type)
            text += f'0{code}{inner}0{code}' * (entry.size or 1)
        else:
            code = PRIMITIVES[entry.type][0]
            text += f'{entry.size or 1}{code}'
        codes.append(code)
    return text, max(codes, key=struct.calcsize)


@cache
def _numbers(name: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads all numbers of a message: compiled, since it is called at each sample."""
    parts, kinds = [], {}
    for entry in definition(name).fields:
        one = f'm.{entry.name}'
        if entry.is_message:
            kind = f'of_{entry.name}'
            kinds[kind] = _numbers(entry.type)
            parts.append(f'*chain(*map({kind}, {one}))' if entry.size else f'*{kind}({one})')
        else:
            parts.append(f'*{one}' if entry.size else one)
    return eval(f'lambda m: ({", ".join(parts)},)', {'chain': chain, **kinds})


# -------------------------------------------------------------------------------------------------


TICK_NS = 1_000_000     # one count of LowState's tick
_WRAP = 2**32           # counts after which it begins again
# Quartz clocks of two machines differ by less than this [ns/ns].
_DRIFT = 1e-4
_MOST = 2**15 - 1       # of int16


class TickClock:
    """Converts ticks of the robot to stamps of this machine."""

    def __init__(self) -> None:
        self._tick: int | None = None
        self._count = self._offset = self._arrival = self._stamp = 0
        self._moves = False

    def __call__(self, tick: int, arrival_ns: int) -> int | None:
        """Return a message's stamp [ns], or None when it repeats the last tick (1 ms)."""
        step = 0 if self._tick is None else (tick - self._tick + _WRAP // 2) % _WRAP - _WRAP // 2
        if self._tick is not None and step == 0:
            if self._moves:
                return None
            stamp = max(arrival_ns, self._stamp + 1)
            self._arrival, self._stamp = arrival_ns, stamp
            return stamp
        first = self._tick is None
        self._moves = not first
        self._tick, self._count = tick, self._count + step
        offset = arrival_ns - self._count * TICK_NS
        allowed = self._offset + round(_DRIFT * (arrival_ns - self._arrival))
        self._offset = offset if first or step < 0 else min(offset, allowed)
        self._arrival = arrival_ns
        self._stamp = self._offset + self._count * TICK_NS
        return self._stamp


class LowStateSample(NamedTuple):
    """
    What a LowState says of the joints and the IMU.

    Attributes
    ----------
    stamp_ns : int [ns]
        One stamp for all of it.
    position, velocity, effort : (n,) array [rad, rad/s, N m]
        Positions, velocities and efforts of the motors of the robot's table, in that order;
        ``tau_est`` is from motor current.
    gyro, accelerometer : (3,) array [rad/s, m/s^2]
        Readings in the IMU's axes; at rest +g along up.
    orientation : (4,) array or None
        Quaternion xyzw; None where the message has none.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    gyro: np.ndarray
    accelerometer: np.ndarray
    orientation: np.ndarray | None


class LowStateReader:
    """
    Reads LowState messages of one robot.

    Parameters
    ----------
    robot : UnitreeRobot
        Its entry of the table.

    Attributes
    ----------
    joints : tuple of str
        Names of the joints in the samples, in the order of their motors.

    """

    def __init__(self, robot: UnitreeRobot):
        self.robot = robot
        self.joints = tuple(name for name in robot.joints if name)
        self._places = robot.motors
        self._clock = TickClock()
        self._checked = False       # whether a checksum was right, so that the sender makes them

    def __call__(self, message: Any, arrival_ns: int) -> LowStateSample | None:
        """
        Return the sample in a LowState that came at a time [ns], or None for a repetition.

        Values are as they came. Raises MeasurementError when the checksum is wrong, or a value of
        a motor or of gyro and accelerometer is not finite. A sender that leaves all checksums at
        zero, as Unitree's Python simulator, is read.
        """
        self._check(message)
        motors, imu = message.motor_state, message.imu_state
        rows = [motors[place] for place in self._places]
        values = np.array([[motor.q for motor in rows], [motor.dq for motor in rows],
                           [motor.tau_est for motor in rows]], float)
        sensed = np.array([*imu.gyroscope, *imu.accelerometer], float)
        if not math.isfinite(values.sum() + sensed.sum()):
            raise MeasurementError('LowState: expected finite q, dq, tau_est, gyroscope and '
                                   'accelerometer, got NaN or infinity')
        w, x, y, z = imu.quaternion
        orientation = np.array([x, y, z, w], float)
        length = math.sqrt(orientation @ orientation)
        stamp = self._clock(message.tick, arrival_ns)
        if stamp is None:
            return None
        return LowStateSample(
            stamp, values[0], values[1], values[2], sensed[:3], sensed[3:],
            orientation / length if 0.5 < length < 2.0 else None)

    def _check(self, message: Any) -> None:
        if not (message.crc or self._checked):
            return
        right = checksum(message, self.robot.family)
        if message.crc != right:
            raise MeasurementError(f'LowState: expected the checksum {right:#010x}, got '
                                   f'{message.crc:#010x}: damaged on the way, or made by another '
                                   'version of its definition')
        self._checked = True


def write_foot_forces(message: Any, robot: UnitreeRobot, forces: dict[str, float],
                      measured_too: bool) -> None:
    """
    Write normal forces [N] by foot link, and the checksum, into a LowState.

    ``measured_too``: overwrite ``foot_force`` besides ``foot_force_est``, for nodes that
    read only it.
    """
    for i, foot in enumerate(robot.feet):
        value = max(-_MOST, min(_MOST, round(forces.get(foot, 0.0))))
        message.foot_force_est[i] = value
        if measured_too:
            message.foot_force[i] = value
    message.crc = checksum(message, robot.family)


# Of unitree_go, from Unitree's examples.
_HEAD = (0xFE, 0xEF)
_LOW_LEVEL = 0xFF


class LowCmdWriter:
    """
    Makes LowCmd messages of one robot.

    Parameters
    ----------
    robot : UnitreeRobot
        Its entry of the table.
    joints : sequence of str
        Joints that get efforts, in the order of commands.
    make : callable
        Returns an empty LowCmd of the robot's family.
    kd : float
        Damping of every commanded joint while efforts are obeyed [N m s/rad].
    resting_kd : float
        Damping of every joint when they are not [N m s/rad].

    Attributes
    ----------
    mode_machine : int
        What the robot says of itself in LowState; only ``unitree_hg`` has it, and obeys nothing
        else.

    Raises
    ------
    ConfigurationError
        When a joint has no motor.

    """

    def __init__(self, robot: UnitreeRobot, joints: Sequence[str], make: Callable[[], Any],
                 kd: float, resting_kd: float):
        strange = [name for name in joints if name not in robot.joints or not name]
        if strange:
            raise ConfigurationError(f'robot.joints: {robot.name} has no motor of '
                                     f'{", ".join(strange)}')
        self._robot, self._make = robot, make
        self._places = [robot.joints.index(name) for name in joints]
        self._kd, self._resting_kd = kd, resting_kd
        self.mode_machine = 0

    def torque(self, efforts: Sequence[float]) -> Any:
        """Return a LowCmd for efforts in command order [N m]; other motors are damped."""
        message = self._resting()
        for place, effort in zip(self._places, efforts):
            motor = message.motor_cmd[place]
            motor.tau, motor.kd = float(effort), self._kd
        return self._checked(message)

    def damping(self) -> Any:
        """Return a LowCmd that brakes every joint and drives none."""
        return self._checked(self._resting())

    def _resting(self) -> Any:
        robot, message = self._robot, self._make()
        if robot.family == 'unitree_go':
            message.head[0], message.head[1] = _HEAD
            message.level_flag = _LOW_LEVEL
        else:
            message.mode_machine = self.mode_machine
        for place in robot.motors:
            motor = message.motor_cmd[place]
            motor.mode, motor.kd = robot.modes[place], self._resting_kd
        return message

    def _checked(self, message: Any) -> Any:
        message.crc = checksum(message, self._robot.family)
        return message
