# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""GroundReaction: the estimate of one instant."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    START,
    FeetTable,
)
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.estimation.filter.layout import OffFeetResults, Results, sizes_of
from legged_dynamics.exceptions import index_of
from legged_dynamics.spatial.layout import allocated

# Results on links off the feet, each (n, 3).
OFF_FEET = OffFeetResults._fields


class LinkContact(NamedTuple):
    """
    A link other than a foot that the ground bears.

    Attributes
    ----------
    link : str
        Its name.
    force, deviation : (3,) array [N]
        Of the ground on the link, and one standard deviation, in the base's axes.
    point : (3,) array [m]
        Where it acts, in the base.

    """

    link: str
    force: np.ndarray
    deviation: np.ndarray
    point: np.ndarray

    def __str__(self) -> str:
        """Return link and size of the force."""
        return f'{self.link}, {np.linalg.norm(self.force):.0f} N'


class Mode(IntEnum):
    """Which equations an estimate rests on."""

    UNAVAILABLE = codes.UNAVAILABLE
    TORQUE_ONLY = codes.TORQUE_ONLY
    BASE_ONLY = codes.BASE_ONLY
    FUSED = codes.FUSED


class Fault(IntFlag):
    """What was wrong with the input of an estimate."""

    NONE = 0
    WARMING_UP = codes.WARMING_UP
    TIME_JUMPED_BACK = codes.TIME_JUMPED_BACK
    GAP = codes.GAP
    NO_EFFORT = codes.NO_EFFORT
    PARTIAL_EFFORT = codes.PARTIAL_EFFORT
    NO_IMU = codes.NO_IMU
    NO_ORIENTATION = codes.NO_ORIENTATION
    NOISE_MISSTATED = codes.NOISE_MISSTATED
    FRICTION_MISSTATED = 256
    ARMATURE_MISSTATED = 512
    EFFORT_LATE = 1024
    GAIN_MISSTATED = 2048
    IMU_LATE = 4096
    VELOCITY_LATE = 8192
    DRIVES_ELASTIC = 16384
    STAMPS_UNEVEN = 32768


@dataclass(frozen=True)
class ResultLayout:
    """
    Where an estimator's results lie in its flat output; the same for all its estimates.

    Attributes
    ----------
    feet, joints : tuple of str
        Links of the feet, and joints, in the order of all arrays.
    table : FeetTable
        Contact coordinates of the feet.
    places : mapping from str to (slice, tuple of int)
        Part of the flat output, and shape, of each array of `filter.layout.Results`, by its name:
        ``'forces.covariance'``.
    links : tuple of str
        Links other than feet that may touch the ground.

    """

    feet: tuple[str, ...]
    joints: tuple[str, ...]
    table: FeetTable
    places: Mapping[str, tuple[slice, tuple[int, ...]]]
    links: tuple[str, ...] = ()


def places_of_results(layout: np.ndarray, links: int = 0
                      ) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Return the slice and shape of each result in the flat output, by name."""
    results, flat = allocated(Results(), sizes_of(layout, links))
    places = {}
    for name, part in results._asdict().items():
        fields = {'': part} if isinstance(part, np.ndarray) else part._asdict()
        for field, array in fields.items():
            start = (array.ctypes.data - flat.ctypes.data) // flat.itemsize
            places[f'{name}.{field}' if field else name] = (
                slice(start, start + array.size), array.shape)
    return places


class GroundReaction(NamedTuple):
    """
    Ground reactions, now and one sample before. Arrays are read-only; forces act on the robot.

    `raw_wrench`, `contact` and `covariance` describe `stamp_ns`, the sample before the newest:
    what two samples on either side say of it, at full bandwidth and without lag. `wrench`,
    `latest_contact`, `latest_covariance`, `net_wrench`, `center_of_pressure` and `external_wrench`
    describe `latest_ns`, the newest sample, without delay: for control.

    Axes: F is a foot's link frame, B the base link, W the gravity-aligned world of the IMU.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the joint state that `raw_wrench` and `contact` describe: `delay` samples before
        the newest.
    latest_ns : int [ns]
        Stamp of the newest joint state, which `wrench` and what goes with it describe.
    mode : Mode
        UNAVAILABLE means that no wrench is known; all of them are then zero.
    layout : ResultLayout
        Names, and where things lie in `data`.
    data : array
        All results in one array; the properties below are views of it.

    """

    stamp_ns: int
    latest_ns: int
    mode: Mode
    layout: ResultLayout
    data: np.ndarray

    def _array(self, name: str) -> np.ndarray:
        place, shape = self.layout.places[name]
        return self.data[place].reshape(shape)

    @property
    def faults(self) -> Fault:
        """Return what was wrong with the input of the sample that completed this estimate."""
        return Fault(int(self._array('faults')[0]))

    @property
    def feet(self) -> tuple[str, ...]:
        """Foot links, in the order of all per-foot arrays."""
        return self.layout.feet

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints, in the order of all per-joint arrays."""
        return self.layout.joints

    @property
    def wrench(self) -> np.ndarray:
        """(nf, 6) ``[f; m]`` in F about its origin [N, N m] at `latest_ns`, in `ground.limits`."""
        return self._array('wrenches.latest')

    @property
    def raw_wrench(self) -> np.ndarray:
        """(nf, 6) ``[f; m]`` in F about F's origin, at `stamp_ns` and full bandwidth [N, N m]."""
        return self._array('wrenches.raw')

    @property
    def contact(self) -> np.ndarray:
        """(nf,) bool: feet in contact at `stamp_ns`."""
        return self._array('contact.flag') > 0.5

    @property
    def contact_probability(self) -> np.ndarray:
        """(nf,) probability of contact at `stamp_ns`, the sample before the newest."""
        return self._array('contact.probability')

    @property
    def observable(self) -> np.ndarray:
        """
        (nf,) bool: feet whose force the measurements determine.

        False, for example, for the squeeze between feet when no torque is measured, and where a
        force came out larger than weight, motion and torques allow: that part is cut off then.
        """
        return self._array('contact.observable') > 0.5

    @property
    def net_wrench(self) -> np.ndarray:
        """(6,) sum of `wrench` over the feet, in B about B's origin [N, N m]."""
        return self._array('wrenches.net')

    @property
    def center_of_pressure(self) -> np.ndarray:
        """(3,) in B [m]; NaN when the feet bear less than 2 % of the weight."""
        return self._array('wrenches.center_of_pressure')

    @property
    def base_residual(self) -> np.ndarray:
        """(6,) wrench on the base left unexplained, in B [N, N m]; NaN without an IMU."""
        return self._array('base_residual')

    @property
    def latest_contact(self) -> np.ndarray:
        """(nf,) bool: feet in contact at `latest_ns`."""
        return self._array('contact.latest') > 0.5

    @property
    def latest_covariance(self) -> np.ndarray:
        """(nc, nc) as `covariance`, of `wrench` before any low-pass."""
        return self._array('forces.latest_covariance')

    @property
    def external_wrench(self) -> np.ndarray:
        """
        (6,) wrench on the base that is not the feet's, in B about B's origin [N, N m].

        A push, a pull, a hand on the robot. Slow parts fade into `mass_error`. Zero where no
        torque is measured, which alone can tell it from the feet's.
        """
        return self._array('external.wrench')

    @property
    def external_deviation(self) -> np.ndarray:
        """(6,) deviation of `external_wrench` [N, N m]; the weight where no torque is measured."""
        return self._array('external.deviation')

    @property
    def link_wrench(self) -> np.ndarray:
        """(6,) `external_wrench` in the axes of the link that is pushed, about its point."""
        return self._array('external.link_wrench')

    @property
    def link_deviation(self) -> np.ndarray:
        """(6,) standard deviation of `link_wrench` [N, N m]."""
        return self._array('external.link_deviation')

    @property
    def link_point(self) -> np.ndarray:
        """(3,) point of the link that is pushed, in B [m]; the base's origin by default."""
        return self._array('external.link_point')

    @property
    def contacts_off_feet(self) -> tuple[LinkContact, ...]:
        """
        Links other than feet that the ground bears, those with the largest force first.

        While there is any, `external_wrench` is zero with a deviation that has their forces'.
        """
        if not self.layout.links:
            return ()
        force = self._array('off_feet.force')
        if not force.any():
            return ()
        rest = [self._array(f'off_feet.{name}') for name in OFF_FEET[1:]]
        return tuple(sorted(
            (LinkContact(link, force[i], *(array[i] for array in rest))
             for i, link in enumerate(self.layout.links) if force[i].any()),
            key=lambda one: -float(np.linalg.norm(one.force))))

    @property
    def mass_error(self) -> float:
        """Return how much more the base weighs than the model says, a payload for example [kg]."""
        return float(self._array('external.mass_error')[0])

    @property
    def external_torque(self) -> np.ndarray:
        """(nj,) joint torque that the estimate leaves unexplained; NaN where none is measured."""
        return self._array('joint_residual')

    @property
    def joint_acceleration(self) -> np.ndarray:
        """(nj,) acceleration from the derivative filter [rad/s^2 or m/s^2]."""
        return self._array('joint_acceleration')

    @property
    def joint_noise(self) -> np.ndarray:
        """(2, nj) deviations in use [rad/s; N m]: as stated, unless samples say otherwise."""
        return self._array('joint_noise')

    @property
    def base_rotation(self) -> np.ndarray:
        """(3, 3) R_WB used; heading is zero when the IMU gives no orientation."""
        return self._array('base_rotation').reshape(3, 3)

    @property
    def ground_normal(self) -> np.ndarray:
        """(3,) normal of the ground that feet have stood on, in B; gravity's where not known."""
        return self._array('feet.ground_normal')

    @property
    def foot_normal(self) -> np.ndarray:
        """(nf, 3) normal of the ground under each foot in B: given, or else `ground_normal`."""
        return self._array('feet.normals')

    @property
    def foot_rotation(self) -> np.ndarray:
        """(nf, 3, 3) R_BF."""
        return self._array('feet.states')[:, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(-1, 3, 3)

    @property
    def foot_position(self) -> np.ndarray:
        """(nf, 3) p_BF [m]."""
        return self._array('feet.states')[:, FOOT_POSITION:FOOT_POSITION + 3]

    @property
    def contact_point(self) -> np.ndarray:
        """
        Return the (nf, 3) reference points of the contacts, in B [m].

        The bottom of a point foot's ball; of a flat foot the middle of its sole, or its low edge
        while it is tilted.
        """
        return self._array('feet.states')[:, CONTACT:CONTACT + 3]

    @property
    def covariance(self) -> np.ndarray:
        """
        (nc, nc) covariance of the stacked contact coordinates of `raw_wrench`, in base axes.

        Of a foot the force, and moments about its contact point where it carries any: three
        numbers a point foot, four a line, six a flat foot. It contains the uncertainty about
        contact. Without torque, zero for feet that are up.
        """
        return self._array('forces.covariance')

    def covariance_of(self, foot: str, latest: bool = False) -> np.ndarray:
        """
        Return the (6, 6) covariance of a foot's raw wrench, in F about F's origin.

        Parameters
        ----------
        foot : str
            Link of the foot.
        latest : bool
            That of `wrench` instead.

        Raises
        ------
        UnknownNameError
            When there is no such foot.

        """
        i = index_of('foot', foot, self.feet)
        start, size = self.layout.table.index[i, START], self.layout.table.index[i, SIZE]
        to_origin = self.layout.table.grasp(
            self.foot_rotation, self.contact_point - self.foot_position)[:, start:start + size]
        R_FB = self.foot_rotation[i].T
        to_foot = np.vstack([R_FB @ to_origin[:3], R_FB @ to_origin[3:]])
        stacked = self.latest_covariance if latest else self.covariance
        return to_foot @ stacked[start:start + size, start:start + size] @ to_foot.T
