# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing robot's comparison, questions, film, report and sweep, on real climbs."""
import csv
import itertools
import math
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.reproductions.climbing.animation import ClimbAnimation, write_film
from legged_dynamics.reproductions.climbing.comparison import (
    answer_questions,
    compare,
    misplaced,
    modes_at_rest,
    nominal_poles,
    residuals_of,
)
from legged_dynamics.reproductions.climbing.plots import (
    _body_outline,
    _limb_lines,
    arrow_outlines,
    pad_outline,
)
from legged_dynamics.reproductions.climbing.report import (
    _climb_table,
    _strength_table,
    write_climb_report,
)
from legged_dynamics.reproductions.climbing.sweep import (
    AXES,
    Axis,
    draw_sweep,
    sweep,
    sweep_table,
    write_sweep,
)
from legged_dynamics.stickybot import (
    Adhesion,
    ForceSets,
    StickybotModel,
    StickybotSettings,
    accelerations,
    unloaded_state,
)
from legged_dynamics.stickybot.allocation.force_allocation import SET

pytestmark = pytest.mark.slow

WEIGHT = 0.37 * 9.81
PADS = {'adhesion.kind': 'directional', 'control.rate': 250.0}
LIMP = {'stickybot.stiffness_scale': 1e-6}      # springs that cannot hold the robot up


@pytest.fixture(scope='module')
def comparison():
    return compare(StickybotSettings.from_parameters(PADS), 2.0)


@pytest.fixture(scope='module')
def answers(comparison):
    return answer_questions(comparison)


def test_reduction_is_compared_at_the_plain_gaits_speed(comparison):
    plain, full = comparison.attempt('off').climb, comparison.attempt('full').climb
    assert not comparison.asked
    assert comparison.speed == pytest.approx(plain.speed, rel=0.02)
    assert full.speed == pytest.approx(plain.speed, rel=0.02)
    assert full.peak < 0.7 * plain.peak
    assert [(a.reduction, a.pads is not None) for a in comparison.attempts] == [
        ('off', False), ('turning', False), ('full', False), ('off', True), ('full', True)]
    assert comparison.shown is comparison.attempt('full', limited=True)
    # Feet let go at each step, and are planted again.
    failing = comparison.attempt('off', limited=True)
    assert failing.climb.failures > 5
    assert failing.climb.speed < 0.7 * plain.speed
    assert 0.0 < failing.first_failure < 1.0
    assert not comparison.shown.fell
    assert math.isnan(comparison.shown.first_failure)


def test_newton_holds_throughout_every_climb(comparison):
    for reduction in ('off', 'turning', 'full'):
        found = residuals_of(comparison.model, comparison.attempt(reduction).trace)
        assert found.force < 1e-9
        assert found.moment < 1e-9
        assert found.power < 1e-9


def test_trace_holds_the_whole_motion(comparison):
    climb = comparison.attempt('full').climb
    trace = climb.trace
    assert len(trace.states) == len(trace.rests) == len(trace.energy) == len(trace.time) == 500
    assert trace.energy[-1] == climb.energy
    np.testing.assert_array_equal(trace.states[99].pose, trace.pose[99])
    np.testing.assert_array_equal(trace.states[99].attached, trace.attached[99])
    for state, rest, reaction in list(zip(trace.states, trace.rests, trace.reaction))[::7]:
        found = accelerations(comparison.model, state, rest)
        np.testing.assert_allclose(found.reaction, reaction, atol=1e-9)
    assert np.isnan(trace.pad_angle).all()
    assert np.abs(comparison.shown.trace.pad_angle - math.pi / 2).max() < 0.05


def test_progress_runs_to_the_end():
    seen = []
    compare(StickybotSettings.from_parameters({**PADS, 'adhesion.kind': 'none',
                                               'control.speed': 0.04}), 2.0, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) == 6


def test_tables_say_who_falls_and_how_much_is_gained(comparison):
    table = _climb_table(comparison)
    assert [row[0].split(',')[0] for row in table.rows] == [
        'plain gait', 'reduced by turning', 'reduced', 'plain gait', 'reduced']
    gained = 100.0 * (comparison.attempt('full').climb.peak
                      / comparison.attempt('off').climb.peak - 1.0)
    assert table.rows[2][3] == f'{gained:+.1f}'
    assert table.rows[3][1].startswith('loses feet at 0.')
    assert table.rows[4][-1] == '0'
    assert all(len(row) == len(table.head) for row in table.rows)
    assert table.markdown.splitlines()[1].count('---') == len(table.head)


def test_first_question(answers):
    assert answers.share == pytest.approx(WEIGHT / 4)
    rest, squeezed, stride = answers.sharing
    assert rest.even.value == pytest.approx(WEIGHT / 4, rel=1e-6)
    assert squeezed.peak > 4.0
    assert squeezed.even.value <= 1.05 * WEIGHT / 4
    # Feet 2 mm out of place take 2 mm of the hips.
    assert np.abs(squeezed.rest_change[:, 0]).max() == pytest.approx(0.002, rel=0.02)
    assert squeezed.turned.remaining > 3.0
    assert 'takes r_x and r_y to undo' in squeezed.turned.message
    assert stride.peak > stride.even.value
    assert stride.turned is None
    assert len(stride.reaction) == 2


def test_second_question(answers):
    weak, *strong, pads = answers.strength
    assert weak.along['up'].value < 0.0
    assert weak.along['aside'].certificate is not None
    for row in strong:
        limit = row.sets.table[0, SET.radius]
        # Four equal forces straight up lift the body; the limbs hang still.
        assert row.along['up'].value == pytest.approx((4 * limit - WEIGHT) / 0.29, rel=1e-6)
        assert row.along['stride, up'].value <= (2 * limit - WEIGHT) / 0.29 + 1e-3
        low, high = row.turning_range
        assert low < 0.0 < high
        # The outline reaches as far as each of the directions that were asked for.
        np.testing.assert_allclose(row.boundary[:, 1].max(), row.along['up'].value, rtol=1e-5)
        np.testing.assert_allclose(row.boundary[:, 1].min(), -row.along['down'].value, rtol=1e-5)
    assert pads.name == 'the pads'
    assert pads.along['up'].value > 4.0 * pads.along['down'].value
    rows = _strength_table(answers).rows
    assert rows[0][1].startswith('sinks at')
    assert rows[0][3] == 'does not hold'


def test_feet_are_misplaced_outwards_and_inwards_in_turn(comparison):
    model = comparison.model
    calm = unloaded_state(model)
    moved = misplaced(model, calm).foot - calm.foot
    np.testing.assert_allclose(np.abs(moved[:, 0]), 0.002)
    outwards = -model.sides * moved[:, 0]
    assert outwards[0] == outwards[1] == -outwards[2] == -outwards[3]


def test_modes_are_named_by_what_moves(comparison):
    found, named = modes_at_rest(comparison.model)
    assert found.nominal == pytest.approx(1.0)
    worst = min(named, key=lambda mode: mode.damping_ratio)
    assert worst.damping_ratio == pytest.approx(0.51, abs=0.01)
    assert worst.name.startswith('body y')
    poles = dict(nominal_poles(comparison.model))
    assert poles['x'] == pytest.approx(-math.sqrt(4 * 2000 / 0.29))
    model = comparison.model
    half = StickybotModel(model.body, [replace(limb, damping=0.5 * limb.damping)
                                       for limb in model.limbs], model.wall)
    assert abs(nominal_poles(half)[0][1]) == pytest.approx(-poles['x'].real)
    assert nominal_poles(half)[0][1].real == pytest.approx(0.5 * poles['x'].real)


def test_pad_outline_is_the_edge_of_what_the_pad_holds():
    for pad, normal in ((Adhesion(3.0, 2.0, 0.3), 1.0),
                        (Adhesion(3.0, 2.0, 0.3, 1.2, 0.8, 0.5, 0.2), -0.5)):
        outline, sets = pad_outline(pad, normal, 0.7), ForceSets.of_pads([pad], [normal], [0.7])
        middle = outline.mean(axis=0)
        for point in outline:
            assert sets.contains([middle + 0.999 * (point - middle)])[0]
            assert not sets.contains([middle + 1.01 * (point - middle)])[0]
    near = pad_outline(pad, -0.5, 0.7, 1.5)
    assert np.hypot(*near.T).max() == pytest.approx(1.5)
    assert all(sets.contains([0.999 * point + 0.001 * near.mean(axis=0)])[0] for point in near)
    overloaded = Adhesion(3.0, 2.0, 0.3, 1.2)
    assert len(pad_outline(overloaded, -2.1, 0.7)) == 0


def test_drawing_shows_limbs_and_forces_where_they_are():
    model = StickybotSettings.from_parameters({
        'stickybot.link_length': [0.06, 0.04], 'stickybot.link_mass': [0.01, 0.01],
        'stickybot.joint_stiffness': [5.0], 'stickybot.bends': [0.4]}).model()
    calm = unloaded_state(model, [0.1, 0.2, 0.3])
    for line, limb, foot in zip(_limb_lines(model, calm.foot, calm.joint), model.limbs, calm.foot):
        np.testing.assert_allclose(line[0], foot)
        hip = [0.1 + math.cos(0.3) * limb.hip[0] - math.sin(0.3) * limb.hip[1],
               0.2 + math.sin(0.3) * limb.hip[0] + math.cos(0.3) * limb.hip[1]]
        np.testing.assert_allclose(line[-1], hip, atol=1e-12)
        np.testing.assert_allclose(np.hypot(*np.diff(line, axis=0).T), [0.06, 0.04])
    head = _body_outline(model, calm.pose)[3] - calm.pose[:2]
    assert math.atan2(-head[0], head[1]) == pytest.approx(0.3)
    arrows = arrow_outlines(calm.foot, np.array([[0.0, 0.05], [0.03, 0.0], [0.0, 0.0],
                                                 [-0.02, 0.01]]), 0.005)
    np.testing.assert_allclose(arrows[1, 3], calm.foot[1] + [0.03, 0.0])
    np.testing.assert_allclose(np.abs(arrows[2] - calm.foot[2]), 0.0, atol=1e-12)


def test_film_has_a_picture_for_every_frame(comparison, tmp_path):
    animation = ClimbAnimation(comparison.model, comparison.shown, 'wave', 5.0)
    frames = list(animation.frames())
    assert len(frames) == animation.n_frames == 9
    assert {frame.shape for frame in frames} == {(576, 828, 3)}
    assert all((a != b).any() for a, b in itertools.pairwise(frames))
    np.testing.assert_array_equal(animation.picture(comparison.shown.trace.time[0] + 1.0),
                                  frames[5])
    files = write_film(frames, animation.frame_rate, tmp_path, 'film', animation.samples())
    with Image.open(files[0]) as film:
        assert film.n_frames == 9
        assert film.info['duration'] == 200
        shown = np.asarray(film.convert('RGB')).astype(int)
    assert np.abs(shown - frames[0]).max() < 40
    assert (shown[frames[0].min(axis=2) == 255] == 255).all()
    assert [path.suffix for path in files] == (['.gif', '.mp4'] if shutil.which('ffmpeg')
                                               else ['.gif'])
    with pytest.raises(OutputError, match='at least one frame'):
        write_film([], 5.0, tmp_path, 'none', frames[:1])
    with pytest.raises(OutputError, match='cannot write the film'):
        write_film(frames[:1], 5.0, tmp_path / 'nowhere', 'film', frames[:1])


def test_film_follows_a_robot_that_leaves_the_picture():
    # Three pads of this kind do not hold the robot once the fourth has gone.
    comparison = compare(StickybotSettings.from_parameters({**PADS, 'adhesion.shear': 2.5}), 2.0)
    fallen = comparison.attempt('off', limited=True)
    assert fallen.trace.pose[-1, 1] < -1.0
    animation = ClimbAnimation(comparison.model, fallen, 'falls', 10.0)
    frames = list(animation.frames())
    # It ends when there is nothing left to be seen but the fall.
    assert 5 < len(frames) < 15
    for frame in frames:
        body = np.abs(frame[:, :430].astype(int) - [0xd9, 0xde, 0xe6]).max(axis=2) < 3
        assert body.sum() > 5000


def test_report_stands_alone_and_has_all_its_parts(comparison, tmp_path):
    film = tmp_path / 'climb.gif'
    Image.new('RGB', (4, 4)).save(film)
    path, tables = write_climb_report(comparison, tmp_path, film)
    page = path.read_text()
    for part in ('With and without reduction', 'Phases', 'Energy and momentum',
                 'Modes and damping', 'How the load can be shared', 'What the feet allow',
                 'data:image/gif;base64,', 'Climbing robot: diagonal gait, 4 limbs',
                 'turning the hips leaves', 'does not hold the robot at rest'):
        assert part in page, part
    assert page.count('data:image/png') == 6
    assert not re.search(r'(src|href)="(?!data:|#s)', page)
    assert len(tables) == 5
    assert sorted(p.stem for p in tmp_path.glob('*.png')) == [
        'energy', 'forces', 'modes', 'phases', 'sharing', 'strength']
    blocked = tmp_path / 'file'
    blocked.write_text('')
    with pytest.raises(OutputError, match='cannot write the report'):
        write_climb_report(comparison, blocked)


def test_a_robot_that_cannot_hang_is_told(tmp_path):
    settings = StickybotSettings.from_parameters({
        **LIMP, 'control.rate': 100.0, 'control.speed': 0.01})
    path, tables = write_climb_report(compare(settings, 2.0), tmp_path)
    assert 'cannot hang still on its wall: no equilibrium found' in path.read_text()
    assert len(tables) == 2


BASE = {'control.rate': 100.0, 'control.speed': 0.0}
SHORT = (replace(AXES[0], values=(0.1, 0.147)), replace(AXES[3], values=(45.0, 90.0)))


def test_sweep_takes_one_parameter_at_a_time(tmp_path):
    settings = StickybotSettings.from_parameters(BASE)
    parts = []
    done = sweep(settings.values, SHORT, seconds=2.0, workers=1, progress=parts.append)
    assert [list(point.place.values()) for point in done.points] == [[0.1], [0.147], [45.0],
                                                                      [90.0]]
    # The nominal climb stands in both sweeps and is made once for each way.
    assert len(parts) == 6
    assert parts[-1] == 1.0
    assert done.points[1].rows['off']['speed'] == done.points[3].rows['off']['speed']
    assert done.points[0].rows['full']['speed'] < done.points[1].rows['full']['speed']
    assert done.points[2].rows['off']['peak_force'] < done.points[3].rows['off']['peak_force']
    table = sweep_table(done)
    assert table.first == [0, 2]
    assert [row[0] for row in table.rows] == ['amplitude 0.1 rad', 'amplitude 0.147 rad',
                                              'inclination 45°', 'inclination 90°']
    assert table.rows[1][1].split(' / ')[0] == f'{100 * done.points[1].rows["off"]["speed"]:.2f}'
    files = write_sweep(done, tmp_path, 'command')
    assert '| amplitude 0.1 rad |' in files[0].read_text()
    rows = list(csv.DictReader(files[1].open()))
    assert len(rows) == 8
    assert (rows[5]['gait.amplitude'], rows[5]['stickybot.inclination'],
            rows[5]['control.reduction']) == ('', '45.0', 'full')
    assert float(rows[0]['speed']) == done.points[0].rows['off']['speed']
    assert draw_sweep(done) is not None


def test_sweep_over_a_grid_and_over_words():
    settings = StickybotSettings.from_parameters(BASE)
    axes = [replace(AXES[4], values=(4, 5)),
            Axis('gait.pattern', 'gait.pattern', ('diagonal', 'wave'))]
    done = sweep(settings.values, axes, grid=True, seconds=2.0, workers=1)
    assert [tuple(point.place.values()) for point in done.points] == [
        (4, 'diagonal'), (4, 'wave'), (5, 'diagonal'), (5, 'wave')]
    table = sweep_table(done)
    assert table.rows[0][-1] == ''
    assert 'expected an even number, got 5' in table.rows[2][-1]
    assert table.rows[2][1] == '- / -'
    assert draw_sweep(done) is not None
    with pytest.raises(ConfigurationError, match='limbs: expected at least one value'):
        sweep(settings.values, [replace(AXES[4], values=())])
    with pytest.raises(ConfigurationError, match='gait.speed is not a setting'):
        sweep(settings.values, [Axis('gait.speed', 'speed', (1.0,))])
