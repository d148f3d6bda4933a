# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics: which ground reactions explain a motion.

There are four ways to share the wrench that the motion requires, of which a call takes one: the
closed form (`tick`), with measured joint torque, within friction cones, or both (`program_tick`).
The package's docstring says which wrenches which feet can carry.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.contact.batch import ContactBatch, solve_batch
from legged_dynamics.contact.conditions import UP, Conditions, as_inputs, move_references, refuse
from legged_dynamics.contact.program import FOOT, LIMITS, make_program, one_cone_a_foot
from legged_dynamics.contact.program_tick import program_tick
from legged_dynamics.contact.solution import ContactSolution, EquationWeights
from legged_dynamics.contact.tick import EASE, GUESS, MISFIT, STANDING, Memory, tick
from legged_dynamics.contact.uncertainty import (
    MotionNoise,
    WrenchUncertainty,
    shifted_models,
    shifted_motions,
)
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    contact_jacobians,
    feet_table,
)
from legged_dynamics.dynamics.motion import GRAVITY, Motion
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model.feet import MOMENT, Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import compile_only_for
from legged_dynamics.spatial.packed import pack

NO_EFFORT = np.zeros(0)
NEEDS_WEIGHTS = ('measured joint torque needs weights: give ContactInverseDynamics an '
                 'EquationWeights')

class ContactInverseDynamics:
    """
    Contact inverse dynamics of one robot on given feet, computed in memory of its own.

    The first one on a machine takes seconds to compile.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base. A fixed base goes only without feet, as motion then says
        nothing of their wrenches; known wrenches are `external`.
    feet : sequence of Foot
        None for plain inverse dynamics.
    length_scale : float [m]
        ``L``: a newton of force weighs as much as L newton metres of moment.
    reference : {'sole', 'frame'} or (nf, 3) array [m]
        Where a flat foot's moment is taken: the middle of its sole, its link's frame, which is
        what Nimble minimises about, or points in the feet's frames.
    friction : FrictionCone or sequence of them, optional
        Limits of the ground's forces, for all feet or for each. Normals are those of the ground
        and of the soles; a cone's own is not read. A cone of a point foot is a pyramid of its
        facets, that of a sole has four (Caron 2015); round ones: `ContactLimits`, over time.
    weights : EquationWeights, optional
        Variances of the equations; required for measured joint torque.

    Raises
    ------
    ConfigurationError
        When an option is out of range, or there are feet and the model's base is fixed.
    UnknownNameError
        When a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], *, length_scale: float = 0.1,
                 reference: str | np.ndarray = 'sole',
                 friction: FrictionCone | Sequence[FrictionCone] | None = None,
                 weights: EquationWeights | None = None):
        self.model = model
        self.feet = tuple(feet)
        self.length_scale = float(length_scale)
        self.weights = weights
        self.friction = one_cone_a_foot(friction, len(self.feet))
        table = feet_table(model, feet)
        move_references(table, reference)
        self._conditions = now = Conditions(model, table, self.length_scale)
        self.memory = now.memory
        self._shape = len(self.feet), model.floating
        self._integers, self._floats, self._results = now.integers, now.floats, now.results
        rest = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv), np.zeros(9)
        compile_only_for(tick, *rest, now.integers, now.floats, now.results)
        if self.friction or weights is not None:
            self.program = make_program(model, feet, self.friction, weights,
                                        (now.integers, now.floats, now.results))
            self._packed = pack(self.program)
            compile_only_for(program_tick, *rest, NO_EFFORT, self._packed)

    def solve(self, motion: Motion, *, effort: np.ndarray | None = None,
              in_contact: Sequence[bool] | None = None, guess: np.ndarray | None = None,
              ground_normal: Sequence[float] = UP,
              center_of_pressure: np.ndarray | None = None,
              external: Mapping[str, np.ndarray] | None = None) -> ContactSolution:
        """
        Return the ground reactions that explain a motion.

        Parameters
        ----------
        motion : Motion
            Joints in the model's order; the base in its own axes, gravity included.
        effort : (nv,) array, optional [N m or N]
            Measured joint torque, NaN where it is not known.
        in_contact : (nf,) sequence of bool, optional
            Feet on the ground; all by default.
        guess : (nf, 6) array, optional [N, N m]
            Wrenches in the feet's frames to stay near to. Without it, contact moments are made
            small.
        ground_normal : (3,) sequence
            Unit normal of the ground in base axes; it places the contact point of a ball.
        center_of_pressure : (nf, 3) array, optional [m]
            Points in the flat feet's frames about which contact moments are made small, so that
            each centre of pressure comes near its own; NaN leaves a foot its reference. Of a
            guess only the forces then count.
        external : mapping of link name to (6,) array, optional [N, N m]
            Other wrenches ``[f; m]`` on links, in link axes about the link's origin.

        Returns
        -------
        ContactSolution

        Raises
        ------
        MeasurementError
            When the motion, the guess or another condition does not fit the robot.
        ConfigurationError
            When joint torque is given, and no weights were.
        UnknownNameError
            When a link with an external wrench is not in the model.

        """
        return self.tick(motion.position, motion.velocity, motion.acceleration,
                         motion.base.packed(), effort, in_contact=in_contact, guess=guess,
                         ground_normal=None if ground_normal is UP else ground_normal,
                         center_of_pressure=center_of_pressure, external=external)

    def tick(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
             base: np.ndarray, effort: np.ndarray | None = None, *,
             in_contact: Sequence[bool] | None = None, guess: np.ndarray | None = None,
             ground_normal: Sequence[float] | None = None,
             center_of_pressure: np.ndarray | None = None,
             external: Mapping[str, np.ndarray] | None = None) -> ContactSolution:
        """
        Return the same as `solve`, with the least overhead of a call.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.
        velocity, acceleration : (nv,) array [rad/s, rad/s^2 or m/s, m/s^2]
            Velocities and accelerations of the joints.
        base : (9,) array [rad/s, rad/s^2, m/s^2]
            Angular velocity, angular acceleration and proper acceleration of the base, in base
            axes: `BaseMotion.packed`.
        effort, in_contact, guess, ground_normal, center_of_pressure, external
            As `solve` has them; each holds for this call alone.

        Returns
        -------
        ContactSolution

        Raises
        ------
        MeasurementError, ConfigurationError, UnknownNameError
            As `solve` does.

        """
        if (self._conditions.altered or in_contact is not None or ground_normal is not None
                or guess is not None or center_of_pressure is not None or external is not None):
            self._conditions.set(in_contact, ground_normal, guess, center_of_pressure, external)
        try:
            failure = self._run(position, velocity, acceleration, base, effort)
        except (TypeError, AttributeError):
            failure = MISFIT
        if failure:         # once more with converted inputs
            failure = self._run(*as_inputs(self.model, position, velocity, acceleration, base,
                                           effort))
        if failure:
            refuse(failure)
        return ContactSolution(self._results.copy(), self._shape)

    def batch(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
              base: np.ndarray, effort: np.ndarray | None = None, *,
              in_contact: np.ndarray | None = None, guess: np.ndarray | None = None,
              ground_normal: np.ndarray | None = None,
              center_of_pressure: np.ndarray | None = None,
              external: Mapping[str, np.ndarray] | None = None) -> ContactBatch:
        """
        Return the solutions of n instants in one call.

        Parameters
        ----------
        position, velocity, acceleration, base, effort : arrays
            As `tick` has them, with n rows.
        in_contact : (n, nf) array of bool, optional
            Feet on the ground; all by default.
        guess : (n, nf, 6) array, optional [N, N m]
            Wrenches in the feet's frames to stay near to.
        ground_normal : (n, 3) or (3,) array, optional
            Unit normals in base axes.
        center_of_pressure, external
            As `solve` has them, the same for all instants.

        Returns
        -------
        ContactBatch

        Raises
        ------
        MeasurementError
            When a shape does not fit or a value is not finite; the message says which instant.

        """
        self._conditions.set_for_samples(center_of_pressure, external)
        if effort is not None and self.weights is None:
            raise ConfigurationError(NEEDS_WEIGHTS)
        program = None if effort is None and not self.friction else self._packed
        motion = position, velocity, acceleration, base
        return ContactBatch(solve_batch(self._conditions, program, motion, effort, in_contact,
                                        guess, ground_normal), self._shape)

    def uncertainty(self, motion: Motion, noise: MotionNoise, *,
                    effort: np.ndarray | None = None, **conditions: Any) -> WrenchUncertainty:
        """
        Return error bars of the wrenches of an instant, and the undetermined directions.

        Parameters
        ----------
        motion : Motion
            As `solve` takes it.
        noise : MotionNoise
            Errors of motion, torque and model.
        effort : (nv,) array, optional [N m or N]
            Measured joint torque.
        **conditions
            As `solve` has them: in_contact, guess, ground_normal, center_of_pressure, external.

        Returns
        -------
        WrenchUncertainty

        """
        return wrench_uncertainty(self, motion, noise, effort, conditions)

    def problem(self, motion: Motion, *, effort: np.ndarray | None = None, **conditions: Any
                ) -> InstantProblem:
        """
        Return the ground-force problem of an instant; `solve` has its solution sooner.

        It has error bars also where limits are active (``.problem.solve().covariance``) and takes
        further rows and limits (``.problem.with_rows(...)``). Error bars rely on the stated
        weights; without measured torque they are those of a force as large as the robot's weight.

        Parameters
        ----------
        motion, effort, **conditions
            As `solve` has them.

        Returns
        -------
        InstantProblem

        """
        solution = self.solve(motion, effort=effort, **conditions)
        return instant_problem(self, solution, effort, conditions.get('guess') is not None)

    def _run(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
             base: np.ndarray, effort: np.ndarray | None) -> int:
        if effort is None and not self.friction:
            return tick(position, velocity, acceleration, base, self._integers, self._floats,
                        self._results)
        if effort is None:
            effort = NO_EFFORT
        elif self.weights is None:
            raise ConfigurationError(NEEDS_WEIGHTS)
        return program_tick(position, velocity, acceleration, base, effort, self._packed)


# -------------------------------------------------------------------------------------------------
# Variances of the equations of motion, from stated noise.


def equation_weights(model: RobotModel, noise: MotionNoise, motion: Motion, *,
                     prior_force: float = 1000.0, prior_moment: float = 100.0
                     ) -> EquationWeights:
    """
    Return the variances of the equations of base and joints under stated noise.

    Parameters
    ----------
    model : RobotModel
        The robot.
    noise : MotionNoise
        Errors of measurements and model.
    motion : Motion
        The variances hold for motions like this one.
    prior_force, prior_moment : float [N, N m]
        Standard deviation of every component of a wrench before anything is measured.

    Returns
    -------
    EquationWeights

    Raises
    ------
    ConfigurationError
        When an equation has no noise at all.

    """
    solver = ContactInverseDynamics(model, [])

    def answer() -> np.ndarray:
        found = solver.solve(motion)
        return np.concatenate([found.root_residual, found.joint_effort])

    shifted = solver.batch(*shifted_motions(model, motion, noise))
    pairs = np.hstack([shifted.root_residual, shifted.joint_effort])
    half = len(pairs) // 2
    moves = np.vstack([shifted_models(solver.memory, noise, answer),
                       (pairs[:half] - pairs[half:]) / 2.0])
    variance = (moves ** 2).sum(axis=0)
    return EquationWeights(variance[:6], variance[6:] + noise.of('effort', model.nv) ** 2,
                           prior_force, prior_moment)


# -------------------------------------------------------------------------------------------------
# The ground-force problem of an instant, open: for error bars within limits and for additional
# rows and limits. `program_tick` solves the same in a few microseconds.


@dataclass(frozen=True, eq=False)
class InstantProblem:
    """
    A ground-force problem, and the maps from its unknowns to the feet's wrenches.

    Attributes
    ----------
    problem : GroundForceProblem
        Unknown are the contact coordinates of the feet on the ground, foot after foot, base axes.
        First come the six rows of the base, then those of joints whose torque was given.
    to_wrench : (6 nf, nc) array
        Map to the wrenches ``[f; m]`` in the feet's frames, foot after foot.
    from_wrench : (nc, 6 nf) array
        And back.
    moments : (nc,) bool array
        Which unknowns are moments.
    jacobian : (nc, nv) array
        Jacobian of the contacts: joints deliver ``jacobian.T @ w`` less than without the ground.

    """

    problem: GroundForceProblem
    to_wrench: np.ndarray
    from_wrench: np.ndarray
    moments: np.ndarray
    jacobian: np.ndarray

    def wrenches(self, coordinates: np.ndarray) -> np.ndarray:
        """
        Return the wrenches of contact coordinates.

        Parameters
        ----------
        coordinates : (nc,) array [N, N m]
            A solution of the problem.

        Returns
        -------
        (nf, 6) array [N, N m]
            In the feet's frames.

        """
        return (self.to_wrench @ coordinates).reshape(-1, 6)


def instant_problem(solver: ContactInverseDynamics, solution: ContactSolution,
                    effort: np.ndarray | None, guessed: bool) -> InstantProblem:
    """Return the problem of the instant that the solver solved last."""
    memory = solver.memory
    to_wrench, from_wrench, A, moments = _contact_maps(memory)
    on = memory.feet.index[memory.feet.rows.foot, STANDING] != 0
    J = np.zeros((len(on), solver.model.nv))
    contact_jacobians(memory.tree, memory.feet, memory.bodies, memory.states, J)
    J = J[on]
    w = from_wrench @ solution.wrench.ravel()
    required, free = A @ w + solution.root_residual, solution.joint_effort + J.T @ w
    guess = np.zeros(len(w))
    if guessed:
        guess = from_wrench @ memory.states[:, GUESS:GUESS + 6].ravel()
    if effort is not None and solver.weights is not None:
        spread = np.where(moments, solver.weights.prior_moment, solver.weights.prior_force)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(
            A, required, solver.weights.base)
        known = np.isfinite(np.asarray(effort, float)) & J.any(axis=0)
        problem = problem.with_rows(J[:, known].T, (free - effort)[known],
                                    np.asarray(solver.weights.joint, float)[known])
    else:
        # The base's equations are exact; the prior chooses among what they leave open.
        weight = solver.model.total_mass * GRAVITY
        spread = weight * np.where(moments, memory.settings[EASE] ** -0.5, 1.0)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(A, required)
    return InstantProblem(problem.with_limits(*_limits(solver)), to_wrench, from_wrench, moments,
                          J)


def _limits(solver: ContactInverseDynamics) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d`` for the feet on the ground, as the solver's kernel has them."""
    feet = solver.memory.feet
    on = feet.index[feet.rows.foot, STANDING] != 0
    if not solver.friction:
        return np.zeros((0, int(on.sum()))), np.zeros(0)
    qp, foot = solver.program.qp, solver.program.templates[:, FOOT].astype(int)
    standing = LIMITS + np.flatnonzero(feet.index[foot, STANDING])
    return qp.C[standing][:, on], qp.d[standing]


def _contact_maps(memory: Memory) -> tuple[np.ndarray, ...]:
    """
    Return maps of the nc contact coordinates of feet on the ground, of the instant solved last.

    To all wrenches (6 nf, nc), from them (nc, 6 nf), to the base's wrench (6, nc), and which
    coordinates are moments (nc,).
    """
    rows, states = memory.feet.rows, memory.states
    R = states[:, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(-1, 3, 3)
    points = states[:, CONTACT:CONTACT + 3]
    on = np.flatnonzero(memory.feet.index[rows.foot, STANDING])
    foot, moments = rows.foot[on], rows.kind[on] == MOMENT
    # Axis and arm of each coordinate in its foot's frame.
    axis = np.einsum('nji,nj->ni', R[foot], rows.axes(R)[on])
    arm = np.einsum('nji,nj->ni', R[foot],
                    (points - states[:, FOOT_POSITION:FOOT_POSITION + 3])[foot])
    shift, none = np.cross(arm, axis), np.zeros_like(axis)
    is_moment = moments[:, None]
    to = np.hstack([np.where(is_moment, none, axis), np.where(is_moment, axis, shift)])
    back = np.hstack([np.where(is_moment, shift, axis), np.where(is_moment, axis, none)])
    to_wrench = np.zeros((len(R), 6, len(on)))
    from_wrench = np.zeros((len(on), len(R), 6))
    to_wrench[foot, :, np.arange(len(on))] = to
    from_wrench[np.arange(len(on)), foot] = back
    return (to_wrench.reshape(-1, len(on)), from_wrench.reshape(len(on), -1),
            memory.feet.grasp(R, points)[:, on], moments)


# -------------------------------------------------------------------------------------------------
# Error bars.


# A direction is observed when its variance is below this part of the prior's.
OBSERVED = 0.05
# Relative size of a singular value below which feet cannot carry a wrench.
UNSEEN = 1e-6
# Part of a component that may lie in unobserved directions for it to count as observed.
NEGLIGIBLE = 1e-6


def wrench_uncertainty(solver: ContactInverseDynamics, motion: Motion, noise: MotionNoise,
                       effort: np.ndarray | None, conditions: dict[str, Any]
                       ) -> WrenchUncertainty:
    """Return the error bars of a solver's wrenches: `ContactInverseDynamics.uncertainty`."""
    feet = tuple(foot.link for foot in solver.feet)

    def answer(measured: np.ndarray | None = effort) -> np.ndarray:
        return solver.solve(motion, effort=measured, **conditions).wrench.ravel().copy()

    moves = np.vstack([shifted_models(solver.memory, noise, answer),
                       _moved_by_motion(solver, motion, noise, effort, conditions)])
    if effort is not None:
        moves = np.vstack([moves, _moved_by_effort(solver, noise, np.asarray(effort, float),
                                                   answer)])
    instant = solver.problem(motion, effort=effort, **conditions)
    to_wrench, from_wrench = instant.to_wrench, instant.from_wrench
    if effort is None or solver.weights is None:
        scale = np.where(instant.moments, solver.length_scale, 1.0)
        unseen = _null_space(instant.problem.rows[:6] * scale)
    else:
        scale = np.sqrt(instant.problem.covariance.diagonal())
        known = instant.problem.without_limits().solve().covariance / np.outer(scale, scale)
        variance, directions = np.linalg.eigh(known)
        unseen = directions[:, variance > OBSERVED]
    seen = scale[:, None] * (np.eye(len(scale)) - unseen @ unseen.T) / scale
    moves = moves @ (to_wrench @ seen @ from_wrench).T
    directions = to_wrench @ (scale[:, None] * unseen)
    size = np.linalg.norm(to_wrench * scale, axis=1)
    observable = (np.linalg.norm(directions, axis=1) <= NEGLIGIBLE * size).reshape(-1, 6)
    deviation = np.linalg.norm(moves, axis=0).reshape(-1, 6)
    return WrenchUncertainty(feet, moves.T @ moves, directions, observable,
                             np.where(observable, deviation, np.inf))


def _null_space(A: np.ndarray) -> np.ndarray:
    _, s, Vt = np.linalg.svd(A)
    return Vt[int((s > UNSEEN * s[:1].sum()).sum()):].T


def _moved_by_motion(solver: ContactInverseDynamics, motion: Motion, noise: MotionNoise,
                     effort: np.ndarray | None, conditions: dict[str, Any]) -> np.ndarray:
    shifted = shifted_motions(solver.model, motion, noise)
    pairs = len(shifted[0])
    of_each = {'effort': effort, 'in_contact': conditions.get('in_contact'),
               'guess': conditions.get('guess')}
    given: dict[str, Any] = {
        key: None if value is None else np.broadcast_to(value, (pairs, *np.shape(value)))
        for key, value in of_each.items()}
    rest = {key: value for key, value in conditions.items() if key not in given}
    q, v, a, base = shifted
    wrench = solver.batch(q, v, a, base, **given, **rest).wrench.reshape(pairs, -1)
    return (wrench[:pairs // 2] - wrench[pairs // 2:]) / 2.0


def _moved_by_effort(solver: ContactInverseDynamics, noise: MotionNoise, effort: np.ndarray,
                     answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    steps = np.diag(noise.of('effort', solver.model.nv))
    known = np.isfinite(effort) & steps.any(axis=1)
    moves = [(answer(effort + step) - answer(effort - step)) / 2.0 for step in steps[known]]
    return np.array(moves).reshape(len(moves), 6 * len(solver.feet))
