"""Reasons of failures, without credentials."""

from collections.abc import Sequence
from typing import Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from seamwise._text.secrets import MASK
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.redis.availability import is_unavailable

STORE_NAME: Final = 'redis'


class Reasons:
    """Describes errors of redis-py.

    Args:
        secrets: Passwords that no text may contain.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def unavailable(self, error: RedisError, session: str | None = None) -> StoreUnavailable:
        """Return the failure for an error of redis-py.

        Args:
            error: The error.
            session: The session that it concerns, unless Redis itself is unavailable.
        """
        text = str(error).rstrip('.') or type(error).__name__
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        if session is None or is_unavailable(error) or isinstance(error, RedisConnectionError):
            return StoreUnavailable(STORE_NAME, text)
        return StoreUnavailable(session, text)
