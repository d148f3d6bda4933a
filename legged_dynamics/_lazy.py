# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Public names of a package that are imported when they are first used."""
from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: dict[str, str]) -> tuple[Callable[[str], Any],
                                                             Callable[[], list[str]]]:
    """
    Return ``__getattr__`` and ``__dir__`` of a package; importing it stays cheap.

    ``homes``: the module below the package that defines each public name.
    """
    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        value = getattr(import_module(f'{package}.{homes[name]}'), name)
        setattr(sys.modules[package], name, value)
        return value
    return get, lambda: sorted(homes)
