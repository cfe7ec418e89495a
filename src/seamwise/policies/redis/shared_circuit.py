"""Circuit breaker for several processes: they share its state, and its probes, in Redis."""

from collections import deque
from collections.abc import Callable
from math import ceil
from secrets import token_hex
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, assert_never

from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_float, with_parentheses
from seamwise._runtime.world import REAL, World
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import Outcome, Permit, Waiting
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._parts.circuit_states import CircuitSettings
from seamwise.policies._parts.trip_conditions import (
    ConsecutiveFailures,
    RatioInTime,
    RatioOfCalls,
    Trip,
    consecutive,
)
from seamwise.policies.circuit import Circuit, CircuitLayer
from seamwise.policies.circuit import circuit as local_circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, Observer, Refused, State
from seamwise.policies.redis.availability import OutageMode
from seamwise.policies.redis.circuit_script import CIRCUIT
from seamwise.policies.redis.clients import Client, check_clients
from seamwise.policies.redis.outage_fallback import OutageFallback
from seamwise.policies.redis.scripts import microseconds
from seamwise.policies.redis.store import MAX_BOUND, Store

T = TypeVar('T')
E = TypeVar('E')

_FIVE_FAILURES: Final = consecutive(5)
_STATES: Final[tuple[State, State, State]] = ('closed', 'open', 'half_open')
_IDLE_SECONDS: Final = 3600.0
"""Seconds, in addition to the times of the circuit, after which Redis deletes an unused circuit."""
_MAX_UNSENT: Final = 100
_REPLY_HEADER: Final = 6
"""Number of values in the answer to a script call; the state changes follow."""

_STATE_INDEX: Final = 3

MAX_PROBES: Final = 100
MAX_CALLS: Final = 10_000
"""Upper bound of `ratio(calls=…)`: the script reads and writes the history, one byte per call, at
the end of each call.
"""

Operation: TypeAlias = Literal['enter', 'ok', 'fail', 'release']


class ScriptCall(NamedTuple):
    """One operation of the Lua script: a call arrives, or ends. Only probes have a token."""

    operation: Operation
    generation: int
    token: str


class SharedCircuit(CircuitLayer[CircuitOpen | StoreUnavailable]):
    """The guard that `shared_circuit` creates.

    A cancelled call or a defect cannot wait for Redis. Its script call is queued and sent with the
    next one of this process. If there is none, the lease of a probe expires in Redis.
    """

    def __init__(
        self,
        local: Circuit,
        store: Store,
        *,
        fallback: OutageFallback,
        observer: Observers,
        world: World,
    ) -> None:
        self.world = world
        self.settings = local.settings
        self._local = local
        self._store = store
        self._fallback = fallback
        self.observer = observer
        self._key = f'seamwise:{{{local.name}}}:circuit'
        self._arguments = _script_arguments(local.settings)
        self._unsent: deque[ScriptCall] = deque(maxlen=_MAX_UNSENT)
        self._last_state: State = 'closed'
        super().__init__(local.name)

    @property
    @override
    def state(self) -> State:
        """State at the last call of this process; during an outage of Redis, that of `away`.

        Another process may have changed it since, and no time passes in it: an open circuit stays
        `'open'` until a call arrives.
        """
        return self._fallback_state() if self._store.backoff.is_paused else self._last_state

    def _fallback_state(self) -> State:
        match self._fallback.mode:
            case 'local':
                return self._local.state
            case 'open':
                return 'closed'
            case 'closed':
                return 'open'
            case _:
                assert_never(self._fallback.mode)

    @override
    def reset(self) -> None:
        """Discard the state of this process; the circuit in Redis stays as it is."""
        super().reset()
        self._fallback.reset()
        self._store.reset()
        self._unsent.clear()

    @override
    def after_fork(self) -> None:
        self._fallback.after_fork()
        self._store.after_fork()

    @override
    def enter(self) -> Waiting:
        return _AdmissionWait(self)

    @override
    def limits(self) -> str:
        return f'{self._local.limits()}; shared over Redis, {self._fallback.limits()}'

    def queue(self, call: ScriptCall) -> None:
        """Queue a script call, to be sent with the next one.

        It takes no lock, because the garbage collector can end a call in any thread.
        """
        self._unsent.append(call)

    async def send(self, call: ScriptCall) -> list[int] | None:
        """Send a script call and the queued ones; return the reply, or None during an outage."""
        ticket = self._store.backoff.try_acquire()
        if ticket is None:
            self._queue_unsent(call)
            return None
        calls = self._with_queued(call)
        reply: list[int] | None = None
        try:
            reply = await self._store.call(ticket, self._key, *self._arguments, *_flatten(calls))
        finally:
            if reply is None:
                self._requeue(calls)
        self._on_reply(reply)
        return reply

    def send_sync(self, call: ScriptCall) -> list[int] | None:
        """Do the same as `send`, in a thread."""
        ticket = self._store.backoff.try_acquire()
        if ticket is None:
            self._queue_unsent(call)
            return None
        calls = self._with_queued(call)
        reply: list[int] | None = None
        try:
            reply = self._store.call_sync(ticket, self._key, *self._arguments, *_flatten(calls))
        finally:
            if reply is None:
                self._requeue(calls)
        self._on_reply(reply)
        return reply

    def decision(self, token: str, reply: list[int]) -> Permit | Failure[CircuitOpen]:
        """Return the permit or the refusal in the reply to an `enter`."""
        is_admitted, generation, is_probe, state, failures, time_left = reply[:_REPLY_HEADER]
        if is_admitted:
            return _SharedPermit(self, generation, token if is_probe else '')
        return self._refuse(
            failures, time_left / 1e6, 'open' if _STATES[state] == 'open' else 'half_open'
        )

    async def fallback_decision(self) -> Permit | Outcome:
        """Decide on a call without Redis."""
        decision = await self._fallback.admit(self._local.enter)
        return self._store.refuse() if decision is None else decision

    def fallback_decision_sync(self) -> Permit | Outcome:
        """Do the same as `fallback_decision`, in a thread."""
        decision = self._fallback.admit_sync(self._local.enter)
        return self._store.refuse() if decision is None else decision

    def _refuse(
        self, failures: int, retry_after: float, state: Literal['open', 'half_open']
    ) -> Failure[CircuitOpen]:
        error = CircuitOpen(self.name, failures, retry_after, state)
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)

    def _with_queued(self, call: ScriptCall) -> list[ScriptCall]:
        """Empty the queue, and return its script calls followed by `call`."""
        calls: list[ScriptCall] = []
        while self._unsent:
            try:
                calls.append(self._unsent.popleft())
            except IndexError:
                break
        calls.append(call)
        return calls

    def _queue_unsent(self, call: ScriptCall) -> None:
        """Queue a script call that was not sent, if it ends a probe."""
        if call.operation != 'enter' and call.token:
            self.queue(call)

    def _requeue(self, calls: list[ScriptCall]) -> None:
        """Queue those script calls again that Redis may or may not have applied.

        Probes are released idempotently by token. Calls without a token could be counted twice, so
        they are dropped.
        """
        for call in calls:
            if call.token:
                is_new = call.operation == 'enter'
                self.queue(call._replace(operation='release') if is_new else call)

    def _on_reply(self, reply: list[int] | None) -> None:
        if reply is None:
            return
        self._last_state = _STATES[reply[_STATE_INDEX]]
        for index in range(_REPLY_HEADER, len(reply), 3):
            before, after, failures = reply[index : index + 3]
            self._last_state = _STATES[after]
            if self.observer.is_used:
                self.observer(CircuitChanged(self.name, _STATES[before], _STATES[after], failures))


class _AdmissionWait(Waiting):
    __slots__ = ('_circuit',)

    def __init__(self, circuit: SharedCircuit) -> None:
        self._circuit = circuit

    @override
    async def wait(self) -> Permit | Outcome:
        token = token_hex(8)
        reply = await self._circuit.send(ScriptCall('enter', 0, token))
        if reply is None:
            return await self._circuit.fallback_decision()
        return self._circuit.decision(token, reply)

    @override
    def wait_sync(self) -> Permit | Outcome:
        token = token_hex(8)
        reply = self._circuit.send_sync(ScriptCall('enter', 0, token))
        if reply is None:
            return self._circuit.fallback_decision_sync()
        return self._circuit.decision(token, reply)


class _SharedPermit(Permit):
    __slots__ = ('_circuit', '_generation', '_started_at', '_token')

    def __init__(self, circuit: SharedCircuit, generation: int, token: str) -> None:
        self._circuit = circuit
        self._generation = generation
        self._token = token
        self._started_at = circuit.world.clock()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E] | Waiting:
        try:
            operation = self._operation(outcome)
        except BaseException:
            self._queue_release()
            raise
        if operation == 'release' and not self._token:
            return outcome
        call = ScriptCall(operation, self._generation, self._token)
        return _OutcomeWait(self._circuit, call, outcome)

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._circuit.queue(ScriptCall('fail', self._generation, self._token))
        else:
            self._queue_release()

    def _operation(self, outcome: Outcome) -> Operation:
        settings = self._circuit.settings
        if type(outcome) is not Success:
            return 'fail' if settings.is_counted(outcome) else 'release'
        if settings.slow is None:
            return 'ok'
        return 'fail' if settings.is_slow(self._circuit.world.clock() - self._started_at) else 'ok'

    def _queue_release(self) -> None:
        if self._token:
            self._circuit.queue(ScriptCall('release', self._generation, self._token))


class _OutcomeWait(Waiting[T, E]):
    __slots__ = ('_call', '_circuit', '_outcome')

    def __init__(self, circuit: SharedCircuit, call: ScriptCall, outcome: Result[T, E]) -> None:
        self._circuit = circuit
        self._call = call
        self._outcome = outcome

    @override
    async def wait(self) -> Result[T, E]:
        await self._circuit.send(self._call)
        return self._outcome

    @override
    def wait_sync(self) -> Result[T, E]:
        self._circuit.send_sync(self._call)
        return self._outcome


@with_parentheses('shared_circuit(redis=…, name=…)')
def shared_circuit(  # noqa: PLR0913 -- settings, each with a default
    *,
    redis: Client,
    name: str,
    trip: Trip = _FIVE_FAILURES,
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
    """Build a circuit that all processes with the same `name` and the same Redis share.

    It works like `seamwise.policies.circuit`. Pass the same settings in all processes.
    Otherwise each process applies its own settings to the shared counts. Redis 5 or later is
    required.

    Each call sends two commands to Redis, one when it starts and one when it ends. If Redis is
    unavailable at the end of a call that it admitted, the call is not counted.

    Args:
        redis: A redis.asyncio.Redis for `run`, a redis.Redis for `run_sync`, or `Clients` of both.
            A RedisCluster of either kind works too.
        name: Name in errors, events and descriptions, and part of the key in Redis.
        trip: Condition that opens the circuit: `consecutive(…)` or `ratio(…)`, with at most
            10,000 calls.
        open_for: Time that the circuit stays open, in seconds.
        probes: Maximum number of concurrent probes of all processes together, at most 100.
        successes: Number of consecutive successful probes that close the circuit.
        probe_timeout: Time in seconds after which a probe has failed, e.g. because its process
            died (None: `open_for`).
        slow: Time in seconds after which a success counts as a failure (None: never). It is
            measured by the clock of `world`; all other times are measured by Redis.
        counts: Returns whether an error counts as a failure.
        bound: Seconds after which a reply of Redis is late, at most 60. They count from the time at
            which the request was written.
        away: Behaviour while Redis is unavailable: `'local'` uses a circuit of this process alone,
            `'open'` admits all calls, `'closed'` refuses all with `StoreUnavailable`.
        observer: Receives `CircuitChanged`, `Refused`, `StoreAway` and `StoreBack` events.
        world: Clock of `slow` and of the pauses after an outage; a `FakeWorld` in tests.

    Raises:
        ValueError: A setting is out of range.
        TypeError: `redis` is not a client.

    A call raises an error of redis-py if Redis rejects it, e.g. because of a wrong password.

    >>> from redis import Redis
    >>> shared_circuit(redis=Redis(), name='mail', open_for=10.0).name
    'mail'
    """
    clients = check_clients(redis)
    bound = check_float('bound', bound, above=0.0, maximum=MAX_BOUND)
    local = local_circuit(
        name=name,
        trip=trip,
        open_for=open_for,
        probes=probes,
        successes=successes,
        probe_timeout=probe_timeout,
        slow=slow,
        counts=counts,
        observer=observer,
        world=world,
    )
    if probes > MAX_PROBES:
        raise ValueError(f'probes must be at most {MAX_PROBES} over Redis, not {probes!r}.')
    if isinstance(trip, RatioOfCalls) and trip.calls > MAX_CALLS:
        raise ValueError(
            f'calls must be at most {MAX_CALLS} over Redis, not {trip.calls!r}. '
            'Use ratio(…, window=seconds), which stores ten pairs of numbers.'
        )
    observers = observers_of(observer)
    store = Store(name, clients, CIRCUIT, observer=observers, bound=bound, world=world)
    return SharedCircuit(
        local,
        store,
        fallback=OutageFallback(away, local, bound=bound),
        observer=observers,
        world=world,
    )


def _flatten(calls: list[ScriptCall]) -> list[str]:
    return [text for call in calls for text in (call.operation, str(call.generation), call.token)]


def _script_arguments(settings: CircuitSettings) -> tuple[str, ...]:
    """Return the arguments of the script that do not change, with times in microseconds."""
    trip = settings.trip
    window = trip.window if isinstance(trip, RatioInTime) else 0.0
    ttl = _IDLE_SECONDS + settings.open_for + settings.probe_timeout + window
    condition: tuple[str, str, str, str]
    if isinstance(trip, ConsecutiveFailures):
        condition = ('consecutive', '0', str(trip.failures), '0')
    elif isinstance(trip, RatioOfCalls):
        condition = ('calls', repr(trip.share), str(trip.minimum), str(trip.calls))
    else:
        condition = ('window', repr(trip.share), str(trip.minimum), microseconds(trip.window))
    return (
        microseconds(settings.open_for),
        str(settings.probes),
        str(settings.successes),
        microseconds(settings.probe_timeout),
        str(ceil(ttl * 1000.0)),
        *condition,
    )
