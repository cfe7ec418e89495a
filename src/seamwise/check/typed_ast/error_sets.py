"""Sets of errors, by the full names of their classes."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import mypy.types  # noqa: F401  # pyright: ignore[reportUnusedImport]  # first of all: the others import it in a circle
from mypy.expandtype import expand_type_by_instance
from mypy.nodes import TypeInfo
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    TupleType,
    Type,
    TypeType,
    TypeVarType,
    UninhabitedType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from seamwise.check.typed_ast.channels import awaited_type, channel_of, union_members

ErrorSet: TypeAlias = Mapping[str, TypeInfo]
"""Error classes by their full names; a type variable that may be any error, by its own, which has no dot."""

NOTHING: ErrorSet = {}
TAGGED = 'seamwise.errors.TaggedError'
WIDE = frozenset({'builtins.object', TAGGED})
"""Classes that name no error."""
PARTIAL = 'functools.partial'


def union(parts: Iterable[ErrorSet | None]) -> ErrorSet | None:
    """Give all of several sets; None where one of them is not known."""
    found: dict[str, TypeInfo] = {}
    for part in parts:
        if part is None:
            return None
        found.update(part)
    return found


def errors_of_type(type_: Type | None) -> ErrorSet | None:
    """Give the classes that an error may have by its type, those inside of a tuple of errors too; None where nobody can say."""
    found = get_proper_type(type_) if type_ is not None else None
    match found:
        case UninhabitedType():
            return NOTHING
        case UnionType():
            return union(errors_of_type(one) for one in found.items)
        case TupleType():
            return union(errors_of_type(one) for one in found.items)
        case LiteralType():
            return errors_of_type(found.fallback)
        case UnpackType():
            return errors_of_type(found.type)
        case Instance() if found.type.fullname == 'builtins.tuple':
            return errors_of_type(found.args[0])
        case Instance():
            return {found.type.fullname: found.type}
        case NoneType():
            return NOTHING
        case TypeVarType():
            return _of_variable(found)
        case _:
            return None


def _of_variable(variable: TypeVarType) -> ErrorSet | None:
    if variable.values:
        return union(errors_of_type(one) for one in variable.values)
    bound = get_proper_type(variable.upper_bound)
    return (
        {variable.name: bound.type}
        if isinstance(bound, Instance) and bound.type.fullname in WIDE
        else errors_of_type(bound)
    )


def named(errors: ErrorSet) -> ErrorSet:
    """Leave out the type variables."""
    return {name: info for name, info in errors.items() if '.' in name}


def errors_in(type_: Type | None) -> ErrorSet | None:
    """Give the errors in the channel of a type, once it is awaited where it must be; None where it has none, or an unknown one."""
    for one in _settled(type_):
        found = channel_of(one)
        if found is not None:
            # `returns` fills what it does not know with Never or Any, and its base class shows no side.
            return union(errors_of_type(error) for error in found.errors)
    return None


def _settled(type_: Type | None) -> Iterable[Type]:
    found = get_proper_type(type_) if type_ is not None else None
    if found is None:
        return ()
    waited = [given for one in union_members(found) if (given := awaited_type(one)) is not None]
    return [*waited, found]


def call_result_type(type_: Type | None) -> Type | None:
    """Give what calling a value of a type gives back, whatever its arguments; None where it depends on them."""
    found = get_proper_type(type_) if type_ is not None else None
    match found:
        case CallableType() if not found.variables:
            return found.ret_type
        case CallableType() if found.is_type_obj():
            made = get_proper_type(found.ret_type)
            return made if isinstance(made, Instance) else None
        case Overloaded():
            parts = [call_result_type(one) for one in found.items]
            return (
                None
                if None in parts
                else UnionType.make_union([one for one in parts if one is not None])
            )
        case TypeType():
            return found.item
        case Instance() if found.type.fullname == PARTIAL:
            return found.args[0]
        case Instance():
            method = found.type.get_method('__call__')
            return None if method is None or method.type is None else _bound(found, method.type)
        case _:
            return None


def _bound(instance: Instance, method: Type) -> Type | None:
    """Give what a `__call__` gives back where it is not generic itself; of a generic class its variables are filled in."""
    return call_result_type(expand_type_by_instance(get_proper_type(method), instance))


def is_error(info: TypeInfo) -> bool:
    """Whether a class is one of tagged errors."""
    return any(base.fullname == TAGGED for base in info.mro)


def overlaps(one: TypeInfo, other: TypeInfo) -> bool:
    """Whether a value of the one class may be one of the other: one of them derives from the other."""
    return other in one.mro or one in other.mro


def subtract(errors: ErrorSet, taken: Iterable[TypeInfo]) -> ErrorSet:
    """Leave out the errors that `isinstance` of the taken classes takes."""
    gone = list(taken)
    return {name: info for name, info in errors.items() if not any(one in info.mro for one in gone)}


def narrow(errors: ErrorSet, seen: ErrorSet | None) -> ErrorSet:
    """Keep the errors that a narrower type still allows; all where that is not known."""
    if seen is None:
        return errors
    return {
        name: info
        for name, info in errors.items()
        if any(overlaps(info, one) for one in seen.values())
    }


def some(errors: ErrorSet, test: Callable[[TypeInfo], bool]) -> ErrorSet:
    """Keep the errors of which a test says yes."""
    return {name: info for name, info in errors.items() if test(info)}
