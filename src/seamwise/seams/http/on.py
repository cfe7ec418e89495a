"""Arms of the HTTP seam: `on(NotFound).responds(status, code)`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Generic, TypeVar, final, overload

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypeForm, override

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError, retry_after
from seamwise.seams.adapter import Adapter, ArmBuilder, Hidden
from seamwise.seams.http.shape import HttpError, ProblemLocation, header_value
from seamwise.seams.rendering.audience import (
    hides_details,
    may_have_been_done,
    message_without_details,
)
from seamwise.seams.rendering.errors import (
    all_field_names,
    fields_with_null,
    public_field_names,
    redacted,
)
from seamwise.seams.rendering.values import drop_none, milliseconds_or_none, safe_items, safe_text
from seamwise.seams.rendering.views import View, public_view
from seamwise.seams.reporting.request_context import current_locale, is_idempotent

K = TypeVar('K', bound=TaggedError)
F = TypeVar('F')

_ERROR_STATUSES = range(400, 600)
# Reading an enum member for each error would add a tenth to the time of a call.
_UNAUTHORIZED = HTTPStatus.UNAUTHORIZED.value


class HttpArm(Struct, Generic[K], frozen=True):
    """The declared answer for an error class: a status, a code, and functions for the rest."""

    status: int
    code: str
    details: Callable[[K], Mapping[str, object]] | tuple[str, ...] | None = None
    headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None
    problems: Callable[[K], Iterable[ProblemLocation]] | None = None
    docs: str | None = None

    def __call__(self, error: K) -> HttpError:
        """Return the answer for an error, in the language of the request."""
        kind = type(error)
        locale = current_locale()
        if hides_details(kind, self.status):
            view = View(message_without_details(error, locale), {})
        else:
            view = public_view(error, locale)
        has_delay = 'retry_after' not in kind.__traits__.internal
        delay_ms = milliseconds_or_none(retry_after(error)) if has_delay else None
        if self.details is not None or self.headers or self.problems:
            # Redact before the functions of the arm: they may cut or escape a text, and redaction
            # would no longer recognize a secret in it.
            error = redacted(error)
        needs_headers = delay_ms is not None or self.status == _UNAUTHORIZED
        headers = _standard_headers(self.status, delay_ms) if needs_headers else {}
        return HttpError(
            status=self.status,
            code=self.code,
            type=kind.__traits__.tag,
            message=view.message,
            details=_known(kind, view.fields)
            if self.details is None
            else self._own_details(error, self.details),
            retryable=error.retryable
            and (is_idempotent() or not may_have_been_done(error, self.status)),
            retry_after_ms=delay_ms,
            docs=self.docs,
            headers={**headers, **self._own_headers(error)} if self.headers else headers,
            problems=tuple(map(_safe_problem, self.problems(error))) if self.problems else (),
        )

    def detail_names(self, kind: type[K]) -> tuple[str, ...] | None:
        """Return the names of the fields in the details; None if a function returns the details.

        Documents use it to describe the answer.
        """
        if self.details is None:
            return () if hides_details(kind, self.status) else public_field_names(kind)
        return None if callable(self.details) else self.details

    def _own_details(
        self, error: K, details: Callable[[K], Mapping[str, object]] | tuple[str, ...]
    ) -> dict[str, object]:
        if callable(details):
            return drop_none(safe_items(details(error)))
        return _known(type(error), safe_items({name: getattr(error, name) for name in details}))

    def _own_headers(self, error: K) -> dict[str, str]:
        headers = self.headers(error) if callable(self.headers) else self.headers or {}
        return {_canonical_name(name): header_value(value) for name, value in headers.items()}


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
        return replace(answer, type=own.type, details={**answer.details, **own.details})

    @override
    def detail_names(self, kind: type[K]) -> tuple[str, ...] | None:
        """Return None: the details depend on the cause."""
        return None


def _known(kind: type[TaggedError], fields: dict[str, object]) -> dict[str, object]:
    """Return the fields that are not None, unless the default of a field is another value."""
    if None not in fields.values():
        return fields
    with_null = fields_with_null(kind)
    return {name: value for name, value in fields.items() if value is not None or name in with_null}


def _standard_headers(status: int, delay_ms: int | None) -> dict[str, str]:
    """Return the headers that RFC 9110 requires.

    They are a challenge with 401 (11.6.1), and a delay in whole seconds (10.2.3), rounded up.
    """
    headers = {'WWW-Authenticate': 'Bearer'} if status == _UNAUTHORIZED else {}
    if delay_ms is not None:
        headers['Retry-After'] = str(-(-delay_ms // 1000))
    return headers


def _check_status(kind: type, status: int) -> None:
    if status not in _ERROR_STATUSES:
        raise ValueError(
            f'{kind.__name__}: the status of an error is a whole number from 400 to 599, '
            f'not {status!r}.'
        )


def _canonical_name(name: str) -> str:
    return 'WWW-Authenticate' if name.lower() == 'www-authenticate' else name.title()


def _safe_problem(problem: ProblemLocation) -> ProblemLocation:
    return ProblemLocation(safe_text(problem.pointer), safe_text(problem.detail))


@final
class HttpArmBuilder(ArmBuilder[K, HttpError]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'http')
        self._kind = kind

    def responds(
        self,
        status: int,
        code: str,
        *,
        details: Callable[[K], Mapping[str, object]] | Collection[str] | None = None,
        headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None,
        problems: Callable[[K], Iterable[ProblemLocation]] | None = None,
        docs: str | None = None,
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

        Raises:
            ValueError: The status is not an error, or it is 405 without `headers`. Or a name in
                `details` is not that of a field, or the field is the cause or a secret.
        """
        _check_status(self._kind, status)
        if status == HTTPStatus.METHOD_NOT_ALLOWED and headers is None:
            raise ValueError(
                f'{self._kind.__name__}: a 405 must carry the header Allow (RFC 9110, 15.5.6). '
                'Pass it in `headers`.'
            )
        if details is not None and not callable(details):
            details = self._checked_names(details)
        return Adapter({self._kind: HttpArm(status, code, details, headers, problems, docs)})

    def responds_as_cause(
        self,
        causes: Adapter[F, HttpError],
        *,
        status: int,
        code: str,
        details: Collection[str] | None = None,
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

        Raises:
            ValueError: The class has no field `cause`, the status is not an error, or `details`
                has a name that `responds` refuses.
        """
        if 'cause' not in self._kind.__struct_fields__:
            raise ValueError(f'{self._kind.__name__} has no field `cause` to answer for.')
        _check_status(self._kind, status)
        names = None if details is None else self._checked_names(details)
        arm: CauseArm[K] = CauseArm(status, code, names, causes=causes)
        return Adapter({self._kind: arm})

    def _checked_names(self, names: Collection[str]) -> tuple[str, ...]:
        if isinstance(names, str):
            raise TypeError(
                f'{self._kind.__name__}: details must be a function or a collection of field '
                f'names, not {names!r}; write `details=({names!r},)`.'
            )
        allowed = all_field_names(self._kind)
        for name in names:
            if name not in allowed:
                choice = ', '.join(allowed) or 'no field'
                raise ValueError(
                    f'{self._kind.__name__}: details may contain {choice}, not {name!r}.'
                )
        return tuple(names)


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
