# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot of a bag: URDF and YAML as given, as found in the bag, or recognised."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import BagError, ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import ModelWarning, RobotConfig, RobotModel
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.resources import robot_files, share_directory
from legged_dynamics.schema import CheckedSettings, read_parameter_file, setting

# -------------------------------------------------------------------------------------------------
# Recognition of the robots that come with the package, by their URDF.


def read_model(source: str | Path) -> tuple[RobotModel, list[str]]:
    """Return a URDF's model (XML or file), and notes on what is odd about it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always', ModelWarning)
        model = (RobotModel.from_xml(source) if isinstance(source, str) else
                 RobotModel.from_urdf(source))
    return model, [f'URDF: {warning.message}.' for warning in said
                   if issubclass(warning.category, ModelWarning)]


def recognise(model: RobotModel, by_name: bool = False) -> Path:
    """
    Return the YAML of the only robot of the package that fits; refuse none or several.

    ``by_name``: the model's name must be that robot's too, as others may share links and joints.
    """
    fitting = []
    for path in sorted((share_directory() / 'config' / 'robots').glob('*.yaml')):
        try:
            config = RobotConfig.from_yaml(path)
            config.apply_to(model)
        except LeggedDynamicsError:
            continue
        if config.feet:         # without feet, a YAML fits whatever there is
            fitting.append(path)
    # Robots of one family share the names of links and joints; then the robot's own name decides.
    # Makers add to it: go2_description, g1_29dof_rev_1_0.
    named = [path for path in fitting if f'{model.name}_'.startswith(f'{path.stem}_')]
    named = sorted(named, key=lambda path: len(path.stem))[-1:]
    if len(named) == 1 or (len(fitting) == 1 and not by_name):
        return (named or fitting)[0]
    problem = (f'{len(fitting)} robots fit its URDF ({", ".join(p.stem for p in fitting)})'
               + (' but none is of its name' if by_name else '')
               if fitting else 'none of the robots that come with the package fits its URDF')
    raise ConfigurationError(f'cannot tell which robot {model.name!r} is: {problem}; give its '
                             'name or the path of its YAML with --robot (`legged-dynamics '
                             'new-robot URDF` writes one)')


# -------------------------------------------------------------------------------------------------

# The node that estimates live, whose parameters a robot's YAML holds.
ESTIMATOR = 'ground_reaction_estimator'


@dataclass(frozen=True)
class AnalysisSettings(CheckedSettings):
    """What the YAML says about the true forces that a bag holds."""

    valid: str = setting(
        'analysis.valid', '', '', 'Bool topic that says when the truth is complete.')
    contact_force: float = setting(
        'analysis.contact_force', 0.0, 'N',
        'True vertical force from which a foot counts as down; 0: 3 % of the weight.', 0.0)
    model_error: bool = setting(
        'analysis.model_error', True, '',
        'Whether error bars off line are those of a robot, with noise.center_of_mass; for a '
        'person they contain what people show, and with it the errors of a scaled model.')


_TRUTH = 'analysis.truth.'


@dataclass(frozen=True)
class RobotChoice:
    """The robot of a bag."""

    name: str  # Name of the YAML, without its suffix
    model: RobotModel  # Model as the URDF has it
    config: RobotConfig  # Configuration as the YAML has it
    # Everything in the YAML and in further parameter files, in dotted names
    parameters: dict[str, Any]
    truth: dict[str, str]  # Topic of the true wrench by foot, as the YAML has it
    valid: str  # Topic with the flag that says when the truth is complete, as the YAML has it
    # [N]: true vertical force from which a foot counts as in contact; None for a share of the
    # weight
    contact_force: float | None
    notes: list[str]  # Sentences on how the robot was found, and on what is odd
    urdf: str = field(default='', repr=False)  # XML of the description


def choose_robot(bag: BagReader, description: str, robot: str = '', urdf: str = '',
                 params_files: Sequence[str | Path] = ()) -> RobotChoice:
    """
    Return the robot of a bag.

    ``robot``: a packaged name or a YAML path, default: what fits the URDF; ``urdf``: a
    path, default: the bag's, or the one beside the YAML.
    """
    notes: list[str] = []
    yaml, shipped = robot_files(robot) if robot else (None, None)
    source: str | Path
    if urdf:
        source = Path(urdf)
    elif description:
        source = bag.first(description).data
    elif shipped is not None:
        source = shipped
        notes.append(f'The bag has no robot_description: the URDF is {shipped.name}, which comes '
                     'with the robot.')
    else:
        raise BagError(f'{bag.path} has no robot_description; give the URDF with --urdf')
    model, odd = read_model(source)
    notes += odd
    if yaml is None:
        yaml = recognise(model)
        notes.append(f'The robot was recognised by its URDF: {yaml.stem}.')
    return _choice(model, source, yaml, notes, params_files)


def choose_live_robot(urdf: str | Path, robot: str = '') -> RobotChoice:
    """Return the robot of a URDF, without a bag; ``robot`` as for :func:`choose_robot`."""
    model, notes = read_model(urdf)
    return _choice(model, urdf, robot_files(robot)[0] if robot else recognise(model), notes, ())


def _choice(model: RobotModel, source: str | Path, yaml: Path, notes: list[str],
            params_files: Sequence[str | Path]) -> RobotChoice:
    """Return the robot of a URDF and a YAML, with what further parameter files say."""
    parameters = read_parameter_file(yaml, ESTIMATOR)
    for path in params_files:
        parameters.update(read_parameter_file(path, ESTIMATOR))
    try:
        config = replace(RobotConfig.from_parameters(parameters), source=str(yaml))
        found = AnalysisSettings.from_parameters(
            {name: value for name, value in parameters.items() if not name.startswith(_TRUTH)})
    except ConfigurationError as error:
        raise ConfigurationError(f'{yaml}: {error}') from error
    return RobotChoice(
        yaml.stem, model, config, parameters,
        {name.removeprefix(_TRUTH): str(value) for name, value in parameters.items()
         if name.startswith(_TRUTH)},
        found.valid, found.contact_force or None, notes,
        source.read_text(encoding='utf-8') if isinstance(source, Path) else source)
