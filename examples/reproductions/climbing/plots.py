# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The picture of a climbing robot: body, limbs, what its pads hold, and forces as arrows."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Polygon

from legged_dynamics.pages.page import foot_color
from legged_dynamics.stickybot import Adhesion, ForceSets, StickybotModel, unloaded_state

BODY_FILL = '#d9dee6'
BODY_EDGE = '#5b6675'
LIMB = '#5b6675'
PAD = '#56B4E9'
ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)   # N
FORCE_COLORS = {'off': '#D55E00', 'turning': '#E69F00', 'full': '#0072B2'}     # by reduction


def limb_length(model: StickybotModel) -> float:
    """Return the length of the longest limb [m]."""
    return max(sum(link.length for link in limb.links) for limb in model.limbs)


def reach_of(model: StickybotModel) -> np.ndarray:
    """Return the reach from the centre at rest (2,) [m], sideways and along the body."""
    calm = unloaded_state(model)
    outline = np.vstack([calm.foot, _body_outline(model, calm.pose)])
    return np.abs(outline).max(axis=0)


def round_force(model: StickybotModel, typical: float) -> tuple[float, float]:
    """Return a round force for a legend [N], and the length of 1 N in a picture [m/N]."""
    unit = min(ROUND, key=lambda size: abs(np.log(size / max(typical, 1e-9))))
    return unit, 0.45 * limb_length(model) / max(typical, 1e-9)


def _body_outline(model: StickybotModel, pose: np.ndarray) -> np.ndarray:
    """Return the corners of a body with a pointed head, (5, 2) [m], as its hips require."""
    hips = np.array([limb.hip for limb in model.limbs])
    x, top, bottom = np.abs(hips[:, 0]).max(), hips[:, 1].max(), hips[:, 1].min()
    margin = 0.125 * max(top - bottom, x)
    corners = np.array([[-x, bottom - margin], [x, bottom - margin], [x, top + margin],
                        [0.0, top + 2.2 * margin], [-x, top + margin]])
    return np.asarray(pose[:2]) + corners @ _turn(pose[2]).T


def _limb_lines(model: StickybotModel, foot: np.ndarray, joint: np.ndarray) -> list[np.ndarray]:
    """Return each limb as a line from foot to hip: the ends of its links in wall axes [m]."""
    lines, at = [], 0
    for start, limb in zip(foot, model.limbs):
        angles = np.cumsum(joint[at:at + len(limb.links)])
        lengths = np.array([link.length for link in limb.links])
        steps = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        lines.append(np.vstack([start, start + np.cumsum(steps, axis=0)]))
        at += len(limb.links)
    return lines


def pad_outline(pad: Adhesion, normal: float, angle: float, farthest: float = math.inf
                ) -> np.ndarray:
    """
    Return the outline (m, 2) [N] of the forces that a pad holds; empty for none.

    ``angle`` [rad] in wall axes, NaN for isotropic pads; forces beyond ``farthest`` are
    left out.
    """
    angles = [0.0 if math.isnan(angle) else angle]
    return ForceSets.of_pads([pad], [normal], angles).outline(0, farthest)


def _turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def arrow_outlines(start: np.ndarray, vector: np.ndarray, width: float) -> np.ndarray:
    """Return arrows as closed outlines (k, 7, 2), in the units of `start`."""
    length = np.hypot(*vector.T)[:, None]
    along = vector / np.maximum(length, 1e-12)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    head = np.minimum(4.0 * width, 0.6 * length)
    neck = start + vector - head * along
    half = 0.5 * np.minimum(width, 0.25 * length)
    barb = np.minimum(1.6 * width, 0.4 * length)
    return np.stack([start + half * across, neck + half * across, neck + barb * across,
                     start + vector, neck - barb * across, neck - half * across,
                     start - half * across], axis=1)


@dataclass(frozen=True, eq=False)
class Look:
    """What of a robot is seen at one instant."""

    pose: np.ndarray  # (3,) [m, m, rad]
    foot: np.ndarray  # (N, 2) [m]
    joint: np.ndarray  # (nq,) [rad]
    force: np.ndarray  # (N, 2) [N]: the wall's on each foot
    attached: np.ndarray  # (N,)
    pad_foot: np.ndarray  # (k, 2) [m]: where pads are
    pads: Sequence[np.ndarray]  # (m, 2) [N]: outlines of what they hold


class Climber:
    """A robot on axes [m] of equal aspect; moved by :meth:`show`, drawn as `artists`."""

    def __init__(self, axes: Axes, model: StickybotModel, scale: float, animated: bool = False):
        self._model, self._scale = model, scale
        self.arrow_width = 0.05 * limb_length(model)
        colors = [foot_color(i) for i in range(model.n_limbs)]
        self._pads = PolyCollection([], facecolors=PAD, edgecolors=PAD, alpha=0.22, zorder=2)
        self._limbs = LineCollection([], colors=LIMB, linewidths=4.5, capstyle='round', zorder=3)
        self._body = Polygon(np.zeros((5, 2)), facecolor=BODY_FILL, edgecolor=BODY_EDGE,
                             linewidth=1.4, joinstyle='round', zorder=4)
        self._feet = axes.scatter(*np.zeros((2, model.n_limbs)), s=62, zorder=5, linewidths=1.8)
        self._arrows = PolyCollection([], facecolors=colors, edgecolors='white', linewidths=0.6,
                                      zorder=6)
        self._colors = np.array(colors)
        for artist in (self._pads, self._limbs, self._arrows):
            axes.add_collection(artist, autolim=False)
        axes.add_patch(self._body)
        self.artists = (self._pads, self._limbs, self._body, self._feet, self._arrows)
        for artist in self.artists:
            artist.set_animated(animated)

    def show(self, look: Look) -> None:
        """Move the robot to the pose, feet, joints and forces of one time."""
        self._limbs.set_segments(_limb_lines(self._model, look.foot, look.joint))
        self._body.set_xy(_body_outline(self._model, look.pose))
        self._feet.set_offsets(look.foot)
        self._feet.set_facecolors(list(np.where(look.attached, self._colors, 'white')))
        self._feet.set_edgecolors(self._colors)
        self._arrows.set_verts(arrow_outlines(look.foot, self._scale * look.force
                                              * look.attached[:, None], self.arrow_width))
        self._pads.set_verts([foot + self._scale * outline
                              for foot, outline in zip(look.pad_foot, look.pads) if len(outline)])
