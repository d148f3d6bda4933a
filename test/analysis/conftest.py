# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the analysis tests: bags that several of them read."""
import pytest
from simulated_bag import messages, write


@pytest.fixture(scope='session')
def walking_bag(tmp_path_factory):
    """A robot that stands, trots and stands, with everything known about it."""
    return write(tmp_path_factory.mktemp('walking') / 'bag', messages())


@pytest.fixture(scope='session')
def short_bag(tmp_path_factory):
    """The first 0.4 s of it."""
    return write(tmp_path_factory.mktemp('short') / 'bag', messages(steps=200))
