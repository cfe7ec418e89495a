"""One OpenTelemetry log record a defect, under the reference that the client was shown."""

from typing import TYPE_CHECKING, Final

from seamwise.defects import report_defect
from seamwise.seams._common import safe_text
from seamwise.seams._fingerprint import fingerprint

if TYPE_CHECKING:
    from opentelemetry._logs import Logger

EVENT: Final = 'seamwise.defect'


def record_defect(defect: Exception, logger: 'Logger', *, seam: str, operation: str) -> None:
    """Write a defect to a logger, with what `report_defect` says of it (semantic conventions, exceptions in logs)."""
    # The log signal of OpenTelemetry's API is still private; who gives no logger does not need it.
    from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415

    report = report_defect(defect)
    told = report.chain[0]
    attributes = {
        'exception.type': f'{type(defect).__module__}.{type(defect).__qualname__}',
        'exception.message': told.message,
        'exception.stacktrace': report.pretty,
        'ref': report.ref,
        'seam': safe_text(seam),
        'operation': safe_text(operation),
        'fingerprint': fingerprint(defect, operation),
    }
    logger.emit(
        LogRecord(
            severity_number=SeverityNumber.ERROR,
            severity_text='ERROR',
            body=f'defect {report.ref}: {told.type}: {told.message}',
            attributes=attributes,
            event_name=EVENT,
        )
    )
