# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of guard and watchdog: limits, time-outs, and what happens when commands stop."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting


def nanoseconds(seconds: float) -> int:
    """Return a time [ns]."""
    return round(seconds * 1e9)


@dataclass(frozen=True)
class SafetySettings(CheckedSettings):
    """Settings of the effort guard, `safety.*`."""

    effort_fraction: float = setting(
        'safety.effort_fraction', 1.0, '',
        'Part of the effort limits in the URDF that may be used.', 0.0, 1.0)
    slew_rate: float = setting(
        'safety.slew_rate', 0.0, 'N m/s',
        'Largest change of a commanded effort; 0: the effort limit in 10 ms.', 0.0, 1e6)
    power_fraction: float = setting(
        'safety.power_fraction', 0.5, '',
        'Mechanical power that a joint may give, as a part of its effort limit times its '
        'velocity limit.', 0.01, 1.0)
    velocity: float = setting(
        'safety.velocity', 20.0, 'rad/s',
        'Velocity limit of joints that have none in the URDF.', 1e-3, 1000.0)
    velocity_margin: float = setting(
        'safety.velocity_margin', 1.5, '',
        'A joint that seems faster than this many times its velocity limit is not believed.',
        1.0, 100.0)
    position_margin: float = setting(
        'safety.position_margin', 0.03, '',
        'Part of the range of a joint, at either end, in which efforts that push on outwards '
        'fade; at most 0.1 rad.', 0.0, 0.5)
    input_timeout: float = setting(
        'safety.input_timeout', 0.02, 's',
        'Age of the joint states from which commands are not obeyed.', 1e-3, 1.0)
    hold: float = setting(
        'safety.hold', 0.2, 's',
        'How long silence and faults are bridged before the safe output goes out.', 0.0, 1.0)
    posture_stiffness: float = setting(
        'safety.posture_stiffness', 3.0, '1/rad',
        'Stiffness of the posture held while commands are missing, in effort limits.', 0.0, 100.0)
    posture_damping: float = setting(
        'safety.posture_damping', 0.15, 's/rad',
        'Damping of the posture held while commands are missing, in effort limits.', 0.0, 10.0)
    ramp: float = setting(
        'safety.ramp', 0.5, 's',
        'Time over which commands are blended in at the start.', 0.0, 60.0)
    resume: float = setting(
        'safety.resume', 0.1, 's',
        'Longest time over which commands are blended in after a fault that was bridged.',
        0.0, 60.0)
    output: str = setting(
        'safety.output', 'damping', '',
        'What goes out when commands are not obeyed; keep: the last efforts, for as long as nobody'
        ' commands, as by a climber on its wall.', choices=('damping', 'zero', 'keep'))
    damping: float = setting(
        'safety.damping', 20.0, 'N m s/rad',
        "Joint damping of the safe output; less where a joint's inertia is too small for it.",
        0.0, 1000.0)
    damping_effort: float = setting(
        'safety.damping_effort', 0.5, '',
        'Largest effort of the safe output, as a part of the effort limits.', 0.0, 1.0)
    damping_duration: float = setting(
        'safety.damping_duration', 2.0, 's',
        'How long the safe output goes out before the motors are left alone.', 0.0, 60.0)
    stop: str = setting(
        'safety.stop', 'zero', '',
        'What happens before a node that commands is stopped or deactivated: nothing; or the '
        'safe output for `safety.damping_duration`; or the robot sits down first, where the '
        'controller can. A second request is obeyed at once.', choices=('zero', 'damping', 'sit'))
    tilt: float = setting(
        'safety.tilt', 1.0, 'rad',
        'Tilt of the base from which the robot counts as fallen; 0: not watched.', 0.0, 3.1)
    frozen: float = setting(
        'safety.frozen', 0.03, 's',
        'How long a sensor whose noise is known may repeat itself to the last bit before it '
        'counts as frozen; 0: not watched.', 0.0, 10.0)
    stance_turn: float = setting(
        'safety.stance_turn', 0.06, 'rad/s',
        'Difference of the tilt rates by gyro and by legs in stance from which the IMU is not '
        'believed, and a fifth of it of those by its orientation over 3 s; 0: not watched, as for '
        'a robot that stands on what moves. Turns about the vertical are not judged.', 0.0, 10.0)
    latch: bool = setting(
        'safety.latch', True, '',
        'Whether the node must be activated again after the safe output went out.')
    controllers_file: str = setting(
        'safety.controllers_file', '', '',
        "YAML of ros2_control's controllers; their joints are compared with robot.joints before "
        'the first command.')


@dataclass(frozen=True)
class WatchdogSettings(CheckedSettings):
    """Settings of the watchdog alone, `watchdog.*`."""

    deadline: float = setting(
        'watchdog.deadline', 0.02, 's',
        'Silence of the commanding node after which the posture is held.', 1e-3, 1.0)
    hold: float = setting(
        'watchdog.hold', 0.13, 's',
        "How long the posture is held after that; with the deadline less than the controllers' "
        '`safety.hold`, so that one that may return still holds the posture.', 0.0, 1.0)
    release: str = setting(
        'watchdog.release', 'sit', '',
        'What comes then, and when a controller leaves: sit lets the robot down on a fading '
        'posture, damping brakes its joints.', choices=('sit', 'damping'))
    sit: float = setting('watchdog.sit', 2.0, 's', 'Time to sit down in.', 0.1, 60.0)
    input_timeout: float = setting(
        'watchdog.input_timeout', 0.02, 's',
        'Age of the joint states from which they are not used.', 1e-3, 1.0)
    take_over: str = setting(
        'watchdog.take_over', 'after_crash', '',
        'When a watchdog that starts holds the posture and, if nobody commands, lets the robot '
        'down: after_crash: when its predecessor on this machine was killed, and the motors still '
        'deliver what that sent last; always: whenever the motors have torque; never.',
        choices=('after_crash', 'always', 'never'))


SETTINGS = SafetySettings.table()
WATCHDOG_SETTINGS = WatchdogSettings.table()
# Those of the guard that the watchdog has too.
SHARED = tuple(one for one in SETTINGS if one.name in {
    'safety.effort_fraction', 'safety.slew_rate', 'safety.power_fraction', 'safety.velocity',
    'safety.velocity_margin', 'safety.position_margin', 'safety.posture_stiffness',
    'safety.posture_damping', 'safety.output', 'safety.damping', 'safety.damping_effort',
    'safety.damping_duration', 'safety.frozen'})
