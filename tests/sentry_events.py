"""Sentry with a transport in memory."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import sentry_sdk
from sentry_sdk.transport import Transport
from typing_extensions import override


class _MemoryTransport(Transport):
    """Transport that keeps the events instead of sending them."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    @override
    def capture_envelope(self, envelope: Any) -> None:
        self.events += [event for event in [envelope.get_event()] if event is not None]


@contextmanager
def sentry_events(**options: Any) -> Generator[list[Any]]:
    """Enable Sentry with these options of `sentry_sdk.init`, and yield the list of its events."""
    transport = _MemoryTransport()
    sentry_sdk.init(dsn='https://key@sentry.invalid/1', transport=transport, **options)
    try:
        yield transport.events
    finally:
        sentry_sdk.get_client().close()
        sentry_sdk.get_global_scope().set_client(None)
