# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
LowState and LowCmd of Unitree's robots, and the checksum in their last field.

The robots speak Cyclone DDS with the type names that ROS 2 gives to ``unitree_go/msg/LowState``
and its like, so the messages are entries of the package's table of messages: dataclasses whose
bytes are those of the robot (plain CDR, little endian). Fields and order are those of Unitree's
IDL files (unitree_sdk2 and unitree_ros2, ``unitree_go`` for Go2, B2 and H1, ``unitree_hg`` for G1
and H1-2); BSD-3-Clause, Unitree Robotics.

The checksum is computed over the C structure in the robot's memory and not over the CDR bytes:
there, a nested structure begins at a multiple of its largest number. It is the CRC-32 with the
polynomial 0x04C11DB7, first value 0xFFFFFFFF, most significant bit first and no final inversion
(CRC-32/MPEG-2), over 32-bit words without the last one, which holds it.
"""
from __future__ import annotations

import struct
import zlib
from functools import cache
from typing import Any

from legged_dynamics.middleware.messages import (
    PRIMITIVES,
    Field,
    define,
    definition,
    message_class,
)

_OF_GO = {
    'IMUState': """
        float32[4] quaternion
        float32[3] gyroscope
        float32[3] accelerometer
        float32[3] rpy
        uint8 temperature""",
    'MotorState': """
        uint8 mode
        float32 q
        float32 dq
        float32 ddq
        float32 tau_est
        float32 q_raw
        float32 dq_raw
        float32 ddq_raw
        uint8 temperature
        uint32 lost
        uint32[2] reserve""",
    'BmsState': """
        uint8 version_high
        uint8 version_low
        uint8 status
        uint8 soc
        int32 current
        uint16 cycle
        uint8[2] bq_ntc
        uint8[2] mcu_ntc
        uint16[15] cell_vol""",
    'LowState': """
        uint8[2] head
        uint8 level_flag
        uint8 frame_reserve
        uint32[2] sn
        uint32[2] version
        uint16 bandwidth
        IMUState imu_state
        MotorState[20] motor_state
        BmsState bms_state
        int16[4] foot_force
        int16[4] foot_force_est
        uint32 tick
        uint8[40] wireless_remote
        uint8 bit_flag
        float32 adc_reel
        uint8 temperature_ntc1
        uint8 temperature_ntc2
        float32 power_v
        float32 power_a
        uint16[4] fan_frequency
        uint32 reserve
        uint32 crc""",
    'MotorCmd': """
        uint8 mode
        float32 q
        float32 dq
        float32 tau
        float32 kp
        float32 kd
        uint32[3] reserve""",
    'BmsCmd': """
        uint8 off
        uint8[3] reserve""",
    'LowCmd': """
        uint8[2] head
        uint8 level_flag
        uint8 frame_reserve
        uint32[2] sn
        uint32[2] version
        uint16 bandwidth
        MotorCmd[20] motor_cmd
        BmsCmd bms_cmd
        uint8[40] wireless_remote
        uint8[12] led
        uint8[2] fan
        uint8 gpio
        uint32 reserve
        uint32 crc""",
}
_OF_HG = {
    'IMUState': """
        float32[4] quaternion
        float32[3] gyroscope
        float32[3] accelerometer
        float32[3] rpy
        int16 temperature""",
    'MotorState': """
        uint8 mode
        float32 q
        float32 dq
        float32 ddq
        float32 tau_est
        int16[2] temperature
        float32 vol
        uint32[2] sensor
        uint32 motorstate
        uint32[4] reserve""",
    'LowState': """
        uint32[2] version
        uint8 mode_pr
        uint8 mode_machine
        uint32 tick
        IMUState imu_state
        MotorState[35] motor_state
        uint8[40] wireless_remote
        uint32[4] reserve
        uint32 crc""",
    'MotorCmd': """
        uint8 mode
        float32 q
        float32 dq
        float32 tau
        float32 kp
        float32 kd
        uint32 reserve""",
    'LowCmd': """
        uint8 mode_pr
        uint8 mode_machine
        MotorCmd[35] motor_cmd
        uint32[4] reserve
        uint32 crc""",
}
FAMILIES = ('unitree_go', 'unitree_hg')
for _package, _messages in zip(FAMILIES, (_OF_GO, _OF_HG)):
    for _name, _text in _messages.items():
        define(f'{_package}/msg/{_name}', _text)

# What a byte is when its bits are read backwards: zlib's CRC-32 takes the least significant first.
_BACKWARDS = bytes(int(f'{byte:08b}'[::-1], 2) for byte in range(256))


def low_state(family: str) -> Any:
    """
    Return an empty LowState.

    Parameters
    ----------
    family : {'unitree_go', 'unitree_hg'}
        Package of the message.

    Returns
    -------
    message
        All fields zero.

    """
    return message_class(f'{family}/msg/LowState')()


def checksum(message: Any, family: str) -> int:
    """
    Return the checksum of a LowState or LowCmd, whatever its field ``crc`` holds.

    Parameters
    ----------
    message : LowState or LowCmd
        Of this module, or rclpy's of the same fields.
    family : {'unitree_go', 'unitree_hg'}
        Package of the message.

    Returns
    -------
    int
        From 0 to 2^32 - 1; source: the module's description.

    """
    kind = 'LowState' if hasattr(message, 'motor_state') else 'LowCmd'
    layout = _layout(f'{family}/msg/{kind}')
    values: list[Any] = []
    _collect(f'{family}/msg/{kind}', message, values)
    packed = layout.pack(*values)[:-4]
    # words are little endian in memory and read from their most significant byte
    swapped = struct.pack(f'>{len(packed) // 4}I', *struct.unpack(f'<{len(packed) // 4}I', packed))
    reflected = zlib.crc32(swapped.translate(_BACKWARDS)) ^ 0xFFFFFFFF
    return int(f'{reflected:032b}'[::-1], 2)


@cache
def _layout(name: str) -> struct.Struct:
    """Return the C structure of a message."""
    text, offset, _ = _members(name, 0)
    return struct.Struct('<' + text + 'x' * (-offset % 4))


def _members(name: str, offset: int) -> tuple[str, int, int]:
    """Return the format of a structure's members, where they end, and their alignment."""
    text, largest = '', 1
    for entry in definition(name).fields:
        for _ in range(entry.size or 1 if entry.is_message else 1):
            align = _alignment(entry)
            pad = -offset % align
            text, offset, largest = text + 'x' * pad, offset + pad, max(largest, align)
            if entry.is_message:
                inner, end, _ = _members(entry.type, offset)
                padding = -end % align
                text, offset = text + inner + 'x' * padding, end + padding
            else:
                code, count = PRIMITIVES[entry.type][0], entry.size or 1
                text, offset = f'{text}{count}{code}', offset + count * align
    return text, offset, largest


def _alignment(entry: Field) -> int:
    if entry.is_message:
        return max(_alignment(one) for one in definition(entry.type).fields)
    return struct.calcsize('<' + PRIMITIVES[entry.type][0])


def _collect(name: str, message: Any, values: list[Any]) -> None:
    for entry in definition(name).fields:
        value = getattr(message, entry.name)
        if entry.is_message:
            for one in value if entry.size else (value,):
                _collect(entry.type, one, values)
        elif entry.size:
            values.extend(value)
        else:
            values.append(value)
