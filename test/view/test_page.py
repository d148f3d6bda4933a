# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page in a headless Chromium: pixels, curves, slider; nothing comes from elsewhere."""
import io
import shutil
from urllib.parse import urlsplit

import matplotlib.image
import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from tolerances import PATIENCE

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.view.show import Show, close_page, open_page
from legged_dynamics.view.sources import Player, read_view

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))),
                None)
ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic']


@pytest.fixture(scope='module')
def shown(walking_bag):
    """Return a player whose page is served, standing still."""
    recorded = read_view(walking_bag)
    server = open_page('127.0.0.1', 0)
    robot = recorded.robot
    player = Player(Show(server, robot.model, robot.config, robot.urdf, robot.name), recorded)
    player.playing.value = False
    player.slider.value = 0.5       # of the first sample no force is known
    player.advance(0.0)
    yield player, server
    close_page(server)


@pytest.fixture(scope='module')
def page(shown):
    """Return the page in a browser, and the addresses it has asked for."""
    if CHROMIUM is None:
        pytest.skip('no Chromium on this machine')
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page, asked = browser.new_page(viewport={'width': 900, 'height': 500}), []
        page.set_default_timeout(1000.0 * PATIENCE)
        page.on('request', lambda request: asked.append(request.url))
        page.on('websocket', lambda socket: asked.append(socket.url))
        page.goto(f'http://127.0.0.1:{shown[1].get_port()}')
        page.get_by_text('vertical force [N]').wait_for()
        yield page, asked
        browser.close()


def pixels(page):
    """Return what is seen of the scene, as (h, w, 3) floats."""
    image = page.screenshot(clip={'x': 0, 'y': 120, 'width': 560, 'height': 380})
    return matplotlib.image.imread(io.BytesIO(image))[..., :3].astype(float)


def seen(image):
    """Return how many pixels have more of one colour than of the others."""
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    return {'green': int(((g > r + 0.2) & (g > b + 0.1)).sum()),
            'blue': int(((b > r + 0.3) & (b > g + 0.2)).sum()),
            'red': int(((r > g + 0.3) & (r > b + 0.3)).sum())}


def until(page, condition, tries=600):
    """Return a picture that meets a condition; drawing in software takes its time."""
    for _ in range(tries):
        found = pixels(page)
        if condition(found):
            return found
        page.wait_for_timeout(500)
    return found


def test_robot_arrows_and_support_are_seen(page):
    image = until(page[0], lambda found: min(seen(found).values()) > 40)
    colors = seen(image)
    assert colors['red'] > 1000         # the trunk
    assert colors['green'] > 100        # four arrows
    assert colors['blue'] > 40          # the polygon


def test_the_slider_moves_the_robot_and_curves_are_drawn(page, shown):
    player = shown[0]
    before = pixels(page[0])
    swinging = [i for i, snapshot in enumerate(player.snapshots)
                if snapshot.forces.contact.sum() == 2]
    player.slider.value = float(player.time[swinging[len(swinging) // 2]]) + 1e-6
    for _ in range(8):                  # curves are drawn now and then
        player._drawn = -1
        player.advance(0.0)
    page[0].get_by_text('in the air').first.wait_for()
    after = until(page[0], lambda found: np.abs(found - before).mean() > 1e-3)
    assert np.abs(after - before).mean() > 1e-3
    assert page[0].locator('canvas').count() >= 3       # the scene and two plots


def test_the_table_is_of_the_same_instant_as_the_scene(shown):
    """At every step of a paused view: time, feet in contact and curves are the scene's."""
    player, _ = shown
    player.playing.value = False
    rng = np.random.default_rng(3)
    for index in rng.integers(1, len(player.snapshots), 12):
        player.slider.value = float(player.time[index]) + 1e-6
        player.advance(0.0)
        snapshot, panel = player.snapshots[index], player.show.panel
        said = panel.table.content
        assert f'<th>{player.time[index]:.2f} s</th>' in said
        assert said.count('in the air') == (~snapshot.forces.contact).sum()
        curves = np.array(panel.force.data)
        assert curves[0, -1] == 0.0 and (np.diff(curves[0]) > 0.0).all()
        drawn = sum(arrow.visible for arrow in player.show.scene.arrows)
        assert drawn == snapshot.forces.contact.sum()


def test_nothing_comes_from_elsewhere(page):
    hosts = {urlsplit(address.removeprefix('blob:')).hostname for address in page[1]}
    assert len(page[1]) >= 2
    assert hosts == {'127.0.0.1'}


def test_a_port_that_is_taken_or_none_is_said(shown):
    for port in (shown[1].get_port(), 99999):
        with pytest.raises(ConfigurationError, match='choose another'):
            open_page('127.0.0.1', port)


def test_playing_goes_on_and_begins_anew(shown):
    player = shown[0]
    player.slider.value, player.playing.value = 1.0, True
    player.advance(0.5)
    assert player.slider.value == pytest.approx(1.5)
    player.speed.value = 0.5
    player.advance(0.5)
    assert player.slider.value == pytest.approx(1.75)
    player.advance(1e3)
    assert player.slider.value == 0.0
    player.playing.value = False
    player.advance(5.0)
    assert player.slider.value == 0.0
