"""Check of a value against a declared type at any depth, without a change or a copy."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import NoneType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeGuard,
    is_typeddict,
)

import msgspec

from seamwise._text.json_pointer import json_pointer
from seamwise._text.shortening import shorten
from seamwise._text.values import describe_value
from seamwise.catalog.problem import Problem
from seamwise.toolhost.schema.type_shapes import ITEM_MODULES, Shape, shape_of

_NOUNS: Final[Mapping[object, str]] = {
    bool: 'true or false',
    dict: 'an object',
    float: 'a number',
    int: 'an integer',
    list: 'a list',
    NoneType: 'null',
    str: 'a string',
}
_OPEN: Final = (Any, object)

_Path: TypeAlias = 'tuple[_Path, object] | None'
"""The keys that lead to a value, the last one first."""


class _Part(NamedTuple):
    """A part of the value, its declared type and its position."""

    value: object
    type: Any
    path: _Path


def find_problems(value: object, type_: object, *, limit: int) -> tuple[Problem, ...]:
    """Return up to `limit` problems of a value, in its order.

    A number can be an integer, and an integer is no boolean. A type that cannot be checked accepts
    any value: a type variable, a protocol, the items of an iterator.

    >>> find_problems({'days': [1, True]}, dict[str, list[int]], limit=5)
    (Problem(pointer='/days/1', message='must be an integer, not true'),)
    """
    if type(value) in shape_of(type_).plain:
        return ()
    problems: list[Problem] = []
    # A cycle of values would not end. The types are kept because their ids are in the keys.
    visited: dict[tuple[int, int], object] = {}
    stack = [iter([_Part(value, type_, None)])]
    while stack and len(problems) < limit:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
            continue
        checked = _check(part)
        if isinstance(checked, str):
            problems.append(Problem(_pointer(part.path), checked))
        elif checked is not None and (key := (id(part.value), id(part.type))) not in visited:
            visited[key] = part.type
            stack.append(checked)
    return tuple(problems)


def _check(part: _Part) -> str | Iterator[_Part] | None:
    """Return the problem of a part, or the parts inside it, or None for a valid leaf."""
    value, path = part.value, part.path
    shape = shape_of(part.type)
    if type(value) in shape.plain:
        return None
    fitting = [member for member in shape.members if _is_instance(value, shape_of(member))]
    if not fitting:
        words = ' or '.join(map(_describe_type, shape.members)) or 'a failure'
        return f'must be {words}, not {_describe(value)}'
    problem = _constraint_problem(value, shape.constraints)
    if problem or any(member in _OPEN for member in fitting):
        return problem
    if len(fitting) > 1:
        problems = [find_problems(value, member, limit=1) for member in fitting]
        return None if () in problems else problems[0][0].message
    (member,) = fitting
    if member is shape.inner:
        return _inner(value, shape, path)
    return _check(_Part(value, member, path))


def _is_instance(value: object, shape: Shape) -> bool:
    """Return whether a value is of a type, apart from the parts inside it."""
    origin = shape.origin
    if len(shape.members) != 1:
        return any(_is_instance(value, shape_of(member)) for member in shape.members)
    if origin is Literal:
        return any(type(value) is type(item) and value == item for item in shape.arguments)
    if is_typeddict(origin):
        return isinstance(value, dict)
    if origin in {int, float}:
        is_number = isinstance(value, int) or (origin is float and isinstance(value, float))
        return is_number and not isinstance(value, bool)
    try:
        return not isinstance(origin, type) or isinstance(value, origin)
    except TypeError:
        # A protocol that exists for type checkers only.
        return True


def _constraint_problem(value: object, constraints: Sequence[msgspec.Meta]) -> str | None:
    type_: Any = type(value)
    for constraint in constraints:
        try:
            msgspec.convert(value, Annotated[type_, constraint])
        except msgspec.ValidationError as error:
            return str(error)
        except TypeError:
            # The constraint is for another member of the union.
            continue
    return None


def _inner(value: Any, shape: Shape, path: _Path) -> str | Iterator[_Part] | None:
    """Return the parts inside a value of a type, or a problem, or None for a leaf."""
    origin, arguments = shape.origin, shape.arguments
    if shape.fields:
        return _field_parts(value, shape.fields, origin, path)
    if origin is shape.inner:
        return None
    if origin is tuple and arguments[-1:] != (...,):
        return _tuple_parts(value, arguments, path)
    return _item_parts(value, arguments, path) if origin.__module__ in ITEM_MODULES else None


def _field_parts(
    value: Any, types: Mapping[str, Any], class_: Any, path: _Path
) -> str | Iterator[_Part]:
    if is_typeddict(class_):
        values: Mapping[str, object] = value
    else:
        values = {name: getattr(value, name) for name in types if hasattr(value, name)}
    required = getattr(class_, '__required_keys__', types)
    for name in types:
        if name in required and name not in values:
            return f'has no value for {name!r}'
    return (
        _Part(values[name], types[name], (path, name))
        for name in types
        if name in values and type(values[name]) not in shape_of(types[name]).plain
    )


def _tuple_parts(
    value: tuple[object, ...], types: Sequence[Any], path: _Path
) -> str | Iterator[_Part]:
    if len(value) != len(types):
        return f'must have {len(types)} items, not {len(value)}'
    return map(_Part, value, types, ((path, index) for index in range(len(types))))


def _item_parts(value: object, types: Sequence[Any], path: _Path) -> Iterator[_Part] | None:
    if _is_mapping(value):
        return _entry_parts(value, types, path) if len(types) > 1 else None
    if _has_items(value):
        plain = shape_of(types[0]).plain
        return (
            _Part(item, types[0], (path, index))
            for index, item in enumerate(value)
            if type(item) not in plain
        )
    return None


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _has_items(value: object) -> TypeGuard[Collection[object]]:
    # An iterator can be read once only, and characters need no check.
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


def _entry_parts(
    value: Mapping[object, object], types: Sequence[Any], path: _Path
) -> Iterator[_Part]:
    plain_key, plain_item = shape_of(types[0]).plain, shape_of(types[1]).plain
    for key, item in value.items():
        if type(key) not in plain_key:
            yield _Part(key, types[0], (path, key))
        if type(item) not in plain_item:
            yield _Part(item, types[1], (path, key))


def _describe_type(type_: Any) -> str:
    shape = shape_of(type_)
    origin = shape.origin
    if len(shape.members) > 1:
        return ' or '.join(map(_describe_type, shape.members))
    if origin is Literal:
        return ' or '.join(map(repr, shape.arguments))
    return _NOUNS.get(origin) or str(getattr(origin, '__name__', origin))


def _describe(value: object) -> str:
    """Return a value in words; a text is never repeated, since it can be a secret."""
    return describe_value(value) if type(value) in _NOUNS else type(value).__name__


def _pointer(path: _Path) -> str:
    keys: list[str] = []
    while path is not None:
        path, key = path
        text = str(key) if isinstance(key, str | int) else type(key).__name__
        keys.append(shorten(text, 80))
    return json_pointer(reversed(keys))
