# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Whether links and joints can be a robot's, each looked at by itself."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.flattening import JOINT_CODES
from legged_dynamics.model.parts import JOINT_KINDS, Inertia, Joint

# A link lighter than this part of the robot may have an impossible inertia without a word: it can
# be turned about without being felt.
NEGLIGIBLE = 1e-4


def check_parts(links: Mapping[str, Inertia], joints: Sequence[Joint]) -> list[str]:
    """
    Return what is odd about links, as sentences.

    Parameters
    ----------
    links : mapping of str to Inertia
        By name.
    joints : sequence of Joint
        All of them.

    Raises
    ------
    ModelError
        When a mass is negative, a joint's name comes twice, its kind is unknown or its axis has
        no length.

    """
    notes = []
    for link, inertia in links.items():
        if not np.isfinite(inertia.mass) or inertia.mass < 0.0:
            raise ModelError(f'link {link!r}: expected a mass of at least 0 kg, '
                             f'got {inertia.mass}')
    least = NEGLIGIBLE * sum(inertia.mass for inertia in links.values())
    for link, inertia in links.items():
        flaw = inertia.flaw() if inertia.mass > least else None
        if flaw:
            notes.append(f'link {link!r}: {flaw}')
    for name, count in Counter(joint.name for joint in joints).items():
        if count > 1:
            raise ModelError(f'expected each joint name once, got {name!r} {count} times')
    for joint in joints:
        if joint.kind not in JOINT_KINDS:
            raise ModelError(f'joint {joint.name!r}: expected a type of '
                             f'{", ".join(JOINT_KINDS)}; got {joint.kind!r}')
        if joint.kind in JOINT_CODES and not np.linalg.norm(joint.axis) > 1e-9:
            raise ModelError(f'joint {joint.name!r}: expected an axis of non-zero length, '
                             f'got {np.asarray(joint.axis).tolist()}')
    return notes
