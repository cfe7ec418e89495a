"""The session seam's verb: `on(Kind).publishes(event, code)`."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise.categories import Recovery
from seamwise.codec import error_classes
from seamwise.errors import TaggedError, retry_after
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import message_of, milliseconds_or_none, safe_items
from seamwise.seams._redacted import direct_cause, redacted
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.codes import checked
from seamwise.seams.session.shape import STRATEGIES, ErrorEvent, ErrorName, ordered

K = TypeVar('K', bound=TaggedError)


class SessionArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: its event and code, and what else its metadata say."""

    event: ErrorName
    code: str
    metadata: Mapping[str, Callable[[K], object]] = {}
    where_retryable: ErrorName | None = None

    def __call__(self, error: K) -> ErrorEvent:
        """Tell of an error of this kind, in English and without the time."""
        event = self.where_retryable if self.where_retryable and error.retryable else self.event
        recoverable = error.recovery is not Recovery.STOP and event != 'error.recovery_failed'
        common = {
            'error_code': self.code,
            'error_type': error.tag,
            'recoverable': recoverable,
            'recovery_strategy': STRATEGIES[error.recovery],
            'severity': 'error' if recoverable else 'critical',
            'retry_after_ms': milliseconds_or_none(retry_after(error)),
        }
        # Before the functions of the arm: they may cut or escape a text, and then a credential has lost its form.
        error = redacted(error)
        own = safe_items({name: tell(error) for name, tell in self.metadata.items()})
        english = message_of(error)
        return ErrorEvent(
            event=event, content=english, metadata=ordered({**common, **own}), show_content=english
        )


@final
class SessionArmBuilder(ArmBuilder[K, ErrorEvent]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'session')
        self._kind = kind

    def publishes(
        self,
        event: ErrorName,
        code: str,
        *,
        where_retryable: ErrorName | None = None,
        **metadata: Callable[[K], object],
    ) -> Adapter[K, ErrorEvent]:
        """Say the event, the code (`ERR_…_NNN`, else a ValueError) and, each by a function of the error, further metadata.

        Metadata that all events have (`attempt`, `context`, …) may be said too; what is None is left out. Where the
        errors of a kind differ, `where_retryable` is the event of those that are worth another try.
        """
        return Adapter({self._kind: SessionArm(event, checked(code), metadata, where_retryable)})


@overload
def on(kind: type[K], /) -> SessionArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorEvent]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorEvent]:
    """Name a kind of error; `.publishes(event, code)` says what a session is sent, `|` adds more kinds.

    The adapter knows the error only: `event` adds the time, the language and the circumstances.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PrinterJammed(TaggedError, category=Category.CAPACITY, message='{printer} is jammed.'):
    ...     printer: str
    >>> adapter = on(PrinterJammed).publishes('error.transient', 'ERR_PRINTER_001', printer=lambda error: error.printer)
    >>> told = adapter(PrinterJammed('lobby'))
    >>> told.metadata['recovery_strategy'], told.metadata['printer']
    ('exponential_backoff', 'lobby')
    """
    if isinstance(kind, type):
        return SessionArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'session')


def cause_type(error: TaggedError) -> str | None:
    """Name what caused an error, by its tag or the name of its class, where that is known."""
    cause = direct_cause(error)
    return None if cause is None else cause.type
