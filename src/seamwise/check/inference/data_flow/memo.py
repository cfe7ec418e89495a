"""Memo of recursive computations that can reach themselves."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar('V')


class RecursiveMemo(Generic[V]):
    """Results by subject and query, where computing one subject may need others, and itself.

    A name can be bound to an expression that reads it, as in `result = retry(result)`. The inner
    use then adds nothing, and yields the neutral value.

    >>> memo = RecursiveMemo[frozenset[str]](frozenset())
    >>> memo.get('result', 'errors', lambda: {'Busy'} | memo.get('result', 'errors', frozenset))
    {'Busy'}
    """

    def __init__(self, neutral: V) -> None:
        self._neutral = neutral
        self._results: dict[tuple[Hashable, Hashable], V] = {}
        self._pending: set[Hashable] = set()
        self._cycles = 0

    def get(self, subject: Hashable, query: Hashable, compute: Callable[[], V]) -> V:
        """Return the stored result, or compute it.

        Args:
            subject: The object that can recur, such as a name. While it is pending, all its queries
                return the neutral value.
            query: The question about the subject.
            compute: Computes the result; may call `get`.
        """
        if (subject, query) in self._results:
            return self._results[subject, query]
        if subject in self._pending:
            self._cycles += 1
            return self._neutral
        cycles = self._cycles
        self._pending.add(subject)
        try:
            result = compute()
        finally:
            self._pending.discard(subject)
        if cycles == self._cycles or not self._pending:
            # A result that met a pending outer subject is incomplete, and valid only inside it.
            self._results[subject, query] = result
        return result
