"""Run awaitables side by side: structured, bounded, and cancelled as one. The asyncio behind `many_async`."""

from asyncio import CancelledError, Future, ensure_future, get_running_loop
from collections.abc import Awaitable, Collection, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any

from seamwise.containers import Failure, Result, Success


class Run:
    """One run: starts awaitables while there is room, and keeps what each came to by its place."""

    def __init__(
        self, name: str, given: tuple[Any, ...], limit: int | None, *, stops: bool
    ) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f'{name}: limit must be 1 or more, or None, not {limit!r}.')
        awaitables: Any = (
            given[0] if len(given) == 1 and not isinstance(given[0], Awaitable) else given
        )
        if not _is_iterable(awaitables):
            raise TypeError(
                f'{name} takes awaitables or one iterable of awaitables, not {type(awaitables).__name__}.'
            )
        self.failure: Failure[Any] | None = None
        self._name = name
        self._limit = limit
        self._stops = stops
        self._source: Iterator[tuple[int, Any]] = enumerate(awaitables)
        # Nobody else will see the rest of a list; what any other iterable still holds is its owner's.
        self._owns_rest = isinstance(awaitables, Collection)
        self._running: dict[int, Future[Result[Any, Any]]] = {}
        self._results: dict[int, Result[Any, Any]] = {}
        self._defects: list[BaseException] = []
        self._is_stopping = False
        self._all_ended: Future[None] | None = None

    async def ended(self) -> list[Result[Any, Any]]:
        """Wait for every child and give their results by place; raises what a child raised, and the caller's cancellation."""
        cancelled: CancelledError | None = None
        self._start()
        while self._running:
            self._all_ended = get_running_loop().create_future()
            try:
                await self._all_ended
            except CancelledError as asked:
                cancelled = asked
                self._stop()
        if self._defects or cancelled is not None:
            try:
                raise _one_of(self._defects, cancelled)
            finally:
                # The traceback holds this frame: without this, each would keep the other alive.
                cancelled = None
                self._defects.clear()
        return [result for _, result in sorted(self._results.items())]

    def _start(self) -> None:
        while not self._is_stopping and (self._limit is None or len(self._running) < self._limit):
            try:
                place, awaitable = next(self._source)
                _check(awaitable, self._name, place)
                child = ensure_future(awaitable)
            except StopIteration:
                return
            # seamwise: allow[SW103] `ended` raises it again, when the children have ended
            except BaseException as defect:  # noqa: BLE001
                self._stop(defect)
                return
            self._watch(place, child)

    def _watch(self, place: int, child: Any) -> None:
        self._running[place] = child
        child.add_done_callback(partial(self._take, place))

    def _take(self, place: int, child: 'Future[Result[Any, Any]]') -> None:
        del self._running[place]
        if child.cancelled():
            # A child that somebody else cancelled leaves a hole that no result can fill.
            self._stop(None if self._is_stopping else CancelledError())
        elif (defect := child.exception()) is not None:
            self._stop(defect)
        else:
            self._keep(place, child.result())
        self._start()
        if not self._running and self._all_ended is not None and not self._all_ended.done():
            self._all_ended.set_result(None)

    def _keep(self, place: int, result: object) -> None:
        if type(result) is not Success and type(result) is not Failure:
            wrong = TypeError(
                f'{self._name} takes awaitables of results, but number {place + 1} gave {type(result).__name__}.'
            )
            self._stop(None if self._is_stopping else wrong)
            return
        self._results[place] = result
        if self._stops and type(result) is Failure:
            self.failure = self.failure or result
            self._stop()

    def _stop(self, defect: BaseException | None = None) -> None:
        if defect is not None:
            self._defects.append(defect)
        if not self._is_stopping:
            self._is_stopping = True
            self._drop_rest()
            for child in self._running.values():
                child.cancel()

    def _drop_rest(self) -> None:
        rest: Iterable[tuple[int, Any]] = self._source if self._owns_rest else ()
        for place, awaitable in rest:
            if isinstance(awaitable, Coroutine):
                awaitable.close()
            elif issubclass(type(awaitable), Future):
                # It runs already, whether there was room or not: it is cancelled and awaited like the others.
                self._watch(place, awaitable)


def _is_awaitable(given: object) -> bool:
    return isinstance(given, Awaitable)


def _is_iterable(given: object) -> bool:
    return isinstance(given, Iterable)


def _check(awaitable: object, name: str, place: int) -> None:
    if not _is_awaitable(awaitable):
        raise TypeError(
            f'{name} takes awaitables of results, but number {place + 1} is {type(awaitable).__name__}.'
        )


def _one_of(defects: list[BaseException], cancelled: CancelledError | None) -> BaseException:
    # As in a task group: a defect is not hidden by the cancellation that it met.
    bugs = [one for one in defects if not isinstance(one, CancelledError)]
    if len(bugs) > 1:
        return BaseExceptionGroup('several awaitables raised', bugs)
    return bugs[0] if bugs else cancelled or defects[0]
