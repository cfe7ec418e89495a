"""Program that appends numbered batches to a log in SQLite and prints the confirmed ones."""

import asyncio
import sys

from seamwise.live import Event, SqliteLog
from tests.live.stores.contents import SESSION, UNLIMITED


async def main(path: str, writer: str, first: int, count: int) -> None:
    """Append batches of two events, until the process is killed or there are enough.

    Each line is the number of a batch, and the position of its last event.
    """
    async with SqliteLog(path, limits=UNLIMITED) as log:
        for number in range(first, first + count):
            events = [Event('agent.partial', f'{writer}:{number}{part}') for part in 'ab']
            stored = (await log.append(SESSION, *events, batch_id=f'{writer}:{number}')).unwrap()
            print(number, stored.position, flush=True)


if __name__ == '__main__':
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
