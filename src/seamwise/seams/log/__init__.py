"""Log seam: errors and defects as redacted records, for `logging` and structlog."""

from seamwise.seams.log.configuration import setup as setup
from seamwise.seams.log.observer import observer as observer
from seamwise.seams.log.outcomes import outcomes as outcomes
from seamwise.seams.log.processor import structlog_processor as structlog_processor
from seamwise.seams.log.record import record as record
from seamwise.seams.log.request_ids import RequestIdFilter as RequestIdFilter
from seamwise.seams.log.request_ids import add_request_id as add_request_id
from seamwise.seams.log.shape import LogRecord as LogRecord
from seamwise.seams.log.shape import encode as encode
from seamwise.seams.log.stdlib_logging import JsonFormatter as JsonFormatter
from seamwise.seams.log.stdlib_logging import RedactingFilter as RedactingFilter
from seamwise.seams.reporting.event_record import event_record as event_record
from seamwise.seams.reporting.failure_log import FailureLog as FailureLog
