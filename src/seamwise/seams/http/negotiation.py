"""Content negotiation (RFC 9110, 12.5): the body format, and the language of the messages."""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from re import IGNORECASE
from re import compile as pattern
from typing import Final, Self, final

from typing_extensions import override

from seamwise.seams.http.bodies import BodyFormat, Problem, envelope, problem
from seamwise.seams.http.shape import HttpError
from seamwise.seams.rendering.locales import best_locale

_ENVELOPE_RANGES = ('application/json', 'application/*', '*/*')
_PROBLEM_RANGES = ('application/problem+json', 'application/*', '*/*')
"""The media ranges that match a format, most specific first."""

_MEMBER = pattern(r'(?:[^,"]|"(?:[^"\\]|\\.)*+")++')
_WEIGHT = pattern(r';[ \t]*+q=([^; \t]*)', IGNORECASE)
_WEIGHT_VALUE = pattern(r'0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?')
_MAX_LENGTH = 4096
"""A longer `Accept` header is ignored."""


@final
class Negotiated(BodyFormat):
    """Format that follows the `Accept` header of a request: `negotiated`.

    It is `problem` if the header names it, or prefers it to JSON, and else `envelope`. Parameters
    other than `q` are ignored (JSON has none: RFC 8259, 11), and so are ranges with an invalid
    weight. If the client accepts neither format, it gets the envelope: a readable error is more
    useful than an empty 406 (RFC 9110, 15.5.7).

    >>> negotiated.for_accept('application/problem+json, */*;q=0.1') is problem
    True
    >>> negotiated.for_accept('text/html') is envelope
    True
    """

    __slots__ = ('_problem',)
    has_envelope = True

    def __init__(self, problem: Problem = problem) -> None:
        self._problem = problem

    def for_accept(self, accept: str | None, /) -> BodyFormat:
        """Return the format for an `Accept` header."""
        if accept is None or len(accept) > _MAX_LENGTH:
            return envelope
        return self._problem if _prefers_problem(accept) else envelope

    def with_base(self, base_uri: str, /) -> Self:
        """Return the same format with another base of problem types; see `Problem.with_base`."""
        return type(self)(self._problem.with_base(base_uri))

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error in the envelope, as for a client without an `Accept` header."""
        return envelope.error(error, request_id=request_id, now=now)


negotiated: Final = Negotiated()


@lru_cache(maxsize=64)
def _prefers_problem(accept: str) -> bool:
    weights = dict(_weighted_ranges(accept))
    problem_weight, envelope_weight = (
        next((weights[range_] for range_ in ranges if range_ in weights), 0)
        for ranges in (_PROBLEM_RANGES, _ENVELOPE_RANGES)
    )
    # A client that names the format knows it, so it gets it even at equal weight.
    is_named = 'application/problem+json' in weights
    return problem_weight > envelope_weight or (is_named and problem_weight == envelope_weight > 0)


def _weighted_ranges(accept: str) -> Iterator[tuple[str, float]]:
    for member in _MEMBER.findall(accept):
        weight = _WEIGHT.search(member)
        if weight is None or _WEIGHT_VALUE.fullmatch(weight[1]):
            yield member.partition(';')[0].strip().lower(), float(weight[1]) if weight else 1.0


_MAX_LANGUAGE_LENGTH = 1024
"""A longer `Accept-Language` header is ignored."""
_MAX_RANGES = 20


def locale_for(accept_language: str | None) -> str:
    """Return the locale whose messages a client understands best; `en` if there is none.

    >>> locale_for('zh-Hans-CN, en;q=0.8'), locale_for(None)
    ('zh_CN', 'en')
    """
    if accept_language is None or len(accept_language) > _MAX_LANGUAGE_LENGTH:
        return 'en'
    return best_locale(_ranges(accept_language))


@lru_cache(maxsize=256)
def _ranges(accept_language: str) -> tuple[str, ...]:
    """Return the language ranges of a header, those of the highest weight first."""
    weighted: list[tuple[float, str]] = []
    for item in accept_language.split(',')[:_MAX_RANGES]:
        range_, _, parameter = item.partition(';')
        name, _, weight = parameter.strip().partition('=')
        try:
            quality = float(weight) if name.strip().lower() == 'q' else 1.0
        except ValueError:
            continue
        if range_.strip() and 0 < quality <= 1:
            weighted.append((quality, range_.strip()))
    # The sort is stable: ranges of the same weight keep their order.
    return tuple(range_ for _, range_ in sorted(weighted, key=lambda pair: -pair[0]))
