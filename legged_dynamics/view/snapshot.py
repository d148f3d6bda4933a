# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshot: what is known of a robot at one instant, from estimator, message or recording."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.conversions import stamp_ns
from legged_dynamics.estimation import GroundReaction

_FORCE, _TORQUE, _AXES = ('force.x', 'force.y', 'force.z'), ('torque.x', 'torque.y', 'torque.z'), \
    ('x', 'y', 'z')


@dataclass(frozen=True)
class Forces:
    """
    Estimated forces of one instant; feet in the order of the robot's YAML.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the joint state that they belong to.
    wrench : (nf, 6) array [N, N m]
        ``[f; m]`` of the ground on the robot, in and about the foot's link frame.
    deviation : (nf, 3) array [N]
        One standard deviation of the force, in the foot's axes; NaN where not known.
    contact, observable : (nf,) bool array
        Whether each foot is in contact, and whether its force can be observed.
    center_of_pressure : (3,) array [m]
        Centre of pressure, base link; NaN when the feet carry next to nothing.
    external, external_deviation : (6,) array [N, N m]
        External wrench on the base and its standard deviation, base link; NaN where not known.
    ground_normal : (3,) array
        Normal of the ground, base link; NaN where not known.

    """

    stamp_ns: int
    wrench: np.ndarray
    deviation: np.ndarray
    contact: np.ndarray
    observable: np.ndarray
    center_of_pressure: np.ndarray
    external: np.ndarray
    external_deviation: np.ndarray
    ground_normal: np.ndarray

    @classmethod
    def none(cls, n_feet: int) -> Forces:
        """
        Return no forces on feet that are all in the air.

        Parameters
        ----------
        n_feet : int
            Number of feet.

        Returns
        -------
        Forces
            Zero, and NaN where nothing is known.

        """
        return cls(0, np.zeros((n_feet, 6)), np.full((n_feet, 3), np.nan), np.zeros(n_feet, bool),
                   np.zeros(n_feet, bool), np.full(3, np.nan), np.full(6, np.nan),
                   np.full(6, np.nan), np.full(3, np.nan))

    @classmethod
    def of(cls, reaction: GroundReaction) -> Forces:
        """
        Return the forces of an estimate at its newest sample.

        Parameters
        ----------
        reaction : GroundReaction
            Estimate.

        Returns
        -------
        Forces
            The same as :class:`ForcesReader` reads of its message.

        """
        deviation = np.sqrt([np.diagonal(reaction.covariance_of(foot, latest=True))[:3].clip(0.0)
                             for foot in reaction.feet])
        return cls(reaction.latest_ns, reaction.wrench, deviation, reaction.latest_contact,
                   reaction.observable, reaction.center_of_pressure, reaction.external_wrench,
                   reaction.external_deviation, reaction.ground_normal)


@dataclass(frozen=True)
class Snapshot:
    """
    A robot at one instant.

    Attributes
    ----------
    stamp_ns : int [ns]
    position : (nq,) array [rad or m]
        Of the joints, in the model's order.
    effort : (nj,) array or None [N m or N]
        NaN where it is not measured.
    rotation : (3, 3) array
        R_WB: of the base in the world, z up.
    base : (3,) array or None [m]
        p_WB, where it is known.
    forces : Forces or None
        None while there is no estimate.

    """

    stamp_ns: int
    position: np.ndarray
    effort: np.ndarray | None
    rotation: np.ndarray
    base: np.ndarray | None = None
    forces: Forces | None = None


class ForcesReader:
    """
    Reads the estimator's ``~/reactions``: a sensor_msgs/JointState of named values.

    Parameters
    ----------
    feet : sequence of str
        Links of the feet, in the order of the result.

    """

    def __init__(self, feet: tuple[str, ...]):
        self._feet = feet
        self._names: tuple[str, ...] = ()
        self._pick: Callable[[np.ndarray], np.ndarray] = np.asarray
        rows = [*([f'{foot}/{name}' for name in (*_FORCE, *_TORQUE)] for foot in feet),
                *([f'{foot}/{name}.stddev' for name in _FORCE] for foot in feet),
                [f'{foot}/contact' for foot in feet], [f'{foot}/observable' for foot in feet],
                [f'center_of_pressure.{axis}' for axis in _AXES],
                [f'external/{name}' for name in (*_FORCE, *_TORQUE)],
                [f'external/{name}.stddev' for name in (*_FORCE, *_TORQUE)],
                [f'ground_normal.{axis}' for axis in _AXES]]
        self._wanted = [name for row in rows for name in row]
        self._cuts = np.cumsum([len(row) for row in rows])[:-1]

    def __call__(self, message: Any) -> Forces | None:
        """
        Return the forces in a message.

        Parameters
        ----------
        message : sensor_msgs/JointState
            Named values in ``effort``, in any order.

        Returns
        -------
        Forces or None
            None when the message is of a robot with other feet.

        """
        names = tuple(message.name)
        if names != self._names:
            where = {name: i for i, name in enumerate(names)}
            places = np.array([where.get(name, len(names)) for name in self._wanted])
            self._names, self._pick = names, lambda values: np.append(values, np.nan)[places]
        values = self._pick(np.asarray(message.effort, float))
        parts = np.split(values, self._cuts)
        n = len(self._feet)
        wrench, deviation = np.array(parts[:n]), np.array(parts[n:2 * n])
        contact, observable, center, external, external_deviation, normal = parts[2 * n:]
        if not np.isfinite(wrench).all():
            return None
        return Forces(stamp_ns(message.header.stamp), wrench, deviation, contact > 0.5,
                      ~(observable < 0.5), center, external, external_deviation, normal)
