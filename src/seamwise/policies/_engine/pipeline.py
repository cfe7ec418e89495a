"""Guards and how they nest: `outer >> inner` is one flat list of layers, which one loop walks in and out of.

No layer waits or calls by itself. Each says what is to happen, in `enter` when a call comes and in its permit's `leave` or
`abort` when it ends, and the two loops below do it: one for tasks, one for threads.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutine, iscoroutinefunction, isgeneratorfunction
from types import CoroutineType
from typing import Any, ClassVar, Generic, Never, ParamSpec, Protocol, TypeVar, overload

from typing_extensions import override

from seamwise.containers import Failure, Result, Success
from seamwise.policies._engine.permit import ADMITTED, Decision, Fork, Permit, Wait
from seamwise.policies._engine.validation import check_name

T = TypeVar('T')
E0 = TypeVar('E0')
E2 = TypeVar('E2')
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')


class Runs(Protocol):
    """What a decorated function runs inside of."""

    @property
    def name(self) -> str:
        """Say what it is called."""
        ...

    async def run(self, op: Callable[[], Awaitable[Any]], /) -> object:
        """Call an operation in a task."""
        ...

    def run_sync(self, op: Callable[[], Any], /) -> object:
        """Call an operation in a thread."""
        ...


class Guard(Generic[E_co]):
    """A policy around operations that return results; `E_co` is what it can fail with itself.

    `outer >> inner` nests: the outer one sees one call, however often the inner one tries. One guard is shared by all callers
    of what it guards, from any number of threads and from the tasks of one event loop.

    >>> identity.run_sync(lambda: Success(1))
    <Success: 1>
    """

    name: str

    def __init__(self, layers: tuple[Layer[object], ...], /, *, name: str | None = None) -> None:
        for place, layer in enumerate(layers):
            if layer in layers[:place]:
                raise ValueError(
                    f'{layer.name!r} stands twice in one pipeline, where it would wait for itself: make a second guard.'
                )
        self.name = ' >> '.join(layer.name for layer in layers) if name is None else name
        self._layers = layers
        self._enters: tuple[Callable[[], Decision], ...] = tuple(layer.enter for layer in layers)
        self._is_bound = any(layer.is_bound for layer in layers)
        self._loop: AbstractEventLoop | None = None

    async def run(self, op: Callable[[], Awaitable[Result[T, E0]]]) -> Result[T, E0 | E_co]:  # noqa: C901, PLR0912 -- one flat loop, for its speed
        """Call an operation inside this guard, in a task; gives its result, or the guard's own failure.

        What the operation raises is raised as it comes, and so is the cancellation of the caller.
        """
        if self._is_bound and get_running_loop() is not self._loop:
            self._bind(get_running_loop())
        permits: list[Permit] = []
        outcome: Any = None
        enters = self._enters
        while True:
            try:
                if outcome is None:
                    for enter in enters:
                        said = enter()
                        if isinstance(said, Permit):
                            permits.append(said)
                            continue
                        outcome = (
                            said if type(said) is Failure else await self._held(said, permits, op)
                        )
                        if outcome is not None:
                            break
                    else:
                        outcome = await op()
                        if type(outcome) is not Success and type(outcome) is not Failure:
                            _refuse(outcome)
                while permits:
                    left = permits.pop().leave(outcome)
                    if left is not outcome:
                        outcome = (
                            left if type(left) is Failure else await self._held(left, permits, op)
                        )
                        if outcome is None:
                            enters = self._enters[len(permits) :]
                            break
                else:
                    given: Result[T, E0 | E_co] = outcome
                    return given
            except BaseException as raised:
                outcome = _aborted(permits, raised)
                if outcome is not None:
                    continue
                raise

    def run_sync(self, op: Callable[[], Result[T, E0]]) -> Result[T, E0 | E_co]:  # noqa: C901, PLR0912 -- one flat loop, for its speed
        """Call an operation inside this guard, in the thread that calls; gives its result, or the guard's own failure.

        What the operation raises is raised as it comes. Nothing can interrupt it: see `deadline`.
        """
        permits: list[Permit] = []
        outcome: Any = None
        enters = self._enters
        while True:
            try:
                if outcome is None:
                    for enter in enters:
                        said = enter()
                        if isinstance(said, Permit):
                            permits.append(said)
                            continue
                        outcome = said if type(said) is Failure else self._held_sync(said, permits)
                        if outcome is not None:
                            break
                    else:
                        outcome = op()
                        if type(outcome) is not Success and type(outcome) is not Failure:
                            _refuse(outcome)
                while permits:
                    left = permits.pop().leave(outcome)
                    if left is not outcome:
                        outcome = left if type(left) is Failure else self._held_sync(left, permits)
                        if outcome is None:
                            enters = self._enters[len(permits) :]
                            break
                else:
                    given: Result[T, E0 | E_co] = outcome
                    return given
            except BaseException as raised:
                outcome = _aborted(permits, raised)
                if outcome is not None:
                    continue
                raise

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[object, Never, Result[T, E0]]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T, E0 | E_co]]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Result[T, E0]], /
    ) -> Callable[P, Result[T, E0 | E_co]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        """Decorate a function that returns a result, or an `async def` that does; its signature is kept."""
        return decorated(self, function)

    def __rshift__(self, inner: Guard[E2]) -> Guard[E_co | E2]:
        """Put another guard inside this one."""
        if not isinstance(inner, Guard):
            return NotImplemented
        if not (self._layers and inner._layers):
            return self if self._layers else inner
        return Guard(self._layers + inner._layers)

    @override
    def __eq__(self, other: object) -> bool:
        """Say whether it is the same layers in the same order."""
        return isinstance(other, Guard) and self._layers == other._layers

    @override
    def __hash__(self) -> int:
        return hash(self._layers)

    @override
    def __repr__(self) -> str:
        return f'<guard {self.name}>'

    def describe(self) -> str:
        """Say in plain words what stands around what, outermost first, with its limits; and warn of an order that cannot be meant.

        >>> identity.describe()
        'nothing: the operation runs as it is'
        """
        from seamwise.policies.describe import described  # noqa: PLC0415 -- it knows all the guards, and they know this

        return described(self._layers)

    async def _held(
        self,
        said: Decision[T, E0],
        permits: list[Permit],
        op: Callable[[], Awaitable[Result[T, E0]]],
    ) -> Result[T, E0 | E_co] | None:
        """Wait for what a layer holds a call for: adds a permit and gives None, or gives the outcome that stands outside of it."""
        if isinstance(said, Wait):
            said = await said.wait()
        if isinstance(said, Fork):
            return await said.run(partial(self._inside(len(permits)).run, op))
        if isinstance(said, Permit):
            permits.append(said)
            return None
        return said

    def _held_sync(self, said: Decision[T, E0], permits: list[Permit]) -> Result[T, E0] | None:
        if isinstance(said, Wait):
            said = said.wait_sync()
        if isinstance(said, Fork):
            said = ADMITTED
        if isinstance(said, Permit):
            permits.append(said)
            return None
        return said

    def _inside(self, place: int) -> Guard[E_co]:
        return Guard(self._layers[place + 1 :])

    def _bind(self, loop: AbstractEventLoop) -> None:
        for layer in self._layers:
            if layer.is_bound:
                layer._bind_itself(loop)
        self._loop = loop


class Layer(Guard[E_co]):
    """One guard, which may be a layer of a pipeline: it says who comes in, and reads how the call ended.

    Whoever makes a guard derives from this and defines `enter` and `limits`. A class whose callers wait for one another sets
    `is_bound`: it then serves the tasks of one event loop, beside any number of threads.

    >>> class Once(Layer[str]):
    ...     is_open = True
    ...     def enter(self) -> Decision:
    ...         was_open, self.is_open = self.is_open, False
    ...         return ADMITTED if was_open else Failure('closed')
    ...     def limits(self) -> str:
    ...         return 'one call'
    >>> once = Once('once')
    >>> once.run_sync(lambda: Success(1)), once.run_sync(lambda: Success(2))
    (<Success: 1>, <Failure: closed>)
    """

    is_bound: ClassVar[bool] = False

    def __init__(self, name: str, /) -> None:
        super().__init__((self,), name=check_name(name))
        self._own_loop: AbstractEventLoop | None = None

    def enter(self) -> Decision:
        """Let a call in that comes, let it wait, or refuse it. This never waits itself, and is called from any thread."""
        raise NotImplementedError

    def limits(self) -> str:
        """Say what is allowed, in a few words, for `describe`."""
        raise NotImplementedError

    def _bind_itself(self, loop: AbstractEventLoop) -> None:
        if self._own_loop is None:
            self._own_loop = loop
        if self._own_loop is not loop:
            raise RuntimeError(
                f'{self.name!r} serves the tasks of another event loop, and one loop only: its callers wait for one another. '
                'Make one guard for each loop.'
            )

    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    @override
    def __hash__(self) -> int:
        return id(self)


identity: Guard[Never] = Guard((), name='identity')
"""The guard that does nothing: `identity >> guard` is `guard`."""


def decorated(guard: Runs, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that runs inside a guard, with the signature of the one that is given."""
    if type(function) in {classmethod, staticmethod}:
        raise TypeError(
            f'Put the guard {guard.name!r} under @{type(function).__name__}, not above it.'
        )
    if not callable(function):
        raise TypeError(
            f'The guard {guard.name!r} decorates a function that gives a Result, not {function!r}.'
        )
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        name = getattr(function, '__qualname__', repr(function))
        raise TypeError(f'{name} is a generator: it works when it is read, where no guard stands.')
    if _is_async(function):

        @wraps(function)
        async def run(*args: object, **kwargs: object) -> object:
            return await guard.run(partial(function, *args, **kwargs))

        return run

    @wraps(function)
    def run_sync(*args: object, **kwargs: object) -> object:
        return guard.run_sync(partial(function, *args, **kwargs))

    return run_sync


def _is_async(function: Callable[..., Any]) -> bool:
    """Say whether a call gives a coroutine: of an `async def`, or of an object whose `__call__` is one."""
    while isinstance(function, partial):
        function = function.func
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def _refuse(given: object) -> Never:
    if not iscoroutine(given):
        raise _told(TypeError(f'The operation gave {type(given).__name__}, which is no Result.'))
    # Nobody will await it now.
    given.close()
    raise _told(
        TypeError(
            'The operation gave a coroutine: `await guard.run(…)` runs those, run_sync does not.'
        )
    )


def _told(raised: TypeError) -> TypeError:
    raised.add_note(
        'A guard takes a function without arguments that gives a Result: `guard.run_sync(lambda: find(uid))`,'
    )
    raised.add_note('or an awaitable of one: `await guard.run(lambda: load(uid))`.')
    return raised


def _aborted(permits: list[Permit], raised: BaseException) -> Failure[object] | None:
    """Give back every permit, the innermost first, until one says which failure the exception means."""
    if (
        type(raised) is TypeError
        and raised.__traceback__ is not None
        and raised.__traceback__.tb_next is None
    ):
        _told(raised)
    try:
        while permits:
            failure = permits.pop().abort(raised)
            if failure is not None:
                return failure
    except BaseException as worse:
        # An observer that exits, or a clock that raises: those outside get theirs back all the same.
        failure = _aborted(permits, worse)
        if failure is not None:
            return failure
        raise
    return None
