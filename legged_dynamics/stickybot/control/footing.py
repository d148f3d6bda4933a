# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Footing: which feet are to hold, how much each may carry, and what to do when one does not."""
from __future__ import annotations

import numpy as np

from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.control.gait import Gait, GaitClock
from legged_dynamics.stickybot.control.settings import ControlSettings
from legged_dynamics.stickybot.model.exchange import FootEvent, FootEventKind
from legged_dynamics.stickybot.model.robot import StickybotModel


@kernel
def smooth_step(x):
    """Return 3 x^2 - 2 x^3 on [0, 1], and 0 or 1 outside."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@kernel
def fill_shares(since, until_lift, handover, least, share):
    """Fill each foot's share: taken up after it is set, given away before it is lifted."""
    for i in range(share.shape[0]):
        share[i] = max(smooth_step(since[i] / handover) * smooth_step(until_lift[i] / handover),
                       least)


class Footing:
    """
    Follows a gait's clock, and halts it while a lost foot is planted again.

    When a foot is lost, every other foot is set on the wall at once and the gait stands still; the
    lost foot is off for a moment and set again; when all feet have taken up their load, those
    that the gait wants off give theirs away, and it goes on.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait
        Which feet hold when.
    settings : ControlSettings
        Checked settings.
    walking : bool
        Whether to walk from the start; otherwise all feet stand.

    Attributes
    ----------
    wanted : (N,) array of bool
        Feet that are to be on the wall.
    share : (N,) array
        How much of the load each foot on the wall may take, relative to the others.
    angle, rate, angle_ahead : (N,) array [rad, rad/s, rad]
        Rest angles now (less the nominal ones), their rates, and the angles one period on.
    walking : bool
        Wish of the user.
    pose : float
        How far the robot has gone from standing at its nominal rest angles (0) to the first pose
        of the gait (1).

    """

    def __init__(self, model: StickybotModel, gait: Gait, settings: ControlSettings,
                 walking: bool):
        self._names = model.limb_names
        self._clock = GaitClock(model, gait)
        # A foot cannot give its load away before another has come down to take it.
        self._handover = min(settings.handover,
                             max(gait.overlap(model), 1.0 / settings.rate))
        self._least, self._start_time = settings.least_share, settings.start_time
        self._starts_walking = walking
        self._replant_ns = round(settings.replant_time * 1e9)
        self.walking = walking
        self._begin(model.n_limbs)

    def _begin(self, n: int) -> None:
        self._time_ns = 0
        self._phase = self._ahead = self._clock.at(0)
        self._ahead_ns = 0
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

    def restart(self) -> None:
        """Start the gait again, with all feet taken to be on the wall."""
        self._begin(len(self._names))

    def update(self, stamp_ns: int, dt_ns: int, period_ns: int, lost: np.ndarray
               ) -> list[FootEvent]:
        """
        Go on to a new sample.

        Parameters
        ----------
        stamp_ns, dt_ns, period_ns : int [ns]
            Of the sample; since the last one; until the command is to be fulfilled.
        lost : (N,) array of bool
            Feet that do not hold though they should.

        """
        events = []
        if lost.any():
            self._recovering = True
            self._off_until[lost] = stamp_ns + self._replant_ns
            events += [FootEvent(stamp_ns, self._names[i], FootEventKind.LOST)
                       for i in np.flatnonzero(lost)]
        if self.moving:
            self._time_ns += dt_ns
        self._phase = self._ahead if self._ahead_ns == self._time_ns \
            else self._clock.at(self._time_ns)
        moving = self.moving
        if moving:
            self._ahead_ns = self._time_ns + period_ns
            self._ahead = self._clock.at(self._ahead_ns)
            wanted, until_lift = self._phase.stance, self._phase.until_lift
            self.rate, self.angle = self._phase.rate, self._phase.angle
            self.angle_ahead = self._ahead.angle
        else:
            wanted, until_lift = self._halted(stamp_ns)
            before = self.pose
            if self.walking and not self._recovering:
                self.pose = min(before + dt_ns * 1e-9 / max(self._start_time, 1e-9), 1.0)
            self.angle_ahead = self.pose * self._phase.angle
            self.rate = (self.pose - before) * self._phase.angle / (dt_ns * 1e-9) if dt_ns else \
                np.zeros(len(wanted))
            self.angle = before * self._phase.angle
        planted = wanted & ~self.wanted
        events += self._changes(stamp_ns, wanted)
        self._since += dt_ns * 1e-9
        # A foot set in need carries at once; one set by the gait takes up its load slowly.
        in_need = self._recovering & (self._off_until == 0)
        if planted.any():
            self._since[planted] = np.where(in_need[planted], self._handover, 0.0)
        self._since[~wanted] = 0.0
        self.wanted = wanted.copy()
        fill_shares(self._since, until_lift, self._handover, self._least, self.share)
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

    def _changes(self, stamp_ns: int, wanted: np.ndarray) -> list[FootEvent]:
        if (wanted == self.wanted).all():
            return []
        return [FootEvent(stamp_ns, self._names[i],
                          FootEventKind.TOUCHED_DOWN if wanted[i] else FootEventKind.LIFTED_OFF)
                for i in np.flatnonzero(wanted != self.wanted)]
