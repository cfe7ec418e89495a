"""The socket on which `seamwise serve` listens, and the names of the server."""

import os
import socket
from ipaddress import ip_address

import click
from msgspec import Struct

from seamwise.program.console import CommandExit, Exit


class Address(Struct, frozen=True):
    """A host and its address.

    Attributes:
        host: The host as it was given.
        family: The address family.
        ip: The IP address.
    """

    host: str
    family: socket.AddressFamily
    ip: str

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine reach the address."""
        return ip_address(self.ip).is_loopback

    @property
    def is_unspecified(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return ip_address(self.ip).is_unspecified

    @property
    def names(self) -> set[str]:
        """The names under which clients reach the address."""
        names = {self.host, self.ip}
        if self.is_loopback or self.is_unspecified:
            names |= {'localhost', '127.0.0.1', '::1'}
        if self.is_unspecified:
            names.add(socket.gethostname())
        return names

    def url(self, port: int) -> str:
        """Return the URL of the server on a port."""
        host = f'[{self.host}]' if ':' in self.host else self.host
        return f'http://{host}:{port}/'


def resolve(host: str) -> Address:
    """Return the address of a host; IPv4 is preferred, as `127.0.0.1` is for `localhost`.

    Raises:
        click.BadParameter: The host is not known.
    """
    try:
        if not host:
            raise socket.gaierror(socket.EAI_NONAME, 'It is empty')
        infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise click.BadParameter(
            f'{host!r} is no host of this machine: {reason or error}.', param_hint="'--host'"
        ) from error
    family, *_, address = min(infos, key=lambda info: info[0] is not socket.AF_INET)
    # An address of the local network has its interface behind a `%`.
    return Address(host, family, str(address[0]).partition('%')[0])


def listen(address: Address, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        CommandExit: The port is in use, or not allowed, or the address is not one of this machine.
    """
    try:
        listener = socket.create_server((address.ip, port), family=address.family, backlog=128)
    except OSError as error:
        # `create_server` adds the address to the reason.
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise CommandExit(
            f'cannot listen on {address.url(port)}: {reason}', Exit.UNAVAILABLE
        ) from error
    # Connections inherit it. asyncio sets it only on sockets that name their protocol, and without
    # it each response waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
