# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Make the pictures of README, gallery and site from what the commands write.

Run with ``python docs/pictures.py BAG [AT]``, a recording of ``legged-dynamics demo`` and the time
of the view, such as one with two feet in the air and the arrows of the others in sight. Each
command of the gallery is run as a reader would run it; pages and the view are photographed in a
headless Chromium (playwright, extra ``test``).
"""
from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageSequence
from playwright.sync_api import Page, sync_playwright

from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader

IMAGES = Path(__file__).resolve().parent / 'images'
COMMAND = [sys.executable, '-m', 'legged_dynamics']
ARGUMENTS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
WRONG = 'LF_KFE'
CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser',
                                                'google-chrome'))), None)


def run(*words: str, folder: Path) -> None:
    """Run a command of the package; its own exit codes say what it found."""
    subprocess.run([*COMMAND, *words], cwd=folder, check=False, stdout=subprocess.DEVNULL)


def view(bag: Path, at: float | None, take: Callable[[Page, str], Any]) -> None:
    """Photograph the view at a time [s], without one at the moment of the report's picture."""
    from legged_dynamics.recordings.report.analysis import analyse
    from legged_dynamics.recordings.report.report import telling_moment
    from legged_dynamics.view.show import Show, close_page, open_page
    from legged_dynamics.view.sources import Player, read_view

    if at is None:
        analysis = analyse(bag)
        at = float(analysis.series.time[telling_moment(analysis)])
    recorded = read_view(bag)
    server = open_page('127.0.0.1', 0)
    robot = recorded.robot
    player = Player(Show(server, robot.model, robot.config, robot.urdf, robot.name), recorded,
                    at)
    player.advance(0.0)
    try:
        take(f'http://127.0.0.1:{server.get_port()}', 'view.png')
    finally:
        close_page(server)


def plant(bag: Path, wrong: Path) -> None:
    """Write the sensors of a bag anew, as if one knee's motor gave its torque the wrong sign."""
    with BagReader(bag) as read, BagWriter(wrong) as writer:
        inputs = ('/joint_states', '/imu/data', '/robot_description', '/clock')
        for name in inputs:
            writer.add_topic(name, read.topics[name].type, latched=read.topics[name].latched)
        for message in read.messages(inputs):
            content = read.decode(message)
            if message.topic == '/joint_states':
                turned = [-1.0 if name == WRONG else 1.0 for name in content.name]
                content = dataclasses.replace(content, effort=content.effort * turned)
            writer.write_message(message.topic, message.receipt_ns, content)


def main(arguments: list[str]) -> int:
    """Make all pictures."""
    if len(arguments) not in (1, 2) or CHROMIUM is None:
        print('expected one recording of the demo, perhaps a time [s], and Chromium on this '
              'machine')
        return 2
    bag = Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)

        def take(address: str, picture: str, size: tuple[int, int] = (1200, 700),
                 wait: float = 1.5) -> None:
            page = browser.new_page(viewport={'width': size[0], 'height': size[1]})
            page.goto(address)
            # What the view says about drawing in software, on a machine without a display.
            page.add_style_tag(content='.mantine-Notifications-root { display: none; }')
            page.wait_for_timeout(1e3 * wait)
            page.screenshot(path=str(IMAGES / picture))
            page.close()

        view(bag, float(arguments[1]) if arguments[1:] else None,
             lambda address, picture: take(address, picture, (1100, 641), 25.0))
        run('info', 'anymal_class', '--robot', 'anymal_class', '--picture', 'check.svg',
            folder=folder)
        shutil.copy(folder / 'check.svg', IMAGES / 'check.svg')
        run('analyze', str(bag), '-o', 'analysis', '--no-csv', '--no-enriched-bag',
            folder=folder)
        take((folder / 'analysis' / 'report.html').as_uri(), 'report.png', (1200, 1500))
        run('force-map', 'anymal_class', '-o', 'force_map.png', folder=folder)
        shutil.copy(folder / 'force_map.png', IMAGES / 'force_map.png')
        run('inverse-dynamics', '--sample', '-o', 'person', '--no-bag', folder=folder)
        take((folder / 'person' / 'report.html').as_uri(), 'person.png', (1200, 900))
        plant(bag, folder / 'wrong')
        run('doctor', 'wrong', '--robot', 'anymal_class', '-o', 'doctor.html', folder=folder)
        take((folder / 'doctor.html').as_uri(), 'doctor.png', (1200, 700))
        run('reproduce', 'biped', '-o', 'biped', folder=folder)
        for name, picture in (('figure_5_joints', 'biped'), ('figures_1_2_model', 'biped_model'),
                              ('figure_3_controller', 'biped_controller')):
            shutil.copy(folder / 'biped' / f'{name}.png', IMAGES / f'{picture}.png')
        with Image.open(folder / 'biped' / 'crouch.gif') as film:
            size = (2 * film.width // 3, 2 * film.height // 3)
            pictures = [picture.convert('RGB').resize(size)
                        for picture in ImageSequence.Iterator(film)]
            pictures[0].save(IMAGES / 'crouch.webp', save_all=True, append_images=pictures[1:],
                             loop=0, duration=film.info['duration'], method=6, quality=50)
        run('stickybot', '-o', 'stickybot', folder=folder)
        shutil.copy(folder / 'stickybot' / 'forces.png', IMAGES / 'stickybot.png')
        browser.close()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
