"""Answers to errors: an adapter, a body format and a log, applied to one request."""

from collections.abc import Callable
from typing import Any, NamedTuple, Never

from typing_extensions import TypeIs

from seamwise.causes import Raised, iter_leaves
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.bodies import Body
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.response import RawResponse, raw_response
from seamwise.seams.http.serving.exchange import Exchange
from seamwise.seams.http.shape import HttpError, defect
from seamwise.seams.reporting.failure_log import FailureLog

NO_ARMS: Adapter[Never, HttpError] = Adapter({})
"""Adapter that covers no error."""


class Answers(NamedTuple):
    """How the errors of an application or a handler are answered and logged."""

    adapter: Callable[[Any], HttpError]
    body: Body
    log: FailureLog

    @property
    def table(self) -> Adapter[Never, HttpError] | None:
        """The adapter, or None if it is a plain function, whose arms are unknown."""
        return self.adapter if _is_table(self.adapter) else None

    def http_error(self, error: Any) -> HttpError:
        """Return the answer for an error; raises TypeError if the adapter returns another shape."""
        answer = self.adapter(error)
        if not isinstance(answer, HttpError):
            raise TypeError(
                'The adapter must return an HttpError, such as that of '
                f'`on(NotFound).responds(404, …)`, not {type(answer).__name__}.'
            )
        return answer

    def failure(self, error: Any, exchange: Exchange) -> RawResponse:
        """Return the response for the error of a Failure, and log it."""
        return written(self.logged(error, exchange), self.body, exchange)

    def logged(self, error: Any, exchange: Exchange) -> HttpError:
        """Return the answer for the error of a Failure, and log it."""
        answer = self.http_error(error)
        self.log.failed(
            error,
            seam='http',
            operation=exchange.operation,
            request_id=exchange.request_id,
            duration=exchange.duration,
            status=answer.status,
        )
        return answer

    def in_form_of(self, installed: 'Answers | None') -> 'Answers':
        """Return these answers in the body format of the application, unless they have an own."""
        if installed is None or self.body is not negotiated:
            return self
        return self._replace(body=installed.body)

    def covers(self, error: object) -> bool:
        """Return whether the adapter has an arm for an error."""
        return self.table is not None and isinstance(error, self.table.kinds)


def _is_table(adapter: object) -> TypeIs[Adapter[Never, HttpError]]:
    return isinstance(adapter, Adapter)


def written(answer: object, body: Body, exchange: Exchange) -> RawResponse:
    """Return the response for a value or an `HttpError` in the form that the client accepts."""
    return raw_response(
        answer,
        request_id=exchange.request_id,
        body=body,
        accept=exchange.accept,
        is_localized=True,
    )


def answer_defect(
    exception: Exception, log: FailureLog, exchange: Exchange, *, has_started: bool
) -> HttpError:
    """Report an unexpected exception, and return its answer.

    Args:
        exception: The exception.
        log: Log of the defects.
        exchange: The request.
        has_started: Whether a response was started, which cannot be replaced.
    """
    report = log.defect(
        exception,
        seam='http',
        operation=exchange.operation,
        request_id=exchange.request_id,
        **({'response': 'already started, the connection is closed'} if has_started else {}),
    )
    return defect(report.ref)


def raised_error(exception: BaseException) -> object:
    """Return the error that an exception carries, None for other exceptions.

    A task group wraps the exception of its only task in a group.
    """
    leaves = [*iter_leaves(exception)]
    if len(leaves) == 1 and isinstance(leaves[0], Raised):
        return leaves[0].error
    return None
