# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What came out of inverse dynamics, in a sentence, and why one should not believe it."""
from __future__ import annotations

import numpy as np

from legged_dynamics.analysis.gait.result import GaitResult

# Of the weight, and of the samples: beyond these the result is not to be trusted.
LARGEST_ERROR, LARGEST_RESIDUAL, MOST_UNSUPPORTED = 0.15, 0.10, 0.5


def doubts(result: GaitResult) -> list[str]:
    """Return why the result does not deserve trust; nothing when it does."""
    found, r = [], result.reactions
    error = result.errors.get(result.method)
    if error is not None and error.vertical > LARGEST_ERROR * result.weight:
        found.append(f'the error of a loaded foot is {error.vertical:.0f} N, '
                     f'{100.0 * error.vertical / result.weight:.0f} % of the weight')
    if not r.contact.any():
        found.append('no foot is ever on the ground: is the floor level, are the feet those of '
                     'the model?')
    rest = float(np.sqrt(np.mean(r.root_residual[:, :3] ** 2) * 3.0)) / result.weight
    if rest > LARGEST_RESIDUAL:
        found.append(f'{100.0 * rest:.0f} % of the weight remain that no foot explains: mass, '
                     'contacts or friction are wrong, or something else pushes')
    borne = (~r.supported).mean()
    if borne > MOST_UNSUPPORTED:
        found.append(f'in {100.0 * borne:.0f} % of the samples something else than the feet bears '
                     'load')
    return found


def verdict(result: GaitResult) -> tuple[str, bool]:
    """Return a sentence on what came out, and whether there is a truth behind it."""
    error = result.errors.get(result.method)
    if error is not None:
        text = (f'Error of the vertical force on a loaded foot, against the plates: '
                f'{error.vertical:.0f} N rms, {100.0 * error.vertical / result.weight:.1f} % of '
                'the weight')
        if np.isfinite(error.double) and np.isfinite(error.single):
            text += f' ({error.single:.0f} N alone, {error.double:.0f} N with several feet down)'
        if result.together is not None and result.alignment is not None:
            text += (f'. With the clock of the plates put right by '
                     f'{1e3 * abs(result.alignment.lag):.0f} ms it is '
                     f'{result.together.vertical:.0f} N')
        return f'{text}.', True
    r = result.reactions
    loads = ', '.join(f'{foot} {r.force[r.contact[:, i], i, 2].mean():.0f} N'
                      for i, foot in enumerate(r.feet) if r.contact[:, i].any())
    return (f'Mean load while on the ground: {loads or "none"}; weight {result.weight:.0f} N. '
            'There are no force plates to compare with. For scale: in three trials of one '
            'person in motion capture such forces erred by 4 % of the weight in the two walks '
            'and by 12 % in the jump; other people, robots and laboratories may differ.', False)
