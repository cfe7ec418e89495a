"""Cache of successful results, with coalesced calls and stale values while the operation fails."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Task, create_task, get_running_loop
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

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Result, Success
from seamwise._runtime.registry import register
from seamwise._runtime.validation import (
    check_callable,
    check_float,
    check_int,
    check_name,
    with_parentheses,
)
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine.observers import observers_of
from seamwise.policies._engine.pipeline import Guard, Unnestable, decorate
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._parts.cache_store import ArgumentKey, CacheStats, CacheStore
from seamwise.policies._parts.single_flight import SharedCall, SharedTaskCall, SharedThreadCall
from seamwise.policies.deadline import CURRENT_SCOPE, without_deadline
from seamwise.policies.events import FellBack, Observer

T = TypeVar('T')
E0 = TypeVar('E0')
E = TypeVar('E')
S = TypeVar('S')
P = ParamSpec('P')
Q = ParamSpec('Q')
R_co = TypeVar('R_co', covariant=True)
C = TypeVar('C', bound=SharedCall)
_Key: TypeAlias = Callable[..., Hashable]


class Cached(Protocol[P, R_co]):
    """A cached function, with methods to remove its entries."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return a cached success, or call the function."""
        ...

    def forget(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Remove the success for these arguments; do not store the result of a call in flight."""
        ...

    def clear(self) -> None:
        """Remove all successes, and do not store the results of calls in flight."""
        ...

    def stats(self) -> CacheStats:
        """Return the numbers of hits and misses."""
        ...

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    # Two equal overloads: pyrefly uses the first one, pyright the second.
    @overload
    def __get__(
        self: Callable[Concatenate[S, Q], R_co], instance: S, owner: type, /
    ) -> Callable[Q, R_co]: ...
    @overload
    def __get__(
        self: Cached[Concatenate[S, Q], R_co], instance: S, owner: type, /
    ) -> Callable[Q, R_co]: ...


@with_parentheses('cache(ttl=60.0, name=…)')
def cache(  # noqa: PLR0913 -- independent settings, nearly all with a default
    *,
    ttl: float,
    stale_for: float = 0.0,
    revalidate_for: float = 0.0,
    capacity: int = 1_024,
    name: str,
    key: _Key | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> CacheDecorator:
    """Build a decorator that caches the successes of a function that returns a Result.

    Concurrent calls with equal arguments, from threads or tasks, are coalesced into one call, and
    all callers receive its outcome or defect. A call of an `async def` runs in a task with the
    context of its first caller, and is cancelled when its last caller is. Tasks of several event
    loops share the successes; each loop has its own call in flight.

    A shared call has no deadline of a caller: otherwise the deadline of one caller would fail the
    others. Put a `deadline` inside the cached function to limit it.

    Failures are not cached. If a call fails with a `retryable` error, a success that has expired by
    at most `stale_for` seconds is returned instead. Any other failure invalidates it.

    A success that has expired by at most `revalidate_for` seconds is returned immediately, and
    refreshed for later callers (RFC 5861, stale-while-revalidate): in a background task of the
    event loop, whose defect is reported, or in the thread of one of the callers, which waits.

    `f(1)`, `f(x=1)` and `f(1.0)` have the same key. All callers receive the same object, so do not
    mutate it. Keys and values stay in memory until they are replaced, removed or evicted. This
    includes the `self` of a method: for short-lived objects, decorate
    `self.load = cache(…)(self._load)` in `__init__`.

    Args:
        ttl: Time in seconds for which a success is fresh.
        stale_for: Further time in seconds for which a success can replace a failure.
        revalidate_for: Further time in seconds for which a success is used while it is refreshed.
        capacity: Maximum number of successes; the least recently used one is evicted.
        name: Name in events and error messages.
        key: Returns a hashable key for the arguments. It is required if an argument is not
            hashable; otherwise the call raises a TypeError.
        observer: Receives `FellBack` events.
        world: Clock; a `FakeWorld` in tests.

    >>> @cache(ttl=60.0, name='users')
    ... def load(uid: int) -> Result[str, str]:
    ...     print('loading', uid)
    ...     return Success('Ada')
    >>> load(1), load(uid=1)
    loading 1
    (Success('Ada'), Success('Ada'))
    >>> load.forget(1)
    >>> load(1)
    loading 1
    Success('Ada')
    """
    return CacheDecorator(
        name, _Limits(ttl, stale_for, revalidate_for, capacity), key, observer, world
    )


class _Limits(NamedTuple):
    ttl: float
    stale_for: float
    revalidate_for: float
    capacity: int


class CacheDecorator(Unnestable):
    """Decorator built by `cache`; each decorated function has a cache of its own."""

    nesting_hint = (
        'cache decorates a function and is no guard: '
        'write `@cache(…)` above `@guard` instead of `>>`.'
    )

    def __init__(
        self, name: str, limits: _Limits, key: _Key | None, observer: Observer | None, world: World
    ) -> None:
        self.name = check_name(name)
        self.limits = _Limits(
            check_float('ttl', limits.ttl, above=0.0),
            check_float('stale_for', limits.stale_for),
            check_float('revalidate_for', limits.revalidate_for),
            check_int('capacity', limits.capacity),
        )
        if key is not None:
            check_callable('key', key, 'of the arguments that returns something hashable')
        self.key = key
        self.observer = observers_of(observer)
        self.world = check_world(world)

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[object, Never, Result[T, E0]]], /
    ) -> Cached[P, CoroutineType[object, Never, Result[T, E0]]]: ...
    @overload
    def __call__(self, function: Callable[P, Result[T, E0]], /) -> Cached[P, Result[T, E0]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Any:
        """Decorate a `def` or `async def` that returns a result; its signature is preserved."""
        # The empty pipeline checks that the function can be guarded, and that it returns a Result.
        checks: Guard[Never] = Guard((), name=self.name)
        call = decorate(checks, function)
        key = self.key or ArgumentKey(function)
        # Arguments that fill every parameter are the key themselves.
        key_length = key.length if isinstance(key, ArgumentKey) else None
        wrapped: Any
        if iscoroutinefunction(call):
            task_function: _TaskFunction[object, object] = register(_TaskFunction(self, call, key))

            get_fresh, load = task_function.store.get_fresh, task_function.load

            @wraps(function)
            async def run(*args: object, **kwargs: object) -> object:
                is_key = not kwargs and len(args) == key_length
                call_key = args if is_key else key(*args, **kwargs)
                try:
                    success = get_fresh(call_key)
                except TypeError as error:
                    task_function.expect_hashable(call_key, error)
                    raise
                return success if success is not None else await load(call_key, args, kwargs)

            wrapped = run
            wrapped.forget, wrapped.clear = task_function.forget, task_function.store.clear
            wrapped.stats = task_function.store.stats
            return wrapped
        thread_function: _ThreadFunction[object, object] = register(
            _ThreadFunction(self, call, key)
        )

        get_fresh_sync, load_sync = thread_function.store.get_fresh, thread_function.load

        @wraps(function)
        def run_sync(*args: object, **kwargs: object) -> object:
            is_key = not kwargs and len(args) == key_length
            call_key = args if is_key else key(*args, **kwargs)
            try:
                success = get_fresh_sync(call_key)
            except TypeError as error:
                thread_function.expect_hashable(call_key, error)
                raise
            return success if success is not None else load_sync(call_key, args, kwargs)

        wrapped = run_sync
        wrapped.forget, wrapped.clear = thread_function.forget, thread_function.store.clear
        wrapped.stats = thread_function.store.stats
        return wrapped


class _CachedFunction(Generic[C, T, E]):
    """One decorated function and its cache store."""

    def __init__(self, cache: CacheDecorator, call: Callable[..., Any], key: _Key) -> None:
        self.name = cache.name
        self.store: CacheStore[C, T] = CacheStore(*cache.limits, world=cache.world)
        self._call = call
        self._key = key
        self.observer = cache.observer

    def forget(self, *args: object, **kwargs: object) -> None:
        self.store.forget(self.key_of(args, kwargs))

    def reset(self) -> None:
        """Remove all successes, and do not store the results of calls in flight."""
        self.store.reset()

    def after_fork(self) -> None:
        """Forget the calls in flight of the parent process; the successes stay."""
        self.store.after_fork()

    def key_of(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Hashable:
        """Return the cache key of the arguments, or raise a TypeError if it is not hashable."""
        key = self._key(*args, **kwargs)
        self.expect_hashable(key)
        return key

    def expect_hashable(self, key: Hashable, cause: TypeError | None = None) -> None:
        """Raise a TypeError if a key is not hashable."""
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                f'{self.name!r} needs a hashable key, but these arguments are not hashable: '
                'pass `key=`, a function of the same arguments.'
            ) from (cause or error)

    def store_outcome(self, key: Hashable, call: C, outcome: Result[T, E]) -> Result[T, E]:
        """Update the store, and return the outcome or a stale success that replaces it."""
        if isinstance(outcome, Success):
            self.store.put(key, call, outcome)
            return outcome
        error = outcome.failure()
        if not isinstance(error, TaggedError) or not retryable(error):
            self.store.invalidate(key, call)
            return outcome
        stale = self.store.get_stale(key, call)
        if stale is None:
            return outcome
        if self.observer.is_used:
            self.observer(FellBack(self.name, error))
        return stale

    def get_or_join(
        self, key: Hashable, new_call: C, loop: AbstractEventLoop | None = None
    ) -> Success[T] | C:
        """Return a fresh success or the call to wait for, or raise if waiting would deadlock."""
        result = self.store.get_or_join(key, new_call, loop)
        if isinstance(result, SharedCall) and result.is_reentrant():
            raise RuntimeError(
                f'{self.name!r} is called inside its own call with the same arguments: '
                'the caller would wait for itself.'
            )
        return result


class _ThreadFunction(_CachedFunction[SharedThreadCall[T, E], T, E]):
    def load(
        self, key: Hashable, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Result[T, E]:
        """Call the function, or wait for its call: there is no fresh success."""
        result: Result[T, E] | None = None
        while result is None:
            new_call: SharedThreadCall[T, E] = SharedThreadCall()
            expired = self.store.get_expired(key)
            joined = self.get_or_join(key, new_call)
            if joined is new_call:
                return new_call.run(partial(self._run, key, new_call, args, kwargs))
            if expired is not None:
                self.store.count_stale_hit()
                return expired
            result = joined.wait() if isinstance(joined, SharedThreadCall) else joined
        return result

    def _run(
        self,
        key: Hashable,
        call: SharedThreadCall[T, E],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Result[T, E]:
        try:
            with without_deadline():
                outcome = self._call(*args, **kwargs)
            return self.store_outcome(key, call, outcome)
        finally:
            self.store.discard(key, call)


class _TaskFunction(_CachedFunction[SharedTaskCall[T, E], T, E]):
    def __init__(self, cache: CacheDecorator, call: Callable[..., Any], key: _Key) -> None:
        super().__init__(cache, call, key)
        self._refreshes: set[Task[Result[T, E]]] = set()

    async def load(
        self, key: Hashable, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Result[T, E]:
        """Call the function, or wait for its call: there is no fresh success."""
        expired = self.store.get_expired(key)
        if expired is not None:
            self._refresh(key, args, kwargs)
            self.store.count_stale_hit()
            return expired
        joined = self.get_or_join(key, SharedTaskCall(), get_running_loop())
        if not isinstance(joined, SharedTaskCall):
            return joined
        return await joined.wait(
            partial(self._run, key, joined, args, kwargs),
            partial(self.store.discard, key, joined),
            self.name,
        )

    def _refresh(self, key: Hashable, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Start a call in the background, unless one is in flight."""
        new_call: SharedTaskCall[T, E] = SharedTaskCall()
        if self.store.get_or_join(key, new_call, get_running_loop()) is not new_call:
            return
        task = create_task(
            new_call.wait(
                partial(self._run, key, new_call, args, kwargs),
                partial(self.store.discard, key, new_call),
                self.name,
            )
        )
        # The event loop refers to tasks only weakly.
        self._refreshes.add(task)
        task.add_done_callback(self._end_refresh)

    def _end_refresh(self, task: Task[Result[T, E]]) -> None:
        self._refreshes.discard(task)
        defect = None if task.cancelled() else task.exception()
        if isinstance(defect, Exception):
            report_defect(defect, guard=self.name)

    async def _run(
        self,
        key: Hashable,
        call: SharedTaskCall[T, E],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Result[T, E]:
        # No reset: the task has its own copy of the context.
        CURRENT_SCOPE.set(None)
        try:
            return self.store_outcome(key, call, await self._call(*args, **kwargs))
        finally:
            self.store.discard(key, call)
