"""Structured concurrency for `many_async`: bounded, in one group that is cancelled as a whole."""

from asyncio import CancelledError, Future, ensure_future, get_running_loop
from collections.abc import Awaitable, Collection, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any

from seamwise._results.containers import Failure, Result, as_result
from seamwise._results.many import is_iterable


class TaskRunner:
    """Runner of concurrent awaitables, which orders their results by position.

    Args:
        name: Name of the public function, for error messages.
        args: Its arguments: awaitables, or one iterable of awaitables.
        limit: Maximum number of awaitables that run at a time, None if unlimited.
        stops_on_failure: Whether the first failure cancels the others.
    """

    failure: Failure[Any] | None
    """The first failure in time; set only if `stops_on_failure`."""

    def __init__(
        self, name: str, args: tuple[Any, ...], limit: int | None, *, stops_on_failure: bool
    ) -> None:
        if limit is not None and type(limit) is not int:
            raise TypeError(f'{name}: limit must be a whole number or None, not {limit!r}.')
        if limit is not None and limit < 1:
            raise ValueError(f'{name}: limit must be 1 or more, or None, not {limit!r}.')
        awaitables: Any = args[0] if len(args) == 1 and not isinstance(args[0], Awaitable) else args
        if not is_iterable(awaitables):
            raise TypeError(
                f'{name} takes awaitables or one iterable of awaitables, '
                f'not {type(awaitables).__name__}.'
            )
        self.failure = None
        self._name = name
        self._limit = limit
        self._stops_on_failure = stops_on_failure
        self._source: Iterator[tuple[int, Any]] = enumerate(awaitables)
        # The unused items of a collection must be closed here; those of another iterable belong
        # to its owner.
        self._owns_rest = isinstance(awaitables, Collection)
        self._running: dict[int, Future[Result[Any, Any]]] = {}
        self._results: dict[int, Result[Any, Any]] = {}
        self._defects: list[BaseException] = []
        self._is_stopping = False
        self._all_done: Future[None] | None = None

    async def run(self) -> list[Result[Any, Any]]:
        """Wait for all children and return their results by position.

        Raises the exception of a child, or the cancellation of the caller.
        """
        cancelled: CancelledError | None = None
        self._start()
        while self._running:
            self._all_done = get_running_loop().create_future()
            try:
                await self._all_done
            except CancelledError as error:
                cancelled = error
                self._stop()
        if self._defects or cancelled is not None:
            try:
                raise _combined(self._defects, cancelled)
            finally:
                # The traceback refers to this frame: break the reference cycle.
                cancelled = None
                self._defects.clear()
        return [result for _, result in sorted(self._results.items())]

    def _start(self) -> None:
        while not self._is_stopping and (self._limit is None or len(self._running) < self._limit):
            try:
                position, awaitable = next(self._source)
                _check(awaitable, self._name, position)
                child = ensure_future(awaitable)
            except StopIteration:
                return
            except BaseException as defect:  # noqa: BLE001
                self._stop(defect)
                return
            self._watch(position, child)

    def _watch(self, position: int, child: Any) -> None:
        self._running[position] = child
        child.add_done_callback(partial(self._on_done, position))

    def _on_done(self, position: int, child: 'Future[Result[Any, Any]]') -> None:
        del self._running[position]
        if child.cancelled():
            # A child that was cancelled from outside has no result, so the group has none.
            self._stop(None if self._is_stopping else CancelledError())
        elif (defect := child.exception()) is not None:
            self._stop(defect)
        else:
            self._store(position, child.result())
        self._start()
        if not self._running and self._all_done is not None and not self._all_done.done():
            self._all_done.set_result(None)

    def _store(self, position: int, value: object) -> None:
        result = as_result(value)
        if result is None:
            error = TypeError(
                f'{self._name} takes awaitables of results, '
                f'but number {position + 1} gave {type(value).__name__}.'
            )
            self._stop(None if self._is_stopping else error)
            return
        self._results[position] = result
        if self._stops_on_failure and type(result) is Failure:
            self.failure = self.failure or result
            self._stop()

    def _stop(self, defect: BaseException | None = None) -> None:
        if defect is not None:
            self._defects.append(defect)
        if not self._is_stopping:
            self._is_stopping = True
            self._discard_rest()
            for child in self._running.values():
                child.cancel()

    def _discard_rest(self) -> None:
        rest: Iterable[tuple[int, Any]] = self._source if self._owns_rest else ()
        for position, awaitable in rest:
            if isinstance(awaitable, Coroutine):
                awaitable.close()
            elif issubclass(type(awaitable), Future):
                # It is running already, regardless of the limit: cancel and await it too.
                self._watch(position, awaitable)


def _is_awaitable(value: object) -> bool:
    # Without this function, type checkers would narrow the checked value to `Never`.
    return isinstance(value, Awaitable)


def _check(awaitable: object, name: str, position: int) -> None:
    if not _is_awaitable(awaitable):
        raise TypeError(
            f'{name} takes awaitables of results, '
            f'but number {position + 1} is {type(awaitable).__name__}.'
        )


def _combined(defects: list[BaseException], cancelled: CancelledError | None) -> BaseException:
    # As in a task group, a defect takes precedence over a cancellation.
    bugs = [defect for defect in defects if not isinstance(defect, CancelledError)]
    if len(bugs) > 1:
        return BaseExceptionGroup('several awaitables raised', bugs)
    return bugs[0] if bugs else cancelled or defects[0]
