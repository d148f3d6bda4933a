# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From joints by name to joints in a model's order: the one place where the two are matched."""
from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

import numpy as np

from legged_dynamics.exceptions import MeasurementError


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
    """Return names with the verb that belongs to them."""
    return ', '.join(names) + (' is' if len(names) == 1 else ' are')
