# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Makes the sample recording in config/sample: a walker that never was, and its true forces.

A body with the segment masses of a textbook (de Leva 1996) is moved: its feet land on the heel,
roll over the ball and leave over the toes. Where they press and how they share load is chosen.
The path of the pelvis is then changed until the dynamics of the whole body require just that
(Newton-Euler over the recording, twelve rounds).

Chosen so that the first picture resembles that of people:

- In double support the load passes over at a constant rate but for corners of 15 ms. Around the
  middle, one foot has 0.05 more and the other 0.05 less than that, as far as measured steps of
  people depart from a constant rate (docs/theory/double_support.md). So the truth is not the
  curve that the estimate expects.
- In double support forces lean further outward the less load a foot bears, as measured ones do
  (docs/people.md), along a parabola: the estimate expects another curve.
- A heel still moves as it touches down and comes to rest 30 ms later, while the forefoot falls;
  toes start to lift 30 ms before the last of the load has left them, and rise fast. Soles that are
  at rest for as long as they are loaded would seem to land early and to leave late.

These are choices. Errors on the sample show that the method works, and nothing about how people
share their load: docs/people.md has the errors against force plates.

    python -m benchmarks.made_walk
"""
from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

import numpy as np
from scipy.linalg import solve_banded
from scipy.spatial.transform import Rotation

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.model.feet import FlatFoot
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.opensim import read_osim
from legged_dynamics.people.opensim.reader import TO_OURS
from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk
from legged_dynamics.people.trials.coordinates import write_storage
from legged_dynamics.people.trials.cycles import gait_cycles, steps_table
from legged_dynamics.people.trials.report import errors_table, feet_table
from legged_dynamics.resources import share_directory
from legged_dynamics.spatial.frames import GRAVITY

MASS, DT = 70.0, 0.01
THIGH, SHANK, ANKLE = 0.42, 0.43, 0.08
HIP = np.array([-0.03, -0.07, 0.085])            # in the pelvis, OpenSim's axes, right side
HEEL, BALL, TIP = -0.05, 0.13, 0.19              # in front of the ankle
STEP, STANCE, LENGTH = 0.55, 0.70, 0.60          # s, s, m
WARM, SECONDS = 3.3, 2.6                         # cut out of a longer walk
HEIGHT = 0.905                                   # of the pelvis
# Parts of double support in which the transfer of load starts and ends, and how much more of the
# load than at a constant rate a landing right and left foot have in the middle.
CORNER, UNEVEN = 0.1, (0.05, -0.05)
# How much further than at the centre of mass the force of a foot leans outward when it hardly
# bears any load, as people's do.
PUSH = 0.18
# s: a heel comes to rest this long after touch-down, and toes start to lift this long before
# toe-off.
BRAKE, PEEL = 0.03, 0.03
SWING = 2.0 * STEP - STANCE + BRAKE + PEEL
LAND, LEAVE, BEND = 0.30, -0.95, 0.75            # rad: pitch up at landing, down at leaving; toes
RAISE = 0.04                                     # m: how far the toes rise early in swing
# Mass [kg], centre of mass [m], radii of gyration [m] about OpenSim's x, y, z.
BODIES = {
    'pelvis': (0.1117, (-0.03, 0.03, 0.0), (0.10, 0.09, 0.09)),
    'torso': (0.4911, (0.0, 0.27, 0.0), (0.19, 0.10, 0.18)),
    'femur': (0.1416, (0.0, -0.172, 0.0), (0.138, 0.063, 0.138)),
    'tibia': (0.0433, (0.0, -0.189, 0.0), (0.108, 0.044, 0.110)),
    'talus': (0.0015, (0.0, 0.0, 0.0), (0.02, 0.02, 0.02)),
    'calcn': (0.0102, (0.09, 0.03, 0.0), (0.03, 0.06, 0.06)),
    'toes': (0.0020, (0.025, 0.0, 0.0), (0.02, 0.03, 0.03)),
}


def smooth(x: np.ndarray) -> np.ndarray:
    """Return 0 to 1 with no slope and no curvature at the ends."""
    x = np.clip(x, 0.0, 1.0)
    return x ** 3 * (10.0 - 15.0 * x + 6.0 * x * x)


def landing_share(x: np.ndarray, foot: int) -> np.ndarray:
    """Return the share of a landing foot when the part x of double support is over."""
    grid = np.linspace(0.0, 1.0, 2001)
    rate = smooth(grid / CORNER) * smooth((1.0 - grid) / CORNER)
    share = np.append(0.0, np.cumsum(0.5 * (rate[1:] + rate[:-1])))
    share = share / share[-1] + UNEVEN[foot] * np.sin(np.pi * grid) ** 2
    return np.interp(x, grid, share)


def feet(time: np.ndarray) -> dict[str, np.ndarray]:
    """Return ankle (n, 2, 3), pitch of foot and toes (n, 2), load share and pressure, by foot."""
    n, time = len(time), time + 1e-6     # no sample at the very edge of two phases
    found = {'ankle': np.zeros((n, 2, 3)), 'pitch': np.zeros((n, 2)), 'toes': np.zeros((n, 2)),
             'weight': np.zeros((n, 2)), 'pressure': np.zeros((n, 2, 2))}
    for i, side in enumerate((-1.0, 1.0)):       # right, left: y is to the left
        count = int(time[-1] / STEP) + 6
        for k in range(i - 4, count, 2):
            start, x = STEP * k - 0.35, LENGTH * k
            on = (time >= start) & (time < start + STANCE)
            load(found, i, on, (time[on] - start) / STANCE, x, 0.085 * side)
            still = (time >= start + BRAKE) & (time < start + STANCE - PEEL)
            place(found, i, still, (time[still] - start) / STANCE, x, 0.085 * side)
            fly = (time >= start + STANCE - PEEL) & (time < start + 2.0 * STEP + BRAKE)
            swing(found, i, fly, (time[fly] - start - STANCE + PEEL) / SWING, x,
                  0.085 * side)
    found['share'] = found['weight'] / found['weight'].sum(axis=1, keepdims=True)
    return found


def place(found: dict[str, np.ndarray], i: int, on: np.ndarray, phase: np.ndarray, x: float,
          y: float) -> None:
    """Roll a foot from heel over ball to toes."""
    rise = np.clip((phase - 0.55) / 0.45, 0.0, 1.0) ** 2.5
    pitch = LAND * (1.0 - smooth(phase / 0.13)) + LEAVE * rise
    bend = BEND * rise
    on_heel = pitch > 0.0
    pivot = np.where(on_heel, HEEL, BALL)
    # Above the pivot, turned with the foot; toes that bend less than the heel lifts roll on.
    roll = np.minimum(pitch + bend, 0.0)
    c, s = np.cos(pitch), np.sin(pitch)
    arm = np.column_stack([-pivot * c - ANKLE * s, -pivot * s + ANKLE * c])
    lift = np.where(on_heel, 0.0, -np.sin(roll) * (TIP - BALL))
    found['ankle'][on, i] = np.column_stack([x + pivot + arm[:, 0], np.full(len(phase), y),
                                             arm[:, 1] + lift])
    found['pitch'][on, i], found['toes'][on, i] = pitch, bend


def load(found: dict[str, np.ndarray], i: int, on: np.ndarray, phase: np.ndarray, x: float,
         y: float) -> None:
    """Load a foot as the other is unloaded, and move its pressure from heel to toes."""
    both = (STANCE - STEP) / STANCE
    found['weight'][on, i] = (
        landing_share(phase / both, i)
        * (1.0 - landing_share((phase - 1.0 + both) / both, 1 - i)) + 1e-9)
    along = HEEL + 0.01 + (BALL + 0.03 - HEEL) * (0.35 * phase + 0.65 * smooth(phase))
    found['pressure'][on, i] = np.column_stack([x + along, np.full(len(phase), y)])


def swing(found: dict[str, np.ndarray], i: int, fly: np.ndarray, phase: np.ndarray, x: float,
          y: float) -> None:
    """Take a foot to its next place."""
    ends = {key: np.zeros((4, 2, *found[key].shape[2:])) for key in found}
    little, leaves, rests = 1e-3, 1.0 - PEEL / STANCE, BRAKE / STANCE
    for row, (at, where) in enumerate(((leaves - little, x), (leaves, x),
                                       (rests, x + 2.0 * LENGTH),
                                       (rests + little, x + 2.0 * LENGTH))):
        place(ends, 0, np.arange(4) == row, np.array([at]), where, y)

    def between(key: str, fading: int) -> np.ndarray:
        """Go on at the speed at which the foot left, and come to that with which it rolls on."""
        before, first, last, after = ends[key][:, 0]
        a, b = ((end - begin) / (little * STANCE) * SWING
                for begin, end in ((before, first), (last, after)))
        s = phase.reshape(-1, *[1] * np.ndim(first))
        return (first + (last - first) * smooth(s) + a * s * (1.0 - s) ** fading
                - b * s ** fading * (1.0 - s))

    path = between('ankle', 3)
    early = phase ** 2 * (1.0 - phase) ** 6
    path[:, 2] += 0.03 * np.sin(np.pi * phase) ** 2 + RAISE * early * 4.0 ** 8 / 3.0 ** 6
    found['ankle'][fly, i] = path
    found['pitch'][fly, i], found['toes'][fly, i] = between('pitch', 6), between('toes', 6)


def legs(pelvis: np.ndarray, R_pelvis: np.ndarray, moved: dict[str, np.ndarray]
         ) -> dict[str, np.ndarray]:
    """Return joint angles [rad] that put the feet where they are, in OpenSim's axes."""
    found = {}
    for i, side in enumerate('rl'):
        sign = 1.0 if side == 'r' else -1.0
        hip = pelvis + R_pelvis @ (HIP * [1.0, 1.0, sign])
        foot = Rotation.from_euler('z', moved['pitch'][:, i, None]).as_matrix()
        ankle = moved['ankle'][:, i] @ TO_OURS          # to OpenSim's axes
        far = hip - ankle
        reach = np.linalg.norm(far, axis=1)
        bend = (reach ** 2 - THIGH ** 2 - SHANK ** 2) / (2.0 * THIGH * SHANK)
        if bend.max() > 0.999:
            raise ValueError(f'the leg is too short by {1e3 * (reach.max() - THIGH - SHANK):.0f} '
                             'mm')
        knee = np.arccos(bend)
        v = np.column_stack([-THIGH * np.sin(knee), THIGH * np.cos(knee) + SHANK])
        w = np.einsum('nji,nj->ni', foot, far)
        tilt = np.arctan2(-w[:, 2], w[:, 1])
        g = np.column_stack([w[:, 0], np.hypot(w[:, 1], w[:, 2])])
        dorsal = np.arctan2(v[:, 1], v[:, 0]) - np.arctan2(g[:, 1], g[:, 0])
        shank = foot @ np.swapaxes(
            Rotation.from_euler('ZX', np.column_stack([dorsal, tilt])).as_matrix(), 1, 2)
        thigh = shank @ Rotation.from_euler('z', knee[:, None]).as_matrix()
        angles = Rotation.from_matrix(np.swapaxes(R_pelvis, 1, 2) @ thigh).as_euler('ZXY')
        found |= {f'hip_flexion_{side}': angles[:, 0],
                  f'hip_adduction_{side}': sign * angles[:, 1],
                  f'hip_rotation_{side}': sign * angles[:, 2], f'knee_angle_{side}': knee,
                  f'ankle_angle_{side}': dorsal, f'subtalar_angle_{side}': sign * tilt,
                  f'mtp_angle_{side}': moved['toes'][:, i]}
    return found


def path_for(pressure: np.ndarray, height: float) -> np.ndarray:
    """Return where a point mass must be for the ground to press there, (n, 2)."""
    n, k = len(pressure), height / GRAVITY / DT ** 2
    band = np.zeros((3, n))
    band[0, 2:] = band[2, :-2] = -k
    band[1, 1:-1] = 1.0 + 2.0 * k
    band[1, [0, -1]] = 1.0
    return solve_banded((1, 1), band, pressure)


def model_file(path: Path) -> None:
    """Write the walker as OpenSim 4 does."""
    document = Element('OpenSimDocument', Version='40000')
    model = SubElement(document, 'Model', name='made_walker')
    bodies = SubElement(SubElement(model, 'BodySet', name='bodyset'), 'objects')
    joints = SubElement(SubElement(model, 'JointSet', name='jointset'), 'objects')
    names = ['pelvis', 'torso', *(f'{part}_{side}' for side in 'rl'
                                  for part in ('femur', 'tibia', 'talus', 'calcn', 'toes'))]
    for name in names:
        part, com, radii = BODIES[name.split('_')[0]]
        body = SubElement(bodies, 'Body', name=name)
        SubElement(body, 'mass').text = f'{part * MASS:.6g}'
        SubElement(body, 'mass_center').text = ' '.join(f'{value:g}' for value in com)
        SubElement(body, 'inertia').text = ' '.join(
            f'{part * MASS * radius ** 2:.6g}' for radius in radii) + ' 0 0 0'

    def joint(kind: str, name: str, parent: str, child: str, place: object, coordinates: dict,
              axes: list | None = None) -> None:
        element = SubElement(joints, kind, name=name)
        SubElement(element, 'socket_parent_frame').text = f'{parent}_offset'
        SubElement(element, 'socket_child_frame').text = f'{child}_offset'
        if coordinates:
            holder = SubElement(element, 'coordinates')
            for key, (low, high) in coordinates.items():
                one = SubElement(holder, 'Coordinate', name=key)
                SubElement(one, 'default_value').text = '0'
                SubElement(one, 'range').text = f'{low:g} {high:g}'
        frames = SubElement(element, 'frames')
        for body, at in ((parent, place), (child, (0.0, 0.0, 0.0))):
            frame = SubElement(frames, 'PhysicalOffsetFrame', name=f'{body}_offset')
            SubElement(frame, 'socket_parent').text = (
                '/ground' if body == 'ground' else f'/bodyset/{body}')
            SubElement(frame, 'translation').text = ' '.join(f'{value:g}' for value in at)
            SubElement(frame, 'orientation').text = '0 0 0'
        if axes is not None:
            space = SubElement(element, 'SpatialTransform')
            for k, (key, axis) in enumerate(axes):
                one = SubElement(space, 'TransformAxis', name=(
                    f'{"rotation" if k < 3 else "translation"}{k % 3 + 1}'))
                SubElement(one, 'coordinates').text = key
                SubElement(one, 'axis').text = axis
                if key:
                    function = SubElement(one, 'LinearFunction', name='function')
                    SubElement(function, 'coefficients').text = ' 1 0'
                else:
                    function = SubElement(one, 'Constant', name='function')
                    SubElement(function, 'value').text = '0'

    still = [('', '1 0 0'), ('', '0 1 0'), ('', '0 0 1')]
    root = {'pelvis_tilt': (-2, 2), 'pelvis_list': (-2, 2), 'pelvis_rotation': (-2, 2),
            'pelvis_tx': (-50, 50), 'pelvis_ty': (-5, 5), 'pelvis_tz': (-5, 5)}
    joint('CustomJoint', 'ground_pelvis', 'ground', 'pelvis', (0, 0, 0), root,
          list(zip(root, ('0 0 1', '1 0 0', '0 1 0', '1 0 0', '0 1 0', '0 0 1'))))
    joint('PinJoint', 'back', 'pelvis', 'torso', (-0.03, 0.09, 0.0),
          {'lumbar_extension': (-1.5, 1.5)})
    for side, sign in (('r', 1), ('l', -1)):
        hip = {f'hip_flexion_{side}': (-1, 2), f'hip_adduction_{side}': (-1, 1),
               f'hip_rotation_{side}': (-1, 1)}
        joint('CustomJoint', f'hip_{side}', 'pelvis', f'femur_{side}', HIP * [1, 1, sign], hip,
              [*zip(hip, ('0 0 1', f'{sign} 0 0', f'0 {sign} 0')), *still])
        joint('CustomJoint', f'knee_{side}', f'femur_{side}', f'tibia_{side}', (0, -THIGH, 0),
              {f'knee_angle_{side}': (0, 2.1)},
              [(f'knee_angle_{side}', '0 0 -1'), ('', '1 0 0'), ('', '0 1 0'), *still])
        joint('PinJoint', f'ankle_{side}', f'tibia_{side}', f'talus_{side}', (0, -SHANK, 0),
              {f'ankle_angle_{side}': (-1, 1)})
        joint('CustomJoint', f'subtalar_{side}', f'talus_{side}', f'calcn_{side}', (0, 0, 0),
              {f'subtalar_angle_{side}': (-1, 1)},
              [(f'subtalar_angle_{side}', f'{sign} 0 0'), ('', '0 1 0'), ('', '0 0 1'), *still])
        joint('PinJoint', f'mtp_{side}', f'calcn_{side}', f'toes_{side}',
              (BALL - HEEL, 0.02, 0.0), {f'mtp_angle_{side}': (-1, 1)})
        # The heel's frame is that of the calcaneus, on the floor as the foot stands.
    for frame in joints.iter('PhysicalOffsetFrame'):
        if (frame.findtext('socket_parent') or '').startswith('/bodyset/calcn') and (
                frame.findtext('translation') == '0 0 0'):
            frame.find('translation').text = f'{-HEEL:g} {ANKLE:g} 0'  # type: ignore[union-attr]
    indent(document)
    ElementTree(document).write(path, encoding='utf-8', xml_declaration=True)


def main() -> None:
    """Make the walk and write its four files."""
    folder = share_directory() / 'config' / 'sample'
    folder.mkdir(parents=True, exist_ok=True)
    model_file(folder / 'walker.osim')
    osim = read_osim(folder / 'walker.osim')
    model = osim.robot()
    time = np.arange(round((2.0 * WARM + SECONDS) / DT) + 1) * DT
    moved = feet(time)
    beat = np.pi * (time + 0.35 - 0.5 * (STANCE - STEP)) / STEP      # one step a half turn
    wanted = np.einsum('nf,nfi->ni', moved['share'], moved['pressure'])
    path = path_for(wanted, HEIGHT)
    soles = [FlatFoot(f'calcn_{side}', 0.24, 0.0, 0.04, -0.04) for side in 'rl']
    for _ in range(12):
        pelvis = np.column_stack([path[:, 0] + 0.03, HEIGHT - 0.012 * np.cos(2.0 * beat),
                                  -path[:, 1]])
        turn = np.column_stack([np.full(len(time), -0.06), 0.05 * np.sin(beat),
                                0.08 * np.cos(beat)])
        R = Rotation.from_euler('ZXY', turn).as_matrix()
        values = {**dict(zip(osim.root_coordinates, np.hstack([turn, pelvis]).T)),
                  **legs(pelvis, R, moved), 'lumbar_extension': np.full(len(time), 0.0)}
        base_R, base_p = osim.base_pose({key: values[key] for key in osim.root_coordinates})
        motion = RecordedMotion.from_poses(
            model, time, base_p, Rotation.from_matrix(base_R).as_quat(),
            np.column_stack([values[name] for name in model.joint_names]))
        dynamics = GaitInverseDynamics.of(model, soles, motion)
        f, m = dynamics.wrench[:, :3], dynamics.wrench[:, 3:]
        arm = -base_p[:, 2]                     # the floor, from the base's origin
        pressed = base_p[:, :2] + np.column_stack([
            (arm * f[:, 0] - m[:, 1]) / f[:, 2], (arm * f[:, 1] + m[:, 0]) / f[:, 2]])
        # The ends, where derivatives are one-sided, are cut off later.
        fade = smooth(time / 1.0) * smooth((time[-1] - time) / 1.0)
        off = fade[:, None] * (wanted - pressed)
        print(f'{1e3 * np.sqrt(np.mean(off[200:-200] ** 2)):8.3f} mm from where it is to press')
        path = path + 0.7 * path_for(off, HEIGHT)
    write(folder, time, values, moved, dynamics, pressed, base_p)


def write(folder: Path, time: np.ndarray, values: dict[str, np.ndarray],
          moved: dict[str, np.ndarray], dynamics: object, pressed: np.ndarray,
          base_p: np.ndarray) -> None:
    """Write motion and forces of the middle of the walk."""
    f, m = dynamics.wrench[:, :3], dynamics.wrench[:, 3:]        # type: ignore[attr-defined]
    share, point = moved['share'], moved['pressure']
    # The split moves with what is left of the mismatch, so that the sum is the motion's.
    point = point + (pressed - np.einsum('nf,nfi->ni', share, point))[:, None]
    center = base_p[:, :2] + dynamics.center_of_mass[:, :2]    # type: ignore[attr-defined]
    lean = (center[:, None] - point) / 1.0
    lean[..., 1] += PUSH * (1.0 - share) ** 2 * [-1.0, 1.0]
    lean = lean - np.einsum('nf,nfi->ni', share, lean)[:, None]
    force = share[..., None] * f[:, None]
    force[..., :2] += share[..., None] * f[:, None, 2:] * lean
    place = np.concatenate([point, np.zeros((*share.shape, 1))], axis=2)
    about = m + np.cross(base_p, f)             # about the world's origin
    free = about[:, 2] - np.cross(place, force)[..., 2].sum(axis=1)
    moment = np.zeros_like(force)
    moment[..., 2] = share * free[:, None]
    touching = share > 1e-4
    keep = (time >= WARM - 1e-9) & (time <= WARM + SECONDS + 1e-9)
    t, start = time[keep] - WARM, np.array([LENGTH * round(WARM / STEP), 0.0, 0.0])
    names, columns = ['time'], [t[:, None]]
    for i, side in enumerate('rl'):
        on = touching[keep, i, None]
        for part, values_of in (('force_v', force), ('force_p', place - start),
                                ('torque_', moment)):
            names += [f'ground_{part.replace("_", f"_{side}_")}{axis}' for axis in 'xyz']
            columns.append(np.where(on, values_of[keep, i], 0.0) @ TO_OURS)
    write_storage(folder / 'walk_forces.mot', 'walk_forces.mot', names,
                  np.round(np.hstack(columns), 5))
    moved_names = list(values)
    angles = [values[name][keep] if name.startswith('pelvis_t') and name != 'pelvis_tilt'
              else np.degrees(values[name][keep]) for name in moved_names]
    angles[moved_names.index('pelvis_tx')] = angles[moved_names.index('pelvis_tx')] - start[0]
    write_storage(folder / 'walk.mot', 'Coordinates', ['time', *moved_names],
                  np.round(np.column_stack([t, *angles]), 6), in_degrees=True)
    document = Element('OpenSimDocument', Version='40000')
    loads = SubElement(document, 'ExternalLoads', name='walk')
    objects = SubElement(loads, 'objects')
    for side in 'rl':
        one = SubElement(objects, 'ExternalForce', name=f'{side}')
        for tag, text in (('applied_to_body', f'calcn_{side}'),
                          ('force_expressed_in_body', 'ground'),
                          ('point_expressed_in_body', 'ground'),
                          ('force_identifier', f'ground_force_{side}_v'),
                          ('point_identifier', f'ground_force_{side}_p'),
                          ('torque_identifier', f'ground_torque_{side}_')):
            SubElement(one, tag).text = text
    SubElement(loads, 'datafile').text = 'walk_forces.mot'
    indent(document)
    ElementTree(document).write(folder / 'walk_forces.xml', encoding='utf-8',
                                xml_declaration=True)


def sample_tables() -> list[str]:
    """Return what `legged-dynamics inverse-dynamics --sample` prints of the sample."""
    result, _ = analyse_gait(*sample_walk())
    cycles = gait_cycles(result)
    return [table.text for table in (
        feet_table(result), steps_table(result, cycles), errors_table(result))]


if __name__ == '__main__':
    main()
