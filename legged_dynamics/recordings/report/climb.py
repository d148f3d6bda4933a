# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report of a recorded climb: the controller's forces of the wall against the wall's own."""
from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from legged_dynamics.pages.page import Chart, Line, Table, shown
from legged_dynamics.pages.section import Cards, ChartRow, Listing, Report, ReportSection
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import PoseRecord, WrenchRecord
from legged_dynamics.recordings.topics import ODOMETRY, STRING, WRENCH

GRIPS = '/adhesion_controller/commands'
TRUTH = '/ground_truth/'
LOADED = 0.02       # N: a foot with less is off the wall


@dataclass(eq=False)
class RecordedClimb:
    """Forces of the wall by foot, poses of the body, margins of pads, and what happened."""

    path: Path
    truth: dict[str, WrenchRecord] = field(default_factory=lambda: defaultdict(WrenchRecord))
    said: dict[str, WrenchRecord] = field(default_factory=lambda: defaultdict(WrenchRecord))
    margin: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    true_pose: PoseRecord = field(default_factory=PoseRecord)
    pose: PoseRecord = field(default_factory=PoseRecord)
    events: list[str] = field(default_factory=list)

    @property
    def main(self) -> dict[str, WrenchRecord]:
        """Return the true forces, or the controller's where there are no true ones."""
        return self.truth or self.said

    @property
    def speed(self) -> float:
        """Return the body's mean speed over the second half [m/s], along its way."""
        pose = self.true_pose if len(self.true_pose) else self.pose
        if len(pose) < 2:
            return math.nan
        at, stamps, half = pose.position.values, pose.stamp_ns.values, len(pose) // 2
        seconds = (stamps[-1] - stamps[half]) * 1e-9
        return float(np.linalg.norm(at[-1] - at[half])) / max(seconds, 1e-9)

    @property
    def lost(self) -> list[str]:
        """Return the events of feet that let go."""
        return [event for event in self.events
                if 'no longer holds' in event or 'has left the wall' in event]


def is_climb(bag: BagReader) -> bool:
    """Return whether a recording has the grips of a climbing robot, and forces."""
    return (any(name.endswith(GRIPS) and topic.count for name, topic in bag.topics.items())
            and any(name.endswith('/wrench') for name in bag.of_type(WRENCH)))


def read_climb(bag: BagReader) -> RecordedClimb:
    """Return what a recording tells of a climb."""
    found = RecordedClimb(bag.path)
    takers = {}
    for name in bag.of_type(WRENCH):
        foot, kind = name.split('/')[-2:]
        if kind == 'wrench':
            takers[name] = (found.truth if TRUTH in name else found.said)[foot].append
    for name in bag.of_type(ODOMETRY):
        takers[name] = (found.true_pose if TRUTH in name else found.pose).append
    for message in bag.messages():
        if message.topic in takers:
            takers[message.topic](bag.decode(message), message.receipt_ns)
        elif message.topic.endswith('/margin'):
            found.margin[message.topic.split('/')[-2]].append(bag.decode(message).data)
        elif message.topic.endswith('/events') and bag.topics[message.topic].type == STRING:
            found.events.append(bag.decode(message).data)
    return found


def _size(record: WrenchRecord) -> np.ndarray:
    return np.hypot(record.wrench.values[:, 0], record.wrench.values[:, 1])


def climb_table(climb: RecordedClimb) -> Table:
    """Return a row a foot: forces in the wall's plane and along its normal, errors, margin."""
    rows = []
    for foot, record in sorted(climb.main.items()):
        size, wrench = _size(record), record.wrench.values
        on = np.abs(wrench[:, :3]).max(axis=1) > LOADED
        error = np.full((1, 6), np.nan)
        if foot in climb.truth and foot in climb.said:
            error = climb.said[foot].at(record.stamp_ns.values) - wrench
        along, off = (float(np.sqrt(np.nanmean(part ** 2))) if np.isfinite(part).any() else
                      math.nan for part in (error[:, :2], error[:, 2]))
        least = min(climb.margin.get(foot, ()), default=math.nan)
        rows.append((foot.removesuffix('_foot').replace('_', ' '), f'{100 * on.mean():.0f}',
                     f'{size.max():.2f}', f'{size[on].mean() if on.any() else math.nan:.2f}',
                     f'{-wrench[:, 2].min():.2f}', shown(along, '.3f'), shown(off, '.3f'),
                     shown(100 * least, '.0f')))
    whose = 'the wall itself (truth)' if climb.truth else 'the controller'
    return Table(f'Forces of the wall on the feet, foot axes, by {whose}', (
        'foot', 'on the wall [% of time]', 'peak in the plane [N]', 'mean in the plane [N]',
        'largest pull off the wall [N]', "controller's error in the plane, rms [N]",
        'along the normal, rms [N]', 'least margin of the pad [%]'), rows)


def verdict(climb: RecordedClimb) -> str:
    """Return in a sentence how the climb went."""
    peak, foot = max((float(_size(record).max()), foot) for foot, record in climb.main.items())
    lost = (f'feet lost: {len(climb.lost)}, first: {climb.lost[0]}' if climb.lost else
            'no foot was lost')
    return (f'A climb: {100.0 * climb.speed:.2f} cm/s; the largest force of the wall in its plane '
            f'is {peak:.2f} N, on {foot.replace("_", " ")}; {lost}.')


def write_recorded_climb(climb: RecordedClimb, out: Path, command: str) -> Path:
    """Write the report of a recorded climb; return its path."""
    charts = []
    for i, (foot, record) in enumerate(sorted(climb.main.items())):
        time = (record.stamp_ns.values - record.stamp_ns.values[0]) * 1e-9
        lines = [Line('by the wall (truth)' if climb.truth else 'by the controller',
                      _size(record), -1 if climb.truth else i)]
        if climb.truth and foot in climb.said:
            of_node = climb.said[foot].at(record.stamp_ns.values)
            lines.append(Line('by the controller', np.hypot(of_node[:, 0], of_node[:, 1]), i))
        charts.append(Chart(foot.replace('_', ' '), '|F| in the plane [N]', time, lines))
    sections = [
        ReportSection('', [Cards([(f'{100.0 * climb.speed:.2f} cm/s', 'speed, second half')])]),
        ReportSection('Forces of the wall', [
            climb_table(climb), *(ChartRow([chart]) for chart in charts)]),
        ReportSection('Feet', [Listing(climb.events or ['nothing was said of them'])])]
    report = Report(f'Recorded climb: {climb.path.name}',
                    'Feet on a wall may be pulled: the forces are those of the climbing '
                    'controller and of the wall itself, not of the ground-reaction estimator.',
                    sections, command, verdict(climb), judged=False)
    return report.write(out)
