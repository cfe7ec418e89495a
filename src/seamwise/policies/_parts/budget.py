"""Retry budgets, shared by many calls: retries stop before they overload a failing service."""

from math import floor
from threading import RLock
from typing import Final

from typing_extensions import override

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._runtime.registry import ProcessState, register
from seamwise._runtime.validation import check_float
from seamwise._runtime.world import REAL, World, check_world

WINDOW_SECONDS: Final = 10
"""Seconds for which `Budget.share` counts a call or a retry."""

_REFUND_WITHOUT_RETRY: Final = 1.0
_MAX_AMOUNT: Final = 1e9
# 0.29 * 100 is 28.999999999999996 in binary floating point.
_ROUNDING_ERROR: Final = 1e-9


class Budget(ProcessState):
    """Limit on the retries of several guards; created by `share`, `quota` or `tokens`.

    Code without a guard can use the same budget. It calls `acquire` before a retry, retries only
    if that returns True, and calls `release` for the events that the model rewards. An empty
    budget ends the retries; it never makes a call wait. All methods are thread-safe.
    """

    __slots__ = ('__weakref__', '_lock')

    def __init__(self) -> None:
        # Reentrant: the garbage collector can close an abandoned call in a thread that has the
        # lock, and closing the call refunds its retry.
        self._lock = RLock()

    @staticmethod
    def share(ratio: float, *, minimum_per_second: float = 1.0, world: World = REAL) -> 'Budget':
        """Return a budget that allows `ratio` retries per call of the last 10 seconds.

        `acquire(n)` withdraws n retries, `release(n)` counts n calls. The model is Finagle's
        `RetryBudget`, with the same lifetime of the credit.

        Args:
            ratio: Retries per call, 0 to 1.
            minimum_per_second: Retries per second that are allowed even without calls.
            world: Clock of the budget.

        Raises:
            ValueError: A number is out of range, or both are 0.

        >>> budget = Budget.share(0.2, minimum_per_second=0.0)
        >>> budget.release(10)
        >>> budget.left, budget.acquire(2), budget.acquire(1)
        (2.0, True, False)
        """
        ratio = check_float('ratio', ratio, maximum=1.0)
        minimum = check_float('minimum_per_second', minimum_per_second, maximum=_MAX_AMOUNT)
        if not ratio and not minimum:
            raise ValueError(
                'ratio or minimum_per_second must be more than 0, or nothing is ever retried.'
            )
        return register(_Share(ratio, minimum, check_world(world)))

    @staticmethod
    def quota(capacity: float, *, cost: float = 5.0, timeout_cost: float = 10.0) -> 'Budget':
        """Return a budget with a fixed capacity, from which each retry withdraws its cost.

        A call that succeeds refunds the cost of its last retry, or 1 if it had none. `acquire(n)`
        withdraws n units, `release(n)` deposits n units. The model is the retry quota of
        botocore's standard mode, which has a capacity of 500.

        Args:
            capacity: Units of a full budget.
            cost: Units per retry, at most `capacity`.
            timeout_cost: Units per retry after an error of the category TIMEOUT.

        Raises:
            ValueError: A number is out of range.

        >>> budget = Budget.quota(50)
        >>> budget.acquire(49), budget.acquire(10), budget.left
        (True, False, 1.0)
        """
        capacity = check_float('capacity', capacity, above=0.0, maximum=_MAX_AMOUNT)
        unit_cost = check_float('cost', cost, above=0.0)
        if unit_cost > capacity:
            raise ValueError(
                f'cost must be {capacity:g} (the capacity) or less, or nothing is ever retried, '
                f'not {cost!r}.'
            )
        timeout_cost = check_float('timeout_cost', timeout_cost, above=0.0)
        return register(_Quota(capacity, unit_cost, timeout_cost))

    @staticmethod
    def tokens(maximum: float, *, ratio: float) -> 'Budget':
        """Return a budget that allows retries while more than half of its tokens are left.

        A failure takes one token, a success returns `ratio` tokens. `acquire(n)` counts n
        failures even if it returns False; `release(n)` counts n successes. The model is gRPC's
        retry throttling (gRFC A6), which also counts in thousandths of a token.

        Args:
            maximum: Tokens of a full budget, at least 0.001.
            ratio: Tokens that a success returns, at least 0.001.

        Raises:
            ValueError: A number is out of range.

        >>> budget = Budget.tokens(4, ratio=0.8)
        >>> budget.acquire(1), budget.acquire(1), budget.left
        (True, False, 2.0)
        """
        maximum = check_float('maximum', maximum, minimum=0.001, maximum=_MAX_AMOUNT)
        ratio = check_float('ratio', ratio, minimum=0.001, maximum=_MAX_AMOUNT)
        return register(_Tokens(maximum, ratio))

    def acquire(self, n: float = 1.0, /) -> bool:
        """Withdraw `n` for a retry, and return whether the retry is allowed."""
        return self._withdraw(check_float('n', n, maximum=_MAX_AMOUNT))

    def release(self, n: float = 1.0, /) -> None:
        """Deposit `n`."""
        self._deposit(check_float('n', n, maximum=_MAX_AMOUNT))

    def reset(self) -> None:
        """Restore the full budget."""
        raise NotImplementedError

    def after_fork(self) -> None:
        """Replace the lock in a forked process; the budget stays as it is."""
        self._lock = RLock()

    @property
    def left(self) -> float:
        """Amount that `acquire` would grant now; for `tokens`, the number of tokens."""
        raise NotImplementedError

    def limits(self) -> str:
        """Return a short description of the limit, for `describe`."""
        raise NotImplementedError

    # Hooks that `retry` calls. Each model overrides those that it needs.

    def on_call(self) -> None:
        """Count a call that starts."""

    def charge(self, error: TaggedError, /) -> float | None:  # noqa: ARG002 -- for overrides
        """Withdraw the cost of a retry after `error`.

        Returns:
            A receipt for `refund` and `on_success` of this budget, or None if the retry is not
            allowed.
        """
        return 1.0 if self._withdraw(1.0) else None

    def refund(self, receipt: float, /) -> None:
        """Refund a retry that did not start, because its caller was interrupted."""

    def on_success(self, receipt: float | None, /) -> None:
        """Count a call that succeeded, with the receipt of its last retry if it had one."""

    def on_give_up(self) -> None:
        """Count a retryable failure that is not retried."""

    def _withdraw(self, n: float, /) -> bool:
        raise NotImplementedError

    def _deposit(self, n: float, /) -> None:
        raise NotImplementedError


class _Share(Budget):
    # One slot per second, including the current one.
    __slots__ = ('_calls', '_minimum', '_ratio', '_retries', '_second', '_world')

    def __init__(self, ratio: float, minimum_per_second: float, world: World) -> None:
        super().__init__()
        self._ratio = ratio
        self._minimum = minimum_per_second * WINDOW_SECONDS
        self._world = world
        self.reset()

    @override
    def reset(self) -> None:
        with self._lock:
            self._second = floor(self._world.clock())
            self._calls = [0.0] * WINDOW_SECONDS
            self._retries = [0.0] * WINDOW_SECONDS

    @property
    @override
    def left(self) -> float:
        now = self._world.clock()
        with self._lock:
            self._advance(now)
            return max(self._unspent(), 0.0)

    @override
    def limits(self) -> str:
        per_second = self._minimum / WINDOW_SECONDS
        return f'retries for {self._ratio * 100:g} % of the calls, or {per_second:g} per second'

    @override
    def on_call(self) -> None:
        self._deposit(1.0)

    @override
    def charge(self, error: TaggedError, /) -> float | None:
        return self._withdraw_in_second(1.0)

    @override
    def refund(self, receipt: float, /) -> None:
        with self._lock:
            # The slot of an older receipt already counts a later second. A receipt from before
            # `reset` can be of any second, and its retry is no longer counted.
            if self._second - WINDOW_SECONDS < receipt <= self._second:
                slot = int(receipt) % WINDOW_SECONDS
                self._retries[slot] = max(self._retries[slot] - 1.0, 0.0)

    @override
    def _withdraw(self, n: float, /) -> bool:
        return self._withdraw_in_second(n) is not None

    @override
    def _deposit(self, n: float, /) -> None:
        now = self._world.clock()
        with self._lock:
            self._calls[self._advance(now)] += n

    def _withdraw_in_second(self, n: float) -> int | None:
        """Withdraw `n` and return the current second, to which a refund belongs; None if denied."""
        now = self._world.clock()
        with self._lock:
            slot = self._advance(now)
            if n > self._unspent() + _ROUNDING_ERROR:
                return None
            self._retries[slot] += n
            return self._second

    def _unspent(self) -> float:
        return max(self._ratio * sum(self._calls), self._minimum) - sum(self._retries)

    def _advance(self, now: float) -> int:
        """Clear expired slots, and return the current one. The time never goes back."""
        current = max(floor(now), self._second)
        for second in range(max(self._second, current - WINDOW_SECONDS) + 1, current + 1):
            self._calls[second % WINDOW_SECONDS] = self._retries[second % WINDOW_SECONDS] = 0.0
        self._second = current
        return current % WINDOW_SECONDS


class _Quota(Budget):
    __slots__ = ('_balance', '_capacity', '_cost', '_timeout_cost')

    def __init__(self, capacity: float, cost: float, timeout_cost: float) -> None:
        super().__init__()
        self._capacity = self._balance = capacity
        self._cost = cost
        self._timeout_cost = timeout_cost

    @override
    def reset(self) -> None:
        with self._lock:
            self._balance = self._capacity

    @property
    @override
    def left(self) -> float:
        return self._balance

    @override
    def limits(self) -> str:
        return (
            f'a quota of {self._capacity:g} for retries, {self._cost:g} each, '
            f'{self._timeout_cost:g} after a timeout'
        )

    @override
    def charge(self, error: TaggedError, /) -> float | None:
        cost = self._timeout_cost if error.category is Category.TIMEOUT else self._cost
        return cost if self._withdraw(cost) else None

    @override
    def refund(self, receipt: float, /) -> None:
        self._deposit(receipt)

    @override
    def on_success(self, receipt: float | None, /) -> None:
        self._deposit(_REFUND_WITHOUT_RETRY if receipt is None else receipt)

    @override
    def _withdraw(self, n: float, /) -> bool:
        with self._lock:
            if n > self._balance:
                return False
            self._balance -= n
            return True

    @override
    def _deposit(self, n: float, /) -> None:
        # A full budget is the normal state: skip the lock, so that calls do not contend for it.
        if self._balance < self._capacity:
            with self._lock:
                self._balance = min(self._balance + n, self._capacity)


class _Tokens(Budget):
    # Integer thousandths: sums of binary fractions such as 0.1 are inexact, and the balance is
    # compared with half of the maximum.
    __slots__ = ('_balance', '_maximum', '_ratio')

    def __init__(self, maximum: float, ratio: float) -> None:
        super().__init__()
        self._maximum = self._balance = round(maximum * 1000)
        self._ratio = round(ratio * 1000)

    @override
    def reset(self) -> None:
        with self._lock:
            self._balance = self._maximum

    @property
    @override
    def left(self) -> float:
        return self._balance / 1000

    @override
    def limits(self) -> str:
        maximum, ratio = self._maximum / 1000, self._ratio / 1000
        return (
            f'retries while more than half of {maximum:g} tokens are left, '
            f'a success returns {ratio:g}'
        )

    @override
    def on_success(self, receipt: float | None, /) -> None:
        self._deposit(1.0)

    @override
    def on_give_up(self) -> None:
        self._withdraw(1.0)

    @override
    def _withdraw(self, n: float, /) -> bool:
        with self._lock:
            self._balance = max(self._balance - round(n * 1000), 0)
            return self._balance * 2 > self._maximum

    @override
    def _deposit(self, n: float, /) -> None:
        if self._balance < self._maximum:
            with self._lock:
                self._balance = min(self._balance + round(n * self._ratio), self._maximum)
