# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""All estimates as comma-separated values, one row a joint state."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.estimation import Mode
from legged_dynamics.exceptions import BagError

if TYPE_CHECKING:
    import pandas

_COMPONENTS = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')


def write_csv(analysis: Analysis, path: Path) -> None:
    """
    Write all estimates.

    Wrenches are the ground's on the robot, in foot axes about the foot's origin [N, N m]; 'raw'
    is at full bandwidth. True forces, where there are any, are in world axes, as are those with
    'world'.

    Raises
    ------
    BagError
        When the file cannot be written.

    """
    names, columns = _columns(analysis)
    table = np.column_stack(columns).tolist()
    stamps = analysis.series.stamp_ns.values.tolist()
    modes = [Mode(mode).name.lower() for mode in analysis.series.mode.values.tolist()]
    form = '%d,%s,' + ','.join(['%.7g'] * len(names)) + '\n'
    try:
        with path.open('w', encoding='ascii') as file:
            file.write(','.join(['stamp_ns', 'mode', *names]) + '\n')
            file.writelines(form % (stamp, mode, *row)
                            for stamp, mode, row in zip(stamps, modes, table))
    except OSError as error:
        raise BagError(f'cannot write {path}: {error}') from error


def to_pandas(analysis: Analysis) -> pandas.DataFrame:
    """
    Return what `write_csv` writes as a DataFrame over time [s] (extra `tables`).

    Its `attrs` name bag, robot and mass.
    """
    import pandas

    names, columns = _columns(analysis)
    stamps = analysis.series.stamp_ns.values
    modes = [Mode(mode).name.lower() for mode in analysis.series.mode.values.tolist()]
    frame = pandas.DataFrame({'stamp_ns': stamps, 'mode': modes,
                              **dict(zip(names, columns))}).set_index('time')
    frame.attrs = {'bag': str(analysis.bag), 'robot': analysis.robot.name,
                   'mass_kg': analysis.robot.model.total_mass}
    return frame


def _columns(analysis: Analysis) -> tuple[list[str], list[np.ndarray]]:
    series, truth = analysis.series, analysis.truth
    names, columns = ['time'], [series.time]

    def add(prefix: str, values: np.ndarray, suffixes: tuple[str, ...]) -> None:
        names.extend(f'{prefix}_{suffix}' if suffix else prefix for suffix in suffixes)
        columns.extend(values.reshape(len(values), -1).T)

    world = np.einsum('nfij,nfj->nfi', series.foot_to_world, series.published[:, :, :3])
    for i, foot in enumerate(series.feet):
        add(f'{foot}_contact', series.contact.values[:, i].astype(float), ('',))
        add(f'{foot}_contact_probability', series.probability.values[:, i], ('',))
        add(f'{foot}_observable', series.observable.values[:, i].astype(float), ('',))
        add(foot, series.published[:, i], _COMPONENTS)
        add(f'{foot}_raw', series.raw_wrench.values[:, i], _COMPONENTS)
        add(f'{foot}_world', world[:, i], _COMPONENTS[:3])
        if truth.known:
            add(f'{foot}_true_contact', truth.contact[:, i].astype(float), ('',))
            add(f'{foot}_true', truth.force[:, i], _COMPONENTS[:3])
    add('center_of_pressure_base', series.center_of_pressure.values, ('x', 'y', 'z'))
    add('base_residual', series.base_residual.values, _COMPONENTS)
    add('external_torque', series.external_torque.values, series.joints)
    return names, columns
