"""A real Redis Cluster for tests: primary servers, and replicas if wanted."""

import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from redis.crc import key_slot

from tests.policies.redis.servers import Server
from tests.ports import free_port

_SLOTS = 16384


class Cluster:
    """Servers that share the slots equally."""

    def __init__(self, servers: list[Server]) -> None:
        self.servers = servers

    def owner(self, key: str) -> Server:
        """Return the primary server that has a key, as the servers say themselves."""
        slot = key_slot(key.encode())
        for server in self.servers:
            for start, end, (_, port, *_), *_ in server.execute('CLUSTER', 'SLOTS'):
                if start <= slot <= end:
                    return next(item for item in self.servers if item.port == port)
        raise AssertionError(f'no server has slot {slot}')

    def move(self, key: str, target: Server) -> None:
        """Move the slot of a key, with all its keys, to another server."""
        slot, source = str(key_slot(key.encode())), self.owner(key)
        source_id, target_id = _node_id(source), _node_id(target)
        target.execute('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source_id)
        source.execute('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target_id)
        for name in source.execute('CLUSTER', 'GETKEYSINSLOT', slot, '100'):
            source.execute('MIGRATE', '127.0.0.1', str(target.port), name, '0', '5000')
        for server in (target, source):
            server.execute('CLUSTER', 'SETSLOT', slot, 'NODE', target_id)


@contextmanager
def running_cluster(folder: Path, *, primaries: int, replicas: int = 0) -> Generator[Cluster]:
    """Start a cluster; the first primary server gets the replicas."""
    with ExitStack() as stack:
        servers: list[Server] = []
        bus_ports = [free_port() for _ in range(primaries + replicas)]
        for number, bus_port in enumerate(bus_ports):
            server_folder = folder / str(number)
            server_folder.mkdir()
            options = (
                *('--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'),
                *('--cluster-port', str(bus_port)),
                *('--cluster-require-full-coverage', 'no', '--repl-diskless-sync-delay', '0'),
            )
            servers.append(stack.enter_context(Server(server_folder, *options)))
        first = servers[0]
        for number, server in enumerate(servers[:primaries]):
            start, end = _SLOTS * number // primaries, _SLOTS * (number + 1) // primaries - 1
            server.execute('CLUSTER', 'ADDSLOTSRANGE', str(start), str(end))
            server.execute('CLUSTER', 'SET-CONFIG-EPOCH', str(number + 1))
        for server in servers[1:]:
            server.execute('CLUSTER', 'MEET', '127.0.0.1', str(first.port), str(bus_ports[0]))
        _wait(lambda: all(_known_nodes(server) == len(servers) for server in servers))
        for server in servers[primaries:]:
            server.execute('CLUSTER', 'REPLICATE', _node_id(first))
        _wait(lambda: all(_state(server) == 'ok' for server in servers))
        _wait(lambda: all(_is_synchronized(server) for server in servers[primaries:]))
        yield Cluster(servers)


def wait_for_owner(cluster: Cluster, server: Server) -> None:
    """Wait until a replica has become a primary server."""
    _wait(lambda: server.execute('ROLE')[0] == 'master')
    _wait(lambda: _state(server) == 'ok')


def _node_id(server: Server) -> str:
    return str(server.execute('CLUSTER', 'MYID'))


def _known_nodes(server: Server) -> int:
    return int(_info(server)['cluster_known_nodes'])


def _state(server: Server) -> str:
    return _info(server)['cluster_state']


def _is_synchronized(server: Server) -> bool:
    role = server.execute('ROLE')
    return bool(role[0] == 'slave' and role[3] == 'connected')


def _info(server: Server) -> dict[str, str]:
    reply = server.execute('CLUSTER', 'INFO')
    return dict(line.split(':', 1) for line in reply.splitlines())


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline, 'the cluster does not become ready'
        time.sleep(0.05)
