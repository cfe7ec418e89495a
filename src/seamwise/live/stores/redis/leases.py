"""Leases in Redis, with the times of its server."""

from collections.abc import Collection
from typing import Final

import msgspec
from redis.exceptions import RedisError

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.log import Attempt
from seamwise.live.stores.redis.commands import Commands
from seamwise.live.stores.redis.keys import Keys
from seamwise.live.stores.redis.reasons import Reasons
from seamwise.live.stores.redis.scripts import ACQUIRE, RELEASE, RENEW, TAKE_EXPIRED, Script

_CHUNK: Final = 1000
"""Number of keys in one call of a script."""


class RedisLeases:
    """Leases of the holders in all processes with the same Redis and the same prefix.

    Args:
        commands: Sends the scripts.
        keys: Names of the keys.
        reasons: Describes errors.
    """

    def __init__(self, commands: Commands, *, keys: Keys, reasons: Reasons) -> None:
        self._commands = commands
        self._keys = (keys.lease_holders, keys.lease_times, keys.lease_attempts)
        self._reasons = reasons

    async def acquire(
        self, key: str, holder: str, *, seconds: float, attempt: Attempt | None = None
    ) -> Result[bool, StoreUnavailable]:
        """Take a key, also from its holder, unless the attempt of the client arrives late."""
        numbered = () if attempt is None else (str(attempt.number), attempt.client)
        reply = await self._run(ACQUIRE, holder, seconds, key, *numbered)
        return reply if type(reply) is Failure else Success(key in reply.unwrap())

    async def renew(
        self, keys: Collection[str], holder: str, *, seconds: float
    ) -> Result[frozenset[str], StoreUnavailable]:
        """Extend the leases of a holder, and return the keys that it still holds."""
        names, held = list(keys), set[str]()
        for start in range(0, len(names), _CHUNK):
            reply = await self._run(RENEW, holder, seconds, *names[start : start + _CHUNK])
            if type(reply) is Failure:
                return reply
            held.update(reply.unwrap())
        return Success(frozenset(held))

    async def release(self, key: str, holder: str) -> Result[None, StoreUnavailable]:
        """End a lease, if the holder still has it."""
        reply = await self._run(RELEASE, holder, 0.0, key)
        return reply if type(reply) is Failure else Success(None)

    async def take_expired(
        self, prefix: str, holder: str, *, seconds: float
    ) -> Result[tuple[str, ...], StoreUnavailable]:
        """Take the keys with a prefix whose leases have expired."""
        return await self._run(TAKE_EXPIRED, holder, seconds, prefix)

    async def _run(
        self, script: Script, holder: str, seconds: float, *arguments: str
    ) -> Result[tuple[str, ...], StoreUnavailable]:
        texts = (holder, repr(float(seconds)), *arguments)
        encoded = [text.encode(errors='surrogatepass') for text in texts]
        try:
            reply = msgspec.convert(
                await self._commands.run(script, self._keys, encoded), list[bytes]
            )
        except (RedisError, msgspec.ValidationError) as error:
            cause = error if isinstance(error, RedisError) else RedisError(str(error))
            return Failure(self._reasons.unavailable(cause))
        return Success(tuple(key.decode(errors='surrogatepass') for key in reply))
