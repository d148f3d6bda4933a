# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contacts off the feet: a belly, a knee or a shank on the ground is no push.

Geometry says which links may touch: those whose collision shapes reach the ground, which is as
high as a foot in contact, or else as the lowest point of the robot. Statics says which do: the
equations of the base and of the joints, of means over a short time, are solved for forces inside
friction cones (non-negative least squares, Lawson and Hanson 1974), of the feet alone at first.
The link that explains most of what is left is added, and so on until none explains anything
beyond doubt.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from threading import Thread

import numpy as np

from legged_dynamics.dynamics.kinematics import FORCE, POSITION, ROTATION, body_workspace
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation.filter.equation_errors import end_stops
from legged_dynamics.model import actuators
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import body_poses, link_pose, touch_points
from legged_dynamics.spatial import Transform
from legged_dynamics.spatial.algebra import add, dot, load3, rotate
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9
from legged_dynamics.spatial.rotations import skew


@dataclass(frozen=True)
class LinkContactSettings:
    """Tuned numbers, chosen on simulated robots that kneel, lie and carry loads."""

    interval: float = 0.05              # s that readings are averaged over; twice, none near
    near: float = 0.1                   # base heights over ground up to which a link may touch
    near_guessed: float = 0.25          # the same where its shape is guessed
    foot_radius: float = 0.3            # base heights about a foot in which points are the foot's
    friction: float = 0.8               # of the cones that forces lie in
    significance: float = 4.0           # deviations that a link must explain beyond all else
    least_share: float = 0.03           # weights, least normal force; half where it touched before
    candidates: int = 2                 # links tried in each round, that a single force fits best
    points: int = 4                     # of a link that forces are sought at, the lowest ones
    stop: float = 0.01                  # rad or m to an end stop, within which no torque is known
    base_error: float = 0.005           # weights, of the base's equations beyond what is stated
    joint_error: float = 0.002          # torque limits, of the joints' equations likewise


@dataclass(frozen=True, eq=False)
class TouchingPoints:
    """Points that may touch the ground: those of feet first, then those of other links."""

    links: tuple[str, ...]
    body: np.ndarray                    # (n,) int
    place: np.ndarray                   # (n, 3): on the body [m]
    radius: np.ndarray                  # (n,): of the sphere about it [m]
    foot: np.ndarray                    # (n,) int: whose it is, -1 for none
    link: np.ndarray                    # (n - n_feet,) int: of `links`
    near: np.ndarray                    # (n - n_feet,): height up to which it may touch [m]

    @classmethod
    def of(cls, model: RobotModel, config: RobotConfig, height: float, feet: Sequence[Transform],
           settings: LinkContactSettings) -> TouchingPoints:
        """Find them on the feet and in collision shapes; ``feet``: poses at nominal height [m]."""
        poses = body_poses(model, config.nominal_in(model))
        parts = touch_points(model, lambda body, point: min(
            np.linalg.norm(poses[body].point(point) - pose.p) for pose in feet)
            < settings.foot_radius * height)
        counts = np.array([len(part.points) for part in parts], int)
        link_body = np.repeat([part.body for part in parts], counts).astype(int)
        corners = [len(foot.corners) for foot in config.feet]
        frames = [model.frame(foot.link) for foot in config.feet]
        return cls(
            tuple(part.link for part in parts),
            np.concatenate([np.repeat([frame.body for frame in frames], corners), link_body]),
            np.concatenate([np.array([frame.pose.point(corner) for foot, frame in zip(
                config.feet, frames) for corner in foot.corners]),
                np.zeros((0, 3)), *(part.points for part in parts)]),
            np.concatenate([np.repeat([foot.radius for foot in config.feet], corners), [],
                            *(part.radius for part in parts)]),
            np.concatenate([np.repeat(np.arange(len(corners)), corners),
                            np.full(len(link_body), -1)]),
            np.repeat(np.arange(len(parts)), counts),
            height * np.repeat([settings.near_guessed if part.guessed else settings.near
                                for part in parts], counts))

    @property
    def n_feet(self) -> int:
        """Return how many points are of feet."""
        return len(self.body) - len(self.link)


@dataclass(frozen=True, eq=False)
class FoundContacts:
    """Forces on links, in the order of `TouchingPoints.links`; zero without contact."""

    force: np.ndarray                   # (n, 3) in the base [N]
    deviation: np.ndarray               # (n, 3) [N]
    point: np.ndarray                   # (n, 3) in the base [m]
    wrench_deviation: np.ndarray        # (6,): of the sum about the base's origin, with the base's

    @cached_property
    def any(self) -> bool:
        """Return whether a link touches the ground."""
        return bool(self.force.any())


class LinkContacts:
    """Finds links other than feet that the ground supports (`found`)."""

    def __init__(self, model: RobotModel, config: RobotConfig, rate: float,
                 columns: Mapping[str, slice], normal: slice, contact: slice,
                 settings: LinkContactSettings | None = None):
        self._settings = settings = settings or LinkContactSettings()
        self._model, self._columns = model, columns
        self._places = normal, contact
        self._weight = model.total_mass * GRAVITY
        poses = body_poses(model, config.nominal_in(model))
        feet = [link_pose(model, poses, foot.link) for foot in config.feet]
        height = max(max(-float(pose.p[2]) for pose in feet), 0.02)
        self.points = points = TouchingPoints.of(model, config, height, feet, settings)
        self._every = max(round(settings.interval * rate), 2)
        self._set_errors(config, height)
        self._bodies_and_feet = np.stack([points.body, points.foot], axis=1)
        self._spheres = np.column_stack([points.place, points.radius])
        self._gaps = np.zeros(len(points.body))
        mount = model.frame(config.imu_link_in(model))
        self._mount = mount.pose.R if mount.body == 0 else None
        # Joints that move each body, and those that slide.
        self._moves = np.array([[c in model.chain(b) for c in range(1, model.n_bodies)]
                                for b in range(model.n_bodies)], float)
        self._sliding = np.array([joint.kind == 'prismatic' for joint in model.joints])
        self._rows = np.empty((self._every, max(part.stop for part in columns.values())))
        # Slow to import, and needed only once something touches the ground.
        Thread(target=import_module, args=('scipy.optimize',)).start()
        self._workspace, self._tau = body_workspace(model), np.zeros(model.nv)
        self._still = np.zeros(model.nv)
        self._stops = end_stops(model).T + np.array([[settings.stop], [-settings.stop]])
        self.reset()

    def _set_errors(self, config: RobotConfig, height: float) -> None:
        """Set deviations of the equations by noise, actuators as stated, models' usual errors."""
        settings, noise, weight = self._settings, config.noise, self._weight
        stated = actuators.ActuatorModel.of(self._model, config)
        effort = noise.of_joints('effort', self._model, config.joints)
        self._base_error = np.repeat([      # (6,) [N, N m]
            np.sqrt(noise.mass ** 2 + (noise.accelerometer_bias / GRAVITY) ** 2
                    + settings.base_error ** 2) * weight,
            np.hypot(noise.center_of_mass, settings.base_error * height) * weight], 3)
        self._joint_error = np.sqrt(        # (nv,) [N m]
            effort ** 2 / self._every + stated.value[actuators.FRICTION] ** 2
            + stated.deviation[actuators.FRICTION] ** 2
            + stated.deviation[actuators.OFFSET] ** 2
            + (settings.joint_error * stated.limit) ** 2)
        self._gain_error = stated.deviation[actuators.GAIN]     # (nv,) as a share of torques

    def reset(self) -> None:
        """Forget all contacts and readings."""
        self._left, self._watching = 2 * self._every, False
        force, deviation, point = np.zeros((3, len(self.points.links), 3))
        self.found = FoundContacts(force, deviation, point, np.zeros(6))

    def take(self, row: np.ndarray, estimate: np.ndarray) -> None:
        """Add a sample and its estimate; look for contacts once enough have come."""
        if self._watching:
            self._rows[self._every - self._left] = row[:self._rows.shape[1]]
        self._left -= 1
        if self._left:
            return
        normal, contact = estimate[self._places[0]], estimate[self._places[1]]
        mean = self._rows.mean(axis=0) if self._watching else row
        q = mean[self._columns['position']]
        a = mean[self._columns['acceleration']]
        accelerometer = self._mount is not None and np.isfinite(a).all()
        base = np.zeros(9)
        base[6:] = self._mount @ a if accelerometer else GRAVITY * normal
        newton_euler(self._model.tree, q, self._still, self._still, base, self._workspace,
                     self._tau)
        find_gaps(self._workspace, normal, contact, self._bodies_and_feet, self._spheres,
                  self._gaps)
        off = self._gaps[self.points.n_feet:]
        near = bool((off < self.points.near).any())
        if self._watching and near:
            self._solve(q, mean[self._columns['effort']], normal, off)
        elif self.found.any:
            self.reset()
        self._watching, self._left = near, self._every if near else 2 * self._every

    # ---- geometry --------------------------------------------------------------------------

    def _placed(self, body: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return points of bodies in the base, (n, 3) [m]."""
        state = self._workspace[body]
        R = state[:, ROTATION:ROTATION + 9].reshape(-1, 3, 3)
        return np.einsum('nij,nj->ni', R, points) + state[:, POSITION:POSITION + 3]

    # ---- statics ---------------------------------------------------------------------------

    def _map(self, body: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the rows of base and joints that a force at each point has, (n, 6 + nv, 3)."""
        model, states = self._model, self._workspace[1:]
        found = np.empty((len(points), 6 + model.nv, 3))
        found[:, :3], found[:, 3:6] = np.eye(3), skew(points)
        axes = states[:, ROTATION + 2:ROTATION + 9:3]
        arms = points[:, None] - states[:, POSITION:POSITION + 3]
        found[:, 6:] = self._moves[body][:, :, None] * np.where(
            self._sliding[:, None], axes, np.cross(axes, arms))
        self._fold(found.swapaxes(0, 1))
        return found

    def _fold(self, rows: np.ndarray) -> None:
        """Add the rows (6 + nv, ...) of joints that follow to those of their masters."""
        mimics = self._model.mimics
        for follower, master, ratio in zip(mimics.follower_v, mimics.master_v, mimics.multiplier):
            rows[6 + master] += ratio * rows[6 + follower]

    def _residual(self, q: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Return what base and joints need of the ground, (6 + nv,); NaN where not known."""
        residual = np.concatenate([self._workspace[0, FORCE:FORCE + 6], self._tau - effort])
        self._fold(residual)
        residual[6 + self._model.mimics.follower_v] = np.nan
        residual[6:][(q < self._stops[0]) | (q > self._stops[1])] = np.nan
        return residual

    def _near_points(self, off: np.ndarray) -> np.ndarray:
        """Return the points of links that forces are sought at."""
        link = self.points.link
        chosen = np.flatnonzero(off < self.points.near)
        return np.concatenate([of_link[np.argsort(off[of_link])[:self._settings.points]]
                               for of_link in (chosen[link[chosen] == i]
                                               for i in np.unique(link[chosen]))])

    def _solve(self, q: np.ndarray, effort: np.ndarray, normal: np.ndarray, off: np.ndarray
               ) -> None:
        """Find the links near the ground whose forces explain efforts and motion with the feet."""
        residual = self._residual(q, effort)
        known = np.isfinite(residual)
        if not known[6:].any():         # the feet could bear all of it
            self.reset()
            return
        n_feet = self.points.n_feet
        scale = 1.0 / np.concatenate([self._base_error, np.hypot(
            self._joint_error, self._gain_error * effort)])[known]
        chosen = self._near_points(off)
        used = np.concatenate([np.arange(n_feet), n_feet + chosen])
        bodies = self.points.body[used]
        points = self._placed(bodies, self.points.place[used])
        points -= self.points.radius[used][:, None] * normal
        rows = self._map(bodies, points)[:, known] * scale[:, None]
        edges = _cone(normal, self._settings.friction)
        farness = (off / self.points.near)[chosen]
        links, own, share = self._choose(rows @ edges, residual[known] * scale,
                                         self.points.link[chosen], farness)
        forces = np.zeros((len(points), 3))
        forces[np.concatenate(own)] = share.reshape(-1, 4) @ edges.T
        self._judge(links, own[1:], forces, points, rows, normal)

    def _choose(self, cones: np.ndarray, right: np.ndarray, owners: np.ndarray,
                farness: np.ndarray) -> tuple[list[int], list[np.ndarray], np.ndarray]:
        """
        Add links to the feet, the best first, until none explains anything beyond doubt.

        ``owners``, ``farness``: of the points of links, which they are of and how far from the
        ground. Returns links, the points of all feet and then of each link, shares of their edges.
        """
        settings, n_feet = self._settings, self.points.n_feet
        own = [np.arange(n_feet)]
        share, cost = _solved(cones[own[0]], right, self._weight)
        candidates = {int(i): n_feet + np.flatnonzero(owners == i) for i in np.unique(owners)}
        links: list[int] = []
        size = np.linalg.norm(cones, axis=1)
        while candidates:
            rest = right - np.hstack(list(cones[np.concatenate(own)])) @ share
            # What a force along one edge would explain; without any gain the link has no part.
            gain = (np.einsum('kre,r->ke', cones, rest) / size).max(axis=1)
            order = sorted(candidates, key=lambda i: -gain[candidates[i]].max())
            tried = {}
            # The base is tried in any case: it may do alone what hips would do together.
            for i in dict.fromkeys([*order[:settings.candidates],
                                    *([0] if 0 in candidates else ())]):
                places = candidates[i]
                if gain[places].max() <= 0.0:
                    continue
                found, left = _solved(cones[np.concatenate([*own, places])], right, self._weight)
                far = float(farness[places - n_feet].min())
                tried[i] = left + (settings.significance * far) ** 2, left, found
            if not tried:
                break
            best = min(tried, key=lambda i: tried[i][0])
            if cost - tried[best][0] < settings.significance ** 2:
                break
            _, cost, share = tried[best]
            own.append(candidates.pop(best))
            links.append(best)
        return links, own, share

    def _judge(self, links: list[int], own: list[np.ndarray], forces: np.ndarray,
               points: np.ndarray, rows: np.ndarray, normal: np.ndarray) -> None:
        """Keep the links whose force is large enough, each with its deviation."""
        before, n_feet = self.found.force, self.points.n_feet
        force, deviation, point = (np.zeros_like(before) for _ in range(3))
        # A link's force acts at the middle of its pressure, beside the feet's.
        pressures = [forces[places] @ normal for places in own]
        free = np.concatenate([*rows[:n_feet], *(
            np.einsum('k,kri->ri', load / max(load.sum(), 1e-9), rows[places])
            for load, places in zip(pressures, own))], axis=1)
        covariance = np.linalg.inv(free.T @ free + np.eye(free.shape[1]) / self._weight ** 2)
        kept: list[int] = []
        levers = []
        for n, (i, load, places) in enumerate(zip(links, pressures, own)):
            least = (0.5 if before[i].any() else 1.0) * self._settings.least_share * self._weight
            if load.sum() < least:
                continue
            at = 3 * (n_feet + n)
            block = covariance[at:at + 3, at:at + 3]
            force[i], deviation[i] = forces[places].sum(axis=0), np.sqrt(np.diag(block))
            point[i] = load @ points[places] / load.sum()
            kept += range(at, at + 3)
            levers.append(np.vstack([np.eye(3), skew(point[i])]))
        total = np.hstack([np.zeros((6, 0)), *levers])
        variance = self._base_error ** 2 + np.diag(
            total @ covariance[np.ix_(kept, kept)] @ total.T)
        self.found = FoundContacts(force, deviation, point, np.sqrt(variance))


@part
def _height(bodies, normal, body, sphere):
    """Return how high the lowest point of a sphere on a body is over the base's origin."""
    return dot(normal, add(get3(bodies, body, POSITION),
                           rotate(get9(bodies, body, ROTATION), load3(sphere, 0)))) - sphere[3]


@lean_kernel
def find_gaps(bodies, normal, contact, owners, spheres, gaps):
    """
    Fill each point's height above ground, set by contact feet or the lowest point [m].

    ``owners`` (n, 2): body and foot (-1: none); ``spheres`` (n, 4): place on the body and
    radius.
    """
    up = load3(normal, 0)
    lowest, stands = math.inf, False
    for k in range(gaps.shape[0]):
        foot = owners[k, 1]
        gaps[k] = _height(bodies, up, owners[k, 0], spheres[k])
        lowest = min(lowest, gaps[k])
        stands = stands or (foot >= 0 and contact[foot] > 0.5)
    for k in range(gaps.shape[0] - 1, -1, -1):      # feet, which come first, keep their heights
        gap = math.inf if stands else math.fabs(gaps[k] - lowest)
        for i in range(k + 1 if stands else 0):
            foot = owners[i, 1]
            if foot >= 0 and contact[foot] > 0.5:
                gap = min(gap, math.fabs(gaps[k] - gaps[i]))
        gaps[k] = gap


def _cone(normal: np.ndarray, friction: float) -> np.ndarray:
    """Return the edges of a friction pyramid about a normal, (3, 4)."""
    along = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.7 else [0.0, 1.0, 0.0])
    along = friction / np.linalg.norm(along) * along
    across = np.cross(normal, along)
    return np.stack([normal + along, normal - along, normal + across, normal - across], axis=1)


def _solved(cones: np.ndarray, right: np.ndarray, weight: float) -> tuple[np.ndarray, float]:
    """Return shares of the edges of all cones, and the sum of squares that they leave."""
    rows = np.hstack(list(cones))
    n = rows.shape[1]
    # Of all forces that explain the readings alike, the smallest ones.
    from scipy.optimize import nnls
    share, left = nnls(np.vstack([rows, np.eye(n) / weight]), np.concatenate([right, np.zeros(n)]))
    return share, left ** 2
