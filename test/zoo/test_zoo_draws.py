# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scores over several draws of the noise."""
import math

import numpy as np
from zoo_runs import made_up

from benchmarks.zoo.tables import over_draws, seeds


def test_the_first_draw_is_the_recordings_own_and_no_two_are_alike():
    recording = made_up(seconds=0.1)
    drawn = [next(recording.measurements(seed=seed)).velocity for seed in seeds(4)]
    np.testing.assert_array_equal(drawn[0], next(recording.measurements()).velocity)
    assert len({tuple(v) for v in drawn}) == 4


def test_median_and_worst_of_each_figure():
    draws = [{'output': 'raw', 'zero_phase': z, 'normalised': s, 'inside': i, 'agreement': a,
              'push': math.nan, 'touch_down_ms': d}
             for z, s, i, a, d in ((1.0, 0.5, 99.0, 99.5, 0.0), (3.0, 1.5, 93.0, 98.0, -4.0),
                                   (1.2, 0.9, 90.0, 99.0, 2.0))]
    found = over_draws(draws)
    assert found['output'] == 'raw' and 'output_worst' not in found
    assert (found['zero_phase'], found['zero_phase_worst']) == (1.2, 3.0)
    # Half is further from honest than one and a half.
    assert (found['normalised'], found['normalised_worst']) == (0.9, 0.5)
    assert (found['inside'], found['inside_worst']) == (93.0, 90.0)
    assert (found['agreement'], found['agreement_worst']) == (99.0, 98.0)
    assert (found['touch_down_ms'], found['touch_down_ms_worst']) == (0.0, -4.0)
    assert math.isnan(found['push']) and 'push_worst' not in found


def test_one_draw_is_as_it_is():
    assert over_draws([{'zero_phase': 1.0}]) == {'zero_phase': 1.0}
