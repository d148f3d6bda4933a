# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which forces the feet are to carry: least maximum, largest multiple, and proofs of neither."""
