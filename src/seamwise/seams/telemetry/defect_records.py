"""OpenTelemetry log records of defects, with the reference that the client received."""

from typing import TYPE_CHECKING, Final

from seamwise.defects import report_defect
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.reporting.fingerprint import error_type, fingerprint

if TYPE_CHECKING:
    from opentelemetry._logs import Logger

EVENT_NAME: Final = 'seamwise.defect'


def record_defect(defect: Exception, logger: 'Logger', *, seam: str, operation: str) -> None:
    """Emit a log record with the report of a defect.

    The attributes follow the semantic conventions of OpenTelemetry for exceptions in logs.
    """
    # Imported late: the log API of OpenTelemetry is still private, and needed only with a logger.
    from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415

    report = report_defect(defect)
    link = report.chain[0]
    attributes = {
        'exception.type': error_type(defect),
        'exception.message': link.message,
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
            body=f'defect {report.ref}: {link.type}: {link.message}',
            attributes=attributes,
            event_name=EVENT_NAME,
        )
    )
