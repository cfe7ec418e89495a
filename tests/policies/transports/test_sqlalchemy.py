"""Guards under the engines of SQLAlchemy, with SQLite in threads and in tasks."""

import asyncio
import pickle
import sqlite3
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Never

import pytest
from sqlalchemy import Engine, create_engine, event, exc, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.util import await_only
from typing_extensions import override

from seamwise import Category, Raised, Result, Success, TaggedError, caught, find_cause, refine
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies import (
    Admission,
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    GuardEvent,
    Layer,
    Outcome,
    Permit,
    World,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    fallback,
    hedge,
    retry,
)
from seamwise.policies.classify.sqlalchemy import sqlalchemy_failures
from seamwise.policies.transports.sqlalchemy import ConnectRefused, guard_engine
from seamwise.testing import FakeWorld

Answer = Exception | Literal['ok', 'hang']

LOCKED = sqlite3.OperationalError('server closed the connection unexpectedly')
"""An error without a code, as drivers raise it if they cannot connect."""


class Credentials(sqlite3.OperationalError):
    """Wrong credentials, as psycopg reports them."""

    sqlstate = '28P01'


class Database:
    """An engine whose attempts to connect end as a test says; the last answer is for ever."""

    def __init__(self, path: Path, *, is_async: bool, **options: Any) -> None:
        self.is_async = is_async
        self.answers: list[Answer] = ['ok']
        self.attempts = 0
        self.engine: Any
        self.sync_engine: Engine
        if is_async:
            engine = create_async_engine(f'sqlite+aiosqlite:///{path}', **options)
            self.engine, self.sync_engine = engine, engine.sync_engine
        else:
            self.engine = self.sync_engine = create_engine(f'sqlite:///{path}', **options)
        self.pool: Any = self.sync_engine.pool
        event.listen(self.sync_engine, 'do_connect', self._connect)

    def guard(self, guard: Guard[object]) -> Callable[[], None]:
        """Add a guard around the listener of this class, and return the function to remove it."""
        event.remove(self.sync_engine, 'do_connect', self._connect)
        remove = guard_engine(self.engine, guard)
        event.listen(self.sync_engine, 'do_connect', self._connect)
        return remove

    def _connect(self, *_arguments: object) -> None:
        self.attempts += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if answer == 'hang':
            await_only(asyncio.sleep(30))

    def run(self, statement: str = 'select 1', *, times: int = 1) -> object:
        """Execute a statement in a new transaction, and return its first value."""
        if self.is_async:
            return asyncio.run(self.run_async(statement, times=times))
        value: object = None
        try:
            for _ in range(times):
                with self.engine.connect() as connection:
                    value = connection.execute(text(statement)).scalar()
        finally:
            self.engine.dispose()
        return value

    async def run_async(self, statement: str = 'select 1', *, times: int = 1) -> object:
        value: object = None
        try:
            for _ in range(times):
                async with self.engine.connect() as connection:
                    value = (await connection.execute(text(statement))).scalar()
        finally:
            await self.engine.dispose()
        return value


@pytest.fixture(params=[False, True], ids=['threads', 'asyncio'])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    return Database(tmp_path / 'shop.db', is_async=request.param)


@pytest.fixture
def async_database(tmp_path: Path) -> Database:
    return Database(tmp_path / 'shop.db', is_async=True)


# Attempts.


def test_failed_attempts_are_repeated(database: Database) -> None:
    world = FakeWorld()
    database.answers = [LOCKED, ConnectionRefusedError('refused'), TimeoutError(), 'ok']
    database.guard(retry(attempts=4, jitter='none', world=world))
    assert database.run() == 1
    assert world.slept == [0.1, 0.2, 0.4]


def test_caller_receives_the_exception_of_the_last_attempt(database: Database) -> None:
    last = sqlite3.OperationalError('last')
    database.answers = [LOCKED, last]
    database.guard(retry(attempts=2, base=0.0))
    with pytest.raises(exc.OperationalError) as caught:
        database.run()
    assert type(caught.value) is exc.OperationalError
    assert caught.value.orig is last
    assert caught.value.statement is None


def test_exception_that_sqlalchemy_does_not_wrap_stays_as_it_is(database: Database) -> None:
    refused = ConnectionRefusedError('refused')
    database.answers = [refused]
    database.guard(retry(attempts=2, base=0.0))
    with pytest.raises(ConnectionRefusedError) as caught:
        database.run()
    assert caught.value is refused
    assert database.attempts == 2


def test_circuit_opens_while_the_database_is_down(database: Database) -> None:
    bank = circuit(name='shop', trip=consecutive(2), world=(world := FakeWorld()))
    database.answers = [LOCKED]
    database.guard(bank >> retry(attempts=2, base=0.0, world=world))
    for _ in range(2):
        with pytest.raises(exc.OperationalError):
            database.run()
    with pytest.raises(ConnectRefused):
        database.run()
    assert (bank.state, database.attempts, database.pool.checkedout()) == ('open', 4, 0)
    world.advance(30.0)
    database.answers = ['ok']
    assert database.run() == 1
    assert bank.state == 'closed'


def test_wrong_credentials_are_neither_repeated_nor_counted(database: Database) -> None:
    bank = circuit(name='shop', trip=consecutive(1))
    database.answers = [Credentials('password authentication failed')]
    database.guard(bank >> retry(base=0.0))
    with pytest.raises(exc.OperationalError, match='password'):
        database.run()
    assert (bank.state, database.attempts) == ('closed', 1)


@pytest.mark.parametrize(
    'defect', [ssl.SSLCertVerificationError('expired'), ZeroDivisionError(), TypeError('dsn')]
)
def test_defect_propagates(database: Database, defect: Exception) -> None:
    database.answers = [defect]
    database.guard(retry(base=0.0))
    with pytest.raises(type(defect)):
        database.run()
    assert database.attempts == 1


def test_failure_is_an_event_with_the_database(database: Database) -> None:
    events: list[GuardEvent] = []
    database.answers = [LOCKED, 'ok']
    database.guard(retry(base=0.0, observer=events.append))
    database.run()
    retrying: Any = events[0]
    assert isinstance(retrying.error, StoreUnavailable)
    assert retrying.error.store.endswith('shop.db')
    assert retrying.error.cause is LOCKED


def test_statements_are_neither_repeated_nor_counted(database: Database) -> None:
    bank = circuit(name='shop', trip=consecutive(1))
    database.guard(bank >> retry(base=0.0))
    with pytest.raises(exc.OperationalError, match='no such table'):
        database.run('select * from orders')
    assert (bank.state, database.attempts) == ('closed', 1)


# Refusals.


def test_refusal_is_an_operational_error_with_the_error_of_the_guard(database: Database) -> None:
    bank = circuit(name='shop', open_for=30.0, world=FakeWorld())
    bank.open()
    database.guard(bank)
    with pytest.raises(exc.OperationalError) as caught:
        database.run()
    refusal = caught.value
    assert [isinstance(refusal, kind) for kind in (ConnectRefused, Raised)] == [True, True]
    assert getattr(refusal, 'error', None) == CircuitOpen('shop', 0, 30.0, 'open')
    assert str(refusal) == "The circuit 'shop' refuses calls (failures: 0)."
    assert (refusal.orig, refusal.statement, refusal.params) == (None, None, None)
    assert not refusal.connection_invalidated
    copy = pickle.loads(pickle.dumps(refusal))  # noqa: S301 -- of this test
    assert (type(copy), copy.error, str(copy)) == (ConnectRefused, copy.error, str(refusal))
    assert database.attempts == 0


def test_refusal_becomes_a_failure_at_an_edge(database: Database) -> None:
    bank = circuit(name='shop', open_for=30.0, world=FakeWorld())
    bank.open()
    database.guard(bank)
    refused = CircuitOpen('shop', 0, 30.0, 'open')
    assert caught(database.run, CircuitOpen).failure() == refused
    error = refine(database.run, sqlalchemy_failures('shop')).failure()
    assert isinstance(error, StoreUnavailable)
    assert error.retry_after == 30.0
    assert error.reason == "The circuit 'shop' refuses calls (failures: 0)"
    assert find_cause(error, CircuitOpen) == refused


def test_other_errors_that_are_raised_are_no_refusals() -> None:
    class Declined(TaggedError, category=Category.CONFLICT, message='Declined.'):
        """An error of the caller."""

    def decline() -> int:
        raise Raised(Declined())

    with pytest.raises(Raised):
        refine(decline, sqlalchemy_failures('shop'))


def test_refusal_takes_no_place_of_the_pool(tmp_path: Path) -> None:
    database = Database(
        tmp_path / 'shop.db', is_async=False, pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    bank = circuit(name='shop')
    database.guard(bank)
    bank.isolate()
    for _ in range(3):
        with pytest.raises(ConnectRefused):
            database.engine.connect()
    bank.reset()
    with database.engine.connect(), pytest.raises(exc.TimeoutError):
        database.engine.connect()
    database.engine.dispose()


def test_session_handles_a_refusal_as_any_error_of_the_connection(tmp_path: Path) -> None:
    database = Database(tmp_path / 'shop.db', is_async=False)
    bank = circuit(name='shop')
    database.guard(bank)
    bank.isolate()
    with Session(database.engine) as session:
        with pytest.raises(exc.OperationalError):
            session.execute(text('select 1'))
        bank.reset()
        assert session.execute(text('select 1')).scalar() == 1
    database.engine.dispose()


def test_handlers_of_errors_receive_the_exception_of_the_driver(database: Database) -> None:
    contexts: list[Any] = []
    event.listen(database.sync_engine, 'handle_error', contexts.append)
    bank = circuit(name='shop', trip=consecutive(1))
    database.answers = [LOCKED]
    database.guard(bank)
    with pytest.raises(exc.OperationalError):
        database.run()
    with pytest.raises(ConnectRefused):
        database.run()
    # No refusal: that is no exception of the driver.
    assert [context.original_exception for context in contexts] == [LOCKED]


# The pool.


def test_connections_of_the_pool_are_not_guarded(tmp_path: Path) -> None:
    database = Database(tmp_path / 'shop.db', is_async=False, poolclass=QueuePool)
    bank = circuit(name='shop')
    database.guard(bank)
    with database.engine.connect():
        pass
    bank.isolate()
    with database.engine.connect() as connection:
        assert connection.execute(text('select 1')).scalar() == 1
        connection.invalidate()
        connection.rollback()
        # SQLAlchemy opens another connection now.
        with pytest.raises(ConnectRefused):
            connection.execute(text('select 1'))
    database.engine.dispose()


def test_broken_connection_is_replaced_inside_the_guard(tmp_path: Path) -> None:
    database = Database(
        tmp_path / 'shop.db', is_async=False, poolclass=QueuePool, pool_pre_ping=True
    )

    def ping(dbapi_connection: Any) -> bool:
        pings.append(dbapi_connection)
        if len(pings) == 1:
            raise sqlite3.OperationalError('the server has gone away')
        return True

    def is_disconnect(*arguments: object) -> bool:
        return True

    pings: list[Any] = []
    dialect: Any = database.sync_engine.dialect
    dialect.do_ping = ping
    dialect.is_disconnect = is_disconnect
    world = FakeWorld()
    database.guard(retry(jitter='none', world=world))
    with database.engine.connect():
        pass
    database.answers = [LOCKED, 'ok']
    with database.engine.connect() as connection:
        assert connection.execute(text('select 1')).scalar() == 1
    assert (len(pings), database.attempts, world.slept) == (1, 3, [0.1])
    database.engine.dispose()


def test_guard_stays_when_the_pool_is_disposed_of(database: Database) -> None:
    bank = circuit(name='shop')
    database.guard(bank)
    database.run()
    bank.isolate()
    with pytest.raises(ConnectRefused):
        database.run()


def test_pool_without_storage_passes_the_guard_for_each_connection(tmp_path: Path) -> None:
    for is_async in (False, True):
        database = Database(tmp_path / 'shop.db', is_async=is_async, poolclass=NullPool)
        full = bulkhead(1, name='shop')
        database.guard(full)
        database.run(times=3)
        assert (database.attempts, full.in_flight) == (3, 0)


def test_engine_with_options_shares_the_guard(tmp_path: Path) -> None:
    database = Database(tmp_path / 'shop.db', is_async=False)
    bank = circuit(name='shop')
    bank.isolate()
    guard_engine(database.engine.execution_options(isolation_level='SERIALIZABLE'), bank)
    with pytest.raises(ConnectRefused):
        database.engine.connect()


# Events.


def test_listeners_run_for_each_attempt(tmp_path: Path) -> None:
    def change(dialect: Any, record: Any, arguments: list[Any], options: dict[str, Any]) -> None:
        options['timeout'] = options.get('timeout', 0.0) + 1.0

    def remember(dialect: Any, record: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        timeouts.append(options['timeout'])
        if len(timeouts) == 1:
            raise LOCKED
        return sqlite3.connect(arguments[0], check_same_thread=False)

    timeouts: list[float] = []
    engine = create_engine(f'sqlite:///{tmp_path}/shop.db')
    guard_engine(engine, retry(base=0.0))
    event.listen(engine, 'do_connect', change)
    event.listen(engine, 'do_connect', remember)
    with engine.connect() as connection:
        assert connection.execute(text('select 1')).scalar() == 1
    engine.dispose()
    assert timeouts == [1.0, 1.0]


def test_listener_of_all_engines_runs_once(tmp_path: Path) -> None:
    def count(*arguments: object) -> None:
        counts['do_connect'] += 1

    counts: Counter[str] = Counter()
    event.listen(Engine, 'do_connect', count)
    try:
        database = Database(tmp_path / 'shop.db', is_async=False)
        database.answers = [LOCKED, 'ok']
        database.guard(retry(base=0.0))
        database.run()
    finally:
        event.remove(Engine, 'do_connect', count)
    assert (counts['do_connect'], database.attempts) == (1, 2)


def test_events_of_the_pool_are_sent_once(database: Database) -> None:
    def listener(name: str) -> Callable[..., None]:
        def count(*arguments: object) -> None:
            counts[name] += 1

        return count

    counts: Counter[str] = Counter()
    for name in ('connect', 'first_connect', 'checkout', 'checkin', 'close'):
        event.listen(database.sync_engine, name, listener(name))
    database.answers = [LOCKED, 'ok']
    database.guard(retry(base=0.0))
    database.run(times=2)
    assert counts == {'connect': 1, 'first_connect': 1, 'checkout': 2, 'checkin': 2, 'close': 1}


def test_two_guards_are_nested(database: Database) -> None:
    inner, outer = circuit(name='inner'), circuit(name='outer')
    database.guard(outer)
    database.guard(inner)
    assert database.run() == 1
    for guard in (inner, outer):
        guard.isolate()
    assert caught(database.run, CircuitOpen).failure().name == 'outer'


def test_guard_can_be_removed(database: Database) -> None:
    bank = circuit(name='shop')
    bank.isolate()
    remove = database.guard(bank)
    with pytest.raises(ConnectRefused):
        database.run()
    remove()
    remove()
    assert database.run() == 1


# Time and tasks.


def test_connection_that_comes_too_late_is_closed(database: Database) -> None:
    class Hour(Permit):
        """A permit of attempts that take an hour."""

        @override
        def leave(self, outcome: Outcome, /) -> Outcome:
            world.advance(3600.0)
            return outcome

    class Slow(Layer[Never]):
        """A guard whose attempts take an hour."""

        @override
        def enter(self) -> Admission:
            return Hour()

        @override
        def limits(self) -> str:
            return 'slow'

    world = FakeWorld()
    closed: list[object] = []
    dialect: Any = database.sync_engine.dialect
    do_terminate = dialect.do_terminate

    def terminate(connection: object) -> None:
        closed.append(connection)
        do_terminate(connection)

    dialect.do_terminate = terminate
    database.guard(deadline(60.0, name='shop', world=world) >> Slow('slow'))
    assert caught(database.run, DeadlineExceeded).failure() == DeadlineExceeded('shop', 60.0)
    assert len(closed) == 1


def test_delays_do_not_block_the_event_loop(async_database: Database) -> None:
    async def sleep(seconds: float) -> None:
        delays.append(seconds)
        is_waiting.set()
        await can_continue.wait()

    def sleep_sync(seconds: float) -> None:
        pytest.fail('The event loop is blocked.')

    async def main() -> object:
        task = asyncio.create_task(async_database.run_async())
        await is_waiting.wait()
        assert not task.done()
        can_continue.set()
        return await task

    delays: list[float] = []
    is_waiting, can_continue = asyncio.Event(), asyncio.Event()
    world = World(sleep=sleep, sleep_sync=sleep_sync)
    async_database.answers = [LOCKED, 'ok']
    async_database.guard(retry(jitter='none', world=world))
    assert asyncio.run(main()) == 1
    assert delays == [0.1]


def test_deadline_cancels_an_attempt(async_database: Database) -> None:
    async_database.answers = ['hang', 'ok']
    async_database.guard(retry(base=0.0) >> deadline(0.02, name='shop'))
    assert async_database.run() == 1
    assert async_database.attempts == 2
    async_database.answers = ['hang']
    error = caught(async_database.run, DeadlineExceeded).failure()
    assert (error.name, async_database.attempts) == ('shop', 5)


def test_hedge_starts_a_second_attempt_and_cancels_the_slow_one(async_database: Database) -> None:
    async_database.answers = ['hang', 'ok']
    async_database.guard(hedge(after=0.01, name='shop', share=1.0))
    assert async_database.run() == 1
    assert async_database.attempts == 2


@pytest.mark.parametrize('answer', ['hang', LOCKED])
@pytest.mark.parametrize('steps', range(5))
def test_cancelled_task_releases_permits_and_its_place_in_the_pool(
    async_database: Database, answer: Answer, steps: int
) -> None:
    async def main() -> None:
        task = asyncio.create_task(async_database.run_async())
        for _ in range(steps):
            await asyncio.sleep(0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert full.in_flight == 0
        assert async_database.pool.checkedout() == 0
        assert bank.state == 'closed'

    async_database.answers = [answer]
    full, bank = bulkhead(1, name='shop'), circuit(name='shop', trip=consecutive(1))
    slow = retry(base=60.0, cap=60.0, jitter='none', timeout=None)
    async_database.guard(full >> bank >> slow)
    asyncio.run(main())


def test_engine_serves_code_that_is_not_asynchronous(async_database: Database) -> None:
    def query(connection: Any) -> object:
        return connection.execute(text('select 2')).scalar()

    async def main() -> object:
        async with async_database.engine.begin() as connection:
            value: object = await connection.run_sync(query)
        await async_database.engine.dispose()
        return value

    async_database.answers = [LOCKED, 'ok']
    async_database.guard(retry(base=0.0))
    assert asyncio.run(main()) == 2


def test_many_tasks_share_a_bulkhead(tmp_path: Path) -> None:
    database = Database(tmp_path / 'shop.db', is_async=True, pool_size=20)

    async def main() -> list[object]:
        async def query() -> object:
            async with database.engine.connect() as connection:
                return (await connection.execute(text('select 1'))).scalar()

        values = await asyncio.gather(*(query() for _ in range(20)))
        await database.engine.dispose()
        return values

    full = bulkhead(2, name='shop', queue=None, wait=None)
    database.guard(full)
    assert asyncio.run(main()) == [1] * 20
    assert full.in_flight == 0


# Arguments.


def test_arguments_are_checked() -> None:
    def substitute(error: TaggedError) -> Result[str, Never]:
        return Success(str(error))

    no_guard: Any = fallback(substitute)
    no_engine: Any = 'sqlite://'
    with pytest.raises(TypeError, match=r'guard must be a guard such as retry\(\)'):
        guard_engine(create_engine('sqlite://'), no_guard)
    with pytest.raises(TypeError, match=r"create_async_engine\(\), not 'sqlite://'"):
        guard_engine(no_engine, retry())


def test_engine_with_a_creator_is_refused() -> None:
    engine = create_engine('sqlite://', creator=lambda: sqlite3.connect(':memory:'))
    with pytest.raises(ValueError, match='put the guard around this function'):
        guard_engine(engine, retry())


def test_import_without_sqlalchemy_names_the_package_to_install() -> None:
    module = 'seamwise.policies.transports.sqlalchemy'
    code = f"import sys; sys.modules['sqlalchemy'] = None; import {module}"
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert completed.stderr.splitlines()[-1] == (
        'ImportError: seamwise.policies.transports.sqlalchemy needs SQLAlchemy: '
        'pip install sqlalchemy'
    )
