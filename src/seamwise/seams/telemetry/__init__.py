"""Telemetry seam: OpenTelemetry metrics of errors and retries, and log records of defects."""

from seamwise.seams.reporting.fingerprint import fingerprint as fingerprint

try:
    from seamwise.seams.telemetry.metrics import Telemetry as Telemetry
except ModuleNotFoundError as missing:
    if not str(missing.name).startswith('opentelemetry'):
        raise
    raise ImportError(
        "seamwise.seams.telemetry needs OpenTelemetry: pip install 'seamwise[otel]'"
    ) from missing
