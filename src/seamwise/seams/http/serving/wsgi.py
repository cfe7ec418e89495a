"""WSGI middleware that answers and records defects, and then raises them again."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from logging import Logger
from types import TracebackType
from typing import TypeAlias
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from seamwise._defects.sentry import register
from seamwise.seams.http.bodies import Body, check_body
from seamwise.seams.http.negotiation import locale_for, negotiated
from seamwise.seams.http.request_ids import request_id as safe_request_id
from seamwise.seams.http.serving.exchange import (
    Exchange,
    answer_defect,
    written,
)
from seamwise.seams.http.shape import HttpError
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.reporting.operations import active

_ExcInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
)


class SafeWsgi:
    """Middleware for any WSGI application (PEP 3333): `SafeWsgi(app)`.

    An exception becomes a response 500 INTERNAL with a reference. It is recorded once, with that
    reference and the request id, and raised again after the response was sent: the server and tools
    such as Sentry see it. If the response has started, it is left incomplete, so that the server
    closes the connection.

    All other responses stay, apart from the header `X-Request-ID`. During the request,
    `current_request_id()` is set. A framework must let exceptions through: Flask with the setting
    `PROPAGATE_EXCEPTIONS`, Django with `DEBUG_PROPAGATE_EXCEPTIONS`.

    >>> def broken(environ: object, start_response: object) -> list[bytes]:
    ...     raise ZeroDivisionError
    >>> app = SafeWsgi(broken)

    Args:
        app: The application.
        log: Logger or `FailureLog`; by default the logger `seamwise`.
        body: Body format; by default it follows the `Accept` header of the request.
    """

    def __init__(
        self,
        app: WSGIApplication,
        *,
        log: Logger | FailureLog | None = None,
        body: Body = negotiated,
    ) -> None:
        check_body(body)
        # Before the first exception: Sentry may see it earlier than this middleware.
        register()
        self._app = app
        self._log = failure_log(log)
        self._body = body

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Run the application for one request."""
        request = _Request(environ, start_response, self._log, self._body)
        try:
            with request.serving():
                chunks = self._app(environ, request.start_response)
        # `answer` reports it, and raises it again after the body.
        except Exception as error:  # noqa: BLE001
            return request.answer(error)
        if isinstance(chunks, (list, tuple)) or _is_file(chunks, environ):
            # Iterating it raises nothing of the application. Servers derive Content-Length from a
            # list, and pass a file to the operating system.
            return chunks
        return _Chunks(request, chunks)


def _is_file(chunks: Iterable[bytes], environ: WSGIEnvironment) -> bool:
    wrapper: object = environ.get('wsgi.file_wrapper')
    return isinstance(wrapper, type) and isinstance(chunks, wrapper)


class _Request:
    """A request and its response."""

    def __init__(
        self,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        log: FailureLog,
        body: Body,
    ) -> None:
        method = str(environ['REQUEST_METHOD'])
        self._exchange = Exchange(
            has_end=True,
            request_id=safe_request_id(environ.get('HTTP_X_REQUEST_ID')),
            locale=locale_for(environ.get('HTTP_ACCEPT_LANGUAGE')),
            method=method,
            accept=environ.get('HTTP_ACCEPT'),
            operation=method,
            user_agent=environ.get('HTTP_USER_AGENT'),
        )
        self._start_response = start_response
        self._log = log
        self._body = body
        self._method = method
        self._write_error: Exception | None = None
        self.has_sent = False
        """Whether a part of the body was sent."""

    def serving(self) -> AbstractContextManager[None]:
        """Set the request inside a `with` block."""
        return active(self._exchange)

    def start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: _ExcInfo | None = None, /
    ) -> Callable[[bytes], object]:
        """Start the response of the application, with the request id."""
        if not any(name.lower() == 'x-request-id' for name, _ in headers):
            headers = [*headers, ('X-Request-ID', self._exchange.request_id)]
        write = self._start_response(status, headers, *(() if exc_info is None else (exc_info,)))

        def tracked_write(chunk: bytes) -> object:
            self.has_sent = True
            try:
                return write(chunk)
            except Exception as error:
                # The client disconnected, or the server stops.
                self._write_error = error
                raise

        return tracked_write

    def answer(self, error: Exception) -> Iterator[bytes]:
        """Record a defect; return the body that answers it, whose end raises it again.

        Called while the defect is handled. If the response has started, it is raised at once.
        """
        if error is self._write_error:
            raise error
        http_error = self.record(error)
        if self.has_sent:
            raise error
        with self.serving():
            response = written(http_error, self._body, self._exchange).decoded()
        headers = [*response.headers.items(), ('content-length', str(len(response.body)))]
        try:
            self._start_response('500 Internal Server Error', headers, sys.exc_info())
        except Exception:  # noqa: BLE001 -- the server has sent the headers (PEP 3333)
            raise error from None
        return _answer(b'' if self._method == 'HEAD' else response.body, error)

    def record(self, error: Exception) -> HttpError:
        """Record a defect, and return its answer."""
        return answer_defect(error, self._log, self._exchange, has_started=self.has_sent)


def _answer(body: bytes, error: Exception) -> Iterator[bytes]:
    yield body
    raise error


class _Chunks:
    """The body of a response, whose exceptions are defects."""

    def __init__(self, request: _Request, body: Iterable[bytes]) -> None:
        self._request = request
        self._body = body
        self._chunks: Iterator[bytes] | None = None
        self._answer: Iterator[bytes] | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._answer is not None:
            return next(self._answer)
        try:
            with self._request.serving():
                if self._chunks is None:
                    self._chunks = iter(self._body)
                chunk = next(self._chunks)
        except StopIteration:
            raise
        # `answer` reports it, and raises it again after the body.
        except Exception as error:  # noqa: BLE001
            self._answer = self._request.answer(error)
            return next(self._answer)
        if chunk:
            self._request.has_sent = True
        return chunk

    def close(self) -> None:
        """Close the body of the application (PEP 3333)."""
        close: Callable[[], object] | None = getattr(self._body, 'close', None)
        if close is None:
            return
        try:
            with self._request.serving():
                close()
        except Exception as error:
            self._request.record(error)
            raise
