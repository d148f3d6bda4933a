# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What lies between a measured torque and the torque on a link: a model of each joint's actuator.

With ``v`` and ``a`` the joint's velocity and acceleration and ``tau`` its measured torque, the
torque that the motor gives to the link is::

    tau_link = (tau(t + delay) - offset) / gain - armature a - damping v
               - (friction + load_friction |tau|) tanh(v / FRICTION_SPEED)

Each of these has a value and a standard deviation. One that a YAML does not state, or states as
zero, is unknown: its deviation is what motors of that torque limit vary by. A stated one is
believed to `STATED_SHARE` of itself unless the YAML gives its deviation too. The terms are those
of Gautier and Khalil, "Identification of inertial parameters" (dynamic model with losses and
rotor inertia), with friction that grows with load as in harmonic drives and planetary gears.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.robot_config import RobotConfig, by_joint
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.frames import GRAVITY

# Rows of the tables of values and deviations.
PARAMETERS = ('friction', 'damping', 'load_friction', 'armature', 'gain', 'offset', 'delay')
FRICTION, DAMPING, LOAD_FRICTION, ARMATURE, GAIN, OFFSET, DELAY = range(len(PARAMETERS))
UNITS = ('N m', 'N m s/rad', '1', 'kg m^2', '1', 'N m', 's')
# YAML key that states each value.
KEYS = ('robot.joint_friction', 'robot.joint_damping', 'robot.load_friction', 'robot.armature',
        'robot.sensors.effort_scale', 'robot.sensors.effort_offset', 'noise.effort_age')

# Deviation of a value that is not known: shares of the torque limit (for friction, damping,
# armature and offset), else the value itself. From small servos to hydraulic cylinders these
# span what makers state.
UNKNOWN = (0.03, 0.004, 0.02, 8e-4, 0.02, 0.004, 3e-3)
# What is believed of one that is not stated: load friction and delay are small until data say
# otherwise, else a motor that has none would be thought of as a bad one.
NOT_STATED = (0.03, 0.004, 0.005, 8e-4, 0.02, 0.004, 5e-4)
# Deviation of a stated value, as a share of it.
STATED_SHARE = 0.1
# Deviation of a stated delay [s].
STATED_DELAY = 3e-4
# Torque limit of a joint whose URDF has none, over weight times the height of the base.
ASSUMED_LIMIT = 0.3


@dataclass(frozen=True, eq=False)
class ActuatorModel:
    """
    Actuator parameters of all joints, in the model's joint order; rows as in `PARAMETERS`.

    Attributes
    ----------
    value : (7, nj) array
        What is believed: gain 1 and offset 0 after the sensors' correction.
    deviation : (7, nj) array
        One standard deviation of `value`.
    unknown : (7, nj) array
        The deviation that each would have if nothing were known of it.
    limit : (nj,) array [N m or N]
        Torque limits that `unknown` was made from.

    """

    value: np.ndarray
    deviation: np.ndarray
    unknown: np.ndarray
    limit: np.ndarray

    @classmethod
    def of(cls, model: RobotModel, config: RobotConfig) -> ActuatorModel:
        """
        Return the actuators that a configuration describes.

        Parameters
        ----------
        model : RobotModel
            The robot; joints without an effort limit get one from the robot's weight and size.
        config : RobotConfig
            Whose stated values and deviations are taken.

        Returns
        -------
        ActuatorModel

        """
        limit = _assumed_limits(model)
        scale = np.ones((len(PARAMETERS), len(limit)))
        scale[[FRICTION, DAMPING, ARMATURE, OFFSET]] = limit
        unknown, believed = (np.array(each)[:, None] * scale for each in (UNKNOWN, NOT_STATED))
        stated = config.actuators

        def spread(values: Sequence[float]) -> np.ndarray:
            """Return (nj,) values in the model's order, NaN where nothing is given."""
            found = np.full(len(limit), np.nan)
            for name, each in by_joint(config.joints or model.joint_names, values).items():
                found[model.joint_index(name)] = each
            return found
        value, deviation = np.zeros_like(unknown), np.full_like(unknown, np.nan)
        for row, given, doubt in (
                (FRICTION, config.joint_friction, stated.joint_friction_deviation),
                (DAMPING, config.joint_damping, stated.joint_damping_deviation),
                (LOAD_FRICTION, stated.load_friction, stated.load_friction_deviation),
                (ARMATURE, config.armature, stated.armature_deviation)):
            value[row] = np.nan_to_num(spread(given))
            deviation[row] = spread(doubt)
        value[GAIN] = 1.0
        deviation[GAIN] = spread(stated.joint_effort_gain)
        deviation[OFFSET] = spread(stated.joint_effort_offset)
        value[DELAY] = config.noise.effort_age
        if stated.effort_age_deviation > 0.0:
            deviation[DELAY] = stated.effort_age_deviation
        elif config.noise.effort_age != 0.0:
            deviation[DELAY] = STATED_DELAY
        believed[GAIN] = unknown[GAIN] = config.noise.effort_gain
        rows = [FRICTION, DAMPING, LOAD_FRICTION, ARMATURE]
        believed[rows] = np.where(value[rows] != 0.0, STATED_SHARE * np.abs(value[rows]),
                                  believed[rows])
        deviation = np.where(np.isnan(deviation), believed, deviation)
        return cls(value, deviation, unknown, limit)


def _assumed_limits(model: RobotModel) -> np.ndarray:
    """Return the effort limits of all joints, (nj,), guessed where the URDF states none."""
    limit = np.array(model.effort_limits, float)
    known = np.isfinite(limit) & (limit > 0.0)
    # Of a robot whose size is not known, a leg as long as a body of that mass has: m ~ l^3.
    guess = (ASSUMED_LIMIT * model.total_mass * GRAVITY * 0.15
             * max(model.total_mass, 0.1) ** (1 / 3))
    return np.where(known, limit, float(np.median(limit[known])) if known.any() else guess)


# -------------------------------------------------------------------------------------------------
# Rotor inertia and friction of motors that makers or their users have published.
#
# A robot is recognised by the names of its description and of its meshes. The figures are starting
# values with wide deviations: samples of one motor differ, and friction changes with wear and
# temperature.


class KnownMotor(NamedTuple):
    """
    The motors of some joints of a robot.

    Attributes
    ----------
    robot, joint : str
        Regular expressions of the robot's and the joints' names.
    source : str
        Where the figures come from.
    armature : float [kg m^2]
        Rotor inertia times the gear ratio squared.
    friction : float [N m]
        Coulomb friction.
    damping : float [N m s/rad]
        Viscous friction.
    load_friction : float
        Friction that grows with load, as a share of the torque.
    gain : float
        Error of the scale of torques, one deviation: of motor currents, not of torque sensors.
    cutoff : float [Hz]
        Frequency up to which the link follows the motor; 0: rigid.
    limit : float [N m]
        Largest torque; 0: as the description says.

    """

    robot: str
    joint: str
    source: str
    armature: float
    friction: float
    damping: float
    load_friction: float = 0.0
    gain: float = 0.03
    cutoff: float = 0.0
    limit: float = 0.0


_UNITREE = "the maker's MuJoCo model (unitree_mujoco)"
# Deviation of published friction, as a share of it.
FRICTION_DEVIATION = 1.0
# Deviation of published rotor inertia, as a share of it.
ARMATURE_DEVIATION = 0.25
# Deviation of published friction that grows with the load, as a share of it.
LOAD_DEVIATION = 1.0

MOTORS = (
    # Two belt stages of ratio 3 each; a belt stage loses 2 to 5 % of its torque.
    KnownMotor(r'solo|bolt|odri|teststand', r'', 'actuator module of Grimminger et al. (2020), '
               'rotor 4.5e-6 kg m^2 with gear ratio 9 in two belt stages', 3.645e-4, 0.048, 1.4e-4,
               0.07, 0.1, 10.0, 2.7),
    KnownMotor(r'^go1', r'calf', 'rotors in its description (1.12e-4 kg m^2), gear ratio 9.5; '
               'friction as its sister Go2', 1.01e-2, 0.2, 0.1),
    KnownMotor(r'^go1', r'', 'rotors in its description (1.12e-4 kg m^2), gear ratio 6.33; '
               'friction as its sister Go2', 4.5e-3, 0.2, 0.1),
    KnownMotor(r'^go2', r'', _UNITREE, 0.01, 0.2, 0.1),
    KnownMotor(r'^a2(_|$)', r'calf', _UNITREE, 0.03, 3.0, 1.0),
    KnownMotor(r'^a2(_|$)', r'', _UNITREE, 0.03, 1.0, 0.2),
    KnownMotor(r'^r1(_|$)', r'', _UNITREE, 0.01, 0.1, 0.001),
    KnownMotor(r'^(b2|h1)(_|$)', r'', _UNITREE, 0.1, 0.0, 1.0),
    KnownMotor(r'^g1(_|$)', r'', _UNITREE, 0.01, 0.2, 0.05),
)


def known_motor(names: Sequence[str], joint: str) -> KnownMotor | None:
    """Return what is known of a joint's motor; None where no motor of the table fits."""
    return next((motor for motor in MOTORS if re.search(motor.joint, joint, re.IGNORECASE) and any(
        re.search(motor.robot, name, re.IGNORECASE) for name in names)), None)
