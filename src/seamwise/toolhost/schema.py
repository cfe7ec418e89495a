"""Checks what was read of a file against Structs: every finding, with a pointer to it (JSON Pointer, RFC 6901)."""

from collections.abc import Iterable, Iterator
from datetime import date, time
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType
from typing_extensions import TypeIs

from seamwise._close_matches import close_matches
from seamwise.catalog.problem import Problem
from seamwise.toolhost.arguments import shown

S = TypeVar('S', bound=Struct)

_WORDS: dict[object, str] = {
    int: 'an integer',
    float: 'a number',
    str: 'a text',
    bool: 'true or false',
}
_INTEGERS = range(-(2**63), 2**63)
"""The integers that every reader of TOML takes (TOML 1.0, "Integer")."""


def is_table(value: object) -> TypeIs[dict[str, object]]:
    """Whether a value that was read of a file is a table."""
    return isinstance(value, dict)


def below(pointer: str, name: str) -> str:
    """Give the pointer to a member.

    >>> below('/tools', 'a/b')
    '/tools/a~1b'
    """
    return f'{pointer}/{name.replace("~", "~0").replace("/", "~1")}'


def unknown(name: str, known: Iterable[str], *, what: str) -> str:
    """Say that a name is not known, and which one may have been meant; else which there are.

    >>> unknown('atempts', ['attempts', 'base'], what='key')
    "is no key here (did you mean 'attempts'?)"
    """
    names = tuple(known)
    found = close_matches(name, names)
    if found:
        return f'is no {what} here{_meant(found)}'
    return f'is no {what} here; the {what}s are {_listed(map(repr, names), last="and")}'


def check(kind: type[S], given: object, problems: list[Problem]) -> S | None:
    """Make a Struct of a table and all that is in it, strictly; else add everything that is wrong to `problems`, and give None.

    Of a union of Structs that one is meant whose first field the table has.

    >>> class Point(Struct):
    ...     x: int
    >>> problems: list[Problem] = []
    >>> check(Point, {'X': 1, 'x': True}, problems)
    >>> [f'{one.pointer}: {one.message}' for one in problems]
    ["/X: is no key here (did you mean 'x'?)", '/x: must be an integer, not true']
    """
    before = len(problems)
    made = _value(kind, given, problems, '')
    return cast('S', made) if len(problems) == before else None


def _value(declared: object, given: object, problems: list[Problem], pointer: str) -> object:
    """Make a value; what it gives is of no use where it has added to the problems."""
    members = tuple(_members(declared))
    if is_table(given):
        structs = [one for one in members if _is_struct(one)]
        if structs:
            return _struct(structs, given, problems, pointer)
        mapping = next((one for one in members if get_origin(one) is dict), None)
        if mapping is not None:
            return {
                name: _value(get_args(mapping)[1], one, problems, below(pointer, name))
                for name, one in given.items()
            }
    words = [one for member in members if get_origin(member) is Literal for one in get_args(member)]
    if any(type(given) is type(word) and given == word for word in words):
        return given
    plain = tuple(one for one in members if one in _WORDS)
    try:
        made: object = msgspec.convert(given, Union[plain], strict=True)  # noqa: UP007 -- of a tuple
    except (msgspec.ValidationError, TypeError):
        made = None
    if made is None or (type(made) is int and made not in _INTEGERS):
        problems.append(Problem(pointer, _mismatch(members, words, given)))
    return made


def _struct(
    kinds: list[type[Struct]], given: dict[str, object], problems: list[Problem], pointer: str
) -> Struct | None:
    firsts = {one.__struct_fields__[0]: one for one in kinds}
    kind = (
        kinds[0]
        if len(kinds) == 1
        else next((one for first, one in firsts.items() if first in given), None)
    )
    if kind is None:
        problems.append(Problem(pointer, f'needs one of the keys {_listed(map(repr, firsts))}'))
        return None
    fields = {one.name: one for one in msgspec.structs.fields(kind)}
    before = len(problems)
    problems.extend(
        Problem(below(pointer, name), unknown(name, fields, what='key'))
        for name in given
        if name not in fields
    )
    missing = [name for name, one in fields.items() if one.required and name not in given]
    problems.extend(Problem(pointer, f'needs the key {name!r}') for name in missing)
    values = {
        name: _value(one.type, given[name], problems, below(pointer, name))
        for name, one in fields.items()
        if name in given
    }
    return kind(**values) if len(problems) == before else None


def _members(declared: object) -> Iterator[object]:
    if declared is UnsetType:
        return
    if isinstance(declared, type) or get_origin(declared) in {dict, Literal}:
        yield declared
        return
    for one in get_args(declared):
        yield from _members(one)


def _mismatch(members: tuple[object, ...], words: list[object], given: object) -> str:
    kinds = ['a table' for one in members if _is_struct(one) or get_origin(one) is dict][:1]
    wanted = [
        *kinds,
        *(_WORDS[one] for one in members if one in _WORDS),
        *(_shown(one) for one in words),
    ]
    found = (
        close_matches(given, [one for one in words if isinstance(one, str)])
        if isinstance(given, str)
        else ()
    )
    return f'must be {_listed(wanted)}, not {_kind(given)}{_meant(found)}'


def _meant(found: tuple[str, ...]) -> str:
    return f' (did you mean {_listed(map(repr, found))}?)' if found else ''


def _kind(given: object) -> str:
    if isinstance(given, date | time):
        return 'a date or a time'
    if isinstance(given, int) and given not in _INTEGERS:
        return 'one of more than 64 bits'
    return 'a table' if is_table(given) else shown(given)


def _shown(word: object) -> str:
    return repr(word) if isinstance(word, str) else shown(word)


def _listed(names: Iterable[str], *, last: str = 'or') -> str:
    *others, end = names
    return f'{", ".join(others)} {last} {end}' if others else end


def _is_struct(declared: object) -> TypeIs[type[Struct]]:
    return isinstance(declared, type) and issubclass(declared, Struct)
