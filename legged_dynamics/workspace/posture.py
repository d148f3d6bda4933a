# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Postures: standing up, sitting down and letting go, as fractions of the efforts of body control.

Standing up, the feet are loaded gradually where the robot lies, and then the body rises. Sitting
down, the body sinks until it lies on something or its legs are fully bent. A body that lies
unloads its feet and holds its legs. A body that does not lie, or begins to sag (on its knees, for
example), crouches. Legs fall only when damping or zero effort is requested.
"""
from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.estimation.settings import nominal_position
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import UP
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace.reference import BodyPose


@dataclass(frozen=True)
class PostureSettings:
    """Standing up and sitting down; chosen by hand in simulation."""

    fade_time: float = 1.5      # s in which efforts fade
    load_time: float = 0.8      # s in which feet are loaded
    # m above its target from which a sinking body lies on something.
    lying_height: float = 0.006
    # m above its lowest pose from which a body that should be there lies on something.
    contact_height: float = 0.002
    # m below the start of fading from which a body is not supported.
    sag: float = 0.002
    stiffness: float = 1.0      # 1/rad, of a joint at rest, in effort limits
    damping: float = 0.1        # s/rad, of a joint at rest, in effort limits
    braking: float = 0.5        # of the effort limit: largest damping effort


SETTINGS = PostureSettings()


class Phase(Enum):
    """What a `Posture` does with the body: holds it, or where it is on its way down or up."""

    HOLD = 'holds'
    SINK = 'sinks'
    CROUCH = 'crouches'
    FADE = 'lets go'
    REST = 'rests'
    LOAD = 'loads its feet'
    RISE = 'rises'


class Ease(Enum):
    """Behaviour of joints while the feet carry nothing."""

    HELD = 'sit'
    DAMPED = 'damping'
    FREE = 'zero'


class Posture:
    """
    Selects the fraction of the control efforts that is sent, and switches between phases.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    config : RobotConfig
        Its nominal position is the pose to stand up to.

    Attributes
    ----------
    phase : Phase
        Present phase.
    ease : Ease
        Behaviour of the joints at rest.

    """

    def __init__(self, model: RobotModel, config: RobotConfig):
        self._limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, 0.0)
        self._known = bool(config.nominal_position)
        poses = frame_poses(model, nominal_position(model, config))
        feet = [poses[foot.link].p + foot.touching(poses[foot.link].R, UP, foot.center)
                for foot in config.feet]
        flat = [poses[foot.link].R for foot in config.feet if foot.plane]
        # A sole lies flat where the robot stands as it should.
        self._level = flat[0].T if flat else np.eye(3)
        self._feet = np.mean(feet, axis=0) @ self._level.T
        self.reset()

    def reset(self) -> None:
        """Hold the body from now on."""
        self.phase, self.ease, self._since = Phase.HOLD, Ease.DAMPED, 0
        self._place: np.ndarray | None = None
        self._last = np.zeros(len(self._limits))
        self._start: np.ndarray | None = None
        self._goal = Phase.RISE

    @property
    def active(self) -> bool:
        """Whether a change of posture is under way."""
        return self.phase is not Phase.HOLD

    @property
    def loose(self) -> bool:
        """Whether the body is only partly supported by its legs, and so cannot count as lost."""
        return self.phase in (Phase.FADE, Phase.REST, Phase.LOAD)

    @property
    def down(self) -> bool:
        """Whether the body is at its lowest, or lets go."""
        return self.phase in (Phase.CROUCH, Phase.REST, Phase.FADE)

    def load(self, stamp_ns: int, share: float = 0.0, goal: Phase = Phase.RISE) -> None:
        """
        Load the feet gradually from now on.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        share : float
            Fraction of the load that the feet bear already, from 0 to 1.
        goal : Phase
            Phase that follows.

        """
        self._goal = goal
        self.begin(Phase.LOAD, stamp_ns - round(share * SETTINGS.load_time * 1e9))

    def let_go(self, stamp_ns: int, ease: Ease) -> None:
        """From ``stamp_ns`` on let efforts fade to those of joints that rest as ``ease`` says."""
        if self.phase in (Phase.FADE, Phase.REST) and ease is self.ease:
            return
        self._start = self._last if self.loose else None
        self.ease, self._place = ease, None
        self.begin(Phase.FADE, stamp_ns)

    def begin(self, phase: Phase, stamp_ns: int) -> None:
        """Begin a phase at ``stamp_ns`` [ns]."""
        self.phase, self._since = phase, stamp_ns

    def standing(self, state: BodyState) -> BodyPose:
        """
        Return the pose of standing over the present feet, level, with the present heading.

        Parameters
        ----------
        state : BodyState
            Present pose of the base and places of the feet.

        Returns
        -------
        BodyPose

        Raises
        ------
        ConfigurationError
            When the robot's nominal position is not known.

        """
        if not self._known:
            raise ConfigurationError('expected robot.nominal_position, the joints of the standing '
                                     'robot, to know how high it stands; got none')
        yaw = float(np.arctan2(state.rotation[1, 0], state.rotation[0, 0]))
        heading = rotation_from_rpy(np.array([0.0, 0.0, yaw]))
        return BodyPose(state.foot_position.mean(axis=0) - heading @ self._feet,
                        heading @ self._level)

    @staticmethod
    def below(state: BodyState) -> BodyPose:
        """
        Return the present pose lowered to the height of the feet, beyond the reach of the legs.

        Parameters
        ----------
        state : BodyState
            Present pose of the base and places of the feet.

        Returns
        -------
        BodyPose

        """
        down = state.position[2] - state.foot_position[:, 2].mean()
        return BodyPose(state.position - np.array([0.0, 0.0, down]), state.rotation)

    def step(self, stamp_ns: int, error: np.ndarray, rotation: np.ndarray, arrived: bool) -> Phase:
        """
        Switch to the next phase when the present one is over.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        error : (6,) array [m, rad]
            Pose less target, in base axes.
        rotation : (3, 3) array
            ``R_WB``.
        arrived : bool
            Whether the reference has reached its goal.

        Returns
        -------
        Phase
            The present phase.

        """
        age = (stamp_ns - self._since) * 1e-9
        above = rotation[2] @ error[:3]
        lying = SETTINGS.contact_height if arrived else SETTINGS.lying_height
        if self.phase is Phase.SINK and above > lying:
            self.let_go(stamp_ns, Ease.HELD)
        elif self.phase is Phase.SINK and arrived:
            self.begin(Phase.CROUCH, stamp_ns)
        elif self.phase is Phase.FADE and age >= SETTINGS.fade_time:
            self.begin(Phase.REST, stamp_ns)
        elif (self.phase is Phase.FADE and self.ease is Ease.HELD and self._start is None
              and above < -SETTINGS.sag):
            self.load(stamp_ns, 1.0 - age / SETTINGS.fade_time, Phase.CROUCH)
        elif self.phase is Phase.LOAD and age >= SETTINGS.load_time:
            self.begin(self._goal, stamp_ns)
        elif self.phase is Phase.RISE and arrived and age > 0.0:
            self.begin(Phase.HOLD, stamp_ns)
        return self.phase

    def shape(self, stamp_ns: int, effort: np.ndarray, unloaded: np.ndarray,
              position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """
        Return the joint efforts to send in the present phase.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        effort : (nj,) array [N m or N]
            Efforts of body control.
        unloaded : (nj,) array [N m or N]
            Efforts that hold the legs alone.
        position, velocity : (nj,) array [rad, rad/s or m, m/s]
            Positions and velocities of the joints.

        Returns
        -------
        (nj,) array [N m or N]

        """
        if not self.loose:
            return effort
        age = (stamp_ns - self._since) * 1e-9
        share = {Phase.LOAD: age / SETTINGS.load_time,
                 Phase.FADE: 1.0 - age / SETTINGS.fade_time}.get(self.phase, 0.0)
        share = min(max(share, 0.0), 1.0)
        # Fading starts from the control efforts, or from the last efforts of joints at rest.
        before = effort if self._start is None or self.phase is Phase.LOAD else self._start
        if self._place is None:
            self._place = position.copy()
        self._last = share * before + (1.0 - share) * self._eased(unloaded, position, velocity)
        return self._last

    def _eased(self, unloaded: np.ndarray, position: np.ndarray,
               velocity: np.ndarray) -> np.ndarray:
        """Return the efforts of joints at rest."""
        if self.ease is Ease.FREE:
            return np.zeros(len(self._limits))
        brake = np.clip(-SETTINGS.damping * velocity, -SETTINGS.braking,
                        SETTINGS.braking) * self._limits
        if self.ease is Ease.DAMPED:
            return brake
        assert self._place is not None
        return unloaded + brake + SETTINGS.stiffness * self._limits * (self._place - position)
