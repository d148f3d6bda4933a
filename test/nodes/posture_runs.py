# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Quadrupeds that stand up and sit down under the workspace node, over and over: what came of it.

``PYTHONPATH=.:test:test/nodes python test/nodes/posture_runs.py [robot ...]`` prints a table;
a robot is one of the package's own, or one of benchmarks/zoo.
"""
import sys

import numpy as np
from grounded_loop import DIALECT, GroundedLoop
from grounds import parameters_of

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode

LONGEST = 12.0      # s
# From the base down to a belly that is added [m]: those of the zoo have no shapes but feet, and
# our own comes down on its knees without.
BELLIES = {'anymal_class': 0.2, 'solo_class': 0.08, 'go2': 0.13, 'hyq': 0.37, 'b1': 0.15}


def robot_of(name):
    """Return URDF and parameters."""
    if name in ('anymal_class', 'solo_class'):
        return parameters_of(name)
    from benchmarks.zoo.robots import robot
    zoo = robot(name)
    return zoo.urdf, zoo.parameters


class Poser:
    """A robot that is told to take postures, from where it is put."""

    def __init__(self, urdf, parameters, ground=None, **settings):
        self.loop = GroundedLoop(WorkspaceControllerNode, urdf, parameters, ground, **settings)
        self.say = self.loop.publisher('std_msgs/msg/String', 'posture')

    def take(self, word, ends):
        """Return seconds, largest effort by limit, and slip of a foot [m] of one posture."""
        loop = self.loop
        loop.slide.way[:], loop.slide.largest, loop.efforts = 0.0, 0.0, []
        self.say.publish(convert.string(DIALECT, word))
        seconds = 0.0
        while seconds < LONGEST:
            loop.run(0.1)
            seconds += 0.1
            if loop.node.mode() in ends:
                break
        assert loop.node.mode() in ends, (word, loop.node.mode(), loop.node.lost,
                                          loop.node.targets.monitor.fault)
        return seconds, loop.largest_effort(), loop.slide.largest

    @property
    def height(self):
        return self.loop.robot.truth().base_position[2]


def cycles(name, count=10):
    """Stand up from the belly and from a crouch, and sit down, over and over; return rows."""
    poser = Poser(*robot_of(name), {'belly': BELLIES.get(name)})
    poser.loop.run(0.5)
    down, rows = 0.35 * poser.height, {title: [] for title in (
        'sits down', 'up from there', 'up from a crouch')}
    for _ in range(count):
        rows['sits down'].append((*poser.take('sit', ('rests', 'crouches')), poser.height))
        mode = poser.loop.node.mode()
        rows['up from there'].append((*poser.take('stand', ('holds',)), poser.height))
        poser.loop.go([0.0, 0.0, -down])
        poser.loop.run(2.5)
        rows['up from a crouch'].append((*poser.take('stand', ('holds',)), poser.height))
    return {title: np.array(found) for title, found in rows.items()}, mode


def main(names):
    print('| robot | posture | times | longest [s] | largest effort, of the limit | most a foot '
          'slips [mm] | to a height of [m] |\n|---|---|---:|---:|---:|---:|---:|')
    for name in names:
        found, mode = cycles(name)
        for title, rows in found.items():
            seconds, effort, slip, height = rows.max(axis=0)
            what = f'{title}, and {mode}' if title == 'sits down' else title
            print(f'| {name} | {what} | {len(rows)} | {seconds:.1f} | {effort:.2f} | '
                  f'{1e3 * slip:.1f} | {rows[-1, 3]:.3f} |', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:] or ['anymal_class', 'go2'])
