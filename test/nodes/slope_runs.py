# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Robots on slopes under the workspace node: feet detected, the normal as the estimator sees it.

``PYTHONPATH=.:test:test/nodes python test/nodes/slope_runs.py [robot ...]``
"""
import sys

import numpy as np
from grounded_loop import GroundedLoop
from grounds import parameters_of

from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode

TILT = np.radians(15.0)


def robot_of(name):
    """Return URDF and parameters of one of ours, or of one in benchmarks/zoo."""
    if name in ('anymal_class', 'solo_class'):
        return parameters_of(name)
    from benchmarks.zoo.robots import robot
    zoo = robot(name)
    return zoo.urdf, zoo.parameters


def main(names):
    print('| robot | sloping | normal missed by [deg] | holding, most off [mm] | moving, most off '
          '[mm], [deg] |\n|---|---|---:|---:|---:|')
    for name in names:
        for title, slope in (('ahead', (0.0, TILT)), ('sideways', (TILT, 0.0))):
            height = -0.05 if name == 'anymal_class' else 0.0
            made = GroundedLoop(WorkspaceControllerNode, *robot_of(name),
                                {'slope': slope, 'height': height})
            made.run(0.6)
            held = made.run(0.8)
            made.go([0.0, 0.0, -0.03])
            moved = made.run(1.2)
            normal = made.node.ground.normal[0]
            off = np.degrees(np.arccos(min(normal @ made.robot.tilt[:, 2], 1.0)))
            turned = np.degrees(np.linalg.norm(moved[:, 3:], axis=1).max())
            print(f'| {name} | {title} | {off:.2f} | '
                  f'{1e3 * np.linalg.norm(held[:, :3], axis=1).max():.1f} | '
                  f'{1e3 * np.linalg.norm(moved[:, :3], axis=1).max():.1f}, {turned:.2f} |',
                  flush=True)


if __name__ == '__main__':
    main(sys.argv[1:] or ['anymal_class', 'go2'])
