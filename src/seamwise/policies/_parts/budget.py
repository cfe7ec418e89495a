"""Budgets of retries, shared by many calls: where everything fails, retries end before they become the outage."""

from math import floor
from threading import RLock
from typing import Final

from typing_extensions import override

from seamwise.categories import Category
from seamwise.errors import TaggedError
from seamwise.policies._engine.validation import check_float
from seamwise.policies._engine.world import REAL, World, check_world

CREDIT_LIVES: Final = 10
"""In seconds: so long a share counts a call, and what was retried."""

_SUCCESS_GIVES: Final = 1.0
_MOST: Final = 1e9
# What binary fractions miss: 0.29 * 100 is 28.999999999999996.
_NOTHING: Final = 1e-9


class Budget:
    """What retries may cost in all: made by `share`, `quota` or `tokens`, shared by guards and by code that is no guard.

    Such code calls `acquire` when a failure could be retried, retries where it says so, and calls `release` for what pays in:
    each model says what that is. Nobody ever waits for a budget: an empty one ends the retries. Safe from any number of threads.
    """

    __slots__ = ('_lock',)

    def __init__(self) -> None:
        # Its own thread may come in again: a call that is lost ends where the garbage collector finds it.
        self._lock = RLock()

    @staticmethod
    def share(ratio: float, *, minimum_per_second: float = 1.0, world: World = REAL) -> 'Budget':
        """Allow `ratio` retries (1 at most) for each call of the last 10 seconds, or `minimum_per_second` where that is more.

        `acquire(n)` is n retries, `release(n)` is n calls. As Finagle's `RetryBudget`, whose credit lives as long.

        >>> budget = Budget.share(0.2, minimum_per_second=0.0)
        >>> budget.release(10)
        >>> budget.left, budget.acquire(2), budget.acquire(1)
        (2.0, True, False)
        """
        share, least = (
            check_float('ratio', ratio, maximum=1.0),
            check_float('minimum_per_second', minimum_per_second, maximum=_MOST),
        )
        if not share and not least:
            raise ValueError(
                'ratio or minimum_per_second must be more than 0, or nothing is ever retried.'
            )
        return _Share(share, least, check_world(world))

    @staticmethod
    def quota(capacity: float, *, cost: float = 5.0, timeout_cost: float = 10.0) -> 'Budget':
        """Let each retry take `cost` of a capacity, or `timeout_cost` after an error of the category TIMEOUT.

        A call that succeeds gives back what its last retry took, or 1 where it had none. `acquire(n)` and `release(n)`
        are n of the capacity. As botocore's retry quota in its standard mode, where the capacity is 500.

        >>> budget = Budget.quota(50)
        >>> budget.acquire(49), budget.acquire(10), budget.left
        (True, False, 1.0)
        """
        whole = check_float('capacity', capacity, above=0.0, maximum=_MOST)
        price = check_float('cost', cost, above=0.0)
        if price > whole:
            raise ValueError(
                f'cost must be {whole:g} or less, which is the capacity, or nothing is ever retried, not {cost!r}.'
            )
        return _Quota(whole, price, check_float('timeout_cost', timeout_cost, above=0.0))

    @staticmethod
    def tokens(maximum: float, *, ratio: float) -> 'Budget':
        """Let each failure take a token, give back `ratio` of one for each success, and allow retries above half of the maximum.

        `acquire(n)` is n failures, whatever it answers, `release(n)` is n successes. As gRPC's retry throttling
        (its proposal A6), and in thousandths as there.

        >>> budget = Budget.tokens(4, ratio=0.8)
        >>> budget.acquire(1), budget.acquire(1), budget.left
        (True, False, 2.0)
        """
        return _Tokens(
            check_float('maximum', maximum, minimum=0.001, maximum=_MOST),
            check_float('ratio', ratio, minimum=0.001, maximum=_MOST),
        )

    def acquire(self, n: float = 1.0, /) -> bool:
        """Take so much for a retry, and say whether it may be made."""
        return self._take(check_float('n', n, maximum=_MOST))

    def release(self, n: float = 1.0, /) -> None:
        """Pay in so much."""
        self._give(check_float('n', n, maximum=_MOST))

    @property
    def left(self) -> float:
        """What could be acquired now; of tokens, how many there are."""
        raise NotImplementedError

    def limits(self) -> str:
        """Say what is allowed, in a few words, for `describe`."""
        raise NotImplementedError

    # What `retry` tells its budget.

    def on_call(self) -> None:
        """Hear that a call begins."""

    def charge(self, error: TaggedError, /) -> float | None:  # noqa: ARG002 -- for those that read it
        """Take what the retry after an error costs; gives a receipt that only this budget can read, or None for no retry."""
        return 1.0 if self._take(1.0) else None

    def refund(self, receipt: float, /) -> None:
        """Hear that a retry is not made after all, because its caller was interrupted."""

    def on_success(self, receipt: float | None, /) -> None:
        """Hear that a call succeeded, with the receipt of its last retry."""

    def on_give_up(self) -> None:
        """Hear that a failure is not retried, though one of its kind may be."""

    def _take(self, n: float, /) -> bool:
        raise NotImplementedError

    def _give(self, n: float, /) -> None:
        raise NotImplementedError


class _Share(Budget):
    # A slot for each second, the present one included.
    __slots__ = ('_calls', '_clock', '_least', '_ratio', '_retries', '_second')

    def __init__(self, ratio: float, minimum_per_second: float, world: World) -> None:
        super().__init__()
        self._ratio = ratio
        self._least = minimum_per_second * CREDIT_LIVES
        self._clock = world.clock
        self._second = floor(world.clock())
        self._calls = [0.0] * CREDIT_LIVES
        self._retries = [0.0] * CREDIT_LIVES

    @property
    @override
    def left(self) -> float:
        now = self._clock()
        with self._lock:
            self._slot(now)
            return max(self._unspent(), 0.0)

    @override
    def limits(self) -> str:
        return f'retries for {self._ratio * 100:g} % of the calls, or {self._least / CREDIT_LIVES:g} a second'

    @override
    def on_call(self) -> None:
        self._give(1.0)

    @override
    def charge(self, error: TaggedError, /) -> float | None:
        return self._second_of(1.0)

    @override
    def refund(self, receipt: float, /) -> None:
        with self._lock:
            # An older one is forgotten, and its slot counts a later second.
            if receipt > self._second - CREDIT_LIVES:
                self._retries[int(receipt) % CREDIT_LIVES] -= 1.0

    @override
    def _take(self, n: float, /) -> bool:
        return self._second_of(n) is not None

    @override
    def _give(self, n: float, /) -> None:
        now = self._clock()
        with self._lock:
            self._calls[self._slot(now)] += n

    def _second_of(self, n: float) -> int | None:
        """Take so much, and give the second in which it was taken: it must not be given back to another one."""
        now = self._clock()
        with self._lock:
            slot = self._slot(now)
            if n > self._unspent() + _NOTHING:
                return None
            self._retries[slot] += n
            return self._second

    def _unspent(self) -> float:
        return max(self._ratio * sum(self._calls), self._least) - sum(self._retries)

    def _slot(self, now: float) -> int:
        """Forget what is too old, and give the slot of the present second; a clock that goes back stands still."""
        second = max(floor(now), self._second)
        for passed in range(max(self._second, second - CREDIT_LIVES) + 1, second + 1):
            self._calls[passed % CREDIT_LIVES] = self._retries[passed % CREDIT_LIVES] = 0.0
        self._second = second
        return second % CREDIT_LIVES


class _Quota(Budget):
    __slots__ = ('_capacity', '_cost', '_left', '_timeout_cost')

    def __init__(self, capacity: float, cost: float, timeout_cost: float) -> None:
        super().__init__()
        self._capacity = self._left = capacity
        self._cost = cost
        self._timeout_cost = timeout_cost

    @property
    @override
    def left(self) -> float:
        return self._left

    @override
    def limits(self) -> str:
        return f'a quota of {self._capacity:g} for retries, {self._cost:g} each, {self._timeout_cost:g} after a timeout'

    @override
    def charge(self, error: TaggedError, /) -> float | None:
        cost = self._timeout_cost if error.category is Category.TIMEOUT else self._cost
        return cost if self._take(cost) else None

    @override
    def refund(self, receipt: float, /) -> None:
        self._give(receipt)

    @override
    def on_success(self, receipt: float | None, /) -> None:
        self._give(_SUCCESS_GIVES if receipt is None else receipt)

    @override
    def _take(self, n: float, /) -> bool:
        with self._lock:
            if n > self._left:
                return False
            self._left -= n
            return True

    @override
    def _give(self, n: float, /) -> None:
        # The lasting state of good days, in which calls do not wait for one another.
        if self._left < self._capacity:
            with self._lock:
                self._left = min(self._left + n, self._capacity)


class _Tokens(Budget):
    # In thousandths: tenths of binary fractions do not add up, and what is left is compared with half of the maximum.
    __slots__ = ('_left', '_maximum', '_ratio')

    def __init__(self, maximum: float, ratio: float) -> None:
        super().__init__()
        self._maximum = self._left = round(maximum * 1000)
        self._ratio = round(ratio * 1000)

    @property
    @override
    def left(self) -> float:
        return self._left / 1000

    @override
    def limits(self) -> str:
        return f'retries while more than half of {self._maximum / 1000:g} tokens are left, {self._ratio / 1000:g} back for a success'

    @override
    def on_success(self, receipt: float | None, /) -> None:
        self._give(1.0)

    @override
    def on_give_up(self) -> None:
        self._take(1.0)

    @override
    def _take(self, n: float, /) -> bool:
        with self._lock:
            self._left = max(self._left - round(n * 1000), 0)
            return self._left * 2 > self._maximum

    @override
    def _give(self, n: float, /) -> None:
        if self._left < self._maximum:
            with self._lock:
                self._left = min(self._left + round(n * self._ratio), self._maximum)
