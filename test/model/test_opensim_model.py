# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim models as ours: exact, or as near as is said where one coordinate has many axes."""
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from legged_dynamics.dynamics.kinematics import (
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.exceptions import ModelError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.urdf import urdf_text
from legged_dynamics.people.opensim import read_osim
from legged_dynamics.people.opensim.document import (
    _read_function,
    joint_pose,
    read_document,
    rotations,
)
from legged_dynamics.people.opensim.reader import TO_OURS, nearest_hinge
from legged_dynamics.resources import share_directory

WALKER = share_directory() / 'config' / 'sample' / 'walker.osim'
SPLINE = ('<SimmSpline name="function"><x>-2 -1.2 -0.6 0 0.5</x>'
          '<y>-0.02 -0.004 0.002 0 -0.01</y></SimmSpline>')


def edited(folder, *changes, text=None):
    """Write the sample's model with some of its text changed."""
    text = WALKER.read_text() if text is None else text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / 'model.osim'
    path.write_text(text)
    return path


def poses(path, values):
    """Return R and p of all bodies in OpenSim's ground, straight from the file's transforms."""
    said = read_document(path)
    found = {'ground': (np.eye(3), np.zeros(3))}
    left = list(said.joints)
    while left:
        joint = next(joint for joint in left if joint.parent in found)
        left.remove(joint)
        R, p = joint_pose(joint.axes, {c.name: np.array([values.get(c.name, c.default)])
                                       for c in joint.coordinates} or {'': np.zeros(1)})
        A, B = joint.in_parent, joint.in_child.inverse()
        R0, p0 = found[joint.parent]
        R_in, p_in = A.R @ R[0] @ B.R, A.p + A.R @ (p[0] + R[0] @ B.p)
        found[joint.child] = (R0 @ R_in, p0 + R0 @ p_in)
    return found


def ours(osim, model, values):
    """Return R and p of all bodies in the world, by the model's kinematics."""
    R, p = (part[0] for part in osim.base_pose(
        {name: np.array([values[name]]) for name in osim.root_coordinates}))
    q = np.array([osim.scale.get(name, 1.0) * values.get(name, 0.0)
                  for name in model.joint_names])
    bodies, zero = body_workspace(model), np.zeros(model.nv)
    forward_kinematics(model.tree, q, zero, zero, np.zeros(9), bodies)
    found = {}
    for link in osim.links:
        body, pose = model.frame(link)
        turned = bodies[body, ROTATION:ROTATION + 9].reshape(3, 3)
        at = bodies[body, POSITION:POSITION + 3] + turned @ pose.p
        found[link] = (R @ turned @ pose.R, p + R @ at)
    return found


def furthest(path, values, spans=None, links=None):
    """Return by how much the bodies' origins and attitudes differ at most [m, -]."""
    osim = read_osim(path, spans)
    is_there, wanted = ours(osim, osim.robot(), values), poses(path, values)
    links = links or [name for name in wanted if name in is_there]
    assert links
    return (max(np.linalg.norm(is_there[name][1] - TO_OURS @ wanted[name][1]) for name in links),
            max(np.abs(is_there[name][0] - TO_OURS @ wanted[name][0] @ TO_OURS.T).max()
                for name in links))


def random_values(path, seed=0):
    rng = np.random.default_rng(seed)
    return {found.name: rng.uniform(max(found.lower, -1.0), min(found.upper, 1.0))
            for joint in read_document(path).joints for found in joint.coordinates}


def test_bodies_are_where_opensim_has_them():
    osim = read_osim(WALKER)
    model = osim.robot()
    assert model.total_mass == pytest.approx(70.0) and model.base_link == 'pelvis'
    assert not osim.notes and model.n_joints == 15
    for seed in range(3):
        assert max(furthest(WALKER, random_values(WALKER, seed))) < 1e-12
    # As a URDF it is the same robot.
    again = RobotModel.from_xml(urdf_text(osim.name, *osim.parts()))
    assert again.joint_names == model.joint_names
    np.testing.assert_allclose(again.tree.constants, model.tree.constants, atol=1e-9)


def test_files_of_opensim_3(tmp_path):
    """There joints stand in their child bodies, and frames in the joints."""
    new = ElementTree.fromstring(WALKER.read_text()).find('Model')
    document = ElementTree.Element('OpenSimDocument', Version='30000')
    model = ElementTree.SubElement(document, 'Model', name='old')
    bodies = ElementTree.SubElement(ElementTree.SubElement(model, 'BodySet'), 'objects')
    ElementTree.SubElement(bodies, 'Body', name='ground')
    for body in new.iter('Body'):
        old = ElementTree.SubElement(bodies, 'Body', name=body.get('name'))
        for tag in ('mass', 'mass_center'):
            ElementTree.SubElement(old, tag).text = body.findtext(tag)
        for part, word in zip(('xx', 'yy', 'zz', 'xy', 'xz', 'yz'),
                              body.findtext('inertia').split()):
            ElementTree.SubElement(old, f'inertia_{part}').text = word
        for joint in new.find('JointSet/objects'):
            frames = joint.findall('frames/PhysicalOffsetFrame')
            if frames[1].findtext('socket_parent') != f'/bodyset/{body.get("name")}':
                continue
            moved = ElementTree.SubElement(ElementTree.SubElement(old, 'Joint'), joint.tag,
                                           name=joint.get('name'))
            ElementTree.SubElement(moved, 'parent_body').text = frames[0].findtext(
                'socket_parent').split('/')[-1]
            for tag, frame in (('_in_parent', frames[0]), ('', frames[1])):
                for kind, said in (('location', 'translation'), ('orientation', 'orientation')):
                    ElementTree.SubElement(moved, kind + tag).text = frame.findtext(said)
            objects = ElementTree.SubElement(ElementTree.SubElement(moved, 'CoordinateSet'),
                                             'objects')
            objects.extend(joint.findall('coordinates/Coordinate'))
            for axis in joint.iter('TransformAxis'):
                for function in [child for child in axis if child.get('name') == 'function']:
                    axis.remove(function)
                    ElementTree.SubElement(axis, 'function').append(function)
            if joint.find('SpatialTransform') is not None:
                moved.append(joint.find('SpatialTransform'))
    path = tmp_path / 'old.osim'
    ElementTree.ElementTree(document).write(path)
    one, other = read_osim(path).robot(), read_osim(WALKER).robot()
    assert one.joint_names == other.joint_names
    np.testing.assert_allclose(one.tree.constants, other.tree.constants, atol=1e-12)


def coupled_knee(folder):
    """Return the walker with a knee that shifts and turns as it bends."""
    text = WALKER.read_text()
    start = text.index('name="knee_r"')
    end = text.index('</CustomJoint>', start)
    knee = text[start:end]
    for kind in ('rotation2', 'translation1', 'translation2'):
        knee = re.sub(rf'(name="{kind}">\s*<coordinates)( */>|>\s*</coordinates>)(.*?)<Constant '
                      r'name="function">.*?</Constant>',
                      lambda found: f'{found[1]}>knee_angle_r</coordinates>{found[3]}{SPLINE}',
                      knee, count=1, flags=re.DOTALL)
    assert knee.count('SimmSpline') == 6
    return edited(folder, text=text[:start] + knee + text[end:])


def test_a_coupled_knee_is_the_nearest_hinge_and_says_how_near(tmp_path):
    path = coupled_knee(tmp_path)
    osim = read_osim(path)
    note, = osim.notes
    rms, most, turned = (float(re.search(pattern, note)[1]) for pattern in (
        r'([\d.]+) mm rms', r'([\d.]+) mm at most', r'([\d.]+) deg at most'))
    assert 'knee_angle_r' in note and 'one hinge' in note and 0.1 < rms < most < 20.0
    worst = [furthest(path, {**random_values(path), 'knee_angle_r': angle}, links=['talus_r'])
             for angle in np.linspace(0.0, 2.1, 15)]
    assert 0.3 * most < 1e3 * max(at for at, _ in worst) <= 1.05 * most + 0.05
    assert max(part for _, part in worst) <= np.radians(turned + 0.06)
    # The other leg is as it was; and over a shorter range the hinge is nearer.
    assert max(furthest(path, random_values(path), links=['toes_l'])) < 1e-12
    near = read_osim(path, {'knee_angle_r': (0.1, 0.5)}).notes[0]
    assert float(re.search(r'([\d.]+) mm at most', near)[1]) < 0.5 * most


def test_one_hinge_is_found_exactly():
    rng = np.random.default_rng(3)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    c, e = rng.normal(size=3), rng.normal(size=3)
    E = rotations(np.array([0.0, 0.6, 0.8]), np.array([0.4]))[0]
    q = np.linspace(-0.2, 1.4, 31)
    turned = rotations(n, q)
    found = nearest_hinge(q, turned @ E, c + turned @ e, np.zeros((1, 3)), np.ones(3))
    assert found.scale == pytest.approx(1.0)
    assert found.millimetres[1] < 1e-4 and found.degrees[1] < 1e-4
    np.testing.assert_allclose(found.axis, n, atol=1e-6)


def test_locks_offsets_and_slopes(tmp_path):
    """The right toes are locked; a hip turns back half as far as its coordinate says."""
    text = re.sub(r'(<Coordinate name="mtp_angle_r">\s*<default_value>)0(</default_value>)',
                  r'\g<1>0.3\g<2><locked>true</locked>', WALKER.read_text())
    path = edited(tmp_path, text=text)
    osim = read_osim(path)
    assert 'mtp_angle_r' not in osim.robot().joint_names
    assert 'fixed at their default' in osim.notes[0]
    values = {**random_values(path), 'mtp_angle_r': 0.3}
    assert max(furthest(path, values)) < 1e-12
    # A locked coordinate that moves in the recording does move.
    assert 'mtp_angle_r' in read_osim(path, {'mtp_angle_r': (0.0, 0.4)}).robot().joint_names

    start = text.index('name="hip_r"')
    hip = text[start:].replace(' 1 0</coefficients>', ' -0.5 0.2</coefficients>', 1)
    path = edited(tmp_path, text=text[:start] + hip)
    assert read_osim(path).scale == {'hip_flexion_r': 0.5}
    assert max(furthest(path, values)) < 1e-12


@pytest.mark.parametrize('kind, text, at, value', [
    ('MultiplierFunction', '<function><LinearFunction><coefficients>2 1</coefficients>'
     '</LinearFunction></function><scale>0.5</scale>', 3.0, 3.5),
    ('PolynomialFunction', '<coefficients>1 0 -2</coefficients>', 3.0, 7.0),
    ('SimmSpline', '<x>0 1 2 3 4</x><y>0 1 8 27 64</y>', 1.5, 3.375),
    ('SimmSpline', '<x>0 1 2 3 4</x><y>0 1 8 27 64</y>', 5.0, 112.0),
    ('Constant', '<value>4</value>', 1.0, 4.0)])
def test_functions(kind, text, at, value):
    """A cubic's points give the cubic; beyond its points a spline goes on straight."""
    function = _read_function(ElementTree.fromstring(f'<{kind}>{text}</{kind}>'), 'here')
    assert function.evaluate(np.array([[at]]))[0] == pytest.approx(value)


@pytest.mark.parametrize('old, new, said', [
    ('<Model name', '<Tool name', 'this is not XML'),
    ('PinJoint', 'EllipsoidJoint', 'replace it by one of these'),
    ('/bodyset/talus_r', '/bodyset/heel', "no body 'heel'"),
    ('<mass>7.819</mass>', '<mass>much</mass>', "numbers in <mass>, got 'much'"),
    ('<coefficients> 1 0</coefficients>', '<coefficients />', '2 finite numbers or more'),
    ('<coordinates>hip_adduction_r<', '<coordinates>hip_flexion_r<', 'lock all of these but one'),
    ('name="knee_angle_r_x"', '', '')])
def test_models_that_are_nearly_right(tmp_path, old, new, said):
    if not said:
        path = tmp_path / 'setup.xml'
        path.write_text('<OpenSimDocument Version="40000"><InverseKinematicsTool/>'
                        '</OpenSimDocument>')
        with pytest.raises(ModelError, match='InverseKinematicsTool; setup files'):
            read_osim(path)
        return
    with pytest.raises(ModelError, match=re.escape(said)):
        read_osim(edited(tmp_path, (old, new)))
