"""What of a seam can be told by a name: what libraries call it, and what its own name says of a number."""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from types import MappingProxyType

from msgspec import Struct

from seamwise.redaction.sensitive_names import split_words


class Seam(Struct, frozen=True):
    """What one audience needs, and how it is said there."""

    what: str
    help: str


HTTP = Seam(
    'HTTP',
    'Say what happened, by a category and fields; which status that is, `on(…).responds(…)` decides at the seam.',
)
JSON = Seam('JSON', 'Hand the value on as it is; the seam, or a `codec` at the edge, writes it.')
COLOUR = Seam(
    'the colours of a terminal',
    'Say it in words; what a terminal shows, `on(…).exits(…)` and its renderer decide.',
)
EXIT = Seam(
    'exit codes', 'Return a Failure; how the program ends, `on(…).exits(…)` decides at the seam.'
)
SEAM = Seam(
    'a seam',
    'Let the seam import the domain: adapters and shapes belong to the modules at the edge.',
)

KNOWN: Mapping[str, Seam] = MappingProxyType({
    **dict.fromkeys((
        'http.HTTPStatus', 'starlette.status', 'starlette.responses', 'starlette.exceptions', 'fastapi.status', 'fastapi.responses',
        'fastapi.exceptions', 'fastapi.HTTPException', 'fastapi.Response', 'flask.abort', 'flask.jsonify', 'flask.make_response',
        'flask.Response', 'quart.abort', 'quart.jsonify', 'quart.Response', 'werkzeug.exceptions', 'werkzeug.wrappers',
        'django.http', 'rest_framework.status', 'rest_framework.response', 'rest_framework.exceptions', 'aiohttp.web',
        'aiohttp.web_response', 'aiohttp.web_exceptions', 'litestar.status_codes', 'litestar.exceptions', 'litestar.response',
        'sanic.response', 'sanic.exceptions', 'tornado.web', 'bottle.abort', 'bottle.HTTPError', 'bottle.HTTPResponse',
        'falcon.status_codes',
        'requests.codes', 'requests.status_codes', 'httpx.codes', 'httpx._status_codes', 'httpx2.codes', 'httpx2._status_codes',
    ), HTTP),
    **dict.fromkeys((
        'json.dumps', 'json.dump', 'json.JSONEncoder', 'json.encoder.JSONEncoder', 'orjson.dumps', 'ujson.dumps', 'ujson.dump',
        'simplejson.dumps', 'simplejson.dump', 'rapidjson.dumps', 'rapidjson.dump', 'msgspec.json.encode', 'msgspec.json.Encoder',
        'msgspec._core.json_encode', 'msgspec._core.JSONEncoder',
    ), JSON),
    **dict.fromkeys((
        'click.style', 'click.secho', 'click.termui.style', 'click.termui.secho', 'typer.style', 'typer.secho', 'typer.colors',
        'rich', 'colorama', 'termcolor', 'blessed', 'crayons', 'colored', 'yachalk',
    ), COLOUR),
    **dict.fromkeys((
        'sys.exit', 'os._exit', 'builtins.SystemExit', 'builtins.exit', 'builtins.quit', 'click.Exit', 'click.exceptions.Exit',
        'typer.Exit',
    ), EXIT),
})  # fmt: skip
"""Whole modules too: what is in them is known as they are."""

WRITERS = MappingProxyType({'to_dict': JSON, 'to_json': JSON})
OF_ERRORS = MappingProxyType(
    {'as_dict': JSON, 'as_json': JSON, 'to_response': HTTP, 'to_http': HTTP, 'to_problem': HTTP}
)
"""Names that say so of an error; what else has such a method may mean something else."""
CALLED = MappingProxyType({
    'model_dump_json': ('pydantic.main.BaseModel', JSON),
    'exit': ('click.core.Context', EXIT),
})  # fmt: skip

ESCAPE = '\x1b['
TERMINAL = frozenset({'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'})
STATUSES = frozenset(int(one) for one in HTTPStatus if one >= HTTPStatus.BAD_REQUEST)
ASIDE = frozenset(
    {
        'a',
        'api',
        'as',
        'by',
        'default',
        'error',
        'for',
        'from',
        'get',
        'http',
        'of',
        'response',
        'the',
        'to',
    }
)
"""Words that leave a name's meaning as it is; `order_status` is no status of HTTP."""


def is_seams(name: str) -> bool:
    """Whether a module, or what is in it, is one of the library's seams."""
    return f'{name}.'.startswith('seamwise.seams.')


@lru_cache(maxsize=16_384)
def seam_of(name: str) -> Seam | None:
    """Give the seam that a library's thing belongs to, by its full name."""
    if name.startswith('http.client.') and name.rpartition('.')[2].isupper():
        return HTTP if not name.endswith('_PORT') else None
    if name.startswith('os.EX_'):
        return EXIT
    parts = name.split('.')
    return next(
        (
            found
            for end in range(len(parts), 0, -1)
            if (found := KNOWN.get('.'.join(parts[:end]))) is not None
        ),
        None,
    )


def _own(name: str) -> list[str]:
    """Give the words of a name that tell what it is, in the singular."""
    return [
        {'codes': 'code', 'statuses': 'status'}.get(one, one)
        for one in split_words(name)
        if one not in ASIDE
    ]


def says(name: str) -> Seam | None:
    """Give the seam that a name speaks of by itself, whatever its value."""
    own = _own(name)
    if own in (['exit', 'code'], ['exit', 'status']):
        return EXIT
    is_of_http = own == ['status', 'code'] or (
        'http' in split_words(name) and own in (['status'], ['code'])
    )
    return HTTP if is_of_http else None


def means(name: str, value: int, *, is_of_error: bool) -> Seam | None:
    """Give the seam that a name with this value speaks of."""
    seam = says(name)
    if seam is HTTP:
        return HTTP if 100 <= value <= 599 else None  # noqa: PLR2004 -- all that a status may be, RFC 9110, section 15
    if seam is not None or value not in STATUSES:
        return seam
    own = _own(name)
    return HTTP if own == ['status'] or (is_of_error and own == ['code']) else None
