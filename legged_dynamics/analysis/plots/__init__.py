# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The figures of a report; each module draws one or two, from an Analysis alone."""
