# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lines of a robot's YAML out of dotted settings, and a copy of the whole file with them."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def yaml_lines(values: Mapping[str, Any]) -> str:
    """Return settings in ROS 2 parameter-file form."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *path, key = name.split('.')
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[key] = value
    return yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False,
                          default_flow_style=None, width=99)


def write_yaml(path: Path, before: Mapping[str, Any], changed: Mapping[str, Any],
               head: str) -> None:
    """
    Write a robot's YAML with some settings changed.

    Parameters
    ----------
    path : Path
        File to write.
    before : mapping
        All settings as they were, by dotted name.
    changed : mapping
        Those that change.
    head : str
        A line of comment.

    Raises
    ------
    OutputError
        When the file cannot be written.

    """
    from legged_dynamics.exceptions import OutputError

    values = {name: value for name, value in {**before, **changed}.items() if value != []}
    try:
        path.write_text(f'# {head}\n{yaml_lines(values)}', encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {path}: {error}') from error
