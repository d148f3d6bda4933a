# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Make a robot that the package does not know: mule.urdf, and a bag of it, simulated.

A stranger in names, size and weight. The bag has what a robot's driver publishes and, for judging
the estimate, the true force on each foot. Prints where both are.
"""
import re
import sys
from pathlib import Path

from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Schedule, make_plant, make_robot

SIZE, MASS, SCHEDULE = 0.8, 0.6, 'stand 2, trot_forward 2, stand 0.5'
NAMES = {'LF_': 'front_left_', 'RF_': 'front_right_', 'LH_': 'hind_left_', 'RH_': 'hind_right_',
         'HAA': 'abduction', 'HFE': 'hip', 'KFE': 'knee', 'FOOT': 'toe', 'anymal_class': 'mule'}
JOINTS, WRENCH = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped'


def renamed(text):
    for old, new in NAMES.items():
        text = text.replace(old, new)
    return text


def scaled(text, pattern, factor):
    return re.sub(pattern, lambda found: found[1] + ' '.join(
        f'{factor * float(word):.6g}' for word in found[2].split()) + '"', text)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else '.')
yaml, urdf = robot_files('anymal_class')
text = re.sub(r'<!--.*?-->', '', renamed(urdf.read_text()), flags=re.DOTALL)
text = scaled(text, r'((?:xyz|size|radius|length)=")([^"]*)"', SIZE)
text = scaled(text, r'(<mass value=")([^"]*)"', MASS)
text = scaled(text, r'(i[xyz]{2}=")([^"]*)"', MASS * SIZE ** 2)
text = re.sub(r'(<axis xyz=")([^"]*)"', lambda found: found[1] + ' '.join(
    f'{float(word) / SIZE:g}' for word in found[2].split()) + '"', text)
(folder / 'mule.urdf').write_text(text)

parameters = {name: [renamed(word) if isinstance(word, str) else word for word in value]
              if isinstance(value, list) else renamed(value) if isinstance(value, str) else value
              for name, value in read_parameter_file(yaml).items()}
plan = Schedule.from_text(SCHEDULE)
# What its motors and its own controller are: dry friction and rotors on the joint's side.
parameters |= {'robot.foot_radius': SIZE * 0.03, 'robot.armature': [0.04],
               'robot.joint_damping': [0.4], 'robot.joint_friction': [0.04]}
for name, factor in {'period': SIZE ** 0.5, 'step_height': SIZE, 'speed': SIZE,
                     **dict.fromkeys(('stiffness', 'damping', 'stance_stiffness',
                                      'stance_damping'), MASS * SIZE)}.items():
    parameters[f'simulation.gait.{name}'] *= factor
robot = make_robot(make_plant(parameters, text), schedule=plan)
feet = robot.plant.feet
dialect = StandaloneDialect()
with BagWriter(folder / 'mule_walk') as bag:
    bag.add_topic('/joint_states', JOINTS)
    bag.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
    for foot in feet:
        bag.add_topic(f'/ground_truth/{foot}/wrench', WRENCH)
    for _ in range(round(plan.duration * 1e9 / robot.period_ns)):
        robot.step()
        s = robot.read()
        ns = s.stamp_ns
        bag.write_message('/imu/data', ns, convert.imu(
            dialect, ns, 'imu_link', s.angular_velocity, s.linear_acceleration, s.orientation))
        bag.write_message('/joint_states', ns, convert.joint_state(
            dialect, ns, robot.plant.joints, s.position, s.velocity, s.effort))
        for foot, wrench in zip(feet, robot.truth().feet.wrench):
            bag.write_message(f'/ground_truth/{foot}/wrench', ns,
                              convert.wrench_stamped(dialect, ns, foot, wrench))
print(f'{folder / "mule.urdf"} and {folder / "mule_walk"}: {plan.duration:g} s, fallen: '
      f'{robot.fallen}')
