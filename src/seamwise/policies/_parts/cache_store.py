"""What a cache keeps: successes and the calls that are under way, each under a key that is made of the arguments."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from inspect import Parameter, signature
from threading import RLock
from typing import Generic, NamedTuple, TypeVar

from seamwise.containers import Success

F = TypeVar('F')
T = TypeVar('T')


class _Entry(NamedTuple, Generic[T]):
    success: Success[T]
    at: float


class CacheStore(Generic[F, T]):
    """The successes that are kept, and the calls that are under way, each by its key."""

    def __init__(
        self, ttl: float, stale_for: float, capacity: int, *, clock: Callable[[], float]
    ) -> None:
        self._fresh_for = ttl
        self._kept_for = ttl + stale_for
        self._capacity = capacity
        self._clock = clock
        # A key's `__eq__` and the end of an old value run inside of it, and may come back here.
        self._lock = RLock()
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._flights: dict[Hashable, F] = {}

    def find(self, key: Hashable) -> Success[T] | None:
        """Give a success that is fresh."""
        with self._lock:
            return self._within(key, self._fresh_for)

    def join(self, key: Hashable, mine: F) -> Success[T] | F:
        """Give a success that has come meanwhile, or the call that is under way: `mine` where there was none."""
        with self._lock:
            found = self._within(key, self._fresh_for)
            return self._flights.setdefault(key, mine) if found is None else found

    def keep(self, key: Hashable, flight: F, success: Success[T]) -> None:
        """Keep what a call gave, unless it has been forgotten meanwhile."""
        with self._lock:
            if self._flights.get(key) is not flight:
                return
            self._entries[key] = _Entry(success, self._clock())
            self._entries.move_to_end(key)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def stale(self, key: Hashable, flight: F) -> Success[T] | None:
        """Give an old success instead of what a call gave."""
        with self._lock:
            return self._within(key, self._kept_for) if self._flights.get(key) is flight else None

    def lose(self, key: Hashable, flight: F) -> None:
        """Forget an old success, for a call said that there is none any more."""
        with self._lock:
            if self._flights.get(key) is flight:
                self._entries.pop(key, None)

    def drop(self, key: Hashable, flight: F) -> None:
        """Let nobody join a call any more."""
        with self._lock:
            if self._flights.get(key) is flight:
                del self._flights[key]

    def forget(self, key: Hashable) -> None:
        """Forget a success, and what a call that is under way will give."""
        with self._lock:
            self._entries.pop(key, None)
            self._flights.pop(key, None)

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._entries.clear()
            self._flights.clear()

    def _within(self, key: Hashable, seconds: float) -> Success[T] | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        # Read inside of the lock: no thread then sees an entry from its future. Where the clock went back, nobody knows the age.
        age = self._clock() - entry.at
        if 0.0 <= age < seconds:
            self._entries.move_to_end(key)
            return entry.success
        if not 0.0 <= age < self._kept_for:
            self._entries.pop(key, None)
        return None


class ArgumentKey:
    """Makes a key of the arguments of a function, the same however they are given."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._signature = signature(function)
        kinds = [parameter.kind for parameter in self._signature.parameters.values()]
        by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        self._plain = len(kinds) if all(kind in by_position for kind in kinds) else None
        self._rest = next(
            (
                p.name
                for p in self._signature.parameters.values()
                if p.kind is Parameter.VAR_KEYWORD
            ),
            None,
        )

    def __call__(self, *args: object, **kwargs: object) -> Hashable:
        """Give the key; wrong arguments are a TypeError, as the function itself has it."""
        if not kwargs and len(args) == self._plain:
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._rest is not None:
            bound.arguments[self._rest] = tuple(sorted(bound.arguments[self._rest].items()))
        return tuple(bound.arguments.values())
