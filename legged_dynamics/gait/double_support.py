# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground reactions of a whole recording, off line: which foot bears what while several stand.

Six equations and two feet: the motion alone leaves open how they share. What closes the gap is a
choice, and choices differ by a factor of four on people whose feet were on force plates
(docs/double_support.md). They are here side by side.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.contact.inverse_dynamics import ContactInverseDynamics
from legged_dynamics.contact.over_time.inverse_dynamics import ContactInverseDynamicsOverTime
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.jacobians import contact_table
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.gait.ground_demand import GroundDemand, ground_demand
from legged_dynamics.gait.load_transfer import (
    GaitReactions,
    gait_reactions,
    outside_soles,
    smooth_shares,
)
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.sole_motion import SoleMotion, on_floor, speed_scale
from legged_dynamics.gait.stance_detection import (
    StancePhase,
    detect_stance,
    runs,
    soles_of,
    stances,
)
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.quadratic_program import Outcome
from legged_dynamics.spatial.rotations import skew

# -------------------------------------------------------------------------------------------------
# Double support by a law in time: the smooth transition of Ren, Jones and Howard (2008).
#
# The foot that is about to leave starts from the wrench it bore when the other one landed and
# gives it up by a fixed curve over the double support; the other takes the rest. A law for walking
# on two feet: where two feet stand and neither came from standing alone, it has nothing to say.
# Here beside the travelling reference for comparison; it does not look at the motion while both
# feet are down.


def leaving_share(phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return how much of its wrench the leaving foot has kept: fore-aft force, and all the rest.

    Parameters
    ----------
    phase : (n,) array
        Time since the other foot landed over *half* of the double support, 0 to 2.

    """
    k1 = np.exp(4.0 / 9.0)
    k2 = k1 / 2.0 * np.exp(-16.0 / 9.0)
    return k1 * np.exp(-(phase - 2.0 / 3.0) ** 2) - k2 * phase, np.exp(-phase ** 3)


def smooth_transition(contact: np.ndarray, arms: np.ndarray, total: np.ndarray,
                      forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return each foot's wrench where the law applies.

    Parameters
    ----------
    contact : (n, nf) bool array
        Feet on the ground.
    arms : (n, nf, 3) array [m]
        From the origin of the total wrench to each foot's frame, in world axes.
    total : (n, 6) array [N, N m]
        What all feet together bear, in world axes.
    forward : (n, 3) array
        Unit vector, level, in which the walker walks.

    Returns
    -------
    wrench : (n, nf, 6) array [N, N m]
        About the feet's frames, in world axes; zero where the law has nothing to say.
    said : (n,) bool array
        Where it has: one foot stands, or two between two steps.

    """
    n, nf = contact.shape
    wrench, said = np.zeros((n, nf, 6)), np.zeros(n, bool)
    shifted = total[:, None].repeat(nf, axis=1)
    shifted[..., 3:] -= np.cross(arms, total[:, None, :3])
    alone = contact.sum(axis=1) == 1
    wrench[alone] = np.where(contact[alone, :, None], shifted[alone], 0.0)
    said |= alone
    for first, end in runs(contact.sum(axis=1) == 2):
        if first == 0 or end == n or not (alone[first - 1] and alone[end]):
            continue
        leaving = int(np.argmax(contact[first - 1]))
        landing = int(np.argmax(contact[end]))
        pair = contact[first, leaving] and contact[first, landing]
        if leaving == landing or not pair or (contact[first:end] != contact[first]).any():
            continue
        phase = 2.0 * (np.arange(end - first) + 1.0) / (end - first + 1.0)
        fore_aft, rest = leaving_share(phase)
        start, axis = wrench[first - 1, leaving], forward[first:end]
        ahead = axis @ start[:3] if axis.ndim == 1 else np.einsum('ni,i->n', axis, start[:3])
        wrench[first:end, leaving] = rest[:, None] * start
        wrench[first:end, leaving, :3] += ((fore_aft - rest) * ahead)[:, None] * axis
        given = wrench[first:end, leaving]
        between = arms[first:end, leaving] - arms[first:end, landing]
        wrench[first:end, landing] = shifted[first:end, landing] - given
        wrench[first:end, landing, 3:] -= np.cross(between, given[:, :3])
        said[first:end] = True
    return wrench, said


# -------------------------------------------------------------------------------------------------
# Where in the sole a foot presses, as its stance goes by: from heel to toe, or as the foot comes.
#
# The path of a stance is the most likely one under four statements: it starts in the part of the
# sole that is lowest when the foot lands and ends in the one that is lowest when it leaves, or
# over which it rolls then, be it in front of the sole; while the foot stands alone it is the
# centre of pressure that the motion gives, within that one's error; while it rolls it is not far
# from the line that rests (`sole_motion`); and in between it wanders no faster than a sole's
# length a stance (a Wiener process). It lies on the floor, which is above a rigid sole where toes
# bend. Where nothing is said, it goes back to the middle of the sole. Each coordinate is one
# tridiagonal system,
#
# .. math:: \sum_t (x_{t+1} - x_t)^2 / q + \sum_t (x_t - z_t)^2 / r_t .
#
# Taking the path from the motion's own centre of pressure rather than from a table does more than
# fit the person: what is wrong with the model's mass shifts path and load alike, and so cancels
# out of the split between two feet.


def travelling_reference(demand: GroundDemand, contact: np.ndarray, settings: GaitSettings,
                         moved: SoleMotion | None = None) -> np.ndarray:
    """
    Return where each foot presses, (n, nf, 3) in its own frame [m], inside the sole.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses and the wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    settings : GaitSettings
        Those named `reference`.
    moved : SoleMotion, optional
        How the soles move, if known.

    """
    moved = moved or soles_of(demand, settings)
    doubt = settings.roll_speed * speed_scale(demand)
    path = demand.low_point.copy()
    alone = contact & (contact.sum(axis=1) == 1)[:, None]
    pressure = demand.pressure_in_feet()
    for stance in stances(contact):
        foot = demand.feet[stance.foot]
        if not foot.moments:
            continue        # a point has nothing to travel in
        part, i = stance.samples, stance.foot
        seen = np.where(alone[part, i, None], pressure[part, i], np.nan)
        spread = np.hypot(settings.roll_error, doubt / np.maximum(moved.roll_rate[part, i], 1e-9))
        rolled = (moved.roll[part, i], spread)
        edge = demand.low_point[part, i, :2].copy()
        ahead, back, left, right = foot.edges
        front = ahead
        if stance.left:
            front = edge[-1, 0] = _front(foot, edge[-1, 0], rolled, demand.step, settings)
            front = max(front, ahead)
        path[part, i, 0] = _path(stance, (back, front), seen[:, 0], edge[:, 0], demand.step,
                                 settings, rolled)
        if left > right:
            path[part, i, 1] = _path(stance, (right, left), seen[:, 1], edge[:, 1], demand.step,
                                     settings)
        path[part, i, 2] = 0.0
    return on_floor(demand, moved.floor, path)


def _front(foot: Foot, edge: float, rolled: tuple[np.ndarray, np.ndarray], dt: float,
           settings: GaitSettings) -> float:
    """Return where the sole of a foot that leaves ends: a shoe is longer than soles are given."""
    roll, spread = (values[-max(round(settings.pressure_memory / dt), 1):] for values in rolled)
    front, back, *_ = foot.edges
    seen = roll[np.isfinite(roll) & (spread < 2.0 * settings.roll_error)]
    if edge < front - 0.2 * (front - back) or not len(seen):
        return edge
    return float(np.clip(np.median(seen), edge, front + settings.longer_sole * (front - back)))


def _path(stance: StancePhase, edges: tuple[float, float], seen: np.ndarray, edge: np.ndarray,
          dt: float, settings: GaitSettings,
          rolled: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Return one coordinate of the path through one stance."""
    n, (low, high) = len(seen), edges
    length = high - low
    crossing = max(n * dt, settings.crossing_time)
    step = length ** 2 * dt / crossing
    # A sole's length off the middle within one crossing: no more than a place to come back to.
    middle = dt / (crossing * length ** 2)
    information, pull = np.full(n, middle), np.full(n, middle * (low + high) / 2.0)
    for values, spread in ((seen, np.full(n, settings.pressure_error)),
                           *([] if rolled is None else [rolled])):
        inside = np.clip(values, low, high)
        beyond = np.nan_to_num(np.abs(values - inside) / settings.plausible_distance)
        trust = np.where(np.isfinite(values), dt / settings.pressure_memory
                         / (spread * (1.0 + beyond ** 2)) ** 2, 0.0)
        information += trust
        pull += trust * np.nan_to_num(inside)
    for there, sample in ((stance.landed, 0), (stance.left, n - 1)):
        if there:
            information[sample] += settings.edge_error ** -2
            pull[sample] += settings.edge_error ** -2 * edge[sample]
    if n == 1:
        return np.clip(pull / information, low, high)
    band = np.zeros((2, n))
    band[0, 1:] = -1.0 / step
    band[1] = information
    band[1, :-1] += 1.0 / step
    band[1, 1:] += 1.0 / step
    return np.clip(solveh_banded(band, pull), low, high)


# -------------------------------------------------------------------------------------------------
# From the load on each foot to its whole wrench: what pushes sideways, and where in the sole.
#
# Each foot's force aims at a point above the centre of mass, as the forces of legs do in whatever
# walks upright (the virtual pivot point), and presses at its reference; the wrench that the motion
# asks for is met by the least departure from that. Where this would pull, slide or press beside
# the sole, a quadratic program departs further, and what no wrench of these feet can give is left
# over as root residual: the load on a foot stays.


# One deviation each, of a foot that bears all the weight, as multiples of the weight [-, m].
NORMAL, SIDEWAYS, MOMENT = 1e-4, 0.05, 0.02
# The same of the root residual, where there has to be one.
FORCE_RESIDUAL, MOMENT_RESIDUAL = 1e-4, 1e-2
# A share below this counts as this: what is hardly loaded may still rub a little.
LEAST_SHARE = 0.01
# A sole seen from above is at least this wide [m], were it to stand on its edge.
LEAST_SOLE = 0.01
# A centre of mass counts as at least this part of the leg length above a foot.
LEAST_HEIGHT = 0.1
TOLERANCE = 1e-9


def complete_wrenches(demand: GroundDemand, contact: np.ndarray, points: np.ndarray,
                      share: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """
    Return the wrench on each foot, (n, nf, 6) about its point in world axes [N, N m].

    What is left of the demand is the root residual.

    Parameters
    ----------
    demand : GroundDemand
        The wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    points : (n, nf, 3) array [m]
        Where each foot presses: arms from the base's origin in world axes.
    share : (n, nf) array
        Of the load, by foot.
    settings : GaitSettings
        Those named `force` and `friction`.

    """
    wrench = np.zeros((*contact.shape, 6))
    wanted = demand.wrench / demand.weight
    cone = FrictionCone(settings.friction)
    # A centre of mass near the ground is no place to aim at.
    height = settings.pivot_height * np.maximum(
        demand.center_of_mass[:, None, 2] - points[..., 2], LEAST_HEIGHT * demand.leg_length)
    aims = (demand.center_of_mass[:, None, :2] - points[..., :2]) / height[..., None]
    for t in range(len(contact)):
        down = np.flatnonzero(contact[t])
        if not len(down):
            continue
        turns = [_moment_axes(demand.feet[i], demand.foot_rotation[t, i]) for i in down]
        columns = [3 + axes.shape[1] for axes in turns]
        load = max(float(demand.load[t]), 0.0)
        aim, variance = _wanted(load * share[t, down], share[t, down], aims[t, down], columns)
        A = contact_table([demand.feet[i] for i in down]).grasp(
            demand.foot_rotation[t, down], points[t, down])
        C, d = _limits(cone, demand, t, down, points[t, down], turns)
        w = _nearest(A, wanted[t], aim, variance, C, d)
        for i, axes, part in zip(down, turns, np.split(w, np.cumsum(columns)[:-1])):
            wrench[t, i, :3], wrench[t, i, 3:] = part[:3], axes @ part[3:]
    return wrench * demand.weight


def _moment_axes(foot: Foot, R_WF: np.ndarray) -> np.ndarray:
    """Return the axes of a foot's moments in world axes, (3, k)."""
    return np.array([R_WF[:, row.axis] if row.in_foot else np.eye(3)[row.axis]
                     for row in foot.rows[3:]]).reshape(-1, 3).T


def _wanted(load: np.ndarray, share: np.ndarray, direction: np.ndarray,
            columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the wrenches aimed at and their variances, over the weight."""
    aim, variance = [], []
    for f, s, (x, y), size in zip(load, np.maximum(share, LEAST_SHARE), direction, columns):
        aim.append([f * x, f * y, f, 0.0, 0.0, 0.0][:size])
        variance.append([SIDEWAYS ** 2 * s, SIDEWAYS ** 2 * s, NORMAL ** 2,
                         *[(MOMENT * s) ** 2] * 3][:size])
    return np.concatenate(aim), np.concatenate(variance)


def _limits(cone: FrictionCone, demand: GroundDemand, t: int, down: np.ndarray,
            points: np.ndarray, turns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d``: no pull, no slip, no pressure beside the sole."""
    rows, right, total, start = [], [], sum(3 + axes.shape[1] for axes in turns), 0
    for i, p, axes in zip(down, points, turns):
        R_WF, size = demand.foot_rotation[t, i], 3 + axes.shape[1]
        # Where it presses, from the middle of what touches.
        pressed = p - demand.foot_arm[t, i] - R_WF @ demand.feet[i].center
        foot, turned = demand.feet[i].shadow(R_WF, pressed, LEAST_SOLE)
        A, b = contact_inequalities(cone, foot, turned)
        if size > 3:
            shift = np.eye(size)
            shift[3:, :3] = axes.T @ skew(pressed)
            A = A @ shift
        wide = np.zeros((len(b), total))
        wide[:, start:start + size] = A
        rows.append(wide)
        right.append(b)
        start += size
    return np.vstack(rows), np.concatenate(right)


def _nearest(A: np.ndarray, b: np.ndarray, aim: np.ndarray, variance: np.ndarray, C: np.ndarray,
             d: np.ndarray) -> np.ndarray:
    """Return the wrenches nearest to the aim that meet the demand, or nearly so within limits."""
    problem = GroundForceProblem.prior(aim, variance)
    if A.shape[1] >= 6:
        w = problem.with_rows(A, b).solve().mean
        if (np.abs(A @ w - b) < TOLERANCE).all() and (C @ w >= d - TOLERANCE).all():
            return w
    residual = np.array([FORCE_RESIDUAL] * 3 + [MOMENT_RESIDUAL] * 3)
    found = problem.with_rows(A, b, residual ** 2).with_limits(C, d).solve()
    return found.mean if found.outcome is Outcome.SOLVED else np.zeros_like(aim)


# -------------------------------------------------------------------------------------------------

METHODS = {
    'travelling': 'least contact moment about a point that travels through the sole, smoothed',
    'over_time': 'least contact moment about the middle of each sole and least change over time',
    'sole': 'least contact moment about the middle of each sole, each instant by itself',
    'ankle': 'least contact moment about the joint that carries each foot, as Nimble does',
    'transition': 'a law in time (Ren 2008); about the middle of the sole where it has none',
    'guess': 'nearest to given wrenches, each instant by itself',
}


class DoubleSupport:
    """
    Contact inverse dynamics of whole recordings.

    Parameters
    ----------
    model : RobotModel
        With a floating base.
    feet : sequence of Foot
        Any number. Travelling needs feet with a length to travel in.
    settings : GaitSettings or mapping, optional
        Checked settings, or names of `gait_settings.SETTINGS`.

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

    def detect(self, motion: RecordedMotion,
               ground_velocity: np.ndarray | None = None) -> np.ndarray:
        """Return which feet are on the ground, (n, nf) bool, by the motion alone; see `solve`."""
        return detect_stance(ground_demand(self.model, self.feet, motion, ground_velocity),
                             self.settings)

    def solve(self, motion: RecordedMotion, contact: np.ndarray | None = None,
              method: str = 'travelling', guess: np.ndarray | None = None,
              ground_velocity: np.ndarray | None = None) -> GaitReactions:
        """
        Return the ground reactions of a recorded motion.

        Parameters
        ----------
        motion : RecordedMotion
            At an even rate, the world's z up.
        contact : (n, nf) bool array, optional
            Feet on the ground; detected by default.
        method : str
            One of `METHODS`.
        guess : (n, nf, 6) array, optional [N, N m]
            For the method of that name: wrenches in the feet's axes about their frames.
        ground_velocity : (n, nf, 3) array, optional [m/s]
            Of what is under each foot, in world axes: of the belts of a treadmill. At rest by
            default.

        Raises
        ------
        ConfigurationError
            When the method is unknown, or there is a guess without its method or the reverse.
        MeasurementError
            When motion, contact or guess do not fit.

        """
        if method not in METHODS:
            raise ConfigurationError(f'expected a method out of {", ".join(METHODS)}, '
                                     f'got {method!r}')
        if (method == 'guess') != (guess is not None):
            raise ConfigurationError("method 'guess' and given wrenches go together: expected "
                                     'both or neither')
        motion = motion.checked(self.model)
        demand = ground_demand(self.model, self.feet, motion, ground_velocity)
        moved = soles_of(demand, self.settings)
        if contact is None:
            contact = detect_stance(demand, self.settings, moved)
        contact = np.array(contact, bool)
        if contact.shape != (len(motion), len(self.feet)):
            raise MeasurementError(f'expected contact flags of shape '
                                   f'({len(motion)}, {len(self.feet)}), got {contact.shape}')
        outside = outside_soles(demand, contact)
        reference = self._soles()
        if method == 'travelling':
            wrench, reference = self._travelling(demand, contact, outside, moved)
        elif method == 'over_time':
            wrench = ContactInverseDynamicsOverTime(self.model, self.feet).solve(
                motion, in_contact=contact).wrench
        elif method == 'ankle':
            reference = self._ankles()
            wrench = self._each_instant(motion, contact, reference)
        else:
            wrench = self._each_instant(motion, contact, reference, guess)
        if method == 'transition':
            found, said = smooth_transition(contact, demand.foot_arm, demand.wrench,
                                            _level(motion.base_rotation[:, :, 0]))
            wrench[said] = _in_feet(demand, found)[said]
        return gait_reactions(self.model, motion, demand, contact, wrench, reference,
                              ~(outside > 2.0 * self.settings.plausible_distance))

    def _travelling(self, demand: GroundDemand, contact: np.ndarray, outside: np.ndarray,
                    moved: SoleMotion) -> tuple[np.ndarray, np.ndarray]:
        """Return wrenches and references in the feet's frames."""
        settings = self.settings
        reference = travelling_reference(demand, contact, settings, moved)
        points = demand.points(reference)
        share = smooth_shares(demand, contact, points, outside, settings)
        wrench = complete_wrenches(demand, contact, points, share, settings)
        wrench[..., 3:] += np.cross(points - demand.foot_arm, wrench[..., :3])
        return _in_feet(demand, wrench), reference

    def _each_instant(self, motion: RecordedMotion, contact: np.ndarray, reference: np.ndarray,
                      guess: np.ndarray | None = None) -> np.ndarray:
        """Return wrenches in the feet's frames, chosen at each instant by itself."""
        solver = ContactInverseDynamics(self.model, self.feet, reference=reference)
        if guess is not None and np.shape(guess) != (*contact.shape, 6):
            raise MeasurementError(f'expected a guess of shape {(*contact.shape, 6)}, '
                                   f'got {np.shape(guess)}')
        return solver.batch(motion.position, motion.velocity, motion.acceleration,
                            motion.base_motion, in_contact=contact, guess=guess,
                            ground_normal=motion.base_rotation[:, 2]).wrench

    def _soles(self) -> np.ndarray:
        """Middle of each sole in its foot's frame, (nf, 3) [m]."""
        return np.array([foot.center for foot in self.feet])

    def _ankles(self) -> np.ndarray:
        """Origin of the link that the last joint of each leg moves, in the foot's frame."""
        found = []
        for foot in self.feet:
            body, pose = self.model.frame(foot.link)
            link = self.model.joints[body - 1].child if body else self.model.base_link
            found.append(pose.inverse().p + pose.R.T @ self.model.frame(link).pose.p)
        return np.array(found)


def _in_feet(demand: GroundDemand, wrench: np.ndarray) -> np.ndarray:
    """Return wrenches given in world axes about the feet's frames in the feet's axes."""
    return np.concatenate([np.einsum('nfji,nfj->nfi', demand.foot_rotation, wrench[..., part])
                           for part in (slice(0, 3), slice(3, 6))], axis=-1)


def _level(axis: np.ndarray) -> np.ndarray:
    """Return (n, 3) axes turned into the horizontal, of length one."""
    level = axis * [1.0, 1.0, 0.0]
    return level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 1e-9)
