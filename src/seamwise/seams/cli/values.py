"""A value as a person reads it: a line a field, long texts and lists below their names."""

import msgspec

from seamwise._text.escaping import escape, escape_lines
from seamwise._text.jsonable import Json, to_json
from seamwise.seams.cli.shape import Rendered


def done(value: object) -> Rendered:
    r"""Show a value: None as nothing, a text as it is, the fields of anything else line by line; safe to print.

    >>> print(done({'path': 'a.txt', 'content': 'one\ntwo', 'matches': [{'line': 3, 'text': 'x'}]}).text)
    path: a.txt
    content:
      one
      two
    matches:
      3  x
    """
    known: Json = msgspec.json.decode(to_json(value))
    return Rendered('\n'.join(_lines(known)), 0)


def _lines(value: Json) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return escape_lines(value)
    if isinstance(value, list):
        return [_row(one) for one in value]
    if isinstance(value, dict):
        return [line for name, one in value.items() for line in _field(escape(name), one)]
    return [_scalar(value)]


def _field(name: str, value: Json) -> list[str]:
    if isinstance(value, list) and not value:
        return [f'{name}: none']
    if isinstance(value, (list, dict)) or (isinstance(value, str) and '\n' in value):
        return [f'{name}:', *(f'  {line}' if line else '' for line in _lines(value))]
    return [f'{name}: {_scalar(value)}'.rstrip()]


def _row(value: Json) -> str:
    """Show an item of a list on one line: the values of its fields, without those that are None."""
    if isinstance(value, dict):
        return '  '.join(_scalar(one) for one in value.values() if one is not None)
    return _scalar(value)


def _scalar(value: Json) -> str:
    return escape(value) if isinstance(value, str) else escape(to_json(value).decode())
