# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stance detection: when each foot is on the ground, from the recorded motion alone.

The part of a sole that touches the ground does not slide on it, and a rolling sole always has one
part at rest. So the speed and height that count are those of the slowest part of the sole. Their
evidence is that of `contact_evidence`, as live, smoothed over the whole recording. No foot is on
the ground while the motion requires no vertical force; where it requires some and all feet move,
as in poses that are low-passed over an impact, the slowest counts as at rest, and the others by
comparison.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.contact_evidence import (
    CLEARANCE,
    CORRELATION_TIME,
    FLIGHT_NOISE,
    MOVES,
    RESTS,
    SLIP,
    SWING,
    force_evidence,
    motion_evidence,
    smooth,
    speed_levels,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.spatial.jit import kernel

# -------------------------------------------------------------------------------------------------
# Motion of the soles over the ground: how fast, how high, and about which line each foot rolls.
#
# The part of a sole that touches the ground does not slide on it. A rolling foot turns about that
# part, which is the instantaneous centre of its rotation and holds the centre of pressure: the
# heel at first, the ball of the foot while the heel rises, the toes at the end. The velocity of
# the foot's points on the floor is linear in their position along the foot, ``v(x) = a + b x``,
# and is least at ``x = -a.b / b.b``, which is known to ``dv / |b|`` when speeds are known to
# ``dv``. The length of the sole does not matter.
#
# Most models have rigid soles, whose tips dip below the floor while the heel rises, where real
# toes bend. So the height of the floor is taken from the times in which the whole sole rests.


@dataclass(frozen=True)
class SoleSettings:
    """When a sole rests, and is level; chosen by the size of shoes."""

    rest_speed: float = 0.3  # [touch-down speed]: all of a sole that rests is slower
    level: float = 0.1  # [size of the sole]: difference in height of the ends of a level one
    least_upright: float = 0.3  # Cosine of the tilt, for the floor along the normal


SOLE = SoleSettings()


@dataclass(frozen=True, eq=False)
class SoleMotion:
    """Motion of the soles over the ground, for n instants and nf feet."""

    speed: np.ndarray  # (n, nf) [m/s]: speed of the slowest part of each sole
    height: np.ndarray  # (n, nf) [m]: height of its slow parts in the world; not below the floor
    # (n, nf) [m]: height of the ground where the foot last rested or next rests; NaN for feet that
    # never do
    floor: np.ndarray
    # (n, nf) [m]: position along x of the foot's frame about which it rolls; NaN without rolling
    roll: np.ndarray
    # (n, nf) [1/s]: growth of speed with the distance from there; zero where the sole is level or
    # rests
    roll_rate: np.ndarray


def soles_of(dynamics: GaitInverseDynamics, settings: GaitSettings) -> SoleMotion:
    """Return the motion of the soles, by the `stance` speeds of the settings."""
    parts, loaded = [], dynamics.load > settings.flight_load
    rest = SOLE.rest_speed * settings.touch_down_speed * speed_scale(dynamics)
    leaving = settings.lift_off_speed * speed_scale(dynamics)
    for i, points in enumerate(dynamics.sole_points()):
        velocity = (np.gradient(points, dynamics.step, axis=0)
                    - dynamics.ground_velocity[:, i, None])
        speed = np.linalg.norm(velocity, axis=2)
        slowest, fastest = speed.min(axis=1), speed.max(axis=1)
        floor = _floor(loaded, fastest, points[..., 2].mean(axis=1), rest)
        # Not the lowest part: the tip of a rigid sole is below the ground while real toes bend.
        slow = speed <= np.maximum(leaving, slowest)[:, None]
        height = np.where(slow, points[..., 2], np.inf).min(axis=1)
        roll, rate = _roll(dynamics, i, floor)
        across = np.linalg.norm(points[0, -1] - points[0, 0])
        rate[(np.ptp(points[..., 2], axis=1) <= SOLE.level * across) | (fastest < rest)] = 0.0
        parts.append((slowest, np.fmax(height, floor), floor, roll, rate))
    return SoleMotion(*(np.stack(columns, axis=1) for columns in zip(*parts)))


def on_floor(dynamics: GaitInverseDynamics, floor: np.ndarray, path: np.ndarray) -> np.ndarray:
    """
    Return points of the soles (foot frames), moved along their normals to the floor.

    ``floor`` (n, nf) [m]: ground height; points stay where it is NaN.
    """
    moved = path.copy()
    for i, foot in enumerate(dynamics.feet):
        if not foot.moments:        # a ball has no sole that dips
            continue
        height = dynamics.base_position[:, 2] + dynamics.points(path)[:, i, 2]
        upright = dynamics.foot_rotation[:, i, 2, 2]
        lift = (floor[:, i] - height) / np.maximum(upright, SOLE.least_upright)
        moved[:, i, 2] += np.nan_to_num(lift)
    return moved


def speed_scale(dynamics: GaitInverseDynamics) -> float:
    """Return ``sqrt(g l)`` [m/s], l the leg length: a Froude number of 1."""
    return float(np.sqrt(GRAVITY * dynamics.leg_length))


def _floor(loaded: np.ndarray, speed: np.ndarray, height: np.ndarray, rest: float) -> np.ndarray:
    """Return the height of the ground under one foot: between two rests, the lower of both."""
    rests = list(runs(loaded & (speed < rest)))
    below, above = np.full((2, len(speed)), np.nan)
    for first, end in rests:
        # The foot moves at the ends of a rest, and may be lifted slowly in between.
        below[first:] = np.percentile(height[first:end], 25.0)
    for first, end in reversed(rests):
        above[:end] = below[first]
    return np.fmin(below, above)


def _roll(dynamics: GaitInverseDynamics, i: int,
          floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the x about which one foot rolls over the floor, and the rate; see SoleMotion."""
    foot, n = dynamics.feet[i], len(dynamics.time)
    if foot.edges[0] == foot.edges[1]:      # without length
        return np.full(n, np.nan), np.zeros(n)
    R = dynamics.foot_rotation[:, i]
    origin = dynamics.base_position + dynamics.foot_arm[:, i]
    turning = np.gradient(R, dynamics.step, axis=0)
    velocity = np.gradient(origin, dynamics.step, axis=0) - dynamics.ground_velocity[:, i]
    # In the foot's frame, the point at x on the floor has z = below + slope x.
    upright = np.where(R[:, 2, 2] > SOLE.least_upright, R[:, 2, 2], np.nan)
    below = np.nan_to_num(floor - origin[:, 2], nan=0.0) / upright
    slope = np.where(np.isfinite(floor), -R[:, 2, 0] / upright, 0.0)
    a = velocity + turning[:, :, 2] * below[:, None] + turning[:, :, 1] * foot.center[1]
    b = turning[:, :, 0] + turning[:, :, 2] * slope[:, None]
    rate = np.nan_to_num(np.linalg.norm(b, axis=1))
    roll = -np.einsum('ni,ni->n', a, b) / np.maximum(rate, 1e-9) ** 2
    return np.where(rate > 1e-6, roll, np.nan), rate


# -------------------------------------------------------------------------------------------------

# Stance and swing last this many times the shortest phase, on average.
USUAL = 2.0


@dataclass(frozen=True)
class StancePhase:
    """
    One foot on the ground, from touch-down to toe-off.

    Attributes
    ----------
    foot : int
        Index of the foot.
    first, last : int
        First and last sample on the ground.
    landed, left : bool
        Whether touch-down and toe-off are in the recording, or it begins or ends in stance.

    """

    foot: int
    first: int
    last: int
    landed: bool
    left: bool

    @property
    def samples(self) -> slice:
        """Samples of the stance, as a slice of the recording."""
        return slice(self.first, self.last + 1)


def detect_stance(dynamics: GaitInverseDynamics, settings: GaitSettings,
                  moved: SoleMotion | None = None) -> np.ndarray:
    """
    Return which feet are on the ground.

    Parameters
    ----------
    dynamics : GaitInverseDynamics
        Inverse dynamics of the recording, with the feet's poses.
    settings : GaitSettings
        Those named `stance` are used.
    moved : SoleMotion, optional
        Motion of the soles, where it has been computed already.

    Returns
    -------
    (n, nf) bool array

    """
    moved = moved or soles_of(dynamics, settings)
    scale, length, dt = speed_scale(dynamics), dynamics.leg_length, dynamics.step
    slow = moved.speed < settings.lift_off_speed * scale
    lowest = np.where(slow | ~slow.any(axis=1, keepdims=True), moved.height, np.inf).min(axis=1)
    # The floor on which a foot rests; one held still in the air is far from the lowest foot.
    clearance, lowest = settings.clearance * length, lowest[:, None]
    floor = np.where(np.abs(moved.floor - lowest) < clearance, moved.floor, lowest)
    scales = (*speed_levels(float(moved.speed.max()), SLIP * scale, SWING * scale),
              CLEARANCE * length, clearance)
    soles = np.array([foot.edges[0] != foot.edges[1] for foot in dynamics.feet])
    rate = scale / (USUAL * settings.shortest_phase * length)
    return _probability(moved.speed, moved.height - floor, dynamics.load, soles, scales,
                        settings.flight_load, rate, dt) > 0.5


@kernel
def _probability(speed, height, load, soles, scales, flight_load, rate, dt):
    """
    Return the probability of contact of each foot, (n, nf); see `contact_evidence`.

    ``scales``: the two levels of speed [m/s] and of clearance [m] of `motion_evidence`.
    """
    n, nf = speed.shape
    evidence, probability = np.empty((n, nf)), np.empty((n, nf))
    share = min(dt / CORRELATION_TIME, 1.0)
    for k in range(n):
        best, support = -np.inf, force_evidence(load[k], 0.0, 1.0, flight_load, FLIGHT_NOISE,
                                                2.0 * MOVES)
        for i in range(nf):
            evidence[k, i] = motion_evidence(
                speed[k, i], height[k, i], scales[0], scales[1], 0.0, RESTS, soles[i],
                scales[2], scales[3])
            best = max(best, evidence[k, i])
        lift = max(min(support, RESTS) - best, 0.0)
        for i in range(nf):
            evidence[k, i] = share * (min(evidence[k, i], support) if support < 0.0
                                      else evidence[k, i] + lift)
    for i in range(nf):
        smooth(evidence[:, i], rate, dt, probability[:, i])
    return probability


def stances(contact: np.ndarray) -> list[StancePhase]:
    """Return the stance phases of all feet, foot by foot."""
    return [StancePhase(i, first, end - 1, first > 0, end < len(contact))
            for i in range(contact.shape[1]) for first, end in runs(contact[:, i])]


def runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first sample and end (exclusive) of each range in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())


def steps(contact: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first sample and end of each double support in a step: one lands, another leaves."""
    for first, end in runs(contact.sum(axis=1) > 1):
        if first and end < len(contact):
            landed = contact[first] & ~contact[first - 1]
            if landed.any() and (contact[end - 1] & ~contact[end] & ~landed).any():
                yield first, end


def in_steps(contact: np.ndarray, without_flight: int = 0) -> np.ndarray:
    """Return where load passes between feet in a step, (n,); no flight so many samples about."""
    found = np.zeros(len(contact), bool)
    for first, end in steps(contact):
        around = slice(max(first - without_flight, 0), end + without_flight)
        found[first:end] = contact[around].any(axis=1).all()
    return found
