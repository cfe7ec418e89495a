"""Dependencies of FastAPI that return Results: a Success is unwrapped, a Failure ends the request.

FastAPI passes to a handler what its dependencies return. With a `Resolver` around a dependency,
that is the value of a Success.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial, update_wrapper
from inspect import (
    Signature,
    isasyncgenfunction,
    isclass,
    iscoroutine,
    isgeneratorfunction,
    isroutine,
    signature,
    unwrap,
)
from typing import TYPE_CHECKING, Any

from seamwise.causes import Raised
from seamwise.containers import Failure, as_result

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant


class Resolver:
    """A dependency that returns the value of a Success, and raises `Raised` for a Failure.

    It equals the original function: FastAPI finds both in `dependency_overrides`, and calls the
    dependency once for a request.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        update_wrapper(self, call)
        # FastAPI looks at the innermost function to see whether it is async or a generator.
        self.__wrapped__ = _without_partial(call)
        if isinstance(call, partial):
            self.__signature__ = signature(call)
        self._call = call
        target = unwrap(self.__wrapped__)
        function = target if isroutine(target) else getattr(target, '__call__', None)  # noqa: B004 -- the method is used
        self._is_generator = isgeneratorfunction(function)
        self._is_async_generator = isasyncgenfunction(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the dependency; the kind of what is returned is that of the original function."""
        value = self._call(*args, **kwargs)
        if self._is_async_generator:
            return self._async_generator(value)
        if self._is_generator:
            return self._generator(value)
        if iscoroutine(value):
            return self._await(value)
        return resolved(value)

    async def _await(self, coroutine: Any) -> object:
        return resolved(await coroutine)

    def _generator(self, generator: Generator[Any, Any, None]) -> Generator[object]:
        with contextmanager(lambda: generator)() as value:
            yield resolved(value)

    async def _async_generator(
        self, generator: AsyncGenerator[Any, None]
    ) -> AsyncGenerator[object]:
        async with asynccontextmanager(lambda: generator)() as value:
            yield resolved(value)

    def __eq__(self, other: object) -> bool:
        return other is self._call or (isinstance(other, Resolver) and other._call is self._call)

    def __hash__(self) -> int:
        return hash(self._call)


def resolved(value: object) -> object:
    """Return the value of a Success; other values as they are.

    Raises:
        Raised: It is a Failure.
    """
    result = as_result(value)
    if result is None:
        return value
    if type(result) is Failure:
        raise Raised(result.failure())
    return result.unwrap()


class Overrides:
    """The owner of `dependency_overrides`, with overrides that may return Results, too."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    @property
    def dependency_overrides(self) -> '_Resolving | dict[object, object]':
        """The overrides of the application; empty as long as it has none."""
        overrides: dict[Any, Callable[..., Any]] = self._owner.dependency_overrides
        return _Resolving(overrides) if overrides else {}


class _Resolving:
    """Overrides whose results are resolved, and those of functions that have no override."""

    def __init__(self, overrides: Mapping[Any, Callable[..., Any]]) -> None:
        self._overrides = overrides

    def get(self, call: Callable[..., Any], default: object = None, /) -> object:
        """Return the override of a dependency, or the dependency."""
        return resolver(self._overrides.get(call, call))


def resolver(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dependency whose Results are resolved; a class and a security scheme as they are."""
    from fastapi.security.base import SecurityBase  # noqa: PLC0415 -- FastAPI is optional

    if isinstance(call, Resolver) or isclass(call) or isinstance(unwrap(call), SecurityBase):
        return call
    return Resolver(call)


def resolve_dependencies(dependant: 'Dependant') -> None:
    """Replace all dependencies in a tree by resolvers."""
    for dependency in dependant.dependencies:
        if dependency.call is not None:
            dependency.call = resolver(dependency.call)
        resolve_dependencies(dependency)


def has_generators(dependant: 'Dependant') -> bool:
    """Return whether a tree has a dependency with `yield`, which sees the end of the request."""
    return any(
        (isinstance(dependency.call, Resolver) and dependency.call.is_generator)
        or has_generators(dependency)
        for dependency in dependant.dependencies
    )


def _without_partial(call: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(call, partial):
        call = call.func
    return call


class Propagator(Resolver):
    """A dependency of a dependency: if one of its arguments is a Failure, that is its result.

    Without `install`, no middleware would answer an exception. The handler gets the Failure.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__(call)
        self.__signature__ = with_propagators(signature(call))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the dependency with the values of its arguments, unless one is a Failure."""
        values, failure = unwrapped(kwargs)
        return self._call(*args, **values) if failure is None else failure
