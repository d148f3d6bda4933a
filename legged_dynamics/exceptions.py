# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The package's errors: one root, one class for each place where the user's input can be wrong."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches


class LeggedDynamicsError(Exception):
    """Root of every error this package raises on purpose."""


class ModelError(LeggedDynamicsError):
    """A robot description cannot be made into a :class:`~legged_dynamics.model.RobotModel`."""


class ConfigurationError(LeggedDynamicsError):
    """A parameter, a robot YAML or an argument is missing, of a wrong type or out of range."""


class MeasurementError(LeggedDynamicsError):
    """A sensor message or a state vector does not have the content that the model needs."""


class MiddlewareError(LeggedDynamicsError):
    """A node cannot talk to the bus it was asked to use."""


class BagError(LeggedDynamicsError):
    """A bag or recording cannot be read or written."""


class OutputError(LeggedDynamicsError):
    """A report, a table or a film cannot be written."""


class SimulationError(LeggedDynamicsError):
    """A simulated robot cannot be built or has become unusable."""


@contextmanager
def reraised(refusal: type[LeggedDynamicsError], what: str,
             causes: type[Exception] | tuple[type[Exception], ...] = OSError) -> Iterator[None]:
    """Raise what fails inside as the package's own error, 'what: why'."""
    try:
        yield
    except LeggedDynamicsError:
        raise
    except causes as error:
        raise refusal(f'{what}: {error}') from error


class UnknownNameError(ModelError, KeyError):
    """
    A joint, link or foot of that name is not in the model.

    Attributes
    ----------
    name : str
        The name asked for.
    choices : tuple of str
        The names there are.

    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]):
        self.name = name
        self.choices = tuple(choices)
        close = get_close_matches(name, self.choices, n=1)
        hint = f' Did you mean {close[0]!r}?' if close else ''
        super().__init__(f'expected the name of a {kind}, got {name!r}.{hint} '
                         f'The {"feet" if kind == "foot" else f"{kind}s"} are: '
                         f'{", ".join(self.choices) or "(none)"}.')

    def __str__(self) -> str:
        return str(self.args[0])


def index_of(kind: str, name: str, names: Sequence[str]) -> int:
    """Return a name's place among others, or raise the error that lists them."""
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return names.index(name)
