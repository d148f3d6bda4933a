# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which forces explain a motion: one foot, many feet, and how much the motion leaves open."""
import numpy as np

import legged_dynamics as ld
from legged_dynamics.dynamics import frame_poses

yaml, urdf = ld.robot_files('solo_class')
config = ld.RobotConfig.from_yaml(yaml)
model = ld.RobotModel.from_urdf(urdf)
standing = config.nominal_in(model)
still = np.zeros(model.nv)
solver = ld.ContactInverseDynamics(model, config.feet)
links = frame_poses(model, standing)    # wrenches are in the axes of the feet's links
np.set_printoptions(precision=2, suppress=True)
print('Forces of the ground on the robot in axes of the level base: forward, left, up.')


def show(what: str, motion: ld.Motion, **options) -> None:
    """Solve and print."""
    found = solver.solve(motion, **options)
    print(f'{what}: {found.support.value}; rank {found.rank}, {found.nullity} directions open')
    for foot, wrench in zip(config.feet, found.wrench):
        print(f'  {foot.link}: {links[foot.link].R @ wrench[:3]} N')
    if np.abs(found.root_residual).max() > 1e-6:
        print(f'  not explained: {found.root_residual} N, N m')


show('standing on four feet', ld.Motion(standing, still, still))
show('standing on two feet', ld.Motion(standing, still, still), in_contact=[1, 0, 0, 1])
leaping = ld.BaseMotion(proper_acceleration=np.array([0.0, 0.0, 2 * 9.81]))
show('pushing off with 1 g', ld.Motion(standing, still, still, leaping))
falling = ld.BaseMotion(proper_acceleration=np.zeros(3))
show('falling', ld.Motion(standing, still, still, falling), in_contact=[0, 0, 0, 0])

# On ice, with a push to one side: what friction allows, and what it does not.
ice = ld.ContactInverseDynamics(model, config.feet, friction=ld.FrictionCone(0.2))
pushed = ld.BaseMotion(proper_acceleration=np.array([3.0, 0.0, 9.81]))
found = ice.solve(ld.Motion(standing, still, still, pushed))
print(f'pushed on ice: possible {found.feasible}, {found.root_residual[0]:.2f} N short')

# How well are forces known that motion tells? Their sum is; squeeze between the feet is not.
noise = ld.MotionNoise(acceleration=1.0, mass=0.02)
bars = solver.uncertainty(ld.Motion(standing, still, still), noise)
print(f'{bars.unobservable.shape[1]} directions that no motion tells anything about')
