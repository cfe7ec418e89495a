"""Requests to ASGI applications, whose response is kept if the application raises after it."""

import asyncio
from typing import Any

import httpx


def request(app: Any, url: str, *, method: str = 'GET', **headers: str) -> httpx.Response:
    """Send a request with the id `r-1`, and return the response."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url='http://test') as client:
            return await client.request(method, url, headers={'X-Request-ID': 'r-1', **headers})

    return asyncio.run(send())
