# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node reaction_relay: hands what the estimator says on in the message that another node wants."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.field_paths import FieldPath
from legged_dynamics.middleware.messages import define
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.runner import run
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting

NODE_SETTINGS = (
    Setting('relay.input', 'ground_reaction_estimator/reactions', '',
            'Topic that is handed on, message by message.'),
    Setting('relay.input_type', 'sensor_msgs/msg/JointState', '', 'Type of that topic.'),
    Setting('relay.output', '~/output', '', 'Topic to hand it on to.'),
    Setting('relay.output_type', 'std_msgs/msg/Float64MultiArray', '', 'Type of that topic.'),
    Setting('relay.onto', '', '', 'Topic of the type of the output: its newest message is sent '
            'on with the fields written into it; empty: fields are written into a blank one.'),
    Setting('relay.fields', [], '', 'What stands where: "place in the output = place in the '
            'input", or a number, \'text\' or now; a number and * may stand before a place.'),
    Setting('relay.names', [], '', 'What {0}, {1}, ... stand for in the fields: the feet, say.'),
    Setting('relay.definitions', [], '', 'Messages of packages that are not installed, where '
            'there is no ROS 2: "my_msgs/msg/Stance: std_msgs/Header header; bool left".'),
)
INPUT_TIMEOUT_NS = 500_000_000
_NUMBER = r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?'
_SOURCE = re.compile(rf"(?P<text>'[^']*')|(?P<number>{_NUMBER})|"
                     rf'(?:(?P<scale>{_NUMBER})\s*\*\s*)?(?P<place>[A-Za-z][^\s*]*)')


class ReactionRelay(Component):
    """
    Fills a message of any type from each message of another, field by field.

    Contact flags and forces reach state estimators so that have messages of their own; see
    config/works_with. What is not known is not in the input; then nothing is handed on, and
    ``/diagnostics`` says what is missing.
    """

    default_name = 'reaction_relay'

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, NODE_SETTINGS, self._read)
        self.parameters = self.common.parameters
        self._active = False

    def configure(self) -> None:
        """Read the fields and join the topics."""
        values = self.parameters
        self._assignments = self._read(values)
        if not self._assignments:
            raise ConfigurationError('relay.fields: expected what stands where, such as "left = '
                                     'effort[LF_FOOT/contact]", got nothing; config/works_with '
                                     'has examples')
        for entry in values['relay.definitions']:
            self._define(entry)
        kind, qos = values['relay.output_type'], self.dialect.qos
        self._make = self.dialect.message(kind)
        self._monitor = InputMonitor('input', INPUT_TIMEOUT_NS)
        self._base: Any = None
        self.common.configure(self._judge, self._details)
        endpoints = self.common.endpoints
        self._publisher = endpoints.publisher(kind, values['relay.output'], qos.reliable(100))
        if values['relay.onto']:
            endpoints.subscription(kind, values['relay.onto'], self._keep, qos.best_effort(1))
        endpoints.subscription(values['relay.input_type'], values['relay.input'], self._take,
                               qos.best_effort(100))

    def activate(self) -> None:
        """Start handing on."""
        self._active = True

    def deactivate(self) -> None:
        """Stop handing on."""
        self._active = False

    def cleanup(self) -> None:
        """Leave all topics."""
        self.common.close()

    def _read(self, values: dict[str, Any]) -> list[tuple[FieldPath, Callable[[Any], Any]]]:
        return [self._assignment(text, values['relay.names']) for text in values['relay.fields']]

    def _assignment(self, text: str,
                    names: list[str]) -> tuple[FieldPath, Callable[[Any], Any]]:
        """Return where a value goes, and what takes it from the input."""
        try:
            target, equals, source = text.format(*names).partition('=')
            found = _SOURCE.fullmatch(source.strip())
            if not equals or found is None:
                raise ConfigurationError('expected "place in the output = place in the input"')
            return FieldPath(target.strip()), self._source(found)
        except (IndexError, KeyError, ValueError) as error:
            raise ConfigurationError(f'relay.fields: {text!r}: relay.names has {len(names)} '
                                     f'names: {error!r}') from error
        except (ConfigurationError, MiddlewareError) as error:
            raise ConfigurationError(f'relay.fields: {text!r}: {error}') from error

    def _source(self, found: re.Match[str]) -> Callable[[Any], Any]:
        if found['text'] is not None:
            text = found['text'][1:-1]
            return lambda message: text
        if found['number'] is not None:
            number = float(found['number'])
            return lambda message: number
        if found['place'] == 'now':
            return lambda message: convert.time_message(self.dialect, self.common.now())
        read = FieldPath(found['place']).read
        if found['scale'] is None:
            return read
        scale = float(found['scale'])
        return lambda message: scale * read(message)

    def _define(self, entry: str) -> None:
        name, _, fields = entry.partition(':')
        try:
            self.dialect.message(name.strip())      # what is installed holds
        except MiddlewareError:
            define(name.strip(), fields)

    # ---- work --------------------------------------------------------------------------------

    def _keep(self, message: Any) -> None:
        self._base = message

    def _take(self, message: Any) -> None:
        now = self.common.now()
        self._monitor.saw(now)
        if not self._active or not self._publisher.get_subscription_count():
            return
        output = self._base if self.parameters['relay.onto'] else self._make()
        if output is None:
            self._monitor.refused(now, f'nothing on {self.parameters["relay.onto"]} to write into')
            return
        try:
            for place, source in self._assignments:
                place.write(output, source(message))
            self._publisher.publish(output)
        except (MiddlewareError, TypeError) as error:
            self._monitor.refused(now, str(error))

    def _judge(self, now: int) -> dict[str, tuple[str, str]]:
        return {'input': self._monitor.judge(now)}

    def _details(self, now: int) -> dict[str, dict[str, Any]]:
        return {'input': self._monitor.values(now)}

    def on_fault(self, error: Exception) -> None:
        """Show an unexpected failure of a callback in the diagnostics."""
        self._monitor.fault_of(self.common.now(), error)


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(ReactionRelay, argv)
