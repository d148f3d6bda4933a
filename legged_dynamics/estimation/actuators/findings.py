# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What was learned: against what is stated (faults, lines for the YAML), and kept in a file."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import yaml

from legged_dynamics.dynamics.jacobians import START, FeetTable
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.estimation.ground_reaction import Fault
from legged_dynamics.estimation.settings import standing_jacobian
from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.model.actuators import (
    ARMATURE,
    DAMPING,
    FRICTION,
    GAIN,
    KEYS,
    PARAMETERS,
    UNITS,
    UNKNOWN,
    ActuatorModel,
)
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.parameter_file import rounded, written_line


@dataclass(frozen=True)
class ActuatorFinding:
    """
    A configured parameter of the actuators that the measurements contradict.

    Attributes
    ----------
    fault : int
        The flag of `ground_reaction.Fault` that reports it.
    joints : tuple of str
        Joints concerned; empty for all of them.
    parameter : str
        One of `model.actuators.PARAMETERS`.
    amount, deviation : float
        Its measured value, of the joint that shows it most, and one standard deviation.
    unit : str
    line : str
        What to write into the robot's YAML; empty where not all that it needs is known.

    """

    fault: int
    joints: tuple[str, ...]
    parameter: str
    amount: float
    deviation: float
    unit: str
    line: str

    def __str__(self) -> str:
        """Return it in a sentence."""
        where = f' of {", ".join(self.joints)}' if self.joints else ''
        scale, unit = (1e3, 'ms') if self.unit == 's' else (1.0, self.unit)
        size = f'{scale * self.amount:.3g} +- {scale * self.deviation:.2g} {unit}'.strip()
        write = f'; write {self.line}' if self.line else ''
        return f'{self.parameter.replace("_", " ")}{where}: {size}{write}'


def common_finding(fault: Fault, name: str, key: str, found: tuple[float, float],
                   written: float, unit: str = 's') -> ActuatorFinding:
    """Return a value of all joints with its deviation; ``written``: that for the YAML."""
    return ActuatorFinding(fault, (), name, float(found[0]), float(found[1]), unit,
                           _line(key, written) if written != 0.0 else '')


class Findings:
    """Compares what was learned with what is stated."""

    def __init__(self, model: RobotModel, config: RobotConfig, table: FeetTable,
                 stated: ActuatorModel, in_legs: np.ndarray, leg_length: float,
                 settings: LearnerSettings):
        self._joints, self._config, self._stated = model.joint_names, config, stated
        self._in_legs, self._settings = in_legs, settings
        self._bears = model.total_mass * GRAVITY * _arms(
            model, config, table, settings.lever_arm * leg_length)

    def of_parameters(self, value: np.ndarray, covariance: np.ndarray, typical: np.ndarray
                      ) -> Iterator[ActuatorFinding]:
        """Yield frictions, armatures and gains that are stated otherwise than they are."""
        settings = self._settings
        for each in (
                (FRICTION, Fault.FRICTION_MISSTATED, settings.effect,
                 settings.usual_difference),
                (ARMATURE, Fault.ARMATURE_MISSTATED, settings.armature_effect,
                 2.0 * settings.usual_difference),
                (GAIN, Fault.GAIN_MISSTATED, settings.effect,
                 settings.gain_factor * UNKNOWN[GAIN])):
            yield from self._of_parameter(*each, value, covariance, typical)

    def _of_parameter(self, row: int, fault: Fault, effect: float, tolerance: float,
                      values: np.ndarray, covariance: np.ndarray, typical: np.ndarray
                      ) -> Iterator[ActuatorFinding]:
        value, was, factor = values[row], self._stated.value[row], typical[:, row]
        variance = covariance[:, row, row]
        rest = 0.0
        if row == FRICTION:     # it and damping trade places: their sum at usual speed
            factor, speed = 1.0, typical[:, DAMPING]
            rest = speed * self._stated.value[DAMPING]
            value = value + speed * values[DAMPING]
            was = was + rest
            variance = (variance + 2.0 * speed * covariance[:, FRICTION, DAMPING]
                        + speed ** 2 * covariance[:, DAMPING, DAMPING])
        # None is negative: as far as the estimate is, the model does not explain this robot.
        sigma = np.sqrt(np.maximum(variance, 0.0) + np.minimum(value, 0.0) ** 2)
        off = np.abs(np.maximum(value, 0.0) - was)
        torque = off * factor
        bad = (self._in_legs & (torque > effect * self._bears)
               & (off > tolerance * was) & (off > self._settings.rejection * sigma))
        if not bad.any():
            return
        worst = int(np.argmax(np.where(bad, off / sigma, 0.0)))
        value = value - rest        # with the damping that stays stated
        yield ActuatorFinding(
            fault, tuple(self._joints[j] for j in np.flatnonzero(bad)), PARAMETERS[row],
            float(value[worst]), float(sigma[worst]), UNITS[row],
            self.line(row, value, value > TUNED.significant * sigma))

    def line(self, row: int, values: np.ndarray, known: np.ndarray) -> str:
        """
        Return values of joints as a line of YAML, in command order.

        What is not known stays as stated; with nothing stated there is no line.
        """
        values = np.where(known, values, self._stated.value[row])
        if row == GAIN:     # of readings that the stated scale has corrected
            values = self._config.sensors.per_joint('effort_scale', self._joints, 1.0) / values
        order = [self._joints.index(name) for name in self._config.joints or self._joints]
        return '' if (values[order] == 0.0).any() else _line(KEYS[row], values[order].tolist())


def _line(name: str, value: float | list[float]) -> str:
    return written_line(name, rounded(value, 3))


def _arms(model: RobotModel, config: RobotConfig, table: FeetTable, least: float) -> np.ndarray:
    """Return how far each joint moves a foot in the nominal posture [m/rad or 1], at least."""
    jacobian = standing_jacobian(model, config, table)
    moved = [np.linalg.norm(jacobian[start:start + 3], axis=0) for start in table.index[:, START]]
    return np.maximum(np.max(moved, axis=0), least)


class Record:
    """A file of theta with deviations, the date, and the time that it rests on; '' is none."""

    def __init__(self, file: str):
        self._file = file
        self.exists = bool(file) and Path(file).is_file()

    def write(self, names: Sequence[str], theta: np.ndarray, deviation: np.ndarray,
              seconds: float) -> None:
        """Write what was learned; OutputError when the file cannot be written."""
        if not self._file:
            return
        known = {'written': datetime.now(timezone.utc).isoformat(timespec='seconds'),
                 'seconds': round(seconds, 1), 'parameters': dict(zip(names, (
                     [float(value), float(sigma)] for value, sigma in zip(theta, deviation))))}
        try:
            Path(self._file).write_text(yaml.safe_dump(known, sort_keys=False), encoding='utf-8')
        except OSError as error:
            raise OutputError(f'actuators.file: {self._file} cannot be written: {error}') from None

    def read(self, names: Sequence[str]) -> np.ndarray:
        """Return theta and its deviation, (n, 2); ConfigurationError for another robot's file."""
        try:
            kept = yaml.safe_load(Path(self._file).read_text(encoding='utf-8'))['parameters']
            return np.array([kept[name] for name in names], float).reshape(-1, 2)
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
            raise ConfigurationError(
                f'actuators.file: {self._file} does not hold what was learned of this robot; '
                'delete it, or name another file') from None
