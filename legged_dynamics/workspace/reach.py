# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ReachLimiter: how far the base can move while the feet stay in place."""
from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
    has_moment,
    put_moment,
)
from legged_dynamics.dynamics.kinematics import forward_kinematics
from legged_dynamics.dynamics.motion import state_vector
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    compose,
    load3,
    load9,
    rotate_back,
    store3,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_log
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector
from legged_dynamics.workspace.propagation import invert_legs
from legged_dynamics.workspace.reference import BodyPose, run
from legged_dynamics.workspace.stance_arrays import GROUP, StanceArrays, stance_arrays
from legged_dynamics.workspace.support import ANYTHING, Support, support_excess

NEWTON_STEPS = 40
NEWTON_LIMIT = 0.2      # rad or m that a joint moves in one step
NEWTON_TOLERANCE = 1e-6     # m or rad, of a foot's place


@dataclass(frozen=True)
class ReachSettings:
    """Search of the furthest pose; numbers of parts are a compromise with time, chosen by hand."""

    parts: int = 10             # of a way, searched one after the other
    bisections: int = 6         # of the first part that is out of reach
    limit_noise: float = 1e-3   # rad or m, noise of a joint that rests at its limit
    largest_margin: float = 0.1     # rad or m, at an end of a joint's range


REACH = ReachSettings()


ReachState = tuple[StanceArrays, np.ndarray, np.ndarray]


@lean_kernel
def solve_legs(s, pose, places, limits, least):
    """
    Solve ``s.q`` by Newton's method for the feet's places; return whether reachable.

    ``pose``: ``R_WB`` by rows, ``p_WB``; ``places`` (nf, 12): contact points and
    orientations, world axes; ``least``: singular value, in leg lengths.
    """
    R, p = load9(pose, 0), load3(pose, 9)
    up = (R[6], R[7], R[8])
    away = s.spare[2 * max(s.inverse.shape[0], s.inverse.shape[1]) + 2]
    worst = 0.0
    for _ in range(NEWTON_STEPS):
        forward_kinematics(s.tree, s.q, s.still, s.still, s.base, s.bodies)
        contact_points(s.feet, s.bodies, up, s.states)
        contact_jacobians(s.tree, s.feet, s.bodies, s.states, s.jacobian)
        invert_legs(s, 0.2 * least)     # more damping would slow down the last steps
        worst = 0.0
        for i in range(s.feet.index.shape[0]):
            row = s.feet.index[i, START]
            seen = rotate_back(R, subtract(load3(places[i], 0), p))
            store3(away, row, subtract(seen, load3(s.states[i], CONTACT)))
            if has_moment(s.feet.index, i):
                wanted = compose(transpose(R), load9(places[i], 3))
                turn = compose(wanted, transpose(load9(s.states[i], FOOT_ROTATION)))
                put_moment(s.feet.index, s.states, i, rotation_log(turn), away)
            for k in range(s.feet.index[i, SIZE]):
                worst = max(worst, abs(away[row + k]))
        if worst < NEWTON_TOLERANCE:
            break
        for j in range(s.inverse.shape[0]):
            # Newton on all feet at once; a step is cut, because far away the Jacobian is no guide.
            step = 0.0
            for c in range(s.inverse.shape[1]):
                step += s.inverse[j, c] * away[c]
            s.q[j] += min(max(step, -NEWTON_LIMIT), NEWTON_LIMIT)
    if not worst < NEWTON_TOLERANCE:
        return False
    for g in range(s.singular.shape[0]):
        # In place, but too near to stretched to be controlled there.
        if s.singular[g, 0] < least:
            return False
        for k in range(s.groups[g, GROUP.n_columns]):
            j = s.groups[g, GROUP.members + s.groups[g, GROUP.n_rows] + k]
            if not limits[j, 0] <= s.q[j] <= limits[j, 1]:
                return False
    return True


class ReachLimiter:
    """
    Shortens a motion of the base where a leg would be stretched or a joint would reach its limit.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    config : RobotConfig
        Its feet.
    stretch : float
        Smallest singular value that a leg may have, in lengths of the leg.
    margin : float
        Part of the range of a joint, at either end, that is left free.

    """

    def __init__(self, model: RobotModel, config: RobotConfig, stretch: float,
                 margin: float = 0.0):
        self._model, self._config, self._stretch = model, config, stretch
        self._stances: dict[bytes, StanceArrays] = {}
        limits = model.position_limits
        free = margin * np.where(np.isfinite(limits).all(axis=1), np.ptp(limits, axis=1), 0.0)
        self._limits = limits + np.outer(np.minimum(free, REACH.largest_margin), [1.0, -1.0])

    def furthest(self, state: BodyState, position: np.ndarray,
                 pose: BodyPose) -> tuple[BodyPose, float]:
        """
        Return the furthest pose on the straight way from the present one.

        Parameters
        ----------
        state : BodyState
            Present pose and places of the feet.
        position : (nj,) array [rad or m]
            Present joint positions, in the model's order.
        pose : BodyPose
            Desired pose.

        Returns
        -------
        pose : BodyPose
            The furthest pose on the way.
        part : float
            Fraction of the way: 1 when all of it is in reach; 0 when the base is at its limit
            already.

        Raises
        ------
        MeasurementError
            When the joints do not fit the model or are not finite.

        """
        return run(self.search(state, position, pose))[:2]

    def search(self, state: BodyState, position: np.ndarray, pose: BodyPose,
               support: Support = ANYTHING) -> Generator[None, None, tuple[BodyPose, float, str]]:
        """
        Yield while :meth:`furthest` is searched for, within the limits of the ground.

        Parameters
        ----------
        state : BodyState
            Present pose and places of the feet.
        position : (nj,) array [rad or m]
            Present joint positions, in the model's order.
        pose : BodyPose
            Desired pose.
        support : Support
            Motions that the ground allows; no limit by default.

        Returns
        -------
        pose : BodyPose
            The furthest pose on the way.
        part : float
            Fraction of the way, from 0 to 1.
        reason : str
            What limits the way; empty when the desired pose is in reach.

        """
        if not state.contact.any():
            return pose, 1.0, ''
        stance = self.stance(state, position)
        phi = rotation_vector(state.rotation.T @ pose.rotation)
        good, bad, why, found = 0.0, 1.0, '', BodyPose(state.position, state.rotation)
        steps, halvings = np.linspace(0.0, 1.0, REACH.parts + 1)[1:].tolist(), 0
        while steps or halvings:
            part = 0.5 * (good + bad) if halvings else steps.pop(0)
            aim = BodyPose(state.position + part * (pose.position - state.position),
                           state.rotation @ rotation_from_vector(part * phi))
            yield
            reason = self.what_ends(stance, aim, support)
            if not reason:
                good, found = part, aim
                halvings = max(halvings - 1, 0)
            else:
                bad, why, steps = part, reason, []
                halvings = halvings - 1 if halvings else REACH.bisections
        return (found, good, why) if why else (pose, 1.0, '')

    def stance(self, state: BodyState, position: np.ndarray) -> ReachState:
        """
        Return the state that :meth:`what_ends` starts from.

        Parameters
        ----------
        state : BodyState
            Present pose and places of the feet.
        position : (nj,) array [rad or m]
            Present joint positions, in the model's order.

        Returns
        -------
        StanceArrays, (nf, 12) array, (nv, 2) array
            Arrays of the feet in contact; their contact points and orientations in world axes;
            limits of the joints, widened for a joint that is beyond its limit now.

        Raises
        ------
        MeasurementError
            When the joints do not fit the model or are not finite.

        """
        q = state_vector(position, self._model.nv, 'joint positions')
        # A joint that is beyond its limit now may stay there.
        limits = np.column_stack([np.minimum(self._limits[:, 0], q - REACH.limit_noise),
                                  np.maximum(self._limits[:, 1], q + REACH.limit_noise)])
        return *self._stance(state, q), limits

    def what_ends(self, stance: ReachState, pose: BodyPose, support: Support = ANYTHING) -> str:
        """
        Return what keeps the base from a pose, or '' when the pose is in reach.

        Parameters
        ----------
        stance : ReachState
            Reach of :meth:`stance`; its joints are the first guess, and are moved when the pose is
            in reach.
        pose : BodyPose
            Pose to check, near the last one checked.
        support : Support
            Motions that the ground allows; no limit by default.

        Returns
        -------
        str
            Reason for people.

        """
        s, places, limits = stance
        target = np.zeros(24)
        target[:9], target[9:12] = pose.rotation.ravel(), pose.position
        if max(support_excess(support, target, 1.0)) > 0.0:
            return 'the support of the feet ends'
        before = s.q.copy()
        if solve_legs(s, target[:12], places, limits, self._stretch):
            return ''
        s.q[:] = before
        return 'a leg ends'

    def _stance(self, state: BodyState, q: np.ndarray) -> tuple[StanceArrays, np.ndarray]:
        """Return arrays of the feet in contact with joints at q, and the places of these feet."""
        key = state.contact.tobytes()
        if key not in self._stances:
            self._stances[key] = stance_arrays(self._model, [
                foot for foot, down in zip(self._config.feet, state.contact) if down])
        s = self._stances[key]
        s.q[:] = q
        places = np.zeros((len(s.states), 12))
        places[:, :3] = state.foot_position[state.contact]
        forward_kinematics(s.tree, s.q, s.still, s.still, np.zeros(9), s.bodies)
        contact_points(s.feet, s.bodies, tuple(state.rotation[2]), s.states)
        for place, foot in zip(places, s.states):
            R_BF = foot[FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3)
            place[3:] = (state.rotation @ R_BF).ravel()
        return s, places
