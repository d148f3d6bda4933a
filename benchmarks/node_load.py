# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a node costs at the robot's rate: share of a core, messages answered, and how late.

``python -m benchmarks.node_load --rate 500 --seconds 20 --listen`` starts the estimator as a
process, sends it the sensors of a standing robot, and hears all wrenches; with ``--array`` all
feet in one message, ``~/foot_reactions``. The middleware is the
one that ``legged-dynamics run`` would choose; LEGGED_DYNAMICS_MIDDLEWARE overrules. The share of a
core is CPU time of the node's process, all threads, over the time that the samples span at their
rate, however long a busy machine takes for them. Delays do depend on what else runs. Beside it
stand the machine's load and, as a measure of its processor, what Pinocchio's ``rnea`` takes for
the quadruped. ``--pair`` measures body controller and simulated robot instead, in lock-step;
``--nodes`` controller, estimator and watchdog, each also in calls of ``rnea``, timed meanwhile,
and what single samples cost them: CPU time of their threads from one answer of all to the next,
which others on the machine do not lengthen but by the processor's caches.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.runner import choose_backend
from legged_dynamics.spatial.frames import GRAVITY

DIALECT = StandaloneDialect()
NODE = 'ground_reaction_estimator'
WARM_UP = 3.0       # s


def cpu_seconds(pid):
    """Return the CPU time of a process's threads so far, as the scheduler counts it."""
    return 1e-9 * sum(int(task.read_text().split()[0])
                      for task in Path(f'/proc/{pid}/task').glob('*/schedstat'))


class Bus:
    """Raw publishers and subscriptions on either middleware."""

    def __init__(self, environment):
        os.environ.update(environment)
        self.ros = choose_backend() == 'rclpy'
        if self.ros:
            import rclpy

            from legged_dynamics.ros.middleware.ros2_node import Spinner
            rclpy.init()
            self.node = rclpy.create_node('bench')
            self._spinner = Spinner()
            self._spinner.executor.add_node(self.node)
        else:
            from legged_dynamics.ros.middleware.cyclone import CycloneBus
            self._bus = CycloneBus()
            self.node = self._bus.create_node('bench')

    def publisher(self, kind, topic, latched=False):
        """Return (send, count of listeners)."""
        if self.ros:
            from rclpy.qos import DurabilityPolicy, QoSProfile

            from legged_dynamics.ros.middleware.ros2_node import rclpy_class
            qos = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            made = self.node.create_publisher(rclpy_class(kind), topic, qos if latched else 100)
            return made.publish, made.get_subscription_count
        made = self.node.create_publisher(DIALECT.message(kind), topic,
                                          DIALECT.qos.latched if latched else 100)
        return made.publish_raw, made.get_subscription_count

    def listen(self, kind, topic, take):
        """Call back with bytes."""
        if self.ros:
            from legged_dynamics.ros.middleware.ros2_node import rclpy_class
            self.node.create_subscription(rclpy_class(kind), topic, take, 1000, raw=True)
        else:
            self.node.create_raw_subscription(kind, topic, lambda cdr, _: take(cdr), 1000)

    def spin(self, seconds):
        """Run callbacks for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            if self.ros:
                self._spinner.spin(left)
            else:
                self._bus.spin_once(left)


def talk(rate, seconds, yaml, urdf):
    """Send a standing robot's sensors at a rate; run as a process of its own."""
    from legged_dynamics.estimation.settings import nominal_position
    bus = Bus({})
    config, model = RobotConfig.from_yaml(yaml), RobotModel.from_urdf(urdf)
    names, still = model.joint_names, np.zeros(model.n_joints)
    joints, listeners = bus.publisher('sensor_msgs/msg/JointState', '/joint_states')
    imu, _ = bus.publisher('sensor_msgs/msg/Imu', '/imu/data')
    parts = [bytearray(serialize(message)) for message in (
        convert.imu(DIALECT, 0, 'imu', np.zeros(3), np.array([0.0, 0.0, GRAVITY]),
                    np.array([0.0, 0.0, 0.0, 1.0])),
        convert.joint_state(DIALECT, 0, names, nominal_position(model, config), still, still))]
    while listeners() < 2:      # the node, and who counts
        time.sleep(0.05)
    time.sleep(1.0)
    begin, sent = time.monotonic_ns(), 0
    while sent < rate * seconds:
        time.sleep(max(0.0, (begin + sent * 1e9 / rate - time.monotonic_ns()) * 1e-9))
        stamp = time.time_ns()
        for message, send in zip(parts, (imu, joints)):
            message[4:8] = (stamp // 10**9).to_bytes(4, 'little')
            message[8:12] = (stamp % 10**9).to_bytes(4, 'little')
            send(bytes(message))
        sent += 1
    time.sleep(1.0)


def still_there(processes):
    """End with an error where a process has ended: what it did not take is no figure."""
    for process in processes:
        if process.poll() is not None:
            sys.exit(f'{" ".join(process.args[1:5])} ended with code {process.returncode}')


def measure(rate, seconds, listen, robot, array=False):
    """Return what a run shows, as a dictionary."""
    yaml, urdf = robot
    kind, topics = 'geometry_msgs/msg/WrenchStamped', [
        f'{foot.link}/wrench' for foot in RobotConfig.from_yaml(yaml).feet]
    if array:
        kind, topics = 'legged_dynamics_msgs/msg/FootReactions', ['foot_reactions']
    delays = {topic: [] for topic in topics}
    with DomainLease() as lease:
        environment = {**lease.environment()}
        bus = Bus(environment)
        run = [sys.executable, '-m', 'legged_dynamics', 'run', NODE, '--ros-args',
               '--params-file', str(yaml), '-p', f'robot_description:={urdf}']

        def hear(topic):
            def take(cdr):
                sec, ns = int.from_bytes(cdr[4:8], 'little'), int.from_bytes(cdr[8:12], 'little')
                delays[topic].append(time.time_ns() - (sec * 10**9 + ns))
            return take
        samples = []
        bus.listen('sensor_msgs/msg/JointState', '/joint_states', lambda cdr: samples.append(0))
        if listen:
            for topic in topics:
                bus.listen(kind, f'/{NODE}/{topic}', hear(topic))
        processes = [subprocess.Popen(run, env={**os.environ, **environment})]
        try:
            bus.spin(2.0)
            processes.append(subprocess.Popen(
                [sys.executable, '-m', 'benchmarks.node_load', '--talk', '--rate', str(rate),
                 '--seconds', str(seconds + 2 * WARM_UP), '--robot', str(yaml)],
                env={**os.environ, **environment}))
            while len(samples) < WARM_UP * rate:
                bus.spin(0.1)
            before, heard = cpu_seconds(processes[0].pid), len(delays[topics[-1]])
            count = len(samples)
            while len(samples) < count + seconds * rate:
                bus.spin(0.1)
            span = (len(samples) - count) / rate
            cpu = (cpu_seconds(processes[0].pid) - before) / span
            heard = (len(delays[topics[-1]]) - heard) / span if listen else rate
            bus.spin(WARM_UP + 2.0)
            still_there(processes[:1])
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    found = {'backend': 'rclpy' if bus.ros else 'cyclonedds', 'rate': rate,
             'listening': 'array' if array else listen,
             'share of a core': round(cpu, 3), 'us per sample': round(1e6 * cpu / heard),
             'answers per second': round(heard)}
    if listen:
        age = np.array(delays[topics[-1]][200:]) * 1e-6
        sent = rate * (seconds + 2 * WARM_UP)
        found |= {'answered': f'{min(map(len, delays.values()))} of {sent:.0f}',
                  'median ms': round(float(np.median(age)), 3),
                  '99 % ms': round(float(np.percentile(age, 99)), 3)}
    return found


def many_legged(folder, legs=8, joints=6):
    """Write a robot of 8 legs with 6 joints each and a spine of 2; return its YAML and URDF."""
    body = ('<inertial><mass value="{m}"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" '
            'ixz="0" iyz="0"/></inertial>')
    parts = [f'<link name="base">{body.format(m=20)}</link>']

    def joint(name, parent, child, kind, xyz, axis):
        parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="100" velocity="20"/></joint>')
    for k, parent in enumerate(('base', 'spine_0')):
        joint(f'spine_{k}_joint', parent, f'spine_{k}', 'revolute', '0.1 0 0.1', '0 0 1')
        parts.append(f'<link name="spine_{k}">{body.format(m=2)}</link>')
    names, feet = [f'spine_{k}_joint' for k in range(2)], []
    for leg in range(legs):
        x, y = 0.25 * (leg // 2) - 0.375, 0.2 * (-1) ** leg
        parent = 'base'
        for k in range(joints):
            name = f'leg_{leg}_{k}'
            joint(f'{name}_joint', parent, name, 'revolute',
                  f'{x} {y} 0' if k == 0 else '0 0.01 -0.1', ('1 0 0', '0 1 0', '0 1 0')[k % 3])
            parts.append(f'<link name="{name}">{body.format(m=0.5)}</link>')
            names.append(f'{name}_joint')
            parent = name
        joint(f'foot_{leg}_joint', parent, f'foot_{leg}', 'fixed', '0 0 -0.1', '1 0 0')
        parts.append(f'<link name="foot_{leg}">{body.format(m=0.05)}</link>')
        feet.append(f'foot_{leg}')
    urdf, yaml = folder / 'many.urdf', folder / 'many.yaml'
    urdf.write_text(f'<robot name="many">{"".join(parts)}</robot>')
    yaml.write_text('/**:\n  ros__parameters:\n    robot:\n'
                    f'      joints: [{", ".join(names)}]\n      feet: [{", ".join(feet)}]\n'
                    '      imu_link: base\n')
    return yaml, urdf


THROUGH = '-r', 'effort_controller/commands:=effort_watchdog/commands'
NODES = {'workspace_controller': THROUGH, 'effort_watchdog': (), NODE: ()}


def measure_nodes(rate, seconds, nodes):
    """Return the load of simulated robot and nodes with arguments, in lock-step: a dictionary."""
    yaml, urdf = robot_files('anymal_class')
    with DomainLease() as lease:
        environment = lease.environment()
        bus, samples = Bus(environment), []
        bus.listen('sensor_msgs/msg/JointState', '/joint_states', lambda cdr: samples.append(0))
        # For us and the watchdog, without IMU: time begins when each that answers could hear all.
        for _ in range(2):
            bus.listen('sensor_msgs/msg/Imu', '/imu/data', lambda cdr: None)
        answer, _ = bus.publisher('sensor_msgs/msg/JointState', '/node_load/answer', True)
        answered, ticks = {}, []

        def hear(name, cdr):
            """Note CPU times when all have answered a sample, and let the next one come."""
            answered[name] = bytes(cdr)
            if len({found[4:12] for found in answered.values()}) == 1 and (
                    len(answered) == len(nodes)):
                ticks.append([cpu_seconds(process.pid) for process in processes[1:]])
                # That without efforts, where there is one.
                answer(min(answered.values(), key=len))
        for name in nodes:
            bus.listen('sensor_msgs/msg/JointState', f'/{name}/answer', partial(hear, name))

        def start(node, *arguments):
            return subprocess.Popen(
                [sys.executable, '-m', 'legged_dynamics', 'run', node, '--ros-args',
                 '--params-file', str(yaml), '-p', f'robot_description:={urdf}', *arguments],
                env={**os.environ, **environment})
        answers = ', '.join(f'/{name}/answer' for name in (*nodes, 'node_load'))
        processes = [
            start('simulated_robot', '-p', 'schedule:=stand 100000', '-p',
                  f'simulation.rate:={rate}', '-p', 'lock_step.speed:=0.0', '-p',
                  f'lock_step.answers:=[{answers}]'),
            *(start(name, '-p', 'use_sim_time:=true', *arguments)
              for name, arguments in nodes.items())]
        compared, units = rnea(), []
        try:
            while len(samples) < WARM_UP * rate:
                bus.spin(0.1)
            before, count = [cpu_seconds(p.pid) for p in processes], len(samples)
            first = len(ticks)
            while len(samples) < count + seconds * rate:
                bus.spin(0.1)
                began = time.process_time()
                for _ in range(100):
                    compared()
                units.append(1e4 * (time.process_time() - began))
            span = (len(samples) - count) / rate
            load = [(cpu_seconds(p.pid) - b) / span for p, b in zip(processes, before)]
            costs = 1e6 * np.diff(ticks[first:], axis=0)
            still_there(processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    unit = float(np.median(units))
    return {'backend': choose_backend(), 'rate': rate, 'simulated s': round(span, 1),
            'rnea_us meanwhile': round(unit, 2), **{
                name: f'{share:.3f} of a core, {1e6 * share / rate / unit:.0f} rnea a sample'
                for name, share in zip(('robot', *nodes), load)},
            'us of a sample, 50, 99, 99.9 %, most': dict(zip(nodes, np.round(np.quantile(
                costs, (0.5, 0.99, 0.999, 1.0), axis=0)).T.tolist()))}


def rnea():
    """Return a call of Pinocchio's rnea for the quadruped; without Pinocchio, of nothing."""
    try:
        import pinocchio as pin
    except ImportError:
        return lambda: time.sleep(0.0)
    model = pin.buildModelFromUrdf(str(robot_files('anymal_class')[1]), pin.JointModelFreeFlyer())
    data, q, v = model.createData(), pin.neutral(model), np.zeros(model.nv)
    return lambda: pin.rnea(model, data, q, v, v)


def machine():
    """Return the load before the measurement, and the time of Pinocchio's rnea [us]."""
    from benchmarks.timing import microseconds
    return {'load': round(os.getloadavg()[0], 1), 'rnea_us': round(microseconds(rnea())[0], 2)}


def main():
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rate', type=float, default=500.0)
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--listen', action='store_true')
    parser.add_argument('--array', action='store_true', help='all feet in one message')
    parser.add_argument('--robot', default='anymal_class',
                        help="or 'many': 50 joints, 8 feet")
    parser.add_argument('--pair', action='store_true', help='simulated robot and body controller')
    parser.add_argument('--nodes', action='store_true',
                        help='controller, estimator and watchdog, beside a robot that stands')
    parser.add_argument('--talk', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.pair or args.nodes:
        nodes = NODES if args.nodes else {'workspace_controller': ()}
        print(json.dumps(machine() | measure_nodes(args.rate, args.seconds, nodes)))
        return
    folder = Path(tempfile.gettempdir()) / f'many_legged_{os.getuid()}'
    folder.mkdir(exist_ok=True)
    robot = (many_legged(folder) if args.robot.endswith('many') or args.robot.endswith('many.yaml')
             else robot_files(args.robot))
    if args.talk:
        talk(args.rate, args.seconds, *robot)
    else:
        print(json.dumps(machine() | measure(
            args.rate, args.seconds, args.listen or args.array, robot, args.array)))


if __name__ == '__main__':
    main()
