# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A trajectory of thousands of points over the bus: the processor time it takes of control ticks.

``PYTHONPATH=.:test:test/nodes python test/nodes/trajectory_runs.py [points]``
"""
import gc
import sys
import time

import numpy as np
from grounded_loop import GroundedLoop
from grounds import parameters_of
from test_postures import trajectory

from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode


def timed(owner, name, spent, key):
    """Have a method note how long it takes, by the key of its tick."""
    method = getattr(owner, name)

    def measured(*arguments):
        start = time.thread_time()
        try:
            return method(*arguments)
        finally:
            spent[key()] = spent.get(key(), 0.0) + time.thread_time() - start
    setattr(owner, name, measured)


def main(points=5000):
    made = GroundedLoop(WorkspaceControllerNode, *parameters_of('solo_class'), stance='all')
    made.run(0.5)
    targets, spent = made.node.targets, {}
    for name in ('plan', '_wish'):      # _wish has been handed over by its name already
        timed(targets, name, spent, lambda: made.bus.now_ns)
    publisher = made.publisher('trajectory_msgs/msg/MultiDOFJointTrajectory', 'body_trajectory')
    cdr = serialize(trajectory(made, points, 0.002))
    gc.collect()
    gc.freeze()         # as the runner does
    publisher.publish_raw(cdr)
    ticks = 0
    made.run(0.002)
    while made.node.mode() == 'plans':
        made.run(0.002)
        ticks += 1
    found = 1e3 * np.array(list(spent.values()))
    errors = made.run(0.5)
    print(f'{points} points, {len(cdr)} bytes: {ticks} ticks; beside control {found.mean():.2f} '
          f'ms on average, most {np.sort(found)[-3:].round(2)} ms; off the reference by '
          f'{1e3 * np.abs(errors[:, :3]).max():.1f} mm at most')


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
