"""Guards in greenlets: refused if gevent replaced the threads too late, instead of a deadlock."""

import sys
from types import SimpleNamespace

import pytest

from seamwise import Failure, Success
from seamwise.policies import bulkhead, circuit, rate_limit, retry
from seamwise.policies._engine import event_loops
from tests.policies.errors import Down


def patch_modules(monkeypatch: pytest.MonkeyPatch, *patched: str) -> None:
    """Install a module with the answers of `gevent.monkey`."""
    monkey = SimpleNamespace(is_module_patched=patched.__contains__)
    monkeypatch.setitem(sys.modules, 'gevent.monkey', monkey)


def call_waiting_guards() -> None:
    limit = rate_limit(1000, burst=1, name='x', wait=1.0)
    for _ in range(3):
        assert limit.run_sync(lambda: Success(1)) == Success(1)
    down = Failure(Down())
    assert retry(attempts=2, base=0.0).run_sync(lambda: down) == down


def test_wait_is_refused_if_gevent_patched_the_threads_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patch_modules(monkeypatch, 'threading', 'socket')
    with pytest.raises(RuntimeError, match=r'call `gevent.monkey.patch_all\(\)` before other'):
        call_waiting_guards()
    with pytest.raises(RuntimeError, match='gevent patched the threads after seamwise'):
        retry(attempts=2, base=0.0).run_sync(lambda: Failure(Down()))


def test_refused_wait_takes_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = rate_limit(1, name='x', wait=60.0)
    assert guard.run_sync(lambda: Success(1)) == Success(1)
    with monkeypatch.context() as patch:
        patch_modules(patch, 'threading')
        with pytest.raises(RuntimeError, match='gevent'):
            guard.run_sync(lambda: Success(1))
    assert guard.waiting == 0


def test_guard_that_does_not_wait_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_modules(monkeypatch, 'threading')
    guard = circuit(name='x') >> bulkhead(1, name='x') >> rate_limit(1, name='x')
    assert guard.run_sync(lambda: Success(1)) == Success(1)


def test_wait_is_not_refused_if_gevent_patched_the_threads_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patch_modules(monkeypatch, 'threading')
    monkeypatch.setattr(event_loops, '_WAS_PATCHED', True)
    call_waiting_guards()


def test_wait_is_not_refused_if_gevent_patched_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_modules(monkeypatch, 'socket')
    call_waiting_guards()
