# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Draw a robot with feet, IMU and the load of each foot; writes check_a_description.svg."""
from pathlib import Path

import legged_dynamics as ld
from legged_dynamics.pages.robot_picture import robot_picture

yaml, urdf = ld.robot_files('biped')
config = ld.RobotConfig.from_yaml(yaml)
model = config.apply_to(ld.RobotModel.from_urdf(urdf))
picture = robot_picture(model, config, config.nominal_in(model), urdf.read_text())
Path('check_a_description.svg').write_text(picture)
print(f'check_a_description.svg: {model.name}, {model.total_mass:.1f} kg')
