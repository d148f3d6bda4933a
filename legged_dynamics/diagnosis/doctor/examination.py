# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Search for faults: the fault that explains most is corrected, then the next.

Faults that a robot has or has not are compared with the healthy robot by the likelihood of the
whole recording, prior odds included; those that have a size by `parametric_faults`. Where two
explain about the same, both are named and nothing is changed.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.diagnosis.doctor.evidence import Evidence, Likelihood
from legged_dynamics.diagnosis.doctor.hypotheses import (
    APART,
    Candidate,
    Finding,
    Hypothesis,
    changes,
    hypotheses,
)
from legged_dynamics.diagnosis.doctor.parametric_faults import FRICTION, OF_SCALE, ParametricFaults
from legged_dynamics.diagnosis.doctor.settings import PARAMETRIC, SEARCH
from legged_dynamics.diagnosis.doctor.streams import check_streams
from legged_dynamics.diagnosis.identification.samples import SensorLog, Signals, filtered, observe
from legged_dynamics.estimation.settings import check_floating_robot
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Faults that no setting corrects, so that what is left of them hides smaller ones.
WITHOUT_MEND = (FRICTION, 'elasticity', 'play', 'effort_drift')
# Faults that change torques, or the masses that they are compared with.
OF_TORQUES = (*WITHOUT_MEND, 'armature', 'effort_delay', 'velocity_delay', 'effort_scale',
              'effort_scale_joint', 'effort_sign', 'effort_order', 'total_mass', 'center_of_mass')


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
    model = config.apply_to(model)
    check_floating_robot(model, config)
    findings, config, unchecked = check_streams(model, config, log)
    if any(finding.blocks for finding in findings):
        return Examination(tuple(findings), None, None, config, ('streams',),
                           (*unchecked, 'Everything else: fix the above first.'))
    signals = filtered(log)
    likelihood = Likelihood(signals, model, config)
    parametric = ParametricFaults(filtered(log, PARAMETRIC.signal_cutoff), likelihood, model)
    before = after = likelihood.evaluate(config)
    first, explained, further = config, 0.0, None
    found: dict[tuple[str, tuple[str, ...]], tuple[Finding, RobotConfig, np.ndarray]] = {}
    for _ in range(SEARCH.most_corrections):
        best = further or _best(likelihood, parametric, signals, model, config, after,
                                {kind for kind, _ in found})
        if best is None or len(found) == SEARCH.most_findings:
            break
        key = best.finding.kind, best.finding.subject
        if key not in found and best.finding.evidence < SEARCH.remainder * explained:
            break       # what the corrections so far have left
        start, size = config, best.size
        if key in found:        # a further step of the same correction
            earlier, start, before_it = found[key]
            size = before_it + size + (before_it * size if key[0].startswith('effort_s') else 0.0)
            text = (parametric.text(start, key[0], key[1][0], size)
                    if earlier.fixable and len(size) else earlier.text)
            best = replace(best, finding=replace(earlier, text=text))
        if len(best.size):      # a swap or a sign is corrected whole
            explained = max(explained, best.finding.evidence)
        config, after = best.config, likelihood.evaluate(best.config)
        fixed = best.finding if not best.finding.fixable else replace(
            best.finding, fix=changes(start, config, model.joint_names))
        # The residual of a large error is not quite linear in it.
        further = next((one for one in parametric.compare(config) if (
            one.finding.kind, one.finding.subject) == key), None) if (
                key not in found and fixed.fixable and len(size)) else None
        found[key] = fixed, start, size
        if fixed.kind in WITHOUT_MEND:
            unchecked = [*unchecked, 'Smaller faults of actuators beside '
                         f'{fixed.kind.replace("_", " ")}.']
            break
    return Examination((*findings, *(one for one, _, _ in found.values())), before, after, config,
                       ('streams', *after.dimensions),
                       (*unchecked, *_blind(observe(signals, model, first), signals, config)))


def _blind(samples: object, signals: Signals, config: RobotConfig) -> list[str]:
    """Return sentences on what the recording cannot show."""
    said = []
    if not samples.has_effort.any():        # type: ignore[attr-defined]
        said.append('Masses, centre of mass and efforts: joint_states has no effort that can be '
                    'judged.')
    elif any(foot.moments for foot in config.feet):
        said.append('Rotor inertia: feet are soles.')
    if not signals.has_imu:
        said.append('The IMU: there is none.')
    elif not np.isfinite(signals.orientation).any():
        said.append("The IMU's orientation: it has none.")
    moved = np.sqrt(np.nanmean(samples.rate ** 2, axis=0)) > 0.02   # type: ignore[attr-defined]
    if not moved.all():
        said.append(f'{int((~moved).sum())} of {len(moved)} joints hardly moved: signs and order '
                    'of their readings; lift every leg and squat.')
    return said


def _best(likelihood: Likelihood, parametric: ParametricFaults, signals: Signals,
          model: RobotModel, config: RobotConfig, now: Evidence,
          said: set[str]) -> Candidate | None:
    """Return the fault that explains most, or None when no fault explains enough."""
    effort = bool(observe(signals, model, config).has_effort.any())
    orientation = bool(np.isfinite(signals.orientation).any()) if signals.has_imu else False
    plain = [_evaluated(likelihood, guess, config, now) for guess in hypotheses(
        model, config, orientation=orientation, imu=signals.has_imu, effort=effort)
        if -now.score > guess.cost]     # all scores are at most zero
    soles = any(foot.moments for foot in config.feet)

    def judged(one: Candidate) -> Candidate:
        """Offer no mend of what mass, friction, or on soles the base's errors explain, too."""
        kind, impossible = one.finding.kind, _impossible(one)
        unsure = soles and kind in OF_TORQUES and one.finding.evidence < SEARCH.large
        scale = kind in OF_SCALE and abs(np.mean(one.size)) < PARAMETRIC.largest_mass_error
        doubt = impossible or (unsure and kind not in WITHOUT_MEND)
        text = one.finding.text if not doubt else (     # a sign of something without a model
            f'{APART}{one.finding.text.rstrip(".")}{", which cannot be" * impossible}; or: the '
            'drives have elasticity, play or friction that the model lacks.')
        return replace(one, finding=replace(
            one.finding, text=text,
            advice=_ADVICE.get(kind, _UNTOLD[False] if doubt else ''),
            fixable=not (kind in WITHOUT_MEND or unsure or impossible or scale)))

    by_size = [judged(one) for one in parametric.compare(config)
               if (kind := one.finding.kind) not in OF_SCALE or kind in said
               or not said & set(OF_SCALE)]
    ordered = _counted_once(likelihood, [one for one in plain if one is not None], config, now)
    worth = [one for one in by_size if one.finding.evidence > SEARCH.least]
    # A large one shows in all evidence; these two have no configuration to show it with.
    if worth and worth[0].finding.kind not in (FRICTION, 'effort_drift'):
        worth[:SEARCH.compared] = [replace(one, rank=max(one.rank, likelihood.evaluate(
            one.config, one.drive).score - now.score)) for one in worth[:SEARCH.compared]]
        largest = max(worth[:SEARCH.compared], key=lambda one: one.rank)
        if largest.rank > max(SEARCH.large, worth[0].rank):
            kind = largest.finding.kind
            worth = by_size = [largest, *(
                one for one in worth if one.finding.kind != kind
                and one.rank > largest.rank - SEARCH.least)]
    ranks = [one.rank for one in worth[:3]]
    ranks += [one.finding.evidence for one in worth[:1] if one.finding.kind == 'effort_drift']
    if ordered and ordered[0].rank > max(ranks, default=0.0):
        return _named(ordered[0], ordered[1:])
    return _named(worth[0], by_size) if worth else None


def _counted_once(likelihood: Likelihood, plain: list[Candidate], config: RobotConfig,
                  now: Evidence) -> list[Candidate]:
    """Return faults without a size by rank, the evidence of all less the first's repetitions."""
    if not plain:
        return []
    best = max(plain, key=lambda one: one.rank)
    first = likelihood.evaluate(best.config)
    same = likelihood.evaluate(config, load=first.load)
    share = 1.0 - first.repeated(max(now, same, key=lambda one: one.score)) / best.rank
    return sorted((replace(one, finding=replace(one.finding, evidence=share * one.rank))
                   for one in plain if share * best.rank >= SEARCH.least),
                  key=lambda one: -one.rank)


def _impossible(one: Candidate) -> bool:
    """Tell whether the correction states what cannot be: early torques, no inertia, no radius."""
    config = one.config
    least = {'effort_delay': config.noise.effort_age, 'foot_radius': config.feet[0].radius,
             'armature': min(config.armature, default=1.0)}
    return least.get(one.finding.kind, 1.0) <= 0.0


def _named(best: Candidate, others: Sequence[Candidate]) -> Candidate:
    """Return the best candidate, with others that explain about as much, and then no fix."""
    def rival(other: Candidate) -> bool:
        one, two = best.finding, other.finding
        return other is not best and (one.kind, one.subject) != (two.kind, two.subject) and (
            two.evidence > one.evidence - SEARCH.least)
    rivals = [other.finding for other in others if rival(other)]
    finding = best.finding
    if finding.kind in OF_SCALE and not finding.fixable:
        text = f'{APART}{finding.text.rstrip(".?")}; or: {_SAME_SCALE[finding.kind]}'
        return replace(best, finding=replace(finding, text=text, advice=_UNTOLD[True]))
    if not rivals:
        return best
    texts = tuple(other.text.removeprefix(APART) for other in rivals)[:3]
    if finding.kind in OF_TORQUES or any(other.kind in OF_TORQUES for other in rivals):
        one = finding.text.removeprefix(APART).split('; or: ')[0].rstrip('.')
        finding = replace(finding, fixable=False, also=texts[1:],
                          text=f'{APART}{one}; or: {texts[0]}',
                          advice=_UNTOLD[finding.kind in OF_SCALE])
    else:
        finding = replace(finding, also=texts)
    return replace(best, finding=finding)


_SAME_SCALE = {'effort_scale': 'The robot weighs more or less than the URDF says.',
               'total_mass': 'All efforts read too much or too little.'}
_UNTOLD = {True: 'Nothing is changed for it. Weigh the robot: that tells.',
           False: 'Nothing is changed for it. A recording with slow and with quick swings of '
           'each leg in the air tells them apart.'}
_ADVICE = {
    'elasticity': 'State robot.joint_stiffness, which corrects a part of it, or read the joints '
                  "on the links' side, where the drives allow it.",
    'play': 'No setting corrects it. Look at gears and couplings.',
    'effort_drift': 'No setting corrects it. Look at the temperature of motors and current '
                    'sensors; weigh the robot to tell the gain from the mass.',
    FRICTION: 'No sign or scale of a torque is changed for it. Measure friction '
           '(legged-dynamics identify), state it (robot.joint_friction, robot.joint_damping) and '
           'examine again.'}


def _evaluated(likelihood: Likelihood, guess: Hypothesis, config: RobotConfig, now: Evidence
               ) -> Candidate | None:
    try:
        evidence = likelihood.evaluate(guess.config)
    except LeggedDynamicsError:
        return None
    gain = evidence.score - now.score - guess.cost - guess.shrinks * len(now.time)
    if gain >= SEARCH.least:    # to call other feet loaded explains nothing of how they move
        gain -= max(likelihood.evaluate(config, load=evidence.load).score - now.score, 0.0)
    if gain < SEARCH.least:
        return None
    return Candidate(Finding(guess.kind, guess.subject, guess.text, gain, advice=guess.advice),
                      guess.config, gain)
