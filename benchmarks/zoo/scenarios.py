# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a robot does, on what ground, and what its estimator is not told."""
from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

FLOORS = {'soft': 0.012, 'normal': 0.0035, 'stiff': 0.0015}    # s: time constant of the contacts
GAITS = ('trot', 'walk', 'tripod', 'wave', 'step')
POSES = ('stand', 'squat', 'shift')


@dataclass(frozen=True)
class Scenario:
    """
    One run.

    Attributes
    ----------
    name, robot : str
    motion : str
        ``stand``, ``squat``, ``shift``; or ``trot``, ``walk`` (crawl), ``tripod``, ``wave``
        (one of six feet at a time), ``step``.
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
    calm : float
        Standing before and after the first and the last step [s].

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
    calm: float = 1.2

    @property
    def stepping(self) -> bool:
        """Return whether feet are lifted."""
        return self.motion in GAITS

    @property
    def disturbed(self) -> bool:
        """Return whether there is something that the estimator's model does not hold."""
        return bool(self.payload or self.mass_error or self.push)


@dataclass(frozen=True)
class Push:
    """
    A force on a link, at its centre of mass.

    Attributes
    ----------
    force : (float, float, float)
        In the ground's axes, of the weight.
    start, end : float [s]
    link : str
        The base if empty.

    """

    force: tuple[float, float, float]
    start: float
    end: float
    link: str = ''


@dataclass(frozen=True)
class DisturbedScenario(Scenario):
    """
    A run with disturbances beside those of every scenario.

    Attributes
    ----------
    pushes : tuple of Push
    load_at : (float, float, float)
        Where the payload is on the base, of the centre of mass's height.
    loaded : (float, float)
        When the payload is put on and taken off [s]; none for all the time.
    shifted : (float, float, float)
        Where the estimator's model has the base's centre of mass, from where it is [m].

    """

    pushes: tuple[Push, ...] = ()
    load_at: tuple[float, float, float] = (0.1, 0.0, 0.3)
    loaded: tuple[float, float] | None = None
    shifted: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def disturbed(self) -> bool:
        """Return whether there is something that the estimator's model does not hold."""
        return True


def _all() -> list[Scenario]:
    go2 = Scenario('go2-walk', 'go2', 'walk', speed=0.5, landing=1.2)
    trot = replace(go2, name='go2-trot', motion='trot', speed=1.0, landing=1.0)
    stand = Scenario('go2-stand', 'go2', 'stand')
    hyq = Scenario('hyq-walk', 'hyq', 'walk', speed=0.4, landing=1.5)
    hyq_trot = replace(hyq, name='hyq-trot', motion='trot', speed=0.6)
    talos = Scenario('talos-steps', 'talos', 'step', lift=0.035, landing=0.2, speed=0.05)
    hexapod = Scenario('hexapod-tripod', 'hexapod', 'tripod', speed=0.8, lift=0.3,
                       landing=0.5)
    return [
        trot, go2, stand,
        replace(trot, name='go2-trot-stiff', floor='stiff'),
        replace(go2, name='go2-walk-stiff', floor='stiff'),
        replace(stand, name='go2-stand-10deg', slope=10.0),
        replace(go2, name='go2-walk-10deg', slope=10.0),
        replace(go2, name='go2-walk-payload', payload=0.12),
        replace(go2, name='go2-walk-mass', mass_error=0.05),
        replace(stand, name='go2-push', push=0.2),
        hyq_trot, hyq,
        replace(hyq, name='hyq-stand-10deg', motion='stand', slope=10.0),
        replace(hyq, name='hyq-walk-10deg', slope=10.0),
        hexapod,
        Scenario('talos-stand', 'talos', 'stand'),
        Scenario('talos-shift', 'talos', 'shift'),
        Scenario('talos-stand-8deg', 'talos', 'stand', slope=8.0, level=True),
        Scenario('talos-squat', 'talos', 'squat'),
        talos,
        replace(talos, name='talos-steps-normal', lift=0.08, landing=0.4, speed=0.15),
        replace(talos, name='talos-steps-stiff', floor='stiff'),
        # How hard feet come down, and on what.
        replace(trot, name='go2-trot-0.2mps', landing=0.2, lift=0.15),
        replace(trot, name='go2-trot-2mps', landing=2.0, lift=0.35),
        replace(trot, name='go2-trot-soft', floor='soft'),
        replace(hyq_trot, name='hyq-trot-2.5mps', landing=2.5, lift=0.3),
        replace(hyq_trot, name='hyq-trot-stiff', floor='stiff'),
        replace(hexapod, name='hexapod-tripod-0.8mps', landing=0.8),
        replace(hexapod, name='hexapod-tripod-soft', floor='soft', landing=0.4),
        # Standing in all ways.
        replace(stand, name='go2-squat', motion='squat'),
        replace(stand, name='go2-shift', motion='shift'),
        replace(stand, name='go2-stand-25deg', slope=25.0),
        replace(stand, name='go2-stand-15deg-level', slope=15.0, level=True),
        replace(stand, name='go2-stand-across', slope=7.0, across=7.0),
        replace(stand, name='go2-stand-block', stair=0.1),
        Scenario('hyq-stand', 'hyq', 'stand'), Scenario('hyq-squat', 'hyq', 'squat'),
        Scenario('hyq-stand-block', 'hyq', 'stand', stair=0.2),
        Scenario('hexapod-stand', 'hexapod', 'stand'),
        Scenario('hexapod-stand-20deg', 'hexapod', 'stand', slope=20.0),
        Scenario('dodecapod-stand', 'dodecapod', 'stand'),
        Scenario('dodecapod-stand-10deg', 'dodecapod', 'shift', slope=10.0),
        Scenario('anymal_class-pitched', 'anymal_class', 'stand', tilt=(0.0, 4.0)),
        Scenario('anymal_class-block', 'anymal_class', 'stand', stair=0.05),
        Scenario('anymal_class-straight', 'anymal_class', 'stand', crouch=-0.152),
        Scenario('solo_class-straight', 'solo_class', 'stand', crouch=-0.45),
        Scenario('solo_class-pitched', 'solo_class', 'stand', tilt=(3.0, -4.0)),
        # Slopes, steps, loads and pushes under way.
        replace(trot, name='go2-trot-15deg', slope=15.0),
        replace(trot, name='go2-trot-down-10deg', slope=-10.0),
        replace(go2, name='go2-walk-across', across=10.0),
        replace(go2, name='go2-walk-step-5cm', stair=0.05, lift=0.35),
        replace(go2, name='go2-walk-step-10cm', stair=0.1, lift=0.4, landing=0.7,
                speed=0.4),
        replace(hyq, name='hyq-walk-step-10cm', stair=0.1, lift=0.3),
        replace(trot, name='go2-trot-payload', payload=0.12),
        replace(trot, name='go2-trot-push', push=0.08, speed=0.5),
        replace(hyq, name='hyq-walk-payload', payload=0.12),
        replace(hyq_trot, name='hyq-trot-mass', mass_error=-0.05),
        replace(hexapod, name='hexapod-wave-8deg', motion='wave', slope=8.0, speed=0.3,
                landing=0.8),
        replace(hexapod, name='hexapod-tripod-10deg', slope=10.0, landing=0.8),
        # Other robots.
        Scenario('anymal_class-trot', 'anymal_class', 'trot', speed=0.7, landing=0.6),
        Scenario('anymal_class-walk', 'anymal_class', 'walk', speed=0.4, landing=1.0),
        Scenario('solo_class-trot', 'solo_class', 'trot', speed=0.7, landing=0.6),
        Scenario('solo_class-walk-10deg', 'solo_class', 'walk', speed=0.3, slope=10.0,
                 landing=0.5),
        Scenario('quadruped-trot', 'quadruped', 'trot', speed=0.6, landing=0.6),
        Scenario('biped-steps', 'biped', 'step', lift=0.05, landing=0.3, speed=0.1),
        Scenario('b1-trot', 'b1', 'trot', speed=0.8, landing=1.2),
        Scenario('g1-steps', 'g1', 'step', lift=0.06, landing=0.3, speed=0.1),
    ]


def _disturbed() -> list[Scenario]:
    def run(like: str, name: str, **changes: Any) -> Scenario:
        given = {field.name: getattr(plain[like], field.name) for field in fields(Scenario)}
        return DisturbedScenario(**{**given, 'name': name, **changes})

    def thrice(size: float) -> tuple[Push, ...]:
        return tuple(Push((size * x, size * y, 0.0), 1.2 + 2.0 * i, 1.8 + 2.0 * i)
                     for i, (x, y) in enumerate(((0.0, 1.0), (1.0, 0.0), (-0.6, -0.8))))
    plain = {scenario.name: scenario for scenario in _all()}
    return [
        run('hyq-stand', 'hyq-push-50', pushes=(Push((0.25, 0.0, -0.43), 1.5, 2.5),
                                                Push((0.0, -0.25, -0.43), 4.5, 5.5))),
        run('go2-stand', 'go2-push-5', pushes=thrice(0.05)),
        run('go2-stand', 'go2-push-up', pushes=(Push((0.0, 0.0, 0.2), 1.5, 2.5),
                                                Push((0.0, 0.0, -0.2), 4.5, 5.5))),
        run('go2-stand', 'go2-push-shank',
            pushes=(Push((0.08, 0.0, 0.0), 1.5, 2.5, 'FL_calf'),
                    Push((0.0, 0.08, 0.0), 4.5, 5.5, 'FL_calf'))),
        run('hyq-stand', 'hyq-push', pushes=thrice(0.2)),
        run('talos-stand', 'talos-push', pushes=thrice(0.05)),
        run('go2-walk', 'go2-walk-push', pushes=thrice(0.12)),
        run('go2-walk', 'go2-walk-cart', seconds=20.0,
            pushes=(Push((-0.1, 0.0, 0.0), 3.0, 18.0),)),
        run('go2-walk', 'go2-walk-load', payload=0.12, loaded=(2.5, 5.5)),
        run('go2-walk', 'go2-walk-load-side', payload=0.12, load_at=(0.4, 0.25, 0.3)),
        run('go2-walk', 'go2-walk-light', mass_error=-0.1),
        run('go2-walk', 'go2-walk-com', shifted=(0.03, 0.0, 0.0)),
        run('hyq-stand', 'hyq-push-5', pushes=thrice(0.05)),
        run('hyq-walk', 'hyq-walk-push', pushes=thrice(0.12)),
        run('b1-trot', 'b1-push', motion='stand', pushes=thrice(0.2)),
        run('talos-steps', 'talos-steps-com', shifted=(0.0, 0.03, 0.0)),
        run('hyq-walk', 'hyq-walk-load', payload=0.12, loaded=(2.5, 5.5)),
        run('solo_class-trot', 'solo_class-trot-light', mass_error=-0.1),
        run('hexapod-tripod', 'hexapod-tripod-push', pushes=thrice(0.1)),
    ]


SCENARIOS: dict[str, Scenario] = {scenario.name: scenario
                                  for scenario in [*_all(), *_disturbed()]}
