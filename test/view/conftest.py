# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bag to be shown."""
import pytest
from simulated_bag import messages, write


@pytest.fixture(scope='session')
def walking_bag(tmp_path_factory):
    """A robot that stands, trots and stands, with everything known about it."""
    return write(tmp_path_factory.mktemp('viewed') / 'bag', messages())
