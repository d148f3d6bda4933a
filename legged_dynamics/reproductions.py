# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reproductions of papers: the examples of that name, imported from where they are installed."""
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.resources import share_directory

_FOLDER = share_directory() / 'examples' / 'reproductions'
if not _FOLDER.is_dir():
    raise ConfigurationError(f'the examples that reproduce papers are missing, {_FOLDER}; install '
                             'the package again, or run it from its source')
__path__ = [str(_FOLDER)]
