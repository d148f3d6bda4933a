# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances with a name and a reason."""

# s; nothing is judged by it: only what hangs needs so long, however busy the machine is.
PATIENCE = 300.0

# Two ways to write the same sums of some hundred products, relative to the largest of them.
ALGEBRA = 1e-11
# Recorded cases are printed with 16 digits and come from other libraries' arithmetic.
GOLDEN = 1e-9
# A central difference of step h errs by h^2, and rounds at 1e-16 / h; both are 1e-10 at 1e-5.
FINITE_DIFFERENCE = 1e-6
