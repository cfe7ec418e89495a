"""Request id in log records, for `logging` and structlog."""

import logging
from collections.abc import MutableMapping
from typing import TypeVar

from typing_extensions import override

from seamwise.seams.reporting.request_context import current_request_id

D = TypeVar('D', bound=MutableMapping[str, object])


class RequestIdFilter(logging.Filter):
    """Filter that adds `request_id`, the id of the request that is being served, to each record.

    Add it to a handler. A record that has a request id already keeps it.

    >>> log_record = logging.makeLogRecord({'msg': 'started'})
    >>> RequestIdFilter(default='no request').filter(log_record)
    True
    >>> logging.Formatter('[%(request_id)s] %(message)s').format(log_record)
    '[no request] started'

    Args:
        default: The attribute outside a request. `JsonFormatter` omits None.
    """

    def __init__(self, *, default: str | None = None) -> None:
        super().__init__()
        self._default = default

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Add the attribute and return True."""
        if getattr(record, 'request_id', None) is None:
            id_ = current_request_id()
            record.__dict__['request_id'] = self._default if id_ is None else id_
        return True


def add_request_id(
    logger: object,  # noqa: ARG001 -- structlog passes it
    method_name: str,  # noqa: ARG001 -- structlog passes it
    event_dict: D,
) -> D:
    """Add the id of the request that is being served to an event of structlog.

    Outside a request, or if the event has a `request_id`, the event is unchanged.

    >>> add_request_id(None, 'info', {'event': 'started'})
    {'event': 'started'}
    """
    id_ = current_request_id()
    if id_ is not None:
        event_dict.setdefault('request_id', id_)
    return event_dict
