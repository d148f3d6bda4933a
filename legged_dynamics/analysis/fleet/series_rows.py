# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time series of a piece of a recording, as columns of the data set's tables."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.analysis.fleet.schema import WRENCH, XYZ
from legged_dynamics.analysis.fleet.window import Window
from legged_dynamics.analysis.truth import Truth
from legged_dynamics.estimation import Mode


def foot_rows(window: Window, force: np.ndarray, truth: Truth) -> dict[str, Any]:
    """Return the rows of a piece's own samples, a foot after the other within each sample."""
    import pyarrow as pa

    series, own = window.series, slice(window.first, window.last)
    n, feet = window.last - window.first, series.feet

    def flat(values: np.ndarray) -> np.ndarray:
        return values[own].reshape(n * len(feet), *values.shape[2:])

    names = pa.DictionaryArray.from_arrays(np.tile(np.arange(len(feet), dtype=np.int32), n),
                                           list(feet)).cast(pa.string())
    columns = {**_times(window, len(feet)), 'foot': names,
               'contact': flat(series.contact.values),
               'contact_probability': _single(flat(series.probability.values)),
               'observable': flat(series.observable.values)}
    for prefix, values, axes in (('', series.published, WRENCH),
                                 ('raw_', series.raw_wrench.values, WRENCH),
                                 ('world_', force, WRENCH[:3])):
        rows = _single(flat(values))
        columns |= {prefix + axis: rows[:, k] for k, axis in enumerate(axes)}
    true = _single(flat(truth.force))
    unknown = ~np.isfinite(true).all(axis=1)
    columns['true_contact'] = pa.array(flat(truth.contact), mask=unknown)
    columns |= {f'true_{axis}': pa.array(np.ascontiguousarray(true[:, k]), mask=unknown)
                for k, axis in enumerate(WRENCH[:3])}
    return columns


def base_rows(window: Window) -> dict[str, Any]:
    """Return the rows of a piece's own samples."""
    import pyarrow as pa

    series, own = window.series, slice(window.first, window.last)
    modes = [Mode(mode).name.lower() for mode in range(max(Mode) + 1)]
    columns = {**_times(window, 1),
               'mode': pa.DictionaryArray.from_arrays(
                   series.mode.values[own].astype(np.int32), modes).cast(pa.string()),
               'mass_error': _single(series.mass_error.values[own])}
    quaternion = Rotation.from_matrix(series.base_rotation.values[own]).as_quat()
    for prefix, values, axes in (
            ('center_of_pressure', series.center_of_pressure.values[own], XYZ),
            ('residual', series.base_residual.values[own], WRENCH),
            ('orientation', quaternion, (*XYZ, 'w'))):
        rows = _single(values)
        columns |= {f'{prefix}_{axis}': rows[:, k] for k, axis in enumerate(axes)}
    torque = _single(series.external_torque.values[own])
    columns['external_torque'] = pa.ListArray.from_arrays(
        np.arange(0, torque.size + 1, max(torque.shape[1], 1), dtype=np.int32), torque.ravel())
    return columns


def _times(window: Window, repeat: int) -> dict[str, np.ndarray]:
    stamps = window.series.stamp_ns.values[window.first:window.last]
    return {'stamp_ns': np.repeat(stamps, repeat),
            'time': np.repeat((stamps - window.start_ns) * 1e-9, repeat)}


def _single(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float32)
