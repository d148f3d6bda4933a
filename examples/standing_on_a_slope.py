# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How four feet share the weight as the ground tilts; writes standing_on_a_slope.png."""
import numpy as np
from matplotlib.figure import Figure

import legged_dynamics as ld

yaml, urdf = ld.robot_files('anymal_class')
config = ld.RobotConfig.from_yaml(yaml)
model = ld.RobotModel.from_urdf(urdf)
solver = ld.ContactInverseDynamics(model, config.feet, friction=ld.FrictionCone(0.6))
pose, still = config.nominal_in(model), np.zeros(model.nv)
angles, loads, feasible = np.radians(np.arange(0.0, 41.0, 2.0)), [], []
for angle in angles:
    up = 9.81 * np.array([np.sin(angle), 0.0, np.cos(angle)])       # nose up, base axes
    found = solver.solve(ld.Motion(pose, still, still, ld.BaseMotion(proper_acceleration=up)))
    loads.append([np.linalg.norm(wrench[:3]) for wrench in found.wrench])
    feasible.append(found.feasible)
    assert found.feasible == (np.tan(angle) <= 0.6) or abs(np.tan(angle) - 0.6) < 0.03
figure = Figure(figsize=(7, 3.5), layout='constrained')
axes = figure.subplots()
for foot, load in zip(config.feet, np.transpose(loads)):
    axes.plot(np.degrees(angles), load, label=foot.link)
axes.axvline(np.degrees(np.arctan(0.6)), color='0.6', linestyle=':', label='friction 0.6 ends')
axes.set(xlabel='slope [deg]', ylabel='force on the foot [N]')
axes.legend()
figure.savefig('standing_on_a_slope.png')
steepest = np.degrees(angles[np.flatnonzero(feasible)[-1]])
print(f'standing_on_a_slope.png: it can stand up to {steepest:.0f} degrees')
