# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Friction of all joints as an alternative explanation of torque residuals.

Where joints have more friction than the YAML states, the residuals of torques follow the motion of
each joint, and are anything up to the dry friction while it rests. A wrong sign or scale explains
a little of that, and would be offered as a fix that spoils a good torque. It is therefore compared
with friction of a part of the effort limit in every joint, dry and viscous. Dry friction both
shifts the expected torque and widens its tolerance, and the density of a wider tolerance is lower.
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.doctor.evidence import Evidence, Likelihood
from legged_dynamics.doctor.hypotheses import RARE
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Parts of the effort limit: dry, and viscous at FAST.
DRY = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
VISCOUS = (0.01, 0.02, 0.05, 0.1)
FAST = 2.0              # rad/s: a leg that swings


@dataclass(frozen=True, eq=False)
class Friction:
    """
    Friction of the joints beyond that of a configuration.

    Attributes
    ----------
    config : RobotConfig
        With the friction.
    dry, viscous : float
        Beyond what the YAML states, as parts of each joint's effort limit; the viscous one at
        `FAST`.
    rank : float
        Log of how much likelier that is than the configuration, prior odds included.
    evidence : Evidence
        On the configuration with the friction.

    """

    config: RobotConfig
    dry: float
    viscous: float
    rank: float
    evidence: Evidence

    @property
    def text(self) -> str:
        """The friction in one sentence."""
        parts = [f'dry friction of about {100.0 * self.dry:.0f} %'] if self.dry else []
        if self.viscous:
            parts.append(f'viscous friction of about {100.0 * self.viscous:.0f} % at {FAST:g} '
                         'rad/s')
        return (f'The joints rub more than the YAML says: {" and ".join(parts)} of the effort '
                'limits explains the torques.')


def likeliest_friction(likelihood: Likelihood, model: RobotModel, config: RobotConfig,
                       now: Evidence, stated: RobotConfig, largest: np.ndarray) -> Friction:
    """
    Return the friction that explains most.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood on the recording.
    model, config : RobotModel, RobotConfig
        With the corrections so far.
    now : Evidence
        On that configuration.
    stated : RobotConfig
        As the YAML has it; friction is in addition to its friction.
    largest : (nj,) array [N m or N]
        Largest effort that was recorded; stands for the limit of a joint that has none.

    Returns
    -------
    Friction

    """
    joints = stated.apply_to(model).joints
    limit = np.array([joint.effort for joint in joints], float)
    limit = np.where(np.isfinite(limit) & (limit > 0.0), limit, largest)
    here = likelihood.effort_tolerance(config)

    def weighed(dry: float, viscous: float) -> Friction:
        names = model.joint_names
        order = [names.index(name) for name in config.joints or names]
        rubbing = [joints[i].friction + dry * limit[i] for i in order]
        damping = [joints[i].damping + viscous * limit[i] / FAST for i in order]
        rubs = replace(config, joint_friction=tuple(map(float, rubbing)),
                       joint_damping=tuple(map(float, damping)))
        evidence = likelihood.evaluate(rubs)
        wider = np.log(likelihood.effort_tolerance(rubs) / here).sum() / (6 + len(here))
        price = now.count * now.dimensions.get('balance', 0.0) * float(wider)
        return Friction(rubs, dry, viscous, evidence.score - now.score - price - RARE, evidence)

    best = max((weighed(part, 0.0) for part in DRY), key=lambda found: found.rank)
    return max([best, *(weighed(dry, part) for part in VISCOUS for dry in {best.dry, 0.0})],
               key=lambda found: found.rank)


def changes_torques(before: RobotConfig, after: RobotConfig) -> bool:
    """
    Tell whether a fix changes torques, or the masses that they are compared with.

    Parameters
    ----------
    before, after : RobotConfig
        Without and with the fix.

    Returns
    -------
    bool

    """
    old, new = before.sensors, after.sensors
    return (old.effort_scale != new.effort_scale or old.rename_effort != new.rename_effort
            or before.payload != after.payload
            or before.center_of_mass_offset != after.center_of_mass_offset)
