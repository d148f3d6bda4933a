# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A folder that a report is written into: its page, and each figure as a file of its own too."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from legged_dynamics.analysis.page import Page
from legged_dynamics.analysis.plots.style import png
from legged_dynamics.exceptions import LeggedDynamicsError, OutputError

REPORT = 'report.html'


class ReportFolder:
    """
    A folder with a page and figures; made by `report_folder`.

    Attributes
    ----------
    page : Page
    path : Path
        Of the page's file.

    """

    def __init__(self, folder: Path, page: Page):
        self.page, self.path, self._folder = page, folder / REPORT, folder

    def save(self, name: str, figure: Figure | None) -> bytes | None:
        """Write a figure as name.png; return it, or None where there is none."""
        if figure is None:
            return None
        picture = png(figure)
        (self._folder / f'{name}.png').write_bytes(picture)
        return picture

    def add(self, name: str, figure: Figure | None, caption: str) -> None:
        """Write a figure, if there is one, and put it on the page."""
        picture = self.save(name, figure)
        if picture is not None:
            self.page.figure(picture, caption)

    def close(self, command: str, robot: str = '') -> None:
        """Write the page."""
        self.path.write_text(self.page.html(command, robot), encoding='utf-8')


@contextmanager
def report_folder(folder: Path, page: Page,
                  refusal: type[LeggedDynamicsError] = OutputError) -> Iterator[ReportFolder]:
    """
    Make a folder for a report.

    Parameters
    ----------
    folder : Path
        Made where it is not there.
    page : Page
        What goes into it.
    refusal : type
        Of the error that says that the folder cannot be written.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield ReportFolder(folder, page)
    except OSError as error:
        raise refusal(f'cannot write the report to {folder}: {error}') from error
