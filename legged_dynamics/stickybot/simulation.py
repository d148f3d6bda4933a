# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ClimbingSimulation: the planar robot on its wall, integrated, with its energy balance.

From one command to the next it integrates in adaptive steps, until a foot lets go. One step is
RODAS, an L-stable Rosenbrock method of order 4(3): Hairer and Wanner, Solving Ordinary
Differential Equations II, section VI.4, in the form that needs no matrix product per stage::

    (1/(h gamma) - J) U_i = f(t + a_i h, y + sum_j A_ij U_j) + sum_j C_ij/h U_j + g_i h f_t

For ``y = (z, v)``, ``f = (v, zdd(z, v))`` half of the unknowns can be eliminated, and the matrix
to factor is ``s 1 - J_v - J_z / s`` with ``s = 1/(h gamma)``, over the coordinates that are free
to move. A light limb on a damped hip settles within 0.2 ms while the robot takes a second for a
stride: the steps follow the stride once the limb has settled, for any stiffness.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, SimulationError
from legged_dynamics.optimization.factorizations import factorize_lu, solve_lu
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.adhesion import (
    HOLDS,
    PAD,
    PEELS,
    SLIPS,
    Adhesion,
    normal_loads,
    pad_failure,
)
from legged_dynamics.stickybot.model.dynamics import (
    DERIVATIVE,
    DRIFT,
    N_FLOWS,
    RHS,
    STAGES,
    STORED,
    TOTAL,
    Accelerations,
    accelerate,
    flow,
    jacobians,
    make_stepper,
    stored,
)
from legged_dynamics.stickybot.model.limb import (
    FORCE,
    LIMB,
    WORK,
    Coordinates,
    Machine,
    hip_deflections,
    limb_terms,
)
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    FootEventKind,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
    StickybotState,
    fitting,
    unloaded_state,
)

# -------------------------------------------------------------------------------------------------
# One step of RODAS.


GAMMA = 0.25
A = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [1.544, 0.0, 0.0, 0.0, 0.0],
    [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0]])
C = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [-5.6688, 0.0, 0.0, 0.0, 0.0],
    [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
    [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
    [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160, 0.0],
    [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054]])
ALPHA = np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0])
GAMMA_SUM = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])


class Limits(NamedTuple):
    """Of an integration."""

    position_error: float   # tolerated local error of positions [m, rad]
    velocity_error: float   # and of velocities [m/s, rad/s]
    longest_step: float     # s


@kernel
def _derive(machine, step, motion, z, v, after, out, forces):
    """Fill accelerations and, behind them, flows; rest positions are ``after`` [s] further on."""
    u = motion.spare[2]
    for j in range(motion.u.shape[0]):
        u[j] = motion.u[j] + after * motion.ud[j]
    accelerate(machine, step.work, motion.attached, Coordinates(z, v, u, motion.ud), out, forces)
    flow(machine, z, forces, out[z.shape[0]:])


@kernel
def _solve_stage(step, k, h, s, v_new, derivative):
    """Fill the unknowns of stage k: those of position, velocity and sums."""
    U, J_z, nz, drift = step.stages, step.by_position, v_new.shape[0], step.vectors[DRIFT]
    found, rhs = U[k], step.vectors[RHS]
    for j in range(found.shape[0]):
        found[j] = v_new[j] if j < nz else derivative[j - nz] + GAMMA_SUM[k] * h * drift[j - nz]
        for m in range(k):
            found[j] += C[k, m] / h * U[m, j]
    for i in range(nz):
        rhs[i] = found[nz + i]
        for j in range(nz):
            rhs[i] += J_z[i, j] * found[j] / s
    solve_lu(step.matrix, nz, step.pivots, rhs)
    for j in range(nz):
        found[nz + j] = rhs[j]
        found[j] = (found[j] + rhs[j]) / s
    # Nothing depends on the sums: their rows need no matrix.
    for q in range(nz, nz + N_FLOWS):
        for j in range(nz):
            found[nz + q] += J_z[q, j] * found[j] + step.by_velocity[q, j] * found[nz + j]
        found[nz + q] /= s


@kernel
def _rodas_step(machine, step, limits, h, motion):
    """
    Take one step of length h; return its error over the tolerance.

    ``motion`` holds accelerations and forces of the start; its ``spare`` gets the new position and
    velocity, ``sums`` work, loss and impulses, integrated by the same method to hold through
    unresolved transients. Feet on the wall neither accelerate nor move: their rows are zero.
    """
    z, v, z_new, v_new, nz = (motion.z, motion.v, motion.spare[0], motion.spare[1],
                              motion.z.shape[0])
    U, matrix, derivative = step.stages, step.matrix, step.vectors[DERIVATIVE]
    drift, forces, s = step.vectors[DRIFT], step.limb_forces, 1.0 / (h * GAMMA)
    # The v half after z has been eliminated; LU, because J_v and J_z are not symmetric.
    for i in range(nz):
        for j in range(nz):
            matrix[i, j] = -step.by_velocity[i, j] - step.by_position[i, j] / s
        matrix[i, i] += s
    factorize_lu(matrix, nz, step.pivots)
    # The accelerations are affine in the rest positions, so this quotient is exact.
    _derive(machine, step, motion, z, v, 0.5 * h, drift, forces)
    for j in range(drift.shape[0]):
        drift[j] = (drift[j] - motion.zdd[j]) / (0.5 * h)
    derivative[:] = motion.zdd      # the first stage is the state itself
    for k in range(STAGES):
        for j in range(nz):
            z_new[j], v_new[j] = z[j], v[j]
            for m in range(k):
                z_new[j] += A[k, m] * U[m, j]
                v_new[j] += A[k, m] * U[m, nz + j]
        if k > 0:
            _derive(machine, step, motion, z_new, v_new, ALPHA[k] * h, derivative, forces)
        _solve_stage(step, k, h, s, v_new, derivative)
    # The last stage is the difference of the orders 4 and 3: it completes the solution, and is
    # the error estimate.
    last = U[STAGES - 1]
    for q in range(N_FLOWS):
        motion.sums[q] = last[2 * nz + q]
        for m in range(STAGES - 1):
            motion.sums[q] += A[STAGES - 1, m] * U[m, 2 * nz + q]
    error = 0.0
    for j in range(nz):
        z_new[j] += last[j]
        v_new[j] += last[nz + j]
        error = max(error, abs(last[j]) / limits.position_error,
                    abs(last[nz + j]) / limits.velocity_error)
    # A step that is not finite must be rejected; comparisons with NaN are false.
    return error if math.isfinite(error) else math.inf


# -------------------------------------------------------------------------------------------------
# Steps of adaptive length, touchdown and failure of feet.


# Result of `_advance` in addition to HOLDS, SLIPS and PEELS of a foot.
STUCK = -1
SHORTEST_STEP = 1e-12   # s


class _MovingRobot(NamedTuple):
    """The moving robot: arrays that `_advance` changes in place."""

    z: np.ndarray           # (nz,)
    v: np.ndarray
    zdd: np.ndarray         # (nz + N_FLOWS,): accelerations, and how the totals flow
    u: np.ndarray           # (nz - 3,)
    ud: np.ndarray
    forces: np.ndarray      # (N, FORCE.width)
    normals: np.ndarray     # (N,) [N]
    attached: np.ndarray    # (N,) bool
    pad_angle: np.ndarray   # (N,) [rad]
    totals: np.ndarray      # (TOTAL.width,)
    peak: np.ndarray        # (N,) [N]: largest reaction of each foot since it was set to zero
    spare: np.ndarray       # (3, nz): new position, velocity and rest positions
    sums: np.ndarray        # (N_FLOWS,): what the last step added to the totals


def _make_motion(machine: Machine, nz: int) -> _MovingRobot:
    """Return the state of a robot for the integration, all feet off the wall."""
    n = machine.index.shape[0]
    return _MovingRobot(
        np.zeros(nz), np.zeros(nz), np.zeros(nz + N_FLOWS), np.zeros(nz - 3), np.zeros(nz - 3),
        np.zeros((n, FORCE.width)), np.zeros(n), np.zeros(n, bool), np.zeros(n),
        np.zeros(TOTAL.width), np.zeros(n), np.zeros((3, nz)), np.zeros(N_FLOWS))


@kernel
def _settle(machine, step, wall, motion):
    """Fill accelerations, flows, forces and normal loads of the present state."""
    _derive(machine, step, motion, motion.z, motion.v, 0.0, motion.zdd, motion.forces)
    normal_loads(machine, wall, motion.attached, motion.z, motion.forces, motion.normals)


@kernel
def _first_failure(pads, motion):
    """Return the first foot whose pad does not hold, and how it fails."""
    for i in range(motion.attached.shape[0]):
        if motion.attached[i]:
            how = pad_failure(pads[i], motion.pad_angle[i], motion.forces[i, FORCE.reaction],
                              motion.forces[i, FORCE.reaction + 1], motion.normals[i])
            if how != HOLDS:
                return i, how
    return -1, HOLDS


def _touch_down(machine: Machine, work: np.ndarray, i: int, motion: _MovingRobot) -> None:
    """
    Fix foot i where it is: a plastic impact of that limb alone.

    Springs transmit no impulse: ``M_qq qd+ = M_qf pd_f- + M_qq qd-``, for one rod
    ``A qd+ = m r x v- + I qd-``. Impulse, moment and lost energy are added to the totals.
    """
    size, start = 2 + int(machine.index[i, LIMB.n_links]), int(machine.index[i, LIMB.start])
    z, v, totals = motion.z, motion.v, motion.totals
    limb_terms(machine.index, machine.constants, work, i, z, v)
    M = np.tril(work[:size, WORK.mass_matrix:WORK.mass_matrix + size])
    M += np.tril(M, -1).T
    before, after = v[start:start + size].copy(), np.zeros(size)
    momentum = M @ before
    # The pinned foot takes the impulse; the angles keep their generalised momentum.
    after[2:] = np.linalg.solve(M[2:, 2:], momentum[2:])
    v[start:start + size] = after
    px, py = M[:2] @ after - momentum[:2]
    totals[TOTAL.struck] += 0.5 * (before @ momentum - after @ M @ after)
    totals[TOTAL.impulse] += px
    totals[TOTAL.impulse + 1] += py
    totals[TOTAL.angular_impulse] += z[start] * py - z[start + 1] * px
    motion.attached[i] = True


@kernel
def _advance(machine, step, wall, pads, limits, duration, h, motion):
    """
    Advance by at most ``duration``, in steps that begin with ``h`` [s], or until a foot detaches.

    Return `HOLDS`, `SLIPS`, `PEELS` or `STUCK`, the foot, the time, the next step [s] and their
    number. Rest positions move at constant rates; accelerations and forces must be those of
    `_settle`, also on return.
    """
    z, v, u, zdd, derivative = (motion.z, motion.v, motion.u, motion.zdd,
                                step.vectors[DERIVATIVE])
    z_new, v_new, u_new = motion.spare[0], motion.spare[1], motion.spare[2]
    elapsed, steps, foot = 0.0, 0, -1
    stale = True
    code = HOLDS
    while elapsed < duration:
        last = h >= 0.999 * (duration - elapsed)
        trial = duration - elapsed if last else min(h, limits.longest_step)
        # A refused step is tried again from the same state: its Jacobian still holds.
        if stale:
            jacobians(machine, step, motion.attached, Coordinates(z, v, u, motion.ud), zdd,
                      motion.forces)
            stale = False
        error = _rodas_step(machine, step, limits, trial, motion)
        # Local error goes with h^4: the exponent is -1/4, with a margin of 0.9, within [0.2, 5].
        factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.25))
        if error > 1.0:
            h = trial * factor
            if h < SHORTEST_STEP:
                code = STUCK
                break
            continue
        # The step before a command is often a short remainder, no guide for the next one.
        h = max(h, trial * factor) if last else trial * factor
        _derive(machine, step, motion, z_new, v_new, trial, derivative, motion.forces)
        for j in range(N_FLOWS):
            motion.totals[j] += motion.sums[j]
        z[:], v[:], u[:], zdd[:] = z_new, v_new, u_new[:u.shape[0]], derivative
        elapsed = duration if last else elapsed + trial
        steps += 1
        stale = True
        normal_loads(machine, wall, motion.attached, z, motion.forces, motion.normals)
        for i in range(motion.peak.shape[0]):
            size = math.hypot(motion.forces[i, FORCE.reaction],
                              motion.forces[i, FORCE.reaction + 1])
            motion.peak[i] = max(motion.peak[i], size)
        foot, code = _first_failure(pads, motion)
        if code != HOLDS:
            break
    return code, foot, elapsed, h, steps


# -------------------------------------------------------------------------------------------------
# Energy and momentum balance of a simulation.


@dataclass(frozen=True)
class EnergyBalance:
    """
    Energy and momentum in and out of the robot since the simulation began, and the residual.

    Attributes
    ----------
    work : float [J]
        Work of the actuators that move the rest positions.
    damped, struck : float [J]
        Lost in dampers and in plastic touchdowns.
    stored : float [J]
        Gain of kinetic, elastic and gravitational energy.
    energy_residual : float [J]
        ``stored - work + damped + struck``.
    momentum_residual : tuple of 2 floats [N s]
        Momentum less the impulses of wall and weight.
    angular_momentum_residual : float [N m s]
        The same for angular momentum about the wall frame's origin.

    """

    work: float
    damped: float
    struck: float
    stored: float
    energy_residual: float
    momentum_residual: tuple[float, float]
    angular_momentum_residual: float


# -------------------------------------------------------------------------------------------------
# The simulation.


# Tolerated error of a velocity over that of a position [1/s]: of the order of a limb's own decay.
VELOCITY_TOLERANCE = 3e3
FAILURES = {SLIPS: FootEventKind.SLIPPED, PEELS: FootEventKind.PEELED}


class ClimbingSimulation:
    """
    A robot on its wall, driven by commands.

    Feet come down where they are (plastic impact); a foot on the wall lets go when told to, or
    when its force leaves what its pad holds. It then stays off until the command has released
    and set it again.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    rest : RestPosition, optional
        Initial rest positions of hips and joints; the model's own unless given.
    state : StickybotState, optional
        At rest with unloaded springs, all feet on the wall, unless given.
    pads : Adhesion or sequence of Adhesion, optional
        Of all feet, or of each; without limit unless given.
    tolerance : float [m or rad]
        Local error of a position that a step may make; of a velocity it is 3000/s times that.
    longest_step : float [s]
        Of the integration.

    Raises
    ------
    ConfigurationError
        When an option is out of range.
    MeasurementError
        When state or rest positions do not fit the model.

    """

    def __init__(self, model: StickybotModel, rest: RestPosition | None = None,
                 state: StickybotState | None = None,
                 pads: Adhesion | Sequence[Adhesion] | None = None, *,
                 tolerance: float = 1e-7, longest_step: float = 0.01):
        if not (0.0 < tolerance <= 1e-3 and 0.0 < longest_step <= 1.0):
            raise ConfigurationError('expected a tolerance up to 1e-3 and a longest step up to '
                                     f'1 s, got {tolerance!r} and {longest_step!r}')
        self.model = model
        if pads is None or isinstance(pads, Adhesion):
            pads = (pads or Adhesion(),) * model.n_limbs
        if len(pads) != model.n_limbs:
            raise ConfigurationError(f'expected one pad, or {model.n_limbs} (one per limb), '
                                     f'got {len(pads)}')
        self.pads = tuple(pads)
        rest = rest or RestPosition.nominal(model)
        state = state or unloaded_state(model, rest=rest)
        self._pads = np.array([pad.packed() for pad in self.pads]).reshape(-1, PAD.width)
        self._limits = Limits(float(tolerance), VELOCITY_TOLERANCE * tolerance,
                              float(longest_step))
        self._next_step = 1e-5
        self._wall = np.array([model.body.height, model.wall.normal])
        self._motion = _make_motion(model.machine, model.nz)
        self._stepper = make_stepper(model)
        motion = self._motion
        motion.z[:], motion.v[:], motion.attached[:] = state.packed(model)
        motion.u[:] = rest.packed(model)[0]
        self._lost = np.zeros(model.n_limbs, bool)
        for i in np.flatnonzero(motion.attached):
            self._turn_pad(i)
        self.stamp_ns = 0
        self.n_steps = 0
        _settle(model.machine, self._stepper, self._wall, motion)
        self._start = self._stored()

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.stamp_ns * 1e-9

    @property
    def state(self) -> StickybotState:
        """The present state."""
        motion = self._motion
        return StickybotState.unpacked(self.model, motion.z, motion.v, motion.attached)

    @property
    def pose(self) -> np.ndarray:
        """Pose of the body, (3,) [m, m, rad]."""
        return self._motion.z[:3].copy()

    @property
    def attached(self) -> np.ndarray:
        """Feet on the wall, (N,) array of bool."""
        return self._motion.attached.copy()

    @property
    def reaction(self) -> np.ndarray:
        """Force of the wall on each foot now, (N, 2) [N], wall axes."""
        return self._motion.forces[:, FORCE.reaction:FORCE.reaction + 2].copy()

    @property
    def rest(self) -> RestPosition:
        """Present rest positions of hips and inner joints, and their rates."""
        u, ud, model = self._motion.u, self._motion.ud, self.model
        return RestPosition(u[model.hip_columns], ud[model.hip_columns], u[model.inner_columns],
                            ud[model.inner_columns])

    @property
    def forces(self) -> Accelerations:
        """Accelerations, hip forces and wall reactions now."""
        return Accelerations.unpacked(self.model, self._motion.zdd, self._motion.forces)

    @property
    def normal_loads(self) -> np.ndarray:
        """The wall's push on each foot, (N,) [N]; negative where the foot pulls."""
        return self._motion.normals.copy()

    @property
    def pad_angles(self) -> np.ndarray:
        """Directions of the pads in wall axes, (N,) [rad]; NaN for a pad without one."""
        return np.where(np.isnan(self._pads[:, -1]), np.nan, self._motion.pad_angle)

    @property
    def peak(self) -> np.ndarray:
        """Largest reaction of each foot since :meth:`reset_peak`, (N,) [N]."""
        return self._motion.peak.copy()

    def reset_peak(self) -> None:
        """Forget the largest reactions."""
        self._motion.peak[:] = 0.0

    @property
    def energy(self) -> EnergyBalance:
        """Energy and momentum since the start."""
        change, totals = self._stored() - self._start, self._motion.totals
        gain = float(change[STORED.kinetic] + change[STORED.potential])
        work, damped, struck = totals[[TOTAL.work, TOTAL.damped, TOTAL.struck]].tolist()
        missing = (change[STORED.momentum:STORED.momentum + 2]
                   - totals[TOTAL.impulse:TOTAL.impulse + 2])
        turning = change[STORED.angular_momentum] - totals[TOTAL.angular_impulse]
        return EnergyBalance(work, damped, struck, gain, gain - work + damped + struck,
                             (float(missing[0]), float(missing[1])), float(turning))

    def measure(self) -> StickybotMeasurement:
        """Return the measurement of the robot's sensors, without noise."""
        model, motion = self.model, self._motion
        hips = np.empty((model.n_limbs, 6))
        hip_deflections(model.machine, self._stepper.work, motion.z, motion.v, hips)
        inner = model.inner_columns + 3
        return StickybotMeasurement(
            self.stamp_ns, hips[:, :3], hips[:, 3:], float(motion.z[2]), float(motion.v[2]),
            motion.z[inner], motion.v[inner])

    def push(self, velocity: np.ndarray) -> None:
        """
        Change the body's velocity at once, as an impact does; the energy balance starts again.

        ``velocity`` (3,) [m/s, m/s, rad/s]: change of the body's velocity, wall axes.
        """
        self._motion.v[:3] += fitting(velocity, (3,), 'a change of the body velocity')
        _settle(self.model.machine, self._stepper, self._wall, self._motion)
        self._motion.totals[:] = 0.0
        self._start = self._stored()

    def release(self, limb: str) -> FootEvent:
        """
        Make a foot let go, as a failing pad does; it holds again when it is set again.

        Raises UnknownNameError when there is no such limb.
        """
        i = self.model.limb_index(limb)
        self._motion.attached[i], self._lost[i] = False, True
        _settle(self.model.machine, self._stepper, self._wall, self._motion)
        return FootEvent(self.stamp_ns, limb, FootEventKind.LOST)

    def step(self, command: StickybotCommand, duration: float) -> list[FootEvent]:
        """
        Follow a command for some time.

        Parameters
        ----------
        command : StickybotCommand
            Its rest positions are reached at the end of the duration.
        duration : float [s]
            How long.

        Returns
        -------
        list of FootEvent
            What happened to feet, in order of time.

        Raises
        ------
        MeasurementError
            When the command does not fit the model.
        SimulationError
            When the motion cannot be integrated.

        """
        model, motion = self.model, self._motion
        if not duration > 0.0:
            raise MeasurementError(f'expected a duration above 0 s, got {duration!r}')
        target = RestPosition(command.rest, joint=command.joint_rest).packed(model)[0]
        motion.ud[:] = (target - motion.u) / duration
        events = self._obey(command.attach)
        _settle(model.machine, self._stepper, self._wall, motion)
        done = 0.0
        while True:
            code, foot, elapsed, self._next_step, steps = _advance(
                model.machine, self._stepper, self._wall, self._pads, self._limits,
                duration - done, self._next_step, motion)
            done += elapsed
            self.n_steps += steps
            if code == HOLDS:
                break
            if code not in FAILURES:
                raise SimulationError(
                    f'the motion cannot be integrated any further at {self.time + done:.6f} s: '
                    'stiffness, damping or the command is beyond what double precision resolves')
            motion.attached[foot], self._lost[foot] = False, True
            events.append(FootEvent(self.stamp_ns + round(done * 1e9),
                                    model.limb_names[foot], FAILURES[code]))
            _settle(model.machine, self._stepper, self._wall, motion)
            if duration - done <= 1e-12:
                break
        motion.u[:] = target
        self.stamp_ns += round(duration * 1e9)
        return events

    def _obey(self, attach: np.ndarray) -> list[FootEvent]:
        wanted = np.asarray(attach, bool)
        model, motion = self.model, self._motion
        if wanted.shape != (model.n_limbs,):
            raise MeasurementError(f'expected {model.n_limbs} flags of feet that are to hold, '
                                   f'got shape {wanted.shape}')
        self._lost &= wanted
        events = []
        for i in np.flatnonzero((wanted & ~self._lost) != motion.attached):
            if motion.attached[i]:
                motion.attached[i] = False
                kind = FootEventKind.LIFTED_OFF
            else:
                _touch_down(model.machine, self._stepper.work, i, motion)
                self._turn_pad(i)
                kind = FootEventKind.TOUCHED_DOWN
            events.append(FootEvent(self.stamp_ns, model.limb_names[i], kind))
        return events

    def _turn_pad(self, i: int) -> None:
        direction = self.pads[i].direction
        self._motion.pad_angle[i] = 0.0 if direction is None else self._motion.z[2] + direction

    def _stored(self) -> np.ndarray:
        now, rate, motion = np.zeros(STORED.width), np.zeros(STORED.width), self._motion
        stored(self.model.machine, self._stepper.work,
               Coordinates(motion.z, motion.v, motion.u, motion.ud), motion.zdd, now, rate)
        return now
