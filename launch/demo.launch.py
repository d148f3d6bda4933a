# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A walking simulated robot, its ground reactions estimated, recorded and then reported."""
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.events.process import ShutdownProcess
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage

from launch import LaunchDescription

HERE = Path(__file__).resolve().parent
SETTLING = 5.0      # s for estimator and recorder to be there before the robot
ARGUMENTS = (
    ('robot', 'anymal_class', 'Name of a robot that comes with the package.'),
    ('duration', '20.0', 'Seconds to record.'),
    ('out', 'demo', 'Folder of bag and report; it must not exist yet.'),
    ('rviz', 'false', 'Whether to start rviz with the reaction forces.'),
)


def start(context):
    """Compose simulator, estimator and recorder; analyse what was recorded."""
    def argument(name):
        return LaunchConfiguration(name).perform(context)

    def include(name, **arguments):
        return IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(HERE / f'{name}.launch.py')),
            launch_arguments=[('robot', argument('robot')), *arguments.items()])
    command = ExecutableInPackage(package='legged_dynamics', executable='legged-dynamics')
    bag = str(Path(argument('out')) / 'bag')
    # Kernels are compiled once on a machine; the robot must not walk off meanwhile.
    compile_kernels = ExecuteProcess(
        cmd=[command, 'warm', 'ground_reaction_estimator'], output='screen')
    record = ExecuteProcess(cmd=[command, 'record', '--all', '-o', bag], output='screen')
    analyze = ExecuteProcess(
        cmd=[command, 'analyze', bag, '--robot', argument('robot'),
             '--out', str(Path(argument('out')) / 'report')], output='screen')
    stop = EmitEvent(event=ShutdownProcess(process_matcher=lambda action: action is record))
    live = [
        include('ground_reaction_estimator', rviz=argument('rviz')), record,
        TimerAction(period=SETTLING, actions=[include('simulated_robot')]),
        TimerAction(period=SETTLING + float(argument('duration')), actions=[stop]),
    ]
    return [
        compile_kernels,
        RegisterEventHandler(OnProcessExit(target_action=compile_kernels, on_exit=live)),
        RegisterEventHandler(OnProcessExit(target_action=record, on_exit=[analyze])),
        RegisterEventHandler(OnProcessExit(target_action=analyze, on_exit=[
            EmitEvent(event=Shutdown(reason='the report is written'))])),
    ]


def generate_launch_description():
    """Declare the arguments and start."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, default, text in ARGUMENTS), OpaqueFunction(function=start)])
