# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Every URDF below a folder, read by us and by Pinocchio, compared on random states.

``python -m benchmarks.compare_descriptions FOLDER [--markdown]``, where FOLDER is, for one, the
``robots`` folder of the PyPI package example-robot-data. Differences are relative to the largest
element of Pinocchio's.
"""
from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    frame_jacobian,
    inverse_dynamics,
    mass_matrix,
)
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model import RobotModel

STATES = 3


class Row(NamedTuple):
    """What came of one URDF; differences are NaN where one of the two does not read it."""

    name: str
    joints: int
    mimics: int
    notes: int
    seconds: float
    effort: float
    mass: float
    jacobian: float
    mimic: float
    said: str


def compare(path: Path, name: str, seed: int = 0) -> Row:
    """Return how a URDF is read, and how far the two are from each other."""
    ours, said, seconds, theirs = None, '', np.nan, None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            seconds = min(_timed(path) for _ in range(3))
            ours = RobotModel.from_urdf(path)
        except LeggedDynamicsError as error:
            said = f'refused: {str(error).replace(str(path), "").strip(": ")}'
    try:
        theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    except Exception:
        said += '; Pinocchio refuses it too' if ours is None else 'Pinocchio refuses it'
    nothing = (np.nan,) * 4
    if ours is None or theirs is None:
        joints, mimics, notes = ((0, 0, 0) if ours is None else
                                 (ours.n_joints, len(ours.mimics.joints), len(ours.warnings)))
        return Row(name, joints, mimics, notes, seconds, *nothing, said)
    found = np.max([_differences(ours, theirs, path, seed + k) for k in range(STATES)], axis=0)
    return Row(name, ours.n_joints, len(ours.mimics.joints), len(ours.warnings), seconds,
               *found.tolist(), said)


def _timed(path: Path) -> float:
    start = time.process_time()
    RobotModel.from_urdf(path)
    return time.process_time() - start


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / max(float(np.abs(theirs).max()), 1e-300))


def _differences(model: RobotModel, twin: pin.Model, path: Path, seed: int) -> tuple[float, ...]:
    rng = np.random.default_rng(seed)
    zero = dict.fromkeys(model.joint_names, 0.0)        # Pinocchio's rnea has no friction
    model = model.with_joint_physics(damping=zero, friction=zero)
    q = model.mimics.positions(rng.uniform(-1.5, 1.5, model.nq))
    v, a = (model.mimics.rates(rng.normal(size=model.nv)) for _ in range(2))
    xyzw = rng.normal(size=4)
    xyzw /= np.linalg.norm(xyzw)
    twist, acceleration = rng.normal(size=6), rng.normal(size=6)
    base = BaseMotion.from_twist(twist, acceleration, xyzw)
    columns, Q, V, A = _laid_out(model, twin, q, v, a, xyzw, twist, acceleration)
    found = inverse_dynamics(model, Motion(q, v, a, base))
    effort = np.concatenate([found.base_wrench, found.joint_effort])
    data = twin.createData()
    gap = _relative(effort, pin.rnea(twin, data, Q, V, A)[columns])
    M = mass_matrix(model, q)
    theirs = pin.crba(twin, data, Q)
    theirs = (np.triu(theirs) + np.triu(theirs, 1).T)[np.ix_(columns, columns)]
    level = Q.copy()
    level[3:7] = 0.0, 0.0, 0.0, 1.0
    pin.computeJointJacobians(twin, data, level)
    pin.updateFramePlacements(twin, data)
    jacobian = 0.0
    for link in list(model.links)[::max(1, len(model.links) // 12)]:
        if not twin.existBodyName(link):
            continue
        J = pin.getFrameJacobian(twin, data, twin.getBodyId(link),
                                 pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, columns]
        jacobian = max(jacobian, _relative(frame_jacobian(model, q, link), J))
    return gap, _relative(M, theirs), jacobian, _mimic_gap(model, path, q, effort, M, Q, V, A)


def _laid_out(model: RobotModel, twin: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
              xyzw: np.ndarray, twist: np.ndarray, acceleration: np.ndarray
              ) -> tuple[np.ndarray, ...]:
    """Return where our velocities stand in Pinocchio's, and its vectors."""
    columns, Q = list(range(6)), pin.neutral(twin)
    V, A = np.zeros(twin.nv), np.zeros(twin.nv)
    Q[3:7], V[:6], A[:6] = xyzw, twist, acceleration
    for k, name in enumerate(model.joint_names):
        joint = twin.joints[twin.getJointId(name)]
        if joint.idx_v < 6:
            continue
        columns.append(joint.idx_v)
        angle = [np.cos(q[k]), np.sin(q[k])] if joint.nq == 2 else [q[k]]
        Q[joint.idx_q:joint.idx_q + joint.nq] = angle
        V[joint.idx_v], A[joint.idx_v] = v[k], a[k]
    return np.array(columns), Q, V, A


def _mimic_gap(model: RobotModel, path: Path, q: np.ndarray, effort: np.ndarray, M: np.ndarray,
               Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> float:
    """Return how far efforts and masses of the free joints are from Pinocchio's with mimics."""
    if not model.mimics.joints:
        return 0.0
    try:
        twin = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), True)
    except ValueError:      # where a master is not there, or comes later in the tree
        return np.nan
    names = [model.joint_names[k] for k in model.mimics.free]
    columns, q2 = [*range(6)], pin.neutral(twin)
    v2, a2 = np.zeros(twin.nv), np.zeros(twin.nv)
    q2[:7], v2[:6], a2[:6] = Q[:7], V[:6], A[:6]
    full = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    for name in names:
        here, there = twin.joints[twin.getJointId(name)], full.joints[full.getJointId(name)]
        columns.append(here.idx_v)
        q2[here.idx_q:here.idx_q + here.nq] = Q[there.idx_q:there.idx_q + there.nq]
        v2[here.idx_v], a2[here.idx_v] = V[there.idx_v], A[there.idx_v]
    G = model.mimics.matrix(6)
    data = twin.createData()
    tau = pin.rnea(twin, data, q2, v2, a2)[columns]
    masses = pin.crba(twin, data, q2)
    masses = (np.triu(masses) + np.triu(masses, 1).T)[np.ix_(columns, columns)]
    return max(_relative(G.T @ effort, tau), _relative(G.T @ M @ G, masses))


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--markdown', action='store_true')
    args = parser.parse_args(arguments)
    rows = [compare(path, str(path.relative_to(args.folder)))
            for path in sorted(args.folder.rglob('*.urdf'))]
    read = [row for row in rows if not row.said]
    if not read:
        print(f'expected URDFs below {args.folder}, could read none of {len(rows)}',
              file=sys.stderr)
        return 2
    if args.markdown:
        print('| URDF | joints | mimics | notes | load, ms | efforts | masses | Jacobians | '
              'as mimics |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|')
    for row in rows:
        values = [f'{value:.0e}' if np.isfinite(value) else '' for value in row[5:9]]
        if not row.mimics:
            values[-1] = ''
        if row.said:
            values[0] = row.said
        cells = [row.name, str(row.joints), str(row.mimics or ''), str(row.notes or ''),
                 f'{1e3 * row.seconds:.0f}' if np.isfinite(row.seconds) else '', *values]
        print(f'| {" | ".join(cells)} |' if args.markdown else '  '.join(cells))
    print(f'\n{len(read)} of {len(rows)} read; largest difference '
          f'{np.nanmax([row[5:9] for row in read]):.1e}; slowest load '
          f'{1e3 * max(row.seconds for row in read):.0f} ms')
    return 0


if __name__ == '__main__':
    sys.exit(main())
