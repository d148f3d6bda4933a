# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node ground_reaction_estimator: joint states and IMU in, ground reaction of each foot out."""
from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from legged_dynamics.estimation import EstimatorSettings, Fault, GroundReaction, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground import given_normals
from legged_dynamics.estimation.settings import SETTINGS as ESTIMATOR_SETTINGS
from legged_dynamics.exceptions import LeggedDynamicsError, OutputError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.feet import FootFrame
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions import markers as own_messages
from legged_dynamics.ros.conversions.markers import reaction_picture
from legged_dynamics.ros.middleware.protocol import Component, Dialect
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.body.base_state import SETTINGS as BASE_SETTINGS
from legged_dynamics.ros.nodes.body.base_state import BaseStateOutput
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, publish_if_heard
from legged_dynamics.ros.nodes.robot_component import ROBOT, RobotComponent
from legged_dynamics.ros.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.ros.nodes.robot_input import RobotInput
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import quaternion_from_rotation

# -------------------------------------------------------------------------------------------------
# All results of one tick in one message, for nodes that want a single subscription.


_WRENCH = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


def all_of(dialect: Dialect, reaction: GroundReaction) -> Any:
    """
    Return all results of an estimate as a sensor_msgs/JointState of named values.

    ``effort`` of ``<foot>/force.x`` (foot link), ``<foot>/contact``,
    ``center_of_pressure.x`` (base link) and so on; unknown values are left out.
    """
    deviation = np.sqrt([np.diagonal(reaction.covariance_of(foot, latest=True)).clip(0.0)
                         for foot in reaction.feet])
    in_base = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.wrench[:, :3])
    values = np.concatenate([
        np.hstack([reaction.wrench, np.asarray(reaction.latest_contact, float)[:, None],
                   np.asarray(reaction.observable, float)[:, None],
                   reaction.contact_probability[:, None], deviation, in_base]).ravel(),
        reaction.net_wrench, reaction.center_of_pressure, reaction.external_wrench,
        reaction.external_deviation, reaction.ground_normal, reaction.external_torque])
    known = np.isfinite(values)
    names = _names(reaction.feet, reaction.joints, deviation.shape[1])
    if not known.all():
        names = [name for name, there in zip(names, known.tolist()) if there]
    return convert.joint_state(dialect, reaction.latest_ns, names, effort=values[known])


@lru_cache(maxsize=4)
def _names(feet: tuple[str, ...], joints: tuple[str, ...], deviations: int) -> list[str]:
    of_foot = (*_WRENCH, 'contact', 'observable', 'contact_probability',
               *(f'{name}.stddev' for name in _WRENCH[:deviations]),
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
# A foot's contact is in doubt while the mean of 4 p (1 - p) is above this level,
DOUBTFUL = 0.2
DOUBT_TIME = 0.5        # over this time [s]
NODE_SETTINGS = (*INPUT_SETTINGS, *_MARKER, *BASE_SETTINGS)
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


class _ReactionTopics:
    """Publishes what is subscribed of each estimate; ``pushed``: link of the external wrench."""

    def __init__(self, common: RobotComponent, estimator: GroundReactionEstimator):
        self._dialect, self._parameters = common.dialect, common.parameters
        self._base, self._next_marker_ns = estimator.model.base_link, 0

        def publisher(kind: str, topic: str) -> Any:
            return common.endpoints.publisher(kind, topic, common.dialect.qos.reliable(500))
        wrench, flag = 'geometry_msgs/msg/WrenchStamped', 'std_msgs/msg/Bool'
        self._wrenches = [publisher(wrench, f'~/{foot}/wrench') for foot in estimator.feet]
        self._contacts = [publisher(flag, f'~/{foot}/contact') for foot in estimator.feet]
        self._foot_wrenches = [convert.PreparedWrench(foot) for foot in estimator.feet]
        self._deviations = [publisher(wrench, f'~/{foot}/wrench_stddev')
                            for foot in estimator.feet]
        self._probabilities = [publisher('std_msgs/msg/Float64', f'~/{foot}/contact_probability')
                               for foot in estimator.feet]
        self._net_wrench = publisher(wrench, '~/net_wrench')
        self._push = publisher(wrench, '~/external_wrench')
        self._push_deviation = publisher(wrench, '~/external_wrench_stddev')
        self._center = publisher('geometry_msgs/msg/PointStamped', '~/center_of_pressure')
        self._external = publisher('sensor_msgs/msg/JointState', '~/external_torque')
        self._all = publisher('sensor_msgs/msg/JointState', '~/reactions')
        self._markers = publisher('visualization_msgs/msg/MarkerArray', '~/markers')
        # Of the optional package legged_dynamics_msgs.
        self._own = [
            (publisher(own_messages.CONTACTS, '~/contacts'), own_messages.foot_contacts),
            (publisher(own_messages.REACTIONS, '~/foot_reactions'), own_messages.foot_reactions),
        ] if own_messages.installed(self._dialect) else []

    def publish(self, reaction: GroundReaction, pushed: str) -> None:
        """Publish an estimate with its stamp."""
        dialect, ns, base = self._dialect, reaction.latest_ns, self._base
        self._publish_feet(reaction)
        publish_if_heard(self._net_wrench, convert.wrench_stamped, dialect, ns, base,
                         reaction.net_wrench)
        if self._center.get_subscription_count():
            center = reaction.center_of_pressure
            if math.isfinite(center[0]):
                self._center.publish(convert.point_stamped(dialect, ns, base, center))
        publish_if_heard(self._all, all_of, dialect, reaction)
        for publisher, message in self._own:
            publish_if_heard(publisher, message, dialect, reaction, base)
        publish_if_heard(self._push, convert.wrench_stamped, dialect, ns, pushed,
                         reaction.link_wrench)
        publish_if_heard(self._push_deviation, convert.wrench_stamped, dialect, ns, pushed,
                         reaction.link_deviation)
        if self._external.get_subscription_count():
            self._publish_external(reaction)
        if self._markers.get_subscription_count():
            self._publish_markers(reaction, base)

    def _publish_feet(self, reaction: GroundReaction) -> None:
        dialect, ns = self._dialect, reaction.latest_ns
        wrench, contact = reaction.wrench.tolist(), reaction.latest_contact
        for i, foot in enumerate(reaction.feet):
            if self._wrenches[i].get_subscription_count():
                self._wrenches[i].publish_raw(self._foot_wrenches[i](ns, wrench[i]))
            publish_if_heard(self._contacts[i], convert.boolean, dialect, contact[i])
            if self._deviations[i].get_subscription_count():
                deviation = np.sqrt(np.diag(reaction.covariance_of(foot, latest=True)).clip(0.0))
                self._deviations[i].publish_raw(self._foot_wrenches[i](ns, deviation.tolist()))
            publish_if_heard(self._probabilities[i], convert.float64, dialect,
                             reaction.contact_probability[i])

    def _publish_external(self, reaction: GroundReaction) -> None:
        torque = reaction.external_torque
        known = np.isfinite(torque)
        if known.any():
            names = [name for name, there in zip(reaction.joints, known) if there]
            self._external.publish(convert.joint_state(self._dialect, reaction.latest_ns, names,
                                                       effort=torque[known]))

    def _publish_markers(self, reaction: GroundReaction, base: str) -> None:
        rate = self._parameters['markers.rate']
        ns = reaction.latest_ns
        # A stamp far below the next one due means that time was set back.
        if not rate or self._next_marker_ns - 2e9 < ns < self._next_marker_ns:
            return
        self._next_marker_ns = ns + round(1e9 / rate)
        self._markers.publish(reaction_picture(
            self._dialect, reaction, base, lifetime_s=5.0 / rate,
            newtons_per_meter=self._parameters['markers.newtons_per_meter'],
            friction=self._parameters['markers.friction']))


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
        self._estimator: GroundReactionEstimator | None = None
        self._reaction: GroundReaction | None = None
        self._doubt = np.zeros(0)
        self.common.configure()
        self.input = self._listen()
        self.input.join()

    def _listen(self) -> RobotInput:
        return RobotInput(self.common, self._build, self._take)

    def activate(self) -> None:
        """Start estimating, with an empty memory."""
        if self._estimator is not None:
            self._estimator.reset()
            self._base_state.reset()
        self.input.start()

    def deactivate(self) -> None:
        """Stop estimating and publishing."""
        self.input.stop()

    def cleanup(self) -> None:
        """Leave all topics; keep what was learned of the actuators, where a file is given."""
        self.common.close()
        if self._estimator is not None and self._estimator.actuators is not None:
            try:
                self._estimator.actuators.keep()
            except OutputError as error:
                self.node.get_logger().warning(str(error))
        self._estimator = None

    def on_fault(self, error: Exception) -> None:
        """Show an unexpected failure of a callback in the diagnostics."""
        self._estimates.fault_of(self.common.now(), error)

    # ---- building --------------------------------------------------------------------------

    def _build(self, model: RobotModel) -> None:
        estimator = GroundReactionEstimator(model, self.common.config, self._settings)
        if self._estimator is None:
            self._topics = _ReactionTopics(self.common, estimator)
            self._base_state = BaseStateOutput(self.common, model)
        elif estimator.feet != self._estimator.feet:
            raise LeggedDynamicsError('a new robot_description has other feet; restart the node')
        else:
            self._base_state.build(model)
        self.common.warm_up(model, estimator.update)
        estimator.reset()
        self._estimator = estimator
        self._publish_fixed_frames()
        self.node.get_logger().info(
            f'{model.name}: {model.total_mass:.2f} kg, {model.n_joints} joints, feet '
            f'{", ".join(estimator.feet)}')

    def _publish_fixed_frames(self) -> None:
        """Publish, latched, the frames of feet and external force that the URDF does not have."""
        frames = list(self.common.config.foot_frames)
        settings, model = self._settings, self._estimator.model     # type: ignore[union-attr]
        self._pushed = settings.external_link or model.base_link
        if any(settings.external_point):
            frames.append(FootFrame(f'{self._pushed}/external_point', self._pushed,
                                    Transform(np.eye(3), np.array(settings.external_point))))
            self._pushed = frames[-1].name
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
        reaction = self._estimator.update(measurement)  # type: ignore[union-attr]
        in_doubt = self._contacts_in_doubt(reaction)
        self._reaction = reaction
        faults = reaction.faults & ~Fault.WARMING_UP
        if faults:
            texts = [text for fault, text in FAULT_TEXTS.items() if faults & fault]
            findings = self._estimator.actuator_findings    # type: ignore[union-attr]
            texts += [str(finding) for finding in findings]
            if in_doubt:
                texts.append(f'contact of {", ".join(in_doubt)} is in doubt, and with it how the '
                             'feet share the load')
            self._estimates.refused(self.common.now(), '; '.join(texts))
        if reaction.mode != Mode.UNAVAILABLE:
            self._estimates.saw(self.common.now())
            self._topics.publish(reaction, self._pushed)
        if failed := self._base_state.take(measurement, reaction):
            self._estimates.refused(self.common.now(), failed)

    def _contacts_in_doubt(self, reaction: GroundReaction) -> list[str]:
        """Return the feet whose contact has been uncertain for most of the last moments."""
        before, p = self._reaction, reaction.contact_probability
        if (before is None or not reaction.faults & Fault.NO_EFFORT
                or reaction.mode == Mode.UNAVAILABLE):
            self._doubt = np.zeros(len(p))
            return []
        share = min((reaction.stamp_ns - before.stamp_ns) * 1e-9 / DOUBT_TIME, 1.0)
        self._doubt += share * (4.0 * p * (1.0 - p) - self._doubt)
        return [foot for foot, doubt in zip(reaction.feet, self._doubt) if doubt > DOUBTFUL]

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
        if reaction.faults & Fault.NO_EFFORT:
            values['contact in doubt'] = ', '.join(
                foot for foot, doubt in zip(reaction.feet, self._doubt)
                if doubt > DOUBTFUL) or 'none'
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
