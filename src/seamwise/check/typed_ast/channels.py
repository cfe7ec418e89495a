"""Error channels of mypy types, and sets of error classes.

A channel (`channel_of`) consists of the value and error types of a Result. An error set
(`errors_of_type`, `errors_in`) maps the full names of error classes to the classes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check._mypy.type_operations import method_type, type_argument
from seamwise.check._mypy.types import (
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

SUCCESS = frozenset({'seamwise._results.containers.Success', 'returns.result.Success'})
FAILURE = frozenset({'seamwise._results.containers.Failure', 'returns.result.Failure'})
RESULT = 'returns.result.Result'
"""Base class of Success and Failure."""
_RESULT = frozenset({RESULT})
_IO_RESULTS = frozenset({'returns.io.IOResult', 'returns.future.FutureResult'})
EVERY_RESULT = _RESULT | _IO_RESULTS
"""Classes of Results, with those of `returns` for effects."""
_CONTEXT = 'returns.context.requires_context'
_DECLARED_RESULTS = EVERY_RESULT | {
    f'{_CONTEXT}_result.RequiresContextResult',
    f'{_CONTEXT}_ioresult.RequiresContextIOResult',
    f'{_CONTEXT}_future_result.RequiresContextFutureResult',
}
"""The same, with functions of a context that return a Result."""
_SUCCESSES = SUCCESS | {'returns.io.IOSuccess'}
_FAILURES = FAILURE | {'returns.io.IOFailure'}

DO = 'seamwise._results.scope.Do'

CONTAINERS = frozenset({
    'builtins.list', 'builtins.tuple', 'builtins.dict', 'builtins.set', 'builtins.frozenset',
    'collections.deque', 'collections.defaultdict', 'collections.OrderedDict',
    'typing.Collection', 'typing.Mapping', 'typing.MutableMapping', 'typing.MutableSequence',
    'typing.Sequence',
})  # fmt: skip

TAGGED_ERROR = 'seamwise._errors.errors.TaggedError'
UNSPECIFIC = frozenset({'builtins.object', TAGGED_ERROR})
"""Base classes that do not name a particular error."""

_AWAITABLE = 'typing.Awaitable'
_ITERABLE = 'typing.Iterable'
_FUTURES = frozenset({'concurrent.futures._base.Future', 'multiprocessing.pool.ApplyResult'})
"""Handles of calls in other threads or processes; each contains what the call returns."""
_PARTIAL = 'functools.partial'
_MAX_CONTAINER_DEPTH = 3
"""Limit for Results in nested containers; recursive type aliases have no end."""

ErrorSet: TypeAlias = Mapping[str, TypeInfo]
"""Error classes by full name. A type variable has its own name, which has no dot, and its bound."""

NO_ERRORS: ErrorSet = {}
_NO_NAMES: frozenset[str] = frozenset()


# Types and their members


def union_members(type_: Type | None) -> Iterator[ProperType]:
    """Yield the members of a union, or the type itself.

    A type variable yields its values, or its upper bound.
    """
    proper = get_proper_type(type_) if type_ is not None else None
    if isinstance(proper, UnionType):
        for item in proper.items:
            yield from union_members(item)
    elif isinstance(proper, TypeVarType):
        for value in proper.values or [proper.upper_bound]:
            yield from union_members(value)
    elif proper is not None:
        yield proper


def base_names(type_: ProperType) -> frozenset[str]:
    """Return the full names of a class and its base classes; empty if the type is not a class."""
    return _names_in_mro(type_.type) if isinstance(type_, Instance) else _NO_NAMES


def may_be(type_: Type | None, name: str) -> bool:
    """Return whether a type, or a member of a union, is a class or one of its subclasses."""
    return any(name in base_names(member) for member in union_members(type_))


def is_result_only(type_: Type | None) -> bool:
    """Return whether all members of a union, or the type itself, are Results."""
    members = list(union_members(type_))
    return bool(members) and all(base_names(member) & EVERY_RESULT for member in members)


def are_results(types: Sequence[Type | None]) -> bool:
    """Return whether there are types, and all of them are Results."""
    return bool(types) and all(map(is_result_only, types))


@lru_cache(maxsize=4_096)
def _names_in_mro(info: TypeInfo) -> frozenset[str]:
    return frozenset(base.fullname for base in info.mro)


def clear_caches() -> None:
    """Release the classes of the last mypy build, which are otherwise kept alive."""
    _names_in_mro.cache_clear()


def _class_name(type_: ProperType) -> str:
    """Return the full name of a class; empty if the type is not a class."""
    return type_.type.fullname if isinstance(type_, Instance) else ''


def is_error(info: TypeInfo) -> bool:
    """Return whether a class derives from TaggedError."""
    return any(base.fullname == TAGGED_ERROR for base in info.mro)


def format_types(types: Iterable[ProperType]) -> str:
    """Format types as a union of short names, as in `NotFound | Busy`."""
    return ' | '.join(dict.fromkeys(_short_name(type_) for type_ in types)) or 'nothing'


def _short_name(type_: ProperType) -> str:
    if isinstance(type_, Instance):
        return type_.type.name
    return 'None' if isinstance(type_, NoneType) else str(type_)


def awaited_type(type_: ProperType) -> ProperType | None:
    """Return the type of `await x` for a coroutine, a task or another awaitable; else None."""
    return type_argument(type_, _AWAITABLE, 0)


def item_type(type_: Type | None) -> ProperType | None:
    """Return the type of the items of an iterable; None for a union or another type."""
    members = list(union_members(type_))
    return type_argument(members[0], _ITERABLE, 0) if len(members) == 1 else None


def returned_type(type_: Type | None) -> ProperType | None:
    """Return the type of a call by its return type, after awaiting it if it is awaitable."""
    proper = get_proper_type(type_) if type_ is not None else None
    return None if proper is None else awaited_type(proper) or proper


def _awaited_members(type_: Type | None) -> list[ProperType]:
    return [
        awaited for member in union_members(type_) if (awaited := awaited_type(member)) is not None
    ]


def call_result_type(type_: Type | None) -> Type | None:
    """Return the type that calling a value returns; None if it depends on the arguments."""
    proper = get_proper_type(type_) if type_ is not None else None
    match proper:
        case CallableType() if not proper.variables:
            return proper.ret_type
        case CallableType() if proper.is_type_obj():
            instance = get_proper_type(proper.ret_type)
            return instance if isinstance(instance, Instance) else None
        case Overloaded():
            results = [call_result_type(item) for item in proper.items]
            known = [result for result in results if result is not None]
            return UnionType.make_union(known) if len(known) == len(results) else None
        case TypeType():
            return proper.item
        case Instance() if proper.type.fullname == _PARTIAL:
            return proper.args[0]
        case Instance():
            return call_result_type(method_type(proper, '__call__'))
        case _:
            return None


# Channels


class Channel(Struct, frozen=True):
    """Value types and error types of a Result."""

    values: tuple[ProperType, ...]
    errors: tuple[ProperType, ...]
    is_success: bool
    """Whether the Result may be a Success."""
    is_failure: bool
    """Whether the Result may be a Failure."""
    is_open: bool
    """Whether its type is the base class of `returns`, which no check narrows."""


def channel_of(type_: Type | None) -> Channel | None:
    """Return the channel of a Result, or of a union with Results; None for any other type."""
    return _channel(type_, _RESULT)


def any_channel_of(type_: Type | None) -> Channel | None:
    """Return the channel of a Result, or of an IOResult or a FutureResult of `returns`."""
    return _channel(type_, EVERY_RESULT)


def declared_channel_of(type_: Type | None) -> Channel | None:
    """Return the channel of any Result of `returns`, also of one that requires a context.

    The result is None for a union with another type than None, whose caller owns the channel.
    """
    channel = _channel(type_, _DECLARED_RESULTS)
    return channel if _is_result(type_, channel, _DECLARED_RESULTS) else None


def _channel(type_: Type | None, bases: frozenset[str]) -> Channel | None:
    results = [
        member for member in union_members(type_) if not bases.isdisjoint(base_names(member))
    ]
    if not results:
        return None
    values: list[ProperType] = []
    errors: list[ProperType] = []
    for result in results:
        value, error = _type_arguments(result, bases)
        values += _possible_members(value)
        errors += _possible_members(error)
    names = {_class_name(result) for result in results}
    is_open = not names <= _SUCCESSES | _FAILURES
    return Channel(
        tuple(values),
        tuple(errors),
        is_success=is_open or not names.isdisjoint(_SUCCESSES),
        is_failure=is_open or not names.isdisjoint(_FAILURES),
        is_open=is_open,
    )


def _type_arguments(
    result: ProperType, bases: frozenset[str]
) -> tuple[ProperType | None, ProperType | None]:
    name = _class_name(result)
    if isinstance(result, Instance) and len(result.args) == 1:
        if name in _SUCCESSES:
            return get_proper_type(result.args[0]), None
        if name in _FAILURES:
            return None, get_proper_type(result.args[0])
    base = next(iter(base_names(result) & bases))
    return type_argument(result, base, 0), type_argument(result, base, 1)


def _possible_members(type_: ProperType | None) -> Iterator[ProperType]:
    """Yield the members of a union except Never, and type variables unchanged."""
    if isinstance(type_, UnionType):
        for item in type_.items:
            yield from _possible_members(get_proper_type(item))
    elif type_ is not None and not isinstance(type_, UninhabitedType):
        yield type_


def contained_channel(type_: Type | None) -> Channel | None:
    """Return the channel of any Result, of an awaitable one, or of Results in a container.

    A future of another thread counts as a container.
    """
    direct = any_channel_of(type_) or _channel_in_container(type_)
    if direct is not None:
        return direct
    for awaited in _awaited_members(type_):
        channel = any_channel_of(awaited) or _channel_in_container(awaited)
        if channel is not None:
            return channel
    return None


def _channel_in_container(type_: Type | None, depth: int = 0) -> Channel | None:
    """Search containers, but not the awaitables in them: awaiting those is up to other code."""
    if depth == _MAX_CONTAINER_DEPTH:
        return None
    for member in union_members(type_):
        for item in _item_types(member):
            channel = any_channel_of(item) or _channel_in_container(item, depth + 1)
            if channel is not None:
                return channel
    return None


def _item_types(type_: ProperType) -> Iterable[Type]:
    if isinstance(type_, TupleType):
        return type_.items
    if not isinstance(type_, Instance) or type_.type.fullname not in CONTAINERS | _FUTURES:
        return ()
    return type_.args


def is_result(type_: Type | None) -> bool:
    """Return whether a type is a Result, or a union of a possible Success and None.

    `Failure | None` is the return type of classifiers, not a Result.
    """
    return _is_result(type_, channel_of(type_), _RESULT)


def _is_result(type_: Type | None, channel: Channel | None, bases: frozenset[str]) -> bool:
    others = [member for member in union_members(type_) if bases.isdisjoint(base_names(member))]
    if channel is None or not all(isinstance(member, NoneType) for member in others):
        return False
    return channel.is_success or not others


# Error sets


def errors_of_type(type_: Type | None) -> ErrorSet | None:
    """Return the classes of an error, or of a tuple of errors, by its type; None if unknown."""
    proper = get_proper_type(type_) if type_ is not None else None
    match proper:
        case UninhabitedType() | NoneType():
            return NO_ERRORS
        case UnionType() | TupleType():
            return union(errors_of_type(item) for item in proper.items)
        case LiteralType():
            return errors_of_type(proper.fallback)
        case UnpackType():
            return errors_of_type(proper.type)
        case Instance() if proper.type.fullname == 'builtins.tuple':
            return errors_of_type(proper.args[0])
        case Instance():
            return {proper.type.fullname: proper.type}
        case TypeVarType():
            return _errors_of_variable(proper)
        case _:
            return None


def _errors_of_variable(variable: TypeVarType) -> ErrorSet | None:
    if variable.values:
        return union(errors_of_type(value) for value in variable.values)
    bounds = errors_of_type(variable.upper_bound)
    if bounds is None:
        return None
    infos = list(bounds.values())
    if len(infos) == 1:
        return {variable.name: infos[0]}
    return {f'{variable.name}[{info.name}]': info for info in bounds.values()}


def errors_in(type_: Type | None) -> ErrorSet | None:
    """Return the errors of a Result, or of an awaitable one; None if it is no Result or unknown."""
    for result in (*_awaited_members(type_), type_):
        channel = channel_of(result)
        if channel is not None:
            return union(errors_of_type(error) for error in channel.errors)
    return None


def union(error_sets: Iterable[ErrorSet | None]) -> ErrorSet | None:
    """Return the union of error sets; None if one of them is unknown."""
    errors: dict[str, TypeInfo] = {}
    for error_set in error_sets:
        if error_set is None:
            return None
        errors.update(error_set)
    return errors


def without_type_variables(errors: ErrorSet) -> ErrorSet:
    """Return the error classes of a set, without its type variables."""
    return {name: info for name, info in errors.items() if '.' in name}


def overlaps(first: TypeInfo, second: TypeInfo) -> bool:
    """Return whether an instance of one class may be an instance of the other."""
    return second in first.mro or first in second.mro


def subtract(errors: ErrorSet, handled: Iterable[TypeInfo]) -> ErrorSet:
    """Return the errors that are not subclasses of the handled classes."""
    classes = set(handled)
    return {name: info for name, info in errors.items() if classes.isdisjoint(info.mro)}


def narrow(errors: ErrorSet, allowed: ErrorSet | None) -> ErrorSet:
    """Return the errors that a narrower type still allows; all if that type is unknown."""
    if allowed is None:
        return errors
    return filter_errors(
        errors, lambda info: any(overlaps(info, other) for other in allowed.values())
    )


def filter_errors(errors: ErrorSet, predicate: Callable[[TypeInfo], bool]) -> ErrorSet:
    """Return the errors whose class satisfies a predicate."""
    return {name: info for name, info in errors.items() if predicate(info)}
