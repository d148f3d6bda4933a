# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings in and out: bags, their topics, the replay of one by the estimator, its report."""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.recordings.bag_writer import BagWriter
    from legged_dynamics.recordings.bags import BagReader
    from legged_dynamics.recordings.recording import Recording, Truth
    from legged_dynamics.recordings.replay import AnalysisOptions, Replay
    from legged_dynamics.recordings.report.analysis import Analysis, analyse, verdict
    from legged_dynamics.recordings.report.report import write_report

__all__ = ['analyse', 'Analysis', 'AnalysisOptions', 'verdict', 'write_report', 'Recording',
           'Replay', 'Truth', 'BagReader', 'BagWriter']
__getattr__, __dir__ = lazy_names(__name__)
