"""Ten thousand calls at once through all the guards: all are served, and memory does not run away."""

import subprocess
import sys

AT_ONCE = 10_000
MIB = 60
"""In MiB: so much more memory the process may need while they run."""

PROGRAM = """
import asyncio, resource
from seamwise import Success
from seamwise.policies import bulkhead, circuit, deadline, rate_limit, retry

AT_ONCE = int({at_once})
guard = (
    rate_limit(AT_ONCE, name='tool')
    >> bulkhead(100, name='tool', queue=None, wait=60.0)
    >> circuit(name='tool')
    >> retry()
    >> deadline(60.0)
)

def peak():
    # Not `ru_maxrss`: it begins with what the process that started this one had.
    with open('/proc/self/status') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))

async def op():
    await asyncio.sleep(0)
    return Success(1)

async def main():
    await guard.run(op)
    before = peak()
    results = await asyncio.gather(*[guard.run(op) for _ in range(AT_ONCE - 1)])
    assert all(type(one) is Success for one in results), 'not all were served'
    print((peak() - before) // 1024)

asyncio.run(main())
"""


def test_ten_thousand_calls_at_once_are_served_in_little_memory() -> None:
    program = [sys.executable, '-c', PROGRAM.format(at_once=AT_ONCE)]
    grown = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert 0 < int(grown) < MIB
