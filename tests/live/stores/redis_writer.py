"""Program that appends numbered events to a log in Redis and prints what was confirmed."""

import asyncio
import sys

from seamwise import Success
from seamwise.live import Event, LogLimits, RedisLog

UNLIMITED = LogLimits(max_events=10**6, max_bytes=2**40)


async def main(url: str, prefix: str, session: str, first: int) -> None:
    """Append batches of two events until the process is killed.

    Each line is the number of a batch, and the position of its last event.
    """
    async with RedisLog(url, prefix, limits=UNLIMITED, timeout=1.0) as log:
        number = first
        while True:
            events = [Event('agent.partial', f'{number}{part}') for part in 'ab']
            result = await log.append(session, *events, batch_id=f'b-{number}')
            if type(result) is Success:
                print(number, result.unwrap().position, flush=True)
                number += 1
                if number % 4 == 0:
                    # A slow test would read and write millions of events otherwise.
                    await asyncio.sleep(0.001)
            else:
                # Again with the same id: the batch is stored already, or not at all.
                await asyncio.sleep(0.01)


if __name__ == '__main__':
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
