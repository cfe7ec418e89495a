"""Background tasks that return Results."""

from typing import Any

from starlette.background import BackgroundTask, BackgroundTasks
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import override

from seamwise._results.containers import Failure, as_result
from seamwise.seams.http.serving.exchange import Answers, Exchange


class ReportingTask(BackgroundTask):
    """A background task, or a list of them, whose Failures are logged.

    A Failure ends only its own task, and an exception all tasks of a response.
    """

    def __init__(
        self, task: BackgroundTask, exchange: Exchange, answers: Answers, status: int
    ) -> None:
        # FastAPI names the span of a task after its function.
        own: Any = task
        self.func = getattr(own, 'func', own)
        self._task = task
        self._exchange = exchange
        self._answers = answers
        self._status = status

    @override
    async def __call__(self) -> None:
        """Run the task, in its own way."""
        task = self._task
        if isinstance(task, BackgroundTasks):
            task.tasks[:] = map(self._reporting, task.tasks)
        result = as_result(await _returned(task))
        if type(result) is Failure:
            self._answers.logged(result.failure(), self._exchange, sent=self._status)

    def _reporting(self, task: BackgroundTask) -> BackgroundTask:
        # An application may use one list of tasks for several responses.
        own = task._task if isinstance(task, ReportingTask) else task
        return ReportingTask(own, self._exchange, self._answers, self._status)


async def _returned(task: Any) -> object:
    """Run one task, and return what its function returns."""
    if type(task) is not BackgroundTask:
        return await task()
    if task.is_async:
        return await task.func(*task.args, **task.kwargs)
    return await run_in_threadpool(task.func, *task.args, **task.kwargs)


def report_failures(response: Response, exchange: Exchange, answers: Answers) -> None:
    """Let the Failures of the background tasks of a response be logged."""
    task = response.background
    if task is not None and not isinstance(task, ReportingTask):
        response.background = ReportingTask(task, exchange, answers, response.status_code)
