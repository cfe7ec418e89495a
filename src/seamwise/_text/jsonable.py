"""Any value as what JSON can say: builtins without end or hole, texts without lone surrogates."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from math import isfinite
from os import PathLike, fspath
from re import compile as pattern
from typing import Any

import msgspec

from seamwise._safe_call import call_or_describe
from seamwise.messages import shorten
from seamwise.secrets import MASK, Secret

DEPTH_LIMIT = 64
"""What is nested deeper than so many levels is shown as `…`: encoders and readers have an end."""

BIT_LIMIT = 4096
"""An integer of more bits is told by its size: Python refuses to write one of over 4,300 digits."""

CUT = '…'

_LONE_SURROGATE = pattern('[\ud800-\udfff]')


def replace_surrogates(text: str) -> str:
    """Replace what UTF-8 cannot say, lone surrogates, by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub('\ufffd', text)


def to_builtins(value: object, depth: int = 0) -> object:
    """Give a value without cycles as dicts with text keys, lists, texts, finite numbers, booleans and None; texts are cut and mended."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return shorten(replace_surrogates(str.__str__(value)))
    if isinstance(value, int):
        return (
            int(value)
            if value.bit_length() <= BIT_LIMIT
            else f'<an integer of {value.bit_length()} bits>'
        )
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, Secret):
        return MASK
    return CUT if depth == DEPTH_LIMIT else _container(value, depth + 1)


def _container(value: object, depth: int) -> object:
    return next(write(value, depth) for kind, write in _WRITERS if isinstance(value, kind))


def to_builtins_dict(value: Mapping[Any, object], depth: int = 0) -> dict[str, object]:
    """Give a mapping as a dict with text keys."""
    return {_key(key): to_builtins(one, depth) for key, one in value.items()}


def _key(key: object) -> str:
    return shorten(replace_surrogates(str.__str__(key) if isinstance(key, str) else safe_str(key)))


def _sequence(value: Iterable[object], depth: int) -> list[object]:
    return [to_builtins(one, depth) for one in value]


def _set(value: Iterable[object], depth: int) -> list[object]:
    # A set of texts has another order in every process; a record should not.
    return sorted(_sequence(value, depth), key=repr)


def _struct(value: msgspec.Struct, depth: int) -> dict[str, object]:
    field, tag = value.__struct_config__.tag_field, value.__struct_config__.tag
    fields = {name: to_builtins(getattr(value, name), depth) for name in value.__struct_fields__}
    return fields if field is None else {field: tag, **fields}


def _path(value: PathLike[Any], depth: int) -> object:
    return to_builtins(fspath(value), depth)


def _foreign(value: object, depth: int) -> object:
    """Write what msgspec knows (times, UUIDs, enums, dataclasses) as it does, anything else by its type."""
    try:
        known: object = msgspec.to_builtins(value, str_keys=True, enc_hook=to_builtins)
    except (TypeError, ValueError, RecursionError):
        return f'<{type(value).__qualname__}>'
    return to_builtins(known, depth)


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, int], object]], ...] = (
    (Mapping, to_builtins_dict),
    (AbstractSet, _set),
    ((list, tuple), _sequence),
    (msgspec.Struct, _struct),
    (PathLike, _path),
    (object, _foreign),
)


def safe_str(value: object) -> str:
    """Give `str(value)`, or say that this raised: an exception with a broken text is still to be reported."""
    return call_or_describe(
        lambda: str(value), lambda raised: f'(its text raised {type(raised).__name__})'
    )


def to_json(value: object) -> bytes:
    r"""Encode a value as it is, as JSON in UTF-8: only secrets are masked, and lone surrogates mended.

    >>> to_json({'path': 'caf\udce9'}).decode()
    '{"path":"caf�"}'
    """
    try:
        return msgspec.json.encode(value, enc_hook=_masked)
    except UnicodeEncodeError:
        return msgspec.json.encode(
            _mended(msgspec.to_builtins(value, str_keys=True, enc_hook=_masked))
        )


def _masked(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    raise NotImplementedError(f'{type(value).__qualname__} has no JSON form.')


def _mended(value: object) -> object:
    return next((mend(value) for kind, mend in _MENDERS if isinstance(value, kind)), value)


_MENDERS: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (str, replace_surrogates),
    (dict, lambda items: {replace_surrogates(key): _mended(one) for key, one in items.items()}),
    (list, lambda members: [_mended(one) for one in members]),
)
