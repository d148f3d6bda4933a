# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Names that are imported when they are first used, and old module paths, for one version."""
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

# New path and the old ones, below the package; of a package that has moved, all that is in it
# moves with it, but for what is named itself. Lines of 0.2.0 end with 0.4.0.
OLD = {
    'cli.info': 'cli.new_robot',
    'contact.inverse_dynamics': 'contact.instant_problem',
    'contact.over_time.stretch': 'contact.over_time.frames contact.over_time.passes',
    'diagnosis.doctor': 'doctor',
    'diagnosis.doctor.hypotheses': 'doctor.finding',
    'diagnosis.doctor.parametric_faults': 'doctor.sized',
    'diagnosis.identification': 'identification',
    'diagnosis.identification.identify': 'identification.motion_check',
    'diagnosis.report': 'reports.doctor reports.validation',
    'diagnosis.validation': 'validation',
    'diagnosis.validation.validation': 'validation.phases',
    'dynamics.forward_dynamics': 'dynamics.articulated_body',
    'dynamics.kinematics': 'dynamics.rigid_body',
    'estimation.actuators': 'estimation.actuator_learning',
    'estimation.filter.layout': 'estimation.filter.results',
    'estimation.push': 'estimation.mass_error',
    'estimation.rails': 'estimation.stand',
    'force_map.affine': 'force_map.contact_force_map',
    'force_map.foot_force': 'force_map.stance',
    'force_map.ground_force_problem': 'force_map.load_sharing',
    'force_map.report': 'reports.force_map',
    'model.actuators': 'model.known_motors',
    'model.robot_config': 'model.actuator_settings',
    'model.standing': 'model.half_bent',
    'model.urdf': 'model.urdf_text',
    'optimization.cone_program': 'optimization.cones',
    'optimization.quadratic_program': 'contact.active_set optimization.dual_method',
    'pages': 'reports',
    'pages.page': 'reports.palette',
    'people.gait': 'gait',
    'people.gait.load_transfer': 'gait.pressure_path',
    'people.gait.reactions': 'gait.error_bars',
    'people.gait.stance_detection': 'gait.sole_motion',
    'people.opensim': 'model.opensim',
    'people.opensim.reader': 'model.opensim.joints',
    'people.trials': 'trials',
    'people.trials.accuracy': 'trials.plates',
    'people.trials.batch': 'trials.folder',
    'people.trials.csv_motion': 'recordings.csv_log trials.poses',
    'people.trials.subject': 'trials.trial',
    'recordings.fleet': 'reports.fleet',
    'recordings.fleet.report': 'reports.fleet.facts',
    'recordings.fleet.summarise': 'reports.fleet.job reports.fleet.tallies',
    'recordings.recording': 'recordings.sensor_log recordings.truth',
    'recordings.report': 'reports.bag',
    'recordings.report.accuracy': 'reports.bag.behaviour reports.bag.cautions',
    'recordings.report.figures': 'reports.bag.noise_band',
    'recordings.series': 'recordings.inputs',
    'reproductions.climbing': 'reports.climbing',
    'reproductions.climbing.comparison': 'reports.climbing.questions',
    'reproductions.climbing.equilibrium': 'stickybot.allocation.equilibrium',
    'reproductions.climbing.frozen_allocation': 'stickybot.allocation.frozen_allocation',
    'reproductions.climbing.sweep': 'stickybot.study',
    'reproductions.climbing.twin': 'simulation.climbing_twin',
    'reproductions.planar': 'workspace.planar',
    'reproductions.planar_biped': 'reports.crouch',
    'reproductions.planar_biped_plant': 'simulation.planar_biped',
    'ros.conversions': 'conversions',
    'ros.conversions.building': 'conversions.body',
    'ros.conversions.markers': 'conversions.reactions',
    'ros.conversions.reading': 'conversions.samples',
    'ros.middleware': 'middleware',
    'ros.middleware.lifecycle': 'middleware.compiling',
    'ros.middleware.protocol': 'middleware.qos',
    'ros.middleware.ros2_node': 'middleware.ros2',
    'ros.nodes': 'nodes',
    'ros.nodes.body.controller': 'nodes.body.walking',
    'ros.nodes.controller_node': 'nodes.effort_output',
    'ros.unitree_low_level': 'unitree unitree.low_cmd unitree.low_state unitree.messages '
                             'unitree.robots',
    'safety.effort_watchdog': 'safety.last_efforts',
    'safety.motor_output': 'safety.envelope',
    'simulation.hardware': 'simulation.pacing',
    'simulation.plant': 'simulation.physics_text',
    'simulation.schedule': 'simulation.gait',
    'stickybot.allocation.force_allocation': 'stickybot.allocation.force_program '
                                             'stickybot.allocation.force_sets',
    'stickybot.model.dynamics': 'stickybot.model.bookkeeping stickybot.model.jacobian',
    'stickybot.model.robot': 'stickybot.model.parts',
    'view.figure': 'view.looks view.snapshot',
    'workspace.control_tick': 'workspace.stance_feet',
    'workspace.reference': 'workspace.minimum_jerk',
}
MOVED = {old: new for new, names in OLD.items() for old in names.split()}
_PREFIX = __name__.rpartition('.')[0] + '.'


def new_path(name: str) -> str | None:
    """Return the full path of the module that an old full path stands for; None for others."""
    if not name.startswith(_PREFIX):
        return None
    head, rest = name[len(_PREFIX):], ''
    while head not in MOVED:
        head, dot, last = head.rpartition('.')
        if not dot:
            return None
        rest = f'.{last}{rest}'
    return _PREFIX + MOVED[head] + rest


class _Finder:
    """Finds what no other finder has: a stand-in with all names of the module at the new path."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        from importlib.util import find_spec
        new = new_path(name)
        try:
            if new is None or find_spec(new) is None:
                return None
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(_PREFIX):
                raise                   # what the new module needs is missing
            return None
        return ModuleSpec(name, _Finder, is_package=True)       # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Let an ordinary empty module be made."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        name = module.__name__
        new = new_path(name)
        assert new is not None
        _warn(f'{name} has moved: import {new}')
        found = import_module(new)
        public = [word for word in vars(found) if not word.startswith('_')]
        vars(module).update(__doc__=found.__doc__, __all__=getattr(found, '__all__', public),
                            __getattr__=partial(getattr, found), __dir__=partial(dir, found))


def _warn(message: str) -> None:
    """Warn where the import stands: import machinery and this package's face are passed over."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
            (name := frame.f_globals.get('__name__', '')) in (__name__, _PREFIX[:-1])
            or name.partition('.')[0] == 'importlib'):
        frame = frame.f_back
    warnings.warn_explicit(message, DeprecationWarning, frame.f_code.co_filename, frame.f_lineno,
                           frame.f_globals.get('__name__'),
                           frame.f_globals.setdefault('__warningregistry__', {}))


def install() -> None:
    """Let old paths be imported."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)       # type: ignore[arg-type]


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return ``__getattr__`` and ``__dir__`` of a package, whose import stays cheap.

    The homes of its names are what its file imports for type checkers.
    """
    @cache
    def homes() -> dict[str, str]:
        import ast
        text = Path(str(sys.modules[package].__file__)).read_text(encoding='utf-8')
        return {alias.name: str(node.module) for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.ImportFrom) for alias in node.names}

    def get(name: str) -> Any:
        if name not in sys.modules[package].__all__:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        value = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, value)
        return value
    return get, lambda: sorted(sys.modules[package].__all__)
