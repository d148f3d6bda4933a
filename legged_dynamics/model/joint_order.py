# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From joints by name to joints in a model's order: the one place where the two are matched."""
from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.parts import Q_START, V_START, Joint, Mimic


class JointOrder:
    """
    Puts values that come in one order of joints into another.

    Parameters
    ----------
    names : sequence of str
        Joints as their values come; there may be others than those wanted.
    wanted : sequence of str
        Joints in the order wanted, such as ``model.joint_names``.
    spare : container of str
        Joints that may be missing.
    source : str
        What has the names, for errors.

    Attributes
    ----------
    places : (n,) int array or None
        Place of each wanted joint among the names, 0 for a missing one; None: the order is the
        one wanted.
    lacking : (n,) bool array or None
        Which wanted joints are missing; None: none.

    Raises
    ------
    MeasurementError
        When a wanted joint is missing or named twice.

    Examples
    --------
    >>> order = JointOrder(['knee', 'hip'], ['hip', 'knee'])
    >>> order(np.array([1.0, 2.0])).tolist()
    [2.0, 1.0]

    """

    def __init__(self, names: Sequence[str], wanted: Sequence[str], spare: Container[str] = (),
                 source: str = 'the message'):
        counts = Counter(names)
        twice = [name for name in wanted if counts[name] > 1]
        if twice:
            raise MeasurementError(f'{listing(twice)} named more than once; give each joint one '
                                   'entry')
        missing = [name for name in wanted if name not in counts]
        refused = [name for name in missing if name not in spare]
        if refused:
            raise MeasurementError(f'{listing(refused)} missing; {source} has '
                                   f'{", ".join(names) or "no joints"}')
        where = {name: place for place, name in enumerate(names)}
        same = tuple(names) == tuple(wanted)
        self.places = None if same else np.array([where.get(name, 0) for name in wanted], np.intp)
        self.lacking = np.isin(wanted, missing) if missing else None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """
        Return values in the order wanted.

        Parameters
        ----------
        values : (..., n_names) array
            One for each of the names, in any unit.

        Returns
        -------
        (..., n) array
            A copy, or `values` themselves when the order is the same; NaN for a missing joint.

        """
        if self.places is None:
            return values
        if not values.shape[-1]:
            return np.full((*values.shape[:-1], len(self.places)), np.nan)
        picked = values[..., self.places]
        if self.lacking is not None:
            picked[..., self.lacking] = np.nan
        return picked


def listing(names: Sequence[str]) -> str:
    """Return names with 'is' or 'are', such as 'a, b are'."""
    return ', '.join(names) + (' is' if len(names) == 1 else ' are')


# -------------------------------------------------------------------------------------------------
# Mimic joints: they follow another joint, their master, with which they share one coordinate.
#
# The tree keeps a coordinate for every joint, so that the algorithms of the textbooks apply. With
# ``v = G u``, u being the velocities of the independent joints, the reduced quantities follow from
# equal power: ``tau_u = G^T tau``, ``M_u = G^T M G``, ``J_u = J G``.


ONE_COORDINATE = ('revolute', 'continuous', 'prismatic')
LARGEST = 1e12


def resolve_mimics(joints: Sequence[Joint]) -> tuple[dict[str, Mimic], list[str]]:
    """
    Return for each mimic joint the free joint that it follows, and notes.

    Notes on joints whose master is missing, has not one coordinate, or follows its own
    follower; those count as free.
    """
    by_name = {joint.name: joint for joint in joints}
    found: dict[str, Mimic] = {}
    notes = []
    for joint in joints:
        if joint.mimic is None or joint.kind not in ONE_COORDINATE:
            continue
        trail = _followed(joint.name, joint.mimic, by_name)
        if isinstance(trail, Mimic):
            found[joint.name] = trail
        else:
            notes.append(f'joint {joint.name!r} mimics {joint.mimic.joint!r}, {trail}; taken as a '
                         'joint of its own')
    return found, notes


def _followed(name: str, trail: Mimic, by_name: Mapping[str, Joint]) -> Mimic | str:
    """Return what a joint follows in the end, or what is wrong with that."""
    path = {name}
    while True:
        master = by_name.get(trail.joint)
        if master is None:
            return 'and there is no joint of that name'
        if master.name in path:
            return 'and so in the end itself'
        if master.kind not in ONE_COORDINATE:
            return f'and {master.name!r} is {master.kind}'
        if master.mimic is None:
            break
        path.add(master.name)
        onward = master.mimic
        trail = Mimic(onward.joint, trail.multiplier * onward.multiplier,
                      trail.multiplier * onward.offset + trail.offset)
    if not (abs(trail.multiplier) < LARGEST and abs(trail.offset) < LARGEST):
        return 'and over all its masters its multiplier or offset is too large'
    return trail


@dataclass(frozen=True, eq=False)
class Mimics:
    """
    Which coordinates of a model follow which.

    Attributes
    ----------
    joints : tuple of str
        The joints that follow.
    follower_q, master_q, follower_v, master_v : (n,) int array
        Their places, and their masters', among positions and velocities of the joints.
    multiplier, offset : (n,) array
        Position of a mimic joint: multiplier times its master, plus offset.
    nv : int
        Number of joint velocities, followers included.

    """

    joints: tuple[str, ...]
    follower_q: np.ndarray
    master_q: np.ndarray
    follower_v: np.ndarray
    master_v: np.ndarray
    multiplier: np.ndarray
    offset: np.ndarray
    nv: int

    @property
    def free(self) -> np.ndarray:
        """Places of the free velocities u among the nv, (nu,) int."""
        return np.setdiff1d(np.arange(self.nv), self.follower_v)

    def matrix(self, n_base: int = 0) -> np.ndarray:
        """Return G (n_base + nv, n_base + nu) of ``v = G u``, u the free velocities."""
        full = np.eye(self.nv)
        full[self.follower_v, self.follower_v] = 0.0
        full[self.follower_v, self.master_v] = self.multiplier
        matrix = np.zeros((n_base + self.nv, n_base + len(self.free)))
        matrix[:n_base, :n_base] = np.eye(n_base)
        matrix[n_base:, n_base:] = full[:, self.free]
        return matrix

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Return joint positions with those of mimic joints computed (inputs ignored)."""
        q = np.array(q, float)
        q[self.follower_q] = self.multiplier * q[self.master_q] + self.offset
        return q

    def rates(self, v: np.ndarray) -> np.ndarray:
        """Return joint velocities or accelerations with those of mimic joints computed."""
        v = np.array(v, float)
        v[self.follower_v] = self.multiplier * v[self.master_v]
        return v


def refuse_following_legs(joints: Sequence[Joint], bodies: Iterable[int], who: str) -> None:
    """Raise ConfigurationError if a leg has a mimic joint; ``who`` names the caller."""
    for body in bodies:
        joint = joints[body - 1]
        if joint.mimic is not None:
            raise ConfigurationError(f'{who}: expected every joint of the legs to be driven by '
                                     f'itself, and {joint.name!r} follows {joint.mimic.joint!r}')


def find_mimics(joints: Sequence[Joint], topology: np.ndarray, nv: int) -> Mimics:
    """Return which coordinates follow which: followers, masters, factors and offsets."""
    body_of = {joint.name: body for body, joint in enumerate(joints, start=1)}
    pairs = [(body_of[joint.name], body_of[joint.mimic.joint], joint.mimic)
             for joint in joints if joint.mimic is not None]
    own, masters = (topology[[pair[k] for pair in pairs]] if pairs else topology[:0]
                    for k in (0, 1))
    return Mimics(tuple(joints[pair[0] - 1].name for pair in pairs),
                  own[:, Q_START], masters[:, Q_START], own[:, V_START], masters[:, V_START],
                  np.array([mimic.multiplier for _, _, mimic in pairs]),
                  np.array([mimic.offset for _, _, mimic in pairs]), nv)
