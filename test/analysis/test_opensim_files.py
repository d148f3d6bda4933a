# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables and external loads as OpenSim has them."""
from xml.etree import ElementTree

import numpy as np
import pytest
from test_gait_files import options, write_walk

from legged_dynamics.cli import main
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.c3d import read_trc
from legged_dynamics.people.trials.coordinates import read_storage
from legged_dynamics.people.trials.export import FRAMES, LOADS, LOADS_XML, MOMENTS, write_opensim


def test_external_loads_add_up_in_the_axes_of_opensim(tmp_path):
    """Forces and moments about the ground's origin are those of the feet, y up."""
    path, urdf = write_walk(tmp_path)
    result, _ = analyse_gait(path, options(urdf))
    write_opensim(result, tmp_path)
    table, r = read_storage(tmp_path / LOADS), result.reactions
    column = dict(zip(table.names, table.values.T))
    np.testing.assert_allclose(column['time'], result.motion.time, atol=1e-8)
    loads = {foot: {part: np.stack([column[f'{foot}_{part}{axis}'] for axis in 'xyz'], axis=1)
                    for part in ('force_v', 'force_p', 'torque_')} for foot in r.feet}
    for i, foot in enumerate(r.feet):
        f, p, free = loads[foot].values()
        on = np.isfinite(r.center_of_pressure[:, i]).all(axis=1)
        assert on.sum() > 50 and not f[~on].any()
        # Up is y, and right is z: our left is minus that.
        np.testing.assert_allclose(f[on], r.force[on, i][:, [0, 2, 1]] * [1.0, 1.0, -1.0],
                                   atol=1e-5)
        moment = np.einsum('nij,nj->ni', r.foot_rotation[:, i], r.wrench[:, i, 3:])
        about = moment + np.cross(r.foot_position[:, i], r.force[:, i])
        np.testing.assert_allclose((np.cross(p, f) + free)[on],
                                   about[on][:, [0, 2, 1]] * [1.0, 1.0, -1.0], atol=1e-3)
        # Where it presses there is no tipping moment.
        assert np.abs(free[on][:, [0, 2]]).max() < 1e-3
    markers = read_trc(tmp_path / FRAMES)
    for i, foot in enumerate(r.feet):
        at = markers.position[:, markers.names.index(foot)]
        np.testing.assert_allclose(at @ [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
                                   r.foot_position[:, i], atol=1e-6)
    document = ElementTree.parse(tmp_path / LOADS_XML).getroot()
    assert document.findtext('.//datafile') == LOADS
    for force in document.iter('ExternalForce'):
        for tag in ('force_identifier', 'point_identifier', 'torque_identifier'):
            assert all(f'{force.findtext(tag)}{axis}' in table.names for axis in 'xyz')


def test_joint_moments_and_the_command(tmp_path):
    path, urdf = write_walk(tmp_path)
    assert main(['inverse-dynamics', str(path), '--urdf', str(urdf), '--feet', 'foot0', 'foot1',
                 '-o', str(tmp_path / 'out'), '--no-report', '--no-bag', '--opensim']) == 0
    table = read_storage(tmp_path / 'out' / MOMENTS)
    assert 'leg0_pitch_moment' in table.names and 'leg0_x_force' in table.names
    assert not table.in_degrees and len(table.values) == 261


def test_files_that_are_nearly_right(tmp_path):
    path = tmp_path / 'ik.mot'
    head = 'Coordinates\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\n\n'
    path.write_text(f'{head}endheader\n\ntime\tknee_angle_r\n 0.0\t 10.0\n 0.01\t 11.0\n')
    table = read_storage(path)
    assert table.in_degrees and table.names == ('time', 'knee_angle_r')
    np.testing.assert_allclose(table.values, [[0.0, 10.0], [0.01, 11.0]])
    for text, said in ((f'{head}time\tx\n0 1\n', 'ends with a line "endheader"'),
                       (f'{head}endheader\ntime\tx\n0\t1\n1\n', 'line 10: expected 2 values'),
                       (f'{head}endheader\nx\ttime\n0\t1\n', "'time' first, got 'x'"),
                       (f'{head}endheader\ntime\tx\n0\tno\n', 'line 9: could not convert'),
                       (f'{head}endheader\ntime\tx\n', 'column names and rows')):
        path.write_text(text)
        with pytest.raises(MeasurementError, match=said):
            read_storage(path)
    with pytest.raises(MeasurementError, match='cannot read'):
        read_storage(tmp_path / 'none.sto')
