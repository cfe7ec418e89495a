"""A circuit for many processes: its state is in Redis, so that all see it open, and as many probes as are meant try for all of them."""

from collections import deque
from collections.abc import Callable
from math import ceil
from secrets import token_hex
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from typing_extensions import override

from seamwise.containers import Failure, Result, Success, quick_failure
from seamwise.errors import TaggedError
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._engine.validation import check_float
from seamwise.policies._engine.world import REAL, World
from seamwise.policies._parts.circuit_states import CircuitSettings
from seamwise.policies._parts.trip_conditions import (
    Consecutive,
    RatioInTime,
    RatioOfCalls,
    Trip,
    consecutive,
)
from seamwise.policies.circuit import Circuit
from seamwise.policies.circuit import circuit as local_circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, Observer, Refused, State
from seamwise.policies.redis.availability import OutageMode
from seamwise.policies.redis.circuit_script import CIRCUIT
from seamwise.policies.redis.clients import Client, both
from seamwise.policies.redis.outage_fallback import OutageFallback
from seamwise.policies.redis.store import LONGEST_BOUND, Store
from seamwise.policies.redis.units import microseconds

T = TypeVar('T')
E = TypeVar('E')

_AFTER_FIVE: Final = consecutive(5)
_STATES: Final[tuple[State, State, State]] = ('closed', 'open', 'half_open')
_KEPT: Final = 3600.0
"""Seconds for which Redis keeps what nobody asks for, beside the times of the circuit itself."""
_OWED: Final = 100

MOST_PROBES: Final = 100
MOST_CALLS: Final = 10_000
"""So long a history travels through Redis at the end of every call: ten thousand bytes."""

How: TypeAlias = Literal['enter', 'ok', 'fail', 'release']


class Step(NamedTuple):
    """What Redis is told: a call comes, or has ended so. The token names a probe, '' is none."""

    how: How
    generation: int
    token: str


class SharedCircuit(Layer[CircuitOpen]):
    """What `circuit` makes here.

    What cannot wait for Redis (a call that is cancelled, a defect on its way out) is owed: it goes with the next question of this
    process. Should there be none, a probe's lease runs out by itself.
    """

    is_bound = True

    def __init__(
        self,
        local: Circuit,
        store: Store,
        *,
        elsewhere: OutageFallback,
        tell: SafeObserver | None,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(local.name)
        self.clock = clock
        self._local = local
        self._store = store
        self._elsewhere = elsewhere
        self._tell = tell
        self._key = f'seamwise:{{{local.name}}}:circuit'
        self._arguments = _arguments(local.settings)
        self._owed: deque[Step] = deque(maxlen=_OWED)

    @property
    def settings(self) -> CircuitSettings:
        """What it was made with."""
        return self._local.settings

    @override
    def enter(self) -> Wait:
        return _Entering(self)

    @override
    def limits(self) -> str:
        return f'{self._local.limits()}; all over Redis, {self._elsewhere.limits()}'

    def owe(self, step: Step) -> None:
        """Tell Redis of a step when it is asked the next time. This takes no lock: the garbage collector may end a call."""
        self._owed.append(step)

    async def ask(self, step: Step) -> list[int] | None:
        """Tell Redis of a step; gives its answer, or None where it is away."""
        asked = self._store.away.may_ask()
        if asked is None:
            self._owe_untold(step)
            return None
        steps = self._due(step)
        reply: list[int] | None = None
        try:
            reply = await self._store.ask(asked, self._key, *self._arguments, *_flat(steps))
        finally:
            if reply is None:
                self._owe_again(steps)
        return self._heard(reply)

    def ask_sync(self, step: Step) -> list[int] | None:
        """Likewise, in a thread."""
        asked = self._store.away.may_ask()
        if asked is None:
            self._owe_untold(step)
            return None
        steps = self._due(step)
        reply: list[int] | None = None
        try:
            reply = self._store.ask_sync(asked, self._key, *self._arguments, *_flat(steps))
        finally:
            if reply is None:
                self._owe_again(steps)
        return self._heard(reply)

    def admitted(self, token: str, reply: list[int]) -> Permit | Failure[CircuitOpen]:
        """Read what Redis says of a call that comes."""
        is_admitted, generation, is_probe, state, failures, left = reply[:6]
        if is_admitted:
            return _Inside(self, generation, token if is_probe else '')
        return self._refused(
            failures, left / 1e6, 'open' if _STATES[state] == 'open' else 'half_open'
        )

    async def without(self) -> Permit | Outcome:
        """Do without Redis."""
        said = await self._elsewhere.wait()
        return self._refused(0, self._store.away.left(), 'open') if said is None else said

    def without_sync(self) -> Permit | Outcome:
        """Likewise, in a thread."""
        said = self._elsewhere.wait_sync()
        return self._refused(0, self._store.away.left(), 'open') if said is None else said

    def _refused(
        self, failures: int, retry_after: float, state: Literal['open', 'half_open']
    ) -> Failure[CircuitOpen]:
        error = CircuitOpen(self.name, failures, retry_after, state)
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)

    def _due(self, step: Step) -> list[Step]:
        steps: list[Step] = []
        while self._owed:
            try:
                steps.append(self._owed.popleft())
            except IndexError:
                break
        steps.append(step)
        return steps

    def _owe_untold(self, step: Step) -> None:
        if step.how != 'enter' and step.token:
            self.owe(step)

    def _owe_again(self, steps: list[Step]) -> None:
        """Nobody knows what Redis has heard of this. A probe ends once, by its token; what has none may be counted once too few."""
        for step in steps:
            if step.token:
                self.owe(step._replace(how='release') if step.how == 'enter' else step)

    def _heard(self, reply: list[int] | None) -> list[int] | None:
        if reply is not None and self._tell is not None:
            for at in range(6, len(reply), 3):
                before, after, failures = reply[at : at + 3]
                self._tell(CircuitChanged(self.name, _STATES[before], _STATES[after], failures))
        return reply


class _Entering(Wait):
    __slots__ = ('_circuit',)

    def __init__(self, circuit: SharedCircuit) -> None:
        self._circuit = circuit

    @override
    async def wait(self) -> Permit | Outcome:
        token = token_hex(8)
        reply = await self._circuit.ask(Step('enter', 0, token))
        return (
            await self._circuit.without() if reply is None else self._circuit.admitted(token, reply)
        )

    @override
    def wait_sync(self) -> Permit | Outcome:
        token = token_hex(8)
        reply = self._circuit.ask_sync(Step('enter', 0, token))
        return (
            self._circuit.without_sync() if reply is None else self._circuit.admitted(token, reply)
        )


class _Inside(Permit):
    __slots__ = ('_began', '_circuit', '_generation', '_token')

    def __init__(self, circuit: SharedCircuit, generation: int, token: str) -> None:
        self._circuit = circuit
        self._generation = generation
        self._token = token
        self._began = circuit.clock()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E] | Wait:
        try:
            how = self._how(outcome)
        except BaseException:
            self._owe_release()
            raise
        if how == 'release' and not self._token:
            return outcome
        return _Leaving(self._circuit, Step(how, self._generation, self._token), outcome)

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._circuit.owe(Step('fail', self._generation, self._token))
        else:
            self._owe_release()

    def _how(self, outcome: Outcome) -> How:
        settings = self._circuit.settings
        if type(outcome) is Success:
            is_slow = (
                settings.slow is not None and self._circuit.clock() - self._began > settings.slow
            )
            return 'fail' if is_slow else 'ok'
        error = outcome.failure()
        return 'fail' if isinstance(error, TaggedError) and settings.counts(error) else 'release'

    def _owe_release(self) -> None:
        if self._token:
            self._circuit.owe(Step('release', self._generation, self._token))


class _Leaving(Wait[T, E]):
    __slots__ = ('_circuit', '_outcome', '_step')

    def __init__(self, circuit: SharedCircuit, step: Step, outcome: Result[T, E]) -> None:
        self._circuit = circuit
        self._step = step
        self._outcome = outcome

    @override
    async def wait(self) -> Result[T, E]:
        await self._circuit.ask(self._step)
        return self._outcome

    @override
    def wait_sync(self) -> Result[T, E]:
        self._circuit.ask_sync(self._step)
        return self._outcome


def circuit(  # noqa: PLR0913 -- settings, each with a default
    *,
    redis: Client,
    name: str,
    trip: Trip = _AFTER_FIVE,
    open_for: float = 30.0,
    probes: int = 1,
    successes: int = 1,
    probe_timeout: float | None = None,
    slow: float | None = None,
    counts: Callable[[TaggedError], bool] = counts_against,
    bound: float = 0.05,
    away: OutageMode = 'local',
    observer: Observer | None = None,
    world: World = REAL,
) -> SharedCircuit:
    """Make a circuit that all processes share which say the same `name` to the same Redis; it needs Redis 5 or later.

    As `seamwise.policies.circuit.circuit`, whose settings these are; all processes should say the same, else each judges by its own
    what all have counted. When it is half open `probes` calls of all the processes together try, and a process that dies over a
    probe gives it back by `probe_timeout`. Each call asks Redis twice, when it comes and when it ends, `bound` seconds at most each
    time; a call that is let in and found Redis away at its end counts for nothing. While Redis is away, `away` says what is done:
    'local' is a circuit of this process alone, 'open' lets all pass, 'closed' refuses all with a `CircuitOpen` of no failures.

    `redis` is a redis.asyncio.Redis for `run`, a redis.Redis for `run_sync`, or `Clients` of both. What Redis refuses as wrong, such
    as a password, is raised. `slow` is measured by `world`, all other times are those of Redis.

    >>> from redis import Redis
    >>> circuit(redis=Redis(), name='mail', open_for=10.0).name
    'mail'
    """
    clients = both(redis)
    bound = check_float('bound', bound, above=0.0, maximum=LONGEST_BOUND)
    local = local_circuit(
        name=name, trip=trip, open_for=open_for, probes=probes, successes=successes, probe_timeout=probe_timeout,
        slow=slow, counts=counts, observer=observer, world=world,
    )  # fmt: skip
    if probes > MOST_PROBES:
        raise ValueError(f'probes must be {MOST_PROBES} at most over Redis, not {probes!r}.')
    if isinstance(trip, RatioOfCalls) and trip.calls > MOST_CALLS:
        raise ValueError(
            f'calls must be {MOST_CALLS} at most over Redis, not {trip.calls!r}: ratio(…, window=seconds) keeps ten numbers.'
        )
    store = Store(name, clients, CIRCUIT, bound=bound, world=world)
    return SharedCircuit(
        local,
        store,
        elsewhere=OutageFallback(away, local, bound=bound),
        tell=safe_observer(observer),
        clock=world.clock,
    )


def _flat(steps: list[Step]) -> list[str]:
    return [word for how, generation, token in steps for word in (how, str(generation), token)]


def _arguments(settings: CircuitSettings) -> tuple[str, ...]:
    """Give what the script is told of the settings, in microseconds."""
    trip = settings.trip
    window = trip.window if isinstance(trip, RatioInTime) else 0.0
    kept = _KEPT + settings.open_for + settings.probe_timeout + window
    judged: tuple[str, str, str, str]
    if isinstance(trip, Consecutive):
        judged = ('consecutive', '0', str(trip.failures), '0')
    elif isinstance(trip, RatioOfCalls):
        judged = ('calls', repr(trip.share), str(trip.minimum), str(trip.calls))
    else:
        judged = ('window', repr(trip.share), str(trip.minimum), microseconds(trip.window))
    return (
        microseconds(settings.open_for),
        str(settings.probes),
        str(settings.successes),
        microseconds(settings.probe_timeout),
        str(ceil(kept * 1000.0)),
        *judged,
    )
