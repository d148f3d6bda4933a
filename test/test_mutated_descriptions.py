# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A short form of benchmarks/fuzz_descriptions: no text brings a foreign error."""
from benchmarks.fuzz_descriptions import run


def test_mutated_descriptions_bring_our_own_errors_only():
    judge = run(urdfs=150, robots=150, nodes=60, seed=7)
    assert not judge.failures, judge.failures[0]
    # and the mutations reach beyond the parsers
    assert all(judge.counts[f'{kind}: taken'] > 5 for kind in ('URDF', 'robot YAML', 'node YAML'))
