# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of joint states: each sample against the one before it and against physics.

A position that jumps further than its velocities explain leaves an offset behind; until a jump
back has taken it away (a spike), the joint is not believed, however long it stays. A slow
disagreement of position and velocity adds up in a leaky sum. Values that repeat themselves to the
last bit mean a frozen sensor only where the same joint, when still, was seen to be noisy.

Where a fault tells which half of a reading is wrong, the other half replaces it for as long as it
takes to let the robot down: a position by the integral of the velocity, a velocity by the change
of the position.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.settings import SafetySettings
from legged_dynamics.spatial.jit import lean_kernel, part

# -------------------------------------------------------------------------------------------------
# Limits of each joint, from URDF and settings, in one table for the kernels.


# Columns of the table.
(EFFORT, SLEW, POWER, VELOCITY, BELIEVED, LOWER, UPPER, MARGIN, BRAKE, BRAKE_EFFORT, STIFFNESS,
 DAMPING, TOLERANCE, N_LIMITS) = range(14)


@dataclass(frozen=True)
class LimitSettings:
    """How limits of joints are made of URDF and `SafetySettings`."""

    slew_time: float = 0.01  # s from zero to an effort's limit, where no slew rate is given
    widest_margin: float = 0.1  # rad or m
    reading: float = 0.02  # rad or m by which a reading may be off
    reading_part: float = 0.05  # of the joint's range, when that is less
    # s; damping must not reverse a joint within a sample: damping times this stays below half of
    # the joint's own inertia
    sample: float = 0.002
    # rad or m by which a joint may stand outside its range before its zero or sign must be wrong
    outside: float = 0.1


LIMITS = LimitSettings()


def limit_table(model: RobotModel, joints: Sequence[str],
                settings: SafetySettings) -> np.ndarray:
    """
    Return the limits of joints (nj, 13), in the columns named in this module.

    Raises ConfigurationError for a missing or zero effort limit in the URDF: guessing is
    dangerous, and zero would mean a limp joint.
    """
    table = np.zeros((len(joints), N_LIMITS))
    inertia = _joint_inertias(model)
    for row, name in zip(table, joints):
        index = model.joint_index(name)
        joint = model.joints[index]
        if not 0.0 < joint.effort < math.inf:
            raise ConfigurationError(
                f'joint {name!r}: expected an effort limit above zero in the URDF '
                f'(<limit effort="..."/>), got {joint.effort:g}; without it no effort is safe')
        effort = settings.effort_fraction * joint.effort
        velocity = joint.velocity if 0.0 < joint.velocity < math.inf else settings.velocity
        bounded = joint.lower < joint.upper     # a URDF without limits has zero to zero
        span = joint.upper - joint.lower if bounded else math.inf
        steady = 0.5 * inertia[index] / LIMITS.sample
        row[EFFORT] = effort
        row[SLEW] = settings.slew_rate or joint.effort / LIMITS.slew_time
        row[POWER] = settings.power_fraction * joint.effort * velocity
        row[VELOCITY] = velocity
        row[BELIEVED] = settings.velocity_margin * velocity
        row[LOWER], row[UPPER] = (joint.lower, joint.upper) if bounded else (-math.inf, math.inf)
        row[MARGIN] = min(settings.position_margin * span, LIMITS.widest_margin)
        row[BRAKE] = min(settings.damping, steady) if settings.output == 'damping' else 0.0
        row[BRAKE_EFFORT] = settings.damping_effort * effort
        row[STIFFNESS] = settings.posture_stiffness * effort
        row[DAMPING] = min(settings.posture_damping * effort, steady)
        row[TOLERANCE] = min(LIMITS.reading, LIMITS.reading_part * span)
    return table


def _joint_inertias(model: RobotModel) -> np.ndarray:
    """Return the least inertia that each joint's own effort has to move."""
    low, high = np.nan_to_num(model.position_limits, posinf=1.0, neginf=-1.0).T
    least = np.full(model.n_joints, np.inf)
    for position in (np.zeros(model.nq), np.resize(0.5 * (low + high), model.nq)):
        inverse = np.linalg.pinv(mass_matrix(model, position))
        with np.errstate(divide='ignore'):
            least = np.minimum(least, 1.0 / np.diag(inverse)[-model.n_joints:])
    return np.where(np.isfinite(least) & (least > 0.0), least, 0.0)


# -------------------------------------------------------------------------------------------------


# Rows of the memory; of what is believed of a joint, and for how long half of it is replaced [s],
# the last three.
(Q, V, OFFSET, DRIFT, SEEN, LIVELY_Q, LIVELY_V, STUCK_Q, STUCK_V, COUNT_Q, COUNT_V, FAULT, SKIPPED,
 SLOW, BELIEVED_Q, BELIEVED_V, REPLACED, N_MEMORY) = range(18)
# Kinds of faults.
(PLAUSIBLE, TOO_FAST, JUMPED, DISAGREE, FROZEN_Q, FROZEN_V, NOT_FINITE, DRIFTS,
 FROZEN) = range(9)
REPEATS = 'of {name} is frozen: it repeats itself to the last bit'
FAULT_TEXTS = {
    TOO_FAST: '{name} is said to move at {speed:.4g} /s; its velocity limit is {limit:g}',
    JUMPED: 'the position of {name} jumped by {offset:+.3g}, further than its velocity explains',
    DISAGREE: 'position and velocity of {name} do not agree: one of them is wrong',
    FROZEN_Q: f'the position {REPEATS}', FROZEN_V: f'the velocity {REPEATS}',
    FROZEN: f'the reading {REPEATS}',
    NOT_FINITE: 'position is not finite: {name} = {place}',
    DRIFTS: 'the position of {name} drifts away from its velocity: encoder or velocity is wrong',
}


class CheckSettings(NamedTuple):
    """Settings of the comparison of samples; a NamedTuple, which kernels can read."""

    leak: float = 0.1  # s, of the sum of position less integrated velocity
    gap: float = 0.03  # s between samples in which nothing is known of the velocity
    drift: float = 2.5  # tolerances of a reading that the sum may reach
    # The same sum over a longer time, of joints that hardly move: an encoder that drifts.
    slow_leak: float = 4.0  # s
    slow_drift: float = 2.0  # tolerances of a reading that it may reach
    slow_speed: float = 0.3  # rad/s or m/s: faster joints add nothing to it
    # s from rest to the velocity limit: what a joint may do between samples; in a gap at once
    start_time: float = 0.3
    difference_time: float = 0.006  # s over which the velocity is taken from positions
    still: float = 0.05  # rad/s or m/s: a slower joint counts as still
    noise_weight: float = 0.005  # of a sample at rest, in the share of samples that differ
    noisy: float = 0.9  # share from which a sensor is known to be noisy: after 460 samples
    repeated: int = 5  # least number of equal samples of a frozen sensor
    faulty: float = 0.25  # part of the joints without which the others are still of use
    replaced: float = 5.0  # s; then an integral of the velocity is off by more than a reading


CHECK = CheckSettings()


@part
def _replace(limits, memory, j, q, v, dt, fault):
    """Store the reading to act on; where half of it is wrong, that is derived from the other."""
    before = memory[BELIEVED_V, j]
    memory[REPLACED, j] += dt
    if fault == PLAUSIBLE:
        memory[BELIEVED_Q, j], memory[BELIEVED_V, j], memory[REPLACED, j] = q, v, 0.0
    elif fault == TOO_FAST or fault == FROZEN_V:
        memory[BELIEVED_Q, j], memory[BELIEVED_V, j] = q, memory[SEEN, j]
    elif (fault != DISAGREE and fault != DRIFTS and fault != FROZEN
          and abs(v) <= limits[j, BELIEVED]):
        memory[BELIEVED_Q, j] += 0.5 * (before + v) * dt
        memory[BELIEVED_V, j] = v
        memory[SEEN, j] = 0.0       # the velocity has no second source
    else:
        memory[BELIEVED_Q, j] = memory[BELIEVED_V, j] = math.nan
    if memory[REPLACED, j] > CHECK.replaced:
        memory[BELIEVED_Q, j] = memory[BELIEVED_V, j] = math.nan


@lean_kernel
def _watch_joints(limits, memory, position, velocity, dt, frozen, found):
    """
    Compare a sample with the previous one; fill ``found`` with worst fault and joint.

    ``frozen`` [s]: after which a repeating sensor counts as frozen, 0: never.
    """
    found[0], found[1] = PLAUSIBLE, 0
    for j in range(len(position)):
        q, v = position[j], velocity[j]
        fault = PLAUSIBLE
        if not math.isfinite(q):
            # Nothing to compare: the next reading is compared with the last one that was finite.
            memory[SKIPPED, j] += dt
            memory[FAULT, j] = NOT_FINITE
            _replace(limits, memory, j, q, v, dt, NOT_FINITE)
            if found[0] == PLAUSIBLE:
                found[0], found[1] = NOT_FINITE, j
            continue
        step = dt + memory[SKIPPED, j]
        memory[SKIPPED, j] = 0.0
        if not abs(v) <= limits[j, BELIEVED]:
            fault = TOO_FAST
            v = memory[V, j]
        before = memory[V, j]
        moved = q - memory[Q, j]
        excess = moved - 0.5 * (before + v) * step
        allowed = (limits[j, TOLERANCE] + 0.5 * abs(v - before) * step + limits[j, VELOCITY] * step
                   * (1.0 if step > CHECK.gap else step / CHECK.start_time))
        if abs(excess) > allowed:
            memory[OFFSET, j] += excess
            if abs(memory[OFFSET, j]) <= allowed:
                memory[OFFSET, j] = 0.0
        else:
            # The velocity in a gap is unknown.
            change = excess if step <= CHECK.gap else 0.0
            memory[DRIFT, j] = (memory[DRIFT, j] + change) * math.exp(-step / CHECK.leak)
            if abs(v) > CHECK.slow_speed or abs(before) > CHECK.slow_speed:
                change = 0.0
            memory[SLOW, j] = (memory[SLOW, j] + change) * math.exp(-step / CHECK.slow_leak)
            share = 1.0 - math.exp(-step / CHECK.difference_time)
            if step > 0.0:
                memory[SEEN, j] += share * (moved / step - memory[SEEN, j])
        if memory[OFFSET, j] != 0.0:
            fault = JUMPED
        elif fault == PLAUSIBLE and abs(memory[DRIFT, j]) > CHECK.drift * limits[j, TOLERANCE]:
            fault = DISAGREE
        elif fault == PLAUSIBLE and abs(memory[SLOW, j]) > CHECK.slow_drift * limits[j, TOLERANCE]:
            fault = DRIFTS
        still = abs(v) < CHECK.still
        for field in range(2):
            same = velocity[j] == memory[V, j] if field else q == memory[Q, j]
            if same:
                memory[STUCK_Q + field, j] += step
                memory[COUNT_Q + field, j] += 1.0
                if (frozen > 0.0 and memory[STUCK_Q + field, j] >= frozen
                        and memory[COUNT_Q + field, j] >= CHECK.repeated
                        and memory[LIVELY_Q + field, j] > CHECK.noisy):
                    if fault == FROZEN_Q:
                        fault = FROZEN
                    elif fault == PLAUSIBLE:
                        fault = FROZEN_V if field else FROZEN_Q
            else:
                if still:
                    # Repeated samples are counted when the repetition ends.
                    kept = (1.0 - CHECK.noise_weight) ** memory[COUNT_Q + field, j]
                    memory[LIVELY_Q + field, j] *= kept
                    memory[LIVELY_Q + field, j] += CHECK.noise_weight * (
                        1.0 - memory[LIVELY_Q + field, j])
                memory[STUCK_Q + field, j] = 0.0
                memory[COUNT_Q + field, j] = 0.0
        memory[Q, j] = q
        if math.isfinite(velocity[j]) and abs(velocity[j]) <= limits[j, BELIEVED]:
            memory[V, j] = velocity[j]
        memory[FAULT, j] = fault
        _replace(limits, memory, j, q, velocity[j], dt, fault)
        if fault > 0 and found[0] == PLAUSIBLE:
            found[0], found[1] = fault, j


def one_a_joint(values: Any, count: int, what: str) -> np.ndarray:
    """Return values as contiguous floats (nj,) for the kernels, which trust the length."""
    try:
        array = np.ascontiguousarray(values, float)
    except (TypeError, ValueError):
        raise MeasurementError(f'expected {count} {what}, one a joint, got '
                               f'{type(values).__name__} that is no array of numbers') from None
    if array.shape != (count,):
        raise MeasurementError(f'expected {count} {what}, one a joint, got shape '
                               f'{np.shape(values)}')
    return array


class JointWatch:
    """
    Judges the joint states of one robot, sample by sample.

    ``limits`` from :func:`limit_table`; ``frozen`` [s]: longest repetition, 0: any;
    `one_bad`: exactly one joint's last reading has a fault.
    """

    def __init__(self, joints: Sequence[str], limits: np.ndarray, frozen: float):
        self._joints, self._limits, self._frozen = tuple(joints), limits, frozen
        self._memory = np.zeros((N_MEMORY, len(self._joints)))
        self._found = np.zeros(2, np.int64)
        self.position = self.velocity = np.zeros(len(self._joints))
        self._believed = np.zeros((2, len(self._joints)))
        self.reset()

    def reset(self) -> None:
        """Forget the last sample; the noise learnt of the sensors is kept."""
        self._memory[[OFFSET, DRIFT, SEEN, STUCK_Q, STUCK_V, COUNT_Q, COUNT_V, FAULT,
                      SKIPPED, SLOW, REPLACED]] = 0.0
        self._stamp_ns: int | None = None
        self._dt = 0.0
        self.one_bad = False

    @property
    def seen_velocity(self) -> np.ndarray:
        """Velocities by the change of the positions, (nj,) [rad/s or m/s]; a view."""
        return self._memory[SEEN]

    def check(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> str:
        """
        Return the first joint's fault in a sample, or ''; see :meth:`believed`.

        Wrong shapes or types do not reach the kernels; no reading is used then.
        """
        memory, first = self._memory, self._stamp_ns is None
        try:
            self.position = one_a_joint(position, len(self._joints), 'positions')
            self.velocity = one_a_joint(velocity, len(self._joints), 'velocities')
        except MeasurementError as error:
            memory[FAULT] = NOT_FINITE
            return str(error)
        position, velocity = self.position, self.velocity
        if first:
            self._stamp_ns = stamp_ns
            np.copyto(memory[Q], position, where=np.isfinite(position))
            memory[V] = np.where(np.abs(velocity) <= self._limits[:, BELIEVED], velocity, 0.0)
            memory[SEEN] = 0.0
        dt = max(stamp_ns - self._stamp_ns, 0) * 1e-9   # type: ignore[operator]
        self._stamp_ns = max(stamp_ns, self._stamp_ns)  # type: ignore[type-var]
        paused, self._dt = dt > 2.0 * self._dt > 0.0, dt
        before = memory.copy() if paused else memory
        _watch_joints(self._limits, memory, position, velocity, dt, self._frozen, self._found)
        fault, j = self._found.tolist()
        if fault == JUMPED and paused and self._continues(before, position, velocity, dt):
            return ''
        return self._text(fault, j) if fault else ''

    def _continues(self, before: np.ndarray, position: np.ndarray, velocity: np.ndarray,
                   dt: float) -> bool:
        """Return whether a shorter pause, the same for all joints, explains how they moved."""
        mean = 0.5 * (before[V] + self._memory[V])      # believed ones
        moved, size = np.clip(position - before[Q], -1.0, 1.0), float(mean @ mean)
        told = float(mean @ moved) / size if size > 0.0 else dt
        if not 0.0 <= told < dt:
            return False
        _watch_joints(self._limits, before, position, velocity, told, self._frozen, self._found)
        if self._found[0] != PLAUSIBLE:
            return False
        self._memory[:] = before
        return True

    def believed(self, fault: str) -> np.ndarray | None:
        """
        Return usable positions and velocities (2, nj) of the last sample, or None.

        NaN for faulty joints; with a single one, half a reading replaces the other. None when
        more than a quarter is faulty, as a leg of a quadruped. The same array each time.
        """
        if not fault:
            self.one_bad = False
            return self._memory[BELIEVED_Q:BELIEVED_V + 1]
        faulty = self._memory[FAULT] != PLAUSIBLE
        bad = int(np.count_nonzero(faulty))
        self.one_bad = bad == 1
        if bad > CHECK.faulty * len(faulty):
            return None
        self._believed[:] = self._memory[BELIEVED_Q:BELIEVED_V + 1]
        if not self.one_bad:
            self._believed[:, faulty] = math.nan
        return self._believed

    def restamp(self) -> None:
        """Accept the next stamp as it is, because the clock of the stamps was set."""
        self._stamp_ns = None

    def _text(self, fault: int, j: int) -> str:
        speed = self.velocity[j]
        text = 'velocity is not finite: {name} = {speed}' if (
            fault == TOO_FAST and not math.isfinite(speed)) else FAULT_TEXTS[fault]
        return text.format(name=self._joints[j], speed=speed, place=self.position[j],
                           limit=self._limits[j, VELOCITY], offset=self._memory[OFFSET, j])


# -------------------------------------------------------------------------------------------------
# Whether URDF, joint states, the motors' controller and the settings are of the same robot.


def check_controllers(path: str | Path, joints: Sequence[str]) -> None:
    """Raise ConfigurationError unless a ros2_control file has this joint command order."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f'safety.controllers_file: cannot read {path}: '
                                 f'{error}') from error
    found = list(_controllers(content, ''))
    if not found:
        raise ConfigurationError(f'safety.controllers_file: expected a controller with joints in '
                                 f'{path}, found none')
    if any(list(listed) == list(joints) for _, listed in found):
        return
    name, listed = found[0]
    for k, (ours, theirs) in enumerate(zip(joints, listed)):
        if ours != theirs:
            raise ConfigurationError(f'joint {k + 1} of {name} in {path} is {theirs!r}; '
                                     f'robot.joints has {ours!r} there')
    raise ConfigurationError(f'{name} in {path} has {len(listed)} joints, robot.joints has '
                             f'{len(joints)}: {sorted(set(joints) ^ set(map(str, listed)))}')


def _controllers(content: Any, name: str) -> Any:
    """Yield (name, joints) of all controllers that command efforts."""
    if not isinstance(content, dict):
        return
    joints = content.get('joints')
    kind = content.get('interface_name') or content.get('command_interfaces') or 'effort'
    if isinstance(joints, list) and 'effort' in kind:
        yield name, joints
    for key, value in content.items():
        yield from _controllers(value, name if key == 'ros__parameters' else str(key))


def disagreement(model: RobotModel, names: Sequence[str]) -> str:
    """Return how joint state names differ from the URDF's joints, or ''."""
    strangers = [name for name in names if all(name != joint.name for joint in model.joints)]
    if strangers:
        return (f'has {", ".join(map(repr, strangers[:3]))}, which '
                'robot_description does not have: they are not of one robot')
    return ''


def first_state(joints: Sequence[str], limits: np.ndarray, position: np.ndarray,
                velocity: np.ndarray) -> str:
    """Return which joint's state is impossible before the first command, or ''."""
    low, high = limits[:, LOWER] - LIMITS.outside, limits[:, UPPER] + LIMITS.outside
    for j in np.flatnonzero((position < low) | (position > high)):
        return (f'{joints[j]} is at {position[j]:.3f}, outside its range {limits[j, LOWER]:g} to '
                f'{limits[j, UPPER]:g} in robot_description: its zero, its sign or its name is '
                'wrong')
    for j in np.flatnonzero(~(np.abs(velocity) <= limits[:, BELIEVED])):
        return f'{joints[j]} is said to move at {velocity[j]:.4g} /s'
    return ''


@dataclass(frozen=True)
class EffortCheckSettings:
    """Settings of the comparison of measured efforts with limits and commands."""

    strongest: float = 3.0  # multiple of the limit beyond which a measured effort is not possible
    compared: float = 0.05  # part of a limit from which commands are compared
    time: float = 0.05  # s over which they are compared
    opposite: float = 0.5  # share of opposite signs from which on the sign is wrong


EFFORTS = EffortCheckSettings()


class EffortWatch:
    """Compares measured efforts with limits and commands; ``order``: of commanded joints."""

    def __init__(self, model: RobotModel, order: np.ndarray):
        self._names, self._order = model.joint_names, order
        self._strongest = EFFORTS.strongest * model.effort_limits
        self._least_squares = (EFFORTS.compared * model.effort_limits[order]) ** 2
        self.reset()

    def reset(self) -> None:
        """Forget commands and measured efforts."""
        self._known = np.zeros(len(self._names), bool)  # ever; others have no sensor
        self._products = np.zeros((2, len(self._order)))
        self._sent: np.ndarray | None = None
        self._sent_ns = 0

    def commanded(self, effort: np.ndarray) -> None:
        """Store the commanded efforts (command order)."""
        self._sent = effort

    def check(self, stamp_ns: int, effort: np.ndarray | None) -> str:
        """Return which efforts (model order) cannot be true, or ''; they become NaN."""
        if effort is None:
            return ''
        self._known |= np.isfinite(effort)
        odd = np.flatnonzero(self._known & ~(np.abs(effort) < self._strongest))
        if odd.size:
            said = ', '.join(f'{self._names[j]} = {effort[j]:.4g}' for j in odd)
            effort[odd] = np.nan
            return f'effort is not possible and counts as not known: {said}'
        return '' if self._sent is None else self._compare(stamp_ns, effort, self._sent)

    def _compare(self, stamp_ns: int, effort: np.ndarray, sent: np.ndarray) -> str:
        """Return which efforts oppose what is commanded; they become NaN."""
        passed = min(max(stamp_ns - self._sent_ns, 0) * 1e-9, EFFORTS.time)
        self._sent_ns = stamp_ns
        share = 1.0 - math.exp(-passed / EFFORTS.time)
        both = np.array([effort[self._order] * sent, sent * sent])
        self._products += share * (np.nan_to_num(both) - self._products)
        product, square = self._products
        odd = self._order[(square > self._least_squares) & (product < -EFFORTS.opposite * square)]
        if not odd.size:
            return ''
        effort[odd] = np.nan
        names = ', '.join(self._names[j] for j in odd)
        return (f'effort has the opposite sign of what is commanded, and counts as not known: '
                f'{names}')
