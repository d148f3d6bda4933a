# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start a simulated robot in place of hardware; include it, or use it as it is."""
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from legged_dynamics.resources import robot_files, share_directory

CONFIG = share_directory() / 'config'
ARGUMENTS = (
    ('robot', 'anymal_class', 'Name of a robot that comes with the package, or path of its YAML.'),
    ('robot_description', '', 'URDF as XML or path; empty: the one beside the YAML.'),
    ('simulation_params_file', str(CONFIG / 'nodes' / 'simulated_robot.yaml'),
     'Settings of the simulation.'),
    ('namespace', '', 'Namespace of node and topics.'),
    ('schedule', '', 'Behaviours with seconds; empty: what the settings say.'),
    ('publish_clock', 'false', 'Whether to publish the simulated time.'),
)


def start(context):
    """Compose the node once the arguments are known."""
    def argument(name):
        return LaunchConfiguration(name).perform(context)
    robot_yaml, urdf = robot_files(argument('robot'))
    chosen = {'schedule': argument('schedule')} if argument('schedule') else {}
    return [Node(package='legged_dynamics', executable='simulated_robot',
                 name='simulated_robot',
                 namespace=argument('namespace'), output='screen',
                 parameters=[str(robot_yaml), argument('simulation_params_file'), {
                     'robot_description': ParameterValue(
                         argument('robot_description') or str(urdf or ''), value_type=str),
                     'publish_clock': argument('publish_clock') == 'true', **chosen}])]


def generate_launch_description():
    """Declare the arguments and start."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in ARGUMENTS), OpaqueFunction(function=start)])
