"""Queues of the callers in this process that wait for a slot of a shared rate limit."""

from threading import RLock
from weakref import WeakValueDictionary

from seamwise._runtime.wait_queue import Waiter, WaitQueue


class BucketQueue:
    """FIFO queue of the waiters of one bucket.

    Only the head of the queue calls Redis, when its slot may be free. There is no order between
    processes.
    """

    __slots__ = ('__weakref__', '_head', '_mutex', '_queue')

    def __init__(self, mutex: RLock) -> None:
        self._mutex = mutex
        self._queue = WaitQueue(mutex, self._wake_head)
        self._head: Waiter | None = None

    def waiting_weight(self) -> int:
        """Return the total weight of all waiters."""
        with self._mutex:
            return 0 if self._head is None else self._head.weight + self._queue.weight

    def join(self, weight: int) -> tuple[Waiter, int]:
        """Return a new waiter, and the total weight of those before it.

        The waiter is woken immediately if it is the only one.
        """
        with self._mutex:
            weight_ahead = self.waiting_weight()
            waiter = self._queue.join(weight)
            self._wake_head()
            return waiter, weight_ahead

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter, served or not."""
        with self._mutex:
            self._queue.leave(waiter)
            if waiter is self._head:
                self._head = None
                self._wake_head()

    def _wake_head(self) -> None:
        if self._head is None:
            self._head = self._queue.wake_next()


class BucketQueues:
    """Map from bucket names to queues; a queue is deleted when its last caller is done."""

    def __init__(self) -> None:
        self._mutex = RLock()
        self._queues: WeakValueDictionary[str, BucketQueue] = WeakValueDictionary()

    def get(self, bucket: str) -> BucketQueue:
        """Return the queue of a bucket, and create it if necessary."""
        with self._mutex:
            return self._queues.setdefault(bucket, BucketQueue(self._mutex))
