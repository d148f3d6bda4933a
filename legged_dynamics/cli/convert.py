# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``convert``: files of motion capture and OpenSim into one another."""
from __future__ import annotations

import argparse

import numpy as np

from legged_dynamics.cli.arguments import make_folder, write_file
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.urdf import urdf_text
from legged_dynamics.people.opensim import read_osim
from legged_dynamics.people.trials.c3d import read_c3d, write_trc
from legged_dynamics.recordings.file_formats import CONVERT, OSIM, format_of, readable


def run(args: argparse.Namespace) -> int:
    """Convert a file."""
    found = format_of(args.file)
    if found is None or CONVERT not in found.uses:
        raise ConfigurationError(f'expected {readable(CONVERT)}, got {args.file}')
    make_folder(args.out)
    return _of_model(args) if found is OSIM else _of_c3d(args)


def _of_model(args: argparse.Namespace) -> int:
    osim = read_osim(args.file)
    model = osim.robot()
    path = write_file(args.out / f'{args.file.stem}.urdf', urdf_text(osim.name, *osim.parts()))
    print(f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints, base '
          f'{model.base_link}')
    for note in osim.notes:
        print(f'- {note}')
    print(f'URDF:   {path}')
    return 0


def _of_c3d(args: argparse.Namespace) -> int:
    from legged_dynamics.people.trials.coordinates import write_storage  # needs rosbags

    sign = -1.0 if args.forward.startswith('-') else 1.0
    forward = sign * np.eye(3)['xyz'.index(args.forward[-1])]
    up = np.eye(3)['xyz'.index(args.up)]
    if abs(forward @ up) > 0.5:
        raise ConfigurationError('--up and --forward: expected different axes, got both '
                                 f'{args.up}')
    # Rows: OpenSim's x forward, y up, z to the right.
    turn = np.array([forward, up, np.cross(forward, up)])
    file, name = read_c3d(args.file), args.file.stem
    markers, count = file.markers, len(file.markers.names)
    if count:
        path = args.out / f'{name}.trc'
        write_trc(path, markers.time, markers.names, markers.position @ turn.T)
        print(f'Markers: {path} ({count}, {len(markers.time)} frames)')
    if file.loads:
        path, names = args.out / f'{name}_forces.mot', ['time']
        columns = [file.loads[0].time[:, None]]
        for k, load in enumerate(file.loads, start=1):
            on = np.abs(load.force @ up)[:, None] > 1e-3
            for part, values in (('force_v', load.force), ('force_p', load.point),
                                 ('torque_', load.moment)):
                names += [f'plate{k}_{part}{axis}' for axis in 'xyz']
                columns.append(np.where(on, values, 0.0) @ turn.T)
        write_storage(path, path.name, names, np.hstack(columns))
        print(f'Forces:  {path} ({len(file.loads)} plates)')
    if not count and not file.loads:
        print('Neither markers nor force plates in it.')
    return 0
