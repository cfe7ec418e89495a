"""Guards shared by several real processes, and the import without redis-py."""

import subprocess
import sys
import time

import pytest

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.redis import shared_circuit
from tests.policies.redis.circuit_calls import DOWN, state
from tests.policies.redis.servers import Server

CALL_REPEATEDLY = """
import sys
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import shared_rate_limit

redis = Redis(port=int(sys.argv[1]))
guard = shared_rate_limit(50, redis=redis, period=3600.0, name='search', bound=10.0, away='closed')
print('ready', flush=True)
input()
print(sum(type(guard.run_sync(lambda: Success(1))) is Success for _ in range(100)))
"""

PROBE = """
import sys, time
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import shared_circuit
from seamwise.policies._parts.trip_conditions import consecutive

guard = shared_circuit(
    redis=Redis(port=int(sys.argv[1])),
    name='mail',
    trip=consecutive(1),
    open_for=0.2,
    probe_timeout=30.0,
    bound=10.0,
)
executions = 0

def slow():
    global executions
    executions += 1
    time.sleep(2.0)
    return Success(1)

print('ready', flush=True)
input()
for _ in range(20):
    if type(guard.run_sync(slow)) is Success:
        break
    time.sleep(0.01)
print(executions)
"""

FORK = """
import os, sys
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import shared_rate_limit

redis = Redis(port=int(sys.argv[1]))
guard = shared_rate_limit(3, redis=redis, period=3600.0, name='search', bound=10.0, away='closed')
is_admitted = lambda: type(guard.run_sync(lambda: Success(1))) is Success
assert is_admitted()
child = os.fork()
admitted = [is_admitted(), is_admitted()]
if child == 0:
    os._exit(10 + sum(admitted))
_, status = os.waitpid(child, 0)
print(sum(admitted) + os.waitstatus_to_exitcode(status) - 10)
"""
FORK_WITH_WAITER = """
import os, sys, threading, time
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import shared_rate_limit

redis = Redis(port=int(sys.argv[1]))
guard = shared_rate_limit(
    1, redis=redis, period=1.0, name='search', wait=30.0, bound=10.0, away='closed'
)
guard.run_sync(lambda: Success(1))
threading.Thread(target=lambda: guard.run_sync(lambda: Success(1)), daemon=True).start()
while not guard.queues.get('seamwise:{search}:rate').waiting_weight():
    time.sleep(0.01)
child = os.fork()
if child == 0:
    print(type(guard.run_sync(lambda: Success(1))).__name__, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def run_processes(program: str, server: Server, count: int) -> list[int]:
    """Run concurrent processes that start together, and return the number that each prints."""
    processes = [
        subprocess.Popen(
            [sys.executable, '-c', program, str(server.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
    for process in processes:
        assert process.stdin is not None
        process.stdin.write('go\n')
        process.stdin.flush()
    outputs = [process.communicate(timeout=60.0)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return [int(output) for output in outputs]


def test_processes_together_do_not_exceed_the_limit(server: Server) -> None:
    admitted = run_processes(CALL_REPEATEDLY, server, 2)
    assert sum(admitted) == 50


@pytest.mark.slow
def test_only_one_of_two_processes_probes(server: Server) -> None:
    guard = shared_circuit(
        redis=server.client(),
        name='mail',
        trip=consecutive(1),
        open_for=0.2,
        probe_timeout=30.0,
        bound=10.0,
    )
    guard.run_sync(lambda: DOWN)
    time.sleep(0.25)
    executions = run_processes(PROBE, server, 2)
    assert sorted(executions) == [0, 1]
    assert state(server) == 'closed'


@pytest.mark.slow
@pytest.mark.parametrize(
    ('program', 'output'),
    [
        pytest.param(FORK, '2\n', id='it uses its own connection'),
        pytest.param(FORK_WITH_WAITER, 'Success\n', id='it does not wait behind its parent'),
    ],
)
def test_forked_process_shares_only_redis(server: Server, program: str, output: str) -> None:
    completed = subprocess.run(
        [sys.executable, '-c', program, str(server.port)],
        capture_output=True,
        text=True,
        timeout=60.0,
        check=True,
    )
    assert completed.stdout == output


def test_import_without_redis_py_names_the_package_to_install() -> None:
    program = "import sys; sys.modules['redis'] = None; import seamwise.policies.redis"
    completed = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=60.0, check=False
    )
    assert (
        completed.stderr.splitlines()[-1]
        == "ImportError: seamwise.policies.redis needs redis-py: pip install 'seamwise[redis]'"
    )
