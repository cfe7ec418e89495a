"""Work for a client that ends when the client disconnects."""

from asyncio import FIRST_COMPLETED, create_task, wait
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar('T')


async def while_connected(receive: Receive, work: Coroutine[object, object, T]) -> T:
    """Run a coroutine, and return its value; cancel it if the client disconnects.

    In either case, and if the caller is cancelled, the coroutine has ended at the return.

    Args:
        receive: The messages of the client, after the body of its request.
        work: The coroutine.

    Raises:
        ClientDisconnect: The client disconnected before the end.
    """
    task = create_task(work)
    watcher = create_task(_disconnected(receive))
    try:
        await wait([task, watcher], return_when=FIRST_COMPLETED)
    finally:
        watcher.cancel()
        task.cancel()
        await wait([task, watcher])
    if not watcher.cancelled():
        # It raises what `receive` has raised.
        watcher.result()
    if task.cancelled():
        raise ClientDisconnect
    return task.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())['type'] != 'http.disconnect':
        pass
