# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Maps from joint torques to ground forces, their inverses, and the forces they can produce."""
from legged_dynamics.force_map.affine import ContactForceMap, ForceMap, Redundancy
from legged_dynamics.force_map.constrained import ConstrainedForceMap
from legged_dynamics.force_map.foot_force import FootForce, FootForceMap, Stance, standing_on
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem, GroundForces
from legged_dynamics.force_map.inversion import (
    Reach,
    TorqueProgram,
    TorqueSolution,
    damped_torques,
    stacked_inequalities,
)
from legged_dynamics.force_map.producible import (
    FootReach,
    ForceEllipsoid,
    ForcePolytope,
    foot_reach,
    force_ellipsoid,
    force_polytope,
    leg_columns,
)
from legged_dynamics.optimization.quadratic_program import (
    Outcome,
    QuadraticSolution,
    solve_quadratic_program,
)

__all__ = ['ForceMap', 'FootForceMap', 'FootForce', 'ConstrainedForceMap', 'ContactForceMap',
           'Stance', 'TorqueProgram', 'TorqueSolution', 'damped_torques', 'ForcePolytope',
           'force_polytope', 'ForceEllipsoid', 'force_ellipsoid', 'FootReach', 'foot_reach',
           'Reach', 'FrictionCone', 'GroundForceProblem', 'GroundForces', 'Outcome',
           'QuadraticSolution', 'Redundancy', 'contact_inequalities', 'leg_columns',
           'solve_quadratic_program', 'stacked_inequalities', 'standing_on']
