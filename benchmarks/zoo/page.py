# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""All of the zoo as one page: one row a scenario, estimators side by side."""
from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.zoo.foreign import Foreign
from benchmarks.zoo.scenarios import SCENARIOS, Scenario
from benchmarks.zoo.tables import PHASE_COLUMNS, WORST, markdown

OTHERS = """On line: the sample before, and the newest. **Says**: mode and faults that came along.
"""
COVERAGE = """Error over deviation, and how many errors the 95 % bars hold: of feet that are up,
that stand alone, that stand with others, and in the first 0.1 s after a change of their contact.
"""
STRANGERS = """Robots that were not there when the estimator was made (A1, Laikago, ANYmal B and C,
one with an arm that swings, Bolt, Romeo); gaits with flight (pronk, run), pace, bound, a slow
crawl, turning, side steps; feet that scuff, are lifted and tap; friction of 0.25 and 0.35 that the
controller takes for 0.8, ground that gives 25 mm, a plate that tilts by 8 deg, stairs of 6 cm; a
robot that a hand lifts, or lets go in the air, or that sits on its body: what hand and ground bear
there is the external wrench; 50 ms without samples every 1.3 s; from 3 s on a knee's torque that
is zero, or stays what it was; a leg whose torques are zero. The last two were looked at last.
"""
GROUPS = {
    'Other robots, gaits, grounds and faults': lambda s: isinstance(s, Foreign),
    'Standing': lambda s: not s.stepping and not s.disturbed,
    'Flat ground': lambda s: s.stepping and not (s.slope or s.across or s.stair or s.disturbed),
    'Slopes and steps': lambda s: s.stepping and not s.disturbed,
    'What the model does not know': lambda s: s.disturbed}
OURS, PEERS = 'ours', {'observer': 'observer', 'static': 'static'}


def page(rows: list[dict], varied: list[dict], how: str, sections: Sequence[str] = ()) -> str:
    """
    Return the tables of the page; rows hold scenario, estimator, and what `Score.as_dict` gives.

    Those of `varied` hold the name of the variant besides, and what the estimator says about it;
    `sections` are text as it is.
    """
    text = [how.strip(), ''] if how else []
    rest = [s for s in SCENARIOS.values() if any(r['scenario'] == s.name for r in rows)]
    for title, belongs in GROUPS.items():
        chosen = [s for s in rest if belongs(s)]
        rest = [s for s in rest if s not in chosen]
        if chosen:
            told = [STRANGERS] if isinstance(chosen[0], Foreign) else []
            text += [f'## {title}\n', *told, _table(rows, chosen), '']
    if varied:
        text += ['## Other rates and sensors\n', OTHERS, _variants(varied), '']
    text += [section for section in sections if section]
    text += ['## Coverage by phase\n', COVERAGE, markdown(
        [row for row in rows if row['estimator'] == OURS], columns=PHASE_COLUMNS), '']
    lost = _lost(rows)
    text += ['## Where a peer is better\n', lost or 'Nowhere in these runs.', '']
    return '\n'.join(text)


def _pick(rows: list[dict], scenario: str, estimator: str) -> dict[str, dict]:
    return {r['output']: r for r in rows
            if r['scenario'] == scenario and r['estimator'] == estimator}


def _table(rows: list[dict], scenarios: list[Scenario]) -> str:
    table = []
    for scenario in scenarios:
        ours = _pick(rows, scenario.name, OURS)
        row: dict[str, object] = {'scenario': scenario.name}
        if ours:
            best = next(iter(ours.values()))
            row |= {'zero phase': _with_worst(best, 'zero_phase'),
                    'e/sigma': _with_worst(best, 'normalised'), 'in 95 %': best['inside'],
                    'on line': ' / '.join(f"{found['on_line']:.1f} ({name})"
                                          for name, found in ours.items()),
                    'push e/sigma': _with_worst(best, 'external_normalised'),
                    'contact': best.get('agreement')}
            if best.get('agreement') is not None:
                row |= {'down, up': _two(best['touch_down_ms'], best['lift_off_ms'], 0),
                        'missed': _two(best['unseen'], best['false'], 2),
                        'called up': f"{best['longest_up_ms']:.0f}"}
        true = _pick(rows, scenario.name, 'true contacts')
        if true:
            row['true contacts'] = next(iter(true.values()))['zero_phase']
        for name, title in PEERS.items():
            for found in _pick(rows, scenario.name, name).values():
                row[title] = f"{found['zero_phase']:.2f} / {found['on_line']:.1f}"
        table.append(row)
    columns = {key: key for key in dict.fromkeys(key for row in table for key in row)}
    titles = {'zero phase': 'ours, zero phase', 'observer': 'observer, zero phase / on line'}
    return markdown(table, columns={key: titles.get(key, key) for key in columns})


def _variants(rows: list[dict]) -> str:
    table = []
    for name, title in dict.fromkeys((r['scenario'], r['variant']) for r in rows):
        chosen = [r for r in rows if r['variant'] == title]
        ours = _pick(chosen, name, OURS)
        best = next(iter(ours.values()), None)
        if best is None:
            continue
        said = next(r['says'] for r in chosen if r['scenario'] == name)
        row: dict[str, object] = {
            'scenario': name, 'sensors': title, 'zero phase': best['zero_phase'],
            'e/sigma': best['normalised'],
            'on line': ' / '.join(f"{found['on_line']:.1f}" for found in ours.values()),
            'contact': best.get('agreement'), 'says': said}
        table.append(row)
    return markdown(table, columns={key: key for key in dict.fromkeys(
        key for row in table for key in row)})


def _with_worst(found: dict, key: str) -> float | str:
    """Return a figure, behind it the worst of several draws."""
    worst = found.get(key + WORST)
    return found[key] if worst is None else f'{found[key]:.2f} ({worst:.2f})'


def _two(first: float, second: float, digits: int) -> str:
    if math.isnan(first) and math.isnan(second):
        return ''
    return ', '.join('-' if math.isnan(x) else f'{x:.{digits}f}' for x in (first, second))


def _lost(rows: list[dict]) -> str:
    """Return a list of the scenarios in which a peer beats us, off line or on line."""
    lines = []
    for name in dict.fromkeys(r['scenario'] for r in rows):
        ours = _pick(rows, name, OURS)
        if not ours:
            continue
        for key, words in (('zero_phase', 'zero phase'), ('on_line', 'on line')):
            mine = (next(iter(ours.values()))[key] if key == 'zero_phase'
                    else min(found[key] for found in ours.values()))
            for peer, title in PEERS.items():
                theirs = [found[key] for found in _pick(rows, name, peer).values()]
                if theirs and min(theirs) < mine:
                    lines.append(f'- {name}, {words}: {title} {min(theirs):.2f}, ours {mine:.2f}')
    return '\n'.join(lines)
