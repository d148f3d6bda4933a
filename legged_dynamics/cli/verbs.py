# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command line and their arguments; their work is imported when called."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from legged_dynamics.cli.arguments import (
    DECIDED,
    Argument,
    Verb,
    argument,
    count,
    is_bag,
    is_folder,
    is_positive,
    is_range,
    is_robot,
    is_there,
    scales_of,
    switch,
    truth_of,
    urdf_file,
)
from legged_dynamics.node_registry import NODES
from legged_dynamics.recordings.file_formats import BAG_PATH, LOADS, MODEL, MOTION, readable

# -------------------------------------------------------------------------------------------------
# Rows that several verbs have.


def bag_argument(more: str = '', **options: Any) -> Argument:
    """Return the argument of a recording."""
    return argument('bag', 'BAG', BAG_PATH + more, Path, is_bag, **options)


def robot_arguments(where: str = 'in the bag or on the bus', otherwise: str = 'the one that fits '
                    'the URDF') -> tuple[Argument, Argument]:
    """Return ``--robot`` and ``--urdf``: which robot a verb is about."""
    return (argument('--robot', 'YAML', 'robot YAML (path, or name of one that comes with the '
                     f'package); default: {otherwise}', check=is_robot),
            argument('--urdf', 'FILE', 'URDF (path, or name of a robot that comes with the '
                     f'package); default: robot_description {where}', check=urdf_file))


URDF = argument('urdf', 'URDF', 'path of a URDF, or the name of a robot that comes with the '
                'package', check=urdf_file)
TOPICS = (argument('--joint-states', 'TOPIC'), argument('--imu', 'TOPIC'))
PART = (argument('--start', 'S', 'from the beginning of the bag [s]', float, is_range),
        argument('--end', 'S', 'from the beginning of the bag [s]', float, is_range))
MANY = (
    argument('--workers', 'N', 'processes on this machine; default: one a processor', count),
    switch('--no-series', 'keep no time series in the data set'))
STORAGE = argument('--storage', help='of the bag that is written', choices=('mcap', 'sqlite3'),
                   default='mcap')
OPEN = switch('--open', 'show the page in the default browser')
NETWORK = switch('--network', 'talk to other machines, too; by default all stays on this one, '
                 f'unless {", ".join(DECIDED[:-1])} or {DECIDED[-1]} is set')
# Nodes that have kernels.
COMPILED = tuple(name for name, entry in NODES.items() if entry.has_kernels)
_CLIMBER = (
    'robot, wall and gait; what is not given is as in its YAML',
    argument('--robot', 'YAML', 'path, or name of one that comes with the package',
             default='stickybot'),
    argument('--gait', choices=('diagonal', 'wave')),
    argument('--duty', 'PART', 'of the period that a foot is on the wall; a wave has 1 - 0.8/N '
             'unless given, so that feet overlap', float),
    argument('--pads', help='what the feet hold: anything, any way up to a limit, or one way',
             choices=('none', 'disc', 'directional')),
    argument('-p', 'NAME:=VALUE', 'any other setting, for example -p stickybot.body_mass:=0.4; '
             'may be repeated', action='append', default=[], dest='values'))

# -------------------------------------------------------------------------------------------------

DEMO = Verb(
    'demo', 'demo', 'a simulated robot walks; estimate, record and report',
    'The robot stands, trots, turns, goes sideways, is pushed and sits down. Runs simulator, '
    'controller, estimator and recorder as separate processes on a DDS bus on the loopback '
    'interface, then analyses the recording. Needs no ROS and no display. The exit code is 3 when '
    'the robot fell.', (
        argument('-o --out', 'DIR', 'where bag, logs and report go; default: demo/<date and time>',
                 Path),
        argument('--robot', 'NAME', 'robot with a URDF beside its YAML', default='anymal_class'),
        argument('--schedule', 'TEXT', "move by the simulated robot's own controller: behaviours "
                 'with seconds, such as stand 4, trot_forward 12'),
        argument('--speed', 'X', 'greatest real-time factor; 0: as fast as the machine can',
                 float, default=1.0),
        argument('--middleware', help='of the nodes', choices=('cyclonedds', 'rclpy'),
                 default='cyclonedds'),
        switch('--view', 'in a browser too: live, and afterwards the recording with a slider over '
               'its time, until Ctrl-C'),
        argument('--port', 'N', 'of the view', int, default=8080), OPEN))
RUN = Verb(
    'run', 'run', 'run a node',
    'Runs a node until Ctrl-C. What follows its name goes to the node, --ros-args included. `run '
    'unitree --help` lists the options of a Unitree robot.', (
        NETWORK, argument('node', 'NODE', f'one of {", ".join(NODES)}', choices=NODES),
        argument('arguments', '--ros-args ...', 'ROS 2 arguments: -p name:=value, -r from:=to, '
                 '--params-file FILE', nargs=argparse.REMAINDER)))
RECORD = Verb(
    'record', 'record', 'record topics from the bus into a bag',
    'Records topics into a rosbag2 until Ctrl-C, as they come off the wire.', (
        argument('topics', 'TOPIC', 'such as /joint_states; with its type (/joint_states:'
                 'sensor_msgs/msg/JointState) it is subscribed to before anybody publishes; '
                 'default: all', nargs='*'),
        switch('--all', 'all topics, also those to come, beside those named'),
        argument('--exclude', 'TOPIC', 'not this topic; may be repeated', action='append',
                 default=[]),
        argument('-o --out', 'DIR', 'folder to make; default: bag_<date and time>', Path),
        STORAGE,
        argument('--answer', 'TOPIC', 'say on ~/answer when a message of this topic is '
                 'recorded, for a simulator in lock-step; given more than once: up to which '
                 'stamp all of these topics are', action='append', default=[]),
        argument('--duration', 'S', 'stop by itself after so long', float,
                 is_positive('--duration', 'a time above 0 s')),
        switch('--validation', 'say step by step what the robot is to do for `validate`, and '
               'stop after the last step'), NETWORK))
REPAIR = Verb(
    'repair', 'record:run_repair', 'save what is whole in a bag that was cut off',
    'Writes everything up to the last whole message of a recording that was never closed '
    '(killed, out of power, disk full) into a new bag; the old one stays as it is.', (
        argument('bag', 'BAG', BAG_PATH, Path, is_there),
        argument('-o --out', 'DIR', 'folder to make; default: <bag>_repaired', Path)))
ANALYZE = Verb(
    'analyze', 'analyze', 'run the estimator over a bag or a CSV log and write a report',
    'Runs the live estimator over a rosbag2 faster than real time, compares with the truth where '
    'the bag has it, and writes an HTML report, all estimates as CSV, and a copy of the bag with '
    'estimates and markers. Of several bags, or of folders with bags in them, it makes one data '
    'set (Parquet) and a report on all robots; what was done already is not done again. A CSV log '
    'has the columns time, and q_JOINT, v_JOINT and tau_JOINT of each joint; it needs --urdf '
    'and --robot.', (
        argument('bags', 'BAG', f'{BAG_PATH}, CSV log; or folders of many bags', Path, is_there,
                 nargs='+'),
        argument('-o --out', 'DIR', 'where to write; default: BAG_analysis in the present folder, '
                 'fleet_analysis of many', Path),
        OPEN,
        'robot', *robot_arguments('in the bag'),
        argument('--params-file', 'FILE', 'further parameters that the live estimator had; may be '
                 'repeated', Path, action='append', default=[]),
        'topics', *TOPICS,
        argument('--truth', 'FOOT=TOPIC', 'WrenchStamped with the true wrench of a foot, in its '
                 'frame or, as force plates give it, in world axes about the origin; of a CSV log '
                 'FOOT=X,Y,Z, columns of force in world axes; may be repeated',
                 check=truth_of, action='append', default=[]),
        argument('--valid', 'TOPIC', 'Bool that is true where the truth is complete'),
        argument('--contact', 'SOURCE', 'detected (default); bag: the true contacts; or Bool '
                 'topics, one a foot in the order of the robot YAML', nargs='+',
                 default=['detected']),
        'part of the bag, and output', *PART,
        switch('--no-report', 'tables on the terminal only'), switch('--no-csv'),
        switch('--no-enriched-bag'), STORAGE,
        argument('--rrd', 'FILE', "also write a file for rerun's viewer, .rrd (extras rerun and "
                 'view)', Path),
        'many recordings', *MANY,
        switch('--robot-folders', 'robots are named by the folders right below DIR; default: by '
               'the namespace of their joint states, or by their model'),
        argument('--reports', 'N', 'recordings that get a report of their own, the oddest first',
                 count, default=10)))
VIEW = Verb(
    'view', 'view', 'the robot and the forces on its feet in a browser',
    'Serves a page with the robot, the forces on its feet, friction cones, support polygon, '
    'margins and curves: of a bag with a slider over its time or, without one, live from the bus. '
    'Needs pip install ".[view]", and no network.', (
        bag_argument('; without it, live', nargs='?'), *robot_arguments(),
        argument('--meshes', 'DIR', "folder of the description's meshes; without it, capsules",
                 Path, is_folder('--meshes')),
        argument('--odom', 'TOPIC', 'nav_msgs/Odometry with the pose of the base; default: of a '
                 'bag, found by name; live, by the feet in contact'),
        *(argument(f'--{name}', 'TOPIC', 'live, if it has another name')
          for name in ('joint-states', 'imu', 'reactions')),
        argument('--friction', 'X', 'coefficient of cones and margins', float,
                 is_positive('--friction'), default=0.6),
        argument('--newtons-per-meter', 'N', 'force drawn as an arrow of 1 m', float,
                 is_positive('--newtons-per-meter'), default=500.0),
        argument('--rate', 'HZ', 'pictures a second, at most', float, is_positive('--rate'),
                 default=30.0),
        argument('--at', 'S', 'begin a recording at this time and stand still there [s]', float,
                 default=0.0),
        OPEN,
        argument('--rrd', 'FILE', "write a recording for rerun's viewer instead, .rrd (extra "
                 'rerun)', Path),
        argument('--host', 'ADDRESS', 'address to serve on; 0.0.0.0: for everybody',
                 default='127.0.0.1'),
        argument('--port', 'N', '0: any that is free', int, default=8080), NETWORK))
DOCTOR = Verb(
    'doctor', 'doctor', 'find what is wrong with URDF, YAML, driver or sensors',
    'Looks for swapped or flipped joints, wrong units, offsets, torques, masses, clocks, IMU '
    'mounts and dead sensors, in a bag or live: then it says what to do. Each finding comes with '
    'how sure it is and the YAML lines that fix it. Exit code 1 when something was found.', (
        bag_argument('; without it, live on the bus', nargs='?'), *robot_arguments(), *TOPICS,
        switch('--use-sim-time', 'live, of a simulator that publishes /clock'), *PART,
        argument('--fix', 'OUT.YAML', 'write the robot YAML with all fixes', Path),
        argument('-o --out', 'FILE.HTML', 'write a report with a picture of each finding',
                 Path), NETWORK))
VALIDATE = Verb(
    'validate', 'doctor:run_validate',
    'how far forces can be trusted on this robot, without force sensors',
    'Judges the forces of a robot by two minutes of joint efforts and IMU (`record --validation` '
    "asks for them): sums against the weight, base against torque, feet in the air, and what each "
    "joint's torque must be off by. Exit code 3 where forces are not right within the limit.", (
        bag_argument(), *robot_arguments('in the bag'),
        argument('--scale', 'FOOT=KG', 'reading of a scale under a foot while the robot '
                 'stands still in this recording; more than once for more feet',
                 check=scales_of, action='append',
                 default=[]),
        argument('--limit', 'PERCENT', 'error of a foot, in %% of the weight, beyond which '
                 'forces are not to be trusted', float, default=10.0),
        *TOPICS, *PART,
        argument('-o --out', 'FILE.HTML', 'page to write', Path, default=Path('validation.html'))))
IDENTIFY = Verb(
    'identify', 'identify', 'masses, friction, motor constants, offsets and noise out of a bag',
    'From a minute of standing, squatting and leaning, swinging each leg and trotting, with joint '
    'efforts; each value with an error bar, and which motion would tell what this one does not. '
    'Masses and torques have one common factor: give --total-mass or --trust-effort. Exit code 1 '
    'without; 3 when the result is not validated on another bag, or explains that one worse than '
    'the description; in that case nothing is written.', (
        bag_argument(),
        argument('--validate', 'BAG', 'another bag, on which described and identified are '
                 'compared', Path, is_bag),
        *robot_arguments('in the bag'), *TOPICS, *PART,
        argument('--total-mass', 'KG', 'of the weighed robot', float),
        switch('--trust-effort', 'the efforts are right on the whole'),
        argument('-o --out', 'DIR', 'folder for NAME.yaml and NAME.urdf, named as --robot', Path)))
INVERSE_DYNAMICS = Verb(
    'inverse-dynamics', 'inverse_dynamics', 'joint torques and foot wrenches of a recorded motion',
    'From motion alone, of people in motion capture and of legged robots. Reads a '
    f'{readable(MOTION)}, or markers (.c3d, .trc) by inverse kinematics of OpenSim (extra '
    '`opensim`). A bag has joint states and odometry or an IMU; a CSV file has the columns time, '
    'base_x, base_y, base_z, base_qx, base_qy, base_qz, base_qw and one for each joint of the '
    'URDF. Writes CSV, a bag and an HTML report, with errors where there are force plates. Of '
    'folders (as a laboratory, OpenCap or Pose2Sim leaves them), or of several motions, it makes '
    'one data set (Parquet) and one report; models and forces are found beside the motions.', (
        argument('motion', 'BAG|MOT|CSV|C3D|DIR', '', Path, is_there, nargs='*'),
        switch('--sample', 'a recording that comes with the package, to try it: a made-up walker '
               'with its true forces'),
        argument('-o --out', 'DIR', 'where to write; default: NAME_inverse_dynamics in the '
                 'present folder', Path),
        'robot or person',
        argument('--urdf --model', 'FILE', f'{readable(MODEL)}; default: robot_description in the '
                 'bag', dest='urdf'),
        argument('--feet', 'LINK', 'links that touch the ground; default: those of the robot YAML',
                 nargs='+', default=[]),
        argument('--sole', ('FRONT', 'BACK', 'LEFT', 'RIGHT'), 'edges of the sole of the feet '
                 'given, in their frames [m]; default: 0.13 -0.10 0.04 -0.04, or for an OpenSim '
                 'model what its bones say', float, nargs=4),
        argument('--point-radius', 'M', 'the feet given are balls of this radius', float),
        robot_arguments(otherwise='the one that fits the URDF, unless feet are given')[0],
        argument('--mass', 'KG', "total mass, from a scale; 'plates' for what force plates alone "
                 "say, 'model' for the model's alone; default: that of the model, and of a person "
                 'corrected by force plates where there are any'),
        argument('--belt-speed', 'SPEED', 'of the belt of a treadmill [m/s], positive backward, '
                 'or FOOT=SPEED for each foot of a split belt; 0 for the floor; default: found '
                 'by the feet that stand', nargs='+', default=['auto']),
        argument('--loads', 'FILE', f'measured forces to compare with: {readable(LOADS)}'),
        'method',
        argument('--method', 'NAME', 'travelling (default), sole or ankle; '
                 'docs/double_support.md compares them', default='travelling'),
        argument('--cutoff', 'HZ', 'low-pass of the recorded poses before they are '
                 'differentiated, zero phase; 0 for none; default: 10', float),
        argument('--contact', 'FILE', 'CSV with the columns time and one a foot, 1 on the ground; '
                 'default: detected from the motion', default='detected'),
        argument('-p', 'NAME:=VALUE', 'a setting of contact detection and load transfer, for '
                 'example -p stance.flight_load:=0.1; may be repeated', action='append',
                 default=[], dest='values'),
        'CSV', switch('--degrees', 'joint angles are in degrees'),
        switch('--missing-at-zero', 'joints without a column stay at zero'),
        'bag', *TOPICS, argument('--odom', 'TOPIC'),
        argument('--base', help="source of the base's motion; default: the pose by odometry, the "
                 'acceleration by the IMU where that has less noise',
                 choices=('both', 'odometry', 'imu'), default=''),
        argument('--truth', 'FOOT=TOPIC', 'WrenchStamped with the true wrench of a foot; may be '
                 'repeated', check=truth_of, action='append',
                 default=[]),
        argument('--valid', 'TOPIC', 'Bool that is true where the truth is complete'), *PART,
        'many trials', *MANY,
        'output', switch('--no-report'), switch('--no-csv'), switch('--no-bag'),
        switch('--opensim', 'external loads (.mot and .xml) and joint moments (.sto) for OpenSim, '
               'too'),
        switch('--no-compare', 'do not measure the other methods against the truth'), STORAGE))
CONVERT = Verb(
    'convert', 'convert', 'a C3D file for OpenSim; an OpenSim model as a URDF',
    "From FILE.c3d: markers as FILE.trc and force plates as FILE_forces.mot, as OpenSim's tools "
    'read them. From MODEL.osim: MODEL.urdf, joints with several coupled axes as the nearest '
    'hinge, with what that costs said.', (
        argument('file', 'C3D|OSIM', kind=Path),
        argument('-o --out', 'DIR', 'folder to write to; default: the present one', Path,
                 default=Path('.')),
        argument('--up', help="the laboratory's upright axis in a C3D file", choices='xyz',
                 default='z'),
        argument('--forward', help='the axis along which people walk there; default: x (write '
                 '--forward=-y for a negative one)', choices=('x', 'y', 'z', '-x', '-y', '-z'),
                 default='x')))
INFO = Verb(
    'info', 'info', 'masses, joints, feet and oddities of a URDF',
    'Shows the tree of a URDF with its masses and joints, what is odd about it, and what the '
    'ground does to the feet of the standing robot.', (
        argument('description', 'URDF', 'path of a URDF, or the name of a robot that comes with '
                 'the package; default: the one beside the YAML', check=urdf_file, nargs='?'),
        robot_arguments()[0], argument('--urdf', 'FILE', 'another way to give it',
                                       check=urdf_file),
        argument('--picture', 'SVG', 'where to draw skeleton, feet, soles, IMU axes and load per '
                 'foot; default, with --robot: NAME_check.svg in the present folder', Path),
        switch('--json', 'print one object for programs instead, without feet where no YAML is '
               'known, and draw nothing; a limit that is not stated is null')))
NEW_ROBOT = Verb(
    'new-robot', 'info:run_new', "write a robot's YAML from its URDF",
    'Writes a commented YAML for a URDF: guesses feet, their radius or soles, the IMU, the order '
    'of joints and the noise, says what it guessed by what, and what must be measured. Draws a '
    'check picture of the robot beside it.', (
        argument('urdf', 'URDF', kind=Path),
        argument('-o --out', 'YAML', 'default: NAME.yaml in the present folder, NAME as in the '
                 'URDF', Path),
        argument('--feet', 'LINK', 'links of the feet; default: guessed', nargs='+', default=[]),
        argument('--imu', 'LINK', 'link of the IMU; default: guessed'),
        switch('--force', 'write over a file that is there')))
FORCE_MAP = Verb(
    'force-map', 'force_map', 'which forces the feet can be given in a pose, as a figure',
    'Draws, for each foot of a standing robot, the ground forces that joint efforts within their '
    'limits can produce (polytope, and ellipsoid inside it) and the friction cone, and prints the '
    'map f = k_0 + D tau from efforts to forces. A climber stands on the wall of its YAML.', (
        URDF,
        argument('-o --out', 'FILE', 'figure, a .png, .svg or .pdf, or the numbers as '
                 '.csv; default: NAME_force_map.png in the present folder', Path),
        switch('--json', 'print everything as JSON; no figure, unless by -o'),
        argument('--friction', 'MU', 'coefficient', float, default=0.6),
        switch('--all-motors', "forces by all motors, not by each foot's own leg alone"),
        'asked',
        argument('--at', 'LINK', 'where force or wrench act: a foot, or any link'),
        argument('--force', ('FX', 'FY', 'FZ'), 'efforts within their limits for this force on a '
                 'foot [N], ground axes', float, nargs=3),
        argument('--torque', 'JOINT=NM', 'forces on the feet with these efforts', nargs='+'),
        argument('--wrench', ('FX', 'FY', 'FZ', 'MX', 'MY', 'MZ'), 'instead of feet: joint '
                 'efforts J^T g for this wrench about the origin of a link, the base held '
                 '[N, N m]', float, nargs=6),
        argument('--axes', help='of the wrench', choices=('base', 'link', 'world'),
                 default='base'),
        argument('--side', help='what the wrench acts on', choices=('environment', 'robot'),
                 default='environment'),
        argument('--velocity', 'JOINT=RAD/S', 'with --wrench: joints that move', nargs='+'),
        'robot', robot_arguments(otherwise='the one that fits the URDF, unless feet are given')[0],
        argument('--feet', 'LINK', 'point feet, without a robot YAML', nargs='+', default=[]),
        argument('--point-radius', 'M', 'radius of the feet given (default: 0)', float,
                 default=0.0),
        'pose',
        argument('--position --pose', 'POSE', 'nominal (of the robot YAML; default), zero, and '
                 'joints that depart from it as JOINT=RAD', nargs='+', default=['nominal'],
                 dest='pose'),
        argument('--tilt', ('ROLL', 'PITCH'), 'of the base [deg]', float, nargs=2,
                 default=(0.0, 0.0)),
        argument('--on', 'LINK', 'feet on the ground; default: all', nargs='+', default=[])))
REPRODUCE = Verb(
    'reproduce', 'reproduce', 'run what a paper reports and compare',
    'biped: recursive workspace control of a planar biped (Wendlandt and Sastry). Crouches for '
    '10 s on pinned feet and on MuJoCo contact, and reports final values beside those of the '
    'paper, figures 1 to 7 and a film of the crouch (GIF, and MP4 where ffmpeg is installed).', (
        argument('paper', 'PAPER', 'one of biped', choices=('biped',)),
        argument('-o --out', 'DIR', 'where to write; default: PAPER_reproduced in the present '
                 'folder', Path),
        switch('--robustness', 'also crouch with wrong masses, other friction and rates, pushes, '
               'delay and noise, in parallel; adds robustness.md')))
STICKYBOT = Verb(
    'stickybot', 'stickybot', 'a climbing robot on compliant hips climbs; film and report',
    'Simulates the climbing robot with and without the reduction of its reaction forces, and '
    'writes a film (GIF, and MP4 where ffmpeg is installed) and an HTML report.', (
        argument('-o --out', 'DIR', 'where film and report go', Path,
                 default=Path('stickybot_climb')),
        argument('--duration', 'S', 'of the climb [s], rounded up to whole periods', float,
                 default=6.0),
        switch('--no-film'),
        *_CLIMBER,
        argument('--limbs', 'N', 'even number, in pairs', int),
        argument('--inclination', 'DEG', 'of the wall: 0 a floor, 90 upright, more an '
                 'overhang, 180 a ceiling', float),
        argument('--amplitude', 'RAD', "half of a hip's sweep", float),
        argument('--reduction', help='of reaction forces, in the film',
                 choices=('off', 'full', 'turning')),
        argument('--plant', help="whose physics is shown: the package's own planar "
                 'equations, or MuJoCo, and then both are compared',
                 choices=('own', 'mujoco'), default='own')))
STICKYBOT_SWEEP = Verb(
    'stickybot-sweep', 'stickybot:run_sweep',
    'the climbing robot over ranges of its parameters; table, plots',
    'Climbs with and without reduction of the reaction forces, in parallel on the cores, and '
    'writes a table (Markdown), all numbers (CSV) and plots. Without options, all five parameters '
    'are swept, one at a time.', (
        argument('-o --out', 'DIR', 'where table and plots go', Path,
                 default=Path('stickybot_sweep')),
        argument('--duration', 'S', 'of each climb [s]', float, default=4.0),
        switch('--grid', 'all combinations of what is swept, not one at a time'),
        argument('--workers', 'N', 'processes; default: as many as there are cores', int),
        *_CLIMBER,
        'what is swept',
        argument('--amplitude', 'RAD', kind=float, nargs='+'),
        argument('--stiffness', 'FACTOR', 'of the hips, times their own', float, nargs='+'),
        argument('--damping', 'RATIO', 'nominal damping ratio', float, nargs='+'),
        argument('--inclination', 'DEG', kind=float, nargs='+'),
        argument('--limbs', 'N', kind=int, nargs='+'),
        argument('--vary', ('NAME', 'VALUE'), 'any other setting; may be repeated',
                 nargs='+', action='append', default=[])))
WARM = Verb(
    'warm', 'warm', 'compile the kernels of the nodes ahead of their first start',
    "Compiles the kernels of all nodes, or of those named, and keeps them in the user's cache "
    'folder (NUMBA_CACHE_DIR moves it). Also for images and after updates. Kernels of older '
    'sources that nobody has used for a while are deleted.', (
        argument('nodes', 'NODE', f'of {", ".join(COMPILED)}; default: all', nargs='*'),
        argument('--keep', 'DAYS', 'delete kernels not used for so long', float, default=60.0),
        argument('--into', 'FILE', 'compile for any processor of this kind, and write all kernels '
                 'into one file: what a wheel brings', Path)))
# In the order of the help.
VERBS = (DEMO, RUN, RECORD, REPAIR, ANALYZE, VIEW, DOCTOR, VALIDATE, IDENTIFY, INVERSE_DYNAMICS,
         CONVERT, INFO, NEW_ROBOT, FORCE_MAP, REPRODUCE, STICKYBOT, STICKYBOT_SWEEP, WARM)
