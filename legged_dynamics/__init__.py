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

__all__ = ['BaseMotion', 'BodyTarget', 'ContactInverseDynamics', 'ContactInverseDynamicsOverTime',
           'CylinderFoot', 'EffortGuard', 'EquationWeights', 'FlatFoot', 'ForceMap',
           'FrictionCone', 'GroundReactionEstimator', 'JointOrder', 'LegOdometry', 'LineFoot',
           'Measurement', 'Motion', 'MotionNoise', 'PointFoot', 'RobotConfig', 'RobotModel',
           'WorkspaceController', '__version__', 'robot_files', 'urdf_path']

_moved.install()
_lazy, __dir__ = _moved.lazy_names(__name__)


def __getattr__(name: str) -> Any:
    if name == '__version__':       # reading it takes longer than importing the package
        from importlib.metadata import PackageNotFoundError, version
        try:
            value: Any = version('legged_dynamics')
        except PackageNotFoundError:        # running from a source tree that is not installed
            value = '(not installed)'
    elif name not in __all__ and (name in _folders() or _moved.new_path(f'{__name__}.{name}')):
        value = import_module(f'legged_dynamics.{name}')
    else:
        return _lazy(name)
    globals()[name] = value
    return value


def _folders() -> set[str]:
    from pkgutil import iter_modules
    return {module.name for module in iter_modules(__path__)}
