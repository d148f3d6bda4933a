# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
At which force a foot is taken to stand: from the robot, not from a number of newtons.

The error of the stated torque noise, carried to the foot in the standing pose, is how much a foot
in the air may seem to carry for a while; the threshold is twice that. It is bounded by a share of
what a foot carries when all stand, so that a robot of many feet does not lose those that carry
little.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    N_FOOT_STATE,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import (
    POSITION,
    body_workspace,
    forward_kinematics,
    frame_poses,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.noise import nominal_position
from legged_dynamics.estimation.settings import EstimatorSettings
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import FRICTION

# Bounds of the error, as fractions of the weight, and of the threshold, of a foot's even share.
LEAST_NOISE, LARGEST_NOISE = 0.005, 0.02
SHARE = 0.16
# Without torque, of the load that the motion asks for: error and threshold, as fractions of the
# weight, and below what load on all feet nothing stands.
LOAD_NOISE, LOAD_SHARE, LOAD_LEVEL, FLIGHT = 0.03, 0.4, 0.08, 0.1
# Speed of a standing foot, which rolls and whose links bend, and of a swinging one, as multiples
# of sqrt(g l), l the leg length; heights of the two as multiples of l.
SLIP, SWING, CLEARANCE, SWING_CLEARANCE = 0.01, 0.5, 0.015, 0.1


def contact_levels(model: RobotModel, config: RobotConfig,
                   settings: EstimatorSettings) -> np.ndarray:
    """
    Return levels of each foot's normal force, as fractions of the weight.

    Parameters
    ----------
    model : RobotModel
        With the joint physics of the config.
    config : RobotConfig
        Its torque noise, dry friction and standing pose.
    settings : EstimatorSettings
        Stated levels win over those from the robot.

    Returns
    -------
    (nf, 5) array
        Where contact is as likely as not, the error of a foot in the air, and the error that the
        stated noise of the torques makes; the first two once more, where no torque is measured.

    """
    table, weight = feet_table(model, config.feet), model.total_mass * GRAVITY
    nf, nv = len(config.feet), model.nv
    bodies, states = body_workspace(model), np.zeros((nf, N_FOOT_STATE))
    jacobian = np.zeros((table.size, nv))
    up = (0.0, 0.0, 1.0)
    forward_kinematics(model.tree, nominal_position(model, config), np.zeros(nv), np.zeros(nv),
                       np.zeros(9), bodies)
    contact_points(table, bodies, up, states)
    contact_jacobians(model.tree, table, bodies, states, jacobian)
    friction = model.tree.constants[1:, FRICTION]
    stated = config.noise.of_joints('effort', model, config.joints)
    variance = stated ** 2 + friction ** 2 + (1e-9 * weight) ** 2
    levels = np.zeros((nf, 5))
    for i, (start, size) in enumerate(table.index[:, [START, SIZE]]):
        J = jacobian[start:start + size]
        # A leg cannot tell a force along which it is straight: there the upper bound holds.
        information = J / variance @ J.T + np.eye(size) / weight ** 2
        error = np.sqrt(np.linalg.inv(information)[2, 2]) / weight
        noise = settings.contact_force_noise or np.clip(error, LEAST_NOISE, LARGEST_NOISE)
        levels[i, :3] = (settings.contact_force_threshold or min(2.0 * noise, SHARE / nf), noise,
                         error)
        levels[i, 3:] = min(LOAD_LEVEL, LOAD_SHARE / nf), LOAD_NOISE
    return levels


def foot_homes(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """Return where the feet are from the base in the standing pose, (nf, 3) [m]."""
    poses = frame_poses(model, nominal_position(model, config),
                        tuple(foot.link for foot in config.feet))
    return np.array([poses[foot.link].p for foot in config.feet])


def leg_length(model: RobotModel, config: RobotConfig) -> float:
    """Return the longest distance between a foot and its leg's first joint, standing [m]."""
    longest = 0.0
    bodies = body_workspace(model)
    forward_kinematics(model.tree, nominal_position(model, config), np.zeros(model.nv),
                       np.zeros(model.nv), np.zeros(9), bodies)
    for foot, home in zip(config.feet, foot_homes(model, config)):
        chain = model.chain(model.frame(foot.link).body)
        hip = bodies[min(chain), POSITION:POSITION + 3] if len(chain) else np.zeros(3)
        longest = max(longest, float(np.linalg.norm(home - hip)))
    return max(longest, 1e-3)


def motion_levels(model: RobotModel, config: RobotConfig,
                  settings: EstimatorSettings) -> dict[str, float]:
    """
    Return the levels of contact without torque, by their names in the kernel's settings.

    Stated ones win over those from the robot.
    """
    leg = leg_length(model, config)
    pace = float(np.sqrt(GRAVITY * leg))
    # A foot's speed is the sum of what its leg's joints do, each at about a leg's length.
    stated = float(np.max(config.noise.of_joints('velocity', model, config.joints), initial=0.0))
    return {
        'slip_speed': settings.contact_slip_speed or float(np.hypot(SLIP * pace, stated * leg)),
        'swing_speed': settings.contact_swing_speed or SWING * pace,
        'clearance': settings.contact_clearance or CLEARANCE * leg,
        'swing_clearance': settings.contact_swing_clearance or SWING_CLEARANCE * leg,
        'natural_time': float(np.sqrt(leg / GRAVITY)), 'least_height': 0.3 * leg,
        'flight': FLIGHT}
