# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated climbing robot: MuJoCo physics of a body on compliant hips, its feet on a wall."""
from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from legged_dynamics.exceptions import SimulationError
from legged_dynamics.simulation.climbing_plant import ROOT_JOINTS, ClimbingPlant, build_wall_world
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import compiled
from legged_dynamics.simulation.truth import FootContacts, TrueState
from legged_dynamics.stickybot.model.adhesion import HOLDS, SLIPS, normal_loads, pad_failure
from legged_dynamics.stickybot.model.limb import FORCE
from legged_dynamics.stickybot.model.robot import FootEvent, FootEventKind, StickybotState

# -------------------------------------------------------------------------------------------------
# Feet that hold on a wall: plastic touchdown, reactions, and pads that let go when overloaded.


class _WallFeet:
    """Switches the feet's point constraints, moves their anchors, and reads the forces."""

    def __init__(self, robot: ClimbingRobot):
        self._plant, self._model, self._data = robot.plant, robot.model, robot.data
        self._qpos, self._dofs = robot._qpos, robot._dofs
        plant, model, climber = robot.plant, robot.model, robot.plant.climber
        self.sites = np.array([model.site(foot).id for foot in plant.feet])
        self._grips = np.array([model.equality(foot).id for foot in plant.feet])
        self._wall = model.body('wall').id
        self._root = np.array([model.joint(name).qposadr[0] for name in ROOT_JOINTS])
        self.root_dofs = np.array([model.joint(name).dofadr[0] for name in ROOT_JOINTS])
        n = climber.n_limbs
        self.attached = np.zeros(n, bool)
        self._pads = None if plant.pads is None else [pad.packed() for pad in plant.pads]
        self._pad_angles, self._normals = np.zeros(n), np.zeros(n)
        self._z, self._forces = np.zeros(climber.nz), np.zeros((n, FORCE.width))
        self._balance = np.array([climber.body.height, climber.wall.normal])
        for i in range(n):
            self.hold(i)

    @property
    def R_WA(self) -> np.ndarray:
        """Axes of the wall in world axes, (3, 3)."""
        return self._data.xmat[self._wall].reshape(3, 3)

    @property
    def limited(self) -> bool:
        """Whether the pads have limits."""
        return self._pads is not None

    @property
    def state(self) -> StickybotState:
        """The state as the planar equations have it; needs mj_forward or mj_kinematics."""
        climber, data = self._plant.climber, self._data
        z = self._coordinates()
        v = np.zeros(climber.nz)
        v[:3] = data.qvel[self.root_dofs]
        v[climber.joint_columns] = self._plant.limbs.link_rates(data.qvel[self._dofs], v[2])
        for i in np.flatnonzero(~self.attached):
            v[climber.foot_columns[i]] = (self.foot_jacobian(i) @ data.qvel)[:2]
        return StickybotState.unpacked(climber, z, v, self.attached)

    def hold(self, i: int) -> None:
        """
        Fix foot i to the wall where it is, by a plastic impact.

        The impact changes all rates by ``-M^-1 J^T (J M^-1 J^T)^-1 J v``, which leaves the foot at
        rest; springs and dampers transmit none of it.
        """
        model, data = self._model, self._data
        grip = self._grips[i]
        model.eq_data[grip, 3:6] = data.site_xpos[self.sites[i]]
        if not self.attached[i]:
            J = self.foot_jacobian(i)[:2]
            inverse = np.zeros((2, model.nv))
            mujoco.mj_solveM(model, data, inverse, J)
            data.qvel[:] -= inverse.T @ np.linalg.solve(J @ inverse.T, J @ data.qvel)
        data.eq_active[grip] = True
        self.attached[i] = True
        if self._pads is not None:
            direction = self._plant.pads[i].direction       # type: ignore[index]
            self._pad_angles[i] = data.qpos[self._root[2]] + (direction or 0.0)

    def let_go(self, i: int) -> None:
        """Take foot i off the wall."""
        self._data.eq_active[self._grips[i]] = False
        self.attached[i] = False

    def reactions(self) -> np.ndarray:
        """
        Return the wall's force on each foot, (N, 3) [N], wall axes, of the last dynamics.

        MuJoCo's robot moves in the wall's plane. Along the normal it is what statics and least
        squares give, by which pads let go.
        """
        data, climber = self._data, self._plant.climber
        all_forces = np.zeros((self._model.neq, 3))
        # Each constraint has three rows; its force acts on the foot.
        all_forces[data.efc_id[:data.ne:3]] = data.efc_force[:data.ne].reshape(-1, 3)
        force = all_forces[self._grips] @ self.R_WA
        self._forces[:, FORCE.reaction:FORCE.reaction + 2] = force[:, :2]
        normal_loads(climber.machine, self._balance, self.attached, self._coordinates(),
                     self._forces, self._normals)
        force[:, 2] = self._normals
        return force

    def overloaded(self) -> tuple[int, int]:
        """Return the first foot whose pad does not hold any more, and how; else (-1, HOLDS)."""
        if self._pads is None:
            return -1, HOLDS
        force = self.reactions()
        for i in np.flatnonzero(self.attached):
            how = pad_failure(self._pads[i], self._pad_angles[i], *force[i])
            if how != HOLDS:
                return int(i), how
        return -1, HOLDS

    def _coordinates(self) -> np.ndarray:
        climber, data, z = self._plant.climber, self._data, self._z
        z[:3] = data.qpos[self._root]
        z[climber.foot_columns] = (data.site_xpos[self.sites] @ self.R_WA)[:, :2]
        z[climber.joint_columns] = self._plant.limbs.link_angles(data.qpos[self._qpos], z[2])
        return z

    def foot_jacobian(self, i: int) -> np.ndarray:
        J = np.zeros((3, self._model.nv))
        mujoco.mj_jacSite(self._model, self._data, J, None, self.sites[i])
        return self.R_WA.T @ J


# -------------------------------------------------------------------------------------------------


# How often the pads' loads are looked at [s].
PAD_CHECK = 5e-4


class ClimbingRobot(SimulatedHardware):
    """
    A robot on a wall that hangs on its springs until its motors and feet are commanded.

    It starts with all feet on the wall and all springs relaxed, held for a moment. Without effort
    commands its motors deliver nothing and all its feet hold. A foot that let go, because its pad
    was overloaded or failed, stays off until it has been told to let go and to hold again.

    Parameters
    ----------
    plant : ClimbingPlant
        The robot.
    noise, seed, start_ns
        Of :class:`~legged_dynamics.simulation.hardware.SimulatedHardware`.

    Attributes
    ----------
    feet : _WallFeet

    """

    plant: ClimbingPlant
    _world, _feet = staticmethod(build_wall_world), _WallFeet

    def __init__(self, plant: ClimbingPlant, *, noise: bool = True, seed: int = 0,
                 start_ns: int = 0):
        super().__init__(plant, compiled(self._world(plant), plant.imu_link), noise=noise,
                         seed=seed, start_ns=start_ns)
        self.grips = plant.feet
        model = self.model
        self.base = model.body(plant.base_link).id
        self._height = model.joint(ROOT_JOINTS[1]).qposadr[0]
        self._per_check = (max(round(PAD_CHECK / plant.timestep), 1) if plant.pads else
                           self._substeps)
        self._wanted = np.ones(len(plant.feet), bool)
        self._lost = np.zeros(len(plant.feet), bool)
        self._fault = plant.fault
        self._events: list[FootEvent] = []
        mujoco.mj_forward(model, self.data)
        self.feet = self._feet(self)
        mujoco.mj_forward(model, self.data)

    @property
    def fallen(self) -> bool:
        """Whether no foot is on the wall."""
        return not self.feet.attached.any()

    @property
    def state(self) -> StickybotState:
        """The present state, as the planar equations have it."""
        return self.feet.state

    @property
    def climbed(self) -> float:
        """How far the body has gone up the wall since the start [m]."""
        return float(self.data.qpos[self._height])

    def command_grips(self, hold: Sequence[float]) -> None:
        """
        Tell each foot to hold on (above 0.5) or to let go, from the next step on.

        ``hold``: of each foot, whether it grips the wall (above 0.5) or lets go. Raises
        SimulationError when the length is wrong or a value is not finite; the command is not
        taken.
        """
        values = np.array(hold, dtype=float)
        if values.shape != self._wanted.shape or not np.isfinite(values).all():
            raise SimulationError(f'expected {self._wanted.size} finite values (one per foot, '
                                  f'{", ".join(self.grips)}), got {values.tolist()}')
        self._wanted = values > 0.5

    def release(self, foot: str) -> None:
        """
        Make a foot's pad fail once: it holds again when it is set again.

        ``foot``: number of the foot that fails.
        """
        i = self.grips.index(foot)
        self.feet.let_go(i)
        self._lost[i] = True
        self._note(i, FootEventKind.LOST)

    def take_events(self) -> list[FootEvent]:
        """Return which feet let go since the last call."""
        events, self._events = self._events, []
        return events

    def take_notes(self) -> list[str]:
        """Return the same for the log."""
        return [str(event) for event in self.take_events()]

    def _take_over(self) -> None:
        self._wanted[:], self._lost[:] = True, False

    def _advance(self, period: float) -> None:
        self.data.ctrl[:] = 0.0 if self._command is None else self._command
        self._obey()
        if self._fault is not None and self._fault.due(self.time, self.climbed) and (
                self.feet.attached[self.grips.index(self._fault.foot)]):
            self.release(self._fault.foot)
            self._fault = None
        done = 0
        while done < self._substeps:
            count = min(self._per_check, self._substeps - done)
            mujoco.mj_step(self.model, self.data, count)
            done += count
            if self.feet.limited and self.time >= self.plant.held:
                self._check_pads()

    def _obey(self) -> None:
        """Set and release feet as commanded; those that failed wait for a release."""
        self._lost &= self._wanted
        wanted = self._wanted & ~self._lost
        for i in np.flatnonzero(wanted != self.feet.attached):
            if wanted[i]:
                self.feet.hold(i)
            else:
                self.feet.let_go(i)

    def _check_pads(self) -> None:
        while True:
            foot, how = self.feet.overloaded()
            if how == HOLDS:
                return
            self.feet.let_go(foot)
            self._lost[foot] = True
            self._note(foot, FootEventKind.SLIPPED if how == SLIPS else FootEventKind.PEELED)

    def _note(self, foot: int, kind: FootEventKind) -> None:
        self._events.append(FootEvent(self.stamp_ns, self.plant.climber.limb_names[foot], kind))

    def truth(self) -> TrueState:
        """
        Return the exact state, motion and wall reactions of the same instant.

        Returns
        -------
        TrueState
            Of the present sample.

        """
        data, sites, root = self.data, self.feet.sites, self.feet.root_dofs
        R_WB, R_WA = data.xmat[self.base].reshape(3, 3), self.feet.R_WA
        force_W = self.feet.reactions() @ R_WA.T
        wrench = np.zeros((len(sites), 6))
        wrench[:, :3] = np.einsum('fij,fi->fj', data.site_xmat[sites].reshape(-1, 3, 3), force_W)
        attached = self.feet.attached
        point = np.where(attached[:, None], data.site_xpos[sites], np.nan)
        w, x, y, z = data.xquat[self.base]

        def in_base(rates: np.ndarray) -> np.ndarray:
            along = R_WA @ np.array([rates[0], rates[1], 0.0])
            return np.array([*(along @ R_WB), 0.0, 0.0, rates[2]])
        return TrueState(
            stamp_ns=self.stamp_ns, position=data.qpos[self._qpos], velocity=data.qvel[self._dofs],
            acceleration=data.qacc[self._dofs], effort=data.actuator_force.copy(),
            friction=np.zeros(len(self._dofs)), base_position=data.xpos[self.base].copy(),
            base_orientation=np.array([x, y, z, w]), base_velocity=in_base(data.qvel[root]),
            base_acceleration=in_base(data.qacc[root]),
            feet=FootContacts(wrench, attached.copy(), point, 0))

    def describe(self) -> str:
        """Return a few lines for people: mass, wall, motors, rates."""
        plant = self.plant
        noise = 'with sensor noise' if self._sensors else 'noise-free sensors'
        lean = np.degrees(plant.climber.wall.inclination)
        return (f'{plant.name}: {plant.climber.mass:.3f} kg on a wall of {lean:g} degrees, '
                f'{len(plant.joints)} motors, {len(plant.feet)} feet, '
                f'{"limited" if plant.pads else "unlimited"} pads\n'
                f'{plant.rate:g} Hz, physics at {1.0 / plant.timestep:g} Hz, {noise}')
