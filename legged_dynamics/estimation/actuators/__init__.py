# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Actuator parameters learned while the robot moves, without contact, forces or the base's velocity.

With ``r`` the bare inverse dynamics of a joint less its measured torque and ``Phi theta`` what its
actuator adds (friction, damping, load friction, armature, gain, offset, delay), the equations of a
leg give the force of its foot whether it is down or not, ``w = J^-T (r + Phi theta)``. In the
equations of the base, contact then drops out::

    F - sum_i A_i J_i^-T r_i = sum_i A_i J_i^-T Phi_i theta_i + e

with e by errors of the base: a force that stays, mass and first moment of a load. The joints of a
leg that swings, which heights and speeds of the feet alone decide, give ``r + Phi theta = 0``
besides. Both are linear in theta (`parameters`). Means over blocks of some 10 ms are regressed
recursively (`equations`, `regression`): information matrix and right side, residual variances
learned, outliers (impacts, pushes) with less weight. The inverse of a leg's Jacobian is that of
least squares with a broad prior of the force, so that a straight knee, or a leg with fewer joints
than its foot has force coordinates, makes an equation uncertain and not wrong.

What is stated is a `parameters.Prior`; `hypotheses` judge whether data contradict it. `learner`
makes estimates and says how far torques may be off, `findings` what to write into the YAML, and
keeps what was learned from start to start.
"""
from legged_dynamics.estimation.actuators.findings import ActuatorFinding
from legged_dynamics.estimation.actuators.learner import ActuatorLearner

__all__ = ['ActuatorFinding', 'ActuatorLearner']
