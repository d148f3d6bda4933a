# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Show: one robot on a page of a server of this machine."""
from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import viser

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.view.figure import FigureMaker
from legged_dynamics.view.looks import body_looks
from legged_dynamics.view.panel import Panel
from legged_dynamics.view.scene import Scene
from legged_dynamics.view.snapshot import Snapshot


def open_page(host: str, port: int) -> Any:
    """
    Return a viser server.

    Parameters
    ----------
    host : str
        Address that may be asked: 127.0.0.1 for this machine alone.
    port : int
        0: any that is free.

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
    """Stop serving."""
    with contextlib.redirect_stdout(io.StringIO()):     # its farewell
        server.stop()


class Show:
    """
    A robot on a page.

    Parameters
    ----------
    server : viser.ViserServer
    model, config : RobotModel, RobotConfig
    urdf : str
        XML, for the looks.
    title : str
    friction : float
        Coefficient of cones and margins.
    newtons_per_meter : float
        Force drawn as an arrow of one metre [N/m].
    meshes : Path, optional
        Folder with the description's mesh files.

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
        """Show the robot at one instant."""
        figure = self._figure(snapshot)
        self.scene.draw(figure)
        self.panel.draw(figure)


class Pace:
    """
    Says when the next picture is due.

    Parameters
    ----------
    rate : float [Hz]
    clock, sleep : callable
        Of the wall, in seconds.

    """

    def __init__(self, rate: float, clock: Callable[[], float], sleep: Callable[[float], None]):
        self._period, self._clock, self._sleep = 1.0 / rate, clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Sleep until the next picture is due; pictures that are late are left out."""
        self._due = max(self._due + self._period, self._clock())
        self._sleep(max(self._due - self._clock(), 0.0))
