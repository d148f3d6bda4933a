# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a user can say about an analysis."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from legged_dynamics.exceptions import ConfigurationError

DETECTED, FROM_BAG = 'detected', 'bag'


@dataclass(frozen=True)
class AnalysisOptions:
    """
    Options of an analysis; the defaults find everything in the bag.

    Attributes
    ----------
    robot : str
        Name of a robot that comes with the package, or path of a YAML; empty: recognised.
    urdf : str
        Path; empty: from the bag.
    params_files : tuple of Path
        Parameter files of the live estimator, beside the robot's.
    contact : tuple of str
        ``('detected',)``; ``('bag',)`` for the true contacts; or Bool topics, one a foot in the
        order of the robot's feet.
    truth : dict of str to str
        Topic of the true wrench, by foot; beside what the YAML says.
    valid : str
        Bool topic that says when the truth is complete; empty: what the YAML says.
    joint_states, imu : str
        Topics; empty: found by type and name.
    start, end : float or None [s]
        Range of the bag, from its beginning.
    report, enriched, csv : bool
        What is written.
    storage : str
        Of the enriched bag: mcap or sqlite3.

    """

    robot: str = ''
    urdf: str = ''
    params_files: tuple[Path, ...] = ()
    contact: tuple[str, ...] = (DETECTED,)
    truth: Mapping[str, str] = field(default_factory=dict)
    valid: str = ''
    joint_states: str = ''
    imu: str = ''
    start: float | None = None
    end: float | None = None
    report: bool = True
    enriched: bool = True
    csv: bool = True
    storage: str = 'mcap'

    def __post_init__(self) -> None:
        start, end = self.start or 0.0, self.end
        if start < 0.0 or (end is not None and end <= start):
            raise ConfigurationError(f'expected a range from 0 s on with its end after its '
                                     f'start, got {start:g} to {end} s')

    @property
    def contact_topics(self) -> tuple[str, ...]:
        """Topics with the contacts to take, or empty."""
        return () if self.contact in ((DETECTED,), (FROM_BAG,)) else self.contact
