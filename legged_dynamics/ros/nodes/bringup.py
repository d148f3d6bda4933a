# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The common part of the launch files: nodes with their files, bringups, and ros2_control."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import yaml

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.node_registry import NODES, NodeEntry
from legged_dynamics.resources import robot_files, share_directory
from legged_dynamics.ros.nodes.description import urdf_text
from legged_dynamics.spatial.frames import GRAVITY

# -------------------------------------------------------------------------------------------------
# Launch files of single nodes: their arguments, the node with its files, and rviz.


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
# Transforms in the robot's namespace, so that those of two robots do not mix.
TF = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


def robot_node(executable: str) -> Any:
    """
    Return the LaunchDescription of a node in `NODES` that listens to a robot.

    With robot_state_publisher and rviz on request; settings:
    config/nodes/<executable>.yaml.
    """
    from launch.conditions import IfCondition
    from launch.substitutions import LaunchConfiguration
    from launch_ros.actions import Node
    from launch_ros.parameter_descriptions import ParameterValue

    config, entry = share_directory() / 'config', NODES[executable]

    def start(values: dict[str, str]) -> list[Any]:
        frame = ['-f', values['fixed_frame']] if values['fixed_frame'] else []
        text = ParameterValue(values['robot_description'], value_type=str)
        made = [
            # The name makes arguments win over the files: of two sections the one that names the
            # node holds, whichever comes last.
            Node(package='legged_dynamics', executable=executable, name=executable,
                 namespace=values['namespace'], output='screen',
                 respawn=values['respawn'] == 'true', respawn_delay=1.0,
                 sigterm_timeout=str(entry.stop_timeout),
                 remappings=[(name, values[key]) for name, key in (
                     ('joint_states', 'joint_states'), ('imu/data', 'imu'),
                     ('effort_controller/commands', 'commands'))
                     if values[key] != name],
                 parameters=[str(robot_files(values['robot'])[0]), values['params_file'], {
                     **({'robot_description': text} if entry.has_kernels else {}),
                     **({'safety.controllers_file': values['controllers_file']}
                        if values['controllers_file'] else {}),
                     **{name: values[name] == 'true'
                        for name in ('use_sim_time', 'autostart', *entry.flags)}}]),
            Node(package='rviz2', executable='rviz2',
                 arguments=['-d', str(config / 'rviz' / f'{entry.rviz}.rviz'), *frame],
                 namespace=values['namespace'], remappings=TF,
                 condition=IfCondition(LaunchConfiguration('rviz'))),
        ]
        if values['robot_state_publisher'] == 'true':
            made.append(state_publisher(values, described(values),
                                        values['use_sim_time'] == 'true'))
        return made
    return launch_description((
        ('robot', entry.robot, 'Name of a robot that comes with the package, or path of its '
         'YAML.'),
        ('params_file', str(config / 'nodes' / f'{executable}.yaml'), 'Settings of the node.'),
        *ARGUMENTS, *((name, 'false', text) for name, text in entry.flags.items())), start)


# -------------------------------------------------------------------------------------------------
# ros2_control of a robot: its <ros2_control> element, and the parameters of its controllers.


HARDWARE = ('own', 'mock', 'topic')
MOCK = 'mock_components/GenericSystem'
TOPIC = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
# Topics of topic-based hardware, both sensor_msgs/JointState: joint states and commands.
HARDWARE_STATES = 'hardware/joint_states'
HARDWARE_COMMANDS = 'hardware/joint_commands'
IMU = 'imu'
# What an IMU reads at rest.
_AT_REST = {**{f'{what}.{axis}': 0.0 for what in ('orientation', 'angular_velocity',
                                                  'linear_acceleration') for axis in 'xyz'},
            'orientation.w': 1.0, 'linear_acceleration.z': GRAVITY}


def with_ros2_control(urdf: str, config: RobotConfig, hardware: str, namespace: str = '') -> str:
    """
    Return a URDF with the <ros2_control> element of the chosen hardware.

    'own': the URDF's; 'mock': joints that do not move; 'topic': simulator or driver behind
    two joint state topics and an IMU topic, in ``namespace``.
    """
    if hardware not in HARDWARE:
        raise ConfigurationError(f'hardware: expected one of {", ".join(HARDWARE)}, '
                                 f'got {hardware!r}')
    root = ElementTree.fromstring(urdf)
    own = root.findall('ros2_control')
    if hardware == 'own':
        if not own:
            raise ConfigurationError(
                'hardware: the URDF has no <ros2_control> element that names the driver of its '
                'joints; add one (docs/works_with.md shows it), or give hardware:=mock or '
                'hardware:=topic')
        return urdf
    for element in own:
        root.remove(element)
    root.append(_element(RobotModel.from_urdf(urdf), config, hardware, namespace))
    return ElementTree.tostring(root, encoding='unicode')


def controllers_text(config: RobotConfig, model: RobotModel) -> str:
    """Return the YAML for controller manager, broadcasters and efforts: ours, of this robot."""
    shipped = share_directory() / 'config' / 'ros2_control' / 'effort_chain.yaml'
    made = yaml.safe_load(shipped.read_text(encoding='utf-8'))
    made['/**/effort_controller']['ros__parameters']['joints'] = list(_joints(config, model))
    made['/**/imu_sensor_broadcaster']['ros__parameters'] = {
        'sensor_name': IMU, 'frame_id': config.imu_link_in(model)}
    return f'# Made by legged_dynamics for {model.name}.\n{yaml.safe_dump(made)}'


def broadcasters(hardware: str) -> tuple[str, ...]:
    """Return the names of controllers that only read; 'topic' hardware has no sensors."""
    return ('joint_state_broadcaster',
            *(('imu_sensor_broadcaster',) if hardware != 'topic' else ()))


def _joints(config: RobotConfig, model: RobotModel) -> Sequence[str]:
    return config.joints or model.joint_names


def _element(model: RobotModel, config: RobotConfig, hardware: str,
             namespace: str) -> ElementTree.Element:
    names, space = _joints(config, model), f'/{namespace.strip("/")}'.rstrip('/')
    if hardware == 'mock':
        chosen = f'<plugin>{MOCK}</plugin>'
        sensor = f'<sensor name="{IMU}">{_states(_AT_REST)}</sensor>'
    else:   # without the threshold a command near the measured effort is not sent at all
        chosen, sensor = (
            f'<plugin>{TOPIC}</plugin>'
            f'<param name="joint_states_topic">{space}/{HARDWARE_STATES}</param>'
            f'<param name="joint_commands_topic">{space}/{HARDWARE_COMMANDS}</param>'
            '<param name="trigger_joint_command_threshold">-1</param>'), ''
    joints = ''.join(
        f'<joint name={quoteattr(name)}><command_interface name="effort"/>'
        + _states({'position': position, 'velocity': 0.0, 'effort': 0.0}) + '</joint>'
        for name, position in zip(names, config.nominal_position or (0.0,) * len(names)))
    return ElementTree.fromstring(
        f'<ros2_control name={quoteattr(f"{model.name}_{hardware}")} type="system">'
        f'<hardware>{chosen}</hardware>{joints}{sensor}</ros2_control>')


def _states(values: dict[str, float]) -> str:
    return ''.join(f'<state_interface name="{name}"><param name="initial_value">'
                   f'{float(value)!r}</param></state_interface>' for name, value in values.items())


# -------------------------------------------------------------------------------------------------

CLIMBER = 'stickybot_controller'
# Those for any robot, and that of the climbing robot.
CONTROLLERS = ('none', *(name for name, entry in NODES.items()
                         if entry.group == 'Control' and entry.robot == NodeEntry.robot), CLIMBER)
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
    ('rviz', 'false', 'Whether to start rviz: what the controller shows, or the reactions.'),
)


def _include(name: str, **arguments: Any) -> Any:
    """Return a launch file of the package as an action."""
    from launch.actions import GroupAction, IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    path = share_directory() / 'launch' / f'{name}.launch.py'
    return GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(path)),
        launch_arguments=[(key, str(value)) for key, value in arguments.items()])], scoped=True)


def launch_description(arguments: Sequence[tuple[str, str, str]], start: Any) -> Any:
    """
    Return the LaunchDescription of (name, default, description) arguments and actions.

    ``start`` maps the arguments' values by name to actions.
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
    """Return the URDF that the arguments `robot` and `robot_description` name."""
    _, urdf = robot_files(values['robot'])
    return urdf_text(values['robot_description'] or str(urdf or ''))


def state_publisher(values: dict[str, str], urdf: str, sim_time: bool = False) -> Any:
    """Return robot_state_publisher, whose topic gives the URDF to all other nodes."""
    from launch_ros.actions import Node
    from launch_ros.parameter_descriptions import ParameterValue

    return Node(package='robot_state_publisher', executable='robot_state_publisher',
                namespace=values['namespace'], output='screen', remappings=[
                    *TF, ('joint_states', values.get('joint_states', 'joint_states'))],
                parameters=[{'robot_description': ParameterValue(urdf, value_type=str),
                             'use_sim_time': sim_time}])


def control(values: dict[str, str], hardware: str) -> list[Any]:
    """
    Return the actions that start ros2_control: manager, controllers and description.

    ``values`` are those of `ROBOT` and `CONTROL`; its `controllers_file` is filled in.
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
    """Return the reaction_relay from topic-based hardware's commands to the simulation."""
    from launch_ros.actions import Node
    return Node(package='legged_dynamics', executable='reaction_relay', name='hardware_relay',
                namespace=values['namespace'], output='screen', parameters=[{
                    'relay.input': HARDWARE_COMMANDS, 'relay.fields': ['data = effort'],
                    'relay.output': 'hardware/effort_commands'}])


def simulated_robot(values: dict[str, str], behind_ros2_control: bool) -> Any:
    """Return the simulated robot, in place of hardware or of topic-based hardware."""
    from launch.actions import GroupAction
    from launch_ros.actions import SetRemap

    # robot_state_publisher publishes the description with the hardware, which all others use.
    remaps = [('robot_description', 'hardware/robot_description')]
    if behind_ros2_control:
        remaps += [('joint_states', HARDWARE_STATES),
                   ('effort_controller/commands', 'hardware/effort_commands')]
    return GroupAction([*(SetRemap(*pair) for pair in remaps), _include(
        'simulated_robot', robot=values['robot'], robot_description=values['robot_description'],
        namespace=values['namespace'], schedule=values['schedule'])])


def nodes(values: dict[str, str], imu: str, sim_time: bool = False) -> list[Any]:
    """Return the actions that start estimator and, for efforts, watchdog and controller."""
    # Set explicitly, since an included launch file also sees arguments of the bringup's.
    shared = {'robot': values['robot'], 'robot_description': '', 'joint_states': 'joint_states',
              'imu': imu, 'namespace': values['namespace'], 'rviz': 'false',
              'use_sim_time': str(sim_time).lower(), 'controllers_file': ''}
    controller, rviz = values.get('controller', 'none'), values.get('rviz', 'false')
    # The climber's controller estimates the wall's forces by itself.
    made = [] if controller == CLIMBER else [_include('ground_reaction_estimator', **{
        **shared, 'rviz': rviz if controller == 'none' else 'false'})]
    if controller not in CONTROLLERS:
        raise ConfigurationError(f'controller: expected one of {", ".join(CONTROLLERS)}, got '
                                 f'{controller!r}')
    if controller != 'none':
        made += [_include('effort_watchdog', **shared),
                 _include(controller, **{
                     **shared, 'commands': 'effort_watchdog/commands', 'rviz': rviz,
                     'controllers_file': values.get('controllers_file', '')})]
    return made
