"""Guards in a forked process: calls of the parent hold no permit, lock or place in a queue."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs os.fork')

PROGRAM = """
import os, threading, time
from seamwise import Failure, Success
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import bulkhead, cache, circuit, consecutive, rate_limit

pool = bulkhead(1, name='pool', queue=5, wait=20.0)
rate = rate_limit(1, period=0.3, name='rate', wait=20.0)
bank = circuit(name='bank', trip=consecutive(1), open_for=0.01)
held, can_end = threading.Event(), threading.Event()


def hold():
    held.set()
    can_end.wait()
    return Success(1)


@cache(ttl=60.0, name='page')
def load():
    return hold()


bank.run_sync(lambda: Failure(HostUnreachable('bank', 'refused')))
time.sleep(0.05)
for call in (lambda: pool.run_sync(hold), lambda: bank.run_sync(hold), load):
    held.clear()
    threading.Thread(target=call, daemon=True).start()
    held.wait()
for _ in range(3):
    threading.Thread(target=lambda: rate.run_sync(hold), daemon=True).start()
while rate.waiting < 2:
    time.sleep(0.01)
# As if a thread of the parent were inside each guard at the time of the fork.
locks = [pool.mutex, rate.mutex, bank._machine._lock]
has_locks = threading.Event()


def take_locks():
    for lock in locks:
        lock.acquire()
    has_locks.set()
    can_end.wait()


threading.Thread(target=take_locks, daemon=True).start()
has_locks.wait()
child = os.fork()
if child == 0:
    held.clear()
    can_end.set()
    results = [pool.run_sync(hold), rate.run_sync(hold), bank.run_sync(hold), load()]
    os._exit(sum(type(result) is Success for result in results))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), flush=True)
os._exit(0)
"""


def test_child_does_not_inherit_the_calls_of_the_parent() -> None:
    completed = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', PROGRAM],
        capture_output=True,
        text=True,
        timeout=30.0,
        check=True,
    )
    assert completed.stdout == '4\n', completed.stderr
