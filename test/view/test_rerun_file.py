# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is handed to rerun: forces, poses and times of every snapshot."""
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.view.rerun_file import write_rrd
from legged_dynamics.view.sources import read_view


class Recorder:
    """Takes the place of rerun's stream, and of its archetypes."""

    def __init__(self):
        self.times, self.logged = [], {}

    def save(self, path):
        pass

    def flush(self):
        pass

    def set_time(self, name, duration):
        self.times.append(duration)

    def log(self, entity, value, static=False):
        self.logged.setdefault(entity, []).append(value)


@pytest.fixture
def stream(monkeypatch):
    found = Recorder()
    names = ('Mesh3D', 'Transform3D', 'Quaternion', 'Arrows3D', 'LineStrips3D', 'Points3D')
    kept = {name: lambda *args, **named: SimpleNamespace(args=args, **named) for name in names}
    monkeypatch.setitem(sys.modules, 'rerun', SimpleNamespace(
        RecordingStream=lambda name: found, Scalars=float,
        ViewCoordinates=SimpleNamespace(RIGHT_HAND_Z_UP=None), **kept))
    return found


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r'ends in \.rrd'):
        write_rrd(None, tmp_path / 'walk.mcap')


def test_every_snapshot_is_logged_with_its_forces(walking_bag, tmp_path, stream):
    recorded = read_view(walking_bag, rate=10.0)
    write_rrd(recorded, tmp_path / 'walk.rrd', newtons_per_meter=100.0)
    np.testing.assert_allclose(stream.times, recorded.time)
    vertical = np.array([stream.logged[f'vertical_force/{foot.link}']
                         for foot in recorded.robot.config.feet]).T
    for snapshot, arrows, force in zip(recorded.snapshots, stream.logged['world/forces'],
                                       vertical):
        contact = snapshot.forces.contact
        assert len(arrows.origins) == len(arrows.labels) == contact.sum()
        np.testing.assert_allclose(arrows.vectors[:, 2], force[contact] / 100.0)
    # While it stands the feet bear the weight.
    weight = 9.81 * recorded.robot.model.total_mass
    assert vertical[5].sum() == pytest.approx(weight, rel=0.05)
