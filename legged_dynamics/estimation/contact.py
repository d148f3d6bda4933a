# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact of each foot: a Bayes filter with two states, and levels of force and motion for it.

Each sample adds a log-likelihood ratio of contact over no contact; between samples the odds relax
towards even at the switching rate. A foot counts as in contact above one probability and as up
below another (hysteresis). Here are the filter, the likelihoods of force and of motion, and the
update by force where torque is measured; `contact_by_motion` has the update without torque.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.contact_evidence import (
    CLEARANCE,
    FLIGHT_NOISE,
    SLIP,
    SWING,
    SWING_CLEARANCE,
    bayes_update,
    force_evidence,
    relax,
)
from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    SIZE,
    START,
    feet_table,
    has_moment,
)
from legged_dynamics.dynamics.kinematics import (
    OMEGA,
    POSITION,
    VELOCITY,
    body_workspace,
    forward_kinematics,
    frame_poses,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.filter.layout import WEIGHTS
from legged_dynamics.estimation.filter.memory import LIFT
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.estimation.settings import (
    EstimatorSettings,
    nominal_position,
    standing_jacobian,
)
from legged_dynamics.model.parts import FRICTION
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.factorizations import factorize
from legged_dynamics.optimization.kalman_update import whiten
from legged_dynamics.spatial.algebra import add, cross, dot, load3, subtract
from legged_dynamics.spatial.jit import as_python, part
from legged_dynamics.spatial.layout import get3


@part
def _hysteresis(p, down, settings):
    """Return whether a foot counts as in contact (1 or 0), by probability and last flag."""
    if p > settings.on:
        return 1.0
    return 0.0 if p < settings.off else down


# -------------------------------------------------------------------------------------------------
# Levels of contact, from the robot.
#
# The stated torque noise, mapped to the foot in the standing pose, is the force that a foot in the
# air may seem to have; the threshold is twice that, and at most a share of an even load, so that
# lightly loaded feet of a robot with many feet still count.


@dataclass(frozen=True)
class LevelSettings:
    """Tuned numbers of the levels, chosen on the robots of benchmarks/zoo."""

    # On a fixed base, where no equations of the base support those of the legs.
    largest_alone: float = 0.1      # weights, largest error
    share: float = 0.16             # of a foot's even share, largest threshold
    # What is not known of actuators is no noise that averages out.
    doubted_share: float = 0.3      # of an even share, largest threshold by that


LEVELS = LevelSettings()


class ContactLevels:
    """Levels of normal force from torque noise, standing; those of settings go first."""

    def __init__(self, model: RobotModel, config: RobotConfig, settings: EstimatorSettings):
        table = feet_table(model, config.feet)
        jacobian = standing_jacobian(model, config, table)
        for name in config.unknown_efforts:     # they measure nothing
            jacobian[:, model.joint_index(name)] = 0.0
        self._legs = [jacobian[start:start + size]
                      for start, size in table.index[:, [START, SIZE]]]
        self._stated = config.noise.of_joints('effort', model, config.joints) ** 2
        self._known = np.zeros(len(self._legs))
        self._friction = model.tree.constants[1:, FRICTION] ** 2
        self._settings, self._weight = settings, model.total_mass * GRAVITY
        self._largest = TUNED.largest_noise if model.floating else LEVELS.largest_alone
        self._known = np.array([level[2] for level in self.of(np.zeros(model.nv))])

    def of(self, doubt: np.ndarray | None = None) -> Iterator[tuple[float, ...]]:
        """
        Yield the levels of each foot, as fractions of the weight.

        Contact threshold (even odds), error of a swing foot, error by noise and doubt, and by
        doubt alone. ``doubt`` (nv,): actuator torque variance [(N m)^2].
        """
        settings, weight, nf = self._settings, self._weight, len(self._legs)
        scale = np.sqrt(self._stated + (self._friction if doubt is None else doubt)
                        + (1e-9 * weight) ** 2)
        for leg, known in zip(self._legs, self._known):
            # A straight leg does not measure the force along it: there the upper bound holds.
            # By singular values: measured and unmeasured directions may differ by any factor.
            U, s, _ = np.linalg.svd(leg / scale)
            information = np.full(len(leg), weight ** -2)
            information[:len(s)] += s ** 2
            error = math.sqrt((U[2] ** 2 / information).sum()) / weight
            doubted = math.sqrt(max(error ** 2 - known ** 2, 0.0)) if doubt is not None else 0.0
            # A sole is unloaded slowly; where it rises says more.
            hidden = doubted if len(leg) == 3 else 0.0
            noise = settings.contact_force_noise or min(max(error, TUNED.air_force), self._largest)
            threshold = settings.contact_force_threshold or max(
                min(2.0 * noise, LEVELS.share / nf), min(hidden, LEVELS.doubted_share / nf))
            yield threshold, max(noise, hidden), error, doubted


def _leg_length(model: RobotModel, config: RobotConfig) -> float:
    """Return the longest distance between a foot and its leg's first joint, standing [m]."""
    longest = 0.0
    bodies = body_workspace(model)
    as_python(forward_kinematics)(model.tree, nominal_position(model, config), np.zeros(model.nv),
                                  np.zeros(model.nv), np.zeros(9), bodies)
    poses = frame_poses(model, nominal_position(model, config),
                        tuple(foot.link for foot in config.feet))
    for foot in config.feet:
        chain = model.chain(model.frame(foot.link).body)
        hip = bodies[min(chain), POSITION:POSITION + 3] if len(chain) else np.zeros(3)
        longest = max(longest, float(np.linalg.norm(poses[foot.link].p - hip)))
    return max(longest, 1e-3)


def motion_levels(model: RobotModel, config: RobotConfig,
                  settings: EstimatorSettings) -> dict[str, float]:
    """Return the levels of contact without torque, by the names that kernels use."""
    leg = _leg_length(model, config)
    speed = float(np.sqrt(GRAVITY * leg))
    # Noise of a foot's speed: that of its leg's joints, each at about a leg's length.
    stated = float(np.max(config.noise.of_joints('velocity', model, config.joints), initial=0.0))
    return {
        'slip_speed': settings.contact_slip_speed or float(np.hypot(SLIP * speed, stated * leg)),
        'swing_speed': settings.contact_swing_speed or SWING * speed,
        'clearance': settings.contact_clearance or CLEARANCE * leg,
        'swing_clearance': settings.contact_swing_clearance or SWING_CLEARANCE * leg,
        'natural_time': float(np.sqrt(leg / GRAVITY)), 'flight': TUNED.slow_level * FLIGHT_NOISE}


# -------------------------------------------------------------------------------------------------
# Lift: whether a foot has risen from the place where it stood.
#
# A sole is unloaded slowly before it lifts, and for tens of milliseconds its force is below the
# noise of the torques. But a foot that has not risen from the place where it bore weight has not
# lifted. Heights are along the ground's normal, of each foot over its own place, moved along with
# the feet that bear weight; no height is compared with another foot's. A foot that has risen may
# stand on ground that gives way, and one that sinks was taken to bear weight in the air: then
# force alone decides. Point feet are unloaded at once, and have no such rule.


@part
def predict_heights(feet, states, normal, lift):
    """Move the stored ground heights ``lift`` of all feet along with the loaded feet."""
    step, total = 0.0, 0.0
    for i in range(feet.index.shape[0]):
        height = dot(normal, load3(states[i], CONTACT))
        if lift[i, LIFT.state] > 1.5:
            step += height - lift[i, LIFT.height]
            total += 1.0
        lift[i, LIFT.height] = height
    for i in range(feet.index.shape[0]):
        if total > 0.0:
            lift[i, LIFT.place] += step / total
        else:
            lift[i, LIFT.state] = 0.0       # no foot bears weight: places are lost


@part
def lift_allowance(settings, lift, i):
    """Return by how many force thresholds foot i may be lighter, since it has not risen."""
    if lift[i, LIFT.state] < 0.5:
        return 0.0
    rise = (lift[i, LIFT.height] - lift[i, LIFT.place]) / settings.risen
    landing = lift[i, LIFT.since] * settings.natural_frequency < settings.landing_time
    return (settings.landed if landing else settings.unmoved) * max(1.0 - rise * rise, 0.0)


@part
def update_place(lift, i, down, loaded, dt):
    """Keep the ground place of a loaded foot, forget that of one that has left."""
    if loaded and down > 0.5:
        lift[i, LIFT.place], lift[i, LIFT.state] = lift[i, LIFT.height], 2.0
    elif down > 0.5:
        lift[i, LIFT.state] = min(lift[i, LIFT.state], 1.0)
    else:
        lift[i, LIFT.state] = 0.0
    lift[i, LIFT.since] = lift[i, LIFT.since] + dt if down > 0.5 else 0.0


# -------------------------------------------------------------------------------------------------
# Contact by force, where torque is measured.
#
# A Bayes filter for each foot takes its estimated normal force with the variance: ``x`` in body
# weights is ``N(2 t, s^2)`` on a standing foot and ``N(0, s^2)`` on a swinging one, so the
# log-likelihood ratio ``2 t (x - t) / s^2`` changes sign at the threshold t. No speed enters: a
# foot that bears weight stands, on moving ground as well.
#
# The force of a foot that is more likely up than down becomes a mixture of two cases, the
# estimated force and none. Mean and covariance are those of the mixture, so that the force's
# deviation contains the uncertainty about contact.


# A foot swings for certain where it is higher than the lowest ones by this part of a leg's length,
# and moves against them faster than this part of sqrt(g l).
RAISED = 0.015
FAST = 0.05


@part
def _doubt_weight(settings, error):
    """Return how far an error of the forces by doubt of torques [weights] is doubted, 0 to 1."""
    return error * error / (error * error + settings.largest_noise * settings.largest_noise)


@part
def foot_velocity(feet, bodies, states, i):
    """Return the velocity of foot i's contact point relative to the base, base axes."""
    body, point = bodies[feet.index[i, BODY]], load3(states[i], CONTACT)
    return add(load3(body, VELOCITY),
               cross(load3(body, OMEGA), subtract(point, load3(body, POSITION))))


@part
def find_swinging(feet, bodies, states, normal, length, swings):
    """
    Mark feet that certainly swing in ``swings``: high and fast against the lowest.

    Never the lowest foot nor, of more than three, the lowest two. ``length``: of a leg [m].
    """
    nf = feet.index.shape[0]
    lowest, second = -1, -1
    for i in range(nf):
        swings[i] = dot(normal, load3(states[i], CONTACT))
        if lowest < 0 or swings[i] < swings[lowest]:
            lowest, second = i, lowest
        elif second < 0 or swings[i] < swings[second]:
            second = i
    reference = second if nf > 3 else lowest
    ground = swings[reference] + RAISED * length
    first = foot_velocity(feet, bodies, states, lowest)
    other = foot_velocity(feet, bodies, states, reference)
    fast = FAST * FAST * GRAVITY * length
    for i in range(nf):
        if swings[i] > ground:
            v = foot_velocity(feet, bodies, states, i)
            u, w = subtract(v, first), subtract(v, other)
            swings[i] = 1.0 if dot(u, u) > fast and dot(w, w) > fast else 0.0
        else:
            swings[i] = 0.0


@part
def normal_force(P, x, s, normal):
    """Return a foot's normal force [N] and its variance; ``s``: its first coordinate."""
    variance = 0.0
    for r in range(3):
        for c in range(3):
            variance += normal[r] * P[s + r, s + c] * normal[c]
    return dot(normal, load3(x, s)), variance


@part
def light_load(feet, i, settings, force, threshold):
    """Return what a foot that is called up may bear [N]: soles are unloaded slowly."""
    return min(max(force, 0.0), threshold * settings.weight) if has_moment(feet.index, i) else 0.0


@part
def mix_with_air(feet, i, settings, x, P, share, light, rows, block):
    """
    Mix ``x``, ``P`` with the case, of probability ``share``, that foot i is in the air.

    Mean and covariance of two Gaussians: the filter's, and that conditioned on a force of
    at most `air_force` of the weight, or the deviation ``light`` [N]: see `light_load`.
    ``rows`` and ``block`` are scratch.
    """
    s, size, nx = feet.index[i, START], feet.index[i, SIZE], x.shape[0]
    air = (settings.air_force * settings.weight) ** 2 + light * light
    for r in range(size):
        for c in range(r + 1):
            block[r, c] = P[s + r, s + c]
        block[r, r] += air * (1.0 if r < 3 else settings.arm ** 2)
        for k in range(nx):
            rows[r, k] = P[s + r, k]
    if not factorize(block, size):
        return
    away, nu = rows[6], block[6]
    for r in range(size):
        nu[r] = x[s + r]
    whiten(block, rows, nu, size)
    for k in range(nx):
        away[k] = 0.0
    for r in range(size):
        for k in range(nx):
            away[k] -= nu[r] * rows[r, k]
    spread = share * (1.0 - share)
    for i in range(nx):
        to, more = P[i], spread * away[i]
        for k in range(nx):
            to[k] += more * away[k]
        for r in range(size):
            h, row = share * rows[r, i], rows[r]
            for k in range(nx):
                to[k] -= h * row[k]
    for k in range(nx):
        x[k] += share * away[k]


@part
def _force_evidence(robot, settings, i, force, variance):
    """Return the log-likelihood ratio of contact of foot i by a normal force [N]."""
    return force_evidence(force, variance, settings.weight, robot.contact_levels[i, 0],
                          robot.contact_levels[i, 1], settings.largest_evidence)


@part
def clear_given_air(feet, layout, row, found):
    """Set the forces of feet that are given as up to zero."""
    for i in range(feet.index.shape[0]):
        if row[layout.given_contact + i] < 0.5:     # False where it is not given
            for k in range(feet.index[i, START], feet.index[i, START] + feet.index[i, SIZE]):
                found.coordinates[k] = found.latest[k] = 0.0


@part
def update_contact(arrays, layout, settings, normal, dt, results):
    """
    Update each foot's contact probability and flag by its force; ``normal``: base axes.

    The force of a foot that is more likely up than down is mixed with zero.
    """
    robot, tracking, row = arrays.robot, arrays.tracking, arrays.window[-1]
    contact, lift, feet_at = arrays.memory.contact, arrays.memory.lift, results.feet
    x, P = arrays.memory.forces.state, arrays.memory.forces.covariance
    feet, swings = robot.feet, arrays.scratch.vectors[WEIGHTS]
    find_swinging(feet, arrays.scratch.bodies, feet_at.states, normal,
                  GRAVITY / settings.natural_frequency ** 2, swings)
    for i in range(feet.index.shape[0]):
        threshold = robot.contact_levels[i, 0]
        force, variance = normal_force(P, x, feet.index[i, START], get3(feet_at.normals, i, 0))
        # Point feet are unloaded at once.
        there = 0.0 if swings[i] > 0.5 or not has_moment(feet.index, i) else lift_allowance(
            settings, lift, i)
        # A force that seems to pull after an impact is an error, and counts as no force.
        evidence = _force_evidence(
            robot, settings, i, max(force, 0.0) if there > settings.unmoved else force, variance)
        if there > 0.0:
            evidence += min(there * _force_evidence(
                robot, settings, i, 2.0 * threshold * settings.weight, variance),
                settings.motion_evidence)
        evidence += row[layout.switch_evidence + i] - settings.swing_evidence * (
            swings[i] * _doubt_weight(settings, robot.contact_levels[i, 3]))
        p = bayes_update(relax(contact.probability[i], settings.switching_rate, dt), evidence)
        down = _hysteresis(p, contact.flag[i], settings)
        given = row[layout.given_contact + i]
        lifted = 1.0 - p
        if not math.isnan(given):
            down, p, lifted = given, bayes_update(given, 0.0), 1.0 - given
        update_place(lift, i, down, force > 2.0 * threshold * settings.weight, dt)
        contact.flag[i] = results.contact.flag[i] = results.contact.latest[i] = down
        contact.probability[i] = results.contact.probability[i] = p
        if lifted > 0.5:
            light = light_load(feet, i, settings, force, threshold) if math.isnan(given) else 0.0
            mix_with_air(feet, i, settings, x, P, lifted, light, tracking.foot_rows,
                         tracking.block)


@part
def mix_latest_with_air(robot, settings, tracking, probability, normals, dt):
    """
    Mix the latest forces of feet that are likely up with zero.

    They have accelerometer noise and half a tick's process noise; a force that then remains
    is evidence of a landing that the filter has not seen.
    """
    feet, x, P = robot.feet, tracking.latest, tracking.latest_covariance
    for i in range(feet.index.shape[0]):
        if probability[i] > 0.5:
            continue
        force, variance = normal_force(P, x, feet.index[i, START], get3(normals, i, 0))
        p = bayes_update(relax(probability[i], settings.switching_rate, dt),
                         _force_evidence(robot, settings, i, force, variance))
        if p < 0.5:
            light = light_load(feet, i, settings, force, robot.contact_levels[i, 0])
            mix_with_air(feet, i, settings, x, P, 1.0 - p, light, tracking.foot_rows,
                         tracking.block)
