# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command: what it prints, and errors as one line."""
import io
import json
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from xml.etree import ElementTree

import numpy as np
import pytest
from robots import CONFIG
from tolerances import PATIENCE

from legged_dynamics import cli
from legged_dynamics.cli import output as progress
from legged_dynamics.cli.output import ProgressBar
from legged_dynamics.cli.processes import ProcessGroup
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.pages.page import Table
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.simulation import SimulatedRobot

COMMAND = [sys.executable, '-m', 'legged_dynamics']
DIALECT = StandaloneDialect()
ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """A robot that stands for 1.1 s, without truth."""
    robot = SimulatedRobot.from_files(ROBOT, start_ns=10**9)
    path = tmp_path_factory.mktemp('cli') / 'recording'
    with BagWriter(path) as writer:
        for topic, kind in (('/robot_description', 'std_msgs/msg/String'),
                            ('/joint_states', 'sensor_msgs/msg/JointState'),
                            ('/imu/data', 'sensor_msgs/msg/Imu')):
            writer.add_topic(topic, kind, latched=topic == '/robot_description')
        writer.write_message('/robot_description', 10**9, convert.string(DIALECT, robot.urdf))
        for _ in range(550):
            robot.step()
            s = robot.read()
            writer.write_message('/imu/data', s.stamp_ns, convert.imu(
                DIALECT, s.stamp_ns, 'imu_link', s.angular_velocity, s.linear_acceleration,
                s.orientation))
            writer.write_message('/joint_states', s.stamp_ns, convert.joint_state(
                DIALECT, s.stamp_ns, robot.plant.joints, s.position, s.velocity, s.effort))
    return path


# ---- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(('arguments', 'said'), [
    (['analyze', '/no/such/bag'], 'there is no bag at /no/such/bag'),
    (['analyze', '/no/such/bag', '--start', '3', '--end', '2'], 'expected a range'),
    (['analyze', '/no/such/bag', '--truth', 'LF_FOOT'], "expected FOOT=TOPIC, got 'LF_FOOT'"),
    (['info', '/no/such.urdf'], 'cannot read the URDF'),
    (['info', 'no_such_robot'], 'expected a robot that comes with the package (a2'),
    (['record', '--duration', '0'], 'expected a time above 0 s'),
    (['demo', '--robot', 'human', '-o', '/no'], 'expected a robot with a URDF beside'),
    (['demo', '--schedule', 'dance 3', '-o', '/no'], "expected a behaviour, got 'dance'"),
], ids=lambda value: ' '.join(value)[:40] if isinstance(value, list) else '')
def test_an_error_is_one_clear_line(arguments, said, capsys):
    assert cli.main(arguments) == cli.WRONG
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith(f'legged-dynamics {arguments[0]}: ')
    assert said in lines[0]


def test_errors_of_several_lines_are_put_into_one(tmp_path, capsys):
    (tmp_path / 'metadata.yaml').write_text('rosbag2: [')
    assert cli.main(['analyze', str(tmp_path)]) == cli.WRONG
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_options_of_a_node_without_ros_args_are_refused(capsys):
    assert cli.main(['run', 'ground_reaction_estimator', '-p', 'rate:=100']) == cli.WRONG
    assert "expected --ros-args in front of '-p rate:=100'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        cli.main(['run', 'unitree'])
    assert left.value.code == cli.WRONG and '--robot' in capsys.readouterr().err


@pytest.mark.parametrize('arguments', [[], ['fly'], ['run', 'no_such_node'], ['analyze']])
def test_usage_is_told(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2 and 'usage: legged-dynamics' in capsys.readouterr().err


def test_a_missing_package_is_told(tmp_path):
    # in a process of its own: a module that is imported twice is two modules
    (tmp_path / 'metadata.yaml').touch()
    code = ('import sys; sys.modules["rosbags.highlevel"] = None; '
            'from legged_dynamics import cli; sys.exit(cli.main(["analyze", sys.argv[1]]))')
    done = subprocess.run([sys.executable, '-c', code, tmp_path], capture_output=True, text=True)
    assert done.returncode == cli.WRONG
    assert 'rosbags' in done.stderr and 'pip install "legged_dynamics[bag]"' in done.stderr


def test_help_needs_no_heavy_packages():
    code = ('import sys; from legged_dynamics.cli import main\n'
            'try: main(["--help"])\n'
            'except SystemExit: pass\n'
            'heavy = {"numpy", "numba", "rosbags", "matplotlib", "mujoco", "cyclonedds"}\n'
            'assert not heavy & set(sys.modules), heavy & set(sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for verb in ('demo', 'run', 'record', 'analyze', 'info', 'stickybot', 'stickybot-sweep'):
        assert re.search(rf'^ +{verb}\s', done.stdout, re.MULTILINE)


@pytest.mark.parametrize('arguments', [
    ['analyze', 'nosuch'], ['doctor', 'nosuch'], ['identify', 'nosuch'], ['validate', 'nosuch'],
    ['view', 'nosuch'], ['inverse-dynamics', 'nosuch'], ['repair', 'nosuch'],
    ['doctor', '--robot', 'nosuch'], ['doctor', '--urdf', 'nosuch'], ['info', 'nosuch'],
    ['info', '--robot', 'nosuch'], ['analyze', '.', '--end', '0'], ['view', '--rate', '0']])
def test_wrong_arguments_are_refused_before_anything_heavy_is_imported(arguments):
    code = ('import sys; from legged_dynamics.cli import main\n'
            f'assert main({arguments}) == 2\n'
            'heavy = {"numpy", "numba", "rosbags", "matplotlib", "mujoco", "cyclonedds"}\n'
            'assert not heavy & set(sys.modules), heavy & set(sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- info ----------------------------------------------------------------------------------


def test_info_for_programs_is_one_object_without_what_is_not_stated(tmp_path, capsys):
    """What it says is what the URDF says, and so where nothing is known of its feet."""
    text = ROBOT.with_suffix('.urdf').read_text()
    model, _ = RobotModel.from_xml(text), tmp_path.joinpath('other.urdf').write_text(
        text.replace('<robot name="', '<robot name="other_', 1).replace('"revolute"',
                                                                        '"continuous"'))
    for name, feet, limit in ((ROBOT.stem, 'point', model.joints[0].lower),
                              (tmp_path / 'other.urdf', None, None)):
        assert cli.main(['info', str(name), '--json']) == 0
        found = json.loads(capsys.readouterr().out)
        assert sum(found['links'].values()) == pytest.approx(found['mass'])
        assert list(found['joints']) == list(model.joint_names)
        assert {joint['lower'] for joint in found['joints'].values()} >= {limit}
        assert set((found['feet'] or {0: None}).values()) == {feet}


def test_info_shows_the_robot(capsys):
    assert cli.main(['info', str(ROBOT.with_suffix('.urdf'))]) == 0
    out = capsys.readouterr().out
    assert 'anymal_class: 52.132 kg, 12 moving joints, 18 links; the base is base' in out
    assert re.search(r'^ {4}LF_THIGH +3\.071 kg +revolute LF_HFE, -9\.42 to 9\.42 rad, '
                     r'7\.5 rad/s, 80 N m$', out, re.MULTILINE)
    shares = [float(found) for found in re.findall(r'\(([\d.]+) % of the weight\)', out)]
    assert len(shares) == 4 and sum(shares) == pytest.approx(100.0, abs=0.5)
    # The feet stand slightly splayed about the centre of mass; none carries all or nothing.
    assert all(20.0 < share < 30.0 for share in shares)


def test_info_takes_a_robot_as_the_other_verbs_do(capsys):
    said = []
    for arguments in (['anymal_class', '--robot', 'anymal_class', '--picture', '/dev/null'],
                      ['--urdf', 'anymal_class', '--robot', str(ROBOT), '--picture', '/dev/null'],
                      ['--robot', 'anymal_class', '--picture', '/dev/null']):
        assert cli.main(['info', *arguments]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    assert cli.main(['info']) == cli.WRONG and 'expected a URDF' in capsys.readouterr().err
    assert cli.main(['info', 'go1', '--urdf', 'go1']) == cli.WRONG


def test_info_and_new_robot_compile_nothing(tmp_path):
    code = ('import sys; from legged_dynamics.cli import main\n'
            f'urdf, yaml = {str(ROBOT.with_suffix(".urdf"))!r}, "made.yaml"\n'
            'assert main(["new-robot", urdf, "-o", yaml]) == 0\n'
            'assert main(["info", urdf, "--robot", yaml]) == 0\n'
            'heavy = {"numba", "rosbags", "matplotlib", "mujoco", "cyclonedds"}\n'
            'assert not heavy & set(sys.modules), heavy & set(sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'Check picture: made_check.svg' in done.stdout
    for name in ('made.svg', 'made_check.svg'):
        picture = ElementTree.parse(tmp_path / name).getroot()
        words = ' '.join(' '.join(picture.itertext()).split())
        assert all(f'{foot} 2' in words for foot in ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'))


def test_a_new_robot_goes_from_its_urdf_to_an_estimate(tmp_path, capsys):
    urdf, out = ROBOT.with_suffix('.urdf'), tmp_path / 'made.yaml'
    assert cli.main(['new-robot', str(urdf), '-o', str(out)]) == 0
    said = capsys.readouterr().out
    assert '4 feet, found by name: LF_FOOT' in said and 'IMU on imu_link, by its name' in said
    assert cli.main(['new-robot', str(urdf), '-o', str(out)]) == cli.WRONG
    assert 'is there already' in capsys.readouterr().err
    model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(out)
    estimator = GroundReactionEstimator(model, config)
    q, still = config.nominal_in(estimator.model), np.zeros(model.nv)
    for k in range(2 * estimator.delay + 2):
        reaction = estimator.update(Measurement(
            2_000_000 * k, q, still, None, np.zeros(3), np.array([0.0, 0.0, 9.81])), [True] * 4)
    total = np.einsum('fij,fj->i', reaction.foot_rotation, reaction.raw_wrench[:, :3])
    assert total[2] == pytest.approx(9.81 * model.total_mass, rel=0.05)


def test_info_tells_what_is_odd(tmp_path, capsys):
    urdf = tmp_path / 'odd.urdf'
    urdf.write_text("""<robot name="odd"><link name="base"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="leg"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hip" type="revolute"><parent link="base"/><child link="leg"/>
      <axis xyz="0 0 1"/><limit lower="0" upper="0" effort="0" velocity="1"/></joint></robot>""")
    assert cli.main(['info', str(urdf)]) == 0
    out = capsys.readouterr().out
    assert "link 'base': principal moments" in out and 'break the triangle inequality' in out
    assert "joint 'hip': effort limit 0" in out and 'leave no room to move' in out
    assert 'not known: cannot tell which robot' in out
    urdf.write_text(urdf.read_text().replace('lower="0" upper="0"', 'lower="-90" upper="90"'))
    assert cli.main(['info', str(urdf)]) == 0
    assert 'limits from -90 to 90 rad; are they in degrees?' in capsys.readouterr().out


def warned(out):
    """Return the lines below Warnings."""
    return [line.strip() for line in out.split('Warnings\n')[1].split('\n\n')[0].splitlines()]


@pytest.mark.parametrize('name', ['anymal_class', 'biped', 'solo_class', 'stickybot'])
def test_info_warns_of_no_robot_that_comes_with_the_package(name, capsys):
    assert cli.main(['info', name]) == 0
    assert warned(capsys.readouterr().out) == ['none']


def test_info_warns_of_a_pose_in_degrees_where_joints_have_limits(tmp_path, capsys):
    yaml, urdf = tmp_path / 'robot.yaml', tmp_path / 'robot.urdf'
    yaml.write_text(ROBOT.with_suffix('.yaml').read_text().replace('0.0, 0.4, -0.8,',
                                                                   '0.0, 23.0, -46.0,', 1))
    text = ROBOT.with_suffix('.urdf').read_text()
    urdf.write_text(text)
    arguments = ['info', str(urdf), '--robot', str(yaml), '--picture', str(tmp_path / 'it.svg')]
    assert cli.main(arguments) == 0
    assert warned(capsys.readouterr().out) == [
        f'robot.nominal_position: LF_{joint} rad is outside its limits; is it in degrees?'
        for joint in ('HFE at 23', 'KFE at -46')]
    urdf.write_text(re.sub(r'(lower|upper)="[^"]*"', '', text).replace('"revolute"',
                                                                       '"continuous"'))
    assert cli.main(arguments) == 0
    assert not any('nominal_position' in line for line in warned(capsys.readouterr().out))


def test_info_and_new_robot_warn_of_motors_that_cannot_hold_the_robot(tmp_path, capsys):
    urdf, text = tmp_path / 'heavy.urdf', ROBOT.with_suffix('.urdf').read_text()
    model = RobotModel.from_urdf(ROBOT.with_suffix('.urdf'))
    base = f'{model.links["base"].mass:g}'
    assert text.count(f'<mass value="{base}"/>') == 1
    urdf.write_text(text.replace(f'<mass value="{base}"/>', '<mass value="5204"/>'))
    assert cli.main(['info', str(urdf)]) == 0
    (line,) = warned(capsys.readouterr().out)
    assert re.fullmatch(r'the motors cannot hold the robot while it stands: \w+ would need [\d.]+ '
                        r'N m of 80; are masses in kilograms\?', line)
    assert cli.main(['new-robot', str(urdf), '-o', str(tmp_path / 'heavy.yaml')]) == 3
    assert 'the motors cannot hold the robot while it stands: ' in capsys.readouterr().out


# ---- analyze -------------------------------------------------------------------------------


@pytest.mark.processes
def test_analyze_writes_everything_and_shows_no_bar_to_a_file(bag, tmp_path):
    out = tmp_path / 'out'
    done = subprocess.run([*COMMAND, 'analyze', str(bag), '-o', str(out)], text=True,
                          capture_output=True)
    assert done.returncode == 0
    for line in done.stderr.splitlines():       # lines of progress: how many, the machine decides
        assert re.fullmatch(r'Compiling \(once; a minute or two\)|'
                            r'(Compiling|Replaying recording): \d+ %, \d+ s', line), line
    assert 'nothing to compare' in done.stdout
    assert f'Report: {out / "report.html"}' in done.stdout
    assert (out / 'report.html').is_file() and (out / 'estimates.csv').is_file()
    with BagReader(out / 'enriched_bag') as enriched:
        assert '/replay/markers' in enriched.topics


def test_analyze_again_replaces_its_own_bag_and_no_other(bag, tmp_path, capsys):
    arguments = ['analyze', str(bag), '-o', str(tmp_path / 'out'), '--no-csv']
    assert cli.main(arguments) == cli.main(arguments) == 0
    inside = tmp_path / 'out' / 'enriched_bag'
    assert cli.main(['analyze', str(inside), '-o', str(tmp_path / 'out')]) == cli.WRONG
    assert 'would take the place of' in capsys.readouterr().err
    (inside / 'notes.txt').write_text('precious')
    assert cli.main(arguments) == cli.WRONG
    assert (inside / 'notes.txt').read_text() == 'precious'


def test_analyze_without_report_writes_nothing(bag, tmp_path, capsys):
    assert cli.main(['analyze', str(bag), '-o', str(tmp_path / 'out'), '--no-report']) == 0
    assert '/joint_states       550      500.0' in capsys.readouterr().out
    assert not (tmp_path / 'out').exists()


def test_a_failed_analysis_leaves_no_half_bag(bag, tmp_path, capsys):
    path = tmp_path / 'wheels'
    with BagReader(bag) as good, BagWriter(path) as writer:
        for topic in good.topics.values():
            writer.add_topic(topic.name, topic.type)
        for message in good.messages():
            if message.topic == '/joint_states':
                writer.write_message(message.topic, message.receipt_ns, convert.joint_state(
                    DIALECT, message.receipt_ns, ['wheel'], [0.0], [0.0]))
            else:
                writer.write(*message)
    assert cli.main(['analyze', str(path), '-o', str(tmp_path / 'out')]) == cli.WRONG
    assert 'nothing could be estimated' in capsys.readouterr().err
    assert not (tmp_path / 'out' / 'enriched_bag').exists()


class Terminal(io.StringIO):
    def isatty(self):
        return True


TABLE = Table('Errors', ('foot', 'error [N]'), (('LF', '1.5'), ('RF', '12.25')), strong=(1,))


def test_the_bar_is_drawn_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv('TERM', 'xterm')
    for stream, drawn in ((io.StringIO(), False), (Terminal(), True)):
        with ProgressBar('Replaying', stream) as bar:
            bar(0.5)
            bar(1.0)
        assert bool(stream.getvalue()) is drawn
        assert ('Replaying' in stream.getvalue() and '100%' in stream.getvalue()) is drawn


def test_without_a_terminal_a_line_says_how_far_it_is():
    stream = io.StringIO()
    with ProgressBar('Replaying', stream, every=0.01) as bar:
        bar(0.37, '1 failed')
        until = time.monotonic() + PATIENCE
        while stream.getvalue().count('\n') < 2 and time.monotonic() < until:
            time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 2 and lines[-1] == 'Replaying: 37 %, 0 s, 1 failed'


def test_without_rich_texts_are_plain_and_no_bar_is_drawn(monkeypatch):
    monkeypatch.setitem(sys.modules, 'rich.console', None)
    stream = Terminal()
    with ProgressBar('Replaying', stream) as bar:
        bar(1.0)
    assert not stream.getvalue()
    progress.say('nothing came', 'bold red', stream)
    assert stream.getvalue() == 'nothing came\n'


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    coloured, plain, piped = Terminal(), Terminal(), io.StringIO()
    progress.say('[not markup] 3 m', 'bold red', coloured)
    progress.say('[not markup] 3 m', 'bold red', piped)
    monkeypatch.setenv('NO_COLOR', '1')
    progress.say('[not markup] 3 m', 'bold red', plain)
    assert '\x1b[' in coloured.getvalue() and '[not markup] 3 m' in coloured.getvalue()
    assert piped.getvalue() == '[not markup] 3 m\n'
    assert '31m' not in plain.getvalue() and '[not markup] 3 m' in plain.getvalue()


def test_a_table_says_the_same_on_a_terminal_and_in_a_pipe(capsys):
    progress.show(TABLE)
    assert capsys.readouterr().out == f'{TABLE.text}\n'
    terminal = Terminal()
    with redirect_stdout(terminal):
        progress.show(TABLE)
    for word in ('Errors', 'foot', 'error [N]', 'LF', '12.25'):
        assert word in terminal.getvalue()


# ---- processes of the demo -----------------------------------------------------------------


def python(code):
    return [sys.executable, '-c', code]


def test_processes_stop_in_the_opposite_order(tmp_path):
    code = ('import signal, time\n'
            'try: print("up", flush=True); time.sleep(3600)\n'
            'except KeyboardInterrupt: print("stopped at", time.monotonic_ns(), flush=True)')
    with ProcessGroup(tmp_path, {}) as processes:
        for name in ('first', 'second'):
            processes.start(name, python(code))
        processes.wait_until(lambda: all(processes.said(name, 'up')
                                         for name in ('first', 'second')), PATIENCE)
        processes.stop()
    stops = {name: int(processes.log(name)[-1].split()[-1]) for name in ('first', 'second')}
    assert stops['second'] < stops['first']


def test_a_process_that_ends_by_itself_is_told_with_its_last_words(tmp_path):
    with ProcessGroup(tmp_path, {}) as processes:
        processes.start('robot', python('import sys; print("no legs"); sys.exit(3)'))
        with pytest.raises(MiddlewareError, match='robot ended by itself with code 3.*no legs'):
            processes.wait_until(lambda: False, PATIENCE)


def test_no_process_is_left_behind(tmp_path):
    with pytest.raises(RuntimeError), ProcessGroup(tmp_path, {}) as processes:
        processes.start('robot', python('import time; print("up", flush=True); time.sleep(3600)'))
        processes.wait_until(lambda: processes.said('robot', 'up'), PATIENCE)
        process = processes._processes['robot']
        raise RuntimeError
    assert process.returncode == -signal.SIGINT or process.returncode == 1


def test_waiting_has_an_end(tmp_path):
    with ProcessGroup(tmp_path, {}) as processes:
        processes.start('robot', python('import time; time.sleep(3600)'))
        with pytest.raises(MiddlewareError, match='robot did not come up within 0 s'):
            processes.wait_until(lambda: False, 0.0)
        time.sleep(0.0)
