"""Classifier of gRPC, with a real server in this process, and the parser of pushback delays."""

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
from seamwise.policies.classify.pushback import PUSHBACK_KEY, STATUS_DETAILS_KEY, pushback

PASSWORD = 'hunter2'  # noqa: S105
SHORT_TIMEOUT = 0.05
TIMEOUT = 10.0
NO_RETRY = 1e9
"""The longest delay of an error, in seconds; it exceeds that of any retry."""

GrpcError = NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed
FAILURES = grpc_failures('billing', timeout=SHORT_TIMEOUT)

# google.rpc.Status as encoded by protobuf 7 and googleapis-common-protos: code 8, 'too many', and
# details.
_RETRY_INFO = '0a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e5265747279496e666f'
_START = '08081208746f6f206d616e79'
_ERROR_INFO = (
    '1a400a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e4572726f72496e666f'
    '12140a0551554f5441120b6578616d706c652e6f7267'
)
STATUSES = {
    'an ErrorInfo, then 1.5 s': (
        f'{_START}{_ERROR_INFO}1a36{_RETRY_INFO}120a0a0808011080cab5ee01',
        1.5,
    ),
    '-1 s': (f'{_START}1a39{_RETRY_INFO}120d0a0b08ffffffffffffffffff01', None),
    'the smallest integer': (f'{_START}1a39{_RETRY_INFO}120d0a0b0880808080808080808001', None),
    '-5 ns': (f'{_START}1a39{_RETRY_INFO}120d0a0b10fbffffffffffffffff01', None),
    '10,000 years': (f'{_START}1a35{_RETRY_INFO}12090a070880bcaece9709', NO_RETRY),
    'no delay': (f'{_START}1a2a{_RETRY_INFO}', 0.0),
    'an ErrorInfo': (f'{_START}{_ERROR_INFO}', None),
    'nothing': ('', None),
}


LONG_STATUS = bytes.fromhex(STATUSES['10,000 years'][0])


class Billing(grpc.GenericRpcHandler):
    """Ends a call with the status code in the name of its method.

    The method `hang` waits, `boom` raises, `OK` returns the request.
    """

    def __init__(self, can_end: threading.Event) -> None:
        self.can_end = can_end

    @override
    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes]:
        method = handler_call_details.method.rpartition('/')[2]

        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            if method == 'boom':
                raise ValueError('a bug in the server')
            if method == 'hang':
                self.can_end.wait(TIMEOUT)
                return b''
            if method == 'OK':
                return request
            key, _, value = request.partition(b'=')
            if value:
                context.set_trailing_metadata(
                    ((key.decode(), value if key.endswith(b'-bin') else value.decode()),)
                )
            return context.abort(
                grpc.StatusCode[method], f'details of {method} password={PASSWORD}'
            )

        def handle_stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            yield request
            context.abort(grpc.StatusCode.UNAVAILABLE, 'interrupted')

        if method == 'stream':
            return grpc.unary_stream_rpc_method_handler(handle_stream)
        return grpc.unary_unary_rpc_method_handler(handle)


@contextmanager
def run_server() -> Generator[str]:
    can_end = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool, handlers=[Billing(can_end)])
        port = server.add_insecure_port('127.0.0.1:0')
        server.start()
        try:
            yield f'127.0.0.1:{port}'
        finally:
            can_end.set()
            server.stop(None).wait()


@pytest.fixture(scope='module')
def target() -> Iterator[str]:
    with run_server() as address:
        yield address


@pytest.fixture
def channel(target: str) -> Iterator[Any]:
    with grpc.insecure_channel(target) as opened:
        yield opened


Call = Callable[..., Result[bytes, GrpcError]]


def _call_sync(
    target: str, method: str, request: bytes = b'x', timeout: float = TIMEOUT
) -> Result[bytes, GrpcError]:
    channel: Any = grpc.insecure_channel(target)
    with channel:
        send: Callable[..., bytes] = channel.unary_unary(f'/shop.Billing/{method}')
        return refine(lambda: send(request, timeout=timeout), FAILURES)


def _call_async(
    target: str, method: str, request: bytes = b'x', timeout: float = TIMEOUT
) -> Result[bytes, GrpcError]:
    async def main() -> Result[bytes, GrpcError]:
        channel: Any = grpc.aio.insecure_channel(target)
        async with channel:

            async def send() -> bytes:
                response: bytes = await channel.unary_unary(f'/shop.Billing/{method}')(
                    request, timeout=timeout
                )
                return response

            return await refine(send, FAILURES)

    return asyncio.run(main())


@pytest.fixture(params=[_call_sync, _call_async], ids=['threads', 'asyncio'])
def call(request: pytest.FixtureRequest) -> Call:
    function: Call = request.param
    return function


def error_of(result: Result[bytes, GrpcError]) -> GrpcError:
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


def test_response_is_a_success(call: Call, target: str) -> None:
    assert call(target, 'OK') == Success(b'x')


def test_server_that_is_not_running_is_a_failed_upstream(call: Call) -> None:
    with socket.socket() as bound:
        bound.bind(('127.0.0.1', 0))  # The port is reserved, but no server listens.
        error = error_of(call(f'127.0.0.1:{bound.getsockname()[1]}', 'OK'))
    assert isinstance(error, UpstreamFailed)
    assert (error.service, error.status, error.retryable, error.retry_after) == (
        'billing',
        503,
        True,
        None,
    )
    assert error.excerpt.startswith('UNAVAILABLE: ')


@pytest.mark.parametrize(
    ('code', 'status'), [('UNAVAILABLE', 503), ('INTERNAL', 500), ('UNKNOWN', 500)]
)
def test_server_error_is_a_failed_upstream(call: Call, target: str, code: str, status: int) -> None:
    error = error_of(call(target, code))
    assert error == UpstreamFailed(
        'billing', status, f'{code}: details of {code} password=***', cause=error.cause
    )


def test_exception_in_the_server_is_a_failed_upstream(
    call: Call, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = error_of(call(target, 'boom'))
    assert isinstance(error, UpstreamFailed)
    assert error.status == 500


def test_call_that_exceeds_its_deadline_is_a_timeout(call: Call, target: str) -> None:
    error = error_of(call(target, 'hang', timeout=SHORT_TIMEOUT))
    assert error == NetworkTimedOut('billing', 'a call', timeout=SHORT_TIMEOUT, cause=error.cause)
    assert str(error) == 'billing did not finish a call within 0.05 s.'


@pytest.mark.parametrize('code', ['UNAUTHENTICATED', 'PERMISSION_DENIED'])
def test_authentication_error_is_rejected_credentials(call: Call, target: str, code: str) -> None:
    error = error_of(call(target, code))
    assert error == CredentialsRejected('billing', (), cause=error.cause)


def test_rejected_credentials_contain_the_name_of_the_setting(channel: Any) -> None:
    send: Callable[..., bytes] = channel.unary_unary('/shop.Billing/UNAUTHENTICATED')
    error = refine(
        lambda: send(b''), grpc_failures('billing', timeout=1.0, required_config=('BILLING_TOKEN',))
    ).failure()
    assert error == CredentialsRejected('billing', ('BILLING_TOKEN',), cause=error.cause)


def test_exhausted_resource_is_a_rate_limit(call: Call, target: str) -> None:
    error = error_of(call(target, 'RESOURCE_EXHAUSTED'))
    assert error == UpstreamRateLimited('billing', cause=error.cause)


@pytest.mark.parametrize(
    'code',
    [
        'CANCELLED',
        'INVALID_ARGUMENT',
        'NOT_FOUND',
        'ALREADY_EXISTS',
        'FAILED_PRECONDITION',
        'ABORTED',
        'OUT_OF_RANGE',
        'UNIMPLEMENTED',
        'DATA_LOSS',
    ],
)
def test_other_code_is_a_defect(call: Call, target: str, code: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call(target, code)
    assert caught.value.code() is grpc.StatusCode[code]


def test_interrupted_stream_is_a_failed_upstream(channel: Any) -> None:
    stream: Callable[..., Iterator[bytes]] = channel.unary_stream('/shop.Billing/stream')
    messages: list[bytes] = []
    error = refine(lambda: messages.extend(stream(b'x')), FAILURES).failure()
    assert error == UpstreamFailed('billing', 503, 'UNAVAILABLE: interrupted', cause=error.cause)
    assert messages == [b'x']


@pytest.mark.parametrize('code', ['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED'])
def test_pushback_of_the_server_is_the_delay(call: Call, target: str, code: str) -> None:
    error = error_of(call(target, code, PUSHBACK_KEY.encode() + b'=1500'))
    assert not isinstance(error, CredentialsRejected)
    assert error.retry_after == 1.5


def test_retry_info_of_the_server_is_the_delay(call: Call, target: str) -> None:
    status, delay = STATUSES['an ErrorInfo, then 1.5 s']
    error = error_of(
        call(
            target, 'RESOURCE_EXHAUSTED', STATUS_DETAILS_KEY.encode() + b'=' + bytes.fromhex(status)
        )
    )
    assert error == UpstreamRateLimited('billing', retry_after=delay, cause=error.cause)


@pytest.mark.parametrize(
    ('milliseconds', 'delay'),
    [
        ('0', 0.0),
        ('1', 0.001),
        ('-1', NO_RETRY),
        ('soon', NO_RETRY),
        ('', NO_RETRY),
        ('1' * 30, NO_RETRY),
        ('9' * 5000, NO_RETRY),
        (b'250', 0.25),
    ],
)
def test_negative_or_invalid_pushback_forbids_a_retry(
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
def test_delay_of_a_retry_info_in_the_status_details(name: str) -> None:
    status, delay = STATUSES[name]
    assert pushback([(STATUS_DETAILS_KEY, bytes.fromhex(status))]) == delay


@pytest.mark.parametrize(
    'unknown_field', ['31' + '00' * 8, '3d' + '00' * 4, '2a03616263', '3096ffff01']
)
def test_unknown_field_of_any_wire_type_is_skipped(unknown_field: str) -> None:
    status = STATUSES['an ErrorInfo, then 1.5 s'][0].removeprefix(_START)
    assert pushback([(STATUS_DETAILS_KEY, bytes.fromhex(unknown_field + status))]) == 1.5


def test_integer_of_more_than_ten_bytes_is_invalid() -> None:
    status = bytes.fromhex(STATUSES['an ErrorInfo, then 1.5 s'][0])
    assert pushback([(STATUS_DETAILS_KEY, b'\x20' + b'\xff' * 9 + b'\x01' + status)]) == 1.5
    assert pushback([(STATUS_DETAILS_KEY, b'\x20' + b'\xff' * 10 + b'\x01' + status)]) is None


@given(st.binary(max_size=60) | st.integers(0, 64).map(lambda cut: LONG_STATUS[:cut]))
def test_arbitrary_status_details_never_raise(details: bytes) -> None:
    delay = pushback([(STATUS_DETAILS_KEY, details)])
    assert delay is None or 0 <= delay <= NO_RETRY
    assert pushback([(STATUS_DETAILS_KEY, details.hex())]) is None


@given(st.integers(0, 255), st.integers(0, 200))
def test_status_details_with_one_wrong_byte_never_raise(byte: int, index: int) -> None:
    details = bytearray.fromhex(STATUSES['an ErrorInfo, then 1.5 s'][0])
    details[index % len(details)] = byte
    delay = pushback([(STATUS_DETAILS_KEY, bytes(details))])
    assert delay is None or 0 <= delay <= NO_RETRY


def test_cancellation_of_a_call_propagates(target: str, channel: Any) -> None:
    future = channel.unary_unary('/shop.Billing/hang').future(b'')
    future.cancel()
    get_result: Callable[[], bytes] = future.result
    with pytest.raises(grpc.FutureCancelledError):
        refine(get_result, FAILURES)

    async def main() -> None:
        async_channel: Any = grpc.aio.insecure_channel(target)
        async with async_channel:

            async def send() -> bytes:
                response: bytes = await async_channel.unary_unary('/shop.Billing/hang')(b'')
                return response

            async def call() -> Result[bytes, GrpcError]:
                return await refine(send, FAILURES)

            task = asyncio.create_task(call())
            await asyncio.sleep(SHORT_TIMEOUT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


@pytest.mark.parametrize(
    'error', [OSError('disk'), TimeoutError(), grpc.RpcError('no call'), ValueError('grpc')]
)
def test_other_exception_is_a_defect(error: Exception) -> None:
    assert FAILURES(error) is None


def test_excerpt_of_an_error_without_details_is_its_code() -> None:
    error = FAILURES(grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL))
    assert error is not None
    assert error == Failure(UpstreamFailed('billing', 500, 'INTERNAL', cause=error.failure().cause))


@pytest.mark.parametrize('timeout', [0.0, -1.0, float('nan'), float('inf')])
def test_timeout_out_of_range_is_a_value_error(timeout: float) -> None:
    with pytest.raises(ValueError, match='timeout must be a finite number, more than 0'):
        grpc_failures('billing', timeout=timeout)


def test_import_without_grpc_names_the_package_to_install() -> None:
    code = "import sys; sys.modules['grpc'] = None; import seamwise.policies.classify.grpc"
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        completed.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.grpc needs gRPC: pip install grpcio'
    )
