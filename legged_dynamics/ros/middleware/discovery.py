# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How the nodes of this machine find and reach each other, on Cyclone DDS and on Fast DDS.

ROS 2's environment variables are put in Cyclone's terms; a domain can be leased for a
demonstration or a test; and Fast DDS gets settings for runs in which time waits for messages.
"""
from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.resources import share_directory

RANGES = ('SUBNET', 'LOCALHOST', 'OFF', 'SYSTEM_DEFAULT')
_LOOPBACK = '<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
_HIGHEST_DOMAIN = 232
# DDS: ports 7400 + 250 domain + 10, 11, 12 ... belong to the processes of a domain
_FIRST_PORT = 7400
_PORTS_PER_DOMAIN = 250
_FIRST_PROCESS = 10
_LEASE_PORT = 249  # never a process's: their numbers end far below
_LEASED_DOMAINS = range(1, 101)  # higher ones reach into the ports the system gives out itself
_MOST_PROCESSES = 32  # rmw_cyclonedds' number; announcements go to so many ports per peer


def domain_id(environ: Mapping[str, str] = os.environ) -> int:
    """Return ROS_DOMAIN_ID, 0 if unset; raise MiddlewareError unless 0 to 232."""
    text = environ.get('ROS_DOMAIN_ID', '').strip() or '0'
    if not text.isdecimal() or int(text) > _HIGHEST_DOMAIN:
        raise MiddlewareError(f'expected ROS_DOMAIN_ID from 0 to {_HIGHEST_DOMAIN}, got {text!r}')
    return int(text)


def _discovery_range(environ: Mapping[str, str] = os.environ) -> str:
    """Return ROS_AUTOMATIC_DISCOVERY_RANGE, or LOCALHOST for ROS_LOCALHOST_ONLY=1."""
    default = 'LOCALHOST' if environ.get('ROS_LOCALHOST_ONLY', '') == '1' else 'SUBNET'
    text = environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', '').strip().upper() or default
    if text not in RANGES:
        raise MiddlewareError(f'expected ROS_AUTOMATIC_DISCOVERY_RANGE to be one of '
                              f'{", ".join(RANGES)}, got {text!r}')
    return text


def reach(environ: Mapping[str, str] = os.environ) -> str:
    """Return which part of the network is asked, for people, such as 'interface eth0'."""
    named = re.findall(r'<NetworkInterface[^>]*\b(?:name|address)="([^"]+)"',
                       environ.get('CYCLONEDDS_URI', ''))
    if named:
        return f'interface {", ".join(named)}'
    return {'LOCALHOST': 'this machine only', 'OFF': 'this process only'}.get(
        _discovery_range(environ), 'the interface that DDS chose')


def cyclone_configuration(environ: Mapping[str, str] = os.environ) -> str:
    """
    Return Cyclone's configuration from the environment, as rmw_cyclonedds builds it.

    LOCALHOST: loopback only, without multicast. A user's CYCLONEDDS_URI is appended, takes
    precedence and chooses the interface.
    """
    reach = _discovery_range(environ)
    peers = [peer for peer in environ.get('ROS_STATIC_PEERS', '').split(';') if peer]
    uri = environ.get('CYCLONEDDS_URI', '')
    general = discovery = ''
    if reach == 'LOCALHOST':
        general = ('' if uri else _LOOPBACK) + '<AllowMulticast>false</AllowMulticast>'
        peers.insert(0, 'localhost')
    elif reach == 'OFF':
        general = '<AllowMulticast>false</AllowMulticast>'
        discovery = ('<ParticipantIndex>none</ParticipantIndex>'
                     f'<Tag>ros_discovery_off_{os.getpid()}</Tag>')
    if reach in ('SUBNET', 'LOCALHOST'):
        listed = ''.join(f'<Peer address={quoteattr(peer)}/>' for peer in peers)
        discovery = ('<ParticipantIndex>auto</ParticipantIndex>'
                     f'<MaxAutoParticipantIndex>{_MOST_PROCESSES}</MaxAutoParticipantIndex>'
                     + (f'<Peers>{listed}</Peers>' if listed else ''))
    if reach == 'SYSTEM_DEFAULT':
        return uri
    own = (f'<CycloneDDS><Domain id="any"><General>{general}</General>'
           f'<Discovery>{discovery}</Discovery></Domain></CycloneDDS>')
    return f'{own},{uri}' if uri else own


# What Fast DDS 2 (Jazzy) and 3 (Kilted and later) read, and how they call the period.
_FAST_DDS = {'FASTRTPS_DEFAULT_PROFILES_FILE': 'heartbeatPeriod',
             'FASTDDS_DEFAULT_PROFILES_FILE': 'heartbeat_period'}


def fast_dds_environment(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Write Fast DDS profiles (20 ms resend, loopback), unless set; return the variables."""
    found, profile = {}, (share_directory() / 'config' / 'fast_dds.xml').read_text('utf-8')
    for variable, period in _FAST_DDS.items():
        if not environ.get(variable):
            path = folder.resolve() / f'{variable.lower()}.xml'
            path.write_text(profile.replace('PERIOD', period), encoding='utf-8')
            found[variable] = str(path)
    return found


class DomainLease:
    """
    Reserves a DDS domain id that no other process of this machine uses, until closed.

    It takes a domain whose first process's port is free, and holds another of its ports, by
    which other leases see it. For demonstrations and tests that run concurrently.
    """

    def __init__(self):
        start = os.getpid() % len(_LEASED_DOMAINS)
        for domain in (*_LEASED_DOMAINS[start:], *_LEASED_DOMAINS[:start]):
            base = _FIRST_PORT + _PORTS_PER_DOMAIN * domain
            sign = _bound(base + _LEASE_PORT)
            probe = _bound(base + _FIRST_PROCESS) if sign is not None else None
            if sign is not None and probe is not None:
                probe.close()
                self.domain_id, self._sign = domain, sign
                return
            if sign is not None:
                sign.close()
        raise MiddlewareError('every DDS domain from 1 to 100 is in use on this machine')

    def environment(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return environment variables for processes of this domain, on this machine only."""
        kept = {key: value for key, value in environ.items()
                if key not in ('CYCLONEDDS_URI', 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS')}
        return {**kept, 'ROS_DOMAIN_ID': str(self.domain_id),
                'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}

    def close(self) -> None:
        """Give the domain back."""
        self._sign.close()

    def __enter__(self) -> DomainLease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _bound(port: int) -> socket.socket | None:
    """Return a socket on a UDP port, or None when somebody has it."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.bind(('', port))
    except OSError:
        made.close()
        return None
    return made
