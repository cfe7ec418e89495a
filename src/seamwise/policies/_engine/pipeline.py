"""Guards and pipelines: `outer >> inner` is one flat list of layers, run by one loop.

No layer waits or calls the operation by itself. It returns a decision: from `enter` when a call
starts, from `leave` or `abort` of its permit when the call ends. Two loops carry the decisions
out: `Guard.run` in tasks, `Guard.run_sync` in threads.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial, wraps
from inspect import (
    isasyncgenfunction,
    isawaitable,
    iscoroutine,
    iscoroutinefunction,
    isgeneratorfunction,
)
from logging import getLogger
from types import CoroutineType, FunctionType, MappingProxyType
from typing import Any, ClassVar, Generic, Never, ParamSpec, Protocol, TypeVar, get_origin, overload

from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success, as_result
from seamwise._runtime.registry import ProcessState, living, register
from seamwise._runtime.validation import check_name
from seamwise._runtime.world import REAL, World
from seamwise.policies._engine import activity
from seamwise.policies._engine.blocks import Attempts, Block
from seamwise.policies._engine.call_timer import CallTimer
from seamwise.policies._engine.event_loops import refuse_trio
from seamwise.policies._engine.observers import Observers, observe_each
from seamwise.policies._engine.order_rules import order_warnings
from seamwise.policies._engine.permit import (
    ADMITTED,
    Admission,
    Fork,
    NotStarted,
    Permit,
    Waiting,
    abort_permits,
    complete_wait,
    complete_wait_sync,
)
from seamwise.policies.events import Observer

T = TypeVar('T')
E0 = TypeVar('E0', bound=TaggedError)
E2 = TypeVar('E2')
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')


class Runner(Protocol):
    """A guard, or a fallback, that runs the calls of a decorated function."""

    @property
    def name(self) -> str:
        """Name in error messages."""
        ...

    async def run(
        self, op: Callable[P, Awaitable[Any]], /, *args: P.args, **kwargs: P.kwargs
    ) -> object:
        """Run an operation in a task."""
        ...

    def run_sync(self, op: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> object:
        """Run an operation in the current thread."""
        ...


class Guard(ProcessState, Generic[E_co]):
    """A policy around operations that return results; `E_co` is the type of its own errors.

    `outer >> inner` nests guards: the outer one sees one call, however often the inner one retries.
    Share one guard between all callers of a dependency. They can run in any number of threads and
    event loops.

    >>> identity.run_sync(lambda: Success(1))
    Success(1)
    """

    name: str

    _takes_arguments = False
    _uses_loop = False
    _once: Guard[E_co] | None = None

    def __init__(self, layers: tuple[Layer[object], ...], /, *, name: str | None = None) -> None:
        for index, layer in enumerate(layers):
            if layer in layers[:index]:
                raise ValueError(
                    f'{layer.name!r} is in this pipeline twice, where it would wait for itself: '
                    'create a second guard.'
                )
        self.name = ' >> '.join(layer.name for layer in layers) if name is None else name
        self._layers = layers
        self._enters: tuple[Callable[[], Admission], ...] = tuple(layer.enter for layer in layers)
        if layers:
            self._takes_arguments = any(layer.takes_arguments for layer in layers)
            self._uses_loop = self._takes_arguments
            self._call_observers = Observers(None, on_change=self.time_calls, of_calls=True)
        if any(layer.repeats for layer in layers):
            self._once = Guard(tuple(layer for layer in layers if not layer.repeats))

    async def run(  # noqa: C901, PLR0912 -- one flat loop, for its speed
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | E_co]:
        """Run an operation in the current task, and return its result or the guard's own failure.

        Exceptions of the operation and a cancellation of the caller propagate unchanged.

        Args:
            op: Function that returns an awaitable of a Result.
            *args: Arguments of the function.
            **kwargs: Keyword arguments of the function.
        """
        if self._once is not None:
            # Before the operation runs: its failure would be lost with the wait for a retry.
            refuse_trio()
        permits: list[Permit] = []
        outcome: Any = None
        chain = self._enters if activity.is_on else ()
        if self._takes_arguments:
            chain = self._with_arguments(chain, args, kwargs)
        enters = chain
        while True:
            try:
                if outcome is None:
                    for enter in enters:
                        decision = enter()
                        if isinstance(decision, Permit):
                            permits.append(decision)
                            continue
                        outcome = (
                            decision
                            if type(decision) is Failure
                            else await self._resolve(decision, permits, chain, op, args, kwargs)
                        )
                        if outcome is not None:
                            break
                    else:
                        outcome = await op(*args, **kwargs)
                        if type(outcome) not in _SUCCESS:
                            outcome = self._expect_result(outcome)
                while permits:
                    decision = permits.pop().leave(outcome)
                    if decision is not outcome:
                        outcome = (
                            decision
                            if type(decision) is Failure
                            else await self._resolve(decision, permits, chain, op, args, kwargs)
                        )
                        if outcome is None:
                            enters = chain[len(permits) :]
                            break
                else:
                    result: Result[T, E0 | E_co] = outcome
                    return result
            except BaseException as error:
                outcome = abort_call(permits, error)
                if outcome is not None:
                    continue
                raise

    def run_sync(  # noqa: C901, PLR0912 -- one flat loop, for its speed
        self, op: Callable[P, Result[T, E0]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | E_co]:
        """Run an operation in the current thread, and return its result or the guard's own failure.

        Exceptions of the operation propagate unchanged. No guard can interrupt it: see `deadline`.

        Args:
            op: Function that returns a Result.
            *args: Arguments of the function.
            **kwargs: Keyword arguments of the function.
        """
        permits: list[Permit] = []
        outcome: Any = None
        chain = self._enters if activity.is_on else ()
        if self._takes_arguments:
            chain = self._with_arguments(chain, args, kwargs)
        enters = chain
        while True:
            try:
                if outcome is None:
                    for enter in enters:
                        decision = enter()
                        if isinstance(decision, Permit):
                            permits.append(decision)
                            continue
                        outcome = (
                            decision
                            if type(decision) is Failure
                            else self._resolve_sync(decision, permits)
                        )
                        if outcome is not None:
                            break
                    else:
                        outcome = op(*args, **kwargs)
                        if type(outcome) not in _SUCCESS:
                            outcome = self._expect_result(outcome)
                while permits:
                    decision = permits.pop().leave(outcome)
                    if decision is not outcome:
                        outcome = (
                            decision
                            if type(decision) is Failure
                            else self._resolve_sync(decision, permits)
                        )
                        if outcome is None:
                            enters = chain[len(permits) :]
                            break
                else:
                    result: Result[T, E0 | E_co] = outcome
                    return result
            except BaseException as error:
                outcome = abort_call(permits, error)
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
        """Decorate a `def` or `async def` that returns a result; its signature is preserved.

        A function with the return type `Coroutine` or `Awaitable` is awaited, too. Any other `def`
        runs in the current thread: without that type, its calls raise a TypeError if it returns a
        coroutine.

        Raises:
            TypeError: `function` is a lambda, which does not declare whether it returns a
                coroutine, or something else that no guard can decorate.
        """
        return decorate(self, function)

    def acquire(self, *args: object, **kwargs: object) -> Block:
        """Return a context manager that runs a block of code inside the guard, once.

        Args:
            *args: Arguments for the `cost` of a rate limit, as those of a call.
            **kwargs: Keyword arguments for it.

        Raises:
            TypeError: The guard repeats calls, which a `with` statement cannot.

        >>> with identity.acquire():
        ...     print('admitted')
        admitted
        """
        repeating = [layer.name for layer in self._layers if layer.repeats]
        if repeating:
            raise TypeError(
                f'{repeating[0]!r} repeats calls, but a with statement runs its block once: '
                'use `for attempt in guard: with attempt: …`.'
            )
        return self._new_block(*args, **kwargs)

    def __iter__(self) -> Iterator[Block]:
        """Iterate over the attempts of a block of code in a thread; see `Attempts`.

        >>> for attempt in identity:
        ...     with attempt:
        ...         print('attempt')
        attempt
        """
        return Attempts(self._new_block())

    def __aiter__(self) -> AsyncIterator[Block]:
        """Iterate over the attempts of a block of code in a task: `async with attempt:`."""
        if self._once is not None:
            refuse_trio()
        return Attempts(self._new_block())

    def _new_block(self, *args: object, **kwargs: object) -> Block:
        enters = self._enters if activity.is_on else ()
        if self._takes_arguments:
            enters = self._with_arguments(enters, args, kwargs)
        return Block(self.name, enters)

    def _with_arguments(
        self,
        enters: tuple[Callable[[], Admission], ...],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> tuple[Callable[[], Admission], ...]:
        """Return the functions in which those of some layers receive the arguments of a call."""
        # One more comes first if calls are timed; there is none if guards are switched off.
        timers = enters[: -len(self._layers)]
        layers = self._layers if enters else ()
        return (
            *timers,
            *(
                partial(layer.enter_call, args, kwargs) if layer.takes_arguments else layer.enter
                for layer in layers
            ),
        )

    def once(self) -> Guard[E_co]:
        """Return a pipeline without the guards that repeat calls: `retry` and `hedge`.

        Use it for the calls of a dependency that are not idempotent. The other guards, such as the
        circuit, are the same objects.

        >>> from seamwise.policies import circuit, retry
        >>> (circuit(name='bank') >> retry()).once()
        <guard bank>
        """
        return self if self._once is None else self._once

    def __rshift__(self, inner: Guard[E2]) -> Guard[E_co | E2]:
        """Return a pipeline with another guard inside this one."""
        if not isinstance(inner, Guard):
            return NotImplemented
        if not (self._layers and inner._layers):
            return self if self._layers else inner
        return Guard(self._layers + inner._layers, name=f'{self.name} >> {inner.name}')

    def named(self, name: str, /) -> Guard[E_co]:
        """Return a pipeline of the same layers with a name, for events, messages and `repr`.

        >>> from seamwise.policies import circuit, retry
        >>> (circuit(name='bank') >> retry()).named('payments')
        <guard payments>
        """
        pipeline = Guard[E_co](self._layers, name=check_name(name))
        if self._once is not None:
            pipeline._once = self._once.named(name)
        return pipeline

    @override
    def __eq__(self, other: object) -> bool:
        """Return whether both have the same layers in the same order."""
        return isinstance(other, Guard) and self._layers == other._layers

    @override
    def __hash__(self) -> int:
        return hash(self._layers)

    @override
    def __repr__(self) -> str:
        return f'<guard {self.name}>'

    def describe(self) -> str:
        """Return a line for each layer, outermost first, then a line for each warning.

        A warning names two layers in a contradictory order.

        >>> identity.describe()
        'nothing: the operation runs as it is'
        """
        if not self._layers:
            return 'nothing: the operation runs as it is'
        lines = [f'{layer.title}: {layer.limits()}' for layer in self._layers]
        lines += (f'warning: {warning}' for warning in order_warnings(self._layers))
        return '\n'.join(lines)

    def observe(self, observer: Observer, /, *, calls: bool = False) -> Callable[[], None]:
        """Send the events of all layers to one more observer.

        A layer that is part of several pipelines sends its events for all of them.

        Args:
            observer: Receives the events.
            calls: Whether it receives a `Completed` for each call of this pipeline, and of its
                `once()`, too.

        Returns:
            A function that removes the observer.

        >>> from seamwise.policies import GuardEvent, circuit, deadline
        >>> mail = circuit(name='mail')
        >>> events: list[GuardEvent] = []
        >>> remove = (mail >> deadline(2.0)).observe(events.append)
        >>> mail.open()
        >>> events
        [CircuitChanged(name='mail', before='closed', after='open', failures=0)]
        """
        observers = [layer.observer for layer in self._layers]
        if calls:
            pipelines = {self, self.once()}
            observers += (item._call_observers for item in pipelines if item._layers)
        return observe_each(observers, observer)

    def time_calls(self, observers: Observers) -> None:
        """Time the calls if there are observers; calls in flight go on as they are."""
        layers = self._layers
        enters: tuple[Callable[[], Admission], ...] = tuple(layer.enter for layer in layers)
        if observers.is_used:
            # A fake world in tests may be that of an inner guard only.
            world = next((layer.world for layer in layers if layer.world is not REAL), REAL)
            enters = (CallTimer(self.name, observers, world).enter, *enters)
        self._enters = enters
        self._uses_loop = self._takes_arguments or observers.is_used

    def reset(self) -> None:
        """Discard the state of all layers, such as counts and permits.

        Calls in flight no longer affect the guard. A budget of a retry is filled up, also for
        other guards that share it. State in Redis stays.
        """
        for layer in self._layers:
            layer.reset()

    def _expect_result(self, value: object) -> Any:
        """Return the result of an operation that is no `Success` of this library."""
        result: Any = value if type(value) in _FAILURE else _as_result(value)
        if type(result) in _FAILURE and self._layers:
            error: object = result.failure()
            if not isinstance(error, TaggedError) and not self._layers[0].has_warned:
                self._layers[0].has_warned = True
                _warn_about_untagged(self.name, error)
        return result

    async def _resolve(
        self,
        decision: Admission,
        permits: list[Permit],
        enters: Sequence[Callable[[], Admission]],
        op: Callable[..., Awaitable[Result[Any, Any]]],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Any:
        """Carry out a decision that is no permit yet.

        Returns:
            None after appending a permit, else the outcome for the enclosing layers.
        """
        if isinstance(decision, Waiting):
            decision = await complete_wait(decision)
        if isinstance(decision, Fork):
            refuse_trio()
            inner: Guard[E_co] = _InnerPipeline(self._layers, len(enters) - len(permits) - 1)
            return await decision.run(lambda: inner.run(op, *args, **kwargs))
        if isinstance(decision, Permit):
            permits.append(decision)
            return None
        return decision

    def _resolve_sync(self, decision: Admission, permits: list[Permit]) -> Any:
        if isinstance(decision, Waiting):
            decision = complete_wait_sync(decision)
        if isinstance(decision, Fork):
            decision = ADMITTED
        if isinstance(decision, Permit):
            permits.append(decision)
            return None
        return decision


class Unnestable(ProcessState):
    """Base of what looks like a guard, but cannot be a layer of a pipeline."""

    __slots__ = ()

    nesting_hint: ClassVar[str]
    """Sentences that say what to write instead of `>>`."""

    def __rshift__(self, inner: Never) -> Never:
        """Raise a TypeError that says what to write instead."""
        raise TypeError(self.nesting_hint)

    def __rrshift__(self, outer: Never) -> Never:
        """Raise a TypeError that says what to write instead."""
        raise TypeError(self.nesting_hint)


class Layer(Guard[E_co]):
    """A single guard: it admits calls or refuses them, and receives their outcomes.

    To write a guard, derive from this class and define `enter` and `limits`. `kind` is the name of
    the guard's class in descriptions. `repeats` tells whether it calls an operation again.

    >>> class Once(Layer[str]):
    ...     is_open = True
    ...     def enter(self) -> Admission:
    ...         was_open, self.is_open = self.is_open, False
    ...         return ADMITTED if was_open else Failure('closed')
    ...     def limits(self) -> str:
    ...         return 'one call'
    >>> once = Once('once')
    >>> once.run_sync(lambda: Success(1)), once.run_sync(lambda: Success(2))
    (Success(1), Failure('closed'))
    """

    has_warned = False
    """Whether the warning about errors without a category has been logged."""

    observer: Observers
    """Receivers of the events."""

    world: World = REAL
    """Clock of the guard."""

    takes_arguments = False
    """Whether `enter_call` decides on calls, not `enter`."""

    kind: ClassVar[str] = ''
    repeats: ClassVar[bool] = False

    def __init__(self, name: str, /) -> None:
        super().__init__((self,), name=check_name(name))
        if not hasattr(self, 'observer'):
            self.observer = Observers(None)
        # For `registered`: subclasses call this last, when they are completely built.
        register(self)

    @override
    async def run(
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | E_co]:
        """Run an operation in the current task; see `Guard.run`."""
        if self._uses_loop:
            return await super().run(op, *args, **kwargs)
        if self._once is not None:
            refuse_trio()
        # As in the loop of `Guard.run`, which takes over if the call has to wait.
        decision: Any = self.enter() if activity.is_on else ADMITTED
        result: Result[T, E0 | E_co]
        if isinstance(decision, Permit):
            try:
                outcome: Any = await op(*args, **kwargs)
                if type(outcome) not in _SUCCESS:
                    outcome = self._expect_result(outcome)
            except BaseException as error:
                failure: Any = abort_call([decision], error)
                if failure is None:
                    raise
                result = failure
                return result
            decision = decision.leave(outcome)
        if type(decision) in _RESULTS:
            result = decision
            return result
        waiting: Guard[E_co] = _WaitingLayer(self, decision)
        return await waiting.run(op, *args, **kwargs)

    @override
    def run_sync(
        self, op: Callable[P, Result[T, E0]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | E_co]:
        """Run an operation in the current thread; see `Guard.run_sync`."""
        if self._uses_loop:
            return super().run_sync(op, *args, **kwargs)
        decision: Any = self.enter() if activity.is_on else ADMITTED
        result: Result[T, E0 | E_co]
        if isinstance(decision, Permit):
            try:
                outcome: Any = op(*args, **kwargs)
                if type(outcome) not in _SUCCESS:
                    outcome = self._expect_result(outcome)
            except BaseException as error:
                failure: Any = abort_call([decision], error)
                if failure is None:
                    raise
                result = failure
                return result
            decision = decision.leave(outcome)
        if type(decision) in _RESULTS:
            result = decision
            return result
        waiting: Guard[E_co] = _WaitingLayer(self, decision)
        return waiting.run_sync(op, *args, **kwargs)

    def enter(self) -> Admission:
        """Return the decision for a call that starts.

        This method must not block, and can be called from any thread.
        """
        raise NotImplementedError

    def enter_call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Admission:
        """Return the decision for a call with these arguments, if `takes_arguments` is True."""
        raise NotImplementedError

    def limits(self) -> str:
        """Return a short description of the limits, for `describe`."""
        raise NotImplementedError

    @override
    def reset(self) -> None:
        """Discard the state of this guard; a guard with state of its own extends this method."""

    def after_fork(self) -> None:
        """Forget the calls of the parent process, in a forked one; see `Resettable`."""

    @property
    def title(self) -> str:
        """Kind and name, for descriptions; only the name if it says the kind already."""
        return f'{self.kind} {self.name!r}' if self.kind not in {'', self.name} else self.name

    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    @override
    def __hash__(self) -> int:
        return id(self)


class _InnerPipeline(Guard[E_co]):
    """The innermost layers of a pipeline, for one attempt of a call."""

    def __init__(self, layers: tuple[Layer[object], ...], count: int) -> None:
        self.name = 'attempt'
        self._layers = layers[len(layers) - count :]
        self._takes_arguments = any(layer.takes_arguments for layer in self._layers)
        self._enters = tuple(layer.enter for layer in self._layers)


class _WaitingLayer(Guard[E_co]):
    """A layer that has already decided that a call must wait, or run in a fork."""

    def __init__(self, layer: Layer[E_co], decision: Waiting | Fork) -> None:
        self.name = layer.name
        self._layers = (layer,)
        self._enters = (lambda: decision,)


def registered() -> Mapping[str, tuple[Guard[object], ...]]:
    """Return all guards in use by their names, in order of their creation.

    A pipeline is listed by its layers. Guards are held weakly: one that nothing else refers to is
    not listed. Use it to find the guards of a program, e.g. for a page about its circuits.

    >>> from seamwise.policies import circuit
    >>> mail = circuit(name='mail of the docs')
    >>> registered()['mail of the docs']
    (<guard mail of the docs>,)
    """
    guards: defaultdict[str, list[Guard[object]]] = defaultdict(list)
    layers: list[Layer[Any]] = [item for item in living() if isinstance(item, Layer)]
    for layer in layers:
        guards[layer.name].append(layer)
    return MappingProxyType({name: tuple(items) for name, items in guards.items()})


identity: Guard[Never] = Guard((), name='identity')
"""The empty pipeline: `identity >> guard` is `guard`."""


def decorate(guard: Runner, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same signature that runs its calls inside the guard."""
    if type(function) in {classmethod, staticmethod}:
        raise TypeError(
            f'Put the guard {guard.name!r} below @{type(function).__name__}, not above it.'
        )
    if not callable(function):
        raise TypeError(
            f'The guard {guard.name!r} must decorate a function that returns a Result, not '
            f'{function!r}.'
        )
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        name = getattr(function, '__qualname__', repr(function))
        raise TypeError(f'{name} is a generator: its body would run outside the guard.')
    if _is_undeclared_lambda(function):
        raise TypeError(
            f'The guard {guard.name!r} cannot decorate a lambda, which does not declare whether it '
            'returns a coroutine. Decorate a `def` or `async def`, or call '
            '`guard.run_sync(lambda: …)` or `await guard.run(lambda: …)`.'
        )
    if is_async(function):

        @wraps(function)
        async def run(*args: object, **kwargs: object) -> object:
            return await guard.run(function, *args, **kwargs)

        return run

    @wraps(function)
    def run_sync(*args: object, **kwargs: object) -> object:
        return guard.run_sync(function, *args, **kwargs)

    return run_sync


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a function, or the `__call__` of an object, returns an awaitable.

    It is an `async def`, or its return type is a coroutine. A `Mock` is like its `side_effect`, or
    like its `return_value`.
    """
    called = _called_function(function)
    return any(
        iscoroutinefunction(call) or _has_awaitable_type(call)
        for call in (called, type(called).__call__)
    ) or (_is_mock(called) and isawaitable(called.return_value))


def _called_function(function: Any) -> Any:
    """Return the function that partial objects and mocks call."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif _is_mock(function) and callable(function.side_effect):
            function = function.side_effect
        else:
            return function


def _is_mock(function: object) -> bool:
    # Without its module loaded, it cannot be one.
    mock = sys.modules.get('unittest.mock')
    return mock is not None and isinstance(function, mock.NonCallableMock)


def _is_undeclared_lambda(function: Callable[..., Any]) -> bool:
    # Type checkers know the type of a lambda; at run time only its call shows it.
    called = _called_function(function)
    is_lambda = isinstance(called, FunctionType) and called.__name__ == '<lambda>'
    return is_lambda and 'return' not in called.__annotations__


def _has_awaitable_type(function: Callable[..., Any]) -> bool:
    annotations: Mapping[str, object] = getattr(function, '__annotations__', {})
    declared = annotations.get('return')
    if not isinstance(declared, str):
        class_ = get_origin(declared) or declared
        return isinstance(class_, type) and issubclass(class_, Awaitable)
    name = declared.partition('[')[0].rpartition('.')[2].strip()
    return name in {'Awaitable', 'Coroutine', 'CoroutineType'}


# Tuples, because type checkers would narrow `Any` by a comparison with the classes.
_SUCCESS: tuple[type, ...] = (Success,)
_FAILURE: tuple[type, ...] = (Failure,)
_RESULTS: tuple[type, ...] = (Success, Failure)


def _as_result(value: object) -> Any:
    result = as_result(value)
    if result is not None:
        return result
    if not iscoroutine(value):
        message = f'The operation returned {type(value).__name__}, which is not a Result.'
        raise _add_usage_note(TypeError(message))
    # Otherwise Python would warn that the coroutine was never awaited.
    value.close()
    message = (
        f'The operation returned a coroutine of {value.__qualname__!r}: declare the decorated '
        'function with `async def` or with the return type `Coroutine[…]`, or use '
        '`await guard.run(…)` instead of `run_sync`.'
    )
    raise _add_usage_note(TypeError(message))


def _warn_about_untagged(name: str, error: object) -> None:
    getLogger('seamwise').warning(
        'The guard %r received a failure with %s, which is not a TaggedError. Guards decide by the '
        'category of an error, so this one is neither retried nor counted nor replaced.',
        name,
        type(error).__qualname__,
    )


def _add_usage_note(error: TypeError) -> TypeError:
    error.add_note(
        'A guard runs a function without arguments that returns a Result: '
        '`guard.run_sync(lambda: find(uid))`,'
    )
    error.add_note('or an awaitable of a Result: `await guard.run(lambda: load(uid))`.')
    return error


def abort_call(permits: list[Permit], error: BaseException) -> Failure[object] | None:
    """Abort the permits, innermost first, until one returns a failure that replaces the error."""
    # An error without further frames comes from the call of `op` itself: a wrong signature.
    if (
        type(error) is TypeError
        and error.__traceback__ is not None
        and error.__traceback__.tb_next is None
    ):
        _add_usage_note(error)
        # The operation did not start, so nothing may count it as failed.
        return abort_permits(permits, NotStarted())
    return abort_permits(permits, error)
