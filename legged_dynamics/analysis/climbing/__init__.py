# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Climbs and sweeps of a climbing robot: what they show, as tables, figures and a film."""
