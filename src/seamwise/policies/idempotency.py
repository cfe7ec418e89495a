"""Idempotency keys: all attempts of a call send the same key, so that a server executes it once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from inspect import Parameter, Signature, iscoroutinefunction, signature
from types import CoroutineType
from typing import Any, Concatenate, Generic, Never, ParamSpec, TypeVar, overload

from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Result
from seamwise._runtime.validation import with_parentheses
from seamwise.policies._engine.pipeline import Guard, Unnestable, decorate

S = TypeVar('S')
T = TypeVar('T')
E0 = TypeVar('E0', bound=TaggedError)
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')

# 144 bits make collisions negligible. A multiple of three bytes needs no base64 padding.
_KEY_BYTES = 18
_POSITIONAL = frozenset({Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD})


def new_key() -> str:
    """Return a unique key: 24 characters of `[A-Za-z0-9_-]`, from 144 random bits of the system.

    It is valid in the `Idempotency-Key` header (in quotes, see
    draft-ietf-httpapi-idempotency-key-header), and for services that accept up to 255 characters
    of any kind, such as Stripe.

    >>> len(new_key()), new_key() == new_key()
    (24, False)
    """
    from secrets import token_urlsafe  # noqa: PLC0415 -- most programs create no keys

    return token_urlsafe(_KEY_BYTES)


@with_parentheses('keyed(retry())')
def keyed(guard: Guard[E_co], /) -> Keyed[E_co]:
    """Return a guard that passes an idempotency key to the operation as its first argument.

    Each call has a new key, which all its attempts share, including concurrent ones. The key is
    created outside the pipeline and passed as an argument, so it does not depend on threads, tasks
    or contexts.

    >>> from seamwise import Failure, Success
    >>> from seamwise.catalog.network import HostUnreachable
    >>> from seamwise.policies import retry
    >>> keys = []
    >>> def pay(key):
    ...     keys.append(key)
    ...     return Failure(HostUnreachable('bank', 'reset')) if len(keys) < 3 else Success('paid')
    >>> keyed(retry(base=0.0)).run_sync(pay), len(keys), len(set(keys))
    (Success('paid'), 3, 1)
    """
    return Keyed(guard)


class Keyed(Unnestable, Generic[E_co]):
    """A guard that passes a key to its operations, built by `keyed`.

    It must be outermost, because the key must be the same for all attempts.
    """

    __slots__ = ('_guard',)

    nesting_hint = (
        'keyed must be outermost, because all attempts share its key: '
        'write `keyed(outer >> inner)` instead of `>>`.'
    )

    def __init__(self, guard: Guard[E_co], /) -> None:
        if not isinstance(guard, Guard):
            raise TypeError(f'keyed expects a guard, as in `keyed(retry())`, not {guard!r}.')
        self._guard = guard

    async def run(self, op: Callable[[str], Awaitable[Result[T, E0]]]) -> Result[T, E0 | E_co]:
        """Run an operation with a new key inside the guard, in the current task."""
        return await self._guard.run(partial(op, new_key()))

    def run_sync(self, op: Callable[[str], Result[T, E0]]) -> Result[T, E0 | E_co]:
        """Run an operation with a new key inside the guard, in the current thread."""
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
        """Decorate a function with `key` as first parameter, or a method with `key` after `self`.

        The signature of the decorated function does not contain `key`.

        >>> from seamwise import Result, Success
        >>> from seamwise.policies import retry
        >>> @keyed(retry())
        ... def pay(key: str, cents: int) -> Result[int, Never]:
        ...     return Success(cents)
        >>> pay(250)
        Success(250)
        """
        guarded = decorate(self._guard, function)
        index, public_signature = _remove_key(function)
        if iscoroutinefunction(guarded):

            @wraps(function)
            async def run(*args: object, **kwargs: object) -> object:
                return await guarded(*args[:index], new_key(), *args[index:], **kwargs)

            return _set_signature(run, public_signature)

        @wraps(function)
        def run_sync(*args: object, **kwargs: object) -> object:
            return guarded(*args[:index], new_key(), *args[index:], **kwargs)

        return _set_signature(run_sync, public_signature)

    @override
    def __repr__(self) -> str:
        return f'<keyed {self._guard!r}>'


def _remove_key(function: Callable[..., object]) -> tuple[int, Signature]:
    """Return the index of the parameter `key`, and the signature without it."""
    full = signature(function)
    parameters = list(full.parameters.values())
    index = int(bool(parameters) and parameters[0].name in {'self', 'cls'})
    key = parameters[index] if len(parameters) > index else None
    if key is None or key.name != 'key' or key.kind not in _POSITIONAL:
        after, receiver = (f' after {parameters[0].name}', 'self, ') if index else ('', '')
        name = getattr(function, '__qualname__', repr(function))
        raise TypeError(
            f'{name}: the first parameter{after} must be `key`, as in '
            f'`def pay({receiver}key: str, …)`.'
        )
    del parameters[index]
    return index, full.replace(parameters=parameters)


def _set_signature(
    run: Callable[..., object], public_signature: Signature
) -> Callable[..., object]:
    vars(run)['__signature__'] = public_signature
    annotations = {
        parameter.name: parameter.annotation
        for parameter in public_signature.parameters.values()
        if parameter.annotation is not public_signature.empty
    }
    if public_signature.return_annotation is not public_signature.empty:
        annotations['return'] = public_signature.return_annotation
    run.__annotations__ = annotations
    return run
