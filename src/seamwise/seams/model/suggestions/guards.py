"""What a model can do next where a guard refused a call."""

from typing import assert_never

from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.seams.model.suggestions._words import again, rounded_up


def rate_limited(error: RateLimited) -> str:
    """Tell how long to wait; earlier calls are in vain."""
    return f'{again(error)}: every earlier call is refused too. Meanwhile do what needs no {error.name}.'


def circuit_open(error: CircuitOpen) -> str:
    """Tell to take another way; this one is closed for so long."""
    wait = rounded_up(error.retry_after)
    match error.state:
        case 'open':
            return f'Take another way to the same end: {error.name} is not asked for the next {wait} s.'
        case 'half_open':
            return f'Take another way to the same end, or try again in {wait} s: {error.name} is just being tried out.'
        case _:
            assert_never(error.state)


def bulkhead_full(error: BulkheadFull) -> str:
    """Tell that one call has to end first."""
    return f'Make fewer calls at once: one of the {error.limit} at work has to end first. {again(error)}.'


def deadline_exceeded(error: DeadlineExceeded) -> str:
    """Tell the two ways to be in time."""
    return f'{again(error)}, asking for less at once or allowing more than {error.timeout:g} s.'
