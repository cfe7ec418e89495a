"""How the refusal of a guard looks at a terminal."""

from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, GuardError, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _more_time(error: DeadlineExceeded) -> str:
    return f'ask for less at once, or allow more than {error.timeout:g} s.'


GUARDS: Adapter[GuardError, Rendered] = (
    on(RateLimited).exits(75)
    | on(CircuitOpen).exits(75, hint='until then, do without it.')
    | on(BulkheadFull).exits(75, hint=hints.later)
    | on(DeadlineExceeded).exits(124, hint=_more_time)
)
