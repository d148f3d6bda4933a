# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The fault table on a real bus.

Processes are killed, stopped, signalled and restarted, sensors and clocks are wrong, strangers
command.

    python -m benchmarks.faults [--quick] [--rows PATTERN] [--middleware rclpy]
    python -m benchmarks.faults --in-process

Simulated robot, watchdog and controller are processes of their own on the loopback interface, in
lock-step (`benchmarks.fault_bus`) with their default deadlines.
Rows are judged by the order of events and by ticks (joint states), never by wall time. A robot
that drops limp reaches 2 m/s; one that is let down stays below `SOFT` and `UPRIGHT`: all others
fall, and are counted in the last line. A row that falls is as wanted only where it says why
nothing else is possible. The second command prints the rows of `test/nodes/test_fault_table.py`,
on the in-process bus with simulated time. The exit code is 1 where a row is not as wanted, 2
where there was none.
"""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fault_bus import CONTROLLER, DIALECT, DOG, NUMBERS, ROBOT, FaultBus
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease

SOFT = 1.0              # m/s down, over one tick
UPRIGHT = 30.0          # deg of tilt; one that lies on its trunk and some knees has 20
WALKS = {'walking': (0.4, 0.0), 'turning': (0.2, 0.5)}     # m/s, rad/s, of a trot
# In process: velocities and the slope [rad], upwards ahead at the start.
GROUNDS = {**{name: (velocity, 0.0) for name, velocity in WALKS.items()},
           'on a slope': (WALKS['walking'], 0.1)}
AFTER = 0.2             # s in which the largest effort is looked for
LONG = 12.0             # s until all must be over: controller, then watchdog sit down in 10 s
KILL, STOP, INT, TERM = signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM
HOUR = 3600 * 10**9


@dataclass(frozen=True)
class Row:
    """
    A fault and what is wanted of it.

    Attributes
    ----------
    name : str
        For the table.
    spoil : callable
        Makes the fault on a FaultBus.
    end : str
        'stands', 'down' (let down, and free of torque at last), or 'no torque' (the motors at
        least get zero, for there is nobody left to let the robot down), 'named' (nothing here can
        keep the robot up: it must be said), 'no watchdog' (the same, of a watchdog that is gone).
    said : str
        Regular expression that diagnostics or status messages must match; '' for none.
    phase : str
        What the robot does: standing, moving, sitting, walking or turning.
    quick : bool
        Whether --quick has it.
    falls : str
        Why nothing can keep the robot from falling; '' where it must not.
    machine : bool
        Whether the row is about the clocks of processes, which it replaces.

    """

    name: str
    spoil: Callable[[FaultBus], None]
    end: str
    said: str
    phase: str = 'standing'
    quick: bool = False
    falls: str = ''
    machine: bool = False


# -------------------------------------------------------------------------------------------------
# Faults.


def signalled(node: str, number: signal.Signals) -> Callable[[FaultBus], None]:
    """Return a fault: a signal to a process."""
    return lambda bus: bus.send(node, number)


def launch_interrupted(number: signal.Signals) -> Callable[[FaultBus], None]:
    """Return a fault: a signal to watchdog and controller at once, as launch sends it."""
    def spoil(bus: FaultBus) -> None:
        for node in (DOG, CONTROLLER):
            bus.send(node, number)
    return spoil


def restarted(*nodes: str) -> Callable[[FaultBus], None]:
    """
    Return a fault: processes are killed, and the watchdog among them started again.

    Time nearly stands still while it starts: what it does with a robot that has not fallen yet is
    seen.
    """
    def spoil(bus: FaultBus) -> None:
        bus.paused = True
        for node in nodes:
            bus.send(node, KILL)
        bus.until(lambda: False, 3.0)       # what they have said last is heard
        bus.start(DOG)
        bus.until(lambda: bus.state(DOG) not in ('', 'inactive'))
        bus.paused = False
    return spoil


def joints(change: Callable[[Any], Any]) -> Callable[[FaultBus], None]:
    """Return a fault: joint states are changed."""
    return lambda bus: setattr(bus, 'change_joints', change)


def entry(field: str, j: int, change: Callable[[float], float]) -> Callable[[FaultBus], None]:
    """Return a fault: one joint's value is changed for good."""
    def spoil(message: Any) -> Any:
        values = list(getattr(message, field))
        values[j] = change(values[j])
        setattr(message, field, values)
        return message
    return joints(spoil)


def gap(seconds: float) -> Callable[[FaultBus], None]:
    """Return a fault: joint states are missing for a while."""
    def spoil(bus: FaultBus) -> None:
        bus.change_joints = lambda message: None
        bus.ticks(round(seconds * bus.rate))
        bus.change_joints = None
    return spoil


def stamped(ahead: int, count: int) -> Callable[[FaultBus], None]:
    """Return a fault: some joint states are stamped ahead; then the controller is killed."""
    def spoil(bus: FaultBus) -> None:
        left = [count]

        def change(message: Any) -> Any:
            if left[0]:
                left[0] -= 1
                ns = convert.stamp_ns(message.header.stamp) + ahead
                message.header.stamp = convert.time_message(DIALECT, ns)
            return message
        bus.change_joints = change
        bus.ticks(50)
        bus.send(CONTROLLER, KILL)
    return spoil


def late(seconds: float, renew: bool) -> Callable[[FaultBus], None]:
    """Return a fault: sensors come late, with their stamps or with new ones."""
    def spoil(bus: FaultBus) -> None:
        bus.late, bus.renew = round(seconds * bus.rate), renew
    return spoil


def clocks(ahead: int) -> Callable[[FaultBus], None]:
    """Return a fault: the clocks of all processes are set."""
    return lambda bus: bus.set_clocks(ahead)


def gap_while_sitting(bus: FaultBus) -> None:
    """Kill the controller, and hold joint states back for a moment while the robot sits down."""
    bus.send(CONTROLLER, KILL)
    bus.until(lambda: bus.state(DOG) == 'sitting', 30.0)
    gap(0.1)(bus)


def full_effort(sender: Callable[[FaultBus], str]) -> Callable[[FaultBus], None]:
    """Return a fault: somebody commands the watchdog at full effort, with an identity."""
    def spoil(bus: FaultBus) -> None:
        publisher = bus.stranger(NUMBERS, '/effort_watchdog/commands')
        bus.until(lambda: publisher.get_subscription_count(), 10.0)
        for k in range(40):
            publisher.publish(convert.command(DIALECT, bus.limits, sender(bus), 10**6 + k))
            bus.ticks(1)
    return spoil


def past_the_watchdog(bus: FaultBus) -> None:
    """Publish to the motors directly: the last command of the watchdog once more."""
    publisher = bus.stranger(NUMBERS, '/effort_controller/commands')
    bus.until(lambda: publisher.get_subscription_count() > 1, 10.0)
    for _ in range(60):
        publisher.publish(bus.last)
        bus.ticks(2)


UNWATCHED = 'the motors keep a torque that nobody is left to change'
BLIND = 'without joint states of now no posture can be held'
SIGNALS = {KILL: 'SIGKILL', STOP: 'SIGSTOP', INT: 'SIGINT', TERM: 'SIGTERM'}


def rows() -> list[Row]:
    """Return all rows of the table."""
    made = []
    for phase in ('standing', 'moving', 'sitting'):
        quick = phase == 'standing'
        made += [Row(f'{name} of the controller', signalled(CONTROLLER, number), 'down',
                     'is silent' if number in (KILL, STOP) else 'has left', phase,
                     quick and number in (KILL, INT)) for number, name in SIGNALS.items()]
        made += [Row(f'{name} of the watchdog', signalled(DOG, number), 'no watchdog',
                     'has been silent for .* killed, stopped', phase,
                     quick and number is STOP, falls=UNWATCHED)
                 for number, name in SIGNALS.items() if number in (KILL, STOP)]
        made += [Row(f'{name} of watchdog and controller', launch_interrupted(number), 'down',
                     'has left|the node is being stopped', phase, quick)
                 for number, name in SIGNALS.items() if number in (INT, TERM)]
        made += [
            Row('watchdog killed and started again', restarted(DOG), 'safe', '', phase),
            Row('watchdog and controller killed, watchdog started again',
                restarted(CONTROLLER, DOG), 'no torque', 'nobody commands', phase, quick),
            Row('SIGSTOP of the robot for 1 s', stopped_robot, 'either', '', phase, machine=True),
        ]
    for phase in WALKS:
        made += [Row(f'{name} of the controller', signalled(CONTROLLER, number), 'down',
                     'is silent' if number in (KILL, STOP) else 'has left', phase,
                     phase == 'walking' and number in (KILL, INT))
                 for number, name in SIGNALS.items()]
    walking = 'walking'
    return [
        *made,
        Row('SIGSTOP of the watchdog', signalled(DOG, STOP), 'no watchdog', 'has been silent for',
            walking, falls=UNWATCHED),
        Row('SIGINT of watchdog and controller', launch_interrupted(INT), 'down',
            'has left|the node is being stopped', walking),
        Row('joint states missing for 0.1 s', gap(0.1), 'either', '', walking),
        Row('joint states stopped', joints(lambda message: None), 'down', 'no joint states',
            walking, falls=BLIND),
        Row('everything late by 0.02 s', late(0.02, False), 'either', '', walking),
        Row('a forger with the identity of the owner', full_effort(lambda bus: bus.owner),
            'down', 'a second sender has', walking),
        Row('position of one knee NaN', entry('position', 2, lambda q: float('nan')), 'down',
            'LF_KFE', walking),
        Row('encoder of one knee +0.05 rad', entry('position', 2, lambda q: q + 0.05), 'down',
            'LF_KFE', walking),
        Row('joint states missing for 0.1 s', gap(0.1), 'stands', '', quick=True),
        Row('joint states missing while sitting down', gap_while_sitting, 'down', 'is silent',
            quick=True),
        Row('one joint state a year ahead, then SIGKILL', stamped(365 * 24 * HOUR, 1), 'down',
            'is silent', quick=True),
        Row('stamps an hour back, then SIGKILL', stamped(-HOUR, 10**9), 'down', 'is silent'),
        Row('all clocks set back by an hour', clocks(-HOUR), 'stands', 'clock', quick=True,
            machine=True),
        Row('all clocks set ahead by an hour', clocks(HOUR), 'stands', 'clock', machine=True),
        Row('a forger with the identity of the owner', full_effort(lambda bus: bus.owner),
            'down', 'a second sender has',
            quick=True),
        Row('a stranger at full effort', full_effort(lambda bus: 'stranger@1'), 'stands',
            'not passed on: stranger@1'),
        Row('efforts published past the watchdog', past_the_watchdog, 'named',
            r'past the watchdog to the motors: (.*pid \d+|/|a DDS application)',
            quick=True, falls='nothing is between a stranger and the motors'),
        Row('position of one knee NaN', entry('position', 2, lambda q: float('nan')), 'down',
            'LF_KFE', quick=True),
        Row('encoder of one knee +1 rad', entry('position', 2, lambda q: q + 1.0), 'down',
            'LF_KFE jumped'),
        Row('velocity of one hip NaN', entry('velocity', 4, lambda v: float('nan')), 'down',
            'RF_HFE'),
        Row('joint states stopped', joints(lambda message: None), 'down', 'no joint states',
            falls=BLIND),
        Row('everything late by 0.02 s', late(0.02, False), 'stands', ''),
        Row('everything late by 0.1 s', late(0.1, False), 'down', 'ms old|no joint states',
            falls=BLIND, quick=True),
        Row('everything late by 0.1 s, stamps renewed', late(0.1, True), 'either', '',
            falls='neither legs nor brakes work on joint states of 0.1 s ago'),
    ]


def stopped_robot(bus: FaultBus) -> None:
    """Stop the robot's process for a second."""
    bus.send(ROBOT, STOP)
    bus.advance(1.0)
    bus.send(ROBOT, signal.SIGCONT)


# -------------------------------------------------------------------------------------------------


def set_in_motion(bus: FaultBus, phase: str) -> None:
    """Have the robot move its body, or sit down, and wait until it does."""
    before = bus.height
    if phase == 'moving':
        bus.target.publish(convert.pose_stamped(DIALECT, 0, 'odom', [0.0, 0.0, before - 0.1],
                                                [0.0, 0.0, 0.0, 1.0]))
    elif phase == 'sitting':
        bus.posture.publish(convert.string(DIALECT, 'sit'))
    elif phase in WALKS:
        bus.gait.publish(convert.string(DIALECT, 'trot'))
        bus.velocity = WALKS[phase]
        bus.ticks(round(3.0 * bus.rate))
        return
    else:
        return
    bus.ticks(500, lambda: bus.height < before - 0.03)


def outcome(row: Row, stands: bool, fell: bool, zero: bool, forwarding: bool) -> tuple[str, bool]:
    """Return how a row has ended, for the table, and whether it may end so."""
    end = 'dropped' if fell else 'stands' if stands else 'let down'
    allowed = {'stands': stands, 'down': zero, 'no torque': zero,
               'safe': zero or stands or forwarding,
               'no watchdog': True, 'named': True, 'either': stands or zero}[row.end]
    return (end + ', no torque' * zero + f': {row.falls}' * (fell and bool(row.falls)),
            allowed and (not fell or bool(row.falls)))


def run(bus: FaultBus, row: Row) -> tuple[str, bool, bool]:
    """Run a row; return its line of the table, whether all is as wanted, and whether it fell."""
    for _ in range(3):
        if bus.stand(not row.machine):
            break
        bus.end()
    else:
        return f'| {row.name} | {row.phase} | the robot never stood ||||||| NO |', False, False
    set_in_motion(bus, row.phase)
    bus.ticks(3)
    bus.forget()
    row.spoil(bus)

    def said() -> bool:
        return not row.said or any(re.search(row.said, text) for _, text in bus.words)
    zero = settle(bus, row, said)
    safe = next((tick - bus.began for tick, _, state in bus.states
                 if state in ('holding', 'sitting', 'damping', 'latched')), None)
    count, again = len(bus.sent), False
    if zero:
        bus.ticks(round(0.5 * bus.rate))
        again = any(effort.any() for _, effort, _ in bus.sent[count:])
    stands = bus.height > 0.35
    fell = bus.fastest > SOFT or bus.tilt > UPRIGHT
    end, allowed = outcome(row, stands, fell, zero, bus.state(DOG) == 'forwarding')
    largest = bus.largest(round(AFTER * bus.rate))
    wanted = said() and not again and allowed and not largest > 1.0 + 1e-9
    named = '-' if not row.said else 'yes' if said() else 'NO'
    share = '-' if np.isnan(largest) else f'{100 * largest:.0f}'
    line = (f'| {row.name} | {row.phase} | {named} | {share} '
            f'| {"-" if safe is None else safe} | {bus.fastest:.1f} | {bus.tilt:.0f} | {end} '
            f'| {"YES" if again else "no"} | {"yes" if wanted else "NO"} |')
    return line, wanted, fell


def settle(bus: FaultBus, row: Row, said: Callable[[], bool]) -> bool:
    """Wait for the end of a row; return whether the motors are left without torque."""
    def zero() -> bool:
        over = (bus.state(DOG) in ('latched', 'inactive', '')
                or bus.processes[DOG].poll() is not None)
        return over and bool(bus.sent) and not bus.sent[-1][1].any()
    if row.end in ('stands', 'either', 'named'):
        bus.ticks(round(1.5 * bus.rate))
        bus.ticks(round(3.0 * bus.rate), said)
        if bus.state(DOG) != 'forwarding':
            bus.ticks(round(LONG * bus.rate), zero)
    elif row.end == 'no watchdog':
        bus.ticks(round(4.0 * bus.rate), said)
    elif row.end == 'safe':
        bus.until(lambda: zero() or bus.state(DOG) == 'forwarding', 60.0)
        bus.ticks(round(bus.rate))
    else:
        bus.ticks(round(LONG * bus.rate), lambda: zero() and said())
    return zero()


def in_process(part: str) -> int:
    """Print the rows of the tests' table whose name matches; return the exit code."""
    tests = Path(__file__).resolve().parent.parent / 'test'
    sys.path[:0] = [str(tests), str(tests / 'nodes')]
    table = import_module('test_fault_table')
    chosen = {name: row for name, row in {**table.STANDS, **table.LET_GO}.items()
              if re.search(part, f'{name} standing')}
    walking = {phase: {name: row for name, row in table.WALKING.items()
                       if re.search(part, f'{name} {phase}')} for phase in GROUNDS}
    count = len(chosen) + sum(map(len, walking.values()))
    if not count:
        return none_chosen()
    benches = import_module('fault_bench')
    bad, falls = while_walking(benches, table, walking)
    bad += while_standing(benches, table, chosen) if chosen else 0
    print(f'\nfaults: {count} rows in process, {bad} not as wanted, {falls} falls')
    return int(bad > 0)


def while_walking(benches: Any, table: Any, phases: dict[str, dict[str, Any]]
                  ) -> tuple[int, int]:
    """Print what comes of a robot that trots; return rows not as wanted, and falls."""
    bad = falls = 0
    if any(phases.values()):
        print('| fault at a trot | while | said after, ms | fastest fall, m/s | tilt, deg '
              '| largest effort, % of limit | in the end | as wanted |\n'
              '|---|---|---:|---:|---:|---:|---|---|')
    for phase, rows in phases.items():
        bench = benches.WalkingBench(*GROUNDS[phase]) if rows else None
        for name, row in rows.items():
            said, end, fell = table.fault_while_walking(bench, row)
            in_time = said is not None and said <= max(row.within, 0.004)
            wanted = in_time and ((end == row.end and not fell) or bool(row.falls))
            bad, falls = bad + (not wanted), falls + fell
            print(f'| {name} | {phase} '
                  f'| {"-" if not row.text or said is None else round(1e3 * said)} '
                  f'| {bench.fastest:.2f} | {bench.tilt:.0f} '
                  f'| {100 * bench.largest_share_of_limits():.0f} '
                  f'| {"falls" if fell else end}{": " + row.falls if fell and row.falls else ""} '
                  f'| {"yes" if wanted else "NO"} |', flush=True)
    print()
    return bad, falls


def while_standing(benches: Any, table: Any, chosen: dict[str, Any]) -> int:
    """Print what comes of a robot that stands; return the number of rows not as wanted."""
    bench = benches.FaultBench(**{'safety.damping_duration': 0.25})
    print('| fault | said after, ms | left after, ms | largest effort, % of limit | power, W '
          '| in the end | as wanted |\n|---|---:|---:|---:|---:|---|---|')
    bad = 0
    for name, row in chosen.items():
        bench.stand()
        if row.moving:
            table.crouch(bench)
        began = bench.bus.now_ns
        row.spoil(bench)
        said = bench.run(row.seconds, lambda row=row: row.text in bench.texts())
        bench.run(row.seconds - (said or 0.0))
        bench.heal()
        bench.run(0.5)
        left = next((ns for ns, _, _, state in bench.commands
                     if state in ('HOLDING', 'DAMPING') and ns >= began), None)
        obeyed = bench.stands() and bench.state() == 'ACTIVE'
        end = 'stands, obeyed' if obeyed else bench.state()
        largest = bench.largest_share_of_limits()
        wanted = (obeyed if name in table.STANDS else end == 'LATCHED') and largest < 1.0 + 1e-9
        bad += not wanted
        print(f'| {name} | {"-" if not row.text or said is None else round(1e3 * said)} '
              f'| {"-" if left is None else round((left - began) * 1e-6)} '
              f'| {100 * largest:.0f} | {bench.power_put_in():.2f} '
              f'| {end} | {"yes" if wanted else "NO"} |', flush=True)
        bench.run(0.5)
    return bad


def none_chosen() -> int:
    """Say that no row was run; return the exit code."""
    print('faults: 0 rows: expected a pattern that some row matches', file=sys.stderr)
    return 2


def main(arguments: Sequence[str] | None = None,
         bus_of: Callable[[dict[str, str]], FaultBus] = FaultBus) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--quick', action='store_true', help='a fifth of the rows')
    parser.add_argument('--rows', default='', metavar='PATTERN',
                        help='only rows whose name and phase match this regular expression')
    parser.add_argument('--in-process', action='store_true')
    parser.add_argument('--middleware', default='cyclonedds', choices=('cyclonedds', 'rclpy'))
    args = parser.parse_args(arguments)
    if args.in_process:
        return in_process(args.rows)
    chosen = [row for row in rows() if (row.quick or not args.quick)
              and re.search(args.rows, f'{row.name} {row.phase}')
              # The clocks of rclpy's nodes are not Python's.
              and not (row.machine and args.middleware == 'rclpy')]
    if not chosen:
        return none_chosen()
    bad = done = falls = 0
    before = signal.signal(TERM, lambda *_: sys.exit(1))    # processes are ended on the way out
    print('| fault | while | named | largest effort in 200 ms, % of limit | ticks to safe output '
          '| fastest fall, m/s | tilt, deg | in the end | engaged again | as wanted |\n'
          '|---|---|---|---:|---:|---:|---:|---|---|---|')
    with DomainLease() as lease:
        bus = bus_of({**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': args.middleware})
        try:
            for row in chosen:
                line, wanted, fell = run(bus, row)
                bad, done, falls = bad + (not wanted), done + 1, falls + fell
                print(line, flush=True)
                if not wanted and os.environ.get('FAULTS_VERBOSE'):
                    print(bus.states, sorted({text for _, text in bus.words}), bus.logs(),
                          sep='\n', file=sys.stderr)
                bus.end()
        finally:
            bus.close()
            signal.signal(TERM, before)
            print(f'\nfaults: {done} rows, {bad} not as wanted, {falls} falls', flush=True)
    return int(bad > 0)


if __name__ == '__main__':
    sys.exit(main())
