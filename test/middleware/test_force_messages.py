# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages of a force map: labelled arrays, and what rviz draws at a foot."""
import numpy as np
from rosbags.typesys import Stores, get_typestore

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import MarkerMaker, force_markers
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT = StandaloneDialect()
STORE = get_typestore(Stores.ROS2_JAZZY)


def test_an_array_says_what_its_entries_are():
    matrix = np.arange(6.0).reshape(2, 3)[:, ::-1]
    made = convert.labelled_array(DIALECT, matrix, (('x', 'y'), ('hip', 'knee', 'ankle')))
    read = STORE.deserialize_cdr(serialize(made), made.ros_type)
    assert [(d.label, d.size, d.stride) for d in read.layout.dim] == [
        ('x y', 2, 6), ('hip knee ankle', 3, 3)]
    first, second = read.layout.dim
    at = [[read.data[read.layout.data_offset + second.stride * i + j] for j in range(second.size)]
          for i in range(first.size)]
    np.testing.assert_array_equal(at, matrix)
    vector = convert.labelled_array(DIALECT, np.ones(2), (('x', 'y'),))
    assert [(d.size, d.stride) for d in vector.layout.dim] == [(2, 2)]


def test_markers_draw_forces_to_scale_from_the_foot():
    place, scale = np.array([0.3, 0.2, -0.5]), 500.0
    corners = np.array([[[0.0, 0, 0], [100, 0, 0], [0, 100, 0]]])
    edges = np.array([[50.0, 0, 100], [0, 50, 100], [-50, 0, 100]])
    markers = force_markers(MarkerMaker(DIALECT, 7, 'base', scale), 2, place, corners, edges,
                            np.array([0.0, 0.0, 250.0]))
    array = DIALECT.message('visualization_msgs/msg/MarkerArray')(markers=markers)
    read = STORE.deserialize_cdr(serialize(array), array.ros_type).markers
    found = {marker.ns: marker for marker in read}
    assert {marker.id for marker in read} == {2}
    assert {marker.header.frame_id for marker in read} == {'base'}

    def points(name):
        return np.array([[p.x, p.y, p.z] for p in found[name].points])
    np.testing.assert_allclose(points('producible'), place + corners[0] / scale)
    np.testing.assert_allclose(points('given'), [place, place + np.array([0, 0, 0.5])])
    cone = points('friction_cone').reshape(3, 3, 3)     # three sides of three corners
    np.testing.assert_allclose(cone[:, 0], np.tile(place, (3, 1)))
    np.testing.assert_allclose(cone[:, 1], place + edges / scale)
    np.testing.assert_allclose(cone[2, 2], place + edges[0] / scale)
    assert found['asked'].action == found['asked'].DELETE
    with_wish = force_markers(MarkerMaker(DIALECT, 7, 'base', 1000.0), 2, place, corners, edges,
                              np.zeros(3), np.array([0.0, 0.0, 100.0]))
    assert with_wish[-1].points[1].z == -0.5 + 0.1
