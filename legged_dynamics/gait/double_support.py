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

from legged_dynamics.contact.inverse_dynamics import ContactInverseDynamics
from legged_dynamics.contact.over_time.inverse_dynamics import ContactInverseDynamicsOverTime
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.gait.ground_demand import GroundDemand, ground_demand
from legged_dynamics.gait.load_transfer import outside_soles, smooth_shares
from legged_dynamics.gait.reactions import GaitReactions, gait_reactions
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.smooth_transition import smooth_transition
from legged_dynamics.gait.sole_motion import SoleMotion
from legged_dynamics.gait.stance_detection import detect_contact, soles_of
from legged_dynamics.gait.travelling_reference import travelling_reference
from legged_dynamics.gait.wrench_completion import complete_wrenches
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel

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
        return detect_contact(ground_demand(self.model, self.feet, motion, ground_velocity),
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
            contact = detect_contact(demand, self.settings, moved)
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
        wrench = np.zeros((*contact.shape, 6))
        if guess is not None and np.shape(guess) != wrench.shape:
            raise MeasurementError(f'expected a guess of shape {wrench.shape}, '
                                   f'got {np.shape(guess)}')
        for t in range(len(motion)):
            wrench[t] = solver.solve(
                motion.instant(t), in_contact=contact[t],
                guess=None if guess is None else guess[t],
                ground_normal=motion.base_rotation[t, 2]).wrench
        return wrench

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
