# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Horizontal forces from where the feet and the centre of mass are.

Accelerations of a body that is seen by markers are wrong by several percent of the weight, but
where its centre of mass is over the feet is known to centimetres.

**Several feet down.** Each foot's force points at the virtual pivot point above the centre of mass
(Maus and others 2010). Of two feet, one with a small share s of the load leans further outward,
away from the other, and in a step forward: by :math:`a (1 - s)^{3/2}`, where a grows with the
speed over the ground, as measured (docs/people.md). In steps of two feet, the sum of these forces
is one measurement of the required force, and the accelerations are another.

**One foot down.** As in an inverted pendulum, the horizontal force follows from the point p where
the ground presses, the centre of mass c at a height h above it, the vertical force, and the moment
m about the centre of mass,

.. math:: h f_x = f_z (c_x - p_x) - m_y, \qquad h f_y = f_z (c_y - p_y) + m_x,

so that an error of p of 1 cm is one of 1 % of the weight (Winter 1995).

Each axis is a least-squares problem: forces differ from those of the motion by no more than their
deviation (`sum_deviation`), from those of the equations by theirs, and the path of the centre of
mass stays where it was recorded, within `motion.path_error`. The moment of a foot that is down
alone is then put right by what is left. How feet share the load is found from the accelerations
alone.
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import TRANSFER, travelling_reference
from legged_dynamics.people.gait.reactions import from_middle, load_passes, sum_deviation
from legged_dynamics.people.gait.required_wrench import FEWEST, NO_FORCE, REQUIRED, on_path
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion


@dataclass(frozen=True)
class DirectionSettings:
    """
    How well feet, centre of mass and moments are known; l is the leg length.

    By comparison with force plates (docs/people.md); leans of 22 steps of ten people.
    """

    horizontal_error: float = 1.3  # Deviation of the horizontal force over the vertical one's
    # Deviation of the path of the centre of pressure in the sole.
    path_along: float = 0.08  # [length of the sole]
    path_across: float = 0.15  # [width of the sole]
    # The motion's centre of pressure carries the error that is sought: hardly used for the force.
    loose_pressure_error: float = 0.2  # [m]
    moment_part: float = 0.75  # Of the moment, that is used for the force: small, unlike its noise
    # Deviation of that moment.
    pitch_error: float = 6.0  # [l]: over the square of the force's deviation
    roll_error: float = 0.5  # [l]: over the force's deviation
    # Lean of the force on a foot that hardly bears any load, as a part of it.
    step_lean: float = 0.33  # [1 / sqrt(g l)]: forward and outward
    standing_lean: float = 0.1  # Outward at rest
    lean_error: float = 0.03  # Deviation of the sum in a step, as a part of the load
    side_distance: float = 0.01  # [l]: from the middle, that is hardly to a side
    least_height: float = 0.1  # [l]: of the centre of mass


DIRECTION = DirectionSettings()


def directions(dynamics: GaitInverseDynamics, contact: np.ndarray, points: np.ndarray,
               share: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """
    Return each foot's horizontal over vertical force (n, nf, 2), world axes.

    ``points`` (n, nf, 3) [m]: CoP from the base origin, world axes; ``share``: of vertical
    load.
    """
    # Directions to the pivot are meaningless for a centre of mass near the ground.
    to_center = dynamics.center_of_mass[:, None] - points
    height = settings.pivot_height * np.maximum(to_center[..., 2:],
                                                DIRECTION.least_height * dynamics.leg_length)
    aims = to_center[..., :2] / height
    if contact.shape[1] != 2:
        return aims
    velocity = dynamics.center_velocity[:, None] - dynamics.ground_velocity
    velocity = velocity[..., :2] / np.sqrt(GRAVITY * dynamics.leg_length)
    speed = np.linalg.norm(velocity, axis=2, keepdims=True)
    forward = velocity / np.maximum(speed, REQUIRED.travel_speed)
    arm = from_middle(contact, points)
    outward = arm - (arm * forward).sum(axis=2, keepdims=True) * forward
    outward /= np.hypot(np.linalg.norm(outward, axis=2, keepdims=True),
                        DIRECTION.side_distance * dynamics.leg_length)
    lean = DIRECTION.step_lean * speed
    return aims + np.clip(1.0 - share[..., None], 0.0, 1.0) ** 1.5 * (
        lean * forward + np.hypot(lean, DIRECTION.standing_lean) * outward)


def through_sole(dynamics: GaitInverseDynamics, contact: np.ndarray, settings: GaitSettings,
                 moved: SoleMotion, lean: np.ndarray | None = None) -> GaitInverseDynamics:
    """
    Return inverse dynamics whose wrench acts within the soles; adds to its `noise`.

    ``lean`` (n, 2): horizontal over vertical force by `directions`, used in steps from foot
    to foot; without it nothing is learned there.
    """
    alone = (contact.sum(axis=1) == 1) & (dynamics.load > TRANSFER.least_load)
    if alone.sum() < 1 or len(alone) < FEWEST:
        return dynamics
    error = DIRECTION.horizontal_error * sum_deviation(dynamics, settings)
    center, weight = dynamics.center_of_mass, dynamics.weight
    force = dynamics.wrench[:, :3] / weight
    moment = dynamics.wrench[:, 3:] / weight - np.cross(center, force)
    arm, doubt = _pressed(dynamics, contact, replace(
        settings, pressure_error=DIRECTION.loose_pressure_error), moved)
    height = np.maximum(-arm[:, 2], DIRECTION.least_height * dynamics.leg_length)
    # Horizontal moments as they tilt a force along x and along y.
    tilting = DIRECTION.moment_part * np.stack([moment[:, 1], -moment[:, 0]], axis=1)
    wanted = -(arm[:, :2] * force[:, 2:] + tilting) / height[:, None]
    stepping = np.zeros((len(alone), 1), bool)
    if lean is not None:
        stepping = (load_passes(dynamics, contact, settings)
                    & (dynamics.load > TRANSFER.least_load))[:, None]
        wanted = np.where(stepping, lean * force[:, 2:], wanted)
    turning = (dynamics.leg_length * np.stack(
        [DIRECTION.pitch_error * error ** 2, DIRECTION.roll_error * error], axis=1)) ** 2
    variance = ((doubt * force[:, 2:]) ** 2 + turning) / height[:, None] ** 2
    variance = np.where(alone[:, None], variance, np.inf)
    variance = np.where(stepping, (DIRECTION.lean_error * force[:, 2:]) ** 2, variance)
    force[:, :2] = _drawn(force[:, :2], wanted, variance, error, contact.any(axis=1),
                          dynamics.step, settings.path_error)
    # The centre of pressure with that force is better than with the one of the accelerations.
    found = np.hstack([force, moment + np.cross(center, force)])
    arm, _ = _pressed(replace(dynamics, wrench=found * weight), contact, settings, moved)
    found[alone, 3:5] = np.cross(arm, force)[alone, :2] + np.cross(center, force)[alone, :2]
    found *= weight
    return replace(dynamics, wrench=found, noise=dynamics.noise + dynamics.wrench - found)


def _pressed(dynamics: GaitInverseDynamics, contact: np.ndarray, settings: GaitSettings,
             moved: SoleMotion) -> tuple[np.ndarray, np.ndarray]:
    """Return a single stance foot's CoP from the CoM (n, 3), and its x, y deviations [m]."""
    points = dynamics.points(travelling_reference(dynamics, contact, settings, moved))
    arm = np.einsum('nf,nfi->ni', contact.astype(float), points) - dynamics.center_of_mass
    front, back, left, right = np.array([foot.edges for foot in dynamics.feet]).T
    own = np.array([[DIRECTION.path_along], [DIRECTION.path_across]]) * [
        front - back, left - right]
    R = dynamics.foot_rotation[:, :, :2, :2]
    return arm, np.sqrt(np.einsum('nf,nfij,jf->ni', contact.astype(float), R ** 2, own ** 2))


def _drawn(force: np.ndarray, wanted: np.ndarray, variance: np.ndarray, error: np.ndarray,
           standing: np.ndarray, dt: float, path_error: float) -> np.ndarray:
    """Return forces (n, 2) over the weight between those of the motion and those wanted."""
    inner, found = slice(1, -1), force.copy()
    own = np.where(standing, dt / (REQUIRED.force_memory * error ** 2), NO_FORCE)[inner]
    for k in range(2):
        drawn = dt / REQUIRED.force_memory / variance[inner, k]
        found[:, k] += on_path(drawn / (own + drawn) * (wanted - force)[inner, k], own + drawn,
                               dt, path_error)
    return found
