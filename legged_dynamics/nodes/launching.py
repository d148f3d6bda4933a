# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the launch files of the nodes share: arguments, the node with its files, rviz beside it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legged_dynamics.resources import robot_files, share_directory

ARGUMENTS = (
    ('robot_description', '', 'URDF as XML or path; empty: wait for the topic robot_description.'),
    ('namespace', '', 'Namespace of node and topics.'),
    ('use_sim_time', 'false', 'Whether to take time from /clock.'),
    ('autostart', 'true', 'Whether the node configures and activates itself.'),
    ('rviz', 'false', 'Whether to start rviz with what the node shows.'),
)


def robot_node(executable: str, *, robot: str = 'anymal_class', rviz: str = 'ground_reactions',
               flags: Mapping[str, str] | None = None) -> Any:
    """
    Return the LaunchDescription of a node that listens to a robot.

    Parameters
    ----------
    executable : str
        Of the package; its settings are config/nodes/<executable>.yaml.
    robot : str
        Default of the argument of that name.
    rviz : str
        Name of a file in config/rviz.
    flags : mapping of str to str, optional
        Parameters of the node that are true or false, false by default, with what they mean.

    """
    from launch.actions import DeclareLaunchArgument, OpaqueFunction
    from launch.conditions import IfCondition
    from launch.launch_description import LaunchDescription
    from launch.substitutions import LaunchConfiguration
    from launch_ros.actions import Node
    from launch_ros.parameter_descriptions import ParameterValue

    config, flags = share_directory() / 'config', flags or {}

    def start(context: Any) -> list[Any]:
        def argument(name: str) -> str:
            return str(LaunchConfiguration(name).perform(context))
        robot_yaml, _ = robot_files(argument('robot'))
        return [
            # The name makes arguments win over the files: of two sections the one that names the
            # node holds, whichever comes last.
            Node(package='legged_dynamics', executable=executable, name=executable,
                 namespace=argument('namespace'), output='screen',
                 parameters=[str(robot_yaml), argument('params_file'), {
                     'robot_description': ParameterValue(argument('robot_description'),
                                                         value_type=str),
                     **{name: argument(name) == 'true'
                        for name in ('use_sim_time', 'autostart', *flags)}}]),
            Node(package='rviz2', executable='rviz2',
                 arguments=['-d', str(config / 'rviz' / f'{rviz}.rviz')],
                 namespace=argument('namespace'),
                 condition=IfCondition(LaunchConfiguration('rviz'))),
        ]
    arguments = (
        ('robot', robot, 'Name of a robot that comes with the package, or path of its YAML.'),
        ('params_file', str(config / 'nodes' / f'{executable}.yaml'), 'Settings of the node.'),
        *ARGUMENTS, *((name, 'false', text) for name, text in flags.items()))
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in arguments), OpaqueFunction(function=start)])
