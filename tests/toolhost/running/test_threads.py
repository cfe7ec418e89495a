"""Tests of the threads of tools that block."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable

import pytest

from seamwise.toolhost.running.stopping import stop_requested
from seamwise.toolhost.running.threads import ThreadPool, ThreadsExhausted

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == 'seamwise-tool']


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


async def test_a_thread_is_used_again() -> None:
    pool = ThreadPool(2)
    first = await pool.run(threading.get_ident)
    assert await pool.run(threading.get_ident) == first


async def test_an_exception_propagates() -> None:
    with pytest.raises(ZeroDivisionError):
        await ThreadPool(1).run(lambda: 1 // 0)


async def test_a_stop_iteration_does_not_break_the_event_loop() -> None:
    with pytest.raises(RuntimeError, match='StopIteration'):
        await ThreadPool(1).run(lambda: next(iter(())))


async def test_no_more_calls_than_the_limit_run_at_once() -> None:
    lock = threading.Lock()
    running = peak = 0

    def count() -> None:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    pool = ThreadPool(3)
    await asyncio.gather(*(pool.run(count) for _ in range(20)))
    assert peak == 3


async def test_a_cancelled_call_is_asked_to_stop() -> None:
    ended = threading.Event()

    def work() -> None:
        while not stop_requested():
            time.sleep(0.002)
        ended.set()

    pool = ThreadPool(1)
    task = asyncio.ensure_future(pool.run(work))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pool.join(10.0) == 0
    assert ended.is_set()


async def test_waiting_calls_fail_if_no_thread_will_be_available() -> None:
    release = threading.Event()
    pool = ThreadPool(1)

    def hang() -> None:
        release.wait(10)

    tasks = [asyncio.ensure_future(pool.run(hang)) for _ in range(2)]
    waiting = asyncio.ensure_future(pool.run(hang))
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
        await asyncio.sleep(0.01)
    with pytest.raises(ThreadsExhausted):
        await waiting
    with pytest.raises(ThreadsExhausted):
        await pool.run(hang)
    release.set()
    assert await pool.join(10.0) == 0
    assert await pool.run(lambda: 7) == 7


async def test_a_cancelled_waiter_takes_no_thread() -> None:
    release = threading.Event()
    pool = ThreadPool(1)
    running = asyncio.ensure_future(pool.run(lambda: release.wait(10)))
    waiting = asyncio.ensure_future(pool.run(lambda: None))
    await asyncio.sleep(0.01)
    # The thread is free and granted to the waiter in the same step in which it is cancelled.
    release.set()
    await running
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await pool.run(lambda: 7) == 7


async def test_a_pool_that_is_closed_or_forgotten_leaves_no_thread() -> None:
    before = set(threads())
    pool = ThreadPool(2)
    await asyncio.gather(*(pool.run(lambda: None) for _ in range(2)))
    pool.close()
    wait_until(lambda: not set(threads()) - before)
    pool = ThreadPool(2)
    await pool.run(lambda: None)
    del pool
    gc.collect()
    wait_until(lambda: not set(threads()) - before)
