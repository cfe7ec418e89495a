"""OpenAPI 3.1 document with the HTTP responses of the catalogue."""

from importlib.metadata import version
from typing import Any

from seamwise.documents.seams import adapters_of
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, openapi


def build_openapi() -> dict[str, object]:
    """Return a document with one response per status, and without paths.

    If a table has several revisions, the newest one is used.
    """
    newest: dict[tuple[type, ...], Adapter[Any, HttpError]] = {
        adapter.kinds: adapter for adapter in adapters_of('http')
    }
    responses = openapi(*newest.values())
    return {
        'openapi': '3.1.0',
        'info': {'title': 'The errors of seamwise', 'version': version('seamwise')},
        'components': {
            'responses': {str(status): response for status, response in responses.items()}
        },
    }
