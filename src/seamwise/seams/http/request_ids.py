"""Headers that pass the request id on to other services."""

from typing import Final

from seamwise.seams.reporting.request_context import current_request_id

REQUEST_ID_HEADER: Final = 'X-Request-ID'


def request_id_headers() -> dict[str, str]:
    """Return the header `X-Request-ID` with the id of the request that is being served.

    A service that keeps the id logs its part of the request under the same id. Outside a request,
    the dict is empty.

    >>> request_id_headers()
    {}
    """
    id_ = current_request_id()
    return {} if id_ is None else {REQUEST_ID_HEADER: id_}
