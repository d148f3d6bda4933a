# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Layouts of Foxglove and PlotJuggler that show an enriched bag without further clicking."""
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from legged_dynamics.analysis.enriched import PREFIX
from legged_dynamics.exceptions import OutputError

FOXGLOVE, PLOTJUGGLER = 'foxglove_layout.json', 'plotjuggler_layout.xml'
_COLORS = ('#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#e377c2', '#17becf')


def write_layouts(folder: Path, feet: Sequence[str], base: str) -> None:
    """
    Write a layout for each program into a folder.

    Parameters
    ----------
    folder : Path
        One that exists.
    feet : sequence of str
        Links, as they stand in the topics.
    base : str
        Base link, which the picture follows.

    Raises
    ------
    OutputError
        When they cannot be written.

    """
    tree = ElementTree.ElementTree(_plotjuggler(feet))
    ElementTree.indent(tree)
    try:
        (folder / FOXGLOVE).write_text(json.dumps(_foxglove(feet, base), indent=1) + '\n',
                                       encoding='utf-8')
        tree.write(folder / PLOTJUGGLER, encoding='utf-8', xml_declaration=True)
    except OSError as error:
        raise OutputError(f'cannot write the layouts into {folder}: {error}') from error


def curves(feet: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return (topic, field with dots between) of the curves of each plot, by the plot's title."""
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
        for number, (title, paths) in enumerate(curves(feet).items())}
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


def _plotjuggler(feet: Sequence[str]) -> ElementTree.Element:
    root = ElementTree.Element('root')
    tabs = ElementTree.SubElement(root, 'tabbed_widget',
                                  {'name': 'Main Window', 'parent': 'main_window'})
    tab = ElementTree.SubElement(tabs, 'Tab', tab_name='ground reactions', containers='1')
    plots = curves(feet)
    splitter = ElementTree.SubElement(
        ElementTree.SubElement(tab, 'Container'), 'DockSplitter', orientation='-',
        count=str(len(plots)), sizes=';'.join([f'{1.0 / len(plots):.3f}'] * len(plots)))
    for title, paths in plots.items():
        area = ElementTree.SubElement(splitter, 'DockArea', name=title)
        plot = ElementTree.SubElement(area, 'plot', mode='TimeSeries', style='Lines',
                                      flip_x='false', flip_y='false')
        for i, (topic, field) in enumerate(paths):
            ElementTree.SubElement(plot, 'curve', name=f'{topic}/{field.replace(".", "/")}',
                                   color=_COLORS[i % len(_COLORS)])
    ElementTree.SubElement(tabs, 'currentTabIndex', index='0')
    ElementTree.SubElement(root, 'use_relative_time_offset', enabled='1')
    return root
