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
from collections.abc import Mapping

import numpy as np
from scipy.optimize import nnls

from legged_dynamics.dynamics.kinematics import FORCE, POSITION, ROTATION, body_workspace
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation.filter.equation_errors import end_stops
from legged_dynamics.model import actuators
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import body_poses, link_pose, touch_points
from legged_dynamics.spatial.algebra import add, dot, load3, rotate
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9

# Time that readings are averaged over, and after which contacts are looked for again [s]; twice
# that while no link is near the ground.
INTERVAL = 0.05
# A link may touch when it is so near to the ground, in heights of the base; where its shape is
# guessed, so near. Points nearer than this to a foot are the foot's.
NEAR, NEAR_GUESSED, OF_FOOT = 0.1, 0.25, 0.3
# Friction of the cones that forces lie in.
CONE = 0.8
# A link touches where it explains the readings better than feet and other links alone, in sums of
# squares of so many deviations, with a normal force of this share of the weight; of half of it
# where it has touched before.
SIGNIFICANCE, LEAST_SHARE = 4.0, 0.03
# Links that are tried in each round, those that a single force fits best.
CANDIDATES = 2
# Points of a link that forces are sought at, those nearest to the ground.
MOST_POINTS = 4
# A joint so near to its end stop has no known torque [rad or m].
STOP = 0.01
# Errors of the base's equations that no configuration states, and of each joint's, as shares of
# weight and torque limit.
BASE_ERROR, JOINT_ERROR = 0.005, 0.002


class OffFeet:
    """
    Finds links other than feet that the ground supports.

    Results in the order of `links`: `force`, `deviation` (n, 3) [N], zero without contact,
    and `point` (n, 3) [m] in the base; `wrench_deviation` (6,): of the sum about the base
    origin, with the base residual.
    """

    def __init__(self, model: RobotModel, config: RobotConfig, rate: float,
                 columns: Mapping[str, slice], normal: slice, contact: slice):
        self._model, self._columns = model, columns
        self._places = normal, contact
        self._weight = model.total_mass * GRAVITY
        poses = body_poses(model, config.nominal_in(model))
        feet = [link_pose(model, poses, foot.link) for foot in config.feet]
        self._height = max(max(-float(pose.p[2]) for pose in feet), 0.02)
        parts = touch_points(model, lambda body, point: min(
            np.linalg.norm(poses[body].point(point) - pose.p) for pose in feet)
            < OF_FOOT * self._height)
        self.links = tuple(part.link for part in parts)
        counts = np.array([len(part.points) for part in parts], int)
        self._owner = np.repeat(np.arange(len(parts)), counts)
        self._body = np.repeat([part.body for part in parts], counts).astype(int)
        self._points = np.concatenate([np.zeros((0, 3)), *(part.points for part in parts)])
        self._radius = np.concatenate([[], *(part.radius for part in parts)])
        self._near = self._height * np.repeat(
            [NEAR_GUESSED if part.guessed else NEAR for part in parts], counts)
        counts = [len(foot.corners) for foot in config.feet]
        frames = [model.frame(foot.link) for foot in config.feet]
        self._foot_owner = np.repeat(np.arange(len(counts)), counts)
        self._foot_body = np.repeat([frame.body for frame in frames], counts)
        self._foot_points = np.array([frame.pose.point(corner) for foot, frame in zip(
            config.feet, frames) for corner in foot.corners])
        self._foot_radius = np.repeat([foot.radius for foot in config.feet], counts)
        # Points of feet first, then those of links.
        self._owners = np.stack([
            np.concatenate([self._foot_body, self._body]),
            np.concatenate([self._foot_owner, np.full(len(self._body), -1)])], axis=1)
        self._spheres = np.column_stack([
            np.concatenate([self._foot_points, self._points]),
            np.concatenate([self._foot_radius, self._radius])])
        self._gaps = np.zeros(len(self._owners))
        mount = model.frame(config.imu_link or config.base_link or model.base_link)
        self._mount = mount.pose.R if mount.body == 0 else None
        # Joints that move each body, and those that slide.
        self._moves = np.array([[c in model.chain(b) for c in range(1, model.n_bodies)]
                                for b in range(model.n_bodies)], float)
        self._sliding = np.array([joint.kind == 'prismatic' for joint in model.joints])
        noise = config.noise
        self._base_error = np.repeat([
            np.sqrt(noise.mass ** 2 + (noise.accelerometer_bias / GRAVITY) ** 2
                    + BASE_ERROR ** 2) * self._weight,
            np.hypot(noise.center_of_mass, BASE_ERROR * self._height) * self._weight], 3)
        stated = actuators.ActuatorModel.of(model, config)
        every = self._every = max(round(INTERVAL * rate), 2)
        effort = noise.of_joints('effort', model, config.joints)
        self._joint_error = np.sqrt(
            effort ** 2 / every + stated.value[actuators.FRICTION] ** 2
            + stated.deviation[actuators.FRICTION] ** 2 + stated.deviation[actuators.OFFSET] ** 2
            + (JOINT_ERROR * stated.limit) ** 2)
        self._gain = stated.deviation[actuators.GAIN]
        self._rows = np.empty((every, max(part.stop for part in columns.values())))
        self._workspace, self._tau = body_workspace(model), np.zeros(model.nv)
        self._still = np.zeros(model.nv)
        self._stops = end_stops(model).T + np.array([[STOP], [-STOP]])
        self._at_stop = np.zeros(model.nv, bool)
        self.reset()

    def reset(self) -> None:
        """Forget all contacts and readings."""
        self._left, self._watching = 2 * self._every, False
        n = len(self.links)
        self.force, self.deviation, self.point = (np.zeros((n, 3)) for _ in range(3))
        self.wrench_deviation, self.touching = np.zeros(6), False

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
        self._at_stop = (q < self._stops[0]) | (q > self._stops[1])
        find_gaps(self._workspace, normal, contact, self._owners, self._spheres, self._gaps)
        off = self._gaps[len(self._foot_body):]
        near = bool((off < self._near).any())
        if self._watching and near:
            self._solve(mean[self._columns['effort']], normal, off)
        elif self.touching:
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
        found[:, :3], found[:, 3:6] = np.eye(3), _cross_matrices(points)
        axes = states[:, ROTATION + 2:ROTATION + 9:3]
        arms = points[:, None] - states[:, POSITION:POSITION + 3]
        found[:, 6:] = self._moves[body][:, :, None] * np.where(
            self._sliding[:, None], axes, np.cross(axes, arms))
        mimics = model.mimics
        for follower, master, ratio in zip(mimics.follower_v, mimics.master_v,
                                           mimics.multiplier):
            found[:, 6 + master] += ratio * found[:, 6 + follower]
        return found

    def _solve(self, effort: np.ndarray, normal: np.ndarray, off: np.ndarray) -> None:
        """Find the links near the ground whose forces explain efforts and motion with the feet."""
        residual = np.concatenate([self._workspace[0, FORCE:FORCE + 6], self._tau - effort])
        mimics = self._model.mimics
        for follower, master, ratio in zip(mimics.follower_v, mimics.master_v,
                                           mimics.multiplier):
            residual[6 + master] += ratio * residual[6 + follower]
            residual[6 + follower] = np.nan
        residual[6:][self._at_stop] = np.nan
        known = np.isfinite(residual)
        if not known[6:].any():         # the feet could bear all of it
            self.reset()
            return
        scale = 1.0 / np.concatenate([self._base_error, np.hypot(
            self._joint_error, self._gain * effort)])[known]
        chosen = np.flatnonzero(off < self._near)
        chosen = np.concatenate([of_link[np.argsort(off[of_link])[:MOST_POINTS]] for of_link in (
            chosen[self._owner[chosen] == i] for i in np.unique(self._owner[chosen]))])
        owners = self._owner[chosen]
        bodies = np.concatenate([self._foot_body, self._body[chosen]])
        points = np.concatenate([self._placed(self._foot_body, self._foot_points),
                                 self._placed(self._body[chosen], self._points[chosen])])
        points -= np.concatenate([self._foot_radius, self._radius[chosen]])[:, None] * normal
        rows = self._map(bodies, points)[:, known] * scale[:, None]
        right = residual[known] * scale
        edges = _cone(normal)
        cones = rows @ edges
        n_feet = len(self._foot_body)
        own = [np.arange(n_feet)]       # points of all feet, then of each link that is added
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
            for i in dict.fromkeys([*order[:CANDIDATES], *([0] if 0 in candidates else ())]):
                places = candidates[i]
                if gain[places].max() <= 0.0:
                    continue
                found, left = _solved(cones[np.concatenate([*own, places])], right,
                                      self._weight)
                farness = float((off / self._near)[chosen[places - n_feet]].min())
                tried[i] = left + (SIGNIFICANCE * farness) ** 2, left, found
            if not tried:
                break
            best = min(tried, key=lambda i: tried[i][0])
            if cost - tried[best][0] < SIGNIFICANCE ** 2:
                break
            _, cost, share = tried[best]
            own.append(candidates.pop(best))
            links.append(best)
        forces = np.zeros((len(points), 3))
        forces[np.concatenate(own)] = share.reshape(-1, 4) @ edges.T
        self._judge(links, own[1:], forces, points, rows, normal)

    def _judge(self, links: list[int], own: list[np.ndarray], forces: np.ndarray,
               points: np.ndarray, rows: np.ndarray, normal: np.ndarray) -> None:
        """Keep the links whose force is large enough, each with its deviation."""
        force, deviation, point = (np.zeros_like(self.force) for _ in range(3))
        # A link's force acts at the middle of its pressure, beside the feet's.
        pressures = [forces[places] @ normal for places in own]
        free = np.concatenate([*rows[:len(self._foot_body)], *(
            np.einsum('k,kri->ri', load / max(load.sum(), 1e-9), rows[places])
            for load, places in zip(pressures, own))], axis=1)
        covariance = np.linalg.inv(free.T @ free + np.eye(free.shape[1]) / self._weight ** 2)
        kept: list[int] = []
        levers = []
        for n, (i, load, places) in enumerate(zip(links, pressures, own)):
            if load.sum() < (0.5 if self.force[i].any() else 1.0) * LEAST_SHARE * self._weight:
                continue
            at = 3 * (len(self._foot_body) + n)
            block = covariance[at:at + 3, at:at + 3]
            force[i], deviation[i] = forces[places].sum(axis=0), np.sqrt(np.diag(block))
            point[i] = load @ points[places] / load.sum()
            kept += range(at, at + 3)
            levers.append(np.vstack([np.eye(3), _cross_matrices(point[i:i + 1])[0]]))
        total = np.hstack([np.zeros((6, 0)), *levers])
        variance = self._base_error ** 2 + np.diag(
            total @ covariance[np.ix_(kept, kept)] @ total.T)
        self.force, self.deviation, self.point = force, deviation, point
        self.touching = bool(force.any())
        self.wrench_deviation = np.sqrt(variance)


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


def _cross_matrices(points: np.ndarray) -> np.ndarray:
    """Return the matrices of the cross product with each point, (n, 3, 3)."""
    found = np.zeros((len(points), 3, 3))
    x, y, z = points.T
    found[:, 0, 1], found[:, 0, 2], found[:, 1, 2] = -z, y, -x
    found[:, 1, 0], found[:, 2, 0], found[:, 2, 1] = z, -y, x
    return found


def _cone(normal: np.ndarray) -> np.ndarray:
    """Return the edges of a friction pyramid about a normal, (3, 4)."""
    along = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.7 else [0.0, 1.0, 0.0])
    along = CONE / np.linalg.norm(along) * along
    across = np.cross(normal, along)
    return np.stack([normal + along, normal - along, normal + across, normal - across], axis=1)


def _solved(cones: np.ndarray, right: np.ndarray, weight: float) -> tuple[np.ndarray, float]:
    """Return shares of the edges of all cones, and the sum of squares that they leave."""
    rows = np.hstack(list(cones))
    n = rows.shape[1]
    # Of all forces that explain the readings alike, the smallest ones.
    share, left = nnls(np.vstack([rows, np.eye(n) / weight]),
                       np.concatenate([right, np.zeros(n)]))
    return share, left ** 2
