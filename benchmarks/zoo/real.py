# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real robots: bags with foot sensors, through the same estimator, against those sensors."""
from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import BagError, LeggedDynamicsError
from legged_dynamics.recordings.replay import FROM_BAG, AnalysisOptions
from legged_dynamics.reports.bag.accuracy import ON_LINE, ZERO_PHASE, main_name
from legged_dynamics.reports.bag.analysis import Analysis, analyse
from legged_dynamics.trials.analysis import analyse_gait
from legged_dynamics.trials.subject import GaitOptions

ENVIRONMENT = 'LEGGED_DYNAMICS_DATA'
MOVING = ('walking', 'trotting')
BAGS = {'icub': 'walking', 'go1': 'trot'}


@dataclass(frozen=True)
class RealScore:
    """
    How an estimate compares with a robot's foot sensors.

    Attributes
    ----------
    bag : str
    method : str
        ``detected`` or ``true contacts`` (the estimator), ``off line`` (inverse dynamics of the
        recorded motion).
    weight : float [N]
    zero_phase, on_line : float [N]
        rms error of each loaded foot's vertical force while the robot walks; NaN where the
        sensors are fit for contact alone.
    total : float [N]
        Mean of the vertical force of all feet.
    agreement : float [%]
        Of contact, mean over the feet.
    touch_down_ms, lift_off_ms : float
        Medians over the feet of how late changes were seen.
    changes, unseen : int
        True changes of contact, and those not seen within 100 ms.

    """

    bag: str
    method: str
    weight: float
    zero_phase: float = float('nan')
    on_line: float = float('nan')
    total: float = float('nan')
    agreement: float = float('nan')
    touch_down_ms: float = float('nan')
    lift_off_ms: float = float('nan')
    changes: int = 0
    unseen: int = 0

    def as_dict(self) -> dict:
        """Return plain numbers by name."""
        return asdict(self)


def folder() -> Path:
    """Return where recordings of real robots are looked for."""
    beside = Path(__file__).resolve().parents[3] / 'shared' / 'data'
    return Path(os.environ.get(ENVIRONMENT) or beside) / 'robots'


def real_scores(name: str) -> list[RealScore]:
    """
    Score the estimator on a real robot's bag.

    Raises
    ------
    BagError
        When the recording is not there.

    """
    place = folder() / name
    bag, yaml, urdf = place / BAGS[name], place / f'{name}.yaml', place / f'{name}.urdf'
    if not bag.is_dir():
        raise BagError(f'{name}: no recording in {place}; {ENVIRONMENT} says where its parent is')
    newtons = name == 'icub'
    scores = []
    for method, contact in (('detected', ('detected',)), ('true contacts', (FROM_BAG,))):
        found = analyse(bag, AnalysisOptions(robot=str(yaml), urdf=str(urdf), contact=contact))
        scores.append(_on_line(name, method, found, newtons))
    try:
        result, _ = analyse_gait(bag, GaitOptions(robot=str(yaml), urdf=str(urdf), compare=False))
    except LeggedDynamicsError:
        return scores       # without orientation or odometry there is no motion of the base
    error = result.errors.get(result.method)
    if error is not None and newtons:
        scores.append(RealScore(
            name, 'off line', scores[0].weight, zero_phase=error.vertical,
            agreement=100.0 * error.agreement))
    return scores


def _on_line(name: str, method: str, found: Analysis, newtons: bool) -> RealScore:
    errors = {row.treatment: row.vertical for row in found.accuracy.feet
              if row.subject in MOVING and row.estimate == main_name(found.series)}
    vertical = np.einsum('nfij,nfj->nfi', found.series.foot_to_world,
                         found.series.wrench.values[:, :, :3])[:, :, 2]
    contacts = found.contacts

    def middle(values: list[float]) -> float:
        known = [value for value in values if np.isfinite(value)]
        return float(np.median(known)) if known else float('nan')
    nothing = float('nan')
    return RealScore(
        name, method, found.weight, errors.get(ZERO_PHASE, nothing) if newtons else nothing,
        errors.get(ON_LINE, nothing) if newtons else nothing,
        float(vertical.sum(axis=1).mean()),
        float(np.mean([c.agreement for c in contacts])),
        middle([c.touchdown_delay for c in contacts]),
        middle([c.liftoff_delay for c in contacts]),
        sum(c.changes for c in contacts), sum(c.unseen for c in contacts))
