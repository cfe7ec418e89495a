"""Conversion of any value to JSON: finite numbers, limited size, no lone surrogates."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from math import isfinite
from os import PathLike, fspath
from re import compile as pattern
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from typing_extensions import TypeIs

from seamwise._text.json_pointer import json_pointer
from seamwise._text.safe_call import call_or_describe
from seamwise._text.secrets import MASK, Secret
from seamwise._text.shortening import shorten

if TYPE_CHECKING:
    from pathlib import PurePath

Json: TypeAlias = 'str | float | bool | list[Json] | dict[str, Json] | None'
"""A value that JSON can represent."""

DEPTH_LIMIT = 64
"""Values that are nested deeper are replaced by `…`: encoders and readers recurse."""

BIT_LIMIT = 4096
"""Longer integers are described by their size: Python refuses to print more than 4,300 digits."""

CUT = '…'

_LONE_SURROGATE = pattern('[\ud800-\udfff]')


def iter_surrogates(builtins: object) -> Iterator[str]:
    r"""Yield the places of the texts in builtins that contain lone surrogates.

    >>> [*iter_surrogates({'path': ['caf\udce9']})]
    ['/path/0']
    """
    for pointer, item in iter_json(builtins):
        if isinstance(item, str) and _LONE_SURROGATE.search(item):
            yield pointer


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, with U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub('\ufffd', text)


def to_builtins(value: object, depth: int = 0) -> object:
    """Convert a value without cycles to dicts, lists, texts, finite numbers, booleans and None.

    Texts are cut, secrets masked, and lone surrogates replaced. Keys of dicts become texts.
    `depth` is the number of containers around the value.
    """
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
    return next(convert(value, depth) for type_, convert in _CONVERTERS if isinstance(value, type_))


def to_builtins_dict(value: Mapping[Any, object], depth: int = 0) -> dict[str, object]:
    """Convert a mapping to a dict with text keys."""
    return {_key(key): to_builtins(item, depth) for key, item in value.items()}


def _key(key: object) -> str:
    return shorten(replace_surrogates(str.__str__(key) if isinstance(key, str) else safe_str(key)))


def _sequence(value: Iterable[object], depth: int) -> list[object]:
    return [to_builtins(item, depth) for item in value]


def _set(value: Iterable[object], depth: int) -> list[object]:
    # Sorted, because the order of a set of texts differs from process to process.
    return sorted(_sequence(value, depth), key=repr)


def _struct(value: msgspec.Struct, depth: int) -> dict[str, object]:
    field, tag = value.__struct_config__.tag_field, value.__struct_config__.tag
    fields = {name: to_builtins(getattr(value, name), depth) for name in value.__struct_fields__}
    return fields if field is None else {field: tag, **fields}


def _path(value: PathLike[Any], depth: int) -> object:
    return to_builtins(fspath(value), depth)


def is_model(class_: type[Any]) -> bool:
    """Return whether a class is a model of pydantic."""
    pydantic = sys.modules.get('pydantic')
    return pydantic is not None and issubclass(class_, pydantic.BaseModel)


def _dump(model: Any) -> object:
    """Return a model of pydantic as it writes itself in JSON."""
    class_: type[Any] = model.__class__
    dumped: object = model.model_dump(mode='json', by_alias=True, exclude_none=is_block(class_))
    return dumped


def is_block(class_: type[Any]) -> bool:
    """Return whether a class is one of the official package of MCP, such as `ImageContent`.

    Its fields that are None are not part of its JSON.
    """
    return is_model(class_) and class_.__module__.startswith(('mcp.', 'mcp_types.'))


def _other(value: object, depth: int) -> object:
    """Convert times, UUIDs, enums and dataclasses as msgspec does; name the type of others."""
    if is_model(type(value)):
        return call_or_describe(
            lambda: to_builtins(_dump(value), depth), lambda _: f'<{type(value).__qualname__}>'
        )
    try:
        builtins: object = msgspec.to_builtins(value, str_keys=True, enc_hook=to_builtins)
    except (TypeError, ValueError, RecursionError):
        return f'<{type(value).__qualname__}>'
    return to_builtins(builtins, depth)


_CONVERTERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, int], object]], ...] = (
    (Mapping, to_builtins_dict),
    (AbstractSet, _set),
    ((list, tuple), _sequence),
    (msgspec.Struct, _struct),
    (PathLike, _path),
    (object, _other),
)


def safe_str(value: object) -> str:
    """Return `str(value)`, or a note if that raises: an exception must be reported in any case."""
    return call_or_describe(
        lambda: str(value), lambda error: f'(its text raised {type(error).__name__})'
    )


def to_json(value: object) -> bytes:
    r"""Encode a value as JSON in UTF-8; only secrets are masked and lone surrogates replaced.

    >>> to_json({'path': 'caf\udce9'}).decode()
    '{"path":"caf�"}'
    """
    try:
        return msgspec.json.encode(value, enc_hook=_encode_other)
    except UnicodeEncodeError:
        return msgspec.json.encode(
            encodable(msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_other))
        )


def json_problem(value: object) -> tuple[str, str] | None:
    """Return the place and the reason why JSON cannot represent a value, or None.

    The place is a JSON Pointer. NaN and infinity are refused: an encoder would write null.

    >>> json_problem({'mean': [1.5, float('nan')]})
    ('/mean/1', 'must be a finite number, not nan')
    >>> json_problem(object())
    ('', 'must have a JSON form: object has no JSON form.')
    """
    encoded = _encoded(value)
    if isinstance(encoded, str):
        return '', encoded
    # Only a value with a null can have such a number.
    return _infinite_number(value) if b'null' in encoded else None


def json_form_problem(value: object) -> str | None:
    """Return the reason why `to_json` cannot encode a value, or None."""
    encoded = _encoded(value)
    return encoded if isinstance(encoded, str) else None


def _encoded(value: object) -> bytes | str:
    """Return the JSON of a value, or the reason why it has none."""
    try:
        return to_json(value)
    except (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError) as error:
        return f'must have a JSON form: {shorten(str(error))}'


def _infinite_number(value: object) -> tuple[str, str] | None:
    return number_problem(msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_other))


def number_problem(builtins: object) -> tuple[str, str] | None:
    """Return the place and the reason why JSON cannot represent a number in builtins, or None.

    >>> number_problem({'size': [7, 10**5000]})
    ('/size/1', 'must have at most 4,300 digits')
    """
    for pointer, item in iter_json(builtins):
        if isinstance(item, float) and not isfinite(item):
            return pointer, f'must be a finite number, not {item}'
        if isinstance(item, int) and item.bit_length() > BIT_LIMIT:
            try:
                str(item)
            except ValueError:
                return pointer, f'must have at most {sys.get_int_max_str_digits():,} digits'
    return None


def iter_json(builtins: object) -> Iterator[tuple[str, object]]:
    """Yield the JSON Pointer and the value of builtins and of all values in them.

    >>> [*iter_json({'a': [7]})]
    [('', {'a': [7]}), ('/a', [7]), ('/a/0', 7)]
    """
    stack = [('', builtins)]
    while stack:
        pointer, item = stack.pop()
        yield pointer, item
        for type_, parts in _PARTS:
            if isinstance(item, type_):
                stack += ((pointer + json_pointer([str(key)]), part) for key, part in parts(item))


_Parts: TypeAlias = Callable[[Any], Iterable[tuple[object, object]]]

_PARTS: tuple[tuple[type | tuple[type, ...], _Parts], ...] = (
    (dict, lambda items: items.items()),
    ((list, tuple), enumerate),
)


def _is_path(value: object) -> 'TypeIs[PurePath]':
    # Other objects with an `__fspath__` may read or load a file in it. There is no path if nothing
    # has imported pathlib.
    pathlib = sys.modules.get('pathlib')
    return pathlib is not None and isinstance(value, pathlib.PurePath)


def _encode_other(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if _is_path(value):
        return str(value)
    if is_model(type(value)):
        return _dump(value)
    raise NotImplementedError(f'{type(value).__qualname__} has no JSON form.')


def encodable(value: object) -> object:
    """Replace the lone surrogates in all texts of builtins whose dicts have text keys."""
    for type_, convert in _ENCODABLE:
        if isinstance(value, type_):
            return convert(value)
    return value


_ENCODABLE: tuple[tuple[type | tuple[type, ...], Callable[[Any], object]], ...] = (
    (str, replace_surrogates),
    (
        dict,
        lambda items: {replace_surrogates(key): encodable(item) for key, item in items.items()},
    ),
    # msgspec keeps the tuples of a value.
    ((list, tuple), lambda items: [encodable(item) for item in items]),
)
