# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A short form of benchmarks/fuzz_files: no mutated file brings a foreign error."""
import pytest

from benchmarks.fuzz_files import run

# Of each kind so many mutants, and so many of them at least that still can be read, for the
# mutations are to reach beyond the parsers.
COUNTS = {'URDF': (100, 5), 'robot YAML': (100, 5), 'node YAML': (40, 5), 'CSV': (60, 1),
          '.mot': (60, 5), '.osim': (100, 5), '.trc': (60, 5), 'mcap': (30, 0), 'db3': (30, 2)}


@pytest.mark.parametrize('kind', COUNTS)
def test_mutated_files_bring_our_own_errors_only(kind):
    if kind in ('mcap', 'db3'):
        pytest.importorskip('rosbags')
    count, least = COUNTS[kind]
    judge = run(count, 7, [kind])
    assert not judge.failures, judge.failures[0]
    assert judge.counts[f'{kind}: taken'] >= least


def test_mutated_c3d_files_bring_our_own_errors_only():
    pytest.importorskip('ezc3d')
    judge = run(8, 7, ['C3D'])
    assert not judge.failures, judge.failures[0]
    assert not any('TOO' in outcome for outcome in judge.counts)
