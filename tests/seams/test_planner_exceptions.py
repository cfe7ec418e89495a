"""Classification of exceptions by type, without importing their libraries."""

import asyncio
import concurrent.futures
import email.message
import errno
import json
import socket
import ssl
import subprocess
import sys
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chuk_tool_processor.core.exceptions as peer
import httpx2
import msgspec
import pydantic
import pytest
from typing_extensions import override

from seamwise import Category, Cause, Raised, TaggedError
from seamwise._errors.reported import ReportedCause
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.streaming import StreamProviderFailed
from seamwise.catalog.tools import ToolTimedOut, UnknownTool
from seamwise.seams.planner import (
    ErrorCategory,
    ErrorCode,
    ErrorInfo,
    encode,
    from_error,
    from_exception,
)
from seamwise.seams.planner.tables import TOOLS
from tests.strategies import PLANTED

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'planner_codes.json').read_text(encoding='utf-8')
)


class BankBusy(
    TaggedError,
    namespace='test_planner_exceptions',
    category=Category.CAPACITY,
    message='{bank} is busy.',
):
    bank: str
    retry_after: float | None = None
    cause: Cause | None = None


class Item(pydantic.BaseModel):
    size: int


def build_exception(module: str, *names: str, **attributes: object) -> BaseException:
    """Build an exception of a library that is not installed; the names are those of its classes.

    Args:
        module: Name of the module of the classes.
        *names: Names of the classes, from the base to the class of the exception.
        **attributes: Attributes of the exception.
    """
    class_: Any = Exception
    for name in names:
        class_ = type(name, (class_,), {'__module__': module})
    exception: BaseException = class_('no')
    for name, value in attributes.items():
        setattr(exception, name, value)
    return exception


def exception_of(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 -- any type is accepted
        call()
    return caught.value


REQUEST = httpx2.Request('GET', 'https://example.org/')
EXAMPLES: dict[str, BaseException] = {
    'TimeoutError': TimeoutError(),
    'asyncio.TimeoutError': TimeoutError(),
    'httpx.ReadTimeout': build_exception(
        'httpx', 'TransportError', 'TimeoutException', 'ReadTimeout'
    ),
    'httpx.ConnectTimeout': build_exception(
        'httpx', 'TransportError', 'TimeoutException', 'ConnectTimeout'
    ),
    'ConnectionRefusedError': ConnectionRefusedError(errno.ECONNREFUSED, 'refused'),
    'ConnectionResetError': ConnectionResetError(errno.ECONNRESET, 'reset'),
    'BrokenPipeError': BrokenPipeError(errno.EPIPE, 'broken'),
    'httpx.ConnectError': build_exception(
        'httpx', 'TransportError', 'NetworkError', 'ConnectError'
    ),
    'asyncio.CancelledError': asyncio.CancelledError(),
    'pydantic.ValidationError': exception_of(lambda: Item.model_validate({'size': 'x'})),
    'msgspec.ValidationError': exception_of(lambda: msgspec.convert('x', int)),
    'HTTP status 429': build_exception('somewhere', 'ApiError', status_code=429),
    'MemoryError': MemoryError(),
    'OSError ENOSPC': OSError(errno.ENOSPC, 'no room'),
    'ZeroDivisionError': ZeroDivisionError('division by zero'),
    'RuntimeError': RuntimeError('no'),
}


@pytest.mark.parametrize(('name', 'category'), FACTS['from_exception_ours'].items())
def test_exception_has_its_documented_category(name: str, category: str) -> None:
    assert from_exception(EXAMPLES[name]).category == category


@pytest.mark.parametrize(
    ('exc', 'code'),
    [
        (httpx2.ReadTimeout('late', request=REQUEST), 'TOOL_TIMEOUT'),
        (httpx2.PoolTimeout('full', request=REQUEST), 'BULKHEAD_FULL'),
        (httpx2.ConnectError('no', request=REQUEST), 'MCP_CONNECTION_FAILED'),
        (httpx2.RemoteProtocolError('no', request=REQUEST), 'MCP_TRANSPORT_ERROR'),
        (httpx2.UnsupportedProtocol('no', request=REQUEST), 'CONFIGURATION_ERROR'),
        (
            httpx2.HTTPStatusError('no', request=REQUEST, response=httpx2.Response(429)),
            'TOOL_RATE_LIMITED',
        ),
        (
            build_exception('requests.exceptions', 'ConnectionError', 'ConnectTimeout'),
            'TOOL_TIMEOUT',
        ),
        (build_exception('requests.exceptions', 'ConnectionError'), 'MCP_CONNECTION_FAILED'),
        (build_exception('openai', 'APIConnectionError', 'APITimeoutError'), 'TOOL_TIMEOUT'),
        (
            build_exception('openai', 'APIStatusError', 'RateLimitError', status_code=429),
            'TOOL_RATE_LIMITED',
        ),
        (
            build_exception('aiohttp.client_exceptions', 'ClientResponseError', status=504),
            'TOOL_TIMEOUT',
        ),
        (build_exception('anthropic', 'APIStatusError', status_code=529), 'BULKHEAD_FULL'),
        (
            build_exception('urllib3.exceptions', 'MaxRetryError', reason=ConnectionRefusedError()),
            'MCP_CONNECTION_FAILED',
        ),
        (urllib.error.URLError(TimeoutError()), 'TOOL_TIMEOUT'),
        (urllib.error.URLError('no host'), 'TOOL_EXECUTION_FAILED'),
        (concurrent.futures.CancelledError(), 'TOOL_CANCELLED'),
        (KeyboardInterrupt(), 'TOOL_CANCELLED'),
        (subprocess.TimeoutExpired('make', 3), 'TOOL_TIMEOUT'),
        (socket.gaierror(socket.EAI_NONAME, 'unknown'), 'MCP_CONNECTION_FAILED'),
        (ssl.SSLCertVerificationError('no'), 'CONFIGURATION_ERROR'),
        (OSError(errno.EHOSTUNREACH, 'no route'), 'MCP_CONNECTION_FAILED'),
        (OSError(errno.ETIMEDOUT, 'late'), 'TOOL_TIMEOUT'),
        (OSError(errno.EMFILE, 'too many'), 'RESOURCE_EXHAUSTED'),
        (asyncio.QueueFull(), 'BULKHEAD_FULL'),
        (asyncio.IncompleteReadError(b'', 3), 'MCP_TRANSPORT_ERROR'),
        (json.JSONDecodeError('no', '{', 1), 'PARSER_ERROR'),
        (build_exception('mcp.shared.exceptions', 'McpError'), 'MCP_SERVER_ERROR'),
        (FileNotFoundError(errno.ENOENT, 'no file'), 'TOOL_EXECUTION_FAILED'),
        (build_exception('mine', 'TimeoutException'), 'TOOL_EXECUTION_FAILED'),
        (SystemExit(429), 'TOOL_CANCELLED'),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else '',
)
def test_exception_has_its_documented_code(exc: BaseException, code: str) -> None:
    assert from_exception(exc).code == code


def test_from_exception_imports_no_library() -> None:
    program = (
        'import sys; from seamwise.seams.planner import from_exception; '
        'from_exception(TimeoutError()); '
        "sys.exit(bool({'httpx', 'httpx2', 'pydantic', 'requests'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, '-I', '-c', program], check=False).returncode == 0


@pytest.mark.parametrize(
    ('status', 'code', 'retryable'),
    [
        (400, 'TOOL_ARGUMENT_ERROR', False),
        (401, 'CONFIGURATION_ERROR', False),
        (403, 'TOOL_EXECUTION_FAILED', False),
        (404, 'TOOL_EXECUTION_FAILED', False),
        (408, 'TOOL_TIMEOUT', True),
        (422, 'TOOL_ARGUMENT_ERROR', False),
        (429, 'TOOL_RATE_LIMITED', True),
        (500, 'TOOL_EXECUTION_FAILED', True),
        (501, 'TOOL_EXECUTION_FAILED', False),
        (503, 'TOOL_EXECUTION_FAILED', True),
        (504, 'TOOL_TIMEOUT', True),
    ],
)
def test_http_status_determines_code_and_retryability(
    status: int, code: str, retryable: bool
) -> None:
    info = from_exception(
        httpx2.HTTPStatusError('no', request=REQUEST, response=httpx2.Response(status))
    )
    assert (info.code, info.retryable, info.details['status']) == (code, retryable, status)


def test_invalid_http_status_is_ignored() -> None:
    for status in (200, 999, True, 'e429', None):
        assert (
            from_exception(build_exception('somewhere', 'ApiError', status_code=status)).code
            == 'TOOL_EXECUTION_FAILED'
        )


@pytest.mark.parametrize(
    ('headers', 'expected'),
    [
        ({'Retry-After': '30'}, 30_000),
        ({'Retry-After': ' 1.5 '}, 1500),
        ({'retry-after-ms': '1500', 'Retry-After': '30'}, 1500),
        ({'retry-after-ms': 'x', 'Retry-After': '30'}, 30_000),
        ({'Retry-After': '-10'}, None),
        ({'Retry-After': 'nan'}, None),
        ({'Retry-After': 'inf'}, None),
        ({'Retry-After': 'soon'}, None),
        ({'Retry-After': '٣'}, None),
        ({'Retry-After': '9' * 40}, None),
        ({}, None),
    ],
)
def test_delay_is_read_from_the_headers_of_the_response(
    headers: dict[str, str], expected: int | None
) -> None:
    response = type('Response', (), {'status_code': 429, 'headers': headers})()
    assert (
        from_exception(build_exception('somewhere', 'ApiError', response=response)).retry_after_ms
        == expected
    )


def test_delay_is_read_from_the_headers_of_real_clients() -> None:
    response = httpx2.Response(503, headers={'Retry-After': '2'})
    assert (
        from_exception(
            httpx2.HTTPStatusError('no', request=REQUEST, response=response)
        ).retry_after_ms
        == 2000
    )
    headers = email.message.Message()
    headers['Retry-After'] = '3'
    refused = urllib.error.HTTPError('https://example.org', 429, 'no', headers, None)
    with refused:
        assert (
            from_exception(refused).retry_after_ms is None
            or from_exception(refused).retry_after_ms == 3000
        )
        assert from_exception(refused).code == 'TOOL_RATE_LIMITED'


@pytest.mark.parametrize('delay', [2.5, float('nan'), float('inf'), -1.0, 10.0**12, 'soon', True])
def test_delay_of_an_exception_is_read_if_it_is_valid(delay: object) -> None:
    info = from_exception(
        build_exception('somewhere', 'ApiError', status_code=429, retry_after=delay)
    )
    assert info.retry_after_ms == (2500 if delay == 2.5 else None)


# Nested errors and exceptions


def test_raised_is_classified_as_its_error() -> None:
    error = ToolTimedOut('search', 30.0, 3)
    assert from_exception(Raised(error)) == from_error(error, adapter=TOOLS)
    assert from_exception(Raised(UnknownTool('x', 'default', ('y',)))).code == 'TOOL_NOT_FOUND'
    assert from_exception(Raised(UpstreamRateLimited('api', 2.5))).retry_after_ms == 2500
    assert from_exception(Raised(error)).to_log().error == 'ToolTimedOut'


def test_error_outside_the_catalogue_is_classified_by_its_category() -> None:
    info = from_exception(Raised(BankBusy('north', 0.5)))
    assert (info.code, info.retry_after_ms, info.message) == (
        ErrorCode.BULKHEAD_FULL,
        500,
        'north is busy.',
    )
    assert from_exception(Raised(StreamProviderFailed('north', 503))).retryable
    assert from_exception(Raised('no error at all')).code == 'TOOL_EXECUTION_FAILED'


@pytest.mark.parametrize('category', Category)
def test_code_of_every_category_has_the_same_retryability(category: Category) -> None:
    class Local(TaggedError, category=category):
        pass

    assert from_exception(Raised(Local())).retryable is category.retryable


def test_group_is_classified_as_its_first_member_that_is_not_retryable() -> None:
    group = ExceptionGroup(
        'two', [TimeoutError(), ExceptionGroup('inner', [MemoryError(), PermissionError(13, 'no')])]
    )
    info = from_exception(group)
    assert (info.code, info.retryable) == ('TOOL_EXECUTION_FAILED', False)
    assert info.details['exceptions'] == ['TimeoutError', 'MemoryError', 'PermissionError']
    assert from_exception(ExceptionGroup('one', [TimeoutError()])).category is ErrorCategory.TIMEOUT
    assert (
        from_exception(BaseExceptionGroup('one', [asyncio.CancelledError()])).category
        is ErrorCategory.CANCELLED
    )
    assert (
        from_exception(ExceptionGroup('one', [Raised(BankBusy('north'))])).code == 'BULKHEAD_FULL'
    )


def test_reported_cause_is_classified_by_its_text() -> None:
    assert from_exception(ReportedCause('TimeoutError', 'late')).category is ErrorCategory.TIMEOUT


def test_log_form_of_an_exception_contains_its_cause() -> None:
    try:
        try:
            raise OSError(28, f'no room, password={PLANTED}')
        except OSError as disk_error:
            raise RuntimeError('no') from disk_error
    except RuntimeError as error:
        form = from_exception(error).to_log()
    assert form.error == 'RuntimeError'
    assert msgspec.to_builtins(form)['original_error'] == {
        'type': 'OSError',
        'message': '[Errno 28] no room, password=***',
    }


# Bad input


class Hostile(Exception):
    @property
    def status_code(self) -> int:
        raise RuntimeError('no')

    @override
    def __str__(self) -> str:
        raise RuntimeError('no')


@pytest.mark.parametrize(
    'exc',
    [
        Hostile(),
        RuntimeError('مرحبا 你好'),
        RuntimeError('\ud800'),
        RuntimeError('\0\x1b[31m'),
        RuntimeError('x' * 10_000_000),
        RuntimeError(f'password={PLANTED}'),
        RuntimeError({'apiKey': PLANTED}),
        KeyError(),
    ],
    ids=range(8),
)
def test_info_is_safe_for_any_text_of_an_exception(exc: BaseException) -> None:
    info = from_exception(exc)
    encoded = encode(info)
    assert PLANTED.encode() not in encoded
    assert info.message
    assert len(encoded) < 4000
    assert msgspec.json.decode(encoded, type=ErrorInfo).code == 'TOOL_EXECUTION_FAILED'


# chuk-tool-processor, which has the same codes


@pytest.mark.parametrize(
    'exc',
    [
        peer.ToolNotFoundError('x', available_tools=['y']),
        peer.ToolTimeoutError('x', 30.0, 3),
        peer.ToolRateLimitedError('x', 45.2, 100, 60.0),
        peer.ToolCircuitOpenError('x', 5, 60.0),
        peer.BulkheadFullError('x'),
        peer.MCPConnectionError('notion', 'Connection refused'),
        peer.ParserError('no', 'json', '{'),
    ],
    ids=lambda exc: type(exc).__name__,
)
def test_exception_of_chuk_tool_processor_keeps_its_info(
    exc: peer.ToolProcessorError,
) -> None:
    theirs = exc.to_error_info().model_dump(mode='json')
    ours = json.loads(encode(from_exception(exc)))
    assert ours == theirs
    assert list(ours) == list(theirs)
