"""What a pipeline says of itself: its layers from outside in, their limits, and which order cannot mean what it says.

A pair of layers, one outside of the other, may contradict itself. `PAIRS` is the table of them; `docs/guards.md` shows it.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Generic, TypeVar

from msgspec import Struct

from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.bulkhead import Bulkhead
from seamwise.policies.chaos import Chaos
from seamwise.policies.circuit import Circuit
from seamwise.policies.deadline import Deadline
from seamwise.policies.hedge import Hedge
from seamwise.policies.rate_limit import RateLimit
from seamwise.policies.retry import Retry

O = TypeVar('O', bound=Layer[Any])  # noqa: E741 -- the outer one
I = TypeVar('I', bound=Layer[Any])  # noqa: E741 -- the inner one


class Pair(Struct, Generic[O, I], frozen=True):
    """Two kinds of layer, the outer one first, and what is wrong with two such layers: a sentence, or None where nothing is."""

    outer: type[O]
    inner: type[I]
    says: Callable[[O, I], str | None]


def described(layers: tuple[Layer[object], ...]) -> str:
    """Give one line a layer, outermost first, and one for each warning."""
    if not layers:
        return 'nothing: the operation runs as it is'
    lines = [f'{layer.name}: {layer.limits()}' for layer in layers]
    return '\n'.join([*lines, *(f'warning: {one}' for one in warnings(layers))])


def warnings(layers: tuple[Layer[object], ...]) -> Iterator[str]:
    """Give a sentence for every two layers whose order cannot mean what it says."""
    for outer, inner in combinations(layers, 2):
        for pair in PAIRS:
            if (
                isinstance(outer, pair.outer)
                and isinstance(inner, pair.inner)
                and (said := pair.says(outer, inner))
            ):
                yield said


def _retry_in_deadline(deadline: Deadline, retry: Retry) -> str | None:
    most = retry.settings.timeout
    if retry.settings.attempts == 1 or (most is not None and most <= deadline.seconds):
        return None
    tries = 'may try for ever' if most is None else f'may try for {most:g} s'
    return f'{retry.name} {tries}, and {deadline.name} around it ends after {deadline.seconds:g} s: lower the timeout of {retry.name}.'


def _deadline_in_retry(retry: Retry, deadline: Deadline) -> str | None:
    most, attempts = retry.settings.timeout, retry.settings.attempts
    # The last attempt may begin just before the end; all before it must fit.
    if most is None or (attempts - 1) * deadline.seconds < most:
        return None
    return (
        f'{attempts} attempts of {deadline.seconds:g} s, the limit of {deadline.name}, do not fit into the {most:g} s of {retry.name}: '
        f'the last one never begins.'
    )


def _retry_in_retry(outer: Retry, inner: Retry) -> str | None:
    attempts = outer.settings.attempts * inner.settings.attempts
    if min(outer.settings.attempts, inner.settings.attempts) == 1:
        return None
    return f'{outer.name} around {inner.name} makes up to {attempts} attempts: let one layer retry.'


def _circuit_in_retry(retry: Retry, circuit: Circuit) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return f'{retry.name} tries again what {circuit.name} refuses, and every attempt counts for {circuit.name}: put the retry inside.'


def _rate_limit_in_retry(retry: Retry, limit: RateLimit) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return f'every attempt of {retry.name} takes a slot of {limit.name}, and its refusals are tried again: put the retry inside.'


def _bulkhead_in_retry(retry: Retry, bulkhead: Bulkhead) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return f'{retry.name} tries again what {bulkhead.name} refuses, which asks more of what is full: put the retry inside.'


def _wait_in_deadline(deadline: Deadline, waiting: RateLimit | Bulkhead) -> str | None:
    most = waiting.wait
    if most is not None and most < deadline.seconds:
        return None
    waits = 'may wait for ever' if most is None else f'may wait for {most:g} s'
    return f'{waiting.name} {waits}, and {deadline.name} around it ends after {deadline.seconds:g} s: lower the wait.'


def _deadline_in_deadline(outer: Deadline, inner: Deadline) -> str | None:
    if inner.seconds < outer.seconds:
        return None
    return f'{inner.name} of {inner.seconds:g} s never ends a call: {outer.name} around it does, after {outer.seconds:g} s.'


def _circuit_in_deadline(deadline: Deadline, circuit: Circuit) -> str | None:
    slow = circuit.settings.slow
    if slow is None or slow < deadline.seconds:
        return None
    return f'no success is slower than the {slow:g} s of {circuit.name}: {deadline.name} around it ends after {deadline.seconds:g} s.'


def _deadline_in_circuit(circuit: Circuit, deadline: Deadline) -> str | None:
    settings = circuit.settings
    if settings.slow is not None and settings.slow >= deadline.seconds:
        slow = f'no success is slower than the {settings.slow:g} s of {circuit.name}'
        return f'{slow}: {deadline.name} inside ends after {deadline.seconds:g} s.'
    if deadline.seconds > settings.probe_timeout:
        return (
            f'{circuit.name} gives a probe up after {settings.probe_timeout:g} s, and {deadline.name} inside lets it go on '
            f'for {deadline.seconds:g} s: raise probe_timeout.'
        )
    return None


def _circuit_in_bulkhead(bulkhead: Bulkhead, circuit: Circuit) -> str | None:
    most = bulkhead.most
    if circuit.settings.probes <= most:
        return None
    return f'{circuit.name} never has its {circuit.settings.probes} probes at once: {bulkhead.name} around it lets {most} in.'


def _hedge_in_limit(limit: RateLimit | Bulkhead, hedge: Hedge) -> str | None:
    return f'{limit.name} does not see the second tries of {hedge.name}: put the hedge outside.'


def _retry_in_hedge(hedge: Hedge, retry: Retry) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return f'both tries of {hedge.name} retry, up to {2 * retry.settings.attempts} attempts: put the hedge inside of {retry.name}.'


def _hedge_in_deadline(deadline: Deadline, hedge: Hedge) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return f'{hedge.name} never hedges: its {after:g} s are over when {deadline.name} around it ends, after {deadline.seconds:g} s.'


def _deadline_in_hedge(hedge: Hedge, deadline: Deadline) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return f'{hedge.name} never hedges: {deadline.name} inside has ended the first try after {deadline.seconds:g} s, before its {after:g} s.'


def _chaos_outside(chaos: Chaos, inner: Layer[Any]) -> str | None:
    return f'{inner.name} does not see what {chaos.name} does: put the chaos innermost.'


PAIRS: tuple[Pair[Any, Any], ...] = (
    Pair(Deadline, Retry, _retry_in_deadline),
    Pair(Retry, Deadline, _deadline_in_retry),
    Pair(Retry, Retry, _retry_in_retry),
    Pair(Retry, Circuit, _circuit_in_retry),
    Pair(Retry, RateLimit, _rate_limit_in_retry),
    Pair(Retry, Bulkhead, _bulkhead_in_retry),
    Pair(Deadline, RateLimit, _wait_in_deadline),
    Pair(Deadline, Bulkhead, _wait_in_deadline),
    Pair(Deadline, Deadline, _deadline_in_deadline),
    Pair(Deadline, Circuit, _circuit_in_deadline),
    Pair(Circuit, Deadline, _deadline_in_circuit),
    Pair(Bulkhead, Circuit, _circuit_in_bulkhead),
    Pair(RateLimit, Hedge, _hedge_in_limit),
    Pair(Bulkhead, Hedge, _hedge_in_limit),
    Pair(Hedge, Retry, _retry_in_hedge),
    Pair(Deadline, Hedge, _hedge_in_deadline),
    Pair(Hedge, Deadline, _deadline_in_hedge),
    Pair(Chaos, Layer, _chaos_outside),
)
"""Every pair that may contradict itself."""
