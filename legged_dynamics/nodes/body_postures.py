# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Standing up, sitting down and letting go on request: a topic, and services where there are."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import RobotConfig
from legged_dynamics.nodes.body_targets import BodyTargets
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.posture import Ease, Phase, Posture

WORDS = ('stand', 'sit', 'damping', 'zero')
SERVICES = {'stand_up': 'stand', 'sit_down': 'sit'}


class BodyPostures:
    """
    Takes ``~/posture``, serves ``~/stand_up`` and ``~/sit_down`` (std_srvs/Trigger), and obeys.

    Parameters
    ----------
    common : RobotComponent
        Of the node.
    targets : BodyTargets
        By which the body is moved.
    why_not : callable
        Returns why no posture can be taken now, or ''.
    holding : callable
        Returns whether the body is held now.
    restart : callable
        Starts the body's state again from where the robot is.

    Attributes
    ----------
    posture : Posture
        Once the robot is known.

    """

    posture: Posture

    def __init__(self, common: RobotComponent, targets: BodyTargets,
                 why_not: Callable[[], str], holding: Callable[[], bool],
                 restart: Callable[[], None]):
        self._targets, self._why_not = targets, why_not
        self._holding, self._restart = holding, restart
        common.endpoints.subscription('std_msgs/msg/String', '~/posture', self._on_posture,
                                      common.dialect.qos.reliable(10))
        for name, word in SERVICES.items():
            common.endpoints.service('std_srvs/srv/Trigger', f'~/{name}',
                                     partial(self._serve, word))

    def build(self, controller: WorkspaceController, config: RobotConfig) -> None:
        """Take a robot."""
        self._controller, self.posture = controller, Posture(controller.model, config)

    def ask(self, word: str) -> tuple[bool, str]:
        """Take a posture by its name; return whether that can be, and what is done or why not."""
        try:
            if word not in WORDS:
                raise ConfigurationError(f'expected a posture among {", ".join(WORDS)}, got '
                                         f'{word!r}')
            if why := self._why_not():
                raise ConfigurationError(why)
            return True, self._begin(word)
        except LeggedDynamicsError as error:
            self._targets.refuse(error)
            return False, str(error)

    def step(self, stamp: int, error: np.ndarray) -> None:
        """Go on to the next phase where it is time, at an error (6,) of the body's pose."""
        posture, targets = self.posture, self._targets
        if not posture.active:
            return
        before = posture.phase
        phase = posture.step(stamp, error, targets.state.rotation, targets.arrived(stamp))
        if phase is not before and phase is Phase.FADE:
            targets.stay(stamp)
        elif phase is not before and phase is Phase.RISE:
            self._rise()

    def shape(self, state: BodyState, effort: np.ndarray, position: np.ndarray,
              velocity: np.ndarray) -> np.ndarray:
        """Return the efforts (nj,) that go out, of joints where and as fast as they are."""
        return self.posture.shape(state.stamp_ns, effort, self._controller.unloaded(), position,
                                  velocity)

    @property
    def mode(self) -> str:
        """What the body does, in a word or two."""
        return self.posture.phase.value if self.posture.active else self._targets.mode

    def _on_posture(self, message: Any) -> None:
        self.ask(message.data)

    def _serve(self, word: str, request: Any, response: Any) -> Any:
        response.success, response.message = self.ask(word)
        return response

    def _begin(self, word: str) -> str:
        posture, targets, stamp = self.posture, self._targets, self._targets.state.stamp_ns
        if word == 'stand':
            posture.standing(targets.state)
            if self._holding() and not posture.loose:
                posture.begin(Phase.RISE, stamp)
                self._rise()
            else:
                self._restart()
                posture.load(stamp)
            return 'standing up'
        if word != 'sit' or posture.loose:
            posture.let_go(stamp, Ease(word))
            targets.stay(stamp)
            return 'letting go'
        if posture.phase is Phase.CROUCH:
            return 'crouches already'
        posture.begin(Phase.SINK, stamp)
        targets.move(posture.below(targets.state), 'sitting down')
        return 'sitting down'

    def _rise(self) -> None:
        self._targets.move(self.posture.standing(self._targets.state), 'standing up', home=True)
