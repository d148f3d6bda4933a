# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Times of touch-down and toe-off from motion alone, each with a standard deviation.

`stance_detection` says which feet are on the ground; here each change is timed. Several signs in
the motion come at a known delay from the change, each with a scatter: the slowest part of the sole
comes to rest or starts to move, the forefoot falls fastest after heel strike, the toes lift, and
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
from legged_dynamics.people.gait.flat_feet import flat_footed, touching
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import center_of_pressure, travelling_reference
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import (
    SoleMotion,
    detect_stance,
    soles_of,
    speed_scale,
)


@dataclass(frozen=True)
class Sign:
    """A sign of a change of contact; units of the level at the fields of `TimingSettings`."""

    level: float  # At which it is taken
    delay: float  # [sqrt(l / g)]: how long after the change it comes
    deviation: float  # [sqrt(l / g)]: standard deviation of that


@dataclass(frozen=True)
class TimingSettings:
    """Signs by comparison with the force plates of three laboratories (docs/people.md)."""

    relative_rest_speed: Sign = Sign(0.11, 0.0, 0.04)  # [fastest speed of the swing]: landing
    rest_speed: Sign = Sign(0.18, 0.0, 0.045)  # [sqrt(g l)]: landing
    forefoot_speed: Sign = Sign(0.0, 0.083, 0.035)  # [sqrt(g l)]: landing, lowest vertical speed
    # Of soles that stay flat, outward from the fastest speed of the swing, as multiples of it
    flat_landing: Sign = Sign(0.05, 0.0, 0.1)
    flat_leaving: Sign = Sign(0.05, -0.19, 0.085)
    start_speed: Sign = Sign(0.25, 0.0, 0.03)  # [sqrt(g l)]: leaving
    toe_height: Sign = Sign(0.02, 0.0, 0.045)  # [l]: leaving
    landing_load: Sign = Sign(0.06, 0.015, 0.03)  # [weight]: end of a flight
    leaving_load: Sign = Sign(0.06, -0.065, 0.035)  # [weight]: begin of a flight
    # Delays where feet jump or land together: the load changes sooner than that of a runner.
    joint_landing_delay: float = -0.043  # [sqrt(l / g)]
    joint_leaving_delay: float = 0.03  # [sqrt(l / g)]
    half_load: float = 0.5  # [weight]: at which a transfer is half done
    # Slower swings, as of humanoids, keep the times that were detected.
    swing_speed: float = 0.6  # [sqrt(g l)]
    detection_deviation: float = 0.3  # [sqrt(l / g)]: of a change without signs
    least_deviation: float = 0.02  # [sqrt(l / g)]: that no sign is free of
    # Distance of signs from the detected change; the centre of pressure shifts one by half of it.
    reach: float = 0.33  # [sqrt(l / g)]
    longest: float = 1.2  # [sqrt(l / g)]: swing and double support that count
    first_share: float = 0.05  # Of the load, just after landing and just before leaving
    # Error of the share by the centre of pressure, which in double support exceeds that in single.
    share_memory: float = 0.03  # [s]: correlation time
    pressure_error: float = 0.035  # [m]
    rounds: int = 2  # Times and loads, which depend on each other, are found in turns


TIMING = TimingSettings()


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
    flat: bool = False  # Whether a robot walks flat-footed (`flat_feet`)


def contact_timing(dynamics: GaitInverseDynamics, settings: GaitSettings,
                   moved: SoleMotion | None = None,
                   contact: np.ndarray | None = None) -> ContactTiming:
    """Return which feet are on the ground, and time and deviation of every change."""
    moved = moved or soles_of(dynamics, settings)
    contact = detect_stance(dynamics, settings, moved) if contact is None else contact
    flat = flat_footed(dynamics, contact, settings, moved)
    # Where flight has been made free of force, the load says nothing new.
    signs, signed = _Signs.of(dynamics.as_recorded, contact), []
    find = signs.of_flat if flat else signs.of_change
    for i in range(contact.shape[1]):
        edges = [0, *(np.flatnonzero(contact[1:, i] != contact[:-1, i]) + 1), len(contact)]
        for before, sample, after in zip(edges, edges[1:-1], edges[2:]):
            landing = bool(contact[sample, i])
            times = find(i, landing, before, sample, after)
            signed.append(ContactChange(i, landing, *_combined(
                times, (sample - 0.5) * signs.dt, signs.unit)))
    first, found = contact[0], signed
    for _ in range(0 if flat else TIMING.rounds):
        contact = _flags(found, first, dynamics)
        points = dynamics.points(travelling_reference(dynamics, contact, settings, moved))
        found = _by_pressure(dynamics, contact, points, signed, found, signs.unit)
    timing = given_timing(_flags(found, first, dynamics), dynamics, tuple(found), flat)
    if not flat:
        return timing
    air = (1.0 - timing.probability) * (1.0 - touching(dynamics, timing.contact))
    return replace(timing, probability=np.where(
        timing.contact, timing.probability, 1.0 - air.clip(0.5)))


def given_timing(contact: np.ndarray, dynamics: GaitInverseDynamics,
                 changes: tuple[ContactChange, ...] | None = None,
                 flat: bool = False) -> ContactTiming:
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
    return ContactTiming(contact, changes, probability, flat)


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
        reach = max(round(TIMING.reach * self.unit / self.dt), 2)
        window = max(before, sample - reach), min(after, sample + reach)
        others = np.delete(self.contact, foot, axis=1).any(axis=1)
        if not others[sample - 1 if landing else sample]:
            return self._timed([self._of_flight(landing, sample, reach, others)])
        part, far = slice(*window), round(TIMING.longest * self.unit / self.dt)
        speed, height, rise = (values[foot] for values in (self.speed, self.toe_height,
                                                           self.toe_speed))
        swing = slice(max(before, sample - far), sample + 1) if landing else slice(
            sample, min(after, sample + far))
        # A swing that the recording cuts off counts as the fastest of all.
        whole = after < len(speed) if not landing else before > 0
        fastest = float(speed[swing].max() if whole else np.max(self.speed))
        if fastest < TIMING.swing_speed:
            return []
        if landing:
            slow, rest = TIMING.relative_rest_speed, TIMING.rest_speed
            return self._timed([
                (_crossing(speed, slow.level * fastest, part, False, sample), slow),
                (_crossing(speed, rest.level, part, False, sample), rest),
                (_lowest(rise, part, TIMING.forefoot_speed.level), TIMING.forefoot_speed)])
        ground = float(height[max(before, sample - far // 2):sample + 1].min())
        start, lift = TIMING.start_speed, TIMING.toe_height
        return self._timed([
            (_crossing(speed, start.level, part, True, sample), start),
            (_crossing(height, ground + lift.level, part, True, sample), lift)])

    def _of_flight(self, landing: bool, sample: int, reach: int, others: np.ndarray
                   ) -> tuple[float | None, Sign]:
        """Return where the load of all feet begins or ends, and when it does so usually."""
        wide = slice(max(sample - reach, 0), sample + reach)
        sign, delay = (TIMING.landing_load, TIMING.joint_landing_delay) if landing else (
            TIMING.leaving_load, TIMING.joint_leaving_delay)
        crossed = _crossing(self.load, sign.level, wide, landing, sample)
        if others[sample:wide.stop].any() if landing else others[wide.start:sample].any():
            return crossed, replace(sign, delay=delay)
        if not landing and crossed is not None:
            # The faster the load falls, the shorter is its tail.
            half = _crossing(self.load, TIMING.half_load, wide, False, sample)
            tail = np.inf if half is None else max(crossed - half, 0.0) * self.dt / self.unit
            sign = replace(sign, delay=max(sign.delay, -tail))
        return crossed, sign

    def _timed(self, found: list[tuple[float | None, Sign]]) -> list[tuple[float, float]]:
        """Return times of a change and their deviations [s] by where signs of it are."""
        return [(at * self.dt - sign.delay * self.unit, sign.deviation * self.unit)
                for at, sign in found if at is not None]

    def of_flat(self, foot: int, landing: bool, before: int, sample: int,
                after: int) -> list[tuple[float, float]]:
        """Return the same for a sole that stays flat, which nothing but its speed tells."""
        speed = self.speed[foot]
        fastest = (before if landing else sample) + int(np.argmax(
            speed[before:sample] if landing else speed[sample:after]))
        sign = TIMING.flat_landing if landing else TIMING.flat_leaving
        part = slice(fastest, after) if landing else slice(before, fastest + 1)
        return self._timed([(_crossing(speed, sign.level * speed[fastest], part, not landing,
                                       fastest), sign)])


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
        return detected, TIMING.detection_deviation * unit
    at, deviation = np.array(times).T
    weight = deviation ** -2
    mean = float(weight @ at / weight.sum())
    # Birge ratio: signs that disagree are worse than stated.
    ratio = 1.0 if len(at) == 1 else max(float(weight @ (at - mean) ** 2) / (len(at) - 1), 1.0)
    return mean, float(np.hypot(np.sqrt(ratio / weight.sum()), TIMING.least_deviation * unit))


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
                    and 0.0 < change.time - landing.time < TIMING.longest * unit]
        if not landing.landing or not leavings:
            continue
        up = min(leavings, key=lambda k: now[k].time)
        pair = [landing.foot, now[up].foot]
        duration = now[up].time - landing.time
        inside = np.flatnonzero((time > landing.time) & (time < now[up].time)
                                & contact[:, pair].all(axis=1) & (contact.sum(axis=1) == 2))
        apart = points[inside, pair[0], :2] - points[inside, pair[1], :2]
        length = (apart ** 2).sum(axis=1)
        if len(inside) < 3 or length.min() < TIMING.pressure_error ** 2:
            continue
        share = ((center[inside] - points[inside, pair[1], :2]) * apart).sum(axis=1) / length
        if not np.isfinite(share).all():
            continue
        phase = (time[inside] - landing.time) / duration
        rate = 1.0 - 2.0 * TIMING.first_share
        slope = -rate * np.column_stack([1.0 - phase, phase]) / duration
        error = TIMING.pressure_error ** 2 / length.mean()
        apart_in_time = np.abs(phase[:, None] - phase) * duration
        weighed = np.linalg.solve(error * np.exp(-apart_in_time / TIMING.share_memory), slope).T
        prior = np.array([signed[down].deviation, signed[up].deviation]) ** -2
        before = np.array([signed[k].time - now[k].time for k in (down, up)])
        information = weighed @ slope + np.diag(prior)
        change = np.linalg.solve(information, weighed @ (share - TIMING.first_share - rate * phase)
                                 + prior * before)
        change = change.clip(-0.5 * TIMING.reach * unit, 0.5 * TIMING.reach * unit)
        deviation = np.hypot(np.sqrt(np.diag(np.linalg.inv(information))),
                             TIMING.least_deviation * unit)
        for k, late, spread in zip((down, up), change, deviation):
            found[k] = replace(now[k], time=now[k].time + float(late), deviation=float(spread))
    return found
