# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command ``legged-dynamics``: verbs in `verbs.py`, and errors as one line."""
from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from typing import Any

import legged_dynamics
from legged_dynamics.cli.output import ProgressBar, say
from legged_dynamics.cli.processes import end_with_parent
from legged_dynamics.cli.verbs import VERBS
from legged_dynamics.exceptions import LeggedDynamicsError

# PYTHON_ARGCOMPLETE_OK
WRONG = 2           # exit code when the user's input is wrong
DOUBTFUL = 3        # when the result does not deserve trust
INTERRUPTED = 130   # as shells have it for Ctrl-C
NOT_INSTALLED = '(not installed)'       # in place of a version
# Which extra of setup.py brings a package that is imported.
EXTRAS = {'cyclonedds': 'dds', 'mujoco': 'sim', 'rosbags': 'bag', 'mcap': 'bag',
          'matplotlib': 'bag', 'viser': 'view', 'trimesh': 'view', 'rich': 'cli',
          'ezc3d': 'c3d', 'opensim': 'opensim', 'pandas': 'tables', 'pyarrow': 'tables',
          'rerun': 'rerun'}


def command_parser(verbs: Sequence[Any] = VERBS) -> argparse.ArgumentParser:
    """Return the parser of the command, each verb a subparser."""
    parser = argparse.ArgumentParser(
        prog='legged-dynamics', description='Ground reactions of legged robots without foot '
        'sensors: run the nodes, record, and report on recordings.')
    parser.add_argument('--version', action='version',
                        version=f'%(prog)s {legged_dynamics.__version__}')
    _add_volume(parser, False)
    below = parser.add_subparsers(dest='verb', metavar='VERB', required=True)
    for verb in verbs:
        verb.add_parser(below)
    for own in below.choices.values():
        _add_volume(own, argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None, verbs: Sequence[Any] = VERBS) -> int:
    """Run the command and return its exit code: 0, 2 for wrong input, 130 after Ctrl-C."""
    parser = command_parser(verbs)
    with suppress(ModuleNotFoundError):     # completion in the shell is optional
        import argcomplete
        argcomplete.autocomplete(parser)
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):     # names may be beyond what a terminal can show
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors='backslashreplace')
    end_with_parent()
    ProgressBar.quiet = args.quiet
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _each_once(args.verb, warnings.showwarning)
            if args.quiet:
                with open(os.devnull, 'w', encoding='utf-8') as nowhere, redirect_stdout(nowhere):
                    return args.run(args)
            return args.run(args)
    except LeggedDynamicsError as error:
        if args.verbose:
            traceback.print_exc()
        say(f'legged-dynamics {args.verb}: {" ".join(str(error).split())}', 'red', sys.stderr)
        return WRONG
    except ModuleNotFoundError as error:
        if (error.name or '').startswith('legged_dynamics'):
            raise
        extra = EXTRAS.get((error.name or '').split('.')[0], 'all')
        print(f'legged-dynamics {args.verb}: the Python package {error.name!r} is not installed; '
              f'{installs(extra, legged_dynamics.__version__)}', file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has ended; a second attempt at exit would raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _each_once(verb: str, otherwise: Callable[..., Any]) -> Callable[..., None]:
    """Return what prints a warning of this package as one line, once, without file and line."""
    said: set[str] = set()

    def show_warning(message: Warning | str, category: type[Warning], *where: Any,
                     **more: Any) -> None:
        if not category.__module__.startswith('legged_dynamics'):
            otherwise(message, category, *where, **more)
        elif str(message) not in said:
            said.add(str(message))
            print(f'legged-dynamics {verb}: {message}', file=sys.stderr)

    return show_warning


def installs(extra: str, version: str) -> str:
    """Return what installs an extra of this package, from wherever the package came."""
    if version == NOT_INSTALLED:
        return f'pip install ".[{extra}]" in the folder of its sources'
    return f'pip install "legged_dynamics[{extra}]"'


def _add_volume(parser: argparse.ArgumentParser, default: Any) -> None:
    """Add -v and -q, which may stand before or behind the verb."""
    parser.add_argument('-v', '--verbose', action='store_true', default=default,
                        help='where an error comes from, too')
    parser.add_argument('-q', '--quiet', action='store_true', default=default, help='errors only')
