# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Search for faults: the fault that explains most is corrected, then the next.

A fault is compared with the healthy robot by the likelihood of the whole recording, prior odds
included, both with the small errors that every robot has fitted beside (`sized.nuisances`).
Friction of all joints (`likeliest_friction`), rotor inertia and delay of torques compete with
signs and scales; where two explain about the same, both are named and nothing is changed.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.doctor.evidence import Evidence, Likelihood
from legged_dynamics.doctor.finding import Finding, changes
from legged_dynamics.doctor.hypotheses import RARE, Hypothesis, hypotheses, legs_of
from legged_dynamics.doctor.sized import Sized, nuisances, sized_hypotheses
from legged_dynamics.doctor.streams import check_streams
from legged_dynamics.estimation.settings import check_floating_robot
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.identification.samples import SensorLog, Signals, filtered, observe
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# -------------------------------------------------------------------------------------------------
# Friction of all joints as an alternative explanation of torque residuals.
#
# Where joints have more friction than the YAML states, the residuals of torques follow the motion
# of each joint, and are anything up to the dry friction while it rests. A wrong sign or scale
# explains a little of that, and would be offered as a fix that spoils a good torque. It is
# therefore compared with friction of a part of the effort limit in every joint, dry and viscous.
# Dry friction both shifts the expected torque and widens its tolerance, and the density of a wider
# tolerance is lower.


# Parts of the effort limit: dry, and viscous at FAST.
DRY = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
VISCOUS = (0.01, 0.02, 0.05, 0.1)
DRY_OF_ONE = 0.03       # to find which joint rubs
FAST = 2.0              # rad/s: a leg that swings


@dataclass(frozen=True, eq=False)
class Friction:
    """
    Friction of the joints beyond that of a configuration.

    Attributes
    ----------
    config : RobotConfig
        With the friction.
    dry, viscous : float
        Beyond what the YAML states, as parts of each joint's effort limit; the viscous one at
        `FAST`.
    joint : str
        The joint that rubs; empty for all.
    rank : float
        Log of how much likelier that is than the configuration, prior odds included.
    evidence : Evidence
        On the configuration with the friction.

    """

    config: RobotConfig
    dry: float
    viscous: float
    joint: str
    rank: float
    evidence: Evidence

    @property
    def text(self) -> str:
        """The friction in one sentence."""
        parts = [f'dry friction of about {100.0 * self.dry:.0f} %'] if self.dry else []
        if self.viscous:
            parts.append(f'viscous friction of about {100.0 * self.viscous:.0f} % at {FAST:g} '
                         'rad/s')
        who, limits = (f'{self.joint} rubs', 'limit') if self.joint else (
            'The joints rub', 'limits')
        return (f'{who} more than the YAML says: {" and ".join(parts)} of the effort {limits} '
                'explains the torques.')


def likeliest_friction(likelihood: Likelihood, model: RobotModel, config: RobotConfig,
                       now: Evidence, stated: RobotConfig, largest: np.ndarray
                       ) -> list[Friction]:
    """
    Return the friction of all joints that explains most, and that of a single one.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood on the recording.
    model, config : RobotModel, RobotConfig
        With the corrections so far.
    now : Evidence
        On that configuration.
    stated : RobotConfig
        As the YAML has it; friction is in addition to its friction.
    largest : (nj,) array [N m or N]
        Largest effort that was recorded; stands for the limit of a joint that has none.

    Returns
    -------
    list of Friction

    """
    joints, present = stated.apply_to(model).joints, config.apply_to(model).joints
    names = model.joint_names
    order = [names.index(name) for name in config.joints or names]
    limit = np.array([joint.effort for joint in joints], float)
    limit = np.where(np.isfinite(limit) & (limit > 0.0), limit, largest)
    here = likelihood.effort_tolerance(config)

    def weighed(dry: float, viscous: float, only: int = -1) -> Friction:
        before = joints if only < 0 else present
        share = [float(only in (-1, i)) for i in range(len(names))]
        rubbing = [before[i].friction + share[i] * dry * limit[i] for i in order]
        damping = [before[i].damping + share[i] * viscous * limit[i] / FAST for i in order]
        rubs = replace(config, joint_friction=tuple(map(float, rubbing)),
                       joint_damping=tuple(map(float, damping)))
        evidence = likelihood.evaluate(rubs)
        wider = np.log(likelihood.effort_tolerance(rubs) / here).sum() / (6 + len(here))
        price = now.count * now.dimensions.get('balance', 0.0) * float(wider)
        return Friction(rubs, dry, viscous, '' if only < 0 else names[only],
                        evidence.score - now.score - price - RARE, evidence)

    def likeliest(found: Iterable[Friction]) -> Friction:
        return max(found, key=lambda one: one.rank)

    best = likeliest(weighed(part, 0.0) for part in DRY)
    best = likeliest([best, *(weighed(dry, part) for part in VISCOUS for dry in {best.dry, 0.0})])
    moved = [i for i in order if any(i in leg for _, leg in legs_of(model, config))]
    one = likeliest(weighed(DRY_OF_ONE, 0.0, i) for i in moved)
    only = names.index(one.joint)
    return [best, likeliest([one, *(weighed(part, 0.0, only) for part in DRY[::2])])]


def changes_torques(before: RobotConfig, after: RobotConfig) -> bool:
    """
    Tell whether a fix changes torques, or the masses that they are compared with.

    Parameters
    ----------
    before, after : RobotConfig
        Without and with the fix.

    Returns
    -------
    bool

    """
    old, new = before.sensors, after.sensors
    return (old.effort_scale != new.effort_scale or old.rename_effort != new.rename_effort
            or before.payload != after.payload
            or before.center_of_mass_offset != after.center_of_mass_offset)


# -------------------------------------------------------------------------------------------------
# The search.

MOST = 8            # findings of the physics: a robot with more is another robot
ALIKE = 3.0         # nats: explanations closer than that are both named
ROUNDS = 3          # Gauss-Newton steps of a size
FAR, JUDGED = 40.0, 10      # nats behind the first, and candidates that are weighed at most
UNLIKELY = -10.0    # nats: what a healthy robot has of other errors seldom adds as much
FRICTION = 'friction'
# Faults of actuators, which one recording may not tell apart.
ACTUATORS = (FRICTION, 'armature', 'effort_delay')


@dataclass(frozen=True, eq=False)
class Examination:
    """
    Result of an examination.

    Attributes
    ----------
    findings : tuple of Finding
        In the order in which they were found: later ones hold once the earlier are corrected.
    before, after : Evidence or None
        On the configuration as it was and as corrected; None where physics could not be judged.
    config : RobotConfig
        The corrected configuration.
    checked, unchecked : tuple of str
        Kinds of evidence that were judged; sentences on what could not be, with the reason.

    """

    findings: tuple[Finding, ...]
    before: Evidence | None
    after: Evidence | None
    config: RobotConfig
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@dataclass(frozen=True, eq=False)
class _Candidate:
    finding: Finding
    config: RobotConfig
    rank: float
    evidence: Evidence


def examine(model: RobotModel, config: RobotConfig, log: SensorLog) -> Examination:
    """
    Look for everything that may be wrong with a robot.

    Parameters
    ----------
    model : RobotModel
        As the URDF has it.
    config : RobotConfig
        As the YAML has it.
    log : SensorLog
        Recording with standing, lifting each leg and squatting; other motion helps, too.

    Returns
    -------
    Examination

    Raises
    ------
    ConfigurationError
        When the robot has no feet, a fixed base or spherical joints.
    MeasurementError
        When the recording is too short.

    """
    check_floating_robot(config.apply_to(model), config)
    findings, config, unchecked = check_streams(model, config, log)
    if any(finding.blocks for finding in findings):
        return Examination(tuple(findings), None, None, config, ('streams',),
                           (*unchecked, 'Everything else: fix the above first.'))
    signals = filtered(log)
    likelihood = Likelihood(signals, model, config)
    before = after = likelihood.evaluate(config)
    first = config
    while len(findings) < MOST:
        best = _best(likelihood, signals, model, config, after, first)
        if best is None:
            break
        if best.finding.kind == FRICTION:       # more of it, where it was found before
            findings = [finding for finding in findings if (
                finding.kind, finding.subject) != (FRICTION, best.finding.subject)]
        corrected = best.finding if not best.finding.fixable else replace(
            best.finding, fix=changes(config, best.config, model.joint_names))
        findings.append(corrected)
        config, after = best.config, best.evidence
    samples = observe(signals, model, first)
    return Examination(tuple(findings), before, after, config,
                       ('streams', *after.dimensions), (*unchecked, *_blind(samples, signals)))


def _blind(samples: object, signals: Signals) -> list[str]:
    """Return sentences on what the recording cannot show."""
    said = []
    if not samples.has_effort.any():        # type: ignore[attr-defined]
        said.append('Masses, centre of mass and efforts: joint_states has no effort.')
    if not signals.has_imu:
        said.append('The IMU: there is none.')
    elif not np.isfinite(signals.orientation).any():
        said.append("The IMU's orientation: it has none.")
    moved = np.sqrt(np.nanmean(samples.rate ** 2, axis=0)) > 0.02   # type: ignore[attr-defined]
    if not moved.all():
        said.append(f'{int((~moved).sum())} of {len(moved)} joints hardly moved: signs and order '
                    'of their readings; lift every leg and squat.')
    return said


def _best(likelihood: Likelihood, signals: Signals, model: RobotModel, config: RobotConfig,
          now: Evidence, stated: RobotConfig) -> _Candidate | None:
    """Return the fault that explains most, or None when no fault explains enough."""
    # All scores are at most zero, so nothing can gain more than what is missing.
    if -now.score <= 7.0:
        return None
    found: list[_Candidate] = []
    samples = observe(signals, model, config)
    effort = samples.has_effort
    orientation = bool(np.isfinite(signals.orientation).any()) if signals.has_imu else False
    for guess in hypotheses(model, config, orientation=orientation, imu=signals.has_imu,
                            effort=bool(effort.any())):
        candidate = _evaluated(likelihood, guess, now)
        if candidate is not None:
            found.append(candidate)
    for sized in sized_hypotheses(model, config, likelihood.height, imu=signals.has_imu,
                                  effort=effort, period=1.0 / signals.sample_rate):
        candidate = _fitted(likelihood, sized, config, now)
        if candidate is not None:
            found.append(candidate)
    rubs: list[Friction] = []
    if effort.any():
        rubs = likeliest_friction(likelihood, model, config, now, stated, np.max(
            np.abs(np.where(effort, samples.effort, 0.0)), axis=0))
    found.sort(key=lambda candidate: -candidate.rank)
    found += map(_friction_finding, rubs)
    judge = _Judge(likelihood, model, config, now, signals.has_imu, effort)
    judged = sorted((judge(candidate) for candidate in _few(found)),
                    key=lambda candidate: -candidate.rank)
    worth = [candidate for candidate in judged if candidate.finding.evidence > 0.0]
    if not worth:
        return None
    best = worth[0]
    rivals = [other for other in judged if other is not best and other.rank > best.rank - ALIKE
              and other.finding.evidence > -ALIKE
              and (other.finding.kind, other.finding.subject) != (best.finding.kind,
                                                                  best.finding.subject)]
    return _cannot_tell(best, rivals, config)


def _few(found: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the likeliest candidates, friction among them, and no more than a few of a kind."""
    kept: list[_Candidate] = []
    ordered = sorted(found, key=lambda candidate: -candidate.rank)
    for candidate in ordered:
        same = sum(other.finding.kind == candidate.finding.kind for other in kept)
        if (candidate.rank > max(ordered[0].rank - FAR, UNLIKELY) and same < 4
                and len(kept) < JUDGED):
            kept.append(candidate)
    return kept


def _cannot_tell(best: _Candidate, rivals: Sequence[_Candidate],
                 config: RobotConfig) -> _Candidate:
    """Return the best candidate, without a fix where another explains as much."""
    if not rivals:
        return best
    texts = tuple(other.finding.text for other in rivals)[:3]
    finding = replace(best.finding, also=texts)
    if any(changes_torques(config, one.config) or one.finding.kind in ACTUATORS
           for one in (best, *rivals)):
        finding = replace(finding, fixable=False, text='Cannot tell apart: '
                          f'{best.finding.text.rstrip(".")}; or: {texts[0]}', also=texts[1:],
                          advice='Nothing is changed for it. A recording with slow and with quick '
                          'swings of each leg in the air tells them apart.')
    return replace(best, finding=finding)


class _Judge:
    """
    Weighs a candidate with what a healthy robot may have of everything else fitted beside it.

    A fault must explain more than the sum of all the small errors that a healthy robot has.
    """

    def __init__(self, likelihood: Likelihood, model: RobotModel, config: RobotConfig,
                 now: Evidence, imu: bool, effort: np.ndarray):
        self._likelihood, self._config, self._now = likelihood, config, now
        self._parts = nuisances(model, config, likelihood.height, imu=imu, effort=effort)
        self._sigma = np.concatenate([np.full(len(part.steps), part.healthy)
                                      for part in self._parts])
        self._healthy = self._fit(config, now)

    def __call__(self, candidate: _Candidate) -> _Candidate:
        """Return the candidate with its rank and evidence against a healthy robot."""
        gain = self._fit(candidate.config, candidate.evidence) - candidate.evidence.score
        gain -= self._healthy - self._now.score
        rank = float(candidate.rank + gain)
        return replace(candidate, rank=rank, finding=replace(candidate.finding, evidence=rank))

    def _fit(self, config: RobotConfig, evidence: Evidence) -> float:
        """Return the score with small errors at their likeliest, less what they cost."""
        x, best, here = np.zeros(len(self._sigma)), evidence.score, evidence
        try:
            for _ in range(ROUNDS):
                J = np.stack([self._moved(config, x + step).residual - here.residual
                              for step in np.diag(0.5 * self._sigma)], axis=1) / (
                                  0.5 * self._sigma)
                WJ = here.weight[:, None] * J
                A = J.T @ WJ + np.diag(self._sigma ** -2)
                step = np.linalg.solve(A, -(WJ.T @ here.residual) - x / self._sigma ** 2)
                tried = self._moved(config, x + step)
                score = tried.score - 0.5 * float(np.sum(((x + step) / self._sigma) ** 2))
                if score <= best:
                    break
                gained, x, here, best = score - best, x + step, tried, score
                if gained < 1.0:
                    break
        except LeggedDynamicsError:
            pass
        return best

    def _moved(self, config: RobotConfig, x: np.ndarray) -> Evidence:
        at = 0
        for part in self._parts:
            size = x[at:at + len(part.steps)]
            at += len(part.steps)
            if size.any():
                config = part.apply(config, size)
        return self._likelihood.evaluate(config)


def _friction_finding(rubs: Friction) -> _Candidate:
    """Return friction as a candidate; no sign or scale of a torque is changed for it."""
    finding = Finding(
        FRICTION, (rubs.joint or 'joint_states',), rubs.text, rubs.rank,
        advice='No sign or scale of a torque is changed for it. Measure friction (legged-dynamics '
        'identify), state it (robot.joint_friction, robot.joint_damping) and examine again.',
        fixable=False)
    return _Candidate(finding, rubs.config, rubs.rank, rubs.evidence)


def _evaluated(likelihood: Likelihood, guess: Hypothesis, now: Evidence) -> _Candidate | None:
    try:
        evidence = likelihood.evaluate(guess.config)
    except LeggedDynamicsError:
        return None
    gain = evidence.score - now.score - guess.cost - guess.shrinks * now.count
    if gain < 0.0:
        return None
    return _Candidate(Finding(guess.kind, guess.subject, guess.text, gain, advice=guess.advice),
                      guess.config, gain, evidence)


def _fitted(likelihood: Likelihood, sized: Sized, config: RobotConfig,
            now: Evidence) -> _Candidate | None:
    """Fit the size of a fault by Gauss-Newton on the t likelihood, and evaluate the fault."""
    size = np.zeros(len(sized.steps))
    best, at = now, size
    prior = np.eye(len(size)) / sized.faulty ** 2
    try:
        for _ in range(ROUNDS):
            here = best
            J = np.stack([(likelihood.evaluate(sized.apply(config, at + step)).residual
                           - here.residual) / step.sum() for step in np.diag(sized.steps)],
                         axis=1)
            WJ = here.weight[:, None] * J
            step = np.linalg.solve(J.T @ WJ + prior, -(WJ.T @ here.residual) - prior @ at)
            for part in (1.0, 0.3):
                size = at + part * step
                tried = likelihood.evaluate(sized.apply(config, size))
                if tried.score > best.score:
                    break
            else:
                break
            gained = tried.score - best.score
            best, at = tried, size
            if best.score - now.score < 1.0 or gained < 0.02 * (best.score - now.score):
                break
    except LeggedDynamicsError:
        if best is now:
            return None
    gain = best.score - now.score
    if gain < 1.0:
        return None
    rank = gain - sized.cost - 0.5 * float(at @ at) / sized.faulty ** 2
    rank -= len(at) * np.log(sized.faulty / sized.healthy)
    return _Candidate(Finding(sized.kind, sized.subject, sized.text(at), rank),
                      sized.apply(config, at), rank, best)
