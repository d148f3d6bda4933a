# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Robots that walk flat-footed and know their base by their own odometry: another law than people's.

They are recognised by soles that stay level and, while they stand, move by millimetres a second
only: no markers are that quiet, but the leg that an odometry stands on is. Their soles lie on the
floor, so the base's attitude, or the give of a leg, is off by as much as a sole seems tilted:
gravity is taken along the normals of the soles on the ground. In a step the load passes over
within the first third of double support, and both feet press in front of their middles; the share
is the mean of that law and of the low-passed centre of pressure, by the errors of both. The sum
of the forces errs by the base's pose and the mass distribution, and more at each landing, by the
speed that the foot loses there.

The share law by five of nine walks of one humanoid on foot sensors; all nine were looked at.
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtr

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import center_of_pressure
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion, in_steps, speed_scale, steps


@dataclass(frozen=True)
class FlatFeetSettings:
    """How such robots are recognised, share the load, and err."""

    largest_tilt: float = 0.1  # [rad]: of a sole on the ground, three quarters of the time
    rest_speed: float = 0.001  # [sqrt(g l)]: of the stillest part of all soles, half of the time
    fallen_tilt: float = 0.25  # [rad]: of a sole on the ground, or of the base from its usual one
    lying_tilt: float = 1.2  # [rad]: the latter of everybody, people who squat and bend too
    landed: tuple[float, float] = (0.5, 0.85)  # Its share as a foot lands, and as the other leaves
    landed_error: float = 0.15  # Its standard deviation
    pressed_front: float = 0.21  # [length of the sole]: in front of the middle, in a step
    memory: float = 0.2  # [sqrt(l / g)]: of the low-passed centre of pressure
    sum_error: float = 0.05  # [weight]: of the sum of all forces
    impact: float = 1.4  # [weight / sqrt(g l)]: added at a landing, by the speed that is lost


FLAT = FlatFeetSettings()


def flat_footed(dynamics: GaitInverseDynamics, contact: np.ndarray, settings: GaitSettings,
                moved: SoleMotion) -> bool:
    """Return whether a robot walks flat-footed on its own odometry."""
    stepping = contact.shape[1] == 2 and any(steps(contact))
    if not (stepping and settings.odometry_error and all(foot.moments for foot in dynamics.feet)):
        return False
    upright, rest = ~_toppled(dynamics, FLAT.fallen_tilt), FLAT.rest_speed * speed_scale(dynamics)
    level = dynamics.foot_rotation[contact & upright[:, None]][:, 2, 2]
    return bool(len(level) and np.quantile(level, 0.25) > np.cos(FLAT.largest_tilt)
                and np.median(moved.speed[upright].min(axis=1)) < rest)


def fallen(dynamics: GaitInverseDynamics, contact: np.ndarray, flat: bool) -> np.ndarray:
    """Return where somebody falls or lies, (n,): base, or a sole of flat feet, is tilted."""
    soles = np.where(contact & flat, dynamics.foot_rotation[..., 2, 2], 1.0)
    return (_toppled(dynamics, FLAT.fallen_tilt if flat else FLAT.lying_tilt)
            | (soles < np.cos(FLAT.fallen_tilt)).any(axis=1))


def _toppled(dynamics: GaitInverseDynamics, tilt: float) -> np.ndarray:
    up = dynamics.motion.base_rotation[:, 2]
    usual = np.median(up, axis=0)
    return up @ usual < np.cos(tilt) * np.linalg.norm(usual)


def levelled(dynamics: GaitInverseDynamics, contact: np.ndarray) -> GaitInverseDynamics:
    """Return inverse dynamics with gravity along the normals of the soles on the ground."""
    down = contact / np.maximum(contact.sum(axis=1, keepdims=True), 1)
    lean = np.einsum('nf,nfi->ni', down, dynamics.foot_rotation[..., :2, 2])
    change = np.zeros(dynamics.wrench.shape)
    change[:, :2] = lean * dynamics.wrench[:, 2:3]
    change[:, 3:] = np.cross(dynamics.center_of_mass, change[:, :3])
    return replace(dynamics, wrench=dynamics.wrench + change, noise=dynamics.noise - change)


def flat_shares(dynamics: GaitInverseDynamics, contact: np.ndarray,
                settings: GaitSettings) -> np.ndarray:
    """Return each foot's share of the vertical load (n, nf), of two that walk flat."""
    center, apart = _seen(dynamics, contact)
    squared = np.maximum((apart ** 2).sum(axis=1), 1e-6)
    first = (center * apart).sum(axis=1) / squared
    first = np.where(np.isfinite(first), first, 0.5)
    for start, end in steps(contact):
        at, phase = slice(start, end), (np.arange(end - start) + 0.5) / (end - start)
        law = FLAT.landed[0] + np.ptp(FLAT.landed) * phase
        law = law if contact[start - 1, 1] else 1.0 - law   # of the foot that has landed
        seen = settings.odometry_error ** 2 / squared[at]      # variance of the share
        trust = FLAT.landed_error ** 2 / (FLAT.landed_error ** 2 + seen)
        first[at] += (1.0 - trust) * (law - first[at])
    both, first = contact.all(axis=1), first.clip(0.0, 1.0)
    return np.where(both[:, None], np.column_stack([first, 1.0 - first]), contact).astype(float)


def touching(dynamics: GaitInverseDynamics, contact: np.ndarray) -> np.ndarray:
    """Return the probability (n, nf) by its height that a foot which is called up touches."""
    height = (dynamics.base_position[:, None] + dynamics.points(dynamics.low_point))[..., 2]
    above = height - height.min(axis=1, where=contact, initial=np.inf)[:, None]
    # Heights are off by what soles on the ground seem tilted, over half of one.
    tilt = np.median(np.linalg.norm(dynamics.foot_rotation[contact][:, :2, 2], axis=1))
    half = 0.5 * max(foot.edges[0] - foot.edges[1] for foot in dynamics.feet)
    return np.where(contact, 1.0, ndtr(-above / max(half * tilt, 1e-6)))


def mistaken_load(contact: np.ndarray, probability: np.ndarray, share: np.ndarray,
                  sums: np.ndarray) -> np.ndarray:
    """Return the variance (n, 2) of loads over the weight by feet that may be up, or down."""
    # Called up, it bears as one that is about to leave, or lands: ``sums`` (n,) has impacts.
    little = (1.0 - FLAT.landed[1]) ** 2 + FLAT.landed_error ** 2 + sums[:, None]
    wrong = np.where(contact, (1.0 - probability) * share ** 2, probability * little)
    return wrong + wrong[:, ::-1]       # which the other foot does not bear, or does


def _seen(dynamics: GaitInverseDynamics, contact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the low-passed CoP from the second foot's (n, 2) and the first's from there [m]."""
    recorded, unit = dynamics.as_recorded, np.sqrt(dynamics.leg_length / GRAVITY)
    smooth = replace(recorded, wrench=gaussian_filter1d(
        recorded.wrench, FLAT.memory * unit / dynamics.step, axis=0))
    middle = np.array([foot.center for foot in dynamics.feet])
    length = np.array([foot.edges[0] - foot.edges[1] for foot in dynamics.feet])
    pressed = np.tile(middle, (len(contact), 1, 1))
    pressed[in_steps(contact), :, 0] += FLAT.pressed_front * length
    points = dynamics.points(pressed)
    # The smoothed force first, since soles turn at once where the load changes feet.
    center = center_of_pressure(levelled(smooth, contact), np.ones_like(contact), points)
    return center - points[:, 1, :2], points[:, 0, :2] - points[:, 1, :2]
