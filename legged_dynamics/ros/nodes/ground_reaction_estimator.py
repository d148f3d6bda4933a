# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node ground_reaction_estimator: joint states and IMU in, ground reaction of each foot out."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from legged_dynamics.estimation import EstimatorSettings, Fault, GroundReaction, LegOdometry, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground import given_normals
from legged_dynamics.estimation.leg_odometry import SETTINGS as ODOMETRY_SETTINGS
from legged_dynamics.estimation.leg_odometry import SETTLED
from legged_dynamics.estimation.settings import SETTINGS as ESTIMATOR_SETTINGS
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, OutputError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.feet import FootFrame
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions import markers
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component, Dialect
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, Pace
from legged_dynamics.ros.nodes.robot_component import ROBOT, RobotComponent
from legged_dynamics.ros.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.ros.nodes.robot_input import SWITCH_SETTINGS, RobotInput
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import quaternion_from_rotation

# -------------------------------------------------------------------------------------------------
# All results of one tick in one message, for nodes that want a single subscription.


_WRENCH = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


def all_of(dialect: Dialect, reaction: GroundReaction) -> Any:
    """
    Return all results of an estimate as a sensor_msgs/JointState of named values.

    ``effort`` of ``<foot>/force.x`` (foot link) and so on; unknown values are left out.
    """
    values = np.concatenate([
        markers.foot_rows(reaction)[:, [*range(6), *range(15, 18), *range(6, 15)]].ravel(),
        reaction.net_wrench, reaction.center_of_pressure, reaction.external_wrench,
        reaction.external_deviation, reaction.ground_normal, reaction.external_torque])
    return _known_efforts(dialect, reaction, _names(reaction.feet, reaction.joints), values)


def _known_efforts(dialect: Dialect, reaction: GroundReaction, names: Sequence[str],
                   values: np.ndarray) -> Any:
    """Return a JointState of the values that are known."""
    known = np.isfinite(values)
    if not known.all():
        names = [name for name, there in zip(names, known.tolist()) if there]
    return convert.joint_state(dialect, reaction.latest_ns, names, effort=values[known])


@lru_cache(maxsize=4)
def _names(feet: tuple[str, ...], joints: tuple[str, ...]) -> list[str]:
    of_foot = (*_WRENCH, 'contact', 'observable', 'contact_probability',
               *(f'{name}.stddev' for name in _WRENCH),
               *(f'base_{name}' for name in _WRENCH[:3]))
    return [*(f'{foot}/{name}' for foot in feet for name in of_foot),
            *(f'net/{name}' for name in _WRENCH),
            *(f'center_of_pressure.{axis}' for axis in 'xyz'),
            *(f'external/{name}' for name in _WRENCH),
            *(f'external/{name}.stddev' for name in _WRENCH),
            *(f'ground_normal.{axis}' for axis in 'xyz'),
            *(f'{joint}/external_torque' for joint in joints)]


# -------------------------------------------------------------------------------------------------


# Settings of the published markers.
_MARKER = (
    Setting('markers.rate', 30.0, 'Hz', 'Rate of the markers; 0 switches them off.', 0.0, 1000.0),
    Setting(
        'markers.newtons_per_meter', 500.0, 'N/m', 'Force drawn as an arrow of 1 m.', 1e-3, 1e6),
    Setting(
        'markers.friction', 0.6, '',
        'Friction coefficient of the cones and margins drawn; 0: none.', 0.0, 10.0),
)


@dataclass(frozen=True)
class DoubtSettings:
    """When a foot's contact is in doubt."""

    doubtful: float = 0.2  # mean of 4 p (1 - p) above which it is
    time: float = 0.5  # s over which the mean is taken


CONTACT = DoubtSettings()
NODE_SETTINGS = (
    *INPUT_SETTINGS, *SWITCH_SETTINGS, *_MARKER, *ODOMETRY_SETTINGS,
    Setting('odom_frame', 'odom', '', 'Parent frame of ~/odom.'),
    Setting(
        'whole_body_state', False, '',
        'Whether ~/whole_body_state is offered; it needs whole_body_state_msgs on ROS 2.'),
    Setting(
        'map.rate', 0.0, 'Hz',
        'Rate of ~/force_map, from joint efforts to forces of the feet in contact; 0: off.',
        0.0, 1000.0),
)
FAULT_TEXTS = {
    Fault.TIME_JUMPED_BACK: 'time jumped back; the estimator was reset',
    Fault.GAP: 'a gap in the joint states; the estimator was reset',
    Fault.NO_EFFORT: 'no joint effort is measured: forces rest on motion alone, and the squeeze '
                     'between feet is not observable',
    Fault.PARTIAL_EFFORT: 'some joints have no effort; their equations are left out',
    Fault.NO_IMU: 'no IMU reading: forces rest on joint torque alone',
    Fault.NO_ORIENTATION: 'the IMU gives no orientation; tilt is taken from gyro and '
                          'accelerometer',
    Fault.NOISE_MISSTATED: 'joint velocities or torques are more than twice as noisy as noise.* '
                           'says; the larger noise counts',
}

# -------------------------------------------------------------------------------------------------
# Leg odometry: where the base is, how fast, and which feet slip, from the first subscription on,
# by the feet that are felt to bear for a while.


class BaseStateOutput:
    """
    Publishes ``~/odom``, ``~/base_velocity``, ``~/<foot>/slip_probability`` on demand.

    With the parameter `whole_body_state` also ``~/whole_body_state``, of the state with forces.

    Nothing where leg odometry is not possible, as with an IMU off the base; the log says
    why.
    """

    def __init__(self, common: RobotComponent, model: RobotModel):
        self._common = common
        self._odometry: LegOdometry | None = None
        endpoints, qos = common.endpoints, common.dialect.qos.reliable(100)
        made, frame = StandaloneDialect(), common.parameters['odom_frame']
        self._odom = endpoints.prepared('~/odom', convert.odometry(
            made, 0, frame, model.base_link), qos)
        self._velocity = endpoints.prepared('~/base_velocity', made.message(
            'geometry_msgs/msg/TwistWithCovarianceStamped')(
                header=convert.header(made, 0, model.base_link)), qos)
        self._slips = [endpoints.prepared(f'~/{foot.link}/slip_probability',
                                          convert.float64(made, 0.0), qos)
                       for foot in common.config.feet]
        self._numbers = self._whole = None
        if common.parameters['whole_body_state']:
            self._numbers = markers.WholeBodyNumbers(
                common.config.apply_to(model), [foot.link for foot in common.config.feet],
                common.parameters['ground.friction'])
            self._whole = endpoints.prepared('~/whole_body_state', self._numbers.message(
                made, frame), qos)
        self.build(model)

    def build(self, model: RobotModel) -> None:
        """Use a robot from now on."""
        self._odometry = None
        try:
            odometry = LegOdometry(model, self._common.config,
                                   self._common.values(ODOMETRY_SETTINGS))
        except ConfigurationError as error:
            self._common.node.get_logger().warning(f'no odometry: {error}')
            return
        self._common.warm_up(model, odometry.update)
        self._odometry = odometry
        if self._numbers is not None:
            self._numbers.use(odometry.model)
        self.reset()

    def reset(self) -> None:
        """Forget where the base is; it is followed again while somebody listens."""
        self._follows, self._since = False, np.zeros(len(self._slips))
        self._newest = 0
        if self._odometry is not None:
            self._odometry.reset()

    def take(self, measurement: Measurement, reaction: GroundReaction) -> str:
        """Track and publish the base at one sample; return why not, or ''."""
        listened = any(one.get_subscription_count()
                       for one in (self._odom, self._velocity, *self._slips))
        whole = self._whole is not None and self._whole.get_subscription_count()
        if self._odometry is None or not (listened or whole or self._follows):
            return ''
        stamp, contact = measurement.stamp_ns, reaction.latest_contact
        if reaction.mode == Mode.UNAVAILABLE:
            return ''
        dt = min(max((stamp - self._newest) * 1e-9, 0.0), 1.0)
        self._newest = stamp
        self._since = np.where(contact, self._since + dt, 0.0)
        try:
            state = self._odometry.update(
                measurement, self._since >= SETTLED if self._follows else contact)
        except LeggedDynamicsError as error:
            return f'odometry: {error}'
        self._follows = True
        if listened:
            numbers = markers.odometry_numbers(state)
            self._odom.send(state.stamp_ns, lambda: numbers)
            self._velocity.send(state.stamp_ns, lambda: numbers[43:])
            slips = state.slip_probability * reaction.contact_probability
            for publisher, slip in zip(self._slips, slips.tolist()):
                publisher.send(state.stamp_ns, lambda slip=slip: [slip])
        if self._whole is not None and self._numbers is not None:
            self._whole.send(stamp, self._numbers, measurement, state, reaction)
        return ''


# -------------------------------------------------------------------------------------------------


class _ReactionTopics:
    """Publishes what is subscribed of each estimate; ``pushed``: link of the external wrench."""

    def __init__(self, common: RobotComponent, estimator: GroundReactionEstimator, pushed: str):
        self._common, self._dialect, self._parameters = common, common.dialect, common.parameters
        self._base, self._pace = estimator.model.base_link, Pace()
        self._warned = False
        made, base, feet, still = StandaloneDialect(), self._base, estimator.feet, [0.0] * 6
        push, qos = convert.wrench_stamped(made, 0, pushed, still), self._dialect.qos.reliable(500)
        endpoints, rows = common.endpoints, list[tuple[str, Any, Any]]()
        for i, foot in enumerate(feet):
            wrench = convert.wrench_stamped(made, 0, foot, still)
            rows += [(f'{foot}/wrench', wrench, lambda r, _, i=i: r.wrench[i].tolist()),
                     (f'{foot}/contact', convert.boolean(made, False),
                      lambda r, _, i=i: [r.latest_contact[i]]),
                     (f'{foot}/wrench_stddev', wrench,
                      lambda r, rows, i=i: rows()[i, 6:12].tolist()),
                     (f'{foot}/contact_probability', convert.float64(made, 0.0),
                      lambda r, _, i=i: [r.contact_probability[i]])]
        rows += [('net_wrench', convert.wrench_stamped(made, 0, base, still),
                  lambda r, _: r.net_wrench.tolist()),
                 ('center_of_pressure', convert.point_stamped(made, 0, base, still[:3]),
                  lambda r, _: _known(r.center_of_pressure)),
                 ('external_wrench', push, lambda r, _: r.link_wrench.tolist()),
                 ('external_wrench_stddev', push, lambda r, _: r.link_deviation.tolist())]
        if markers.installed(self._dialect):        # the optional package legged_dynamics_msgs
            rows += [('contacts', markers.foot_contacts(made, feet, base),
                      markers.contact_numbers),
                     ('foot_reactions', markers.foot_reactions(made, feet, base),
                      markers.reaction_numbers)]
        self._outputs = [(endpoints.prepared(f'~/{topic}', message, qos), numbers)
                         for topic, message, numbers in rows]
        self._external, self._all, self._markers = (
            endpoints.publisher(kind, f'~/{topic}', qos) for kind, topic in (
                ('sensor_msgs/msg/JointState', 'external_torque'),
                ('sensor_msgs/msg/JointState', 'reactions'),
                ('visualization_msgs/msg/MarkerArray', 'markers')))

    def publish(self, reaction: GroundReaction) -> None:
        """Publish an estimate with its stamp."""
        rows = cache(partial(markers.foot_rows, reaction))
        for publisher, numbers in self._outputs:
            publisher.send(reaction.latest_ns, numbers, reaction, rows)
        if self._all.get_subscription_count():
            self._publish_all(reaction)
        if self._external.get_subscription_count():
            self._publish_external(reaction)
        if self._markers.get_subscription_count():
            self._publish_markers(reaction, self._base)

    def _publish_all(self, reaction: GroundReaction) -> None:
        if not self._warned:
            self._warned = True
            self._common.node.get_logger().warning(
                '~/reactions, numbers by name in a JointState, ends with 0.4: read '
                '~/foot_reactions, a legged_dynamics_msgs/FootReactions')
        self._all.publish(all_of(self._dialect, reaction))

    def _publish_external(self, reaction: GroundReaction) -> None:
        made = _known_efforts(self._dialect, reaction, reaction.joints, reaction.external_torque)
        if made.name:
            self._external.publish(made)

    def _publish_markers(self, reaction: GroundReaction, base: str) -> None:
        rate = self._parameters['markers.rate']
        if not self._pace.due(reaction.latest_ns, rate):
            return
        self._markers.publish(markers.reaction_picture(
            self._dialect, reaction, base, lifetime_s=5.0 / rate,
            newtons_per_meter=self._parameters['markers.newtons_per_meter'],
            friction=self._parameters['markers.friction']))


@lru_cache(maxsize=64)
def _texts(faults: int) -> list[str]:
    return [text for fault, text in FAULT_TEXTS.items() if faults & fault]


def _known(values: np.ndarray) -> list[float]:
    """Return numbers, or none where they are not known."""
    return values.tolist() if math.isfinite(values[0]) else []


class GroundReactionNode(Component):
    """
    Estimates ground reactions for every joint state, and publishes with its stamp.

    ``~/<foot>/wrench`` (ground on robot, foot frame), ``~/reactions`` (everything) and
    others, while subscribed; by leg odometry ``~/odom`` and ``~/base_velocity``. Unknown
    values are left out, never NaN; ``/diagnostics`` gives the reason.
    """

    default_name = 'ground_reaction_estimator'
    has_kernels = True
    live = ('markers.',)

    # Parameters beside those of robot and estimator.
    own_settings: tuple[Setting, ...] = NODE_SETTINGS

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, (*ROBOT, *ESTIMATOR_SETTINGS, *self.own_settings),
                                     _settings)
        self.parameters = self.common.parameters

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Read parameters, join the topics, and build the estimator once the URDF is known."""
        self._settings = _settings(self.parameters)
        self._estimates = InputMonitor('estimate', round(self.parameters['input_timeout'] * 1e9))
        self.estimator: GroundReactionEstimator | None = None
        self._reaction: GroundReaction | None = None
        self._doubt = np.zeros(0)
        if self.parameters['whole_body_state']:
            self.dialect.message(markers.WHOLE_BODY)    # says now what is missing
        self.common.configure()
        self.input = self._listen()
        self.input.join()

    def _listen(self) -> RobotInput:
        return RobotInput(self.common, self._build, self._take)

    def activate(self) -> None:
        """Start estimating, with an empty memory."""
        if self.estimator is not None:
            self.estimator.reset()
            self._base_state.reset()
        self.input.start()

    def deactivate(self) -> None:
        """Stop estimating and publishing."""
        self.input.stop()

    def cleanup(self) -> None:
        """Leave all topics; keep what was learned of the actuators, where a file is given."""
        self.common.close()
        if self.estimator is not None and self.estimator.actuators is not None:
            try:
                self.estimator.actuators.keep()
            except OutputError as error:
                self.node.get_logger().warning(str(error))
        self.estimator = None

    def on_fault(self, error: Exception) -> None:
        """Show an unexpected failure of a callback in the diagnostics."""
        self._estimates.fault_of(self.common.now(), error)

    # ---- building --------------------------------------------------------------------------

    def _build(self, model: RobotModel) -> None:
        estimator = GroundReactionEstimator(model, self.common.config, self._settings, wait=False)
        if self.estimator is None:
            self._topics = _ReactionTopics(self.common, estimator, self._pushed(estimator.model))
            self._base_state = BaseStateOutput(self.common, model)
            self._force_map: Any = None
            if rate := self.parameters['map.rate']:
                from legged_dynamics.ros.nodes.foot_force_controller import EstimatedForceMap
                self._force_map = EstimatedForceMap(self.common, rate)
        elif estimator.feet != self.estimator.feet:
            raise LeggedDynamicsError('a new robot_description has other feet; restart the node')
        else:
            self._base_state.build(model)
        if self._force_map is not None:
            self._force_map.build(estimator.model)
        self.common.warm_up(model, lambda one: markers.foot_rows(estimator.update(one)))
        estimator.reset()
        self.estimator = estimator
        self._publish_fixed_frames(estimator.model)
        self.node.get_logger().info(
            f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints, feet '
            f'{", ".join(estimator.feet)}')

    def _pushed(self, model: RobotModel) -> str:
        """Return the frame of the external wrench."""
        link = self._settings.external_link or model.base_link
        return f'{link}/external_point' if any(self._settings.external_point) else link

    def _publish_fixed_frames(self, model: RobotModel) -> None:
        """Publish, latched, the frames of feet and external force that the URDF does not have."""
        frames = list(self.common.config.foot_frames)
        if any(self._settings.external_point):
            frames.append(FootFrame(
                self._pushed(model), self._settings.external_link or model.base_link,
                Transform(np.eye(3), np.array(self._settings.external_point))))
        if not frames:
            return
        ns = self.common.now()
        messages = [convert.transforms(self.dialect, ns, frame.parent, frame.name, frame.pose.p,
                                       quaternion_from_rotation(frame.pose.R)) for frame in frames]
        for message in messages[1:]:
            messages[0].transforms.extend(message.transforms)
        self._foot_frames = self.common.endpoints.publisher(
            'tf2_msgs/msg/TFMessage', 'tf_static', self.dialect.qos.latched)
        self._foot_frames.publish(messages[0])

    def _take(self, measurement: Measurement) -> None:
        reaction = self.estimator.update(measurement)  # type: ignore[union-attr]
        faults = int(reaction.faults) & ~int(Fault.WARMING_UP)
        in_doubt = self._contacts_in_doubt(reaction, faults)
        self._reaction = reaction
        if faults:
            findings = self.estimator.actuator_findings    # type: ignore[union-attr]
            texts = [*_texts(faults), *map(str, findings)]
            if in_doubt:
                texts.append(f'contact of {", ".join(in_doubt)} is in doubt, and with it how the '
                             'feet share the load')
            self._estimates.refused(self.common.now(), '; '.join(texts))
        if reaction.mode != Mode.UNAVAILABLE:
            self._estimates.saw(self.common.now())
            self._topics.publish(reaction)
        if failed := self._base_state.take(measurement, reaction):
            self._estimates.refused(self.common.now(), failed)
        if self._force_map is not None and reaction.mode != Mode.UNAVAILABLE:
            self._force_map.take(measurement, reaction)

    def _contacts_in_doubt(self, reaction: GroundReaction, faults: int) -> list[str]:
        """Return the feet whose contact has been uncertain for most of the last moments."""
        before, p = self._reaction, reaction.contact_probability
        if (before is None or not faults & int(Fault.NO_EFFORT)
                or reaction.mode == Mode.UNAVAILABLE):
            self._doubt = np.zeros(len(p))
            return []
        share = min((reaction.stamp_ns - before.stamp_ns) * 1e-9 / CONTACT.time, 1.0)
        self._doubt += share * (4.0 * p * (1.0 - p) - self._doubt)
        return [foot for foot, doubt in zip(reaction.feet, self._doubt.tolist())
                if doubt > CONTACT.doubtful]

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge inputs and estimate."""
        return self.input.judge(now) | {
            'estimate': self.input.state() or self._estimates.judge(now)}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return rates of inputs, and what the estimate says."""
        return self.input.details(now) | {
            'estimate': self._estimates.values(now) | self._estimate_values()}

    def _estimate_values(self) -> dict[str, Any]:
        reaction = self._reaction
        if reaction is None:
            return {}
        residual = reaction.base_residual
        values: dict[str, Any] = {
            'mode': reaction.mode.name.lower(),
            'feet in contact': ', '.join(foot for foot, down in zip(reaction.feet,
                                                             reaction.latest_contact)
                                   if down) or 'none',
            'not observable': ', '.join(
                foot for foot, down, seen in zip(reaction.feet, reaction.contact,
                                                 reaction.observable)
                if down and not seen) or 'none',
            'contacts off the feet': '; '.join(map(str, reaction.contacts_off_feet)) or 'none'}
        if self.estimator is not None and self.estimator.compiling:
            values['actuators'] = 'learning joins when it is compiled'
        if reaction.faults & Fault.NO_EFFORT:
            values['contact in doubt'] = ', '.join(
                foot for foot, doubt in zip(reaction.feet, self._doubt)
                if doubt > CONTACT.doubtful) or 'none'
        if np.isfinite(residual).all():
            values['mass beyond the model [kg]'] = reaction.mass_error
            values['base force residual [N]'] = float(np.linalg.norm(residual[:3]))
            values['base moment residual [N m]'] = float(np.linalg.norm(residual[3:]))
        return values


def _settings(values: dict[str, Any]) -> EstimatorSettings:
    found = EstimatorSettings.from_parameters(
        {setting.name: values[setting.name] for setting in ESTIMATOR_SETTINGS})
    given_normals(found.ground_normal, found.ground_normals, len(values['robot.feet']))
    return found


main = partial(run, GroundReactionNode)   # the executable; returns its exit code
