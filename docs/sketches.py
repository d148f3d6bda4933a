# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Draw the sketches of the theory's chapters, as SVG into ``docs/images``.

Run with ``python docs/sketches.py``; it needs matplotlib. The forces of the force map, the torques
of the arm and the filter's delay are computed, the rest is drawn by hand.
"""
from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyBboxPatch, Polygon
from matplotlib.text import Text

from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics import BaseMotion, Motion
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.standing import body_poses, link_pose
from legged_dynamics.pages.page import FOOT_COLORS
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.convex_hull import convex_hull

IMAGES = Path(__file__).resolve().parent / 'images'
BLUE, ORANGE, GREEN, PINK, *_ = FOOT_COLORS
BODY, EDGE, TEXT = '#c9d1da', '#5a6470', '#222222'


def canvas(width: float = 7.0, height: float = 2.6) -> tuple[Figure, Axes]:
    """Return an empty drawing, one unit a metre, with ground at zero."""
    figure = Figure(figsize=(width, height), layout='constrained')
    axes = figure.subplots()
    axes.set_aspect('equal')
    axes.axis('off')
    return figure, axes


def arrow(axes: Axes, start: tuple, tip: tuple, color: str, text: str = '',
          shift: tuple = (0.04, 0.04)) -> None:
    """Draw an arrow with a text at its tip."""
    axes.annotate('', tip, start, zorder=5, arrowprops={
        'arrowstyle': '-|>', 'color': color, 'lw': 2.2, 'shrinkA': 0, 'shrinkB': 0})
    if text:
        axes.text(tip[0] + shift[0], tip[1] + shift[1], text, color=color, fontsize=11)


def quadruped(axes: Axes, x: float = 0.0, lifted: tuple[int, ...] = ()) -> np.ndarray:
    """Draw a robot from the side; returns its two feet."""
    axes.add_patch(FancyBboxPatch((x - 0.5, 0.75), 1.0, 0.28, boxstyle='round,pad=0.04',
                                  facecolor=BODY, edgecolor=EDGE))
    feet = []
    for k, hip in enumerate((x - 0.4, x + 0.4)):
        foot = np.array([hip, 0.18 if k in lifted else 0.0])
        knee = np.array([hip - 0.18, 0.42])
        axes.plot([hip, knee[0], foot[0]], [0.78, knee[1], foot[1]], color=EDGE, lw=5,
                  solid_capstyle='round', zorder=0.5)
        axes.plot(*foot, 'o', color=FOOT_COLORS[k], ms=9)
        feet.append(foot)
    axes.plot([x - 0.9, x + 0.9], [-0.03, -0.03], color='#999999', lw=1)
    return np.array(feet)


def equations() -> Figure:
    """Draw what the base's and the joints' equations see."""
    figure, axes = canvas()
    for x, title in ((-1.2, 'six equations of the base'), (1.2, 'one equation a joint')):
        feet = quadruped(axes, x)
        axes.text(x, 1.45, title, ha='center', color=TEXT, fontsize=11)
        if x < 0:
            arrow(axes, (x, 0.85), (x, 1.3), PINK, '$b$', (0.05, -0.08))
            for foot, color in zip(feet, FOOT_COLORS):
                arrow(axes, tuple(foot), (foot[0], foot[1] + 0.55), color)
            arrow(axes, (feet[0][0] + 0.05, 0.05), (feet[0][0] + 0.33, 0.05), '#888888')
            arrow(axes, (feet[1][0] - 0.05, 0.05), (feet[1][0] - 0.33, 0.05), '#888888')
            axes.text(x, 0.12, 'squeeze:\nunseen', ha='center', color='#777777', fontsize=8.5)
        else:
            for foot, color in zip(feet, FOOT_COLORS):
                arrow(axes, tuple(foot), (foot[0] + 0.12, foot[1] + 0.5), color)
                for place in ((foot[0], 0.78), (foot[0] - 0.18, 0.42)):
                    axes.plot(*place, 'o', ms=13, mfc='none', mec=ORANGE, mew=2)
            axes.text(x + 0.48, 0.62, r'$\tau$', color=ORANGE, fontsize=13)
    axes.set_xlim(-2.2, 2.2)
    axes.set_ylim(-0.1, 1.65)
    return figure


def motion() -> Figure:
    """Draw how the motion of the body fixes the sum of the forces, not its division."""
    figure, axes = canvas()
    feet = quadruped(axes, 0.0)
    mass = np.array([0.0, 0.9])
    ma, mg = np.array([0.2, 0.1]), np.array([0.0, -0.55])
    force = ma - mg
    # Without a change of the angular momentum the sum points from the ground through the mass.
    center = mass[0] - mass[1] * force[0] / force[1]
    axes.plot([center, mass[0]], [0.0, mass[1]], color=BLUE, lw=1, ls=':', zorder=4)
    arrow(axes, tuple(mass), tuple(mass + ma), PINK, r'$m\,a$', (0.03, -0.02))
    arrow(axes, tuple(mass), tuple(mass + mg), '#777777', r'$m\,g$', (0.03, 0.18))
    arrow(axes, (center, 0.0), (center + force[0], force[1]), BLUE, r'$\sum f$', (-0.09, -0.5))
    axes.plot(*mass, 'o', color=TEXT, ms=5, zorder=6)
    axes.plot([center], [0.0], 'o', color='#d62728', ms=8)
    axes.text(center + 0.04, -0.2, 'centre of pressure', color='#d62728', fontsize=9)
    front = (center - feet[0][0]) / (feet[1][0] - feet[0][0])
    for foot, share in zip(feet, (1 - front, front)):
        arrow(axes, tuple(foot), tuple(foot + share * force), GREEN)
    axes.text(1.05, 0.45, 'the sum follows from the motion;\nhow the feet share it is chosen:\n'
              'least moments, limits, torques, time', fontsize=10, color=TEXT, va='center')
    axes.set_xlim(-1.0, 3.0)
    axes.set_ylim(-0.3, 1.4)
    return figure


def boxes(rows: list[list[str]], height: float) -> Figure:
    """Draw boxes with arrows from each column to the next."""
    figure = Figure(figsize=(7.4, height), layout='constrained')
    axes = figure.subplots()
    axes.axis('off')
    tallest = max(len(column) for column in rows)
    axes.set_xlim(-0.9, 2.1 * (len(rows) - 1) + 0.9)
    axes.set_ylim(-tallest / 2, tallest / 2)
    places: list[list[Text]] = []
    for k, column in enumerate(rows):
        places.append([
            axes.text(2.1 * k, (len(column) - 1) / 2 - i, text, ha='center', va='center',
                      fontsize=9.5, color=TEXT,
                      bbox={'boxstyle': 'round,pad=0.45', 'facecolor': '#eef2f6',
                            'edgecolor': FOOT_COLORS[k % 4]})
            for i, text in enumerate(column)])
    # How wide a box is, only its text knows: arrows go from edge to edge of what was laid out.
    figure.draw_without_rendering()

    def edge(box: Text, side: float) -> np.ndarray:
        frame = box.get_bbox_patch().get_window_extent().transformed(axes.transData.inverted())
        return np.array([frame.x0 + side * frame.width, frame.y0 + frame.height / 2])

    for before, after in pairwise(places):
        for a in before:
            for b in after:
                axes.annotate('', edge(b, 0.0), edge(a, 1.0), arrowprops={
                    'arrowstyle': '-|>', 'color': '#777777', 'shrinkA': 1, 'shrinkB': 2})
    return figure


def estimator() -> Figure:
    """Draw the way from sensors to forces."""
    return boxes([['joint states', 'torques', 'IMU'],
                  ['equations of\nmotion, with\ntheir errors'],
                  ['Kalman filter:\nforces of all\nfeet, a push'],
                  ['contact: a Bayes\nfilter per foot', 'limits of\nthe ground'],
                  ['wrench,\ncovariance,\ncontact']], 2.6)


def force_map() -> Figure:
    """Draw the forces that two limited torques give at the end of a planar leg."""
    figure, axes = canvas(7.0, 2.9)
    hip, knee, foot = np.array([0.0, 0.9]), np.array([-0.22, 0.48]), np.array([0.05, 0.0])
    axes.plot(*np.array([hip, knee, foot]).T, color=EDGE, lw=6, solid_capstyle='round')
    for place, name in ((hip, r'$\tau_1$'), (knee, r'$\tau_2$')):
        axes.plot(*place, 'o', ms=15, mfc='white', mec=ORANGE, mew=2)
        axes.text(place[0] - 0.3, place[1], name, color=ORANGE, fontsize=12)
    # Column of J: a turn about the joint moves the foot across the line to it.
    J = np.array([[-(foot - place)[1], (foot - place)[0]] for place in (hip, knee)])
    corners = np.array([np.linalg.solve(J, [a, b]) for a in (-1, 1) for b in (-0.6, 0.6)])
    shape = convex_hull(0.16 * corners) + foot
    axes.add_patch(Polygon(shape, facecolor=BLUE, alpha=0.18, edgecolor=BLUE))
    cone = foot + np.array([[0, 0], [-0.42, 0.7], [0.42, 0.7]])
    axes.add_patch(Polygon(cone, facecolor=GREEN, alpha=0.15, edgecolor=GREEN))
    axes.text(0.75, 0.55, 'blue: forces within the torque limits\ngreen: friction cone\n'
              'usable: what is in both', fontsize=10, color=TEXT, va='center')
    axes.plot([-0.9, 0.6], [-0.03, -0.03], color='#999999', lw=1)
    axes.set_xlim(-1.2, 2.6)
    axes.set_ylim(-0.4, 1.1)
    return figure


def workspace() -> Figure:
    """Draw the body, its target and the feet that stay."""
    figure, axes = canvas()
    feet = quadruped(axes, 0.0)
    turn = matplotlib.transforms.Affine2D().rotate_deg_around(0.25, 1.05, 8) + axes.transData
    axes.add_patch(FancyBboxPatch((-0.25, 0.93), 1.0, 0.28, boxstyle='round,pad=0.04', fill=False,
                                  edgecolor=PINK, linestyle='--', transform=turn))
    arrow(axes, (0.0, 0.9), (0.25, 1.06), PINK, r'$e=(R^\top(p-p_d),\ \log R_d^\top R)$',
          (0.62, 0.1))
    for foot, color in zip(feet, FOOT_COLORS):
        arrow(axes, tuple(foot), (foot[0], foot[1] + 0.6), color, r'$\lambda$', (0.05, -0.1))
    axes.text(1.1, 0.4, 'joints follow the body while the\nfeet stay; the feet share the\n'
              'wrench that the body needs', fontsize=10, color=TEXT, va='center')
    axes.set_xlim(-1.0, 3.2)
    return figure


def climbing() -> Figure:
    """Draw a hip: spring, damper, and the motor that shifts where the spring rests."""
    figure, axes = canvas(7.0, 2.2)
    axes.add_patch(FancyBboxPatch((-0.5, -0.25), 0.5, 0.5, boxstyle='round,pad=0.04',
                                  facecolor=BODY, edgecolor=EDGE))
    axes.text(-0.25, 0.0, 'body', ha='center', va='center')
    x = np.linspace(0.05, 1.0, 200)
    axes.plot(x, 0.22 + 0.08 * np.sin(14 * np.pi * (x - 0.05) / 0.95), color=BLUE, lw=1.6)
    axes.text(0.5, 0.37, '$K$, rests at $r$', color=BLUE, ha='center')
    axes.plot([0.05, 0.5, 0.5, 0.5], [-0.05, -0.05, -0.12, 0.02], color=GREEN, lw=1.6)
    axes.plot([0.42, 0.62, 0.62, 0.42], [0.06, 0.06, -0.16, -0.16], color=GREEN, lw=1.6)
    axes.plot([0.62, 1.0], [-0.05, -0.05], color=GREEN, lw=1.6)
    axes.text(0.75, 0.02, '$B$', color=GREEN)
    axes.plot([0.05, 0.4], [-0.32, -0.32], color=ORANGE, lw=1.6)
    axes.plot(0.5, -0.32, 'o', ms=20, mfc='white', mec=ORANGE)
    axes.text(0.5, -0.32, 'M', ha='center', va='center', color=ORANGE)
    axes.plot([0.6, 1.0], [-0.32, -0.32], color=ORANGE, lw=1.6)
    axes.plot([1.02, 1.02], [-0.4, 0.32], color=EDGE, lw=4)
    axes.plot([1.02, 1.9], [0.0, 0.0], color=EDGE, lw=5)
    axes.plot(1.9, 0.0, 'o', ms=11, color=PINK)
    axes.plot([2.02, 2.02], [-0.5, 0.5], color='#999999', lw=2)
    axes.text(2.1, -0.05, 'wall', color='#777777')
    axes.text(2.1, 0.3, r'motor force $K(r-r_0)+B\dot r$' '\nmoves where the spring rests',
              fontsize=10, color=TEXT)
    axes.set_xlim(-0.7, 4.2)
    return figure


def delays() -> Figure:
    """Draw what each output describes on the time axis of samples."""
    figure = Figure(figsize=(7.0, 2.0), layout='constrained')
    axes = figure.subplots()
    axes.axis('off')
    axes.plot([-0.3, 4.4], [0, 0], color='#999999', lw=1)
    for k in range(5):
        axes.plot([k, k], [-0.08, 0.08], color=EDGE, lw=2)
        name = 'now' if k == 4 else f'now $-\\,{4 - k}\\,\\Delta t$'
        axes.text(k, -0.3, name, ha='center', fontsize=9, color=TEXT)
    for x, text, color, y in ((4, 'wrench, latest_contact\n(latest_ns): for control', BLUE, 0.55),
                              (3, 'raw_wrench, contact\n(stamp_ns): for analysis', ORANGE, 0.55)):
        axes.annotate(text, (x, 0.08), (x + (0.15 if x == 4 else -1.3), y), fontsize=9.5,
                      color=color, arrowprops={'arrowstyle': '-|>', 'color': color})
    axes.plot([2, 3], [0.0, 0.0], color=ORANGE, lw=5, alpha=0.4)
    axes.plot([3, 4], [0.0, 0.0], color=ORANGE, lw=5, alpha=0.4)
    axes.text(3, -0.62, 'two ticks, evenly about it', ha='center', fontsize=9, color=ORANGE)
    axes.set_xlim(-0.4, 5.8)
    axes.set_ylim(-0.8, 1.1)
    return figure


def moment_weight() -> Figure:
    """Draw how a push from the side is shared by two soles, by the weight of their moments."""
    yaml, urdf = robot_files('biped')
    config = RobotConfig.from_yaml(yaml)
    model = config.apply_to(RobotModel.from_urdf(urdf))
    q, still = config.nominal_in(model), np.zeros(model.nv)
    sole = link_pose(model, body_poses(model, q), config.feet[0].link)
    motion = Motion(q, still, still, BaseMotion.at_rest(sole.R.T))      # both soles are level
    lengths, rows = np.geomspace(1e-3, 10.0, 25), []
    for length in lengths:
        solver = ContactInverseDynamics(model, config.feet, length_scale=length)
        found = solver.solve(motion, external={model.base_link: [0.0, 40.0, 0.0, 0.0, 0.0, 0.0]})
        rows.append(found.wrench[:, [2, 3]])
    rows = np.array(rows)
    figure = Figure(figsize=(7.4, 3.2), layout='constrained')
    for axes, values, label in zip(figure.subplots(1, 2), (rows[..., 0], rows[..., 1]), (
            'vertical force [N]', 'roll moment, both the same [N m]')):
        for k, foot in enumerate(config.feet):
            axes.semilogx(lengths, values[:, k], color=FOOT_COLORS[k],
                          ls='-' if k == 0 else '--', label=foot.link)
        axes.axvline(0.1, color='#999999', ls='--', lw=1)
        axes.set(xlabel='weight of forces against moments, L [m]', ylabel=label)
        axes.spines[['top', 'right']].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.suptitle('A push of 40 N to the left, shared by two soles; grey: the default',
                    fontsize=10, color=TEXT)
    return figure


def planar_arm() -> Figure:
    """Draw the arm of two links that pushes its surroundings, and the torques that it needs."""
    figure, axes = canvas(5.2, 3.6)
    elbow, hand, force = np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([10.0, 0.0])
    axes.plot(*np.array([[0.0, 0.0], elbow, hand]).T, 'o-', color=EDGE, lw=6, ms=11)
    shown = 0.06 * force
    arrow(axes, tuple(hand), tuple(hand + shown), ORANGE, '10 N on the\nenvironment, $g$',
          (-0.25, 0.1))
    arrow(axes, tuple(hand), tuple(hand - shown), PINK, '10 N on the\nrobot, $-g$', (-0.25, 0.1))
    for name, joint in (('1', np.zeros(2)), ('2', elbow)):
        arm = hand - joint
        torque = arm[0] * force[1] - arm[1] * force[0]      # J^T g, a column a joint
        axes.add_patch(Arc(joint, 0.4, 0.4, theta1=-150, theta2=-30, color=GREEN, lw=2))
        axes.text(joint[0], -0.38, f'$Q_{name} = {torque:.0f}$ N m', ha='center', color=GREEN,
                  fontsize=11)
    axes.set_xlim(-0.7, 2.4)
    axes.set_ylim(-0.5, 1.5)
    return figure


SKETCHES = {'equations': equations, 'motion': motion, 'estimator': estimator,
            'force_map': force_map, 'workspace': workspace, 'climbing': climbing,
            'delays': delays, 'planar_arm': planar_arm,
            'moment_weight': moment_weight}


def main() -> int:
    """Write all sketches."""
    # The same file from the same code: no dates, no random names; text stays text.
    matplotlib.rcParams.update({'svg.hashsalt': 'sketch', 'svg.fonttype': 'path'})
    for name, draw in SKETCHES.items():
        draw().savefig(IMAGES / f'sketch_{name}.svg', metadata={'Date': None},
                       facecolor='white')
    return 0


if __name__ == '__main__':
    sys.exit(main())
