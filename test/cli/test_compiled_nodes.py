# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whoever needs kernels has them compiled beside it, for who compiles in a callback is deaf."""
from importlib import import_module

import pytest

from legged_dynamics.cli.warm import compiled_nodes
from legged_dynamics.middleware.protocol import Component


@pytest.mark.parametrize('name', compiled_nodes())
def test_what_warm_compiles_for_waits_for_it(name):
    module = import_module(f'legged_dynamics.nodes.{name}')
    (component,) = (found for found in vars(module).values() if isinstance(found, type)
                    and issubclass(found, Component) and found.default_name == name)
    assert component.has_kernels
