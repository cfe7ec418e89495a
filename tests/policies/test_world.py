"""Validation of worlds, and of the argument `world` of all guards."""

from collections.abc import Callable
from typing import Any

import pytest

from seamwise._runtime.world import World
from seamwise.policies._parts.backoff import backoff
from seamwise.policies._parts.budget import Budget
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.cache import cache
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.fault_injection import chaos
from seamwise.policies.hedge import hedge
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.retry import retry


@pytest.mark.parametrize('name', ['clock', 'sleep', 'sleep_sync', 'random'])
def test_attribute_of_a_world_must_be_a_function(name: str) -> None:
    options: Any = {name: 7.0}
    with pytest.raises(TypeError, match=f'{name} of a World must be a function, not 7.0'):
        World(**options)


BUILDERS: list[Callable[[Any], object]] = [
    lambda world: backoff(world=world),
    lambda world: Budget.share(0.1, world=world),
    lambda world: bulkhead(1, name='x', world=world),
    lambda world: cache(ttl=1.0, name='x', world=world),
    lambda world: chaos(seed=1, world=world),
    lambda world: circuit(name='x', world=world),
    lambda world: deadline(1.0, world=world),
    lambda world: hedge(after=1.0, name='x', world=world),
    lambda world: rate_limit(1, name='x', world=world),
    lambda world: retry(world=world),
]


@pytest.mark.parametrize('build', BUILDERS)
@pytest.mark.parametrize('world', [None, 5, World])
def test_argument_world_of_a_guard_must_be_a_world(
    build: Callable[[Any], object], world: Any
) -> None:
    with pytest.raises(TypeError, match='world must be a World, not'):
        build(world)
