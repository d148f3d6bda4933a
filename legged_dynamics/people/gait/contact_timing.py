# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Times of touch-down and toe-off from motion alone, each with a standard deviation.

`stance_detection` says which feet are on the ground; here each change is timed. Several signs in
the motion come at a known delay from the change, each with a scatter: the slowest part of the sole
comes to rest or starts to move, the forefoot falls fastest after heel strike, the toes rise, and
at the ends of a flight the required load vanishes. Times are multiples of ``sqrt(l / g)`` and
speeds of ``sqrt(g l)``, with the leg length l, so that they hold for legs of any size. Signs are
combined by their inverse variances; where they disagree by more than their scatter, the deviation
grows (Birge 1932).

In double support between two steps, the load passes from foot to foot at a nearly constant rate,
so the centre of pressure tells when it begins and ends: with the share
:math:`s = (t - t_d) / (t_o - t_d)` of the landing foot, touch-down :math:`t_d` and toe-off
:math:`t_o` are the generalised least-squares solution of the signs and of the share by the centre
of pressure, whose errors are correlated over time.
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import center_of_pressure
from legged_dynamics.people.gait.pressure_path import travelling_reference
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.sole_motion import SoleMotion, speed_scale
from legged_dynamics.people.gait.stance_detection import detect_stance, soles_of

# Signs of a change of contact: their level, how long they come after the change, and the standard
# deviation of that, in sqrt(l / g). Levels: parts of the fastest speed of the swing, speeds in
# sqrt(g l), heights in leg lengths, loads in weights.
RESTS, SLOW, FALLS = (0.11, 0.0, 0.04), (0.18, 0.0, 0.045), (-0.1, 0.083, 0.035)
MOVES, RISES, LIFTS = (0.25, 0.0, 0.03), (0.02, 0.0, 0.045), (0.2, 0.0, 0.04)
LOADED, UNLOADED = (0.06, 0.015, 0.03), (0.06, -0.065, 0.035)
# Load at which a transfer is half done, in weights.
HALF_LOAD = 0.5
# The same where feet jump or land together: the load changes sooner than that of a runner.
LANDED_TOGETHER, LEFT_TOGETHER = (0.06, -0.043, 0.03), (0.06, 0.03, 0.035)
# Signs are those of swings faster than this, in sqrt(g l); slower ones, as of humanoids, keep the
# times that were detected.
SWING = 0.6
# Deviation of a change of which nothing but its detection is known, and that no sign is free of.
UNKNOWN, LEAST = 0.3, 0.02
# How far from the detected change its signs may be, and the longest swing and double support that
# count, in sqrt(l / g).
REACH, LONGEST, AT_MOST = 0.33, 1.2, 0.15
# Share of the load that a foot has as soon as it lands, and just before it leaves.
FIRST_SHARE = 0.05
# Error of the share by the centre of pressure: correlated for this time [s], and the part of it
# that is white.
SHARE_MEMORY, WHITE = 0.03, 0.3
# The centre of pressure of feet in double support errs by more than in single support [m].
PRESSURE_ERROR = 0.035
# How often times and loads, which depend on each other, are found in turns.
ROUNDS = 2


@dataclass(frozen=True)
class ContactChange:
    """A foot touches down or leaves the ground."""

    foot: int  # Index of the foot
    landing: bool  # Whether it is a touch-down
    time: float  # [s]: most likely time, from the first sample of the recording
    deviation: float  # [s]: standard deviation


@dataclass(frozen=True, eq=False)
class ContactTiming:
    """Which feet are on the ground, and how certain that is."""

    contact: np.ndarray  # (n, nf): feet that are more likely on the ground than not
    # Touch-downs and toe-offs, foot by foot and in order of time
    changes: tuple[ContactChange, ...]
    probability: np.ndarray  # (n, nf): that each foot is on the ground


def contact_timing(dynamics: GaitInverseDynamics, settings: GaitSettings,
                   moved: SoleMotion | None = None,
                   contact: np.ndarray | None = None) -> ContactTiming:
    """Return which feet are on the ground, and time and deviation of every change."""
    moved = moved or soles_of(dynamics, settings)
    contact = detect_stance(dynamics, settings, moved) if contact is None else contact
    # Where flight has been made free of force, the load says nothing new.
    signs, signed = _Signs.of(dynamics.as_recorded, contact), []
    for i in range(contact.shape[1]):
        edges = [0, *(np.flatnonzero(contact[1:, i] != contact[:-1, i]) + 1), len(contact)]
        for before, sample, after in zip(edges, edges[1:-1], edges[2:]):
            landing = bool(contact[sample, i])
            times = signs.of_change(i, landing, before, sample, after)
            signed.append(ContactChange(i, landing, *_combined(
                times, (sample - 0.5) * signs.dt, signs.unit)))
    first, found = contact[0], signed
    for _ in range(ROUNDS):
        contact = _flags(found, first, dynamics)
        points = dynamics.points(travelling_reference(dynamics, contact, settings, moved))
        found = _by_pressure(dynamics, contact, points, signed, found, signs.unit)
    return given_timing(_flags(found, first, dynamics), dynamics, tuple(found))


def given_timing(contact: np.ndarray, dynamics: GaitInverseDynamics,
                 changes: tuple[ContactChange, ...] | None = None) -> ContactTiming:
    """Return the timing of known contacts, to half a sample or as given in ``changes``."""
    if changes is None:
        dt = dynamics.step
        changes = tuple(
            ContactChange(i, bool(contact[k, i]), (k - 0.5) * dt, float(dt / np.sqrt(12.0)))
            for i in range(contact.shape[1])
            for k in np.flatnonzero(contact[1:, i] != contact[:-1, i]) + 1)
    time = dynamics.time - dynamics.time[0]
    probability = contact.astype(float)
    for i in range(contact.shape[1]):
        own = [change for change in changes if change.foot == i]
        for k, change in enumerate(own):
            lower = -np.inf if k == 0 else 0.5 * (own[k - 1].time + change.time)
            upper = np.inf if k + 1 == len(own) else 0.5 * (own[k + 1].time + change.time)
            near = (time >= lower) & (time <= upper)
            after = ndtr((time[near] - change.time) / change.deviation)
            probability[near, i] = after if change.landing else 1.0 - after
    return ContactTiming(contact, changes, probability)


@dataclass(frozen=True, eq=False)
class _Signs:
    """What tells when the feet of a recording touch down and leave, in leg lengths and g."""

    dt: float
    unit: float
    load: np.ndarray
    contact: np.ndarray
    speed: list[np.ndarray]
    toe_height: list[np.ndarray]
    toe_speed: list[np.ndarray]

    @classmethod
    def of(cls, dynamics: GaitInverseDynamics, contact: np.ndarray) -> _Signs:
        length, scale, dt = dynamics.leg_length, speed_scale(dynamics), dynamics.step
        speed, height, rise = [], [], []
        for i, points in enumerate(dynamics.sole_points()):
            velocity = (np.gradient(points, dt, axis=0)
                        - dynamics.ground_velocity[:, i, None]) / scale
            speed.append(np.linalg.norm(velocity, axis=2).min(axis=1))
            front = slice(-max(points.shape[1] // 5, 1), None)
            height.append(points[:, front, 2].mean(axis=1) / length)
            rise.append(velocity[:, front, 2].mean(axis=1))
        unit = float(np.sqrt(length / GRAVITY))
        return cls(dt, unit, dynamics.load, contact, speed, height, rise)

    def of_change(self, foot: int, landing: bool, before: int, sample: int,
                  after: int) -> list[tuple[float, float]]:
        """Return times and deviations [s] of a change that was detected at a sample."""
        reach = max(round(REACH * self.unit / self.dt), 2)
        window = max(before, sample - reach), min(after, sample + reach)
        others = np.delete(self.contact, foot, axis=1).any(axis=1)
        found: list[tuple[float | None, tuple[float, float, float]]] = []
        if not others[sample - 1 if landing else sample]:
            together = others[sample:sample + reach] if landing else others[
                max(sample - reach, 0):sample]
            signs = ((LANDED_TOGETHER, LEFT_TOGETHER) if together.any() else (LOADED, UNLOADED))
            least, delay, spread = signs[0 if landing else 1]
            wide = slice(max(sample - reach, 0), sample + reach)
            crossed = _crossing(self.load, least, wide, landing, sample)
            if not landing and crossed is not None and not together.any():
                # The faster the load falls, the shorter is its tail.
                half = _crossing(self.load, HALF_LOAD, wide, False, sample)
                tail = np.inf if half is None else max(crossed - half, 0.0) * self.dt / self.unit
                delay = max(delay, -tail)
            found.append((crossed, (least, delay, spread)))
        else:
            part, far = slice(*window), round(LONGEST * self.unit / self.dt)
            speed, height, rise = (values[foot] for values in (self.speed, self.toe_height,
                                                               self.toe_speed))
            swing = slice(max(before, sample - far), sample + 1) if landing else slice(
                sample, min(after, sample + far))
            # A swing that the recording cuts off counts as the fastest of all.
            whole = after < len(speed) if not landing else before > 0
            fastest = float(speed[swing].max() if whole else np.max(self.speed))
            if fastest < SWING:
                return []
            if landing:
                found.append((_crossing(speed, RESTS[0] * fastest, part, False, sample), RESTS))
                found.append((_crossing(speed, SLOW[0], part, False, sample), SLOW))
                found.append((_lowest(rise, part, FALLS[0]), FALLS))
            else:
                ground = float(height[max(before, sample - far // 2):sample + 1].min())
                found.append((_crossing(speed, MOVES[0], part, True, sample), MOVES))
                found.append((_crossing(height, ground + RISES[0], part, True, sample), RISES))
                found.append((_crossing(rise, LIFTS[0], part, True, sample), LIFTS))
        return [(at * self.dt - delay * self.unit, deviation * self.unit)
                for at, (_, delay, deviation) in found if at is not None]


def _crossing(values: np.ndarray, level: float, part: slice, rising: bool,
              near: int) -> float | None:
    """Return the sample, with its fraction, where a level is crossed next to another sample."""
    values = values[part]
    over = values > level
    at = np.flatnonzero((over[1:] != over[:-1]) & (over[1:] == rising))
    if not len(at):
        return None
    found = part.start + at + (level - values[at]) / (values[at + 1] - values[at])
    return float(found[np.argmin(np.abs(found - near))])


def _lowest(values: np.ndarray, part: slice, level: float) -> float | None:
    """Return the sample of the minimum inside a part, where it is below a level."""
    k = part.start + int(np.argmin(values[part]))
    if values[k] > level or not part.start < k < part.stop - 1:
        return None
    before, here, after = values[k - 1:k + 2]
    bend = before - 2.0 * here + after
    return k + (0.5 * (before - after) / bend if bend > 0.0 else 0.0)


def _combined(times: list[tuple[float, float]], detected: float,
              unit: float) -> tuple[float, float]:
    """Return the mean of signs by inverse variances, and its deviation [s]."""
    if not times:
        return detected, UNKNOWN * unit
    at, deviation = np.array(times).T
    weight = deviation ** -2
    mean = float(weight @ at / weight.sum())
    # Birge ratio: signs that disagree are worse than stated.
    ratio = 1.0 if len(at) == 1 else max(float(weight @ (at - mean) ** 2) / (len(at) - 1), 1.0)
    return mean, float(np.hypot(np.sqrt(ratio / weight.sum()), LEAST * unit))


def _flags(changes: list[ContactChange], first: np.ndarray,
           dynamics: GaitInverseDynamics) -> np.ndarray:
    """Return the contacts of changes, (n, nf)."""
    contact = np.tile(first, (len(dynamics.time), 1))
    time = dynamics.time - dynamics.time[0]
    for change in changes:
        contact[time >= change.time, change.foot] = change.landing
    return contact


def _by_pressure(dynamics: GaitInverseDynamics, contact: np.ndarray, points: np.ndarray,
                 signed: list[ContactChange], now: list[ContactChange],
                 unit: float) -> list[ContactChange]:
    """Return changes that agree with the centre of pressure in double support, too."""
    time, found = dynamics.time - dynamics.time[0], list(now)
    center = center_of_pressure(dynamics, contact, points)
    for down, landing in enumerate(now):
        leavings = [k for k, change in enumerate(now)
                    if not change.landing and change.foot != landing.foot
                    and 0.0 < change.time - landing.time < LONGEST * unit]
        if not landing.landing or not leavings:
            continue
        up = min(leavings, key=lambda k: now[k].time)
        pair = [landing.foot, now[up].foot]
        duration = now[up].time - landing.time
        inside = np.flatnonzero((time > landing.time) & (time < now[up].time)
                                & contact[:, pair].all(axis=1) & (contact.sum(axis=1) == 2))
        apart = points[inside, pair[0], :2] - points[inside, pair[1], :2]
        length = (apart ** 2).sum(axis=1)
        if len(inside) < 3 or length.min() < PRESSURE_ERROR ** 2:
            continue
        share = ((center[inside] - points[inside, pair[1], :2]) * apart).sum(axis=1) / length
        if not np.isfinite(share).all():
            continue
        phase = (time[inside] - landing.time) / duration
        rate = 1.0 - 2.0 * FIRST_SHARE
        slope = -rate * np.column_stack([1.0 - phase, phase]) / duration
        error = PRESSURE_ERROR ** 2 / length.mean()
        covariance = error * (np.exp(-np.abs(phase[:, None] - phase) * duration / SHARE_MEMORY)
                              + WHITE ** 2 * np.eye(len(phase)))
        weighed = np.linalg.solve(covariance, slope).T
        prior = np.array([signed[down].deviation, signed[up].deviation]) ** -2
        before = np.array([signed[k].time - now[k].time for k in (down, up)])
        information = weighed @ slope + np.diag(prior)
        change = np.linalg.solve(information, weighed @ (share - FIRST_SHARE - rate * phase)
                                 + prior * before).clip(-AT_MOST * unit, AT_MOST * unit)
        deviation = np.hypot(np.sqrt(np.diag(np.linalg.inv(information))), LEAST * unit)
        for k, late, spread in zip((down, up), change, deviation):
            found[k] = replace(now[k], time=now[k].time + float(late), deviation=float(spread))
    return found
