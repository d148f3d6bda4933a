# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""``python -m legged_dynamics``, for where the command itself is not on the path."""
import sys

from legged_dynamics.cli import main

if __name__ == '__main__':
    sys.exit(main())
