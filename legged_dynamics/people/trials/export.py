# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Results of a trial as CSV, a data frame, a bag, and files of OpenSim."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from legged_dynamics.exceptions import OutputError, reraised
from legged_dynamics.people.opensim.reader import TO_OURS
from legged_dynamics.people.trials.analysis import GaitResult
from legged_dynamics.people.trials.c3d import write_trc
from legged_dynamics.people.trials.coordinates import write_storage
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.series import WRENCH as COMPONENTS
from legged_dynamics.recordings.series import XYZ, columns_of
from legged_dynamics.recordings.topics import BOOL, JOINT_STATE, ODOMETRY, STRING, WRENCH
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.spatial.rotations import quaternion_from_rotation

if TYPE_CHECKING:
    import pandas

POINT = 'geometry_msgs/msg/PointStamped'


def _table_of(result: GaitResult) -> dict[str, np.ndarray]:
    """Return the columns that `write_csv` writes."""
    r = result.reactions
    columns = {'time': result.motion.time,
               **columns_of('', r.joint_effort, result.model.joint_names)}
    for i, foot in enumerate(r.feet):
        columns |= {
            f'{foot}_contact': r.contact[:, i].astype(float),
            **columns_of(f'{foot}_', r.wrench[:, i], COMPONENTS),
            **columns_of(f'{foot}_world_', r.force[:, i], COMPONENTS[:3]),
            **columns_of(f'{foot}_world_', r.deviation[:, i], ('fx_sd', 'fy_sd', 'fz_sd')),
            f'{foot}_contact_probability': r.probability[:, i],
            **columns_of(f'{foot}_cop_', r.center_of_pressure[:, i], XYZ)}
    return {**columns, **columns_of('root_', r.root_residual, COMPONENTS),
            'supported': r.supported.astype(float)}


def write_csv(result: GaitResult, path: Path) -> None:
    """
    Write one row for each instant.

    ``<joint>`` is the torque or force of muscles or motors [N m or N];
    ``<foot>_fx .. _mz`` the wrench of the ground on the foot, in the foot's axes about its
    frame's origin [N, N m]; ``<foot>_world_fx ..`` its force in world axes, and
    ``<foot>_world_fx_sd ..`` the standard deviations of that; ``<foot>_cop_x ..`` its centre of
    pressure in the world [m], nan without load; ``<foot>_contact`` 1 on the ground, and
    ``<foot>_contact_probability`` how likely that is; ``root_..`` what no foot can explain, in
    world axes about the base's origin; ``supported`` 0 where something other than the feet must
    carry load.

    Parameters
    ----------
    result : GaitResult
        The recording, analysed.
    path : Path
        File to write.

    Raises
    ------
    OutputError
        When the file cannot be written.

    """
    columns = _table_of(result)
    with reraised(OutputError, f'cannot write {path}'):
        np.savetxt(path, np.column_stack(list(columns.values())), fmt='%.9g', delimiter=',',
                   header=','.join(columns), comments='', encoding='utf-8')


def to_pandas(result: GaitResult) -> pandas.DataFrame:
    """
    Return the columns that `write_csv` writes as a DataFrame over time (extra `tables`).

    Parameters
    ----------
    result : GaitResult
        The recording, analysed.

    Returns
    -------
    pandas.DataFrame
        Source, model, mass and method in its `attrs`.

    """
    import pandas

    frame = pandas.DataFrame(_table_of(result)).set_index('time')
    frame.attrs = {'source': str(result.source), 'model': result.model.name,
                   'mass_kg': result.model.total_mass, 'method': result.method}
    return frame


def write_bag(result: GaitResult, path: Path, description: str = '',
              storage: str = 'mcap') -> None:
    """
    Write a bag: joint_states with effort, odom, ``<foot>/wrench``, ``contact``, ``pressure``.

    Parameters
    ----------
    result : GaitResult
        What to write.
    path : Path
        Folder to make.
    description : str
        URDF for ``robot_description``; none when empty.
    storage : {'mcap', 'sqlite3'}
        Of the bag.

    Raises
    ------
    BagError
        When the folder exists or cannot be written.

    """
    r, motion, dialect = result.reactions, result.motion, StandaloneDialect()
    with BagWriter(path, storage) as bag:
        bag.add_topic('/robot_description', STRING, latched=True)
        bag.add_topic('/joint_states', JOINT_STATE)
        bag.add_topic('/odom', ODOMETRY)
        for foot in r.feet:
            bag.add_topic(f'/{foot}/wrench', WRENCH)
            bag.add_topic(f'/{foot}/contact', BOOL)
            bag.add_topic(f'/{foot}/pressure', POINT)
        stamps = result.stamps.tolist()
        if description:
            bag.write_message('/robot_description', stamps[0],
                              convert.string(dialect, description))
        velocity = np.gradient(motion.base_position, motion.step, axis=0)
        for t, ns in enumerate(stamps):
            bag.write_message('/joint_states', ns, convert.joint_state(
                dialect, ns, result.model.joint_names, motion.position[t], motion.velocity[t],
                r.joint_effort[t]))
            R_WB = motion.base_rotation[t]
            bag.write_message('/odom', ns, convert.odometry(
                dialect, ns, 'world', result.model.base_link, motion.base_position[t],
                quaternion_from_rotation(R_WB), R_WB.T @ velocity[t], motion.base_motion[t, :3]))
            for i, foot in enumerate(r.feet):
                bag.write_message(f'/{foot}/wrench', ns, convert.wrench_stamped(
                    dialect, ns, foot, r.wrench[t, i]))
                bag.write_message(f'/{foot}/contact', ns, convert.boolean(
                    dialect, r.contact[t, i]))
                if np.isfinite(r.center_of_pressure[t, i]).all():
                    bag.write_message(f'/{foot}/pressure', ns, convert.point_stamped(
                        dialect, ns, 'world', r.center_of_pressure[t, i]))


# -------------------------------------------------------------------------------------------------
# External loads, joint moments and frames as OpenSim reads them.
#
# OpenSim's ground has y up and z to the right; ours has z up and y to the left. An external load
# is the force of the ground, its centre of pressure, and the free moment there, in the ground's
# axes.


LOADS = 'external_loads.mot'
LOADS_XML = 'external_loads.xml'
MOMENTS = 'inverse_dynamics.sto'
FRAMES = 'frames.trc'


def write_opensim(result: GaitResult, folder: Path) -> list[Path]:
    """
    Write external loads, joint moments and the positions of the links for OpenSim.

    The loads act on the bodies that carry the soles of an OpenSim model, or else on bodies named
    as the feet's links: where they have other names, change `applied_to_body` in the XML file.

    Parameters
    ----------
    result : GaitResult
        The recording, analysed.
    folder : Path
        Where to write.

    Returns
    -------
    list of Path
        The files.

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
            columns.append(values @ TO_OURS)        # turned back
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
    with reraised(OutputError, f'cannot write {applied}'):
        ElementTree.ElementTree(document).write(applied, encoding='utf-8', xml_declaration=True)
    links = [name for name in result.model.frames if not name.endswith('_link')]
    write_trc(folder / FRAMES, result.motion.time, links,
              result.dynamics.link_positions(links) @ TO_OURS)
    return [loads, applied, moments, folder / FRAMES]
