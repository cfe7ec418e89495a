"""Tests of bodies with a limit, whatever the server lets through."""

import asyncio

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from seamwise.seams.http.asgi.limited_body import read_limited_body


@pytest.mark.parametrize('length', [b'11', b'9' * 5000])
def test_a_length_over_the_limit_is_refused_before_the_body_is_read(length: bytes) -> None:
    async def receive() -> dict[str, object]:
        raise AssertionError('the body is read')

    request = Request(
        {'type': 'http', 'method': 'POST', 'headers': [(b'content-length', length)]}, receive
    )
    with pytest.raises(HTTPException, match='A message must have 10 bytes or fewer') as refused:
        asyncio.run(read_limited_body(request, limit=10, seconds=1.0, name='A message'))
    assert refused.value.status_code == 413
