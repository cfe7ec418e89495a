"""Calls that a thread runs for the event loop."""

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from seamwise._defects.defects import report_defect

S = TypeVar('S')
T = TypeVar('T')


class Job(Generic[S]):
    """A call in a thread, and the report of its outcome in the event loop.

    Args:
        run: Runs in the thread, and returns the report.
        on_error: Reports an exception of `run`, or of its transaction.
        is_wanted: Returns whether to run it.
    """

    def __init__(
        self,
        run: Callable[[S], Callable[[], object]],
        on_error: Callable[[Exception], object],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._run = run
        self._on_error = on_error
        self._report: Callable[[], object] | None = None
        self.is_wanted = is_wanted

    def run(self, source: S) -> None:
        """Run the call. It can run again after its transaction has failed."""
        self._report = self._run(source)

    def fail(self, error: Exception) -> None:
        """Report an exception instead."""
        self._report = partial(self._on_error, error)

    def report(self) -> None:
        """Report the outcome in the event loop."""
        report, self._report = self._report, None
        if report is not None:
            _ = report()


def awaited(
    work: Callable[[S], T], future: Future[T], on_done: Callable[[T], object] | None = None
) -> Job[S]:
    """Return a job that sets a future.

    Args:
        work: The call.
        future: Receives the value or the exception.
        on_done: Receives the value before that, also if the caller was cancelled.
    """

    def finish(value: T) -> None:
        if on_done is not None:
            _ = on_done(value)
        if not future.done():
            future.set_result(value)

    def fail(error: Exception) -> None:
        if not future.done():
            future.set_exception(error)

    return Job(lambda source: partial(finish, work(source)), fail, lambda: not future.cancelled())


def unawaited(
    work: Callable[[S], T], on_done: Callable[[T], object], on_error: Callable[[Exception], object]
) -> Job[S]:
    """Return a job that calls functions with its outcome."""
    return Job(lambda source: partial(on_done, work(source)), on_error)


def post(loop: AbstractEventLoop, call: Callable[[], object]) -> None:
    """Run a call in an event loop, from another thread, unless the loop is closed."""
    try:
        _ = loop.call_soon_threadsafe(call)
    except RuntimeError:
        if not loop.is_closed():
            raise


def report_all(jobs: Sequence[Job[S]]) -> None:
    """Report the outcomes of jobs, in their order."""
    for job in jobs:
        try:
            job.report()
        # The other callers get their outcomes.
        except Exception as error:  # noqa: BLE001
            _ = report_defect(error)
