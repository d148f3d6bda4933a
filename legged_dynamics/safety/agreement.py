# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whether URDF, joint states, the motors' controller and the settings speak of one robot."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.joint_limits import BELIEVED, LOWER, UPPER

# A joint may stand this far outside its range before its zero or its sign must be wrong.
OUTSIDE = 0.1       # rad or m


def check_controllers(path: str | Path, joints: Sequence[str]) -> None:
    """
    Compare the command order with that of an effort controller in a file of ros2_control.

    Parameters
    ----------
    path : str or Path
        Parameter file with a controller that has ``joints`` and commands efforts (or names no
        interface).
    joints : sequence of str
        Command order.

    Raises
    ------
    ConfigurationError
        When the file cannot be read, has no such controller, or its joints are others or in
        another order; the message names the first joint that differs.

    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f'safety.controllers_file: cannot read {path}: '
                                 f'{error}') from error
    found = list(_controllers(content, ''))
    if not found:
        raise ConfigurationError(f'safety.controllers_file: expected a controller with joints in '
                                 f'{path}, found none')
    if any(list(listed) == list(joints) for _, listed in found):
        return
    name, listed = found[0]
    for k, (ours, theirs) in enumerate(zip(joints, listed)):
        if ours != theirs:
            raise ConfigurationError(f'joint {k + 1} of {name} in {path} is {theirs!r}; '
                                     f'robot.joints has {ours!r} there')
    raise ConfigurationError(f'{name} in {path} has {len(listed)} joints, robot.joints has '
                             f'{len(joints)}: {sorted(set(joints) ^ set(map(str, listed)))}')


def _controllers(content: Any, name: str) -> Any:
    """Yield (name, joints) of whatever commands efforts."""
    if not isinstance(content, dict):
        return
    joints = content.get('joints')
    kind = content.get('interface_name') or content.get('command_interfaces') or 'effort'
    if isinstance(joints, list) and 'effort' in kind:
        yield name, joints
    for key, value in content.items():
        yield from _controllers(value, name if key == 'ros__parameters' else str(key))


def disagreement(model: RobotModel, names: Sequence[str]) -> str:
    """Return how the names of joint states differ from the URDF's joints, or an empty string."""
    strangers = [name for name in names if all(name != joint.name for joint in model.joints)]
    if strangers:
        return (f'has {", ".join(map(repr, strangers[:3]))}, which '
                'robot_description does not have: they are not of one robot')
    return ''


def first_state(joints: Sequence[str], limits: np.ndarray, position: np.ndarray,
                velocity: np.ndarray) -> str:
    """
    Return which joint's state is impossible before the first command, or ''.

    Parameters
    ----------
    joints : sequence of str
        In command order.
    limits : (nj, 13) array
        Of `legged_dynamics.safety.joint_limits`.
    position, velocity : (nj,) array [rad, rad/s or m, m/s]
        In command order.

    """
    low, high = limits[:, LOWER] - OUTSIDE, limits[:, UPPER] + OUTSIDE
    for j in np.flatnonzero((position < low) | (position > high)):
        return (f'{joints[j]} is at {position[j]:.3f}, outside its range {limits[j, LOWER]:g} to '
                f'{limits[j, UPPER]:g} in robot_description: its zero, its sign or its name is '
                'wrong')
    for j in np.flatnonzero(~(np.abs(velocity) <= limits[:, BELIEVED])):
        return f'{joints[j]} is said to move at {velocity[j]:.4g} /s'
    return ''
