"""The bank, with retries by stamina, and a circuit and a deadline by hand."""

import asyncio
import time

import httpx2
import stamina

from shop_plain.errors import BankPaused, BankTooSlow, BankUnavailable, CardDeclined

PAYMENT_REQUIRED = 402
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500


class Circuit:
    """Refuses calls for 30 seconds after five failures; stamina has no circuit for asyncio."""

    def __init__(self, failures: int = 5, open_for: float = 30.0) -> None:
        self._limit = failures
        self._open_for = open_for
        self._failures = 0
        self._opened = 0.0
        self._is_probing = False

    def enter(self) -> None:
        """Raise `BankPaused` if the circuit is open."""
        if self._failures < self._limit:
            return
        left = self._opened + self._open_for - time.monotonic()
        if left > 0 or self._is_probing:
            raise BankPaused(max(left, 0.0))
        self._is_probing = True

    def leave(self, *, is_failure: bool) -> None:
        """Count the outcome of a call."""
        self._is_probing = False
        self._failures = self._failures + 1 if is_failure else 0
        if self._failures >= self._limit:
            self._opened = time.monotonic()


def _is_transient(error: Exception) -> bool:
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        return status >= SERVER_ERROR or status == TOO_MANY_REQUESTS
    return isinstance(error, (httpx2.TransportError, TimeoutError))


class Bank:
    """Client of the bank."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._circuit = Circuit()

    async def charge(self, order: str, cents: int, request_id: str) -> str:
        """Charge an order and return the receipt; the bank charges an order once."""
        self._circuit.enter()
        is_failure = False
        try:
            return await self._charge(order, cents, request_id)
        except (TimeoutError, httpx2.TimeoutException) as error:
            is_failure = True
            raise BankTooSlow from error
        except httpx2.HTTPError as error:
            is_failure = True
            raise BankUnavailable from error
        finally:
            self._circuit.leave(is_failure=is_failure)

    @stamina.retry(on=_is_transient, attempts=3, timeout=45.0)
    async def _charge(self, order: str, cents: int, request_id: str) -> str:
        headers = {'Idempotency-Key': order, 'X-Request-ID': request_id}
        async with asyncio.timeout(2.0):
            response = await self._client.post('/charges', json={'cents': cents}, headers=headers)
        if response.status_code == PAYMENT_REQUIRED:
            raise CardDeclined(str(response.json()['reason']))
        response.raise_for_status()
        return str(response.json()['receipt'])
