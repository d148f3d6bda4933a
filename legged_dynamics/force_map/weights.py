# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What counts how much when feet cannot do everything at once; squares of forces are compared."""

# A newton missing on the whole robot counts as much as a hundred under a foot.
BALANCE_WEIGHT = 1e4
# A newton missing on a foot that was asked counts as much as a hundred on one that was not.
ASKED_WEIGHT = 1e4
