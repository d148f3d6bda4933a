# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Who may open the page's WebSocket, and that no client can publish the page."""
import http.client
import threading

import pytest

pytest.importorskip('viser')
from viser import _messages

from legged_dynamics.view import show
from legged_dynamics.view.show import close_page, open_page, own_page


@pytest.fixture(scope='module')
def server():
    made = open_page('127.0.0.1', 0)
    yield made
    close_page(made)


def handshake(port, **headers):
    """Return the status of a request to open a WebSocket."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
    connection.request('GET', '/', headers={
        'Connection': 'Upgrade', 'Upgrade': 'websocket', 'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Protocol': f'viser-v{show.viser.__version__}', **headers})
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_its_own_page_opens_the_socket(server):
    port = server.get_port()
    assert handshake(port, Origin=f'http://127.0.0.1:{port}') == 101
    assert handshake(port) == 101                           # no browser
    assert handshake(port, Origin='http://example.com') == 403
    assert handshake(port, Origin='null') == 403
    assert handshake(port, Origin='http://127.0.0.1:1') == 403
    # a name that its owner has made mean this machine
    assert handshake(port, Origin=f'http://example.com:{port}',
                     Host=f'example.com:{port}') == 403


def test_pages_through_a_tunnel_and_over_the_network_are_its_own():
    assert own_page('http://localhost:9000', 'localhost:9000')
    assert own_page('http://192.168.1.7:8080', '192.168.1.7:8080')
    assert own_page('http://[::1]:8080', '[::1]:8080')
    assert not own_page('http://localhost:9000', 'localhost:8080')


def test_no_client_has_a_public_address_made(server, monkeypatch):
    """Sends the handlers what a client's request for a tunnel sends them."""
    asked, tunnels = threading.Event(), []

    class Tunnel:
        def __init__(self, *arguments):
            tunnels.append(arguments)

        def __getattr__(self, name):
            return lambda *arguments, **options: None
    monkeypatch.setattr('viser._viser.ViserTunnel', Tunnel)
    refuse = server.request_share_url
    monkeypatch.setattr(server, 'request_share_url', lambda: (refuse(), asked.set()))
    for handler in server._websock_server._incoming_handlers[_messages.ShareUrlRequest]:
        handler(0, _messages.ShareUrlRequest())
    assert asked.wait(20.0)
    assert tunnels == []
