# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The first line of a report counts the instants at which no measurement determines a force."""
from types import SimpleNamespace

import numpy as np

from legged_dynamics.estimation import Mode
from legged_dynamics.recordings.report import analysis

# So many messages are lost that sums of feet are not compared.
LOSSY = SimpleNamespace(covered=60.0, lost=0.5, topic='/joint_states')


def column(values):
    return SimpleNamespace(values=np.array(values))


def first_line(contact, observable, mode, residual=0.0):
    n = len(contact)
    series = SimpleNamespace(
        contact=column(contact), observable=column(observable), mode=column(mode),
        base_residual=column(np.full((n, 6), residual)), time=np.arange(n) / 500.0)
    return analysis.verdict(SimpleNamespace(
        accuracy=SimpleNamespace(feet=[]), series=series, weight=100.0, inputs=[LOSSY]))[0]


def test_forces_that_nothing_determines_are_counted():
    down = np.ones((60, 2), bool)
    known, mode = down.copy(), np.full(60, int(Mode.FUSED))
    assert 'not determined' not in first_line(down, known, mode)
    known[10:13, 1] = False
    assert 'In 3 of 60 samples' in first_line(down, known, mode)
    down[10, 1] = False                     # in the air there is no force to determine
    assert 'In 2 of 60 samples' in first_line(down, known, mode)


def test_without_the_equations_of_the_base_nothing_is_said_of_what_they_leave():
    down, mode = np.ones((60, 2), bool), np.full(60, int(Mode.TORQUE_ONLY))
    text = first_line(down, down, mode, residual=np.nan)
    assert '%' not in text and 'not used' in text
