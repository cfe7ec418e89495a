"""Composition of steps that return results: `flow`, `tap`, `catch` and their async versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Never, final, overload

from returns.result import Result as AnyResult
from typing_extensions import TypeVar

from seamwise._results.containers import Failure, Result, Success, expect_result, expect_result_of

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
R = TypeVar('R', bound=AnyResult[object, object], default=Never)
U = TypeVar('U', default=Never)

T0 = TypeVar('T0')
T1 = TypeVar('T1', default=Never)
T2 = TypeVar('T2', default=Never)
T3 = TypeVar('T3', default=Never)
T4 = TypeVar('T4', default=Never)
T5 = TypeVar('T5', default=Never)
T6 = TypeVar('T6', default=Never)
T7 = TypeVar('T7', default=Never)
T8 = TypeVar('T8', default=Never)
E1 = TypeVar('E1', default=Never)
E2 = TypeVar('E2', default=Never)
E3 = TypeVar('E3', default=Never)
E4 = TypeVar('E4', default=Never)
E5 = TypeVar('E5', default=Never)
E6 = TypeVar('E6', default=Never)
E7 = TypeVar('E7', default=Never)
E8 = TypeVar('E8', default=Never)

K_contra = TypeVar('K_contra', contravariant=True, default=Never)
R_co = TypeVar('R_co', covariant=True, default=Never)


@overload
def tap(result: Success[T], look: Callable[[T], object], /) -> Success[T]: ...
@overload
def tap(result: Failure[E], look: Callable[[Never], object], /) -> Failure[E]: ...
def tap(result: Result[T, E], look: Callable[[T], object], /) -> Result[T, E]:
    """Call `look` with the value of a success, and return the same result.

    >>> tap(Success(2), print).map(lambda number: number + 1)
    2
    Success(3)
    """
    checked = expect_result(result, 'tap')
    if type(checked) is Success:
        look(checked.unwrap())
    return checked


@overload
def tap_error(result: Success[T], look: Callable[[Never], object], /) -> Success[T]: ...
@overload
def tap_error(result: Failure[E], look: Callable[[E], object], /) -> Failure[E]: ...
def tap_error(result: Result[T, E], look: Callable[[E], object], /) -> Result[T, E]:
    """Call `look` with the error of a failure, and return the same result.

    >>> tap_error(Failure('late'), print)
    late
    Failure('late')
    """
    checked = expect_result(result, 'tap_error')
    if type(checked) is Failure:
        look(checked.failure())
    return checked


@overload
async def bind_async(result: Success[T], step: Callable[[T], Awaitable[R]], /) -> R: ...
@overload
async def bind_async(
    result: Failure[E], step: Callable[[Never], Awaitable[object]], /
) -> Failure[E]: ...
async def bind_async(result: Any, step: Callable[[Any], Awaitable[Any]], /) -> Any:
    """Await `step` with the value of a success and return its result; return a failure unchanged.

    >>> import asyncio
    >>> async def double(number: int) -> Success[int]:
    ...     return Success(number * 2)
    >>> asyncio.run(bind_async(Success(2), double))
    Success(4)
    """
    checked = expect_result(result, 'bind_async')
    if type(checked) is Success:
        return expect_result_of(step, await _expect_awaitable(step, checked.unwrap()))
    return checked


@overload
async def map_async(result: Success[T], step: Callable[[T], Awaitable[U]], /) -> Success[U]: ...
@overload
async def map_async(
    result: Failure[E], step: Callable[[Never], Awaitable[object]], /
) -> Failure[E]: ...
async def map_async(result: Result[T, E], step: Callable[[T], Awaitable[U]], /) -> Result[U, E]:
    """Await `step` with the value of a success and wrap its value; return a failure unchanged.

    >>> import asyncio
    >>> async def double(number: int) -> int:
    ...     return number * 2
    >>> asyncio.run(map_async(Success(2), double))
    Success(4)
    """
    checked = expect_result(result, 'map_async')
    if type(checked) is Success:
        return Success(await _expect_awaitable(step, checked.unwrap()))
    return checked


@final
class Catch(Generic[K_contra, R_co]):
    """Step that removes error types from the error channel; `catch` creates it."""

    __slots__ = ('_handler', '_kinds')

    def __init__(self, kinds: tuple[type, ...], handler: Callable[[K_contra], R_co]) -> None:
        self._kinds = kinds
        self._handler = handler

    @overload
    def __call__(self, result: Success[T], /) -> Success[T]: ...
    @overload
    def __call__(self, result: Failure[K_contra], /) -> R_co: ...
    @overload
    def __call__(self, result: Failure[K_contra | E], /) -> R_co | Failure[E]: ...
    def __call__(self, result: Any, /) -> Any:
        """Call the handler if the error has one of the types, else return the result unchanged."""
        checked = expect_result(result, 'catch(…)')
        if type(checked) is Failure and isinstance(checked.failure(), self._kinds):
            return expect_result_of(self._handler, self._handler(checked.failure()))
        return checked


@overload
def catch(kind: type[T1], handler: Callable[[T1], R], /) -> Catch[T1, R]: ...
@overload
def catch(kinds: tuple[type[T1]], handler: Callable[[T1], R], /) -> Catch[T1, R]: ...
@overload
def catch(
    kinds: tuple[type[T1], type[T2]], handler: Callable[[T1 | T2], R], /
) -> Catch[T1 | T2, R]: ...
@overload
def catch(
    kinds: tuple[type[T1], type[T2], type[T3]], handler: Callable[[T1 | T2 | T3], R], /
) -> Catch[T1 | T2 | T3, R]: ...
@overload
def catch(
    kinds: tuple[type[T1], type[T2], type[T3], type[T4]],
    handler: Callable[[T1 | T2 | T3 | T4], R],
    /,
) -> Catch[T1 | T2 | T3 | T4, R]: ...
@overload
def catch(
    kinds: tuple[type[T1], type[T2], type[T3], type[T4], type[T5]],
    handler: Callable[[T1 | T2 | T3 | T4 | T5], R],
    /,
) -> Catch[T1 | T2 | T3 | T4 | T5, R]: ...
@overload
def catch(
    kinds: tuple[type[T1], type[T2], type[T3], type[T4], type[T5], type[T6]],
    handler: Callable[[T1 | T2 | T3 | T4 | T5 | T6], R],
    /,
) -> Catch[T1 | T2 | T3 | T4 | T5 | T6, R]: ...
def catch(kinds: type | tuple[type, ...], handler: Callable[[Never], R], /) -> Catch[Never, R]:
    """Return a step that handles one or several types of error.

    They leave the error channel. The handler returns a result; its own failures join the channel
    and are not caught again. Errors of other types propagate unchanged. Pyright, pyrefly and ty
    infer the channel exactly, mypy with the plugin.

    >>> from seamwise import Category, TaggedError
    >>> class CacheCold(TaggedError, category=Category.NOT_FOUND, message='Not cached.'):
    ...     key: str
    >>> catch(CacheCold, lambda error: Success(error.key.upper()))(Failure(CacheCold('a')))
    Success('A')
    """
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    if not classes or not all(isinstance(class_, type) for class_ in classes):
        # A union is refused because mypy and ty would accept any handler for it.
        raise TypeError(
            f'catch takes a class or a tuple of classes first, not {kinds!r}; '
            'write (A, B) for A | B, or use catch_all for a whole union.'
        )
    return Catch(classes, handler)


@final
class CatchAll(Generic[K_contra, R_co]):
    """Step that handles every error; `catch_all` creates it."""

    __slots__ = ('_handler',)

    def __init__(self, handler: Callable[[K_contra], R_co]) -> None:
        self._handler = handler

    @overload
    def __call__(self, result: Success[T], /) -> Success[T]: ...
    @overload
    def __call__(self, result: Failure[K_contra], /) -> R_co: ...
    def __call__(self, result: Any, /) -> Any:
        """Call the handler with the error of a failure; return a success unchanged."""
        checked = expect_result(result, 'catch_all(…)')
        if type(checked) is Failure:
            return expect_result_of(self._handler, self._handler(checked.failure()))
        return checked


def catch_all(handler: Callable[[E], R], /) -> CatchAll[E, R]:
    """Return a step that handles every error; only failures of `handler` remain in the channel.

    >>> catch_all(lambda error: Success(0))(Failure('late'))
    Success(0)
    """
    return CatchAll(handler)


# fmt: off
@overload
def flow(value: T0, s1: Callable[[T0], Result[T1, E1]], /) -> Result[T1, E1]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]], /,
) -> Result[T2, E1 | E2]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]], /,
) -> Result[T3, E1 | E2 | E3]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]],
    s4: Callable[[T3], Result[T4, E4]], /,
) -> Result[T4, E1 | E2 | E3 | E4]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]],
    s4: Callable[[T3], Result[T4, E4]], s5: Callable[[T4], Result[T5, E5]], /,
) -> Result[T5, E1 | E2 | E3 | E4 | E5]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]],
    s4: Callable[[T3], Result[T4, E4]], s5: Callable[[T4], Result[T5, E5]],
    s6: Callable[[T5], Result[T6, E6]], /,
) -> Result[T6, E1 | E2 | E3 | E4 | E5 | E6]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]],
    s4: Callable[[T3], Result[T4, E4]], s5: Callable[[T4], Result[T5, E5]],
    s6: Callable[[T5], Result[T6, E6]],
    s7: Callable[[T6], Result[T7, E7]], /,
) -> Result[T7, E1 | E2 | E3 | E4 | E5 | E6 | E7]: ...
@overload
def flow(
    value: T0, s1: Callable[[T0], Result[T1, E1]], s2: Callable[[T1], Result[T2, E2]],
    s3: Callable[[T2], Result[T3, E3]],
    s4: Callable[[T3], Result[T4, E4]], s5: Callable[[T4], Result[T5, E5]],
    s6: Callable[[T5], Result[T6, E6]],
    s7: Callable[[T6], Result[T7, E7]], s8: Callable[[T7], Result[T8, E8]], /,
) -> Result[T8, E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8]: ...
# fmt: on
def flow(value: object, /, *steps: Callable[..., Result[object, object]]) -> Result[object, object]:
    """Call the steps from left to right, each with the value of the last, until the first failure.

    Each step returns a result. Type checkers unite the errors of up to eight steps.

    >>> flow('7', lambda text: Success(int(text)), lambda number: Success(number + 1))
    Success(8)
    """
    if not steps:
        _no_step()
    first, *others = steps
    result: Result[object, object] = expect_result_of(first, first(value))
    for step in others:
        if type(result) is Failure:
            return result
        result = expect_result_of(step, step(result.unwrap()))
    return result


def _no_step() -> Never:
    raise TypeError('flow needs at least one step.')


def _expect_awaitable(step: Callable[[T], Awaitable[U]], value: T) -> Awaitable[U]:
    # Type checkers rule out any other value.
    awaitable: Any = step(value)
    if _is_awaitable(awaitable):
        checked: Awaitable[U] = awaitable
        return checked
    name, type_name = getattr(step, '__qualname__', repr(step)), type(awaitable).__name__
    raise TypeError(f'{name} must return an awaitable, but returned {type_name}; use `.bind`.')


def _is_awaitable(value: object) -> bool:
    return isinstance(value, Awaitable)
