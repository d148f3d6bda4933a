# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Climbing robots for tests: the proposed one, random ones, those of the recorded cases."""
import math

import numpy as np
from robots import golden

from legged_dynamics.stickybot import (
    Body,
    Limb,
    Link,
    RestPosition,
    StickybotModel,
    StickybotSettings,
    StickybotState,
    Wall,
    unloaded_state,
)

DYNAMICS = golden('003_stickybot_dynamics.json')['cases']
ALLOCATION = golden('003_force_allocation.json')['cases']
WEIGHT = 0.37 * 9.81


def proposed(**changes):
    """Return the 370 g robot; keyword a__b stands for the parameter a.b."""
    values = {name.replace('__', '.'): value for name, value in changes.items()}
    return StickybotSettings.from_parameters(values)


def recorded(case):
    """Return model, state and rest positions of a recorded case."""
    limbs = case.get('limbs') or [case['limb']] * len(case['q'])
    model = StickybotModel(
        Body(case['body']['m'], case['body']['I']),
        [Limb(f'limb {i}', (Link(limb['L'], limb['m'], limb['I']),), r[:2], r[2], limb['K'],
              limb['B']) for i, (limb, r) in enumerate(zip(limbs, case['r']))],
        Wall(math.pi / 2, -case['g'][1]))
    state = StickybotState(case['x'], case['xdot'], case['feet'], case['q'], case['qdot'])
    return model, state, RestPosition(case['r'], case['rdot'])


def definite(rng, sizes):
    """Return a random symmetric positive definite matrix of that scale."""
    root = np.sqrt(np.asarray(sizes, float))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return root[:, None] * (turn @ np.diag(rng.uniform(0.5, 1.5, 3)) @ turn.T) * root


def random_climber(seed, links=(1, 2, 3, 1), damped=True, detached=(), inclination=1.2):
    """Return a robot with full hip matrices, a state and rest positions, all random."""
    rng = np.random.default_rng(seed)
    limbs = []
    for i, count in enumerate(links):
        chain = [Link(rng.uniform(0.04, 0.1), rng.uniform(0.01, 0.04), rng.uniform(1e-6, 5e-5),
                      rng.uniform(0.01, 0.04), *((0.0, 0.0) if k == 0 else
                                                 (rng.uniform(1, 5), 0.01 * damped)))
                 for k in range(count)]
        limbs.append(Limb(f'limb {i}', chain, rng.normal(0, 0.05, 2), rng.uniform(-3, 3),
                          definite(rng, (600, 900, 0.6)),
                          definite(rng, (20, 15, 0.05)) * damped,
                          tuple(rng.uniform(-0.5, 0.5, count - 1))))
    model = StickybotModel(Body(0.29, 1e-3, 0.02), limbs, Wall(inclination))
    attached = ~np.isin(np.arange(len(links)), detached)
    rest = RestPosition(model.rest, rng.normal(0, 0.3, (len(links), 3)),
                        model.bends, rng.normal(0, 0.3, model.n_inner_joints))
    calm = unloaded_state(model, rng.normal(0, 0.1, 3), rest)
    state = StickybotState(
        calm.pose + rng.normal(0, 0.003, 3), rng.normal(0, 0.2, 3), calm.foot,
        calm.joint + rng.normal(0, 0.02, model.n_joints), rng.normal(0, 1.0, model.n_joints),
        rng.normal(0, 0.1, (len(links), 2)) * ~attached[:, None], attached)
    return model, state, rest
