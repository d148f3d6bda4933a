# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot and the forces on its feet in a browser, from the bus or from a bag."""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.view.show import Show, close_page, open_page
    from legged_dynamics.view.sources import Player, RecordedView, read_view

__all__ = ['Show', 'Player', 'RecordedView', 'read_view', 'open_page', 'close_page']
__getattr__, __dir__ = lazy_names(__name__)
