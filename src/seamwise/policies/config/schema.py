"""Conversion of a parsed file to Structs, with a JSON Pointer (RFC 6901) to each problem."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from typing import Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType
from typing_extensions import TypeIs

from seamwise._text.close_matches import close_matches
from seamwise._text.json_pointer import json_pointer
from seamwise._text.values import describe_value
from seamwise.catalog.problem import Problem

S = TypeVar('S', bound=Struct)

KeyPath: TypeAlias = tuple[str, ...]
"""The keys from a table to a value."""

Table: TypeAlias = Mapping[str, object]
"""A table of a file; one from YAML can have keys that are not strings."""

_TYPE_NAMES: dict[object, str] = {
    int: 'an integer',
    float: 'a number',
    str: 'a string',
    bool: 'true or false',
}
_INTEGERS = range(-(2**63), 2**63)
"""The integers that every TOML parser supports (TOML 1.0, "Integer")."""


def is_table(value: object) -> TypeIs[Table]:
    """Return whether a value from a file is a table."""
    return isinstance(value, Mapping)


def child_pointer(pointer: str, name: str) -> str:
    """Return the pointer to a member.

    >>> child_pointer('/tools', 'a/b')
    '/tools/a~1b'
    """
    return pointer + json_pointer([name])


def unknown_name_message(name: str, known: Iterable[str], *, noun: str) -> str:
    """Return the message for an unknown name, with similar names or else all known ones.

    >>> unknown_name_message('atempts', ['attempts', 'base'], noun='key')
    "is not a known key (did you mean 'attempts'?)"
    """
    names = tuple(known)
    matches = close_matches(name, names)
    if matches:
        return f'is not a known {noun}{_suggestion(matches)}'
    if not names:
        return f'is not a known {noun}; there is none'
    return f'is not a known {noun}; the {noun}s are {_joined(map(repr, names), last="and")}'


def convert_struct(struct: type[S], value: object, problems: list[Problem]) -> S | None:
    """Convert a table strictly to a Struct, or append all problems and return None.

    In a union of Structs, the first field of a Struct identifies it.

    >>> class Point(Struct):
    ...     x: int
    >>> problems: list[Problem] = []
    >>> convert_struct(Point, {'X': 1, 'x': True}, problems)
    >>> [f'{problem.pointer}: {problem.message}' for problem in problems]
    ["/X: is not a known key (did you mean 'x'?)", '/x: must be an integer, not true']
    """
    previous_count = len(problems)
    result = _convert(struct, value, problems, '')
    return cast('S', result) if len(problems) == previous_count else None


def string_keys(table: Table, problems: list[Problem], pointer: str) -> Iterator[str]:
    """Yield the keys of a table; append a problem for each key that is not a string."""
    keys: Iterable[object] = table
    for key in keys:
        if isinstance(key, str):
            yield key
        else:
            message = f'has a key that is not a string: {describe_value(key)}'
            problems.append(Problem(pointer, message))


def struct_types(types: Iterable[object]) -> list[type[Struct]]:
    """Return the Structs among types."""
    return [type_ for type_ in types if _is_struct(type_)]


def field_types(structs: Iterable[type[Struct]], name: str) -> tuple[object, ...]:
    """Return the types of the fields of a name, the members of unions separately.

    >>> class Point(Struct):
    ...     x: int | float
    >>> field_types([Point], 'x'), field_types([Point], 'y')
    ((<class 'int'>, <class 'float'>), ())
    """
    return tuple(
        type_
        for struct in structs
        for field in msgspec.structs.fields(struct)
        if field.name == name
        for type_ in _members(field.type)
    )


def first_key(structs: Iterable[type[Struct]], table: Table) -> str | None:
    """Return the key of a table that identifies its Struct in a union of several, if any."""
    keys = [struct.__struct_fields__[0] for struct in structs]
    return next((key for key in keys if key in table), None) if len(keys) > 1 else None


def _convert(type_: object, value: object, problems: list[Problem], pointer: str) -> object:
    """Convert a value; the result is meaningless if there are new problems."""
    members = tuple(_members(type_))
    if is_table(value):
        structs = struct_types(members)
        if structs:
            return _convert_struct(structs, value, problems, pointer)
        mapping = next((member for member in members if get_origin(member) is dict), None)
        if mapping is not None:
            item_type = get_args(mapping)[1]
            return {
                name: _convert(item_type, value[name], problems, child_pointer(pointer, name))
                for name in string_keys(value, problems, pointer)
            }
    array = next((member for member in members if get_origin(member) is list), None)
    items = _list_items(value)
    if array is not None and items is not None:
        return [
            _convert(get_args(array)[0], item, problems, child_pointer(pointer, str(index)))
            for index, item in enumerate(items)
        ]
    literals = [
        literal
        for member in members
        if get_origin(member) is Literal
        for literal in get_args(member)
    ]
    if any(type(value) is type(literal) and value == literal for literal in literals):
        return value
    scalars = tuple(member for member in members if member in _TYPE_NAMES)
    try:
        result: object = msgspec.convert(value, Union[scalars], strict=True)  # noqa: UP007 -- the members are a tuple
    except (msgspec.ValidationError, TypeError):
        result = None
    if result is None or (type(result) is int and result not in _INTEGERS):
        problems.append(Problem(pointer, _mismatch_message(members, literals, value)))
    return result


def _list_items(value: object) -> Iterable[object] | None:
    return cast('Iterable[object]', value) if isinstance(value, list | tuple) else None


def _convert_struct(
    structs: list[type[Struct]], table: Table, problems: list[Problem], pointer: str
) -> Struct | None:
    by_first_key = {candidate.__struct_fields__[0]: candidate for candidate in structs}
    candidates = [struct for key, struct in by_first_key.items() if key in table]
    if len(structs) == 1:
        candidates = structs
    if not candidates:
        message = f'needs one of the keys {_joined(map(repr, by_first_key))}'
        problems.append(Problem(pointer, message))
        return None
    struct = candidates[0]
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    previous_count = len(problems)
    problems.extend(
        Problem(child_pointer(pointer, name), unknown_name_message(name, fields, noun='key'))
        for name in string_keys(table, problems, pointer)
        if name not in fields
    )
    missing = [name for name, field in fields.items() if field.required and name not in table]
    problems.extend(Problem(pointer, f'needs the key {name!r}') for name in missing)
    values = {
        name: _convert(field.type, table[name], problems, child_pointer(pointer, name))
        for name, field in fields.items()
        if name in table
    }
    return struct(**values) if len(problems) == previous_count else None


def _members(type_: object) -> Iterator[object]:
    """Yield the members of a union, nested ones included, without `UnsetType`."""
    if type_ is UnsetType:
        return
    if isinstance(type_, type) or get_origin(type_) in {dict, list, Literal}:
        yield type_
        return
    for argument in get_args(type_):
        yield from _members(argument)


def _mismatch_message(members: tuple[object, ...], literals: list[object], value: object) -> str:
    takes_table = any(_is_struct(member) or get_origin(member) is dict for member in members)
    expected = [
        *(['a table'] if takes_table else []),
        *(['a list'] if any(get_origin(member) is list for member in members) else []),
        *(_TYPE_NAMES[member] for member in members if member in _TYPE_NAMES),
        *(_literal_text(literal) for literal in literals),
    ]
    matches: tuple[str, ...] = ()
    if isinstance(value, str):
        matches = close_matches(value, [word for word in literals if isinstance(word, str)])
    return f'must be {_joined(expected)}, not {value_text(value)}{_suggestion(matches)}'


def _suggestion(names: tuple[str, ...]) -> str:
    return f' (did you mean {_joined(map(repr, names))}?)' if names else ''


def value_text(value: object) -> str:
    """Return a short value of a file as text; describe a long one by its type."""
    if isinstance(value, date | time):
        return 'a date or a time'
    if isinstance(value, int) and value not in _INTEGERS:
        return 'one of more than 64 bits'
    return 'a table' if is_table(value) else describe_value(value)


def _literal_text(literal: object) -> str:
    return repr(literal) if isinstance(literal, str) else describe_value(literal)


def _joined(texts: Iterable[str], *, last: str = 'or') -> str:
    *others, end = texts
    return f'{", ".join(others)} {last} {end}' if others else end


def _is_struct(type_: object) -> TypeIs[type[Struct]]:
    return isinstance(type_, type) and issubclass(type_, Struct)
