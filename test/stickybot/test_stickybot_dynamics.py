# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from climbers import DYNAMICS, proposed, random_climber, recorded
from tolerances import ALGEBRA, GOLDEN

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, ModelError
from legged_dynamics.reproductions.climbing.frozen_allocation import affine_maps
from legged_dynamics.reproductions.climbing.mechanics import balance
from legged_dynamics.stickybot import (
    Body,
    Limb,
    Link,
    RestPosition,
    StickybotModel,
    StickybotState,
    Wall,
    accelerations,
    unloaded_state,
)

VARIANTS = [(1, {}), (2, {'damped': False}), (3, {'detached': (0, 2)}),
            (4, {'links': (1, 1, 1, 1), 'inclination': 2.5}), (5, {'links': (4,)}),
            (6, {'links': (2, 2), 'detached': (0, 1)})]


@pytest.mark.parametrize('case', DYNAMICS, ids=range(len(DYNAMICS)))
def test_recorded_states(case):
    model, state, rest = recorded(case)
    found, expect = accelerations(model, state, rest), case['expect']
    for value, key in ((found.body, 'xddot'), (found.joint, 'qddot'), (found.reaction, 'F_r')):
        expected = np.array(expect[key])
        np.testing.assert_allclose(value, expected, atol=GOLDEN * np.abs(expected).max())
    maps = affine_maps(model, state)
    for key in 'aCSGHT':
        expected = np.array(expect[key])
        np.testing.assert_allclose(getattr(maps, key), expected,
                                   atol=GOLDEN * max(np.abs(expected).max(), 1.0))


class NumericLagrangian:
    """Kinetic and potential energy written down anew, differentiated numerically."""

    def __init__(self, model, rest):
        self.model, self.rest = model, rest

    def places(self, z):
        """Return (mass, inertia, x, y, angle) of all bodies, and each limb's end."""
        model, at = self.model, 3
        bodies = [(model.body.mass, model.body.inertia, z[0], z[1], z[2])]
        ends = []
        for limb in model.limbs:
            x, y, angle = z[at], z[at + 1], 0.0
            for k, link in enumerate(limb.links):
                angle = angle + z[at + 2 + k]
                bodies.append((link.mass, link.inertia, x + link.center * np.cos(angle),
                               y + link.center * np.sin(angle), angle))
                x, y = x + link.length * np.cos(angle), y + link.length * np.sin(angle)
            ends.append((x, y, angle))
            at += 2 + len(limb.links)
        return bodies, ends

    def deflections(self, z):
        """Return each hip's d less r, and each servo's bend."""
        _, ends = self.places(z)
        c, s = np.cos(z[2]), np.sin(z[2])
        hips = [np.array([c * (x - z[0]) + s * (y - z[1]), c * (y - z[1]) - s * (x - z[0]),
                          a - z[2]]) - r for (x, y, a), r in zip(ends, self.rest.hip)]
        bends, at, count = [], 3, 0
        for limb in self.model.limbs:
            for k in range(1, len(limb.links)):
                bends.append(z[at + 2 + k] - self.rest.joint[count])
                count += 1
            at += 2 + len(limb.links)
        return hips, bends

    def servos(self):
        return [link for limb in self.model.limbs for link in limb.links[1:]]

    def mass_matrix(self, z):
        rows, weights = [], []
        for j in range(len(z)):
            step = np.array(z, complex)
            step[j] += 1e-30j
            rows.append(np.array([(b[2], b[3], b[4]) for b in self.places(step)[0]]).imag / 1e-30)
        jacobian = np.array(rows)
        for b in self.places(z)[0]:
            weights.append((b[0], b[0], b[1]))
        return np.einsum('ibk,bk,jbk->ij', jacobian, np.array(weights), jacobian)

    def potential(self, z):
        bodies, (hips, bends) = self.places(z)[0], self.deflections(z)
        g = self.model.wall.in_plane
        return (sum(0.5 * h @ limb.stiffness @ h for h, limb in zip(hips, self.model.limbs))
                + sum(0.5 * link.stiffness * b * b for b, link in zip(bends, self.servos()))
                - sum(b[0] * (b[2] * g[0] + b[3] * g[1]) for b in bodies))

    def damper_force(self, z, v):
        """Return the generalised force of the dampers, and the deflection rates."""
        jacobian = []
        for j in range(len(z)):
            step = np.array(z, complex)
            step[j] += 1e-30j
            hips, bends = self.deflections(step)
            jacobian.append(np.concatenate([*hips, bends]).imag / 1e-30)
        jacobian = np.array(jacobian)
        n = self.model.n_limbs
        rate = v @ jacobian - np.concatenate([self.rest.hip_rate.ravel(), self.rest.joint_rate])
        force = np.concatenate(
            [*(limb.damping @ rate[3 * i:3 * i + 3] for i, limb in enumerate(self.model.limbs)),
             [link.damping * r for link, r in zip(self.servos(), rate[3 * n:])]])
        return -jacobian @ force

    def residual(self, z, v, a):
        """Return M a + Mdot v - dT/dz + dV/dz - damper forces."""
        h, n = 1e-5, len(z)
        by_z = np.array([(self.mass_matrix(z + h * e) - self.mass_matrix(z - h * e)) / (2 * h)
                         for e in np.eye(n)])
        gradient = np.empty(n)
        for j in range(n):
            step = np.array(z, complex)
            step[j] += 1e-30j
            gradient[j] = self.potential(step).imag / 1e-30
        return (self.mass_matrix(z) @ a + np.einsum('kij,k,j->i', by_z, v, v)
                - 0.5 * np.einsum('kij,i,j->k', by_z, v, v) + gradient - self.damper_force(z, v))


@pytest.mark.parametrize('seed, options', VARIANTS, ids=[str(s) for s, _ in VARIANTS])
def test_euler_lagrange(seed, options):
    model, state, rest = random_climber(seed, **options)
    found = accelerations(model, state, rest)
    z, v, attached = state.packed(model)
    a = np.zeros(model.nz)
    a[:3], a[model.joint_columns], a[model.foot_columns] = found.body, found.joint, found.foot
    force = NumericLagrangian(model, rest).residual(z, v, a)
    reaction = np.zeros(model.nz)
    reaction[model.foot_columns] = found.reaction
    # The mass matrix' derivative is a central difference: h^2 of forces of some 10 N.
    np.testing.assert_allclose(force, reaction, atol=1e-8 * max(1.0, np.abs(force).max()))
    assert not found.foot[attached].any()
    assert not found.reaction[~attached].any()


def pinocchio_accelerations(model, state, rest):
    """Solve the constrained dynamics of a PX-PY-RZ tree with pinned feet."""
    twin, origin = pin.Model(), pin.SE3.Identity()
    g = model.wall.in_plane
    twin.gravity.linear = np.array([*g, 0.0])

    def planar(parent):
        for kind in (pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()):
            parent = twin.addJoint(parent, kind, origin, f'joint {twin.njoints}')
        return parent

    def inertia(mass, turning, x):
        return pin.Inertia(mass, np.array([x, 0.0, 0.0]), np.diag([turning, turning, turning]))

    body = planar(0)
    twin.appendBodyToJoint(body, inertia(model.body.mass, model.body.inertia, 0.0), origin)
    feet = []
    for limb in model.limbs:
        # From the hip down: the last link hangs on the hip, x pointing from foot to hip.
        joint = planar(body)
        for link in reversed(limb.links):
            twin.appendBodyToJoint(joint, inertia(link.mass, link.inertia,
                                                  link.center - link.length), origin)
            foot = pin.SE3(np.eye(3), np.array([-link.length, 0.0, 0.0]))
            if link is not limb.links[0]:
                joint = twin.addJoint(joint, pin.JointModelRZ(), foot, f'knee {twin.njoints}')
        feet.append(twin.addFrame(pin.Frame(f'foot {limb.name}', joint, 0, foot,
                                            pin.FrameType.OP_FRAME)))
    data = twin.createData()
    q, v, tau = np.array([*state.pose]), np.array([*state.velocity]), np.zeros(twin.nv)
    c, s = np.cos(q[2]), np.sin(q[2])
    R = np.array([[c, -s], [s, c]])
    count, servo, moves = 0, 0, []
    for i, limb in enumerate(model.limbs):
        n = len(limb.links)
        angles = np.cumsum(state.joint[count:count + n])
        rates = np.cumsum(state.joint_velocity[count:count + n])
        lengths = np.array([link.length for link in limb.links])
        end = state.foot[i] + [(lengths * np.cos(angles)).sum(), (lengths * np.sin(angles)).sum()]
        speed = np.array([-(lengths * rates * np.sin(angles)).sum(),
                          (lengths * rates * np.cos(angles)).sum()])
        d = R.T @ (end - q[:2])
        dd = R.T @ (speed - v[:2]) - v[2] * np.array([-d[1], d[0]])
        place = np.array([*d, angles[-1] - q[2]])
        rate = np.array([*dd, rates[-1] - v[2]])
        at = len(np.concatenate([[0.0] * 3, *moves])) if moves else 3
        tau[at:at + 3] = -(limb.stiffness @ (place - rest.hip[i])
                           + limb.damping @ (rate - rest.hip_rate[i]))
        knees = -state.joint[count + 1:count + n][::-1]
        knee_rates = -state.joint_velocity[count + 1:count + n][::-1]
        for k, link in enumerate(limb.links[1:]):
            bend = state.joint[count + 1 + k] - rest.joint[servo]
            bend_rate = state.joint_velocity[count + 1 + k] - rest.joint_rate[servo]
            tau[at + 3 + (n - 2 - k)] = link.stiffness * bend + link.damping * bend_rate
            servo += 1
        moves += [place, knees]
        q, v = np.concatenate([q, place, knees]), np.concatenate([v, rate, knee_rates])
        count += n
    pin.forwardKinematics(twin, data, q, v, np.zeros(twin.nv))
    pin.computeJointJacobians(twin, data, q)
    pin.updateFramePlacements(twin, data)
    rows, drift = [], []
    for frame in feet:
        rows.append(pin.getFrameJacobian(twin, data, frame, pin.LOCAL_WORLD_ALIGNED)[:2])
        drift.append(pin.getFrameClassicalAcceleration(
            twin, data, frame, pin.LOCAL_WORLD_ALIGNED).linear[:2])
    J, drift = np.vstack(rows), np.concatenate(drift)
    M = pin.crba(twin, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.rnea(twin, data, q, v, np.zeros(twin.nv))
    size = len(J)
    kkt = np.block([[M, J.T], [J, np.zeros((size, size))]])
    solution = np.linalg.solve(kkt, np.concatenate([tau - h, -drift]))
    return solution[:3], -solution[twin.nv:].reshape(-1, 2)


@pytest.mark.parametrize('seed, options', [(11, {}), (12, {'links': (1, 1, 1, 1)}),
                                           (13, {'links': (3, 2), 'damped': False})])
def test_agrees_with_pinocchio(seed, options):
    model, state, rest = random_climber(seed, **options)
    body, reaction = pinocchio_accelerations(model, state, rest)
    found = accelerations(model, state, rest)
    np.testing.assert_allclose(found.body, body, atol=1e-9 * np.abs(body).max())
    np.testing.assert_allclose(found.reaction, reaction, atol=1e-9 * np.abs(reaction).max())


@pytest.mark.parametrize('seed, options', VARIANTS, ids=[str(s) for s, _ in VARIANTS])
def test_balances_hold_for_any_springs_and_dampers(seed, options):
    model, state, rest = random_climber(seed, **options)
    residuals, found = balance(model, state, rest), accelerations(model, state, rest)
    assert np.abs(residuals.force_residual).max() < 1e-11
    assert abs(residuals.moment_residual) < 1e-11
    scale = np.abs(found.actuator_power).sum() + np.abs(found.loss).sum() + 1.0
    assert abs(residuals.power_residual) < 1e-11 * scale


def test_arm_at_the_hip_instead_of_the_limb_end_would_break_the_balance_of_moments():
    # The source's own (17): visible as soon as stiffness is not isotropic.
    model, state, rest = random_climber(7, links=(1, 1, 1, 1))
    found = accelerations(model, state, rest)
    c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
    R = np.array([[c, -s], [s, c]])
    arms = np.array(rest.hip)[:, :2] @ R.T
    f = found.hip_force
    printed = (f[:, 2] + arms[:, 0] * f[:, 1] - arms[:, 1] * f[:, 0]).sum() / model.body.inertia
    assert abs(printed - found.body[2]) > 1.0


@pytest.mark.parametrize('seed, options', VARIANTS, ids=[str(s) for s, _ in VARIANTS])
def test_affine_maps_are_exact(seed, options):
    model, state, _ = random_climber(seed, **options)
    rng, maps = np.random.default_rng(seed), affine_maps(model, state)
    n, inner = model.n_limbs, model.n_inner_joints
    for scale in (0.01, 10.0):
        rest = RestPosition(rng.normal(0, scale, (n, 3)), rng.normal(0, scale, (n, 3)),
                            rng.normal(0, scale, inner), rng.normal(0, scale, inner))
        found = accelerations(model, state, rest)
        for value, expected in ((maps.reaction(rest, model), found.reaction),
                                (maps.acceleration(rest, model), found.body)):
            np.testing.assert_allclose(value, expected,
                                       atol=ALGEBRA * max(1.0, np.abs(expected).max()))


def test_partial_derivatives_by_differences():
    model, state, rest = random_climber(21)
    maps, h = affine_maps(model, state), 1e-3
    base = accelerations(model, state, rest)
    for i in range(model.n_limbs):
        for field, gradient, body in (
                ('hip', maps.C, maps.H), ('hip_rate', maps.S, maps.T)):
            moved = np.array(getattr(rest, field))
            moved[i, 2] += h
            ahead = accelerations(model, state, replace(rest, **{field: moved}))
            slope = (ahead.reaction - base.reaction) / h
            # (48), (50): at a frozen state the other feet feel nothing.
            np.testing.assert_allclose(slope[i], gradient[i, :, 2], atol=1e-8)
            assert np.abs(np.delete(slope, i, axis=0)).max() == 0.0
            # (56), (57)
            np.testing.assert_allclose((ahead.body - base.body) / h, body[i, :, 2], atol=1e-6)


def test_sizes_of_the_partial_derivatives_in_closed_form():
    settings = proposed()
    model = settings.model()
    k, b = settings.values['stickybot.hip_stiffness'][2], model.limbs[0].damping[2, 2]
    maps = affine_maps(model, unloaded_state(model, [0.0, 0.0, 0.3]))
    # (49), (51): 3 k / (2 L) for a uniform rod; (56), (57): only the body's turning.
    for gradients, body, by in ((maps.C, maps.H, k), (maps.S, maps.T, b)):
        np.testing.assert_allclose(np.linalg.norm(gradients[:, :, 2], axis=1), 1.5 * by / 0.1,
                                   rtol=1e-12)
        np.testing.assert_allclose(body[:, :, 2], [[0, 0, -by / model.body.inertia]] * 4,
                                   atol=1e-9)


def test_two_links_that_do_not_bend_are_one_rod():
    rod = proposed().model()
    halves = (Link(0.05, 0.01), Link(0.05, 0.01, stiffness=3.0))
    split = StickybotModel(rod.body, [replace(limb, links=halves, bends=(0.0,))
                                      for limb in rod.limbs])
    hips = rod.rest + np.array([0.001, 0.002, 0.1])
    state, knees = unloaded_state(split), np.arange(1, 8, 2)
    # Which rest angles keep the knees straight: their accelerations are affine in them.
    none = accelerations(split, state, RestPosition(hips, joint=np.zeros(4))).joint[knees]
    ones = accelerations(split, state, RestPosition(hips, joint=np.ones(4))).joint[knees]
    two = accelerations(split, state, RestPosition(hips, joint=none / (none - ones)))
    assert np.abs(two.joint[knees]).max() < 1e-9
    one = accelerations(rod, unloaded_state(rod), RestPosition(hips))
    np.testing.assert_allclose(two.body, one.body, rtol=1e-12)
    np.testing.assert_allclose(two.joint[0::2], one.joint, rtol=1e-9)
    np.testing.assert_allclose(two.reaction, one.reaction, atol=1e-11)


def test_unloaded_state_has_no_spring_force():
    model, _, _ = random_climber(31)
    found = accelerations(model, unloaded_state(model, [0.1, -0.2, 0.4]),
                          RestPosition.nominal(model))
    assert np.abs(found.hip_force).max() < 1e-10


def test_wrong_input_is_told():
    model = proposed().model()
    state, rest = unloaded_state(model), RestPosition.nominal(model)
    with pytest.raises(MeasurementError, match=r'expected joint angles of shape \(4,\), got shape '
                                               r'\(3,\)'):
        accelerations(model, replace(state, joint=np.zeros(3)), rest)
    with pytest.raises(MeasurementError, match='expected finite a body pose'):
        accelerations(model, replace(state, pose=[0.0, np.nan, 0.0]), rest)
    with pytest.raises(MeasurementError, match='expected feet on the wall to rest'):
        accelerations(model, replace(state, foot_velocity=np.ones((4, 2))), rest)
    with pytest.raises(MeasurementError, match='hip rest positions'):
        accelerations(model, state, RestPosition(np.zeros((4, 2))))
    limb = model.limbs[0]
    with pytest.raises(ModelError, match=r'limb .left_fore.: expected a hip stiffness to be '
                                         'symmetric and positive definite'):
        replace(limb, stiffness=[1.0, 0.0, 1.0])
    with pytest.raises(ModelError, match='expected no stiffness or damping in the first link'):
        replace(limb, links=(Link(0.1, 0.02, stiffness=1.0),))
    with pytest.raises(ModelError, match='expected 0 finite rest angles of inner joints'):
        replace(limb, bends=(1.0,))
    with pytest.raises(ModelError, match='expected limbs of different names'):
        StickybotModel(model.body, [limb, limb])
    with pytest.raises(ModelError, match='expected a link length above 0 m, got -1'):
        Link(-1.0, 0.1)
    with pytest.raises(ConfigurationError, match='from 0 .floor. to pi .ceiling.'):
        Wall(4.0)
    with pytest.raises(ModelError, match='expected a body mass above 0 kg'):
        Body(0.0, 1.0)
    with pytest.raises(ModelError, match='at least one link'):
        Limb('none', (), [0, 0], 0.0, [1, 1, 1])


def test_unpacked_state_is_the_packed_one():
    model, state, _ = random_climber(41, detached=(1,))
    again = StickybotState.unpacked(model, *state.packed(model))
    for name in ('pose', 'velocity', 'foot', 'joint', 'joint_velocity', 'foot_velocity',
                 'attached'):
        np.testing.assert_array_equal(getattr(again, name), getattr(state, name))
