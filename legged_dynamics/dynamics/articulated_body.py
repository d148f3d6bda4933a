# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""Articulated-body algorithm: the accelerations that joint efforts cause, in O(n).

Source 000, algorithm 1 (Featherstone 2008, table 7.1), with two changes of form and none of
substance.

* Vectors have base axes and each body's own origin. ``X_i`` is then a shift along the arm from
  parent to child, and ``S_i`` a plain axis.
* The velocity-product terms ``c_i`` and gravity are summed outwards first, as the motion the
  bodies would have if no joint and no base accelerated. ``p_i`` is the wrench that *that* motion
  takes, less the external one. What is left to find are accelerations beyond it, and ``c_i``
  appears in neither later pass.

A joint of three degrees of freedom is one joint with a 3x3 ``d_i``, hence ball joints have no
gimbal lock.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.external import body_wrenches
from legged_dynamics.dynamics.kinematics import (FORCE, MOMENT, N_BODY_STATE, POSITION, ROTATION,
                                                 forward_kinematics)
from legged_dynamics.dynamics.motion import BaseMotion, fits
from legged_dynamics.dynamics.newton_euler import add_joint_physics, inertial_wrenches
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import (ARMATURE, COM, INERTIA, JOINT, MASS, PARENT, PRISMATIC,
                                        SPHERICAL, V_START, Tree)
from legged_dynamics.spatial.algebra import (add, add_scaled, cross, dot, load3, load6, load9,
                                             rotate, rotate_back, scale, store3, store9, subtract,
                                             symmetric_times, z_axis)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.symmetric import (about_origin, add6, add9, add_diagonal, add_outer,
                                               add_outer9, general_times_symmetric,
                                               inverse_symmetric, product_with_transpose,
                                               rotate_symmetric, scale6, scale9, store6,
                                               symmetric_part)

# Columns of the (nb, N_ARTICULATED) workspace. The articulated inertia IA_i = [[M, G], [G^T, J]]
# maps linear and angular acceleration to force and moment; BIAS is pA_i, as force and moment;
# d_i^-1 as one number or a symmetric 3x3; u_i as one number or, in base axes, three.
M, G, J = 0, 6, 15
BIAS_FORCE, BIAS_MOMENT = 21, 24
D_INVERSE, U_EFFORT = 27, 33
N_ARTICULATED = 36
