# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A copy of a bag with the estimates in it, for rviz and other tools."""
from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.estimation import GroundReaction
from legged_dynamics.exceptions import BagError, OutputError, reraised
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagMessage, BagReader
from legged_dynamics.recordings.topics import BOOL, JOINT_STATE, WRENCH
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import reaction_picture
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

PREFIX = '/replay'
MARKER_PERIOD_NS = 33_333_333


class EnrichedBag:
    """
    Writes all messages of a bag, and in addition what was estimated from them.

    ``/replay/<foot>/wrench`` and others, each at the receipt of the message that completed
    it; ``/replay/markers`` at 30 Hz, contacts on change and with each marker.
    """

    def __init__(self, path: Path, bag: BagReader, feet: Sequence[str], base: str,
                 storage: str = 'mcap'):
        self._writer = BagWriter(path, storage)
        self._dialect = StandaloneDialect()
        self._base = base
        self._next_marker_ns = 0
        self._contact = np.zeros(len(feet), bool)
        self._copied: set[str] = set()
        for topic in bag.topics.values():
            # A bag may be enriched again; a message without definition could not be read.
            if topic.name.startswith(f'{PREFIX}/'):
                continue
            with suppress(BagError):
                self._writer.add_topic(topic.name, topic.type, latched=topic.latched,
                                       definition=topic.definition, type_hash=topic.type_hash)
                self._copied.add(topic.name)
        self._wrenches = [f'{PREFIX}/{foot}/wrench' for foot in feet]
        self._contacts = [f'{PREFIX}/{foot}/contact' for foot in feet]
        for kind, names in ((WRENCH, [*self._wrenches, f'{PREFIX}/net_wrench']),
                            (BOOL, self._contacts),
                            ('geometry_msgs/msg/PointStamped', [f'{PREFIX}/center_of_pressure']),
                            (JOINT_STATE, [f'{PREFIX}/external_torque']),
                            ('visualization_msgs/msg/MarkerArray', [f'{PREFIX}/markers'])):
            for name in names:
                self._writer.add_topic(name, kind)

    def __enter__(self) -> EnrichedBag:
        """Return the bag, which is open already."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Finish the bag."""
        self._writer.close()

    def copy(self, message: BagMessage) -> None:
        """Copy a message byte for byte; one of an unknown type is left out."""
        if message.topic in self._copied:
            self._writer.write(message.topic, message.receipt_ns, message.cdr)

    def add(self, reaction: GroundReaction, receipt_ns: int) -> None:
        """Write an estimate; ``receipt_ns`` of the message that completed it."""
        dialect, ns, write = self._dialect, reaction.latest_ns, self._writer.write_message
        wrench, contact = reaction.wrench, reaction.latest_contact
        marked = not self._next_marker_ns - 2_000_000_000 < ns < self._next_marker_ns
        for i, foot in enumerate(reaction.feet):
            write(self._wrenches[i], receipt_ns,
                  convert.wrench_stamped(dialect, ns, foot, wrench[i]))
            if marked or contact[i] != self._contact[i]:
                write(self._contacts[i], receipt_ns, convert.boolean(dialect, contact[i]))
        self._contact = contact
        write(f'{PREFIX}/net_wrench', receipt_ns,
              convert.wrench_stamped(dialect, ns, self._base, reaction.net_wrench))
        center, torque = reaction.center_of_pressure, reaction.external_torque
        if np.isfinite(center).all():
            write(f'{PREFIX}/center_of_pressure', receipt_ns,
                  convert.point_stamped(dialect, ns, self._base, center))
        known = np.isfinite(torque)
        if known.any():
            names = [name for name, there in zip(reaction.joints, known) if there]
            write(f'{PREFIX}/external_torque', receipt_ns,
                  convert.joint_state(dialect, ns, names, effort=torque[known]))
        if marked:
            self._next_marker_ns = ns + MARKER_PERIOD_NS
            write(f'{PREFIX}/markers', receipt_ns,
                  reaction_picture(dialect, reaction, self._base, text=True))


# -------------------------------------------------------------------------------------------------
# Layouts of Foxglove and PlotJuggler for an enriched bag.


FOXGLOVE = 'foxglove_layout.json'
PLOTJUGGLER = 'plotjuggler_layout.xml'
_COLORS = ('#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#e377c2', '#17becf')


def write_layouts(folder: Path, feet: Sequence[str], base: str) -> None:
    """Write a layout for each program into an existing folder."""
    with reraised(OutputError, f'cannot write the layouts into {folder}'):
        (folder / FOXGLOVE).write_text(json.dumps(_foxglove(feet, base), indent=1) + '\n',
                                       encoding='utf-8')
        (folder / PLOTJUGGLER).write_text(_plotjuggler(feet), encoding='utf-8')


def _curves(feet: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the curves of each plot."""
    forces = [(f'{PREFIX}/{foot}/wrench', 'wrench.force.{}') for foot in feet]
    return {'vertical force [N]': [(topic, field.format('z')) for topic, field in forces],
            'forward force [N]': [(topic, field.format('x')) for topic, field in forces],
            'contact': [(f'{PREFIX}/{foot}/contact', 'data') for foot in feet],
            'net force [N]': [(f'{PREFIX}/net_wrench', f'wrench.force.{axis}')
                              for axis in 'xyz']}


def _foxglove(feet: Sequence[str], base: str) -> dict[str, Any]:
    plots = {f'Plot!{number}': {
        'title': title, 'showLegend': True, 'legendDisplay': 'floating', 'isSynced': True,
        'xAxisVal': 'timestamp', 'paths': [
            {'value': f'{topic}.{field}', 'enabled': True, 'timestampMethod': 'receiveTime',
             'color': _COLORS[i % len(_COLORS)], 'label': topic.split('/')[2]}
            for i, (topic, field) in enumerate(paths)]}
        for number, (title, paths) in enumerate(_curves(feet).items())}
    scene = {'cameraState': {'distance': 2.5, 'phi': 65, 'thetaOffset': 45, 'perspective': True},
             'followMode': 'follow-pose', 'followTf': base, 'scene': {},
             'topics': {f'{PREFIX}/markers': {'visible': True}},
             'layers': {'grid': {'layerId': 'foxglove.Grid', 'instanceId': 'grid',
                                 'visible': True, 'size': 10, 'divisions': 20},
                        'urdf': {'layerId': 'foxglove.Urdf', 'instanceId': 'urdf',
                                 'visible': True, 'sourceType': 'topic',
                                 'topic': '/robot_description'}}}
    layout: Any = f'Plot!{len(plots) - 1}'
    for number in reversed(range(len(plots) - 1)):
        layout = {'direction': 'column', 'first': f'Plot!{number}', 'second': layout,
                  'splitPercentage': 100.0 / (len(plots) - number)}
    return {'configById': {'3D!scene': scene, **plots}, 'globalVariables': {}, 'userNodes': {},
            'playbackConfig': {'speed': 1},
            'layout': {'direction': 'row', 'first': '3D!scene', 'second': layout,
                       'splitPercentage': 55}}


def _plotjuggler(feet: Sequence[str]) -> str:
    plots = _curves(feet)
    areas = ''.join(
        f'   <DockArea name="{title}">\n    <plot mode="TimeSeries" style="Lines" flip_x="false" '
        'flip_y="false">\n' + ''.join(
            f'     <curve name="{topic}/{field.replace(".", "/")}" '
            f'color="{_COLORS[i % len(_COLORS)]}"/>\n' for i, (topic, field) in enumerate(paths))
        + '    </plot>\n   </DockArea>\n' for title, paths in plots.items())
    sizes = ';'.join([f'{1.0 / len(plots):.3f}'] * len(plots))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<root>
 <tabbed_widget name="Main Window" parent="main_window">
  <Tab tab_name="ground reactions" containers="1">
   <Container><DockSplitter orientation="-" count="{len(plots)}" sizes="{sizes}">
{areas}   </DockSplitter></Container>
  </Tab>
  <currentTabIndex index="0"/>
 </tabbed_widget>
 <use_relative_time_offset enabled="1"/>
</root>
"""
