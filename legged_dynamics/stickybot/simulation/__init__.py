# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A climb integrated in time, implicitly: hips are stiff, and pads come loose."""
