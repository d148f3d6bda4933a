# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The recording that comes with the package: a made-up walker, in the files of OpenSim."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from legged_dynamics.analysis.gait.options import GaitOptions
from legged_dynamics.resources import share_directory

ORIGIN = ('This is the sample, which nobody walked: a body of textbook masses is led along, and '
          'how its feet share the load was chosen, not measured. Errors on it show that the '
          'method works, and nothing of people.')


def sample_walk(options: GaitOptions | None = None) -> tuple[Path, GaitOptions]:
    """
    Return the sample's motion, and options with its model and its true forces.

    Nobody walked it: `benchmarks/made_walk.py` says how it was made. In double support its truth
    was chosen, so errors on it say that a method works, and nothing of people.

    Parameters
    ----------
    options : GaitOptions, optional
        What the user says; a model or forces of its own are kept.

    """
    folder, options = share_directory() / 'config' / 'sample', options or GaitOptions()
    return folder / 'walk.mot', replace(
        options, urdf=options.urdf or str(folder / 'walker.osim'),
        loads=options.loads or str(folder / 'walk_forces.xml'))
