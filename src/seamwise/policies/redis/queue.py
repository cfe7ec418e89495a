"""Who waits in this process for a shared limit: one asks Redis at a time, and the others stand behind, first come first served."""

from threading import RLock
from weakref import WeakValueDictionary

from seamwise.policies._engine.wait_queue import Waiter, WaitQueue


class Queue:
    """The waiters of one bucket. Between processes no order holds: the heads of their queues ask when their time may have come."""

    __slots__ = ('__weakref__', '_head', '_line', '_mutex')

    def __init__(self, mutex: RLock) -> None:
        self._mutex = mutex
        self._line = WaitQueue(mutex)
        self._head: Waiter | None = None

    def ahead(self) -> int:
        """Give the weight of all who wait."""
        with self._mutex:
            return 0 if self._head is None else self._head.weight + self._line.weight

    def join(self, weight: int) -> tuple[Waiter, int]:
        """Stand behind all who wait, and give their weight; who is alone is called at once."""
        with self._mutex:
            ahead = self.ahead()
            turn = self._line.join(weight)
            if self._head is None:
                self._head = self._line.wake_next()
            return turn, ahead

    def leave(self, turn: Waiter) -> None:
        """Go away, served or not; those behind move up."""
        with self._mutex:
            self._line.leave(turn)
            if turn is self._head:
                self._head = self._line.wake_next()


class Queues:
    """A queue a bucket, as long as somebody holds it."""

    def __init__(self) -> None:
        self._mutex = RLock()
        self._queues: WeakValueDictionary[str, Queue] = WeakValueDictionary()

    def of(self, bucket: str) -> Queue:
        """Give the queue of a bucket."""
        with self._mutex:
            return self._queues.setdefault(bucket, Queue(self._mutex))
