"""Connections to Redis with the settings of a client, but outside of its pool."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from seamwise.policies.redis.clusters import AsyncClusterNodes
from seamwise.policies.redis.routes import Address

Client: TypeAlias = redis.asyncio.Redis | redis.asyncio.RedisCluster
"""A client of redis-py for tasks."""

_FOREIGN_SETTINGS: Final = ('maint_', 'oss_cluster_maint_', 'orig_')
"""Beginnings of settings that redis-py adds for its own pool."""


class RedisConnection(Protocol):
    """The methods of a connection of redis-py that are used here."""

    async def connect(self) -> None:
        """Connect and perform the handshake."""
        ...

    async def disconnect(self, nowait: bool = False) -> None:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Close the connection."""
        ...

    async def read_response(self, disable_decoding: bool = False) -> object:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Read a complete reply."""
        ...


class _Pool(Protocol):
    @property
    def connection_class(self) -> Callable[..., RedisConnection]: ...

    @property
    def connection_kwargs(self) -> Mapping[str, Any]: ...


def client_of_url(url: str) -> redis.asyncio.Redis:
    """Return a client for a URL.

    Raises:
        ValueError: It is no URL of Redis. The message does not contain it.
    """
    client_class: Any = redis.asyncio.Redis  # its methods have no complete types
    try:
        client: redis.asyncio.Redis = client_class.from_url(url)
    except (ValueError, TypeError):
        raise ValueError(
            'RedisLog needs a URL such as redis://localhost:6379/0, rediss://… or unix://….'
        ) from None
    return client


class Connections:
    """Creates the connections of one log. None of them is retried, and none is pooled.

    Args:
        client: Its settings are used; it gets no connection.
        timeout: The maximum time for connecting, in seconds.
    """

    def __init__(self, client: Client, *, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self.nodes: AsyncClusterNodes | None = None
        if isinstance(client, redis.asyncio.RedisCluster):
            self.nodes = AsyncClusterNodes(client)
        self._redirections: dict[Address, None] = {}
        self._next = 0

    def addresses(self) -> Sequence[Address]:
        """Return the nodes of a cluster that the client and the log know."""
        # Nobody else may use the client, which then knows the node that it was created with.
        known = () if self.nodes is None else self.nodes.addresses()
        return [*dict.fromkeys((*known, *self._redirections))]

    def remember(self, address: Address) -> None:
        """Remember a node that another one has named."""
        self._redirections[address] = None

    def new(self, address: Address | None = None) -> RedisConnection:
        """Return a connection that is not established yet.

        Args:
            address: The node of a cluster; None: another node with each call.
        """
        pool: Any = self._pool(address)
        typed_pool: _Pool = pool
        settings = {
            name: value
            for name, value in typed_pool.connection_kwargs.items()
            if not name.startswith(_FOREIGN_SETTINGS)
        }
        return typed_pool.connection_class(
            **{
                **settings,
                # A command that is sent a second time could store an event twice.
                'retry': Retry(NoBackoff(), 0),
                'retry_on_error': [],
                'retry_on_timeout': False,
                # `Link` has a timeout of its own, which does not count while the process is busy.
                'socket_timeout': None,
                'socket_connect_timeout': self._timeout,
                'health_check_interval': 0,
                'decode_responses': False,
                'protocol': 2,
            }
        )

    def secrets(self) -> list[str]:
        """Return the passwords of the client."""
        values: list[object] = []
        client: Any = self._client
        if self.nodes is None:
            values.append(client.connection_pool.connection_kwargs.get('password'))
        else:
            values.append(client.nodes_manager.connection_kwargs.get('password'))
        return [value for value in values if isinstance(value, str) and value]

    def _pool(self, address: Address | None) -> object:
        if self.nodes is not None:
            if address is None:
                addresses = self.addresses()
                address = addresses[self._next % len(addresses)]
                self._next += 1
            return self.nodes.pool(address)
        client: Any = self._client
        return client.connection_pool
