# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
True forces on the feet, by force plates or a simulator, and the belts of a treadmill.

Everything is given at the instants of a motion.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.stance_detection import speed_scale
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import TRUTH, FlagRecord, WrenchRecord
from legged_dynamics.recordings.topics import BOOL, WRENCH

# A flag has no stamp: it also holds for samples up to this time before its receipt [ns].
SLACK_NS = 1_000_000


@dataclass(frozen=True, eq=False)
class Plates:
    """True forces on nf feet at n instants."""

    # (n, nf, 3) [N]: of the ground on each foot; in world axes, or in the foot's where `in_foot`
    # is set; NaN where it is not known
    force: np.ndarray
    in_foot: np.ndarray  # (nf,): feet whose forces are in the foot's own axes
    valid: np.ndarray  # (n,): where all contacts are measured
    # (n, nf, 3) [N m]: about the world's origin in world axes, or about the foot's in its own
    # where `in_foot` is set; None when it is not known
    moment: np.ndarray | None = None

    def world_force(self, foot_rotation: np.ndarray) -> np.ndarray:
        """Return the forces (n, nf, 3) [N] in world axes, given R_WF."""
        turned = np.einsum('nfij,nfj->nfi', foot_rotation, self.force)
        return np.where(self.in_foot[None, :, None], turned, self.force)

    def wrench_in_feet(self, foot_position: np.ndarray,
                       foot_rotation: np.ndarray) -> np.ndarray | None:
        """Return wrenches (n, nf, 6) in foot frames, given p_WF, R_WF; None if unknown."""
        if self.moment is None:
            return None
        about_foot = self.moment - np.cross(foot_position, self.force)
        f, m = (np.where(self.in_foot[None, :, None], values,
                         np.einsum('nfji,nfj->nfi', foot_rotation, turned))
                for values, turned in ((self.force, self.force), (self.moment, about_foot)))
        return np.concatenate([f, m], axis=-1)


def read_plates(bag: BagReader, topics: Mapping[str, str], feet: tuple[str, ...], valid: str,
                stamps: np.ndarray) -> Plates | None:
    """
    Return the true forces in a bag at stamps [ns], or None without topics.

    ``valid``: topic of the flag that the truth is complete; empty when it always is.
    """
    if not topics:
        return None
    for name, kind in (*((name, WRENCH) for name in topics.values()), *([(valid, BOOL)] * bool(
            valid))):
        if name not in bag.topics or bag.topics[name].type != kind:
            raise BagError(f'expected a topic {name} with {kind}; topics of that type are: '
                           f'{", ".join(bag.of_type(kind)) or "(none)"}')
    records = {foot: WrenchRecord() for foot in feet if foot in topics}
    flags = FlagRecord()
    for message in bag.messages({*topics.values(), valid} - {''}):
        decoded = bag.decode(message)
        if message.topic == valid:
            flags.append(decoded, message.receipt_ns)
        for foot, record in records.items():
            if topics[foot] == message.topic:
                record.append(decoded, message.receipt_ns)
    step = int(np.median(np.diff(stamps)))
    wrench = np.full((len(stamps), len(feet), 6), np.nan)
    in_foot = np.zeros(len(feet), bool)
    for i, foot in enumerate(feet):
        if foot in records:
            wrench[:, i] = records[foot].at(stamps, round(TRUTH.max_gap * step))
            in_foot[i] = records[foot].frame_id == foot
    complete = np.isfinite(wrench).all(axis=(1, 2))
    if valid:
        complete &= flags.received_by(stamps + SLACK_NS)
    return Plates(wrench[..., :3], in_foot, complete, wrench[..., 3:])


# -------------------------------------------------------------------------------------------------
# The belts of a treadmill, which move the ground under each foot backward.
#
# Speeds are positive for a belt that runs from front to back, as under a person who walks forward;
# "back" is opposite to the mean heading of the base. Where no speed is given, soles that lie flat
# are used: on the floor they are at rest, on a belt they all move alike. A runner has no flat
# soles; then the stance foot is used while it rotates least.


AUTO = 'auto'
@dataclass(frozen=True)
class BeltSettings:
    """Soles by which the speed of a belt is found."""

    least_speed: float = 0.05  # [sqrt(g l)]: less is noise
    # A sole lies flat while it turns slowly near to its lowest position.
    flat_turning: float = 0.5  # [rad/s]
    flat_height: float = 0.02  # [leg length]
    # Feet that never lie flat are used while they bear this load.
    least_load: float = 0.7  # [weight]
    largest_spread: float = 0.25  # [speed of the belt]: between soles


BELT = BeltSettings()


def parse_belts(words: Sequence[str], feet: Sequence[str]) -> dict[str, str]:
    """
    Return each foot's belt from words SPEED, NAME, FOOT=SPEED or FOOT=NAME.

    NAME is a topic or column. Raises ConfigurationError when only some feet have a belt.
    """
    found: dict[str, str] = {}
    for word in words:
        foot, separator, value = word.rpartition('=')
        if separator and foot not in feet:
            raise ConfigurationError(f'--belt-speed: expected a foot ({", ".join(feet)}), '
                                     f'got {foot!r}')
        found.update({foot: value} if separator else dict.fromkeys(feet, value))
    missing = [foot for foot in feet if found and foot not in found]
    if missing:
        raise ConfigurationError(f'--belt-speed: expected a belt for each foot, got none for '
                                 f'{", ".join(missing)}; 0 for the floor')
    return found


def belt_velocity(belts: Mapping[str, str], feet: Sequence[str], time: np.ndarray,
                  base_rotation: np.ndarray,
                  series: Callable[[str], tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """
    Return the ground velocity under each foot (n, nf, 3), world axes.

    ``series`` returns times [s] and speeds [m/s] by name. Raises ConfigurationError when
    the base turns about, so that no direction is back.
    """
    forward = base_rotation[:, :2, 0].mean(axis=0)
    length = np.linalg.norm(forward)
    if length < 1e-3:
        raise ConfigurationError('--belt-speed: expected a base that faces one way, got one that '
                                 'turns about; its x axis says where forward is')
    back = np.append(-forward / length, 0.0)
    speeds = []
    for foot in feet:
        try:
            speeds.append(np.full(len(time), float(belts[foot])))
        except ValueError:
            at, values = series(belts[foot])
            speeds.append(np.interp(time, at, values))
    return np.stack(speeds, axis=1)[..., None] * back


def found_belt(dynamics: GaitInverseDynamics) -> np.ndarray | None:
    """Return a belt's velocity (3,), common to all stance soles; None if zero or unclear."""
    scale, seen = speed_scale(dynamics), []
    near = BELT.flat_height * dynamics.leg_length
    for i, points in enumerate(dynamics.sole_points()):
        middle = points.mean(axis=1)
        velocity = np.gradient(middle, dynamics.step, axis=0)
        low = middle[:, 2] < np.percentile(middle[:, 2], 5.0) + near
        flat = low & (_turning(dynamics, i) < BELT.flat_turning)
        if flat.sum() < 3:
            return _common(_rolling(dynamics), scale)
        seen.append(velocity[flat, :2])
    return _common(seen, scale)


def _rolling(dynamics: GaitInverseDynamics) -> list[np.ndarray]:
    """Return each sole's horizontal velocities in stance while it turns least, for runners."""
    points = dynamics.sole_points()
    height = np.stack([part[..., 2].min(axis=1) for part in points], axis=1)
    near, seen = BELT.flat_height * dynamics.leg_length, []
    for i, part in enumerate(points):
        stance = (dynamics.load > BELT.least_load) & (height.argmin(axis=1) == i) & (
            height[:, i] < np.percentile(height[:, i], 5.0) + near)
        # The lowest part of a rigid sole moves back faster than the belt while the heel rises.
        turning = _turning(dynamics, i)
        steady = stance & (turning <= np.percentile(turning[stance], 25.0) if stance.any()
                           else stance)
        velocity = np.gradient(part.mean(axis=1), dynamics.step, axis=0)
        seen.append(velocity[steady, :2])
    return seen


def _turning(dynamics: GaitInverseDynamics, i: int) -> np.ndarray:
    """Return how fast one foot turns, (n,) [rad/s]."""
    return np.linalg.norm(np.gradient(dynamics.foot_rotation[:, i], dynamics.step, axis=0),
                          axis=(1, 2)) / np.sqrt(2.0)


def _common(seen: list[np.ndarray], scale: float) -> np.ndarray | None:
    """Return the velocity that all feet have in common, (3,) [m/s]; None if there is none."""
    if any(len(values) < 3 for values in seen):
        return None
    middles = [np.median(values, axis=0) for values in seen]
    common = np.mean(middles, axis=0)
    speed = float(np.linalg.norm(common))
    spread = max(float(np.median(np.linalg.norm(values - common, axis=1))) for values in seen)
    if speed < BELT.least_speed * scale or spread > BELT.largest_spread * speed:
        return None
    return np.append(common, 0.0)
