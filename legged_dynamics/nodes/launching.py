# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the launch files of the nodes share: arguments, the node with its files, rviz beside it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legged_dynamics.nodes.description import urdf_text
from legged_dynamics.resources import robot_files, share_directory

ARGUMENTS = (
    ('robot_description', '', 'URDF as XML or path; empty: wait for the topic robot_description.'),
    ('namespace', '', 'Namespace of node and topics.'),
    ('use_sim_time', 'false', 'Whether to take time from /clock.'),
    ('autostart', 'true', 'Whether the node configures and activates itself.'),
    ('respawn', 'false', 'Whether the node is started again when it ends by itself.'),
    ('joint_states', 'joint_states', 'Topic of the joint states.'),
    ('imu', 'imu/data', 'Topic of the IMU.'),
    ('commands', 'effort_controller/commands', 'Topic of the effort commands; '
     'effort_watchdog/commands for a controller above the watchdog.'),
    ('controllers_file', '', 'Parameter file of ros2_control whose effort controller must have '
     'the same joints in the same order; empty: not compared.'),
    ('robot_state_publisher', 'false', 'Whether to start robot_state_publisher on the '
     'description; it needs robot_description, or the URDF beside the YAML.'),
    ('rviz', 'false', 'Whether to start rviz with what the node shows.'),
    ('fixed_frame', '', "Fixed frame of rviz; empty: the file's."),
)
# How long a node may take to bring its robot down (safety.stop) before launch insists [s].
PATIENCE = '25'
# The same of nodes that wait for those and bring the robot down after them.
PATIENCE_OF = {'effort_watchdog': '40'}
# Two robots' transforms stay apart, and with their own namespace.
TF = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


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
        robot_yaml, urdf = robot_files(argument('robot'))
        described = argument('robot_description') or str(urdf or '')
        frame = ['-f', argument('fixed_frame')] if argument('fixed_frame') else []
        beside = [Node(
            package='robot_state_publisher', executable='robot_state_publisher',
            namespace=argument('namespace'), output='screen', remappings=[
                *TF, ('joint_states', argument('joint_states'))],
            parameters=[{'robot_description': ParameterValue(urdf_text(described), value_type=str),
                         'use_sim_time': argument('use_sim_time') == 'true'}])
        ] if argument('robot_state_publisher') == 'true' else []
        return [
            # The name makes arguments win over the files: of two sections the one that names the
            # node holds, whichever comes last.
            Node(package='legged_dynamics', executable=executable, name=executable,
                 namespace=argument('namespace'), output='screen',
                 respawn=argument('respawn') == 'true', respawn_delay=1.0,
                 sigterm_timeout=PATIENCE_OF.get(executable, PATIENCE),
                 remappings=[(name, argument(key)) for name, key in (
                     ('joint_states', 'joint_states'), ('imu/data', 'imu'),
                     ('effort_controller/commands', 'commands'))
                     if argument(key) != name],
                 parameters=[str(robot_yaml), argument('params_file'), {
                     'robot_description': ParameterValue(argument('robot_description'),
                                                         value_type=str),
                     **({'safety.controllers_file': argument('controllers_file')}
                        if argument('controllers_file') else {}),
                     **{name: argument(name) == 'true'
                        for name in ('use_sim_time', 'autostart', *flags)}}]),
            Node(package='rviz2', executable='rviz2',
                 arguments=['-d', str(config / 'rviz' / f'{rviz}.rviz'), *frame],
                 namespace=argument('namespace'), remappings=TF,
                 condition=IfCondition(LaunchConfiguration('rviz'))),
            *beside,
        ]
    arguments = (
        ('robot', robot, 'Name of a robot that comes with the package, or path of its YAML.'),
        ('params_file', str(config / 'nodes' / f'{executable}.yaml'), 'Settings of the node.'),
        *ARGUMENTS, *((name, 'false', text) for name, text in flags.items()))
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in arguments), OpaqueFunction(function=start)])
