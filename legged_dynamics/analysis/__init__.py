# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bag in, report out: the live estimator over a recording, against the truth if there is one."""
