# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
StandingForceController: holds a robot's body still and gives its feet the forces asked for.

A spring and damper between the body and the pose it had at the start say how the body is to
accelerate; inverse dynamics say what wrench the ground must exert for that; the feet share it,
those that were asked for a force as near to that as friction, torque limits and balance allow; and
``effort = inverse dynamics - J^T f`` makes them do so. The sum of the forces is the body's affair
and not the asker's: what one foot gets more the others get less.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY, UP
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.force_map.inversion import stacked_inequalities
from legged_dynamics.force_map.load_sharing import LoadShares, share_load
from legged_dynamics.force_map.stance_dynamics import StanceDynamics, StanceTerms
from legged_dynamics.force_map.standing_command import SETTINGS, AskedForce, StandingCommand
from legged_dynamics.model.feet import Foot, PointFoot
from legged_dynamics.model.mimic import refuse_following_legs
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import checked
from legged_dynamics.spatial.exponential import rotation_log

Problem = tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]
# A force further than this part of the weight from what was asked is said to be another.
CLIPPED = 0.01
# How far, in weights, the force worked towards may be ahead of what can be given.
AHEAD = 0.1


class StandingForceController:
    """
    Holds the body where it is and gives feet the forces asked for.

    All feet are taken to stand on level ground.

    Parameters
    ----------
    model : RobotModel
        With a floating base and an effort limit for every joint.
    feet : sequence of PointFoot
        Three or more.
    settings : mapping, optional
        Dotted names of `SETTINGS`.
    limits : (nj,) array, optional [N m]
        Effort limits; the model's by default.

    Attributes
    ----------
    limits : (nj,) array [N m]
        What the forces may take: a part of the effort limits.
    weight : float [N]
    cone : FrictionCone
        Friction and least load of each foot, in world axes.

    Raises
    ------
    ConfigurationError
        When a setting is wrong, a foot is not a point, or there are fewer than three.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot],
                 settings: Mapping[str, Any] | None = None, limits: np.ndarray | None = None):
        if len(feet) < 3 or not all(isinstance(foot, PointFoot) for foot in feet):
            raise ConfigurationError('expected three or more point feet to stand on, got '
                                     f'{", ".join(str(foot) for foot in feet) or "none"}')
        for foot in feet:
            refuse_following_legs(model.joints, model.chain(model.frame(foot.link).body),
                                  'standing control')
        values = checked(settings or {}, SETTINGS)
        self.settings = {name.removeprefix('standing.'): value for name, value in values.items()}
        self.model, self.feet = model, tuple(feet)
        self.weight = model.total_mass * GRAVITY
        self._dynamics = StanceDynamics(model, feet)
        self.limits = self.settings['torque_fraction'] * np.asarray(
            model.effort_limits if limits is None else limits, float)
        least = self.settings['minimum_load'] * self.weight / len(feet)
        self.cone = FrictionCone(self.settings['friction'], minimum=least)
        self._cones = stacked_inequalities([self.cone.inequalities()] * len(feet))
        self.reset()

    def reset(self) -> None:
        """Forget place, forces and faults; the next sample's pose is the one to hold."""
        self._place: tuple[np.ndarray, np.ndarray] | None = None
        self._stamp_ns: int | None = None
        self._fault = ''
        self._sought: dict[int, np.ndarray] = {}
        self._given = np.tile(self.weight / len(self.feet) * UP, (len(self.feet), 1))

    def update(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
               p_WB: np.ndarray, R_WB: np.ndarray, twist: np.ndarray,
               asked: Mapping[int, AskedForce] | None = None) -> StandingCommand:
        """
        Return the efforts for one sample.

        Parameters
        ----------
        stamp_ns : int [ns]
            Of the sample.
        position, velocity : (nj,) array [rad, rad/s]
            Joints in the model's order.
        p_WB, R_WB : (3,) and (3, 3) array [m]
            Pose of the base in a world whose z is up.
        twist : (6,) array [m/s, rad/s]
            ``[v; w]`` of the base over ground, in base axes.
        asked : mapping of int to AskedForce, optional
            By the foot's place.

        """
        if self._place is None:
            self._place = p_WB.copy(), R_WB.copy()
        dt = 0.0 if self._stamp_ns is None else max(stamp_ns - self._stamp_ns, 0) * 1e-9
        self._stamp_ns = stamp_ns
        away, turned = self._place[0] - p_WB, _turn(R_WB.T @ self._place[1])
        offset, tilt = float(np.linalg.norm(away)), float(np.linalg.norm(turned))
        terms = self._needed(position, velocity, R_WB, twist, away, turned)
        wanted = {foot: _in_world(force, R_WB, terms.foot_rotations[foot])
                  for foot, force in (asked or {}).items()}
        E = _effort_map(terms, R_WB)
        problem = self._problem(terms, R_WB, E)
        self._seek(wanted, dt, problem)
        shares = share_load(*problem[:2], self._sought, problem[2])
        self._stay_near(shares)
        clipped = self._explain(shares, wanted, terms.joint_effort, E)
        self._given = shares.force
        self._judge(offset, tilt)
        effort = None
        if not self._fault:
            to_base = (shares.force @ R_WB).ravel()
            effort = (terms.joint_effort - terms.jacobian.T @ to_base
                      - self.settings['joint_damping'] * velocity)
        return StandingCommand(effort, shares.force, wanted, clipped, shares.balanced, offset,
                               tilt, self._fault, terms)

    def _needed(self, position: np.ndarray, velocity: np.ndarray, R_WB: np.ndarray,
                twist: np.ndarray, away: np.ndarray, turned: np.ndarray) -> StanceTerms:
        """Return what it takes to bring the body back to its place."""
        stiffness = self.settings['frequency'] ** 2
        damping = 2.0 * self.settings['damping_ratio'] * self.settings['frequency']
        up = R_WB[2]
        proper = stiffness * (away @ R_WB) - damping * twist[:3] + GRAVITY * up
        return self._dynamics.compute(position, velocity, twist[3:],
                                      stiffness * turned - damping * twist[3:], proper, up)

    def _problem(self, terms: StanceTerms, R_WB: np.ndarray, E: np.ndarray) -> Problem:
        """Return contact points, wrench and inequalities of the load sharing, in world axes."""
        A, b = self._cones
        A = np.vstack([A, E, -E])
        b = np.concatenate([b, terms.joint_effort - self.limits,
                            -terms.joint_effort - self.limits])
        wrench = np.concatenate([R_WB @ terms.base_wrench[:3], R_WB @ terms.base_wrench[3:]])
        return terms.contact_points @ R_WB.T, wrench, (A, b)

    def _seek(self, asked: Mapping[int, np.ndarray], dt: float, problem: Problem) -> None:
        """Move each force that is worked towards by one step to what is asked, or back."""
        step = self.settings['force_rate'] * self.weight * dt
        leaving = self._sought.keys() - asked.keys()
        goals = dict(asked)
        if leaving:     # they go to what they would get had they never been asked
            staying = {foot: force for foot, force in self._sought.items() if foot in asked}
            free = share_load(*problem[:2], staying, problem[2]).force
            goals.update((foot, free[foot]) for foot in leaving)
        for foot, goal in goals.items():
            start = self._sought.get(foot, self._given[foot])
            gap = goal - start
            far = float(np.linalg.norm(gap))
            if foot in leaving and far <= step:
                del self._sought[foot]
            else:
                self._sought[foot] = start + gap * min(1.0, step / far if far else 1.0)

    def _stay_near(self, shares: LoadShares) -> None:
        """Let no force that is worked towards run away from what can be given."""
        for foot in self._sought:
            gap = shares.missing[foot]
            ahead = float(np.linalg.norm(gap))
            if ahead > AHEAD * self.weight:
                self._sought[foot] = shares.force[foot] + gap * (AHEAD * self.weight / ahead)

    def _explain(self, shares: LoadShares, asked: Mapping[int, np.ndarray], effort: np.ndarray,
                 E: np.ndarray) -> dict[int, str]:
        """Say of each foot that does not get what is worked towards why it does not."""
        found = {}
        for foot, force in asked.items():
            if np.linalg.norm(shares.missing[foot]) <= CLIPPED * self.weight:
                continue
            own = E[:, 3 * foot:3 * foot + 3]
            moved = np.abs(own).max(axis=1) > 0.0
            if force[2] < self.cone.minimum:
                found[foot] = f'a normal force below {self.cone.minimum:.0f} N'
            elif not self.cone.contains(force):
                found[foot] = 'outside the friction cone'
            elif (np.abs(effort - own @ force) > self.limits)[moved].any():
                found[foot] = 'beyond the effort limits'
            else:
                found[foot] = 'the other feet cannot balance it'
        return found

    def _judge(self, offset: float, tilt: float) -> None:
        """Let go, for good, of a robot that is not where it is held."""
        if self._fault:
            return
        if offset > self.settings['largest_offset']:
            self._fault = (f'let go: the body is {offset:.3f} m from its place (allowed: '
                           f'{self.settings["largest_offset"]:g} m)')
        elif tilt > self.settings['largest_tilt']:
            self._fault = (f'let go: the body is turned by {tilt:.2f} rad (allowed: '
                           f'{self.settings["largest_tilt"]:g} rad)')


def _effort_map(terms: StanceTerms, R_WB: np.ndarray) -> np.ndarray:
    """Return the (nj, 3 nf) map from forces in world axes to what they take off the efforts."""
    by_foot = terms.jacobian.reshape(len(terms.contact_points), 3, -1)
    return np.einsum('fkj,ik->jfi', by_foot, R_WB).reshape(by_foot.shape[2], -1)


def _turn(R: np.ndarray) -> np.ndarray:
    """Return log(R); scipy's takes a hundred microseconds for one rotation."""
    return np.array(rotation_log(tuple(R.ravel().tolist())))


def _in_world(asked: AskedForce, R_WB: np.ndarray, R_BF: np.ndarray) -> np.ndarray:
    if asked.axes == 'world':
        return asked.force
    return R_WB @ (asked.force if asked.axes == 'base' else R_BF @ asked.force)
