"""`.future()` of a guarded channel of grpc, with a real server."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Never

import grpc
import pytest
from typing_extensions import override

from seamwise import Success
from seamwise.policies import (
    ADMITTED,
    Admission,
    CircuitOpen,
    Guard,
    Layer,
    Outcome,
    Permit,
    World,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    remaining,
    retry,
)
from seamwise.policies.transports.grpc import CallRefused, GuardInterceptor
from seamwise.testing import FakeWorld
from tests.policies.transports.grpc_server import GET, PATIENCE, Server, run_server, unary

Code = grpc.StatusCode


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server() as server:
        yield server


@pytest.fixture
def open_call(server: Server) -> Iterator[Callable[[Guard[object]], Any]]:
    """Return a function that returns a method of the server inside a guard."""
    channels: list[grpc.Channel] = []

    def open_(guard: Guard[object]) -> Any:
        channel = grpc.insecure_channel(server.target)
        channels.append(channel)
        interceptor = GuardInterceptor(guard, repeatable={GET})
        return unary(grpc.intercept_channel(channel, interceptor))

    yield open_
    server.can_end.set()
    for channel in channels:
        channel.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until another thread has made a condition true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_future_is_running_until_the_call_has_ended(server: Server, open_call: Any) -> None:
    server.answers = ['hang']
    full = bulkhead(1, name='billing')
    future = open_call(full).future(b'x', timeout=PATIENCE)
    assert [isinstance(future, kind) for kind in (grpc.Future, grpc.Call)] == [True, True]
    assert (future.running(), future.is_active(), future.done()) == (True, True, False)
    assert not future.cancelled()
    assert 0 < future.time_remaining() <= PATIENCE
    for wait in (future.result, future.exception, future.traceback):
        with pytest.raises(grpc.FutureTimeoutError):
            wait(timeout=0.01)
    assert full.in_flight == 1
    server.can_end.set()
    assert future.result(timeout=PATIENCE) == b'x 1'
    assert (future.running(), future.is_active(), future.done()) == (False, False, True)
    assert (future.exception(), future.traceback(), future.cancelled()) == (None, None, False)
    assert (future.code(), future.details()) == (Code.OK, '')
    assert dict(future.initial_metadata()) == {'number': '1'}
    assert dict(future.trailing_metadata()) == {'cost': '1'}
    assert not future.cancel()
    assert full.in_flight == 0


def test_future_has_the_error_of_the_last_attempt(server: Server, open_call: Any) -> None:
    server.answers = [Code.UNAVAILABLE, Code.INTERNAL]
    future = open_call(retry(attempts=2, base=0.0)).future(b'x')
    error = future.exception(timeout=PATIENCE)
    assert error.code() is future.code() is Code.INTERNAL
    assert error.details() == future.details() == 'call 2'
    with pytest.raises(grpc.RpcError) as caught:
        future.result()
    assert caught.value is error
    assert future.traceback() is not None
    assert dict(future.trailing_metadata()) == {'cost': '2'}


def test_future_does_not_wait_for_its_attempts(server: Server, open_call: Any) -> None:
    def sleep(seconds: float) -> None:
        delays.append(seconds)
        can_continue.wait(PATIENCE)

    delays: list[float] = []
    can_continue = threading.Event()
    server.answers = [Code.UNAVAILABLE, Code.OK]
    call = open_call(retry(base=1.0, jitter='none', world=World(sleep_sync=sleep)))
    future = call.future(b'x')
    wait_until(lambda: bool(delays))
    # The thread of the channel is free for other calls while this one waits.
    assert call.future(b'y').result(timeout=PATIENCE / 4) == b'y 2'
    assert not future.done()
    can_continue.set()
    assert future.result(timeout=PATIENCE) == b'x 3'
    assert delays == [1.0]


def test_future_does_not_wait_if_the_first_attempt_has_ended_already(
    server: Server, open_call: Any
) -> None:
    class Late(grpc.UnaryUnaryClientInterceptor):
        """Returns a call when it has ended."""

        @override
        def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Any:
            call = continuation(client_call_details, request)
            call.exception()
            return call

    can_continue = threading.Event()
    server.answers = [Code.UNAVAILABLE, Code.OK]
    world = World(sleep_sync=lambda seconds: can_continue.wait(PATIENCE))
    interceptor = GuardInterceptor(retry(world=world), repeatable={GET})
    with grpc.insecure_channel(server.target) as channel:
        future = unary(grpc.intercept_channel(channel, interceptor, Late())).future(b'x')
        assert future.running()
        can_continue.set()
        assert future.result(timeout=PATIENCE) == b'x 2'


def test_refusal_is_the_exception_of_the_future(server: Server, open_call: Any) -> None:
    bank = circuit(name='billing')
    bank.isolate()
    called: list[Any] = []
    future = open_call(bank).future(b'x')
    future.add_done_callback(called.append)
    assert called == [future]
    assert (future.done(), future.running(), future.is_active()) == (True, False, False)
    assert (future.cancel(), future.cancelled(), future.time_remaining()) == (False, False, 0.0)
    assert not future.add_callback(lambda: None)
    assert future.code() is Code.UNAVAILABLE
    assert isinstance(future.exception(timeout=1), CallRefused)
    assert future.traceback() is not None
    with pytest.raises(CallRefused, match='refuses calls'):
        future.result(timeout=1)


def test_refusal_of_a_later_attempt_is_the_exception_of_the_future(
    server: Server, open_call: Any
) -> None:
    server.answers = [Code.UNAVAILABLE]
    bank = circuit(name='billing', trip=consecutive(1))
    future = open_call(retry(attempts=2, base=0.0, when=lambda error: True) >> bank).future(b'x')
    assert isinstance(future.exception(timeout=PATIENCE).error, CircuitOpen)
    assert (future.code(), len(server.methods)) == (Code.UNAVAILABLE, 1)


def test_callbacks_run_once_at_the_end(server: Server, open_call: Any) -> None:
    def fail() -> Never:
        raise ZeroDivisionError

    server.answers = ['hang', Code.OK]
    future = open_call(retry(base=0.0)).future(b'x')
    called: list[Any] = []
    assert future.add_callback(fail)
    assert future.add_callback(lambda: called.append('callback'))
    future.add_done_callback(called.append)
    assert called == []
    server.can_end.set()
    future.result(timeout=PATIENCE)
    wait_until(lambda: len(called) == 2)
    assert called == ['callback', future]
    assert not future.add_callback(fail)
    future.add_done_callback(called.append)
    assert called == ['callback', future, future]


def test_cancelled_call_is_cancelled_at_the_server_and_not_counted(
    server: Server, open_call: Any
) -> None:
    server.answers = ['hang']
    full = bulkhead(1, name='billing')
    bank = circuit(name='billing', trip=consecutive(1))
    future = open_call(full >> bank >> retry(base=0.0)).future(b'x')
    called: list[Any] = []
    future.add_done_callback(called.append)
    assert server.has_begun.wait(PATIENCE)
    assert future.cancel()
    assert called == [future]
    assert (future.cancelled(), future.done(), future.running()) == (True, True, False)
    assert not future.cancel()
    for wait in (future.result, future.exception, future.traceback):
        with pytest.raises(grpc.FutureCancelledError):
            wait()
    assert future.code() is Code.CANCELLED
    assert future.details() == 'Locally cancelled by application!'
    assert (future.initial_metadata(), future.trailing_metadata()) == ((), ())
    assert server.has_been_cancelled.wait(PATIENCE)
    wait_until(lambda: full.in_flight == 0)
    assert (bank.state, len(server.methods)) == ('closed', 1)


def test_call_that_is_cancelled_between_attempts_releases_its_permits(
    server: Server, open_call: Any
) -> None:
    def sleep(seconds: float) -> None:
        is_waiting.set()
        can_continue.wait(PATIENCE)

    is_waiting, can_continue = threading.Event(), threading.Event()
    server.answers = [Code.UNAVAILABLE]
    full = bulkhead(1, name='billing')
    future = open_call(full >> retry(world=World(sleep_sync=sleep))).future(b'x')
    assert is_waiting.wait(PATIENCE)
    assert future.cancel()
    assert future.code() is Code.CANCELLED
    can_continue.set()
    wait_until(lambda: full.in_flight == 0)
    assert len(server.methods) == 1


def test_call_that_is_cancelled_while_it_is_sent_again_is_cancelled(
    server: Server, open_call: Any
) -> None:
    class Cancel(Layer[Never]):
        """A guard that cancels the call when its second attempt enters."""

        calls = 0

        @override
        def enter(self) -> Admission:
            self.calls += 1
            if self.calls == 2:
                assert futures[0].cancel()
            return ADMITTED

        @override
        def limits(self) -> str:
            return 'cancels'

    server.answers = [Code.UNAVAILABLE, 'hang']
    full = bulkhead(1, name='billing')
    world = World(sleep_sync=lambda seconds: can_continue.wait(PATIENCE))
    can_continue = threading.Event()
    futures: list[Any] = [open_call(full >> retry(world=world) >> Cancel('cancel')).future(b'x')]
    can_continue.set()
    with pytest.raises(grpc.FutureCancelledError):
        futures[0].result(timeout=PATIENCE)
    wait_until(lambda: full.in_flight == 0)


def test_defect_of_a_guard_is_the_exception_of_the_future(server: Server, open_call: Any) -> None:
    class Fail(Permit):
        @override
        def leave(self, outcome: Outcome, /) -> Never:
            raise ZeroDivisionError

    class Broken(Layer[Never]):
        @override
        def enter(self) -> Admission:
            return Fail()

        @override
        def limits(self) -> str:
            return 'fails'

    future = open_call(Broken('broken')).future(b'x')
    with pytest.raises(ZeroDivisionError):
        future.result(timeout=PATIENCE)
    assert isinstance(future.exception(), ZeroDivisionError)
    assert future.code() is Code.INTERNAL
    assert future.details() == 'Exception raised while intercepting the RPC'


def test_caller_of_a_future_is_not_limited_by_its_deadline(server: Server, open_call: Any) -> None:
    server.answers = ['hang']

    async def main() -> float | None:
        call = open_call(deadline(0.05, name='billing'))
        future = call.future(b'x')
        assert remaining() is None
        # The deadline does not cancel the task that has started the call.
        await asyncio.sleep(0.1)
        assert future.code() is Code.DEADLINE_EXCEEDED
        return deadline(60.0).run_sync(lambda: Success(remaining())).unwrap()

    time_left = asyncio.run(main())
    assert time_left is not None
    assert time_left > 50


def test_deadline_outside_of_a_retry_limits_all_attempts_of_a_future(
    server: Server, open_call: Any
) -> None:
    world = FakeWorld()
    server.answers = [Code.UNAVAILABLE]
    guard = deadline(10.0, name='billing', world=world) >> retry(
        attempts=9, base=4.0, factor=1.0, jitter='none', world=world
    )
    assert open_call(guard).future(b'x').exception(timeout=PATIENCE).code() is Code.UNAVAILABLE
    assert world.slept == [4.0, 4.0]


def test_thread_can_wait_for_a_permit_that_its_own_future_has(
    server: Server, open_call: Any
) -> None:
    call = open_call(bulkhead(1, name='billing', queue=None, wait=None) >> retry())
    futures = [call.future(b'%d' % number) for number in range(5)]
    assert sorted(future.result(timeout=PATIENCE)[:1] for future in futures) == [
        b'0',
        b'1',
        b'2',
        b'3',
        b'4',
    ]


def test_future_that_is_dropped_releases_its_permit(server: Server, open_call: Any) -> None:
    full = bulkhead(1, name='billing')
    open_call(full).future(b'x')
    wait_until(lambda: full.in_flight == 0)
    assert len(server.methods) == 1


def test_closed_channel_ends_the_future(server: Server) -> None:
    server.answers = ['hang']
    full = bulkhead(1, name='billing')
    channel = grpc.insecure_channel(server.target)
    call = unary(grpc.intercept_channel(channel, GuardInterceptor(full)))
    future = call.future(b'x')
    assert server.has_begun.wait(PATIENCE)
    channel.close()
    with pytest.raises((grpc.RpcError, grpc.FutureCancelledError)):
        future.result(timeout=PATIENCE)
    assert future.code() is Code.CANCELLED
    wait_until(lambda: full.in_flight == 0)


def test_many_futures_end(server: Server, open_call: Any) -> None:
    server.answers = [*[Code.UNAVAILABLE] * 20, Code.OK]
    full = bulkhead(100, name='billing')
    call = open_call(full >> retry(attempts=25, base=0.0))
    futures = [call.future(b'x', timeout=PATIENCE) for _ in range(50)]
    assert all(future.result(timeout=PATIENCE).startswith(b'x') for future in futures)
    wait_until(lambda: full.in_flight == 0)
    assert len(server.methods) == 70
