# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The style of all figures. Each is drawn beside what it shows, and this knows of none."""
