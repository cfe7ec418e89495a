"""The HTTP seam's verb: `on(Kind).responds(status, code)`."""

from collections.abc import Callable, Iterable, Mapping
from re import compile as pattern
from typing import Generic, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise.codec import error_classes
from seamwise.errors import TaggedError, retry_after
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import milliseconds_or_none, safe_items, safe_text
from seamwise.seams._public_view import public_view
from seamwise.seams._redacted import redacted
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.shape import HttpError, ProblemLocation

K = TypeVar('K', bound=TaggedError)

_LOWEST, _HIGHEST = 400, 599
_UNAUTHORIZED, _METHOD_NOT_ALLOWED = 401, 405
_NOT_IN_A_HEADER = pattern(r'[^\x20-\x7e]')


class HttpArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: status and code, and how the rest is made of an error."""

    status: int
    code: str
    details: Callable[[K], Mapping[str, object]] | None = None
    headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None
    problems: Callable[[K], Iterable[ProblemLocation]] | None = None
    docs: str | None = None

    def __call__(self, error: K) -> HttpError:
        """Answer an error of this kind."""
        message, fields = public_view(error)
        delay_ms = milliseconds_or_none(retry_after(error)) if 'retry_after' in fields else None
        if self.details or self.headers or self.problems:
            # Before the functions of the arm: they may cut or escape a text, and then a credential has lost its form.
            error = redacted(error)
        headers = (
            {}
            if delay_ms is None and self.status != _UNAUTHORIZED
            else _standard(self.status, delay_ms)
        )
        return HttpError(
            status=self.status,
            code=self.code,
            type=type(error).__traits__.tag,
            message=message,
            details=safe_items(self.details(error)) if self.details else fields,
            retryable=error.retryable,
            retry_after_ms=delay_ms,
            docs=self.docs,
            headers={**headers, **self._own_headers(error)} if self.headers else headers,
            problems=tuple(_safe_place(one) for one in self.problems(error))
            if self.problems
            else (),
        )

    def _own_headers(self, error: K) -> dict[str, str]:
        given = self.headers(error) if callable(self.headers) else self.headers or {}
        return {_canonical(name): _header_value(value) for name, value in given.items()}


def _standard(status: int, delay_ms: int | None) -> dict[str, str]:
    """Give what RFC 9110 asks for: a challenge with 401 (11.6.1), and the delay in whole seconds (10.2.3), rounded up."""
    made = {'WWW-Authenticate': 'Bearer'} if status == _UNAUTHORIZED else {}
    if delay_ms is not None:
        made['Retry-After'] = str(-(-delay_ms // 1000))
    return made


def _canonical(name: str) -> str:
    return 'WWW-Authenticate' if name.lower() == 'www-authenticate' else name.title()


def _header_value(value: str) -> str:
    # What an error holds may come from anywhere: a line break would begin a header of somebody else's.
    return _NOT_IN_A_HEADER.sub('?', safe_text(value))


def _safe_place(place: ProblemLocation) -> ProblemLocation:
    return ProblemLocation(safe_text(place.pointer), safe_text(place.detail))


@final
class HttpArmBuilder(ArmBuilder[K, HttpError]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'http')
        self._kind = kind

    def responds(
        self,
        status: int,
        code: str,
        *,
        details: Callable[[K], Mapping[str, object]] | None = None,
        headers: Callable[[K], Mapping[str, str]] | Mapping[str, str] | None = None,
        problems: Callable[[K], Iterable[ProblemLocation]] | None = None,
        docs: str | None = None,
    ) -> Adapter[K, HttpError]:
        """Say the status (400 to 599, else a ValueError) and the code.

        `details` default to all fields but the cause and the secrets. `headers` are added to `Retry-After` (where the
        error has a `retry_after`) and, with 401, to `WWW-Authenticate: Bearer`; 405 is a ValueError without them, since it
        must carry `Allow`. `problems` are the places of a request that are wrong, `docs` the address of a page on the code.
        """
        if not _LOWEST <= status <= _HIGHEST:
            raise ValueError(
                f'{self._kind.__name__}: an error answers with a status of 400 to 599, not {status}.'
            )
        if status == _METHOD_NOT_ALLOWED and headers is None:
            raise ValueError(
                f'{self._kind.__name__}: 405 carries the header Allow (RFC 9110, 15.5.6); give it by `headers`.'
            )
        return Adapter({self._kind: HttpArm(status, code, details, headers, problems, docs)})


@overload
def on(kind: type[K], /) -> HttpArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, HttpError]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, HttpError]:
    """Name a kind of error; `.responds(status, code)` says its answer, `|` adds more kinds.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers each of its members.

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
