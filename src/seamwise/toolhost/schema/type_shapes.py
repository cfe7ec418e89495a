"""The parts of a type that the check of a value needs."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    ForwardRef,
    NamedTuple,
    Never,
    NewType,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from typing_extensions import ReadOnly

from seamwise._errors.type_hints import resolve_alias, substitute

MAX_SHAPES: Final = 4096
"""The maximum number of types whose shape is kept."""

_PLAIN_TYPES: Final = frozenset((bool, dict, float, int, list, NoneType, str))
_QUALIFIERS: Final = (Final, NotRequired, ReadOnly, Required)


class Shape(NamedTuple):
    """The parts of a type.

    Attributes:
        source: The type itself. It is kept, because its id is the key of the cache.
        inner: The type inside aliases, qualifiers and annotations.
        origin: The class or the special form of `inner`.
        arguments: The arguments of `inner`.
        constraints: The constraints in the annotations.
        members: The members of a union; `inner` alone for another type, nothing for `Never`.
        fields: The types of the fields by name.
        plain: The classes whose own values are valid without a look at their parts.
    """

    source: Any
    inner: Any
    origin: Any
    arguments: tuple[Any, ...]
    constraints: tuple[msgspec.Meta, ...]
    members: tuple[Any, ...]
    fields: Mapping[str, Any]
    plain: frozenset[type]


ITEM_MODULES: Final = frozenset({'builtins', 'collections', 'collections.abc'})
"""Modules of generic classes whose arguments are the types of their items."""


def inner_classes(type_: object) -> Iterator[type[Any]]:
    """Yield the classes in a type: its members, the items of containers, and fields, at any depth.

    >>> [*inner_classes(list[int] | None)]
    [<class 'NoneType'>, <class 'list'>, <class 'int'>]
    """
    visited: set[int] = set()
    stack: list[Any] = [type_]
    while stack:
        shape = shape_of(stack.pop())
        if id(shape) in visited:
            continue
        visited.add(id(shape))
        if len(shape.members) > 1:
            stack += shape.members
            continue
        if isinstance(shape.origin, type):
            yield shape.origin
            if shape.origin.__module__ in ITEM_MODULES and shape.origin is not type:
                stack += (item for item in shape.arguments if item is not ...)
        stack += shape.fields.values()


# By id: equal types can differ in the order of their members, and not each one has a hash.
_shapes: dict[int, Shape] = {}


def shape_of(type_: Any) -> Shape:
    """Return the shape of a type.

    >>> shape_of(Annotated[list[int] | None, 'days']).members
    (list[int], <class 'NoneType'>)
    """
    shape = _shapes.get(id(type_))
    if shape is None:
        shape = _read_shape(type_)
        if len(_shapes) >= MAX_SHAPES:
            _shapes.clear()
        _shapes[id(type_)] = shape
    return shape


def _read_shape(source: Any) -> Shape:
    type_, constraints = _unwrap(source)
    origin = get_origin(type_) or type_
    members = _members(type_)
    return Shape(
        source=source,
        inner=type_,
        origin=origin,
        arguments=get_args(type_),
        constraints=constraints,
        members=members,
        fields=_field_types(type_),
        plain=frozenset() if constraints else _plain_classes(type_, members),
    )


def _plain_classes(type_: Any, members: tuple[Any, ...]) -> frozenset[type]:
    if len(members) > 1:
        return frozenset[type]().union(*(shape_of(member).plain for member in members))
    return frozenset({type_} if isinstance(type_, type) and type_ in _PLAIN_TYPES else ())


def _unwrap(type_: Any) -> tuple[Any, tuple[msgspec.Meta, ...]]:
    """Return the type inside aliases, qualifiers and annotations, and the constraints of these."""
    constraints: list[msgspec.Meta] = []
    while True:
        origin = get_origin(type_)
        if origin is Annotated:
            constraints += (item for item in type_.__metadata__ if isinstance(item, msgspec.Meta))
            type_ = get_args(type_)[0]
        elif origin in _QUALIFIERS:
            type_ = get_args(type_)[0]
        elif isinstance(type_, NewType):
            type_ = type_.__supertype__
        elif isinstance(type_, TypeVar | ForwardRef | str):
            return Any, tuple(constraints)
        elif (resolved := resolve_alias(type_)) is not type_:
            type_ = resolved
        else:
            return (NoneType if type_ is None else type_), tuple(constraints)


def _members(type_: Any) -> tuple[Any, ...]:
    if type_ is Never:
        return ()
    return get_args(type_) if get_origin(type_) in {Union, UnionType} else (type_,)


def _field_types(type_: Any) -> Mapping[str, Any]:
    """Return the types of the fields of a Struct, dataclass, named tuple or TypedDict."""
    class_: Any = get_origin(type_) or type_
    names = _field_names(class_)
    if names is not None and not names:
        return {}
    try:
        hints = get_type_hints(class_, localns=_type_variables(class_), include_extras=True)
    except NameError:
        # Only type checkers import a name in it.
        return {}
    variables = dict(zip(getattr(class_, '__parameters__', ()), get_args(type_), strict=False))
    return {name: substitute(hints[name], variables) for name in names or hints if name in hints}


def _type_variables(class_: Any) -> dict[str, Any] | None:
    """Return the type variables that `class Name[T]` declares, by name, or None.

    Python 3.12 does not find them for an annotation that is a string.
    """
    classes: tuple[Any, ...] = getattr(class_, '__mro__', ())
    variables = (item for base in classes for item in getattr(base, '__type_params__', ()))
    return {variable.__name__: variable for variable in variables} or None


def _field_names(class_: Any) -> Collection[str] | None:
    """Return the names of the fields; None for all annotations."""
    if is_typeddict(class_):
        return None
    if dataclasses.is_dataclass(class_):
        return [field.name for field in dataclasses.fields(class_)]
    bases: tuple[object, ...] = getattr(class_, '__mro__', ())
    names: Collection[str] = ()
    if msgspec.Struct in bases:
        names = class_.__struct_fields__
    elif tuple in bases:
        names = getattr(class_, '_fields', ())
    return names
