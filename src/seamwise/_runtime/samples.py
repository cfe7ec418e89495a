"""Example errors, made from the types of their fields."""

import dataclasses
import datetime as dt
import enum
import pathlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import Struct

from seamwise._defects.exception_kinds import describe_exception
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.type_hints import resolved_hints
from seamwise._text.secrets import MASK, Secret

NOW = dt.datetime(2026, 2, 20, 10, 30, tzinfo=dt.UTC)
"""The time of all examples, so that documents do not change from day to day."""

_MAX_DEPTH = 8
"""Nested types beyond this depth are recursive; an optional field is then None."""

_KEPT_DEFAULTS = {'cause', 'suggestions'}
"""Optional fields that an example does not set: invented values would mislead."""


class NoSample(Exception):
    """No error of a class can be made from the types of its fields; the message says why."""


def sample_error(kind: type[TaggedError]) -> TaggedError:
    """Return an error of a class, with values made from the types of its fields.

    Optional fields are set too, so that an example shows every field and no default value.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> sample_error(RecordNotFound)
    RecordNotFound(kind='kind', key='key')

    Raises:
        NoSample: A type has no sample value, or the class refuses the values.
    """
    return _sample_error(kind, 0)


def _sample_error(kind: type[TaggedError], depth: int) -> TaggedError:
    try:
        return _checked(kind(**_field_values(kind, depth, is_complete=True)))
    except NoSample:
        raise
    # The class runs code of the user: `__post_init__`, `__str__` and properties.
    # seamwise: allow[SW103] the next attempt reports it
    except Exception:  # noqa: BLE001
        values = _field_values(kind, depth, is_complete=False)
    try:
        return _checked(kind(**values))
    except Exception as error:
        reason = describe_exception(error)
        raise NoSample(f'{kind.__name__} refuses the example values: {reason}') from error


def _checked(error: TaggedError) -> TaggedError:
    """Return an error after a call of everything that documents show of it."""
    _ = str(error), repr(error), error.category, error.retryable, error.recovery
    return error


def required_fields(kind: type[Struct]) -> frozenset[str]:
    """Return the names of the fields without a default.

    `msgspec.structs.fields` would fail for a type that only type checkers import.
    """
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    optional = zip(reversed(names), reversed(defaults), strict=False)
    return frozenset(names) - {
        name for name, default in optional if default is not msgspec.NODEFAULT
    }


def _field_values(kind: type[Struct], depth: int, *, is_complete: bool) -> dict[str, Any]:
    hints = resolved_hints(kind)
    values: dict[str, Any] = {}
    required = required_fields(kind)
    for name in kind.__struct_fields__:
        if name not in required and (not is_complete or name in _KEPT_DEFAULTS):
            continue
        try:
            values[name] = _sample(hints[name], name, depth)
        except NoSample:
            if name in required:
                raise
    return values


def _sample(hint: Any, name: str, depth: int) -> Any:
    """Return a value of a type; a text is the name of its field.

    Raises:
        NoSample: The type has no sample value.
    """
    if depth > _MAX_DEPTH:
        raise NoSample(f'the type of the field {name!r} is recursive.')
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _sample_union(arguments, name, depth)
    if origin in _GENERIC:
        return _GENERIC[origin](arguments, name, depth + 1)
    for attribute in ('__supertype__', '__value__', '__bound__'):
        # A NewType, an alias by `type`, and a type variable.
        inner: Any = getattr(hint, attribute, None)
        if inner is not None:
            return _sample(inner, name, depth + 1)
    if isinstance(hint, TypeVar):
        return _sample(hint.__constraints__[0], name, depth + 1) if hint.__constraints__ else name
    if hint in {Any, object}:
        return name
    class_ = origin or hint
    if isinstance(class_, type):
        return _sample_class(class_, name, depth + 1)
    raise NoSample(f'the field {name!r} has the type {hint!r}, of which no example can be made.')


def _sample_union(members: tuple[Any, ...], name: str, depth: int) -> Any:
    failure = NoSample(f'the field {name!r} has no type of which an example can be made.')
    for member in sorted(members, key=lambda member: member is NoneType):
        try:
            return _sample(member, name, depth)
        except NoSample as error:
            failure = error
    raise failure


def _sample_tuple(arguments: tuple[Any, ...], name: str, depth: int) -> Any:
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 -- tuple[T, ...]
        return (_sample(arguments[0], name, depth),)
    return tuple(_sample(argument, name, depth) for argument in arguments)


_GENERIC: Mapping[object, Callable[[tuple[Any, ...], str, int], Any]] = {
    Literal: lambda arguments, _name, _depth: arguments[0],
    Annotated: lambda arguments, name, depth: _sample(arguments[0], name, depth),
    Secret: lambda _arguments, _name, _depth: Secret(MASK),
    tuple: _sample_tuple,
    frozenset: lambda arguments, name, depth: frozenset({_sample(arguments[0], name, depth)}),
    type: lambda arguments, _name, _depth: arguments[0],
}


def _sample_class(class_: type[Any], name: str, depth: int) -> Any:
    if class_ in _VALUES:
        return _VALUES[class_]
    for base, sample in _BASES.items():
        if issubclass(class_, base):
            return sample(class_, name, depth)
    if dataclasses.is_dataclass(class_) or hasattr(class_, '_fields'):
        hints = {key: hint for key, hint in resolved_hints(class_).items() if key[0] != '_'}
        return class_(**{key: _sample(hint, key, depth) for key, hint in hints.items()})
    raise NoSample(
        f'the field {name!r} has the type {class_.__name__}, of which no example can be made.'
    )


def _first_member(class_: type[enum.Enum], _name: str, _depth: int) -> enum.Enum:
    return next(iter(class_))


_BASES: Mapping[type, Callable[[type[Any], str, int], Any]] = {
    enum.Enum: _first_member,
    str: lambda class_, name, _depth: class_(name),
    pathlib.PurePath: lambda class_, name, _depth: class_(f'folder/{name}.txt'),
    BaseException: lambda class_, _name, _depth: class_('text'),
    TaggedError: lambda class_, _name, depth: _sample_error(class_, depth),
    Struct: lambda class_, _name, depth: class_(**_field_values(class_, depth, is_complete=True)),
}

_VALUES: Mapping[object, Any] = {
    bool: True,
    int: 3,
    float: 1.5,
    complex: 1j,
    bytes: b'bytes',
    NoneType: None,
    tuple: (),
    frozenset: frozenset(),
    Secret: Secret(MASK),
    dt.datetime: NOW,
    dt.date: NOW.date(),
    dt.time: NOW.time(),
    dt.timedelta: dt.timedelta(seconds=1.5),
    Decimal: Decimal('9.99'),
    UUID: UUID('12345678-1234-4678-9234-567812345678'),
    Cause: TimeoutError('timed out'),
}
