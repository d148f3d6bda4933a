# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reference and true pose of the base, in frames that differ by a constant pose."""
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from legged_dynamics.recordings.recording import PoseRecord, Recording, track_body

MS = 1_000_000
# The controller's frame in the world: elsewhere, and turned.
FRAME, ORIGIN = Rotation.from_rotvec([0.0, 0.0, 2.0]), np.array([3.0, -1.0, 0.0])


def record(stamps, positions, rotations, wrapped):
    made = PoseRecord()
    for stamp, p, q in zip(stamps, positions, rotations.as_quat()):
        pose = SimpleNamespace(position=SimpleNamespace(**dict(zip('xyz', p))),
                               orientation=SimpleNamespace(**dict(zip('xyzw', q))))
        made.append(SimpleNamespace(
            header=SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=int(stamp))),
            pose=SimpleNamespace(pose=pose) if wrapped else pose), 0)
    return made


def motion(offset=(0.0, 0.0, 0.0), turn=0.0, begin=300):
    """Return a recording of a second of sway, the truth off from ``begin`` [ms] on."""
    time = np.arange(0, 1000, 2)
    wanted = np.stack([0.05 * np.sin(0.005 * time), 0.0 * time, 0.5 + 0.0 * time], axis=1)
    turning = Rotation.from_rotvec(np.outer(0.0002 * time, [0.0, 1.0, 0.0]))
    late = (time >= begin)[:, None]
    error = Rotation.from_rotvec(late * np.array([turn, 0.0, 0.0]))
    true = ORIGIN + FRAME.apply(wanted) + late * np.array(offset)
    return Recording(
        base=record(time * MS, true, FRAME * turning * error, wrapped=True),
        reference=record(time[5:] * MS, wanted[5:], turning[5:], wrapped=False))


def test_a_base_that_follows_exactly_has_no_error_whatever_the_frames():
    body = track_body(motion())
    assert len(body.time) == 495
    np.testing.assert_allclose(body.error, 0.0, atol=1e-9)
    np.testing.assert_allclose(body.angle, 0.0, atol=1e-7)
    moved = FRAME.apply([0.05 * (np.sin(0.005 * 998) - np.sin(0.005 * 10)), 0.0, 0.0])
    np.testing.assert_allclose(body.moved[-1], moved, atol=1e-9)
    np.testing.assert_allclose(body.turned[-1], [0.0, 0.0002 * 988, 0.0], atol=1e-7)


def test_errors_are_distances_and_angles():
    body = track_body(motion((0.0, 0.003, 0.004), 0.02))
    late = body.time > 0.3
    np.testing.assert_allclose(body.error[late], 0.005, rtol=1e-6)
    np.testing.assert_allclose(body.angle[late], 0.02, rtol=1e-6)
    np.testing.assert_allclose(body.error[body.time < 0.28], 0.0, atol=1e-9)


@pytest.mark.parametrize('missing', ['base', 'reference'])
def test_nothing_is_said_without_both(missing):
    recording = motion()
    parts = {'base': recording.base, 'reference': recording.reference, missing: None}
    assert track_body(Recording(**parts)) is None
    assert track_body(Recording(**{**parts, missing: PoseRecord()})) is None
