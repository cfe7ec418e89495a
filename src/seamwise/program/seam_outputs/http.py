"""Output of a call at the HTTP seam."""

from collections.abc import Mapping
from typing import assert_never

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Success
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import http
from seamwise.seams.http import tables

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


class HttpOutput(Struct, frozen=True):
    """An HTTP response, its body as JSON."""

    status: int
    headers: Mapping[str, str]
    body: msgspec.Raw


def output(result: CallResult) -> HttpOutput:
    """Return the response to a call."""
    match result.outcome:
        case Success(value):
            body: object = value
        case Failure(error):
            body = TABLE(error)
        case Defect(ref=ref):
            body = http.defect(ref)
        case _:
            assert_never(result.outcome)
    call_id = result.line.id
    response = http.response(body, request_id=None if call_id is None else str(call_id))
    return HttpOutput(response.status, response.headers, msgspec.Raw(response.body))
