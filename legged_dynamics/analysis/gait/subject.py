# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whose motion a recording is: model, feet, and what its YAML says of truth and sensors."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.gait.options import SOLE, GaitOptions
from legged_dynamics.analysis.robot import (
    NODE,
    RobotChoice,
    choose_robot,
    read_model,
    recognise,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.foot import Foot
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file


@dataclass(frozen=True, eq=False)
class Subject:
    """
    A robot or a person.

    Attributes
    ----------
    model : RobotModel
    config : RobotConfig
        With the feet that count.
    parameters : dict of str to value
        Of the YAML; empty without one.
    truth : dict of str to str
        Topic of the true wrench, by foot.
    valid : str
        Topic that says when the truth is complete.
    description : str
        The URDF itself.
    notes : list of str
    bodies : dict of str to str
        Body that carries a foot, by the foot, where files of forces may name it.

    """

    model: RobotModel
    config: RobotConfig
    parameters: dict[str, Any]
    truth: dict[str, str]
    valid: str
    description: str
    notes: list[str]
    bodies: dict[str, str] = field(default_factory=dict)

    @property
    def feet(self) -> tuple[Foot, ...]:
        """Where it touches the ground."""
        return self.config.feet


def subject_of_bag(bag: BagReader, description: str, options: GaitOptions) -> Subject:
    """
    Return whose motion a bag is.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    description : str
        Topic of the robot description; empty when the bag has none.
    options : GaitOptions
        What the user says.

    Raises
    ------
    LeggedDynamicsError
        When there is no URDF, no robot fits and no feet are given, or they do not fit.

    """
    text = (Path(options.urdf) if options.urdf
            else bag.first(description).data if description else '')
    if options.feet and text and not options.robot:
        return _bare(text, options)
    choice = choose_robot(bag, description, options.robot, options.urdf)
    return _chosen(choice, text or robot_files(options.robot)[1], options)


def subject_of_file(options: GaitOptions) -> Subject:
    """
    Return whose motion a CSV file is, which says nothing of that itself.

    Raises
    ------
    LeggedDynamicsError
        When the options do not say enough, or do not fit.

    """
    yaml, beside = robot_files(options.robot) if options.robot else (None, None)
    urdf = Path(options.urdf) if options.urdf else beside
    if urdf is None:
        raise ConfigurationError('a CSV file does not say whose motion it is: give the URDF with '
                                 '--urdf, or with --robot one that comes with the package')
    if options.feet and yaml is None:
        return _bare(urdf, options)
    model, notes = read_model(urdf)
    if yaml is None:
        yaml = recognise(model)
        notes.append(f'The robot was recognised by its URDF: {yaml.stem}.')
    parameters = read_parameter_file(yaml, NODE)
    choice = RobotChoice(yaml.stem, model, RobotConfig.from_parameters(parameters), parameters,
                         {}, '', None, notes)
    return _chosen(choice, urdf, options)


def _chosen(choice: RobotChoice, urdf: str | Path | None, options: GaitOptions) -> Subject:
    config, notes = choice.config, list(choice.notes)
    if options.feet:
        config = _with_feet(config, options)
    if not config.feet:
        raise ConfigurationError(f'{choice.name}: its YAML names no feet; give their links with '
                                 '--feet')
    return Subject(config.apply_to(choice.model), config, choice.parameters, choice.truth,
                   choice.valid, _text(urdf), notes)


def _bare(urdf: str | Path, options: GaitOptions) -> Subject:
    """Return a subject of which only the URDF and the feet are known."""
    model, notes = read_model(urdf)
    if not options.point_radius:
        front, back, left, right = options.sole or SOLE
        notes.append(f'Each sole is taken as {back:g} to {front:g} m along x and {right:g} to '
                     f'{left:g} m along y of its link, whose frame is taken to lie in the sole '
                     '(--sole).')
    config = _with_feet(RobotConfig.from_parameters({}), options)
    for foot in config.feet:
        model.frame(foot.link)
    return Subject(model, config, {}, {}, '', _text(urdf), notes)


def _with_feet(config: RobotConfig, options: GaitOptions) -> RobotConfig:
    feet: list[Foot] = [FlatFoot(link, *(options.sole or SOLE)) if options.point_radius is None
                        else PointFoot(link, options.point_radius) for link in options.feet]
    return replace(config, feet=tuple(feet))


def _text(urdf: str | Path | None) -> str:
    return urdf.read_text(encoding='utf-8') if isinstance(urdf, Path) else urdf or ''


def truth_topics(subject: Subject, options: GaitOptions, topics: Mapping[str, Any]
                 ) -> tuple[dict[str, str], str]:
    """
    Return the topics of the truth by foot, and of the flag that says when it is complete.

    What a YAML says holds for all recordings of a robot, and need not be in each of them.

    Raises
    ------
    ConfigurationError
        When the options name a foot that does not count.

    """
    feet = [foot.link for foot in subject.feet]
    for foot in options.truth:
        if foot not in feet:
            raise ConfigurationError(f'--truth: expected a foot ({", ".join(feet)}), got {foot!r}')
    truth = {foot: name for foot, name in subject.truth.items() if name in topics}
    valid = options.valid or (subject.valid if subject.valid in topics else '')
    for foot in feet:
        if f'/ground_truth/{foot}/wrench' in topics:
            truth.setdefault(foot, f'/ground_truth/{foot}/wrench')
    return {**truth, **options.truth}, valid
