# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which forces a standing robot can exert with its feet; writes force_map_of_a_foot.png."""
from pathlib import Path

import numpy as np

import legged_dynamics as ld
from legged_dynamics.force_map.report import draw_force_map, standing_reach
from legged_dynamics.pages.style import png

yaml, urdf = ld.robot_files('solo_class')
config = ld.RobotConfig.from_yaml(yaml)
model = config.apply_to(ld.RobotModel.from_urdf(urdf))
pose, level, friction = config.nominal_in(model), np.eye(3), 0.6
study = standing_reach(model, config.feet, pose, level, friction, False)
Path('force_map_of_a_foot.png').write_bytes(png(draw_force_map(study)))
print('force_map_of_a_foot.png: blue, what the motors can do; green, the friction cone')
