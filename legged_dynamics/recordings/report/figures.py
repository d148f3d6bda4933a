# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the report of a bag draws: the centre of pressure from above, and bands of noise."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import chi2

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.pages import style
from legged_dynamics.pages.page import foot_color
from legged_dynamics.recordings.recording import leveled
from legged_dynamics.recordings.report.accuracy import Behaviour
from legged_dynamics.recordings.report.analysis import Analysis
from legged_dynamics.spatial.convex_hull import convex_hull

# -------------------------------------------------------------------------------------------------
# Centre of pressure on the support polygon, from above.


POLYGONS = 60       # drawn of each behaviour
POINTS = 3000


def draw_pressure(analysis: Analysis) -> Figure:
    """Draw the centre of pressure from above for each behaviour."""
    figure = style.new_figure(4.2)
    turned = Heading(analysis)
    maps = figure.subplots(1, len(analysis.behaviours), squeeze=False)[0]
    for axes, behaviour in zip(maps, analysis.behaviours):
        _from_above(axes, analysis, behaviour, turned)
    style.legend_outside(figure, maps[0], 4, markerscale=2.0)
    return figure


class Heading:
    """
    Points (n, ..., 2) from the base origin in level axes that turn with its heading.

    `turn` (n, 2, 2): rows forward and left, world axes; `corners`: points that feet stand
    on.
    """

    def __init__(self, analysis: Analysis):
        series = analysis.series
        forward = series.base_rotation.values[:, :2, 0]
        forward = forward / np.linalg.norm(forward, axis=1, keepdims=True)
        self.turn = np.stack([forward, np.stack([-forward[:, 1], forward[:, 0]], axis=1)], axis=1)
        self.estimated = self._to(leveled(series, series.center_of_pressure.values))
        self.true = self._to(analysis.truth.center_of_pressure)
        self.contact = self._to(leveled(series, series.contact_point.values))
        self.corners = self._corners(analysis)

    def _to(self, points: np.ndarray) -> np.ndarray:
        return np.einsum('nij,n...j->n...i', self.turn, points[..., :2])

    def _corners(self, analysis: Analysis) -> list[np.ndarray]:
        """Return for each foot the points it stands on, (n, k, 2)."""
        series, corners = analysis.series, []
        for i, foot in enumerate(analysis.robot.config.feet):
            if len(foot.corners) > 1:
                in_base = (series.foot_position.values[:, i, None]
                           + np.einsum('nij,kj->nki', series.foot_rotation.values[:, i],
                                       foot.corners))
                corners.append(self._to(leveled(series, in_base)))
            else:
                corners.append(self.contact[:, i, None])
        return corners


def _from_above(axes: Axes, analysis: Analysis, behaviour: Behaviour, turned: Heading) -> None:
    samples = np.flatnonzero(behaviour.samples)
    contact = analysis.truth.contact if analysis.truth.known else analysis.series.contact.values
    for sample in samples[::-(-len(samples) // POLYGONS)]:
        standing = [corners[sample] for corners, down in zip(turned.corners, contact[sample])
                    if down]
        if standing:
            hull = convex_hull(np.concatenate(standing))
            closed = np.vstack([hull, hull[:1]])
            axes.plot(-closed[:, 1], closed[:, 0], color='#4477aa', linewidth=0.6, alpha=0.2)
    few = samples[::-(-len(samples) // POINTS)]
    for i, foot in enumerate(analysis.series.feet):
        down = few[contact[few, i]]
        place = turned.contact[down, i]
        axes.scatter(-place[:, 1], place[:, 0], s=3, alpha=0.25, linewidths=0,
                     color=foot_color(i), label=foot)
    if np.isfinite(turned.true[few]).any():
        axes.scatter(-turned.true[few, 1], turned.true[few, 0], s=10, color=style.TRUTH,
                     linewidths=0, alpha=0.5, label='true centre of pressure')
    axes.scatter(-turned.estimated[few, 1], turned.estimated[few, 0], s=3, color='black',
                 linewidths=0, alpha=0.6, label='estimated centre of pressure')
    style.dress(axes, x='right of the base [m]', y='forward of the base [m]', title=behaviour.name)
    axes.set_aspect('equal')
    axes.margins(x=0.35)


# -------------------------------------------------------------------------------------------------
# How large the residual at the base may be by the stated noise of the sensors alone.
#
# Accelerations are differences of noisy velocities, so white noise of standard deviation sigma
# gives sqrt(2) sigma / dt, and what it does at the base is a column of the mass matrix M
# (Featherstone 2008, section 6.2). With the accelerometer at p, whose reading is moved to the base
# by the gyro's slope, and the model's error of mass,
#
#     C = 2 / dt^2 (sum over joints of sigma_j^2 M_j M_j^T + sigma_g^2 G G^T)
#         + sigma_a^2 M_v M_v^T,    G = M_w + M_v x p  (row by row),
#
# and the length of an error with this covariance stays below the 95 % quantile of a scaled
# chi-square with the same mean and variance (Welch 1938). Contacts, impacts and a wrong model are
# not in it: what lies above the band is theirs.


# Poses that the band is a mean of.
POSES = 50
QUANTILE = 0.95


def residual_bands(analysis: Analysis) -> tuple[float, float]:
    """Return the 95 % noise bounds of base force [N] and moment [N m]; NaN if unknown."""
    config, series = analysis.robot.config, analysis.series
    model, noise = config.apply_to(analysis.robot.model), config.noise
    positions = series.position.values
    positions = positions[np.isfinite(positions).all(axis=1)]
    if (not model.floating or not np.isfinite(series.period) or not len(positions)
            or positions.shape[1] != model.nq):
        return np.nan, np.nan
    velocity = noise.of_joints('velocity', model, config.joints)
    mass = CompositeBody(model)
    imu = model.frame(config.imu_link_in(model))
    place = imu.pose.p if imu.body == 0 else np.zeros(3)
    rate = np.sqrt(2.0) / series.period
    covariance = np.zeros((6, 6))
    chosen = positions[::max(len(positions) // POSES, 1)]
    for position in chosen:
        M = mass.mass_matrix(position)[:6]
        errors = np.hstack([
            noise.accelerometer * M[:, :3], rate * velocity * M[:, 6:],
            rate * noise.gyro * (M[:, 3:6] + np.cross(M[:, :3], place))])
        covariance += errors @ errors.T / len(chosen)
    covariance[:3, :3] += np.eye(3) / 3.0 * (noise.mass * model.total_mass * GRAVITY) ** 2
    return _quantile(covariance[:3, :3]), _quantile(covariance[3:, 3:])


def _quantile(covariance: np.ndarray) -> float:
    """Return what the length of a Gaussian vector stays below in 95 % of the cases."""
    trace, squares = np.trace(covariance), np.sum(covariance ** 2)
    if trace <= 0.0:
        return 0.0
    freedom = trace ** 2 / squares
    return float(np.sqrt(chi2.ppf(QUANTILE, freedom) * trace / freedom))
