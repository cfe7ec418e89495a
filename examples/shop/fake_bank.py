"""A bank for trying the shop: every third charge fails at first, and large ones are declined.

cd examples && uvicorn shop.fake_bank:app --port 9000
"""

from itertools import count

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

LIMIT = 3000
"""Largest charge in cents."""

_numbers = count(1)
_receipts: dict[str, str] = {}


async def charge(request: Request) -> JSONResponse:
    """Charge an order; the same key is charged once."""
    number = next(_numbers)
    if number % 3 == 0:
        return JSONResponse({'error': 'overloaded'}, 503)
    if (await request.json())['cents'] > LIMIT:
        return JSONResponse({'reason': 'over the limit'}, 402)
    key = request.headers['idempotency-key']
    return JSONResponse({'receipt': _receipts.setdefault(key, f'receipt-{number}')})


app = Starlette(routes=[Route('/charges', charge, methods=['POST'])])
