"""Connections to the nodes of a Redis Cluster, by the clients of redis-py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary, ref

import redis.asyncio
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import AbstractConnection
from redis.cluster import PRIMARY
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisClusterException
from typing_extensions import override

from seamwise._runtime.module_lock import ModuleLock
from seamwise.policies.redis.connections import AsyncConnection, AsyncConnectionPool
from seamwise.policies.redis.routes import Address, ClusterRoute, Nodes
from seamwise.policies.redis.thread_sender import ThreadSender

Client = TypeVar('Client')


class AsyncClusterNodes(Nodes[AsyncConnectionPool]):
    """Nodes of a client for tasks. It owns the connections, so that its `aclose` closes them."""

    def __init__(self, client: redis.asyncio.RedisCluster) -> None:
        super().__init__()
        self._client = ref(client)

    @override
    def addresses(self) -> Sequence[Address]:
        return _addresses(_referent(self._client).nodes_manager)

    @override
    def reachable(self, address: Address) -> Address:
        return _referent(self._client).nodes_manager.remap_host_port(*address)

    @override
    def _new_pool(self, address: Address) -> AsyncConnectionPool:
        return _AsyncNodePool(self._client, address)


class _AsyncNodePool:
    """The connections of a client for tasks to one node."""

    def __init__(self, client: ref[redis.asyncio.RedisCluster], address: Address) -> None:
        self._client = client
        self._address = address

    @property
    def connection_class(self) -> Callable[..., AbstractConnection]:
        """Class of the connections."""
        return self._node().connection_class

    @property
    def connection_kwargs(self) -> Mapping[str, Any]:
        """Arguments of the class."""
        return self._node().connection_kwargs

    async def get_connection(self, *args: str) -> AbstractConnection:  # noqa: ARG002 -- name of a command, for redis-py 5
        """Return an established connection."""
        try:
            # A client that was not initialized does not close its connections.
            _: object = await _referent(self._client).initialize()
        except RedisClusterException as error:
            raise RedisConnectionError(str(error)) from error
        node = self._node()
        connection = node.acquire_connection()
        typed_connection: AsyncConnection = connection
        try:
            await typed_connection.connect()
        except BaseException:
            _release(node, connection)
            raise
        return connection

    async def release(self, connection: AbstractConnection) -> None:
        """Return a connection to the node."""
        _release(self._node(), connection)

    def _node(self) -> ClusterNode:
        """Return the node of the client, which may have created it anew."""
        manager = _referent(self._client).nodes_manager
        host, port = self._address
        name = f'{host}:{port}'
        node = manager.nodes_cache.get(name) or manager.startup_nodes.get(name)
        if node is None:
            node = ClusterNode(host, port, PRIMARY, **manager.connection_kwargs)
            manager.set_nodes(manager.nodes_cache, {name: node})
        return node


def _release(node: Any, connection: AbstractConnection) -> None:
    # `release` exists since redis-py 7.
    release = getattr(node, 'release', None)
    if release is None:
        node._free.append(connection)
    else:
        release(connection)


class ClusterNodes(Nodes[ThreadSender]):
    """Nodes of a client for threads."""

    def __init__(self, client: redis.RedisCluster, *, bound: float) -> None:
        super().__init__()
        self._client = ref(client)
        self._bound = bound

    @override
    def addresses(self) -> Sequence[Address]:
        return _addresses(self._manager())

    @override
    def reachable(self, address: Address) -> Address:
        host, port = self._manager().remap_host_port(*address)
        return host, port

    @override
    def _new_pool(self, address: Address) -> ThreadSender:
        manager = self._manager()
        host, port = address
        client = manager.create_redis_node(host, port, **manager.connection_kwargs)
        return ThreadSender(client.connection_pool, bound=self._bound)

    def _manager(self) -> Any:
        return _referent(self._client).nodes_manager  # it has no types


def _addresses(manager: Any) -> list[Address]:
    # A copy, because another thread may change the nodes of a client for threads.
    nodes = list((manager.nodes_cache or manager.startup_nodes).values())
    return [(node.host, int(node.port)) for node in nodes]


def async_cluster_route(client: redis.asyncio.RedisCluster) -> ClusterRoute[AsyncConnectionPool]:
    """Return the route of a guard. All guards with the same client share its connections."""
    with _lock:
        nodes = _async_nodes.get(client)
        if nodes is None:
            nodes = _async_nodes[client] = AsyncClusterNodes(client)
    return ClusterRoute(client, nodes)


def cluster_route(client: redis.RedisCluster, *, bound: float) -> ClusterRoute[ThreadSender]:
    """Return the route of a guard. Guards with the same client and bound share connections."""
    with _lock:
        by_bound = _nodes.setdefault(client, {})
        if bound not in by_bound:
            by_bound[bound] = ClusterNodes(client, bound=bound)
        return ClusterRoute(client, by_bound[bound])


def _referent(client: ref[Client]) -> Client:
    referent = client()
    # The route of the guard that calls refers to it.
    assert referent is not None  # noqa: S101
    return referent


_lock: Final = ModuleLock()
# The values have no strong reference to the clients, which would never be freed then.
_async_nodes: Final[WeakKeyDictionary[redis.asyncio.RedisCluster, AsyncClusterNodes]] = (
    WeakKeyDictionary()
)
_nodes: Final[WeakKeyDictionary[redis.RedisCluster, dict[float, ClusterNodes]]] = (
    WeakKeyDictionary()
)
