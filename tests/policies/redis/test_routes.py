"""Routes to the node of a Redis Cluster that has the keys of a guard."""

from collections.abc import Sequence

from typing_extensions import override

from seamwise.policies.redis.routes import Address, ClusterRoute, Nodes, Route

ADDRESSES = [('a', 1), ('b', 2), ('c', 3)]


class FakeNodes(Nodes[str]):
    """Nodes whose pools are their addresses as text."""

    @override
    def addresses(self) -> Sequence[Address]:
        return ADDRESSES

    @override
    def reachable(self, address: Address) -> Address:
        host, port = address
        return f'nat-{host}' if host == 'internal' else host, port

    @override
    def _new_pool(self, address: Address) -> str:
        host, port = address
        return f'{host}:{port}'


def cluster_route() -> ClusterRoute[str]:
    return ClusterRoute(object(), FakeNodes())


def test_server_without_a_cluster_is_never_left() -> None:
    route = Route('pool')
    assert route.follow(('b', 2)) is False
    route.leave('pool')
    assert route.pool() == 'pool'


def test_first_known_node_is_asked_first() -> None:
    assert cluster_route().pool() == 'a:1'


def test_redirection_is_followed_to_a_node_that_was_not_known() -> None:
    route = cluster_route()
    assert route.follow(('d', 4))
    assert route.pool() == 'd:4'


def test_redirection_without_a_host_is_to_another_port_of_the_same_host() -> None:
    route = cluster_route()
    assert route.pool() == 'a:1'
    assert route.follow(('', 7))
    assert route.pool() == 'a:7'


def test_redirection_to_an_internal_address_leads_to_the_reachable_one() -> None:
    route = cluster_route()
    assert route.follow(('internal', 7))
    assert route.pool() == 'nat-internal:7'


def test_nodes_that_do_not_respond_are_left_one_after_the_other() -> None:
    route = cluster_route()
    visited: list[str] = []
    for _ in range(4):
        visited.append(route.pool())
        route.leave(route.pool())
    assert visited == ['a:1', 'b:2', 'c:3', 'a:1']


def test_node_is_left_once_by_the_calls_that_fail_together() -> None:
    route = cluster_route()
    pool = route.pool()
    for _ in range(3):
        route.leave(pool)
    assert route.pool() == 'b:2'


def test_node_that_left_the_cluster_is_left_for_a_known_one() -> None:
    route = cluster_route()
    assert route.follow(('d', 4))
    route.leave(route.pool())
    assert route.pool() == 'a:1'
