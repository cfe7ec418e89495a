"""Rules about the order of the guards in a pipeline, for the warnings of `Guard.describe`.

`ORDER_RULES` lists every pair of guards that can contradict itself; `docs/guards.md` shows it as a
table. The package registers them when it is imported.
"""

from typing import Any, Final

from seamwise.policies._engine.order_rules import OrderRule
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.bulkhead import BulkheadLayer
from seamwise.policies.chaos import ChaosLayer
from seamwise.policies.circuit import Circuit
from seamwise.policies.deadline import DeadlineLayer
from seamwise.policies.hedge import HedgeLayer
from seamwise.policies.rate_limit import RateLimitLayer
from seamwise.policies.retry import RetryLayer


def _retry_in_deadline(deadline: DeadlineLayer, retry: RetryLayer) -> str | None:
    timeout = retry.settings.timeout
    if retry.settings.attempts == 1 or (timeout is not None and timeout <= deadline.seconds):
        return None
    limit = 'has no timeout' if timeout is None else f'has a timeout of {timeout:g} s'
    return (
        f'{retry.name} {limit}, but {deadline.name} outside ends after {deadline.seconds:g} s: '
        f'lower the timeout of {retry.name}.'
    )


def _deadline_in_retry(retry: RetryLayer, deadline: DeadlineLayer) -> str | None:
    timeout, attempts = retry.settings.timeout, retry.settings.attempts
    # The last attempt may start just before the timeout; only the earlier ones must fit.
    if timeout is None or (attempts - 1) * deadline.seconds < timeout:
        return None
    return (
        f'{attempts} attempts of {deadline.seconds:g} s each ({deadline.name}) do not fit into the '
        f'{timeout:g} s of {retry.name}: the last one never starts.'
    )


def _retry_in_retry(outer: RetryLayer, inner: RetryLayer) -> str | None:
    attempts = outer.settings.attempts * inner.settings.attempts
    if min(outer.settings.attempts, inner.settings.attempts) == 1:
        return None
    return (
        f'{outer.name} and {inner.name} inside make up to {attempts} attempts: '
        'retry in one layer only.'
    )


def _circuit_in_retry(retry: RetryLayer, circuit: Circuit) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.name} retries the refusals of {circuit.name}, which counts every attempt: '
        'put the retry inside.'
    )


def _rate_limit_in_retry(retry: RetryLayer, limit: RateLimitLayer) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.name} retries the refusals of {limit.name}, and every attempt takes a slot: '
        'put the retry inside.'
    )


def _bulkhead_in_retry(retry: RetryLayer, bulkhead: BulkheadLayer) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.name} retries the refusals of {bulkhead.name}, which is already full: '
        'put the retry inside.'
    )


def _wait_in_deadline(deadline: DeadlineLayer, limit: RateLimitLayer | BulkheadLayer) -> str | None:
    wait = limit.wait
    if wait is not None and wait < deadline.seconds:
        return None
    waits = 'waits without limit' if wait is None else f'waits up to {wait:g} s'
    return (
        f'{limit.name} {waits}, but {deadline.name} outside ends after {deadline.seconds:g} s: '
        'lower the wait.'
    )


def _deadline_in_deadline(outer: DeadlineLayer, inner: DeadlineLayer) -> str | None:
    if inner.seconds < outer.seconds:
        return None
    return (
        f'{inner.name} never expires after its {inner.seconds:g} s: {outer.name} outside ends '
        f'after {outer.seconds:g} s.'
    )


def _circuit_in_deadline(deadline: DeadlineLayer, circuit: Circuit) -> str | None:
    slow = circuit.settings.slow
    if slow is None or slow < deadline.seconds:
        return None
    return (
        f'no success is slower than the {slow:g} s of {circuit.name}: {deadline.name} outside '
        f'ends after {deadline.seconds:g} s.'
    )


def _deadline_in_circuit(circuit: Circuit, deadline: DeadlineLayer) -> str | None:
    settings = circuit.settings
    if settings.slow is not None and settings.slow >= deadline.seconds:
        return (
            f'no success is slower than the {settings.slow:g} s of {circuit.name}: '
            f'{deadline.name} inside ends after {deadline.seconds:g} s.'
        )
    if deadline.seconds > settings.probe_timeout:
        return (
            f'{circuit.name} abandons a probe after {settings.probe_timeout:g} s, but '
            f'{deadline.name} inside ends after {deadline.seconds:g} s: raise probe_timeout.'
        )
    return None


def _circuit_in_bulkhead(bulkhead: BulkheadLayer, circuit: Circuit) -> str | None:
    if circuit.settings.probes <= bulkhead.maximum:
        return None
    return (
        f'{circuit.name} never runs its {circuit.settings.probes} probes at a time: '
        f'{bulkhead.name} outside admits only {bulkhead.maximum}.'
    )


def _hedge_in_limit(limit: RateLimitLayer | BulkheadLayer, hedge: HedgeLayer) -> str | None:
    return (
        f'{limit.name} does not count the second attempts of {hedge.name}: put the hedge outside.'
    )


def _retry_in_hedge(hedge: HedgeLayer, retry: RetryLayer) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'both calls of {hedge.name} are retried, up to {2 * retry.settings.attempts} attempts: '
        f'put the hedge inside {retry.name}.'
    )


def _hedge_in_deadline(deadline: DeadlineLayer, hedge: HedgeLayer) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return (
        f'{hedge.name} never hedges after its {after:g} s: {deadline.name} outside ends after '
        f'{deadline.seconds:g} s.'
    )


def _deadline_in_hedge(hedge: HedgeLayer, deadline: DeadlineLayer) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return (
        f'{hedge.name} never hedges after its {after:g} s: {deadline.name} inside ends the first '
        f'attempt after {deadline.seconds:g} s.'
    )


def _chaos_outside(chaos: ChaosLayer, inner: Layer[Any]) -> str | None:
    return f'{inner.name} does not see the faults of {chaos.name}: put the chaos innermost.'


ORDER_RULES: Final[tuple[OrderRule[Any, Any], ...]] = (
    OrderRule(DeadlineLayer, RetryLayer, _retry_in_deadline),
    OrderRule(RetryLayer, DeadlineLayer, _deadline_in_retry),
    OrderRule(RetryLayer, RetryLayer, _retry_in_retry),
    OrderRule(RetryLayer, Circuit, _circuit_in_retry),
    OrderRule(RetryLayer, RateLimitLayer, _rate_limit_in_retry),
    OrderRule(RetryLayer, BulkheadLayer, _bulkhead_in_retry),
    OrderRule(DeadlineLayer, RateLimitLayer, _wait_in_deadline),
    OrderRule(DeadlineLayer, BulkheadLayer, _wait_in_deadline),
    OrderRule(DeadlineLayer, DeadlineLayer, _deadline_in_deadline),
    OrderRule(DeadlineLayer, Circuit, _circuit_in_deadline),
    OrderRule(Circuit, DeadlineLayer, _deadline_in_circuit),
    OrderRule(BulkheadLayer, Circuit, _circuit_in_bulkhead),
    OrderRule(RateLimitLayer, HedgeLayer, _hedge_in_limit),
    OrderRule(BulkheadLayer, HedgeLayer, _hedge_in_limit),
    OrderRule(HedgeLayer, RetryLayer, _retry_in_hedge),
    OrderRule(DeadlineLayer, HedgeLayer, _hedge_in_deadline),
    OrderRule(HedgeLayer, DeadlineLayer, _deadline_in_hedge),
    OrderRule(ChaosLayer, Layer, _chaos_outside),
)
"""Every pair of guards, the outer one first, that can contradict itself."""
