"""What a guards file may say, as Structs: the keys are the keyword arguments of the guards, their defaults are the guards' own."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Never, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from seamwise.errors import TaggedError
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.world import World
from seamwise.policies._parts.budget import Budget
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.policies.events import Observer
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.retry import retry

Unlimited: TypeAlias = Literal['unlimited']
"""Stands for None in a call: TOML has no word for nothing."""

Off: TypeAlias = Literal[False]
"""Takes a guard of `[default]` away from a tool."""


class GuardDependencies(Struct, frozen=True):
    """What a guard takes that no file says: the name of its tool, who listens, time and chance, what may be tried again."""

    name: str
    observer: Observer
    world: World
    when: Callable[[TaggedError], bool]


class Consecutive(Struct, frozen=True, kw_only=True):
    """Opens a circuit after so many failures in a row."""

    first_argument: ClassVar[str] = 'consecutive(failures)'
    consecutive: int

    def make(self, _world: World) -> Trip:
        """Make the trip."""
        return consecutive(self.consecutive)


class Ratio(Struct, frozen=True, kw_only=True):
    """Opens a circuit when so great a share of the calls failed, of the last `window` seconds or the last `calls`."""

    first_argument: ClassVar[str] = 'ratio(share)'
    ratio: float
    minimum: int
    window: float | UnsetType = UNSET
    calls: int | UnsetType = UNSET

    def make(self, _world: World) -> Trip:
        """Make the trip."""
        if isinstance(self.window, UnsetType) == isinstance(self.calls, UnsetType):
            raise ValueError(
                'ratio(share) needs a window (in seconds) or a number of calls, one of the two.'
            )
        known = _said(self)
        return ratio(known.pop('ratio'), **known)


class Share(Struct, frozen=True, kw_only=True):
    """Allows so many retries for each call."""

    first_argument: ClassVar[str] = 'ratio'
    share: float
    minimum_per_second: float | UnsetType = UNSET

    def make(self, world: World) -> Budget:
        """Make the budget."""
        known = _said(self)
        return Budget.share(known.pop('share'), **known, world=world)


class Quota(Struct, frozen=True, kw_only=True):
    """Allows retries to use up a capacity, to which successes give back."""

    first_argument: ClassVar[str] = 'capacity'
    quota: float
    cost: float | UnsetType = UNSET
    timeout_cost: float | UnsetType = UNSET

    def make(self, _world: World) -> Budget:
        """Make the budget."""
        known = _said(self)
        return Budget.quota(known.pop('quota'), **known)


class Tokens(Struct, frozen=True, kw_only=True):
    """Allows retries while more than half of the tokens are left: failures take them, successes give back."""

    first_argument: ClassVar[str] = 'maximum'
    tokens: float
    ratio: float

    def make(self, _world: World) -> Budget:
        """Make the budget."""
        return Budget.tokens(self.tokens, ratio=self.ratio)


Alternative: TypeAlias = Consecutive | Ratio | Share | Quota | Tokens
"""A table in a guard's, known by its first key; `first_argument` is what the function that it stands for calls that."""


class RateLimit(Struct, frozen=True, kw_only=True):
    """So many calls in so much time."""

    limit: int
    period: float | UnsetType = UNSET
    burst: int | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    wait: float | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def make(self, around: GuardDependencies) -> Guard[RateLimited]:
        """Make the guard."""
        return rate_limit(**_named(self, around))


class Bulkhead(Struct, frozen=True, kw_only=True):
    """So many calls at once."""

    limit: int
    scope: Literal['tool', 'namespace', 'global'] | UnsetType = UNSET
    queue: int | Unlimited | UnsetType = UNSET
    wait: float | Unlimited | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def make(self, around: GuardDependencies) -> Guard[BulkheadFull]:
        """Make the guard."""
        return bulkhead(**_named(self, around))


class Circuit(Struct, frozen=True, kw_only=True):
    """No calls for a while where too many failed."""

    trip: Consecutive | Ratio | UnsetType = UNSET
    open_for: float | UnsetType = UNSET
    probes: int | UnsetType = UNSET
    successes: int | UnsetType = UNSET
    probe_timeout: float | UnsetType = UNSET
    slow: float | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def make(self, around: GuardDependencies) -> Guard[CircuitOpen]:
        """Make the guard."""
        return circuit(**_named(self, around))


class Retry(Struct, frozen=True, kw_only=True):
    """Another attempt where one may help."""

    attempts: int | UnsetType = UNSET
    timeout: float | Unlimited | UnsetType = UNSET
    base: float | UnsetType = UNSET
    factor: float | UnsetType = UNSET
    cap: float | UnsetType = UNSET
    jitter: Literal['full', 'equal', 'tenth', 'decorrelated', 'none'] | UnsetType = UNSET
    retry_after_cap: float | UnsetType = UNSET
    budget: Share | Quota | Tokens | UnsetType = UNSET
    name: str | UnsetType = UNSET

    def make(self, around: GuardDependencies) -> Guard[Never]:
        """Make the guard."""
        return retry(**_named(self, around), when=around.when)


class Deadline(Struct, frozen=True, kw_only=True):
    """So much time for an attempt."""

    seconds: float
    name: str | UnsetType = UNSET

    def make(self, around: GuardDependencies) -> Guard[DeadlineExceeded]:
        """Make the guard."""
        return deadline(**_named(self, around))


Table: TypeAlias = RateLimit | Bulkhead | Circuit | Retry | Deadline
"""What a file says of one guard."""


class Guards(Struct, frozen=True, kw_only=True):
    """The guards of every tool, in their order, the outermost first."""

    rate_limit: RateLimit | Off | UnsetType = UNSET
    bulkhead: Bulkhead | Off | UnsetType = UNSET
    circuit: Circuit | Off | UnsetType = UNSET
    retry: Retry | Off | UnsetType = UNSET
    deadline: Deadline | Off | UnsetType = UNSET


class ToolGuards(Guards, frozen=True, kw_only=True):
    """The guards of one tool, where they are not the default's.

    `repeatable` says that a second run does no harm, also where the first one may have done its work.
    """

    repeatable: bool | UnsetType = UNSET


class Settings(Struct, frozen=True, kw_only=True):
    """A whole guards file."""

    default: Guards = Guards()
    tools: dict[str, ToolGuards] = {}


def _said(table: Struct) -> dict[str, Any]:
    """Give what a table says, without what it leaves to the guard."""
    known = ((name, getattr(table, name)) for name in table.__struct_fields__)
    # A guard may be called anything.
    return {
        name: None if value == 'unlimited' and name != 'name' else value
        for name, value in known
        if value is not UNSET
    }


def _named(table: Struct, around: GuardDependencies) -> dict[str, Any]:
    known = {
        name: one.make(around.world) if isinstance(one, Alternative) else one
        for name, one in _said(table).items()
    }
    return {'name': around.name, **known, 'observer': around.observer, 'world': around.world}
