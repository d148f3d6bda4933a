# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StickyBot climbs with and without reduction of forces; writes climbing_with_less_force.png."""
import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.resources import robot_files
from legged_dynamics.stickybot import StickybotSettings, climb

settings = StickybotSettings.from_yaml(robot_files('stickybot')[0])
figure = Figure(figsize=(8, 3.2), layout='constrained')
axes, peak = figure.subplots(), {}
for reduction in ('off', 'full'):
    chosen = settings.changed({'control.reduction': reduction})
    trace = climb(chosen.model(), chosen.gait(), chosen.control(), chosen.pads(), seconds=2.0,
                  trace=True).trace
    size = np.linalg.norm(trace.reaction, axis=2).max(axis=1)
    peak[reduction] = size[trace.time > 1.0].max()
    axes.plot(trace.time, size, label=f'reduction {reduction}')
axes.set(xlabel='time [s]', ylabel='largest force on a foot [N]',
         title='Force of the wall in its plane, with and without reduction')
axes.legend()
figure.savefig('climbing_with_less_force.png')
print('climbing_with_less_force.png: largest force of the wall on a foot, in its plane:',
      *(f'{name} {value:.2f} N' for name, value in peak.items()))
assert peak['full'] < peak['off']
