# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a verb as a table, those that verbs share, and what is said of wrong ones."""
from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from legged_dynamics.exceptions import ConfigurationError, OutputError, reraised

# Takes the value and the command line; what it returns, unless None, takes the value's place.
Check = Callable[[Any, argparse.Namespace], object]


class Argument(NamedTuple):
    """A row of a verb's table."""

    names: Sequence[str]
    options: Mapping[str, Any]  # As argparse takes them
    check: Check | None     # Raises a `LeggedDynamicsError` for a value that cannot be


def argument(names: str, metavar: str | tuple[str, ...] | None = None, help: str = '',
             kind: Callable[[str], Any] = str, check: Check | None = None,
             **options: Any) -> Argument:
    """
    Return an argument that has a value; ``names`` such as ``'-o --out'``.

    An option's default is '' where it is text, and None elsewhere; one that is given is named
    in the help. ``check`` takes the value, unless none was given, and the command line.
    """
    if names.startswith('-') and kind is str and 'choices' not in options:
        options.setdefault('default', '')
    default = options.get('default')
    if (default not in (None, '') and not isinstance(default, list | tuple)
            and 'default' not in help):
        help += f'{" " if help else ""}(default: %(default){"g" if kind is float else "s"})'
    if metavar is not None:
        options['metavar'] = metavar
    return Argument(names.split(), {'help': help or None, 'type': kind, **options}, check)


def switch(names: str, help: str = '') -> Argument:
    """Return an option without a value."""
    return Argument(names.split(), {'help': help or None, 'action': 'store_true'}, None)


@dataclass(frozen=True)
class Verb:
    """
    A verb of the command line.

    ``work`` names its module here, and behind a colon the function, ``run`` by default, that takes
    the parsed command line and returns the exit code; a `LeggedDynamicsError` that it raises is
    printed as one line. In ``arguments``, a text begins a group; '' ends it.
    """

    name: str
    work: str
    help: str
    description: str
    arguments: Sequence[Argument | str] = ()

    def add_parser(self, verbs: Any) -> None:
        """Add the verb to the subparsers of the command line."""
        parser = verbs.add_parser(self.name, help=self.help, description=self.description)
        add_arguments(parser, self.arguments)
        parser.set_defaults(run=self._run_checked)

    def _run_checked(self, args: argparse.Namespace) -> int:
        """Check the arguments, before anything heavy is imported: options, then what is named."""
        for row in reversed(self.arguments):
            if isinstance(row, Argument) and row.check is not None:
                name = (row.options.get('dest')
                        or row.names[-1].lstrip('-').replace('-', '_'))
                value = getattr(args, name)
                found = None if value in (None, '', []) else row.check(value, args)
                if found is not None:
                    setattr(args, name, found)
        module, _, function = self.work.partition(':')
        return getattr(import_module(f'legged_dynamics.cli.{module}'), function or 'run')(args)


def add_arguments(parser: argparse.ArgumentParser, rows: Sequence[Argument | str]) -> None:
    """Add a table of arguments to a parser."""
    group: Any = parser
    for row in rows:
        if isinstance(row, str):
            group = parser.add_argument_group(row) if row else parser
        else:
            group.add_argument(*row.names, **row.options)


# -------------------------------------------------------------------------------------------------
# Checks.


def count(text: str) -> int:
    """Return a number of things, the kind of an argument."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'expected a count from 0 on, got {text}')
    return int(text)


def is_positive(name: str, expected: str = 'a number above 0') -> Check:
    """Return a check that an option is above 0."""
    def check(value: float, args: argparse.Namespace) -> None:
        if not value > 0.0:
            raise ConfigurationError(f'{name}: expected {expected}, got {value:g}')
    return check


def truth_of(pairs: Sequence[str], args: argparse.Namespace) -> dict[str, str]:
    """Return the true wrench topic of each foot, parsed from FOOT=TOPIC pairs."""
    found = dict(_pair(pair, '--truth: expected FOOT=TOPIC') for pair in pairs)
    return {foot: f'/{topic.removeprefix("/")}' for foot, topic in found.items()}


def _pair(text: str, expected: str) -> tuple[str, str]:
    name, _, value = text.partition('=')
    if not (name and value):
        raise ConfigurationError(f'{expected}, got {text!r}')
    return name, value


def assigned(text: str, expected: str) -> tuple[str, float]:
    """Return name and number of NAME=VALUE; ``expected`` is for the error's text."""
    name, value = _pair(text, expected)
    with suppress(ValueError):
        if math.isfinite(number := float(value)):
            return name, number
    raise ConfigurationError(f'{expected}, got {text!r}')


def scales_of(texts: Sequence[str], args: argparse.Namespace) -> dict[str, float]:
    """Return readings of scales [kg] by foot from texts such as LF_FOOT=12.4."""
    expected = '--scale: expected FOOT=KG, such as LF_FOOT=12.4'
    found = dict(assigned(text, expected) for text in texts)
    if not all(0.0 < value < 1e4 for value in found.values()):
        raise ConfigurationError(f'{expected}, got {" ".join(texts)}')
    return found


def is_there(place: Path | Sequence[Path], args: argparse.Namespace) -> None:
    """Refuse a path, or several, where nothing is."""
    for path in [place] if isinstance(place, Path) else place:
        if not path.exists():
            is_bag(path, args)      # says so


def is_folder(name: str) -> Check:
    """Return a check that an option names a folder."""
    def check(path: Path, args: argparse.Namespace) -> None:
        if not path.is_dir():
            raise ConfigurationError(f'{name}: expected a folder, got {path}')
    return check


def is_bag(path: Path, args: argparse.Namespace) -> None:
    """Refuse what is no recording."""
    from legged_dynamics.recordings.bags import check_path
    check_path(path)


def is_robot(name: str, args: argparse.Namespace) -> None:
    from legged_dynamics.resources import robot_files
    robot_files(name)


def urdf_file(name: str, args: argparse.Namespace) -> str:
    """Return the path of a URDF, given as one or as the name of a robot of the package."""
    from legged_dynamics.resources import urdf_path
    path = urdf_path(name)
    if not path.is_file():
        from legged_dynamics.model.urdf import read_description_file
        read_description_file(path)     # says why
    return str(path)


def is_range(_: float, args: argparse.Namespace) -> None:
    from legged_dynamics.recordings.file_formats import check_range
    check_range(args.start, args.end)


# -------------------------------------------------------------------------------------------------
# Which machines a node talks to.


# A user who has set one of these has decided who may talk to a node.
DECIDED = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS',
           'CYCLONEDDS_URI')


def keep_to_this_machine(network: bool,
                         environ: MutableMapping[str, str] = os.environ) -> None:
    """Restrict ROS 2 and Cyclone DDS to loopback in ``environ``, unless the user decided."""
    if not network and not any(environ.get(name) for name in DECIDED):
        environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        environ['ROS_LOCALHOST_ONLY'] = '1'     # what ROS 2 Humble reads


# -------------------------------------------------------------------------------------------------
# A copy of a robot's YAML with some settings changed.


def write_yaml(path: Path, before: Mapping[str, Any], changed: Mapping[str, Any],
               head: str) -> None:
    """Write a robot's YAML: settings by dotted name, some changed, below a comment line."""
    from legged_dynamics.parameter_file import written_file

    values = {name: value for name, value in {**before, **changed}.items() if value != []}
    write_file(path, f'# {head}\n{written_file(values)}')


def write_file(path: Path, content: str | bytes, what: str = '') -> Path:
    """Write a file into a folder that is made where it is not there; return its path."""
    with reraised(OutputError, f'cannot write {what}{path}'):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def make_folder(folder: Path) -> None:
    """Make a folder to write to, unless it is there."""
    with reraised(OutputError, f'cannot write to the folder {folder}'):
        folder.mkdir(parents=True, exist_ok=True)
