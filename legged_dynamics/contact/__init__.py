# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact inverse dynamics: ground reactions from motion alone."""
from legged_dynamics.contact.inverse_dynamics import (
                                                      ContactInverseDynamics,
                                                      ContactSolution,
                                                      Support,
)

__all__ = ['ContactInverseDynamics', 'ContactSolution', 'Support']
