# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports: pages, tables and charts of recordings, climbs, crouches and fleets."""
