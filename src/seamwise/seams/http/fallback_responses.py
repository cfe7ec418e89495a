"""Small answers that a route gives by itself, where no error of a service stands behind them."""

import sys
from collections.abc import Sequence

from seamwise.defects import report_defect
from seamwise.seams._common import safe_text
from seamwise.seams.http.shape import HttpError, ProblemLocation, defect


def not_found(message: str) -> HttpError:
    """Answer 404 RESOURCE_NOT_FOUND.

    >>> not_found('There is no such page.').status
    404
    """
    return HttpError(
        status=404,
        code='RESOURCE_NOT_FOUND',
        type='NotFoundError',
        message=safe_text(message),
        retryable=False,
    )


def bad_request(
    message: str, *, kind: str = 'Request', places: Sequence[ProblemLocation] = ()
) -> HttpError:
    """Answer 400 INVALID_REQUEST; `kind` is the part that was refused (`Body`, `Query`, …), `places` what is wrong in it, and where.

    >>> bad_request('The body is no JSON.', kind='Body').details
    {'kind': 'Body'}
    """
    safe = tuple(ProblemLocation(safe_text(one.pointer), safe_text(one.detail)) for one in places)
    wrong = (
        {'errors': [{'pointer': one.pointer, 'detail': one.detail} for one in safe]} if safe else {}
    )
    return HttpError(
        status=400,
        code='INVALID_REQUEST',
        type='BadRequest',
        message=safe_text(message),
        details={'kind': safe_text(kind), **wrong},
        retryable=False,
        problems=safe,
    )


def unknown() -> HttpError:
    """Answer 500 INTERNAL for the exception that is being handled, and record that as a defect under the reference shown.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     answer = unknown()
    >>> answer.code, list(answer.details)
    ('INTERNAL', ['ref'])
    """
    met = sys.exception() or RuntimeError('A route answered that it met something unknown.')
    return defect(report_defect(met).ref)
