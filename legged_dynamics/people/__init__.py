# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
People in motion capture: gait, trials and their errors against force plates, OpenSim's files.

`analyse_gait` reads a trial and returns its ground reactions; `DoubleSupport` shares the load of a
motion that is already in memory. Modules: `gait` (contacts and forces of a recorded motion),
`trials` (files in, tables and reports out), `opensim` (models).
"""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.people.gait.double_support import DoubleSupport
    from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
    from legged_dynamics.people.gait.reactions import GaitReactions
    from legged_dynamics.people.gait.settings import GaitSettings
    from legged_dynamics.people.gait.stance_detection import StancePhase, detect_stance
    from legged_dynamics.people.trials.analysis import GaitResult, analyse_gait, sample_walk
    from legged_dynamics.people.trials.cycles import GaitCycles, gait_cycles
    from legged_dynamics.people.trials.export import to_pandas, write_bag, write_csv, write_opensim
    from legged_dynamics.people.trials.subject import GaitOptions

__all__ = ['analyse_gait', 'GaitOptions', 'GaitResult', 'sample_walk', 'GaitInverseDynamics',
           'GaitSettings', 'GaitReactions', 'DoubleSupport', 'detect_stance', 'StancePhase',
           'gait_cycles', 'GaitCycles', 'to_pandas', 'write_bag', 'write_csv', 'write_opensim']
__getattr__, __dir__ = lazy_names(__name__)
