"""Messages of validation errors without the values that a client has sent."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from re import escape, sub
from typing import Any, Final, cast, get_args

_WINDOW: Final = 4
"""Characters of an input that a message must not contain; fewer may be a part of a word."""
_MAX_VALUES = 1000
_MAX_LENGTH = 10_000
_NEUTRAL = 'Input is not valid'


def message_without_input(error: Mapping[str, Any]) -> str:
    """Return the message of a validation error of pydantic without the value that was sent.

    The messages of pydantic itself contain no input, apart from the tag of a union. One of a
    validator of the application may contain it in any form, and is replaced then.

    >>> error = {'type': 'value_error', 'msg': 'Value error, no hunter2!', 'input': 'hunter2'}
    >>> message_without_input(error)
    'Input is not valid'
    """
    message = str(error.get('msg', _NEUTRAL))
    kind = error.get('type')
    if kind == 'union_tag_invalid':
        context: Mapping[str, object] = error.get('ctx') or {}
        expected = context.get('expected_tags', '')
        return f'Input tag does not match any of the expected tags: {expected}'
    if kind in _kinds_without_input():
        return message
    folded = message.casefold()
    windows = {folded[start : start + _WINDOW] for start in range(len(folded) - _WINDOW + 1)}
    for text in islice(_texts(error.get('input')), _MAX_VALUES):
        if len(text) < _WINDOW:
            if text.strip():
                message = sub(rf'(?<!\w){escape(text)}(?!\w)', '…', message)
        elif any(text[start : start + _WINDOW] in windows for start in range(len(text))):
            return _NEUTRAL
    return message


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of all keys and values in an input, in the form for comparisons."""
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Mapping):
            members = cast('Mapping[object, object]', node)
            nodes += [*members.keys(), *members.values()]
        elif isinstance(node, (list, tuple, set)):
            nodes += cast('list[object]', list(node))
        elif node is not None and not isinstance(node, bool):
            yield str(node)[:_MAX_LENGTH].casefold()


@cache
def _kinds_without_input() -> frozenset[str]:
    """Return the types of pydantic's own errors whose messages depend on the schema only."""
    from pydantic_core.core_schema import ErrorType  # noqa: PLC0415 -- only FastAPI needs it

    return frozenset(get_args(ErrorType)) - {'value_error', 'assertion_error'}
