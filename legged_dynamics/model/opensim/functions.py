# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim's functions of coordinates, as its XML states them; those that joints are made of."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from legged_dynamics.exceptions import ModelError

# Of the values of the coordinates, (n, k), to (n,) values.
Evaluate = Callable[[np.ndarray], np.ndarray]
KINDS = ('Constant', 'LinearFunction', 'SimmSpline', 'NaturalCubicSpline', 'GCVSpline',
         'PiecewiseLinearFunction', 'PolynomialFunction', 'MultiplierFunction')


@dataclass(frozen=True, eq=False)
class OpenSimFunction:
    """
    A function of coordinates.

    Attributes
    ----------
    evaluate : callable
        Takes (n, k) values of k coordinates, returns (n,).
    linear : tuple of float or None
        Coefficients of the coordinates and the constant behind them, where it is linear.

    """

    evaluate: Evaluate
    linear: tuple[float, ...] | None = None


def constant(value: float = 0.0) -> OpenSimFunction:
    """Return the function that is always the same."""
    return linear(value)


def linear(*coefficients: float) -> OpenSimFunction:
    """Return a linear function by its coefficients, the constant last."""
    slopes, offset = np.array(coefficients[:-1]), coefficients[-1]

    def evaluate(values: np.ndarray) -> np.ndarray:
        return values[:, :len(slopes)] @ slopes + offset

    return OpenSimFunction(evaluate, tuple(coefficients))


def read_function(element: Element, where: str) -> OpenSimFunction:
    """
    Return the function that an element states.

    Raises
    ------
    ModelError
        When its kind is not known, or it lacks numbers.

    """
    kind = element.tag
    if kind == 'Constant':
        return constant(numbers(element, 'value', where, 1)[0])
    if kind == 'LinearFunction':
        return linear(*numbers(element, 'coefficients', where, 2))
    if kind == 'MultiplierFunction':
        inner = next((child for holder in element.iter('function') for child in holder), None)
        if inner is None:
            raise ModelError(f'{where}: its MultiplierFunction has no function inside')
        scale, found = numbers(element, 'scale', where, 1)[0], read_function(inner, where)
        if found.linear is not None:
            return linear(*(scale * part for part in found.linear))
        return OpenSimFunction(lambda values: scale * found.evaluate(values))
    if kind == 'PolynomialFunction':
        parts = numbers(element, 'coefficients', where, 1)
        if len(parts) <= 2:
            return linear(*((0.0,) if len(parts) == 1 else ()), *parts)
        return OpenSimFunction(lambda values: np.polyval(parts, values[:, 0]))
    if kind in KINDS:
        return _through_points(kind, element, where)
    raise ModelError(f'{where}: expected a function out of {", ".join(KINDS)}, got {kind}')


def numbers(element: Element, tag: str, where: str, least: int) -> list[float]:
    """
    Return the numbers in a child's text.

    Raises
    ------
    ModelError
        When there are fewer than `least`, or something else stands there.

    """
    text = (element.findtext(tag) or '').split()
    try:
        found = [float(word) for word in text]
    except ValueError as error:
        raise ModelError(f'{where}: expected numbers in <{tag}>, got {" ".join(text)[:60]!r}'
                         ) from error
    if len(found) < least or not np.isfinite(found).all():
        raise ModelError(f'{where}: expected {least} finite numbers or more in <{tag}> of '
                         f'<{element.tag}>, got {len(found)}')
    return found


def _through_points(kind: str, element: Element, where: str) -> OpenSimFunction:
    x, y = (np.array(numbers(element, tag, where, 2)) for tag in 'xy')
    if len(x) != len(y) or (np.diff(x) <= 0.0).any():
        raise ModelError(f'{where}: expected as many rising x as y in its {kind}, got {len(x)} '
                         f'and {len(y)}')
    if kind == 'PiecewiseLinearFunction' or len(x) == 2:
        if len(x) == 2:
            slope = (y[1] - y[0]) / (x[1] - x[0])
            return linear(slope, y[0] - slope * x[0])
        return OpenSimFunction(lambda values: _beyond(lambda at: np.interp(at, x, y), x, y,
                                                      np.diff(y) / np.diff(x), values[:, 0]))
    from scipy.interpolate import make_interp_spline  # slow to import

    if len(x) == 3:
        spline = make_interp_spline(x, y, 2)
    else:
        # Forsythe's spline, as SIMM has it: third derivatives at the ends are those of the
        # cubic through the four points there.
        ends = [[(3, 6.0 * _divided(x[part], y[part]))] for part in (slice(0, 4), slice(-4, None))]
        spline = make_interp_spline(x, y, 3, bc_type=(ends[0], ends[1]))
    slopes = spline.derivative()(x[[0, -1]])
    return OpenSimFunction(lambda values: _beyond(spline, x, y, slopes, values[:, 0]))


def _beyond(inside: Callable[[np.ndarray], np.ndarray], x: np.ndarray, y: np.ndarray,
            slopes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values of a function that goes on straight beyond its points."""
    near = np.clip(at, x[0], x[-1])
    slope = np.where(at < x[0], slopes[0], slopes[-1])
    return inside(near) + slope * (at - near)


def _divided(x: np.ndarray, y: np.ndarray) -> float:
    """Return the divided difference of all points: the leading coefficient of their polynomial."""
    y = y.astype(float)
    for order in range(1, len(x)):
        y = np.diff(y) / (x[order:] - x[:-order])
    return float(y[0])
