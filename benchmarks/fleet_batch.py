# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a batch costs beside its work, whether a kill loses anything, and what memory an hour takes.

    python -m benchmarks.fleet_batch overhead BAG --count 200 --workers 2
    python -m benchmarks.fleet_batch hour BAG --seconds 3600 --rate 500

``overhead`` makes so many names of one bag (hard links) and one that is cut off, analyses some of
them one after the other in one process, and then all by the command, which is killed (SIGKILL) in
the middle and resumed. Processor's time counts, not the wall's. ``hour`` writes a bag of that
length piece by piece out of the joint states and IMU readings of BAG, analyses it, and says how
much memory the process had at most; the bag is removed.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.batch import do
from legged_dynamics.recordings.fleet.data_set import DataSet
from legged_dynamics.recordings.fleet.summarise import find_recordings, jobs_of
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.topics import input_topics

STAMP = slice(4, 12)        # of a message that begins with a header, behind CDR's own four bytes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('what', choices=('overhead', 'hour'))
    parser.add_argument('bag', type=Path)
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--serial', type=int, default=20, help='how many one after the other')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--seconds', type=float, default=3600.0)
    parser.add_argument('--rate', type=float, default=500.0)
    parser.add_argument('--scratch', type=Path, help='folder for what is made and removed')
    args = parser.parse_args()
    if min(args.count, args.serial, args.workers) < 1:
        parser.error('expected one recording, one in series and one worker at least')
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        if args.what == 'overhead':
            return overhead(args, Path(folder))
        return hour(args, Path(folder))


def overhead(args: argparse.Namespace, folder: Path) -> int:
    bags = folder / 'bags'
    for k in range(args.count):
        (bags / f'bag_{k:03d}').mkdir(parents=True)
        for path in args.bag.iterdir():
            os.link(path, bags / f'bag_{k:03d}' / path.name)
    broken = bags / 'broken'
    broken.mkdir()
    for path in args.bag.iterdir():
        content = path.read_bytes()
        (broken / path.name).write_bytes(content if path.suffix == '.yaml' else
                                         content[:len(content) // 2])
    jobs = jobs_of(find_recordings([bags]), AnalysisOptions(), folder / 'serial')
    do(jobs[0])      # imports and kernels are not work
    begin = time.process_time()
    failed = sum(bool(do(job).error) for job in jobs[:args.serial])
    serial = (time.process_time() - begin) / len(jobs[:args.serial])
    print(f'{len(jobs[:args.serial])} recordings one after the other: {serial:.2f} s of a '
          f'processor each, {failed} failed', flush=True)
    out = folder / 'out'
    kill(args, bags, out)
    first = count(out)
    code, cpu = batch(args, bags, out)
    left = len(jobs) - first
    told = values(out)
    unlike = [row for row in values(folder / 'serial') if row not in told]
    more = 100.0 * (cpu / left / serial - 1.0)
    print(f'killed after {first} of {len(jobs)}; resumed, {left} more on {args.workers} workers: '
          f'{cpu:.1f} s of processors, exit code {code}: '
          f'{more:.1f} % more than one after the other. Recordings in the data set: {count(out)}; '
          f'rows unlike those one after the other: {len(unlike)}')
    print((out / 'failed.csv').read_text())
    return int(failed == args.serial or bool(unlike))


def command(args: argparse.Namespace, bags: Path, out: Path) -> list[str]:
    return [sys.executable, '-m', 'legged_dynamics', '-q', 'analyze', str(bags), '--workers',
            str(args.workers), '--reports', '0', '-o', str(out)]


def batch(args: argparse.Namespace, bags: Path, out: Path) -> tuple[int, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command(args, bags, out), check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kill(args: argparse.Namespace, bags: Path, out: Path) -> None:
    with subprocess.Popen(command(args, bags, out)) as process:
        while count(out) < args.count // 2 and process.poll() is None:
            time.sleep(0.5)
        process.kill()
    time.sleep(3.0)         # its workers see that it has gone


def count(out: Path) -> int:
    return len(list((out / 'data' / schema.SUMMARY.name).rglob('*.parquet')))


def values(out: Path) -> list[tuple]:
    """Return all that the summaries and feet say but for times of the run, sorted."""
    data = DataSet(out)
    told = {'cpu', 'written', 'options'}
    return sorted(tuple(sorted((name, repr(value)) for name, value in row.items()
                               if name not in told))
                  for table in (schema.SUMMARY, schema.FEET, schema.JOINTS)
                  for row in data.read(table).to_pylist())


def hour(args: argparse.Namespace, folder: Path) -> int:
    long = folder / 'hour'
    begin = time.process_time()
    write_long(args.bag, long, args.seconds, args.rate)
    size = sum(path.stat().st_size for path in long.iterdir())
    print(f'{args.seconds:.0f} s at {args.rate:.0f} Hz: {size / 1e9:.2f} GB, '
          f'{time.process_time() - begin:.0f} s to write')
    return subprocess.run([
        sys.executable, '-c', 'import sys; from benchmarks.fleet_batch import one; '
        'sys.exit(one(*sys.argv[1:]))', str(long), str(folder / 'out')], check=False).returncode


def one(bag: str, out: str) -> int:
    """Analyse one bag in a process of its own and print what it took; return the exit code."""
    (job,) = jobs_of(find_recordings([Path(bag)]), AnalysisOptions(), Path(out))
    outcome = do(job)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    (row,) = DataSet(Path(out)).read(schema.SUMMARY).to_pylist()
    size = sum(path.stat().st_size for path in Path(out).rglob('*.parquet'))
    print(f'{row["samples"]} estimates in {row["cpu"]:.0f} s of a processor, data set '
          f'{size / 1e9:.2f} GB, peak memory {peak:.0f} MB {outcome.error}')
    return int(bool(outcome.error) or not row['samples'])


def write_long(source: Path, path: Path, seconds: float, rate: float) -> None:
    """Write a bag out of one's standing beginning, over and over, with stamps of its own."""
    with BagReader(source) as bag, BagWriter(path) as writer:
        joints, imu, description = input_topics(bag)
        for name in (description, joints, imu):
            topic = bag.topics[name]
            writer.add_topic(name, topic.type, latched=topic.latched,
                             definition=topic.definition, type_hash=topic.type_hash)
        start, period = bag.start_ns, round(1e9 / rate)
        pieces = {name: [bytearray(message.cdr) for message, _ in zip(
            bag.messages([name], start, start + 1_500_000_000), range(600))]
            for name in (joints, imu)}
        writer.write(description, start, next(bag.messages([description])).cdr)
        for k in range(round(seconds * rate)):
            stamp = start + k * period
            header = (stamp // 1_000_000_000).to_bytes(4, 'little') + (
                stamp % 1_000_000_000).to_bytes(4, 'little')
            for name in (imu, joints):
                message = pieces[name][k % len(pieces[name])]
                message[STAMP] = header
                writer.write(name, stamp + 200_000, bytes(message))


if __name__ == '__main__':
    sys.exit(main())
