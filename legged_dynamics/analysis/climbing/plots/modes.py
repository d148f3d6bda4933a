# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The modes of a climbing robot on the complex plane, beside those that the design rule names."""
from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.mode_shapes import NamedMode, nominal_poles
from legged_dynamics.analysis.plots import style
from legged_dynamics.stickybot import StickybotModel

RATIOS = (0.3, 0.5, 0.7, 0.9)
SWINGING = 0.95     # damping ratio below which a mode is named in the figure
LINEAR = 50.0       # 1/s up to which the axes are even; beyond, logarithmic


def draw_modes(model: StickybotModel, modes: list[NamedMode]) -> Figure:
    """Draw eigenvalues on axes that are logarithmic but near 0, with lines of equal damping."""
    figure = style.new_figure(3.9)
    axes = figure.subplots()
    nominal = nominal_poles(model)
    values = np.array([mode.eigenvalue for mode in modes])
    fast = 2.0 * float(np.abs(values).max(initial=LINEAR))
    high = 2.2 * float(max(values.imag.max(initial=0.0),
                           max((pole.imag for _, pole in nominal), default=0.0), LINEAR))
    radius = np.geomspace(1e-2, fast, 400)
    for ratio in RATIOS:
        across = math.sqrt(1.0 - ratio * ratio)
        axes.plot(-ratio * radius, across * radius, color='#bbbbbb', linewidth=0.8, zorder=1)
        at = min(0.9 * high / across, 0.5 * fast / ratio)
        axes.annotate(rf'$\zeta$ = {ratio:g}', (-ratio * at, across * at), fontsize=8,
                      color='#777777', ha='center', va='center',
                      bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.6})
    axes.plot([pole.real for _, pole in nominal], [pole.imag for _, pole in nominal],
              linestyle='none', marker='s', markersize=9, markerfacecolor='none',
              markeredgewidth=1.4, color='#D55E00', label='nominal, each hip by itself')
    for k, (pole, names) in enumerate(_grouped(nominal).items()):
        axes.annotate('hip ' + ', '.join(names), (pole.real, pole.imag), (0, -18 - 12 * (k % 2)),
                      textcoords='offset points', ha='center', fontsize=8.5, color='#D55E00')
    for mode in modes:
        if mode.damping_ratio < SWINGING:
            axes.annotate(rf'{mode.name}, $\zeta$ = {mode.damping_ratio:.2f}',
                          (mode.eigenvalue.real, mode.eigenvalue.imag), (9, 2),
                          textcoords='offset points', fontsize=8.5, color='#0072B2', va='bottom',
                          bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.4})
    axes.plot(values.real, values.imag, linestyle='none', marker='o', markersize=6,
              color='#0072B2', alpha=0.75, markeredgecolor='white', label='the coupled robot')
    axes.set_xscale('symlog', linthresh=LINEAR, linscale=0.7)
    axes.set(xlim=(-fast, 0.0 if (values.real <= 0.0).all() else fast), ylim=(-0.28 * high, high))
    axes.axhline(0.0, color='#999999', linewidth=0.8)
    style.dress(axes, x='real part [1/s]: decay', y='imaginary part [rad/s]')
    style.legend(axes, loc='upper left')
    return figure


def _grouped(poles: list[tuple[str, complex]]) -> dict[complex, list[str]]:
    """Return the names that share a pole, to a thousandth of it."""
    found: dict[complex, list[str]] = {}
    for name, pole in poles:
        same = next((known for known in found if abs(known - pole) < 1e-3 * abs(pole)), pole)
        found.setdefault(same, []).append(name)
    return found
