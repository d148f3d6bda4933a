# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report of a climb, and sweeps over the parameters of a climbing robot."""
