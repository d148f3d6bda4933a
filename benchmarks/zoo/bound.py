# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What no estimator can beat: the Cramer-Rao bound of a whole run, true contacts and motion known.

All samples of a run are one linear problem, ``H_t f_t + C_t theta = r_t + white noise``: rows of
the base and of the joints, forces of the feet at every instant, and theta what lasts: the gain and
the offset of every joint's torque and the accelerometer's bias, with their deviations as prior.
Forces are eliminated instant by instant; what is left of theta bounds them all.
"""
from __future__ import annotations

import numpy as np

from benchmarks.zoo.peers import Twin
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.sensors import FIELD

BLOCK = 0.1             # s over which forces are taken for constant and white noise averages
BASE = 1e-4             # of the weight: error of the base's rows, for the sake of numbers


def bound(recording: Recording) -> float:
    """
    Return the smallest rms error of the forces of the feet, % of the weight.

    Parameters
    ----------
    recording : Recording
        In which every foot stands all the time, with the field's noise.

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
    variance[twin.iv] = (FIELD['effort'] * limit) ** 2 / samples
    whiten = 1.0 / np.sqrt(variance)[:, None]
    information = np.diag(np.concatenate([
        np.full(nj, FIELD['effort_gain'] ** -2), (FIELD['effort_offset'] * limit) ** -2,
        np.full(3, FIELD['accelerometer_bias'] ** -2)]))
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
