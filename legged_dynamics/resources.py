# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where the files that come with the package are: robots, settings, launch files, examples."""
from __future__ import annotations

from pathlib import Path

from legged_dynamics.exceptions import ConfigurationError

_PACKAGE = Path(__file__).resolve().parent


def share_directory() -> Path:
    """
    Return the folder that holds config/, launch/ and examples/.

    The source tree if run from it, else ``<prefix>/share/legged_dynamics`` (colcon and
    pip).
    """
    installed = [parent / 'share' / 'legged_dynamics' for parent in _PACKAGE.parents]
    for folder in (_PACKAGE.parent, *installed):
        if (folder / 'config' / 'robots').is_dir():
            return folder
    raise ConfigurationError(f'cannot find the files that come with legged_dynamics beside '
                             f'{_PACKAGE}; install the package again')


def robot_files(name: str, file: str = 'YAML') -> tuple[Path, Path | None]:
    """
    Return the YAML and the URDF of a robot that comes with the package, or of a path.

    Parameters
    ----------
    name : str
        Name of a shipped robot, or path of a robot's YAML. The URDF, if any, is in the same folder
        under the same name.
    file : str
        Kind of file that the error's text asks for.

    Raises
    ------
    ConfigurationError
        When there is no such robot; the message lists those there are.

    """
    path = Path(name)
    if path.suffix not in ('.yaml', '.yml'):
        folder = share_directory() / 'config' / 'robots'
        path = folder / f'{name}.yaml'
        if not path.is_file():
            robots = ', '.join(sorted(p.stem for p in folder.glob('*.yaml')))
            raise ConfigurationError(f'expected a robot that comes with the package ({robots}) '
                                     f'or the path of a {file} file, got {name!r}')
    elif not path.is_file():
        raise ConfigurationError(f'there is no robot YAML at {path}')
    urdf = path.with_suffix('.urdf')
    return path, urdf if urdf.is_file() else None


def urdf_path(name: str) -> Path:
    """Return the path of a URDF: given as one, of a packaged robot's name, or beside a YAML."""
    path = Path(name)
    if path.suffix not in ('', '.yaml', '.yml') or (path.is_file() and not path.suffix):
        return path
    yaml, urdf = robot_files(name, 'URDF')
    if urdf is None:
        raise ConfigurationError(f'there is no URDF beside {yaml}; give the path of one')
    return urdf
