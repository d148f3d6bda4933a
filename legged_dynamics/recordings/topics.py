# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The roles of a bag's topics: by type first, then by name, unless an option names them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bags import BagReader

JOINT_STATE = 'sensor_msgs/msg/JointState'
IMU = 'sensor_msgs/msg/Imu'
STRING = 'std_msgs/msg/String'
BOOL = 'std_msgs/msg/Bool'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
ODOMETRY = 'nav_msgs/msg/Odometry'


POSE = 'geometry_msgs/msg/PoseStamped'


@dataclass(frozen=True)
class TopicChoice:
    """
    The topics of a bag that an analysis reads; empty where the bag has none.

    Attributes
    ----------
    joint_states, imu, description, odometry : str
        Inputs, URDF, true pose of the base in the world.
    wrench_truth, contact_truth : dict of str to str
        True wrench and contact flag, by foot.
    valid : str
        Flag that says when the truth is complete.
    live : dict of str to str
        Wrenches that the estimator published when the bag was recorded, by foot.
    desired : dict of str to str
        Wrench that a controller commanded, by foot.
    reference : str
        Reference pose of the base, as a controller had it.
    foot_switches : str
        Contact switches of the feet.

    """

    joint_states: str
    imu: str = ''
    description: str = ''
    odometry: str = ''
    wrench_truth: Mapping[str, str] = field(default_factory=dict)
    contact_truth: Mapping[str, str] = field(default_factory=dict)
    valid: str = ''
    live: Mapping[str, str] = field(default_factory=dict)
    desired: Mapping[str, str] = field(default_factory=dict)
    reference: str = ''
    foot_switches: str = ''

    @property
    def missing(self) -> list[str]:
        """Sentences on topics that the bag does not have."""
        said = []
        if not self.imu:
            said.append('The bag has no IMU topic (sensor_msgs/Imu): forces rest on joint torque '
                        'alone, with the base taken as slow and upright.')
        if not self.wrench_truth:
            said.append('The bag has no true foot wrenches (ground_truth/<foot>/wrench, or '
                        '--truth FOOT=TOPIC): there is nothing to compare the estimate with.')
        if not self.live:
            said.append('The bag has no wrenches of the estimator itself '
                        '(ground_reaction_estimator/<foot>/wrench): live and replay cannot be '
                        'compared, and there is no latency to measure.')
        return said


def namespace_of(joint_states: str) -> str:
    """Return a topic's namespace, such as '/robot'; '' for '/joint_states'."""
    return joint_states.rsplit('/', 1)[0]


def input_topics(bag: BagReader, joint_states: str = '', imu: str = '') -> tuple[str, str, str]:
    """
    Return the topics of joint states, IMU and description, empty where there is none.

    Found by type and name when not given; raises BagError if ambiguous.
    """
    joints = _named(bag, joint_states, JOINT_STATE) if joint_states else _best(
        bag, JOINT_STATE, 'joint_states', '--joint-states')
    if not joints:
        silent = [name for name, topic in bag.topics.items() if topic.type == JOINT_STATE]
        raise BagError(f'{bag.path}: {", ".join(silent)} is there ({JOINT_STATE}) and holds no '
                       'message' if silent else
                       f'{bag.path} has no joint states ({JOINT_STATE}); its topics are: '
                       f'{", ".join(sorted(bag.topics))}')
    space = namespace_of(joints)
    found = _named(bag, imu, IMU) if imu else _best(bag, IMU, 'imu/data', '--imu', space)
    descriptions = [name for name in bag.of_type(STRING) if name.endswith('/robot_description')]
    near = f'{space}/robot_description'
    return joints, found, near if near in descriptions else next(iter(descriptions), '')


def output_topics(bag: BagReader, feet: Sequence[str], joint_states: str,
                  truth: Mapping[str, str], valid: str = '') -> dict[str, object]:
    """
    Return the topics of truth and live estimates, as keywords of TopicChoice.

    The joint states' namespace is searched first; ``valid``: flag of complete truth.
    """
    space, wrenches = namespace_of(joint_states), bag.of_type(WRENCH)
    live = sorted((name for name in wrenches if '/ground_truth/' not in name
                   and not name.startswith('/replay/')),
                  key=lambda name: not name.startswith(f'{space}/'))

    def there(name: str, kind: str) -> str:
        return name if _has(bag, name, kind) else ''

    def ending(names: Sequence[str], end: str) -> str:
        return next((name for name in names if name.endswith(end)), '')

    by_foot = {
        'wrench_truth': [_named(bag, truth[foot], WRENCH) if foot in truth else
                         there(f'{space}/ground_truth/{foot}/wrench', WRENCH) for foot in feet],
        'contact_truth': [there(f'{space}/ground_truth/{foot}/contact', BOOL) for foot in feet],
        'live': [ending(live, f'/{foot}/wrench') for foot in feet],
        'desired': [ending(wrenches, f'/{foot}/desired_wrench') for foot in feet]}
    return {
        **{role: {foot: name for foot, name in zip(feet, names) if name}
           for role, names in by_foot.items()},
        'reference': ending(bag.of_type(POSE), '/body_reference'),
        'foot_switches': there(f'{space}/foot_switches', JOINT_STATE),
        'valid': _named(bag, valid, BOOL) if valid else '',
        'odometry': odometry_topic(bag, joint_states)}


def odometry_topic(bag: BagReader, joint_states: str, odometry: str = '') -> str:
    """Return the topic with the base's pose in the world; empty if there is none."""
    if odometry:
        return _named(bag, odometry, ODOMETRY)
    found = [name for name in bag.of_type(ODOMETRY) if name.endswith('/odom')]
    near = [name for name in found if name.startswith(f'{namespace_of(joint_states)}/')]
    # The bag may hold the robot's own odometry in addition to the truth.
    true = [name for name in near or found if '/ground_truth/' in name]
    return next(iter(true or near or found), '')


def _has(bag: BagReader, name: str, kind: str) -> bool:
    topic = bag.topics.get(name)
    return topic is not None and topic.type == kind and topic.count > 0


def _named(bag: BagReader, name: str, kind: str) -> str:
    name = name if name.startswith('/') else f'/{name}'
    if not _has(bag, name, kind):
        there = bag.topics.get(name)
        got = f'that is a {there.type}' if there and there.type != kind else 'there is none'
        raise BagError(f'expected a topic {name} with {kind}, {got}; topics of that type are: '
                       f'{", ".join(bag.of_type(kind)) or "(none)"}')
    return name


def _best(bag: BagReader, kind: str, usual: str, option: str, space: str = '') -> str:
    """Return the topic of a type whose name fits best, or ''."""
    choices = bag.of_type(kind)
    for fits in (lambda name: name == f'{space}/{usual}',
                 lambda name: name.endswith(f'/{usual}'),
                 lambda name: space and name.startswith(f'{space}/') and kind == IMU,
                 lambda name: kind == IMU):
        found = [name for name in choices if fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise BagError(f'{bag.path} has several topics of {kind} that could be meant: '
                           f'{", ".join(found)}; choose one with {option}')
    return choices[0] if len(choices) == 1 else ''
