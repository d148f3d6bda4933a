# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the simulation tests."""
from __future__ import annotations

import pytest
from simulated_recordings import NAMES, Oracle, recording


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def recorded(name):
    return recording(name)


@pytest.fixture
def oracle(recorded):
    return Oracle(recorded.robot.plant)
