# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a robot does, on what ground, and what its estimator is not told."""
from __future__ import annotations

from dataclasses import dataclass, replace

FLOORS = {'soft': 0.012, 'normal': 0.0035, 'stiff': 0.0015}    # s: time constant of the contacts
GAITS = ('trot', 'walk', 'tripod', 'step')
POSES = ('stand', 'squat', 'shift')


@dataclass(frozen=True)
class Scenario:
    """
    One run.

    Attributes
    ----------
    name, robot : str
    motion : str
        ``stand``, ``squat``, ``shift``; or ``trot``, ``walk`` (crawl), ``tripod``, ``step``.
    seconds : float
    speed : float
        Forwards, in leg lengths (height of the centre of mass) a second.
    landing : float
        Speed at which feet come down [m/s].
    lift : float
        How high feet are lifted, of the centre of mass's height.
    period : float
        Of the gait, in units of sqrt(height / g); zero for the gait's own.
    floor : str
        ``soft``, ``normal``, ``stiff``.
    slope, across : float
        Of the ground, uphill and to the left [deg].
    level : bool
        Whether the base is level on a slope, and not parallel to it.
    tilt : (float, float)
        Roll and pitch of the base against the ground [deg].
    stair : float
        Height of a step to walk onto; standing, of a block below the first foot [m].
    push : float
        Largest horizontal force on the base, of the weight; three pushes of 0.6 s.
    payload : float
        Mass on the base that nobody is told of, of the robot's.
    mass_error : float
        Of all masses in the estimator's model.
    crouch : float
        By how much legs are bent more than in the standing pose, of the height; negative for
        straighter knees.
    seed : int
        Of the sensors' noise.

    """

    name: str
    robot: str
    motion: str
    seconds: float = 8.0
    speed: float = 0.0
    landing: float = 0.8
    lift: float = 0.2
    period: float = 0.0
    floor: str = 'normal'
    slope: float = 0.0
    across: float = 0.0
    level: bool = False
    tilt: tuple[float, float] = (0.0, 0.0)
    stair: float = 0.0
    push: float = 0.0
    payload: float = 0.0
    mass_error: float = 0.0
    crouch: float = 0.0
    seed: int = 0

    @property
    def stepping(self) -> bool:
        """Return whether feet are lifted."""
        return self.motion in GAITS


def _of(robot: str, gait: str, **more: float) -> list[Scenario]:
    landing = {'hyq': 1.2, 'talos': 0.3, 'biped': 0.3}.get(robot, 0.8)
    walk = Scenario(f'{robot}-{gait}', robot, gait, speed=0.4, landing=landing)
    stand = Scenario(f'{robot}-stand', robot, 'stand')
    return [walk, stand]


def _all() -> list[Scenario]:
    go2 = Scenario('go2-walk', 'go2', 'walk', speed=0.5, landing=1.2)
    trot = replace(go2, name='go2-trot', motion='trot', speed=1.0, landing=1.0)
    stand = Scenario('go2-stand', 'go2', 'stand')
    hyq = Scenario('hyq-walk', 'hyq', 'walk', speed=0.4, landing=1.5)
    talos = Scenario('talos-steps', 'talos', 'step', lift=0.035, landing=0.2, speed=0.05)
    hexapod = Scenario('hexapod-tripod', 'hexapod', 'tripod', speed=0.8, lift=0.3)
    first = [
        trot, go2, stand,
        replace(trot, name='go2-trot-stiff', floor='stiff'),
        replace(go2, name='go2-walk-stiff', floor='stiff'),
        replace(stand, name='go2-stand-10deg', slope=10.0),
        replace(go2, name='go2-walk-10deg', slope=10.0),
        replace(go2, name='go2-walk-payload', payload=0.12),
        replace(go2, name='go2-walk-mass', mass_error=0.05),
        replace(stand, name='go2-push', push=0.2),
        replace(hyq, name='hyq-trot', motion='trot', speed=0.6, landing=1.5),
        hyq,
        replace(hyq, name='hyq-stand-10deg', motion='stand', slope=10.0),
        replace(hyq, name='hyq-walk-10deg', slope=10.0),
        hexapod,
        Scenario('talos-stand', 'talos', 'shift'),
        talos,
        replace(talos, name='talos-steps-normal', lift=0.08, landing=0.4, speed=0.15),
    ]
    return first


SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _all()}
