"""What a type says about failures: whether it is a Result, what its channel is, and whether one is held inside of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

import mypy.types  # noqa: F401  # pyright: ignore[reportUnusedImport]  # first of all: the others import it in a circle
from msgspec import Struct
from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypeType,
    TypeVarType,
    UninhabitedType,
    UnionType,
    UnpackType,
    get_proper_type,
)

SUCCESS = frozenset({'seamwise.containers.Success', 'returns.result.Success'})
FAILURE = frozenset({'seamwise.containers.Failure', 'returns.result.Failure'})
_NO_NAMES: frozenset[str] = frozenset()
RESULT = 'returns.result.Result'
"""The base class of `returns`, which may be either."""

CONTAINERS = frozenset({
    'builtins.list', 'builtins.tuple', 'builtins.dict', 'builtins.set', 'builtins.frozenset',
    'collections.deque', 'collections.defaultdict', 'collections.OrderedDict',
    'typing.Collection', 'typing.Mapping', 'typing.MutableMapping', 'typing.MutableSequence', 'typing.Sequence',
})  # fmt: skip

DEEPEST = 3
"""How many containers may stand around a Result."""


class Channel(Struct, frozen=True):
    """A Result as its type says: the values of its successes and the errors of its failures, each a type."""

    values: tuple[ProperType, ...]
    errors: tuple[ProperType, ...]
    is_success: bool
    """Whether it may be one."""
    is_failure: bool
    is_open: bool
    """Whether it is typed as the base class of `returns`, which no check narrows."""


def union_members(type_: Type | None) -> Iterator[ProperType]:
    """Give the members of a union, or the one type; a type variable is what it may stand for."""
    found = get_proper_type(type_) if type_ is not None else None
    if isinstance(found, UnionType):
        for one in found.items:
            yield from union_members(one)
    elif isinstance(found, TypeVarType):
        for one in found.values or [found.upper_bound]:
            yield from union_members(one)
    elif found is not None:
        yield found


def base_names(type_: ProperType) -> frozenset[str]:
    """Give the full names of a class and of all that it derives from; none for what is no class."""
    return _bases(type_.type) if isinstance(type_, Instance) else _NO_NAMES


def clear_caches() -> None:
    """Let go of the classes of a build, so that nothing keeps it."""
    _bases.cache_clear()


@lru_cache(maxsize=4_096)
def _bases(info: TypeInfo) -> frozenset[str]:
    return frozenset(one.fullname for one in info.mro)


def channel_of(type_: Type | None) -> Channel | None:
    """Give the channel of a type of which at least one member is a Result, else None; others, as None, are left aside."""
    values: list[ProperType] = []
    errors: list[ProperType] = []
    found = [one for one in union_members(type_) if RESULT in base_names(one)]
    kinds = [class_name(one) for one in found]
    for one in found:
        value, error = _arguments(one)
        values += _real(value)
        errors += _real(error)
    if not found:
        return None
    is_open = any(kind not in SUCCESS | FAILURE for kind in kinds)
    return Channel(
        tuple(values),
        tuple(errors),
        is_success=is_open or any(kind in SUCCESS for kind in kinds),
        is_failure=is_open or any(kind in FAILURE for kind in kinds),
        is_open=is_open,
    )


def class_name(type_: ProperType) -> str:
    """Give the full name of a class; empty for what is none."""
    return type_.type.fullname if isinstance(type_, Instance) else ''


def awaited_type(type_: ProperType) -> ProperType | None:
    """Give what awaiting a coroutine, a task or any other awaitable gives; None for what cannot be awaited."""
    return type_argument(type_, 'typing.Awaitable', 0)


def returned_type(type_: Type | None) -> ProperType | None:
    """Give what a caller gets of a return type, once it is awaited where it must be."""
    found = get_proper_type(type_) if type_ is not None else None
    return None if found is None else awaited_type(found) or found


def contained_channel(type_: Type | None) -> Channel | None:
    """Give the channel of a type that is a Result, will be one when it is awaited, or is a tuple, list or dict of them."""
    waited = [given for one in union_members(type_) if (given := awaited_type(one)) is not None]
    return (
        channel_of(type_)
        or _held(type_)
        or next((found for one in waited if (found := channel_of(one) or _held(one))), None)
    )


def is_result(type_: Type | None) -> bool:
    """Whether a type is a Result and nothing else, None aside: a Failure or None is the answer of a classifier."""
    found = channel_of(type_)
    others = [one for one in union_members(type_) if RESULT not in base_names(one)]
    if found is None or not all(isinstance(one, NoneType) for one in others):
        return False
    return found.is_success or not others


def format_types(types: Iterable[ProperType]) -> str:
    """Give the names of types, as in `NotFound | Busy`."""
    return ' | '.join(dict.fromkeys(_name(one) for one in types)) or 'nothing'


def _name(type_: ProperType) -> str:
    if isinstance(type_, Instance):
        return type_.type.name
    return 'None' if isinstance(type_, NoneType) else str(type_)


def _held(type_: Type | None, depth: int = 0) -> Channel | None:
    """Look into containers: results that are still to come are others' to await, and a type alias may have no bottom."""
    inner = (
        [part for one in union_members(type_) for part in _parts(one)] if depth < DEEPEST else []
    )
    return next(
        (found for one in inner if (found := channel_of(one) or _held(one, depth + 1)) is not None),
        None,
    )


def _parts(type_: ProperType) -> Iterable[Type]:
    if isinstance(type_, TupleType):
        return type_.items
    return type_.args if isinstance(type_, Instance) and type_.type.fullname in CONTAINERS else ()


def _arguments(type_: ProperType) -> tuple[ProperType | None, ProperType | None]:
    kind = class_name(type_)
    if isinstance(type_, Instance) and len(type_.args) == 1:
        if kind in SUCCESS:
            return get_proper_type(type_.args[0]), None
        if kind in FAILURE:
            return None, get_proper_type(type_.args[0])
    return type_argument(type_, RESULT, 0), type_argument(type_, RESULT, 1)


def type_argument(type_: ProperType, base: str, place: int) -> ProperType | None:
    """Give a type argument of a class that a type derives from, as in the error of a `Guard[E]`; None for what does not."""
    if not isinstance(type_, Instance):
        return None
    info: TypeInfo | None = next((one for one in type_.type.mro if one.fullname == base), None)
    if info is None:
        return None
    arguments = map_instance_to_supertype(type_, info).args
    return get_proper_type(arguments[place]) if place < len(arguments) else None


def _real(type_: ProperType | None) -> Iterator[ProperType]:
    """Give the members that can occur: Never cannot. A type variable stays what it is."""
    if isinstance(type_, UnionType):
        for one in type_.items:
            yield from _real(get_proper_type(one))
    elif type_ is not None and not isinstance(type_, UninhabitedType):
        yield type_


ErrorSet: TypeAlias = Mapping[str, TypeInfo]
"""Error classes by their full names; a type variable that may be any error, by its own, which has no dot."""

NO_ERRORS: ErrorSet = {}
TAGGED_ERROR = 'seamwise.errors.TaggedError'
UNSPECIFIC = frozenset({'builtins.object', TAGGED_ERROR})
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
            return NO_ERRORS
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
            return NO_ERRORS
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
        if isinstance(bound, Instance) and bound.type.fullname in UNSPECIFIC
        else errors_of_type(bound)
    )


def without_type_variables(errors: ErrorSet) -> ErrorSet:
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
    return any(base.fullname == TAGGED_ERROR for base in info.mro)


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


def filter_errors(errors: ErrorSet, test: Callable[[TypeInfo], bool]) -> ErrorSet:
    """Keep the errors of which a test says yes."""
    return {name: info for name, info in errors.items() if test(info)}
