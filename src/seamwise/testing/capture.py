"""Capture of the failures that reach a seam, and of reported defects."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from logging import Handler, LogRecord, getLogger
from typing import TypeAlias

from typing_extensions import override

from seamwise import defects
from seamwise.defects import DefectReport
from seamwise.errors import TaggedError
from seamwise.seams import adapter


@contextmanager
def captured_failures() -> Generator[Sequence[TaggedError]]:
    """Collect the errors that adapters translate inside a `with` block, in all threads.

    An error that an arm passes on to another adapter, such as its cause, is not collected again.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.http.tables import STORAGE
    >>> with captured_failures() as failures:
    ...     response = STORAGE(RecordNotFound('users', '8'))
    >>> failures == [RecordNotFound('users', '8')]
    True
    """
    errors: list[TaggedError] = []

    def collect(error: object) -> None:
        if isinstance(error, TaggedError):
            errors.append(error)

    with adapter.observed(collect):
        yield errors


@contextmanager
def captured_defects() -> Generator[Sequence[DefectReport]]:
    """Collect the reports of defects inside a `with` block, in all threads.

    Every defect is collected once, by the call of `report_defect` that logs it.
    """
    reports: list[DefectReport] = []
    remove = (_on_defect or _on_logged_defect)(lambda report, _defect: reports.append(report))
    try:
        yield reports
    finally:
        remove()


Callback: TypeAlias = Callable[[DefectReport, BaseException | None], object]

# Calls a function with each report, and returns a function that ends it. Without it, reports are
# read from the logger, which does not see those that the configuration of logging drops.
_on_defect: Callable[[Callback], Callable[[], object]] | None = getattr(defects, 'on_defect', None)


def _on_logged_defect(callback: Callback) -> Callable[[], object]:
    handler = _DefectHandler(callback)
    logger = getLogger('seamwise')
    logger.addHandler(handler)
    return partial(logger.removeHandler, handler)


class _DefectHandler(Handler):
    def __init__(self, callback: Callback) -> None:
        super().__init__()
        self._callback = callback

    @override
    def emit(self, record: LogRecord) -> None:
        ref: object = getattr(record, 'ref', None)
        if isinstance(ref, str):
            pretty = record.getMessage().partition(f'{ref}: ')[2]
            self._callback(DefectReport(ref, pretty, ()), None)
