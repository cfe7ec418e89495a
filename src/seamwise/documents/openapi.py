"""OpenAPI 3.1 document with the HTTP responses of the catalogue."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, openapi


def build_openapi(catalog: ErrorCatalog) -> dict[str, object]:
    """Return a document with one response per status, and without paths.

    If a table has several revisions, the newest one is used.
    """
    newest: dict[tuple[type, ...], Adapter[Any, HttpError]] = {
        adapter.kinds: adapter for adapter in catalog.adapters_of('http')
    }
    responses = openapi(*newest.values())
    return {
        'openapi': '3.1.0',
        'info': {
            'title': f'The errors of {catalog.title}',
            'version': _version(catalog.title.partition('.')[0]),
        },
        'components': {
            'responses': {str(status): response for status, response in responses.items()}
        },
    }


def _version(package: str) -> str:
    """Return the version of an installed package, or `0`: OpenAPI requires one."""
    try:
        return version(package)
    except PackageNotFoundError:
        return '0'
