"""Idempotency keys: one for each call, the same over all its attempts, so that a server does once what it is asked twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from inspect import Parameter, Signature, iscoroutinefunction, signature
from types import CoroutineType
from typing import Any, Concatenate, Generic, Never, ParamSpec, TypeVar, overload

from typing_extensions import override

from seamwise.containers import Result
from seamwise.policies._engine.pipeline import Guard, decorated

S = TypeVar('S')
T = TypeVar('T')
E0 = TypeVar('E0')
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')

# 144 bits, so that no two meet; a multiple of three, so that base64 fills its 24 characters.
_BYTES = 18
_BY_PLACE = frozenset({Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD})


def new_key() -> str:
    """Make a key that nobody else has: 24 characters of `[A-Za-z0-9_-]`, 144 random bits of the operating system.

    For the `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header, where it stands in quotes) and for
    services that take up to 255 characters of any kind, as Stripe does.

    >>> len(new_key()), new_key() == new_key()
    (24, False)
    """
    from secrets import token_urlsafe  # noqa: PLC0415 -- only who makes a key needs it

    return token_urlsafe(_BYTES)


def keyed(guard: Guard[E_co], /) -> Keyed[E_co]:
    """Let a guard hand each call's own key to the operation: fresh for each call, the same for whatever is tried inside.

    The key is made outside of the whole pipeline and passed down by hand. So all guards inside share it, a second try that runs
    beside the first one too, and no thread, task or context can mix it up.

    >>> from seamwise import Failure, Success
    >>> from seamwise.catalog.network import HostUnreachable
    >>> from seamwise.policies.retry import retry
    >>> seen = []
    >>> def pay(key):
    ...     seen.append(key)
    ...     return Failure(HostUnreachable('bank', 'reset')) if len(seen) < 3 else Success('paid')
    >>> keyed(retry(base=0.0)).run_sync(pay), len(seen), len(set(seen))
    (<Success: paid>, 3, 1)
    """
    return Keyed(guard)


class Keyed(Generic[E_co]):
    """A guard whose operations take a key. It stands outermost: a key must be older than the first attempt."""

    __slots__ = ('_guard',)

    def __init__(self, guard: Guard[E_co], /) -> None:
        if not isinstance(guard, Guard):
            raise TypeError(f'keyed takes a guard, as in `keyed(retry())`, not {guard!r}.')
        self._guard = guard

    async def run(self, op: Callable[[str], Awaitable[Result[T, E0]]]) -> Result[T, E0 | E_co]:
        """Call an operation with a fresh key inside the guard, in a task."""
        return await self._guard.run(partial(op, new_key()))

    def run_sync(self, op: Callable[[str], Result[T, E0]]) -> Result[T, E0 | E_co]:
        """Call an operation with a fresh key inside the guard, in the thread that calls."""
        return self._guard.run_sync(partial(op, new_key()))

    @overload
    def __call__(
        self, function: Callable[Concatenate[str, P], Coroutine[object, Never, Result[T, E0]]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T, E0 | E_co]]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[str, P], Result[T, E0]], /
    ) -> Callable[P, Result[T, E0 | E_co]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[S, str, P], Coroutine[object, Never, Result[T, E0]]], /
    ) -> Callable[Concatenate[S, P], CoroutineType[object, Never, Result[T, E0 | E_co]]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[S, str, P], Result[T, E0]], /
    ) -> Callable[Concatenate[S, P], Result[T, E0 | E_co]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        """Decorate a function that takes a `key` first, or a method that takes one after `self`: its callers do not see it.

        >>> from seamwise import Result, Success
        >>> from seamwise.policies.retry import retry
        >>> @keyed(retry())
        ... def pay(key: str, cents: int) -> Result[int, Never]:
        ...     return Success(cents)
        >>> pay(250)
        <Success: 250>
        """
        guarded = decorated(self._guard, function)
        place, seen = _keyless(function)
        if iscoroutinefunction(guarded):

            @wraps(function)
            async def run(*args: object, **kwargs: object) -> object:
                return await guarded(*args[:place], new_key(), *args[place:], **kwargs)

            return _seen_as(run, seen)

        @wraps(function)
        def run_sync(*args: object, **kwargs: object) -> object:
            return guarded(*args[:place], new_key(), *args[place:], **kwargs)

        return _seen_as(run_sync, seen)

    @override
    def __repr__(self) -> str:
        return f'<keyed {self._guard!r}>'


def _keyless(function: Callable[..., object]) -> tuple[int, Signature]:
    """Give the place of a function's `key`, and the signature without it."""
    whole = signature(function)
    others = list(whole.parameters.values())
    place = int(bool(others) and others[0].name in {'self', 'cls'})
    if len(others) <= place or others[place].name != 'key' or others[place].kind not in _BY_PLACE:
        after, receiver = (f' after {others[0].name}', 'self, ') if place else ('', '')
        name = getattr(function, '__qualname__', repr(function))
        raise TypeError(
            f'{name}: the first parameter{after} must be `key`, as in `def pay({receiver}key: str, …)`.'
        )
    del others[place]
    return place, whole.replace(parameters=others)


def _seen_as(run: Callable[..., object], seen: Signature) -> Callable[..., object]:
    vars(run)['__signature__'] = seen
    annotations = {
        one.name: one.annotation
        for one in seen.parameters.values()
        if one.annotation is not seen.empty
    }
    if seen.return_annotation is not seen.empty:
        annotations['return'] = seen.return_annotation
    run.__annotations__ = annotations
    return run
