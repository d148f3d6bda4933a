# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which robot a bag is of: its URDF and its YAML, given, found in the bag, or recognised."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.recognition import read_model, recognise
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import Setting, checked, read_parameter_file

NODE = 'ground_reaction_estimator'
SETTINGS = (
    Setting('analysis.valid', '', '', 'Bool topic that says when the truth is complete.'),
    Setting('analysis.contact_force', 0.0, 'N',
            'True vertical force from which a foot counts as down; 0: 3 % of the weight.', 0.0),
)
_TRUTH = 'analysis.truth.'


@dataclass(frozen=True)
class RobotChoice:
    """
    The robot of a bag.

    Attributes
    ----------
    name : str
        Of the YAML.
    model : RobotModel
    config : RobotConfig
    parameters : dict of str to value
        Everything in the YAML and in further parameter files, in dotted names.
    truth : dict of str to str
        Topic of the true wrench by foot, as the YAML has it.
    valid : str
        Topic that says when the truth is complete, as the YAML has it.
    contact_force : float or None [N]
    notes : list of str
        What was found out or is odd.

    """

    name: str
    model: RobotModel
    config: RobotConfig
    parameters: dict[str, Any]
    truth: dict[str, str]
    valid: str
    contact_force: float | None
    notes: list[str]


def choose_robot(bag: BagReader, description: str, robot: str = '', urdf: str = '',
                 params_files: Sequence[str | Path] = ()) -> RobotChoice:
    """
    Return the robot of a bag.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    description : str
        Topic of the robot description; empty when the bag has none.
    robot : str
        Name of a robot that comes with the package, or path of a YAML; empty: the one that comes
        with the package and fits the URDF.
    urdf : str
        Path of a URDF; empty: what the bag says, or else the one beside the YAML.
    params_files : sequence of str or Path
        Further parameter files, as the live estimator had them.

    Raises
    ------
    BagError
        When there is no URDF.
    ConfigurationError
        When no robot, or more than one, fits.

    """
    notes: list[str] = []
    yaml, beside = robot_files(robot) if robot else (None, None)
    source: str | Path
    if urdf:
        source = Path(urdf)
    elif description:
        source = bag.first(description).data
    elif beside is not None:
        source = beside
        notes.append(f'The bag has no robot_description: the URDF is {beside.name}, which comes '
                     'with the robot.')
    else:
        raise BagError(f'{bag.path} has no robot_description; give the URDF with --urdf')
    model, odd = read_model(source)
    notes += odd
    if yaml is None:
        yaml = recognise(model)
        notes.append(f'The robot was recognised by its URDF: {yaml.stem}.')
    parameters = read_parameter_file(yaml, NODE)
    for path in params_files:
        parameters.update(read_parameter_file(path, NODE))
    try:
        config = RobotConfig.from_parameters(parameters)
        found = checked({name: value for name, value in parameters.items()
                         if not name.startswith(_TRUTH)}, SETTINGS)
    except ConfigurationError as error:
        raise ConfigurationError(f'{yaml}: {error}') from error
    return RobotChoice(
        yaml.stem, model, config, parameters,
        {name.removeprefix(_TRUTH): str(value) for name, value in parameters.items()
         if name.startswith(_TRUTH)},
        found['analysis.valid'], found['analysis.contact_force'] or None, notes)
