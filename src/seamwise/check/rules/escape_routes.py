"""What takes a function or a coroutine along to another time or place: threads, tasks, callbacks and containers, by full names."""

from types import MappingProxyType

THREADS = frozenset({
    'asyncio.threads.to_thread', 'asyncio.tasks.run_coroutine_threadsafe', '_thread.start_new_thread', 'anyio.to_thread.run_sync',
    'trio._threads.to_thread_run_sync', 'trio.to_thread.run_sync', 'starlette.concurrency.run_in_threadpool', 'threading.Thread',
    'multiprocessing.process.BaseProcess',
})  # fmt: skip
TASKS = frozenset({
    'asyncio.tasks.create_task', 'asyncio.tasks.ensure_future', 'asyncio.tasks.gather', 'asyncio.tasks.shield',
    'asyncio.tasks.as_completed', 'asyncio.tasks.Task', '_asyncio.Task',
})  # fmt: skip
REGISTERED = frozenset(
    {'atexit.register', 'weakref.finalize', 'signal.signal', 'starlette.background.BackgroundTask'}
)
LOOP = 'asyncio.events.AbstractEventLoop'
IN_THREADS = MappingProxyType({
    'concurrent.futures._base.Executor': frozenset({'submit', 'map'}),
    'multiprocessing.pool.Pool': frozenset({
        'apply', 'apply_async', 'map', 'map_async', 'imap', 'imap_unordered', 'starmap', 'starmap_async',
    }),
    LOOP: frozenset({'run_in_executor', 'call_soon_threadsafe'}),
})  # fmt: skip
IN_TASKS = MappingProxyType({LOOP: frozenset({'create_task'})})
CALLED_BACK = MappingProxyType({
    LOOP: frozenset({'call_soon', 'call_later', 'call_at', 'add_reader', 'add_writer', 'add_signal_handler'}),
    '_asyncio.Future': frozenset({'add_done_callback'}),
    'asyncio.futures.Future': frozenset({'add_done_callback'}),
    'concurrent.futures._base.Future': frozenset({'add_done_callback'}),
    'starlette.background.BackgroundTasks': frozenset({'add_task'}),
})  # fmt: skip
GROUPS = MappingProxyType({
    'asyncio.taskgroups.TaskGroup': frozenset({'create_task'}),
    'anyio.abc._tasks.TaskGroup': frozenset({'start_soon', 'start'}),
    'trio._core._run.Nursery': frozenset({'start_soon', 'start'}),
})  # fmt: skip
STORES = MappingProxyType({
    'builtins.list': frozenset({'append', 'extend', 'insert'}),
    'builtins.set': frozenset({'add', 'update'}),
    'builtins.dict': frozenset({'update', 'setdefault'}),
    'typing.MutableSequence': frozenset({'append', 'extend', 'insert'}),
    'typing.MutableSet': frozenset({'add'}),
    'typing.MutableMapping': frozenset({'update', 'setdefault'}),
    'collections.deque': frozenset({'append', 'appendleft', 'extend', 'extendleft', 'insert'}),
    'queue.Queue': frozenset({'put', 'put_nowait'}),
    '_queue.SimpleQueue': frozenset({'put', 'put_nowait'}),
    'asyncio.queues.Queue': frozenset({'put', 'put_nowait'}),
    '_contextvars.ContextVar': frozenset({'set'}),
    'contextvars.ContextVar': frozenset({'set'}),
})  # fmt: skip
LISTENED = frozenset(
    {
        'add_callback',
        'add_handler',
        'add_listener',
        'add_observer',
        'on',
        'register',
        'schedule',
        'subscribe',
    }
)
"""What a method that takes a callback for later, and gives nothing, is called by those who write one."""
