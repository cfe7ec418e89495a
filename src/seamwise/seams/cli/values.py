"""Rendering of values for a terminal: one line per field, long texts and lists indented."""

from dataclasses import is_dataclass
from enum import Enum
from pathlib import PurePath

import msgspec
from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise._text.escaping import escape, escape_lines
from seamwise._text.jsonable import Json
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.rendering.encoding import to_json


def done(value: object) -> Rendered:
    r"""Render the value of a success, escaped for a terminal.

    None is rendered as an empty text, a string as it is. A Struct or a dataclass with a `__str__`
    of its own is rendered as that, any other value field by field.

    >>> matches = [{'line': 3, 'text': 'x'}]
    >>> print(done({'path': 'a.txt', 'content': 'one\ntwo', 'matches': matches}).text)
    path: a.txt
    content:
      one
      two
    matches:
      3  x
    """
    return Rendered('\n'.join(_lines(_content(value))), 0)


def _content(value: object) -> Json:
    if _has_own_text(value):
        return str(value)
    # JSON cannot contain the bytes of texts and paths that are not UTF-8.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, PurePath):
        return str(value)
    content: Json = msgspec.json.decode(to_json(value))
    return content


def _has_own_text(value: object) -> bool:
    is_record = isinstance(value, Struct) or is_dataclass(value)
    inherited = object.__str__, BaseException.__str__
    # The text of an error can have internal fields.
    return (
        is_record
        and not isinstance(value, (Enum, TaggedError))
        and type(value).__str__ not in inherited
    )


def _lines(value: Json) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return escape_lines(value)
    if isinstance(value, list):
        return [_row(item) for item in value]
    if isinstance(value, dict):
        return [line for name, field in value.items() for line in _field_lines(escape(name), field)]
    return [_scalar(value)]


def _field_lines(name: str, value: Json) -> list[str]:
    if isinstance(value, list) and not value:
        return [f'{name}: none']
    if isinstance(value, (list, dict)) or (isinstance(value, str) and '\n' in value):
        return [f'{name}:', *(f'  {line}' if line else '' for line in _lines(value))]
    return [f'{name}: {_scalar(value)}'.rstrip()]


def _row(item: Json) -> str:
    """Return a list item on one line: the values of its fields that are not None."""
    if isinstance(item, dict):
        return '  '.join(_scalar(value) for value in item.values() if value is not None)
    return _scalar(item)


def _scalar(value: Json) -> str:
    return escape(value) if isinstance(value, str) else escape(to_json(value).decode())
