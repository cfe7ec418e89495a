"""Ten thousand concurrent calls through a pipeline of guards."""

import subprocess
import sys

CALLS = 10_000
MAX_GROWTH = 60
"""Maximum growth of the memory of the process during the calls, in MiB."""

PROGRAM = """
import asyncio, resource
from seamwise import Success
from seamwise.policies import bulkhead, circuit, deadline, rate_limit, retry

CALLS = int({calls})
guard = (
    rate_limit(CALLS, name='tool')
    >> bulkhead(100, name='tool', queue=None, wait=60.0)
    >> circuit(name='tool')
    >> retry()
    >> deadline(60.0)
)

def peak():
    # `ru_maxrss` would include the memory of the parent process before `exec`.
    with open('/proc/self/status') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))

async def op():
    await asyncio.sleep(0)
    return Success(1)

async def main():
    await guard.run(op)
    before = peak()
    results = await asyncio.gather(*[guard.run(op) for _ in range(CALLS - 1)])
    assert all(type(result) is Success for result in results), 'a call failed'
    print((peak() - before) // 1024)

asyncio.run(main())
"""


def test_ten_thousand_concurrent_calls_succeed_with_limited_memory() -> None:
    program = [sys.executable, '-c', PROGRAM.format(calls=CALLS)]
    growth = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert 0 < int(growth) < MAX_GROWTH
