"""What SQLAlchemy raises against a real SQLite, and what drivers of other databases say, through SQLAlchemy's own machinery."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, ExceptionContext, String, create_engine, event, exc, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import QueuePool

from seamwise import Category, Failure, Result, Success, chain, refine
from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreUnavailable
from seamwise.policies.classify.driver_codes import driver_error_type
from seamwise.policies.classify.sqlalchemy import sqlalchemy_failures

PASSWORD = 'hunter2'  # noqa: S105

StoreError = StoreUnavailable | CredentialsRejected
FAILURES = sqlalchemy_failures('shop')


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = 'users'
    email: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    age: Mapped[int | None]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = create_engine(f'sqlite:///{tmp_path / "shop.db"}', connect_args={'timeout': 0})
    Base.metadata.create_all(made)
    yield made
    made.dispose()


def add(engine: Engine, email: str, name: str) -> str:
    with Session(engine) as session, session.begin():
        session.add(User(email=email, name=name))
    return email


def run(engine: Engine, statement: str, **parameters: object) -> object:
    with engine.begin() as connection:
        return connection.execute(text(statement), parameters)


def failed(call: Callable[[], object]) -> StoreError:
    result: Result[object, StoreError] = refine(call, FAILURES)
    assert isinstance(result, Failure)
    error = result.failure()
    assert not [one for one in chain(error) if PASSWORD in str(one)]
    return error


def test_an_answer_is_a_success(engine: Engine) -> None:
    assert refine(lambda: add(engine, 'ann@example.org', 'ann'), FAILURES) == Success(
        'ann@example.org'
    )


def test_a_locked_database_is_an_unavailable_store_and_shows_no_parameters(engine: Engine) -> None:
    with engine.connect() as other:
        other.execute(text("insert into users values ('bob@example.org', 'bob', 7)"))
        error = failed(lambda: add(engine, 'ann@example.org', PASSWORD))
    assert error == StoreUnavailable('shop', 'database is locked', cause=error.cause)
    assert (error.category, error.retryable) == (Category.UNAVAILABLE, True)
    assert isinstance(error.cause, sqlite3.OperationalError)


def test_a_database_that_cannot_be_opened_is_an_unavailable_store(tmp_path: Path) -> None:
    nowhere = create_engine(f'sqlite:///{tmp_path / "no" / "shop.db"}')
    error = failed(nowhere.connect)
    assert error == StoreUnavailable('shop', 'unable to open database file', cause=error.cause)


def test_a_pool_without_a_free_connection_is_an_unavailable_store(tmp_path: Path) -> None:
    small = create_engine(
        f'sqlite:///{tmp_path / "shop.db"}',
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=0.01,
    )
    with small.connect():
        error = failed(small.connect)
    assert isinstance(error, StoreUnavailable)
    assert isinstance(error.cause, exc.TimeoutError)
    small.dispose()


def test_a_missing_table_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.OperationalError, match='no such table'):
        refine(lambda: run(engine, 'select * from orders'), FAILURES)


def test_a_statement_that_is_wrong_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.OperationalError, match='syntax error'):
        refine(lambda: run(engine, 'selekt'), FAILURES)
    with pytest.raises(exc.StatementError, match='bind parameter'):
        refine(lambda: run(engine, 'select :missing'), FAILURES)
    with pytest.raises(exc.ResourceClosedError):
        refine(lambda: closed(engine), FAILURES)


def closed(engine: Engine) -> object:
    connection = engine.connect()
    connection.close()
    return connection.execute(text('select 1'))


@pytest.mark.parametrize(
    ('email', 'name'), [('ann@example.org', 'other'), ('other@example.org', 'ann')]
)
def test_a_key_that_is_taken_is_what_the_caller_expects_of_it(
    engine: Engine, email: str, name: str
) -> None:
    add(engine, 'ann@example.org', 'ann')
    taken = RecordExists('user', email)
    result: Result[str, StoreError | RecordExists] = refine(
        lambda: add(engine, email, name), sqlalchemy_failures('shop', exists=taken)
    )
    assert result == Failure(taken)
    with pytest.raises(exc.IntegrityError, match='UNIQUE'):
        refine(lambda: add(engine, email, name), FAILURES)


def test_what_is_missing_but_needed_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.IntegrityError, match='NOT NULL'):
        refine(
            lambda: run(engine, "insert into users (email) values ('x')"),
            sqlalchemy_failures('shop', exists=RecordExists('user', 'x')),
        )


def test_no_row_is_what_the_caller_expects_of_it(engine: Engine) -> None:
    def find() -> User:
        with Session(engine) as session:
            return session.get_one(User, 'nobody@example.org')

    nobody = RecordNotFound('user', 'nobody@example.org')
    result: Result[User, StoreError | RecordNotFound] = refine(
        find, sqlalchemy_failures('shop', missing=nobody)
    )
    assert result == Failure(nobody)
    with pytest.raises(exc.NoResultFound):
        refine(find, FAILURES)


class Driver(sqlite3.OperationalError):
    """What a driver of another database raises, put through the machinery of this one."""

    sqlstate: str | None = None
    pgcode: str | None = None


class Broken(sqlite3.DatabaseError):
    """No OperationalError."""


@pytest.fixture
def raising(engine: Engine) -> Callable[[Exception], Callable[[], object]]:
    def make(raised: Exception) -> Callable[[], object]:
        def instead(*_: object) -> None:
            raise raised

        event.listen(engine, 'do_execute', instead)
        return lambda: run(engine, 'select :password', password=PASSWORD)

    return make


Raising = Callable[[Exception], Callable[[], object]]


def with_state(state: str, name: str = 'sqlstate') -> Driver:
    raised = Driver('of a driver')
    setattr(raised, name, state)
    return raised


@pytest.mark.parametrize('name', ['sqlstate', 'pgcode'])
@pytest.mark.parametrize(
    'state',
    ['08006', '40001', '40P01', '53300', '55P03', '57P01', '57P02', '57P03', 'HYT00', 'HYT01'],
)
def test_a_state_that_says_not_now_is_an_unavailable_store(
    raising: Raising, state: str, name: str
) -> None:
    error = failed(raising(with_state(state, name)))
    assert error == StoreUnavailable('shop', 'of a driver', cause=error.cause)
    assert type(error.cause) is Driver


@pytest.mark.parametrize('state', ['28000', '28P01'])
def test_a_state_that_wants_other_credentials(raising: Raising, state: str) -> None:
    call = raising(with_state(state))
    assert failed(call) == CredentialsRejected(
        'shop', 'the credentials for shop', cause=failed(call).cause
    )
    error = refine(call, sqlalchemy_failures('shop', required_config='DATABASE_URL')).failure()
    assert error == CredentialsRejected('shop', 'DATABASE_URL', cause=error.cause)


def test_a_state_that_says_that_a_key_is_taken(raising: Raising) -> None:
    taken = RecordExists('user', 'ann')
    assert refine(
        raising(with_state('23505')), sqlalchemy_failures('shop', exists=taken)
    ) == Failure(taken)


@pytest.mark.parametrize(
    'state', ['22001', '23502', '23503', '40002', '42601', '42P01', '57014', 'XX000', '']
)
def test_any_other_state_is_a_defect(raising: Raising, state: str) -> None:
    with pytest.raises(exc.OperationalError):
        refine(raising(with_state(state)), FAILURES)


@pytest.mark.parametrize(
    'number', [1040, 1053, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 2002, 2003, 2006, 2013, 2055]
)
def test_a_number_of_mysql_that_says_not_now(raising: Raising, number: int) -> None:
    error = failed(raising(Driver(number, 'of MySQL')))
    assert type(error) is StoreUnavailable


@pytest.mark.parametrize('number', [1044, 1045, 1698])
def test_a_number_of_mysql_that_wants_other_credentials(raising: Raising, number: int) -> None:
    assert type(failed(raising(Driver(number, 'of MySQL')))) is CredentialsRejected


@pytest.mark.parametrize('number', [1062, 1586])
def test_a_number_of_mysql_that_says_that_a_key_is_taken(raising: Raising, number: int) -> None:
    taken = RecordExists('user', 'ann')
    assert refine(
        raising(Driver(number, 'of MySQL')), sqlalchemy_failures('shop', exists=taken)
    ) == Failure(taken)


@pytest.mark.parametrize('number', [0, 5, 1064, 1146, 1452])
def test_any_other_number_is_a_defect(raising: Raising, number: int) -> None:
    with pytest.raises(exc.OperationalError):
        refine(raising(Driver(number, 'of MySQL')), FAILURES)


def test_a_state_that_odbc_puts_first_is_read(raising: Raising) -> None:
    assert type(failed(raising(Driver('08S01', 'the link failed')))) is StoreUnavailable
    assert driver_error_type(Driver('08s01', 'no state')) is None
    assert driver_error_type(Driver('08S012', 'no state')) is None
    assert driver_error_type(Driver('40001', 'a deadlock')) == 'unavailable'
    assert driver_error_type(Driver('08 S1', 'no state')) is None
    assert driver_error_type(Driver()) is None


def test_a_code_says_more_than_the_number_of_a_driver() -> None:
    raised = Driver(1213, 'HY000')
    raised.sqlstate = 'HY000'
    assert driver_error_type(raised) == 'unavailable'
    raised.sqlstate = '28000'
    assert driver_error_type(raised) == 'credentials'


@pytest.mark.parametrize(
    ('code', 'meant'),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, 'unavailable'),
        (sqlite3.SQLITE_LOCKED_SHAREDCACHE, 'unavailable'),
        (sqlite3.SQLITE_IOERR_READ, 'unavailable'),
        (sqlite3.SQLITE_FULL, 'unavailable'),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, 'unavailable'),
        (sqlite3.SQLITE_PROTOCOL, 'unavailable'),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_ROWID, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, None),
        (sqlite3.SQLITE_ERROR, None),
        (sqlite3.SQLITE_CORRUPT, None),
        (sqlite3.SQLITE_READONLY, None),
    ],
)
def test_the_codes_of_sqlite_by_its_own_names(code: int, meant: str | None) -> None:
    raised = Driver('of SQLite')
    raised.sqlite_errorcode = code
    assert driver_error_type(raised) == meant


def test_a_connection_that_broke_is_an_unavailable_store(engine: Engine, raising: Raising) -> None:
    call = raising(Broken('server closed the connection unexpectedly\n\tThis probably means…'))
    with pytest.raises(exc.DatabaseError):
        refine(call, FAILURES)

    @event.listens_for(engine, 'handle_error')
    def _(context: ExceptionContext) -> None:
        context.is_disconnect = True

    error = failed(call)
    assert error == StoreUnavailable(
        'shop', 'server closed the connection unexpectedly', cause=error.cause
    )


def test_a_connection_that_never_came_is_an_unavailable_store() -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise Driver(f'no connection to postgresql://ann:{PASSWORD}@db/shop: refused')

    engine = create_engine('sqlite://', creator=refuse)
    error = refine(engine.connect, FAILURES).failure()
    assert error == StoreUnavailable(
        'shop', 'no connection to postgresql://***@db/shop: refused', cause=error.cause
    )


def test_a_connection_that_was_set_up_wrongly_is_a_defect() -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise sqlite3.ProgrammingError('no such database')

    with pytest.raises(exc.ProgrammingError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


@pytest.mark.parametrize(
    'raised', [with_state('3D000'), Driver(1049, 'unknown database'), with_state('', 'pgcode')]
)
def test_a_connection_that_a_database_refuses_for_good_is_a_defect(raised: Exception) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise raised

    with pytest.raises(exc.OperationalError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


def test_a_file_that_is_no_database_is_a_defect(tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raised = Driver('of SQLite')
        raised.sqlite_errorcode = sqlite3.SQLITE_ERROR
        raise raised

    with pytest.raises(exc.OperationalError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


def test_an_operation_that_failed_without_a_code_is_a_defect(raising: Raising) -> None:
    with pytest.raises(exc.OperationalError):
        refine(raising(Driver('could not decode')), FAILURES)


@pytest.mark.parametrize(
    'raised',
    [
        OSError(1213, 'no driver'),
        TimeoutError(),
        sqlite3.OperationalError('locked'),
        ValueError('1'),
    ],
)
def test_what_others_raise_is_a_defect(raised: Exception) -> None:
    assert FAILURES(raised) is None


def test_with_asyncio_it_fails_alike(tmp_path: Path) -> None:
    async def ask() -> list[Result[None, StoreError | RecordExists]]:
        engine = create_async_engine(
            f'sqlite+aiosqlite:///{tmp_path / "shop.db"}', connect_args={'timeout': 0}
        )

        async def add() -> None:
            async with engine.begin() as connection:
                await connection.execute(text("insert into users values ('ann@example.org')"))

        async with engine.begin() as connection:
            await connection.execute(text('create table users (email text primary key)'))
        taken = RecordExists('user', 'ann')
        failures = sqlalchemy_failures('shop', exists=taken)
        told: list[Result[None, StoreError | RecordExists]] = [
            await refine(add, failures),
            await refine(add, failures),
        ]
        async with engine.connect() as other:
            await other.execute(text('insert into users values (1)'))
            told.append(await refine(add, failures))
        await engine.dispose()
        return told

    first, second, third = asyncio.run(ask())
    assert first == Success(None)
    assert second == Failure(RecordExists('user', 'ann'))
    assert isinstance(third, Failure)
    assert str(third.failure()) == "The store 'shop' is not available: database is locked."


def test_a_transaction_is_rolled_back_before_it_is_a_failure(engine: Engine) -> None:
    def twice() -> None:
        with engine.begin() as connection:
            insert(connection, 'ann')
            insert(connection, 'ann')

    def insert(connection: Connection, name: str) -> None:
        connection.execute(
            text('insert into users (email, name) values (:name, :name)'), {'name': name}
        )

    taken = RecordExists('user', 'ann')
    assert refine(twice, sqlalchemy_failures('shop', exists=taken)) == Failure(taken)
    with engine.connect() as connection:
        assert connection.execute(text('select count(*) from users')).scalar_one() == 0


def test_without_the_library_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; import seamwise.policies.classify.sqlalchemy"
    )
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert ended.stderr.splitlines()[-1] == (
        'ImportError: seamwise.policies.classify.sqlalchemy needs SQLAlchemy: pip install sqlalchemy'
    )
