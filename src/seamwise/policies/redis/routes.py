"""The server that has the key of a guard: always the same one, or a node of a Redis Cluster."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeAlias

from typing_extensions import TypeVar, override

Pool = TypeVar('Pool')

Address: TypeAlias = tuple[str, int]
"""Host and port of a node."""


class Route(Generic[Pool]):
    """The connections to the server of a client that has only one.

    Attributes:
        owner: The object that the connections belong to.
    """

    def __init__(self, pool: Pool) -> None:
        self.owner: object = pool
        self._pool = pool

    def pool(self) -> Pool:
        """Return the connections to the server."""
        return self._pool

    def follow(self, redirection: Address) -> bool:  # noqa: ARG002 -- for derived classes
        """Go to the node that a redirection names; return False if there are no nodes."""
        return False

    def leave(self, pool: Pool) -> None:
        """Ask another node from now on, if this server, which does not respond, is one."""


class Nodes(ABC, Generic[Pool]):
    """The nodes of a Redis Cluster that its client knows, and the connections to them."""

    def __init__(self) -> None:
        self._pools: dict[Address, Pool] = {}

    def pool(self, address: Address) -> Pool:
        """Return the connections to a node, which need not be known yet."""
        pool = self._pools.get(address)
        if pool is None:
            pool = self._pools[address] = self._new_pool(address)
        return pool

    @abstractmethod
    def addresses(self) -> Sequence[Address]:
        """Return the addresses of the known nodes."""

    @abstractmethod
    def reachable(self, address: Address) -> Address:
        """Return the address at which this machine reaches a node."""

    @abstractmethod
    def _new_pool(self, address: Address) -> Pool: ...


class ClusterRoute(Route[Pool]):
    """The connections to the node of a Redis Cluster that has the keys of a guard.

    All keys of a guard have the same hash tag, so that one node has them. Any other node answers
    with the address of that node (`MOVED`), which needs no map of the cluster in this process, and
    holds after a failover too. Source: Redis Cluster specification, "MOVED Redirection".
    """

    def __init__(self, client: object, nodes: Nodes[Pool]) -> None:
        self.owner = client
        self._nodes = nodes
        self._address: Address | None = None

    @override
    def pool(self) -> Pool:
        if self._address is None:
            self._address = self._nodes.addresses()[0]
        return self._nodes.pool(self._address)

    @override
    def follow(self, redirection: Address) -> bool:
        host, port = redirection
        if not host and self._address is not None:
            # A node that does not know its own host name sends the port only.
            host = self._address[0]
        self._address = self._nodes.reachable((host, port))
        return True

    @override
    def leave(self, pool: Pool) -> None:
        address = self._address
        if address is None or self._nodes.pool(address) is not pool:
            # Another call has already left it.
            return
        addresses = self._nodes.addresses()
        index = addresses.index(address) if address in addresses else -1
        self._address = addresses[(index + 1) % len(addresses)]
