# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground reactions over a recording, and what follows from them: efforts, centres of pressure."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.contact_timing import ContactChange, ContactTiming
from legged_dynamics.people.gait.flat_feet import FLAT, mistaken_load
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import TRANSFER
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import in_steps, runs, speed_scale

# -------------------------------------------------------------------------------------------------
# Standard deviations of the force on each foot, from what is not known about a motion.
#
# These errors add up, as if independent. The sum of all forces errs by parts of the weight that
# grow with the movement (`error.sum`, `error.sum_moving`), and by what white noise of the poses
# leaves where it is seen; each foot has its share of that. The share of a foot errs by the
# centre of pressure, or by how much people differ from a load that passes over at a constant
# rate, whichever says more; between feet that stay in place an even share, with its doubt, takes
# the place of the latter. Feet may press against each other, which no motion shows. A touch-down
# or toe-off at another time shifts the load that passes over by its rate times the deviation of
# that time. With the mass all forces err in proportion (`error.mass`). An error of the share
# changes all components of a force in proportion, which the covariance keeps.


@dataclass(frozen=True)
class ErrorBarSettings:
    """Errors of forces by motion against plates of three laboratories (docs/people.md)."""

    # Deviation of the sum, as a multiple of that of the vertical force.
    fore_aft: float = 1.4
    sideways: float = 1.25
    # Deviation of the horizontal force on a foot that is down alone, by where it stands
    # (`force_direction`).
    sole_along: float = 0.034  # [load]
    sole_across: float = 0.018  # [load]
    sole_moving: float = 2.0  # [weight]: added to that load where the force varies by the weight
    # Horizontal force between feet that are down together, which no motion shows.
    between_feet: float = 0.06  # [load]: along the line between them, at rest
    between_moving: float = 0.03  # [load]: added where the force varies by the weight
    across_feet: float = 0.02  # [load]
    # From this movement on the sum errs more slowly: in flight its momentum is known.
    saturation: float = 0.5  # [weight]
    # Centre of pressure of feet that stay, which balance moves slowly.
    planted: float = 0.006  # [m]: at rest
    planted_moving: float = 0.03  # [m]: added where the force varies by the weight
    movement_time: float = 2.0  # [sqrt(l / g)]: in which movement counts
    rate_window: float = 0.2  # [sqrt(l / g)]: around a change, for the rate of the load
    # Landing on both feet after a flight: deviation of the sum, by the speed that a foot loses.
    impact_along: float = 0.05  # [weight / sqrt(g l)]
    impact_down: float = 0.35  # [weight / sqrt(g l)]
    # In running, the force that the motion seems to require in flight is an error like that in
    # stance: deviation of the sum, as a multiple of its rms.
    running: float = 0.6  # At most, while a foot is down
    running_impact: float = 1.4  # At a landing
    flight_error: float = 0.08  # [weight]: usual rms, which counts as much as one look at it
    flight_memory: float = 0.1  # [sqrt(l / g)]: of one look
    impact_time: float = 0.35  # [sqrt(l / g)]: before and after a landing, in which it fades


BARS = ErrorBarSettings()


def force_covariance(dynamics: GaitInverseDynamics, timing: ContactTiming, force: np.ndarray,
                     points: np.ndarray, settings: GaitSettings,
                     by_markers: bool = False) -> np.ndarray:
    """
    Return the covariance of each foot's force (n, nf, 3, 3) [N^2], world axes.

    ``points`` (n, nf, 3) [m]: CoP from the base origin, world axes; ``by_markers``: foot
    and body positions gave the horizontal forces too (`force_direction`).
    """
    contact, vertical = timing.contact, np.clip(force[..., 2], 0.0, None)
    total = vertical.sum(axis=1, keepdims=True)
    share = np.divide(vertical, total, out=np.zeros_like(vertical), where=total > 0.0)
    moving, arm = _moving(dynamics), from_middle(contact, points)
    axes = np.array([BARS.fore_aft, BARS.sideways, 1.0])
    sums = np.sqrt(_sum_variance(dynamics, timing, settings))
    deviation = np.hypot(sums[:, None] * axes * dynamics.weight, dynamics.noise_left)
    # A foot that is alone has all of the error, one of two about half of it.
    carried = share * np.sqrt(timing.probability.clip(0.0, 1.0))
    covariance = np.einsum('nf,na,ab->nfab', carried ** 2, deviation ** 2, np.eye(3))
    if by_markers:
        alone = contact & (contact.sum(axis=1) == 1)[:, None]
        seen = np.diagonal(covariance[alone], axis1=1, axis2=2)[:, :2]
        size = np.hypot(vertical, BARS.sole_moving * dynamics.weight * moving[:, None])[alone]
        stood = (np.array([BARS.sole_along, BARS.sole_across]) * size[:, None]) ** 2
        # x and y of the soles, turned into the horizontal, as columns.
        x = dynamics.foot_rotation[alone][:, :2, 0]
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-6)
        sole = np.stack([x, np.stack([-x[:, 1], x[:, 0]], axis=1)], axis=2)
        covariance[alone, :2, :2] = np.einsum(
            'kia,ka,kja->kij', sole, seen * stood / np.maximum(seen + stood, 1e-12), sole)
    several = (contact & (contact.sum(axis=1) > 1)[:, None]) * vertical ** 2
    size = np.maximum(np.linalg.norm(arm, axis=2, keepdims=True), 1e-6)
    along = np.concatenate([arm / size, np.zeros((*contact.shape, 1))], axis=2)
    between = (BARS.between_feet + BARS.between_moving * moving) ** 2 - BARS.across_feet ** 2
    covariance += several[..., None, None] * (
        between[:, None, None, None] * along[..., :, None] * along[..., None, :]
        + BARS.across_feet ** 2 * np.diag([1.0, 1.0, 0.0]))
    shared, stepping = _share_variance(dynamics, timing, share, size[..., 0], moving, settings)
    moved = shared * total ** 2
    # Within a step, the share has the error of the times already.
    if timing.flat:
        moved += dynamics.weight ** 2 * mistaken_load(contact, timing.probability, share,
                                                      sums ** 2)
    else:
        moved += np.where(stepping[:, None], 0.0, _timing_variance(dynamics, timing, vertical))
    # Forces lean as the force of the foot does, or as that of all feet where it has none yet.
    lean = np.where(vertical[..., None] > 0.0, force, dynamics.wrench[:, None, :3])
    height = np.maximum(np.abs(lean[..., 2:]), 0.1 * dynamics.weight)
    lean = np.concatenate([lean[..., :2] / height, np.ones((*contact.shape, 1))], axis=-1)
    covariance += settings.mass_error ** 2 * force[..., :, None] * force[..., None, :]
    return covariance + moved[..., None, None] * lean[..., :, None] * lean[..., None, :]


def _moving(dynamics: GaitInverseDynamics) -> np.ndarray:
    """Return how much the vertical force varies about each instant, (n,) over the weight."""
    from scipy.ndimage import gaussian_filter1d  # slow to import

    unit = np.sqrt(dynamics.leg_length / GRAVITY)
    return np.sqrt(gaussian_filter1d((dynamics.load - 1.0) ** 2,
                                     BARS.movement_time * unit / dynamics.step))


def sum_deviation(dynamics: GaitInverseDynamics, settings: GaitSettings) -> np.ndarray:
    """Return the standard deviation of the total vertical force (n,), over the weight."""
    return settings.sum_error + settings.sum_moving * BARS.saturation * _saturated(dynamics)


def _saturated(dynamics: GaitInverseDynamics) -> np.ndarray:
    """Return how near the movement (n,) is to that from which on the sum errs no more."""
    moving = _moving(dynamics) / BARS.saturation
    return moving / np.hypot(1.0, moving)


def _sum_variance(dynamics: GaitInverseDynamics, timing: ContactTiming,
                  settings: GaitSettings) -> np.ndarray:
    """Return the variance of the total vertical force (n,), over the weight, with landings."""
    time, unit = dynamics.time - dynamics.time[0], np.sqrt(dynamics.leg_length / GRAVITY)
    reach, deviation = BARS.impact_time * unit, sum_deviation(dynamics, settings)
    flying, running = ~timing.contact.any(axis=1), np.zeros(len(time), bool)
    for first, end in runs(~flying):
        one = timing.contact[first:end].sum(axis=1).max() == 1
        running[first:end] = one and flying.any() and not timing.flat
    seen = _flight_error(dynamics, flying)
    if running.any():
        deviation[running] = (settings.sum_error
                              + BARS.running * seen * _saturated(dynamics)[running])
    variance = deviation ** 2 + (FLAT.sum_error ** 2 if timing.flat else 0.0)
    velocity = np.gradient(dynamics.base_position[:, None] + dynamics.foot_arm, dynamics.step,
                           axis=0) - dynamics.ground_velocity
    velocity /= speed_scale(dynamics)
    for change in filter(lambda one: one.landing, timing.changes):
        before, now = np.searchsorted(time, [change.time - reach, change.time])
        lost = velocity[before, change.foot]
        if timing.flat:
            size = FLAT.impact * np.linalg.norm(lost)
        elif not flying[before:now].any():
            continue        # not after a flight
        elif running[now:now + 1].any():
            size = BARS.running_impact * seen
        else:
            size = np.hypot(BARS.impact_along * np.linalg.norm(lost[:2]),
                            BARS.impact_down * min(lost[2], 0.0))
        variance += size ** 2 * np.exp(-2.0 * np.abs(time - change.time) / reach)
    return variance


def _flight_error(dynamics: GaitInverseDynamics, flying: np.ndarray) -> float:
    """Return the rms of the force over the weight that the recording has in flight."""
    within = flying.copy()      # not where a change may be earlier or later
    within[1:] &= flying[:-1]
    within[:-1] &= flying[1:]
    looks = dynamics.step / (BARS.flight_memory * np.sqrt(dynamics.leg_length / GRAVITY))
    square = (dynamics.as_recorded.load[within] ** 2).sum() * looks
    return float(np.sqrt((square + BARS.flight_error ** 2) / (within.sum() * looks + 1.0)))


def from_middle(contact: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return horizontal arms (n, nf, 2) of stance feet from their middle, 0 in the air."""
    middle = np.einsum('nf,nfi->ni', contact.astype(float), points[..., :2])
    middle /= np.maximum(contact.sum(axis=1, keepdims=True), 1)
    return np.where(contact[..., None], points[..., :2] - middle[:, None], 0.0)


def load_passes(dynamics: GaitInverseDynamics, contact: np.ndarray,
                settings: GaitSettings) -> np.ndarray:
    """Return (n,) when a step passes load on; feet that land or leave together do not step."""
    unit = np.sqrt(dynamics.leg_length / GRAVITY)
    return in_steps(contact, round(settings.shortest_phase * unit / dynamics.step))


def _share_variance(dynamics: GaitInverseDynamics, timing: ContactTiming, share: np.ndarray,
                    size: np.ndarray, moving: np.ndarray, settings: GaitSettings
                    ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the variance of each foot's share while several feet are down, (n, nf).

    And where a step passes from one foot to another, (n,); `size` (n, nf) [m] is the distance of
    the feet from the middle between them.
    """
    contact, variance = timing.contact, np.zeros(share.shape)
    time, stepping = dynamics.time - dynamics.time[0], load_passes(dynamics, contact, settings)
    length = np.maximum(2.0 * size.max(axis=1), 1e-3)
    planted = np.hypot(np.minimum(BARS.planted + BARS.planted_moving * moving,
                                  settings.pressure_error), settings.center_error)
    for first, end in runs(contact.sum(axis=1) > 1):
        part = slice(first, end)
        s = share[part]
        step = bool(stepping[first])
        error = settings.odometry_error if timing.flat else planted[part]
        if step and not timing.flat:
            error = np.hypot(settings.pressure_error, settings.center_error)
        seen = ((error / length[part]) ** 2)[:, None]
        if not step:        # without an even share, odometry errs by all of that
            own = np.inf if timing.flat else settings.uneven_share ** 2
        elif timing.flat:
            own = FLAT.landed_error ** 2
        else:
            own = settings.rate_error ** 2 * 4.0 * s * (1.0 - s)
        variance[part] = seen / (1.0 + seen / np.maximum(own, 1e-12))
        if step and not timing.flat:
            phase = (np.arange(end - first) + 0.5)[:, None] / (end - first)
            duration = max((end - first) * dynamics.step, dynamics.step)
            down, up = (_deviation(timing, landing, time[at]) for landing, at in
                        ((True, first), (False, end)))
            late = np.hypot((1.0 - phase) * down, phase * up) / duration
            variance[part] += np.where(contact[part], late ** 2, 0.0)
    return np.where(contact, variance, 0.0), stepping


def _deviation(timing: ContactTiming, landing: bool, time: float) -> float:
    """Return the deviation of the change next to a time [s]."""
    found = [(abs(change.time - time), change.deviation) for change in timing.changes
             if change.landing == landing]
    return min(found)[1] if found else 0.0


def _timing_variance(dynamics: GaitInverseDynamics, timing: ContactTiming,
                     vertical: np.ndarray) -> np.ndarray:
    """Return the variance of vertical forces because changes may be earlier or later, (n, nf)."""
    variance, time = np.zeros(vertical.shape), dynamics.time - dynamics.time[0]
    rate, feet = np.abs(np.gradient(vertical, dynamics.step, axis=0)), np.arange(vertical.shape[1])
    near = max(BARS.rate_window * np.sqrt(dynamics.leg_length / GRAVITY), dynamics.step)
    fastest = [rate[np.abs(time - change.time) <= near, change.foot].max(initial=0.0)
               for change in timing.changes]
    # In a flight at an end, where the low-pass of the poses hides the load, a foot may be down.
    hidden = [ContactChange(i, end < 0, time[end], 0.5 / dynamics.motion.cutoff) for i in feet
              for end in (0, -1) if dynamics.motion.cutoff and not timing.contact[end].any()]
    fastest += [np.median(fastest or 0.0)] * len(hidden)
    for change, steepest in zip([*timing.changes, *hidden], fastest):
        distance = np.abs(time - change.time) / change.deviation
        # Second moment of the part of a normal error that goes beyond this distance.
        beyond = ((1.0 + distance ** 2) * ndtr(-distance)
                  - distance * np.exp(-0.5 * distance ** 2) / np.sqrt(2.0 * np.pi))
        added = (steepest * change.deviation) ** 2 * np.maximum(beyond, 0.0)
        variance += np.where(timing.contact | (feet == change.foot), added[:, None], 0.0)
    return variance


# -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class GaitReactions:
    """
    Ground reactions and joint efforts of n instants with nf feet.

    Attributes
    ----------
    time : (n,) array [s]
        Times of the instants.
    feet : tuple of str
        Names of the feet's links.
    contact : (n, nf) bool array
        Feet on the ground.
    wrench : (n, nf, 6) array [N, N m]
        ``[f; m]`` of the ground on each foot, in the foot's axes about its frame's origin.
    force : (n, nf, 3) array [N]
        The same forces in world axes.
    center_of_pressure : (n, nf, 3) array [m]
        Of each foot, in the world, at the height of its reference; NaN without load.
    foot_position, foot_rotation : (n, nf, 3), (n, nf, 3, 3) array [m]
        p_WF and R_WF.
    joint_effort : (n, nv) array [N m or N]
        Of muscles or motors, in the model's joint order.
    root_residual : (n, 6) array [N, N m]
        Wrench on the base that no foot can explain, in world axes about the base's origin.
    reference : (n, nf, 3) array [m]
        Points about which the contact moments were made small, in the feet's frames.
    supported : (n,) bool array
        False where something other than the feet must carry load, a seat or a hand: the forces on
        the feet are wrong there.
    inside_soles : (n,) bool array
        False where the centre of pressure that the motion requires is further outside the stated
        soles than it errs by (`transfer.plausible_distance`).
    probability : (n, nf) array
        That each foot is on the ground.
    covariance : (n, nf, 3, 3) array [N^2]
        Of `force`, by what is not known about the motion (`force_covariance`).
    flat : bool
        Whether a robot walks flat-footed on its own odometry (`flat_feet`).

    """

    time: np.ndarray
    feet: tuple[str, ...]
    contact: np.ndarray
    wrench: np.ndarray
    force: np.ndarray
    center_of_pressure: np.ndarray
    foot_position: np.ndarray
    foot_rotation: np.ndarray
    joint_effort: np.ndarray
    root_residual: np.ndarray
    reference: np.ndarray
    supported: np.ndarray
    inside_soles: np.ndarray
    probability: np.ndarray
    covariance: np.ndarray
    flat: bool = False

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations of `force`, (n, nf, 3) [N]."""
        return np.sqrt(np.diagonal(self.covariance, axis1=2, axis2=3))


def gait_reactions(dynamics: GaitInverseDynamics, timing: ContactTiming, wrench: np.ndarray,
                   reference: np.ndarray, supported: np.ndarray, inside_soles: np.ndarray,
                   settings: GaitSettings, by_markers: bool = False) -> GaitReactions:
    """
    Return forces, efforts and centres of pressure that follow from the foot wrenches.

    ``wrench`` (n, nf, 6) and ``reference`` (n, nf, 3) or (nf, 3) are in foot frames;
    ``supported`` (n,): where the feet may carry all load; ``inside_soles`` (n,): where its centre
    of pressure may be theirs.
    """
    R_WF, reference = dynamics.foot_rotation, np.broadcast_to(reference, dynamics.foot_arm.shape)
    f, m = (np.einsum('nfij,nfj->nfi', R_WF, wrench[..., part])
            for part in (slice(0, 3), slice(3, 6)))
    carried = np.hstack([f.sum(axis=1), (m + np.cross(dynamics.foot_arm, f)).sum(axis=1)])
    arm = dynamics.points(reference) - dynamics.foot_arm
    load = np.where(f[..., 2] > TRANSFER.least_load * dynamics.weight, f[..., 2], np.nan)
    pressed = np.stack([(arm[..., 2] * f[..., 0] - m[..., 1]) / load,
                        (arm[..., 2] * f[..., 1] + m[..., 0]) / load,
                        np.where(np.isnan(load), np.nan, arm[..., 2])], axis=-1)
    position = dynamics.base_position[:, None] + dynamics.foot_arm
    return GaitReactions(
        dynamics.time, tuple(foot.link for foot in dynamics.feet), timing.contact, wrench, f,
        position + pressed, position, R_WF, dynamics.joint_efforts(wrench),
        dynamics.wrench + dynamics.noise - carried, np.array(reference), supported,
        inside_soles, timing.probability,
        force_covariance(dynamics, timing, f, dynamics.points(reference), settings, by_markers),
        timing.flat)
