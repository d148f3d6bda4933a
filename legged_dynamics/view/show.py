# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A page with one robot: scene, panel, and the server on this machine."""
from __future__ import annotations

import contextlib
import io
import socket
from collections import deque
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import viser

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.view.figure import Figure, FigureMaker
from legged_dynamics.view.looks import body_looks
from legged_dynamics.view.scene import Scene
from legged_dynamics.view.snapshot import Snapshot

# -------------------------------------------------------------------------------------------------
# The panel next to the scene: curves, a table of the forces, and switches.


_COLORS = ('#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#e377c2', '#17becf')
SHOWN = 10.0            # s of curves
_KEPT = 400             # figures in the curves, at most
_EVERY = 6              # figures between changes of curves and table


class Panel:
    """
    Curves of the last seconds and a table of the present forces.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the page.
    scene : Scene
        Scene that the switches act on.
    title : str
        Title of the panel.
    feet : sequence of str
        Links of the feet.
    newtons_per_meter : float [N/m]
        Scale of the arrows, for the legend.

    """

    def __init__(self, server: Any, scene: Scene, title: str, feet: Sequence[str],
                 newtons_per_meter: float = 500.0):
        self._server, self._feet, self._drawn = server, tuple(feet), 0
        self._rows: deque[np.ndarray] = deque(maxlen=_KEPT)
        gui = server.gui
        gui.set_panel_label(title)
        gui.configure_theme(show_logo=False, show_share_button=False, control_width='large')
        self._table = gui.add_html('waiting for the robot')
        colors = [_COLORS[i % len(_COLORS)] for i in range(len(feet))]
        none = tuple(np.zeros(1) for _ in range(len(feet) + 1))
        self._force = gui.add_uplot(
            none, ({'label': 's'}, *({'label': foot, 'stroke': color, 'width': 1.5}
                                     for foot, color in zip(feet, colors))),
            title='vertical force [N]', scales={'x': {'time': False}}, height=190)
        self._margin = gui.add_uplot(
            tuple(np.zeros(1) for _ in range(4)),
            ({'label': 's'}, {'label': 'friction used', 'stroke': '#d62728', 'width': 1.5},
             {'label': 'effort used', 'stroke': '#ff7f0e', 'width': 1.5},
             {'label': 'inside of support [m]', 'stroke': '#1f77b4', 'width': 1.5}),
            title='margins', scales={'x': {'time': False}, 'y': {'range': (0.0, 1.2)}},
            height=190)
        with gui.add_folder('Shown', expand_by_default=False):
            for name, label in (('follow', 'follow the robot'), ('cones', 'friction cones'),
                                ('halos', 'standard deviations')):
                box = gui.add_checkbox(label, True)
                box.on_update(lambda event, name=name: setattr(scene, name, event.target.value))
            gui.add_html(
                f'<small>{newtons_per_meter:g} N are 1 m. Green: force of the ground, with one '
                'standard deviation about its tip. Orange and thin: not observable, a guess. '
                "Violet: a push that is not the feet's. Red: centre of pressure.</small>")

    def forget(self) -> None:
        """Start the curves again."""
        self._rows.clear()

    def draw(self, figure: Figure) -> None:
        """
        Add a figure; curves and table change every few figures.

        Parameters
        ----------
        figure : Figure
            Newest figure.

        """
        time = figure.stamp_ns * 1e-9
        if self._rows and not 0.0 <= time - self._rows[-1][0] < SHOWN:
            self.forget()
        margins = figure.margins
        friction = np.nan if np.isnan(margins.friction).all() else np.nanmax(margins.friction)
        self._rows.append(np.concatenate([
            [time], figure.force[:, 2], [friction, margins.effort, margins.support]]))
        if self._drawn % _EVERY == 0:
            rows = np.array(self._rows)
            rows = rows[rows[:, 0] > time - SHOWN]
            rows[:, 0] -= time
            n = len(self._feet)
            with self._server.atomic():
                if n:
                    self._force.data = tuple(rows[:, :n + 1].T.copy())
                self._margin.data = (rows[:, 0].copy(), *rows[:, n + 1:].T.copy())
                self._table.content = self._said(figure, time)
        self._drawn += 1

    def _said(self, figure: Figure, time: float) -> str:
        if figure.forces is None:
            return ('<b>no estimates yet</b><br><small>the ground_reaction_estimator publishes '
                    'them on ~/reactions</small>')
        forces, margins = figure.forces, figure.margins
        lines = ['<div style="margin:0 0.8em;font-size:0.85em"><table style="width:100%">'
                 f'<tr style="text-align:left"><th>{time:.2f} s</th><th>N</th><th>&plusmn;</th>'
                 '<th>friction used</th></tr>']
        for i, foot in enumerate(self._feet):
            values = ('<td colspan="3">in the air</td>' if not forces.contact[i] else
                      f'<td>{np.linalg.norm(figure.force[i]):.0f}</td>'
                      f'<td>{_number(np.linalg.norm(forces.deviation[i]))}</td>'
                      f'<td>{_percent(margins.friction[i])}</td>'
                      if forces.observable[i] else
                      f'<td>{np.linalg.norm(figure.force[i]):.0f}</td>'
                      '<td colspan="2">not observable</td>')
            lines.append(f'<tr><td>{escape(foot)}</td>{values}</tr>')
        push = 0.0 if figure.push is None else float(np.linalg.norm(figure.push))
        return ''.join([*lines, '</table>', f'inside of support {_number(margins.support, 3)} m, '
                        f'effort used {_percent(margins.effort)}, external {push:.0f} N</div>'])


def _number(value: float, digits: int = 0) -> str:
    return f'{value:.{digits}f}' if np.isfinite(value) else '-'


def _percent(value: float) -> str:
    return f'{100.0 * value:.0f} %' if np.isfinite(value) else '-'


# -------------------------------------------------------------------------------------------------
# The page.


def open_page(host: str, port: int) -> Any:
    """
    Return a viser server.

    Parameters
    ----------
    host : str
        Address to listen on: 127.0.0.1 for this machine alone.
    port : int
        Port to listen on; 0 for any that is free.

    Returns
    -------
    viser.ViserServer

    Raises
    ------
    ConfigurationError
        When the port is taken.

    """
    with socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            raise ConfigurationError(f'--port: {host}:{port} cannot be used '
                                     f'({error.strerror}); choose another') from error
        port = tried.getsockname()[1]
    with contextlib.redirect_stdout(io.StringIO()):     # its banner
        return viser.ViserServer(host, port, verbose=False)


def close_page(server: Any) -> None:
    """
    Stop serving.

    Parameters
    ----------
    server : viser.ViserServer
        Server to stop.

    """
    with contextlib.redirect_stdout(io.StringIO()):     # it prints a message
        server.stop()


class Show:
    """
    A robot on a page.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the page.
    model, config : RobotModel, RobotConfig
        The robot.
    urdf : str
        XML, for the shapes of the bodies.
    title : str
        Title of the panel.
    friction : float
        Coulomb friction coefficient of cones and margins.
    newtons_per_meter : float [N/m]
        Force drawn as an arrow of one metre.
    meshes : Path, optional
        Folder with the description's mesh files.

    Attributes
    ----------
    scene, panel : Scene, Panel
        What is drawn on.

    """

    def __init__(self, server: Any, model: RobotModel, config: RobotConfig, urdf: str,
                 title: str, *, friction: float = 0.6, newtons_per_meter: float = 500.0,
                 meshes: Path | None = None):
        self.server = server
        self._figure = FigureMaker(model, config, friction)
        feet = self._figure.feet
        looks = body_looks(self._figure.model, config, urdf, meshes)
        self.scene = Scene(server, self._figure.model, looks, feet, friction, newtons_per_meter)
        self.panel = Panel(server, self.scene, title, feet, newtons_per_meter)
        camera, size = server.initial_camera, self._figure.size
        camera.position = (2.3 * size, -2.6 * size, 1.8 * size)
        camera.look_at = (0.4 * size, 0.0, 0.3 * size)

    def draw(self, snapshot: Snapshot) -> None:
        """
        Show the robot at one instant.

        Parameters
        ----------
        snapshot : Snapshot
            Newest state and forces.

        """
        figure = self._figure(snapshot)
        self.scene.draw(figure)
        self.panel.draw(figure)


class FrameTimer:
    """
    Waits between pictures.

    Parameters
    ----------
    rate : float [Hz]
        Pictures a second, at most.
    clock, sleep : callable [s]
        Wall time, and a wait by it.

    """

    def __init__(self, rate: float, clock: Callable[[], float], sleep: Callable[[float], None]):
        self._period, self._clock, self._sleep = 1.0 / rate, clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Sleep until the next picture is due; late pictures are left out."""
        self._due = max(self._due + self._period, self._clock())
        self._sleep(max(self._due - self._clock(), 0.0))
