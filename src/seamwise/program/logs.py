"""The log of the command: the logger `seamwise`, on standard error, redacted and safe for a terminal."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from typing_extensions import override

from seamwise._text.escaping import escape_lines
from seamwise.seams.log import RedactingFilter


class _Printable(logging.Formatter):
    """Plain lines that move no cursor."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return '\n'.join(escape_lines(super().format(record)))


@contextmanager
def log_to_stderr() -> Generator[None, None, None]:
    """Write what `seamwise` logs to standard error, as long as the context lasts."""
    logger = logging.getLogger('seamwise')
    handler = logging.StreamHandler()
    handler.setFormatter(_Printable('%(asctime)s %(levelname)s %(message)s'))
    handler.addFilter(RedactingFilter())
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
