# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``warm``: compiles the kernels of the nodes before their first start."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from legged_dynamics.cli.verbs import COMPILED
from legged_dynamics.node_registry import NODES

# Kernels between reports of a build.
SAID_EVERY = 5
# Sensor samples of the robot that stands still.
SAMPLES = 60
# Time between them [s].
PERIOD = 0.002


def run(args: argparse.Namespace) -> int:
    """Compile the kernels, and print where they are kept."""
    from legged_dynamics.spatial.generic import GENERIC, compile_for_any
    if args.into is not None:
        compile_for_any()
    from legged_dynamics.cli.output import ProgressBar
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.ros import nodes
    from legged_dynamics.spatial import kernel_cache

    unknown = set(args.nodes) - set(COMPILED)
    if unknown:
        raise ConfigurationError(f'expected nodes out of {", ".join(COMPILED)}; got '
                                 f'{", ".join(sorted(unknown))}')
    if kernel_cache.cache_directory() is None:
        print('legged-dynamics warm: nothing can be kept, for no cache folder can be written; '
              'set NUMBA_CACHE_DIR', file=sys.stderr)
        return 1
    names = args.nodes or COMPILED
    # Some more than the nodes use.
    total = kernel_cache.kernel_count(Path(f'{nodes.__path__[0]}/{name}.py') for name in names)
    made = 0
    with ProgressBar('Compiling') as bar:
        def count(name: str) -> None:
            nonlocal made
            made += 1
            part = min(made / total, 0.99)
            bar(part)
            if args.into is not None and made % SAID_EVERY == 0:
                print(f'Compiling kernels: {part:.0%}', file=sys.stderr, flush=True)
        kernel_cache.watchers.append(count)
        try:
            for name in names:
                warm(name)
                kernel_cache.finish_background()
                kernel_cache.mark_warm(name)
        finally:
            kernel_cache.watchers.remove(count)
    if args.into is not None:
        kept = kernel_cache.export(args.into, names)
        print(f'{kept} kernels for {GENERIC} are in {args.into}')
        return 0 if kept else 1
    freed = kernel_cache.prune(args.keep)
    print(f'The kernels are in {kernel_cache.cache_directory()}'
          + (f'; {freed / 1e6:.0f} MB of unused ones deleted' if freed else ''))
    return 0


def warm(name: str) -> None:
    """Run a node of the package in this process on a few samples of a standing robot."""
    import numpy as np

    from legged_dynamics.model import RobotConfig, RobotModel
    from legged_dynamics.resources import robot_files
    from legged_dynamics.ros import conversions as convert
    from legged_dynamics.ros.middleware.loopback import LoopbackBus
    from legged_dynamics.ros.middleware.parameters import StandaloneDialect
    from legged_dynamics.schema import read_parameter_file
    from legged_dynamics.spatial.frames import GRAVITY

    node_class, (yaml, urdf) = NODES[name].component(), robot_files(NODES[name].robot)
    assert urdf is not None
    config, model = RobotConfig.from_yaml(yaml), RobotModel.from_urdf(urdf)
    position, still = config.nominal_in(model), np.zeros(model.n_joints)
    dialect, bus = StandaloneDialect(), LoopbackBus()
    host = bus.host(node_class, parameters={**read_parameter_file(yaml),
                                            'robot_description': str(urdf)})
    robot = bus.create_node('robot')
    joints, imu = (robot.create_publisher(dialect.message(kind), topic, 10) for kind, topic in (
        ('sensor_msgs/msg/JointState', 'joint_states'), ('sensor_msgs/msg/Imu', 'imu/data')))
    for _ in range(SAMPLES):
        ns = bus.now_ns
        imu.publish(convert.imu(dialect, ns, '', np.zeros(3), np.array([0.0, 0.0, GRAVITY]),
                                np.array([0.0, 0.0, 0.0, 1.0])))
        joints.publish(convert.joint_state(dialect, ns, model.joint_names, position, still, still))
        bus.step(PERIOD)
    host.stop()
