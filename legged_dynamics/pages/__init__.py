# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages, tables, charts and pictures, of which every report is made."""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.pages.page import Chart, Table
    from legged_dynamics.pages.robot_picture import FootLoad, force_picture
    from legged_dynamics.pages.section import Report, ReportFigure, ReportSection

__all__ = ['Report', 'ReportSection', 'Table', 'Chart', 'ReportFigure', 'FootLoad',
           'force_picture']
__getattr__, __dir__ = lazy_names(__name__)
