# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node workspace_controller: moves the body of a standing robot to where it is wanted."""
from __future__ import annotations

from functools import partial

import numpy as np

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.body.controller import DEFAULTS, SETTINGS, BodyController
from legged_dynamics.ros.nodes.body.output import BodyOutput
from legged_dynamics.ros.nodes.controller_node import settings_of
from legged_dynamics.schema import Setting

# Settings of the published transform.
_TRANSFORM = (
    Setting(
        'publish_tf', False, '',
        'Whether to publish the transform from odom_frame to the base on /tf.'),
)


class WorkspaceControllerNode(BodyController):
    """
    Holds the body at its activation pose; moves it to targets and along trajectories.

    Takes ``~/body_target`` (PoseStamped) and ``~/body_trajectory``
    (MultiDOFJointTrajectory) in ``odom_frame``, on the ground in the middle of the first
    stance. Publishes efforts, foot wrenches, ``~/odom``, ``~/body_reference``, ``~/state``.
    """

    default_name = 'workspace_controller'
    # A robot that walks is not to be dropped by who stops its controller.
    settings = settings_of({**DEFAULTS, 'safety.stop': 'sit'}, SETTINGS, _TRANSFORM)

    def join(self, model: RobotModel, config: RobotConfig) -> None:
        """Open the topics of pose and forces."""
        self._output_of_body = BodyOutput(self.common, [foot.link for foot in config.feet],
                                          model.base_link)

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish state, reference and forces that belong to the command."""
        super().commanded(measurement, effort)
        if self.state is not None and self.command is not None and self.reaction is not None:
            self._output_of_body.publish(self.state, self.command, self.reaction, self.target)


main = partial(run, WorkspaceControllerNode)   # the executable; returns its exit code
