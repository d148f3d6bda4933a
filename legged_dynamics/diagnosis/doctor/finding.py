# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A finding: the fault, its certainty, and the settings that fix it."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.sensor_correction import SETTINGS
from legged_dynamics.parameter_file import rounded


@dataclass(frozen=True)
class Finding:
    """
    A fault that was found.

    Attributes
    ----------
    kind : str
        Kind of fault, such as 'swapped_legs'.
    subject : tuple of str
        Joints, legs or sensors that it is about.
    text : str
        One sentence.
    evidence : float
        Log of how much more likely the fault is than a healthy robot, prior odds included.
    fix : mapping of str to value
        Settings of the robot's YAML that fix it, by dotted name; empty where no YAML can.
    advice : str
        What to do where no YAML fixes it, or in addition to that.
    also : tuple of str
        Other faults that this recording cannot distinguish from it.
    blocks : bool
        Whether nothing else can be judged before it is corrected.
    fixable : bool
        Whether settings of the YAML may be offered for it.

    """

    kind: str
    subject: tuple[str, ...]
    text: str
    evidence: float
    fix: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ''
    also: tuple[str, ...] = ()
    blocks: bool = False
    fixable: bool = True

    @property
    def probability(self) -> float:
        """Probability of the fault, 0 to 1."""
        return 1.0 / (1.0 + math.exp(-min(max(self.evidence, -500.0), 500.0)))

    @property
    def sure(self) -> str:
        """Probability in words: 'certain', or per cent."""
        if self.evidence > 14.0:
            return 'certain'
        return f'{100.0 * min(self.probability, 0.9999):.4g} %'


def changes(before: RobotConfig, after: RobotConfig,
            joint_names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that differ between two configurations, by dotted name."""
    found: dict[str, Any] = {}
    old, new = before.sensors.parameters(), after.sensors.parameters()
    for name, value in new.items():
        if old.get(name) != value:
            found[name] = value
    # A setting that goes back to its default must be stated, since the YAML has another value.
    found.update({entry.name: entry.default for entry in SETTINGS
                  if entry.name in old and entry.name not in new})
    if any(len(value) == len(joint_names) and isinstance(value[0], float)
           for value in found.values() if isinstance(value, list) and value) \
            and not before.joints:
        found = {'robot.joints': list(after.sensors.joints or joint_names), **found}
    if after.imu_link != before.imu_link:
        found['robot.imu_link'] = after.imu_link
    if after.payload.mass != before.payload.mass:
        found['robot.payload_mass'] = float(after.payload.mass)
        found['robot.payload_position'] = [float(x) for x in after.payload.com]
    if after.center_of_mass_offset != before.center_of_mass_offset:
        found['robot.center_of_mass_offset'] = [float(x) for x in after.center_of_mass_offset]
    if after.armature != before.armature:
        found['robot.armature'] = [float(x) for x in after.armature]
        if not before.joints:
            found = {'robot.joints': list(joint_names), **found}
    if after.noise.effort_age != before.noise.effort_age:
        found['noise.effort_age'] = float(after.noise.effort_age)
    for foot, other in zip(after.feet, before.feet):
        if foot.radius != other.radius:
            found['robot.foot_radius'] = float(foot.radius)
        if foot.edges != other.edges:
            found['robot.sole'] = list(foot.edges)
    return {name: rounded(value) for name, value in found.items()}
