"""Text and exit code for an error of another program, which is known by its name and its data."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol, cast

import msgspec
from typing_extensions import TypeIs

from seamwise._errors.codec import codec
from seamwise._errors.errors import TAG_FIELD, TaggedError, default_message
from seamwise._results.containers import Failure
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.cli.shape import DEFECT_EXIT_CODE, LATER_MESSAGE, Rendered
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.values import safe_items, safe_text
from seamwise.seams.wire.legacy_shapes import Legacy, named_error, own_form

MAX_FIELDS = 20
"""Number of fields that are shown of an error without a table."""

_UNREADABLE_EXIT_CODE = 65
_CONFIG_EXIT_CODE = 78
_TEMPORARY_EXIT_CODE = 75


class NamedError(Protocol):
    """An error as a name and its data."""

    @property
    def name(self) -> str:
        """The name."""
        ...

    @property
    def data(self) -> Mapping[str, object]:
        """The data."""
        ...


def foreign(
    error: NamedError | bytes | str, /, *, legacy: Mapping[type[TaggedError], Legacy] = {}
) -> Rendered:
    """Return the text and the exit code for an error of another program.

    The error is a name with its data, or the body `{name, data}` or `{_tag, …fields}`. The exit
    code for any other body is 65.

    An error of the catalogue, by its own tag or by a name in `legacy`, is rendered by the tables.
    Any other one is its message, or its name in words, and its fields, one on a line. Its exit code
    is 78 for a name that begins with `Config`, 70 for `UnknownError`, 75 if the data has
    `isRetryable`, else 1.

    Args:
        error: The error, or a body.
        legacy: The names and keys of errors in the contract of the other program, by class.

    >>> body = '{"_tag": "ProviderModelNotFoundError", "provider": "acme", "model": "large-2"}'
    >>> print(foreign(body).text)
    acme has no model 'large-2'.
    hint: list the models that acme offers.
    """
    if isinstance(error, bytes | str):
        read = named_error(error)
        if type(read) is Failure:
            return Rendered(escape(str(read.failure())), _UNREADABLE_EXIT_CODE)
        error = read.unwrap()
    return _of_the_catalogue(error, legacy) or _of_another_program(error)


def _of_the_catalogue(
    named: NamedError, legacy: Mapping[type[TaggedError], Legacy]
) -> Rendered | None:
    tag, fields = own_form(named.name, named.data, legacy)
    arms = _arms()
    if tag not in arms:
        return None
    kind, table = arms[tag]
    try:
        return table(codec(kind).decode(msgspec.json.encode({**fields, TAG_FIELD: tag})))
    except (msgspec.MsgspecError, ValueError, TypeError):
        return None


def _tables() -> Iterator[Adapter[Any, Rendered]]:
    from seamwise.seams.cli import tables  # noqa: PLC0415 -- foreign errors are rare

    return filter(_is_table, vars(tables).values())


def _is_table(value: object) -> TypeIs[Adapter[Any, Rendered]]:
    return isinstance(value, Adapter)


@lru_cache(maxsize=1)
def _arms() -> Mapping[str, tuple[type[TaggedError], Adapter[Any, Rendered]]]:
    return {
        kind.__traits__.tag: (kind, table)
        for table in _tables()
        for kind, arm in table.arms.items()
        if issubclass(kind, TaggedError) and not isinstance(arm, Hidden)
    }


def _of_another_program(named: NamedError) -> Rendered:
    data = safe_items(named.data)
    message = data.pop('message', None)
    first = message if isinstance(message, str) and message else _words(named.name)
    lines = [first, *_field_lines(data), *_hint_lines(named.name, data), *_suggestions(data)]
    text = '\n'.join(escape(safe_text(line)) for line in lines)
    return Rendered(text, _exit_code(named.name, data))


def _words(name: str) -> str:
    return default_message(name.removesuffix('Error') or name)


def _field_lines(data: Mapping[str, object]) -> Iterator[str]:
    for key, value in islice(data.items(), MAX_FIELDS):
        if key not in {'suggestion', 'suggestions', 'isRetryable'} and value is not None:
            yield f'{key}: {value if isinstance(value, str) else to_json(value).decode()}'
    if len(data) > MAX_FIELDS:
        yield f'… ({len(data) - MAX_FIELDS} more)'


def _hint_lines(name: str, data: Mapping[str, object]) -> Iterator[str]:
    if data.get('isRetryable') is True:
        yield f'hint: {LATER_MESSAGE}'
    if name == 'UnknownError' and 'ref' in data:
        yield f'hint: the log of the other program says more about {data["ref"]}.'


def _suggestions(data: Mapping[str, object]) -> Iterator[str]:
    value = data.get('suggestions', data.get('suggestion'))
    names = cast('list[object]', value) if isinstance(value, list) else [value]
    texts = [name for name in names if isinstance(name, str) and name]
    if texts:
        yield f'did you mean {join_quoted(texts)}?'


def _exit_code(name: str, data: Mapping[str, object]) -> int:
    if name.startswith('Config'):
        return _CONFIG_EXIT_CODE
    if name == 'UnknownError':
        return DEFECT_EXIT_CODE
    return _TEMPORARY_EXIT_CODE if data.get('isRetryable') is True else 1
