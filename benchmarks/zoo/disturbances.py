# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs in which a robot meets what nobody tells its estimator: pushes, loads that come and go."""
from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np

from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import DisturbedScenario

# Private there: a name in that file is part of the key of every recording that is kept.
from benchmarks.zoo.simulate import SETTLING, _Run

RISE = 0.05          # s: of a push
PUT_DOWN = 0.15      # s: in which a load is put on or taken off


def simulate_disturbed(scenario: DisturbedScenario, rate: float = 500.0) -> Recording:
    """Run a scenario, as `simulate` does."""
    return _Disturbed(scenario, rate).run()


class _Disturbed(_Run):
    scenario: DisturbedScenario

    def _scenery(self, spec: mujoco.MjSpec, ground: Callable) -> None:
        ground(spec)
        s = self.scenario
        if s.payload:
            load = spec.body(self.base).add_body(name='payload',
                                                 pos=[self.height * x for x in s.load_at])
            load.mass, load.inertia = self._load()
            load.explicitinertial = True

    def _load(self) -> tuple[float, list[float]]:
        mass = self.scenario.payload * self.estimator_model.total_mass
        return mass, 3 * [mass * (0.1 * self.height) ** 2]

    def _push(self, time: float) -> None:
        model, data, s = self.model, self.data, self.scenario
        t = time - SETTLING
        self.external = np.zeros(6)
        data.xfrc_applied[:] = 0.0
        for push in s.pushes:
            share = min((t - push.start) / RISE, (push.end - t) / RISE, 1.0)
            if share <= 0.0:
                continue
            force = share * self.estimator_model.total_mass * 9.81 * np.array(push.force)
            body = model.body(push.link or self.base).id
            base = data.xpos[self.body.base]
            # The base is pushed at its origin, another link where its mass is.
            at = data.xipos[body] if push.link else base
            data.xfrc_applied[body, :3] += force
            data.xfrc_applied[body, 3:] += np.cross(at - data.xipos[body], force)
            self.external[:3] += force
            self.external[3:] += np.cross(at - base, force)
        if s.payload and s.loaded:
            on, off = s.loaded
            share = np.clip(min((t - on) / PUT_DOWN, (off - t) / PUT_DOWN), 1e-6, 1.0)
            self._carry(share)

    def _carry(self, share: float) -> None:
        """Let the base carry this share of the payload; the controller is told."""
        model, load, (mass, inertia) = self.model, self.model.body('payload').id, self._load()
        more = share * mass - model.body_mass[load]
        model.body_mass[load] = share * mass
        model.body_inertia[load] = share * np.array(inertia)
        for body in (load, self.body.base, 0):
            model.body_subtreemass[body] += more
        self.body.mass += more

    def _recording(self, rows: list[tuple], slow: np.ndarray, smooth: np.ndarray) -> Recording:
        made = super()._recording(rows, slow, smooth)
        return replace(made, urdf=shifted(made.urdf, self.base, self.scenario.shifted))


def shifted(urdf: str, link: str, by: tuple[float, float, float]) -> str:
    """Return a description with a link's centre of mass moved, in the link's axes [m]."""
    tree = ET.fromstring(urdf)
    origin = tree.find(f"link[@name='{link}']/inertial/origin")
    if any(by) and origin is None:
        raise ValueError(f'link {link}: expected an inertial origin to move')
    if origin is not None and any(by):
        at = np.array([float(x) for x in origin.get('xyz', '0 0 0').split()]) + by
        origin.set('xyz', ' '.join(repr(float(x)) for x in at))
    return ET.tostring(tree, encoding='unicode')
