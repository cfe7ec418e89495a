"""HTTP seam: an error as a status, headers and a body, in an envelope or as problem details."""

from typing import TYPE_CHECKING

from seamwise.seams.http.bodies import Body as Body
from seamwise.seams.http.bodies import bare as bare
from seamwise.seams.http.bodies import envelope as envelope
from seamwise.seams.http.bodies import named as named
from seamwise.seams.http.bodies import problem as problem
from seamwise.seams.http.bodies import tagged as tagged
from seamwise.seams.http.decoding import decode as decode
from seamwise.seams.http.negotiation import negotiated as negotiated
from seamwise.seams.http.on import on as on
from seamwise.seams.http.openapi_documents.responses import openapi as openapi
from seamwise.seams.http.request_ids import request_id as request_id
from seamwise.seams.http.request_ids import request_id_headers as request_id_headers
from seamwise.seams.http.response import HttpResponse as HttpResponse
from seamwise.seams.http.response import response as response
from seamwise.seams.http.shape import HttpError as HttpError
from seamwise.seams.http.shape import ProblemLocation as ProblemLocation
from seamwise.seams.http.shape import defect as defect
from seamwise.seams.http.successes import Accepted as Accepted
from seamwise.seams.http.successes import Created as Created
from seamwise.seams.http.successes import NoContent as NoContent
from seamwise.seams.reporting.request_context import current_request_id as current_request_id
from seamwise.seams.wire.decoding import UnreadableBody as UnreadableBody
from seamwise.seams.wire.legacy_shapes import Legacy as Legacy

if TYPE_CHECKING:
    from seamwise.seams.http.asgi.safe_errors import SafeErrors as SafeErrors
    from seamwise.seams.http.fastapi.endpoints import endpoint as endpoint
    from seamwise.seams.http.fastapi.installation import install as install
    from seamwise.seams.http.fastapi.routes import ResultRoute as ResultRoute
    from seamwise.seams.http.serving.results import to_response as to_response
    from seamwise.seams.http.serving.wsgi import SafeWsgi as SafeWsgi
else:
    # Imported on first use: writing bodies needs neither Starlette nor asyncio.
    _MODULES = {
        'ResultRoute': 'fastapi.routes',
        'SafeErrors': 'asgi.safe_errors',
        'SafeWsgi': 'serving.wsgi',
        'endpoint': 'fastapi.endpoints',
        'install': 'fastapi.installation',
        'to_response': 'serving.results',
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 -- see above

        if name not in _MODULES:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        return getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})
