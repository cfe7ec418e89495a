"""Structs for the tables of a guards file.

The keys are the keyword arguments of the guards; keys that are left out have the guards' defaults.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final, Literal, Never, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from seamwise._errors.errors import TaggedError
from seamwise._runtime.world import World
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._parts.adaptive_limit import Adaptive, adaptive
from seamwise.policies._parts.budget import Budget
from seamwise.policies._parts.percentile import Percentile, percentile
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.policies.events import Observer
from seamwise.policies.hedge import hedge
from seamwise.policies.rate_limit import Rate, check_rate, rate_limit
from seamwise.policies.retry import retry

Unlimited: TypeAlias = Literal['unlimited']
"""The argument None: TOML has no null."""

Off: TypeAlias = Literal[False]
"""Switches a guard off."""


class GuardDependencies(Struct, frozen=True):
    """Dependencies of a guard that a config file cannot supply.

    Attributes:
        name: The name of the guard in errors and events.
        observer: The observer of the guard's events.
        world: The clock, sleep and randomness.
        when: The predicate for errors that are retried.
    """

    name: str
    observer: Observer | None
    world: World
    when: Callable[[TaggedError], bool] = retryable


class ConsecutiveConfig(Struct, frozen=True, kw_only=True):
    """A trip condition: a number of consecutive failures."""

    first_argument: ClassVar[str] = 'consecutive(failures)'
    consecutive: int

    def build(self, _world: World) -> Trip:
        """Build the trip condition."""
        return consecutive(self.consecutive)


class RatioConfig(Struct, frozen=True, kw_only=True):
    """A trip condition: a share of failures in the last `window` seconds or `calls` calls."""

    first_argument: ClassVar[str] = 'ratio(share)'
    ratio: float
    minimum: int
    window: float | UnsetType = UNSET
    calls: int | UnsetType = UNSET

    def build(self, _world: World) -> Trip:
        """Build the trip condition."""
        if isinstance(self.window, UnsetType) == isinstance(self.calls, UnsetType):
            raise ValueError(
                'ratio(share) needs either window (in seconds) or calls (a number of calls).'
            )
        arguments = _arguments(self)
        return ratio(arguments.pop('ratio'), **arguments)


class ShareConfig(Struct, frozen=True, kw_only=True):
    """A retry budget: a share of the calls."""

    first_argument: ClassVar[str] = 'ratio'
    share: float
    minimum_per_second: float | UnsetType = UNSET

    def build(self, world: World) -> Budget:
        """Build the budget."""
        arguments = _arguments(self)
        return Budget.share(arguments.pop('share'), **arguments, world=world)


class QuotaConfig(Struct, frozen=True, kw_only=True):
    """A retry budget: a capacity that retries use up and successes refill."""

    first_argument: ClassVar[str] = 'capacity'
    quota: float
    cost: float | UnsetType = UNSET
    timeout_cost: float | UnsetType = UNSET

    def build(self, _world: World) -> Budget:
        """Build the budget."""
        arguments = _arguments(self)
        return Budget.quota(arguments.pop('quota'), **arguments)


class TokensConfig(Struct, frozen=True, kw_only=True):
    """A retry budget of tokens: failures take them, successes return them.

    Retries are allowed while more than half of the tokens are left.
    """

    first_argument: ClassVar[str] = 'maximum'
    tokens: float
    ratio: float

    def build(self, _world: World) -> Budget:
        """Build the budget."""
        return Budget.tokens(self.tokens, ratio=self.ratio)


class AdaptiveConfig(Struct, frozen=True, kw_only=True):
    """A limit on concurrent calls that follows their latency."""

    first_argument: ClassVar[str] = 'minimum'
    minimum: int
    maximum: int
    by: Literal['aimd', 'gradient'] | UnsetType = UNSET
    slow: float | UnsetType = UNSET
    start: int | UnsetType = UNSET

    def build(self, _world: World) -> Adaptive:
        """Build the limit."""
        arguments = _arguments(self)
        return adaptive(arguments.pop('minimum'), arguments.pop('maximum'), **arguments)


class PercentileConfig(Struct, frozen=True, kw_only=True):
    """A delay: a percentile of the most recent latencies."""

    first_argument: ClassVar[str] = 'rank'
    percentile: float
    min_delay: float | UnsetType = UNSET
    calls: int | UnsetType = UNSET
    minimum: int | UnsetType = UNSET

    def build(self, _world: World) -> Percentile:
        """Build the percentile."""
        arguments = _arguments(self)
        return percentile(arguments.pop('percentile'), **arguments)


class RateConfig(Struct, frozen=True, kw_only=True):
    """One of several rates: a number of calls per `period` seconds."""

    first_argument: ClassVar[str] = 'limit'
    limit: int
    period: float | UnsetType = UNSET

    def build(self, _world: World) -> Rate:
        """Build the rate."""
        return check_rate(self.limit, 1.0 if isinstance(self.period, UnsetType) else self.period)


NestedConfig: TypeAlias = (
    ConsecutiveConfig
    | RatioConfig
    | ShareConfig
    | QuotaConfig
    | TokensConfig
    | AdaptiveConfig
    | PercentileConfig
    | RateConfig
)
"""A table inside the table of a guard, identified by its first key in a union.

`first_argument` is the name of that value in error messages of the function it is passed to.
"""


class RateLimitConfig(Struct, frozen=True, kw_only=True):
    """Settings of a rate limit."""

    limit: int
    period: float | UnsetType = UNSET
    kind: Literal['bucket', 'window'] | UnsetType = UNSET
    burst: int | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    wait: float | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[RateLimited]:
        """Build the guard."""
        return rate_limit(**_guard_arguments(self, dependencies))


class RatesConfig(Struct, frozen=True, kw_only=True):
    """Settings of a rate limit with several rates at once."""

    rates: list[RateConfig]
    kind: Literal['bucket', 'window'] | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    wait: float | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[RateLimited]:
        """Build the guard."""
        if not self.rates:
            raise ValueError('rates needs at least one table with a limit.')
        arguments = _guard_arguments(self, dependencies)
        del arguments['rates']
        rates = [rate.build(dependencies.world) for rate in self.rates]
        return rate_limit.all(*((rate.limit, rate.period) for rate in rates), **arguments)


class BulkheadConfig(Struct, frozen=True, kw_only=True):
    """Settings of a bulkhead."""

    limit: int | AdaptiveConfig
    scope: Literal['tool', 'namespace', 'global'] | UnsetType = UNSET
    queue: int | Unlimited | UnsetType = UNSET
    wait: float | Unlimited | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[BulkheadFull]:
        """Build the guard."""
        return bulkhead(**_guard_arguments(self, dependencies))


class CircuitConfig(Struct, frozen=True, kw_only=True):
    """Settings of a circuit breaker."""

    trip: ConsecutiveConfig | RatioConfig | UnsetType = UNSET
    open_for: float | UnsetType = UNSET
    factor: float | UnsetType = UNSET
    cap: float | UnsetType = UNSET
    probes: int | UnsetType = UNSET
    successes: int | UnsetType = UNSET
    probe_timeout: float | UnsetType = UNSET
    slow: float | UnsetType = UNSET
    slow_trip: ConsecutiveConfig | RatioConfig | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[CircuitOpen]:
        """Build the guard."""
        if self.slow_trip is not UNSET and self.slow is UNSET:
            raise ValueError(
                "slow_trip needs the key 'slow', the seconds after which a call is slow."
            )
        return circuit(**_guard_arguments(self, dependencies))


class RetryConfig(Struct, frozen=True, kw_only=True):
    """Settings of retries."""

    attempts: int | UnsetType = UNSET
    timeout: float | Unlimited | UnsetType = UNSET
    base: float | UnsetType = UNSET
    factor: float | UnsetType = UNSET
    cap: float | UnsetType = UNSET
    jitter: Literal['full', 'equal', 'tenth', 'decorrelated', 'none'] | UnsetType = UNSET
    retry_after_cap: float | UnsetType = UNSET
    budget: ShareConfig | QuotaConfig | TokensConfig | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[Never]:
        """Build the guard."""
        return retry(**_guard_arguments(self, dependencies), when=dependencies.when)


class HedgeConfig(Struct, frozen=True, kw_only=True):
    """Settings of a hedge."""

    after: float | PercentileConfig
    attempts: int | UnsetType = UNSET
    share: float | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[Never]:
        """Build the guard."""
        return hedge(**_guard_arguments(self, dependencies), when=dependencies.when)


class DeadlineConfig(Struct, frozen=True, kw_only=True):
    """Settings of a deadline."""

    seconds: float
    name: str | UnsetType = UNSET

    def build(self, dependencies: GuardDependencies) -> Guard[DeadlineExceeded]:
        """Build the guard."""
        return deadline(**_guard_arguments(self, dependencies))


GuardConfig: TypeAlias = (
    RateLimitConfig
    | RatesConfig
    | BulkheadConfig
    | CircuitConfig
    | RetryConfig
    | HedgeConfig
    | DeadlineConfig
)
"""The table of one guard."""


class PipelineConfig(Struct, frozen=True, kw_only=True):
    """The guards of one pipeline."""

    rate_limit: RateLimitConfig | RatesConfig | Off | UnsetType = UNSET
    bulkhead: BulkheadConfig | Off | UnsetType = UNSET
    circuit: CircuitConfig | Off | UnsetType = UNSET
    retry: RetryConfig | Off | UnsetType = UNSET
    hedge: HedgeConfig | Off | UnsetType = UNSET
    deadline: DeadlineConfig | Off | UnsetType = UNSET


PLACEHOLDERS: Final[dict[str, object]] = {
    'after': 1.0,
    'burst': 1_000_000_000,
    'calls': 1_000_000,
    'cap': 1_000_000_000.0,
    'consecutive': 1,
    'limit': 1_000_000_000,
    'maximum': 1_000_000_000,
    'minimum': 1,
    'percentile': 1.0,
    'quota': 1_000_000_000.0,
    'ratio': 1.0,
    'rates': [{'limit': 1_000_000_000}],
    'seconds': 1.0,
    'share': 1.0,
    'slow': 1.0,
    'tokens': 1.0,
    'window': 1.0,
}
"""Valid values of the keys that are required, or that limit the values of other keys.

They take the place of invalid ones, so that the other keys can be checked.
"""


def _arguments(table: Struct) -> dict[str, Any]:
    """Return the keys of a table that are set, as arguments."""
    fields = ((name, getattr(table, name)) for name in table.__struct_fields__)
    # A name can be the text "unlimited".
    return {
        name: None if value == 'unlimited' and name != 'name' else value
        for name, value in fields
        if value is not UNSET
    }


def _guard_arguments(table: Struct, dependencies: GuardDependencies) -> dict[str, Any]:
    arguments = {
        name: value.build(dependencies.world) if isinstance(value, NestedConfig) else value
        for name, value in _arguments(table).items()
    }
    return {
        'name': dependencies.name,
        **arguments,
        'observer': dependencies.observer,
        'world': dependencies.world,
    }
