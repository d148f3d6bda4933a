# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The planar biped of the sources: its runs, figures and tables."""
