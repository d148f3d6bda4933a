# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Rotor inertia and friction of motors that makers or their users have published.

A robot is recognised by the names of its description and of its meshes. The figures are starting
values with wide deviations: samples of one motor differ, and friction changes with wear and
temperature.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


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
# Deviation of published friction and rotor inertia, as shares of them.
FRICTION_DEVIATION, ARMATURE_DEVIATION, LOAD_DEVIATION = 1.0, 0.25, 1.0

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
    """
    Return what is known of a joint's motor.

    Parameters
    ----------
    names : sequence of str
        Name of the robot, and of files that its description refers to.
    joint : str
        Name of the joint.

    Returns
    -------
    KnownMotor or None
        None where no motor of the table fits.

    """
    for motor in MOTORS:
        if (any(re.search(motor.robot, name, re.IGNORECASE) for name in names)
                and re.search(motor.joint, joint, re.IGNORECASE)):
            return motor
    return None
