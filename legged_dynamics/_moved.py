# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Old module paths: each works for one version after its module has moved, and warns."""
from __future__ import annotations

import sys
import warnings
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old path to new path, both below the package; of a package that has moved, all that is in it
# moves with it, but for what has a line of its own. Lines of 0.2.0 end with 0.4.0.
MOVED = {
    'analysis': 'reports',
    'analysis.accuracy': 'reports.bag.accuracy',
    'analysis.analysis': 'reports.bag.analysis',
    'analysis.bag_repair': 'recordings.bag_repair',
    'analysis.bag_writer': 'recordings.bag_writer',
    'analysis.bags': 'recordings.bags',
    'analysis.behaviour': 'reports.bag.behaviour',
    'analysis.biomechanics': 'trials',
    'analysis.biomechanics.load': 'trials.c3d',
    'analysis.biomechanics.plate_feet': 'trials.loads',
    'analysis.biomechanics.storage': 'trials.coordinates',
    'analysis.biomechanics.trc': 'trials.c3d',
    'analysis.body_tracking': 'recordings.recording',
    'analysis.charts': 'reports.page',
    'analysis.contacts': 'reports.bag.behaviour',
    'analysis.doctor_report': 'reports.doctor',
    'analysis.enriched': 'reports.bag.enriched',
    'analysis.figures': 'reports',
    'analysis.gait': 'trials',
    'analysis.gait.alignment': 'trials.accuracy',
    'analysis.gait.belt': 'trials.plates',
    'analysis.gait.csv_columns': 'trials.csv_motion',
    'analysis.gait.opensim': 'trials.export',
    'analysis.gait.options': 'trials.subject',
    'analysis.gait.result': 'trials.analysis',
    'analysis.gait.sample': 'trials.analysis',
    'analysis.gait.strides': 'trials.cycles',
    'analysis.gait.tables': 'trials.report',
    'analysis.gait.verdict': 'trials.report',
    'analysis.inputs': 'recordings.series',
    'analysis.layouts': 'reports.bag.enriched',
    'analysis.options': 'recordings.replay',
    'analysis.plots': 'reports',
    'analysis.preparation': 'recordings.replay',
    'analysis.recognition': 'recordings.robot',
    'analysis.recorder': 'recordings.bag_writer',
    'analysis.recording': 'recordings.recording',
    'analysis.replay': 'recordings.replay',
    'analysis.report': 'reports.bag.report',
    'analysis.robot': 'recordings.robot',
    'analysis.sensor_log': 'recordings.recording',
    'analysis.series': 'recordings.series',
    'analysis.standing_reach': 'reports.force_map',
    'analysis.table': 'reports.page',
    'analysis.tables': 'reports.bag.report',
    'analysis.topics': 'recordings.topics',
    'analysis.truth': 'recordings.truth',
    'analysis.verdict': 'reports.bag.analysis',
    'contact.active_set': 'optimization.quadratic_program',
    'contact.over_time.frames': 'contact.over_time.stretch',
    'conversions.body': 'conversions.building',
    'conversions.reactions': 'conversions.markers',
    'dynamics.articulated_body': 'dynamics.forward_dynamics',
    'dynamics.rigid_body': 'dynamics.kinematics',
    'estimation.transmission': 'estimation.stand',
    'force_map.contact_force_map': 'force_map.affine',
    'force_map.load_sharing': 'force_map.ground_force_problem',
    'identification.motion_check': 'identification.identify',
    'middleware.compiling': 'middleware.lifecycle',
    'middleware.conversions': 'conversions',
    'middleware.ros2': 'middleware.ros2_node',
    'model.actuator_settings': 'model.robot_config',
    'model.half_bent': 'model.standing',
    'model.known_motors': 'model.actuators',
    'model.urdf_text': 'model.urdf',
    'nodes.body.walking': 'nodes.body.controller',
    'nodes.body_controller': 'nodes.body.controller',
    'nodes.body_output': 'nodes.body.output',
    'nodes.body_targets': 'nodes.body.targets',
    'nodes.effort_output': 'nodes.controller_node',
    'optimization.cones': 'optimization.cone_program',
    'optimization.dual_method': 'optimization.quadratic_program',
    'recordings.csv_log': 'trials.csv_motion',
    'recordings.inputs': 'recordings.series',
    'recordings.sensor_log': 'recordings.recording',
    'reports.bag.cautions': 'reports.bag.accuracy',
    'reports.bag.noise_band': 'reports.bag.figures',
    'reports.climbing.questions': 'reports.climbing.comparison',
    'reports.fleet.facts': 'reports.fleet.report',
    'reports.validation': 'reports.doctor',
    'safety.last_efforts': 'safety.effort_watchdog',
    'simulation.climbing_twin': 'simulation.climbing_robot',
    'simulation.pacing': 'simulation.hardware',
    'simulation.physics_text': 'simulation.plant',
    'stickybot.allocation.force_sets': 'stickybot.allocation.force_program',
    'stickybot.study': 'stickybot.climb',
    'trials.folder': 'trials.batch',
    'unitree.low_cmd': 'unitree.low_level',
    'unitree.low_state': 'unitree.low_level',
    'unitree.messages': 'unitree.low_level',
    'validation.phases': 'validation.validation',
    'view.looks': 'view.figure',
    'view.snapshot': 'view.figure',
    'workspace.minimum_jerk': 'workspace.reference',
    'workspace.stance_feet': 'workspace.control_tick',
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
