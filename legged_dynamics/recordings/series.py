# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time series that grow sample by sample, and those of an estimator."""
from __future__ import annotations

import numpy as np

from legged_dynamics.estimation import GroundReaction, Measurement, Mode

_FIRST_CAPACITY = 1024


class Column:
    """
    A growing array; one row for each sample.

    Parameters
    ----------
    shape : tuple of int
        Shape of one row.
    dtype : type
        Type of its numbers.

    """

    def __init__(self, shape: tuple[int, ...] = (), dtype: type = float):
        self._rows = np.empty((_FIRST_CAPACITY, *shape), dtype)
        self._count = 0

    @classmethod
    def of(cls, values: np.ndarray) -> Column:
        """
        Return a column that holds an array.

        Parameters
        ----------
        values : (n, ...) array
            Samples; not copied.

        Returns
        -------
        Column

        """
        column = cls(values.shape[1:], values.dtype.type)
        column._rows, column._count = values, len(values)
        return column

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._count

    def append(self, row: object) -> None:
        """
        Add a sample.

        Parameters
        ----------
        row : array or number
            Of the shape of one row.

        """
        if self._count == len(self._rows):
            grown = np.empty((2 * self._count + 1, *self._rows.shape[1:]), self._rows.dtype)
            grown[:self._count] = self._rows
            self._rows = grown
        self._rows[self._count] = row
        self._count += 1

    def drop(self, count: int) -> None:
        """
        Drop the first samples; their memory is used again.

        Parameters
        ----------
        count : int
            How many.

        """
        rest = self._count - count
        self._rows[:rest] = self._rows[count:self._count].copy()
        self._count = rest

    @property
    def values(self) -> np.ndarray:
        """Return the samples so far, as a view."""
        return self._rows[:self._count]


class ForceSeries:
    """
    Foot wrenches over time, of one estimator.

    Parameters
    ----------
    n_feet : int
        Number of feet.

    Attributes
    ----------
    stamp_ns, latest_ns : Column of int
        Stamps that `raw_wrench` and `contact` are of, and that `wrench` is of.
    mode : Column of int
        Values of `legged_dynamics.estimation.Mode`.
    wrench, raw_wrench : Column of (nf, 6)
        ``[f; m]`` as published at once, and of the sample before; foot axes, foot's origin.
    contact : Column of (nf,) bool

    """

    def __init__(self, n_feet: int):
        self.stamp_ns = Column(dtype=np.int64)
        self.latest_ns = Column(dtype=np.int64)
        self.mode = Column(dtype=np.int64)
        self.wrench = Column((n_feet, 6))
        self.raw_wrench = Column((n_feet, 6))
        self.contact = Column((n_feet,), bool)

    def append(self, reaction: GroundReaction) -> None:
        """
        Add an estimate.

        Parameters
        ----------
        reaction : GroundReaction
            Newest estimate.

        """
        self.stamp_ns.append(reaction.stamp_ns)
        self.latest_ns.append(reaction.latest_ns)
        self.mode.append(reaction.mode)
        self.wrench.append(reaction.wrench)
        self.raw_wrench.append(reaction.raw_wrench)
        self.contact.append(reaction.contact)

    def drop(self, count: int) -> None:
        """
        Drop the first samples.

        Parameters
        ----------
        count : int
            How many.

        """
        for column in vars(self).values():
            if isinstance(column, Column):
                column.drop(count)

    @property
    def published(self) -> np.ndarray:
        """(n, nf, 6) array of the wrenches at each `stamp_ns`; NaN where there is none."""
        wrench = np.full(self.wrench.values.shape, np.nan)
        _, mine, theirs = np.intersect1d(self.stamp_ns.values, self.latest_ns.values,
                                         return_indices=True)
        wrench[mine] = self.wrench.values[theirs]
        return wrench

    def aligned(self, stamps: np.ndarray) -> ForceSeries:
        """
        Return the estimates at given stamps; UNAVAILABLE and NaN where there is none.

        Parameters
        ----------
        stamps : (n,) int array [ns]
            Stamps wanted, in any order.

        Returns
        -------
        ForceSeries

        """
        row = {stamp: index for index, stamp in enumerate(self.stamp_ns.values.tolist())}
        where = np.array([row.get(stamp, -1) for stamp in stamps.tolist()], dtype=np.int64)
        found = ForceSeries(self.wrench.values.shape[1])
        for name, fill in (('mode', Mode.UNAVAILABLE), ('latest_ns', 0), ('wrench', np.nan),
                           ('raw_wrench', np.nan),
                           ('contact', False)):
            values = getattr(self, name).values
            if len(values):
                column = values[where]
                column[where < 0] = fill
            else:
                column = np.full((len(stamps), *values.shape[1:]), fill, values.dtype)
            setattr(found, name, Column.of(column))
        found.stamp_ns = Column.of(stamps)
        return found


class EstimateSeries(ForceSeries):
    """
    Estimates over time, with all that reports use of them.

    Parameters
    ----------
    feet, joints : tuple of str
        Links of the feet and names of the joints, in the model's order.

    Attributes
    ----------
    receipt_ns : Column of int
        When the recorder received the joint state described.
    probability, observable : Column of (nf,)
        Probability of contact, and whether the foot's force can be observed.
    center_of_pressure : Column of (3,)
        In base axes; NaN without load.
    base_residual : Column of (6,)
        Wrench on the base that the estimate does not explain.
    external_torque : Column of (nj,)
        Effort of each joint that the estimate does not explain.
    mass_error : Column of float
        How much more the base weighs than the model says [kg].
    position, effort : Column of (nj,)
        Of the joints, measured; NaN where there is none.
    angular_velocity, linear_acceleration : Column of (3,)
        Readings of the IMU, in its axes; NaN where there is none.
    base_rotation : Column of (3, 3)
        R_WB.
    foot_rotation, foot_position, contact_point : Column of (nf, 3, 3), (nf, 3), (nf, 3)
        R_BF, p_BF, and the contact points of the feet, in base axes.

    """

    def __init__(self, feet: tuple[str, ...], joints: tuple[str, ...]):
        n = len(feet)
        super().__init__(n)
        self.feet, self.joints = feet, joints
        self.receipt_ns = Column(dtype=np.int64)
        self.probability = Column((n,))
        self.observable = Column((n,), bool)
        self.center_of_pressure = Column((3,))
        self.base_residual = Column((6,))
        self.external_torque = Column((len(joints),))
        self.mass_error = Column()
        self.position = Column((len(joints),))
        self.effort = Column((len(joints),))
        self.angular_velocity = Column((3,))
        self.linear_acceleration = Column((3,))
        self.base_rotation = Column((3, 3))
        self.foot_rotation = Column((n, 3, 3))
        self.foot_position = Column((n, 3))
        self.contact_point = Column((n, 3))

    def append_received(self, reaction: GroundReaction, receipt_ns: int,
                        measurement: Measurement) -> None:
        """
        Add an estimate and the joint state that it describes.

        Parameters
        ----------
        reaction : GroundReaction
            The estimate.
        receipt_ns : int [ns]
            When the recorder received the joint state.
        measurement : Measurement
            The joint state, with its IMU reading.

        """
        self.append(reaction)
        self.receipt_ns.append(receipt_ns)
        self.probability.append(reaction.contact_probability)
        self.observable.append(reaction.observable)
        self.center_of_pressure.append(reaction.center_of_pressure)
        self.base_residual.append(reaction.base_residual)
        self.external_torque.append(reaction.external_torque)
        self.mass_error.append(reaction.mass_error)
        for column, sensed in ((self.position, measurement.position),
                               (self.effort, measurement.effort),
                               (self.angular_velocity, measurement.angular_velocity),
                               (self.linear_acceleration, measurement.linear_acceleration)):
            column.append(np.nan if sensed is None else sensed)
        self.base_rotation.append(reaction.base_rotation)
        self.foot_rotation.append(reaction.foot_rotation)
        self.foot_position.append(reaction.foot_position)
        self.contact_point.append(reaction.contact_point)

    @property
    def time(self) -> np.ndarray:
        """(n,) array of the time since the first estimate [s]."""
        stamps = self.stamp_ns.values
        return (stamps - stamps[0]) * 1e-9 if len(stamps) else np.zeros(0)

    @property
    def period(self) -> float:
        """Median time between estimates [s]; NaN with fewer than two."""
        return float(np.median(np.diff(self.time))) if len(self.stamp_ns) > 1 else np.nan

    @property
    def foot_to_world(self) -> np.ndarray:
        """(n, nf, 3, 3) array of the rotations R_WF."""
        return np.einsum('nij,nfjk->nfik', self.base_rotation.values, self.foot_rotation.values)

    def mode_counts(self) -> dict[Mode, int]:
        """Return the number of estimates of each mode."""
        return {mode: int((self.mode.values == mode).sum()) for mode in Mode}
