import asyncio
import atexit
import contextlib
import contextvars
import logging
import signal
import threading
import unittest
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cached_property, partial
from typing import AnyStr, Generic, Protocol, TypeVar, assert_type, overload, reveal_type

import pytest
from returns.future import future_safe
from returns.io import IOResult, IOSuccess, impure_safe
from returns.result import Result as OpenResult
from returns.result import safe

from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, collect, fallible, flow, is_success, partition, partition_async, tap, tap_error, when


class Full(TaggedError, category=Category.RESOURCE, message='full'):
    pass


class Gone(TaggedError, category=Category.NOT_FOUND, message='gone'):
    pass


def save(name: str) -> Result[int, Full]:
    return Success(len(name)) if name else Failure(Full())


async def load(name: str) -> Result[str, Gone]:
    return Success(name) if name else Failure(Gone())


def count(name: str) -> int:
    return len(name)


# case: a call
def call() -> None:
    save('a')  # finds: SW101


# case: properties
class Disk:
    field: Result[int, Full]

    @property
    def size(self) -> Result[int, Full]:
        return save('a')

    @property
    def limit(self) -> Result[int, Full]:
        return save('a')

    @limit.setter
    def limit(self, value: Result[int, Full]) -> None: ...

    @cached_property
    def cached(self) -> Result[int, Full]:
        return save('a')


def properties(disk: Disk) -> None:
    disk.size  # finds: SW101
    disk.limit  # finds: SW101
    disk.cached
    disk.field
    _ = disk.size


# case: a call that returns an arbitrary value
def other_call() -> None:
    count('a')


# case: discarded explicitly
def meant() -> None:
    _ = save('a')


# case: awaited
async def awaited() -> None:
    await load('a')  # finds: SW101


# case: never awaited and never stored
async def task() -> None:
    asyncio.create_task(load('a'))  # finds: SW101


# case: a task that is kept and awaited
async def kept_task() -> Result[str, Gone]:
    task = asyncio.create_task(load('a'))
    return await task


# case: a task group that forgets
async def group() -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(load('a'))  # finds: SW101


async def group_with_list(names: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(load(name)) for name in names]  # finds: SW101
        by_name = {name: group.create_task(load(name)) for name in names}  # finds: SW101
        first, *_ = [group.create_task(load(name)) for name in names]
        print(first.result())
    async with asyncio.TaskGroup() as group:
        [group.create_task(load(name)) for name in names]  # finds: SW101
        (group.create_task(load('a')), group.create_task(load('b')))  # finds: SW101


# case: tasks in a list that other code reads
async def lists_of_tasks(names: list[str], running: list[asyncio.Task[Result[str, Gone]]]) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(load(name)) for name in names]
    print([task.result() for task in tasks])
    latest = [running.pop(), running[0]]
    done, pending = await asyncio.wait(tasks)
    print(done)


# case: a call in a context
def in_context() -> None:
    contextvars.copy_context().run(save, 'a')  # finds: SW101
    contextvars.copy_context().run(count, 'a')


# case: awaited tasks with results that are read later
async def waits() -> list[Result[str, Gone]]:
    tasks = [asyncio.create_task(load('a')), asyncio.create_task(load('b'))]
    await asyncio.wait(tasks)
    return [one.result() for one in tasks]


# case: gathered
async def gathered() -> None:
    await asyncio.gather(load('a'), load('b'))  # finds: SW101


# case: gathered and returned
async def gathered_well() -> tuple[Result[str, Gone], Result[str, Gone]]:
    return await asyncio.gather(load('a'), load('b'))


# case: a comprehension
def comprehension(names: list[str]) -> None:
    [save(name) for name in names]  # finds: SW101


# case: a dict comprehension
def dict_comprehension(names: list[str]) -> None:
    {name: save(name) for name in names}  # finds: SW101


# case: a comprehension of plain values
def plain_comprehension(names: list[str]) -> None:
    [count(name) for name in names]


# case: in a with
def in_with() -> None:
    with open('a'):
        save('a')  # finds: SW101


# case: in a finally
def in_finally() -> None:
    try:
        print()
    finally:
        save('a')  # finds: SW101


# case: a tuple of them
def tuple_of_them() -> None:
    save('a'), save('b')  # finds: SW101


# case: a choice of two
def choice(which: bool) -> None:
    save('a') if which else save('b')  # finds: SW101


# case: behind an and
def behind_and(which: bool) -> None:
    which and save('a')  # finds: SW101


# case: an unread local name
def unread() -> None:
    saved = save('a')  # finds: SW101


# case: a local name that is returned
def read() -> Result[int, Full]:
    saved = save('a')
    return saved


# case: assigned again first
def assigned_again() -> Result[int, Full]:
    saved = save('a')  # finds: SW101
    saved = save('b')
    return saved


# case: assigned again on one way only
def assigned_on_one_way(again: bool) -> Result[int, Full]:
    saved = save('a')
    if again:
        saved = save('b')
    return saved


# case: assigned again on both ways
def assigned_on_both_ways(again: bool) -> Result[int, Full]:
    saved = save('a')  # finds: SW101
    if again:
        saved = save('b')
    else:
        saved = save('c')
    return saved


# case: read in the next round
def next_round(names: list[str]) -> None:
    last: Result[int, Full] = Success(0)
    for name in names:
        print(last)
        last = save(name)


# case: never read in any round
def no_round(names: list[str]) -> None:
    for name in names:
        last = save(name)  # finds: SW101


# case: only the last one is read
def the_last_one(names: list[str]) -> Result[int, Full]:
    last: Result[int, Full] = Success(0)
    for name in names:
        last = save(name)  # finds: SW101
    return last


# case: read after an exception
def after_exception() -> None:
    saved = save('a')
    try:
        saved = save('b')
        saved = save(str(int('c')))
    except ValueError:
        print(saved)
    print(saved)


# case: read in a finally
def read_in_finally() -> None:
    saved = save('a')
    try:
        print()
        return
    finally:
        print(saved)


# case: read by an inner function
def by_inner() -> Callable[[], Result[int, Full]]:
    saved = save('a')

    def inner() -> Result[int, Full]:
        return saved

    return inner


# case: read by a lambda
def by_lambda() -> Callable[[], object]:
    saved = save('a')
    return lambda: saved


# case: a global
def to_global() -> None:
    global latest
    latest = save('a')


latest: Result[int, Full] = Success(0)


# case: stored on an object
class Store:
    last: Result[int, Full] | None = None

    def keep(self) -> None:
        self.last = save('a')


# case: a value that a class has
class Holder:
    initial = save('a')


# case: stored in a list
def in_list(names: list[str]) -> list[Result[int, Full]]:
    found: list[Result[int, Full]] = []
    for name in names:
        found.append(save(name))
    return found


# case: taken out of where it was stored
def cleared(found: list[Result[int, Full]], queue: deque[Result[int, Full]], cache: dict[str, Result[int, Full]]) -> None:
    found.pop()
    queue.popleft()
    cache.setdefault('a', save('a'))
    cache.pop('a', None)


# case: matched
def matched() -> int:
    match save('a'):
        case Success(size):
            return size
        case Failure(_):
            return 0


# case: unpacked, one part unread
def unpacked() -> Result[int, Full]:
    first, second = save('a'), save('b')  # finds: SW101
    return first


# case: unpacked, with one part discarded explicitly
def unpacked_meant() -> Result[int, Full]:
    first, _ = save('a'), save('b')
    return first


# case: unpacked from a call
async def unpacked_call() -> Result[str, Gone]:
    first, second = await asyncio.gather(load('a'), load('b'))  # finds: SW101
    return first


# case: two names, one is read
def two_names() -> Result[int, Full]:
    first = second = save('a')
    return first


# case: a lambda for a thread
def thread() -> None:
    threading.Thread(target=lambda: save('a')).start()  # finds: SW101


# case: a lambda that looks at it
def thread_looks() -> None:
    threading.Thread(target=lambda: print(save('a'))).start()


# case: a lambda for a callback that returns None
def on_done(call: Callable[[], None]) -> None:
    call()


def callback() -> None:
    on_done(lambda: save('a'))  # finds: SW101
    on_done(call=lambda: save('b'))  # finds: SW101


# case: a lambda for a caller that uses its Result
def wants(call: Callable[[], Result[int, Full]]) -> Result[int, Full]:
    return call()


def wanted() -> Result[int, Full]:
    return wants(lambda: save('a'))


# case: a lambda for a step
def step() -> Result[int, Full]:
    return save('a').bind(lambda size: save(str(size)))


# case: a lambda with a tap
def aside() -> Result[int, Full]:
    return tap(save('a'), lambda size: save(str(size)))  # finds: SW101


# case: a tap_error
def error_aside() -> Result[int, Full]:
    return tap_error(save('a'), lambda error: logging.warning('%s', error))


def error_handled(name: str) -> None:
    tap_error(save(name), lambda error: logging.warning('%s', error))
    atexit.register(lambda: tap_error(save(name), logging.warning))


async def error_of_task_handled(name: str) -> None:
    tap_error(await load(name), logging.warning)


def error_lost_by_tap_error(name: str) -> None:
    tap_error(save(name), lambda error: save(str(error)))  # finds: SW101


# case: a tap with a discarded Result
def dropped_aside() -> None:
    tap(save('a'), print)  # finds: SW101


# case: a Failure that was to be returned
def forgotten(name: str) -> Result[str, Gone]:
    if not name:
        Failure(Gone())  # finds: SW101
    return Success(name)


# case: bind as a statement
def bound() -> None:
    save('a').bind(lambda size: save(str(size)))  # finds: SW101


# case: collected and dropped
def collected(names: list[str]) -> None:
    collect(save(name) for name in names)  # finds: SW101


# case: flow as a statement
def flowing() -> None:
    flow('a', save)  # finds: SW101


# case: given to do
@fallible
def direct(do: Do[Full]) -> int:
    return do(save('a'))


# case: do as a statement
@fallible
def direct_statement(do: Do[Full]) -> None:
    do(save('a'))


# case: dropped in direct style
@fallible
def direct_dropped(do: Do[Full]) -> int:
    save('a')  # finds: SW101
    return do(save('b'))


# case: the function in direct style, dropped
def direct_called() -> None:
    direct()  # finds: SW101


# case: unwrapped as a statement
def unwrapped(saved: Success[int]) -> None:
    saved.unwrap()


# case: an edge, dropped
def edge() -> None:
    attempt(lambda: int('a'), when(ValueError).becomes(str))  # finds: SW101


# case: third-party results
@safe
def parsed(text: str) -> int:
    return int(text)


def third_party() -> None:
    parsed('a')  # finds: SW101


# case: third-party results, used
def third_party_used() -> OpenResult[int, Exception]:
    return parsed('a').map(abs)


# case: a Result or None
def maybe(name: str) -> Result[int, Full] | None:
    return save(name) if name else None


def maybe_dropped() -> None:
    maybe('a')  # finds: SW101


# case: a function that mypy reads once for each type
def constrained(text: AnyStr) -> AnyStr:
    save('a')  # finds: SW101
    return text


# case: a method of a protocol
class Saves(Protocol):
    def save(self, name: str) -> Result[int, Full]: ...


def by_protocol(saves: Saves) -> None:
    saves.save('a')  # finds: SW101


# case: overloads
@overload
def either(given: int) -> int: ...
@overload
def either(given: str) -> Result[int, Full]: ...
def either(given: int | str) -> int | Result[int, Full]:
    return given if isinstance(given, int) else save(given)


def overloaded() -> None:
    either(1)
    either('a')  # finds: SW101


# case: generic code
T = TypeVar('T')
R = TypeVar('R', bound=Result[int, Full])


def same(value: T) -> T:
    return value


def generic(given: R) -> None:
    same(1)
    same(save('a'))  # finds: SW101
    same(given)  # finds: SW101


# case: yielded
def yielded() -> Iterator[Result[int, Full]]:
    yield save('a')


# case: an argument, a condition, a comparison
def arguments() -> bool:
    print(save('a'))
    if save('b') == Success(1):
        return True
    return save('c') in [Success(1)]


# case: code that is never reached
def unreachable(name: str) -> None:
    if not isinstance(name, str):
        save('a')


# case: an assignment in a condition
def walrus() -> int:
    if (saved := save('a')) == Success(1):
        return 1
    return 0


# case: a loop over results that looks at none
def loop(names: list[str]) -> int:
    total = 0
    for saved in [save(name) for name in names]:  # finds: SW101
        total += 1
    return total


# case: a loop over results
def good_loop(names: list[str]) -> None:
    for saved in [save(name) for name in names]:
        print(saved)


# case: retried until it succeeds
def retried() -> Result[int, Full]:
    for _ in range(3):
        saved = save('a')
        if isinstance(saved, Success):
            break
    return saved


# case: retried with while
def retried_with_while() -> Result[int, Full]:
    saved = save('a')
    while isinstance(saved, Failure):
        saved = save('b')
    return saved


# case: a context manager that may swallow
def swallowed() -> Result[int, Full]:
    saved = save('a')
    with contextlib.suppress(ValueError):
        saved = save('b')
        saved = save(str(int('c')))
    return saved


# case: locals() sees all
def seen() -> dict[str, object]:
    saved = save('a')
    return locals()


# case: in a nested function and in a method
class Service:
    def run(self) -> None:
        def inner() -> None:
            save('a')  # finds: SW101

        inner()

    async def later(self) -> AsyncIterator[int]:
        await load('a')  # finds: SW101
        yield 1


# case: at the top of a module
save('top')  # finds: SW101


# case: with an umlaut before it, in one line
def umlaut() -> None: print('äöü'); save('ä')  # finds: SW101


# case: a partial type, in a function without annotations
def untyped(name):  # type: ignore[no-untyped-def]
    save('a')  # finds: SW101
    return name


# case: break and continue
def broken(names: list[str]) -> None:
    saved = save('a')
    while True:
        if names:
            saved = save('b')
            continue
        print(saved)
        break


# case: allowed with a reason
def allowed() -> None:
    save('a')  # seamwise: allow[SW101] the second copy is a convenience
    # seamwise: allow[SW101] so is the third
    save('b')


# case: allowed without one
def not_allowed() -> None:
    # finds-next: SW101
    save("a")  # seamwise: allow[SW101]


# case: a test says that it raises
def raises() -> None:
    with pytest.raises(ValueError):
        save('a')


def raises_unittest(case: unittest.TestCase) -> None:
    with case.assertRaises(ValueError):
        save('a')


# case: before the one that raises
def before_raises() -> None:
    with pytest.raises(ValueError):
        save('a')  # finds: SW101
        save('b')


# case: overwritten in a finally
def overwritten() -> Result[int, Full]:
    saved = save('a')
    try:
        return saved
    finally:
        saved = save('b')  # finds: SW101


# case: deleted unread
def deleted() -> None:
    saved = save('a')  # finds: SW101
    del saved


# case: an unread list of Results
def unread_list() -> None:
    found = [save('a')]  # finds: SW101


# case: a starred target
def starred() -> None:
    _, *rest = [save('a'), save('b')]
    print(rest)


# case: the target of a with statement
@contextlib.contextmanager
def saving() -> Iterator[Result[int, Full]]:
    yield save('a')


def with_unread() -> None:
    with saving() as saved:  # finds: SW101
        pass


def with_read() -> None:
    with saving() as saved:
        print(saved)


# case: through a function that returns its argument
async def handed_on() -> None:
    await asyncio.wait_for(load('a'), 1)  # finds: SW101
    await asyncio.shield(load('a'))  # finds: SW101
    asyncio.get_running_loop().call_soon(lambda: save('a'))  # finds: SW101
    list(map(save, ['a']))  # finds: SW101


# case: a derived value that is no Result
def made_of_it() -> None:
    save('a').value_or(0)
    sorted(['a'], key=lambda name: save(name).value_or(0))
    any(isinstance(save(name), Success) for name in ['a'])


# case: read by a comprehension and by a text
def in_text() -> str:
    first = save('a')
    second = save('b')
    return f'{first}' + ''.join(str(one) for one in [second])


# case: declared first
def declared_first() -> Result[int, Full]:
    saved: Result[int, Full]
    saved = save('a')
    return saved


# case: in an except, read behind the try
def in_except() -> Result[int, Full]:
    try:
        saved = save('a')
    except OSError:
        saved = save('b')
    return saved


# case: an else of a loop
def loop_else(names: list[str]) -> Result[int, Full]:
    for name in names:
        saved = save(name)
        if isinstance(saved, Success):
            break
    else:
        saved = save('z')
    return saved


# case: a function handed over that returns a Result
def handed_over(pool: ThreadPoolExecutor) -> None:
    atexit.register(save, 'a')  # finds: SW101
    threading.Thread(target=save, args=('a',)).start()  # finds: SW101
    threading.Timer(1, save, ['a']).start()  # finds: SW101
    pool.submit(save, 'a')  # finds: SW101
    atexit.register(partial(save, 'a'))  # finds: SW101
    signal.signal(signal.SIGTERM, stop)  # finds: SW101


def stop(number: int, frame: object) -> Result[int, Full]:
    return save('a')


# case: a method handed over
class Closing:
    def save(self) -> Result[int, Full]:
        return save('a')

    def start(self, stack: contextlib.ExitStack) -> None:
        atexit.register(self.save)  # finds: SW101
        stack.callback(self.save)  # finds: SW101


# case: handed over to an event loop
async def scheduled() -> None:
    loop = asyncio.get_running_loop()
    loop.call_soon(save, 'a')  # finds: SW101
    loop.call_later(1, partial(save, 'a'))  # finds: SW101
    asyncio.create_task(load('a')).add_done_callback(done)  # finds: SW101


def done(task: object) -> Result[int, Full]:
    return save('a')


# case: a lambda handed over
def lambda_handed_over() -> None:
    atexit.register(lambda: save('a'))  # finds: SW101


# case: a decorator that discards
@atexit.register  # finds: SW101
def at_exit() -> Result[int, Full]:
    return save('a')


# case: functions handed over that return no Result
def other_handed_over(pool: ThreadPoolExecutor) -> None:
    atexit.register(count, 'a')
    threading.Thread(target=count, args=('a',)).start()
    threading.Thread(target=lambda: None).start()
    pool.submit(count, 'a')


@atexit.register
def finished() -> None:
    pass


# case: functions handed over to code that uses their Results
def used_by_others(pool: ThreadPoolExecutor, names: list[str]) -> object:
    futures = [pool.submit(save, name) for name in names]
    first = pool.submit(save, 'a')
    return [future.result() for future in futures], first.result(), list(map(save, names))


# case: a future that is never read
def unread_future(pool: ThreadPoolExecutor) -> None:
    future = pool.submit(save, 'a')  # finds: SW101


# case: an argument that is no function handed over
def arguments() -> None:
    threading.Thread(None, None, 'name', (save,)).start()
    atexit.register(print, save('a'))


# case: a loop that keeps only the last Result
def last_only(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        saved = save(name)  # finds: SW101
    return saved


# case: the last Result, async
async def last_only_async(names: list[str]) -> Result[str, Gone]:
    loaded: Result[str, Gone] = Success('')
    for name in names:
        with contextlib.ExitStack():
            loaded = await load(name)  # finds: SW101
    return loaded


# case: the last Result of a while loop
def last_of_while(names: list[str]) -> Result[int, Full]:
    while True:
        saved = save(names.pop())  # finds: SW101
        if not names:
            continue
    return saved


# case: a loop that checks each Result
def each_checked(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        saved = save(name)
        if isinstance(saved, Failure):
            return saved
    return saved


# case: a loop that tries until it succeeds
def tried(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        saved = save(name)
        if is_success(saved):
            break
    return saved


# case: a loop that ends after the first Result
def first_only(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        if name:
            saved = save(name)
            break
    for name in names:
        try:
            saved = save(name)
        except OSError:
            continue
        break
    return saved


# case: a loop that selects one item
def selected(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        if name == 'a':
            saved = save(name)
    return saved


# case: a loop that combines the Results
def combined(names: list[str]) -> Result[int, Full]:
    total: Result[int, Full] = Success(0)
    for name in names:
        total = total.bind(lambda size: save(name).map(lambda more: size + more))
    return total


# case: a loop that stores each Result
def stored_each(names: list[str]) -> dict[str, Result[int, Full]]:
    results: dict[str, Result[int, Full]] = {}
    for name in names:
        results[name] = save(name)
    return results


# case: a loop whose Results cannot fail
def cannot_fail(names: list[str]) -> Result[int, Full]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        saved = Success(len(name))
    return saved


# case: a loop that another function reads from
def read_inside(names: list[str]) -> Callable[[], object]:
    saved: Result[int, Full] = Success(0)
    for name in names:
        saved = save(name)
        names.append(str(saved))

    return lambda: saved


# case: containers of returns
@impure_safe
def read_file(path: str) -> str:
    return open(path).read()


@future_safe
async def read_later(path: str) -> str:
    return path


def write_io(path: str) -> IOResult[str, OSError]:
    return IOSuccess(path)


def io_discarded() -> None:
    read_file('a')  # finds: SW101
    write_io('a')  # finds: SW101
    atexit.register(read_file, 'a')  # finds: SW101
    result = write_io('a')  # finds: SW101


async def future_discarded() -> None:
    read_later('a')  # finds: SW101
    await read_later('a')  # finds: SW101


# case: containers of returns that are used
def io_used() -> IOResult[str, Exception]:
    _ = read_file('a')
    result = write_io('a')
    print(result)
    return read_file('a')


async def future_used() -> object:
    result = read_later('a')
    return await result, await read_later('b')


# case: a function mapped over items by an executor, which calls it at once
def mapped(pool: ThreadPoolExecutor, executor: Executor, names: list[str]) -> None:
    pool.map(save, names)  # finds: SW101
    executor.map(lambda name: save(name), names)  # finds: SW101


# case: the Results of an executor are read
def mapped_and_read(pool: ThreadPoolExecutor, names: list[str]) -> list[Result[int, Full]]:
    pool.map(count, names)
    return list(pool.map(save, names))


# case: the errors of a partition
async def partitioned(names: list[str], results: list[Result[int, Full]]) -> None:
    partition(save(name) for name in names)  # finds: SW101
    partition(results)  # finds: SW101
    await partition_async([load(name) for name in names])  # finds: SW101


# case: a partition that is read
def partitioned_and_read(names: list[str]) -> list[Full]:
    _, errors = partition(save(name) for name in names)
    return errors


# case: statements for type checkers
def looked_at(name: str) -> Result[int, Full]:
    result = save(name)
    reveal_type(result)
    assert_type(result, Result[int, Full])
    return result


# case: a function for a parameter whose type is that of a callback
def ignore(function: Callable[[], object]) -> None:
    function()


class Bell:
    def __init__(self) -> None:
        self.handlers: list[Callable[[str], object]] = []

    def on_ring(self, handler: Callable[[str], object]) -> Callable[[], None]:
        self.handlers.append(handler)
        return self.handlers.clear


class Door:
    def __init__(self, bell: Bell) -> None:
        bell.on_ring(self.open)  # finds: SW101
        bell.on_ring(handler=save)  # finds: SW101
        bell.on_ring(count)

    def open(self, name: str) -> Result[int, Full]:
        return save(name)


def callbacks(name: str) -> None:
    ignore(partial(save, name))  # finds: SW101
    ignore(lambda: save(name))  # finds: SW101
    ignore(partial(count, name))


# case: a function that may be called or examined in another way
def register(function: Callable[..., object]) -> None:
    print(function.__name__)


def call_it(function: Callable[[str], object], name: str) -> object:
    return function(name)


def registered(name: str) -> object:
    register(save)
    return call_it(save, name)


# case: tasks of a list that are only awaited
async def task_lists(names: list[str]) -> None:
    tasks = [asyncio.create_task(load(name)) for name in names]  # finds: SW101
    await asyncio.wait(tasks)
    await asyncio.gather(*map(load, names))  # finds: SW101
    async with asyncio.TaskGroup() as group:
        others = []  # finds: SW101
        for name in names:
            others.append(group.create_task(load(name)))


# case: tasks of a list that are read, or belong to somebody else
async def read_task_lists(names: list[str], waiting: list[asyncio.Task[Result[str, Gone]]]) -> list[Result[str, Gone]]:
    tasks = []
    for name in names:
        tasks.append(asyncio.create_task(load(name)))
    done, _ = await asyncio.wait(tasks)
    await asyncio.wait(waiting)
    later = [asyncio.create_task(load(name)) for name in names]
    await asyncio.wait(later)
    plain = [asyncio.create_task(asyncio.sleep(1)) for name in names]
    await asyncio.wait(plain)
    return [task.result() for task in (*done, *later)]


# case: the end of cancelled tasks
async def cancelled(names: list[str], waiting: list[asyncio.Task[Result[str, Gone]]]) -> None:
    task = asyncio.create_task(load('a'))
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    for other in waiting:
        other.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


# case: other tasks than the cancelled ones, and a branch that ends
async def not_cancelled(tasks: list[asyncio.Task[int]], waiting: list[asyncio.Task[Result[str, Gone]]]) -> None:
    for other in tasks:
        other.cancel()
    await asyncio.gather(*waiting)  # finds: SW101
    task = asyncio.create_task(load('a'))
    try:
        await asyncio.sleep(1)
    except BaseException:
        task.cancel()
        raise
    await task  # finds: SW101
