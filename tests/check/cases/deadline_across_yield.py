from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from seamwise.policies import Guard, bulkhead, circuit, deadline, retry

BANK = circuit(name='bank') >> deadline(2.0)
REPEATED = retry(attempts=2) >> deadline(1.0)


async def read() -> int:
    return 1


# case: a deadline around a yield
async def numbers() -> AsyncIterator[int]:
    async with deadline(1.0).acquire():  # finds: SW125
        yield await read()


# case: a pipeline with a deadline, around a loop
async def many() -> AsyncIterator[int]:
    async with BANK.acquire():  # finds: SW125
        for _ in range(3):
            yield await read()


# case: an attempt
async def attempts() -> AsyncIterator[int]:
    async for attempt in REPEATED:
        async with attempt:  # finds: SW125
            yield await read()


# case: a generator that is not async
def plain() -> Iterator[int]:
    with deadline(1.0).acquire():  # finds: SW125
        yield from range(3)


class Feed:
    def __init__(self, guard: Guard[Any]) -> None:
        self.guard = guard

    # case: a method among other managers
    @staticmethod
    async def items() -> AsyncIterator[int]:
        async with bulkhead(1, name='feed'), BANK.acquire() as block:  # finds: SW125
            if block:
                yield 1

    # case: a guard whose errors are unknown
    async def unknown(self) -> AsyncIterator[int]:
        async with self.guard.acquire():
            yield 1


# case: a yield after the block
async def after() -> AsyncIterator[int]:
    async with deadline(1.0).acquire():
        number = await read()
    yield number


# case: a yield between attempts
async def between() -> AsyncIterator[int]:
    async for attempt in REPEATED:
        number = 0
        async with attempt:
            number = await read()
        yield number


# case: a function in the block
async def nested() -> int:
    async with deadline(1.0).acquire():

        def inner() -> Iterator[int]:
            yield 1

        send: Callable[[], object] = lambda: (yield)  # noqa: E731
        return len(list(inner())) + bool(send)


# case: a context manager
@asynccontextmanager
async def session() -> AsyncIterator[int]:
    async with deadline(1.0).acquire():
        yield 1


# case: a context manager of a thread
@contextmanager
def transaction() -> Iterator[int]:
    with BANK.acquire():
        yield 1


# case: a generator that another function makes a context manager
async def dependency() -> AsyncIterator[int]:
    async with BANK.acquire():
        yield 1


managed = asynccontextmanager(dependency)


# case: a guard without a deadline
async def limited() -> AsyncIterator[int]:
    async with bulkhead(1, name='one').acquire(), circuit(name='c').acquire():
        yield 1
