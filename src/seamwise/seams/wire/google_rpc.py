"""Error details of `google.rpc`, which A2A uses over JSON-RPC and over HTTP."""

from collections.abc import Iterable, Mapping

from seamwise._text.jsonable import to_json

A2A_DOMAIN = 'a2a-protocol.org'
"""The domain of the errors that A2A defines (A2A 1.0, 9.5 and 11.6)."""

_TYPES = 'type.googleapis.com/google.rpc.'
ERROR_INFO = f'{_TYPES}ErrorInfo'


def error_info(reason: str, domain: str, fields: Mapping[str, object]) -> dict[str, object]:
    """Return a `google.rpc.ErrorInfo`, with the fields of an error as its metadata.

    Metadata is a map of texts (error_details.proto): other values are written as JSON, and None is
    left out.

    >>> error_info('CART_FULL', 'shop', {'cart': 'c-1', 'limit': 9, 'coupon': None})['metadata']
    {'cart': 'c-1', 'limit': '9'}
    """
    metadata = {
        name: value if isinstance(value, str) else to_json(value).decode()
        for name, value in fields.items()
        if value is not None
    }
    return {'@type': ERROR_INFO, 'reason': reason, 'domain': domain, 'metadata': metadata}


def retry_info(delay_ms: int) -> dict[str, object]:
    """Return a `google.rpc.RetryInfo` with the delay before the next attempt.

    >>> retry_info(1500)['retryDelay']
    '1.500s'
    """
    # ProtoJSON: seconds with 0, 3, 6 or 9 fractional digits.
    return {'@type': f'{_TYPES}RetryInfo', 'retryDelay': f'{delay_ms / 1000:.3f}s'}


def request_info(request_id: str) -> dict[str, object]:
    """Return a `google.rpc.RequestInfo` with the id of the request."""
    return {'@type': f'{_TYPES}RequestInfo', 'requestId': request_id}


def bad_request(violations: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Return a `google.rpc.BadRequest` with the field and the description of each violation."""
    return {
        '@type': f'{_TYPES}BadRequest',
        'fieldViolations': [{'field': field, 'description': text} for field, text in violations],
    }
