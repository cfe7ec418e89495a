"""Make an answer fit a model's budget: what matters least is cut first, and what is left is whole JSON."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from seamwise._text.jsonable import Json, to_json
from seamwise.messages import shorten
from seamwise.seams.model.shape import Done, Guidance, tail

T = TypeVar('T')

BYTES_A_TOKEN = 3
"""So many bytes of UTF-8 are reckoned as one token; see `tokens`."""

MARK = 24
"""A text is cut only where that saves more than the note takes that says how much is gone."""

CUT = '…'


def tokens(payload: str | bytes) -> int:
    """Estimate how many tokens a text is: a third of its bytes in UTF-8, rounded up.

    An estimate, on the safe side for most texts: a token is some 4 characters of English, 3 of JSON and code, and one of
    Chinese. Only the model's own tokenizer knows; random letters and digits may take half as many again.

    >>> tokens('hello'), tokens('你好')
    (2, 2)
    """
    size = len(payload.encode('utf-8', 'replace')) if isinstance(payload, str) else len(payload)
    return -(-size // BYTES_A_TOKEN)


def fit_to_tokens(answer: Guidance | Done[object], limit: int) -> Guidance | Done[object]:
    """Give an answer of at most `limit` tokens, as `tokens` reckons them; one that fits is given back as it is.

    Of a failure goes first what stands farthest back: its output (the last lines stay longest), its path, then
    the end of its suggestion, then of its message; status, type and class are never cut, so that a failure takes some 40
    tokens whatever the limit. Of a success every long text and list is cut alike, from its end, until the whole fits.
    A limit below 1 is a ValueError.
    """
    if limit < 1:
        raise ValueError(f'limit is a number of tokens from 1 on, not {limit}.')
    room = limit * BYTES_A_TOKEN
    if len(to_json(answer)) <= room:
        return answer
    return (
        _fit_guidance(answer, room)
        if isinstance(answer, Guidance)
        else Done(_fit_value(answer.result, room - _size(Done(0)) + 1))
    )


def fitted_value(value: object, limit: int) -> object:
    """Give a value of at most `limit` tokens; one that fits is given back as it is."""
    if limit < 1:
        raise ValueError(f'limit is a number of tokens from 1 on, not {limit}.')
    room = limit * BYTES_A_TOKEN
    return value if _size(value) <= room else _fit_value(value, room)


def _size(value: object) -> int:
    return len(to_json(value))


def _fit_guidance(guidance: Guidance, room: int) -> Guidance:
    output, suggestion, message = guidance.output or '', guidance.suggestion or '', guidance.message
    without_output = replace(guidance, output=None)
    plain = replace(without_output, path=None)
    bare = replace(plain, suggestion=None)
    steps: tuple[tuple[Callable[[int], Guidance], int], ...] = (
        (
            lambda size: replace(guidance, output=tail(output, size)) if size else without_output,
            len(output),
        ),
        (
            lambda size: replace(plain, suggestion=_cut(suggestion, size) if size else None),
            len(suggestion),
        ),
        (lambda size: replace(bare, message=_cut(message, size) if size else ''), len(message)),
    )
    fitting = (_most(make, largest, room) for make, largest in steps)
    return next((one for one in fitting if one is not None), replace(bare, message=''))


def _most(make: Callable[[int], T], largest: int, room: int) -> T | None:
    """Give what `make` makes of about the largest size with which it fits; None where it does not fit with 0."""
    best = make(0)
    if _size(best) > room:
        return None
    fits, too_large = 0, largest + 1
    while too_large - fits > 1:
        size = (fits + too_large) // 2
        made = make(size)
        if _size(made) <= room:
            best, fits = made, size
        else:
            too_large = size
    return best


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size + MARK else shorten(text, size)


def _fit_value(value: object, room: int) -> object:
    written = to_json(value)
    whole: Json = msgspec.json.decode(written)
    shrunk = _most(lambda size: _shrunk(whole, size), room, room)
    return f'{CUT} ({len(written)} bytes more)' if shrunk is None else shrunk


def _shrunk(value: Json, size: int) -> Json:
    """Cut every text after `size` characters, and every list and object after a quarter as many members."""
    if isinstance(value, str):
        return _cut(value, size)
    members = size // 4 + 1
    if isinstance(value, list):
        kept = [_shrunk(one, size) for one in value[:members]]
        return kept if len(value) <= members else [*kept, f'{CUT} ({len(value) - members} more)']
    if isinstance(value, dict):
        names = list(value)
        shown = {name: _shrunk(value[name], size) for name in names[:members]}
        return shown if len(names) <= members else {**shown, CUT: f'({len(names) - members} more)'}
    return value
