# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A reader of .trc files, with which tests look at the files that the package writes."""
import numpy as np

from legged_dynamics.trials.c3d import UNITS, Markers


def read_trc(path):
    """Return the markers in a .trc file as `write_trc` writes it."""
    lines = path.read_text(encoding='utf-8').splitlines()
    assert lines[0].startswith('PathFileType')
    header = dict(zip(lines[1].split('\t'), lines[2].split('\t')))
    names = tuple(cell for cell in lines[3].split('\t')[2:] if cell)
    assert int(header['NumMarkers']) == len(names)
    rows = [line.split('\t') for line in lines[6:]]
    assert int(header['NumFrames']) == len(rows)
    values = np.array([[float(cell or 'nan') for cell in row[1:]] for row in rows])
    position = UNITS[header['Units']] * values[:, 1:].reshape(len(rows), len(names), 3)
    return Markers(values[:, 0], names, position)
