# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
External loads, joint moments and frames as OpenSim reads them.

OpenSim's ground has y up and z to the right; ours z up and y to the left. External loads are the
force of the ground, where it presses, and the free moment there, all in the ground's axes.
"""
from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from legged_dynamics.analysis.biomechanics.storage import write_storage
from legged_dynamics.analysis.biomechanics.trc import write_trc
from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.dynamics.kinematics import (
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.exceptions import OutputError

LOADS, LOADS_XML, MOMENTS = 'external_loads.mot', 'external_loads.xml', 'inverse_dynamics.sto'
FRAMES = 'frames.trc'
# Rows: OpenSim's x, y, z in our axes.
TO_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def write_opensim(result: GaitResult, folder: Path) -> list[Path]:
    """
    Write external loads with the file that applies them, joint moments, and the links' places.

    The loads act on the bodies that carry the soles of an OpenSim model, or else on those named as
    the feet's links: where they are called otherwise, change `applied_to_body` in the XML file.

    Raises
    ------
    OutputError
        When a file cannot be written.

    """
    r, time = result.reactions, result.motion.time[:, None]
    names, columns = ['time'], [time]
    moment = np.einsum('nfij,nfj->nfi', r.foot_rotation, r.wrench[..., 3:])
    pressed = np.isfinite(r.center_of_pressure).all(axis=2)
    for i, foot in enumerate(r.feet):
        on = pressed[:, i, None]
        force = np.where(on, r.force[:, i], 0.0)
        point = np.where(on, r.center_of_pressure[:, i], 0.0)
        free = np.where(on, moment[:, i] + np.cross(r.foot_position[:, i] - point, force), 0.0)
        for part, values in (('force_v', force), ('force_p', point), ('torque_', free)):
            names += [f'{foot}_{part}{axis}' for axis in 'xyz']
            columns.append(values @ TO_OPENSIM.T)
    loads = folder / LOADS
    write_storage(loads, loads.name, names, np.hstack(columns))
    moments = folder / MOMENTS
    units = ['force' if joint.kind == 'prismatic' else 'moment' for joint in result.model.joints]
    write_storage(moments, 'Inverse Dynamics Generalized Forces',
                  ['time', *(f'{name}_{unit}' for name, unit in zip(result.model.joint_names,
                                                                    units))],
                  np.hstack([time, r.joint_effort]))
    applied = folder / LOADS_XML
    document = ElementTree.Element('OpenSimDocument', Version='40000')
    every = ElementTree.SubElement(document, 'ExternalLoads', name='legged_dynamics')
    objects = ElementTree.SubElement(every, 'objects')
    for foot in r.feet:
        load = ElementTree.SubElement(objects, 'ExternalForce', name=foot)
        for tag, text in (('applied_to_body', result.bodies.get(foot, foot)),
                          ('force_expressed_in_body', 'ground'),
                          ('point_expressed_in_body', 'ground'),
                          ('force_identifier', f'{foot}_force_v'),
                          ('point_identifier', f'{foot}_force_p'),
                          ('torque_identifier', f'{foot}_torque_')):
            ElementTree.SubElement(load, tag).text = text
    ElementTree.SubElement(every, 'datafile').text = LOADS
    ElementTree.indent(document)
    try:
        ElementTree.ElementTree(document).write(applied, encoding='utf-8', xml_declaration=True)
    except OSError as error:
        raise OutputError(f'cannot write {applied}: {error}') from error
    links = [name for name in result.model.frames if not name.endswith('_link')]
    write_trc(folder / FRAMES, result.motion.time, links, _places(result, links) @ TO_OPENSIM.T)
    return [loads, applied, moments, folder / FRAMES]


def _places(result: GaitResult, links: list[str]) -> np.ndarray:
    """Return where the origins of links are in the world, (n, k, 3) [m]."""
    model, motion = result.model, result.motion
    bodies, at = body_workspace(model), np.empty((len(motion), len(links), 3))
    frames = [model.frame(link) for link in links]
    zero, still = np.zeros(model.nv), np.zeros(9)
    for t in range(len(motion)):
        forward_kinematics(model.tree, motion.position[t], zero, zero, still, bodies)
        R = bodies[:, ROTATION:ROTATION + 9].reshape(-1, 3, 3)
        p = bodies[:, POSITION:POSITION + 3]
        in_base = np.array([p[body] + R[body] @ pose.p for body, pose in frames])
        at[t] = motion.base_position[t] + in_base @ motion.base_rotation[t].T
    return at
