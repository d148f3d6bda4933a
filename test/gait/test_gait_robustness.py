# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whole recordings that are not as one wishes: long soles, belts, low steps, landings."""
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from walkers import (
    BACK,
    DT,
    FRONT,
    GRAVITY,
    HEIGHT,
    MASS,
    SIDE,
    body_path,
    smooth,
    standing,
    two_footed_walk,
)

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import FlatFoot
from legged_dynamics.people.gait.double_support import DoubleSupport
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion, detect_stance, soles_of

pytestmark = pytest.mark.slow

WEIGHT = MASS * GRAVITY
INNER = slice(5, -5)
# The walkers' forces meet in their centre of mass, and their feet leave as soon as they move;
# people's toes stay on the ground for longer.
AIM = {'force.pivot_height': 1.0, 'stance.lift_off_speed': 0.3,
       'transfer.step_cutoff': 2.0}
WALK = two_footed_walk()


def solve(walker, feet=None, **more):
    solver = DoubleSupport(walker.model, feet or walker.feet, AIM)
    return solver.solve(walker.motion(), **more)


def load_error(found, walker, where=None):
    """Return the rms error of the vertical force of each foot [% of weight]."""
    error = 100.0 * (found.force - walker.force)[INNER, :, 2] / WEIGHT
    return float(np.sqrt(np.mean(error[where] ** 2 if where is not None else error ** 2)))


@pytest.mark.parametrize('front', [0.10, 0.15, 0.20, 0.25])
def test_no_length_of_the_sole_lifts_the_other_foot(front):
    """The foot rolls over a line 0.13 m in front; a longer rigid sole dips under the floor."""
    feet = tuple(FlatFoot(foot.link, front, BACK, SIDE, -SIDE) for foot in WALK.feet)
    found = solve(WALK, feet)
    together = WALK.contact[INNER].all(axis=1)
    assert (found.contact == WALK.contact)[INNER].mean() > 0.93
    assert load_error(found, WALK, together) < 5.0


def test_a_foot_presses_on_the_floor_and_not_under_it():
    feet = tuple(FlatFoot(foot.link, 0.2, BACK, SIDE, -SIDE) for foot in WALK.feet)
    found = solve(WALK, feet)
    pressed = found.force[..., 2] > 0.05 * WEIGHT
    assert np.abs(found.center_of_pressure[pressed][:, 2]).max() < 0.015


def test_a_foot_rolls_about_the_line_that_rests():
    dynamics = GaitInverseDynamics.of(WALK.model, WALK.feet, WALK.motion())
    moved = soles_of(dynamics, GaitSettings.from_parameters())
    sharp = WALK.contact & (moved.roll_rate > 2.0)
    sharp[1:] &= WALK.contact[:-1]
    sharp[:-1] &= WALK.contact[1:]
    heel = np.abs(moved.roll[sharp] - BACK) < 0.01
    toes = np.abs(moved.roll[sharp] - FRONT) < 0.01
    assert heel.sum() > 10 and toes.sum() > 50 and (heel | toes).mean() > 0.95


@pytest.mark.parametrize('split', [1.0, 0.8])
def test_belts_carry_the_feet_and_change_no_force(split):
    """Each foot's belt runs backward by itself; the forces are those of the walk on the floor."""
    base = WALK.motion()
    belt = np.zeros((len(WALK.time), 2, 3))
    belt[:, 0, 0], belt[:, 1, 0] = -1.3, -1.3 * split
    ride = belt[..., 0] * WALK.time[:, None]
    joints = WALK.position.reshape(len(WALK.time), 2, 4).copy()
    joints[:, :, 0] += ride - ride[:, :1]
    motion = replace(base, position=joints.reshape(len(WALK.time), -1),
                     base_position=base.base_position + np.outer(ride[:, 0], [1.0, 0.0, 0.0]))
    solver = DoubleSupport(WALK.model, WALK.feet, AIM)
    settings = GaitSettings.from_parameters(AIM)
    found, here, still = (
        detect_stance(solver.inverse_dynamics(moving, ground), settings)
        for moving, ground in ((motion, belt), (base, None), (motion, None)))
    assert (found == here).mean() > 0.99
    assert (still != WALK.contact).mean() > 3.0 * (found != WALK.contact).mean()
    if split == 1.0:        # another inertial frame, and nothing else
        np.testing.assert_allclose(solver.solve(motion, ground_velocity=belt).wrench,
                                   solver.solve(base).wrench, atol=1e-6 * WEIGHT)
    with pytest.raises(MeasurementError, match=r'of the ground of shape \(261, 2, 3\), got \(2,'):
        solver.solve(motion, ground_velocity=np.zeros((2, 3)))


def slow_step(lift, seconds=6.0, ahead=0.15):
    """Return two feet of which the second makes a small, low and slow step in the middle."""
    walker = standing(seconds=seconds)
    t = walker.time
    up = lift * np.sin(np.pi * np.clip(t - 2.5, 0.0, 1.0)) ** 2
    contact = np.column_stack([np.ones(len(t), bool), (t < 2.5) | (t > 3.5)])
    joints = walker.position.reshape(len(t), 2, 4).copy()
    share = 0.5 + 0.5 * smooth((t - 1.5) / 0.8) * smooth((4.5 - t) / 0.8)
    feet = walker.pressure.copy()
    feet[:, 1, 0] += ahead * smooth(t - 2.5)
    total = share[:, None] * feet[:, 0] + (1.0 - share)[:, None] * feet[:, 1]
    body = np.column_stack([body_path(total), np.full(len(t), HEIGHT)])
    joints[:, :, :3] += (walker.base - body)[:, None]
    joints[:, 1, 2] += up
    joints[:, 1, 0] += ahead * smooth(t - 2.5)
    force = MASS * GRAVITY * np.column_stack([share, 1.0 - share])[..., None] * np.ones(3)
    return replace(walker, position=joints.reshape(len(t), -1), base=body, contact=contact,
                   force=force)


@pytest.mark.parametrize('lift', [0.045, 0.06, 0.2])
def test_a_low_step_is_a_step(lift):
    """Of a leg of 0.95 m lifted by 4 cm at 0.3 m/s; a robot of two thirds of that lifts 3 cm."""
    walker = slow_step(lift)
    found = solve(walker)
    assert found.contact[:, 0].all()
    wrong = found.contact[:, 1] != walker.contact[:, 1]
    assert (~found.contact[:, 1]).any() and wrong.mean() < 0.09


def landing(share, late=0.0, seconds=1.6):
    """Return a flight that ends at 0.6 s and feet that bear that share of the load from then."""
    walker = standing(seconds=seconds)
    t = walker.time
    n = len(t)
    down = t - 0.6
    # Of the weight: nothing, a peak of three in a tenth of a second, back to one.
    load = np.where(down < 0.0, 0.0, np.where(
        down < 0.15, 3.0 * np.sin(np.pi * np.clip(down, 0.0, 0.15) / 0.15) ** 2
        + smooth(down / 0.15), 1.0))
    velocity = np.concatenate([[0.0], np.cumsum((load - 1.0)[:-1] * GRAVITY * DT)])
    landed = int(np.argmax(down >= 0.0))
    z = np.cumsum(velocity - velocity[-1]) * DT
    z += HEIGHT - z[landed]
    pressure = np.broadcast_to(walker.pressure[:1], walker.pressure.shape)
    s = np.column_stack([np.full(n, share), np.full(n, 1.0 - share)])
    total = np.einsum('nf,nfi->ni', s, pressure)
    # Moments about the body's middle are none, so it is above where the feet press.
    body = np.column_stack([total, z])
    soles = np.column_stack([walker.position.reshape(n, 2, 4)[0, :, :2] + walker.base[0, :2],
                             np.zeros(2)])
    joints = np.zeros((n, 2, 4))
    above = np.maximum(z - HEIGHT, 0.0)[:, None] * (t < 0.6)[:, None]
    joints[..., :3] = soles[None] - body[:, None]
    joints[..., 2] += above + np.where(t < 0.6, 1e-4, 0.0)[:, None]
    joints[:, 1, 2] += np.where(down < late, np.maximum(late - down, 0.0) * 0.5, 0.0) * (late > 0)
    return walker, t, body, joints, load[:, None] * s * WEIGHT


@pytest.mark.parametrize('share', [0.5, 0.4])
def test_a_landing_is_never_worse_than_an_even_split(share):
    """With an impact in the body's motion that the feet do not feel, as soft tissue makes it."""
    rng = np.random.default_rng(3)
    ours, even = [], []
    for _ in range(4):
        walker, t, body, joints, force = landing(share)
        shake = np.exp(-np.maximum(t - 0.6, 0.0) / 0.15) * (t >= 0.6)
        wobble = 0.0005 * np.sin(2.0 * np.pi * 7.0 * t + rng.uniform(0.0, 6.0)) * shake
        moved = body + np.outer(wobble, [0.0, 1.0, 0.0])
        q = joints.copy()
        q[..., :3] += (body - moved)[:, None]
        motion = RecordedMotion.from_poses(
            walker.model, t, moved, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)),
            q.reshape(len(t), -1), cutoff=10.0)
        found = DoubleSupport(walker.model, walker.feet).solve(motion)
        after = slice(int(np.argmax(t >= 0.62)), -10)
        assert found.contact[after].all()
        total = found.force[after, :, 2].sum(axis=1, keepdims=True)
        ours.append(np.mean((found.force[after, :, 2] - force[after]) ** 2))
        even.append(np.mean((0.5 * total - force[after]) ** 2))
    assert np.sqrt(np.mean(ours)) < 1.02 * np.sqrt(np.mean(even)) + (0.03 * WEIGHT
                                                                     if share == 0.5 else 0.0)


def test_a_foot_that_landed_does_not_let_go_at_the_impact():
    """It slips and shakes for 40 ms as the heels come down, and still bears its part."""
    walker, t, body, joints, _ = landing(0.5)
    slip = (t > 0.66) & (t < 0.70)
    q = joints.copy()
    q[:, 0, 0] += np.cumsum(np.where(slip, 1.5, 0.0)) * DT
    motion = RecordedMotion.from_poses(
        walker.model, t, body, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)), q.reshape(len(t), -1))
    found = DoubleSupport(walker.model, walker.feet).solve(motion)
    assert found.contact[(t > 0.62) & (t < 1.5)].all()
    assert not found.contact[t < 0.55].any()


def stance(speed, height, load):
    """Return the contacts of a person of 1 m legs whose soles move so fast and are so high."""
    speed, still = np.asarray(speed, float), np.zeros(np.shape(speed))
    person = SimpleNamespace(leg_length=1.0, step=0.01, load=np.asarray(load, float),
                             feet=(SimpleNamespace(edges=(0.2, -0.1, 0.05, -0.05)),) * 2)
    return detect_stance(person, GaitSettings.from_parameters(),
                         SoleMotion(speed, still + height, still, still, still))


def test_feet_that_still_move_stand_where_the_body_needs_them():
    """Poses that are low-passed over an impact keep feet moving after they have landed."""
    load = np.repeat([0.0, 1.5], 25)
    speed = np.repeat([[2.5, 2.5], [1.4, 1.5], [0.0, 0.0]], [25, 5, 20], axis=0)
    np.testing.assert_array_equal(stance(speed, 0.0, load), np.repeat([load > 0.0], 2, axis=0).T)
    # A runner pushes off with the slower foot.
    speed = np.repeat([[0.0, 4.0], [1.2, 4.0], [3.0, 4.0]], [20, 5, 25], axis=0)
    load = np.repeat([1.5, 0.0], 25)
    found = stance(speed, [0.0, 0.05], load)
    np.testing.assert_array_equal(found[:, 0], load > 0.0)
    assert not found[:, 1].any()
