"""Commands and scripts, on the connection to the server that has the key."""

from asyncio import Task
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, TypeVar

import msgspec
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    NoScriptError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from seamwise.live.stores.redis.connections import Connections
from seamwise.live.stores.redis.link import CommandLink, Reply, pack
from seamwise.live.stores.redis.scripts import Script
from seamwise.policies.redis.routes import Address

_MAX_TRIES: Final = 5
"""Number of servers of a cluster that a command is sent to; each one but the last redirects it."""

_SLOTS: Final = 16384
"""Number of slots of each Redis Cluster."""

_ASKING: Final = pack([b'ASKING'])


T = TypeVar('T')


class Commands:
    """Sends commands. A command is repeated only where a server has refused to execute it.

    Args:
        connections: Creates the connections: one, or one for each node of a cluster.
        timeout: The maximum time of a command, in seconds.
        tasks: Contains the tasks of the connections until they have ended.
    """

    def __init__(self, connections: Connections, *, timeout: float, tasks: set[Task[None]]) -> None:
        self._connections = connections
        self._timeout = timeout
        self._links: dict[Address | None, CommandLink] = {}
        self._tasks = tasks
        self._addresses: dict[int, Address] = {}
        self._next_node = 0
        self._is_open = False

    def open(self) -> None:
        """Allow commands; a connection is established for the first one."""
        self._is_open = True

    def close(self) -> None:
        """Close all connections. Commands that wait for a reply fail."""
        self._is_open = False
        links, self._links = self._links, {}
        for link in links.values():
            link.close()

    async def run(self, script: Script, keys: Sequence[bytes], arguments: Sequence[bytes]) -> Reply:
        """Run a script, and return its reply.

        Raises:
            RedisError: The reply is an error, or did not arrive.
        """
        return (await self.run_with(script, keys, arguments))[0]

    async def run_with(
        self,
        script: Script,
        keys: Sequence[bytes],
        arguments: Sequence[bytes],
        *following: Sequence[bytes],
    ) -> list[Reply]:
        """Run a script and then commands without keys, on one connection; return the replies."""
        count = str(len(keys)).encode()
        command = [b'EVALSHA', script.digest, count, *keys, *arguments]
        try:
            return await self.execute(keys[0], command, *following)
        except NoScriptError:
            # The server was restarted. It has not executed the command.
            text = [b'EVAL', script.text, count, *keys, *arguments]
            return await self.execute(keys[0], text, *following)

    async def execute(
        self, key: bytes, command: Sequence[bytes], *following: Sequence[bytes]
    ) -> list[Reply]:
        """Execute a command with a key and commands without keys; return the replies.

        Raises:
            RedisError: A reply is an error, or did not arrive.
        """
        packed = [pack(item) for item in (command, *following)]
        if self._connections.nodes is None:
            return _checked(await self._exchange(None, packed))
        slot = key_slot(key)
        address = self._address(slot)
        for number in range(1, _MAX_TRIES + 1):
            replies = await self._exchange(address, packed)
            error = _error_of(replies)
            if error is None:
                return replies
            redirection = self._redirection(error, slot, address)
            if redirection is None or number == _MAX_TRIES:
                raise error
            # MovedError is a subclass of AskError.
            is_asking = not isinstance(error, MovedError) and isinstance(error, AskError)
            address = redirection
            if is_asking:
                return _checked((await self._exchange(address, [_ASKING, *packed]))[1:])
        raise ClusterDownError('The cluster redirects without end.')

    async def scan(self, pattern: str) -> AsyncIterator[bytes]:
        """Iterate over the keys with a pattern, on all servers; a key can come twice.

        Raises:
            RedisError: A reply is an error, or did not arrive.
        """
        is_cluster = self._connections.nodes is not None
        addresses = await self._primaries() if is_cluster else [None]
        for address in addresses:
            cursor = b'0'
            while True:
                command = [b'SCAN', cursor, b'MATCH', pattern.encode(), b'COUNT', b'1000']
                reply = (await self._exchange(address, [pack(command)]))[0]
                if isinstance(reply, RedisError):
                    raise reply
                cursor, keys = _converted(reply, tuple[bytes, list[bytes]])
                for key in keys:
                    yield key
                if cursor == b'0':
                    break

    async def _primaries(self) -> Sequence[Address]:
        """Return the nodes that have the slots of a cluster now, whatever its client knows."""
        error: RedisError = ClusterDownError('The cluster has no node.')
        for address in self._connections.addresses():
            reply = (await self._exchange(address, [pack([b'CLUSTER', b'SLOTS'])]))[0]
            if isinstance(reply, RedisError):
                error = reply
                continue
            ranges = _converted(reply, list[list[object]])
            typed = [_converted(item[:3], tuple[int, int, list[object]]) for item in ranges]
            if sum(end - start + 1 for start, end, _ in typed) < _SLOTS:
                raise ClusterDownError('Not all slots of the cluster have a node.')
            return [*{self._node(primary, address): None for _, _, primary in typed}]
        raise error

    def _node(self, node: list[object], source: Address) -> Address:
        # A node that does not know its own host name sends none.
        host, port = _converted(node[:2], tuple[bytes | None, int])
        return self._remember(host.decode() if host else source[0], port)

    def _remember(self, host: str, port: int) -> Address:
        nodes = self._connections.nodes
        address = (host, port) if nodes is None else nodes.reachable((host, port))
        self._connections.remember(address)
        return address

    async def _exchange(self, address: Address | None, commands: list[bytes]) -> list[Reply]:
        link = self._link(address)
        if len(commands) == 1:
            return [await link.request(commands[0])]
        # All at once, so that no command of another task comes between them.
        futures = [link.request(command) for command in commands]
        return [await future for future in futures]

    def _link(self, address: Address | None) -> CommandLink:
        if not self._is_open:
            raise RedisConnectionError('The log is closed.')
        link = self._links.get(address)
        if link is None or link.error is not None:
            link = CommandLink(
                self._connections.new(address), timeout=self._timeout, tasks=self._tasks
            )
            self._links[address] = link
        return link

    def _address(self, slot: int) -> Address:
        known = self._addresses.get(slot)
        if known is None:
            addresses = self._connections.addresses()
            known = addresses[self._next_node % len(addresses)]
        return known

    def _redirection(self, error: RedisError, slot: int, address: Address) -> Address | None:
        if isinstance(error, AskError):
            target: Any = error
            # A node that does not know its own host name sends the port only.
            redirection = self._remember(target.host or address[0], target.port)
            if isinstance(error, MovedError):
                self._addresses[slot] = redirection
            return redirection
        if isinstance(error, (RedisConnectionError, RedisTimeoutError)):
            # Ask another node from now on.
            self._addresses = {
                known: node for known, node in self._addresses.items() if node != address
            }
            self._next_node += 1
        return None


def _error_of(replies: list[Reply]) -> RedisError | None:
    for reply in replies:
        if isinstance(reply, RedisError):
            return reply
    return None


def _checked(replies: list[Reply]) -> list[Reply]:
    error = _error_of(replies)
    if error is not None:
        raise error
    return replies


def _converted(reply: Reply, kind: type[T]) -> T:
    try:
        return msgspec.convert(reply, kind)
    except msgspec.ValidationError as error:
        raise ResponseError(f'Redis has sent an unknown reply: {error}') from error
