# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A recording with its forces as a file of rerun (``.rrd``, extra `rerun`).

Entities: ``world/robot/<body>`` with its shapes, ``world/forces``, ``world/support``,
``world/center_of_pressure``, and the vertical force of each foot below ``vertical_force``. The
timeline ``time`` begins with the first estimate. `rerun FILE` shows it.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.exceptions import ConfigurationError, OutputError, reraised
from legged_dynamics.pages.page import foot_color
from legged_dynamics.view.figure import Figure, FigureMaker, body_looks
from legged_dynamics.view.sources import RecordedView


def write_rrd(recorded: RecordedView, path: Path, friction: float = 0.6,
              newtons_per_meter: float = 500.0) -> Path:
    """Write a recording as ``.rrd`` for rerun's viewer; return its path."""
    if path.suffix != '.rrd':
        raise ConfigurationError(f'--rrd: expected a file that ends in .rrd, got {path}')
    try:
        import rerun
    except ModuleNotFoundError as error:
        raise ConfigurationError('--rrd: the Python package rerun-sdk is not installed; '
                                 'pip install ".[rerun]"') from error
    robot = recorded.robot
    make = FigureMaker(robot.model, robot.config, friction)
    stream = rerun.RecordingStream(f'legged_dynamics {robot.name}')
    with reraised(OutputError, f'cannot write {path}'):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b'')       # says now what is wrong with it
        stream.save(str(path))
    stream.log('world', rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    names = [f'world/robot/body_{body}' for body in range(make.model.n_bodies)]
    for name, looks in zip(names, body_looks(make.model, robot.config, robot.urdf)):
        for k, (mesh, color) in enumerate(looks):
            stream.log(f'{name}/shape_{k}', rerun.Mesh3D(
                vertex_positions=mesh.vertices, triangle_indices=mesh.faces,
                albedo_factor=[round(255 * part) for part in color[:3]]), static=True)
    for snapshot, time in zip(recorded.snapshots, recorded.time):
        stream.set_time('time', duration=float(time))
        _log(stream, rerun, make, names, make(snapshot), newtons_per_meter)
    stream.flush()
    return path


def _log(stream: Any, rerun: Any, make: FigureMaker, names: list[str], figure: Figure,
         newtons_per_meter: float) -> None:
    """Log one instant: poses, arrows of feet in contact, support and vertical forces."""
    quaternions = Rotation.from_matrix(figure.body_rotations).as_quat()
    for name, place, quaternion in zip(names, figure.body_places, quaternions):
        stream.log(name, rerun.Transform3D(translation=place,
                                           quaternion=rerun.Quaternion(xyzw=quaternion)))
    contact = np.zeros(len(make.feet), bool) if figure.forces is None else figure.forces.contact
    stream.log('world/forces', rerun.Arrows3D(
        origins=figure.contact_point[contact],
        vectors=figure.force[contact] / newtons_per_meter,
        colors=[[*bytes.fromhex(foot_color(i)[1:])] for i in np.flatnonzero(contact)],
        labels=[f'{make.feet[i]} {np.linalg.norm(figure.force[i]):.0f} N'
                for i in np.flatnonzero(contact)]))
    closed = [np.vstack([figure.polygon, figure.polygon[:1]])] if len(figure.polygon) > 1 else []
    stream.log('world/support', rerun.LineStrips3D(closed))
    known = np.isfinite(figure.center_of_pressure).all()
    stream.log('world/center_of_pressure', rerun.Points3D(
        [figure.center_of_pressure] if known else [], radii=0.02, colors=[230, 30, 30]))
    for i, foot in enumerate(make.feet):
        stream.log(f'vertical_force/{foot}', rerun.Scalars(float(figure.force[i, 2])))
