# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
BodyController: the common part of nodes that hold a robot's body.

Each measurement goes through estimator and odometry to a state, and with the present target
through `WorkspaceController` to efforts, which `EffortOutput` guards and sends.

`_BodyWalk` takes velocity commands and gaits from topics and services, where the robot walks.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from legged_dynamics.estimation import EstimatorSettings, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.estimation.leg_odometry import SETTINGS as ODOMETRY_SETTINGS
from legged_dynamics.estimation.leg_odometry import BodyState, LegOdometry, OdometryFault
from legged_dynamics.estimation.settings import SETTINGS as ESTIMATOR_SETTINGS
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros.conversions import stamp_ns
from legged_dynamics.ros.nodes.body.output import SETTINGS as OUTPUT_SETTINGS
from legged_dynamics.ros.nodes.body.output import BodyPostures, StateOutput
from legged_dynamics.ros.nodes.body.targets import SETTINGS as TARGET_SETTINGS
from legged_dynamics.ros.nodes.body.targets import BodyTargets
from legged_dynamics.ros.nodes.controller_node import WATCH_PERIOD, ControllerNode, settings_of
from legged_dynamics.ros.nodes.diagnostics import InputMonitor
from legged_dynamics.ros.nodes.robot_component import RobotComponent, SteadyClock
from legged_dynamics.ros.nodes.robot_input import SWITCH_SETTINGS, Commands
from legged_dynamics.schema import Setting
from legged_dynamics.workspace import (
    AskedForce,
    BodyTarget,
    Ground,
    Phase,
    WorkspaceCommand,
    WorkspaceController,
    WorkspaceFault,
    WorkspaceSettings,
)
from legged_dynamics.workspace.command import FAULT_TEXTS
from legged_dynamics.workspace.prediction import StatePredictor
from legged_dynamics.workspace.settings import SETTINGS as WORKSPACE_SETTINGS
from legged_dynamics.workspace.walking import Walker, Walking, WalkPlan, WalkSettings, make_walker
from legged_dynamics.workspace.walking.settings import SETTINGS as GAIT_SETTINGS

WALK_SETTINGS = (
    *GAIT_SETTINGS,
    Setting(
        'walking.delay', -1.0, 's',
        "Time from a sensor's stamp to its effort at the motor, for which states are predicted; "
        "below 0 by the stamps and the node's clock, where they are within a tenth of a second.",
        -1.0, 0.1),
    Setting(
        'cmd_vel.stamped', True, '',
        'Whether cmd_vel is a geometry_msgs/TwistStamped; else it is a Twist.'),
    Setting(
        'cmd_vel.max_age', 0.5, 's',
        'A stamped command whose stamp is further than this from the present is not obeyed.',
        0.01, 60.0),
)
# Settings that a walking robot takes at once; all others wait until it stands.
_AT_ONCE = ('speed', 'turning', 'acceleration', 'recovery', 'command_timeout')
# Shortest time between two lines of the log that say the same [s].
_SAYING = 10.0
# Beyond this age a stamp is of another clock [s], and how fast the age is followed.
FOREIGN = 0.1
FOLLOWED = 0.02
# After this longer silence of cmd_vel a robot that steps in place stands [s].
REST = 2.0


class _BodyWalk:
    """
    Walks a body on ``cmd_vel``, in the gait of the parameter ``gait`` or of ``~/gait``.

    It walks while commands come, then steps in place, then stands; for another gait it stops
    first. ``why_not`` says why it cannot walk now; `dated`: the last stamp was of this clock.
    """

    walker: Walker

    def __init__(self, common: RobotComponent, why_not: Callable[[], str]):
        self._common, self._why_not = common, why_not
        assert isinstance(common.now, SteadyClock)
        self._parameters, self._now = common.parameters, common.now
        self.monitor = InputMonitor('cmd_vel', 0)
        self._asked: dict[str, str] = {}
        self.ending = self.deceived = False
        self._velocity, self._heard_ns, self._fresh = (0.0, 0.0, 0.0), 0, False
        endpoints, qos = common.endpoints, common.dialect.qos.reliable(10)
        stamped = self._parameters['cmd_vel.stamped']
        endpoints.subscription(
            'geometry_msgs/msg/TwistStamped' if stamped else 'geometry_msgs/msg/Twist', 'cmd_vel',
            self._on_stamped if stamped else self._on_velocity, qos)
        endpoints.subscription('std_msgs/msg/String', '~/gait',
                               lambda message: self.request(message.data), qos)
        endpoints.service('std_srvs/srv/Trigger', '~/walk', partial(self._serve, True))
        endpoints.service('std_srvs/srv/Trigger', '~/halt', partial(self._serve, False))

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """Use a robot from now on."""
        self._wanted = _settings(self._parameters | self._asked)
        self.walker = make_walker(model, config, self._wanted)
        self.walker.check(self._wanted.gait)
        self._common.node.get_logger().info(f'cmd_vel: {self._allowed}')

    def configure(self, values: dict[str, Any]) -> None:
        """Use other settings from now on, or, what a walking robot cannot take, once it stands."""
        if values['gait'] != self._parameters['gait']:
            self._asked = {}        # a changed parameter wins over an earlier request
        self._change(_settings(values | self._asked))

    def reset(self) -> None:
        """Stand, and forget all commands."""
        self._fresh = self.ending = False
        self.walker.age = 0.0
        self.walker.configure(self._wanted)
        self.walker.reset()

    def age(self, stamp: int, hidden: int) -> float:
        """Return the time from a measurement to its effort at the motor [s]."""
        # What stamps hide stops the walk: joint states and IMU are no longer of one time.
        self.deceived = hidden > 0
        given = float(self._parameters['walking.delay'])
        age = given if given >= 0.0 else (self._now.wall() - stamp + hidden) * 1e-9
        self.dated = 0.0 <= age <= FOREIGN
        age = age if self.dated else 0.0
        self.walker.age += FOLLOWED * (age - self.walker.age)
        return age

    def _change(self, wanted: WalkSettings) -> None:
        if wanted == self._wanted:
            return
        walker = self.walker
        walker.check(wanted.gait)
        self._wanted = wanted
        if not walker.walking:
            walker.configure(wanted)
            return
        walker.settings = replace(walker.settings,
                                  **{name: getattr(wanted, name) for name in _AT_ONCE})
        if self._waiting:
            self._common.node.get_logger().warning(self._waiting)

    @property
    def _waiting(self) -> str:
        """What a walking robot has not taken yet, or ''."""
        used, wanted = self.walker.settings, self._wanted
        if wanted.gait == 'stand':
            return ''
        names = [entry.name for entry in fields(wanted)
                 if getattr(used, entry.name) != getattr(wanted, entry.name)]
        if 'gait' in names:
            return f'{wanted.gait}: the robot stops first, for it walks in {used.gait}'
        return f'{", ".join(names)}: not before the robot stands' * bool(names)

    @property
    def _allowed(self) -> str:
        """How fast the robot goes at most."""
        ahead, left, turning = self.walker.fastest
        return (f'{self.walker.gait} goes {ahead:.2f} m/s ahead, {left:.2f} m/s to the side or '
                f'turns at {turning:.2f} rad/s, and less of each together; faster commands are '
                'slowed down')

    def request(self, gait: str) -> tuple[bool, str]:
        """Take a gait by its name."""
        try:
            if why := self._why_not():
                raise ConfigurationError(why)
            asked = {'gait': gait}
            self._change(_settings(self._parameters | asked))
        except LeggedDynamicsError as error:
            self.monitor.refused(self._now(), str(error))
            self._common.node.get_logger().warning(f'gait refused: {error}')
            return False, str(error)
        self._asked = asked
        return True, ('standing' if gait == 'stand' else
                      self._waiting or f'waits for cmd_vel; {self._allowed}')

    def step(self, state: BodyState, measurement: Measurement, felt: np.ndarray,
             force: np.ndarray) -> WalkPlan:
        """Return the target of the body and the plan of the legs."""
        stamp, walker, fresh = measurement.stamp_ns, self.walker, self._fresh
        if fresh:
            self._heard_ns, self._fresh = stamp, False
        silence = (stamp - self._heard_ns) * 1e-9 if self._heard_ns else math.inf
        patience = self._parameters['walking.command_timeout']
        velocity = self._velocity if silence <= patience else (0.0, 0.0, 0.0)
        part = walker.command(*velocity)
        if part < 1.0 and fresh and self._wanted.gait != 'stand':
            ahead, left, turning = velocity
            self._warn(f'cmd_vel: {walker.gait} has not been tried at ({ahead:.2f} m/s, '
                       f'{left:.2f} m/s, {turning:.2f} rad/s); {100.0 * part:.0f} % of it is '
                       'walked')
        # In its own gait the robot comes to the stand in which it can take another one; one that
        # stands without its IMU does not set off.
        walker.walk = (silence <= patience + REST and walker.settings.gait == self._wanted.gait
                       and (walker.walking or measurement.angular_velocity is not None))
        walker.rest = self.ending or self.deceived
        if not walker.walking and walker.settings != self._wanted:
            walker.configure(self._wanted)
        return walker.update(state, measurement, felt, force)

    def judge(self, now: int) -> tuple[str, str]:
        """Return how walking does, for the diagnostics."""
        if self.monitor.recent(now):
            return 'WARN', self.monitor.fault
        walker = getattr(self, 'walker', None)
        if walker is None:
            return 'OK', 'no robot yet'
        if walker.lowered:
            feet = ', '.join(self._common.config.feet[i].link for i in walker.lowered)
            return 'WARN', f'no ground under {feet}: lowered'
        more = walker.troubles or self._waiting
        return ('WARN' if walker.troubles or walker.state is Walking.RECOVER else 'OK',
                f'{walker.state.value}; {more}' if more else walker.state.value)

    def _serve(self, walk: bool, request: Any, response: Any) -> Any:
        gait = self._parameters['gait']
        usual = gait if gait != 'stand' else self.walker.usual
        response.success, response.message = self.request(usual if walk else 'stand')
        return response

    def _warn(self, text: str) -> None:
        self.monitor.refused(self._now(), text)
        self._common.node.get_logger().warning(text, throttle_duration_sec=_SAYING)

    def _on_stamped(self, message: Any) -> None:
        """Take a command of now; one without a stamp is of the time at which it comes."""
        stamp, limit = stamp_ns(message.header.stamp), self._parameters['cmd_vel.max_age']
        age = (self._now.wall() - stamp) * 1e-9
        if not stamp or abs(age) <= limit:
            self._on_velocity(message.twist)
            return
        self._warn(f'cmd_vel: expected a stamp of the last {limit:g} s (cmd_vel.max_age), got one '
                   f'{abs(age):.2f} s {"old" if age > 0.0 else "ahead"}; it is ignored. Are the '
                   'clocks of both machines set alike?')

    def _on_velocity(self, twist: Any) -> None:
        velocity = (twist.linear.x, twist.linear.y, twist.angular.z)
        if not all(math.isfinite(part) for part in velocity):
            self._warn(f'cmd_vel: expected finite velocities, got {velocity}; it is ignored')
            return
        self._velocity, self._fresh = velocity, True
        self.monitor.saw(self._now())


def _settings(values: dict[str, Any]) -> WalkSettings:
    return WalkSettings.from_parameters(
        {setting.name: values[setting.name] for setting in GAIT_SETTINGS})


# Settings of a node that holds a body, in addition to its parts'.
_BODY = (
    Setting(
        'stance', 'detected', '',
        'Which feet count as in contact: detected: all that are not seen in the air, and the '
        'robot may walk; all: every foot, always.', choices=('detected', 'all')),
    Setting(
        'sensor_patience', 0.5, 's',
        'How long the body is held without the IMU before the robot is let go limp; one that '
        'walks comes to its mean stance after a tenth of a second.', 0.0, 10.0),
)
SETTINGS = (
    *WORKSPACE_SETTINGS, *ODOMETRY_SETTINGS, *ESTIMATOR_SETTINGS, *TARGET_SETTINGS,
    *OUTPUT_SETTINGS, *WALK_SETTINGS, *SWITCH_SETTINGS, *_BODY,
)
# Without the IMU, joint states must still be answered before the guard's time-out.
DEFAULTS = {'imu_timeout': 0.03, 'safety.input_timeout': 0.045}
# How often the ground that the estimator has seen is read [ns].
GROUND_EVERY_NS = 100_000_000
# A body that stays as far off its target [m], or leans as much [rad], for so long [s] is reported.
SAGGING = 0.015
LEANING = 0.026
LASTING = 3.0
BLIND = 'no IMU reading: the body is held by the legs alone'
# So long feet are still lifted without the IMU [s]: then the robot tips over those that stand.
STEPPING_BLIND = 0.1


class BodyController(ControllerNode):
    """
    Holds the body at its activation pose or at its targets.

    A lost body (too far off, too long unbalanced or without IMU) is held first; then motors
    get the safe output until reactivation. Subclasses set `default_name` and `settings`,
    and override :meth:`asked`, :meth:`join` and :meth:`commanded`.
    """

    settings: ClassVar[tuple[Setting, ...]] = settings_of(DEFAULTS, SETTINGS)
    live = (*(setting.name for setting in WORKSPACE_SETTINGS), 'state.', 'gait', 'walking.')
    # None until the robot is known.
    controller: WorkspaceController = None     # type: ignore[assignment]
    target: BodyTarget

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect, self._changing, settled=self._settled)

    # ---- for subclasses ---------------------------------------------------------------------

    def join(self, model: RobotModel, config: RobotConfig) -> None:
        """Open topics that need the robot's names; called once, when they are known."""

    def rebuild(self, model: RobotModel, config: RobotConfig) -> None:
        """Use a new description of the robot; called for each of them."""

    def asked(self) -> dict[int, AskedForce]:
        """Return the desired foot forces by foot index; none by default."""
        return {}

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Read parameters and join the topics; commands wait for activate."""
        self.controller = None      # type: ignore[assignment]
        self._body = InputMonitor('body', round(self.parameters['input_timeout'] * 1e9))
        self.open()
        self.targets = BodyTargets(self.common, partial(self._why_not, 'target'))
        self.postures = BodyPostures(self.common, self.targets,
                                     partial(self._why_not, 'posture'), self._holds, self._anew)
        self.walk = _BodyWalk(self.common, partial(self._why_not, 'walk'))
        self._forget()
        self.efforts.foreseen = self._foresee
        self.listen(self._build, self._take, self._tell)

    def activate(self) -> None:
        """Start commanding, blended in from what the motors deliver."""
        super().activate()
        self.reset()

    # ---- building --------------------------------------------------------------------------

    def _forget(self) -> None:
        self._predictor = StatePredictor()
        self.state: BodyState | None = None
        self.command: WorkspaceCommand | None = None
        self.reaction: GroundReaction | None = None
        self.lost = ''
        self._started = self._settling = False
        self._blind_ns: int | None = None
        self._upright_ns = 0
        self._sent: np.ndarray | None = None
        self.ground: Ground | None = None
        self._ground_ns = -GROUND_EVERY_NS

    def _build(self, model: RobotModel) -> None:
        """Make odometry, contact detection and control for a robot."""
        values, config = self.common.values, self.common.config
        guard = self.efforts.guard_of(model)
        controller = WorkspaceController(model, config, values(WORKSPACE_SETTINGS))
        if self.controller is not None and controller.feet != self.controller.feet:
            raise LeggedDynamicsError('a new robot_description has other feet; restart the node')
        first, self.controller = self.controller is None, controller
        self._wanted = controller.settings
        self._estimator = GroundReactionEstimator(
            model, config, EstimatorSettings.from_parameters(values(ESTIMATOR_SETTINGS)))
        self._odometry = LegOdometry(model, config, values(ODOMETRY_SETTINGS))
        self.targets.build(controller, config)
        self.postures.build(controller, config)
        self.walk.build(model, config)
        if first:
            self._topics = StateOutput(self.common, controller)
            self.join(model, config)
        self._topics.controller = controller
        self.rebuild(model, config)
        self.common.warm_up(model, self.warm)
        self.efforts.build(model, guard)
        self.reset()

    def warm(self, measurement: Measurement) -> None:
        """Run all code that a measurement may lead to once, to compile its kernels."""
        self._estimator.update(measurement)
        state = self._odometry.update(measurement)
        command = self.controller.update(
            state, measurement, BodyTarget.of(state.position, state.rotation),
            {0: AskedForce(np.array([0.0, 0.0, 1.0]))} if measurement.stamp_ns else {})
        self.walk.walker.warm(state, measurement, self.controller)
        self.targets.warm(state, measurement.position)
        self.controller.margins(command, state, measurement.position)

    def reset(self) -> None:
        """Start from the stance that the robot has."""
        if self.controller is None:
            return
        self.controller.reset()
        self._estimator.reset()
        self._odometry.reset()
        self.targets.reference.settings = self.controller.settings
        self.postures.posture.reset()
        self.walk.reset()
        self._forget()

    def _changing(self, values: dict[str, Any]) -> None:
        """Use new gains, weights and limits; values are all parameters after the change."""
        settings = WorkspaceSettings.from_parameters(
            {setting.name: values[setting.name] for setting in WORKSPACE_SETTINGS})
        if self.controller is not None:
            self.walk.configure(values)
            self._wanted = settings
            self._use_settings()
            if self.controller.settings != settings:
                self.node.get_logger().warning('gains, weights and limits: not before the robot '
                                               'stands')

    def _use_settings(self) -> None:
        """Use new gains, weights and limits; a robot that walks takes them when it stands."""
        if self.controller.settings is not self._wanted and not self.walk.walker.walking:
            self.controller.configure(self._wanted)
            self.targets.reference.settings = self._wanted

    # ---- work ------------------------------------------------------------------------------

    def _take(self, measurement: Measurement) -> Commands | None:
        self._sent = None
        if not self.efforts.ready():
            return None
        command = None if self.efforts.released else self.control(measurement)
        self._sent = self.efforts.send(measurement, command, self._reason())
        return self.efforts.answer()

    def _tell(self, measurement: Measurement) -> None:
        if self._sent is not None:
            self.commanded(measurement, self._sent)

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """Return efforts (nj,) towards the reference, model order; None if not possible."""
        reaction = self._estimator.update(measurement)
        contact = self._stance(reaction)
        state = self._odometry.update(measurement, contact)
        self.reaction, self.state, self._position = reaction, state, measurement.position
        hidden = self.efforts.screen.echo.late_ns
        self._delay = age = self.walk.age(measurement.stamp_ns, hidden)
        if self.lost or not self._begun(measurement, state, contact):
            return None
        self.targets.plan(state, measurement.position)
        state = replace(state, stamp_ns=state.stamp_ns - hidden)
        self._seen = self.common.now(), state, measurement
        state, measurement = self._predictor.predict(state, measurement, age)
        plan = None if contact is None else self._step_legs(measurement, state,
                                                            reaction.latest_contact)
        command = self._command(measurement, state, plan)
        self.postures.step(measurement.stamp_ns, command.error)
        loose = self.postures.posture.loose
        if not loose:
            self._judge_command(measurement, command)
        return None if self.lost or not (command.usable or loose) else self.postures.shape(
            state, command.effort, measurement.position, measurement.velocity)

    def _detects(self) -> bool:
        """Return whether detection tells which feet bear."""
        # A robot that lies on its belly or gets up stands on all feet, however they are loaded.
        return self.parameters['stance'] == 'detected' and not self.postures.posture.active

    def _stance(self, reaction: GroundReaction) -> Any:
        """Return which feet bear, (nf,), or None where that is not detected."""
        contact = None
        if self._detects() and reaction.mode != Mode.UNAVAILABLE:
            # As planned and felt: a doubt of the detector must not unload a foot that is needed.
            contact = self.walk.walker.trusted if self._started else reaction.contact
        self.efforts.screen.stance = contact
        return contact

    def _begun(self, measurement: Measurement, state: BodyState, contact: Any) -> bool:
        """Return whether the body is under control, which begins where it stands."""
        if state.faults & (OdometryFault.GAP | OdometryFault.TIME_JUMPED_BACK):
            self._started = False       # the old positions are no longer valid
        if not self._started:
            if (self._detects() and contact is None) or measurement.angular_velocity is None:
                self._odometry.reset()  # without the IMU, world axes would start tilted
                return False
            self.targets.start(measurement.stamp_ns, state.position, state.rotation)
        self._started = True
        return True

    def _foresee(self) -> np.ndarray | None:
        """Return efforts of a walk whose sensors are silent, by its model and plan, or None."""
        if self.lost or not (self._started and self.walk.walker.walking and self.walk.dated) or (
                (quiet := self.common.now() - self._seen[0]) < 2e9 * WATCH_PERIOD):
            return None
        state, measurement = self._predictor.predict(*self._seen[1:], self._delay + 1e-9 * quiet)
        measurement = replace(measurement, stamp_ns=measurement.stamp_ns + quiet)
        state = replace(state, stamp_ns=state.stamp_ns + quiet)
        plan = self._step_legs(measurement, state, self.walk.walker.planned)
        command = self._command(measurement, state, plan)
        return command.effort if command.usable else None

    def _step_legs(self, measurement: Measurement, state: BodyState, felt: np.ndarray
                   ) -> WalkPlan:
        """Return the plan of the legs; targets begin and end with the walk."""
        assert self.reaction is not None
        walker, stamp = self.walk.walker, measurement.stamp_ns
        walked = walker.walking
        walker.led = self.targets.reference.at(stamp)
        plan = self.walk.step(state, measurement, felt, self.reaction.wrench[:, :3])
        self._use_settings()
        if walked and not walker.walking:
            self.targets.start(stamp, self.target.position, self.target.rotation)
        elif walker.walking and not walked:
            self.targets.stay(stamp)
        return plan

    def _command(self, measurement: Measurement, state: BodyState,
                 plan: WalkPlan | None) -> WorkspaceCommand:
        """Return the command towards target, plan and desired forces."""
        assert self.reaction is not None
        walking, stamp = self.walk.walker.walking, measurement.stamp_ns
        self.target = plan.target if plan and walking else self.targets.reference.at(stamp)
        if not 0 <= stamp - self._ground_ns < GROUND_EVERY_NS:
            self._ground_ns, self.ground = stamp, Ground.of_reaction(self.reaction, state)
        self.command = self.controller.update(
            state, measurement, self.target, {} if walking else self.asked(), self.ground,
            plan.legs if plan else None)
        self._predictor.note(state.stamp_ns + round(1e9 * self._delay),
                             self.controller.expected(self.command))
        return self.command

    def _reason(self) -> str:
        """Return why there is no command."""
        return self.lost or ('the command is not usable' if self._started else
                             'the controller starts from the stance that it finds')

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """Publish the state of the body; called after each command."""
        if self.state is not None and self.command is not None:
            self._topics.publish(self.state, self.command, self._position, self.mode())

    def mode(self) -> str:
        """Return 'lost', 'idle', or the state of walker, posture or target."""
        if self.lost:
            return 'lost'
        if self.command is None or not self._started:
            return 'idle'
        walker = self.walk.walker
        return walker.state.value if walker.walking else self.postures.mode

    def _judge_command(self, measurement: Measurement, command: WorkspaceCommand) -> None:
        now, stamp = self.common.now(), measurement.stamp_ns
        # In a gait feet leave the ground, and two of them leave a moment to the next step.
        usual = (WorkspaceFault.FOOT_LOST | WorkspaceFault.UNBALANCED
                 if self.walk.walker.walking else WorkspaceFault.NONE)
        faults = [text for fault, text in FAULT_TEXTS.items() if command.faults & fault & ~usual]
        if measurement.angular_velocity is None:
            self._blind_ns = stamp if self._blind_ns is None else self._blind_ns
            faults.append(BLIND)
            patience = min(self.parameters['sensor_patience'],
                           STEPPING_BLIND if self.walk.walker.walking else math.inf)
            if (stamp - self._blind_ns) * 1e-9 > patience:
                self.lost = 'no IMU reading for too long'
        else:
            self._blind_ns = None
        off, turned = math.hypot(*command.error[:3]), math.hypot(*command.error[3:])
        away = f'{1e3 * off:.0f} mm and {math.degrees(turned):.1f} deg'
        if command.faults & WorkspaceFault.LOST:
            self.lost = ', '.join(filter(None, [f'the body is lost: {away} off its target',
                                                '; '.join(faults)]))
        # What the integral cannot take away of a body at rest.
        if (off < SAGGING and turned < LEANING) or stamp < self.targets.reference.end_ns:
            self._upright_ns = stamp
        if (stamp - self._upright_ns) * 1e-9 >= LASTING:
            faults.append(f'the body stays {away} off its target: a load or friction beyond '
                          'gains.windup')
        if faults:
            self._body.refused(now, '; '.join(faults))
        else:
            self._body.saw(now)

    def _anew(self) -> None:
        """Start again from where the body is now."""
        self.controller.reset()
        self._odometry.reset()
        self.walk.reset()
        self._started = False

    def _why_not(self, asked: str) -> str:
        """Return why a 'walk', 'posture' or 'target' cannot be taken now, or ''."""
        if asked == 'walk' and self.parameters['stance'] == 'all':
            return "stance is 'all': walking needs 'detected'"
        if self.lost or self.state is None or not (self._started and self.efforts.input.listening):
            return 'the body is not under control'
        if self._settling:
            return 'the node is being stopped'
        if asked != 'walk' and self.walk.walker.walking:
            return 'the robot walks; halt it first'
        if asked != 'posture' and self.postures.posture.active:
            return f'the body {self.postures.posture.phase.value}; ask it to stand first'
        return ''

    def _holds(self) -> bool:
        """Return whether the body is held by efforts."""
        return self.command is not None and self.command.usable and self.efforts.state.obeying

    def _settled(self) -> bool:
        """Sit down; return whether that is done, or cannot be."""
        self.walk.ending = True        # feet in the air are put down, and none lifts again
        if self.walk.walker.walking and not self.lost:
            return False
        if not self._settling:
            if self._why_not('posture') or not self.postures.request('sit')[0]:
                return True
            self._settling = True
        return bool(self.lost) or self.postures.posture.phase in (Phase.CROUCH, Phase.REST)

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return how inputs, control, body and targets do."""
        body = self._body.judge(now)
        if self.lost:
            body = 'ERROR', f'{self.lost}; activate the node again'
        elif self.efforts.input.state() is not None or not self._body.received:
            body = 'OK', 'not under control'
        return super().judge(now) | {'body': body, 'targets': self.targets.judge(now),
                                     'walking': self.walk.judge(now)}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return errors, drift and margins."""
        state, command, found = self.state, self.command, super().details(now)
        if state is None or command is None:
            return found
        values: dict[str, Any] = {
            'mode': self.mode(),
            'position error [mm]': 1e3 * math.hypot(*command.error[:3]),
            'orientation error [deg]': math.degrees(math.hypot(*command.error[3:])),
            'feet in contact': ', '.join(foot for foot, touches in zip(
                self._odometry.feet, state.contact) if touches) or 'none',
            'least stretch of a leg': float(np.nanmin(np.append(command.stretch, 1e9))),
            'drift of the position [mm]': 1e3 * state.position_deviation,
            'slips': state.slips}
        return found | {'body': values | self._topics.margins(command, state, self._position)}
