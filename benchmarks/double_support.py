# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
All methods for double support on recordings with force plates: the tables of the document.

``python -m benchmarks.double_support [FOLDER]`` looks for bags one or two levels below the folder
(default: human_gait in the folder that LEGGED_DYNAMICS_DATA names) and prints the tables.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from legged_dynamics.contact.over_time.inverse_dynamics import ContactInverseDynamicsOverTime
from legged_dynamics.exceptions import BagError, LeggedDynamicsError
from legged_dynamics.pages.page import Table
from legged_dynamics.people.gait.contact_timing import given_timing
from legged_dynamics.people.gait.double_support import METHODS, DoubleSupport
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.reactions import GaitReactions, gait_reactions
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.people.trials.accuracy import LOADED, FootErrors, foot_errors
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.subject import GaitOptions

# -------------------------------------------------------------------------------------------------
# Methods that are no longer of the package, being worse on force plates.
#
# 'over_time': least contact moment about the middle of each sole and least change over time.
# 'transition', the smooth transition assumption of Ren, Jones and Howard (2008), elsewhere as
# 'sole':
#
# In double support the trailing foot starts from its wrench at the other foot's touch-down and
# unloads along a fixed curve; the leading foot takes the rest. It holds for walking on two feet.

FORMER = ('over_time', 'transition')


def leaving_share(phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the trailing foot's share of its wrench (fore-aft, other) in double support."""
    k1 = np.exp(4.0 / 9.0)
    k2 = k1 / 2.0 * np.exp(-16.0 / 9.0)
    return k1 * np.exp(-(phase - 2.0 / 3.0) ** 2) - k2 * phase, np.exp(-phase ** 3)


def smooth_transition(contact: np.ndarray, arms: np.ndarray, total: np.ndarray,
                      forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return each foot's wrench by the smooth transition assumption (n, nf, 6), and where it applies.

    `arms` (n, nf, 3) lead from the origin of the total wrench (n, 6) to the feet, and `forward`
    (n, 3) is horizontal; all in world axes.
    """
    n, nf = contact.shape
    wrench, applies = np.zeros((n, nf, 6)), np.zeros(n, bool)
    shifted = total[:, None].repeat(nf, axis=1)
    shifted[..., 3:] -= np.cross(arms, total[:, None, :3])
    alone = contact.sum(axis=1) == 1
    wrench[alone] = np.where(contact[alone, :, None], shifted[alone], 0.0)
    applies |= alone
    for first, end in runs(contact.sum(axis=1) == 2):
        if first == 0 or end == n or not (alone[first - 1] and alone[end]):
            continue
        leaving = int(np.argmax(contact[first - 1]))
        landing = int(np.argmax(contact[end]))
        pair = contact[first, leaving] and contact[first, landing]
        if leaving == landing or not pair or (contact[first:end] != contact[first]).any():
            continue
        phase = 2.0 * (np.arange(end - first) + 1.0) / (end - first + 1.0)
        fore_aft, rest = leaving_share(phase)
        start, axis = wrench[first - 1, leaving], forward[first:end]
        along = axis @ start[:3] if axis.ndim == 1 else np.einsum('ni,i->n', axis, start[:3])
        wrench[first:end, leaving] = rest[:, None] * start
        wrench[first:end, leaving, :3] += ((fore_aft - rest) * along)[:, None] * axis
        given = wrench[first:end, leaving]
        between = arms[first:end, leaving] - arms[first:end, landing]
        wrench[first:end, landing] = shifted[first:end, landing] - given
        wrench[first:end, landing, 3:] -= np.cross(between, given[:, :3])
        applies[first:end] = True
    return wrench, applies


def former(solver: DoubleSupport, dynamics: GaitInverseDynamics, contact: np.ndarray,
           method: str) -> GaitReactions:
    """Return the reactions of a recording by a method of `FORMER`."""
    motion = dynamics.motion
    shared = solver.share(dynamics, contact, 'sole')
    wrench = shared.wrench
    if method == 'over_time':
        wrench = ContactInverseDynamicsOverTime(solver.model, solver.feet).solve(
            motion, in_contact=contact).wrench
    else:
        forward = motion.base_rotation[:, :, 0] * [1.0, 1.0, 0.0]
        forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-9)
        found, applies = smooth_transition(contact, dynamics.foot_arm, dynamics.wrench, forward)
        in_feet = [np.einsum('nfji,nfj->nfi', dynamics.foot_rotation, found[..., part])
                   for part in (slice(0, 3), slice(3, 6))]
        wrench = np.where(applies[:, None, None], np.concatenate(in_feet, axis=-1), wrench)
    return gait_reactions(dynamics, given_timing(contact, dynamics), wrench, shared.reference,
                          shared.supported, shared.inside_soles, solver.settings)


# -------------------------------------------------------------------------------------------------
# All methods on recordings with force plates: who shares the load as people do.


DETECTED, GIVEN = 'detected', 'from the plates'


@dataclass(frozen=True)
class Evaluation:
    """
    One recording, every method.

    Attributes
    ----------
    name : str
    weight : float [N]
    errors : dict of (str, str) to FootErrors
        By where contact comes from (`DETECTED`, `GIVEN`) and by method.

    """

    name: str
    weight: float
    errors: dict[tuple[str, str], FootErrors]


def evaluate(bag: Path, name: str, options: GaitOptions | None = None) -> Evaluation:
    """
    Measure every method against the force plates in a bag.

    Parameters
    ----------
    bag : Path
        With the truth in it.
    name : str
        For people to read.
    options : GaitOptions, optional
        What the user says.

    Raises
    ------
    BagError
        When the bag has no truth.
    LeggedDynamicsError
        When it cannot be analysed.

    """
    options = replace(options or GaitOptions(), method='travelling', compare=True)
    result, _ = analyse_gait(bag, options)
    if result.plates is None or not result.errors:
        raise BagError(f'{bag} has no true forces to compare with')
    errors = {(DETECTED, method): error for method, error in result.errors.items()}
    solver = DoubleSupport(result.model, result.feet,
                           GaitSettings.from_parameters(options.settings))
    # With contacts given the clocks stay as recorded, as in what Nimble was measured on.
    truth = result.plates.force[..., 2]
    contact = np.where(np.isfinite(truth), truth > LOADED, result.reactions.contact)
    for method in result.errors:
        errors[GIVEN, method] = foot_errors(solver.share(result.dynamics, contact, method),
                                            result.plates)
    for method in FORMER:
        for where, flags, plates in ((DETECTED, result.reactions.contact, result.aligned_plates),
                                     (GIVEN, contact, result.plates)):
            errors[where, method] = foot_errors(
                former(solver, result.dynamics, flags, method), plates)
    return Evaluation(name, result.weight, errors)


def evaluation_table(evaluations: Sequence[Evaluation], contact: str = DETECTED) -> Table:
    """
    Return one row a method, two columns a recording: all loaded samples, and several feet loaded.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the recordings.
    contact : str
        `DETECTED` or `GIVEN`.

    """
    head = ['method']
    for e in evaluations:
        head += [e.name, 'together']
    rows = []
    for method in (*METHODS, *FORMER):
        found = [e.errors.get((contact, method)) for e in evaluations]
        if any(found):
            rows.append([method, *(text for error in found for text in (
                ('-', '-') if error is None else (_newtons(error.vertical),
                                                  _newtons(error.double))))])
    return Table(f'Vertical force of each loaded foot, rms error [N], contacts {contact}', head,
                 rows, [0])


def detail_table(evaluations: Sequence[Evaluation], method: str = 'travelling') -> Table:
    """Return one row a recording with all that is measured of one method."""
    rows = []
    for e in evaluations:
        error = e.errors[DETECTED, method]
        rows.append((e.name, f'{e.weight:.0f}', str(error.count),
                     f'{100.0 * error.agreement:.1f}', *(_newtons(value) for value in (
                         error.vertical, error.single, error.double, error.total, error.fore_aft,
                         error.sideways, error.pull))))
    return Table(f'Method {method}, contacts {DETECTED} [N]',
                 ('recording', 'weight', 'samples', 'contact agrees [%]', 'vertical', 'alone',
                  'together', 'all feet together', 'along x', 'along y', 'least vertical force'),
                 rows)


def _newtons(value: float) -> str:
    return f'{value:.1f}' if np.isfinite(value) else '-'


# -------------------------------------------------------------------------------------------------


# As recorded, and the same without the low-pass of whoever published them.
KINDS = {'bag': 'As published, low-passed', 'bag_unfiltered': 'Not filtered before'}


def main(words: list[str]) -> int:
    """Evaluate and print; returns the exit code."""
    folder = Path(words[0] if words else
                  Path(os.environ.get('LEGGED_DYNAMICS_DATA', '.')) / 'human_gait')
    text = [f'Poses low-passed at {GaitOptions().cutoff:g} Hz.']
    for kind, heading in KINDS.items():
        bags = sorted(path.parent for path in folder.glob(f'*/{kind}/metadata.yaml'))
        found = []
        for bag in bags:
            print(f'{bag} ...', file=sys.stderr, flush=True)
            try:
                found.append(evaluate(bag, bag.parent.name))
            except LeggedDynamicsError as error:
                print(f'left out: {error}', file=sys.stderr)
        if not found:
            continue
        tables = [evaluation_table(found, DETECTED), evaluation_table(found, GIVEN),
                  detail_table(found)]
        for table in tables:
            text += [f'\n{heading}. {table.title}:\n', table.markdown.rstrip()]
    if len(text) == 1:
        print(f'expected bags with force plates below {folder}, found none', file=sys.stderr)
        return 2
    print('\n'.join(text))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
