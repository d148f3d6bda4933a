# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sections of the page of the zoo: several draws of the noise, other noise and sensors."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from benchmarks.zoo.cache import recording
from benchmarks.zoo.foreign import Foreign
from benchmarks.zoo.peers import Twin
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.sensors import FIELD, NAMES, OTHERS, heard
from benchmarks.zoo.tables import WORST, markdown
from legged_dynamics.estimation import Fault, GroundReactionEstimator, Mode

# -------------------------------------------------------------------------------------------------
# What no estimator can beat: the Cramer-Rao bound of a whole run, true contacts and motion known.
#
# All samples of a run are one linear problem, ``H_t f_t + C_t theta = r_t + white noise``: rows of
# the base and of the joints, forces of the feet at every instant, and theta what lasts: the gain
# and the offset of every joint's torque and the accelerometer's bias, with their deviations as
# prior. Forces are eliminated instant by instant; what is left of theta bounds them all.


BLOCK = 0.1             # s over which forces are taken for constant and white noise averages
BASE = 1e-4             # of the weight: error of the base's rows, for the sake of numbers


def bound(recording: Recording, noise: dict[str, float] = FIELD) -> float:
    """
    Return the smallest rms error of the forces of the feet, % of the weight.

    Parameters
    ----------
    recording : Recording
        In which every foot stands all the time.
    noise : dict of float
        Standard deviations by sensor, as `FIELD` has them.

    Raises
    ------
    ValueError
        When a foot is lifted.

    """
    if not recording.contact.all():
        raise ValueError(f'{recording.name}: expected a run in which every foot stands; the bound '
                         'of a run with steps depends on how forces may change')
    twin, nf, weight = Twin(recording), len(recording.feet), recording.weight
    nv, nj, rows = twin.model.nv, recording.q.shape[1], twin.rows
    limit = recording.model.effort_limits
    limit = np.where(np.isfinite(limit), limit, np.abs(recording.tau).max())
    samples = max(round(BLOCK * recording.rate), 1)
    begin, end = (round(t * recording.rate) for t in recording.scored)
    variance = np.full(nv, (BASE * weight) ** 2)
    variance[twin.iv] = (noise['effort'] * limit) ** 2 / samples
    whiten = 1.0 / np.sqrt(variance)[:, None]
    information = np.diag(np.concatenate([
        np.full(nj, noise['effort_gain'] ** -2), (noise['effort_offset'] * limit) ** -2,
        np.full(3, noise['accelerometer_bias'] ** -2)]))
    instants = []
    for k in range(begin, min(end, len(recording)), samples):
        H, M = _columns(twin, recording.q[k])
        C = np.zeros((nv, 2 * nj + 3))
        C[twin.iv, np.arange(nj)] = recording.tau[k]
        C[twin.iv, nj + np.arange(nj)] = 1.0
        C[:, 2 * nj:] = M[:, :3]
        Q, R = np.linalg.qr(whiten * H)
        seen = Q.T @ (whiten * C)
        information += (whiten * C).T @ (whiten * C) - seen.T @ seen
        instants.append((R, seen))
    lasting = np.linalg.inv(information)
    total = 0.0
    for R, seen in instants:
        back = np.linalg.inv(R)
        spread = back @ (np.eye(len(R)) + seen @ lasting @ seen.T) @ back.T
        forces = np.arange(nf * rows).reshape(nf, rows)[:, :3].ravel()
        total += np.trace(spread[np.ix_(forces, forces)]) / nf
    return 100.0 * float(np.sqrt(total / len(instants))) / weight


def _columns(twin: Twin, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (nv, rows x nf) columns of the feet's forces, and the mass matrix, level base."""
    pin, model, data = twin.pin, twin.model, twin.data
    twin.q[3:7], twin.q[twin.iq] = (0.0, 0.0, 0.0, 1.0), q
    M = pin.crba(model, data, twin.q)
    pin.computeJointJacobians(model, data, twin.q)
    pin.updateFramePlacements(model, data)
    columns = []
    for i, frame in enumerate(twin.frames):
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        if twin.rows == 3:
            down = [0.0, 0.0, -twin.config.feet[i].radius]
            J = J[:3] + np.cross(J[3:].T, down).T
        columns.append(J.T)
    return np.hstack(columns), np.triu(M) + np.triu(M, 1).T


# -------------------------------------------------------------------------------------------------


DRAWS = 10
# Of a run, of some estimators, over so many draws: rows as `Score.as_dict` gives them.
Scores = Callable[[Recording, Sequence[str], int], list[dict]]
STANDING = f"""## Standing, over {DRAWS} draws of the noise

Gain and offset of torques last, so one draw says little of a robot that stands: median, and the
worst in brackets. **Bound**: the Cramer-Rao bound of the whole run, for an estimator that knows
contacts, motion and all deviations exactly and whose forces are constant over 0.1 s; unknown are
gain and offset of each torque and the bias of the accelerometer. Nobody is below it in the mean.
"""
OTHER = """## Other noise

**Stated**: what the configuration says of it. The estimator follows what it sees of the white
noise of velocities and torques; the rest it has to believe. Medians of two draws.
"""


def standing(names: Sequence[str], scores: Scores) -> str:
    """Return the section on standing runs among these, empty without any."""
    table = []
    for name in names:
        scenario = SCENARIOS[name]
        if scenario.stepping or scenario.disturbed or isinstance(scenario, Foreign):
            continue
        kept = recording(name)
        print(f'{name}, {DRAWS} draws', file=sys.stderr, flush=True)
        rows = scores(kept, ('ours', 'observer'), DRAWS)
        ours = next(row for row in rows if row['estimator'] == 'ours')
        theirs = next(row for row in rows if row['estimator'] == 'observer')
        table.append({
            'scenario': name, 'bound': bound(kept), 'ours, zero phase': _both(ours, 'zero_phase'),
            'observer, zero phase': _both(theirs, 'zero_phase'),
            'e/sigma': _both(ours, 'normalised'), 'in 95 %': ours['inside'],
            'on line': min(row['on_line'] for row in rows if row['estimator'] == 'ours'),
            'observer, on line': theirs['on_line']})
    return f'{STANDING}\n{_table(table)}\n' if table else ''


def other_noise(names: Sequence[str], scores: Scores) -> str:
    """Return the section on other noise, on some of these runs; empty without any."""
    table = []
    for name in NAMES:
        for sensors in OTHERS if name in names else ():
            print(f'{name}, {sensors.title}', file=sys.stderr, flush=True)
            made = heard(recording(name), sensors)
            first, last = scores(made, ('ours',), 2)
            table.append({
                'scenario': name, 'noise': sensors.title, 'zero phase': first['zero_phase'],
                'e/sigma': first['normalised'], 'in 95 %': first['inside'],
                'on line': last['on_line'], 'e/sigma, on line': last['normalised'],
                'contact': first['agreement'], 'says': _says(made)})
    return f'{OTHER}\n{_table(table)}\n' if table else ''


def _says(made: Recording) -> str:
    """Return the faults at the end of the run, in words."""
    estimator = GroundReactionEstimator(made.model, made.config, {'rate': made.rate})
    faults = Fault.NONE
    for measurement in made.measurements():
        faults = estimator.update(measurement).faults
    return '' if faults is Fault.NONE else str(faults.name)


def _both(row: dict, key: str) -> str:
    return f'{row[key]:.2f} ({row[key + WORST]:.2f})'


def _table(table: list[dict]) -> str:
    return markdown(table, columns={key: key for key in table[0]})


# -------------------------------------------------------------------------------------------------
# The same runs with other rates and other sensors, and what the estimator says about them.


USUAL = 500.0       # Hz
TOLD = 300          # samples that flags are gathered over, warming up left out
VARIED = ('go2-trot', 'talos-steps', 'anymal_class-straight')


@dataclass(frozen=True)
class Variant:
    """
    Other sensors than a run's usual ones.

    Attributes
    ----------
    title : str
    rate : float [Hz]
    measured : dict
        What `Recording.measurements` is asked for.

    """

    title: str
    rate: float = USUAL
    measured: dict[str, bool] = field(default_factory=dict)


VARIANTS = (
    Variant('100 Hz', 100.0), Variant('200 Hz', 200.0), Variant('400 Hz', 400.0),
    Variant('1000 Hz', 1000.0),
    Variant('accelerometer of 150 Hz', measured={'slow_accelerometer': True}),
    Variant('no IMU', measured={'imu': False}))


def varied(names: list[str]) -> Iterator[tuple[Variant, Recording]]:
    """Yield each variant of the runs among `names` that are tried with other sensors."""
    for name in VARIED:
        for variant in VARIANTS if name in names else ():
            yield variant, recording(name, variant.rate)


def flags(made: Recording, variant: Variant) -> str:
    """Return the mode and the faults that the estimator tells of, in words."""
    estimator = GroundReactionEstimator(made.model, made.config, {'rate': made.rate})
    modes, faults = set(), Fault.NONE
    for measurement in islice(made.measurements(**variant.measured), TOLD):
        r = estimator.update(measurement)
        if r.mode is not Mode.UNAVAILABLE:
            modes.add(r.mode.name)
            faults |= r.faults
    return ', '.join([*sorted(modes), *([] if faults is Fault.NONE else [str(faults.name)])])
