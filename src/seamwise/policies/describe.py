"""Rules about the order of the guards in a pipeline, for the warnings of `Guard.describe`.

`ORDER_RULES` lists every pair of guards that can contradict itself; `docs/guards.md` shows it as a
table. The package registers them when it is imported.
"""

from typing import Any, Final

from seamwise.policies._engine.order_rules import OrderRule
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.bulkhead import Bulkhead
from seamwise.policies.circuit import CircuitLayer
from seamwise.policies.deadline import DeadlineLayer
from seamwise.policies.fault_injection import ChaosLayer
from seamwise.policies.hedge import HedgeLayer
from seamwise.policies.rate_limit import RateLayer
from seamwise.policies.retry import RetryLayer


def _retry_in_deadline(deadline: DeadlineLayer, retry: RetryLayer) -> str | None:
    timeout = retry.settings.timeout
    if retry.settings.attempts == 1 or (timeout is not None and timeout <= deadline.seconds):
        return None
    limit = 'has no timeout' if timeout is None else f'has a timeout of {timeout:g} s'
    return (
        f'{retry.title} {limit}, but {deadline.title} outside ends after {deadline.seconds:g} s: '
        f'lower the timeout of {retry.title}.'
    )


def _deadline_in_retry(retry: RetryLayer, deadline: DeadlineLayer) -> str | None:
    timeout, attempts = retry.settings.timeout, retry.settings.attempts
    # The last attempt may start just before the timeout; only the earlier ones must fit.
    if timeout is None or (attempts - 1) * deadline.seconds < timeout:
        return None
    return (
        f'{attempts} attempts of {deadline.seconds:g} s each ({deadline.title}) do not fit into '
        f'the {timeout:g} s of {retry.title}: the last one never starts.'
    )


def _retry_in_retry(outer: RetryLayer, inner: RetryLayer) -> str | None:
    attempts = outer.settings.attempts * inner.settings.attempts
    if min(outer.settings.attempts, inner.settings.attempts) == 1:
        return None
    return (
        f'{outer.title} and {inner.title} inside make up to {attempts} attempts: '
        'retry in one layer only.'
    )


def _circuit_in_retry(retry: RetryLayer, circuit: CircuitLayer[Any]) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.title} retries the refusals of {circuit.title}, which counts every attempt: '
        'put the retry inside.'
    )


def _rate_limit_in_retry(retry: RetryLayer, limit: RateLayer[Any]) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.title} retries the refusals of {limit.title}, and every attempt takes a slot: '
        'put the retry inside.'
    )


def _bulkhead_in_retry(retry: RetryLayer, bulkhead: Bulkhead) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'{retry.title} retries the refusals of {bulkhead.title}, which is already full: '
        'put the retry inside.'
    )


def _wait_in_deadline(deadline: DeadlineLayer, limit: RateLayer[Any] | Bulkhead) -> str | None:
    wait = limit.wait
    if wait is not None and wait < deadline.seconds:
        return None
    waits = 'waits without limit' if wait is None else f'waits up to {wait:g} s'
    return (
        f'{limit.title} {waits}, but {deadline.title} outside ends after {deadline.seconds:g} s: '
        'lower the wait.'
    )


def _deadline_in_deadline(outer: DeadlineLayer, inner: DeadlineLayer) -> str | None:
    if inner.seconds < outer.seconds:
        return None
    return (
        f'{inner.title} never expires after its {inner.seconds:g} s: {outer.title} outside ends '
        f'after {outer.seconds:g} s.'
    )


def _circuit_in_deadline(deadline: DeadlineLayer, circuit: CircuitLayer[Any]) -> str | None:
    slow = circuit.settings.slow
    if slow is None or slow < deadline.seconds:
        return None
    return (
        f'no success is slower than the {slow:g} s of {circuit.title}: {deadline.title} outside '
        f'ends after {deadline.seconds:g} s.'
    )


def _deadline_in_circuit(circuit: CircuitLayer[Any], deadline: DeadlineLayer) -> str | None:
    settings = circuit.settings
    if settings.slow is not None and settings.slow >= deadline.seconds:
        return (
            f'no success is slower than the {settings.slow:g} s of {circuit.title}: '
            f'{deadline.title} inside ends after {deadline.seconds:g} s.'
        )
    if deadline.seconds > settings.probe_timeout:
        return (
            f'{circuit.title} abandons a probe after {settings.probe_timeout:g} s, but '
            f'{deadline.title} inside ends after {deadline.seconds:g} s: raise probe_timeout.'
        )
    return None


def _circuit_in_bulkhead(bulkhead: Bulkhead, circuit: CircuitLayer[Any]) -> str | None:
    if circuit.settings.probes <= bulkhead.maximum:
        return None
    return (
        f'{circuit.title} never runs its {circuit.settings.probes} probes at a time: '
        f'{bulkhead.title} outside admits only {bulkhead.maximum}.'
    )


def _hedge_in_limit(limit: RateLayer[Any] | Bulkhead, hedge: HedgeLayer) -> str | None:
    return (
        f'{limit.title} does not count the second attempts of {hedge.title}: put the hedge outside.'
    )


def _retry_in_hedge(hedge: HedgeLayer, retry: RetryLayer) -> str | None:
    if retry.settings.attempts == 1:
        return None
    return (
        f'both calls of {hedge.title} are retried, up to {2 * retry.settings.attempts} attempts: '
        f'put the hedge inside {retry.title}.'
    )


def _hedge_in_deadline(deadline: DeadlineLayer, hedge: HedgeLayer) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return (
        f'{hedge.title} never hedges after its {after:g} s: {deadline.title} outside ends after '
        f'{deadline.seconds:g} s.'
    )


def _deadline_in_hedge(hedge: HedgeLayer, deadline: DeadlineLayer) -> str | None:
    after = hedge.after
    if not isinstance(after, float) or after < deadline.seconds:
        return None
    return (
        f'{hedge.title} never hedges after its {after:g} s: {deadline.title} inside ends the first '
        f'attempt after {deadline.seconds:g} s.'
    )


def _chaos_outside(chaos: ChaosLayer, inner: Layer[Any]) -> str | None:
    return f'{inner.title} does not see the faults of {chaos.title}: put the chaos innermost.'


ORDER_RULES: Final[tuple[OrderRule[Any, Any], ...]] = (
    OrderRule(DeadlineLayer, RetryLayer, _retry_in_deadline),
    OrderRule(RetryLayer, DeadlineLayer, _deadline_in_retry),
    OrderRule(RetryLayer, RetryLayer, _retry_in_retry),
    OrderRule(RetryLayer, CircuitLayer, _circuit_in_retry),
    OrderRule(RetryLayer, RateLayer, _rate_limit_in_retry),
    OrderRule(RetryLayer, Bulkhead, _bulkhead_in_retry),
    OrderRule(DeadlineLayer, RateLayer, _wait_in_deadline),
    OrderRule(DeadlineLayer, Bulkhead, _wait_in_deadline),
    OrderRule(DeadlineLayer, DeadlineLayer, _deadline_in_deadline),
    OrderRule(DeadlineLayer, CircuitLayer, _circuit_in_deadline),
    OrderRule(CircuitLayer, DeadlineLayer, _deadline_in_circuit),
    OrderRule(Bulkhead, CircuitLayer, _circuit_in_bulkhead),
    OrderRule(RateLayer, HedgeLayer, _hedge_in_limit),
    OrderRule(Bulkhead, HedgeLayer, _hedge_in_limit),
    OrderRule(HedgeLayer, RetryLayer, _retry_in_hedge),
    OrderRule(DeadlineLayer, HedgeLayer, _hedge_in_deadline),
    OrderRule(HedgeLayer, DeadlineLayer, _deadline_in_hedge),
    OrderRule(ChaosLayer, Layer, _chaos_outside),
)
"""Every pair of guards, the outer one first, that can contradict itself."""
