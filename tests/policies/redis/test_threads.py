"""Threads over Redis: one connection, bursts on a busy machine, interrupts, forks and pauses."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.exceptions
from typing_extensions import override

from seamwise import Result, Success
from seamwise.policies import Guard
from seamwise.policies.events import GuardEvent
from seamwise.policies.redis import Clients, shared_rate_limit
from seamwise.policies.redis.scripts import MAX_BATCH, Script, new_script
from seamwise.policies.redis.thread_sender import ThreadRequest, ThreadSender
from tests.policies.redis.servers import Server

OK: Success[str] = Success('ok')
ECHO: Script = new_script('return tonumber(ARGV[1])')
SLEEP: Script = new_script("""
local started = redis.call('TIME')
repeat
  local now = redis.call('TIME')
until (now[1] - started[1]) * 1000000 + now[2] - started[2] >= tonumber(ARGV[1])
return 1
""")


def start_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()


def join_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(30.0)
    assert not any(thread.is_alive() for thread in threads)


def outcomes_at_once(guard: Guard[Any], count: int) -> Counter[str]:
    """Return the kinds of outcomes of one call of each of `count` threads."""
    gate = threading.Event()
    kinds: list[str] = []

    def call() -> None:
        gate.wait()
        result: Result[str, Any] = guard.run_sync(lambda: OK)
        kinds.append('Success' if type(result) is Success else type(result.failure()).__name__)

    threads = [threading.Thread(target=call) for _ in range(count)]
    start_all(threads)
    gate.set()
    join_all(threads)
    return Counter(kinds)


@contextmanager
def busy_machine() -> Generator[None]:
    """Keep two processes computing."""
    processes = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(2)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def send(sender: ThreadSender, number: int, *, script: Script = ECHO) -> object:
    return sender.send(ThreadRequest(script, ('key', f'{number}'), lambda: True))


@pytest.fixture
def sender(server: Server) -> ThreadSender:
    return ThreadSender(redis.Redis(port=server.port).connection_pool, bound=5.0)


@pytest.mark.parametrize('count', [2, MAX_BATCH + 1, 3 * MAX_BATCH])
def test_each_thread_receives_its_own_reply(sender: ThreadSender, count: int) -> None:
    replies: dict[int, object] = {}

    def call(number: int) -> None:
        replies[number] = send(sender, number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    start_all(threads)
    join_all(threads)
    assert replies == {number: number for number in range(count)}


def test_threads_and_tasks_get_the_same_decisions(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port)
    clients = Clients(asyncio=client, sync=redis.Redis(port=server.port))
    guards = [
        shared_rate_limit(100, redis=clients, period=3600.0, name=name, bound=5.0, away='closed')
        for name in ('of threads', 'of tasks')
    ]

    async def succeed() -> Success[str]:
        return OK

    async def in_tasks() -> Counter[str]:
        results = await asyncio.gather(*(guards[1].run(succeed) for _ in range(150)))
        await client.aclose()
        return Counter(
            'Success' if item is OK else type(item.failure()).__name__ for item in results
        )

    assert outcomes_at_once(guards[0], 150) == asyncio.run(in_tasks())
    assert outcomes_at_once(guards[0], 1) == {'RateLimited': 1}


@pytest.mark.slow
@pytest.mark.parametrize('count', [50, 300, 1000])
def test_no_thread_goes_without_redis_on_a_busy_machine(own_server: Server, count: int) -> None:
    with busy_machine():
        for number in range(10 if count < 1000 else 3):
            events: list[GuardEvent] = []
            guard = shared_rate_limit(
                10_000,
                redis=own_server.client(),
                name=f'burst {number}',
                away='closed',
                observer=events.append,
            )
            assert outcomes_at_once(guard, count) == {'Success': count}
            assert events == []


@pytest.mark.slow
@pytest.mark.parametrize('has_tasks', [False, True])
def test_first_late_reply_is_awaited(own_server: Server, has_tasks: bool) -> None:
    async def succeed() -> Success[str]:
        return OK

    async def main() -> None:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            clients = Clients(asyncio=client, sync=own_server.client())
            guard = shared_rate_limit(9, redis=clients, name='x', bound=0.2, away='closed')

            async def call() -> Result[str, Any]:
                return await (
                    guard.run(succeed)
                    if has_tasks
                    else asyncio.to_thread(guard.run_sync, lambda: OK)
                )

            assert await call() == OK
            own_server.pause()
            late = asyncio.create_task(call())
            await asyncio.sleep(0.7)
            own_server.resume()
            assert await late == OK

    asyncio.run(main())


SUSPENDED_PROGRAM = """
import sys
from redis import Redis
from seamwise import Success
from seamwise.policies.redis import shared_rate_limit

client = Redis(port=int(sys.argv[1]))
guard = shared_rate_limit(9, redis=client, name='x', bound=0.3, away='closed')
for _ in range(2):
    print(type(guard.run_sync(lambda: Success(1))).__name__, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_redis_is_asked_again_after_the_process_was_suspended(own_server: Server) -> None:
    command = [sys.executable, '-c', SUSPENDED_PROGRAM, f'{own_server.port}']
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == 'Success\n'
        own_server.pause()
        process.stdin.write('\n')
        process.stdin.flush()
        time.sleep(0.1)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.6)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
        own_server.resume()
        assert process.communicate('\n')[0] == 'Success\n'


def test_interrupt_of_the_leader_does_not_affect_the_others(sender: ThreadSender) -> None:
    send(sender, 0)
    connection: Any = vars(sender)['_connection']
    pack, others, replies = connection.pack_commands, list[threading.Thread](), list[object]()

    def interrupt(commands: Any) -> Any:
        connection.pack_commands = pack
        others.extend(
            threading.Thread(target=lambda: replies.append(send(sender, 7))) for _ in range(5)
        )
        start_all(others)
        while len(vars(sender)['_waiting']) < 5:
            time.sleep(0.001)
        raise KeyboardInterrupt

    connection.pack_commands = interrupt
    with pytest.raises(KeyboardInterrupt):
        send(sender, 1)
    join_all(others)
    assert replies == [7] * 5
    assert send(sender, 2) == 2


def test_interrupts_that_follow_each_other_do_not_affect_the_others(
    sender: ThreadSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(sender, 0)
    connection: Any = vars(sender)['_connection']
    others, replies, interrupts = list[threading.Thread](), list[object](), list[str]()

    def interrupt_once(name: str) -> None:
        original = getattr(sender, name)

        def interrupt(*args: object) -> object:
            if name not in interrupts:
                interrupts.append(name)
                raise KeyboardInterrupt
            return original(*args)

        monkeypatch.setattr(sender, name, interrupt)

    def interrupt_packing(_commands: object) -> None:
        others.extend(
            threading.Thread(target=lambda: replies.append(send(sender, 7))) for _ in range(5)
        )
        start_all(others)
        while len(vars(sender)['_waiting']) < 5:
            time.sleep(0.001)
        for name in ('_disconnect', '_settle_batch', '_pass_lead', '_wake_leader'):
            interrupt_once(name)
        raise KeyboardInterrupt

    connection.pack_commands = interrupt_packing
    with pytest.raises(KeyboardInterrupt):
        send(sender, 1)
    join_all(others)
    assert replies == [7] * 5
    assert interrupts == ['_disconnect', '_settle_batch', '_pass_lead', '_wake_leader']
    assert send(sender, 2) == 2


def test_interrupt_before_the_thread_that_connects_starts_does_not_affect_the_next_call(
    sender: ThreadSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, 'start', interrupt)
        with pytest.raises(KeyboardInterrupt):
            send(sender, 1)
    assert send(sender, 2) == 2


def test_interrupt_of_a_waiting_thread_leaves_no_request(sender: ThreadSender) -> None:
    send(sender, 0)
    leader = threading.Thread(target=lambda: send(sender, 300_000, script=SLEEP))
    leader.start()
    while vars(sender)['_leader'] is None:
        time.sleep(0.001)

    request = ThreadRequest(ECHO, ('key', '1'), lambda: True)
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sender.send(request)
    timer.join()
    assert list(vars(sender)['_waiting']) == []
    leader.join()
    assert send(sender, 2) == 2


def test_request_is_not_sent_after_an_outage_has_begun(sender: ThreadSender) -> None:
    assert sender.send(ThreadRequest(ECHO, ('key', '1'), lambda: False)) is None
    assert vars(sender)['_connection'] is None


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_forked_process_has_a_connection_of_its_own(sender: ThreadSender) -> None:
    send(sender, 0)
    leader = threading.Thread(target=lambda: send(sender, 200_000, script=SLEEP))
    leader.start()
    while vars(sender)['_leader'] is None:
        time.sleep(0.001)
    child = os.fork()
    if not child:
        os._exit(0 if send(sender, 5) == 5 else 1)
    _, status = os.waitpid(child, 0)
    leader.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert send(sender, 6) == 6


@pytest.mark.slow
def test_abandoned_attempt_to_connect_is_used_by_the_next_caller() -> None:
    release = threading.Event()
    attempts: list[int] = []

    class SlowConnection(redis.Connection):
        @override
        def connect(self) -> None:
            attempts.append(1)
            release.wait()
            raise redis.exceptions.ConnectionError('refused')

    pool = redis.ConnectionPool(connection_class=SlowConnection)
    sender = ThreadSender(pool, bound=0.01)
    for _ in range(2):
        assert isinstance(send(sender, 1), redis.exceptions.TimeoutError)
    assert len(attempts) == 1
    release.set()
    assert isinstance(send(sender, 1), redis.exceptions.ConnectionError)
    assert len(attempts) <= 2
