"""What guards tell, in a log: a failure that is not the end of its operation is worth a line, and no alarm."""

import logging

from seamwise.policies.events import (
    CircuitChanged,
    FellBack,
    GaveUp,
    GuardEvent,
    Observer,
    Recovered,
    Refused,
    Retrying,
)
from seamwise.seams.log.record import record


def observer(logger: logging.Logger) -> Observer:
    """Give an observer for guards that logs each failure before another attempt, and each change of a circuit, at level INFO.

    How an operation ends is for whoever asked for it to log: a failure is not logged once a layer.

    >>> from seamwise.catalog.network import NetworkTimedOut
    >>> import sys
    >>> logger = logging.Logger('docs', logging.INFO)
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> observer(logger)(Retrying('bank', NetworkTimedOut('bank', 'pay', 1.0), attempt=1, attempts=3, delay=0.5))
    bank: attempt 1 of 3 failed, the next one follows in 0.5 s: bank did not finish pay within 1 s.
    """

    def observe(event: GuardEvent) -> None:
        match event:
            case Retrying():
                made = record(event.error, operation=event.name, outcome='retried')
                logger.log(
                    made.levelno,
                    '%s: attempt %d of %d failed, the next one follows in %g s: %s',
                    event.name,
                    event.attempt,
                    event.attempts,
                    event.delay,
                    made.message,
                    extra=made.extra(),
                )
            case CircuitChanged():
                logger.info(
                    '%s: the circuit went from %s to %s (%d failures)',
                    event.name,
                    event.before,
                    event.after,
                    event.failures,
                )
            case Recovered() | GaveUp() | Refused() | FellBack():
                pass

    return observe
