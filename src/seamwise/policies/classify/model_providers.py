"""Classification of the exceptions of a model provider's SDK, and of httpx without an SDK."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from seamwise._defects.exception_kinds import attribute
from seamwise._text.json_fields import is_object, text_of
from seamwise._text.json_pointer import json_pointer
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.catalog.problem import Problem
from seamwise.catalog.streaming import ChunkUnparsable, StreamingError, StreamProviderFailed
from seamwise.policies.classify.error_responses import ErrorResponse, read_error_response, status_of
from seamwise.policies.classify.exception_text import exception_reason, redacted_excerpt
from seamwise.policies.classify.foreign_exceptions import class_names, is_raised_in
from seamwise.policies.classify.sentences import Sentence

if TYPE_CHECKING:
    from pydantic_core import ValidationError

ProviderError: TypeAlias = ModelError | NetworkError | StreamingError
"""Errors of the calls of a model provider."""

ErrorType: TypeAlias = Literal[
    'model_not_found',
    'overloaded',
    'unavailable',
    'too_long',
    'filtered',
    'quota',
    'rate_limit',
    'credentials',
    'failed',
    'invalid',
]
"""Meaning of an error response; each has one error class."""

PROBLEM_LIMIT: Final = 20
"""Maximum number of problems of an answer in an error."""

_TYPES_BY_STATUS: Mapping[int, ErrorType] = {
    401: 'credentials',
    402: 'quota',
    403: 'credentials',
    407: 'credentials',
    408: 'failed',
    # Another request holds a lock. The SDKs of OpenAI and Anthropic repeat the request too.
    409: 'failed',
    413: 'too_long',
    425: 'failed',
    429: 'rate_limit',
    # Nonstandard: a proxy has closed the connection.
    499: 'failed',
    # The server never supports the request (RFC 9110, 15.6.2, 15.6.6).
    501: 'invalid',
    503: 'unavailable',
    505: 'invalid',
    # Nonstandard: of Anthropic.
    529: 'overloaded',
}


class RateLimit(Struct, frozen=True, kw_only=True):
    """The fields of `UpstreamRateLimited` that a response contains."""

    retry_after: float | None = None
    limit: int | None = None
    requests_made: int | None = None
    reset: float | None = None
    period: float | None = None


class Provider(Struct, frozen=True, kw_only=True):
    """The differences between providers.

    Attributes:
        name: The name in errors.
        package: The package of the SDK.
        required_config: The environment variables with the credentials.
        error_type: Returns the meaning of an error by its codes, or None if its status decides.
        rate_limit: Returns the exceeded limit. Its second argument is the current Unix time.
        sentences: The known sentences of errors that the codes do not distinguish.
        routed_sentences: Those of the providers behind a router with the same API.
    """

    name: str
    package: str
    required_config: tuple[str, ...]
    error_type: Callable[[ErrorResponse], ErrorType | None]
    rate_limit: Callable[[ErrorResponse, float], RateLimit]
    sentences: tuple[Sentence, ...] = ()
    routed_sentences: tuple[Sentence, ...] = ()


def classify(error: Exception, provider: Provider) -> ProviderError | None:
    """Return the error for an exception of the provider's SDK or of httpx, or None for a defect."""
    response = read_error_response(error, provider.package)
    if response is not None:
        type_ = _meaning(response, provider)
        return None if type_ is None else _response_error(type_, response, provider)
    return _connection_error(error, provider) or _unreadable_answer(error, provider)


def stream_error(
    error: Mapping[str, object], provider: Provider, *, model: str
) -> StreamProviderFailed:
    """Return the error for an error object inside a stream of server-sent events.

    Its cause is the error of the same object in a response, if its code has a meaning.

    Args:
        error: The error object.
        provider: The provider.
        model: The model of the stream, or '' if it is unknown.
    """
    status = status_of(error)
    response = ErrorResponse(status=status, error=error, headers={}, model=model, cause=None)
    type_ = _meaning(response, provider)
    cause = (
        None if type_ is None or type_ == 'failed' else _response_error(type_, response, provider)
    )
    delay = cause.retry_after if isinstance(cause, UpstreamRateLimited) else None
    return StreamProviderFailed(
        provider.name,
        status=status,
        retry_after=response.retry_after(time.time()) if delay is None else delay,
        code=response.code,
        cause=cause,
    )


def body_error(body: Mapping[str, object], provider: Provider) -> ProviderError | None:
    """Return the error in the body of a response with status 200, or None if it has none.

    Args:
        body: The body.
        provider: The provider.
    """
    error = body.get('error')
    is_error = body.get('object') == 'error' or body.get('type') == 'error'
    if not error and not is_error:
        return None
    fields = error if is_object(error) else {'message': error} if error else body
    status = status_of(fields)
    model = text_of(body.get('model'))
    response = ErrorResponse(status=status, error=fields, headers={}, model=model, cause=None)
    type_ = _meaning(response, provider) or 'failed'
    return _response_error(type_, replace(response, status=status or HTTPStatus.OK.value), provider)


def _meaning(response: ErrorResponse, provider: Provider) -> ErrorType | None:
    """Return the meaning of an error, or of the error of the provider behind a router."""
    type_ = _own_meaning(response, provider, provider.sentences)
    if response.routed is None or type_ is None:
        return type_
    inner = _own_meaning(response.routed, provider, provider.routed_sentences)
    # The credentials of a router are not those of the caller.
    return type_ if inner in {None, 'failed', 'invalid', 'credentials'} else inner


def _own_meaning(
    response: ErrorResponse, provider: Provider, sentences: tuple[Sentence, ...]
) -> ErrorType | None:
    """Return the meaning of an error by its codes, then by its words, and by its status last."""
    type_ = provider.error_type(response)
    if type_ is not None and type_ != 'invalid':
        return type_
    message = response.text('message').lstrip()
    for sentence in sentences:
        has_status = response.status is None or response.status in sentence.statuses
        if has_status and sentence.pattern.match(message):
            return sentence.type
    return type_ or _type_by_status(response)


def _type_by_status(response: ErrorResponse) -> ErrorType | None:
    status = response.status
    if status is None:
        return 'failed'
    if status < HTTPStatus.BAD_REQUEST:
        # A redirect, which the client does not follow.
        return None
    if status == HTTPStatus.NOT_FOUND:
        # A body without an error object is not from the provider, for example after a wrong URL.
        return 'model_not_found' if response.model and response.text('message') else 'invalid'
    is_server_error = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return _TYPES_BY_STATUS.get(status, 'failed' if is_server_error else 'invalid')


def _response_error(  # noqa: C901, PLR0911 -- one arm for each type
    type_: ErrorType, response: ErrorResponse, provider: Provider
) -> ProviderError:
    name, cause, now = provider.name, response.cause, time.time()
    delay = response.retry_after(now)
    match type_:
        case 'model_not_found':
            return ModelNotFound(name, response.model, cause=cause)
        case 'overloaded':
            return ModelOverloaded(name, response.model, retry_after=delay, cause=cause)
        case 'unavailable':
            return ProviderUnavailable(name, retry_after=delay, cause=cause)
        case 'too_long':
            return ContextTooLong(name, cause=cause)
        case 'filtered':
            return ContentFiltered(name, response.message, cause=cause)
        case 'quota':
            return QuotaExceeded(name, cause=cause)
        case 'rate_limit':
            limit = provider.rate_limit(response, now)
            return UpstreamRateLimited(
                name,
                retry_after=limit.retry_after if delay is None else delay,
                limit=limit.limit,
                requests_made=limit.requests_made,
                reset=limit.reset,
                period=limit.period,
                cause=cause,
            )
        case 'credentials':
            return CredentialsRejected(name, provider.required_config, cause=cause)
        case 'failed':
            status = response.status
            if status is None:
                return StreamProviderFailed(
                    name, retry_after=delay, code=response.code, cause=cause
                )
            return UpstreamFailed(name, status, response.message, retry_after=delay, cause=cause)
        case 'invalid':
            return InvalidModelRequest(name, response.message, cause=cause)


def _connection_error(error: Exception, provider: Provider) -> NetworkError | None:
    """Return the error for a failed connection; the cause is that of httpx under the SDK's."""
    names = class_names(error, provider.package)
    source = error.__cause__ if 'APIConnectionError' in names else error
    if isinstance(source, Exception) and class_names(source, 'httpx', 'httpx2'):
        # The module needs one of these libraries, and here one is installed.
        from seamwise.policies.classify.httpx import httpx_failures  # noqa: PLC0415

        failure = httpx_failures()(source)
        return None if failure is None else replace(failure.failure(), cause=error)
    if 'APIConnectionError' not in names:
        return None
    host = attribute(attribute(attribute(error, 'request'), 'url'), 'host')
    host = host if isinstance(host, str) else provider.name
    if 'APITimeoutError' in names:
        return NetworkTimedOut(host, 'a request', timeout=0.0, cause=error)
    return HostUnreachable(host, exception_reason(error), cause=error)


def _unreadable_answer(
    error: Exception, provider: Provider
) -> UpstreamFailed | ChunkUnparsable | None:
    """Return the error for an answer that the SDK cannot read, or None."""
    if 'APIResponseValidationError' in class_names(error, provider.package):
        return UpstreamFailed(
            provider.name, HTTPStatus.OK.value, exception_reason(error), cause=error
        )
    if not isinstance(error, JSONDecodeError) or not is_raised_in(error, provider.package):
        return None
    if is_raised_in(error, f'{provider.package}._streaming'):
        return unparsable_chunk(error, cause=error)
    return UpstreamFailed(
        provider.name, HTTPStatus.OK.value, redacted_excerpt(error.doc), cause=error
    )


def unparsable_chunk(error: JSONDecodeError, *, cause: Exception) -> ChunkUnparsable:
    """Return the error for a chunk of a stream that is not JSON."""
    return ChunkUnparsable(
        error.msg[:1].lower() + error.msg[1:], redacted_excerpt(error.doc), error.pos, cause=cause
    )


def invalid_answer(error: Exception, provider: Provider) -> StructuredOutputInvalid | None:
    """Return the error for an answer that violates the model given to `parse()`, or None.

    The same exception, raised outside of the SDK, is a defect.
    """
    if not _is_validation_error(error) or not is_raised_in(error, provider.package):
        return None
    problems = [
        Problem(json_pointer(item['loc']), redacted_excerpt(item['msg']))
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return StructuredOutputInvalid(provider.name, tuple(problems[:PROBLEM_LIMIT]), cause=error)


def _is_validation_error(error: Exception) -> 'TypeGuard[ValidationError]':
    return 'ValidationError' in class_names(error, 'pydantic_core')
