"""Leases in the memory of the process."""

from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import replace

from seamwise._results.containers import Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.log import Attempt


class _Lease(Struct, frozen=True):
    holder: str
    expires_at: float
    attempt: Attempt | None = None


class MemoryLeases:
    """Leases of the holders in one process.

    Args:
        clock: Returns a monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._leases: dict[str, _Lease] = {}

    async def acquire(
        self, key: str, holder: str, *, seconds: float, attempt: Attempt | None = None
    ) -> Result[bool, StoreUnavailable]:
        """Take a key, also from its holder, unless the attempt of the client arrives late."""
        lease = self._leases.get(key)
        if lease is not None and attempt is not None and attempt.is_before(lease.attempt):
            return Success(False)  # noqa: FBT003 -- the value of a result
        self._leases[key] = _Lease(holder, self._clock() + seconds, attempt)
        return Success(True)  # noqa: FBT003 -- as above

    async def renew(
        self, keys: Collection[str], holder: str, *, seconds: float
    ) -> Result[frozenset[str], StoreUnavailable]:
        """Extend the leases of a holder, and return the keys that it still holds."""
        held = frozenset(
            key for key in keys if key in self._leases and self._leases[key].holder == holder
        )
        for key in held:
            self._leases[key] = replace(self._leases[key], expires_at=self._clock() + seconds)
        return Success(held)

    async def release(self, key: str, holder: str) -> Result[None, StoreUnavailable]:
        """End a lease, if the holder still has it."""
        lease = self._leases.get(key)
        if lease is not None and lease.holder == holder:
            del self._leases[key]
        return Success(None)

    async def take_expired(
        self, prefix: str, holder: str, *, seconds: float
    ) -> Result[tuple[str, ...], StoreUnavailable]:
        """Take the keys with a prefix whose leases have expired."""
        now = self._clock()
        expired = tuple(
            key
            for key, lease in self._leases.items()
            if key.startswith(prefix) and lease.expires_at <= now
        )
        for key in expired:
            self._leases[key] = _Lease(holder, now + seconds)
        return Success(expired)
