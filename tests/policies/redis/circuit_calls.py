"""Calls through a circuit over Redis, step by step, and the contents of its hash."""

from typing import Final

from seamwise import Failure, Success
from seamwise.policies._engine.permit import Outcome, Permit, Waiting
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.redis.shared_circuit import SharedCircuit
from tests.policies.errors import Down
from tests.policies.redis.servers import Server

OK: Final = Success('ok')
DOWN: Final[Failure[Down]] = Failure(Down())


def enter(guard: SharedCircuit) -> Permit | CircuitOpen:
    """Start a call in a thread; return its permit or the refusal."""
    decision = guard.enter().wait_sync()
    if isinstance(decision, Permit):
        return decision
    assert type(decision) is Failure
    error = decision.failure()
    assert isinstance(error, CircuitOpen)
    return error


def leave(permit: Permit | CircuitOpen, outcome: Outcome) -> None:
    """End an admitted call, and assert that its outcome is returned unchanged."""
    assert isinstance(permit, Permit)
    result = permit.leave(outcome)
    assert (result.wait_sync() if isinstance(result, Waiting) else result) is outcome


def fields(server: Server, name: str = 'mail') -> dict[str, str]:
    """Return the hash of a circuit."""
    with server.client() as client:
        reply: object = client.hgetall(f'seamwise:{{{name}}}:circuit')
        assert isinstance(reply, dict)
        return {str(field): str(value) for field, value in reply.items()}


def state(server: Server, name: str = 'mail') -> str:
    """Return the state of a circuit."""
    return fields(server, name).get('state', 'closed')
