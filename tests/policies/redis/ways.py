"""Calls through a guard over Redis, step by step, and what Redis holds of it."""

from typing import Final

from seamwise import Failure, Success
from seamwise.policies._engine.permit import Outcome, Permit, Wait
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.redis.circuit import SharedCircuit
from tests.policies.errors import Down
from tests.policies.redis.servers import Server

OK: Final = Success('ok')
DOWN: Final[Failure[Down]] = Failure(Down())


def come(guard: SharedCircuit) -> Permit | CircuitOpen:
    """Let a call come, in a thread."""
    said = guard.enter().wait_sync()
    if isinstance(said, Permit):
        return said
    assert type(said) is Failure
    error = said.failure()
    assert isinstance(error, CircuitOpen)
    return error


def go(permit: Permit | CircuitOpen, outcome: Outcome) -> None:
    """Let a call that is in end with an outcome, which must come out."""
    assert isinstance(permit, Permit)
    said = permit.leave(outcome)
    assert (said.wait_sync() if isinstance(said, Wait) else said) is outcome


def fields(server: Server, name: str = 'mail') -> dict[str, str]:
    """Read what Redis holds of a circuit."""
    with server.client() as client:
        read: object = client.hgetall(f'seamwise:{{{name}}}:circuit')
        assert isinstance(read, dict)
        return {str(field): str(value) for field, value in read.items()}


def state(server: Server, name: str = 'mail') -> str:
    return fields(server, name).get('state', 'closed')
