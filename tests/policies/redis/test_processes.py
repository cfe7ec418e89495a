"""Two real processes over one Redis: a limit is one limit, and a probe is one probe."""

import subprocess
import sys
import time

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.redis import circuit
from tests.policies.redis.servers import Server
from tests.policies.redis.ways import DOWN, state

HAMMER = """
import sys
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import rate_limit

guard = rate_limit(50, redis=Redis(port=int(sys.argv[1])), period=3600.0, name='search', bound=10.0, away='closed')
print('ready', flush=True)
input()
print(sum(type(guard.run_sync(lambda: Success(1))) is Success for _ in range(100)))
"""

PROBE = """
import sys, time
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import circuit
from seamwise.policies._parts.trip_conditions import consecutive

guard = circuit(redis=Redis(port=int(sys.argv[1])), name='mail', trip=consecutive(1), open_for=0.2, probe_timeout=30.0, bound=10.0)
tried = 0

def slow():
    global tried
    tried += 1
    time.sleep(0.5)
    return Success(1)

print('ready', flush=True)
input()
for _ in range(20):
    if type(guard.run_sync(slow)) is Success:
        break
    time.sleep(0.01)
print(tried)
"""

FORK = """
import os, sys
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import rate_limit

guard = rate_limit(3, redis=Redis(port=int(sys.argv[1])), period=3600.0, name='search', bound=10.0, away='closed')
passed = lambda: type(guard.run_sync(lambda: Success(1))) is Success
assert passed()
child = os.fork()
said = [passed(), passed()]
if child == 0:
    os._exit(10 + sum(said))
_, status = os.waitpid(child, 0)
print(sum(said) + os.waitstatus_to_exitcode(status) - 10)
"""


def in_processes(program: str, server: Server, number: int) -> list[int]:
    """Run so many processes that begin together; gives the number that each prints."""
    running = [
        subprocess.Popen(
            [sys.executable, '-c', program, str(server.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(number)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
    for process in running:
        assert process.stdin is not None
        process.stdin.write('go\n')
        process.stdin.flush()
    said = [process.communicate(timeout=60.0)[0] for process in running]
    assert [process.returncode for process in running] == [0] * number
    return [int(one) for one in said]


def test_two_processes_together_get_no_more_than_the_limit(server: Server) -> None:
    passed = in_processes(HAMMER, server, 2)
    assert sum(passed) == 50


def test_one_process_probes_for_both(server: Server) -> None:
    guard = circuit(
        redis=server.client(),
        name='mail',
        trip=consecutive(1),
        open_for=0.2,
        probe_timeout=30.0,
        bound=10.0,
    )
    guard.run_sync(lambda: DOWN)
    time.sleep(0.25)
    tried = in_processes(PROBE, server, 2)
    assert sorted(tried) == [0, 1]
    assert state(server) == 'closed'


def test_a_child_that_was_forked_does_not_read_its_parents_replies(server: Server) -> None:
    said = subprocess.run(
        [sys.executable, '-c', FORK, str(server.port)],
        capture_output=True,
        text=True,
        timeout=60.0,
        check=True,
    )
    assert said.stdout == '2\n'


def test_without_redis_py_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['redis'] = None; import seamwise.policies.redis"
    said = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=60.0, check=False
    )
    assert (
        said.stderr.splitlines()[-1]
        == "ImportError: seamwise.policies.redis needs redis-py: pip install 'seamwise[redis]'"
    )
