# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the view takes of a core: processor time of its process over time shown, browser connected.

Run: ``python -m benchmarks.view_cost BAG [--robot YAML] [--seconds 60]``. The page is open in a
headless Chromium, a process of its own whose drawing (in software here) is not counted. Pictures
are counted, too: where the machine is too busy for 30 a second, a picture's cost times 30 is it.
"""
from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from legged_dynamics.view.show import FrameTimer, Show, close_page, open_page
from legged_dynamics.view.sources import Player, read_view

RATE = 30.0
CHROMIUM = ('--headless=new', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader',
            '--enable-unsafe-swiftshader', '--disable-background-networking', '--no-first-run',
            '--disable-component-update', '--disable-sync', '--window-size=400,300')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('bag', type=Path)
    parser.add_argument('--robot', default='')
    parser.add_argument('--urdf', default='')
    parser.add_argument('--seconds', type=float, default=60.0)
    args = parser.parse_args()
    recorded = read_view(args.bag, args.robot, args.urdf)
    server, robot = open_page('127.0.0.1', 0), recorded.robot
    show = Show(server, robot.model, robot.config, robot.urdf, robot.name)
    player, drawn, draw = Player(show, recorded), [0], show.draw

    def counted(snapshot) -> None:
        drawn[0] += 1
        draw(snapshot)
    show.draw = counted
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [shutil.which('chromium'), *CHROMIUM, f'--user-data-dir={profile}',
             f'http://127.0.0.1:{server.get_port()}'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not server.get_clients():
                time.sleep(0.2)
            time.sleep(5.0)
            report(args.seconds, player, drawn)
        finally:
            browser.terminate()
            browser.wait()
    close_page(server)


def report(seconds: float, player: Player, drawn: list[int]) -> None:
    drawn[0] = 0
    begin, spent = time.monotonic(), time.process_time()
    pace, last = FrameTimer(RATE, time.monotonic, time.sleep), begin
    while time.monotonic() - begin < seconds:
        now = time.monotonic()
        player.advance(now - last)
        last = now
        pace.wait()
    length, taken = time.monotonic() - begin, time.process_time() - spent
    cost = taken / drawn[0]
    print(f'{length:.1f} s, {drawn[0] / length:.1f} pictures a second: '
          f'{100.0 * taken / length:.1f} % of a core, {1e3 * cost:.2f} ms a picture; at {RATE:g} '
          f'a second {100.0 * RATE * cost:.1f} %')


if __name__ == '__main__':
    main()
