"""Where the log of a program is written, for the text of a defect."""

import logging
import os
import sys
from collections.abc import Iterator

from seamwise._text.escaping import escape
from seamwise._text.phrases import join_limited
from seamwise.seams.rendering.values import safe_text


def log_location(logger: logging.Logger) -> str | None:
    """Return where the errors of a logger are written, as part of a sentence; None if nowhere.

    >>> import sys
    >>> logger = logging.Logger('docs')
    >>> logger.addHandler(logging.StreamHandler(sys.__stderr__))
    >>> log_location(logger)
    'on standard error'
    """
    if not logger.isEnabledFor(logging.ERROR):
        return None
    handlers = list(_handlers(logger))
    if not handlers and logging.lastResort is not None:
        # Without any handler, `logging` writes to standard error.
        handlers = [logging.lastResort]
    places = [_place(handler) for handler in handlers if handler.level <= logging.ERROR]
    return join_limited(list(dict.fromkeys(filter(None, places)))) or None


def _handlers(logger: logging.Logger) -> Iterator[logging.Handler]:
    node: logging.Logger | None = logger
    while node is not None:
        yield from node.handlers
        node = node.parent if node.propagate else None


def _place(handler: logging.Handler) -> str | None:
    """Return where a handler writes, or None if it discards the records."""
    if isinstance(handler, logging.NullHandler):
        return None
    if isinstance(handler, logging.FileHandler):
        path = handler.baseFilename
        return None if path == os.devnull else f'in {escape(safe_text(path))}'
    stream: object = getattr(handler, 'stream', None)
    if stream is not None and (stream is sys.stderr or stream is sys.__stderr__):
        return 'on standard error'
    if stream is not None and (stream is sys.stdout or stream is sys.__stdout__):
        return 'on standard output'
    return f'of {type(handler).__name__}'
