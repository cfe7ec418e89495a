"""What a caller who is not let in is to an HTTP client."""

from seamwise.catalog.access import (
    AccessDenied,
    AccessError,
    Unauthenticated,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

ACCESS: Adapter[AccessError, HttpError] = on(Unauthenticated).responds(
    401, 'UNAUTHORIZED', headers=lambda error: {'WWW-Authenticate': error.scheme}
) | on(AccessDenied).responds(403, 'FORBIDDEN')
