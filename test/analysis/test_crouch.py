# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The crouch in closed loop on MuJoCo: final values, slip, landings, delay, pushes, report."""
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from legged_dynamics.cli import main
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.reproductions import planar_biped as reproduced
from legged_dynamics.reproductions.planar import (
    CROUCH,
    Biped,
    PinnedRobot,
    PlanarController,
    start_state,
)
from legged_dynamics.reproductions.planar_biped import (
    CASES,
    PAPER,
    RUNS,
    Loop,
    Run,
    Trace,
    close_loop,
    crouch,
    film_pictures,
    final_values,
    measure,
    table,
)

UNITS = np.array([100.0, 100.0, 180.0 / np.pi])     # cm, deg
SHORT = Loop(duration=0.1)


@pytest.fixture(scope='module')
def standing():
    return crouch(RUNS[1])


def test_crouch_on_contact_ends_where_it_should(standing):
    error = np.abs(UNITS * standing.error)
    assert (error <= [1e-3, 2e-3, 1e-3]).all()
    assert standing.trace.time[-1] == pytest.approx(9.99)
    assert standing.slip <= 1e-4
    assert not standing.trace.fallen


def test_feet_stay_loaded_within_their_soles_and_need_little_friction(standing):
    along, normal, center = np.moveaxis(standing.trace.ground[:, :, 2:], 2, 0)
    assert normal.min() > 300.0
    assert (center.min(), center.max()) == pytest.approx((0.063, 0.151), abs=5e-3)
    assert (along / normal).max() < 0.03
    # Two feet that look alike carry alike.
    np.testing.assert_allclose(normal[:, 0], normal[:, 1], rtol=1e-6)


def test_contact_follows_the_pinned_plant_all_the_way(standing):
    pinned = crouch(RUNS[0])
    assert (np.abs(UNITS * pinned.error) < 2e-4).all()
    off = np.abs(standing.trace.pose - pinned.trace.pose).max(axis=0)
    assert (off < [5e-4, 5e-4, 1e-3]).all()
    np.testing.assert_allclose(np.abs(pinned.trace.torque).max(axis=0)[:3], [14.2, 81.2, 50.9],
                               atol=0.1)
    np.testing.assert_allclose(np.degrees(pinned.trace.position[-1, :3]),
                               [44.947, -92.964, 48.017], atol=2e-3)


def test_controller_in_se3_does_the_same(standing):
    spatial = crouch(next(run for run in RUNS if run.spatial))
    np.testing.assert_allclose(spatial.trace.pose, standing.trace.pose, atol=1e-6)
    np.testing.assert_allclose(spatial.trace.torque, standing.trace.torque, atol=1e-3)


@pytest.mark.parametrize('run', RUNS[-2:], ids=('in the air', 'from the landing on'))
def test_dropped_from_1_cm_it_still_ends_within_the_papers_own_errors(run):
    done = crouch(run)
    if not run.plant['standing']:
        assert done.trace.ground[0, :, 3].max() == 0.0
        assert done.trace.pose[0, 1] == pytest.approx(1.06)
    assert done.trace.ground[:10, :, 3].max() > 450.0        # an impact there was
    assert (np.abs(done.error) <= np.abs(PAPER - CROUCH.pose)).all()
    assert done.slip <= 1e-4


# ---- the loop itself -------------------------------------------------------------------------

class Recorder(PinnedRobot):
    """A pinned biped that writes down what it is told."""

    def __init__(self):
        super().__init__(Biped().planar(), start_state())
        self.told = []
        self.time = 0.0

    def advance(self, torque, duration, push=None):
        self.told.append((round(self.time, 9), torque, push))
        self.time += duration
        super().advance(torque, duration, push)


def recorded(**options):
    plant = Recorder()
    trace = close_loop(plant, PlanarController(plant.robot), Loop(**options))
    return plant, trace


def test_torque_arrives_after_its_delay():
    plant, trace = recorded(delay=0.015, duration=0.06)
    assert [time for time, _, _ in plant.told] == pytest.approx(
        np.arange(0.0, 0.06, 0.005)[:12].tolist())
    for time, torque, _ in plant.told:
        tick = max(int(np.floor((time - 0.015) / 0.01 + 1e-9)), 0)
        np.testing.assert_array_equal(torque, trace.torque[tick])


def test_without_delay_the_torque_is_that_of_the_tick():
    plant, trace = recorded(duration=0.05, rate=50.0)
    assert [time for time, _, _ in plant.told] == pytest.approx([0.0, 0.02, 0.04])
    for (_, torque, _), wanted in zip(plant.told, trace.torque):
        np.testing.assert_array_equal(torque, wanted)
    assert plant.time == pytest.approx(0.05)
    np.testing.assert_allclose(trace.time, [0.0, 0.02, 0.04, 0.05])


def test_push_lasts_as_long_as_it_is_told():
    plant, _ = recorded(duration=0.06, push=(50.0, 0.0, 0.0), push_start=0.013,
                        push_length=0.02)
    begin = np.array([time for time, _, _ in plant.told])
    pushed = np.array([push is not None for _, _, push in plant.told])
    lengths = np.diff([*begin, 0.06])
    assert lengths[pushed].sum() == pytest.approx(0.02)
    assert begin[pushed].min() == pytest.approx(0.013)


def test_slip_is_the_way_of_a_sole_from_a_given_time_on():
    ground = np.zeros((3, 2, 5))
    ground[:, 1, 0] = [0.0, 3.0, 3.0]
    ground[:, 1, 1] = [0.0, 4.0, 5.0]
    trace = Trace(np.arange(3.0), *np.zeros((2, 3, 3)), *np.zeros((2, 3, 6)), ground, CROUCH,
                  False)
    assert trace.slip() == pytest.approx(np.hypot(3.0, 5.0))
    assert trace.slip(1.0) == pytest.approx(1.0)


def test_loops_that_cannot_be_are_refused():
    with pytest.raises(ConfigurationError, match='a rate and a duration above zero'):
        Loop(rate=0.0)


# ---- tables and report -----------------------------------------------------------------------

def test_paper_stands_first_in_the_table_of_final_values(standing):
    rows = final_values([standing]).rows
    assert rows[0][4:7] == ('-6.5e-04', '+1.6e-02', '+1.7e-03')
    assert rows[1][:3] == (RUNS[1].name, *(f'{v:.6f}' for v in (UNITS * standing.trace.pose[-1])[
        :2]))


def test_robustness_names_a_fall_and_brings_height_back_by_the_integral_term():
    ((light, raised),) = pairs = measure(
        [Run('body 2 % lighter', biped=Biped(body_scale=0.98))], workers=1)
    slow = crouch(Run('70 ms of delay', loop=Loop(delay=0.07)))
    assert 0.04 < light.error[1] < 0.06
    assert abs(raised.error[1]) < 1e-3
    assert raised.trace.time[-1] == 20.0
    assert slow.trace.fallen
    rows = table([*pairs, (slow, slow)]).rows
    assert rows[0][2].startswith('+5.0')
    assert rows[1][1].startswith('falls at')
    assert [run.name for run in CASES][:2] == ['as modelled', 'body 5 % lighter']


def test_verb_writes_report_figures_and_table(tmp_path, monkeypatch, capsys):
    short = [replace(run, loop=SHORT) for run in RUNS[:3]]
    monkeypatch.setattr(reproduced, 'RUNS', short)
    assert main(['reproduce', 'biped', '-o', str(tmp_path / 'out')]) == 0
    said = capsys.readouterr().out
    assert "the paper's simulator" in said
    page = (tmp_path / 'out' / 'report.html').read_text()
    assert 'Figure 7: path of the body' in page
    pictures = sorted(path.stem for path in (tmp_path / 'out').glob('*.png'))
    assert pictures == ['errors', 'figure_3_controller', 'figure_4_pose', 'figure_5_joints',
                        'figure_6_torques', 'figure_7_path', 'figures_1_2_model', 'ground']
    with Image.open(tmp_path / 'out' / 'crouch.gif') as film:
        assert film.n_frames == 3       # 0.1 s at 20 pictures a second, both ends


def test_film_shows_a_body_that_goes_down_in_the_picture_as_it_does_in_space(standing):
    # Of the left half, the highest row that is neither paper nor grid: the top of the trunk.
    first, *_, last = film_pictures(standing.trace)
    tops = [np.flatnonzero((picture[:, 140:330].max(axis=2) < 140).any(axis=1)
                           & (np.arange(len(picture)) > 40))[0] for picture in (first, last)]
    assert tops[1] > tops[0]
