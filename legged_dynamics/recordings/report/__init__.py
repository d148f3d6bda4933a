# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report of one bag: forces, their accuracy, and whether they can be trusted."""
