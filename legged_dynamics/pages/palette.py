# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Colours of feet and of the truth, the same in charts, figures, pictures and the view."""
from __future__ import annotations

# Of feet, by their order: a palette for all kinds of colour vision (Okabe and Ito 2008).
FOOT_COLORS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#7A5195',
               '#666666')
# The same hues on a dark page.
DARK_FOOT_COLORS = ('#4DB2FF', '#FF8A3D', '#3DD6A8', '#F0A3CC', '#FFC34D', '#8FD3FF', '#B795D0',
                    '#BBBBBB')
# Of the truth: a foot and the next one, such as the two force plates of a walkway.
TRUTH_COLORS = ('#8c8c8c', '#b9b9b9')
DARK_TRUTH_COLORS = ('#9a9a9a', '#6f6f6f')


def foot_color(index: int) -> str:
    """Return a foot's colour as ``#rrggbb``, by its index in the robot's YAML."""
    return FOOT_COLORS[index % len(FOOT_COLORS)]
