"""Isolated tools: one that ends in time, and one that needs too much memory."""

from seamwise.toolhost import Limits, tool

LIMITS = Limits(seconds=10, memory=256 * 2**20)


@tool(isolated=LIMITS)
def count_primes(limit: int) -> int:
    """Count the primes below a limit.

    limit: at most 100,000
    """
    return sum(
        all(number % divisor for divisor in range(2, int(number**0.5) + 1))
        for number in range(2, min(limit, 100_000))
    )


@tool(isolated=LIMITS)
def fill_memory() -> int:
    """Allocate more memory than the process may have."""
    return len(bytearray(2**30))
