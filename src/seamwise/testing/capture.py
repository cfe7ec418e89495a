"""Capture of the failures that reach a seam, and of reported defects."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from seamwise._defects.defects import on_defect
from seamwise._defects.entries import DefectReport
from seamwise._errors.errors import TaggedError
from seamwise.seams import adapter


@contextmanager
def captured_failures() -> Generator[Sequence[TaggedError]]:
    """Collect the errors that adapters translate inside a `with` block, in all threads.

    A plain function is included wherever the library calls it.

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

    Every defect is collected once, by the call of `report_defect` that logs it, also if the
    configuration of logging drops the record.
    """
    reports: list[DefectReport] = []
    remove = on_defect(lambda report, _: reports.append(report))
    try:
        yield reports
    finally:
        remove()
