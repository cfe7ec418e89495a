"""What gRPC raises against real servers in this process: every status code, a deadline, a cancellation, nobody there."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result, Success, refine
from seamwise.catalog.network import (
    CredentialsRejected,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.policies.classify.grpc import grpc_failures
from seamwise.policies.classify.pushback import STATUS_DETAILS_KEY, PUSHBACK_KEY, pushback

PASSWORD = 'hunter2'  # noqa: S105
SHORT = 0.05
PATIENCE = 10.0
NEVER = 1e9
"""The longest delay of an error: longer than any retry waits."""

GrpcError = NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed
FAILURES = grpc_failures('billing', timeout=SHORT)

# google.rpc.Status as the packages protobuf 7 and googleapis-common-protos write it: code 8, 'too many', and its details.
_RETRY_INFO = '0a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e5265747279496e666f'
_START = '08081208746f6f206d616e79'
_ERROR_INFO = '1a400a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e4572726f72496e666f12140a0551554f5441120b6578616d706c652e6f7267'
STATUSES = {
    'an ErrorInfo, then 1.5 s': (
        f'{_START}{_ERROR_INFO}1a36{_RETRY_INFO}120a0a0808011080cab5ee01',
        1.5,
    ),
    '-1 s': (f'{_START}1a39{_RETRY_INFO}120d0a0b08ffffffffffffffffff01', None),
    'the least of numbers': (f'{_START}1a39{_RETRY_INFO}120d0a0b0880808080808080808001', None),
    '-5 ns': (f'{_START}1a39{_RETRY_INFO}120d0a0b10fbffffffffffffffff01', None),
    '10,000 years': (f'{_START}1a35{_RETRY_INFO}12090a070880bcaece9709', NEVER),
    'no delay': (f'{_START}1a2a{_RETRY_INFO}', 0.0),
    'an ErrorInfo': (f'{_START}{_ERROR_INFO}', None),
    'nothing': ('', None),
}


LONG = bytes.fromhex(STATUSES['10,000 years'][0])


class Billing(grpc.GenericRpcHandler):
    """Ends each call with the code that its method is named by; `hang` waits, `boom` raises, `OK` answers."""

    def __init__(self, is_over: threading.Event) -> None:
        self.is_over = is_over

    @override
    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes]:
        word = handler_call_details.method.rpartition('/')[2]

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            if word == 'boom':
                raise ValueError('a bug in the server')
            if word == 'hang':
                self.is_over.wait(PATIENCE)
                return b''
            if word == 'OK':
                return request
            key, _, value = request.partition(b'=')
            if value:
                context.set_trailing_metadata(
                    ((key.decode(), value if key.endswith(b'-bin') else value.decode()),)
                )
            return context.abort(grpc.StatusCode[word], f'told {word} password={PASSWORD}')

        def answers(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            yield request
            context.abort(grpc.StatusCode.UNAVAILABLE, 'in the middle')

        if word == 'stream':
            return grpc.unary_stream_rpc_method_handler(answers)
        return grpc.unary_unary_rpc_method_handler(answer)


@contextmanager
def serving() -> Generator[str]:
    is_over = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool, handlers=[Billing(is_over)])
        port = server.add_insecure_port('127.0.0.1:0')
        server.start()
        try:
            yield f'127.0.0.1:{port}'
        finally:
            is_over.set()
            server.stop(None).wait()


@pytest.fixture(scope='module')
def target() -> Iterator[str]:
    with serving() as name:
        yield name


@pytest.fixture
def channel(target: str) -> Iterator[Any]:
    with grpc.insecure_channel(target) as one:
        yield one


Ask = Callable[..., Result[bytes, GrpcError]]


def _ask(
    target: str, word: str, request: bytes = b'x', timeout: float = PATIENCE
) -> Result[bytes, GrpcError]:
    channel: Any = grpc.insecure_channel(target)
    with channel:
        call: Callable[..., bytes] = channel.unary_unary(f'/shop.Billing/{word}')
        return refine(lambda: call(request, timeout=timeout), FAILURES)


def _ask_async(
    target: str, word: str, request: bytes = b'x', timeout: float = PATIENCE
) -> Result[bytes, GrpcError]:
    async def ask() -> Result[bytes, GrpcError]:
        channel: Any = grpc.aio.insecure_channel(target)
        async with channel:

            async def call() -> bytes:
                answer: bytes = await channel.unary_unary(f'/shop.Billing/{word}')(
                    request, timeout=timeout
                )
                return answer

            return await refine(call, FAILURES)

    return asyncio.run(ask())


@pytest.fixture(params=[_ask, _ask_async], ids=['threads', 'asyncio'])
def ask(request: pytest.FixtureRequest) -> Ask:
    chosen: Ask = request.param
    return chosen


def failed(result: Result[bytes, GrpcError]) -> GrpcError:
    assert isinstance(result, Failure)
    error = result.failure()
    assert PASSWORD not in str(error)
    assert not [
        name
        for name in error.__struct_fields__
        if name != 'cause' and PASSWORD in repr(getattr(error, name))
    ]
    assert isinstance(error.cause, grpc.RpcError)
    return error


def test_an_answer_is_a_success(ask: Ask, target: str) -> None:
    assert ask(target, 'OK') == Success(b'x')


def test_nobody_there_is_a_service_that_fails(ask: Ask) -> None:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))  # bound, and nobody listens
        error = failed(ask(f'127.0.0.1:{taken.getsockname()[1]}', 'OK'))
    assert isinstance(error, UpstreamFailed)
    assert (error.service, error.status, error.retryable, error.retry_after) == (
        'billing',
        503,
        True,
        None,
    )
    assert error.excerpt.startswith('UNAVAILABLE: ')


@pytest.mark.parametrize(
    ('word', 'status'), [('UNAVAILABLE', 503), ('INTERNAL', 500), ('UNKNOWN', 500)]
)
def test_a_service_that_fails(ask: Ask, target: str, word: str, status: int) -> None:
    error = failed(ask(target, word))
    assert error == UpstreamFailed(
        'billing', status, f'{word}: told {word} password=***', cause=error.cause
    )


def test_a_bug_of_the_server_is_a_service_that_fails(
    ask: Ask, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = failed(ask(target, 'boom'))
    assert isinstance(error, UpstreamFailed)
    assert error.status == 500


def test_a_call_beyond_its_deadline_is_timed_out(ask: Ask, target: str) -> None:
    error = failed(ask(target, 'hang', timeout=SHORT))
    assert error == NetworkTimedOut('billing', 'a call', timeout=SHORT, cause=error.cause)
    assert str(error) == 'billing did not finish a call within 0.05 s.'


@pytest.mark.parametrize('word', ['UNAUTHENTICATED', 'PERMISSION_DENIED'])
def test_credentials_that_are_rejected(ask: Ask, target: str, word: str) -> None:
    error = failed(ask(target, word))
    assert error == CredentialsRejected('billing', 'the credentials for billing', cause=error.cause)


def test_the_setting_of_the_credentials_can_be_named(channel: Any) -> None:
    call: Callable[..., bytes] = channel.unary_unary('/shop.Billing/UNAUTHENTICATED')
    error = refine(
        lambda: call(b''), grpc_failures('billing', timeout=1.0, required_config='BILLING_TOKEN')
    ).failure()
    assert error == CredentialsRejected('billing', 'BILLING_TOKEN', cause=error.cause)


def test_too_many_calls(ask: Ask, target: str) -> None:
    error = failed(ask(target, 'RESOURCE_EXHAUSTED'))
    assert error == UpstreamRateLimited('billing', cause=error.cause)


@pytest.mark.parametrize(
    'word',
    [
        'CANCELLED', 'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE',
        'UNIMPLEMENTED', 'DATA_LOSS',
    ],
)  # fmt: skip
def test_every_other_code_is_a_defect(ask: Ask, target: str, word: str) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        ask(target, word)
    assert raised.value.code() is grpc.StatusCode[word]


def test_a_stream_that_breaks_is_a_service_that_fails(channel: Any) -> None:
    call: Callable[..., Iterator[bytes]] = channel.unary_stream('/shop.Billing/stream')
    seen: list[bytes] = []
    error = refine(lambda: seen.extend(call(b'x')), FAILURES).failure()
    assert error == UpstreamFailed('billing', 503, 'UNAVAILABLE: in the middle', cause=error.cause)
    assert seen == [b'x']


@pytest.mark.parametrize('word', ['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED'])
def test_the_pushback_of_a_server_is_the_delay(ask: Ask, target: str, word: str) -> None:
    error = failed(ask(target, word, PUSHBACK_KEY.encode() + b'=1500'))
    assert not isinstance(error, CredentialsRejected)
    assert error.retry_after == 1.5


def test_the_delay_of_a_retry_info_is_the_delay(ask: Ask, target: str) -> None:
    status, delay = STATUSES['an ErrorInfo, then 1.5 s']
    error = failed(
        ask(
            target, 'RESOURCE_EXHAUSTED', STATUS_DETAILS_KEY.encode() + b'=' + bytes.fromhex(status)
        )
    )
    assert error == UpstreamRateLimited('billing', retry_after=delay, cause=error.cause)


@pytest.mark.parametrize(
    ('milliseconds', 'delay'),
    [
        ('0', 0.0),
        ('1', 0.001),
        ('-1', NEVER),
        ('soon', NEVER),
        ('', NEVER),
        ('1' * 30, NEVER),
        ('9' * 5000, NEVER),
        (b'250', 0.25),
    ],
)
def test_a_pushback_that_is_negative_or_no_number_forbids_another_try(
    milliseconds: str | bytes, delay: float
) -> None:
    assert pushback([('other', 'x'), (PUSHBACK_KEY, milliseconds)]) == delay
    assert (
        pushback(
            [
                (STATUS_DETAILS_KEY, bytes.fromhex(STATUSES['10,000 years'][0])),
                (PUSHBACK_KEY, milliseconds),
            ]
        )
        == delay
    )


@pytest.mark.parametrize('name', STATUSES)
def test_the_delay_in_the_details_of_a_status(name: str) -> None:
    status, delay = STATUSES[name]
    assert pushback([(STATUS_DETAILS_KEY, bytes.fromhex(status))]) == delay


@pytest.mark.parametrize(
    'passed_by', ['31' + '00' * 8, '3d' + '00' * 4, '2a03616263', '3096ffff01']
)
def test_unknown_fields_of_every_kind_are_passed_by(passed_by: str) -> None:
    status = STATUSES['an ErrorInfo, then 1.5 s'][0].removeprefix(_START)
    assert pushback([(STATUS_DETAILS_KEY, bytes.fromhex(passed_by + status))]) == 1.5


def test_a_number_of_more_than_ten_bytes_is_none() -> None:
    status = bytes.fromhex(STATUSES['an ErrorInfo, then 1.5 s'][0])
    assert pushback([(STATUS_DETAILS_KEY, b'\x20' + b'\xff' * 9 + b'\x01' + status)]) == 1.5
    assert pushback([(STATUS_DETAILS_KEY, b'\x20' + b'\xff' * 10 + b'\x01' + status)]) is None


@given(st.binary(max_size=60) | st.integers(0, 64).map(lambda cut: LONG[:cut]))
def test_details_of_any_bytes_never_raise(details: bytes) -> None:
    delay = pushback([(STATUS_DETAILS_KEY, details)])
    assert delay is None or 0 <= delay <= NEVER
    assert pushback([(STATUS_DETAILS_KEY, details.hex())]) is None


@given(st.integers(0, 255), st.integers(0, 200))
def test_one_wrong_byte_in_the_details_never_raises(byte: int, at: int) -> None:
    details = bytearray.fromhex(STATUSES['an ErrorInfo, then 1.5 s'][0])
    details[at % len(details)] = byte
    delay = pushback([(STATUS_DETAILS_KEY, bytes(details))])
    assert delay is None or 0 <= delay <= NEVER


def test_a_call_that_is_cancelled_stays_cancelled(target: str, channel: Any) -> None:
    future = channel.unary_unary('/shop.Billing/hang').future(b'')
    future.cancel()
    call_result: Callable[[], bytes] = future.result
    with pytest.raises(grpc.FutureCancelledError):
        refine(call_result, FAILURES)

    async def cancelled() -> None:
        other: Any = grpc.aio.insecure_channel(target)
        async with other:

            async def call() -> bytes:
                answer: bytes = await other.unary_unary('/shop.Billing/hang')(b'')
                return answer

            async def ask() -> Result[bytes, GrpcError]:
                return await refine(call, FAILURES)

            task = asyncio.create_task(ask())
            await asyncio.sleep(SHORT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())


@pytest.mark.parametrize(
    'raised', [OSError('disk'), TimeoutError(), grpc.RpcError('nobody ended'), ValueError('grpc')]
)
def test_what_others_raise_is_a_defect(raised: Exception) -> None:
    assert FAILURES(raised) is None


def test_an_error_without_details_says_its_code() -> None:
    error = FAILURES(grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL))
    assert error is not None
    assert error == Failure(UpstreamFailed('billing', 500, 'INTERNAL', cause=error.failure().cause))


@pytest.mark.parametrize('timeout', [0.0, -1.0, float('nan'), float('inf')])
def test_a_timeout_that_nobody_can_mean_is_refused_where_it_is_said(timeout: float) -> None:
    with pytest.raises(ValueError, match='timeout must be a finite number, more than 0'):
        grpc_failures('billing', timeout=timeout)


def test_without_the_library_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['grpc'] = None; import seamwise.policies.classify.grpc"
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        ended.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.grpc needs gRPC: pip install grpcio'
    )
