# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground reactions of a whole recording, off line, while several feet are loaded.

The base's equation of motion gives six numbers, and two flat feet have twelve: how they share the
load is indeterminate, and each method here closes that gap by another assumption
(:data:`METHODS`; on force plates their errors differ by a factor of four, docs/double_support.md).
:class:`DoubleSupport` applies any of them to one inverse dynamics of the recording.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from legged_dynamics.contact.inverse_dynamics import ContactInverseDynamics
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.jacobians import contact_table
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import UP
from legged_dynamics.optimization.quadratic_program import Outcome
from legged_dynamics.people.gait.contact_timing import ContactTiming, contact_timing, given_timing
from legged_dynamics.people.gait.flat_feet import flat_footed, flat_shares, levelled
from legged_dynamics.people.gait.force_direction import directions, through_sole
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import (
    borne_elsewhere,
    outside_soles,
    smooth_shares,
    travelling_reference,
)
from legged_dynamics.people.gait.reactions import GaitReactions, gait_reactions
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion, soles_of
from legged_dynamics.spatial.rotations import skew

# -------------------------------------------------------------------------------------------------
# From the vertical load on each foot to its whole wrench.
#
# The prior: each foot's force leans as `force_direction` says and acts at the foot's reference.
# The wrench that the motion requires is met by the least change from that. Where this would pull,
# slip or leave the sole, a quadratic program changes it further within these limits; what no
# wrench of the feet can produce stays as root residual.


TOLERANCE = 1e-9        # of the equations and limits, over the weight


@dataclass(frozen=True)
class WrenchPrior:
    """Standard deviations of the wrench of a foot, over the weight; chosen by their order."""

    # Of a foot that carries the whole weight.
    normal: float = 1e-4  # And of the residual force, where there is one
    sideways: float = 0.05
    moment: float = 0.02  # [m]
    moment_residual: float = 1e-2  # [m]: of the root residual, where there is one
    least_share: float = 0.01  # Of the load: friction acts on a hardly loaded foot, too
    least_sole: float = 0.01  # [m]: width from above of one that stands on its edge


PRIOR = WrenchPrior()


def _complete_wrenches(dynamics: GaitInverseDynamics, contact: np.ndarray, points: np.ndarray,
                      share: np.ndarray, lean: np.ndarray,
                      settings: GaitSettings) -> np.ndarray:
    """
    Return the wrench on each foot about its reference, in world axes, given its share of the load.

    `points` (n, nf, 3) [m] are the references as arms from the base's origin, and `lean`
    (n, nf, 2) is the expected horizontal over vertical force.
    """
    wrench = np.zeros((*contact.shape, 6))
    required = dynamics.wrench / dynamics.weight
    cone = FrictionCone(settings.friction)
    for t in range(len(contact)):
        down = np.flatnonzero(contact[t])
        if not len(down):
            continue
        turns = [_moment_axes(dynamics.feet[i], dynamics.foot_rotation[t, i]) for i in down]
        columns = [3 + axes.shape[1] for axes in turns]
        load = max(float(dynamics.load[t]), 0.0)
        mean, variance = _prior(load * share[t, down], share[t, down], lean[t, down], columns)
        A = contact_table([dynamics.feet[i] for i in down]).grasp(
            dynamics.foot_rotation[t, down], points[t, down])
        C, d = _limits(cone, dynamics, t, down, points[t, down], turns)
        w = _nearest(A, required[t], mean, variance, C, d)
        for i, axes, part in zip(down, turns, np.split(w, np.cumsum(columns)[:-1])):
            wrench[t, i, :3], wrench[t, i, 3:] = part[:3], axes @ part[3:]
    return wrench * dynamics.weight


def _moment_axes(foot: Foot, R_WF: np.ndarray) -> np.ndarray:
    """Return the axes of a foot's moments in world axes, (3, k)."""
    return np.array([R_WF[:, row.axis] if row.in_foot else np.eye(3)[row.axis]
                     for row in foot.rows[3:]]).reshape(-1, 3).T


def _prior(load: np.ndarray, share: np.ndarray, direction: np.ndarray,
           columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the wrenches before the motion is used, over the weight."""
    mean, variance = [], []
    for f, s, (x, y), size in zip(load, np.maximum(share, PRIOR.least_share), direction, columns):
        mean.append([f * x, f * y, f, 0.0, 0.0, 0.0][:size])
        variance.append([PRIOR.sideways ** 2 * s, PRIOR.sideways ** 2 * s, PRIOR.normal ** 2,
                         *[(PRIOR.moment * s) ** 2] * 3][:size])
    return np.concatenate(mean), np.concatenate(variance)


def _limits(cone: FrictionCone, dynamics: GaitInverseDynamics, t: int, down: np.ndarray,
            points: np.ndarray, turns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d``: no pull, no slip, centre of pressure inside the sole."""
    rows, right = [], []
    for i, p, axes in zip(down, points, turns):
        R_WF, size = dynamics.foot_rotation[t, i], 3 + axes.shape[1]
        # From the middle of the sole to the reference.
        foot = dynamics.feet[i]
        pressed = p - dynamics.foot_arm[t, i] - foot.touching(R_WF, UP, foot.center)
        foot, turned = foot.shadow(R_WF, pressed, PRIOR.least_sole)
        A, b = contact_inequalities(cone, foot, turned)
        if size > 3:
            shift = np.eye(size)
            shift[3:, :3] = axes.T @ skew(pressed)
            A = A @ shift
        rows.append(A)
        right.append(b)
    return block_diag(*rows), np.concatenate(right)


def _nearest(A: np.ndarray, b: np.ndarray, mean: np.ndarray, variance: np.ndarray, C: np.ndarray,
             d: np.ndarray) -> np.ndarray:
    """Return the most likely wrenches of sum b, with the least residual where limits act."""
    problem = GroundForceProblem.prior(mean, variance)
    if A.shape[1] >= 6:
        w = problem.with_rows(A, b).solve().mean
        if (np.abs(A @ w - b) < TOLERANCE).all() and (C @ w >= d - TOLERANCE).all():
            return w
    residual = np.array([PRIOR.normal] * 3 + [PRIOR.moment_residual] * 3)
    found = problem.with_rows(A, b, residual ** 2).with_limits(C, d).solve()
    return found.mean if found.outcome is Outcome.SOLVED else np.zeros_like(mean)


# -------------------------------------------------------------------------------------------------

METHODS = {
    'travelling': 'least contact moment about a point that travels through the sole, smoothed',
    'sole': 'least contact moment about the middle of each sole, each instant by itself',
    'ankle': 'least contact moment about the joint that carries each foot, as Nimble does',
}


class DoubleSupport:
    """
    Contact inverse dynamics of whole recordings.

    Parameters
    ----------
    model : RobotModel
        With a floating base.
    feet : sequence of Foot
        Any number. The method 'travelling' needs feet with a length.
    settings : GaitSettings or mapping, optional
        Checked settings, or values by the names of `gait.settings.SETTINGS`.

    Raises
    ------
    ConfigurationError
        When the base is fixed, there are no feet, or a setting is wrong.
    UnknownNameError
        When a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot],
                 settings: GaitSettings | Mapping[str, Any] | None = None):
        if not feet:
            raise ConfigurationError('expected at least one foot, got none. The links are: '
                                     f'{", ".join(model.frames)}')
        if not model.floating:
            raise ConfigurationError('expected a model with a floating base, got a fixed one')
        for foot in feet:
            model.frame(foot.link)
        self.model, self.feet = model, tuple(feet)
        self.settings = (settings if isinstance(settings, GaitSettings)
                         else GaitSettings.from_parameters(settings))

    def inverse_dynamics(self, motion: RecordedMotion,
                         ground_velocity: np.ndarray | None = None) -> GaitInverseDynamics:
        """
        Return the inverse dynamics of a motion, which `share` takes for any method.

        Parameters
        ----------
        motion : RecordedMotion
            At an even rate, the world's z up.
        ground_velocity : (n, nf, 3) array, optional [m/s]
            Velocity of the ground under each foot, in world axes; at rest by default.

        Returns
        -------
        GaitInverseDynamics

        Raises
        ------
        MeasurementError
            When the motion does not fit the model, or the velocities do not fit the motion.

        """
        return GaitInverseDynamics.of(self.model, self.feet, motion, ground_velocity)

    def solve(self, motion: RecordedMotion, contact: np.ndarray | None = None,
              method: str = 'travelling',
              ground_velocity: np.ndarray | None = None) -> GaitReactions:
        """
        Return the ground reactions of a recorded motion.

        To compare methods on one recording, compute its `inverse_dynamics` once and call `share`
        for each of them.

        Parameters
        ----------
        motion : RecordedMotion
            At an even rate, the world's z up.
        contact : (n, nf) bool array, optional
            Feet on the ground; detected by default.
        method : str
            One of `METHODS`.
        ground_velocity : (n, nf, 3) array, optional [m/s]
            Velocity of the ground under each foot, in world axes, as of a treadmill's belts; at
            rest by default.

        Returns
        -------
        GaitReactions

        Raises
        ------
        ConfigurationError
            When the method is unknown.
        MeasurementError
            When motion or contact do not fit.

        """
        check_method(method)
        return self.share(self.inverse_dynamics(motion, ground_velocity), contact, method)

    def share(self, dynamics: GaitInverseDynamics,
              contact: ContactTiming | np.ndarray | None = None,
              method: str = 'travelling',
              moved: SoleMotion | None = None,
              by_markers: bool = False) -> GaitReactions:
        """
        Share the wrench that a motion requires between the feet on the ground.

        Parameters
        ----------
        dynamics : GaitInverseDynamics
            As `inverse_dynamics` returns it, of this model and these feet.
        contact : ContactTiming or (n, nf) bool array, optional
            Feet on the ground; detected by default.
        method : str
            One of `METHODS`.
        moved : SoleMotion, optional
            Motion of the soles, where it has been computed already.
        by_markers : bool
            Whether the motion has been measured, so that where feet and body are is better known
            than how they accelerate; 'travelling' then uses the former too (`force_direction`).

        Returns
        -------
        GaitReactions

        Raises
        ------
        ConfigurationError
            When the method is unknown.
        MeasurementError
            When contact does not fit.

        """
        check_method(method)
        moved = moved or soles_of(dynamics, self.settings)
        if contact is None:
            timing = contact_timing(dynamics, self.settings, moved)
        elif isinstance(contact, ContactTiming):
            timing = contact
        else:
            flags = np.array(contact, bool)
            if flags.shape != (len(dynamics.motion), len(self.feet)):
                raise MeasurementError(
                    'expected contact flags of shape '
                    f'({len(dynamics.motion)}, {len(self.feet)}), got {flags.shape}')
            timing = given_timing(flags, dynamics,
                                  flat=flat_footed(dynamics, flags, self.settings, moved))
        motion, contact = dynamics.motion, timing.contact
        outside = outside_soles(dynamics, contact)
        if method == 'travelling':
            wrench, reference, dynamics = self._travelling(dynamics, timing, outside, moved,
                                                           by_markers)
        else:
            reference = (self._ankles() if method == 'ankle'
                         else np.array([foot.center for foot in self.feet]))
            solver = ContactInverseDynamics(self.model, self.feet, reference=reference)
            wrench = solver.batch(motion.position, motion.velocity, motion.acceleration,
                                  motion.base_motion, in_contact=contact,
                                  ground_normal=motion.base_rotation[:, 2]).wrench
        return gait_reactions(dynamics, timing, wrench, reference,
                              ~borne_elsewhere(dynamics, contact, outside, self.settings),
                              ~(outside > 2.0 * self.settings.plausible_distance),
                              self.settings,
                              by_markers and method == 'travelling' and not timing.flat)

    def _travelling(self, dynamics: GaitInverseDynamics, timing: ContactTiming,
                    outside: np.ndarray, moved: SoleMotion, by_markers: bool
                    ) -> tuple[np.ndarray, np.ndarray, GaitInverseDynamics]:
        """Return wrenches and references in the feet's frames, and the dynamics they produce."""
        settings, contact = self.settings, timing.contact
        if timing.flat:
            share, dynamics = flat_shares(dynamics, contact, settings), levelled(dynamics, contact)
        reference = travelling_reference(dynamics, contact, settings, moved)
        points = dynamics.points(reference)
        if not timing.flat:
            share = smooth_shares(dynamics, contact, points, outside, settings)
        lean = directions(dynamics, contact, points, share, settings)
        if by_markers and not timing.flat:
            of_all = np.einsum('nf,nfi->ni', share, lean) if len(self.feet) == 2 else None
            dynamics = through_sole(dynamics, contact, settings, moved, of_all)
        wrench = _complete_wrenches(dynamics, contact, points, share, lean, settings)
        wrench[..., 3:] += np.cross(points - dynamics.foot_arm, wrench[..., :3])
        in_feet = [np.einsum('nfji,nfj->nfi', dynamics.foot_rotation, wrench[..., part])
                   for part in (slice(0, 3), slice(3, 6))]
        return np.concatenate(in_feet, axis=-1), reference, dynamics

    def _ankles(self) -> np.ndarray:
        """Origin of the link that the last joint of each leg moves, in the foot's frame."""
        found = []
        for foot in self.feet:
            body, pose = self.model.frame(foot.link)
            link = self.model.joints[body - 1].child if body else self.model.base_link
            found.append(pose.inverse().p + pose.R.T @ self.model.frame(link).pose.p)
        return np.array(found)


def check_method(method: str) -> None:
    """Refuse an unknown method."""
    if method not in METHODS:
        raise ConfigurationError(f'expected a method out of {", ".join(METHODS)}, got {method!r}')
