# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The climbing robot's joints as hardware has them: by name, zero where the springs are relaxed.

A hip is three joints in series, two that slide along the body's x and y axes and one that turns;
the inner joints follow towards the foot. Each has its passive spring and damper about zero, its
nominal rest, and a motor beside them. Where the motors deliver

    K (r - r_nominal) + B rdot

the joint behaves as if its spring rested at r, so that a robot with motors that deliver nothing
hangs on its springs.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.stickybot.model.exchange import StickybotMeasurement
from legged_dynamics.stickybot.model.parts import Limb
from legged_dynamics.stickybot.model.robot import StickybotModel

HIP_JOINTS = ('hip_x', 'hip_y', 'hip')


def joint_names(limb: Limb) -> list[str]:
    """Return the names of a limb's joints, from the body to the foot."""
    inner = [f'{limb.name}_joint_{k}' for k in range(len(limb.links) - 1, 0, -1)]
    return [f'{limb.name}_{joint}' for joint in HIP_JOINTS] + inner


def foot_link(limb: Limb) -> str:
    """Return the name of a limb's foot link."""
    return f'{limb.name}_foot'


class LimbJoints:
    """
    Turns joint states into measurements, and rest positions into efforts.

    Parameters
    ----------
    model : StickybotModel
        The robot.

    Attributes
    ----------
    names : tuple of str
        Of the nj joints, limb after limb, each from the body to the foot.
    feet : tuple of str
        Links of the feet.
    hip : (N, 3) int array
        Where the hips' joints stand among the names.
    inner : (ni,) int array
        Where the inner joints stand, in the order of the model's inner joints.
    stiffness, damping : (nj, nj) array
        Of the passive springs and dampers.

    """

    def __init__(self, model: StickybotModel):
        per_limb = [joint_names(limb) for limb in model.limbs]
        starts = np.cumsum([0, *map(len, per_limb)])
        self.names = tuple(name for names in per_limb for name in names)
        self.feet = tuple(map(foot_link, model.limbs))
        self.hip = starts[:-1, None] + np.arange(3)
        self.inner = np.array([start + 3 + k for start, names in zip(starts, per_limb)
                               for k in reversed(range(len(names) - 3))], dtype=int)
        n = len(self.names)
        self.stiffness, self.damping = np.zeros((n, n)), np.zeros((n, n))
        for limb, columns in zip(model.limbs, self.hip):
            block = np.ix_(columns, columns)
            self.stiffness[block], self.damping[block] = limb.stiffness, limb.damping
        servos = [link for limb in model.limbs for link in limb.links[1:]]
        self.stiffness[self.inner, self.inner] = [link.stiffness for link in servos]
        self.damping[self.inner, self.inner] = [link.damping for link in servos]
        self._rest, self._bends = model.rest, model.bends
        self._lengths = [[link.length for link in limb.links] for limb in model.limbs]
        self._firsts = model.joint_starts[:-1]
        # Angles of links as `StickybotState.joint` counts them, less the body's: each first link
        # is the hip's angle less what the inner joints turn.
        self._angle_map = np.zeros((model.n_joints, n))
        inner = np.setdiff1d(np.arange(model.n_joints), self._firsts)
        self._angle_map[self._firsts, self.hip[:, 2]] = 1.0
        self._angle_map[inner, self.inner] = 1.0
        self._angles = np.zeros(model.n_joints)
        self._angles[self._firsts], self._angles[inner] = model.rest[:, 2], model.bends
        for first, end in zip(self._firsts, model.joint_starts[1:]):
            self._angle_map[first] -= self._angle_map[first + 1:end].sum(axis=0)
            self._angles[first] -= self._angles[first + 1:end].sum()

    def measurement(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
                    body_angle: float, body_rate: float, effort: np.ndarray | None = None
                    ) -> StickybotMeasurement:
        """
        Return what joint states say.

        Parameters
        ----------
        stamp_ns : int [ns]
            When they were read.
        position, velocity : (nj,) array [m or rad, m/s or rad/s]
            In the order of `names`.
        body_angle, body_rate : float [rad, rad/s]
            Of the body in the wall's plane.
        effort : (nj,) array, optional [N or N m]
            What the motors deliver beside the springs.

        """
        hip, inner = self.hip, self.inner
        motors = (None, None) if effort is None else (effort[hip], effort[inner])
        return StickybotMeasurement(
            stamp_ns, self._rest + position[hip], velocity[hip], body_angle, body_rate,
            self._bends + position[inner], velocity[inner], effort=motors[0],
            joint_effort=motors[1])

    def positions(self, rest: np.ndarray, joint_rest: np.ndarray) -> np.ndarray:
        """
        Return the joint positions of hips and inner joints, (nj,).

        Parameters
        ----------
        rest : (N, 3) array [m, m, rad]
            Of the hips, in body axes.
        joint_rest : (ni,) array [rad]
            Of the inner joints.

        """
        found = np.zeros(len(self.names))
        found[self.hip], found[self.inner] = rest - self._rest, joint_rest - self._bends
        return found

    def efforts(self, position: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """
        Return the motors' efforts that move the springs' rest positions, (nj,) [N or N m].

        Parameters
        ----------
        position, rate : (nj,) array [m or rad, m/s or rad/s]
            Where the joints are to rest, and how fast that moves.

        """
        return self.stiffness @ position + self.damping @ rate

    def link_angles(self, position: np.ndarray, body_angle: float) -> np.ndarray:
        """Return what :attr:`StickybotState.joint` holds, (nq,) [rad], for joint positions."""
        angles = self._angles + self._angle_map @ position
        angles[self._firsts] += body_angle
        return angles

    def link_rates(self, velocity: np.ndarray, body_rate: float) -> np.ndarray:
        """Return their rates, (nq,) [rad/s], for joint velocities."""
        rates = self._angle_map @ velocity
        rates[self._firsts] += body_rate
        return rates

    def foot_angles(self, position: np.ndarray, body_angle: float) -> np.ndarray:
        """Return the angles of the feet's x axes in the wall's, (N,) [rad]."""
        return self.link_angles(position, body_angle)[self._firsts]

    def foot_positions(self, position: np.ndarray) -> np.ndarray:
        """Return the feet in body axes, (N, 2) [m]."""
        feet = (self._rest + position[self.hip])[:, :2]
        angles = self.link_angles(position, 0.0)
        for i, lengths in enumerate(self._lengths):
            turned = np.cumsum(angles[self._firsts[i]:self._firsts[i] + len(lengths)])
            feet[i] -= [lengths @ np.cos(turned), lengths @ np.sin(turned)]
        return feet
