"""Everything that a program emits, by the way that it takes: Sentry and OpenTelemetry in memory."""

import logging
from contextlib import ExitStack
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.types import ASGIApp, Receive, Scope, Send

from seamwise.seams.telemetry import Telemetry
from tests.sentry_events import sentry_events


class Emitted:
    """The texts of each way out of a program. Standard error is that of the process."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._reader = InMemoryMetricReader()
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        exporter: Any = InMemoryLogRecordExporter  # its constructor has no types
        self._records = exporter()
        loggers = LoggerProvider(shutdown_on_exit=False)
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._records))
        self._spans = InMemorySpanExporter()
        self._tracers = TracerProvider(shutdown_on_exit=False)
        self._tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.telemetry = Telemetry(meters.get_meter('test'), loggers.get_logger('test'))
        self._open = ExitStack()
        self._events: list[Any] = []

    def add(self, channel: str, text: str) -> None:
        """Add a text."""
        self._texts.setdefault(channel, []).append(text)

    def watch_sentry(self, **options: Any) -> None:
        """Send the events of Sentry to memory, from now on."""
        self._events = self._open.enter_context(sentry_events(**options))

    def traced(self, app: ASGIApp) -> ASGIApp:
        """Return an application with a span around each request."""
        tracer = self._tracers.get_tracer('test')

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            # The middleware is outside of the seam, so that it sees the exception itself.
            with tracer.start_as_current_span(
                'request', record_exception=False, set_status_on_exception=False
            ):
                await app(scope, receive, send)

        return traced

    def texts(self) -> dict[str, list[str]]:
        """Return all texts by channel."""
        self._open.close()
        logging.shutdown()
        data = self._reader.get_metrics_data()
        records = self._records.get_finished_logs()
        return {
            **self._texts,
            # Records of the program's own loggers are sent as they are.
            'sentry': [
                repr(event)
                for event in self._events
                if event.get('logger') not in {'shop', 'agent.own'}
            ],
            'metrics': [] if data is None else [data.to_json()],
            'otel_logs': [record.to_json() for record in records],
            'spans': [span.to_json() for span in self._spans.get_finished_spans()],
        }
