# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is scored: anything that takes measurements one by one and gives outputs."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.zoo.recording import Recording
from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.estimation import GroundReactionEstimator, Measurement


@dataclass(frozen=True)
class Output:
    """
    What an estimator says on taking in one measurement.

    Attributes
    ----------
    stamp_ns : float
        Time that it describes [ns]; earlier than the measurement's by the delay.
    force : (nf, 3) array
        Of the ground on each foot, in base axes [N].
    contact : (nf,) array of bool, optional
    covariance : (nf, 3, 3) array, optional
        Of `force` [N^2].
    external : (6,) array, optional
        Wrench on the base, in its axes about its origin [N, N m].
    external_sigma : (6,) array, optional

    """

    stamp_ns: float
    force: np.ndarray
    contact: np.ndarray | None = None
    covariance: np.ndarray | None = None
    external: np.ndarray | None = None
    external_sigma: np.ndarray | None = None


# Named outputs of one estimator at one measurement; an empty one while it warms up.
Outputs = dict[str, Output]
Estimator = Callable[[Recording, Iterator[Measurement]], Iterator[Outputs]]


def shipped(settings: dict | None = None, true_contact: bool = False) -> Estimator:
    """
    Return this checkout's GroundReactionEstimator, its raw and its filtered output.

    Parameters
    ----------
    settings : dict, optional
        Dotted parameter names.
    true_contact : bool
        Give it the true contacts of the instant that each estimate describes.

    """
    def run(recording: Recording, measurements: Iterator[Measurement]) -> Iterator[Outputs]:
        estimator = GroundReactionEstimator(recording.model, recording.config,
                                            {'rate': recording.rate, **(settings or {})})
        order = [estimator.feet.index(foot) for foot in recording.feet]
        contact = recording.contact
        for k, measurement in enumerate(measurements):
            given = contact[k][np.argsort(order)] if true_contact else None
            r = estimator.update(measurement, given)
            if r.mode == 0:
                yield {}
                continue
            yield outputs_of(r, order)
    return run


def outputs_of(r, order: list[int]) -> Outputs:
    """Return the outputs that a GroundReaction holds, feet in another order."""
    R_BF, starts = r.foot_rotation, r.layout.table.index[:, START]
    # The truth counts all that is not the feet's as one wrench.
    external = r.external_wrench.copy()
    for one in r.contacts_off_feet:
        external += np.concatenate([one.force, np.cross(one.point, one.force)])
    found = {}
    for name, stamp, wrench, contact, full in (
            ('raw', r.stamp_ns, r.raw_wrench, r.contact, r.covariance),
            ('latest', r.latest_ns, r.wrench, r.latest_contact, r.latest_covariance)):
        force = np.einsum('fij,fj->fi', R_BF, wrench[:, :3])[order]
        covariance = np.array([full[start:start + 3, start:start + 3]
                               for start in starts])[order]
        found[name] = Output(stamp, force, contact[order].copy(), covariance, external,
                             r.external_deviation)
    return found
