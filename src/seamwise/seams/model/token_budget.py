"""Token budget of an answer: the least important parts are cut, and the rest is valid JSON."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from seamwise._text.jsonable import Json
from seamwise._text.shortening import shorten
from seamwise.seams.model.shape import Done, Guidance, tail
from seamwise.seams.rendering.encoding import to_json

T = TypeVar('T')

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 that are estimated as one token; see `tokens`."""

MIN_CUT = 24
"""In characters. A shorter cut would save less than the note about it takes."""

CUT_MARK = '…'


def tokens(payload: str | bytes) -> int:
    """Estimate the number of tokens of a text: a third of its bytes in UTF-8, rounded up.

    The estimate is on the safe side for most texts: one token is some 4 characters of English, 3
    of JSON and code, and 1 of Chinese. Only the model's own tokenizer is exact; random letters
    and digits can take half as many tokens again.

    >>> tokens('hello'), tokens('你好')
    (2, 2)
    """
    size = len(payload.encode('utf-8', 'replace')) if isinstance(payload, str) else len(payload)
    return -(-size // BYTES_PER_TOKEN)


def fit_to_tokens(answer: Guidance | Done[object], limit: int) -> Guidance | Done[object]:
    """Return an answer cut to at most `limit` tokens, unchanged if it fits.

    The parts of a failure are cut in this order: the output (its last lines stay longest), the
    path, the end of the suggestion, the end of the message. Status, type and class are never cut,
    so a failure takes some 40 tokens at any limit. All long texts and lists of a success are cut
    equally, from their end.

    Raises:
        ValueError: The limit is below 1.
    """
    max_size = _max_size(limit)
    if len(to_json(answer)) <= max_size:
        return answer
    if isinstance(answer, Guidance):
        return _fit_guidance(answer, max_size)
    return Done(_fit_value(answer.result, max_size - _size(Done(0)) + 1))


def fit_value_to_tokens(value: object, limit: int) -> object:
    """Return a value cut to at most `limit` tokens, unchanged if it fits."""
    max_size = _max_size(limit)
    return value if _size(value) <= max_size else _fit_value(value, max_size)


def _max_size(limit: int) -> int:
    if limit < 1:
        raise ValueError(f'limit must be at least 1 token, not {limit}.')
    return limit * BYTES_PER_TOKEN


def _size(value: object) -> int:
    return len(to_json(value))


def _fit_guidance(guidance: Guidance, max_size: int) -> Guidance:
    output, suggestion, message = guidance.output or '', guidance.suggestion or '', guidance.message
    without_output = replace(guidance, output=None)
    without_path = replace(without_output, path=None)
    minimal = replace(without_path, suggestion=None)

    def with_output(length: int) -> Guidance:
        return replace(guidance, output=tail(output, length)) if length else without_output

    def with_suggestion(length: int) -> Guidance:
        return replace(without_path, suggestion=_cut(suggestion, length) if length else None)

    def with_message(length: int) -> Guidance:
        return replace(minimal, message=_cut(message, length) if length else '')

    steps = (
        (with_output, len(output)),
        (with_suggestion, len(suggestion)),
        (with_message, len(message)),
    )
    for build, max_length in steps:
        if (fitting := _largest_fitting(build, max_length, max_size)) is not None:
            return fitting
    return replace(minimal, message='')


def _largest_fitting(build: Callable[[int], T], max_length: int, max_size: int) -> T | None:
    """Return `build(length)` for about the largest length that fits, by bisection.

    Args:
        build: Builds a value whose size grows with the length.
        max_length: The largest length to try.
        max_size: Size limit of the value in bytes of JSON.

    Returns:
        The value, or None if even `build(0)` does not fit.
    """
    best = build(0)
    if _size(best) > max_size:
        return None
    fitting, too_long = 0, max_length + 1
    while too_long - fitting > 1:
        length = (fitting + too_long) // 2
        value = build(length)
        if _size(value) <= max_size:
            best, fitting = value, length
        else:
            too_long = length
    return best


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length + MIN_CUT else shorten(text, length)


def _fit_value(value: object, max_size: int) -> object:
    encoded = to_json(value)
    builtins: Json = msgspec.json.decode(encoded)
    shrunk = _largest_fitting(lambda length: _shrink(builtins, length), max_size, max_size)
    return f'{CUT_MARK} ({len(encoded)} bytes more)' if shrunk is None else shrunk


def _shrink(value: Json, length: int) -> Json:
    """Cut texts to `length` characters, and lists and objects to a quarter as many items."""
    if isinstance(value, str):
        return _cut(value, length)
    max_items = length // 4 + 1
    if isinstance(value, list):
        items = [_shrink(item, length) for item in value[:max_items]]
        omitted = len(value) - max_items
        return [*items, f'{CUT_MARK} ({omitted} more)'] if omitted > 0 else items
    if isinstance(value, dict):
        fields = {name: _shrink(value[name], length) for name in list(value)[:max_items]}
        omitted = len(value) - max_items
        return {**fields, CUT_MARK: f'({omitted} more)'} if omitted > 0 else fields
    return value
