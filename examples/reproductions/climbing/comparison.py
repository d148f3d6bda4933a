# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One climb with and without the reduction of reaction forces, and Karpick's questions.

(a) How equal, and how small, can the feet's forces be while the body's acceleration is kept?
(b) What acceleration does a limit on the forces allow?
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.exceptions import (
    ConfigurationError,
    LeggedDynamicsError,
    ModelError,
    SimulationError,
)
from legged_dynamics.reproductions.climbing.equilibrium import (
    StaticReduction,
    find_equilibrium,
    recover_rest,
    reduce_static_forces,
)
from legged_dynamics.reproductions.climbing.frozen_allocation import (
    angular_acceleration_range,
    equal_magnitudes,
    frozen_forces,
    frozen_least_maximum,
)
from legged_dynamics.reproductions.climbing.mechanics import Modes, balance, modes
from legged_dynamics.stickybot import (
    Adhesion,
    Allocation,
    AllocationStatus,
    Climb,
    ClimbingSimulation,
    ClimbTrace,
    ForceSets,
    RestPosition,
    StickybotModel,
    StickybotSettings,
    StickybotState,
    accelerations,
    climb,
    largest_acceleration,
    least_maximum,
    least_squares,
    load_of,
    simulate_plain_gait,
    unloaded_state,
)
from legged_dynamics.stickybot.allocation.force_allocation import SET
from legged_dynamics.stickybot.climb import FAILURES

OWN = 'own'
MUJOCO = 'mujoco'
WAYS = {'off': 'plain gait', 'turning': 'reduced by turning', 'full': 'reduced'}


@dataclass(frozen=True, eq=False)
class Attempt:
    """One climb of a comparison."""

    reduction: str
    pads: tuple[Adhesion, ...] | None  # Limits of the feet; None for feet that hold anything
    climb: Climb | None  # With its trace; None when it could not be made
    error: str = ''  # Why not
    plant: str = OWN  # Whose physics it was

    @property
    def name(self) -> str:
        """Return what the attempt is called in tables."""
        return WAYS[self.reduction]

    @property
    def trace(self) -> ClimbTrace | None:
        """Return the samples."""
        return self.climb.trace if self.climb is not None else None

    @property
    def first_failure(self) -> float:
        """Return when the first foot lets go by itself [s]; NaN when none does."""
        events = self.climb.events if self.climb is not None else ()
        return next((event.stamp_ns * 1e-9 for event in events if event.kind in FAILURES),
                    np.nan)

    @property
    def failing(self) -> str:
        """Return how it fails, and when: it falls, or hangs on though its feet let go."""
        if self.climb is None or not self.climb.failures:
            return ''
        return f'{"falls" if self.fell else "loses feet"} at {self.first_failure:.2f} s'

    @property
    def fell(self) -> bool:
        """Whether the robot has come off its wall for good."""
        trace = self.trace
        return trace is not None and not trace.attached[-len(trace.time) // 50:].any()


@dataclass(frozen=True)
class Residuals:
    """How far the motion misses the balances, the largest of all samples."""

    force: float  # [N]: newton: rate of momentum less wall reactions and weight
    moment: float  # [N m]: the same for angular momentum
    power: float  # [W]: rate of the stored energy less actuator power, plus losses


@dataclass(frozen=True, eq=False)
class Comparison:
    """The climbs of one robot."""

    settings: StickybotSettings
    model: StickybotModel
    seconds: float
    speed: float  # [m/s]: asked of the reduced climbs
    asked: bool  # Whether the settings name it; otherwise it is what the plain gait reaches
    # On feet without limits, then on pads where there are some; then by MuJoCo, if asked for
    attempts: tuple[Attempt, ...]
    shown: Attempt  # The one that is to be seen in motion

    def attempt(self, reduction: str, limited: bool = False) -> Attempt | None:
        """
        Return a climb by the package's own physics; None if there was none.

        ``reduction``: 'off', 'turning' or 'full'; ``limited``: whether pads limit the forces.
        """
        return next((attempt for attempt in self.attempts if attempt.reduction == reduction
                     and (attempt.pads is not None) == limited and attempt.climb is not None
                     and attempt.plant == OWN), None)


def compare(settings: StickybotSettings, seconds: float,
            progress: Callable[[float], None] | None = None, *, plant: str = OWN) -> Comparison:
    """
    Climb in every way, with and without pad limits, also those not possible.

    ``seconds`` are rounded up to whole gait periods, at least two; with ``plant`` 'mujoco'
    the same climbs are made by both physics.
    """
    model, gait, pads = settings.model(), settings.gait(), settings.pads()
    asked = settings.values['control.speed'] != 0.0
    speed = settings.values['control.speed'] if asked else simulate_plain_gait(model, gait).speed
    settings = settings.changed({'control.speed': speed})
    chosen = settings.values['control.reduction']
    plans: list[tuple[str, tuple[Adhesion, ...] | None, str]] = [(way, None, OWN) for way in WAYS]
    if pads is not None:
        plans += [(way, pads, OWN) for way in dict.fromkeys(('off', chosen))]
    if plant == MUJOCO:
        plans += dict.fromkeys([('off', None, MUJOCO), (chosen, None, MUJOCO),
                                (chosen, pads, MUJOCO)])
    attempts: list[Attempt] = []
    for index, (way, limits, physics) in enumerate(plans):
        def share(part: float, done: int = index) -> None:
            if progress is not None:
                progress((done + part) / len(plans))

        attempts.append(_attempt(settings.changed({'control.reduction': way}), limits, physics,
                                 seconds, share))
    shown = next(attempt for attempt in attempts if attempt.reduction == chosen
                 and attempt.pads is pads and attempt.plant == plant)
    if shown.climb is None:
        raise SimulationError(f'the climb that was to be shown is not possible: {shown.error}')
    return Comparison(settings, model, seconds, speed, asked, tuple(attempts), shown)


def _attempt(settings: StickybotSettings, pads: tuple[Adhesion, ...] | None, plant: str,
             seconds: float, progress: Callable[[float], None]) -> Attempt:
    reduction = settings.values['control.reduction']
    try:
        climber: Any = None
        if plant == MUJOCO:
            from legged_dynamics.reproductions.climbing.twin import ClimbingTwin

            climber = ClimbingTwin(settings if pads else
                                   settings.changed({'adhesion.kind': 'none'}))
        done = climb(settings.model(), settings.gait(), settings.control(), pads, seconds=seconds,
                     trace=True, climber=climber, progress=progress)
        return Attempt(reduction, pads, done, plant=plant)
    except LeggedDynamicsError as error:
        return Attempt(reduction, pads, None, str(error), plant)


def residuals_of(model: StickybotModel, trace: ClimbTrace) -> Residuals:
    """Return the largest residual of each balance over a climb."""
    found = [balance(model, state, rest) for state, rest in zip(trace.states, trace.rests)]
    return Residuals(float(max(np.abs(now.force_residual).max() for now in found)),
                     float(max(abs(now.moment_residual) for now in found)),
                     float(max(abs(now.power_residual) for now in found)))


MISPLACED = 0.002       # m by which feet are set wrongly
# Limits on the force of a foot that are tried, in parts of an equal share of the weight.
LIMITS = (0.9, 1.1, 1.5, 2.0, 3.0)
DIRECTIONS = 72
FASTEST = 30.0      # times the speed of the comparison beyond which none is tried
UP, DOWN, ASIDE, TURN = np.array([[0, 1, 0], [0, -1, 0], [1, 0, 0], [0, 0, 1]], float)


@dataclass(frozen=True, eq=False)
class Sharing:
    """Question (a) at one state; forces are of the k feet on the wall."""

    name: str
    state: StickybotState
    reaction: np.ndarray  # (k, 2) [N]: as they are
    even: Allocation  # Least maximum, accelerations of body and limbs held
    squares: Allocation  # Least sum of squares
    # (k, 3) [m, m, rad] or None: what it takes of the hips' rest positions
    rest_change: np.ndarray | None
    # What rest angles alone do of a robot at rest, once it has settled
    turned: StaticReduction | None
    # [N]: least maximum with rest angles alone at the frozen state; NaN where they move nothing
    frozen_peak: float
    # [N]: magnitudes at which all forces are equal there; there may be none
    frozen_equal: tuple[float, ...]

    @property
    def peak(self) -> float:
        """Return the largest force as it is [N]."""
        return float(np.hypot(*self.reaction.T).max())


@dataclass(frozen=True, eq=False)
class Strength:
    """Question (b) for one limit."""

    name: str
    sets: ForceSets  # Of all feet
    # Largest acceleration up, down, aside [m/s^2] and in turning [rad/s^2], from rest on all feet;
    # 'stride, up' on the feet that carry in the middle of a stride
    along: dict[str, Allocation]
    # (float, float) [rad/s^2]: of the body's angular acceleration with rest angles alone at the
    # frozen state
    turning_range: tuple[float, float]
    # (73, 2) [m/s^2]: outermost accelerations of the body without turning, all around; NaN where
    # there is none
    boundary: np.ndarray


@dataclass(frozen=True)
class Fastest:
    """The fastest climb with reduced forces, steps in proportion, and what ends it."""

    speed: float  # [m/s]: the largest that was climbed; NaN where that of the comparison is not
    limit: str  # What gives first beyond it: pads, hips or gait, and how


@dataclass(frozen=True, eq=False)
class Answers:
    """Both questions answered."""

    share: float  # [N]: weight in the wall's plane over the number of feet
    # At rest, with misplaced feet, and at the hardest instant of the plain gait
    sharing: tuple[Sharing, ...]
    strength: tuple[Strength, ...]  # By limit; the last one of the pads, where there are any
    fastest: Fastest


def answer_questions(comparison: Comparison) -> Answers:
    """Return load sharing and accelerations within limits, for the robot of a comparison."""
    model = comparison.model
    rest = RestPosition.nominal(model)
    calm = find_equilibrium(model, unloaded_state(model), rest)
    sharing = [_at_rest(model, 'at rest', calm, rest),
               _at_rest(model, f'feet {1e3 * MISPLACED:g} mm out of place',
                        find_equilibrium(model, misplaced(model, calm), rest), rest)]
    plain, stride = comparison.attempt('off'), calm
    if plain is not None and plain.trace is not None:
        trace = plain.trace
        size = np.hypot(trace.reaction[..., 0], trace.reaction[..., 1]).max(axis=1)
        hardest = len(size) // 2 + int(size[len(size) // 2:].argmax())
        stride = trace.states[hardest]
        sharing.append(_share(model, f'plain gait at {trace.time[hardest]:.2f} s', stride,
                              trace.rests[hardest], None))
    share = abs(model.mass * float(model.wall.in_plane[1])) / model.n_limbs
    unit = share if share > 0.0 else model.mass * model.wall.gravity / model.n_limbs
    rows = [(f'{factor * unit:.3g} N', ForceSets.discs([factor * unit] * model.n_limbs),
             factor * unit) for factor in LIMITS]
    pads = comparison.settings.pads()
    if pads is not None:
        standing = ClimbingSimulation(model, rest, calm, pads)
        angles = np.nan_to_num(standing.pad_angles)
        rows.append(('the pads', ForceSets.of_pads(pads, standing.normal_loads, angles), np.nan))
    strength = tuple(_strength(model, calm, stride, rest, *row) for row in rows)
    return Answers(share, tuple(sharing), strength, fastest_climb(comparison))


def fastest_climb(comparison: Comparison) -> Fastest:
    """Return the speed at which pads, hips or gait end, whichever is first, to 5 %."""
    slow, fast, limit = 0.0, 1.0, ''
    while not limit and fast < FASTEST:
        limit = _end_of_climb(comparison, fast)
        slow, fast = (slow, fast) if limit else (fast, 1.5 * fast)
    while limit and slow and fast > 1.05 * slow:
        middle = 0.5 * (slow + fast)
        ends = _end_of_climb(comparison, middle)
        slow, fast, limit = (slow, middle, ends) if ends else (middle, fast, limit)
    return Fastest(slow * comparison.speed if slow else np.nan, limit)


def _end_of_climb(comparison: Comparison, factor: float) -> str:
    """Return what ends a climb at so many times the speed with so much longer steps, or ''."""
    settings = comparison.settings
    speed = factor * comparison.speed
    try:
        settings = settings.changed({
            'control.reduction': 'full', 'control.speed': speed,
            'gait.amplitude': factor * settings.gait().amplitude})
        model, control, pads = settings.model(), settings.control(), settings.pads()
        done = climb(model, settings.gait(), control, pads, seconds=2.0 * settings.gait().period,
                     trace=True)
    except LeggedDynamicsError as error:
        return f'the gait: {error}'
    failed = next((event for event in done.events if event.kind in FAILURES), None)
    if failed is not None:
        return f'the pads: foot {failed.limb} {failed.kind.value}'
    assert done.trace is not None
    moved = np.array([rest.hip[:, :2] - model.rest[:, :2] for rest in done.trace.rests])
    if np.abs(moved).max() > 0.999 * control.largest_offset:
        return (f'the hips: their rest positions reach the {1e3 * control.largest_offset:g} mm '
                'of control.largest_offset')
    return '' if done.speed > 0.95 * speed else 'the gait: the body falls behind its reference'


def misplaced(model: StickybotModel, state: StickybotState) -> StickybotState:
    """Return a copy with feet set 2 mm outwards and inwards, alternating by row."""
    rows = np.unique(np.round([limb.hip[1] for limb in model.limbs], 9), return_inverse=True)[1]
    foot = state.foot.copy()
    foot[:, 0] -= MISPLACED * model.sides * np.where(rows % 2, 1.0, -1.0)
    return StickybotState(state.pose, state.velocity, foot, state.joint, state.joint_velocity)


def _at_rest(model: StickybotModel, name: str, state: StickybotState, rest: RestPosition
             ) -> Sharing:
    return _share(model, name, state, rest,
                  reduce_static_forces(model, state, rest, authority='turning'))


def _share(model: StickybotModel, name: str, state: StickybotState, rest: RestPosition,
           turned: StaticReduction | None) -> Sharing:
    now = accelerations(model, state, rest)
    load = load_of(model, state, now.body, now.joint, now.foot)
    even = least_maximum(load)
    change = None
    if even.status is AllocationStatus.OPTIMAL:
        try:
            wanted = recover_rest(model, state, even.forces, now.joint)
            held = recover_rest(model, state, now.reaction[load.feet], now.joint)
            change = (wanted.hip - held.hip)[load.feet]
        except ModelError:      # an inner joint without stiffness: no rest position does it
            change = None
    try:
        frozen = frozen_forces(model, state, rest)
        peak = frozen_least_maximum(frozen)[0]
        equal = tuple(way.magnitude for way in equal_magnitudes(frozen))
    except ConfigurationError:
        peak, equal = np.nan, ()
    return Sharing(name, state, now.reaction[load.feet], even, least_squares(load), change, turned,
                   peak, equal)


def _strength(model: StickybotModel, calm: StickybotState, stride: StickybotState,
              rest: RestPosition, name: str, sets: ForceSets, limit: float) -> Strength:
    load, still = load_of(model, calm, np.zeros(3)), np.zeros(3)
    along = {what: largest_acceleration(load, direction, sets)
             for what, direction in (('up', UP), ('down', DOWN), ('aside', ASIDE),
                                     ('turning', TURN))}
    pair = load_of(model, stride, still)
    along['stride, up'] = largest_acceleration(pair, UP, ForceSets(sets.table[pair.feet]))
    try:
        turning = angular_acceleration_range(frozen_forces(model, calm, rest), limit)
    except ConfigurationError:
        turning = (np.nan, np.nan)
    return Strength(name, sets, along, turning, _boundary(model, calm, sets))


def _boundary(model: StickybotModel, calm: StickybotState, sets: ForceSets) -> np.ndarray:
    """Return the outermost accelerations as seen from one that is possible."""
    # Discs always allow free fall, which requires no force; directional pads require a load.
    inside = np.array([*model.wall.in_plane, 0.0]) if is_disc(sets) else np.zeros(3)
    load, found = load_of(model, calm, inside), np.full((DIRECTIONS + 1, 2), np.nan)
    for k, angle in enumerate(2.0 * np.pi * np.arange(DIRECTIONS + 1) / DIRECTIONS):
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        reached = largest_acceleration(load, direction, sets)
        if reached.status is AllocationStatus.OPTIMAL:
            found[k] = (inside + reached.value * direction)[:2]
    return found


def is_disc(sets: ForceSets) -> bool:
    """Return whether no foot has a directional limit."""
    return not sets.table[:, SET.n_planes].any()


# -------------------------------------------------------------------------------------------------
# Modes of a climbing robot at rest, named by the coordinates with most of the kinetic energy.


SHOWN = 0.12        # part of a mode's motion that a name needs


@dataclass(frozen=True)
class NamedMode:
    """One mode."""

    name: str  # What moves, by its part of the kinetic energy
    eigenvalue: complex  # [1/s]: of the state matrix
    damping_ratio: float  # 1 where it does not oscillate


def modes_at_rest(model: StickybotModel) -> tuple[Modes, list[NamedMode]]:
    """Return the modes of the robot hanging on all feet, slowest decay first, and named."""
    rest = RestPosition.nominal(model)
    found = modes(model, find_equilibrium(model, unloaded_state(model), rest), rest)
    # Inertia of each coordinate alone, for the kinetic energy of a mode.
    weight = np.zeros(model.nz)
    weight[:3] = model.body.mass, model.body.mass, model.body.inertia
    at = 0
    for limb in model.limbs:
        for link in limb.links:
            weight[model.joint_columns[at]] = link.inertia + link.mass * link.center ** 2
            at += 1
    named = []
    for value, ratio, shape in zip(found.eigenvalues, found.damping_ratio, found.shape):
        energy = weight * np.abs(shape) ** 2
        parts = {'body x': energy[0], 'body y': energy[1], 'body angle': energy[2],
                 'limbs': energy[model.joint_columns].sum()}
        total = sum(parts.values())
        names = [f'{name} {100.0 * part / total:.0f} %' for name, part in
                 sorted(parts.items(), key=lambda item: -item[1]) if part > SHOWN * total]
        named.append(NamedMode(', '.join(names), complex(value), float(ratio)))
    return found, named


def nominal_poles(model: StickybotModel) -> list[tuple[str, complex]]:
    """
    Return name and pole [1/s] per axis for which the hips' damping is designed.

    Mass m/N (inertia I/N) on the first limb's hip alone; by (36) and (37) of the climbing
    robot's source both roots are equal at the nominal damping ratio 1.
    """
    limb, found = model.limbs[0], []
    for j, name in enumerate(('x', 'y', 'angle')):
        mass = (model.body.inertia if j == 2 else model.body.mass) / model.n_limbs
        half, stiffness = limb.damping[j, j] / (2.0 * mass), limb.stiffness[j, j] / mass
        under = half * half - stiffness
        root = math.sqrt(abs(under))
        values = [complex(-half, root)] if under < -1e-9 * stiffness else \
            sorted({complex(-half - root, 0.0), complex(-half + root, 0.0)}, key=abs) \
            if under > 1e-9 * stiffness else [complex(-half, 0.0)]
        found += [(name, value) for value in values]
    return found
