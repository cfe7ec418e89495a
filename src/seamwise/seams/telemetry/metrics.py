"""Telemetry: what went wrong, how often, where, and what became of it, on the instruments of a meter."""

from contextlib import AbstractContextManager
from secrets import token_hex
from typing import TYPE_CHECKING, Final, assert_never

from opentelemetry.metrics import Meter

from seamwise.categories import Category, Recovery
from seamwise.errors import TaggedError
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
from seamwise.seams._fingerprint import fingerprint
from seamwise.seams.telemetry.defect_records import record_defect
from seamwise.seams.telemetry.label_limit import NAMES_LIMIT, OTHER, PATHS_LIMIT, LabelLimit, Types
from seamwise.seams.telemetry.operations import current
from seamwise.seams.telemetry.operations import operation as begun

if TYPE_CHECKING:
    # Still private in OpenTelemetry, and nobody needs it who gives no logger.
    from opentelemetry._logs import Logger

DEFECT: Final = 'defect'
"""What stands where an error has its category: a defect has none."""


class Telemetry:
    """Counts errors on the instruments of an OpenTelemetry meter, and writes each defect to a logger, if one is given.

    | instrument | counts | by |
    | --- | --- | --- |
    | `seamwise.errors` | errors, each where its operation ends | `error.type`, `category`, `seam` |
    | `seamwise.error.paths` | the same | `operation`, `fingerprint` |
    | `seamwise.retry.attempts` | attempts after the first | `name`, `error.type` |
    | `seamwise.retry.outcomes` | operations that were tried again, or might have been | `name`, `outcome`, `error.type` of a failure |
    | `seamwise.recovery.duration` | seconds from the first attempt to success | `name` |
    | `seamwise.session.unrecoverable` | errors whose Recovery is STOP, and defects | `error.type`, `seam` |
    | `seamwise.session.count` | sessions that began | |

    The tag is the `error.type`. No attribute has more than a few values: what is too many is `_OTHER`.

    >>> from opentelemetry.metrics import NoOpMeter
    >>> from seamwise.catalog.tools import FileNotFound
    >>> Telemetry(NoOpMeter('docs')).count(FileNotFound('read_file', 'a.txt'), seam='http', operation='POST /run')
    """

    def __init__(self, meter: Meter, logger: 'Logger | None' = None) -> None:
        self._logger = logger
        self._key = f'__seamwise_counted_{token_hex(4)}__'
        self._types = Types()
        self._paths = LabelLimit(PATHS_LIMIT, (OTHER, OTHER))
        self._names = LabelLimit(NAMES_LIMIT, OTHER)
        self._errors = meter.create_counter(
            'seamwise.errors', '{error}', 'Errors, each where its operation ends.'
        )
        self._error_paths = meter.create_counter(
            'seamwise.error.paths', '{error}', 'Errors by operation and fingerprint.'
        )
        self._attempts = meter.create_counter(
            'seamwise.retry.attempts', '{attempt}', 'Attempts after the first.'
        )
        self._outcomes = meter.create_counter(
            'seamwise.retry.outcomes', '{operation}', 'How operations under a retry ended.'
        )
        self._recovery = meter.create_histogram(
            'seamwise.recovery.duration', 's', 'From the first attempt to the success.'
        )
        self._unrecoverable = meter.create_counter(
            'seamwise.session.unrecoverable', '{error}', 'Errors that nothing helps against.'
        )
        self._sessions = meter.create_counter(
            'seamwise.session.count', '{session}', 'Sessions that began.'
        )

    def count(self, error: TaggedError | BaseException, *, seam: str, operation: str) -> None:
        """Count an error where its operation ends: the name of the seam is that of a layer, as in `http`; neither may hold an id.

        A second seam that counts the same error, or one that it caused, counts nothing. A defect is an exception: it is reported,
        and once written to the logger. Cancellation is neither.
        """
        if isinstance(error, BaseException) and not isinstance(error, Exception):
            return
        if not self._is_new(error, seam):
            return
        if isinstance(error, Exception) and self._logger is not None:
            record_defect(error, self._logger, seam=seam, operation=operation)
        kind = {'error.type': self._types.word(error), 'seam': self._names.word(seam)}
        self._errors.add(
            1,
            {
                **kind,
                'category': error.category.value if isinstance(error, TaggedError) else DEFECT,
            },
        )
        path, print_ = self._paths.word((operation, fingerprint(error, operation)))
        self._error_paths.add(1, {'operation': path, 'fingerprint': print_})
        if _is_unrecoverable(error):
            self._unrecoverable.add(1, kind)

    def operation(self) -> AbstractContextManager[None]:
        """Begin an operation. Layers in its tasks, and in threads that run in its context, count an error of it once."""
        return begun()

    def session(self) -> None:
        """Count a session that begins."""
        self._sessions.add(1)

    def observer(self) -> Observer:
        """Give the observer that counts what guards tell."""
        return self._observe

    def _observe(self, event: GuardEvent) -> None:
        name = {'name': self._names.word(event.name)}
        match event:
            case Retrying(error=error):
                self._attempts.add(1, {**name, 'error.type': self._types.word(error)})
            case Recovered(elapsed=elapsed):
                self._outcomes.add(1, {**name, 'outcome': 'recovered'})
                self._recovery.record(elapsed, name)
            case GaveUp(error=error, attempts=attempts):
                outcome = 'gave_up' if attempts > 1 else 'not_retried'
                self._outcomes.add(
                    1, {**name, 'outcome': outcome, 'error.type': self._types.word(error)}
                )
            case Refused() | CircuitChanged() | FellBack():
                # What a guard refuses is counted where the operation ends, what was made good is no error of it.
                pass
            case _:
                assert_never(event)

    def _is_new(self, error: TaggedError | BaseException, seam: str) -> bool:
        if isinstance(error, TaggedError):
            return current().ends_with(error, seam=seam, by=self)
        # No two defects share an exception, so here the object does tell, across tasks and threads.
        mark = object()
        return error.__dict__.setdefault(self._key, mark) is mark


def _is_unrecoverable(error: TaggedError | BaseException) -> bool:
    if not isinstance(error, TaggedError):
        return True
    return error.recovery is Recovery.STOP and error.category is not Category.CANCELLED
