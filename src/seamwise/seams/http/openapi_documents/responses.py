"""OpenAPI 3.1 `responses` of adapters: each status with its codes and their schema."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Never

from msgspec import structs

from seamwise.seams.adapter import Adapter
from seamwise.seams.http.openapi_documents.components import inline_refs
from seamwise.seams.http.openapi_documents.documented_errors import (
    FRAMEWORK_ERRORS,
    HEADERS,
    DocumentedError,
    documented_errors,
    response_description,
)
from seamwise.seams.http.openapi_documents.error_schemas import ENVELOPE, PROBLEM_OUTLINE
from seamwise.seams.http.shape import HttpError

_COMMON_STATUSES = (400, 413, 500)


def openapi(*adapters: Callable[[Never], HttpError]) -> dict[int | str, dict[str, object]]:
    """Return the responses of adapters, for `responses=` of FastAPI or any OpenAPI 3.1 document.

    They include the responses of every application: 400 for an invalid request, 413 for one that
    is too large, `4XX` for other errors of the framework, and 500 for a defect. Without `install`,
    FastAPI copies them to every route.

    >>> from seamwise.seams.http.tables import STORAGE
    >>> openapi(STORAGE).keys()
    dict_keys(['400', '404', '409', '413', '4XX', '500', '503'])

    Args:
        *adapters: Adapters or annotated functions.

    Raises:
        TypeError: An arm is neither one of `on(…).responds(…)` nor a function. Or a function is not
            annotated, or it raises for an example of an error class.
    """
    by_status: defaultdict[str, list[DocumentedError]] = defaultdict(list)
    documented, parts = documented_errors(map(Adapter.of, adapters))
    for error in documented.values():
        fields = {name: inline_refs(schema, parts) for name, schema in error.fields.items()}
        for answer in structs.replace(error, fields=fields).answers:
            by_status[str(answer.status)].append(answer)
    for status in _COMMON_STATUSES:
        by_status[str(status)].append(FRAMEWORK_ERRORS[status])
    responses = {status: _response(errors) for status, errors in by_status.items()}
    responses['4XX'] = _response([])
    return {status: responses[status] for status in sorted(responses)}


def _response(errors: Sequence[DocumentedError]) -> dict[str, object]:
    headers = dict.fromkeys(header for error in errors for header in error.headers)
    return {
        'description': response_description(errors) if errors else 'Any other client error',
        'headers': {name: HEADERS[name] for name in headers or ['X-Request-ID']},
        'content': {
            form.media_type: {'schema': form.inline_body(errors)}
            for form in (ENVELOPE, PROBLEM_OUTLINE)
        },
    }
