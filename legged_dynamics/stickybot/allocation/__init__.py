# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Allocation of foot forces: least maximum, largest multiple, certificates of infeasibility."""
