"""Guards around a block of code that is not a function: `with guard.acquire():`, and attempts.

The steps are those of the loops in `pipeline`, as a generator of waits: the block runs between two
of its runs, and `_wait_all` or `_wait_all_sync` carry out the waits.
"""

from collections.abc import Callable, Generator, Sequence
from types import TracebackType
from typing import Final, Self, TypeAlias

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, Result, Success
from seamwise.policies._engine.permit import (
    ADMITTED,
    Admission,
    Fork,
    Outcome,
    Permit,
    Waiting,
    abort_permits,
    complete_wait,
    complete_wait_sync,
)

_Steps: TypeAlias = Generator[Waiting, Permit | Result[object, object], Outcome | None]
"""Yields what to wait for. It returns None if the block runs, else the final outcome."""

_DONE: Final = Success(None)


class Block:
    """A block of code inside a guard, as a context manager; built by `Guard.acquire`.

    Use `with` in a thread, and `async with` in a task. The guard raises `Raised` with its error if
    it does not admit the block. A `Raised` from the block is the failure of the block, as
    `or_raise` raises it; any other exception is a defect. Both propagate.
    """

    __slots__ = ('_enters', '_has_ended', '_has_started', '_is_ready', '_name', '_permits')

    def __init__(self, name: str, enters: Sequence[Callable[[], Admission]]) -> None:
        self._name = name
        self._enters = enters
        self._permits: list[Permit] = []
        self._is_ready = False
        self._has_started = False
        self._has_ended = False

    def __enter__(self) -> Self:
        """Enter the guard in a thread.

        Raises:
            Raised: The guard does not admit the block.
        """
        if not self._start():
            _expect_no_failure(_wait_all_sync(self._steps(None)), None)
        return self

    async def __aenter__(self) -> Self:
        """Enter the guard in a task; see `__enter__`."""
        if not self._start():
            _expect_no_failure(await _wait_all(self._steps(None)), None)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        exception: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        """Leave the guard, and return whether the block is to run again.

        Raises:
            Raised: The guard replaced the exception by an error of its own.
        """
        outcome = self._outcome(exception)
        if outcome is None:
            return False
        return self._end(_wait_all_sync(self._steps(outcome)), exception)

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        exception: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        """Leave the guard in a task; see `__exit__`."""
        outcome = self._outcome(exception)
        if outcome is None:
            return False
        return self._end(await _wait_all(self._steps(outcome)), exception)

    def _start(self) -> bool:
        """Return whether the guard has been entered already, for another attempt."""
        if self._has_ended or (self._has_started and not self._is_ready):
            raise RuntimeError(f'A block of {self._name!r} is used twice: call acquire() again.')
        self._has_started = True
        is_ready, self._is_ready = self._is_ready, False
        return is_ready

    # seamwise: allow[SW106] a block can fail with any error
    def _outcome(self, exception: BaseException | None) -> Outcome | None:
        """Return the outcome of the block, or None if its exception propagates."""
        if exception is None:
            return _DONE
        if isinstance(exception, Raised):
            return Failure(exception.error)
        failure = abort_permits(self._permits, exception)
        if failure is None:
            self._has_ended = True
        return failure

    def _end(self, outcome: Outcome | None, exception: BaseException | None) -> bool:
        if outcome is None:
            self._is_ready = True
            return True
        self._has_ended = True
        _expect_no_failure(outcome, exception)
        return False

    def _steps(self, outcome: Outcome | None) -> _Steps:
        permits = self._permits
        while True:
            try:
                if outcome is None:
                    outcome = yield from self._enter()
                    if outcome is None:
                        return None
                while permits:
                    outcome = yield from self._resolve(permits.pop().leave(outcome))
                    if outcome is None:
                        break
                else:
                    return outcome
            except BaseException as error:
                outcome = abort_permits(permits, error)
                if outcome is None:
                    self._has_ended = True
                    raise

    def _enter(self) -> _Steps:
        for enter in self._enters[len(self._permits) :]:
            outcome = yield from self._resolve(enter())
            if outcome is not None:
                return outcome
        return None

    def _resolve(self, decision: Admission) -> _Steps:
        if isinstance(decision, Waiting):
            decision = yield decision
        if isinstance(decision, Fork):
            # A block cannot run several times at once.
            decision = ADMITTED
        if isinstance(decision, Permit):
            self._permits.append(decision)
            return None
        return decision


class Attempts:
    """Attempts of a block inside a guard, built by `for attempt in guard`.

    Each of them must be entered with `with attempt:`, or `async with attempt:` in a task.
    """

    __slots__ = ('_block', '_has_begun')

    def __init__(self, block: Block) -> None:
        self._block = block
        self._has_begun = False

    def __iter__(self) -> Self:
        """Return the attempts themselves."""
        return self

    def __next__(self) -> Block:
        """Return the block for the next attempt."""
        if not self._has_next():
            raise StopIteration
        return self._block

    def __aiter__(self) -> Self:
        """Return the attempts themselves."""
        return self

    async def __anext__(self) -> Block:
        """Return the block for the next attempt."""
        if not self._has_next():
            raise StopAsyncIteration
        return self._block

    def _has_next(self) -> bool:
        block = self._block
        if not self._has_begun:
            self._has_begun = True
            return True
        if not block._has_started:
            raise RuntimeError(
                f'An attempt of {block._name!r} was not used: put the code inside `with attempt:`.'
            )
        return block._is_ready


# seamwise: allow[SW106] a block can fail with any error
def _wait_all_sync(steps: _Steps) -> Outcome | None:
    try:
        wait = next(steps)
        while True:
            try:
                result = complete_wait_sync(wait)
            except BaseException as error:  # noqa: BLE001
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as end:
        outcome: Outcome | None = end.value
        return outcome


# seamwise: allow[SW106] a block can fail with any error
async def _wait_all(steps: _Steps) -> Outcome | None:
    try:
        wait = next(steps)
        while True:
            try:
                result = await complete_wait(wait)
            except BaseException as error:  # noqa: BLE001
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as end:
        outcome: Outcome | None = end.value
        return outcome


def _expect_no_failure(outcome: Outcome | None, exception: BaseException | None) -> None:
    """Raise the error of a failure, unless the exception of the block already carries it."""
    if type(outcome) is not Failure:
        return
    error = outcome.failure()
    if isinstance(exception, Raised) and exception.error is error:
        return
    raise Raised(error) from exception
