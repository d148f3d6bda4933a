# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Numerical methods that everyone else poses problems for, each once.

Dense quadratic programs (an active-set method, in kernels too), second-order cone programs (an
interior-point method), and what they factor with. Nothing here knows of robots.
"""
from legged_dynamics.optimization.quadratic_program import (
    Outcome,
    QuadraticSolution,
    solve_quadratic_program,
)

__all__ = ['Outcome', 'QuadraticSolution', 'solve_quadratic_program']
