"""Guards under the engines of SQLAlchemy: around each attempt to connect to the database."""

try:
    from sqlalchemy import Engine, event, exc
    from sqlalchemy.util import await_only, greenlet_spawn
except ModuleNotFoundError as error:
    if error.name != 'sqlalchemy':
        raise
    raise ImportError(
        'seamwise.policies.transports.sqlalchemy needs SQLAlchemy: pip install sqlalchemy'
    ) from error

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.classify.sqlalchemy import ConnectError, classify_connect
from seamwise.policies.transports._delegating import check_guard

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
    from sqlalchemy.ext.asyncio import AsyncEngine
    from sqlalchemy.pool import ConnectionPoolEntry

_CREATE_MODULE: Final = 'sqlalchemy.engine.create'
"""Module of the function that fires `do_connect`, and that `creator=` replaces."""


class ConnectRefused(exc.OperationalError, Raised):
    """A guard did not admit an attempt to connect; `error` is its error, such as `CircuitOpen`.

    It is an `OperationalError`, as drivers raise it if they cannot connect, because programs handle
    that already. Its `statement` and `orig` are None: nothing was sent to the database.

    `caught` and `attempt` turn it into a failure with this error, and `sqlalchemy_failures` into
    `StoreUnavailable`.
    """

    # The page of SQLAlchemy about errors of drivers does not explain this one.
    code = ''

    def __init__(self, error: TaggedError) -> None:
        exc.StatementError.__init__(self, str(error), None, None, None)
        self.error = error

    @override
    def __reduce__(self) -> tuple[type['ConnectRefused'], tuple[object]]:
        return type(self), (self.error,)


def guard_engine(engine: 'Engine | AsyncEngine', guard: Guard[object]) -> Callable[[], None]:
    """Run each attempt of an engine to connect to its database inside a guard.

    A failure is an exception of the driver which says that the database is not available. If the
    guard gives up, SQLAlchemy raises the exception of the last attempt as without a guard. If the
    guard itself fails, SQLAlchemy raises `ConnectRefused`, an `OperationalError`.

    Connections that the pool has already are not guarded, and neither are statements and
    transactions: a statement whose connection broke may have taken effect.

    With an asynchronous engine, the guard waits and is cancelled as in any other task.

    Call this function before adding listeners of `do_connect`: those that follow run for each
    attempt, and one that precedes runs once, outside of the guard. The guard that is
    added first is the outermost.

    Args:
        engine: Engine of `create_engine` or `create_async_engine`.
        guard: Guard of the attempts, such as `circuit(…) >> retry()`.

    Returns:
        A function that removes the guard.

    Raises:
        TypeError: `engine` is no engine, or `guard` no guard.
        ValueError: The engine has a `creator`, which SQLAlchemy calls without an event.

    >>> from sqlalchemy import create_engine, text
    >>> from seamwise.policies import circuit, retry
    >>> engine = create_engine('sqlite://')
    >>> remove = guard_engine(engine, circuit(name='shop') >> retry(attempts=2))
    >>> with engine.connect() as connection:
    ...     connection.execute(text('select 1')).scalar_one()
    1
    >>> remove()
    """
    check_guard(guard)
    sync_engine = _check_engine(engine)
    url = sync_engine.url
    store = url.database or url.host or sync_engine.dialect.name

    def connect(
        dialect: 'Dialect',
        record: 'ConnectionPoolEntry',
        arguments: list[Any],
        options: dict[str, Any],
    ) -> 'DBAPIConnection':
        attempts = _Attempts(dialect, store)

        def open_connection() -> 'DBAPIConnection':
            # As SQLAlchemy does: listeners can change the arguments, e.g. for a token that expires.
            args, kwargs = list(arguments), dict(options)
            for listener in _listeners_after(connect, dialect):
                connection: DBAPIConnection | None = listener(dialect, record, args, kwargs)
                if connection is not None:
                    return connection
            return dialect.connect(*args, **kwargs)

        if dialect.is_async:
            return attempts.run_async(guard, open_connection)
        return attempts.run(guard, open_connection)

    event.listen(sync_engine, 'do_connect', connect)
    return lambda: _remove(sync_engine, connect)


class _Attempts:
    """The attempts to open one connection, and the connections that they opened."""

    def __init__(self, dialect: 'Dialect', store: str) -> None:
        self._dialect = dialect
        self._store = store
        self._opened: list[DBAPIConnection] = []
        self._failures: list[tuple[TaggedError, Exception]] = []

    def run(
        self, guard: Guard[object], open_connection: 'Callable[[], DBAPIConnection]'
    ) -> 'DBAPIConnection':
        def attempt() -> 'Result[DBAPIConnection, ConnectError]':
            try:
                return self._success(open_connection())
            except Exception as error:
                failure = self._failure(error)
                if failure is None:
                    raise
                return failure

        try:
            return self._connection(guard.run_sync(attempt))
        finally:
            self._close_others()

    def run_async(
        self, guard: Guard[object], open_connection: 'Callable[[], DBAPIConnection]'
    ) -> 'DBAPIConnection':
        async def attempt() -> 'Result[DBAPIConnection, ConnectError]':
            try:
                # In a greenlet of its own: the one of the engine waits for this coroutine.
                return self._success(await greenlet_spawn(open_connection))
            except Exception as error:
                failure = self._failure(error)
                if failure is None:
                    raise
                return failure

        try:
            return self._connection(await_only(guard.run(attempt)))
        finally:
            self._close_others()

    def _success(self, connection: 'DBAPIConnection') -> 'Success[DBAPIConnection]':
        self._opened.append(connection)
        return Success(connection)

    def _failure(self, exception: Exception) -> Failure[ConnectError] | None:
        error = classify_connect(exception, self._dialect, self._store)
        if error is None:
            return None
        self._failures.append((error, exception))
        return Failure(error)

    def _connection(self, result: 'Result[DBAPIConnection, Any]') -> 'DBAPIConnection':
        if type(result) is Success:
            connection: DBAPIConnection = result.unwrap()
            self._opened = [opened for opened in self._opened if opened is not connection]
            return connection
        error: TaggedError = result.failure()
        for failure, exception in self._failures:
            if failure is error:
                raise exception
        raise ConnectRefused(error)

    def _close_others(self) -> None:
        """Close the connections that were opened too late, or twice by a `hedge`."""
        for connection in self._opened:
            self._dialect.do_terminate(connection)


def _check_engine(engine: object) -> Engine:
    sync_engine = getattr(engine, 'sync_engine', engine)
    if not isinstance(sync_engine, Engine):
        raise TypeError(
            f'engine must be an engine of create_engine() or create_async_engine(), not {engine!r}.'
        )
    creator = getattr(sync_engine.pool, '_creator', None)
    if getattr(creator, '__module__', _CREATE_MODULE) != _CREATE_MODULE:
        raise ValueError(
            f'{sync_engine!r} has a `creator`, which SQLAlchemy calls without the event '
            '`do_connect`: put the guard around this function instead.'
        )
    return sync_engine


def _listeners_after(own: Callable[..., Any], dialect: 'Dialect') -> list[Callable[..., Any]]:
    """Return the listeners that SQLAlchemy would call next if the guard opened no connection."""
    listeners = list(dialect.dispatch.do_connect)
    return listeners[listeners.index(own) + 1 :]


def _remove(engine: Engine, listener: Callable[..., Any]) -> None:
    if event.contains(engine, 'do_connect', listener):
        event.remove(engine, 'do_connect', listener)
