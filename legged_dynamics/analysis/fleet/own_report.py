# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A report of its own for a recording of a batch: of the worst of it where it is long."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from legged_dynamics.analysis.options import AnalysisOptions

# A longer recording's report shows so much of it [s], for a report holds all that it shows.
LONGEST = 120.0


class ReportJob(NamedTuple):
    """A recording to write a report of: its path, options, worst second, duration, and where."""

    recording: str
    path: Path
    options: AnalysisOptions
    worst_at: float
    duration: float
    folder: Path


def make_report(job: ReportJob) -> str:
    """
    Write the report of a recording; return its path.

    Raises
    ------
    LeggedDynamicsError
        When the recording cannot be read or the report not be written.

    """
    from legged_dynamics.analysis.analysis import analyse
    from legged_dynamics.analysis.report import write_report

    options, warnings = job.options, []
    if job.duration > LONGEST:
        worst = job.worst_at if job.worst_at == job.worst_at else 0.0
        begin = min(max(worst - LONGEST / 2.0, 0.0), job.duration - LONGEST)
        first = (options.start or 0.0) + begin
        options = replace(options, start=first or None, end=first + LONGEST)
        warnings = [f'{LONGEST:.0f} of {job.duration:.0f} s, around the second with the largest '
                    'residual.']
    return str(write_report(analyse(job.path, options), job.folder, warnings))
