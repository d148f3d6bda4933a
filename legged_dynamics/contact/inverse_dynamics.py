# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Contact inverse dynamics: which ground reactions explain a motion.

A floating base has no actuator, so the wrench that Newton-Euler asks for at the base,
``b = [f; m]``, must come from the feet: ``A w = b`` (source 004). Six equations; a flat foot
brings six unknowns, a point foot three.

===============================  ======  ======================================================
feet on the ground               rank A  answer
===============================  ======  ======================================================
none                             0       airborne; ``b`` is the residual
one flat foot                    6       unique, ``w = J_root^-T b``
one point foot                   3       least squares; the rest of ``b`` is the residual
two point feet, or collinear     5       least squares; no moment about their line, and the
                                         squeeze along it is chosen
three or more point feet         6       null space chosen
several flat feet                6       null space of dimension 6 (k - 1) chosen
===============================  ======  ======================================================

The null space is chosen either nearest to a guess (``|w - w_guess|``), or for the smallest
contact moment, ``sum |m_i|^2 + L^2 |f_i|^2`` with ``L = 0.1 m``, about each foot's reference.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    N_FOOT_STATE,
    REFERENCE,
    SIZE,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import FORCE, body_workspace
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel

# Singular values below this fraction of the largest are zero. Lengths are scaled by L first.
RANK_TOLERANCE = 1e-8


class Support(Enum):
    """How far the feet on the ground determine their wrenches."""

    AIRBORNE = 'no foot is on the ground: no reaction, the residual is what the motion lacks'
    UNIQUE = 'the feet can carry every motion in exactly one way'
    REDUNDANT = 'the feet can carry every motion in many ways, of which one was chosen'
    DEFICIENT = 'the feet cannot carry every motion: least squares, see the root residual'
    DEFICIENT_REDUNDANT = ('the feet cannot carry every motion (least squares, see the root '
                           'residual), and squeeze between them was chosen')


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """
    Ground reactions and joint efforts of one instant.

    Attributes
    ----------
    wrench : (nf, 6) array [N, N m]
        Ground on robot, ``[f; m]`` in each foot's axes about its frame's origin; zero for a foot
        off the ground.
    joint_effort : (nv,) array [N m or N]
        What the motors deliver, in the model's joint order.
    root_residual : (6,) array [N, N m]
        Wrench on the base that no foot can explain, in base axes about its origin.
    rank : int
        Of the map from contact coordinates to the base's wrench.
    nullity : int
        Number of directions of `wrench` that the motion says nothing about.
    support : Support

    """

    wrench: np.ndarray
    joint_effort: np.ndarray
    root_residual: np.ndarray
    rank: int
    nullity: int
    support: Support


class ContactInverseDynamics:
    """
    Contact inverse dynamics of one robot on given feet.

    Parameters
    ----------
    model : RobotModel
    feet : sequence of PointFoot or FlatFoot
    length_scale : float [m]
        ``L``: how many newtons of force weigh as much as a newton metre of moment.
    reference : {'sole', 'frame'}
        Where a flat foot's moment is taken: the middle of its sole, or its link's frame, which
        is what Nimble minimises about.

    Raises
    ------
    ConfigurationError
        When an option is out of range, or the model's base is fixed.
    UnknownNameError
        When a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], *, length_scale: float = 0.1,
                 reference: str = 'sole'):
        if not model.floating:
            raise ConfigurationError(
                'contact inverse dynamics needs a floating base, got a model with a fixed one. '
                'Its joint efforts are what inverse_dynamics returns.')
        if reference not in ('sole', 'frame'):
            raise ConfigurationError(f"expected reference 'sole' or 'frame', got {reference!r}")
        if not length_scale > 0.0:
            raise ConfigurationError(f'expected a length scale above 0 m, got {length_scale}')
        self.model = model
        self.feet = tuple(feet)
        self.length_scale = float(length_scale)
        self._table = feet_table(model, feet)
        if reference == 'frame':
            self._table.geometry[:, REFERENCE:REFERENCE + 3] = 0.0

    def solve(self, motion: Motion, *, in_contact: Sequence[bool] | None = None,
              guess: np.ndarray | None = None,
              ground_normal: Sequence[float] = (0.0, 0.0, 1.0)) -> ContactSolution:
        """
        Return the ground reactions that explain a motion.

        Parameters
        ----------
        motion : Motion
            Joints in the model's order; the base in its own axes, gravity included.
        in_contact : (nf,) sequence of bool, optional
            Feet on the ground; all by default.
        guess : (nf, 6) array, optional [N, N m]
            Wrenches in the feet's frames to stay near to. Without it, contact moments are made
            small.
        ground_normal : (3,) sequence
            Unit normal of the ground in base axes; it places the contact point of a ball.

        Raises
        ------
        MeasurementError
            When the motion, the guess or the contact flags do not fit the robot.

        """
        motion = motion.checked(self.model)
        nf = len(self.feet)
        on = np.ones(nf, bool) if in_contact is None else np.asarray(in_contact, bool)
        if on.shape != (nf,):
            raise MeasurementError(f'expected {nf} contact flags, got shape {on.shape}')
        bodies, tau = body_workspace(self.model), np.zeros(self.model.nv)
        newton_euler(self.model.tree, motion.position, motion.velocity, motion.acceleration,
                     motion.base.packed(), bodies, tau)
        b = bodies[0, FORCE:FORCE + 6].copy()
        states, grasp, jacobian = self._contact_geometry(bodies, ground_normal)

        columns = self._columns(on)
        A = grasp[:, columns]
        w_guess = np.zeros(len(columns))
        weight = np.ones(len(columns))
        if guess is not None:
            w_guess = self._coordinates(guess, states)[columns]
        else:
            weight = self._weights()[columns]
        w, rank = _nearest(A, b, w_guess, weight, self.length_scale)
        full = np.zeros(self._table.size)
        full[columns] = w
        nullity = len(columns) - rank
        return ContactSolution(
            wrench=wrenches_in_feet(self._table, full, states),
            joint_effort=tau - jacobian.T @ full,
            root_residual=b - A @ w, rank=rank, nullity=nullity,
            support=_support(len(columns), rank, nullity))

    def _contact_geometry(self, bodies: np.ndarray, normal: Sequence[float]
                          ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = np.asarray(normal, float)
        if n.shape != (3,) or not abs(np.linalg.norm(n) - 1.0) < 1e-6:
            raise MeasurementError(f'expected a unit ground normal in base axes, got {normal}')
        states = np.zeros((len(self.feet), N_FOOT_STATE))
        grasp = np.zeros((6, self._table.size))
        jacobian = np.zeros((self._table.size, self.model.nv))
        contact_points(self._table, bodies, (n[0], n[1], n[2]), states)
        contact_map(self._table, states, grasp)
        contact_jacobians(self.model.tree, self._table, bodies, states, jacobian)
        return states, grasp, jacobian

    def _columns(self, on: np.ndarray) -> np.ndarray:
        return np.array([start + k for (_, start, size), there in zip(self._table.index, on)
                         if there for k in range(size)], dtype=int)

    def _weights(self) -> np.ndarray:
        """Diagonal of B: L^2 on forces, 1 on moments (checked page 5.2, eps = L^2)."""
        weight = np.ones(self._table.size)
        for _, start, _ in self._table.index:
            weight[start:start + 3] = self.length_scale ** 2
        return weight

    def _coordinates(self, guess: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Move wrenches from foot frames to contact coordinates."""
        guess = np.asarray(guess, float)
        if guess.shape != (len(self.feet), 6) or not np.isfinite(guess).all():
            raise MeasurementError(f'expected a finite guess of shape ({len(self.feet)}, 6), '
                                   f'got shape {guess.shape}')
        w = np.zeros(self._table.size)
        for (_, start, size), g, state in zip(self._table.index, guess, states):
            R, arm = _foot_axes(state)
            w[start:start + 3] = R @ g[:3]
            if size == 6:
                w[start + 3:start + 6] = R @ g[3:] - np.cross(arm, R @ g[:3])
        return w


def wrenches_in_feet(table: FeetTable, w: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Move (nc,) contact coordinates to (nf, 6) wrenches in the feet's frames."""
    wrenches = np.zeros((table.index.shape[0], 6))
    for i, state in enumerate(states):
        start, size = table.index[i, START], table.index[i, SIZE]
        R, arm = _foot_axes(state)
        force = w[start:start + 3]
        moment = np.cross(arm, force)
        if size == 6:
            moment = moment + w[start + 3:start + 6]
        wrenches[i, :3] = R.T @ force
        wrenches[i, 3:] = R.T @ moment
    return wrenches


def _foot_axes(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R_BF and the arm from the foot's origin to its contact point, in base axes."""
    return (state[FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3),
            state[CONTACT:CONTACT + 3] - state[FOOT_POSITION:FOOT_POSITION + 3])


def _nearest(A: np.ndarray, b: np.ndarray, w_guess: np.ndarray, weight: np.ndarray,
             length: float) -> tuple[np.ndarray, int]:
    """
    Minimise ``(w - w_guess)^T diag(weight) (w - w_guess)`` among the solutions of A w = b.

    Where there is none, among the least-squares solutions, moments divided by the length scale.
    """
    if A.shape[1] == 0:
        return w_guess, 0
    rows = np.array([1.0, 1.0, 1.0, *[1.0 / length] * 3])
    scale = 1.0 / np.sqrt(weight)
    U, s, Vt = np.linalg.svd(rows[:, None] * A * scale, full_matrices=False)
    rank = int((s > RANK_TOLERANCE * s[0]).sum())
    y = Vt[:rank].T @ ((U[:, :rank].T @ (rows * (b - A @ w_guess))) / s[:rank])
    return w_guess + scale * y, rank


def _support(unknowns: int, rank: int, nullity: int) -> Support:
    if unknowns == 0:
        return Support.AIRBORNE
    if rank == 6:
        return Support.REDUNDANT if nullity else Support.UNIQUE
    return Support.DEFICIENT_REDUNDANT if nullity else Support.DEFICIENT
