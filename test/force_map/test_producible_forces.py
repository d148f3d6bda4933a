# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Friction cones, and the shapes of the forces that torques can produce."""
import itertools

import numpy as np
import pytest
from chains import ball_leg
from scipy.optimize import linprog

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    FootForceMap,
    ForceMap,
    FrictionCone,
    contact_inequalities,
    force_ellipsoid,
    force_polytope,
)
from legged_dynamics.force_map.producible import polytope_of
from legged_dynamics.model import FlatFoot, PointFoot
from legged_dynamics.spatial.rotations import rotation_from_vector

TILTED = rotation_from_vector(np.array([0.3, -0.2, 0.5]))


def random_map(seed, m=5):
    rng = np.random.default_rng(seed)
    return ForceMap(rng.normal(size=3) * 10.0, rng.normal(size=(3, m)),
                    tuple(str(i) for i in range(m))), rng.uniform(0.5, 5.0, m)


@pytest.mark.parametrize('facets', [4, 5, 16])
def test_the_pyramid_is_inside_the_cone_and_touches_it(facets):
    normal = TILTED[:, 2]
    cone = FrictionCone(0.7, normal, facets, minimum=1.0, maximum=50.0)
    A, b = cone.inequalities()
    rng, inside = np.random.default_rng(0), 0
    for force in rng.normal(size=(2000, 3)) * 20.0:
        if (A @ force >= b).all():
            assert cone.contains(force)
            inside += 1
    assert inside > 20
    for edge in cone.edges():
        force = 10.0 * edge
        assert cone.contains(force) and not cone.contains(-force)
        sideways = force - (normal @ force) * normal
        assert np.linalg.norm(sideways) == pytest.approx(0.7 * normal @ force)
        np.testing.assert_allclose(np.sort(A[:facets] @ force)[:2], 0.0, atol=1e-12)


def test_a_sole_bears_what_its_corners_can_and_nothing_else():
    foot, mu = FlatFoot('foot', 0.15, -0.05, 0.06, -0.04), 0.5
    A, b = contact_inequalities(FrictionCone(mu, TILTED[:, 2]), foot, TILTED)
    generators = []
    for corner, (x, y) in itertools.product(foot.corners - foot.center,
                                            itertools.product((-mu, mu), repeat=2)):
        force = TILTED @ [x, y, 1.0]
        generators.append([*force, *np.cross(TILTED @ corner, force)])
    generators, rng = np.array(generators).T, np.random.default_rng(1)
    for _ in range(100):
        wrench = generators @ rng.exponential(size=16)
        assert (A @ wrench >= b - 1e-12).all()
    agreed = {True: 0, False: 0}
    for _ in range(300):
        spread = np.array([0.4, 0.4, 0.05, 0.05, 0.1, 0.03])
        local = spread * rng.normal(size=6)
        local[2] = 1.0
        wrench = np.concatenate([TILTED @ local[:3], TILTED @ local[3:]])
        inside = bool((A @ wrench >= b - 1e-9).all())
        feasible = linprog(np.zeros(16), A_eq=generators, b_eq=wrench).status == 0
        assert inside == feasible
        agreed[inside] += 1
    assert min(agreed.values()) > 20


def test_the_polytope_is_exactly_what_the_torques_reach():
    for seed in range(4):
        force_map, limits = random_map(seed)
        polytope = force_polytope(force_map, limits)
        assert polytope.dimension == 3
        corners = [force_map.force(np.array(signs) * limits)
                   for signs in itertools.product((-1.0, 1.0), repeat=5)]
        for vertex in polytope.vertices:
            assert np.abs(np.array(corners) - vertex).max(axis=1).min() < 1e-9
        rng = np.random.default_rng(seed)
        for direction in rng.normal(size=(50, 3)):
            support = direction @ force_map.offset + np.abs(direction @ force_map.matrix) @ limits
            assert (polytope.vertices @ direction).max() == pytest.approx(support)
        # Euler's formula: a closed surface.
        edges = {tuple(sorted(edge)) for triangle in polytope.triangles
                 for edge in itertools.combinations(triangle, 2)}
        assert len(polytope.vertices) - len(edges) + len(polytope.triangles) == 2


def test_the_ellipsoid_is_inside_the_polytope_and_reached():
    force_map, limits = random_map(7)
    ellipsoid, polytope = force_ellipsoid(force_map, limits), force_polytope(force_map, limits)
    np.testing.assert_allclose(ellipsoid.center, force_map.offset)
    inverse = np.linalg.pinv(force_map.matrix * limits)
    for force in ellipsoid.surface(9).reshape(-1, 3):
        torque = limits * (inverse @ (force - force_map.offset))
        np.testing.assert_allclose(force_map.force(torque), force, atol=1e-9)
        assert np.linalg.norm(torque / limits) == pytest.approx(1.0)
        for direction in polytope.vertices - force_map.offset:
            assert direction @ force <= (polytope.vertices @ direction).max() + 1e-9


def test_symmetric_poses_give_flat_shapes():
    found = FootForceMap(ball_leg(), 'hip', ['foot']).compute([0, 0, 0, 1.0, 0, 0, 0, 1.0])
    ellipsoid = force_ellipsoid(found.force, np.full(3, 50.0))
    np.testing.assert_allclose(ellipsoid.radii[2], 0.0, atol=1e-10)
    polytope = force_polytope(found.force, np.full(3, 50.0))
    assert polytope.dimension == 2 and len(polytope.vertices) == 4
    np.testing.assert_allclose(polytope.vertices[:, 2], 61.0 * 9.81, atol=1e-9)
    assert len(polytope.triangles) == 2
    one = ForceMap(np.zeros(3), np.array([[1.0], [2.0], [0.0]]), ('a',))
    segment = force_polytope(one, [3.0])
    assert segment.dimension == 1
    np.testing.assert_allclose(np.sort(segment.vertices[:, 0]), [-3.0, 3.0])
    assert force_polytope(ForceMap(np.ones(3), np.zeros((3, 1)), ('a',)), [1.0]).dimension == 0


def test_clipping_by_a_cone_keeps_what_is_in_both():
    force_map, limits = random_map(3)
    A, b = FrictionCone(0.8, maximum=30.0).inequalities()
    polytope = force_polytope(force_map, 5.0 * limits)
    both = polytope.clipped(A, b)
    assert both.dimension == 3
    assert (both.vertices @ A.T >= b - 1e-8).all()
    for direction in np.random.default_rng(0).normal(size=(30, 3)):
        best = linprog(-direction @ force_map.matrix, A_ub=-A @ force_map.matrix,
                       b_ub=A @ force_map.offset - b,
                       bounds=[(-5.0 * limit, 5.0 * limit) for limit in limits])
        assert (both.vertices @ direction).max() == pytest.approx(
            direction @ force_map.offset - best.fun, abs=1e-6)
    flat = polytope_of(np.array([[0, 0, 1.0], [4.0, 0, 1.0], [0, 4.0, 1.0], [-4.0, -4.0, 1.0]]))
    slice_ = flat.clipped(A, b)
    assert slice_.dimension == 2
    assert (np.linalg.norm(slice_.vertices[:, :2], axis=1) <= 0.8 + 1e-9).all()
    gone = flat.clipped(np.array([[0.0, 0.0, -1.0]]), np.array([1.0]))
    assert gone.dimension == -1 and gone.vertices.shape == (0, 3)
    assert gone.clipped(A, b).dimension == -1


def test_what_makes_no_shape_is_refused():
    force_map, limits = random_map(0)
    with pytest.raises(ConfigurationError, match='5 finite torque limits above 0'):
        force_polytope(force_map, np.append(limits[:4], np.inf))
    with pytest.raises(ConfigurationError, match='friction coefficient above 0'):
        FrictionCone(0.0)
    with pytest.raises(ConfigurationError, match='at least 4 facets'):
        FrictionCone(0.5, facets=3)
    with pytest.raises(ConfigurationError, match='unit normal'):
        FrictionCone(0.5, np.array([0.0, 0.0, 2.0]))
    with pytest.raises(ConfigurationError, match='minimum < maximum'):
        FrictionCone(0.5, minimum=5.0, maximum=5.0)
    assert len(contact_inequalities(FrictionCone(0.5), PointFoot('f'), np.eye(3))[1]) == 9
