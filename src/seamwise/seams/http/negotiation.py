"""Which form of a body a client asks for (RFC 9110, 12.5.1)."""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from re import IGNORECASE
from re import compile as pattern

from seamwise.seams.http.bodies import Body, envelope, problem

_ENVELOPE = ('application/json', 'application/*', '*/*')
_PROBLEM = ('application/problem+json', 'application/*', '*/*')
_MEMBER = pattern(r'(?:[^,"]|"(?:[^"\\]|\\.)*+")++')
_WEIGHT = pattern(r';[ \t]*+q=([^; \t]*)', IGNORECASE)
_NUMBER = pattern(r'0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?')
_LONGEST = 4096


def chosen(accept: str | None) -> Body:
    """Give the form that an `Accept` asks for: `problem` where it is wanted by name or rather than JSON, else `envelope`.

    Parameters but `q` are left aside (JSON has none: RFC 8259, 11), ranges with a weight that is none are too. Where
    nothing that is asked for can be given, the envelope is: an error that can be read beats a bare 406 (RFC 9110, 15.5.7).

    >>> chosen('application/problem+json, */*;q=0.1') is problem, chosen('text/html') is envelope
    (True, True)
    """
    if accept is None or len(accept) > _LONGEST:
        return envelope
    return problem if _wants_problem(accept) else envelope


def negotiated(
    x: object, /, *, request_id: str | None, now: datetime | None = None, accept: str | None = None
) -> bytes:
    """Write a value or an `HttpError` in the form that `accept` asks for."""
    return chosen(accept)(x, request_id=request_id, now=now)


@lru_cache(maxsize=64)
def _wants_problem(accept: str) -> bool:
    weights = dict(_ranges(accept))
    for_problem, for_envelope = (
        next((weights[one] for one in ranges if one in weights), 0)
        for ranges in (_PROBLEM, _ENVELOPE)
    )
    # Who names it is given it: whoever does not know it would not.
    is_named = 'application/problem+json' in weights
    return for_problem > for_envelope or (is_named and for_problem == for_envelope > 0)


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for member in _MEMBER.findall(accept):
        weight = _WEIGHT.search(member)
        if weight is None or _NUMBER.fullmatch(weight[1]):
            yield member.partition(';')[0].strip().lower(), float(weight[1]) if weight else 1.0
