"""Arms of the HTTP seam: `on(NotFound).responds(status, code)`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Generic, TypeVar, final, overload

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypeForm, override

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter, ArmBuilder, Hidden
from seamwise.seams.http.shape import (
    HttpError,
    ProblemLocation,
    check_allow_header,
    check_code,
    check_status,
    checked_names,
    http_error,
)
from seamwise.seams.rendering.audience import hides_details
from seamwise.seams.rendering.errors import public_field_names, redacted
from seamwise.seams.wire.legacy_shapes import Legacy

K = TypeVar('K', bound=TaggedError)
F = TypeVar('F')


class HttpArm(Struct, Generic[K], frozen=True):
    """The declared answer for an error class: a status, a code, and functions for the rest."""

    status: int
    code: str
    details: Callable[[K], Mapping[str, object]] | tuple[str, ...] | None = None
    headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None
    problems: Callable[[K], Iterable[ProblemLocation]] | None = None
    docs: str | None = None
    legacy: Legacy | None = None

    def __call__(self, error: K) -> HttpError:
        """Return the answer for an error, in the language of the request."""
        if self.details is not None or self.headers or self.problems:
            # Redact before the functions of the arm: they may cut or escape a text, and redaction
            # would no longer recognize a secret in it.
            safe_error = redacted(error)
        else:
            safe_error = error
        headers = self.headers(safe_error) if callable(self.headers) else self.headers
        return http_error(
            error,
            self.status,
            self.code,
            details=self.details(safe_error) if callable(self.details) else self.details,
            headers=headers or {},
            problems=self.problems(safe_error) if self.problems else (),
            docs=self.docs,
            legacy=self.legacy,
        )

    def detail_names(self, kind: type[K]) -> tuple[str, ...] | None:
        """Return the names of the fields in the details; None if a function returns the details.

        Documents use it to describe the answer.
        """
        if self.details is None:
            return () if hides_details(kind, self.status) else public_field_names(kind)
        return None if callable(self.details) else self.details


class CauseArm(HttpArm[K], Generic[K], frozen=True, kw_only=True):
    """The declared answer for an error class that stands for its cause.

    The status and the code are those of the fallback, for a cause that `causes` does not cover.
    """

    causes: Adapter[Any, HttpError]

    @override
    def __call__(self, error: K) -> HttpError:
        """Return the answer for the cause, with the tag and the fields of the error itself."""
        cause: object = getattr(error, 'cause', None)
        arm = self.causes.arms.get(type(cause))
        if arm is None or isinstance(arm, Hidden):
            return super().__call__(error)
        answer = self.causes(cause)
        # The status of the cause decides whether the fields are shown.
        own = super(CauseArm, replace(self, status=answer.status)).__call__(error)
        # A client reads the cause from its type and its details alone; see `decode`.
        shown: dict[str, object] = {'type': answer.type}
        if answer.details:
            shown['details'] = answer.details
        details = {**answer.details, **own.details, 'cause': shown}
        return replace(answer, type=own.type, details=details, legacy=self.legacy)

    @override
    def detail_names(self, kind: type[K]) -> tuple[str, ...] | None:
        """Return None: the details depend on the cause."""
        return None


@final
class HttpArmBuilder(ArmBuilder[K, HttpError]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'http')
        self._kind = kind

    def responds(  # noqa: PLR0913 -- the parts of an answer, all but two by keyword
        self,
        status: int,
        code: str,
        *,
        details: Callable[[K], Mapping[str, object]] | Collection[str] | None = None,
        headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None,
        problems: Callable[[K], Iterable[ProblemLocation]] | None = None,
        docs: str | None = None,
        legacy: Legacy | None = None,
    ) -> Adapter[K, HttpError]:
        """Return an adapter that answers the error with a status and a code.

        Args:
            status: HTTP status, 400 to 599.
            code: Error code in the body, in upper snake case.
            details: Names of the fields in the `details` of the body, or a function that returns
                the details. By default they are all fields except the cause, the secrets and the
                internal ones; none with a status from 500 and for errors of stores, the network,
                peers and guards.
            headers: Headers, or a function that returns them. They are added to `Retry-After` (if
                the error has a `retry_after`) and, with 401, to `WWW-Authenticate: Bearer`.
            problems: Function that returns the invalid parts of the request.
            docs: URL of a page about the code.
            legacy: The older shape that clients still read, in the formats `named` and `tagged`.

        Raises:
            ValueError: The status is not an error, or it is 405 without `headers`. Or the code is
                not in upper snake case, or a name in `details` or `legacy` is not that of a field,
                or the field is the cause or a secret.
        """
        check_status(self._kind, status)
        check_code(self._kind, code)
        if headers is None:
            check_allow_header(self._kind, status)
        if details is not None and not callable(details):
            details = checked_names(self._kind, details)
        older = legacy and legacy.of(self._kind, has_own_details=callable(details))
        return Adapter({self._kind: HttpArm(status, code, details, headers, problems, docs, older)})

    def responds_as_cause(
        self,
        causes: Callable[[F], HttpError],
        *,
        status: int,
        code: str,
        details: Collection[str] | None = None,
        legacy: Legacy | None = None,
    ) -> Adapter[K, HttpError]:
        """Return an adapter that answers the error as its cause is answered.

        Status, code, message, delay and headers are those of the cause. The details are those of
        the cause and those of the error itself.

        Args:
            causes: The answers for the causes. They are used when the error is first answered.
            status: HTTP status for any other cause, 400 to 599.
            code: Code for any other cause.
            details: Names of the fields of the error itself in the `details` of the body. By
                default they are its public fields; none with a status from 500.
            legacy: The older shape that clients still read, in the formats `named` and `tagged`.
                Its keys show fields of the error itself.

        Raises:
            ValueError: The class has no field `cause`, the status is not an error, the code is not
                in upper snake case, or `details` or `legacy` has a name that `responds` refuses.
            TypeError: `causes` is a function without an annotation.
        """
        if 'cause' not in self._kind.__struct_fields__:
            raise ValueError(f'{self._kind.__name__} has no field `cause` to answer for.')
        check_status(self._kind, status)
        check_code(self._kind, code)
        names = None if details is None else checked_names(self._kind, details)
        older = legacy and legacy.of(self._kind)
        arm: CauseArm[K] = CauseArm(status, code, names, legacy=older, causes=Adapter.of(causes))
        return Adapter({self._kind: arm})


@overload
def on(kind: type[K], /) -> HttpArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, HttpError]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, HttpError]:
    """Return a builder for an error class; `.responds(status, code)` returns its adapter.

    `|` joins adapters. A union is accepted for `.hidden()` only: `on(A | B).hidden()`
    covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PrinterBusy(TaggedError, category=Category.CAPACITY, message='{printer} is busy.'):
    ...     printer: str
    ...     retry_after: float
    >>> answer = on(PrinterBusy).responds(503, 'PRINTER_BUSY')(PrinterBusy('lobby', 1.5))
    >>> answer.status, answer.retry_after_ms, answer.headers
    (503, 1500, {'Retry-After': '2'})
    """
    if isinstance(kind, type):
        return HttpArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'http')
