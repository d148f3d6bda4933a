# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A page with one robot: scene, panel, and the server on this machine."""
from __future__ import annotations

import contextlib
import io
import ipaddress
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import trimesh
import viser
import websockets.asyncio.server
from scipy.spatial.transform import Rotation

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.pages.page import foot_color, shown
from legged_dynamics.spatial.rotations import rotation_to_z
from legged_dynamics.view.figure import Figure, FigureMaker, Look, Snapshot, body_looks

# -------------------------------------------------------------------------------------------------
# The scene: a figure drawn by viser in three dimensions, and moved from picture to picture.

FIRM, UNSURE, PUSH, CONE, SLIPPING, POLYGON, PRESSURE = np.array([
    (26, 166, 60), (255, 140, 0), (160, 60, 200), (70, 130, 255), (230, 30, 30), (40, 90, 220),
    (230, 30, 30)], np.uint8)
_CONE_HEIGHT = 0.12         # m
_SHAFT = 0.012
_HEAD = 0.03
_SEEN = 0.25                # opacity of cones and halos
_SIDES = 24


class Scene:
    """
    Nodes of a viser server for one robot.

    `follow`: the ground moves below the robot, which stays in view; `cones`, `halos`: draw
    friction cones, and one standard deviation about arrow tips.
    """

    def __init__(self, server: Any, looks: Sequence[Sequence[Look]], feet: Sequence[str],
                 friction: float = 0.6, newtons_per_meter: float = 500.0):
        self.follow = self.cones = self.halos = True
        self._server, self._scale = server, 1.0 / newtons_per_meter
        scene = server.scene
        scene.configure_environment_map(None)       # it would come from the network
        scene.add_light_ambient('/light', intensity=1.2)
        self._world = scene.add_frame('/world', show_axes=False)
        scene.add_grid('/world/ground', 20.0, 20.0, cell_size=0.25, section_size=1.0,
                       infinite_grid=True, fade_distance=12.0, shadow_opacity=0.2)
        self._bodies = [self._body(f'/world/body_{k}', parts) for k, parts in enumerate(looks)]
        # Forces are drawn in a frame that moves with the robot, so that their nodes stay near
        # where they were made: a browser does not draw nodes that it takes to be out of sight.
        self._here = scene.add_frame('/world/here', show_axes=False)
        self.arrows = [self._arrow(f'/world/here/force_{foot}', FIRM) for foot in feet]
        self._push = self._arrow('/world/here/external_force', PUSH)
        n = max(len(feet), 1)
        self._friction_cones = self._batch('/world/here/friction_cones', _cone(friction), n, CONE)
        self._halos = self._batch('/world/here/deviations', trimesh.creation.icosphere(2), n, FIRM)
        self._polygon = scene.add_line_segments(
            '/world/here/support_polygon', np.zeros((1, 2, 3)), POLYGON, thickness=3.0,
            thickness_units='screen')
        self._pressure = scene.add_icosphere('/world/here/center_of_pressure', 0.02,
                                             color=tuple(PRESSURE.tolist()), visible=False)

    def _body(self, name: str, parts: Sequence[Look]) -> Any:
        scene = self._server.scene
        frame = scene.add_frame(name, show_axes=False)
        for i, (mesh, color) in enumerate(parts):
            scene.add_mesh_simple(f'{name}/look_{i}', mesh.vertices, mesh.faces, color=color,
                                  flat_shading=True)
        return frame

    def _arrow(self, name: str, color: np.ndarray) -> Any:
        return self._server.scene.add_arrows(
            name, np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]]), color, shaft_radius=_SHAFT,
            head_radius=2.0 * _SHAFT, head_length=_HEAD, visible=False)

    def _batch(self, name: str, mesh: trimesh.Trimesh, n: int,
               color: np.ndarray) -> Any:
        return self._server.scene.add_batched_meshes_simple(
            name, mesh.vertices, mesh.faces, np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            np.zeros((n, 3)), batched_scales=np.ones((n, 3)),
            batched_colors=np.tile(color, (n, 1)),
            batched_opacities=np.full(n, _SEEN), lod='off', side='double', cast_shadow=False,
            receive_shadow=False, visible=False)

    def draw(self, figure: Figure) -> None:
        """Show a figure."""
        with self._server.atomic():
            x, y, _ = figure.base
            self._world.position = (-x, -y, 0.0) if self.follow else (0.0, 0.0, 0.0)
            # All at once: a call into scipy costs as much as ten rotations.
            turned = np.roll(Rotation.from_matrix(np.concatenate([
                figure.body_rotations, [rotation_to_z(figure.normal)],
                figure.foot_rotation])).as_quat(), 1, axis=1)
            self._here.position = figure.base
            for body, place, wxyz in zip(self._bodies, figure.body_places, turned):
                body.position, body.wxyz = place, wxyz
            n = len(self._bodies)
            self._draw_forces(figure, turned[n], turned[n + 1:])
            self._draw_support(figure)

    def _draw_forces(self, figure: Figure, upright: np.ndarray, feet: np.ndarray) -> None:
        forces = figure.forces
        shown = np.zeros(len(self.arrows), bool) if forces is None else forces.contact
        places = figure.contact_point - figure.base
        vectors = figure.force * self._scale
        for i, arrow in enumerate(self.arrows):
            arrow.visible = bool(shown[i])
            if shown[i] and forces is not None:
                sure = bool(forces.observable[i])
                arrow.colors = FIRM if sure else UNSURE
                arrow.shaft_radius = _SHAFT if sure else 0.5 * _SHAFT
                arrow.position = places[i]
                arrow.points = np.array([[np.zeros(3), vectors[i]]])
        self._push.visible = figure.push is not None
        if figure.push is not None:
            self._push.points = np.array([[-figure.push * self._scale, np.zeros(3)]])
        self._friction_cones.visible = self.cones and bool(shown.any())
        self._halos.visible = self.halos and bool(shown.any())
        if forces is None or not shown.any():
            return
        hidden = np.where(shown, 1.0, 0.0)[:, None]
        if self.cones:
            cones, n = self._friction_cones, len(shown)
            slips = figure.friction_used >= 1.0
            cones.batched_positions = places
            cones.batched_wxyzs = np.tile(upright, (n, 1))
            cones.batched_scales = hidden * np.full((n, 3), _CONE_HEIGHT)
            cones.batched_colors = np.where(slips[:, None], SLIPPING, CONE)
        if self.halos:
            known = np.nan_to_num(forces.deviation) * self._scale
            known[~forces.observable] = 0.0     # unknown; the arrow's color shows it
            self._halos.batched_positions = places + vectors
            self._halos.batched_wxyzs = feet
            self._halos.batched_scales = hidden * np.maximum(known, 1e-4)

    def _draw_support(self, figure: Figure) -> None:
        corners = figure.polygon - figure.base
        self._polygon.visible = len(corners) > 1
        if len(corners) > 1:
            self._polygon.points = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        known = bool(np.isfinite(figure.center_of_pressure).all())
        self._pressure.visible = known
        if known:
            self._pressure.position = figure.center_of_pressure - figure.base


def _cone(friction: float) -> trimesh.Trimesh:
    """Return a friction cone of height 1, its tip in the origin, opening along z."""
    angle = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    rim = np.column_stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(_SIDES)])
    after = 1 + np.roll(np.arange(_SIDES), -1)
    faces = np.column_stack([np.zeros(_SIDES, int), 1 + np.arange(_SIDES), after])
    return trimesh.Trimesh(np.vstack([np.zeros(3), rim]), faces, process=False)


# -------------------------------------------------------------------------------------------------
# The panel next to the scene: curves, a table of the forces, and switches.


SHOWN = 10.0            # s of curves
_KEPT = 400             # figures in the curves, at most
_EVERY = 6              # figures between changes of the curves while the robot moves


class _Panel:
    """Curves of the last seconds and a table of the present forces."""

    def __init__(self, server: Any, scene: Scene, title: str, feet: Sequence[str],
                 newtons_per_meter: float = 500.0):
        self._server, self._feet, self._drawn = server, tuple(feet), 0
        self._rows: deque[np.ndarray] = deque(maxlen=_KEPT)
        gui = server.gui
        gui.set_panel_label(title)
        gui.configure_theme(show_logo=False, show_share_button=False, control_width='large')
        self.table = gui.add_html('waiting for the robot')
        colors = [foot_color(i) for i in range(len(feet))]
        none = tuple(np.zeros(1) for _ in range(len(feet) + 1))
        self.force = gui.add_uplot(
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

    def draw(self, figure: Figure, time: float, still: bool = False,
             rows: np.ndarray | None = None) -> None:
        """Add a figure; the table is of the scene's instant, curves follow every few."""
        if self._rows and not 0.0 <= time - self._rows[-1][0] < SHOWN:
            self._rows.clear()
        self._rows.append(_curve_row(figure, time))
        with self._server.atomic():
            if still or self._drawn % _EVERY == 0:
                self._draw_curves(np.array(self._rows) if rows is None else rows, time)
            self.table.content = self._said(figure, time)
        self._drawn += 1

    def _draw_curves(self, rows: np.ndarray, time: float) -> None:
        rows = rows[(rows[:, 0] > time - SHOWN) & (rows[:, 0] <= time)].copy()
        rows[:, 0] -= time
        n = len(self._feet)
        if n:
            self.force.data = tuple(rows[:, :n + 1].T.copy())
        self._margin.data = (rows[:, 0].copy(), *rows[:, n + 1:].T.copy())

    def _said(self, figure: Figure, time: float) -> str:
        if figure.forces is None:
            return ('<b>no estimates yet</b><br><small>the ground_reaction_estimator publishes '
                    'them on ~/foot_reactions</small>')
        forces = figure.forces
        lines = ['<div style="margin:0 0.8em;font-size:0.85em"><table style="width:100%">'
                 f'<tr style="text-align:left"><th>{time:.2f} s</th><th>N</th><th>&plusmn;</th>'
                 '<th>friction used</th></tr>']
        for i, foot in enumerate(self._feet):
            values = ('<td colspan="3">in the air</td>' if not forces.contact[i] else
                      f'<td>{np.linalg.norm(figure.force[i]):.0f}</td>'
                      f'<td>{shown(np.linalg.norm(forces.deviation[i]), ".0f")}</td>'
                      f'<td>{_percent(figure.friction_used[i])}</td>'
                      if forces.observable[i] else
                      f'<td>{np.linalg.norm(figure.force[i]):.0f}</td>'
                      '<td colspan="2">not observable</td>')
            lines.append(f'<tr><td>{escape(foot)}</td>{values}</tr>')
        push = 0.0 if figure.push is None else float(np.linalg.norm(figure.push))
        return ''.join([*lines, '</table>inside of support ', shown(figure.support_margin, '.3f'),
                        f' m, effort used {_percent(figure.effort_used)}, external {push:.0f} N',
                        '</div>'])


def _curve_row(figure: Figure, time: float) -> np.ndarray:
    """Return (4 + nf,): time [s], vertical forces [N], friction, effort and support margin [m]."""
    friction = figure.friction_used
    most = np.nan if np.isnan(friction).all() else np.nanmax(friction)
    return np.concatenate([[time], figure.force[:, 2],
                           [most, figure.effort_used, figure.support_margin]])


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
        Port to listen on, up to 65535; 0 for any that is free.

    Returns
    -------
    viser.ViserServer

    Raises
    ------
    ConfigurationError
        When the port is taken, or is none.

    """
    with socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except (OSError, OverflowError) as error:
            raise ConfigurationError(f'--port: {host}:{port} cannot be used '
                                     f'({getattr(error, "strerror", error)}); choose another'
                                     ) from error
        port = tried.getsockname()[1]
    with contextlib.redirect_stdout(io.StringIO()), _own_pages_only():     # its banner
        return _Page(host, port, verbose=False)


class _Page(viser.ViserServer):
    """A server whose clients cannot request a public address."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any client could open the page to the internet."""
        return None


@contextlib.contextmanager
def _own_pages_only() -> Iterator[None]:
    """
    Have a server that starts meanwhile refuse WebSockets that other pages open.

    A browser lets any page open a WebSocket to any address, and says in ``Origin`` which page it
    is. viser takes all, and has no setting for it.
    """
    before = websockets.asyncio.server.serve

    def serve(*args: Any, **options: Any) -> Any:
        answer = options.get('process_request')

        def checked(connection: Any, request: Any) -> Any:
            if not own_page(request.headers.get('Origin'), request.headers.get('Host', '')):
                return connection.respond(403, 'opened by a page of another address\n')
            return None if answer is None else answer(connection, request)
        return before(*args, **{**options, 'process_request': checked})
    websockets.asyncio.server.serve = serve     # type: ignore[assignment, misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = before        # type: ignore[misc]


def own_page(origin: str | None, host: str) -> bool:
    """
    Return whether a request is from a page of this server, or from no page.

    Origin and host must be the same address, an IP or a name of this machine, since the
    owner of any other name can point it here.
    """
    if origin is None:
        return True
    found = urlsplit(origin)
    if found.netloc.lower() != host.lower():
        return False
    try:
        name = found.hostname or ''
        ipaddress.ip_address(name)
    except ValueError:
        machine = socket.gethostname().lower()
        return name in ('localhost', machine, f'{machine}.local')
    return True


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
        self.server, self._begin_ns = server, -1
        self._parts = model, config, friction
        self._figure = FigureMaker(model, config, friction)
        feet = self._figure.feet
        looks = body_looks(self._figure.model, config, urdf, meshes)
        self.scene = Scene(server, looks, feet, friction, newtons_per_meter)
        self.panel = _Panel(server, self.scene, title, feet, newtons_per_meter)
        camera, size = server.initial_camera, self._figure.size
        camera.position = (2.3 * size, -2.6 * size, 1.8 * size)
        camera.look_at = (0.4 * size, 0.0, 0.3 * size)

    def curves(self, snapshots: Sequence[Snapshot], times: Sequence[float]) -> np.ndarray:
        """Return the curves (n, 4 + nf) of a whole recording; ``times`` [s] from its beginning."""
        figure = FigureMaker(*self._parts)      # the scene's own one knows where the robot is
        return np.array([_curve_row(figure(one), time) for one, time in zip(snapshots, times)])

    def draw(self, snapshot: Snapshot, time: float | None = None, still: bool = False,
             rows: np.ndarray | None = None) -> None:
        """
        Show the robot at one instant.

        ``time`` [s]: from the beginning of a recording, or from the first snapshot shown;
        ``still``: no other follows at once; ``rows``: of :meth:`curves`, else what was drawn.
        """
        if time is None:
            if not 0 <= self._begin_ns <= snapshot.stamp_ns:
                self._begin_ns = snapshot.stamp_ns
            time = (snapshot.stamp_ns - self._begin_ns) * 1e-9
        figure = self._figure(snapshot)
        self.scene.draw(figure)
        self.panel.draw(figure, time, still, rows)


class FrameTimer:
    """Waits between pictures, at most ``rate`` [Hz]."""

    def __init__(self, rate: float, clock: Callable[[], float], sleep: Callable[[float], None]):
        self._period, self._clock, self._sleep = 1.0 / rate, clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Sleep until the next picture is due; late pictures are left out."""
        self._due = max(self._due + self._period, self._clock())
        self._sleep(max(self._due - self._clock(), 0.0))
