"""Helpers for the tests of the source documents."""

import logging

from typing_extensions import override


class Records(logging.Handler):
    """A handler that keeps its records, and a logger with this handler only."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.logger = logging.Logger('tests', logging.DEBUG)  # noqa: LOG001 -- not in the hierarchy
        self.logger.addHandler(self)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
