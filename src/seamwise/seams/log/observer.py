"""Observer that logs the events of guards."""

import logging

from seamwise.policies.events import (
    CircuitChanged,
    Completed,
    FellBack,
    GaveUp,
    GuardEvent,
    Observer,
    Recovered,
    Refused,
    Retrying,
    StoreAway,
    StoreBack,
)
from seamwise.seams.log.record import record


def observer(logger: logging.Logger) -> Observer:
    """Return an observer that logs retried failures and changes of circuits, at level INFO.

    The outage of the store of a guard, such as Redis, is a WARNING.

    The final result of an operation is not logged: its caller logs it, so that a failure is
    logged once and not in every layer.

    >>> from seamwise.catalog.network import NetworkTimedOut
    >>> import sys
    >>> logger = logging.Logger('docs', logging.INFO)
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> timeout = NetworkTimedOut('bank', 'pay', 1.0)
    >>> observer(logger)(Retrying('bank', timeout, attempt=1, attempts=3, delay=0.5))
    bank: attempt 1 of 3 failed, retrying in 0.5 s: bank did not finish pay within 1 s.
    """

    def observe(event: GuardEvent) -> None:
        match event:
            case Retrying():
                log_record = record(event.error, operation=event.name, outcome='retried')
                logger.log(
                    log_record.levelno,
                    '%s: attempt %d of %d failed, retrying in %g s: %s',
                    event.name,
                    event.attempt,
                    event.attempts,
                    event.delay,
                    log_record.message,
                    extra=log_record.extra(),
                )
            case CircuitChanged():
                logger.info(
                    '%s: the circuit changed from %s to %s (%d failures)',
                    event.name,
                    event.before,
                    event.after,
                    event.failures,
                )
            case StoreAway():
                logger.warning(
                    '%s: its store is not available, next attempt in %g s', event.name, event.delay
                )
            case StoreBack():
                logger.info(
                    '%s: its store is available again after %g s', event.name, event.elapsed
                )
            case Recovered() | GaveUp() | Refused() | FellBack() | Completed():
                pass

    return observe
