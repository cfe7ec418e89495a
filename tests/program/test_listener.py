"""Hosts and sockets of `seamwise serve`."""

import socket

import click
import pytest

from seamwise.program.console import CommandExit
from seamwise.program.listener import Address, listen, resolve


@pytest.mark.parametrize(
    ('host', 'is_loopback', 'is_unspecified'),
    [
        ('127.0.0.1', True, False),
        ('127.1', True, False),
        ('localhost', True, False),
        ('::1', True, False),
        ('0.0.0.0', False, True),  # noqa: S104 -- no socket
        ('0', False, True),
        ('::', False, True),
        ('192.0.2.1', False, False),
        ('2001:db8::1', False, False),
    ],
)
def test_a_host_is_loopback_only_if_its_address_is(
    host: str, is_loopback: bool, is_unspecified: bool
) -> None:
    address = resolve(host)
    assert (address.is_loopback, address.is_unspecified) == (is_loopback, is_unspecified)


def test_localhost_is_an_address_of_ipv4() -> None:
    assert resolve('localhost').ip == '127.0.0.1'


@pytest.mark.parametrize('host', ['', 'no such host', '[::1]', 'a' * 64 + '.example', '\0'])
def test_a_host_that_does_not_exist_is_a_usage_error(host: str) -> None:
    with pytest.raises(click.BadParameter, match='is no host of this machine'):
        resolve(host)


def test_the_url_of_an_ipv6_address_has_brackets() -> None:
    assert resolve('::1').url(80) == 'http://[::1]:80/'


def test_a_server_for_one_address_has_no_other_name() -> None:
    assert resolve('192.0.2.1').names == {'192.0.2.1'}


def test_a_server_for_all_addresses_has_the_name_of_the_machine() -> None:
    assert socket.gethostname() in resolve('0').names


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    address = Address('192.0.2.1', socket.AF_INET, '192.0.2.1')
    with pytest.raises(CommandExit) as raised:
        listen(address, 8642)
    assert raised.value.code == 69
    assert raised.value.message == (
        'cannot listen on http://192.0.2.1:8642/: Cannot assign requested address'
    )


@pytest.mark.skipif(not socket.has_ipv6, reason='this Python has no IPv6')
def test_an_ipv6_address_can_be_listened_on() -> None:
    try:
        listener = listen(resolve('::1'), 0)
    except CommandExit as error:
        pytest.skip(f'this machine has no IPv6: {error.message}')
    with listener:
        assert listener.family is socket.AF_INET6


def test_connections_send_small_packets_at_once() -> None:
    with (
        listen(resolve('127.0.0.1'), 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
