# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recorder and demo as processes on a real DDS bus, on the loopback interface."""
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tolerances import PATIENCE

from legged_dynamics.cli.demo import FELL, Outcome
from legged_dynamics.exceptions import BagError, SimulationError
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.report.analysis import analyse
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

cyclone = pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

COMMAND = [sys.executable, '-m', 'legged_dynamics']
DIALECT = StandaloneDialect()


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def on_disk(bag, topic):
    """Return how many messages of a topic are in a bag that is being written."""
    try:
        with BagReader(bag) as reader:
            return reader.topics[topic].count if topic in reader.topics else 0
    except BagError:        # not yet one
        return 0


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_the_recorder_keeps_everything_and_stops_cleanly(tmp_path, number):
    begin = time.time_ns()
    with DomainLease() as lease:
        environment = {**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        bus = cyclone.CycloneBus(environment)
        node = bus.create_node('talker')
        flags = node.create_publisher(DIALECT.message('std_msgs/msg/Bool'), '/flags',
                                      DIALECT.qos.reliable(2000))
        text = node.create_publisher(DIALECT.message('std_msgs/msg/String'), '/words',
                                     DIALECT.qos.latched)
        fast = node.create_publisher(DIALECT.message('std_msgs/msg/Float64'), '/fast',
                                     DIALECT.qos.sensor_data)
        text.publish(convert.string(DIALECT, 'said before anybody listened'))
        unwanted = node.create_publisher(DIALECT.message('std_msgs/msg/Float64'), '/unwanted',
                                         DIALECT.qos.sensor_data)
        with (tmp_path / 'log').open('w') as log:
            recorder = subprocess.Popen([*COMMAND, 'record', '--all', '/silent',
                                         '--exclude', '/unwanted', '-o',
                                         str(tmp_path / 'bag')], env=environment,
                                        stdout=log, stderr=log)
        try:
            until(lambda: flags.get_subscription_count() and fast.get_subscription_count()
                  and text.get_subscription_count())
            # Nothing says whether this has arrived, and whether it will.
            until(lambda: fast.publish(convert.float64(DIALECT, 2.5))
                  or on_disk(tmp_path / 'bag', '/fast'))
            sent = [convert.boolean(DIALECT, k % 3) for k in range(1000)]
            for message in sent:
                flags.publish(message)
            assert flags.wait_for_acks(PATIENCE) and text.wait_for_acks(PATIENCE)
            assert not unwanted.get_subscription_count()
            recorder.send_signal(number)
            assert recorder.wait(PATIENCE) == 0
        finally:
            recorder.kill()
            bus.close()
    log = (tmp_path / 'log').read_text()
    told = re.search(r'^(\d+) messages on 3 topics in [\d.]+ s', log, re.MULTILINE)
    assert told, log
    assert '- nothing came on /silent' in log
    with BagReader(tmp_path / 'bag') as bag:
        # The bus pads messages to whole words, as it may: content is compared, not bytes.
        assert [bag.decode(m).data for m in bag.messages(['/flags'])] == [m.data for m in sent]
        assert bag.first('/words').data == 'said before anybody listened'
        assert bag.topics['/words'].latched and not bag.topics['/flags'].latched
        assert bag.first('/fast').data == 2.5
        receipts = [m.receipt_ns for m in bag.messages()]
        assert receipts == sorted(receipts) and len(receipts) == int(told[1])
        assert begin < receipts[0] and receipts[-1] < time.time_ns()


def test_only_what_is_named_is_recorded_and_from_the_first_message_on(tmp_path):
    with DomainLease() as lease:
        environment = {**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        recorder = subprocess.Popen(
            [*COMMAND, 'record', '/flags:std_msgs/msg/Bool', '-o', str(tmp_path / 'bag')],
            env=environment, stdout=subprocess.PIPE, text=True)
        bus = cyclone.CycloneBus(environment)
        try:
            assert recorder.stdout.readline() == 'Subscribed to /flags [std_msgs/msg/Bool]\n'
            node = bus.create_node('talker')
            other = node.create_publisher(DIALECT.message('std_msgs/msg/Float64'), '/other',
                                          DIALECT.qos.reliable(10))
            flags = node.create_publisher(DIALECT.message('std_msgs/msg/Bool'), '/flags',
                                          DIALECT.qos.reliable(10))
            until(flags.get_subscription_count)
            flags.publish(convert.boolean(DIALECT, True))
            assert flags.wait_for_acks(PATIENCE)
            other.publish(convert.float64(DIALECT, 1.0))
            time.sleep(0.2)
            recorder.send_signal(signal.SIGINT)
            rest, _ = recorder.communicate(timeout=PATIENCE)
            assert recorder.returncode == 0 and '/other' not in rest
        finally:
            recorder.kill()
            bus.close()
    with BagReader(tmp_path / 'bag') as bag:
        assert {name: topic.count for name, topic in bag.topics.items()} == {'/flags': 1}


def test_the_recorder_answers_what_all_topics_asked_for_have_come_to(tmp_path):
    heard = []
    with DomainLease() as lease:
        environment = {**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        recorder = subprocess.Popen(
            [*COMMAND, 'record', '/fast:sensor_msgs/msg/JointState',
             '/slow:sensor_msgs/msg/JointState', '--answer', '/slow', '--answer', '/fast',
             '-o', str(tmp_path / 'bag')], env=environment)
        bus = cyclone.CycloneBus(environment)
        try:
            node, kind = bus.create_node('talker'), DIALECT.message('sensor_msgs/msg/JointState')
            fast, slow = (node.create_publisher(kind, topic, DIALECT.qos.reliable(200))
                          for topic in ('/fast', '/slow'))
            node.create_subscription(
                kind, '/legged_dynamics_recorder/answer',
                lambda message: heard.append(convert.stamp_ns(message.header.stamp)),
                DIALECT.qos.latched)
            until(lambda: fast.get_subscription_count() and slow.get_subscription_count())
            for publisher, newest in ((fast, 100), (slow, 3)):
                for ns in range(1, newest + 1):
                    publisher.publish(convert.joint_state(DIALECT, ns, ['a'], [0.0]))
                assert publisher.wait_for_acks(PATIENCE)
            until(lambda: bus.spin_once(0.02) and heard and heard[-1] >= 3)
        finally:
            recorder.kill()
            recorder.wait()
            bus.close()
    assert heard == sorted(set(heard)) and heard[-1] == 3


VIEW = ('--view', '--port', '0') if find_spec('viser') else ()


@pytest.fixture(scope='module')
def demo(tmp_path_factory):
    """Return folder, words, bits and pages of a demo as fast as the machine can, viewed."""
    out, words, pages = tmp_path_factory.mktemp('quiet') / 'demo', [], []
    with subprocess.Popen([*COMMAND, 'demo', '-o', str(out), '--schedule', 'stand 1.5',
                           '--speed', '0', *VIEW], stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                words.append(line)
                if line.startswith('View: '):
                    with urllib.request.urlopen(line.split()[1], timeout=PATIENCE) as page:
                        pages.append(page.read(1000))
                    if len(pages) == 2:         # the last word stays until somebody ends it
                        process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)
        finally:
            process.kill()
    text = ''.join(words)
    assert code == 0, text
    return out, text, re.search(r'truth and estimates: (\w+)', text), pages


@pytest.mark.end_to_end
@pytest.mark.skipif(not VIEW, reason='viser is not installed')
def test_the_demo_is_shown_live_and_as_its_last_word(demo):
    assert len(demo[3]) == 2 and all(b'<html' in page for page in demo[3])
    log = (demo[0] / 'view.log').read_text()
    assert 'Traceback' not in log and 'closed connection' not in log


@pytest.mark.end_to_end
def test_the_demo_records_what_the_replay_repeats(demo):
    out, text, bits, _ = demo
    assert 'fused, zero-phase 25 Hz' in text and bits
    assert f'Report: {out / "report" / "report.html"}' in text
    analysis = analyse(out / 'bag')
    (standing,) = [row for row in analysis.accuracy.feet if row.estimate == 'fused'
                   and row.treatment == 'zero-phase 25 Hz']
    assert standing.total_percent < 0.5 and standing.vertical_percent < 0.3
    assert len(analysis.live) == 4 and analysis.latency is not None
    for entry in analysis.live:
        assert entry.missing == 0 and entry.identical == entry.compared == entry.published > 800


def stalled(process):
    """Keep its children from running, one at a time, every now and then; return how often."""
    random, stalls = np.random.default_rng(0), 0
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children')
    while process.poll() is None:
        time.sleep(0.3)
        with suppress(OSError):     # who has just ended
            found = [int(word) for word in children.read_text().split()]
            if len(found) > 2:
                victim = found[random.integers(len(found))]
                os.kill(victim, signal.SIGSTOP)
                time.sleep(random.uniform(0.05, 0.8))
                os.kill(victim, signal.SIGCONT)
                stalls += 1
    return stalls


@pytest.mark.end_to_end
def test_the_same_bits_come_out_of_a_machine_that_stalls(demo, tmp_path):
    bits, stalls, runs = demo[2], 0, 0
    while stalls < 3:       # who stalls them may itself have been stalled for all of a demo
        runs += 1
        out, said = tmp_path / f'busy{runs}', tmp_path / f'log{runs}'
        with said.open('w') as log:
            busy = subprocess.Popen(
                [*COMMAND, 'demo', '-o', str(out), '--schedule', 'stand 1.5'],
                stdout=log, stderr=log)
            stalls += stalled(busy)
        text = said.read_text()
        assert busy.returncode == 0, text
        assert f'truth and estimates: {bits[1]}' in text
        report = (out / 'report' / 'report.html').read_text()
        assert ('The machine fell behind' in text) == ('The machine fell behind' in report)


LINE = ('robot {}; 4.20 s in 8.40 s, real-time factor {}; 12 of 2100 deadlines missed, worst '
        'lateness 81.5 ms, lost time dropped 3 times, 0 command time-outs')


@pytest.mark.parametrize(('state', 'factor', 'code', 'said'), [
    ('upright', '0.991', 0, []), ('upright', '0.500', 0, ['0.50 of real time']),
    ('fallen at 3.21 s', '1.000', FELL, ['fell at 3.21 s']),
    ('fallen at 0.10 s', '0.300', FELL, ['fell at 0.10 s', '0.30 of real time'])])
def test_a_fall_and_a_slow_machine_are_said_first(state, factor, code, said):
    outcome = Outcome.from_log(['started', LINE.format(state, factor), ''])
    told = [*outcome.warnings(), *outcome.remarks()]
    assert outcome.exit_code == code and len(told) == len(said)
    assert len(outcome.warnings()) == (code == FELL)        # only a fall is a warning
    assert all(word in text for word, text in zip(said, told))


def test_who_says_nothing_at_the_end_is_not_believed():
    with pytest.raises(SimulationError, match='without saying how it went'):
        Outcome.from_log(['started'])
