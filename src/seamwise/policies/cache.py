"""Successes kept for a while: one call at a time for each of them, and an old one while the call fails."""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Callable, Coroutine, Hashable
from functools import partial, wraps
from inspect import iscoroutinefunction
from types import CoroutineType
from typing import (
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    Never,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

from seamwise.containers import Result, Success
from seamwise.errors import TaggedError
from seamwise.policies._engine.observers import safe_observer
from seamwise.policies._engine.pipeline import Guard, decorated
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._engine.validation import check_callable, check_float, check_int, check_name
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.cache_store import ArgumentKey, CacheStore
from seamwise.policies._parts.single_flight import SharedCall, SharedTaskCall, SharedThreadCall
from seamwise.policies.events import FellBack, Observer

T = TypeVar('T')
E0 = TypeVar('E0')
E = TypeVar('E')
S = TypeVar('S')
P = ParamSpec('P')
Q = ParamSpec('Q')
R_co = TypeVar('R_co', covariant=True)
F = TypeVar('F', bound=SharedCall)
Key: TypeAlias = Callable[..., Hashable]


class Cached(Protocol[P, R_co]):
    """A function whose successes are kept: called as it was before, and told what to forget."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Give a success that is kept, or call the function."""
        ...

    def forget(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Forget the success of these arguments; a call of them that is under way is not kept either."""
        ...

    def clear(self) -> None:
        """Forget everything; no call that is under way is kept either."""
        ...

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    # The same twice: pyrefly reads the first of these two, pyright the second.
    @overload
    def __get__(
        self: Callable[Concatenate[S, Q], R_co], instance: S, owner: type, /
    ) -> Callable[Q, R_co]: ...
    @overload
    def __get__(
        self: Cached[Concatenate[S, Q], R_co], instance: S, owner: type, /
    ) -> Callable[Q, R_co]: ...


def cache(  # noqa: PLR0913 -- what a cache is, and how it is watched
    *,
    ttl: float,
    stale_for: float = 0.0,
    capacity: int = 1_024,
    name: str,
    key: Key | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Cache:
    """Decorate a function that returns a Result: its successes are kept for `ttl` seconds, failures never.

    Calls with the same arguments at the same time, of threads or of tasks, are one call whose outcome, or defect, all of them get.
    A call of an `async def` runs in a task of its own with the context of the first caller, and is cancelled when nobody waits for
    it any more. Such a function serves the tasks of one event loop; another loop is a RuntimeError.

    For `stale_for` seconds more a success is given where a fresh call fails in a way that may pass (`retryable`): the observer is
    told `FellBack`. Any other failure is an answer, and ends it. At most `capacity` successes are kept, the one used least recently goes.

    Equal arguments are one, however they are given: `f(1)`, `f(x=1)`, and `f(1.0)` too. `key` makes something else of the arguments,
    which it must where one does not hash (a TypeError says so). Keys and values stay in memory until they are replaced, forgotten or
    pushed out, and whoever calls gets the same object: do not change it. A method's `self` is an argument like others and is kept alive;
    where objects come and go, decorate `self.load = cache(…)(self._load)` in `__init__`.

    >>> @cache(ttl=60.0, name='users')
    ... def load(uid: int) -> Result[str, str]:
    ...     print('loading', uid)
    ...     return Success('Ada')
    >>> load(1), load(uid=1)
    loading 1
    (<Success: Ada>, <Success: Ada>)
    >>> load.forget(1)
    >>> load(1)
    loading 1
    <Success: Ada>
    """
    return Cache(name, _Limits(ttl, stale_for, capacity), key, observer, world)


class _Limits(NamedTuple):
    ttl: float
    stale_for: float
    capacity: int


class Cache:
    """The decorator that `cache` makes; each function that it decorates keeps its own successes."""

    def __init__(
        self, name: str, limits: _Limits, key: Key | None, observer: Observer | None, world: World
    ) -> None:
        self.name = check_name(name)
        self.limits = _Limits(
            check_float('ttl', limits.ttl, above=0.0),
            check_float('stale_for', limits.stale_for),
            check_int('capacity', limits.capacity),
        )
        if key is not None:
            check_callable('key', key, 'of the arguments that gives something hashable')
        self.key = key
        self.tell = safe_observer(observer)
        self.clock = check_world(world).clock

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[object, Never, Result[T, E0]]], /
    ) -> Cached[P, CoroutineType[object, Never, Result[T, E0]]]: ...
    @overload
    def __call__(self, function: Callable[P, Result[T, E0]], /) -> Cached[P, Result[T, E0]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Any:
        """Decorate a function that returns a result, or an `async def` that does; its signature is kept."""
        # The guard that does nothing sees to it that this is a function that can be guarded, and that it gives a Result.
        checks: Guard[Never] = Guard((), name=self.name)
        call = decorated(checks, function)
        key = self.key or ArgumentKey(function)
        wrapped: Any
        if iscoroutinefunction(call):
            tasks: _Tasks[object, object] = _Tasks(self, call, key)

            @wraps(function)
            async def run(*args: object, **kwargs: object) -> object:
                return await tasks.call(args, kwargs)

            wrapped = run
            wrapped.forget, wrapped.clear = tasks.forget, tasks.shelf.clear
            return wrapped
        threads: _Threads[object, object] = _Threads(self, call, key)

        @wraps(function)
        def run_sync(*args: object, **kwargs: object) -> object:
            return threads.call(args, kwargs)

        wrapped = run_sync
        wrapped.forget, wrapped.clear = threads.forget, threads.shelf.clear
        return wrapped


class _Function(Generic[F, T, E]):
    """One decorated function, with what it keeps."""

    def __init__(self, cache: Cache, call: Callable[..., Any], key: Key) -> None:
        self.name = cache.name
        self.shelf: CacheStore[F, T] = CacheStore(*cache.limits, clock=cache.clock)
        self._call = call
        self._key = key
        self._tell = cache.tell

    def forget(self, *args: object, **kwargs: object) -> None:
        self.shelf.forget(self.key_of(args, kwargs))

    def key_of(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Hashable:
        key = self._key(*args, **kwargs)
        try:
            hash(key)
        except TypeError as unhashable:
            raise TypeError(
                f'{self.name!r} keeps successes by something that hashes, which these arguments do not make: '
                'give `key=`, a function of the same arguments.'
            ) from unhashable
        return key

    def settled(self, key: Hashable, flight: F, outcome: Result[T, E]) -> Result[T, E]:
        """Give what is told those who wait: the outcome of their call, or an old success instead."""
        if isinstance(outcome, Success):
            self.shelf.put(key, flight, outcome)
            return outcome
        error = outcome.failure()
        if not isinstance(error, TaggedError) or not retryable(error):
            self.shelf.invalidate(key, flight)
            return outcome
        old = self.shelf.get_stale(key, flight)
        if old is None:
            return outcome
        if self._tell is not None:
            self._tell(FellBack(self.name, error))
        return old

    def joined(self, key: Hashable, mine: F) -> Success[T] | F:
        found = self.shelf.get_or_join(key, mine)
        if isinstance(found, SharedCall) and found.is_reentrant():
            raise RuntimeError(
                f'{self.name!r} is called in its own call, with the same arguments: it would wait for itself for ever.'
            )
        return found


class _Threads(_Function[SharedThreadCall[T, E], T, E]):
    def call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Result[T, E]:
        key = self.key_of(args, kwargs)
        found: Result[T, E] | None = self.shelf.get_fresh(key)
        while found is None:
            mine: SharedThreadCall[T, E] = SharedThreadCall()
            joined = self.joined(key, mine)
            if joined is mine:
                return mine.run(partial(self._fly, key, mine, args, kwargs))
            found = joined.wait() if isinstance(joined, SharedThreadCall) else joined
        return found

    def _fly(
        self,
        key: Hashable,
        flight: SharedThreadCall[T, E],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Result[T, E]:
        try:
            return self.settled(key, flight, self._call(*args, **kwargs))
        finally:
            self.shelf.discard(key, flight)


class _Tasks(_Function[SharedTaskCall[T, E], T, E]):
    _loop: AbstractEventLoop | None = None

    async def call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Result[T, E]:
        if get_running_loop() is not self._loop:
            self._bind(get_running_loop())
        key = self.key_of(args, kwargs)
        found = self.shelf.get_fresh(key)
        if found is not None:
            return found
        joined = self.joined(key, SharedTaskCall())
        if not isinstance(joined, SharedTaskCall):
            return joined
        return await joined.wait(
            partial(self._fly, key, joined, args, kwargs),
            partial(self.shelf.discard, key, joined),
            self.name,
        )

    async def _fly(
        self,
        key: Hashable,
        flight: SharedTaskCall[T, E],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Result[T, E]:
        try:
            return self.settled(key, flight, await self._call(*args, **kwargs))
        finally:
            self.shelf.discard(key, flight)

    def _bind(self, loop: AbstractEventLoop) -> None:
        if self._loop is not None:
            raise RuntimeError(
                f'{self.name!r} serves the tasks of another event loop, and one loop only: its callers wait for one another. '
                'Decorate the function once for each loop.'
            )
        self._loop = loop
