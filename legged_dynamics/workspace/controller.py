# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""WorkspaceController: state of the base and a target in, joint efforts out."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY, state_vector
from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.robot_check import check_floating_robot
from legged_dynamics.model.mimic import refuse_following_legs
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.workspace import control_tick as codes
from legged_dynamics.workspace.big_base import BIG_BASE, reduce_big_base
from legged_dynamics.workspace.command import LIMP, WorkspaceCommand, WorkspaceFault
from legged_dynamics.workspace.control_tick import (
    BODY,
    EFFORT,
    MISSING,
    N_INPUTS,
    NET,
    TARGET,
    find_dynamics,
    find_efforts,
    find_forces,
)
from legged_dynamics.workspace.force_division import BALANCED, FRICTION_CONE, friction_cone
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.standing_feet import StandingFeet
from legged_dynamics.workspace.target import BodyTarget
from legged_dynamics.workspace.workspace_force import wanted_acceleration

# A longer gap between ticks integrates no error [s].
LONGEST_TICK = 0.05
# What the feet may leave of the wrench on the base before it counts, as a part of the weight.
TOLERANCE = 1e-3
METHODS = ('even', 'least_squares', 'friction_cone')
# Faults with which there are no efforts, and those that stop the integral: more of the same
# would not help.
_LIMP = int(LIMP)
_STUCK = codes.EFFORT_LIMIT | codes.UNBALANCED | codes.ACCELERATION_LIMIT


class WorkspaceController:
    """
    Moves the base of a standing robot by its joints: the recursion of source 002 in SE(3).

    Every tick runs the paper's stages: velocity propagation, workspace dynamics, workspace force,
    division and propagation of forces.

    Parameters
    ----------
    model : RobotModel
        With a floating base and 1-DoF joints, all of them with motors.
    config : RobotConfig
        Its feet and joint physics.
    settings : WorkspaceSettings or mapping, optional
        Checked settings, or dotted names of `workspace.settings.SETTINGS`.

    Attributes
    ----------
    settings : WorkspaceSettings
        May be replaced between ticks.

    Raises
    ------
    ConfigurationError
        When the robot has no feet, a fixed base or spherical joints, or a setting is wrong.
    UnknownNameError
        When a foot or joint is not in the model.

    Examples
    --------
    >>> state = odometry.update(measurement)                            # doctest: +SKIP
    >>> command = controller.update(state, measurement, target)         # doctest: +SKIP
    >>> command.effort if command.usable else None                      # doctest: +SKIP

    """

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: WorkspaceSettings | Mapping[str, Any] | None = None):
        self.model = config.apply_to(model)
        check_floating_robot(self.model, config)
        for foot in config.feet:
            refuse_following_legs(self.model.joints,
                                  self.model.chain(self.model.frame(foot.link).body),
                                  'workspace control')
        self.feet = tuple(foot.link for foot in config.feet)
        self._config = config
        self._integral, self._inputs = np.zeros(6), np.zeros(N_INPUTS)
        self.configure(settings)
        self.reset()

    def configure(self, settings: WorkspaceSettings | Mapping[str, Any] | None = None) -> None:
        """
        Take other settings from the next tick on; the integral is kept.

        Raises
        ------
        ConfigurationError
            When a setting is wrong; those before stay in force.

        """
        if not isinstance(settings, WorkspaceSettings):
            settings = WorkspaceSettings.from_parameters(settings)
        self.settings = settings
        self._gains = settings.gains.copy()     # a read-only array costs more to hand over
        self._method = METHODS.index(settings['division.method'])
        self._big_base = settings['dynamics'] == 'big_base'
        self._parameters = np.zeros(codes.N_PARAMETERS)
        for at, value in (
                (codes.THRESHOLD, settings['singularity.threshold']),
                (codes.POSTURE_STIFFNESS, settings['posture.stiffness']),
                (codes.POSTURE_DAMPING, settings['posture.damping']),
                (codes.TOLERANCE, TOLERANCE * self.model.total_mass * GRAVITY),
                (codes.FAR, settings['limits.error.linear']),
                (codes.TURNED, settings['limits.error.angular'])):
            self._parameters[at] = value
        self._patience_ns = round(settings['limits.patience'] * 1e9)
        self._stances: dict[bytes, StandingFeet] = {}
        self._stance: bytes | None = None

    def reset(self) -> None:
        """Forget the integral and the posture: the next tick starts anew."""
        self._integral[:] = 0.0
        self._stance = None
        self._newest: int | None = None
        self._unbalanced_since: int | None = None
        self._integrate = True

    def update(self, state: BodyState, measurement: Measurement,
               target: BodyTarget) -> WorkspaceCommand:
        """
        Return the efforts that take the base towards its target.

        Parameters
        ----------
        state : BodyState
            Pose, twist and standing feet, of the same instant as the measurement.
        measurement : Measurement
            Joint positions and velocities, in the model's order.
        target : BodyTarget
            Where the base is wanted at that instant.

        Raises
        ------
        MeasurementError
            When the joints do not fit the model or are not finite.

        """
        nv, nf, stamp = self.model.nv, len(self.feet), measurement.stamp_ns
        q = state_vector(measurement.position, nv, 'joint positions')
        v = state_vector(measurement.velocity, nv, 'joint velocities')
        inputs = self._inputs
        inputs[:9], inputs[9:12] = state.rotation.reshape(9), state.position
        inputs[12:18], inputs[TARGET:] = state.twist, target.packed
        dt = self._time_step(stamp)
        if not self._integrate:
            dt = 0.0
        feet = self._feet_of(state, q)
        out = np.zeros(EFFORT + nv + 7 * nf)
        out[EFFORT + nv + 6 * nf:] = np.nan     # of legs that do not stand, nothing is known
        faults = 0 if len(feet.members) == nf else int(WorkspaceFault.FOOT_LOST)
        if feet.enough:
            s, room = feet.arrays, feet.room
            s.q[:], s.v[:] = q, v
            find_dynamics(s, self._parameters, self._held, inputs)
            if self._big_base:
                reduce_big_base(s, feet.scratch, BIG_BASE, inputs[12:18])
            find_forces(s, room, self._method, self._gains, self._integral, inputs, dt, out)
            outcome = BALANCED
            if self._method == FRICTION_CONE:
                outcome = friction_cone(
                    s.feet, s.states, s.grasp, s.jacobian, feet.program, inputs[:9],
                    out[NET:MISSING], out[EFFORT:EFFORT + nv], room.limits, room.weights,
                    room.shares)
            faults |= find_efforts(s, room, self._method, outcome, self._parameters, out)
            faults |= self._out_of_patience(stamp, faults)
        else:
            wanted_acceleration(inputs[BODY:TARGET], inputs[TARGET:], self._gains,
                                self._integral, 0.0, out[:24].reshape(4, 6))
            faults |= int(WorkspaceFault.NO_STANCE)
        self._integrate = not faults & _STUCK
        if faults & _LIMP:
            out[EFFORT:EFFORT + nv] = 0.0
        out.setflags(write=False)
        return WorkspaceCommand(stamp, WorkspaceFault(faults), state.contact, nv, out)

    # ---- between the stages ----------------------------------------------------------------

    def _time_step(self, stamp: int) -> float:
        step = 0.0 if self._newest is None else (stamp - self._newest) * 1e-9
        self._newest = stamp
        return step if 0.0 < step <= LONGEST_TICK else 0.0

    def _feet_of(self, state: BodyState, q: np.ndarray) -> StandingFeet:
        """Return the arrays of the feet that stand; joints they leave free stay where they are."""
        key = state.contact.tobytes()
        if key != self._stance:
            self._stance, self._held = key, q.copy()
        if key not in self._stances:
            self._stances[key] = StandingFeet(self.model, self._config.feet, state.contact,
                                              self.settings)
        return self._stances[key]

    def _out_of_patience(self, stamp: int, faults: int) -> int:
        if not faults & codes.UNBALANCED:
            self._unbalanced_since = None
            return 0
        if self._unbalanced_since is None:
            self._unbalanced_since = stamp
        return codes.LOST if stamp - self._unbalanced_since > self._patience_ns else 0
