# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the ground reaction estimator on a robot; include it, or use it as it is."""
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from legged_dynamics.resources import robot_files, share_directory

CONFIG = share_directory() / 'config'
ARGUMENTS = (
    ('robot', 'anymal_class', 'Name of a robot that comes with the package, or path of its YAML.'),
    ('robot_description', '', 'URDF as XML or path; empty: wait for the topic robot_description.'),
    ('params_file', str(CONFIG / 'nodes' / 'ground_reaction_estimator.yaml'),
     'Settings of the estimator.'),
    ('namespace', '', 'Namespace of node and topics.'),
    ('use_sim_time', 'false', 'Whether to take time from /clock.'),
    ('autostart', 'true', 'Whether the node configures and activates itself.'),
    ('rviz', 'false', 'Whether to start rviz with the reaction forces.'),
)


def start(context):
    """Compose the nodes once the arguments are known."""
    def argument(name):
        return LaunchConfiguration(name).perform(context)
    robot_yaml, _ = robot_files(argument('robot'))
    rviz = CONFIG / 'rviz' / 'ground_reactions.rviz'
    return [
        Node(package='legged_dynamics', executable='ground_reaction_estimator',
             namespace=argument('namespace'), output='screen',
             parameters=[str(robot_yaml), argument('params_file'), {
                 'robot_description': ParameterValue(argument('robot_description'),
                                                     value_type=str),
                 'use_sim_time': argument('use_sim_time') == 'true',
                 'autostart': argument('autostart') == 'true'}]),
        Node(package='rviz2', executable='rviz2', arguments=['-d', str(rviz)],
             namespace=argument('namespace'),
             condition=IfCondition(LaunchConfiguration('rviz'))),
    ]


def generate_launch_description():
    """Declare the arguments and start."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in ARGUMENTS), OpaqueFunction(function=start)])
