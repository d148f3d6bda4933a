# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a tick of the estimator finds: one flat array for Python, named views of it for the kernels.

`carve_results` alone says where things lie. `ground_reaction.GroundReaction` documents each for
its users; vectors are in base axes here unless another frame is stated.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_FOOT_STATE
from legged_dynamics.estimation.filter.memory import N_MASS
from legged_dynamics.spatial.jit import inlined_part
from legged_dynamics.spatial.layout import matrix, vector


class FeetResults(NamedTuple):
    """Feet and the ground under them."""

    states: np.ndarray  # (nf, N_FOOT_STATE): frames and contact points: see `dynamics.jacobians`
    normals: np.ndarray  # (nf, 3): unit normal of the ground under each foot
    ground_normal: np.ndarray  # (3,): the common one


class ContactResults(NamedTuple):
    """
    Which feet are in contact.

    Attributes
    ----------
    flag, probability : (nf,) array
        Of contact, of the sample before the newest.
    latest : (nf,) array
        Flag of the newest sample.
    observable : (nf,) array
        1 for a foot whose force the measurements determine.

    """

    flag: np.ndarray
    probability: np.ndarray
    latest: np.ndarray
    observable: np.ndarray


class ForceResults(NamedTuple):
    """
    Contact coordinates of all feet.

    Attributes
    ----------
    coordinates, covariance : (nc,), (nc, nc) array [N, N m]
        Of the sample before the newest.
    latest, latest_covariance : (nc,), (nc, nc) array [N, N m]
        Of the newest sample.

    """

    coordinates: np.ndarray
    covariance: np.ndarray
    latest: np.ndarray
    latest_covariance: np.ndarray


class WrenchResults(NamedTuple):
    """
    Wrenches of the feet.

    Attributes
    ----------
    latest, raw : (nf, 6) array [N, N m]
        Of the newest sample, low-passed, and of the one before; each foot's axes and origin.
    net : (6,) array [N, N m]
        Sum of the latest ones about the base's origin.
    center_of_pressure : (3,) array [m]

    """

    latest: np.ndarray
    raw: np.ndarray
    net: np.ndarray
    center_of_pressure: np.ndarray


class ExternalResults(NamedTuple):
    """
    The external wrench and the error of the base's mass.

    Attributes
    ----------
    wrench, deviation : (6,) array [N, N m]
        About the base's origin, and its standard deviation.
    link_wrench, link_deviation : (6,) array [N, N m]
        In the axes of the link that it acts on, about the point.
    link_point : (3,) array [m]
        Where it acts.
    mass_error : (4,) array [kg, kg m]
        Mass and first moment that the model lacks.

    """

    wrench: np.ndarray
    deviation: np.ndarray
    link_wrench: np.ndarray
    link_deviation: np.ndarray
    link_point: np.ndarray
    mass_error: np.ndarray


class Results(NamedTuple):
    """All that a tick finds."""

    faults: np.ndarray  # (1,): bits of `ground_reaction.Fault`
    base_rotation: np.ndarray  # (9,): ``R_WB`` by rows
    joint_acceleration: np.ndarray  # (nj,) [rad/s^2 or m/s^2]
    # (2, nj): one deviation of velocities [rad/s or m/s] and of torques [N m or N]
    joint_noise: np.ndarray
    # (6,) [N, N m]: what the estimate leaves unexplained of the base's equations; NaN without an
    # IMU
    base_residual: np.ndarray
    # (nj,) [N m or N]: and of the joints'; NaN where no torque is measured
    joint_residual: np.ndarray
    feet: FeetResults
    contact: ContactResults
    forces: ForceResults
    wrenches: WrenchResults
    external: ExternalResults


@inlined_part
def carve_results(flat, layout):
    """Return the results as views of a flat array, and their length."""
    nj, nf, nc = layout.joints, layout.feet_count, layout.contacts
    faults, at = vector(flat, 0, 1)
    base_rotation, at = vector(flat, at, 9)
    joint_acceleration, at = vector(flat, at, nj)
    joint_noise, at = matrix(flat, at, 2, nj)
    base_residual, at = vector(flat, at, 6)
    joint_residual, at = vector(flat, at, nj)
    states, at = matrix(flat, at, nf, N_FOOT_STATE)
    normals, at = matrix(flat, at, nf, 3)
    ground_normal, at = vector(flat, at, 3)
    flag, at = vector(flat, at, nf)
    probability, at = vector(flat, at, nf)
    latest_flag, at = vector(flat, at, nf)
    observable, at = vector(flat, at, nf)
    coordinates, at = vector(flat, at, nc)
    covariance, at = matrix(flat, at, nc, nc)
    latest, at = vector(flat, at, nc)
    latest_covariance, at = matrix(flat, at, nc, nc)
    latest_wrench, at = matrix(flat, at, nf, 6)
    raw, at = matrix(flat, at, nf, 6)
    net, at = vector(flat, at, 6)
    center_of_pressure, at = vector(flat, at, 3)
    wrench, at = vector(flat, at, 6)
    deviation, at = vector(flat, at, 6)
    link_wrench, at = vector(flat, at, 6)
    link_deviation, at = vector(flat, at, 6)
    link_point, at = vector(flat, at, 3)
    mass_error, at = vector(flat, at, N_MASS)
    results = Results(
        faults=faults, base_rotation=base_rotation, joint_acceleration=joint_acceleration,
        joint_noise=joint_noise, base_residual=base_residual, joint_residual=joint_residual,
        feet=FeetResults(states=states, normals=normals, ground_normal=ground_normal),
        contact=ContactResults(flag=flag, probability=probability, latest=latest_flag,
                               observable=observable),
        forces=ForceResults(coordinates=coordinates, covariance=covariance, latest=latest,
                            latest_covariance=latest_covariance),
        wrenches=WrenchResults(latest=latest_wrench, raw=raw, net=net,
                               center_of_pressure=center_of_pressure),
        external=ExternalResults(wrench=wrench, deviation=deviation, link_wrench=link_wrench,
                                 link_deviation=link_deviation, link_point=link_point,
                                 mass_error=mass_error))
    return results, at
