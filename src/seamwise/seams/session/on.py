"""Arms of the session seam: `on(NotFound).publishes(event, code)`."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.rendering.errors import direct_cause, redacted
from seamwise.seams.session.codes import check_code
from seamwise.seams.session.shape import ErrorEvent, ErrorName, error_event

K = TypeVar('K', bound=TaggedError)


class SessionArm(Struct, Generic[K], frozen=True):
    """Event, code and further metadata for one error class."""

    event: ErrorName
    code: str
    metadata: Mapping[str, Callable[[K], object]] = {}
    retryable_event: ErrorName | None = None

    def __call__(self, error: K) -> ErrorEvent:
        """Return the event of an error, in English and without the time."""
        event = self.retryable_event if self.retryable_event and error.retryable else self.event
        # Redact first: a credential that a function has cut or escaped is no longer recognizable.
        safe_error = redacted(error) if self.metadata else error
        return error_event(
            error,
            event,
            self.code,
            {name: value_of(safe_error) for name, value_of in self.metadata.items()},
        )


@final
class SessionArmBuilder(ArmBuilder[K, ErrorEvent]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ()

    def publishes(
        self,
        event: ErrorName,
        code: str,
        *,
        retryable_event: ErrorName | None = None,
        **metadata: Callable[[K], object],
    ) -> Adapter[K, ErrorEvent]:
        """Declare the event and the code of the error class.

        Args:
            event: Name of the event. `error.permanent` ends the operation; use `error.correctable`
                if a person can correct the request.
            code: Code of the form `ERR_WORD_123`.
            retryable_event: Name of the event for retryable errors. Default: `event`.
            **metadata: Functions that return further metadata of an error, or common metadata
                such as `attempt` and `context`. Values that are None are omitted.

        Raises:
            ValueError: The code has another form.
        """
        arm = SessionArm(event, check_code(code), metadata, retryable_event)
        return self._arm(arm)


@overload
def on(kind: type[K], /) -> SessionArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorEvent]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, ErrorEvent]:
    """Return a builder for the arm of an error class: `on(NotFound).publishes(event, code)`.

    Combine arms with `|`. The adapter returns events without time and translation; the function
    `event` adds them.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PrinterJammed(TaggedError, category=Category.CAPACITY, message='{name} is jammed.'):
    ...     name: str
    >>> adapter = on(PrinterJammed).publishes(
    ...     'error.transient', 'ERR_PRINTER_001', printer=lambda error: error.name
    ... )
    >>> event = adapter(PrinterJammed('lobby'))
    >>> event.metadata['recovery_strategy'], event.metadata['printer']
    ('exponential_backoff', 'lobby')
    """
    if isinstance(kind, type):
        return SessionArmBuilder((kind,), 'session')
    return ArmBuilder(error_classes(kind), 'session')


def cause_type(error: TaggedError, otherwise: str) -> str:
    """Return the tag or class name of the direct cause of an error, or a word if it has none."""
    cause = direct_cause(error)
    return otherwise if cause is None else cause.type
