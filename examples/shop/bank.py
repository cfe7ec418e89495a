"""The bank, which is slow and fails at times: calls are guarded, failures are values."""

from typing import TypeAlias

import httpx2

from seamwise import Failure, Result, Success, refine
from seamwise.catalog.network import NetworkError
from seamwise.policies import CircuitOpen, DeadlineExceeded, circuit, deadline, retry
from seamwise.policies.classify.httpx import httpx_failures
from seamwise.seams.http import request_id_headers
from shop.errors import CardDeclined

BankError: TypeAlias = CardDeclined | NetworkError | CircuitOpen | DeadlineExceeded

PAYMENT_REQUIRED = 402

guarded = circuit(name='bank') >> retry(attempts=3) >> deadline(2.0)
failures = httpx_failures(service='bank', required_config=('BANK_KEY',))


class Bank:
    """Client of the bank.

    Args:
        client: HTTP client with the base URL and the credentials.
    """

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def charge(self, order: str, cents: int) -> Result[str, BankError]:
        """Charge an order and return the receipt; the bank charges an order once."""
        return await guarded.run(lambda: self._charge(order, cents))

    async def _charge(self, order: str, cents: int) -> Result[str, CardDeclined | NetworkError]:
        async def post() -> httpx2.Response:
            # The key makes the request safe to repeat.
            headers = {'Idempotency-Key': order, **request_id_headers()}
            response = await self._client.post('/charges', json={'cents': cents}, headers=headers)
            return (
                response
                if response.status_code == PAYMENT_REQUIRED
                else response.raise_for_status()
            )

        match await refine(post, failures):
            case Success(response) if response.status_code == PAYMENT_REQUIRED:
                return Failure(CardDeclined(str(response.json()['reason'])))
            case Success(response):
                return Success(str(response.json()['receipt']))
            case Failure() as failure:
                return failure
