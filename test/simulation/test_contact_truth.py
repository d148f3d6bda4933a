# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""True contact wrenches of any model: flat soles, walls, either order of the touching shapes."""
from __future__ import annotations

import mujoco
import numpy as np
import pytest

from legged_dynamics.simulation import ContactTruth

# A 2 kg box that leans on the world through one foot; its frame is turned and off the sole.
BOX = """
<mujoco><option gravity="{gravity}" cone="elliptic"/><worldbody>
  {before}
  <body name="foot" pos="0 0 0.0999"><freejoint/>
    <inertial mass="2" pos="0 0 0" diaginertia=".01 .01 .01"/>
    <geom name="sole" type="box" size="0.1 0.1 0.1"/>
    <site name="foot" pos="0.02 -0.01 0.05" euler="30 20 10"/>
  </body>
  <body name="other" pos="3 0 0.0999"><freejoint/>
    <geom name="shank" type="box" size="0.1 0.1 0.1" mass="1"/>
  </body>
  {after}
</worldbody></mujoco>"""
FLOOR = '<geom name="floor" type="plane" size="0 0 1"/>'
WALL = '<body name="wall"><geom name="wall" type="box" size="1 1 1" pos="0 0 -1"/></body>'


def settled(gravity, before='', after=''):
    model = mujoco.MjModel.from_xml_string(BOX.format(
        gravity=' '.join(map(str, gravity)), before=before, after=after))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize('ground', [FLOOR, WALL], ids=['floor', 'wall'])
@pytest.mark.parametrize('place', ['before', 'after'])
def test_wrench_of_a_sole_at_rest_balances_gravity(ground, place):
    gravity = np.array([2.0, -1.0, -9.0])
    model, data = settled(gravity, **{place: ground})
    feet = ContactTruth(model, ['foot']).read(data)
    site, body = data.site('foot'), data.body('foot')
    R_WF = site.xmat.reshape(3, 3)
    force = -2.0 * gravity
    # Neither accelerates nor turns: the force acts as if at the centre of mass.
    moment = np.cross(body.xipos - site.xpos, force)
    np.testing.assert_allclose(R_WF @ feet.wrench[0, :3], force, atol=1e-3)
    np.testing.assert_allclose(R_WF @ feet.wrench[0, 3:], moment, atol=1e-3)
    assert feet.contact.tolist() == [True]
    assert np.cross(feet.point[0] - site.xpos, R_WF @ feet.wrench[0, :3]) == pytest.approx(
        moment, abs=2e-2)


def test_other_bodies_on_the_ground_are_stray():
    model, data = settled([0.0, 0.0, -9.81], before=FLOOR)
    assert ContactTruth(model, ['foot']).read(data).stray == 4


def test_a_foot_in_the_air_has_no_wrench():
    model, data = settled([0.0, 0.0, -9.81], before=FLOOR)
    data.joint(0).qpos[2] += 0.5
    mujoco.mj_forward(model, data)
    feet = ContactTruth(model, ['foot']).read(data)
    assert not feet.contact.any()
    assert (feet.wrench == 0.0).all()
    assert np.isnan(feet.point).all()
