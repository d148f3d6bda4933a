# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground reactions of a walk from joint angles alone; writes a_person_walks.png."""
from matplotlib.figure import Figure

from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk

result, _ = analyse_gait(*sample_walk())
forces, time = result.reactions, result.motion.time
measured = result.plates.force
figure = Figure(figsize=(8, 3.5), layout='constrained')
axes = figure.subplots()
for i, foot in enumerate(forces.feet):
    axes.plot(time, measured[:, i, 2], color=('0.55', '0.75')[i % 2], linewidth=3)
    axes.plot(time, forces.force[:, i, 2], label=foot)
axes.set(xlabel='time [s]', ylabel='vertical force [N]', title='grey: force plates')
axes.legend()
figure.savefig('a_person_walks.png')
print(f'a_person_walks.png: {result.model.total_mass:.1f} kg, feet {", ".join(forces.feet)}')
