"""Parser for guards files of the tool host, which reports all problems with their positions."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.world import REAL, World
from seamwise.catalog.tools import ToolFailed
from seamwise.catalog.workspace import ConfigError, ConfigInvalid
from seamwise.policies import Guard, GuardError, retryable
from seamwise.policies.config.pipelines import Layout, PipelineBuilder, Report
from seamwise.policies.config.settings import (
    BulkheadConfig,
    CircuitConfig,
    DeadlineConfig,
    GuardDependencies,
    Off,
    RateLimitConfig,
    RetryConfig,
)
from seamwise.policies.config.toml_document import parse_toml
from seamwise.toolhost.guards.guarded_call import record_event
from seamwise.toolhost.tools import Tools


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


LAYOUT: Final = Layout(
    section='tools',
    noun='tool',
    defaults=Guards,
    table=ToolGuards,
    merges_options=False,
    is_strict=False,
)
"""The form of a guards file."""


def parse_guards(
    data: bytes, path: str, *, tools: Tools[TaggedError], world: World = REAL
) -> Result[Mapping[str, Guard[GuardError]], ConfigError]:
    r"""Build the guards of each tool, by its name, from the content of a guards file.

    >>> data = b'[default.retry]\nattempts = 0'
    >>> parse_guards(data, 'guards.toml', tools=Tools([])).failure().problems
    (Problem(pointer='/default/retry/attempts', message='attempts must be 1 or more, not 0'),)

    Args:
        data: The content of the file.
        path: The name of the file in errors.
        tools: The tools.
        world: The clock, sleep and randomness of the guards; by default the real ones.

    Returns:
        The guards, or `ConfigUnreadable` for invalid TOML, or `ConfigInvalid` for invalid
        settings.
    """
    document = parse_toml(data, path)
    if type(document) is Failure:
        return document
    repeatable = {tool.qualified_name: tool.is_repeatable for tool in tools}

    def dependencies(tool: str, table: ToolGuards) -> GuardDependencies:
        is_repeatable = table.repeatable
        if isinstance(is_repeatable, UnsetType):
            is_repeatable = repeatable.get(tool, False)
        return GuardDependencies(
            tool, record_event, world, retryable if is_repeatable else _is_safe_to_retry
        )

    report = Report()
    builder = PipelineBuilder(document.unwrap(), LAYOUT, dependencies=dependencies, report=report)
    guards = builder.build(tools.names)
    problems = report.problems()
    return Failure(ConfigInvalid(path, problems)) if problems else Success(guards)


def _is_safe_to_retry(error: TaggedError) -> bool:
    """Return whether a retry of a tool that is not repeatable can help and does no harm.

    After a timeout or a failure on its way the tool may have done its work, as with the methods of
    HTTP that are not idempotent (RFC 9110, 9.2.2).
    """
    may_have_been_done = error.category is Category.TIMEOUT or isinstance(error, ToolFailed)
    return error.retryable and not may_have_been_done
