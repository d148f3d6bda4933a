# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Gaits: when each foot holds, and where its hip's rest angle sweeps.

With s the limb's phase, a foot holds while ``s < duty`` and its rest angle sweeps evenly from
``-amplitude`` to ``+amplitude``; it is then off the wall and returns along half a cosine. Limbs on
the right are the mirror image.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.schema import CheckedSettings, checked, setting
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.robot import FootEvent, FootEventKind, StickybotModel

PATTERNS = ('diagonal', 'wave')


@dataclass(frozen=True)
class Gait(CheckedSettings):
    """
    A periodic gait; the range of each value is checked.

    Diagonal: neighbours along the body and across it step in opposite phase. Wave: one limb after
    another, from hind to fore on the left, then on the right. With a duty above 0.5 (diagonal) or
    1 - 1/N (wave) the feet overlap.
    """

    pattern: str = setting(
        'gait.pattern', 'diagonal', '', 'Which feet step together.', choices=PATTERNS)
    period: float = setting(
        'gait.period', 1.0, 's', 'Duration of one cycle of the gait.', 0.01, 100.0)
    duty: float = setting(
        'gait.duty', 0.6, '', 'Fraction of the period that a foot is on the wall.', 0.05, 0.99)
    amplitude: float = setting(
        'gait.amplitude', 0.147, 'rad', 'Half of the sweep of a rest angle.', -1.5, 1.5)

    def __post_init__(self) -> None:
        checked(self.values, self.table())

    @property
    def period_ns(self) -> int:
        """Period [ns]."""
        return round(self.period * 1e9)

    @property
    def stance_ns(self) -> int:
        """Time on the wall [ns]."""
        return round(self.duty * self.period * 1e9)

    def offsets(self, model: StickybotModel) -> np.ndarray:
        """
        Return the phase lead of each limb.

        Returns (N,) array: fractions of the period, from 0 to 1.
        """
        along = np.array([limb.hip[1] for limb in model.limbs])
        rows = np.unique(np.round(along, 9))[::-1]
        row = np.array([int(np.argmin(abs(rows - y))) for y in along])
        right = (model.sides < 0.0).astype(int)
        if self.pattern == 'diagonal':
            return ((row + right) % 2) / 2.0
        return -(right + (len(rows) - 1 - row) / len(rows)) / 2.0 % 1.0

    def overlap(self, model: StickybotModel) -> float:
        """
        Return the shortest time from a foot's touchdown to another foot's lift-off.

        Returns float [s].
        """
        touch = -self.offsets(model) * self.period
        lift = touch + self.duty * self.period
        waits = [(lift[j] - touch[i]) % self.period
                 for i in range(model.n_limbs) for j in range(model.n_limbs)
                 if abs((lift[j] - lift[i]) / self.period - round((lift[j] - lift[i])
                                                                  / self.period)) > 1e-9]
        return min(waits, default=self.duty * self.period)


@dataclass(frozen=True, eq=False)
class GaitPhase:
    """
    A gait at one instant, for all limbs.

    Attributes
    ----------
    angle, rate : (N,) array [rad, rad/s]
        Rest angle of each hip less its nominal one, and its rate.
    stance : (N,) array of bool
        Feet that are to hold.
    until_lift : (N,) array [s]
        Time until the foot is to let go; 0 for a foot that swings.

    """

    angle: np.ndarray
    rate: np.ndarray
    stance: np.ndarray
    until_lift: np.ndarray


class GaitClock:
    """
    A gait of one robot: phases at any time, by whole nanoseconds.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait
        Which feet hold when.

    """

    def __init__(self, model: StickybotModel, gait: Gait):
        self.gait = gait
        self._sides = model.sides
        self._period, self._stance = gait.period_ns, gait.stance_ns
        self._offsets = np.round(gait.offsets(model) * self._period).astype(np.int64)

    def at(self, time_ns: int) -> GaitPhase:
        """
        Return the phase of every limb at a time of the gait.

        ``time_ns`` [ns]: time since the gait began.
        """
        out = np.empty((3, self._sides.size))
        stance = np.empty(self._sides.size, bool)
        _fill_phase(self._offsets, self._sides, self._period, self._stance, self.gait.amplitude,
                    time_ns, out, stance)
        return GaitPhase(out[0], out[1], stance, out[2])


@kernel
def _fill_phase(offsets, sides, period, on_wall, amplitude, time_ns, out, stance):
    """
    Fill angle, rate and time until lift-off of every limb, and which are in stance.

    ``offsets`` [ns]: by which limbs are ahead; ``sides``: +1 for left feet, else -1;
    ``amplitude`` [rad]: half the sweep of the rest angle.
    """
    swing = period - on_wall
    for i in range(offsets.shape[0]):
        passed = (time_ns + offsets[i]) % period
        stance[i] = passed < on_wall
        if stance[i]:
            out[0, i] = sides[i] * amplitude * (2.0 * passed / on_wall - 1.0)
            out[1, i] = sides[i] * 2.0 * amplitude / (on_wall * 1e-9)
            out[2, i] = (on_wall - passed) * 1e-9
        else:
            u = math.pi * (passed - on_wall) / swing
            out[0, i] = sides[i] * amplitude * math.cos(u)
            out[1, i] = -sides[i] * amplitude * math.pi / (swing * 1e-9) * math.sin(u)
            out[2, i] = 0.0


# -------------------------------------------------------------------------------------------------
# Settings of the climbing controller.


REDUCTIONS = ('off', 'full', 'turning')


@dataclass(frozen=True)
class ControlSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    rate: float = setting(
        'control.rate', 500.0, 'Hz', 'Rate of measurements and commands.', 50.0, 5000.0)
    reduction: str = setting(
        'control.reduction', 'full', '',
        "Reaction-force reduction: off, by all of a hip's rest position, or by its angle alone.",
        choices=REDUCTIONS)
    speed: float = setting(
        'control.speed', 0.0, 'm/s',
        'Speed along the body under reduction; 0: what the plain gait reaches, which is '
        'found by simulation when the controller is built.', -1.0, 1.0)
    start_time: float = setting(
        'control.start_time', 0.5, 's', 'Time to come up to speed.', 0.0, 60.0)
    natural_frequency: float = setting(
        'control.natural_frequency', 20.0, 'rad/s',
        'Of the body about its reference under full reduction.', 1.0, 200.0)
    turning_frequency: float = setting(
        'control.turning_frequency', 12.0, 'rad/s', 'The same under reduction by angle.', 1.0,
        200.0)
    damping_ratio: float = setting(
        'control.damping_ratio', 1.0, '', 'Of the body about its reference.', 0.1, 5.0)
    leash: float = setting(
        'control.leash', 0.01, 'm', 'Largest distance of the reference from the body.', 1e-4, 1.0)
    handover: float = setting(
        'control.handover', 0.1, 's', 'Time in which a foot takes up or gives away its load.',
        1e-3, 10.0)
    least_share: float = setting(
        'control.least_share', 0.02, '',
        'Load of a foot about to be lifted, relative to one in full support.', 1e-3, 1.0)
    smoothness: float = setting(
        'control.smoothness', 1e-6, '',
        'Weight of even loads against the least maximum, where that leaves a choice.', 0.0, 1.0)
    largest_offset: float = setting(
        'control.largest_offset', 0.01, 'm',
        "Limit of what the reduction adds to a hip's rest position.", 0.0, 1.0)
    largest_turn: float = setting(
        'control.largest_turn', 0.3, 'rad', 'Limit of what the reduction adds to a rest angle.',
        0.0, 3.0)
    slip_speed: float = setting(
        'control.slip_speed', 0.15, 'm/s',
        'A foot that seems to move faster than this does not hold.', 1e-3, 10.0)
    slip_distance: float = setting(
        'control.slip_distance', 0.004, 'm',
        'A foot that seems to have moved this far does not hold.', 1e-4, 1.0)
    slip_time: float = setting(
        'control.slip_time', 0.006, 's', 'How long this must last.', 0.0, 1.0)
    slip_load: float = setting(
        'control.slip_load', 0.04, '',
        'Part of the weight below which a foot carries nothing: it does not hold either when its '
        'distance from other feet has changed.', 0.0, 1.0)
    slip_span: float = setting(
        'control.slip_span', 1e-4, 'm', 'By how much that distance must have changed.', 1e-6,
        0.1)
    replant_time: float = setting(
        'control.replant_time', 0.08, 's', 'How long a lost foot is off the wall.', 1e-3, 10.0)
    max_gap: float = setting(
        'control.max_gap', 0.2, 's',
        'The gait stands still over a gap between measurements; after a longer one than this all '
        'feet hold before it goes on.', 1e-3, 10.0)
    pad_deviation: float = setting(
        'control.pad_deviation', 0.05, '',
        'Part by which pads may hold less than stated; what needs more gives a warning.',
        0.0, 0.9)


SETTINGS = ControlSettings.table()


# -------------------------------------------------------------------------------------------------
# Footing: which feet are to hold, and how much of the load each may take.


@kernel
def smooth_step(x):
    """Return ``3 x^2 - 2 x^3`` on [0, 1], and 0 or 1 outside."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@kernel
def _fill_share(wanted, before, in_need, until_lift, handover, least, since, share):
    """Fill the load of each foot: it rises after the foot is set and falls before it is lifted."""
    for i in range(share.shape[0]):
        if not (wanted[i] and before[i]):
            # A foot set after a loss is loaded at once; one set by the gait gradually.
            since[i] = handover if wanted[i] and in_need[i] else 0.0
        share[i] = max(smooth_step(since[i] / handover) * smooth_step(until_lift[i] / handover),
                       least)


class Footing:
    """
    Follows a gait's clock, and stops it while a lost foot is replanted.

    Then all other feet are set at once, the lost one is off shortly and set again; once all
    are loaded, the gait continues. `share`: relative load of wall feet; `angle_ahead`: rest
    angles one period on; `pose`: 0 standing to 1 first gait pose.
    """

    def __init__(self, model: StickybotModel, gait: Gait, settings: ControlSettings,
                 walking: bool):
        self._names = model.limb_names
        self._clock = GaitClock(model, gait)
        # A foot cannot give its load away before another one is on the wall.
        self._handover = min(settings.handover, max(gait.overlap(model), 1.0 / settings.rate))
        self._least, self._start_time = settings.least_share, settings.start_time
        self._starts_walking = self.walking = walking
        self._replant_ns = round(settings.replant_time * 1e9)
        self.restart()

    def restart(self) -> None:
        """Start the gait again, with all feet taken to be on the wall."""
        n = len(self._names)
        self.time_ns = 0    # of the gait's clock
        self._phase = self._clock.at(0)
        self._since = np.full(n, np.inf)
        self._off_until = np.zeros(n, dtype=np.int64)
        self._recovering = False
        self.pose = 1.0 if self._starts_walking else 0.0
        self.wanted = np.ones(n, bool)
        self.share = np.ones(n)
        self.angle = self.angle_ahead = self.pose * self._phase.angle
        self.rate = np.zeros(n)

    @property
    def moving(self) -> bool:
        """Whether the gait's clock runs."""
        return (not self._recovering and self.pose == 1.0
                and (self.walking or not self._phase.stance.all()))

    def hold_on(self) -> None:
        """Have all feet hold where they are, and go on with the gait once they are loaded."""
        self._recovering = True
        self._off_until[:] = 0

    def update(self, stamp_ns: int, dt_ns: int, period_ns: int, lost: np.ndarray
               ) -> list[FootEvent]:
        """
        Advance to a new sample; return the foot events.

        ``period_ns``: time until the command is fulfilled; ``lost``: feet that fail to hold.
        """
        events = []
        if lost.any():
            self._recovering = True
            self._off_until[lost] = stamp_ns + self._replant_ns
            events += [FootEvent(stamp_ns, self._names[i], FootEventKind.LOST)
                       for i in np.flatnonzero(lost)]
        if self.moving:
            self.time_ns += dt_ns
        self._phase = self._clock.at(self.time_ns)
        if self.moving:
            wanted, until_lift = self._phase.stance, self._phase.until_lift
            self.rate, self.angle = self._phase.rate, self._phase.angle
            self.angle_ahead = self._clock.at(self.time_ns + period_ns).angle
        else:
            wanted, until_lift = self._halted(stamp_ns)
            before = self.pose
            if self.walking and not self._recovering:
                self.pose = min(before + dt_ns * 1e-9 / max(self._start_time, 1e-9), 1.0)
            self.angle_ahead = self.pose * self._phase.angle
            self.rate = (self.pose - before) * self._phase.angle / (dt_ns * 1e-9) if dt_ns else \
                np.zeros(len(wanted))
            self.angle = before * self._phase.angle
        events += [FootEvent(stamp_ns, self._names[i], FootEventKind.TOUCHED_DOWN if wanted[i]
                             else FootEventKind.LIFTED_OFF)
                   for i in np.flatnonzero(wanted != self.wanted)]
        self._since += dt_ns * 1e-9
        in_need = self._recovering & (self._off_until == 0) & self._off_until.any()
        _fill_share(wanted, self.wanted, in_need, until_lift,
                    self._handover, self._least, self._since, self.share)
        self.wanted = wanted.copy()
        return events

    def _halted(self, stamp_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """Return feet to hold, and the time until each is lifted, while the gait stands still."""
        wanted = stamp_ns >= self._off_until
        until_lift = np.full(len(wanted), np.inf)
        if not self._recovering:
            return wanted, until_lift
        settled = float(self._since[wanted].min(initial=np.inf)) if wanted.all() else 0.0
        settled -= self._handover
        if settled >= 0.0:
            self._off_until[:] = 0
            until_lift[~self._phase.stance] = max(self._handover - settled, 0.0)
            if settled >= self._handover or self._phase.stance.all():
                self._recovering = False
        return wanted, until_lift
