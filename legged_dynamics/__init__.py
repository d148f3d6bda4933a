# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground reactions, force maps and body control for legged robots without foot sensors.

``import legged_dynamics as ld`` is the way in: the names below, and each folder by its own, as
``ld.dynamics``. They are loaded when they are first used, so that importing costs nothing.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from legged_dynamics import _moved

if TYPE_CHECKING:
    from legged_dynamics.contact import (
        ContactInverseDynamics,
        ContactInverseDynamicsOverTime,
        EquationWeights,
        MotionNoise,
    )
    from legged_dynamics.dynamics import BaseMotion, Motion
    from legged_dynamics.estimation import GroundReactionEstimator, LegOdometry, Measurement
    from legged_dynamics.force_map import ForceMap, FrictionCone
    from legged_dynamics.model import (
        CylinderFoot,
        FlatFoot,
        JointOrder,
        LineFoot,
        PointFoot,
        RobotConfig,
        RobotModel,
    )
    from legged_dynamics.resources import robot_files, urdf_path
    from legged_dynamics.safety import EffortGuard
    from legged_dynamics.workspace import BodyTarget, WorkspaceController

# Where each name of the package's face is at home.
_HOMES = {
    'RobotModel': 'model', 'RobotConfig': 'model', 'PointFoot': 'model', 'FlatFoot': 'model',
    'LineFoot': 'model', 'CylinderFoot': 'model', 'JointOrder': 'model',
    'robot_files': 'resources', 'urdf_path': 'resources',
    'Motion': 'dynamics', 'BaseMotion': 'dynamics',
    'ForceMap': 'force_map', 'FrictionCone': 'force_map',
    'ContactInverseDynamics': 'contact', 'ContactInverseDynamicsOverTime': 'contact',
    'EquationWeights': 'contact', 'MotionNoise': 'contact',
    'GroundReactionEstimator': 'estimation', 'Measurement': 'estimation',
    'LegOdometry': 'estimation',
    'WorkspaceController': 'workspace', 'BodyTarget': 'workspace',
    'EffortGuard': 'safety',
}
__all__ = ['BaseMotion', 'BodyTarget', 'ContactInverseDynamics', 'ContactInverseDynamicsOverTime',
           'CylinderFoot', 'EffortGuard', 'EquationWeights', 'FlatFoot', 'ForceMap',
           'FrictionCone', 'GroundReactionEstimator', 'JointOrder', 'LegOdometry', 'LineFoot',
           'Measurement', 'Motion', 'MotionNoise', 'PointFoot', 'RobotConfig', 'RobotModel',
           'WorkspaceController', '__version__', 'robot_files', 'urdf_path']

_moved.install()


def __getattr__(name: str) -> Any:
    if name == '__version__':       # reading it takes longer than importing the package
        from importlib.metadata import PackageNotFoundError, version
        try:
            value: Any = version('legged_dynamics')
        except PackageNotFoundError:        # running from a source tree that is not installed
            value = 'unknown'
    elif name in _HOMES:
        value = getattr(import_module(f'legged_dynamics.{_HOMES[name]}'), name)
    elif name in _folders() or _moved.new_path(f'{__name__}.{name}'):
        value = import_module(f'legged_dynamics.{name}')
    else:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


def _folders() -> set[str]:
    from pkgutil import iter_modules
    return {module.name for module in iter_modules(__path__)}
