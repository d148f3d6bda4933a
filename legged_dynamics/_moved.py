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

# Old path to new path, both below the package; of a package that has moved, all that is in it
# moves with it, but for what has a line of its own. Lines of 0.2.0 end with 0.4.0.
MOVED = {
    'analysis': 'pages',
    'analysis.accuracy': 'recordings.report.accuracy',
    'analysis.analysis': 'recordings.report.analysis',
    'analysis.bag_repair': 'recordings.bag_repair',
    'analysis.bag_writer': 'recordings.bag_writer',
    'analysis.bags': 'recordings.bags',
    'analysis.behaviour': 'recordings.report.accuracy',
    'analysis.biomechanics': 'people.trials',
    'analysis.biomechanics.load': 'people.trials.c3d',
    'analysis.biomechanics.plate_feet': 'people.trials.loads',
    'analysis.biomechanics.storage': 'people.trials.coordinates',
    'analysis.biomechanics.trc': 'people.trials.c3d',
    'analysis.body_tracking': 'recordings.recording',
    'analysis.charts': 'pages.page',
    'analysis.contacts': 'recordings.report.accuracy',
    'analysis.doctor_report': 'diagnosis.report',
    'analysis.enriched': 'recordings.report.enriched',
    'analysis.figures': 'pages',
    'analysis.gait': 'people.trials',
    'analysis.gait.alignment': 'people.trials.accuracy',
    'analysis.gait.belt': 'people.trials.accuracy',
    'analysis.gait.csv_columns': 'people.trials.csv_motion',
    'analysis.gait.opensim': 'people.trials.export',
    'analysis.gait.options': 'people.trials.subject',
    'analysis.gait.result': 'people.trials.analysis',
    'analysis.gait.sample': 'people.trials.analysis',
    'analysis.gait.strides': 'people.trials.cycles',
    'analysis.gait.tables': 'people.trials.report',
    'analysis.gait.verdict': 'people.trials.report',
    'analysis.inputs': 'recordings.series',
    'analysis.layouts': 'recordings.report.enriched',
    'analysis.options': 'recordings.replay',
    'analysis.plots': 'pages',
    'analysis.preparation': 'recordings.replay',
    'analysis.recognition': 'recordings.robot',
    'analysis.recorder': 'recordings.bag_writer',
    'analysis.recording': 'recordings.recording',
    'analysis.replay': 'recordings.replay',
    'analysis.report': 'recordings.report.report',
    'analysis.robot': 'recordings.robot',
    'analysis.sensor_log': 'recordings.recording',
    'analysis.series': 'recordings.series',
    'analysis.standing_reach': 'force_map.report',
    'analysis.table': 'pages.page',
    'analysis.tables': 'recordings.report.report',
    'analysis.topics': 'recordings.topics',
    'analysis.truth': 'recordings.recording',
    'analysis.verdict': 'recordings.report.analysis',
    'cli.new_robot': 'cli.info',
    'contact.active_set': 'optimization.quadratic_program',
    'contact.over_time.frames': 'contact.over_time.stretch',
    'conversions': 'ros.conversions',
    'conversions.body': 'ros.conversions.building',
    'conversions.reactions': 'ros.conversions.markers',
    'conversions.samples': 'ros.conversions.reading',
    'doctor': 'diagnosis.doctor',
    'doctor.finding': 'diagnosis.doctor.hypotheses',
    'doctor.sized': 'diagnosis.doctor.parametric_faults',
    'dynamics.articulated_body': 'dynamics.forward_dynamics',
    'dynamics.rigid_body': 'dynamics.kinematics',
    'estimation.actuator_equations': 'estimation.actuators.equations',
    'estimation.actuator_learning': 'estimation.actuators',
    'estimation.filter.results': 'estimation.filter.layout',
    'estimation.mass_error': 'estimation.push',
    'estimation.off_feet': 'estimation.link_contacts',
    'estimation.stand': 'estimation.rails',
    'force_map.contact_force_map': 'force_map.affine',
    'force_map.load_sharing': 'force_map.ground_force_problem',
    'force_map.stance': 'force_map.foot_force',
    'gait': 'people.gait',
    'gait.contact_evidence': 'contact.contact_evidence',
    'gait.error_bars': 'people.gait.reactions',
    'gait.pose_noise': 'people.gait.required_wrench',
    'gait.pressure_path': 'people.gait.load_transfer',
    'gait.sole_motion': 'people.gait.stance_detection',
    'identification': 'diagnosis.identification',
    'identification.motion_check': 'diagnosis.identification.identify',
    'middleware': 'ros.middleware',
    'middleware.compiling': 'ros.middleware.lifecycle',
    'middleware.conversions': 'ros.conversions',
    'middleware.qos': 'ros.middleware.protocol',
    'middleware.ros2': 'ros.middleware.ros2_node',
    'model.actuator_settings': 'model.robot_config',
    'model.half_bent': 'model.standing',
    'model.known_motors': 'model.actuators',
    'model.opensim': 'people.opensim',
    'model.opensim.joints': 'people.opensim.reader',
    'model.urdf_text': 'model.urdf',
    'nodes': 'ros.nodes',
    'nodes.body.base_state': 'ros.nodes.ground_reaction_estimator',
    'nodes.body.walking': 'ros.nodes.body.controller',
    'nodes.body_controller': 'ros.nodes.body.controller',
    'nodes.body_output': 'ros.nodes.body.output',
    'nodes.body_targets': 'ros.nodes.body.targets',
    'nodes.effort_output': 'ros.nodes.controller_node',
    'optimization.cones': 'optimization.cone_program',
    'optimization.dual_method': 'optimization.quadratic_program',
    'recordings.csv_log': 'people.trials.csv_motion',
    'recordings.inputs': 'recordings.series',
    'recordings.sensor_log': 'recordings.recording',
    'recordings.truth': 'recordings.recording',
    'reports': 'pages',
    'reports.bag': 'recordings.report',
    'reports.bag.behaviour': 'recordings.report.accuracy',
    'reports.bag.cautions': 'recordings.report.accuracy',
    'reports.bag.noise_band': 'recordings.report.figures',
    'reports.climbing': 'reproductions.climbing',
    'reports.climbing.questions': 'reproductions.climbing.comparison',
    'reports.crouch': 'reproductions.planar_biped',
    'reports.doctor': 'diagnosis.report',
    'reports.fleet': 'recordings.fleet',
    'reports.fleet.facts': 'recordings.fleet.report',
    'reports.fleet.job': 'recordings.fleet.summarise',
    'reports.fleet.tallies': 'recordings.fleet.summarise',
    'reports.force_map': 'force_map.report',
    'reports.validation': 'diagnosis.report',
    'safety.envelope': 'safety.motor_output',
    'safety.last_efforts': 'safety.effort_watchdog',
    'simulation.climbing_twin': 'reproductions.climbing.twin',
    'simulation.gait': 'simulation.schedule',
    'simulation.pacing': 'simulation.hardware',
    'simulation.physics_text': 'simulation.plant',
    'simulation.planar_biped': 'reproductions.planar_biped_plant',
    'stickybot.allocation.equilibrium': 'reproductions.climbing.equilibrium',
    'stickybot.allocation.force_program': 'stickybot.allocation.force_allocation',
    'stickybot.allocation.force_sets': 'stickybot.allocation.force_allocation',
    'stickybot.allocation.frozen_allocation': 'reproductions.climbing.frozen_allocation',
    'stickybot.model.bookkeeping': 'stickybot.model.dynamics',
    'stickybot.model.parts': 'stickybot.model.robot',
    'stickybot.study': 'reproductions.climbing.sweep',
    'trials': 'people.trials',
    'trials.folder': 'people.trials.batch',
    'trials.plates': 'people.trials.accuracy',
    'trials.poses': 'people.trials.csv_motion',
    'trials.trial': 'people.trials.subject',
    'unitree': 'ros.unitree_low_level',
    'unitree.low_cmd': 'ros.unitree_low_level',
    'unitree.low_level': 'ros.unitree_low_level',
    'unitree.low_state': 'ros.unitree_low_level',
    'unitree.messages': 'ros.unitree_low_level',
    'unitree.robots': 'ros.unitree_low_level',
    'validation': 'diagnosis.validation',
    'validation.phases': 'diagnosis.validation.validation',
    'view.looks': 'view.figure',
    'view.snapshot': 'view.figure',
    'workspace.minimum_jerk': 'workspace.reference',
    'workspace.planar': 'reproductions.planar',
    'workspace.stance_feet': 'workspace.control_tick',
    'workspace.walking.biped': 'workspace.walking',
}
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
