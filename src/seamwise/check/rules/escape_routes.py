"""Library functions that run or keep a callable or a coroutine later, by full name."""

from types import MappingProxyType

THREAD_FUNCTIONS = frozenset({
    'asyncio.threads.to_thread', 'asyncio.tasks.run_coroutine_threadsafe',
    '_thread.start_new_thread', 'anyio.to_thread.run_sync',
    'trio._threads.to_thread_run_sync', 'trio.to_thread.run_sync',
    'starlette.concurrency.run_in_threadpool', 'threading.Thread',
    'multiprocessing.process.BaseProcess',
})  # fmt: skip
TASK_FUNCTIONS = frozenset({
    'asyncio.tasks.create_task', 'asyncio.tasks.ensure_future', 'asyncio.tasks.gather',
    'asyncio.tasks.shield', 'asyncio.tasks.as_completed', 'asyncio.tasks.Task', '_asyncio.Task',
})  # fmt: skip
CALLBACK_FUNCTIONS = frozenset(
    {'atexit.register', 'weakref.finalize', 'signal.signal', 'starlette.background.BackgroundTask'}
)
_EVENT_LOOP = 'asyncio.events.AbstractEventLoop'
THREAD_METHODS = MappingProxyType({
    'concurrent.futures._base.Executor': frozenset({'submit', 'map'}),
    'multiprocessing.pool.Pool': frozenset({
        'apply', 'apply_async', 'map', 'map_async', 'imap', 'imap_unordered', 'starmap',
        'starmap_async',
    }),
    _EVENT_LOOP: frozenset({'run_in_executor', 'call_soon_threadsafe'}),
})  # fmt: skip
"""Methods by the class that defines them, as in the mappings below."""
TASK_METHODS = MappingProxyType({_EVENT_LOOP: frozenset({'create_task'})})
CALLBACK_METHODS = MappingProxyType({
    _EVENT_LOOP: frozenset({
        'call_soon', 'call_later', 'call_at', 'add_reader', 'add_writer', 'add_signal_handler',
    }),
    '_asyncio.Future': frozenset({'add_done_callback'}),
    'asyncio.futures.Future': frozenset({'add_done_callback'}),
    'concurrent.futures._base.Future': frozenset({'add_done_callback'}),
    'starlette.background.BackgroundTasks': frozenset({'add_task'}),
})  # fmt: skip
TASK_GROUP_METHODS = MappingProxyType({
    'asyncio.taskgroups.TaskGroup': frozenset({'create_task'}),
    'anyio.abc._tasks.TaskGroup': frozenset({'start_soon', 'start'}),
    'trio._core._run.Nursery': frozenset({'start_soon', 'start'}),
})  # fmt: skip
STORE_METHODS = MappingProxyType({
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
SUBSCRIBE_METHODS = frozenset({
    'add_callback', 'add_handler', 'add_listener', 'add_observer', 'on', 'register', 'schedule',
    'subscribe',
})  # fmt: skip
"""Usual names of methods that keep a callback and return nothing."""
