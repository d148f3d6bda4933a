# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim's inverse kinematics, on markers that our own kinematics places on the sample's body."""
from xml.etree import ElementTree

import numpy as np
import pytest

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.opensim.reader import TO_OURS
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.c3d import write_trc
from legged_dynamics.people.trials.coordinates import read_coordinates
from legged_dynamics.people.trials.inverse_kinematics import inverse_kinematics
from legged_dynamics.people.trials.subject import GaitOptions
from legged_dynamics.resources import share_directory
from legged_dynamics.spatial.frames import Transform

pytest.importorskip('opensim', reason='OpenSim (extra opensim) is not installed')
SAMPLE = share_directory() / 'config' / 'sample'
# Places of markers on a body, in its axes as OpenSim has them [m].
PLACES = np.array([[0.1, 0.0, 0.05], [-0.05, 0.1, -0.05], [0.0, -0.1, 0.08]])
FRAMES = 25


@pytest.fixture(scope='module')
def marked(tmp_path_factory):
    """The sample's model with three markers a body, and its walk as these markers see it."""
    folder = tmp_path_factory.mktemp('markers')
    result, _ = analyse_gait(SAMPLE / 'walk.mot', GaitOptions(
        urdf=str(SAMPLE / 'walker.osim'), cutoff=None, compare=False))
    document = ElementTree.parse(SAMPLE / 'walker.osim')
    model = document.getroot().find('Model')
    bodies = [body.get('name') for body in model.iter('Body')]
    objects = ElementTree.SubElement(
        ElementTree.SubElement(model, 'MarkerSet', name='markerset'), 'objects')
    frames = {}
    for body in bodies:
        for k, place in enumerate(PLACES):
            marker = ElementTree.SubElement(objects, 'Marker', name=f'{body}_{k}')
            ElementTree.SubElement(marker, 'socket_parent_frame').text = f'/bodyset/{body}'
            ElementTree.SubElement(marker, 'location').text = ' '.join(map(str, place))
            frames[f'{body}_{k}'] = (body, Transform(np.eye(3), TO_OURS @ place))
    document.write(folder / 'marked.osim')
    motion = result.motion
    ours = GaitInverseDynamics.of(result.model.with_frames(frames), (), motion)
    position = ours.link_positions(list(frames)) @ TO_OURS
    write_trc(folder / 'walk.trc', motion.time[:FRAMES], list(frames), position[:FRAMES])
    return folder, result


def test_opensim_finds_the_coordinates_that_placed_the_markers(marked, tmp_path):
    folder, result = marked
    path, notes = inverse_kinematics(folder / 'walk.trc', folder / 'marked.osim', tmp_path)
    found, time, table, _ = read_coordinates(path)
    assert table.in_degrees and len(time) == FRAMES
    joints = result.model.joint_names
    for name in ('hip_flexion_r', 'knee_angle_l', 'ankle_angle_r'):
        np.testing.assert_allclose(np.radians(found[name]),
                                   result.motion.position[:FRAMES, joints.index(name)], atol=2e-3)
    assert 'upright axis of the laboratory is y' in notes[0]
    assert notes[-1].startswith('Markers are 0 mm rms')


def test_markers_of_another_laboratory_are_refused_with_their_names(marked, tmp_path):
    folder, _ = marked
    time = np.arange(5) * 0.01
    write_trc(tmp_path / 'x.trc', time, ['LASI', 'RASI'], np.zeros((5, 2, 3)) + 1.0)
    with pytest.raises(ConfigurationError, match='LASI, RASI'):
        inverse_kinematics(tmp_path / 'x.trc', folder / 'marked.osim', tmp_path)
    (tmp_path / 'bad.trc').write_text('nothing')
    with pytest.raises(MeasurementError, match='not a .trc file'):
        inverse_kinematics(tmp_path / 'bad.trc', folder / 'marked.osim', tmp_path)
