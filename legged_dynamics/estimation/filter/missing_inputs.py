# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inputs that a measurement lacks: efforts that are not or no longer measured, and the IMU."""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.estimation.filter.memory import EFFORT, SIGNAL
from legged_dynamics.spatial.jit import part

# Samples that mark a torque as frozen.
FOUND_FROZEN = 1e9


@part
def _improbable(settings, efforts, signals, j):
    """Return whether a torque repeats itself for longer than its usual repeats explain."""
    unchanged = efforts[j, EFFORT.unchanged]
    if unchanged == 0.0:
        return False
    repeats = max(signals[efforts.shape[0] + j, SIGNAL.repeats], settings.step)
    return -unchanged * math.log(repeats) > settings.frozen_evidence


@part
def drop_frozen_efforts(row, layout, settings, columns, efforts, signals):
    """
    Set torques that a drive does not measure, or cuts off, to NaN; return whether one just froze.

    If others are constant too (robot at rest, noiseless or coarse sensors), none is dropped.
    """
    used, changed, frozen = 0, 0, 0
    for j in range(columns.shape[0]):
        effort = row[layout.effort + j]
        same = effort == efforts[j, EFFORT.last]
        efforts[j, EFFORT.last] = effort
        efforts[j, EFFORT.unchanged] = efforts[j, EFFORT.unchanged] + 1.0 if same else 0.0
        if columns[j, 0] > 0 and math.isfinite(effort):
            used += 1
            changed += 0 if same else 1
            frozen += 1 if _improbable(settings, efforts, signals, j) else 0
    others_change = changed + frozen == used and changed > frozen
    found = False
    for j in range(columns.shape[0]):
        if (others_change and efforts[j, EFFORT.unchanged] < FOUND_FROZEN
                and _improbable(settings, efforts, signals, j)):
            efforts[j, EFFORT.unchanged] = FOUND_FROZEN
            found = True
        size = math.fabs(row[layout.effort + j])
        if size > efforts[j, EFFORT.most]:
            efforts[j, EFFORT.most] = size
        elif (size == efforts[j, EFFORT.most] and 2 * changed > used
                and _improbable(settings, efforts, signals, j)):
            efforts[j, EFFORT.bound] = size
        if efforts[j, EFFORT.unchanged] >= FOUND_FROZEN or size == efforts[j, EFFORT.bound] != 0.0:
            row[layout.effort + j] = math.nan
    return found


@part
def drop_zero_efforts(row, layout, feet, columns):
    """
    Set the efforts of a leg, or of all joints, to NaN where all are exactly zero.

    Drivers may send zeros for unknown torques; measured ones are not exactly zero all at once.
    """
    nv, measured = columns.shape[0], False
    for i in range(feet.index.shape[0]):
        any_measured = _leg_has_effort(row, layout, feet, columns, i)
        measured = measured or any_measured
        for j in range(nv):
            if not any_measured and _moves_only(feet, columns, i, j):
                row[layout.effort + j] = math.nan
    for j in range(nv):     # of joints that several legs hang on, too, once no leg is left
        measured = measured or (columns[j, 0] > 0 and math.isfinite(row[layout.effort + j])
                            and row[layout.effort + j] != 0.0)
    for j in range(nv):
        if columns[j, 0] > 0 and not measured:
            row[layout.effort + j] = math.nan


@part
def fill_passive_efforts(row, layout, passive, columns):
    """Write zero torque for joints without a motor whose equation holds."""
    for j in range(passive.shape[0]):
        if passive[j] > 0.5 and columns[j, 0] > 0:
            row[layout.effort + j] = 0.0


@part
def _moves_only(feet, columns, i, j):
    """Return whether joint j moves foot i, and no other."""
    start, n = feet.index[i, START], columns[j, 0]
    for m in range(n):
        c = columns[j, m + 1]
        if c < start or c >= start + feet.index[i, SIZE]:
            return False
    return n > 0


@part
def _leg_has_effort(row, layout, feet, columns, i):
    """Return whether any effort of foot i's own joints is not exactly zero."""
    for j in range(columns.shape[0]):
        effort = row[layout.effort + j]
        if math.isfinite(effort) and effort != 0.0 and _moves_only(feet, columns, i, j):
            return True
    return False


@part
def missing_inputs(row, layout, columns):
    """Return the fault bits of what a measurement lacks."""
    faults, unknown, used = 0, 0, 0
    for j in range(columns.shape[0]):
        if columns[j, 0] > 0:           # not of a head or a gripper
            used += 1
            if math.isnan(row[layout.effort + j]):
                unknown += 1
    if unknown > 0:
        faults = codes.NO_EFFORT if unknown == used else codes.PARTIAL_EFFORT
    if math.isnan(row[layout.gyro]) or math.isnan(row[layout.acceleration]):
        faults |= codes.NO_IMU
    elif math.isnan(row[layout.orientation]):
        faults |= codes.NO_ORIENTATION
    return faults
