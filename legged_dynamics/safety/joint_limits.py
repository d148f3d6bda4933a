# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What each joint may do: the URDF's limits and the settings', in one table for the kernels."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_model import RobotModel

# Columns of the table.
EFFORT, SLEW, POWER, VELOCITY, BELIEVED, LOWER, UPPER, MARGIN = range(8)
BRAKE, BRAKE_EFFORT, STIFFNESS, DAMPING, TOLERANCE = range(8, 13)
N_LIMITS = 13
# Without a slew rate of its own, a joint's effort takes this long from zero to its limit [s].
SLEW_TIME = 0.01
WIDEST_MARGIN = 0.1     # rad or m
# A reading may be off by this [rad or m], or this part of the joint's range when that is less.
READING, READING_PART = 0.02, 0.05
# A damped joint must not be turned round within a sample: damping times this time [s] stays below
# half of the joint's own inertia.
SAMPLE = 0.002


def limit_table(model: RobotModel, joints: Sequence[str],
                values: Mapping[str, Any]) -> np.ndarray:
    """
    Return the limits of joints.

    Parameters
    ----------
    model : RobotModel
        With the configured joint physics.
    joints : sequence of str
        In command order.
    values : mapping
        All settings of `legged_dynamics.safety.settings`, checked.

    Returns
    -------
    (nj, 13) array
        At the columns that this module names; effort [N m or N], slew [N m/s], power [W],
        velocity and believed velocity [rad/s or m/s], positions, margin and tolerance
        [rad or m], gains.

    Raises
    ------
    ConfigurationError
        When a joint has no effort limit or a limit of zero in the URDF: guessing one would be
        dangerous, and zero would silently mean a limp joint.
    UnknownNameError
        When a joint is not in the model.

    """
    table = np.zeros((len(joints), N_LIMITS))
    inertia = joint_inertias(model)
    for row, name in zip(table, joints):
        index = model.joint_index(name)
        joint = model.joints[index]
        if not 0.0 < joint.effort < math.inf:
            raise ConfigurationError(
                f'joint {name!r}: expected an effort limit above zero in the URDF '
                f'(<limit effort="..."/>), got {joint.effort:g}; without it no effort is safe')
        effort = values['safety.effort_fraction'] * joint.effort
        velocity = joint.velocity if 0.0 < joint.velocity < math.inf else values['safety.velocity']
        bounded = joint.lower < joint.upper     # zero to zero is what a URDF without limits says
        span = joint.upper - joint.lower if bounded else math.inf
        steady = 0.5 * inertia[index] / SAMPLE
        row[EFFORT] = effort
        row[SLEW] = values['safety.slew_rate'] or joint.effort / SLEW_TIME
        row[POWER] = values['safety.power_fraction'] * joint.effort * velocity
        row[VELOCITY] = velocity
        row[BELIEVED] = values['safety.velocity_margin'] * velocity
        row[LOWER], row[UPPER] = (joint.lower, joint.upper) if bounded else (-math.inf, math.inf)
        row[MARGIN] = min(values['safety.position_margin'] * span, WIDEST_MARGIN)
        row[BRAKE] = (min(values['safety.damping'], steady)
                      if values['safety.output'] == 'damping' else 0.0)
        row[BRAKE_EFFORT] = values['safety.damping_effort'] * effort
        row[STIFFNESS] = values['safety.posture_stiffness'] * effort
        row[DAMPING] = min(values['safety.posture_damping'] * effort, steady)
        row[TOLERANCE] = min(READING, READING_PART * span)
    return table


def joint_inertias(model: RobotModel) -> np.ndarray:
    """
    Return the least inertia that each joint's own effort has to move, (nj,) [kg m^2 or kg].

    That of a robot in the air: the inverse of the diagonal of the inverse mass matrix, the least
    of that at zero and in the middle of all joints' ranges.
    """
    low, high = np.nan_to_num(model.position_limits, posinf=1.0, neginf=-1.0).T
    least = np.full(model.n_joints, np.inf)
    for position in (np.zeros(model.nq), np.resize(0.5 * (low + high), model.nq)):
        inverse = np.linalg.pinv(mass_matrix(model, position))
        with np.errstate(divide='ignore'):
            least = np.minimum(least, 1.0 / np.diag(inverse)[-model.n_joints:])
    return np.where(np.isfinite(least) & (least > 0.0), least, 0.0)
