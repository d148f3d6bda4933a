# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many recordings: each in bounded memory, all in one Parquet data set, and a report on them."""
