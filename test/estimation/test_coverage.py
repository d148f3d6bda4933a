# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coverage: error bars hold as many errors as they say, on each robot and in each phase."""
import pytest
from zoo_runs import short_run

from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.scoring import PHASES, score


@pytest.mark.parametrize('effort', [True, False], ids=['torque', 'no torque'])
@pytest.mark.parametrize('feet', ['four', 'six', 'two'])
def test_bars_hold_what_they_say(feet, effort):
    """
    Standing feet's errors are 0.6 to 1.4 deviations, and no phase has fewer than 90 % inside.

    In the air the truth is zero, so that a bar may be wider there than errors are.
    """
    found = score(short_run(feet), shipped(), effort=effort)['raw' if effort else 'latest']
    assert 0.6 < found.normalised < 1.4 and 90.0 < found.inside < 99.5
    for phase in PHASES:
        if phase != 'single' or feet == 'two':
            part = found.phases[phase]
            assert part.inside > 90.0 and part.normalised < 1.4, (phase, part)
