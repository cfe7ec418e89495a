"""Structs for the tables of a guards file of the tool host."""

from msgspec import UNSET, Struct, UnsetType

from seamwise.policies.config.settings import (
    BulkheadConfig,
    CircuitConfig,
    DeadlineConfig,
    Off,
    RateLimitConfig,
    RetryConfig,
)


class Guards(Struct, frozen=True, kw_only=True):
    """The guards of every tool, in the order of the pipeline, the outermost guard first.

    A tool runs in the current thread, where a hedge would make one attempt.
    """

    rate_limit: RateLimitConfig | Off | UnsetType = UNSET
    bulkhead: BulkheadConfig | Off | UnsetType = UNSET
    circuit: CircuitConfig | Off | UnsetType = UNSET
    retry: RetryConfig | Off | UnsetType = UNSET
    deadline: DeadlineConfig | Off | UnsetType = UNSET


class ToolGuards(Guards, frozen=True, kw_only=True):
    """The guards of one tool that differ from the default.

    `repeatable` declares that running the tool twice does no harm, so that timeouts are retried.
    """

    repeatable: bool | UnsetType = UNSET
