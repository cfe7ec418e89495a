"""Descriptions of MCP servers: a command to start, or a URL."""

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from typing_extensions import override

MAX_MESSAGE: Final = 16 * 2**20
"""The maximum size of one message of a server, in bytes."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Stdio(Struct, frozen=True):
    """A server that is started as a process, and uses its standard input and output.

    Attributes:
        command: The program.
        args: Its arguments.
        env: Variables of its environment, besides the default ones.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = NOTHING

    @property
    def label(self) -> str:
        """The name of the server in errors: that of the program."""
        return PurePath(self.command).name or self.command

    @override
    def __repr__(self) -> str:
        # Arguments and variables can contain secrets.
        return f'<stdio {self.label!r}>'

    @override
    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [('label', self.label)]


class Http(Struct, frozen=True):
    """A server that uses streamable HTTP.

    Attributes:
        url: The address of its endpoint.
        headers: Headers of each request, such as `Authorization`.
    """

    url: str
    headers: Mapping[str, str] = NOTHING

    @property
    def label(self) -> str:
        """The name of the server in errors: its host and port."""
        return urlsplit(self.url).netloc.rpartition('@')[2] or 'http'

    @override
    def __repr__(self) -> str:
        # The path, the query and headers can contain secrets.
        return f'<http {self.label!r}>'

    @override
    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [('label', self.label)]


Transport: TypeAlias = Stdio | Http
"""How to reach a server; `stdio` and `http` return it."""


def stdio(command: str, *args: str, env: Mapping[str, str] | None = None) -> Stdio:
    """Describe a server that is started as a process.

    The process gets PATH, HOME, LOGNAME, SHELL, TERM and USER of the environment, and `env`.

    >>> stdio('uvx', 'mcp-server-time').args
    ('mcp-server-time',)

    Args:
        command: The program.
        args: Its arguments.
        env: Further variables of its environment.
    """
    return Stdio(command, args, dict(env or {}))


def http(url: str, headers: Mapping[str, str] | None = None) -> Http:
    """Describe a server that uses streamable HTTP.

    >>> http('https://mcp.example.com/mcp').label
    'mcp.example.com'

    Args:
        url: The address of its endpoint.
        headers: Headers of each request, such as `Authorization`.

    Raises:
        ValueError: The URL is not an `http` or `https` URL with a host.
        TypeError: The URL is not a string.
    """
    if not isinstance(url, str):
        raise TypeError(f'url must be a string, not {url!r}.')
    parts = urlsplit(url)
    if parts.scheme not in {'http', 'https'} or not parts.hostname:
        raise ValueError('url must be an http or https URL with a host.')
    return Http(url, dict(headers or {}))
