# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Error bars of each foot's force against the noise of the sensors; writes what_noise_does.png."""
import numpy as np
from matplotlib.figure import Figure

import legged_dynamics as ld

yaml, urdf = ld.robot_files('biped')
config = ld.RobotConfig.from_yaml(yaml)
model = ld.RobotModel.from_urdf(urdf)
solver = ld.ContactInverseDynamics(model, config.feet)
pose, still = config.nominal_in(model), np.zeros(model.nv)
levels, bars = np.geomspace(0.1, 10.0, 15), []
for level in levels:
    noise = ld.MotionNoise(acceleration=level, mass=0.01)
    one_foot = solver.uncertainty(ld.Motion(pose, still, still), noise, in_contact=[1, 0])
    bars.append(np.sqrt(np.diagonal(one_foot.covariance))[:3])
figure = Figure(figsize=(7, 3.2), layout='constrained')
axes = figure.subplots()
for name, values in zip(('fore-aft', 'sideways', 'vertical'), np.transpose(bars)):
    axes.loglog(levels, values, label=name)
axes.set(xlabel='noise of joint accelerations [rad/s²]',
         ylabel='standard deviation of the force [N]', title='standing on one foot')
axes.legend()
figure.savefig('what_noise_does.png')
print(f'what_noise_does.png: vertical force {bars[0][2]:.1f} to {bars[-1][2]:.1f} N')
