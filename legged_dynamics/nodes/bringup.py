# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the bringup files share: launch files in a scope of their own, and ros2_control."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.nodes.description import urdf_text
from legged_dynamics.nodes.launching import TF
from legged_dynamics.nodes.ros2_control import (
    HARDWARE_COMMANDS,
    HARDWARE_STATES,
    broadcasters,
    controllers_text,
    with_ros2_control,
)
from legged_dynamics.resources import robot_files, share_directory

CONTROLLERS = ('none', 'workspace_controller', 'foot_force_controller')
ROBOT = (
    ('robot', 'anymal_class', 'Name of a robot that comes with the package, or path of its YAML.'),
    ('robot_description', '', 'URDF as XML or path; empty: the one beside the YAML.'),
    ('namespace', '', 'Namespace of all nodes, topics and transforms of the robot.'),
)
CONTROL = (
    ('controller', 'none', f'Who commands efforts, through the watchdog: '
     f'{" | ".join(CONTROLLERS)}.'),
    ('controllers_file', '', 'Parameters of ros2_control; empty: made from the robot YAML.'),
)
SHOWN = (
    ('rviz', 'false', 'Whether to start rviz with the reaction forces.'),
)


def include(name: str, **arguments: Any) -> Any:
    """Return a launch file of the package as an action; its arguments do not reach others."""
    from launch.actions import GroupAction, IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    path = share_directory() / 'launch' / f'{name}.launch.py'
    return GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(path)),
        launch_arguments=[(key, str(value)) for key, value in arguments.items()])], scoped=True)


def launch_description(arguments: Sequence[tuple[str, str, str]], start: Any) -> Any:
    """
    Return the LaunchDescription of a bringup.

    Parameters
    ----------
    arguments : sequence of tuple of str
        Name, default and description of each.
    start : callable
        Takes the arguments' values by name, and returns the actions.

    """
    from launch.actions import DeclareLaunchArgument, OpaqueFunction
    from launch.launch_description import LaunchDescription
    from launch.substitutions import LaunchConfiguration

    def opened(context: Any) -> Any:
        return start({name: str(LaunchConfiguration(name).perform(context))
                      for name, _, _ in arguments})
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in arguments), OpaqueFunction(function=opened)])


def described(values: dict[str, str]) -> str:
    """
    Return the URDF that the arguments `robot` and `robot_description` name, as XML.

    Raises
    ------
    ConfigurationError
        When there is none.

    """
    _, beside = robot_files(values['robot'])
    return urdf_text(values['robot_description'] or str(beside or ''))


def state_publisher(values: dict[str, str], urdf: str, sim_time: bool = False) -> Any:
    """Return robot_state_publisher, whose topic gives the URDF to everybody else."""
    from launch_ros.actions import Node
    from launch_ros.parameter_descriptions import ParameterValue

    return Node(package='robot_state_publisher', executable='robot_state_publisher',
                namespace=values['namespace'], output='screen', remappings=TF,
                parameters=[{'robot_description': ParameterValue(urdf, value_type=str),
                             'use_sim_time': sim_time}])


def control(values: dict[str, str], hardware: str) -> list[Any]:
    """
    Return ros2_control of a robot: manager, broadcasters, effort controller, and the description.

    Parameters
    ----------
    values : dict
        Of the arguments `ROBOT` and `CONTROL`; `controllers_file` is filled in.
    hardware : str
        As for :func:`with_ros2_control`.

    Raises
    ------
    ConfigurationError
        When the robot has no such hardware.

    """
    from launch_ros.actions import Node

    config = RobotConfig.from_yaml(robot_files(values['robot'])[0])
    urdf = described(values)
    text = with_ros2_control(urdf, config, hardware, values['namespace'])
    if not values['controllers_file']:
        handle, values['controllers_file'] = tempfile.mkstemp('.yaml', 'legged_dynamics_')
        with os.fdopen(handle, 'w') as file:
            file.write(controllers_text(config, RobotModel.from_urdf(urdf)))
    space, parameters = values['namespace'], values['controllers_file']
    return [
        state_publisher(values, text),
        # No name: it would become that of each of the controllers, which live in this process.
        Node(package='controller_manager', executable='ros2_control_node', namespace=space,
             output='screen', parameters=[parameters],
             remappings=[('~/robot_description', 'robot_description')]),
        Node(package='controller_manager', executable='spawner', namespace=space,
             output='screen', arguments=[*broadcasters(hardware), 'effort_controller',
                                         '--param-file', parameters]),
    ]


def hardware_relay(values: dict[str, str]) -> Any:
    """Return the relay from topic-based hardware's commands to the simulated robot's."""
    from launch_ros.actions import Node
    return Node(package='legged_dynamics', executable='reaction_relay', name='hardware_relay',
                namespace=values['namespace'], output='screen', parameters=[{
                    'relay.input': HARDWARE_COMMANDS, 'relay.fields': ['data = effort'],
                    'relay.output': 'hardware/effort_commands'}])


def simulated_robot(values: dict[str, str], behind_ros2_control: bool) -> Any:
    """Return the simulated robot, in place of hardware or of topic-based hardware."""
    from launch.actions import GroupAction
    from launch_ros.actions import SetRemap

    # robot_state_publisher gives everybody the one description that names the hardware.
    remaps = [('robot_description', 'hardware/robot_description')]
    if behind_ros2_control:
        remaps += [('joint_states', HARDWARE_STATES),
                   ('effort_controller/commands', 'hardware/effort_commands')]
    return GroupAction([*(SetRemap(*pair) for pair in remaps), include(
        'simulated_robot', robot=values['robot'], robot_description=values['robot_description'],
        namespace=values['namespace'], schedule=values['schedule'])])


def nodes(values: dict[str, str], imu: str, sim_time: bool = False) -> list[Any]:
    """
    Return the estimator and, where efforts are commanded, watchdog and controller.

    Parameters
    ----------
    values : dict
        Of the arguments `ROBOT`, `CONTROL` and `SHOWN`.
    imu : str
        Topic of the IMU.
    sim_time : bool
        Whether time is taken from /clock.

    Raises
    ------
    ConfigurationError
        When there is no such controller.

    """
    # All that a bringup might have an argument of that name for: a launch file sees those, too.
    shared = {'robot': values['robot'], 'robot_description': '', 'joint_states': 'joint_states',
              'imu': imu, 'namespace': values['namespace'], 'rviz': 'false',
              'use_sim_time': str(sim_time).lower(), 'controllers_file': ''}
    made = [include('ground_reaction_estimator', **{
        **shared, 'rviz': values.get('rviz', 'false')})]
    controller = values.get('controller', 'none')
    if controller not in CONTROLLERS:
        raise ConfigurationError(f'controller: expected one of {", ".join(CONTROLLERS)}, got '
                                 f'{controller!r}')
    if controller != 'none':
        made += [include('effort_watchdog', **shared),
                 include(controller, **{
                     **shared, 'commands': 'effort_watchdog/commands',
                     'controllers_file': values.get('controllers_file', '')})]
    return made
