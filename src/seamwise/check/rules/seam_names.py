"""Names that belong to a seam: library names, and names for a value such as `status = 404`."""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from types import MappingProxyType

from msgspec import Struct

from seamwise.check.rules.rule import short_name
from seamwise.redaction.sensitive_names import split_words


class SeamConcern(Struct, frozen=True):
    """A concern that belongs to a seam, such as HTTP, and the advice to move it there."""

    name: str
    help: str


HTTP = SeamConcern(
    'HTTP',
    'Use a category and fields; `on(…).responds(…)` sets the status at the seam.',
)
JSON = SeamConcern(
    'JSON', 'Return the value itself; the seam, or a `codec` at the edge, encodes it.'
)
COLOUR = SeamConcern(
    'the colours of a terminal',
    'Describe it in words; `on(…).exits(…)` and its renderer decide how a terminal shows it.',
)
EXIT = SeamConcern(
    'exit codes', 'Return a Failure; `on(…).exits(…)` sets the exit code at the seam.'
)
SEAM = SeamConcern(
    'a seam',
    'Import the domain from the seam instead: adapters and shapes belong to the outer modules.',
)

_LIBRARY_NAMES: Mapping[str, SeamConcern] = MappingProxyType({
    **dict.fromkeys((
        'http.HTTPStatus', 'starlette.status', 'starlette.responses', 'starlette.exceptions',
        'fastapi.status', 'fastapi.responses', 'fastapi.exceptions', 'fastapi.HTTPException',
        'fastapi.Response', 'flask.abort', 'flask.jsonify', 'flask.make_response', 'flask.Response',
        'quart.abort', 'quart.jsonify', 'quart.Response', 'werkzeug.exceptions',
        'werkzeug.wrappers', 'django.http', 'rest_framework.status', 'rest_framework.response',
        'rest_framework.exceptions', 'aiohttp.web', 'aiohttp.web_response',
        'aiohttp.web_exceptions', 'litestar.status_codes', 'litestar.exceptions',
        'litestar.response', 'sanic.response', 'sanic.exceptions', 'tornado.web', 'bottle.abort',
        'bottle.HTTPError', 'bottle.HTTPResponse', 'falcon.status_codes', 'requests.codes',
        'requests.status_codes', 'httpx.codes', 'httpx._status_codes', 'httpx2.codes',
        'httpx2._status_codes',
    ), HTTP),
    **dict.fromkeys((
        'json.dumps', 'json.dump', 'json.JSONEncoder', 'json.encoder.JSONEncoder', 'orjson.dumps',
        'ujson.dumps', 'ujson.dump', 'simplejson.dumps', 'simplejson.dump', 'rapidjson.dumps',
        'rapidjson.dump', 'msgspec.json.encode', 'msgspec.json.Encoder',
        'msgspec._core.json_encode', 'msgspec._core.JSONEncoder',
    ), JSON),
    **dict.fromkeys((
        'click.style', 'click.secho', 'click.termui.style', 'click.termui.secho', 'typer.style',
        'typer.secho', 'typer.colors', 'rich', 'colorama', 'termcolor', 'blessed', 'crayons',
        'colored', 'yachalk',
    ), COLOUR),
    **dict.fromkeys((
        'sys.exit', 'os._exit', 'builtins.SystemExit', 'builtins.exit', 'builtins.quit',
        'click.Exit', 'click.exceptions.Exit', 'typer.Exit',
    ), EXIT),
})  # fmt: skip
"""Full names of functions, classes and whole modules. A module includes its members."""

WRITER_METHODS = MappingProxyType({'to_dict': JSON, 'to_json': JSON})
ERROR_METHODS = MappingProxyType(
    {'as_dict': JSON, 'as_json': JSON, 'to_response': HTTP, 'to_http': HTTP, 'to_problem': HTTP}
)
"""Methods that belong to a seam if an error class has them; in other classes they may not."""
LIBRARY_METHODS = MappingProxyType({
    'model_dump_json': ('pydantic.main.BaseModel', JSON),
    'exit': ('click.core.Context', EXIT),
})  # fmt: skip
"""Methods of library classes: the class that defines each one, and its concern."""

ESCAPE_PREFIX = '\x1b['
TERMINAL_COLOURS = frozenset(
    {'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'}
)
_ERROR_STATUSES = frozenset(
    int(status) for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST
)
_NEUTRAL_WORDS = frozenset({
    'a', 'api', 'as', 'by', 'default', 'error', 'for', 'from', 'get', 'http', 'of', 'response',
    'the', 'to',
})  # fmt: skip
"""Words that do not change the meaning of a name. `order_status` is no HTTP status."""


def is_seam_module(name: str) -> bool:
    """Return whether a full name is a seam of Seamwise or is defined in one."""
    return f'{name}.'.startswith('seamwise.seams.')


@lru_cache(maxsize=16_384)
def library_concern(full_name: str) -> SeamConcern | None:
    """Return the concern of a library function or class by its full name."""
    if full_name.startswith('http.client.') and short_name(full_name).isupper():
        return HTTP if not full_name.endswith('_PORT') else None
    if full_name.startswith('os.EX_'):
        return EXIT
    parts = full_name.split('.')
    prefixes = ('.'.join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((_LIBRARY_NAMES[prefix] for prefix in prefixes if prefix in _LIBRARY_NAMES), None)


def name_concern(name: str) -> SeamConcern | None:
    """Return the concern that a name denotes for any value.

    >>> name_concern('http_status') is HTTP, name_concern('status')
    (True, None)
    """
    meaning = _meaningful_words(name)
    if meaning in (['exit', 'code'], ['exit', 'status']):
        return EXIT
    is_http = meaning == ['status', 'code'] or (
        'http' in split_words(name) and meaning in (['status'], ['code'])
    )
    return HTTP if is_http else None


def value_concern(name: str, value: int, *, is_of_error: bool) -> SeamConcern | None:
    """Return the concern that a name denotes together with its value.

    >>> value_concern('status', 404, is_of_error=False) is HTTP
    True
    """
    concern = name_concern(name)
    if concern is HTTP:
        return HTTP if 100 <= value <= 599 else None  # noqa: PLR2004 -- valid statuses (RFC 9110, section 15)
    if concern is not None or value not in _ERROR_STATUSES:
        return concern
    meaning = _meaningful_words(name)
    is_http = meaning == ['status'] or (is_of_error and meaning == ['code'])
    return HTTP if is_http else None


def _meaningful_words(name: str) -> list[str]:
    """Return the words of a name in the singular, without neutral ones."""
    singular = {'codes': 'code', 'statuses': 'status'}
    return [singular.get(word, word) for word in split_words(name) if word not in _NEUTRAL_WORDS]
