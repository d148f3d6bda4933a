# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node foot_force_controller: stands, and gives each foot the force asked for."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.runner import run
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.nodes.body_controller import BLIND, DEFAULTS, SETTINGS, BodyController
from legged_dynamics.nodes.diagnostics import FAULT_MEMORY_NS
from legged_dynamics.nodes.effort_output import settings_of
from legged_dynamics.nodes.force_map_output import SETTINGS as MAP_SETTINGS
from legged_dynamics.nodes.force_map_output import ForceMapOutput
from legged_dynamics.schema import Setting
from legged_dynamics.workspace import AskedForce, WorkspaceFault

NODE_SETTINGS = (
    Setting('desired_timeout', 0.5, 's', 'Age at which a desired wrench is no longer obeyed.',
            0.01, 1e6),
    Setting('world_frame', 'world', '', 'Name of the frame whose z is up, for desired wrenches.'),
    *MAP_SETTINGS)
_WRENCH = 'geometry_msgs/msg/WrenchStamped'


class FootForceController(BodyController):
    """
    Holds the body, and gives feet the forces asked for.

    Takes ``~/<foot>/desired_wrench``, the force of the ground on the robot in the axes of its
    frame: the foot's link, the base or the world's. A force that friction, effort limits or
    balance do not allow is replaced by the nearest one that they do, and the diagnostics say so.
    Publishes, while somebody listens, ``~/<foot>/commanded_wrench``, the force map and its
    markers.
    """

    default_name = 'foot_force_controller'
    live = (*BodyController.live, 'map.', 'markers.', 'desired_timeout', 'world_frame')
    # A foot that is asked for next to nothing is in contact all the same.
    settings = settings_of({**DEFAULTS, 'stance': 'all'}, SETTINGS, NODE_SETTINGS)

    def join(self, model: RobotModel, config: RobotConfig) -> None:
        """Open the topics of the feet."""
        self._feet, qos = tuple(foot.link for foot in config.feet), self.dialect.qos
        self._given = [self.common.endpoints.publisher(_WRENCH, f'~/{foot}/commanded_wrench',
                                                       qos.reliable(500)) for foot in self._feet]
        for i, foot in enumerate(self._feet):
            self.common.endpoints.subscription(_WRENCH, f'~/{foot}/desired_wrench',
                                               partial(self._on_desired, i), qos.reliable(10))
        self._map = ForceMapOutput(self.common)

    def learn(self, model: RobotModel, config: RobotConfig) -> None:
        """Make the map."""
        assert self._controller is not None
        self._model = self._controller.model
        self._map.build(self._model, config.feet, self._controller)

    def rehearse(self, measurement: Measurement) -> None:
        """Go through everything once, the map included."""
        super().rehearse(measurement)
        self._map.compute(measurement.position, measurement.velocity, np.eye(3), np.zeros(3))

    def reset(self) -> None:
        """Hold the pose of the next measurement, and forget all desired forces."""
        super().reset()
        self._desired: dict[int, tuple[int, AskedForce]] = {}
        self._refused: tuple[int, str] = (-FAULT_MEMORY_NS, '')

    def _on_desired(self, foot: int, message: Any) -> None:
        now, name, frame = self.common.now(), self._feet[foot], message.header.frame_id
        axes = {name: 'foot', self._model.base_link: 'base',
                self.parameters['world_frame']: 'world'}
        _, wrench = convert.read_wrench(message)
        if frame not in axes:
            self._refused = now, (f'{name}: expected a desired wrench in one of the frames '
                                  f'{", ".join(axes)}; got {frame!r}')
        elif not np.isfinite(wrench[:3]).all():
            self._refused = now, f'{name}: the desired force is not finite: {wrench[:3].tolist()}'
        elif self.common.input.listening:
            self._desired[foot] = now, AskedForce(wrench[:3], axes[frame])

    def asked(self) -> dict[int, AskedForce]:
        """Return the forces that are still to be obeyed."""
        if self._desired:
            timeout, now = round(self.parameters['desired_timeout'] * 1e9), self.common.now()
            self._desired = {foot: (since, asked) for foot, (since, asked)
                             in self._desired.items() if now - since <= timeout}
        return {foot: asked for foot, (_, asked) in self._desired.items()}

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish the forces given, and the map."""
        super().commanded(measurement, effort)
        if self.command is None or self.state is None:
            return
        for publisher, foot, wrench in zip(self._given, self._feet, self.command.foot_wrench):
            if publisher.get_subscription_count():
                publisher.publish(convert.wrench_stamped(self.dialect, measurement.stamp_ns, foot,
                                                         wrench))
        self._map.publish(measurement, effort, self.command, self.state)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return how the body does, and what became of the forces asked for."""
        found = super().judge(now)
        if self.common.input.listening and self.command is not None:
            found['forces'] = self._judge_forces(now)
        return found

    def _judge_forces(self, now: int) -> tuple[str, str]:
        command = self.command
        assert command is not None and self._controller is not None
        if self.lost:
            return 'ERROR', f'let go: {self.lost}; activate the node again'
        since, why = self._refused
        problems = [why] if now - since < FAULT_MEMORY_NS else []
        if self._blind_ns is not None:
            problems.append(BLIND)
        given = self._controller.forces()
        for foot, why in command.clipped.items():
            problems.append(f'{self._feet[foot]}: {_newtons(command.asked[foot])} asked, '
                            f'{_newtons(given[foot])} given: {why}')
        if command.faults & WorkspaceFault.UNBALANCED:
            problems.append('no forces within friction and effort limits hold the body')
        if problems:
            return 'WARN', '; '.join(problems)
        got = ', '.join(self._feet[foot] for foot in sorted(command.asked))
        return 'OK', f'as asked: {got}' if got else 'holds the body'

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return where the body is, and how well forces can be asked for."""
        found = super().details(now)
        return found | {'forces': self._map.details()} if 'body' in found else found


def _newtons(force: np.ndarray) -> str:
    return f'({", ".join(str(round(value)) for value in force.tolist())}) N'


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(FootForceController, argv)
