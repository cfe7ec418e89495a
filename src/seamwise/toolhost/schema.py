"""Conversion of a parsed file to Structs, with a JSON Pointer (RFC 6901) to each problem."""

from collections.abc import Iterable, Iterator
from datetime import date, time
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType
from typing_extensions import TypeIs

from seamwise._close_matches import close_matches
from seamwise.catalog.problem import Problem
from seamwise.toolhost.arguments import describe_value

S = TypeVar('S', bound=Struct)

_TYPE_NAMES: dict[object, str] = {
    int: 'an integer',
    float: 'a number',
    str: 'a string',
    bool: 'true or false',
}
_INTEGERS = range(-(2**63), 2**63)
"""The integers that every TOML parser supports (TOML 1.0, "Integer")."""


def is_table(value: object) -> TypeIs[dict[str, object]]:
    """Return whether a value from a file is a table."""
    return isinstance(value, dict)


def child_pointer(pointer: str, name: str) -> str:
    """Return the pointer to a member.

    >>> child_pointer('/tools', 'a/b')
    '/tools/a~1b'
    """
    return f'{pointer}/{name.replace("~", "~0").replace("/", "~1")}'


def unknown_name_message(name: str, known: Iterable[str], *, noun: str) -> str:
    """Return the message for an unknown name, with similar names or else all known ones.

    >>> unknown_name_message('atempts', ['attempts', 'base'], noun='key')
    "is not a known key (did you mean 'attempts'?)"
    """
    names = tuple(known)
    matches = close_matches(name, names)
    if matches:
        return f'is not a known {noun}{_suggestion(matches)}'
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


def _convert(type_: object, value: object, problems: list[Problem], pointer: str) -> object:
    """Convert a value; the result is meaningless if there are new problems."""
    members = tuple(_members(type_))
    if is_table(value):
        structs = [member for member in members if _is_struct(member)]
        if structs:
            return _convert_struct(structs, value, problems, pointer)
        mapping = next((member for member in members if get_origin(member) is dict), None)
        if mapping is not None:
            item_type = get_args(mapping)[1]
            return {
                name: _convert(item_type, item, problems, child_pointer(pointer, name))
                for name, item in value.items()
            }
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


def _convert_struct(
    structs: list[type[Struct]], table: dict[str, object], problems: list[Problem], pointer: str
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
        for name in table
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
    if isinstance(type_, type) or get_origin(type_) in {dict, Literal}:
        yield type_
        return
    for argument in get_args(type_):
        yield from _members(argument)


def _mismatch_message(members: tuple[object, ...], literals: list[object], value: object) -> str:
    takes_table = any(_is_struct(member) or get_origin(member) is dict for member in members)
    expected = [
        *(['a table'] if takes_table else []),
        *(_TYPE_NAMES[member] for member in members if member in _TYPE_NAMES),
        *(_literal_text(literal) for literal in literals),
    ]
    matches: tuple[str, ...] = ()
    if isinstance(value, str):
        matches = close_matches(value, [word for word in literals if isinstance(word, str)])
    return f'must be {_joined(expected)}, not {_value_text(value)}{_suggestion(matches)}'


def _suggestion(names: tuple[str, ...]) -> str:
    return f' (did you mean {_joined(map(repr, names))}?)' if names else ''


def _value_text(value: object) -> str:
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
