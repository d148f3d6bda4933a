# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground that a scenario asks for, in axes that lie in it: gravity tilts instead."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from benchmarks.zoo.descriptions import rotation_of_rpy
from benchmarks.zoo.scenarios import Scenario
from legged_dynamics.simulation.plant import add_floor

EDGE = 0.05              # m: feet keep away from where a block begins


@dataclass(frozen=True)
class Ground:
    """The ground: tilted against gravity, with a block on it."""

    R: np.ndarray                                # world from ground
    height_of: Callable[[float, float], float]
    clear: Callable[[float], float]              # the nearest x off the block's edge


def ground_of(scenario: Scenario, first_foot: np.ndarray, scale: float) -> tuple[
        Ground, Callable[[mujoco.MjSpec], None]]:
    """Return the ground of a scenario and what adds it to the simulation."""
    R = rotation_of_rpy([np.deg2rad(scenario.across), -np.deg2rad(scenario.slope), 0.0])
    step = scenario.stair
    if scenario.stepping:
        low, high = first_foot[0] + 0.9 * scale, first_foot[0] + 50.0
        left, right = 20.0, -20.0
    else:
        low, high = first_foot[0] - 0.3 * scale, first_foot[0] + 0.3 * scale
        left, right = first_foot[1] + 0.2 * scale, first_foot[1] - 0.2 * scale

    def height_of(x: float, y: float) -> float:
        return step if step and low < x < high and right < y < left else 0.0

    def clear(x: float) -> float:
        near = abs(x - low) < EDGE and step > 0.0 and scenario.stepping
        return low + (EDGE if x > low else -EDGE) if near else x

    def add(spec: mujoco.MjSpec) -> None:
        add_floor(spec)
        if step:
            spec.worldbody.add_geom(
                name='step', type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=[(low + high) / 2, (left + right) / 2, step / 2 - 0.5],
                size=[(high - low) / 2, (left - right) / 2, step / 2 + 0.5], contype=1,
                conaffinity=2)
    return Ground(R, height_of, clear), add
