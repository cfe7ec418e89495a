"""HTTP seam: an error as a status, headers and a body, in an envelope or as problem details."""

from typing import TYPE_CHECKING

from seamwise.seams._decoding import UnreadableBody as UnreadableBody
from seamwise.seams.http.bodies import Named as Named
from seamwise.seams.http.bodies import envelope as envelope
from seamwise.seams.http.bodies import named as named
from seamwise.seams.http.bodies import problem as problem
from seamwise.seams.http.bodies import tagged as tagged
from seamwise.seams.http.decoding import decode as decode
from seamwise.seams.http.documents import openapi as openapi
from seamwise.seams.http.exchange import request_id as request_id
from seamwise.seams.http.fallback_responses import bad_request as bad_request
from seamwise.seams.http.fallback_responses import not_found as not_found
from seamwise.seams.http.fallback_responses import unknown as unknown
from seamwise.seams.http.legacy_bodies import from_foreign as from_foreign
from seamwise.seams.http.negotiation import negotiated as negotiated
from seamwise.seams.http.on import on as on
from seamwise.seams.http.response import HttpResponse as HttpResponse
from seamwise.seams.http.response import response as response
from seamwise.seams.http.shape import HttpError as HttpError
from seamwise.seams.http.shape import ProblemLocation as ProblemLocation
from seamwise.seams.http.shape import defect as defect

if TYPE_CHECKING:
    from seamwise.seams.http.endpoints import endpoint as endpoint
    from seamwise.seams.http.safe_errors import SafeErrors as SafeErrors
else:

    def __getattr__(name: str) -> object:
        # Imported on first use: writing bodies needs neither Starlette nor asyncio.
        if name == 'endpoint':
            from seamwise.seams.http.endpoints import endpoint  # noqa: PLC0415

            return endpoint
        if name == 'SafeErrors':
            from seamwise.seams.http.safe_errors import SafeErrors  # noqa: PLC0415

            return SafeErrors
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
