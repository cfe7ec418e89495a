"""Guards under the channels of grpc and grpc.aio, with a real server."""

import asyncio
import pickle
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Literal, Never

import grpc
import pytest
from typing_extensions import override

from seamwise import (
    Category,
    Failure,
    Raised,
    Result,
    Success,
    TaggedError,
    caught,
    refine,
)
from seamwise.policies import (
    Admission,
    BulkheadFull,
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    GuardEvent,
    Layer,
    Outcome,
    Permit,
    RateLimited,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    fallback,
    hedge,
    rate_limit,
    retry,
)
from seamwise.policies.classify.grpc import grpc_failures
from seamwise.policies.transports.grpc import (
    AsyncGuardInterceptor,
    CallRefused,
    GuardInterceptor,
    Repeatable,
)
from seamwise.testing import FakeWorld
from tests.policies.transports.grpc_server import GET, PATIENCE, PAY, Server, run_server, unary

Code = grpc.StatusCode
READS: Repeatable = {GET}
Style = Literal['call', 'with_call', 'future', 'aio']


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server() as server:
        yield server


class Ended:
    """The end of a call: its response or exception, and its status."""

    def __init__(self, response: bytes | None, error: Any, code: Code, trailers: Any) -> None:
        self.response = response
        self.error = error
        self.code = code
        self.trailers: dict[str, Any] = dict(trailers or ())


class Client:
    """One of the ways to make a unary call with gRPC."""

    def __init__(self, style: Style) -> None:
        self.style: Style = style

    def call(
        self,
        target: str,
        guard: Guard[object] | None,
        method: str = GET,
        *,
        repeatable: Repeatable = READS,
        **options: Any,
    ) -> Ended:
        """Make one call, and wait for its end."""
        options = {'timeout': PATIENCE, **options}
        if self.style == 'aio':
            return asyncio.run(self._call_async(target, guard, method, repeatable, options))
        interceptors = [] if guard is None else [GuardInterceptor(guard, repeatable=repeatable)]
        with grpc.insecure_channel(target) as plain:
            send = unary(grpc.intercept_channel(plain, *interceptors), method)
            try:
                if self.style == 'call':
                    return Ended(send(b'x', **options), None, Code.OK, ())
                if self.style == 'with_call':
                    response, call = send.with_call(b'x', **options)
                    return Ended(response, None, call.code(), call.trailing_metadata())
                call = send.future(b'x', **options)
                code, trailers = call.code(), call.trailing_metadata()
                error = call.exception(PATIENCE)
                if error is None:
                    return Ended(call.result(), None, code, trailers)
                assert (error.code(), error.details()) == (code, call.details())
                return Ended(None, error, code, trailers)
            except grpc.RpcError as error:
                return Ended(None, error, error.code(), error.trailing_metadata())

    async def _call_async(
        self,
        target: str,
        guard: Guard[object] | None,
        method: str,
        repeatable: Repeatable,
        options: dict[str, Any],
    ) -> Ended:
        interceptors = (
            [] if guard is None else [AsyncGuardInterceptor(guard, repeatable=repeatable)]
        )
        async with grpc.aio.insecure_channel(target, interceptors=interceptors) as channel:
            call = unary(channel, method)(b'x', **options)
            error: grpc.aio.AioRpcError | None = None
            response: bytes | None = None
            try:
                response = await call
            except grpc.aio.AioRpcError as failure:
                error = failure
            assert call.done()
            code, trailers = await call.code(), await call.trailing_metadata()
            if error is not None:
                assert (code, trailers) == (error.code(), error.trailing_metadata())
                assert await call.details() == error.details()
            return Ended(response, error, code, trailers)


@pytest.fixture(params=['call', 'with_call', 'future', 'aio'])
def client(request: pytest.FixtureRequest) -> Client:
    return Client(request.param)


def intercepted(server: Server, guard: Guard[object]) -> Any:
    """Return a channel with a guard, for `with`."""
    return grpc.intercept_channel(
        grpc.insecure_channel(server.target), GuardInterceptor(guard, repeatable=READS)
    )


# Without a guard's intervention, a call is the same as without a guard.


@pytest.mark.parametrize('code', list(Code))
def test_call_ends_as_without_a_guard(server: Server, client: Client, code: Code) -> None:
    server.answers, server.trailers = [code], (('key', 'value'),)
    ends = [
        client.call(server.target, guard)
        for guard in (None, circuit(name='billing') >> deadline(PATIENCE))
    ]
    for number, end in enumerate(ends, start=1):
        assert end.code is code
        if code is Code.OK:
            assert end.response == b'x %d' % number
            assert end.trailers in ({}, {'key': 'value', 'cost': str(number)})
        else:
            assert end.error.details() == f'call {number}'
            assert end.trailers == {'key': 'value', 'cost': str(number)}
            assert dict(end.error.initial_metadata()) == {'number': str(number)}
    assert type(ends[1].error) is type(ends[0].error)


def test_metadata_and_timeout_of_the_caller_are_sent(server: Server, client: Client) -> None:
    client.call(server.target, retry(), metadata=(('tenant', 'acme'), ('x-bin', b'\0')), timeout=7)
    assert server.metadata['tenant'] == 'acme'
    assert server.metadata['x-bin'] == b'\0'
    assert server.time_remaining is not None
    assert 5 < server.time_remaining < 8


def test_compression_is_used(server: Server) -> None:
    with intercepted(server, retry()) as channel:
        call = unary(channel)
        call(b'x' * 1000, compression=grpc.Compression.Gzip)
    assert server.metadata.get('grpc-internal-encoding-request', 'gzip') == 'gzip'


@pytest.mark.slow
def test_call_waits_for_a_server_that_is_not_ready(client: Client) -> None:
    def call() -> None:
        ends.append(client.call(target, retry(), wait_for_ready=True))

    with run_server() as server:
        target = server.target
    ends: list[Ended] = []
    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.1)
    with run_server(target):
        thread.join()
    assert ends[0].response == b'x 1'


def test_serializers_are_used(server: Server) -> None:
    with intercepted(server, retry()) as channel:
        call = unary(channel, request_serializer=str.encode, response_deserializer=bytes.decode)
        assert call('rate') == 'rate 1'


@pytest.mark.parametrize('style', ['call', 'future'])
def test_request_that_cannot_be_serialized_is_the_error_of_grpc(server: Server, style: str) -> None:
    with intercepted(server, retry(attempts=1)) as channel:
        call = unary(channel, request_serializer=int)
        with pytest.raises(grpc.RpcError) as caught:
            call(b'x') if style == 'call' else call.future(b'x').result()
    assert caught.value.code() is Code.INTERNAL
    assert caught.value.details() == 'Exception serializing request!'
    assert server.methods == []


@pytest.mark.parametrize('code', [Code.UNAVAILABLE, Code.OK])
def test_streaming_calls_are_not_guarded(server: Server, code: Code) -> None:
    def run(channel: Any) -> list[object]:
        calls: list[Callable[[], Any]] = [
            lambda: list(channel.unary_stream('/shop.Billing/List')(b'x')),
            lambda: channel.stream_unary('/shop.Billing/Sum')(iter([b'a', b'b'])),
            lambda: list(channel.stream_stream('/shop.Billing/Both')(iter([b'a', b'b']))),
        ]
        ends: list[object] = []
        for call in calls:
            try:
                ends.append(call())
            except grpc.RpcError as error:
                ends.append((error.code(), error.details()))
        return ends

    async def call_all(channel: Any) -> list[object]:
        total = channel.stream_unary('/shop.Billing/Sum')()
        both = channel.stream_stream('/shop.Billing/Both')()
        ends: list[object] = []
        try:
            ends.append([item async for item in channel.unary_stream('/shop.Billing/List')(b'x')])
        except grpc.RpcError as error:
            ends.append((error.code(), error.details()))
        for call in (total, both):
            await call.write(b'a')
            await call.done_writing()
        ends.append(await both.read())
        ends.append((await total.code(), await total.details()))
        return ends

    async def run_async(*interceptors: Any) -> list[object]:
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            return await call_all(channel)

    server.answers = [code]
    bank = circuit(name='billing')
    bank.isolate()
    with grpc.insecure_channel(server.target) as plain, intercepted(server, bank) as channel:
        assert run(channel) == run(plain)
    ends = asyncio.run(run_async(AsyncGuardInterceptor(bank)))
    assert ends == asyncio.run(run_async())


# Attempts.


def test_failed_calls_are_repeated(server: Server, client: Client) -> None:
    server.answers = [
        Code.UNAVAILABLE,
        Code.INTERNAL,
        Code.UNKNOWN,
        Code.RESOURCE_EXHAUSTED,
        'defect',
        Code.OK,
    ]
    end = client.call(server.target, retry(attempts=6, base=0.0))
    assert end.response == b'x 6'


def test_caller_receives_the_error_of_the_last_attempt(server: Server, client: Client) -> None:
    server.answers = [Code.UNAVAILABLE, Code.INTERNAL]
    end = client.call(server.target, retry(attempts=2, base=0.0))
    assert (end.code, end.error.details(), end.trailers['cost']) == (Code.INTERNAL, 'call 2', '2')
    assert not isinstance(end.error, Raised)


def is_payment(method: str) -> bool:
    return method.endswith('/Pay')


@pytest.mark.parametrize(
    ('repeatable', 'method', 'calls'),
    [
        ((), GET, 1),
        ({GET}, GET, 2),
        ([GET], PAY, 1),
        (is_payment, PAY, 2),
        (is_payment, GET, 1),
    ],
)
def test_only_named_methods_are_repeated(
    server: Server, client: Client, repeatable: Repeatable, method: str, calls: int
) -> None:
    server.answers = [Code.UNAVAILABLE, Code.OK]
    end = client.call(server.target, retry(base=0.0), method, repeatable=repeatable)
    assert (end.code is Code.OK, server.methods) == (calls == 2, [method] * calls)


def test_call_that_is_sent_once_passes_the_other_guards(server: Server, client: Client) -> None:
    server.answers = [Code.UNAVAILABLE]
    bank = circuit(name='billing', trip=consecutive(1))
    client.call(server.target, bank >> retry(base=0.0), PAY)
    assert (len(server.methods), bank.state) == (1, 'open')


@pytest.mark.parametrize(
    'code',
    [
        Code.OK,
        Code.CANCELLED,
        Code.INVALID_ARGUMENT,
        Code.NOT_FOUND,
        Code.ALREADY_EXISTS,
        Code.PERMISSION_DENIED,
        Code.FAILED_PRECONDITION,
        Code.ABORTED,
        Code.OUT_OF_RANGE,
        Code.UNIMPLEMENTED,
        Code.DATA_LOSS,
        Code.UNAUTHENTICATED,
    ],
)
def test_answers_of_the_server_are_successes(server: Server, client: Client, code: Code) -> None:
    server.answers = [code]
    bank = circuit(name='billing', trip=consecutive(1), open_for=30.0, world=(world := FakeWorld()))
    bank.open()
    world.advance(30.0)
    end = client.call(server.target, bank >> retry(base=0.0, world=world))
    assert (end.code, len(server.methods), bank.state) == (code, 1, 'closed')


@pytest.mark.parametrize(
    'code',
    [
        Code.UNAVAILABLE,
        Code.DEADLINE_EXCEEDED,
        Code.RESOURCE_EXHAUSTED,
        Code.INTERNAL,
        Code.UNKNOWN,
    ],
)
def test_failures_are_events_with_the_service(server: Server, client: Client, code: Code) -> None:
    server.answers = [code, Code.OK]
    events: list[GuardEvent] = []
    client.call(server.target, retry(base=0.0, observer=events.append))
    error: Any = events[0]
    assert str(error.error).startswith('shop.Billing ')
    assert error.error.cause.code() is code


def test_delay_of_the_server_is_respected(server: Server, client: Client) -> None:
    world = FakeWorld()
    server.answers, server.trailers = (
        [Code.UNAVAILABLE, Code.OK],
        (('grpc-retry-pushback-ms', '7000'),),
    )
    client.call(server.target, retry(jitter='none', world=world))
    assert world.slept == [7.0]


def test_server_that_forbids_a_retry_is_called_once(server: Server, client: Client) -> None:
    server.answers, server.trailers = [Code.UNAVAILABLE], (('grpc-retry-pushback-ms', '-1'),)
    assert client.call(server.target, retry(base=0.0)).code is Code.UNAVAILABLE
    assert len(server.methods) == 1


# Refusals.


def test_refusal_is_an_error_of_grpc_with_the_error_of_the_guard(
    server: Server, client: Client
) -> None:
    bank = circuit(name='billing', open_for=30.0, world=FakeWorld())
    bank.open()
    end = client.call(server.target, bank)
    error = end.error
    kind = grpc.aio.AioRpcError if client.style == 'aio' else grpc.Call
    assert [isinstance(error, class_) for class_ in (CallRefused, Raised, kind)] == [True] * 3
    assert error.error == CircuitOpen('billing', 0, 30.0, 'open')
    assert error.code() is Code.UNAVAILABLE
    assert error.details() == str(error) == "The circuit 'billing' refuses calls (failures: 0)."
    assert repr(error).endswith(f'({error.error!r})')
    assert error.debug_error_string() == repr(error.error)
    assert end.trailers == {'grpc-retry-pushback-ms': '30000'}
    assert dict(end.error.initial_metadata()) == {}
    assert server.methods == []


class Refuse(Layer[TaggedError]):
    """A guard that refuses all calls with one error."""

    def __init__(self, error: TaggedError) -> None:
        self._error = error
        super().__init__('refuse')

    @override
    def enter(self) -> Admission:
        return Failure(self._error)

    @override
    def limits(self) -> str:
        return 'nothing'


class Closed(TaggedError, category=Category.PERMISSION, message='Closed.'):
    """An error of a guard of one's own."""


@pytest.mark.parametrize(
    ('error', 'code', 'trailers'),
    [
        (
            RateLimited('x', 1, 1.0, 0.0015),
            Code.RESOURCE_EXHAUSTED,
            {'grpc-retry-pushback-ms': '2'},
        ),
        (BulkheadFull('x', 'tool', '', 1, 0.0), Code.RESOURCE_EXHAUSTED, {}),
        (DeadlineExceeded('x', 1.0), Code.DEADLINE_EXCEEDED, {}),
        (Closed(), Code.UNAVAILABLE, {}),
    ],
)
def test_status_of_a_refusal(
    server: Server, client: Client, error: TaggedError, code: Code, trailers: dict[str, str]
) -> None:
    end = client.call(server.target, Refuse(error))
    assert (end.error.error, end.code, end.trailers) == (error, code, trailers)


def test_refusal_becomes_a_failure_at_an_edge(server: Server, client: Client) -> None:
    def load() -> bytes | None:
        end = client.call(server.target, bank)
        if end.error is not None:
            raise end.error
        return end.response

    bank = circuit(name='billing')
    bank.isolate()
    assert isinstance(caught(load, CircuitOpen).failure(), CircuitOpen)
    with pytest.raises(CallRefused):
        refine(load, grpc_failures('billing', timeout=1.0))


def test_refusal_of_an_inner_guard_keeps_its_error(server: Server) -> None:
    bank = circuit(name='billing')
    bank.isolate()
    outer = circuit(name='outer', trip=consecutive(1), world=(world := FakeWorld()))
    outer.open()
    world.advance(30.0)
    with intercepted(server, bank) as inner:
        channel = grpc.intercept_channel(inner, GuardInterceptor(outer))
        for call in (unary(channel), unary(channel).with_call):
            with pytest.raises(CallRefused) as caught:
                call(b'x')
            assert isinstance(caught.value.error, CircuitOpen)
        future = unary(channel).future(b'x')
        assert isinstance(future.exception().error, CircuitOpen)

    async def main() -> None:
        interceptors = [AsyncGuardInterceptor(outer), AsyncGuardInterceptor(bank)]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            with pytest.raises(CallRefused) as caught:
                await unary(channel)(b'x')
            assert isinstance(caught.value.error, CircuitOpen)

    asyncio.run(main())
    # A refusal is neither a failure nor a success of the service.
    assert outer.state == 'half_open'


def test_refusal_can_be_pickled(server: Server, client: Client) -> None:
    bank = circuit(name='billing')
    bank.isolate()
    error = client.call(server.target, bank).error
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- of this test
    assert (type(copy), copy.error) == (type(error), error.error)


# Deadlines.


def test_deadline_shortens_the_timeout_of_the_call(server: Server, client: Client) -> None:
    client.call(server.target, deadline(3.0), timeout=7)
    assert server.time_remaining is not None
    assert server.time_remaining < 4
    client.call(server.target, deadline(7.0), timeout=3)
    assert server.time_remaining < 4
    client.call(server.target, deadline(3.0), timeout=None)
    assert server.time_remaining < 4


def test_deadline_of_the_caller_limits_the_call(server: Server) -> None:
    with intercepted(server, retry()) as channel:
        call = unary(channel)
        deadline(3.0).run_sync(lambda: Success(call(b'x')))
    assert server.time_remaining is not None
    assert server.time_remaining < 4


def test_deadline_ends_a_call(server: Server, client: Client) -> None:
    server.answers = ['hang']
    end = client.call(server.target, deadline(0.1, name='billing'))
    # The deadline of the guard and the timeout that it gives to gRPC end at the same time.
    assert end.code is Code.DEADLINE_EXCEEDED
    assert server.has_been_cancelled.wait(PATIENCE)


def test_response_that_is_late_is_refused(server: Server, client: Client) -> None:
    class Hour(Permit):
        """A permit of calls that take an hour."""

        @override
        def leave(self, outcome: Outcome, /) -> Outcome:
            world.advance(3600.0)
            return outcome

    class Slow(Layer[Never]):
        """A guard whose calls take an hour."""

        @override
        def enter(self) -> Admission:
            return Hour()

        @override
        def limits(self) -> str:
            return 'slow'

    world = FakeWorld()
    end = client.call(server.target, deadline(60.0, name='billing', world=world) >> Slow('slow'))
    assert end.error.error == DeadlineExceeded('billing', 60.0)
    assert len(server.methods) == 1


# Other behaviour.


def test_defect_of_an_interceptor_propagates_and_counts(server: Server, client: Client) -> None:
    class Broken(grpc.UnaryUnaryClientInterceptor):
        @override
        def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Never:
            raise ZeroDivisionError

    class AsyncBroken(grpc.aio.UnaryUnaryClientInterceptor):
        @override
        async def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Never:
            raise ZeroDivisionError

    bank = circuit(name='billing', trip=consecutive(1))
    guard = bank >> retry(base=0.0)

    async def main() -> None:
        interceptors = [AsyncGuardInterceptor(guard, repeatable=READS), AsyncBroken()]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            await unary(channel)(b'x')

    def call() -> None:
        if client.style == 'aio':
            asyncio.run(main())
            return
        guarded = GuardInterceptor(guard, repeatable=READS)
        with grpc.insecure_channel(server.target) as plain:
            method = unary(grpc.intercept_channel(plain, guarded, Broken()))
            if client.style == 'future':
                method.future(b'x').result()
            method(b'x')

    with pytest.raises(ZeroDivisionError):
        call()
    assert (bank.state, server.methods) == ('open', [])


def test_error_of_another_interceptor_keeps_its_type(server: Server) -> None:
    class Denied(grpc.RpcError):
        pass

    class Deny(grpc.UnaryUnaryClientInterceptor):
        @override
        def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Never:
            raise Denied

    class AsyncDeny(grpc.aio.UnaryUnaryClientInterceptor):
        @override
        async def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Never:
            raise grpc.aio.AioRpcError(Code.NOT_FOUND, details='none')

    with grpc.insecure_channel(server.target) as plain:
        channel = grpc.intercept_channel(plain, GuardInterceptor(retry()), Deny())
        with pytest.raises(Denied):
            unary(channel)(b'x')

    async def main() -> None:
        interceptors = [AsyncGuardInterceptor(retry()), AsyncDeny()]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            await unary(channel)(b'x')

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        asyncio.run(main())
    assert caught.value.code() is Code.NOT_FOUND


def test_other_interceptors_see_each_attempt_inside_and_one_call_outside(server: Server) -> None:
    class Count(grpc.UnaryUnaryClientInterceptor):
        def __init__(self, name: str) -> None:
            self.name = name

        @override
        def intercept_unary_unary(
            self, continuation: Any, client_call_details: Any, request: Any
        ) -> Any:
            counts[self.name] += 1
            return continuation(client_call_details, request)

    counts: Counter[str] = Counter()
    server.answers = [Code.UNAVAILABLE, Code.OK]
    guard = GuardInterceptor(retry(base=0.0), repeatable=READS)
    with grpc.insecure_channel(server.target) as plain:
        channel = grpc.intercept_channel(plain, Count('outer'), guard, Count('inner'))
        assert unary(channel)(b'x', timeout=5, metadata=(('tenant', 'a'),)) == b'x 2'
    assert counts == {'outer': 1, 'inner': 2}
    assert server.metadata['tenant'] == 'a'


TENANT: ContextVar[str] = ContextVar('tenant', default='nobody')


def test_context_of_the_caller_is_kept(server: Server, client: Client) -> None:
    def key() -> str:
        tenants.append(TENANT.get())
        return TENANT.get()

    tenants: list[str] = []
    token = TENANT.set('acme')
    try:
        client.call(server.target, rate_limit(1, name='x', key=key))
    finally:
        TENANT.reset(token)
    assert set(tenants) == {'acme'}


def test_calls_of_many_threads_and_tasks_share_a_bulkhead(server: Server) -> None:
    full = bulkhead(2, name='billing', queue=None, wait=None)

    async def main() -> list[bytes]:
        interceptors = [AsyncGuardInterceptor(full)]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:

            async def call() -> bytes:
                response: bytes = await unary(channel)(b'x')
                return response

            return await asyncio.gather(*(call() for _ in range(20)))

    assert len(asyncio.run(main())) == 20
    with intercepted(server, full) as channel:
        call = unary(channel)
        futures = [call.future(b'x') for _ in range(2)]
        assert all(future.result(PATIENCE).startswith(b'x ') for future in futures)
    assert full.in_flight == 0


def test_hedge_makes_a_second_call_and_cancels_the_slow_one(server: Server) -> None:
    server.answers = ['hang', Code.OK]
    fast = hedge(after=0.05, name='reads', share=1.0)
    end = Client('aio').call(server.target, fast)
    assert (end.response, len(server.methods)) == (b'x 2', 2)
    assert server.has_been_cancelled.wait(PATIENCE)


def test_cancelled_task_cancels_the_call_and_releases_the_permit(server: Server) -> None:
    full = bulkhead(1, name='billing')
    bank = circuit(name='billing', trip=consecutive(1))

    async def main() -> None:
        interceptors = [AsyncGuardInterceptor(full >> bank >> retry(), repeatable=READS)]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            call = unary(channel)(b'x')
            await asyncio.to_thread(server.has_begun.wait, PATIENCE)
            assert full.in_flight == 1
            assert call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert call.cancelled()
            assert call.done()
            assert await call.code() is Code.CANCELLED
            assert full.in_flight == 0

    server.answers = ['hang']
    asyncio.run(main())
    assert server.has_been_cancelled.wait(PATIENCE)
    assert (bank.state, len(server.methods)) == ('closed', 1)


@pytest.mark.parametrize('steps', range(8))
def test_cancellation_at_any_step_releases_the_permit(server: Server, steps: int) -> None:
    full = bulkhead(1, name='billing')

    async def main() -> None:
        interceptors = [
            AsyncGuardInterceptor(
                full >> retry(base=60.0, cap=60.0, timeout=None), repeatable=READS
            )
        ]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            call = unary(channel)(b'x')
            for _ in range(steps):
                await asyncio.sleep(0.002)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert full.in_flight == 0

    server.answers = [Code.UNAVAILABLE]
    asyncio.run(main())


def test_done_callback_of_a_task_runs_once(server: Server) -> None:
    async def main() -> list[object]:
        interceptors = [AsyncGuardInterceptor(retry(base=0.0), repeatable=READS)]
        async with grpc.aio.insecure_channel(server.target, interceptors=interceptors) as channel:
            call = unary(channel)(b'x')
            done: list[object] = []
            call.add_done_callback(done.append)
            await call.wait_for_connection()
            await call
            await asyncio.sleep(0.01)
            assert await call.initial_metadata() == grpc.aio.Metadata(('number', '2'))
            return [item is call for item in done]

    server.answers = [Code.UNAVAILABLE, Code.OK]
    assert asyncio.run(main()) == [True]


# Arguments.


def test_fallback_is_no_guard_of_a_channel() -> None:
    def substitute(error: TaggedError) -> Result[str, Never]:
        return Success(str(error))

    no_guard: Any = fallback(substitute)
    for interceptor in (GuardInterceptor, AsyncGuardInterceptor):
        with pytest.raises(TypeError, match=r'guard must be a guard such as retry\(\)'):
            interceptor(no_guard)


@pytest.mark.parametrize('interceptor', [GuardInterceptor, AsyncGuardInterceptor])
def test_names_of_methods_are_checked(interceptor: Any) -> None:
    with pytest.raises(TypeError, match=r"repeatable must be a set .* \{'/shop.Billing/Get'\}"):
        interceptor(retry(), repeatable=GET)
    for name in ('Get', 'shop.Billing/Get', '/Get', '/shop.Billing/Get/'):
        with pytest.raises(ValueError, match=f"such as '/shop.Billing/Get', not '{name}'"):
            interceptor(retry(), repeatable={name})


def test_import_without_grpc_names_the_package_to_install() -> None:
    code = "import sys; sys.modules['grpc'] = None; import seamwise.policies.transports.grpc"
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        completed.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.transports.grpc needs gRPC: pip install grpcio'
    )
