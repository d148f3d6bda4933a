# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings in and out: bags, their topics, and the replay of one through the estimator."""
