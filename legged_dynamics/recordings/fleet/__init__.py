# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many bags into one Parquet data set, and the report of it."""
