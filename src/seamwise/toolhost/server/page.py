"""The page of the server: its files, their types, and the headers that confine it."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

MEDIA_TYPES: Final[Mapping[str, str]] = {
    'css': 'text/css; charset=utf-8',
    'html': 'text/html; charset=utf-8',
    'js': 'text/javascript; charset=utf-8',
    'svg': 'image/svg+xml',
}
"""The media types by the end of a file's name; other files are not served."""

_HEADERS: Final[Mapping[str, str]] = {
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'x-frame-options': 'DENY',
}


async def serve_page_file(request: Request) -> Response:
    """Return a file of the page by its name.

    Raises:
        HTTPException: There is no such file (404).
    """
    return page_response(request, request.path_params['name'])


def page_response(request: Request, name: str = 'index.html') -> Response:
    """Return a file of the page, which may use the files and the API of this server only.

    Raises:
        HTTPException: There is no such file (404).
    """
    body = _page_files().get(name)
    if body is None:
        raise HTTPException(404)
    headers = {**_HEADERS, 'content-security-policy': _content_policy(request.url.netloc)}
    return Response(body, media_type=MEDIA_TYPES[name.rpartition('.')[2]], headers=headers)


def accepts_html(accept: str) -> bool:
    """Return whether a header `Accept` is that of a browser, which names HTML.

    >>> accepts_html('text/html,application/xhtml+xml,*/*;q=0.8'), accepts_html('*/*')
    (True, False)
    """
    media_types = {item.partition(';')[0].strip().lower() for item in accept.split(',')}
    return 'text/html' in media_types


def _content_policy(host: str) -> str:
    # Not every browser takes WebSockets of the same host for `'self'`.
    return '; '.join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            f"connect-src 'self' ws://{host} wss://{host}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )


@cache
def _page_files() -> Mapping[str, bytes]:
    """Return the content of each file of the page by its name, with that of the client."""
    folder = files('seamwise.toolhost.server') / 'page'
    names = {
        file.name: file for file in folder.iterdir() if file.name.rpartition('.')[2] in MEDIA_TYPES
    }
    names['client.js'] = files('seamwise.live') / 'client.js'
    return {name: file.read_bytes() for name, file in names.items()}
