# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What ros2_control needs to know of a robot: its <ros2_control> element, and its controllers."""
from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel

HARDWARE = ('own', 'mock', 'topic')
MOCK = 'mock_components/GenericSystem'
TOPIC = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
# Topics of joint states and commands of topic-based hardware, both sensor_msgs/JointState.
HARDWARE_STATES, HARDWARE_COMMANDS = 'hardware/joint_states', 'hardware/joint_commands'
IMU = 'imu'
_AT_REST = {'orientation.w': 1.0, 'linear_acceleration.z': 9.81}
_IMU_STATES = (*(f'orientation.{axis}' for axis in 'xyzw'),
               *(f'angular_velocity.{axis}' for axis in 'xyz'),
               *(f'linear_acceleration.{axis}' for axis in 'xyz'))


def with_ros2_control(urdf: str, config: RobotConfig, hardware: str, namespace: str = '') -> str:
    """
    Return a URDF that says which hardware its joints have.

    Parameters
    ----------
    urdf : str
        XML.
    config : RobotConfig
        Command order, standing pose.
    hardware : str
        'own': what the URDF says itself; 'mock': joints that stay where they are, to try the
        wiring; 'topic': a simulator or driver behind two topics of joint states, which has its
        IMU on a topic of its own.
    namespace : str
        Of the robot; hardware's topics are in it.

    Raises
    ------
    ConfigurationError
        When 'own' is asked for and the URDF has no <ros2_control>, or there is no such hardware.

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


def controllers_text(config: RobotConfig, model: RobotModel, rate: int = 500) -> str:
    """
    Return the parameter file of controller manager, broadcasters and effort controller.

    Parameters
    ----------
    config : RobotConfig
        Command order and IMU.
    model : RobotModel
        Whose order holds where the configuration states none.
    rate : int [Hz]
        Of the controller manager.

    """
    return f"""# Made by legged_dynamics for {model.name}.
/**/controller_manager:
  ros__parameters:
    update_rate: {rate}                 # Hz
    enforce_command_limits: true
    joint_state_broadcaster:
      type: joint_state_broadcaster/JointStateBroadcaster
    imu_sensor_broadcaster:
      type: imu_sensor_broadcaster/IMUSensorBroadcaster
    effort_controller:
      type: forward_command_controller/ForwardCommandController
/**/effort_controller:
  ros__parameters:
    interface_name: effort
    joints: [{', '.join(_joints(config, model))}]
/**/imu_sensor_broadcaster:
  ros__parameters:
    sensor_name: {IMU}
    frame_id: {config.imu_link or model.base_link}
"""


def broadcasters(hardware: str) -> tuple[str, ...]:
    """Return the controllers that only read; topic-based hardware has no sensors."""
    return ('joint_state_broadcaster',
            *(('imu_sensor_broadcaster',) if hardware != 'topic' else ()))


def _joints(config: RobotConfig, model: RobotModel) -> Sequence[str]:
    return config.joints or model.joint_names


def _element(model: RobotModel, config: RobotConfig, hardware: str,
             namespace: str) -> ElementTree.Element:
    made = ElementTree.Element('ros2_control', name=f'{model.name}_{hardware}', type='system')
    told = ElementTree.SubElement(made, 'hardware')
    ElementTree.SubElement(told, 'plugin').text = MOCK if hardware == 'mock' else TOPIC
    if hardware == 'topic':
        space = f'/{namespace.strip("/")}'.rstrip('/')
        for name, value in (('joint_states_topic', f'{space}/{HARDWARE_STATES}'),
                            ('joint_commands_topic', f'{space}/{HARDWARE_COMMANDS}'),
                            # else a command near the measured effort is not sent at all
                            ('trigger_joint_command_threshold', '-1')):
            ElementTree.SubElement(told, 'param', name=name).text = value
    names = _joints(config, model)
    nominal = config.nominal_position or (0.0,) * len(names)
    for name, position in zip(names, nominal):
        joint = ElementTree.SubElement(made, 'joint', name=name)
        ElementTree.SubElement(joint, 'command_interface', name='effort')
        for state, at in (('position', position), ('velocity', 0.0), ('effort', 0.0)):
            _state(joint, state, at)
    if hardware == 'mock':
        sensor = ElementTree.SubElement(made, 'sensor', name=IMU)
        for state in _IMU_STATES:
            _state(sensor, state, _AT_REST.get(state, 0.0))
    return made


def _state(parent: ElementTree.Element, name: str, value: float) -> None:
    state = ElementTree.SubElement(parent, 'state_interface', name=name)
    ElementTree.SubElement(state, 'param', name='initial_value').text = repr(float(value))
