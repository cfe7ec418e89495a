"""Dependencies of FastAPI that return Results: a Success is unwrapped, a Failure ends the request.

FastAPI passes to a handler what its dependencies return. With a `Resolver` around a dependency,
that is the value of a Success.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import lru_cache, update_wrapper
from inspect import (
    Parameter,
    Signature,
    isclass,
    iscoroutine,
    unwrap,
)
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_origin

from fastapi.exceptions import HTTPException
from fastapi.params import Depends
from fastapi.security.base import SecurityBase
from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, as_result
from seamwise.seams.http.fastapi.result_types import result_type
from seamwise.seams.http.fastapi.signatures import (
    evaluated_signature,
    is_async_generator,
    is_sync_generator,
    without_partial,
)
from seamwise.seams.http.request_ids import request_id
from seamwise.seams.http.serving.exchange import Answers, Exchange, Scope, effective_route
from seamwise.seams.reporting.request_context import current_request_id

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

Finish: TypeAlias = Callable[[object], object]
"""Function from what a dependency returns to what FastAPI gets."""


class Resolver:
    """A dependency whose results are finished: by default a Success is unwrapped.

    It equals the original function: FastAPI finds both in `dependency_overrides`, and calls the
    dependency once for a request.
    """

    def __init__(
        self, call: Callable[..., Any], finish: Finish, finish_inner: Finish | None = None
    ) -> None:
        update_wrapper(self, call)
        # FastAPI looks at the innermost function to see whether it is async or a generator.
        self.__wrapped__ = without_partial(call)
        self.__signature__ = evaluated_signature(call)
        if finish_inner is not None:
            self.__signature__ = with_resolvers(self.__signature__, finish_inner, finish_inner)
        self._call = call
        self._finish = finish
        self._is_sync_generator = is_sync_generator(call)
        self._is_async_generator = is_async_generator(call)

    @property
    def is_generator(self) -> bool:
        """Whether the dependency has a `yield`, so that it sees the end of the request."""
        return self._is_sync_generator or self._is_async_generator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the dependency; the kind of what is returned is that of the original function."""
        value = self._call(*args, **kwargs)
        if self._is_async_generator:
            return self._async_generator(value)
        if self._is_sync_generator:
            return self._generator(value)
        if iscoroutine(value):
            return self._await(value)
        return self._finish(value)

    async def _await(self, coroutine: Any) -> object:
        return self._finish(await coroutine)

    def _generator(self, generator: Generator[Any, Any, None]) -> Generator[object]:
        with contextmanager(lambda: generator)() as value:
            yield self._finish(value)

    async def _async_generator(
        self, generator: AsyncGenerator[Any, None]
    ) -> AsyncGenerator[object]:
        async with asynccontextmanager(lambda: generator)() as value:
            yield self._finish(value)

    @override
    def __eq__(self, other: object) -> bool:
        return other is self._call or (isinstance(other, Resolver) and other._call is self._call)

    @override
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


def resolver(
    call: Callable[..., Any], finish: Finish = resolved, finish_inner: Finish | None = None
) -> Callable[..., Any]:
    """Return a dependency whose results are finished; classes and security schemes as they are."""
    if isinstance(call, Resolver) or isclass(call) or isinstance(unwrap(call), SecurityBase):
        return call
    return Resolver(call, finish, finish_inner)


def resolve_dependencies(dependant: 'Dependant') -> None:
    """Replace all dependencies in a tree by resolvers."""
    for dependency in dependant.dependencies:
        if dependency.call is not None:
            dependency.call = resolver(dependency.call)
        resolve_dependencies(dependency)


def has_generators(dependant: 'Dependant') -> bool:
    """Return whether a tree of resolvers has one with `yield`."""
    return any(
        (isinstance(dependency.call, Resolver) and dependency.call.is_generator)
        or has_generators(dependency)
        for dependency in dependant.dependencies
    )


class Overrides:
    """The owner of `dependency_overrides`, with resolvers around the overrides."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    @property
    def dependency_overrides(self) -> '_Resolving | None':
        """The overrides of the application; None as long as it has none."""
        overrides: Mapping[Any, Callable[..., Any]] = self._owner.dependency_overrides
        return _Resolving(overrides) if overrides else None


class _Resolving:
    def __init__(self, overrides: Mapping[Any, Callable[..., Any]]) -> None:
        self._overrides = overrides

    def get(self, call: Callable[..., Any], _default: object, /) -> Callable[..., Any]:
        """Return a resolver around the override of a dependency, or around the dependency."""
        return resolver(self._overrides.get(call, call))


def with_resolvers(signature: Signature, finish: Finish, finish_inner: Finish) -> Signature:
    """Return a signature with resolvers around its dependencies, and around theirs."""

    def resolving(marker: object) -> object:
        if not isinstance(marker, Depends) or marker.dependency is None:
            return marker
        return replace(marker, dependency=resolver(marker.dependency, finish, finish_inner))

    def parameter_with_resolvers(parameter: Parameter) -> Parameter:
        annotation: Any = parameter.annotation
        if get_origin(annotation) is Annotated:
            type_, *metadata = get_args(annotation)
            # A unique object, since `Annotated[…]` returns an equal one from its cache, and a
            # resolver equals its function.
            annotation = Annotated[(type_, *map(resolving, metadata), object())]
        return parameter.replace(annotation=annotation, default=resolving(parameter.default))

    return signature.replace(
        parameters=[*map(parameter_with_resolvers, signature.parameters.values())]
    )


def for_endpoint(signature: Signature, answers: Answers, operation: str) -> Signature:
    """Return the signature of a handler under `endpoint`, without `install`.

    The handler gets the results of its dependencies as they are. A Failure of a dependency of
    these ends the request by an `HTTPException`, since no other layer knows the adapter.
    """

    def finish(value: object) -> object:
        try:
            return resolved(value)
        except Raised as raised:
            exchange = Exchange(
                has_end=True, request_id=request_id(current_request_id()), operation=operation
            )
            answer = answers.logged(raised.error, exchange)
            raise HTTPException(answer.status, answer.message, dict(answer.headers)) from raised

    return with_resolvers(signature, lambda value: value, finish)


def check_dependencies(scope: Scope) -> None:
    """Raise a TypeError if a dependency without a parameter is declared to return a Result.

    Under `endpoint` alone, no layer would see its Failure, and the handler would run.
    """
    dependant: Dependant | None = getattr(effective_route(scope), 'dependant', None)
    for dependency in dependant.dependencies if dependant else ():
        call = dependency.call
        if dependency.name is not None or call is None or isinstance(call, Resolver):
            continue
        if _returns_result(call):
            raise TypeError(
                f'{getattr(call, "__qualname__", call)!r} returns a Result, and no parameter of '
                'the handler takes it. Call `seamwise.seams.http.install(app, adapter)`: a Failure '
                'ends the request then.'
            )


@lru_cache(maxsize=1024)
def _returns_result(call: Callable[..., Any]) -> bool:
    return result_type(evaluated_signature(call).return_annotation) is not None
