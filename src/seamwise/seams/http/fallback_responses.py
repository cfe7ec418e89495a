"""Errors that a route returns itself, without an error class: 404, 400 and 500."""

import sys
from collections.abc import Sequence
from http import HTTPStatus

import msgspec

from seamwise.defects import report_defect
from seamwise.seams._common import safe_text
from seamwise.seams.http.shape import HttpError, ProblemLocation, defect


def not_found(message: str) -> HttpError:
    """Return the error 404 RESOURCE_NOT_FOUND.

    >>> not_found('There is no such page.').status
    404
    """
    return HttpError(
        status=HTTPStatus.NOT_FOUND.value,
        code='RESOURCE_NOT_FOUND',
        type='NotFoundError',
        message=safe_text(message),
        retryable=False,
    )


def bad_request(
    message: str, *, kind: str = 'Request', problems: Sequence[ProblemLocation] = ()
) -> HttpError:
    """Return the error 400 INVALID_REQUEST.

    >>> bad_request('The body is not JSON.', kind='Body').details
    {'kind': 'Body'}

    Args:
        message: The error message.
        kind: The invalid part of the request: `Body`, `Query`, ….
        problems: The invalid values, each with its location.
    """
    safe = tuple(
        ProblemLocation(safe_text(problem.pointer), safe_text(problem.detail), problem.part)
        for problem in problems
    )
    details: dict[str, object] = {'kind': safe_text(kind)}
    if safe:
        details['errors'] = msgspec.to_builtins(safe)
    return HttpError(
        status=HTTPStatus.BAD_REQUEST.value,
        code='INVALID_REQUEST',
        type='BadRequest',
        message=safe_text(message),
        details=details,
        retryable=False,
        problems=safe,
    )


def unknown() -> HttpError:
    """Return the error 500 INTERNAL for the exception being handled, and record it as a defect.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     error = unknown()
    >>> error.code, list(error.details)
    ('INTERNAL', ['ref'])
    >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
    """
    exception = sys.exception() or RuntimeError(
        'A route returned `unknown()` without an exception.'
    )
    return defect(report_defect(exception).ref)
