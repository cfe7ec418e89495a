"""The answers of HTTP as a document of OpenAPI 3.1, for other documents to refer to."""

from importlib.metadata import version
from typing import Any

from seamwise.documents.seams import adapters
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, openapi


def as_openapi() -> dict[str, object]:
    """Give a document that has no paths, but an answer for every status; of several revisions, the newest counts."""
    newest: dict[tuple[type, ...], Adapter[Any, HttpError]] = {
        one.kinds: one for one in adapters('http')
    }
    return {
        'openapi': '3.1.0',
        'info': {'title': 'The errors of seamwise', 'version': version('seamwise')},
        'components': {
            'responses': {
                str(status): answer for status, answer in openapi(*newest.values()).items()
            }
        },
    }
