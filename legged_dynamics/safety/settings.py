# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of what stands between a controller and a motor."""
from __future__ import annotations

from legged_dynamics.schema import Setting

SETTINGS = (
    Setting('safety.effort_fraction', 1.0, '', 'Part of the effort limits in the URDF that may be '
            'used.', 0.0, 1.0),
    Setting('safety.slew_rate', 0.0, 'N m/s', 'Largest change of a commanded effort; 0: the '
            'effort limit in 10 ms.', 0.0, 1e6),
    Setting('safety.power_fraction', 0.5, '', 'Mechanical power that a joint may give, as a part '
            'of its effort limit times its velocity limit.', 0.01, 1.0),
    Setting('safety.velocity', 20.0, 'rad/s', 'Velocity limit of joints that have none in the '
            'URDF.', 1e-3, 1000.0),
    Setting('safety.velocity_margin', 1.5, '', 'A joint that seems faster than this many times '
            'its velocity limit is not believed.', 1.0, 100.0),
    Setting('safety.position_margin', 0.03, '', 'Part of the range of a joint, at either end, in '
            'which efforts that push on outwards fade; at most 0.1 rad.', 0.0, 0.5),
    Setting('safety.input_timeout', 0.02, 's', 'Age of the joint states from which commands are '
            'not obeyed.', 1e-3, 1.0),
    Setting('safety.hold', 0.2, 's', 'How long silence and faults are bridged before the safe '
            'output goes out.', 0.0, 1.0),
    Setting('safety.posture_stiffness', 3.0, '1/rad', 'Stiffness of the posture held while '
            'commands are missing, in effort limits.', 0.0, 100.0),
    Setting('safety.posture_damping', 0.15, 's/rad', 'Damping of the posture held while commands '
            'are missing, in effort limits.', 0.0, 10.0),
    Setting('safety.ramp', 0.5, 's', 'Time over which commands are blended in at the start.',
            0.0, 60.0),
    Setting('safety.resume', 0.1, 's', 'Longest time over which commands are blended in after a '
            'fault that was bridged.', 0.0, 60.0),
    Setting('safety.output', 'damping', '', 'What goes out when commands are not obeyed.',
            choices=('damping', 'zero')),
    Setting('safety.damping', 20.0, 'N m s/rad', 'Joint damping of the safe output; less where a '
            "joint's inertia is too small for it.", 0.0, 1000.0),
    Setting('safety.damping_effort', 0.5, '', 'Largest effort of the safe output, as a part of '
            'the effort limits.', 0.0, 1.0),
    Setting('safety.damping_duration', 2.0, 's', 'How long the safe output goes out before the '
            'motors are left alone.', 0.0, 60.0),
    Setting('safety.stop', 'zero', '', 'What happens before a node that commands is stopped or '
            'deactivated: nothing; or the safe output for `safety.damping_duration`; or the robot '
            'sits down first, where the controller can. A second request is obeyed at once.',
            choices=('zero', 'damping', 'sit')),
    Setting('safety.tilt', 1.0, 'rad', 'Tilt of the base from which the robot counts as fallen; '
            '0: not watched.', 0.0, 3.1),
    Setting('safety.frozen', 0.03, 's', 'How long a sensor whose noise is known may repeat itself '
            'to the last bit before it counts as frozen; 0: not watched.', 0.0, 10.0),
    Setting('safety.latch', True, '', 'Whether the node must be activated again after the safe '
            'output went out.'),
    Setting('safety.controllers_file', '', '', "YAML of ros2_control's controllers; their joints "
            'are compared with robot.joints before the first command.'),
)
