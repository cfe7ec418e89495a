import asyncio
import atexit
import contextvars
import threading
from asyncio import TaskGroup, create_task, to_thread
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any

import anyio
from starlette.background import BackgroundTasks

from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, collect_async, fallible, when


class Late(TaggedError, category=Category.TIMEOUT, message='late'):
    pass


def load(number: int) -> Result[int, Late]:
    return Success(number) if number else Failure(Late())


async def fetch(number: int) -> Result[int, Late]:
    return load(number)


def helper(do: Do[Late], number: int) -> int:
    return do(load(number))


async def step(do: Do[Late], number: int = 1) -> int:
    return do(await fetch(number))


@dataclass
class Found:
    number: int


@dataclass
class Founds:
    all: tuple[Found, ...]
    is_cut: bool


KEPT: list[object] = []
CURRENT: contextvars.ContextVar[object] = contextvars.ContextVar('current')
LAST: Do[Late] | None = None


class Keeper:
    def __init__(self, do: Do[Late] | None = None) -> None:
        self.number = 1
        self.callback: Callable[[], object] | None = None

    def subscribe(self, callback: Callable[[], object]) -> None:
        self.callback = callback

    def find(self, do: Do[Late], number: int) -> int:
        return do(load(number))


# case: used where it is
@fallible
def plain(do: Do[Late], number: int) -> int:
    if number > 9:
        do.fail(Late())
    return do(load(number))


# case: passed to a helper
@fallible
def helped(do: Do[Late], number: int) -> int:
    return helper(do, number) + Keeper().find(do, number)


# case: passed to an awaited helper
@fallible
async def awaits(do: Do[Late]) -> int:
    return await step(do)


# case: a coroutine that is awaited later, inside
@fallible
async def awaits_later(do: Do[Late]) -> int:
    first, second = step(do), step(do, 2)
    return await first + await second


# case: consumed at once
@fallible
def consumed(do: Do[Late], numbers: list[int]) -> list[int]:
    doubled = sorted(numbers, key=lambda one: do(load(one)))
    return list(map(lambda one: do(load(one)), doubled))


# case: comprehensions
@fallible
def comprehends(do: Do[Late], numbers: list[int]) -> dict[int, int]:
    total = sum(do(load(one)) for one in numbers)
    return {one: do(load(one)) for one in [*numbers, total]}


# case: an inner function that is called inside
@fallible
def inner_called(do: Do[Late]) -> int:
    def inner(number: int) -> int:
        return do(load(number))

    return inner(1) + inner(2)


# case: an inner coroutine function that is awaited inside
@fallible
async def inner_awaited(do: Do[Late]) -> int:
    async def inner(number: int) -> int:
        return do(await fetch(number))

    return await inner(1)


# case: a closure in a local list
@fallible
def local_list(do: Do[Late]) -> int:
    steps: list[Callable[[], int]] = []
    steps.append(lambda: do(load(1)))
    steps += [lambda: do(load(2))]
    return sum(one() for one in steps)


# case: a closure in a local dict
@fallible
def local_dict(do: Do[Late], name: str) -> int:
    steps: dict[str, Callable[[int], int]] = {'a': lambda number: do(load(number))}
    steps['b'] = partial(helper, do)
    return steps[name](1)


# case: an object that dies inside
@fallible
def local_object(do: Do[Late]) -> int:
    keeper = Keeper(do)
    keeper.callback = lambda: do(load(1))
    keeper.subscribe(lambda: do(load(2)))
    return keeper.number


# case: a value that is stored
class Service:
    def __init__(self) -> None:
        self.number = 0
        self.numbers: list[int] = []
        self.do: object = None
        self.later: object = None
        self.group = TaskGroup()

    @fallible
    def stores_value(self, do: Do[Late]) -> None:
        self.number = do(load(1))
        self.numbers.append(do(load(2)))
        self.numbers = list(map(do, [load(3)]))

    # case: stored on self
    @fallible
    def stores(self, do: Do[Late]) -> None:
        self.do = do  # finds: SW110

    # case: a closure stored on self
    @fallible
    def stores_closure(self, do: Do[Late]) -> None:
        self.later = lambda: do(load(1))  # finds: SW110

    # case: a method of it stored on self
    @fallible
    def stores_method(self, do: Do[Late]) -> None:
        later = do.fail
        self.later = later  # finds: SW110

    # case: stored on self by a helper
    def stores_in_helper(self, do: Do[Late]) -> None:
        self.do = do  # finds: SW110

    # case: stored on self by setattr
    @fallible
    def sets(self, do: Do[Late]) -> None:
        setattr(self, 'do', do)  # finds: SW110

    # case: a task group of another scope
    @fallible
    async def other_group(self, do: Do[Late]) -> None:
        self.group.create_task(step(do))  # finds: SW110


# case: stored in a container of the module
@fallible
def stores_in_list(do: Do[Late]) -> None:
    KEPT.append(do)  # finds: SW110


# case: stored in a container that comes from outside
@fallible
def stores_in_given(do: Do[Late], given: dict[str, Callable[[], int]]) -> None:
    given['later'] = lambda: do(load(1))  # finds: SW110


# case: stored in a name of the module
@fallible
def stores_in_global(do: Do[Late]) -> None:
    global LAST
    LAST = do  # finds: SW110


# case: stored in a name of an outer function
def outer() -> object:
    kept: object = None

    @fallible
    def inner(do: Do[Late]) -> None:
        nonlocal kept
        kept = do  # finds: SW110

    inner()
    return kept


# case: a nonlocal name that is its own
@fallible
def own_nonlocal(do: Do[Late]) -> int:
    later: Callable[[], int] | None = None

    def inner() -> None:
        nonlocal later
        later = lambda: do(load(1))

    inner()
    return later() if later is not None else 0


# case: a context variable
@fallible
def in_context(do: Do[Late]) -> None:
    CURRENT.set(do)  # finds: SW110


# case: another context is no other scope
@fallible
def runs_in_context(do: Do[Late]) -> int:
    return contextvars.copy_context().run(do, load(1))


# case: returned
@fallible
def returns(do: Do[Late]) -> Do[Late]:
    return do  # finds: SW110


# case: returned in a tuple
@fallible
def returns_tuple(do: Do[Late]) -> tuple[int, Do[Late]]:
    return 1, do  # finds: SW110


# case: a closure returned
@fallible
def returns_lambda(do: Do[Late]) -> Callable[[], int]:
    return lambda: do(load(1))  # finds: SW110


# case: an inner function returned
@fallible
def returns_inner(do: Do[Late]) -> Callable[[], int]:
    def inner() -> int:
        return do(load(1))

    return inner  # finds: SW110


# case: an inner function returned by way of another
@fallible
def returns_second(do: Do[Late]) -> Callable[[], int]:
    def first() -> int:
        return do(load(1))

    def second() -> int:
        return first()

    return second  # finds: SW110


# case: an inner function that does not use it
@fallible
def returns_free(do: Do[Late]) -> Callable[[], int]:
    number = do(load(1))
    return lambda: number


# case: an inner function with a do of its own
@fallible
def returns_own(do: Do[Late]) -> Callable[[], Result[int, Late]]:
    @fallible
    def inner(do: Do[Late]) -> int:
        return do(load(1))

    do(inner())
    return inner


# case: a generator returned
@fallible
def returns_generator(do: Do[Late], numbers: list[int]) -> Iterator[int]:
    return (do(load(one)) for one in numbers)  # finds: SW110


# case: a map returned
@fallible
def returns_map(do: Do[Late], numbers: list[int]) -> Iterator[int]:
    return map(do, map(load, numbers))  # finds: SW110


# case: a generator of values returned
@fallible
def returns_values(do: Do[Late], numbers: list[int]) -> Iterator[int]:
    found = [do(load(one)) for one in numbers]
    return iter(found)


# case: a coroutine that is returned and not awaited
@fallible
async def returns_coroutine(do: Do[Late]) -> Coroutine[Any, Any, int]:
    return step(do)  # finds: SW110


# case: an async generator returned
async def numbers_of(do: Do[Late]) -> AsyncIterator[int]:
    yield do(await fetch(1))


@fallible
async def returns_async_generator(do: Do[Late]) -> AsyncIterator[int]:
    return numbers_of(do)  # finds: SW110


# case: an async generator read inside
@fallible
async def reads_async_generator(do: Do[Late]) -> list[int]:
    return [one async for one in numbers_of(do)]


# case: a partial returned
@fallible
def returns_partial(do: Do[Late]) -> Callable[[int], int]:
    return partial(helper, do)  # finds: SW110


# case: an object that holds it returned
@fallible
def returns_object(do: Do[Late]) -> Keeper:
    keeper = Keeper(do)
    return keeper  # finds: SW110


# case: an object that is made with it, and dies inside
class Search:
    def __init__(self, do: Do[Late]) -> None:
        self._do = do
        self.is_cut = False

    def through(self, numbers: list[int]) -> Iterator[Found]:
        for number in numbers:
            yield Found(self._do(load(number)))


@fallible
def searches(do: Do[Late], numbers: list[int]) -> Founds:
    search = Search(do)
    found = tuple(islice(search.through(numbers), 3))
    return Founds(found[:2], len(found) > 2 or search.is_cut)


# case: a closure that reads it is returned
@fallible
def searches_later(do: Do[Late], numbers: list[int]) -> Iterator[Found]:
    search = Search(do)
    return search.through(numbers)  # finds: SW110


# case: an object of values returned
@fallible
def returns_record(do: Do[Late]) -> dict[str, int]:
    number = helper(do, 1)
    return dict(a=number, b=helper(do, 2))


# case: a factory is a helper
def make(do: Do[Late]) -> Callable[[int], int]:
    return lambda number: do(load(number))


@fallible
def uses_factory(do: Do[Late]) -> int:
    return make(do)(1)


# case: a factory's product returned
@fallible
def returns_product(do: Do[Late]) -> Callable[[int], int]:
    return make(do)  # finds: SW110


# case: a thread
@fallible
def in_thread(do: Do[Late]) -> None:
    thread = threading.Thread(target=helper, args=(do, 1))  # finds: SW110
    thread.start()
    thread.join()


# case: a thread of a subclass
class Worker(threading.Thread):
    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__()
        self.work = work


@fallible
def in_worker(do: Do[Late]) -> None:
    Worker(lambda: do(load(1))).start()  # finds: SW110


# case: a thread without it
@fallible
def thread_without(do: Do[Late]) -> int:
    found: list[Result[int, Late]] = []
    thread = threading.Thread(target=lambda: found.append(load(1)))
    thread.start()
    thread.join()
    return do(found[0])


# case: to_thread
@fallible
async def in_to_thread(do: Do[Late]) -> int:
    return await to_thread(do, load(1))  # finds: SW110


# case: to_thread with a closure
@fallible
async def closure_in_to_thread(do: Do[Late]) -> int:
    return await asyncio.to_thread(lambda: do(load(1)))  # finds: SW110


# case: to_thread that returns a Result
@fallible
async def result_of_thread(do: Do[Late]) -> int:
    return do(await asyncio.to_thread(load, 1))


# case: a function of its own in a thread
@fallible
async def own_in_thread(do: Do[Late]) -> int:
    return do(await to_thread(plain, 1))


# case: a pool
@fallible
def in_pool(do: Do[Late]) -> list[int]:
    with ThreadPoolExecutor() as pool:
        return list(pool.map(do, [load(1)]))  # finds: SW110


# case: a pool that is given
@fallible
def in_given_pool(do: Do[Late], pool: Executor) -> int:
    return pool.submit(helper, do, 1).result()  # finds: SW110


# case: a pool that returns Results
@fallible
def results_of_pool(do: Do[Late], pool: Executor) -> list[int]:
    return [do(one) for one in pool.map(load, [1, 2])]


# case: an executor of the loop
@fallible
async def in_executor(do: Do[Late]) -> int:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, helper, do, 1)  # finds: SW110


# case: anyio's threads
@fallible
async def in_anyio_thread(do: Do[Late]) -> int:
    return await anyio.to_thread.run_sync(helper, do, 1)  # finds: SW110


# case: a task
@fallible
async def in_task(do: Do[Late]) -> int:
    return await create_task(step(do))  # finds: SW110


# case: a task of an inner function
@fallible
async def inner_in_task(do: Do[Late]) -> int:
    async def inner() -> int:
        return do(await fetch(1))

    task = asyncio.create_task(inner())  # finds: SW110
    return await task


# case: a task of a coroutine with a name
@fallible
async def named_in_task(do: Do[Late]) -> int:
    coroutine = step(do)
    return await asyncio.ensure_future(coroutine)  # finds: SW110


# case: a task of the loop
@fallible
async def in_task_of_loop(do: Do[Late]) -> int:
    return await asyncio.get_running_loop().create_task(step(do))  # finds: SW110


# case: a task without it
@fallible
async def task_without(do: Do[Late]) -> int:
    task = asyncio.create_task(fetch(1))
    return do(await task)


# case: gather
@fallible
async def gathers(do: Do[Late]) -> list[int]:
    return await asyncio.gather(*[step(do, one) for one in range(3)])  # finds: SW110


# case: gather that returns exceptions, over several lines
@fallible
async def gathers_all(do: Do[Late]) -> int:
    return len(
        await asyncio.gather(  # finds: SW110
            step(do),
            step(do),
            return_exceptions=True,
        )
    )


# case: gather of Results
@fallible
async def gathers_results(do: Do[Late]) -> list[int]:
    return [do(one) for one in await asyncio.gather(fetch(1), fetch(2))]


# case: collect_async
@fallible
async def collects(do: Do[Late]) -> tuple[int, int]:
    return do(await collect_async(fetch(1), fetch(2)))


# case: shield
@fallible
async def shielded(do: Do[Late]) -> int:
    return await asyncio.shield(step(do))  # finds: SW110


# case: a timeout around it
@fallible
async def with_timeout(do: Do[Late]) -> int:
    async with asyncio.timeout(1):
        return await step(do)


# case: a task group of its own
@fallible
async def in_group(do: Do[Late]) -> int:
    async with TaskGroup() as group:
        first = group.create_task(step(do))
        second = group.create_task(step(do))
    return first.result() + second.result()


# case: a task group of its own, closed over
@fallible
async def in_group_inside(do: Do[Late]) -> None:
    async with asyncio.TaskGroup() as group:

        def start(number: int) -> None:
            group.create_task(step(do, number))

        start(1)


# case: a task group with a name of its own
@fallible
async def in_named_group(do: Do[Late]) -> None:
    group = TaskGroup()
    async with group:
        group.create_task(step(do))


# case: a task group on a stack
@fallible
async def in_stack(do: Do[Late]) -> None:
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(TaskGroup())
        group.create_task(step(do))


# case: a task group that is given
@fallible
async def in_given_group(do: Do[Late], group: TaskGroup) -> None:
    group.create_task(step(do))  # finds: SW110


# case: a task group that is given to a helper
async def fan(do: Do[Late], group: TaskGroup) -> None:
    group.create_task(step(do))


@fallible
async def fans(do: Do[Late]) -> None:
    async with TaskGroup() as group:
        await fan(do, group)


# case: a task group of an outer function
async def outer_group() -> None:
    async with TaskGroup() as group:

        @fallible
        async def inner(do: Do[Late]) -> None:
            group.create_task(step(do))  # finds: SW110

        await inner()


# case: anyio's task group of its own
@fallible
async def in_anyio_group(do: Do[Late]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(step, do)


# case: anyio's task group that is given
@fallible
async def in_given_anyio_group(do: Do[Late], group: anyio.abc.TaskGroup) -> None:
    group.start_soon(step, do)  # finds: SW110


# case: a callback of the loop
@fallible
async def calls_soon(do: Do[Late]) -> None:
    asyncio.get_running_loop().call_soon(do, load(1))  # finds: SW110


# case: a callback of a task
@fallible
async def when_done(do: Do[Late]) -> None:
    async with TaskGroup() as group:
        task = group.create_task(fetch(1))
        task.add_done_callback(lambda done: do(done.result()))  # finds: SW110


# case: a callback at the end of the program
@fallible
def at_exit(do: Do[Late]) -> None:
    atexit.register(lambda: do(load(1)))  # finds: SW110


# case: a task behind a response
@fallible
async def behind(do: Do[Late], tasks: BackgroundTasks) -> None:
    tasks.add_task(step, do)  # finds: SW110


# case: subscribed
@fallible
def subscribes(do: Do[Late], bus: Keeper) -> None:
    bus.subscribe(lambda: do(load(1)))  # finds: SW110


# case: a function without a do
def free(number: int) -> Callable[[], Result[int, Late]]:
    KEPT.append(load)
    return lambda: load(number)


# case: a queue of its own
@fallible
async def own_queue(do: Do[Late]) -> int:
    waiting: asyncio.Queue[Awaitable[int]] = asyncio.Queue()
    await waiting.put(step(do))
    return await (await waiting.get())


# case: a queue that is given
@fallible
async def given_queue(do: Do[Late], waiting: asyncio.Queue[Awaitable[int]]) -> None:
    await waiting.put(step(do))  # finds: SW110


# case: an alias of a container from outside
@fallible
def aliased(do: Do[Late]) -> None:
    kept = KEPT
    kept.append(do)  # finds: SW110


# case: a nested scope that receives the outer do
@fallible
def nested(do: Do[Late]) -> int:
    @fallible
    def inner(own: Do[Late]) -> int:
        return do(load(1)) + own(load(2))

    return do(inner())


# case: in a with, a try and a match
@fallible
def in_statements(do: Do[Late], number: int) -> int:
    try:
        with suppress(ValueError):
            match do(load(number)):
                case 1:
                    return helper(do, 1)
                case _:
                    do.fail(Late())
    finally:
        KEPT.clear()
    return 0


# case: passed to a function that calls it immediately
def twice(call: Callable[[], int]) -> int:
    return call() + call()


@fallible
def called_at_once(do: Do[Late]) -> int:
    return twice(lambda: do(load(1))) + twice(partial(helper, do, 1))


# case: an edge around it
@fallible
def at_an_edge(do: Do[Late], text: str) -> int:
    return attempt(lambda: do(load(int(text))), when(ValueError).becomes(lambda _: Late())).value_or(0)


# case: folded
@fallible
def folded(do: Do[Late], numbers: list[int]) -> int:
    return reduce(lambda total, one: total + do(load(one)), numbers, 0)


# case: the first of a generator
@fallible
def first_of(do: Do[Late], numbers: list[int]) -> int:
    found = (do(load(one)) for one in numbers)
    return next(found)


# case: read to the end by its name
@fallible
def read_whole(do: Do[Late], numbers: list[int]) -> list[int]:
    found = map(do, map(load, numbers))
    return [*found]


# case: a generator is a helper
def each(do: Do[Late], numbers: list[int]) -> Iterator[Do[Late]]:
    for number in numbers:
        do(load(number))
        yield do


# case: waited for
@fallible
async def waited_for(do: Do[Late]) -> int:
    return await asyncio.wait_for(step(do), 1)


# case: tasks of a local group in a list
@fallible
async def tasks_in_list(do: Do[Late]) -> list[int]:
    async with TaskGroup() as group:
        tasks = [group.create_task(step(do, one)) for one in range(3)]
    return [task.result() for task in tasks]


# case: a task of a local group passed on
@fallible
async def hands_task_on(do: Do[Late]) -> asyncio.Task[int]:
    async with TaskGroup() as group:
        task = group.create_task(step(do))
        KEPT.append(task)
    return task


# case: a loop over closures
@fallible
def loops(do: Do[Late]) -> int:
    total = 0
    for one in (lambda: do(load(1)), lambda: do(load(2))):
        total += one()
    return total


# case: an answer of the same name
@fallible
def rebinds(do: Do[Late]) -> list[int]:
    numbers = [load(1), load(2)]
    found = [do(one) for one in numbers]
    found.append(helper(do, 1))
    KEPT.append(found)
    return found


# case: a lambda with a do of its own
def takes_do(call: Callable[[Do[Late]], int]) -> None:
    KEPT.append(call)


@fallible
def shadowed(do: Do[Late]) -> int:
    takes_do(lambda do: do(load(1)))
    return do(load(1))


# case: a default of an inner function
@fallible
def by_default(do: Do[Late]) -> Callable[[], int]:
    def inner(own: Do[Late] = do) -> int:
        return own(load(1))

    return inner  # finds: SW110


# case: a do in an annotation only
@fallible
def annotated(do: Do[Late], follow: Callable[[Do[Late]], int]) -> int:
    return follow(do)


# case: allowed with a reason
@fallible
def allowed(do: Do[Late]) -> None:
    KEPT.append(do)  # seamwise: allow[SW110] a test of what happens then
