# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Reactions and contacts of feet as messages of legged_dynamics_msgs.

That package is optional: it has plain .msg files, of which the texts below are the fields. Where
there is no ROS 2 they come from here; on ROS 2 they are there when the package is built.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.conversions.building import header, vector3
from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.messages import define
from legged_dynamics.middleware.protocol import Dialect

PACKAGE = 'legged_dynamics_msgs'
DEFINITIONS = {
    'FootContacts': """
        std_msgs/Header header
        string[] feet
        bool[] contact
        float64[] probability""",
    'FootReaction': """
        string foot
        geometry_msgs/Wrench wrench
        geometry_msgs/Wrench deviation
        geometry_msgs/Vector3 base_force
        bool contact
        bool observable
        float64 contact_probability""",
    'FootReactions': """
        std_msgs/Header header
        FootReaction[] feet
        geometry_msgs/Wrench net_wrench""",
}
CONTACTS, REACTION, REACTIONS = (f'{PACKAGE}/msg/{name}' for name in DEFINITIONS)
# By their full names, for recorders.
OWN = {f'{PACKAGE}/msg/{name}': '\n'.join(line.strip() for line in text.splitlines() if line)
       for name, text in DEFINITIONS.items()}
for _name, _text in OWN.items():
    define(_name, _text)


def installed(dialect: Dialect) -> bool:
    """
    Return whether messages of legged_dynamics_msgs can be published.

    Parameters
    ----------
    dialect : Dialect
        Backend of the node.

    Returns
    -------
    bool
        False on ROS 2 without the package.

    """
    try:
        dialect.message(REACTIONS)
    except MiddlewareError:
        return False
    return True


def foot_contacts(dialect: Dialect, reaction: GroundReaction, base: str) -> Any:
    """
    Return the contacts of an estimate as one stamped message.

    Parameters
    ----------
    dialect : Dialect
        Backend whose message class is used.
    reaction : GroundReaction
        The estimate.
    base : str
        Base link.

    Returns
    -------
    legged_dynamics_msgs/FootContacts
        At the stamp of the newest joint state.

    """
    return dialect.message(CONTACTS)(
        header=header(dialect, reaction.latest_ns, base), feet=list(reaction.feet),
        contact=[bool(down) for down in reaction.latest_contact],
        probability=[float(value) for value in reaction.contact_probability])


def foot_reactions(dialect: Dialect, reaction: GroundReaction, base: str) -> Any:
    """
    Return the reactions of an estimate as one stamped message.

    Parameters
    ----------
    dialect : Dialect
        Backend whose message class is used.
    reaction : GroundReaction
        The estimate.
    base : str
        Base link.

    Returns
    -------
    legged_dynamics_msgs/FootReactions
        At the stamp of the newest joint state; deviations of components that a foot does not
        transmit are zero.

    """
    message = dialect.message(REACTIONS)(header=header(dialect, reaction.latest_ns, base))
    made = dialect.message(REACTION)
    in_base = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.wrench[:, :3])
    feet = []
    for i, foot in enumerate(reaction.feet):
        variance = np.diagonal(reaction.covariance_of(foot, latest=True))
        deviation = np.zeros(6)
        deviation[:len(variance)] = np.sqrt(np.clip(variance, 0.0, None))
        feet.append(made(
            foot=foot, wrench=_wrench(dialect, reaction.wrench[i]),
            deviation=_wrench(dialect, deviation), base_force=vector3(dialect, in_base[i]),
            contact=bool(reaction.latest_contact[i]), observable=bool(reaction.observable[i]),
            contact_probability=float(reaction.contact_probability[i])))
    message.feet = feet
    message.net_wrench = _wrench(dialect, np.nan_to_num(reaction.net_wrench))
    return message


def _wrench(dialect: Dialect, values: np.ndarray) -> Any:
    return dialect.message('geometry_msgs/msg/Wrench')(
        force=vector3(dialect, values[:3]), torque=vector3(dialect, values[3:]))
