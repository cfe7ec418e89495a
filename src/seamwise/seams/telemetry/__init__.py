"""The telemetry seam: errors, retries and recoveries as OpenTelemetry counts them, and one log record a defect."""

from seamwise.seams._fingerprint import fingerprint as fingerprint

try:
    from seamwise.seams.telemetry.metrics import Telemetry as Telemetry
except ModuleNotFoundError as missing:
    if not str(missing.name).startswith('opentelemetry'):
        raise
    raise ImportError(
        "seamwise.seams.telemetry needs OpenTelemetry: pip install 'seamwise[otel]'"
    ) from missing
