# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which of the robots that come with the package a URDF is of."""
from __future__ import annotations

import warnings
from pathlib import Path

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import ModelWarning, RobotConfig, RobotModel
from legged_dynamics.resources import share_directory


def read_model(source: str | Path) -> tuple[RobotModel, list[str]]:
    """
    Return a URDF's model, and sentences on what is odd about it.

    Parameters
    ----------
    source : str or Path
        The XML as text, or a file.

    Raises
    ------
    ModelError
        When it cannot be read.

    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always', ModelWarning)
        model = (RobotModel.from_xml(source) if isinstance(source, str) else
                 RobotModel.from_urdf(source))
    return model, [f'URDF: {warning.message}.' for warning in said
                   if issubclass(warning.category, ModelWarning)]


def recognise(model: RobotModel) -> Path:
    """
    Return the YAML of the one robot that comes with the package and fits a model.

    Raises
    ------
    ConfigurationError
        When none fits, or several do.

    """
    folder = share_directory() / 'config' / 'robots'
    fitting = []
    for path in sorted(folder.glob('*.yaml')):
        try:
            config = RobotConfig.from_yaml(path)
            config.apply_to(model)
        except LeggedDynamicsError:
            continue
        if config.feet:         # without feet, a YAML fits whatever there is
            fitting.append(path)
    # Robots of one family share the names of links and joints; then the robot's own name decides.
    named = [path for path in fitting if path.stem == model.name]
    if len(fitting) == 1 or len(named) == 1:
        return (named or fitting)[0]
    problem = (f'{len(fitting)} robots fit its URDF ({", ".join(p.stem for p in fitting)})'
               if fitting else 'none of the robots that come with the package fits its URDF')
    raise ConfigurationError(f'cannot tell which robot {model.name!r} is: {problem}; give its '
                             'name or the path of its YAML with --robot')
